//! Starts a session and its programs.

use crate::commands::blocks;
use crate::options::Options;
use crate::run::checkpoints::numbers;
use crate::run::{call_stops, catchpoints, recording, scheduling, symbol_reading};
use crate::session::Session;
use crate::state::checkpoints::Checkpoints;
use crate::state::control::ControlState;
use crate::state::control::refused_start;
use crate::state::launch::LaunchState;
use crate::state::points::UserPoints;
use crate::state::process::Processes;
use crate::state::scenarios::Scenarios;
use crate::state::selection::Selection;
use crate::state::symbols::SymbolState;
use crate::state::user::UserState;
use crate::state::waypoints::Waypoints;
use juror_debuggee::{Debuggee, EnvironmentChange, Launch, Redirection, StopEvent, ThreadId};
use juror_fault::{CommandError, SessionError};
use juror_monitoring::monitors::loading;
use juror_points::catchpoints::Catchpoint;
use juror_points::signal_names;
use juror_program::program::Program;
use juror_program::symbol_store::SymbolStore;
use juror_view::observer::Observer;
use rustc_hash::FxHashSet;
use std::path::PathBuf;

impl Session {
    /// Loads the properties and the program, if one is named. It is stopped before its first own
    /// instruction; `run` resumes it.
    ///
    /// # Errors
    /// A property is wrong, in itself or for this program, or the program cannot be started.
    pub fn start(options: Options, observer: &mut dyn Observer) -> Result<Session, SessionError> {
        let sources = options.property_sources();
        let (mut monitors, remarks) = loading::load(&sources, options.history)?;
        if let Some(recording) = &options.recording {
            monitors.record(recording)?;
        }
        for remark in remarks {
            observer.notice(&remark);
        }
        let mut session = Session {
            processes: Processes::new(monitors),
            points: UserPoints::default(),
            user: UserState::new(options.batch),
            launch: LaunchState::default(),
            symbols: SymbolState {
                store: SymbolStore::new(options.symbols.clone()),
                missing_reported: FxHashSet::default(),
            },
            scenarios: Scenarios::default(),
            checkpoints: Checkpoints::new(options.checkpoints),
            control: ControlState::default(),
            options,
        };
        for file in &session.options.views {
            if let Ok(text) = std::fs::read_to_string(file) {
                // The command tells the error.
                let _ = session.user.pretty_printers.take(file, text);
            }
        }
        session.points.commands.words = blocks::WORDS;
        let rules = &session.options.symbols.sources;
        session.user.sources.share(rules);
        if session.options.catch_panics {
            session.points.catchpoints.add(Catchpoint::of_panics());
        }
        session.begin_control_check()?;
        let asked = session.options.scenarios.clone();
        for source in sources {
            if !asked.contains(&source) && source.load().scenario_count == 0 {
                continue;
            }
            let loaded = session.load_scenarios(&source);
            loaded.map_err(|error| scenario_error(&source.file, error))?;
        }
        let is_given = !session.options.program.as_os_str().is_empty();
        if is_given && session.options.core.is_none() {
            session.launch(observer)?;
        }
        Ok(session)
    }

    /// Starts the program and runs it until its libraries are loaded.
    pub(crate) fn launch(&mut self, observer: &mut dyn Observer) -> Result<(), SessionError> {
        let permitted = self.control.permit_run();
        permitted.map_err(|error| SessionError::Launch(error.message))?;
        recording::prepare(self);
        let launch = self.launch_of()?;
        let mut program = self.start_program(&launch)?;
        let (thread, early_signal) = load_libraries(&mut program)?;
        self.launch.early_signal = early_signal;
        program.modules.note_started();
        scheduling::take_control(self, &mut program, thread, &launch)?;
        // The user may type now.
        program.debuggee.keep_terminal(self.launch.keeps_terminal);
        self.processes.selection = Selection::of_thread(thread);
        self.processes.program = Some(program);
        self.launch.is_outdated = false;
        // A file is of one run.
        self.options.recorded_run = None;
        self.checkpoints.begin_run();
        if !self.launch.is_again {
            self.checkpoints.waypoints = Waypoints::default();
        }
        self.checkpoints.note_numbers(launch.pid_namespace);
        catchpoints::renew_catchpoints(self);
        let names = symbol_reading::prepare_bound_names(self, observer);
        let names = names.map_err(|error| SessionError::Launch(error.message));
        let bound = names.and_then(|()| self.bind(thread, true));
        if bound.is_err() {
            self.forget_program();
        }
        bound?;
        self.control.state.load().map_err(refused_start)?;
        // They may have called while no program could be stopped for them.
        if observer.has_requests() {
            (self.control.call())();
        }
        Ok(())
    }

    /// Starts the program; it is stopped before its first instruction.
    fn start_program(&self, launch: &Launch) -> Result<Program, SessionError> {
        let mut debuggee =
            Debuggee::launch(launch).map_err(|error| SessionError::Launch(error.to_string()))?;
        debuggee.set_follow(self.options.follow);
        self.control.share_interrupter(&mut debuggee)?;
        let mut program = Program::new(debuggee, &self.symbols.store);
        self.user.apply(&mut program);
        Ok(program)
    }

