//! The session: a debuggee, its points, its monitors, and what the person at
//! the prompt has selected.

use crate::options::Options;
use crate::state::breakpoint_commands::Attached;
use crate::state::checkpoints::Checkpoints;
use crate::state::command_line::{CommandLine, Redirections};
use crate::state::displays::Displays;
use crate::state::evaluations::{CallEnd, Evaluations};
use crate::state::examined::Examined;
use crate::state::inline_frames::Unentered;
use crate::state::pretty_printers::UserViews;
use crate::state::process::Processes;
use crate::state::scenarios::Scenarios;
use crate::state::selection::Selection;
use crate::state::settings::Settings;
use crate::state::signals::Handling;
use crate::state::skips::Skips;
use crate::state::source::Sources;
use crate::state::thread_names::ThreadNames;
use crate::state::values::Kept;
use juror_debuggee::{
    Debuggee, EnvironmentChange, Interrupter, Launch, Notice, Redirection, ThreadId,
};
use juror_instrument::frames::Frame;
use juror_instrument::modules::Modules;
use juror_instrument::program::Program;
use juror_instrument::symbol_store::SymbolStore;
use juror_monitoring::monitors::{Watch, loading};
use juror_points::breakpoints::Breakpoints;
use juror_points::catchpoints::Catchpoints;
use juror_points::hardware_breakpoints::HardwareBreakpoints;
use juror_points::point::PointOwner;
use juror_points::watchpoints::Watchpoints;
use juror_rules::control::{Control, ControlCheck, Modes};
use juror_view::error::{CommandError, SessionError, not_running};
use juror_view::observer::Observer;
use rustc_hash::FxHashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Frames of a stack that are kept for `up`, `down` and `frame`.
const STACK_FRAMES_MAX: usize = 4096;

/// A debuggee with everything around it.
pub struct Session {
    pub(crate) options: Options,
    pub(crate) program: Option<Program>,
    /// What the last program had loaded, so that places in it can still be
    /// named when it is gone.
    pub(crate) last_modules: Modules,
    /// A breakpoint that has been shown because a step ended at it: arriving
    /// there is no second stop.
    pub(crate) announced: Option<(ThreadId, u64)>,
    /// Expressions that wait for functions which they call.
    pub(crate) evaluations: Evaluations,
    /// A call of one of them has ended: it goes on when the command is done.
    pub(crate) ended_call: Option<(ThreadId, CallEnd)>,
    /// The condition of a breakpoint is being asked.
    pub(crate) is_asking: bool,
    /// The breakpoints here have been asked in the present run: a step that
    /// ends here does not ask them again.
    pub(crate) asked: Option<(ThreadId, u64)>,
    /// What the user has been shown as not entered yet.
    pub(crate) unentered: Option<Unentered>,
    /// The inlined call at whose beginning a monitor was the first to say something.
    pub(crate) begun: Option<Unentered>,
    pub(crate) watch: Watch,
    /// What the exit of the program itself has violated, by monitor.
    pub(crate) exit_violations: Vec<juror_monitoring::monitors::Violated>,
    pub(crate) breakpoints: Breakpoints,
    pub(crate) hardware_breakpoints: HardwareBreakpoints,
    pub(crate) watchpoints: Watchpoints,
    pub(crate) attached: Attached,
    /// What `run` was given for the standard streams, over the options.
    pub(crate) redirections: Redirections,
    /// What `set args` has said: for the next run and those after it.
    pub(crate) next_line: Option<CommandLine>,
    pub(crate) sources: Sources,
    /// What `step` does not enter.
    pub(crate) skips: Skips,
    pub(crate) catchpoints: Catchpoints,
    pub(crate) checkpoints: Checkpoints,
    /// What is done about signals.
    pub(crate) handling: Handling,
    pub(crate) selection: Selection,
    /// What is done when monitors and the debugger say something.
    pub(crate) scenarios: Scenarios,
    /// Whose the points are that are set now.
    pub(crate) placing: PointOwner,
    /// What is done is what a scenario says.
    pub(crate) acts_for_scenario: bool,
    /// The property that commands speak of which name none.
    pub(crate) current_property: Option<String>,
    /// The other processes; what is of the current one is in the fields above.
    pub(crate) processes: Processes,
    /// What is shown at every stop.
    pub(crate) displays: Displays,
    /// How the user's values are shown.
    pub(crate) user_views: UserViews,
    /// How `x` shows memory, and where it goes on.
    pub(crate) examined: Examined,
    /// `$1`, `$2`, `$name`, …
    pub(crate) values: Kept,
    /// The names that the person has given to threads.
    pub(crate) thread_names: ThreadNames,
    /// How values and sources are shown.
    pub(crate) settings: Settings,
    /// What `dprintf` has printed, and nobody has been told yet: point and text.
    pub(crate) printed: Vec<(u32, String)>,
    /// The program was started with what holds no more: its directory, its environment.
    pub(crate) starts_anew: bool,
    /// Who has the control.
    pub(crate) control: Control,
    /// Under a self-check: what follows the control against its model.
    pub(crate) control_check: Option<Box<ControlCheck>>,
    /// The symbols of what is debugged.
    pub(crate) symbols: SymbolStore,
    /// What has been said of symbols that are missing.
    pub(crate) missing_told: FxHashSet<PathBuf>,
    /// Set to give up long work of juror's own.
    pub(crate) cancel: Arc<AtomicBool>,
    /// Shared with those who may interrupt a run.
    pub(crate) interrupter: Arc<Mutex<Option<Interrupter>>>,
}

