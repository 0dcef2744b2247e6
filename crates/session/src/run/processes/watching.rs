//! Watchpoints with several processes.
//!
//! Each belongs to the process in which it was set, which has the watched memory and the call that
//! a local variable lasts for. Commands by number reach all of them, whichever process is selected.
//! When a process ends, its watchpoints on globals wait for the next run, as those of a single
//! process do.
//!
//! **Invariant**: a watchpoint is in the list of one process, or waits for the next run.

use crate::run::software_watchpoints;
use crate::session::Session;
use crate::state::process::{Process, Processes};
use juror_debuggee::DebuggeeError;
use juror_fault::CommandError;
use juror_points::watchpoints::{Watchpoint, Watchpoints};
use juror_view::PointView;
use juror_view::observer::Observer;

impl Processes {
    /// Returns the watchpoints of all processes, and the waiting ones.
    pub(crate) fn all_watchpoints_mut(&mut self) -> impl Iterator<Item = &mut Watchpoint> {
        let (all, waiting) = self.watchpoint_lists();
        let own = all.iter_mut().flat_map(|it| it.watchpoints.iter_mut());
        own.chain(waiting.iter_mut())
    }

    /// Deletes watchpoints of other processes by number.
    pub(crate) fn delete_watchpoints(&mut self, numbers: &[u32]) -> Result<(), DebuggeeError> {
        let mut result = self.waiting.delete(None, numbers);
        for process in self.others_mut() {
            let program = process.program.as_mut();
            result = result.and(process.watchpoints.delete(program, numbers));
        }
        result
    }

    /// Keeps the watchpoints of an ended process that are set again in the next run, and notes the
    /// others.
    pub(super) fn keep_watchpoints(&mut self, gone: &mut Process) {
        let mut watchpoints = std::mem::take(&mut gone.watchpoints);
        for lost in watchpoints.forget_program(false) {
            self.lost.push(format!(
                "watchpoint {} on {} is deleted with process {}",
                lost.point.number, lost.text, gone.number
            ));
        }
        self.waiting.adopt(watchpoints);
    }

    /// Takes the watchpoints that are set again in the next run.
    pub(crate) fn take_waiting(&mut self) -> Watchpoints {
        for mut other in self.take_others() {
            self.keep_watchpoints(&mut other);
        }
        std::mem::take(&mut self.waiting)
    }
}

/// Returns the views of the watchpoints of all processes.
pub(crate) fn watchpoint_views(session: &Session) -> Vec<PointView> {
    let processes = &session.processes;
    let shown = processes.number_shown();
    let mut views = Vec::new();
    for process in processes.all() {
        let own = process.watchpoints.views(process.program.as_ref());
        views.extend(of_process(own, shown.and(Some(process.number))));
    }
    views.extend(processes.waiting.views(None));
    views.sort_by_key(|view| view.number);
    views
}

/// Watches the enabled watchpoints of the other processes. All are stopped.
pub(crate) fn settle_other_watchpoints(session: &mut Session) -> Result<(), DebuggeeError> {
    for process in session.processes.others_mut() {
        if let Some(program) = &mut process.program
            && program.debuggee.is_alive()
        {
            process.watchpoints.settle(program)?;
        }
    }
    Ok(())
}

/// Prepares the software watchpoints of all processes before their threads run.
pub(crate) fn prepare_all_followed(session: &mut Session) -> Result<(), CommandError> {
    session.in_every_process(|session| Ok(software_watchpoints::prepare_followed(session)?))
}

/// Reports the watchpoints that were deleted with their processes.
pub(super) fn report_lost_watchpoints(session: &mut Session, observer: &mut dyn Observer) {
    for sentence in session.processes.lost.drain(..) {
        observer.notice(&sentence);
    }
}

fn of_process(mut views: Vec<PointView>, process: Option<u32>) -> Vec<PointView> {
    for view in &mut views {
        view.process = process;
    }
    views
}
