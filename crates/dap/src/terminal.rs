//! A terminal of the client as the program's: the client starts a helper in it, which tells the
//! name of the terminal and waits.

use crate::adapter::Adapter;
use crate::protocol::arguments::Start;
use crate::protocol::message::Failure;
use crate::transport::inbox::Incoming;
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long the client may take to open a terminal.
const OPENING_MAX: Duration = Duration::from_secs(30);

/// How often the terminal is looked for.
const TICK: Duration = Duration::from_millis(10);

/// A terminal of the client; its helper waits until this is dropped.
pub(crate) struct ClientTerminal {
    /// Its name.
    pub(crate) path: PathBuf,
    _helper: UnixStream,
}

/// Tells the name of this process's terminal over a socket, and waits until the other end is
/// closed: the terminal is the program's until then.
///
/// # Errors
/// There is no terminal, or nobody listens.
pub fn tell_terminal(socket: &Path) -> io::Result<()> {
    let tty = nix::unistd::ttyname(io::stdin())?;
    let mut stream = UnixStream::connect(socket)?;
    stream.write_all(tty.as_os_str().as_encoded_bytes())?;
    stream.write_all(b"\n")?;
    // The adapter never writes: this returns when it has gone.
    let mut nothing = [0];
    let _ = stream.read(&mut nothing);
    Ok(())
}

/// Asks the client for a terminal.
pub(crate) fn open(adapter: &Adapter, start: &Start) -> Result<ClientTerminal, Failure> {
    if adapter.client.supports_run_in_terminal_request != Some(true) {
        return Err(Failure::shown("this client cannot open a terminal"));
    }
    let failed = |error: io::Error| Failure::shown(format!("no terminal can be used: {error}"));
    // Only this user can connect: the directory is private.
    let directory = tempfile::Builder::new()
        .prefix("juror-terminal-")
        .tempdir()
        .map_err(failed)?;
    let socket = directory.path().join("socket");
    let listener = UnixListener::bind(&socket).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let seq = ask(adapter, start, &socket).map_err(failed)?;
    let helper = wait_for(adapter, &listener, seq)?;
    let mut name = String::new();
    let stream = helper.try_clone().map_err(failed)?;
    BufReader::new(stream)
        .read_line(&mut name)
        .map_err(failed)?;
    Ok(ClientTerminal {
        path: PathBuf::from(name.trim_end()),
        _helper: helper,
    })
}

/// Sends the request. Returns its number.
fn ask(adapter: &Adapter, start: &Start, socket: &Path) -> io::Result<i64> {
    let kind = match start.console.as_deref() {
        Some("externalTerminal") => "external",
        _ => "integrated",
    };
    let program = start.program.as_deref().unwrap_or("program");
    let directory = match &start.cwd {
        Some(directory) => directory.clone(),
        None => std::env::current_dir()?.display().to_string(),
    };
    Ok(adapter.outbox.send(json!({
        "type": "request",
        "command": "runInTerminal",
        "arguments": {
            "kind": kind,
            "title": program.rsplit('/').next(),
            "cwd": directory,
            "args": [
                std::env::current_exe()?.display().to_string(),
                "dap",
                "--terminal-of",
                socket.display().to_string(),
            ],
        },
    })))
}

/// Waits for the helper, unless the client refuses.
fn wait_for(adapter: &Adapter, listener: &UnixListener, seq: i64) -> Result<UnixStream, Failure> {
    let end = Instant::now() + OPENING_MAX;
    let is_refusal = |incoming: &Incoming| match incoming {
        Incoming::Response(answer) => {
            answer["request_seq"] == seq && answer["success"] == Value::Bool(false)
        }
        _ => false,
    };
    while Instant::now() < end && !adapter.inbox.has_ended() {
        if let Ok((stream, _)) = listener.accept() {
            let blocking = stream.set_nonblocking(false);
            return match blocking.and_then(|()| stream.set_read_timeout(Some(OPENING_MAX))) {
                Ok(()) => Ok(stream),
                Err(error) => Err(Failure::shown(error.to_string())),
            };
        }
        if let Some(Incoming::Response(answer)) = adapter.inbox.take_if(is_refusal) {
            let why = answer["message"].as_str().unwrap_or("without a reason");
            let message = format!("the client has not opened a terminal: {why}");
            return Err(Failure::shown(message));
        }
        std::thread::sleep(TICK);
    }
    Err(Failure::shown(
        "the terminal of the client was not found in time",
    ))
}
