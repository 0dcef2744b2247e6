//! The views of a stop or an end.
//!
//! **Invariant**: all threads are stopped before a stop is shown.

use crate::inspect::{displays, frames, source};
use crate::run::hardware_breakpoints;
use crate::run::pause::Pause;
use crate::run::processes::leaving;
use crate::session::Session;
use crate::state::control::refused;
use juror_debuggee::{Owners, ThreadId};
use juror_fault::CommandError;
use juror_program::locations;
use juror_program::stack::frames::{Frame, level_of_line, users_frames};
use juror_view::{
    EndView, Ending, FrameView, Location, Outcome, PANIC, SourceView, StopReason, StopView,
};
use std::sync::atomic::Ordering;

/// The limit of frames that a stop shows.
const STOP_FRAMES_MAX: usize = 8;

/// The limit of frames that a stop searches for one with a source.
const CALLERS_MAX: usize = 64;

/// The number of source lines that a stop shows.
const STOP_LINES: u32 = 7;

impl Session {
    /// Makes a pause into a view: all threads are stopped, or the program has ended.
    pub(crate) fn settle(&mut self, pause: Pause) -> Result<Outcome, CommandError> {
        match pause {
            Pause::Ended(ending) => Ok(Outcome::Ended(Box::new(self.end(ending)))),
            Pause::Reason(reason, thread) => self.stop(reason, thread),
            // The reactions have been run before.
            Pause::ScenariosNotified(_) => Ok(Outcome::Done),
            Pause::Moves(thread) => {
                self.halt_processes()?;
                self.select_thread(thread);
                Ok(Outcome::Done)
            }
            Pause::CallEnded(thread, end) => {
                self.processes.stop.ended_call = Some((thread, end));
                Ok(Outcome::Done)
            }
            Pause::Temporary(thread) | Pause::Stepped(thread) => {
                match self.announce_breakpoint(thread)? {
                    Some(Pause::Reason(reason, thread)) => self.stop(reason, thread),
                    _ => self.stop(StopReason::Step, thread),
                }
            }
        }
    }

    /// Shows the breakpoint where a step ends.
    pub(crate) fn announce_breakpoint(
        &mut self,
        thread: ThreadId,
    ) -> Result<Option<Pause>, CommandError> {
        let registers = self.running()?.registers(thread)?;
        let (address, stack) = (registers.instruction_pointer(), registers.stack_pointer());
        let debuggee = &self.running()?.debuggee;
        let is_hardware = debuggee.is_hardware_site(address);
        // A handler may have returned to it.
        let is_reported = debuggee.engine().is_reported(thread, address, stack);
        let was_asked = is_reported || self.processes.stop.asked == Some((thread, address));
        if was_asked || (!self.points.breakpoints.is_at(address) && !is_hardware) {
            return Ok(None);
        }
        let mut pause = self.on_breakpoint(thread, address, Owners::DEVELOPER)?;
        if pause.is_none() && is_hardware {
            pause = hardware_breakpoints::on_hardware_hit(self, thread, address)?;
        }
        self.processes.stop.announced = Some((thread, address));
        Ok(pause)
    }

    /// Stops all threads and shows one of them.
    pub(crate) fn stop(
        &mut self,
        reason: StopReason,
        thread: ThreadId,
    ) -> Result<Outcome, CommandError> {
        self.control.state.owe_stop().map_err(refused)?;
        self.halt_processes()?;
        let program = self.running_mut()?;
        program.debuggee.forget_interruption();
        program.debuggee.take_terminal();
        let is_there = !self.processes.are_several() || self.settle_several(&reason)?;
        if !self.running()?.debuggee.is_alive() {
            return Ok(self.end_instead(reason));
        }
        if !is_there {
            return self.stop_elsewhere();
        }
        let asking = self.asking_thread(&reason)?;
        let Some(thread) = self.thread_to_show(asking.unwrap_or(thread))? else {
            return Ok(self.end_instead(reason));
        };
        self.select_thread(thread);
        let is_signal = matches!(reason, StopReason::Signal { .. });
        self.processes.stop.is_start = matches!(reason, StopReason::Started);
        self.processes.stop.at_signal = is_signal.then_some(thread);
        self.control.state.settle().map_err(refused)?;
        if !says_where_it_stands(&reason) {
            self.processes.stop.skipped_frames = None;
            let begun = self.processes.stop.begun.take();
            let is_shown = match begun {
                Some(begun) => self.stand_at_begun(begun, thread)?,
                None => false,
            };
            if !is_shown {
                self.stand_at_line_of(&reason, thread)?;
            }
        }
        if reason.is_silent().is_none() {
            self.points.commands.clear();
        }
        if matches!(reason, StopReason::Interrupted) {
            // It has been followed. Ctrl-C stops one command of a loop, and the loop is meant.
            self.control.cancel.store(false, Ordering::Relaxed);
            self.points.commands.runner.drop_loops();
        }
        self.points.commands.begin_hook_of_stop();
        let view = self.stop_view(reason, thread)?;
        if let Some(frame) = view.source_frame.as_ref().filter(|_| view.selects_caller()) {
            self.processes.selection.level = frame.level as usize;
        }
        Ok(Outcome::Stopped(Box::new(view)))
    }

