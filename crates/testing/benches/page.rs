//! The cost of a page that nobody looks at, in the same run.
//!
//! ```text
//! cargo bench -p juror-testing --bench page [-- --quick]
//! ```
//!
//! `programs/keyed.c` calls a function a million times, and more often where the program takes the
//! event itself; a property counts the calls for each of a thousand keys. juror runs it without a
//! page; with `--web`, and no client; with a client whose tab is hidden, which has loaded the page
//! and its first snapshot and closed the stream, as the page does; and with one that reads the
//! stream. They alternate for several rounds, and the order changes, so that load on the machine
//! affects all of them. The program measures the time itself. Every run must see every call, or
//! there is no result.

use juror_testing::measure::{events_seen, median, number_after, run_benchmark};
use juror_testing::{Build, Fixture, Juror, Language};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Command, ExitCode, Stdio};
use std::thread::JoinHandle;

/// How much is measured.
#[derive(Debug, Clone, Copy)]
struct Effort {
    rounds: usize,
    /// Calls by traps.
    trap_calls: u32,
    /// Calls that the program takes itself.
    native_calls: u32,
}

const FULL: Effort = Effort {
    rounds: 7,
    trap_calls: 1_000_000,
    native_calls: 20_000_000,
};
const QUICK: Effort = Effort {
    rounds: 1,
    trap_calls: 200,
    native_calls: 20_000,
};

const KEYS: u32 = 1000;

/// Who looks at the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Looks {
    /// There is no page.
    Without,
    /// There is one, and no client.
    Nobody,
    /// A tab in the background.
    Hidden,
    /// A tab that is seen.
    Seen,
}

const LOOKS: [(Looks, &str); 4] = [
    (Looks::Without, "no page"),
    (Looks::Nobody, "no client"),
    (Looks::Hidden, "hidden tab"),
    (Looks::Seen, "seen tab"),
];

fn main() -> ExitCode {
    run_benchmark("page", |is_quick| {
        Bench::prepare(if is_quick { QUICK } else { FULL })?.run()
    })
}

/// The program and juror.
struct Bench {
    effort: Effort,
    keyed: PathBuf,
    property: PathBuf,
    juror: PathBuf,
}

impl Bench {
    fn prepare(effort: Effort) -> Result<Bench, String> {
        let compiled = Fixture::program("keyed.c").try_compile(&Build::plain(Language::C));
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
        Ok(Bench {
            effort,
            keyed: compiled.map_err(|error| error.to_string())?,
            property: programs.join("keyed_slices.prop"),
            juror: Juror::find_as_built()?,
        })
    }

    fn run(&self) -> Result<(), String> {
        println!(
            "Nanoseconds per call; medians. Ratios: medians of the rounds' own ratios to no page."
        );
        for (tier, calls) in [
            ("trap", self.effort.trap_calls),
            ("native", self.effort.native_calls),
        ] {
            let mut samples = [const { Vec::new() }; LOOKS.len()];
            let mut snapshots = 0;
            for round in 0..self.effort.rounds {
                for turn in 0..LOOKS.len() {
                    let at = (round + turn) % LOOKS.len();
                    let (time, read) = self.time(LOOKS[at].0, tier, calls)?;
                    samples[at].push(time);
                    snapshots += read;
                }
            }
            let rounds = self.effort.rounds;
            println!(
                "{tier}, {calls} calls, {rounds} rounds; the seen tab has read {snapshots} snapshots:"
            );
            for ((_, name), own) in LOOKS.iter().zip(&samples) {
                let pairs = own.iter().zip(&samples[0]);
                let ratios: Vec<f64> = pairs.map(|(own, without)| own / without).collect();
                println!(
                    "  {name:10} {:10.1}  ratio {:.3}",
                    median(own),
                    median(&ratios)
                );
            }
        }
        Ok(())
    }

    /// Runs the program once; returns its nanoseconds per call, and the number of snapshots that
    /// were read meanwhile.
    fn time(&self, looks: Looks, tier: &str, calls: u32) -> Result<(f64, usize), String> {
        let mut command = Command::new(&self.juror);
        command.args(["run", "--tier", tier, "--color", "never", "--property"]);
        command.arg(&self.property);
        if looks != Looks::Without {
            command.arg("--web");
        }
        // It stands at `main` until the client is there.
        command.args(["-e", "start"]).arg(&self.keyed);
        command.args([1, calls, KEYS].map(|number| number.to_string()));
        let text = |error: std::io::Error| error.to_string();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(text)?;
        let mut messages = BufReader::new(child.stderr.take().ok_or("no pipe")?);
        let reader = match looks {
            Looks::Without => None,
            _ => look(looks, &mut messages).map_err(text)?,
        };
        let mut input = child.stdin.take().ok_or("no pipe")?;
        input.write_all(b"continue\nquit\n").map_err(text)?;
        drop(input);
        let output = child.wait_with_output().map_err(text)?;
        let read = reader.map_or(Ok(0), JoinHandle::join);
        let read = read.map_err(|_| "the reader has failed")?;
        let said = String::from_utf8_lossy(&output.stdout);
        let elapsed_ns = number_after(&said, &format!("calls={calls} elapsed_ns="));
        match elapsed_ns {
            Some(elapsed_ns) if events_seen(&said, "use") == Some(u64::from(calls)) => {
                Ok((elapsed_ns as f64 / f64::from(calls), read))
            }
            _ => Err(format!(
                "{command:?} does not run the program to its end and see {calls} calls:\n{said}"
            )),
        }
    }
}

/// Plays a browser at the address that juror prints. Returns who reads the stream to its end, and
/// counts the snapshots.
fn look(
    looks: Looks,
    messages: &mut BufReader<ChildStderr>,
) -> std::io::Result<Option<JoinHandle<usize>>> {
    let mut line = String::new();
    messages.read_line(&mut line)?;
    let address = line.trim().rsplit_once("http://").map(|(_, it)| it);
    let (host, token) = address
        .and_then(|address| address.split_once("/#"))
        .ok_or_else(|| std::io::Error::other(format!("no address: {line}")))?;
    if looks == Looks::Nobody {
        return Ok(None);
    }
    for path in ["/", "/page.js", "/api/static"] {
        get(host, token, path)?.read_to_end(&mut Vec::new())?;
    }
    let lines = BufReader::new(get(host, token, "/api/stream")?).lines();
    // The sizes of chunks are between the snapshots.
    let mut lines = lines.map_while(Result::ok).filter(|it| it.starts_with('{'));
    lines.next();
    if looks == Looks::Hidden {
        return Ok(None);
    }
    Ok(Some(std::thread::spawn(move || lines.count())))
}

/// Sends a request.
fn get(host: &str, token: &str, path: &str) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect(host)?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    )?;
    Ok(stream)
}
