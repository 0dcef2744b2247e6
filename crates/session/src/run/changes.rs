//! Handles threads that start and end, libraries that are loaded and unloaded, and execs.

use crate::run::hits::say;
use crate::run::pause::Pause;
use crate::run::processes::joining;
use crate::run::{catchpoints, follow_fork, patching, points, symbol_reading};
use crate::session::Session;
use juror_control::decision::{Moment, Owner};
use juror_debuggee::{Follow, ForkKind, StopEvent, ThreadId};
use juror_fault::CommandError;
use juror_monitoring::monitors::Monitors;
use juror_monitoring::monitors::handlers::Scene;
use juror_program::program::Program;
use juror_view::StopReason;
use juror_view::observer::Observer;
use std::sync::Arc;

impl Session {
    /// Handles the start of a thread.
    pub(super) fn take_thread_start(
        &mut self,
        thread: ThreadId,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        let program = self.running_mut()?;
        observer.thread_started(program.number_started_thread(thread));
        let tell = |monitors: &mut Monitors, scene: &mut Scene<'_>| monitors.on_thread_start(scene);
        if let Some(pause) = self.notify_monitors(thread, observer, tell)? {
            return Ok(Some(pause));
        }
        self.running_mut()?.debuggee.resume(thread)?;
        Ok(None)
    }

    /// Handles the end of a thread.
    pub(super) fn take_thread_end(
        &mut self,
        thread: ThreadId,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        self.lose_evaluations(thread)?;
        for number in self.processes.watchpoints.of_thread(thread) {
            observer.notice(&format!(
                "watchpoint {number} is deleted: its thread has ended"
            ));
            let process = &mut *self.processes;
            process
                .watchpoints
                .delete(process.program.as_mut(), &[number])?;
        }
        let pause = self.notify_monitors(thread, observer, |monitors, scene| {
            monitors.on_thread_end(scene)
        })?;
        if let Some(program) = &mut self.processes.program {
            let number = program.thread_number(thread);
            program.forget_thread(thread);
            let has_number = |it: &Program| it.thread_of_number(number).is_some();
            let is_elsewhere = {
                let mut others = self.processes.others().filter_map(|it| it.program.as_ref());
                others.any(has_number)
            };
            if !is_elsewhere {
                observer.thread_ended(number);
                for gone in points::end_points_of_thread(self, number)? {
                    observer.notice(&gone);
                }
            }
            // The thread itself can no longer be shown.
            let other = self.running()?.debuggee.thread_ids().next();
            if let (Some(Pause::Reason(reason, _)), Some(other)) = (pause, other) {
                return Ok(Some(Pause::Reason(reason, other)));
            }
            let ran_alone =
                self.user.settings.is_locked() && self.processes.selection.thread == Some(thread);
            if let Some(other) = other.filter(|_| ran_alone) {
                observer.notice(&format!(
                    "thread {number} has ended, and it was the only one that ran"
                ));
                return Ok(Some(Pause::Reason(StopReason::Interrupted, other)));
            }
        }
        Ok(None)
    }

    /// Handles libraries that were loaded or unloaded.
    pub(super) fn take_modules(
        &mut self,
        thread: ThreadId,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        // A property that does not fit a late library must be shown: its events would be missed.
        let before = catchpoints::loaded_paths(self);
        let bound = self.bind(thread, false);
        symbol_reading::report_left_out(self, observer);
        let program = self.running_mut()?;
        program.modules.note_started();
        if let Err(error) = bound {
            return Ok(Some(Pause::Reason(late_error(&error), thread)));
        }
        if let Some(error) = patching::arrange(self, observer)? {
            return Ok(Some(Pause::Reason(late_error(&error), thread)));
        }
        let caught = catchpoints::catch_libraries(self, thread, &before)?;
        let told = self.notify_monitors(thread, observer, |monitors, scene| {
            monitors.on_modules(scene)
        })?;
        let caught = caught.map(|reason| Pause::Reason(reason, thread));
        let mut moment = Moment::default();
        say(&mut moment, Owner::Developer, caught);
        say(&mut moment, Owner::Monitor, told);
        let pause = self.pause_of(moment, thread);
        if pause.is_some() {
            return Ok(pause);
        }
        self.running_mut()?.debuggee.resume(thread)?;
        Ok(None)
    }