    /// Returns the thread whose event set the deadline that passed.
    fn asking_thread(&self, reason: &StopReason) -> Result<Option<ThreadId>, CommandError> {
        let StopReason::Violation { violations } = reason else {
            return Ok(None);
        };
        // An event that violates a property is shown where it happened.
        if violations.iter().any(|it| it.deadline.is_none()) {
            return Ok(None);
        }
        let program = self.running()?;
        let mut deadlines = violations.iter().filter_map(|it| it.deadline.as_ref());
        let asked = deadlines.find_map(|it| it.asked.as_ref());
        Ok(asked.and_then(|asked| program.thread_of_number(asked.thread)))
    }

    /// Shows a thread at the line that has violated a property.
    fn stand_at_line_of(
        &mut self,
        reason: &StopReason,
        thread: ThreadId,
    ) -> Result<(), CommandError> {
        let StopReason::Violation { violations } = reason else {
            return Ok(());
        };
        let by_events = violations.iter().filter(|it| it.deadline.is_none());
        let steps = by_events.filter_map(|it| it.path.last());
        let lines: Vec<&Location> = steps.map(|step| &step.location).collect();
        let chain = self.running()?.inlined_chain(thread);
        let level = lines.iter().find_map(|at| {
            let (file, line) = at.file.as_deref().zip(at.line)?;
            level_of_line(&chain, file, line)
        });
        self.stand_at_level(thread, level, &chain);
        Ok(())
    }

    /// Returns this thread, or another if it has ended; `None` if the process is about to end with
    /// all its threads.
    pub(super) fn thread_to_show(
        &self,
        thread: ThreadId,
    ) -> Result<Option<ThreadId>, CommandError> {
        let program = self.running()?;
        let is_there = |thread: &ThreadId| program.registers(*thread).is_ok();
        let others = program.debuggee.thread_ids();
        Ok(std::iter::once(thread).chain(others).find(is_there))
    }

    /// Ends the run of a program that has ended while it was being stopped. The reason for the stop
    /// is shown with the end.
    pub(super) fn end_instead(&mut self, reason: StopReason) -> Outcome {
        let ending = leaving::reported_ending(self);
        let mut end = self.end(ending);
        if let StopReason::Violation { mut violations } = reason {
            violations.append(&mut end.violations);
            end.violations = violations;
        }
        Outcome::Ended(Box::new(end))
    }

    pub(crate) fn stop_view(
        &mut self,
        reason: StopReason,
        thread: ThreadId,
    ) -> Result<StopView, CommandError> {
        let program = self.running()?;
        let thread_count = program.debuggee.threads().count();
        let number = program.thread_number(thread);
        let pc = program.registers(thread)?.instruction_pointer();
        let mut location = locations::location(program, pc);
        // Some of the calls inlined here are not shown.
        let inlined = program.inlined_chain(thread).len();
        let (frames, mut more) = program.backtrace(thread, STOP_FRAMES_MAX + inlined);
        let mut frames = self.shown_frames(thread, frames);
        if let Some(count) = users_frames(&frames) {
            frames.truncate(count);
            more = false;
        }
        more |= frames.len() > STOP_FRAMES_MAX;
        frames.truncate(STOP_FRAMES_MAX);
        let mut backtrace: Vec<FrameView> = frames
            .iter()
            .enumerate()
            .map(|(level, frame)| frames::frame_view(self, level, frame))
            .collect();
        if let Some(first) = backtrace
            .first()
            .filter(|first| first.location.line.is_some() || first.location.near.is_some())
        {
            location.clone_from(&first.location);
        }
        if let Some(place) = self.accessing_place(&reason, thread)
            && place.line.is_some()
            && place.function == location.function
        {
            // The accessing statement, not the next one.
            location.line = place.line;
            location.near = None;
            location.file.clone_from(&place.file);
            if let Some(first) = backtrace.first_mut() {
                first.location.line = place.line;
                first.location.near = None;
                first.location.file.clone_from(&place.file);
            }
        }
        let shown = frames
            .first()
            .and_then(|frame| Some((frame, source::line_of(self, frame)?)));
        let line_shown = location.line;
        let mut source = shown.and_then(|(frame, (file, line, _))| {
            let line = line_shown.unwrap_or(line);
            source::text_around(self, frame, &file, line, STOP_LINES)
        });
        let mut source_frame = None;
        if source.is_none() && asks_why(&reason) {
            (source, source_frame) = self.source_of_caller(thread).unzip();
            let shown = source_frame.as_ref().map(|caller| &caller.location);
            self.processes.selection.of_caller =
                shown.and_then(|it| Some((it.file.as_ref()?.into(), it.line?)));
        }
        let displays = displays::displayed(self, &frames, 0);
        Ok(StopView {
            evaluation: self.processes.evaluations.innermost(thread),
            process: self.process_name(),
            reason,
            thread: number,
            thread_count,
            location,
            source,
            source_frame,
            backtrace,
            more_frames: more,
            displays,
            context: Vec::new(),
        })
    }

