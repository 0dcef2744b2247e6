//! Requests over a socket, against a session that plays a script.

use juror_fault::CommandError;
use juror_view::Outcome;
use juror_view::driver::Driver;
use juror_view::live::{
    PropertySample, RunPlace, SampleView, SampleWanted, SlicesView, SlicesWanted,
};
use juror_view::observer::{Observer, SilentObserver};
use juror_web::{LivePage, Performed, Server, Static};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, channel};

/// Counts its samples.
#[derive(Default)]
struct Played {
    samples: u64,
    wanted: Vec<SampleWanted>,
}

impl Driver for Played {
    fn execute(&mut self, line: &str, _: &mut dyn Observer) -> Result<Outcome, CommandError> {
        match line {
            "bad" => Err(CommandError::new("no command is named `bad`")),
            _ => Ok(Outcome::Message(format!("did {line}"))),
        }
    }
    fn complete(&mut self, _: &str, position: usize) -> (usize, Vec<String>) {
        (position, Vec::new())
    }
    fn repetition(&self, _: &str) -> Option<String> {
        None
    }
    fn is_alive(&self) -> bool {
        true
    }
    fn goes_back(&self) -> bool {
        true
    }
    fn run_place(&mut self) -> Option<RunPlace> {
        Some(RunPlace {
            point: 7,
            last: 20 + self.samples,
        })
    }
    fn sample(&mut self, wanted: &SampleWanted) -> SampleView {
        self.samples += 1;
        self.wanted.push(wanted.clone());
        let sample = PropertySample {
            name: "p".to_owned(),
            enabled: true,
            verdict: juror_event::Verdict::Violated,
            events: self.samples,
            slice_count: 0,
            violated_count: 0,
            states: Vec::new(),
            lit: None,
            next: 10 * self.samples,
            chosen: None,
        };
        SampleView {
            properties: vec![sample],
            timeline: None,
            events: self.samples,
        }
    }
    fn slices(&mut self, wanted: &SlicesWanted) -> Result<SlicesView, CommandError> {
        match wanted.property.as_str() {
            "p" => Ok(SlicesView {
                total: 1_000_000,
                ..SlicesView::default()
            }),
            name => Err(CommandError::new(format!("no property is named `{name}`"))),
        }
    }
    fn interrupter(&self) -> Box<dyn Fn() + Send> {
        Box::new(|| {})
    }
}

/// A server, and the side of the session.
struct Served {
    server: Server,
    page: LivePage,
    session: Played,
    woken: Receiver<()>,
}

impl Served {
    fn new() -> Served {
        let server = Server::start(0, "0123456789abcdef".to_owned()).expect("a port is free");
        let page = server.page(Static {
            program: "prog".to_owned(),
            ..Static::default()
        });
        let session = Played::default();
        page.connect(&session);
        let (wake, woken) = channel();
        page.set_waker(Box::new(move || {
            let _ = wake.send(());
        }));
        // Rung for requests that came earlier; from now on, each ring follows a request.
        woken.recv().expect("the session is woken");
        Served {
            server,
            page,
            session,
            woken,
        }
    }

    fn parts(&self) -> (String, String) {
        let address = self.server.address();
        let (host, token) = address.split_once("/#").expect("an address has a token");
        let host = host.strip_prefix("http://").expect("a plain address");
        (host.to_owned(), token.to_owned())
    }

    /// Sends a request with these headers. Returns the open connection.
    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let (host, _) = self.parts();
        let mut stream = TcpStream::connect(&host).expect("the server listens");
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nContent-Length: {}\r\n",
            body.len()
        );
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += "\r\n";
        head += body;
        stream.write_all(head.as_bytes()).expect("it is sent");
        stream
    }

    /// Sends a request with the token.
    fn ask(&self, method: &str, path: &str, body: &str) -> TcpStream {
        let (host, token) = self.parts();
        let token = format!("Bearer {token}");
        let headers = [
            ("Host", host.as_str()),
            ("Authorization", &token),
            ("Connection", "close"),
        ];
        self.send(method, path, &headers, body)
    }

    /// Serves what waits, as the prompt does.
    fn serve(&mut self) {
        self.woken.recv().expect("the session is woken");
        while let Some((line, reply)) = self.page.next_command(&mut self.session) {
            let result = self.session.execute(&line, &mut SilentObserver);
            self.page.reply(reply, &Performed::of(&result));
        }
    }
}

