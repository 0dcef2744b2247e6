//! The session: a debuggee, its points, its monitors, and the user's selection.

use crate::options::Options;
use crate::state::checkpoints::Checkpoints;
use crate::state::control::ControlState;
use crate::state::control::not_running;
use crate::state::launch::LaunchState;
use crate::state::points::UserPoints;
use crate::state::process::Processes;
use crate::state::scenarios::Scenarios;
use crate::state::selection::Selection;
use crate::state::symbols::SymbolState;
use crate::state::user::UserState;
use juror_control::Modes;
use juror_debuggee::{Origin, ThreadId};
use juror_fault::CommandError;
use juror_program::modules::Modules;
use juror_program::program::Program;
use juror_program::stack::frames::Frame;

/// The number of callers of the selected frame that are read with it: inlined calls and tail
/// calls may lie between a frame and the one that it returns to.
const FRAMES_AROUND: usize = 64;

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
    /// Returns whether there is a debuggee.
    pub fn is_alive(&self) -> bool {
        self.processes.program.is_some()
    }

    /// Returns whether juror attached to the debuggee instead of starting it.
    pub fn is_attached(&self) -> bool {
        let program = self.processes.program.as_ref();
        program.is_some_and(|program| program.debuggee.origin() == Origin::Attached)
    }

    /// Returns a function that interrupts a running command, from any thread.
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

    /// Returns the next command of the points that have stopped the program, or of a file, for the
    /// front end to execute; `None` if the user is asked.
    pub fn next_queued_command(&mut self) -> Option<String> {
        self.points.commands.next()
    }

    /// Returns the nesting depth of the open `commands` that the next lines belong to; 0 if the
    /// next line is executed.
    pub fn input_depth(&self) -> usize {
        self.points.commands.input_depth()
    }

    /// Drops the lines given so far after `commands`.
    pub fn cancel_input(&mut self) {
        self.points.commands.cancel();
    }

    /// Forgets the debuggee, which has ended.
    pub(crate) fn forget_program(&mut self) {
        self.points.forget_process();
        self.user.thread_names.clear();
        self.control.end();
        self.processes.end_run();
    }

    /// Returns the loaded modules, or those of the last program.
    pub(crate) fn modules(&self) -> &Modules {
        self.processes.modules()
    }

    /// Requires a program that has begun, for commands on its present location.
    pub(crate) fn begun(&self) -> Result<(), CommandError> {
        self.permit(Modes::Begun)
    }

    /// Returns the program, or an error for the user.
    pub(crate) fn running(&self) -> Result<&Program, CommandError> {
        self.processes.program.as_ref().ok_or_else(not_running)
    }

    /// Returns the program, or an error for the user.
    pub(crate) fn running_mut(&mut self) -> Result<&mut Program, CommandError> {
        self.processes.program.as_mut().ok_or_else(not_running)
    }

    /// Returns the selected thread.
    pub(crate) fn thread(&self) -> Result<ThreadId, CommandError> {
        self.processes.selection.thread.ok_or_else(not_running)
    }

    /// Returns the stack of the selected thread from the innermost frame to the selected
    /// one, and those callers of it that an expression may need. There may be more frames.
    pub(crate) fn frames(&mut self) -> Result<&[Frame], CommandError> {
        self.frames_to(self.processes.selection.level.saturating_add(FRAMES_AROUND))
    }

    /// Returns all frames of the selected thread. A recursion may have a million.
    pub(crate) fn all_frames(&mut self) -> Result<&[Frame], CommandError> {
        self.frames_to(usize::MAX)
    }

    /// Returns at least the `count` innermost frames of the selected thread; fewer only if
    /// these are all.
    pub(crate) fn frames_to(&mut self, count: usize) -> Result<&[Frame], CommandError> {
        let thread = self.thread()?;
        let selection = &self.processes.selection;
        let known = selection.frames.as_ref().map(Vec::len);
        let mut is_enough = known.is_some_and(|known| selection.has_all_frames || known >= count);
        // Twice as many as before, so that asking for one more each time is not quadratic.
        let mut wanted = count.max(known.unwrap_or(0).saturating_mul(2));
        while !is_enough {
            let (frames, has_more) = self.running()?.backtrace(thread, wanted);
            // Calls that are not entered yet are not shown.
            let mut frames = self.shown_frames(thread, frames);
            let is_launching = self.is_fresh();
            for frame in &mut frames {
                frame.is_launching = is_launching;
            }
            is_enough = !has_more || frames.len() >= count;
            wanted = wanted.saturating_mul(2);
            self.processes.selection.frames = Some(frames);
            self.processes.selection.has_all_frames = !has_more;
        }
        Ok(self.processes.selection.frames.as_deref().unwrap_or(&[]))
    }

    /// Selects a thread, at its innermost frame.
    pub(crate) fn select_thread(&mut self, thread: ThreadId) {
        self.processes.selection = Selection::of_thread(thread);
    }
}
