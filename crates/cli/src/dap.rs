//! `juror dap`: the debug adapter, for one client.

use crate::arguments::Dap;
use crate::arguments::symbol_settings;
use crate::driver::{Driver, Options};
use crate::exit;
use crate::session::interrupt::{self, Running};
use juror_dap::{Host, Setup};
use std::io::{self, BufRead as _, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

/// The time for a connection to say that it speaks the protocol.
const GREETING_MAX: Duration = Duration::from_secs(5);

/// The setup of each connection of a client.
const GREETING: &[u8] = b"Content-Length:";

/// Runs `juror dap`. Returns the exit status.
pub fn run(dap: &Dap) -> anyhow::Result<u8> {
    if let Some(socket) = &dap.terminal_of {
        juror_dap::tell_terminal(socket)?;
        return Ok(exit::HOLDS);
    }
    let mut process = Process::default();
    match dap.listen {
        None => {
            let input = BufReader::new(io::stdin());
            let setup = Setup { token: None };
            juror_dap::serve(input, io::stdout(), setup, &mut process)?;
        }
        Some(address) => serve_port(address, dap.token.as_deref(), &mut process)?,
    }
    process.end();
    Ok(exit::HOLDS)
}

/// Serves the first client that shows the token, which is made and told if none is given: any
/// user of the machine can connect.
fn serve_port(address: SocketAddr, token: Option<&str>, process: &mut Process) -> io::Result<()> {
    let listener = TcpListener::bind(address)?;
    let address = listener.local_addr()?;
    let (token, told) = match token {
        Some(token) => (token.to_owned(), String::new()),
        None => {
            let token = juror_web::random_token()?;
            let told = format!("its token is {token}\n");
            (token, told)
        }
    };
    crate::output::write_last_words(&format!("juror waits for a client on {address}\n{told}"));
    let mut has_served = false;
    while !has_served && process.running.ending().is_none() {
        let (input, output) = client(&listener)?;
        let setup = Setup {
            token: Some(token.clone()),
        };
        has_served = juror_dap::serve(input, output, setup, process)?;
    }
    Ok(())
}

/// Waits for a connection that begins as the protocol does: others, such as those of browsers,
/// are closed.
fn client(listener: &TcpListener) -> io::Result<(BufReader<TcpStream>, TcpStream)> {
    loop {
        let (stream, _) = listener.accept()?;
        // Messages are small, and a client waits for each.
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(GREETING_MAX))?;
        let mut input = BufReader::new(stream.try_clone()?);
        if greets(&mut input) {
            stream.set_read_timeout(None)?;
            return Ok((input, stream));
        }
    }
}

/// Returns whether a connection begins as the protocol does. Nothing is consumed.
fn greets(input: &mut BufReader<TcpStream>) -> bool {
    // A client sends its first header in one piece.
    match input.fill_buf() {
        Ok(begin) => {
            let begin = begin.get(..GREETING.len()).unwrap_or(begin);
            !begin.is_empty() && GREETING[..begin.len()].eq_ignore_ascii_case(begin)
        }
        Err(_) => false,
    }
}

/// This process: its settings, and its signals.
#[derive(Default)]
struct Process {
    running: Running,
}

impl Process {
    /// Ends by the signal that has asked for it, if there was one.
    fn end(&self) {
        if let Some(signal) = self.running.ending() {
            self.running.end_by(signal);
        }
    }
}

impl Host for Process {
    fn options(&self) -> Options {
        Options {
            symbols: symbol_settings(),
            ..Options::default()
        }
    }

    fn begins(&mut self, session: &dyn Driver) -> io::Result<()> {
        interrupt::install(&self.running, session)
    }

    fn note_running(&self, is_running: bool) {
        self.running.set(is_running);
    }

    fn is_ending(&self) -> bool {
        self.running.ending().is_some()
    }

    fn leaves(&self) {
        self.running.note_leaving();
    }
}