/// Reads the answer to its end: the status and the body.
fn answer(stream: TcpStream) -> (u16, String) {
    let (status, _, body) = whole(stream);
    (status, body)
}

fn whole(mut stream: TcpStream) -> (u16, String, String) {
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it is text");
    let (head, body) = text.split_once("\r\n\r\n").expect("it has a head");
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok());
    (
        status.expect("it has a status"),
        head.to_lowercase(),
        body.to_owned(),
    )
}

#[test]
fn only_who_has_the_token_is_answered() {
    let served = Served::new();
    let (host, token) = served.parts();
    let wrong = format!("Bearer {}0", &token[..token.len() - 1]);
    let short = "Bearer ".to_owned();
    for path in ["/api/static", "/api/stream"] {
        for given in [None, Some(&wrong), Some(&short), Some(&token)] {
            let mut headers = vec![("Host", host.as_str()), ("Connection", "close")];
            headers.extend(given.map(|given| ("Authorization", given.as_str())));
            let (status, body) = answer(served.send("GET", path, &headers, ""));
            assert_eq!(status, 401, "{path} {given:?}");
            assert!(body.contains("open the address"), "{body}");
        }
    }
    assert_eq!(served.session.samples, 0);
}

#[test]
fn foreign_hosts_and_origins_are_refused_even_with_the_token() {
    let served = Served::new();
    let (host, token) = served.parts();
    let token = format!("Bearer {token}");
    let port = host.rsplit(':').next().expect("a port");
    let rebound = format!("attacker.example:{port}");
    for (host, origin) in [
        (rebound.as_str(), None),
        (host.as_str(), Some("http://attacker.example")),
        (host.as_str(), Some("null")),
        (host.as_str(), Some("https://127.0.0.1")),
    ] {
        for path in ["/", "/api/static"] {
            let mut headers = vec![
                ("Host", host),
                ("Authorization", token.as_str()),
                ("Connection", "close"),
            ];
            headers.extend(origin.map(|origin| ("Origin", origin)));
            let (status, _) = answer(served.send("GET", path, &headers, ""));
            assert_eq!(status, 403, "{host} {origin:?} {path}");
        }
    }
}

#[test]
fn the_files_of_the_page_may_load_nothing_from_elsewhere() {
    let served = Served::new();
    let (host, _) = served.parts();
    for (path, kind) in [
        ("/", "text/html"),
        ("/page.js", "text/javascript"),
        ("/style.css", "text/css"),
    ] {
        let headers = [("Host", host.as_str()), ("Connection", "close")];
        let (status, head, body) = whole(served.send("GET", path, &headers, ""));
        assert_eq!(status, 200, "{path}");
        assert!(head.contains(&format!("content-type: {kind}")), "{head}");
        assert!(
            head.contains("content-security-policy: default-src 'none'"),
            "{head}"
        );
        assert!(head.contains("x-content-type-options: nosniff"), "{head}");
        assert!(!body.is_empty());
    }
    let headers = [("Host", host.as_str()), ("Connection", "close")];
    let (status, _) = answer(served.send("GET", "/../Cargo.toml", &headers, ""));
    assert_eq!(status, 404);
}

