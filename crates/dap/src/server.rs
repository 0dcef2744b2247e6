//! The loop of the main thread: it takes the client's messages one by one.
//!
//! **Invariant**: however the connection or juror ends, a program that was launched is ended and
//! one that was attached to goes on, unless the client has asked for the contrary.

mod first_commands;
mod launching;
mod leaving;
mod options;
mod processes;

use crate::adapter::{Adapter, Motion};
use crate::client::{CLOSING_MAX, Client};
use crate::handlers::{self, parse};
use crate::protocol::arguments::Start;
use crate::protocol::capabilities::capabilities;
use crate::protocol::message::{Failure, Request};
use crate::stops::{self, Told};
use crate::terminal::ClientTerminal;
use crate::transport::inbox::Incoming;
use juror_session::Options;
use juror_view::StopView;
use juror_view::changes::{Release, Resume};
use juror_view::driver::Driver;
use serde_json::{Value, json};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time after which `initialized` is sent without a program: some clients configure first.
const INITIALIZED_AFTER: Duration = Duration::from_millis(300);

/// How often a signal to juror is looked for while nothing else happens.
const TICK: Duration = Duration::from_millis(50);

/// The lines of a command file that is executed before the program begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandFile {
    /// Its name.
    pub name: String,
    /// Its commands, with their line numbers.
    pub lines: Vec<(usize, String)>,
}

/// The process that the adapter is part of: its signals and settings.
pub trait Host {
    /// Returns the command files of the user, for a session that begins. `tell` gets the reason why
    /// one is not executed.
    fn command_files(&self, tell: &mut dyn FnMut(&str)) -> Vec<CommandFile> {
        let _ = tell;
        Vec::new()
    }
    /// Returns the options of a session that do not come from the client.
    fn options(&self) -> Options;
    /// A session has begun: signals to juror are to reach it from now on.
    ///
    /// # Errors
    /// Signals cannot be handled.
    fn begins(&mut self, session: &dyn Driver) -> io::Result<()>;
    /// A command runs, or does no more.
    fn note_running(&self, is_running: bool);
    /// Returns whether a signal has asked juror to end.
    fn is_ending(&self) -> bool;
    /// The debuggee is being ended or released for that signal.
    fn leaves(&self);
}

/// Serves a client until it leaves.
pub fn serve(client: Client, host: &mut dyn Host) {
    let outbox = client.outbox.clone();
    let mut adapter = Adapter::new(client.inbox, client.outbox);
    let initialized = match client.initialize {
        Some(known) => {
            adapter.client = known;
            Initialized::At(Instant::now() + INITIALIZED_AFTER)
        }
        None => Initialized::Unknown,
    };
    adapter.deferred = client.first;
    let mut server = Server {
        adapter,
        session: None,
        host,
        is_configured: false,
        initialized,
        start: None,
        origin: Origin::Launched,
        terminal: None,
        is_over: false,
    };
    server.work();
    outbox.close(CLOSING_MAX);
}

/// Whether the client was told that it may configure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Initialized {
    /// The client has not said who it is.
    Unknown,
    /// It is told at this time, if no program is loaded before.
    At(Instant),
    /// It was told.
    Told,
}

/// Where the debuggee comes from.
#[derive(Debug, PartialEq)]
enum Origin {
    /// It is a program of this session, which ends with it.
    Launched,
    /// It is a process that ran before, and goes on.
    Attached,
    /// It is the recording of a run.
    Recorded,
    /// It is a core file, with the stop that is told when the client has configured.
    CoreFile(Option<Box<StopView>>),
}

impl Origin {
    /// Returns how the session with the debuggee ends.
    fn farewell(&self) -> Release {
        match self {
            Origin::Launched | Origin::Recorded | Origin::CoreFile(_) => Release::Kill,
            Origin::Attached => Release::Detach,
        }
    }
}

/// The loop, and what it holds.
struct Server<'h> {
    adapter: Adapter,
    session: Option<Box<dyn Driver>>,
    host: &'h mut dyn Host,
    is_configured: bool,
    initialized: Initialized,
    /// The arguments of `launch` or `attach`, once the program is loaded.
    start: Option<Start>,
    origin: Origin,
    /// The terminal of the client that the program uses.
    terminal: Option<ClientTerminal>,
    is_over: bool,
}