impl Session {
    /// Loads the properties and the program, if one is named. It stands before
    /// its first own instruction; `run` lets it go.
    ///
    /// # Errors
    /// A property is wrong, by itself or about this program, or the program
    /// cannot be started.
    pub fn start(options: Options, observer: &mut dyn Observer) -> Result<Session, SessionError> {
        let sources = options.property_sources();
        let (mut watch, remarks) = loading::load(&sources, options.history)?;
        if let Some(recording) = &options.recording {
            watch.record(recording)?;
        }
        for remark in remarks {
            observer.notice(&remark);
        }
        let symbols = SymbolStore::new(options.symbols.clone());
        let mut session = Session {
            catchpoints: Catchpoints::default(),
            checkpoints: Checkpoints::new(options.checkpoints),
            handling: Handling::new(options.batch),
            options,
            program: None,
            last_modules: Modules::default(),
            announced: None,
            evaluations: Evaluations::default(),
            ended_call: None,
            is_asking: false,
            asked: None,
            unentered: None,
            begun: None,
            watch,
            exit_violations: Vec::new(),
            breakpoints: Breakpoints::default(),
            hardware_breakpoints: HardwareBreakpoints::default(),
            watchpoints: Watchpoints::default(),
            attached: Attached::default(),
            redirections: Redirections::default(),
            next_line: None,
            sources: Sources::default(),
            skips: Skips::default(),
            selection: Selection::default(),
            scenarios: Scenarios::default(),
            placing: PointOwner::Developer,
            acts_for_scenario: false,
            current_property: None,
            processes: Processes::default(),
            displays: Displays::default(),
            user_views: UserViews::default(),
            examined: Examined::default(),
            values: Kept::default(),
            settings: Settings::default(),
            thread_names: ThreadNames::default(),
            printed: Vec::new(),
            starts_anew: false,
            control: Control::default(),
            control_check: None,
            symbols,
            missing_told: FxHashSet::default(),
            cancel: Arc::default(),
            interrupter: Arc::new(Mutex::new(None)),
        };
        session.begin_control_check()?;
        let asked = session.options.scenarios.clone();
        for source in sources {
            if !asked.contains(&source) && source.load().scenario_count == 0 {
                continue;
            }
            let loaded = session.load_scenarios(&source);
            loaded.map_err(|error| scenario_error(&source.file, error))?;
        }
        if !session.options.program.as_os_str().is_empty() {
            session.launch(observer)?;
        }
        Ok(session)
    }

    /// Whether there is a debuggee.
    pub fn is_alive(&self) -> bool {
        self.program.is_some()
    }

    /// Makes a command that lets the program run return; from any thread.
    pub fn interrupter(&self) -> impl Fn() + Send + use<> {
        let shared = Arc::clone(&self.interrupter);
        let cancel = Arc::clone(&self.cancel);
        move || {
            cancel.store(true, Ordering::Relaxed);
            if let Ok(guard) = shared.lock()
                && let Some(interrupter) = &*guard
            {
                interrupter.interrupt();
            }
        }
    }

    /// Starts the program and brings it to where its libraries are loaded.
    pub(crate) fn launch(&mut self, observer: &mut dyn Observer) -> Result<(), SessionError> {
        let launch = self.launch_of()?;
        let mut debuggee =
            Debuggee::launch(&launch).map_err(|error| SessionError::Launch(error.to_string()))?;
        debuggee.set_follow(self.options.follow);
        self.share_interrupter(&mut debuggee)?;
        let mut program = Program::new(debuggee, &self.symbols);
        self.user_views.apply(&mut program);
        self.settings.apply(&mut program);
        let thread = load_libraries(&mut program)?;
        program.modules.note_started();
        // A person may type now.
        program.debuggee.take_terminal();
        self.selection = Selection {
            thread: Some(thread),
            ..Selection::default()
        };
        self.program = Some(program);
        self.starts_anew = false;
        self.checkpoints.begin_run();
        self.checkpoints.note_numbers(launch.numbers);
        self.renew_catchpoints();
        let names = self.prepare_bound_names(observer);
        let names = names.map_err(|error| SessionError::Launch(error.message));
        let bound = names.and_then(|()| self.bind(thread, true));
        if bound.is_err() {
            self.forget_program();
        }
        bound?;
        self.control.load()?;
        Ok(())
    }