#[test]
fn requests_are_answered_by_the_session() {
    let mut served = Served::new();
    for (path, body, expected) in [
        (
            "command",
            r#"{"line":"next"}"#,
            r#"{"failed":false,"text":"did next\n"}"#,
        ),
        (
            "command",
            r#"{"line":"bad"}"#,
            r#"{"failed":true,"text":"no command is named `bad`\n"}"#,
        ),
        (
            "slices",
            r#"{"property":"p","count":40}"#,
            r#""total":1000000"#,
        ),
        (
            "slices",
            r#"{"property":"q","count":40}"#,
            "no property is named `q`",
        ),
    ] {
        let stream = served.ask("POST", &format!("/api/{path}"), body);
        served.serve();
        let (status, answer) = answer(stream);
        assert_eq!(status, 200, "{body}: {answer}");
        assert!(answer.contains(expected), "{body}: {answer}");
    }
    for (path, body) in [
        ("command", r#"{"line":"a\nb"}"#),
        ("command", "{}"),
        ("command", "nonsense"),
        ("slices", r#"{"property":1}"#),
        ("zoom", r#"{"window":{"from_ns":-1,"to_ns":2}}"#),
    ] {
        let (status, _) = answer(served.ask("POST", &format!("/api/{path}"), body));
        assert_eq!(status, 400, "{body}");
    }
}

#[test]
fn a_stream_has_a_snapshot_at_once_and_after_each_command_and_asks_for_what_is_new() {
    let mut served = Served::new();
    // Nobody looks: nothing is sampled.
    served.page.end(&mut served.session, &Ok(Outcome::Done));
    assert_eq!(served.session.samples, 0);
    let mut lines = BufReader::new(served.ask("GET", "/api/stream", "")).lines();
    let mut next = |served: &mut Served| loop {
        if served.page.has_requests() {
            served.page.serve(&mut served.session);
        }
        let line = lines
            .next()
            .expect("the stream goes on")
            .expect("it is text");
        if line.starts_with('{') {
            break line;
        }
    };
    served.woken.recv().expect("the session is woken");
    let first = next(&mut served);
    assert!(
        first.contains(r#""status":"loaded""#) && first.contains(r#""events":1"#),
        "{first}"
    );
    assert!(
        first.contains(r#""place":{"last":21,"point":7}"#),
        "{first}"
    );
    served.page.end(&mut served.session, &Ok(Outcome::Done));
    let second = next(&mut served);
    assert!(second.contains(r#""events":2"#), "{second}");
    assert_eq!(served.session.wanted[1].since.get("p"), Some(&10));
}

#[test]
fn the_answer_to_a_zoom_names_the_first_snapshot_that_has_it() {
    let mut served = Served::new();
    let _looks = served.ask("GET", "/api/stream", "");
    served.serve();
    for (window, expected) in [(r#"{"from_ns":7,"to_ns":9}"#, Some((7, 9))), ("null", None)] {
        let body = format!(r#"{{"window":{window}}}"#);
        let stream = served.ask("POST", "/api/zoom", &body);
        served.serve();
        let (status, answer) = answer(stream);
        assert_eq!(status, 200, "{answer}");
        let sequence = served.session.samples;
        assert!(answer.contains(&format!(r#"{{"sequence":{sequence}}}"#)));
        let last = served.session.wanted.last();
        assert_eq!(last.expect("a sample").window, expected);
    }
}

#[test]
fn too_many_requests_are_refused() {
    let served = Served::new();
    let asked: Vec<_> = (0..70)
        .map(|_| served.ask("POST", "/api/command", r#"{"line":"next"}"#))
        .collect();
    let mut refused = 0;
    for stream in asked.into_iter().rev() {
        // Waiting requests are never answered here; the last ones were refused at once.
        stream
            .set_read_timeout(Some(std::time::Duration::from_millis(300)))
            .expect("a time limit is possible");
        let mut text = [0; 12];
        let read = (&stream).read_exact(&mut text);
        refused += usize::from(read.is_ok() && text.ends_with(b"503"));
        if refused == 6 {
            break;
        }
    }
    assert_eq!(refused, 6);
}