    fn launch_of(&self) -> Result<Launch, SessionError> {
        let options = &self.options;
        let mut environment = Vec::new();
        if options.clear_environment {
            environment.push(EnvironmentChange::Clear);
        }
        for (name, value) in &options.environment {
            environment.push(match value {
                Some(value) => EnvironmentChange::Set(name.clone(), value.clone()),
                None => EnvironmentChange::Unset(name.clone()),
            });
        }
        let output = |path: &Option<PathBuf>, append: bool| match path {
            None => Redirection::Inherit,
            Some(path) if append || self.launch.is_again => Redirection::Append(path.clone()),
            Some(path) => Redirection::File(path.clone()),
        };
        let mut launch = Launch::new(&options.program);
        launch.arguments.clone_from(&options.arguments);
        launch.environment = environment;
        launch.directory.clone_from(&options.directory);
        launch.input = match &options.stdin {
            Some(path) => Redirection::File(path.clone()),
            None => Redirection::Inherit,
        };
        launch.output = output(&options.stdout, options.append_stdout);
        launch.error = output(&options.stderr, options.append_stderr);
        launch.randomize = options.randomize;
        launch.cpu = options.cpu;
        launch.pid_namespace = numbers::wanted_numbers(self);
        launch.call_stops = call_stops::call_stops(self)?;
        scheduling::prepare(self, &mut launch)?;
        launch.self_check.clone_from(&options.self_check);
        let redirected = self.launch.redirections.apply(&mut launch);
        redirected.map_err(|error| SessionError::Launch(error.message))?;
        Ok(launch)
    }

    /// Binds properties and breakpoints to the loaded modules.
    pub(crate) fn bind(&mut self, thread: ThreadId, is_start: bool) -> Result<(), SessionError> {
        let process = &mut *self.processes;
        let Some(program) = &mut process.program else {
            return Ok(());
        };
        program.update_modules();
        let options = self.options.binding();
        process.monitors.bind(program, thread, &options, is_start)?;
        let functions = self.points.breakpoints.functions();
        for name in functions.chain(self.points.hardware.functions()) {
            program.resolve_functions(name, thread, false);
        }
        self.points.breakpoints.bind(program);
        self.points.catchpoints.bind(program);
        let inserted = self.points.hardware.settle(program);
        let watched = inserted.and_then(|()| process.watchpoints.settle(program));
        watched.map_err(|error| SessionError::Internal(error.to_string()))
    }
}

/// Returns the error of a session that cannot start.
fn scenario_error(file: &str, error: CommandError) -> SessionError {
    if error.found.is_empty() {
        SessionError::Launch(error.message)
    } else {
        SessionError::Scenario {
            file: file.to_owned(),
            found: error.found,
        }
    }
}

/// The signals by which a processor or a library says that the code is wrong.
const FAULTS: [&str; 7] = [
    "SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGTRAP", "SIGSYS",
];

fn is_fault(signal: i32) -> bool {
    let (name, _) = signal_names::describe(signal);
    FAULTS.contains(&&*name)
}

/// Lets the dynamic linker load the initial libraries. Returns the first thread, which is stopped;
/// no code of the program or its libraries has run, but for functions that the linker calls to
/// choose others (ifuncs), and one of these may have got the signal that is returned.
fn load_libraries(program: &mut Program) -> Result<(ThreadId, Option<StopEvent>), SessionError> {
    let internal = |error: juror_debuggee::DebuggeeError| SessionError::Internal(error.to_string());
    let first = ThreadId(program.debuggee.pid());
    let is_static = program
        .modules
        .main()
        .is_some_and(|m| m.symbols.header().interpreter.is_none());
    if is_static {
        return Ok((first, None));
    }
    program.debuggee.resume(first).map_err(internal)?;
    loop {
        let stop_event = program.debuggee.wait().map_err(internal)?;
        match stop_event {
            StopEvent::ModulesChanged { thread } => {
                program.update_modules();
                return Ok((thread, None));
            }
            StopEvent::Signal {
                thread,
                signal,
                fatal: true,
                ..
            } if is_fault(signal) => {
                program.debuggee.read_unfinished_modules();
                program.update_modules();
                return Ok((thread, Some(stop_event)));
            }
            StopEvent::Exited { status } => {
                return Err(SessionError::Launch(format!(
                    "the program ended with status {status} while its libraries were being loaded"
                )));
            }
            StopEvent::Killed { signal, .. } => {
                return Err(SessionError::Launch(format!(
                    "signal {signal} killed the program while its libraries were being loaded"
                )));
            }
            other => {
                if let Some(thread) = other.waiting_thread() {
                    program.debuggee.resume(thread).map_err(internal)?;
                }
            }
        }
    }
}
