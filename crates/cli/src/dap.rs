//! `juror dap`: the debug adapter, for one client.

use crate::arguments::Dap;
use crate::arguments::symbol_settings;
use crate::driver::{Driver, Options};
use crate::exit;
use crate::session::init;
use crate::session::interrupt::{self, Running};
use crate::session::scripts::Commands;
use juror_dap::{Client, CommandFile, Host};
use std::collections::VecDeque;
use std::io::{self, BufRead as _, BufReader};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The time for a connection to say that it speaks the protocol.
const GREETING_MAX: Duration = Duration::from_secs(5);

/// The most connections that wait without having shown the token.
const WAITING_MAX: usize = 32;

/// The setup of each connection of a client.
const GREETING: &[u8] = b"Content-Length:";

/// Runs `juror dap`. Returns the exit status.
pub fn run(dap: &Dap) -> anyhow::Result<u8> {
    if let Some(socket) = &dap.terminal_of {
        juror_dap::tell_terminal(socket)?;
        return Ok(exit::HOLDS);
    }
    let mut process = Process {
        has_init: !dap.no_init,
        ..Process::default()
    };
    let client = match dap.listen {
        None => Client::connect(BufReader::new(io::stdin()), io::stdout())?,
        Some(address) => Port::open(address, dap.token.as_deref())?.client()?,
    };
    juror_dap::serve(client, &mut process);
    process.end();
    Ok(exit::HOLDS)
}

/// A port that waits for the client with the token: any user of the machine can connect.
struct Port {
    listener: TcpListener,
    token: String,
    /// Whether the client with the token has come.
    is_taken: AtomicBool,
    /// The connections that have not shown the token, the oldest first.
    waiting: Mutex<VecDeque<TcpStream>>,
}

impl Port {
    /// Opens a port, and tells its address; a token is made and told if none is given.
    fn open(address: SocketAddr, token: Option<&str>) -> io::Result<Arc<Port>> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let (token, told) = match token {
            Some(token) => (token.to_owned(), String::new()),
            None => {
                let token = crate::token::random()?;
                let told = format!("its token is {token}\n");
                (token, told)
            }
        };
        crate::output::write_last_words(&format!("juror waits for a client on {address}\n{told}"));
        Ok(Arc::new(Port {
            listener,
            token,
            is_taken: AtomicBool::new(false),
            waiting: Mutex::default(),
        }))
    }

    /// Waits for the first client that shows the token.
    fn client(self: &Arc<Port>) -> io::Result<Client> {
        let (sender, admitted) = channel();
        let port = Arc::clone(self);
        std::thread::Builder::new()
            .name("port".to_owned())
            .spawn(move || port.accept(&sender))?;
        admitted.recv().map_err(io::Error::other)
    }

    /// Accepts connections, each of which has a thread of its own until it shows the token.
    fn accept(self: &Arc<Port>, admitted: &Sender<Client>) {
        while let Ok((stream, _)) = self.listener.accept() {
            if self.is_taken.load(Ordering::SeqCst) {
                return;
            }
            let (port, admitted) = (Arc::clone(self), admitted.clone());
            let doorman = std::thread::Builder::new().name("doorman".to_owned());
            // A connection without a thread is closed.
            let _ = doorman.spawn(move || {
                if let Ok(Some(client)) = port.admit(stream) {
                    let _ = admitted.send(client);
                }
            });
        }
    }

    /// Waits until a connection shows the token. One that does not begin as the protocol does, such
    /// as that of a browser, is closed.
    fn admit(&self, stream: TcpStream) -> io::Result<Option<Client>> {
        // Messages are small, and a client waits for each.
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(GREETING_MAX))?;
        let known = stream.try_clone()?;
        let end = stream.try_clone()?;
        self.keep(known);
        let mut input = BufReader::new(stream.try_clone()?);
        if !greets(&mut input) {
            self.forget(&end);
            return end.shutdown(Shutdown::Both).map(|()| None);
        }
        stream.set_read_timeout(None)?;
        let client = Client::connect(input, stream)?;
        let is_wanted = || !self.is_taken.load(Ordering::SeqCst);
        let admitted = client.admit(&self.token, &is_wanted);
        self.forget(&end);
        let admitted = admitted.filter(|_| !self.is_taken.swap(true, Ordering::SeqCst));
        if admitted.is_none() {
            end.shutdown(Shutdown::Both)?;
        }
        Ok(admitted)
    }

    /// Keeps a connection that waits. If there are too many, the oldest is closed.
    fn keep(&self, stream: TcpStream) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push_back(stream);
        if waiting.len() > WAITING_MAX
            && let Some(oldest) = waiting.pop_front()
        {
            // It may have gone already.
            let _ = oldest.shutdown(Shutdown::Both);
        }
    }

    /// Forgets a connection that waits no more.
    fn forget(&self, stream: &TcpStream) {
        let Ok(peer) = stream.peer_addr() else { return };
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|it| it.peer_addr().is_ok_and(|it| it != peer));
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
    /// Whether the command files of the user are executed.
    has_init: bool,
}

impl Process {
    /// Ends by the signal that has asked for it, if there was one.
    fn end(&self) {
        if let Some(signal) = self.running.ending() {
            self.running.end_by(signal);
        }
    }
}

impl Process {
    fn first_commands(&self, tell: &mut dyn FnMut(&str)) -> Vec<Commands> {
        if self.has_init {
            init::read(tell)
        } else {
            Vec::new()
        }
    }
}

impl Host for Process {
    fn command_files(&self, tell: &mut dyn FnMut(&str)) -> Vec<CommandFile> {
        let files = self.first_commands(tell);
        files.into_iter().map(Commands::into_file).collect()
    }

    fn options(&self) -> Options {
        // A file that cannot be read is reported where the files are executed.
        let files = self.first_commands(&mut |_| {});
        Options {
            views: files.iter().flat_map(Commands::views).collect(),
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
