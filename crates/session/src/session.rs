//! The session: a debuggee, its points, its monitors, and what the person at
//! the prompt has selected.

use crate::options::Options;
use crate::state::checkpoints::Checkpoints;
use crate::state::control::ControlState;
use crate::state::launch::LaunchState;
use crate::state::points::UserPoints;
use crate::state::process::Processes;
use crate::state::scenarios::Scenarios;
use crate::state::selection::Selection;
use crate::state::symbols::SymbolState;
use crate::state::user::UserState;
use juror_debuggee::{Origin, ThreadId};
use juror_program::modules::Modules;
use juror_program::program::Program;
use juror_program::stack::frames::Frame;
use juror_rules::control::Modes;
use juror_view::error::{CommandError, not_running};

/// Frames of a stack that are kept for `up`, `down` and `frame`.
const STACK_FRAMES_MAX: usize = 4096;

/// The interactively verified program: a debuggee, its monitors, its scenarios and the
/// user's debugger.
pub struct Session {
    pub(crate) options: Options,
    pub(crate) processes: Processes,
    pub(crate) points: UserPoints,
    pub(crate) user: UserState,
    pub(crate) launch: LaunchState,
    pub(crate) symbols: SymbolState,
    pub(crate) scenarios: Scenarios,
    pub(crate) checkpoints: Checkpoints,
    pub(crate) control: ControlState,
}

impl Session {
    /// Whether there is a debuggee.
    pub fn is_alive(&self) -> bool {
        self.processes.program.is_some()
    }

    /// Whether the debuggee was attached, and not started, by juror.
    pub fn is_attached(&self) -> bool {
        let program = self.processes.program.as_ref();
        program.is_some_and(|program| program.debuggee.origin() == Origin::Attached)
    }

    /// Makes a command that lets the program run return; from any thread.
    pub fn interrupter(&self) -> impl Fn() + Send + use<> {
        self.control.interrupt()
    }

    /// Returns why the trace of the run, or of the last one, is not whole; none if it is,
    /// or if nothing is recorded.
    pub fn trace_failure(&self) -> Option<&str> {
        self.processes.trace_failure()
    }

    /// Makes every command that lets the program run fail from now on, since juror is to
    /// end; from any thread.
    pub fn ender(&self) -> impl Fn() + Send + use<> {
        self.control.end_runs()
    }

    /// Returns the next command of the points that have stopped the program, or of a file,
    /// for the front end to execute; none if the user is asked.
    pub fn next_attached(&mut self) -> Option<String> {
        self.points.commands.next()
    }

    /// Returns how many `commands` are open that the next lines belong to; 0 if the next
    /// line is executed.
    pub fn input_depth(&self) -> usize {
        self.points.commands.input_depth()
    }

    /// Forgets the lines after `commands` that have been given so far.
    pub fn cancel_input(&mut self) {
        self.points.commands.cancel();
    }

    /// The debuggee is gone.
    pub(crate) fn forget_program(&mut self) {
        self.points.forget_process();
        self.user.thread_names.clear();
        self.control.end();
        self.processes.end_run();
    }

    /// What is loaded, or was when there was a program.
    pub(crate) fn modules(&self) -> &Modules {
        self.processes.modules()
    }

    /// For commands that speak of where the program is: it must have begun.
    pub(crate) fn begun(&self) -> Result<(), CommandError> {
        self.permit(Modes::Begun)
    }

    /// The program, or a sentence for the user.
    pub(crate) fn running(&self) -> Result<&Program, CommandError> {
        self.processes.program.as_ref().ok_or_else(not_running)
    }

    /// The program, or a sentence for the user.
    pub(crate) fn running_mut(&mut self) -> Result<&mut Program, CommandError> {
        self.processes.program.as_mut().ok_or_else(not_running)
    }

    /// The thread that commands speak of.
    pub(crate) fn thread(&self) -> Result<ThreadId, CommandError> {
        self.processes.selection.thread.ok_or_else(not_running)
    }

    /// The stack of the selected thread.
    pub(crate) fn frames(&mut self) -> Result<&[Frame], CommandError> {
        let thread = self.thread()?;
        if self.processes.selection.frames.is_none() {
            let (frames, _) = self.running()?.backtrace(thread, STACK_FRAMES_MAX);
            let frames = self.shown_frames(thread, frames);
            self.processes.selection.frames = Some(frames);
        }
        Ok(self.processes.selection.frames.as_deref().unwrap_or(&[]))
    }

    /// Selects a thread, at its innermost frame.
    pub(crate) fn select_thread(&mut self, thread: ThreadId) {
        self.processes.selection = Selection::of_thread(thread);
    }
}