impl Server<'_> {
    /// Takes messages until the client or a signal ends the session.
    fn work(&mut self) {
        while !self.is_over {
            if self.host.is_ending() {
                return self.leave_for_signal();
            }
            if let Some(request) = self.adapter.deferred.take() {
                self.take(request);
                continue;
            }
            let now = Instant::now();
            if let Initialized::At(time) = self.initialized
                && time <= now
            {
                self.tell_initialized();
            }
            match self.adapter.inbox.wait(TICK) {
                None | Some(Incoming::Response(_)) => {}
                Some(Incoming::Request(request)) => self.take(request),
                Some(Incoming::Malformed { seq, error }) => {
                    handlers::answer_malformed(&self.adapter, seq, &error);
                }
                Some(Incoming::End) => self.take(handlers::disconnection()),
            }
        }
    }

    /// Handles a request.
    fn take(&mut self, request: Request) {
        self.host.note_running(true);
        if handlers::is_of_server(&request.command) {
            self.take_own(&request);
        } else {
            let session: Option<&mut dyn Driver> = match &mut self.session {
                Some(session) => Some(&mut **session),
                None => None,
            };
            handlers::handle(&mut self.adapter, session, &request);
        }
        self.host.note_running(false);
    }

    /// Handles a request about the life of the session. A bug in it is answered, too.
    fn take_own(&mut self, request: &Request) {
        let inbox = Arc::clone(&self.adapter.inbox);
        let done = handlers::tried(&inbox, request, || match &*request.command {
            "initialize" => self.initialize(request),
            "launch" => self.launch(request),
            "attach" => self.attach(request),
            "configurationDone" => self.configuration_done(request),
            "restart" => self.restart(request),
            "terminate" => self.terminate(request),
            _ => self.disconnect(request),
        });
        if let Err(failure) = done {
            self.adapter.abandon(request, &failure);
        }
    }

    fn initialize(&mut self, request: &Request) {
        if self.initialized != Initialized::Unknown {
            let failure = Failure::quiet("the client is known already");
            return self.adapter.answer(request, Err(failure));
        }
        let client = match parse(request.arguments.clone()) {
            Ok(client) => client,
            Err(failure) => return self.adapter.answer(request, Err(failure)),
        };
        self.adapter.client = client;
        self.initialized = Initialized::At(Instant::now() + INITIALIZED_AFTER);
        self.adapter.answer(request, Ok(capabilities()));
    }

    /// Tells the client that it may set breakpoints now.
    fn tell_initialized(&mut self) {
        if self.initialized != Initialized::Told {
            self.initialized = Initialized::Told;
            self.adapter.outbox.send(json!({
                "type": "event",
                "event": "initialized",
            }));
        }
    }

    fn configuration_done(&mut self, request: &Request) {
        let is_first = !std::mem::replace(&mut self.is_configured, true);
        self.adapter.answer(request, Ok(Value::Null));
        if is_first && self.start.is_some() {
            self.begin();
        }
    }

    /// Lets the program begin, once it is loaded and the client has configured.
    fn begin(&mut self) {
        let (Some(start), Some(session)) = (&self.start, &mut self.session) else {
            return;
        };
        if self.adapter.motion != Motion::Unbegun {
            return;
        }
        let stops_on_entry = start.stop_on_entry == Some(true);
        self.adapter.is_entry = stops_on_entry && !matches!(self.origin, Origin::CoreFile(_));
        let how = match (&mut self.origin, stops_on_entry) {
            (Origin::CoreFile(stop), _) => {
                let Some(stop) = stop.take() else { return };
                return stops::tell_stop(&mut self.adapter, &mut **session, stop, Told::No);
            }
            (Origin::Attached, true) => {
                let thread = session.queries().and_then(|it| it.selection());
                let thread = thread.map_or(1, |it| it.thread);
                self.adapter.motion = Motion::Stopped;
                let body = json!({
                    "reason": "entry",
                    "threadId": thread,
                    "allThreadsStopped": true,
                });
                return self.adapter.event("stopped", body);
            }
            (Origin::Attached, false) => Resume::Continue,
            (Origin::Launched | Origin::Recorded, true) => Resume::Start,
            (Origin::Launched | Origin::Recorded, false) => Resume::Run,
        };
        self.adapter.run(&mut **session, how);
    }
}