    /// Returns the nearest caller with a source, since a program that aborts is deep in its
    /// libraries; preferably one that is not a library's own code, such as a C++ template of a
    /// system header.
    fn source_of_caller(&mut self, thread: ThreadId) -> Option<(SourceView, FrameView)> {
        let (frames, _) = self.running().ok()?.backtrace(thread, CALLERS_MAX);
        let mut frames = self.shown_frames(thread, frames);
        if let Some(count) = users_frames(&frames) {
            frames.truncate(count);
        }
        let is_systems = |frame: &&(usize, Frame)| {
            let file = frame.1.file.as_deref();
            file.is_some_and(|file| file.starts_with("/usr"))
        };
        let callers: Vec<(usize, Frame)> = frames.into_iter().enumerate().skip(1).collect();
        let own = callers.iter().filter(|it| !is_systems(it));
        for (level, frame) in own.chain(callers.iter().filter(is_systems)) {
            let Some((file, line, false)) = source::line_of(self, frame) else {
                continue;
            };
            if let Some(source) = source::text_around(self, frame, &file, line, STOP_LINES) {
                return Some((source, frames::frame_view(self, *level, frame)));
            }
        }
        None
    }

    /// Returns the location of the statement that accessed the watched memory, if that is the
    /// reason for the stop: the thread itself is after it.
    fn accessing_place(&self, reason: &StopReason, thread: ThreadId) -> Option<Location> {
        match reason {
            StopReason::Watchpoint { accesses, .. } => Some(accesses.first()?.place.clone()),
            StopReason::Scenario { .. } | StopReason::ScenarioError { .. } => {
                let (by, place) = self.scenarios.accessed.as_ref()?;
                (*by == thread).then(|| place.clone())
            }
            _ => None,
        }
    }

    /// Ends the run: verdicts are final.
    pub(crate) fn end(&mut self, ending: Option<Ending>) -> EndView {
        // If the user ended it, by a command or by a function that a command called, the end
        // decides nothing.
        if let Some(Ending::Exited { status }) = ending {
            self.user.values.set_number("_exitcode", status);
        }
        let called = self.processes.evaluations.running_function();
        let violations = leaving::final_violations(self, ending);
        self.processes.monitors.end_recording(ending);
        let gone = &self.processes.gone;
        let program = self.processes.program.as_ref();
        let allows_unbound = self.options.allow_unbound;
        let summaries = gone.summaries(&self.processes.monitors, program, allows_unbound);
        let process = self.process_name();
        if let Some(program) = program {
            let shown = self.processes.monitors.shown();
            self.user.pictures.keep_places(shown, program);
        }
        if let Some(program) = &mut self.processes.program {
            program.debuggee.take_terminal();
        }
        self.forget_program();
        EndView {
            ending,
            process,
            called,
            violations,
            summaries,
        }
    }
}

/// Returns whether the user has not requested the stop, and will look for its reason.
fn asks_why(reason: &StopReason) -> bool {
    matches!(
        reason,
        StopReason::Violation { .. }
            | StopReason::MonitorError { .. }
            | StopReason::ScenarioError { .. }
            | StopReason::Signal { .. }
            | StopReason::Interrupted
            | StopReason::Standstill { .. }
            | StopReason::Attached { .. }
            | StopReason::CoreFile { .. }
    ) || matches!(reason, StopReason::Caught { event, .. } if event == PANIC)
}

/// Returns whether the reason for the stop has already set the skipped inline frames.
fn says_where_it_stands(reason: &StopReason) -> bool {
    matches!(
        reason,
        StopReason::Breakpoint { .. }
            | StopReason::Step
            | StopReason::Finished { .. }
            | StopReason::Started
    )
}