    /// Lets those who hold [`Session::interrupter`] stop this debuggee.
    pub(crate) fn share_interrupter(&self, debuggee: &mut Debuggee) -> Result<(), SessionError> {
        let interrupter = debuggee
            .interrupter()
            .map_err(|error| SessionError::Internal(error.to_string()))?;
        if let Ok(mut guard) = self.interrupter.lock() {
            *guard = Some(interrupter);
        }
        Ok(())
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
            Some(path) if append => Redirection::Append(path.clone()),
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
        launch.numbers = self.wanted_numbers();
        launch.self_check.clone_from(&options.self_check);
        let redirected = self.redirections.apply(&mut launch);
        redirected.map_err(|error| SessionError::Launch(error.message))?;
        Ok(launch)
    }

    /// Binds properties and breakpoints to what is loaded now.
    pub(crate) fn bind(&mut self, thread: ThreadId, is_start: bool) -> Result<(), SessionError> {
        let Some(program) = &mut self.program else {
            return Ok(());
        };
        program.update_modules();
        self.watch
            .bind(program, thread, &self.options.binding(), is_start)?;
        let functions = self.breakpoints.functions();
        for name in functions.chain(self.hardware_breakpoints.functions()) {
            program.resolve_functions(name, thread, false);
        }
        self.breakpoints.bind(program);
        self.catchpoints.bind(program);
        let watched = self
            .hardware_breakpoints
            .settle(program)
            .and_then(|()| self.watchpoints.settle(program));
        watched.map_err(|error| SessionError::Internal(error.to_string()))
    }

    /// The debuggee is gone.
    pub(crate) fn forget_program(&mut self) {
        if let Some(mut program) = self.program.take() {
            self.last_modules = std::mem::take(&mut program.modules);
        }
        self.announced = None;
        self.asked = None;
        self.attached.clear();
        self.thread_names.clear();
        self.evaluations.clear();
        self.ended_call = None;
        self.control.end();
        self.selection = Selection::default();
        if let Ok(mut guard) = self.interrupter.lock() {
            *guard = None;
        }
        self.breakpoints.forget_process();
        self.catchpoints.forget_locations();
        self.hardware_breakpoints.forget_locations();
        self.watchpoints.forget_program(false);
        self.watchpoints.adopt(self.processes.take_waiting());
        // Where the first process was recorded and is gone, the next run's is.
        if let Some((recorder, monitor)) = self.processes.take_recorder() {
            self.watch.add_recorder(recorder, monitor);
        }
        self.processes = Processes::default();
    }

    /// What is loaded, or was when there was a program.
    pub(crate) fn modules(&self) -> &Modules {
        match &self.program {
            Some(program) => &program.modules,
            None => &self.last_modules,
        }
    }

    /// For commands that speak of where the program is: it must have begun.
    pub(crate) fn begun(&self) -> Result<(), CommandError> {
        self.permit(Modes::Begun)
    }

    /// The program, or a sentence for the user.
    pub(crate) fn running(&self) -> Result<&Program, CommandError> {
        self.program.as_ref().ok_or_else(not_running)
    }

    /// The program, or a sentence for the user.
    pub(crate) fn running_mut(&mut self) -> Result<&mut Program, CommandError> {
        self.program.as_mut().ok_or_else(not_running)
    }

    /// The thread that commands speak of.
    pub(crate) fn thread(&self) -> Result<ThreadId, CommandError> {
        self.selection.thread.ok_or_else(not_running)
    }

    /// The stack of the selected thread.
    pub(crate) fn frames(&mut self) -> Result<&[Frame], CommandError> {
        let thread = self.thread()?;
        if self.selection.frames.is_none() {
            let (frames, _) = self.running()?.backtrace(thread, STACK_FRAMES_MAX);
            let frames = self.shown_frames(thread, frames);
            self.selection.frames = Some(frames);
        }
        Ok(self.selection.frames.as_deref().unwrap_or(&[]))
    }

    /// Selects a thread, at its innermost frame.
    pub(crate) fn select_thread(&mut self, thread: ThreadId) {
        self.selection = Selection {
            thread: Some(thread),
            ..Selection::default()
        };
    }
}

/// Why there is no session.
fn scenario_error(file: &str, error: CommandError) -> SessionError {
    match error.found.is_empty() {
        false => SessionError::Scenario {
            file: file.to_owned(),
            found: error.found,
        },
        true => SessionError::Launch(error.message),
    }
}

/// Lets the dynamic linker load the libraries of the start. Gives the first
/// thread, which waits; no code of the program or its libraries has run.
fn load_libraries(program: &mut Program) -> Result<ThreadId, SessionError> {
    let internal = |error: juror_debuggee::DebuggeeError| SessionError::Internal(error.to_string());
    let first = ThreadId(program.debuggee.pid());
    let is_static = program
        .modules
        .main()
        .is_some_and(|m| m.symbols.header().interpreter.is_none());
    if is_static {
        return Ok(first);
    }
    program.debuggee.resume(first).map_err(internal)?;
    loop {
        let notice = program.debuggee.wait().map_err(internal)?;
        match notice {
            Notice::ModulesChanged { thread } => {
                program.update_modules();
                return Ok(thread);
            }
            Notice::Exited { status } => {
                return Err(SessionError::Launch(format!(
                    "the program ended with status {status} while its libraries were being loaded"
                )));
            }
            Notice::Killed { signal, .. } => {
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