    /// Handles an exec.
    pub(super) fn take_exec(
        &mut self,
        thread: ThreadId,
        path: &std::path::Path,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        observer.notice(&joining::runs_now(self, path));
        self.processes.monitors.on_exec();
        self.processes.evaluations.clear();
        self.points.breakpoints.forget_process();
        self.points.catchpoints.forget_locations();
        self.points.hardware.forget_locations();
        for gone in self.processes.watchpoints.forget_program(true) {
            let (number, text) = (gone.point.number, gone.text);
            observer.notice(&format!(
                "watchpoint {number} on {text} is deleted: another program was executed"
            ));
        }
        self.running_mut()?.restart(thread);
        self.running_mut()?
            .debuggee
            .set_single_stepping(thread, false);
        self.processes.selection.thread = Some(thread);
        if let Err(error) = self.bind(thread, false) {
            return Ok(Some(Pause::Reason(late_error(&error), thread)));
        }
        if let Some(reason) = catchpoints::catch_exec(self, thread, path)? {
            return Ok(Some(Pause::Reason(reason, thread)));
        }
        self.running_mut()?.debuggee.resume(thread)?;
        Ok(None)
    }

    /// Reports a new process before the stop at its fork. Returns the thread that is stopped then:
    /// the child's, if that is followed.
    pub(super) fn report_fork(
        &mut self,
        maker: ThreadId,
        child: u32,
        observer: &mut dyn Observer,
    ) -> Result<ThreadId, CommandError> {
        let debuggee = &mut self.running_mut()?.debuggee;
        debuggee.halt_all()?;
        let mut standing = maker;
        for stop_event in debuggee.await_fork(child)? {
            match stop_event {
                StopEvent::Forked { child, kind } => self.report_forked(child, kind, observer),
                StopEvent::ParentDetached { process } => report_left(process, observer),
                StopEvent::ChildFollowed { thread, parent } => {
                    follow_fork::take_over(self, thread, parent, observer)?;
                    standing = thread;
                }
                _ => {}
            }
        }
        Ok(standing)
    }

    pub(super) fn report_forked(&self, child: u32, kind: ForkKind, observer: &mut dyn Observer) {
        let how = match (kind, self.options.follow) {
            (ForkKind::Fork, _) => "was created by fork; it runs without juror",
            (ForkKind::Vfork, Follow::Both) => {
                "was created by vfork; it is debugged when it executes its program"
            }
            (ForkKind::Vfork, Follow::Child) => {
                "was created by vfork; it is followed when it executes its program"
            }
            (ForkKind::Vfork, Follow::Parent) => "was created by vfork; it runs without juror",
        };
        observer.notice(&format!("process {child} {how}"));
    }
}

pub(crate) fn late_error(error: &juror_fault::SessionError) -> StopReason {
    use juror_fault::SessionError;
    match error {
        SessionError::Property { file, found } => {
            let told = found.first();
            let first = told.and_then(|told| told.diagnostics.first());
            StopReason::MonitorError {
                property: file.clone(),
                message: first.map_or_else(String::new, |diagnostic| diagnostic.message.clone()),
                start: first.map_or(0, |diagnostic| diagnostic.span.start),
                end: first.map_or(0, |diagnostic| diagnostic.span.end),
                file: told.map_or_else(|| file.clone(), |told| told.file.clone()),
                text: told.map_or_else(|| "".into(), |told| Arc::clone(&told.text)),
            }
        }
        other => StopReason::MonitorError {
            property: String::new(),
            message: other.to_string(),
            start: 0,
            end: 0,
            file: String::new(),
            text: "".into(),
        },
    }
}

/// Reports that the process was left for its child.
pub(super) fn report_left(process: u32, observer: &mut dyn Observer) {
    observer.notice(&format!("process {process} continues without juror"));
}
