//! A client that has connected, before the session is its own.
//!
//! **Invariant**: on a port, a client that has not shown the token gets nothing but the
//! capabilities, and does not hold others up: each waits in a thread of its own.

use crate::handlers::parse;
use crate::protocol::arguments::{Initialize, Start};
use crate::protocol::capabilities::capabilities;
use crate::protocol::message::{Failure, Request, refusal, response};
use crate::transport::inbox::{Inbox, Incoming};
use crate::transport::outbox::Outbox;
use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::time::Duration;

/// How often it is looked whether another client has been admitted.
const TICK: Duration = Duration::from_millis(100);

/// The time for a client to take the last messages.
pub(crate) const CLOSING_MAX: Duration = Duration::from_secs(5);

/// A client that has connected.
pub struct Client {
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) outbox: Outbox,
    /// Its introduction, and the answer.
    pub(crate) initialize: Option<Initialize>,
    /// The request with the token, which is not answered yet.
    pub(crate) first: Option<Request>,
}

impl Client {
    /// Creates the client of a connection, which is read and written by threads.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn connect<R, W>(input: R, mut output: W) -> io::Result<Client>
    where
        R: BufRead + Send + 'static,
        W: Write + Send + 'static,
    {
        let inbox = Arc::new(Inbox::default());
        let outbox = Outbox::default();
        let filled = Arc::clone(&inbox);
        let answers = outbox.clone();
        std::thread::Builder::new()
            .name("reader".to_owned())
            .spawn(move || filled.fill(input, &answers))?;
        let drained = outbox.clone();
        std::thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || drained.drain(&mut output))?;
        Ok(Client {
            inbox,
            outbox,
            initialize: None,
            first: None,
        })
    }

    /// Waits until the client shows the token in `launch` or `attach`. Returns nothing if it shows
    /// another one, leaves, or is no longer wanted.
    pub fn admit(mut self, token: &str, is_wanted: &dyn Fn() -> bool) -> Option<Client> {
        while is_wanted() {
            let request = match self.inbox.wait(TICK) {
                None | Some(Incoming::Response(_)) => continue,
                Some(Incoming::Request(request)) => request,
                Some(Incoming::Malformed { seq, error }) => {
                    let failure = Failure::quiet(format!("the message is malformed: {error}"));
                    self.refuse(seq.unwrap_or(0), "", &failure);
                    continue;
                }
                Some(Incoming::End) => break,
            };
            match &*request.command {
                "initialize" => self.take_initialize(&request),
                "launch" | "attach" => {
                    let start = parse::<Start>(request.arguments.clone());
                    if start.is_ok_and(|start| start.token.as_deref() == Some(token)) {
                        self.first = Some(request);
                        return Some(self);
                    }
                    // A client that guesses gets one try.
                    let failure = Failure::quiet("the token is not valid");
                    self.refuse(request.seq, &request.command, &failure);
                    break;
                }
                command => {
                    let failure = Failure::quiet("the token is missing");
                    self.refuse(request.seq, command, &failure);
                }
            }
        }
        self.outbox.close(CLOSING_MAX);
        None
    }

    fn take_initialize(&mut self, request: &Request) {
        let known = match &self.initialize {
            Some(_) => Err(Failure::quiet("the client is known already")),
            None => parse(request.arguments.clone()),
        };
        match known {
            Ok(client) => {
                self.initialize = Some(client);
                let answer = response(request.seq, &request.command, capabilities());
                self.outbox.send(answer);
            }
            Err(failure) => self.refuse(request.seq, &request.command, &failure),
        }
    }

    fn refuse(&self, seq: i64, command: &str, failure: &Failure) {
        self.outbox.send(refusal(seq, command, failure));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::sync::Mutex;

    /// A writer whose output the test reads.
    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn said(messages: &[(&str, Value)]) -> io::Cursor<Vec<u8>> {
        let mut bytes = Vec::new();
        for ((command, arguments), seq) in messages.iter().zip(1..) {
            let message = json!({
                "seq": seq, "type": "request", "command": command, "arguments": arguments,
            });
            let body = message.to_string();
            bytes.extend(format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes());
        }
        io::Cursor::new(bytes)
    }

    #[track_caller]
    fn check(messages: &[(&str, Value)], is_admitted: bool, expected: &[&str]) {
        let written = Written::default();
        let client = Client::connect(said(messages), written.clone()).unwrap();
        let outbox = client.outbox.clone();
        let admitted = client.admit("secret", &|| true);
        assert_eq!(admitted.is_some(), is_admitted);
        if let Some(admitted) = admitted {
            let last = messages.last().map(|(command, _)| *command);
            let first = admitted.first.map(|request| request.command);
            assert_eq!(first.as_deref(), last);
        }
        outbox.close(CLOSING_MAX);
        let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        for words in expected {
            assert!(text.contains(words), "{words}: {text}");
        }
    }

    #[test]
    fn only_the_token_admits() {
        let hello = ("initialize", json!({ "adapterID": "juror" }));
        let threads = ("threads", json!({}));
        let start = |token: &str| ("launch", json!({ "program": "p", "token": token }));
        check(
            &[hello.clone(), threads.clone(), start("secret")],
            true,
            &["supportsConfigurationDoneRequest", "the token is missing"],
        );
        check(&[hello.clone(), start("guess")], false, &["is not valid"]);
        check(&[hello.clone(), hello], false, &["is known already"]);
        check(&[threads], false, &["the token is missing"]);
        let without = ("attach", json!({ "pid": 1 }));
        check(&[without], false, &["is not valid"]);
    }
}
