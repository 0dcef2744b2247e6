//! Watchpoints where there are several processes.
//!
//! Each belongs to the process in which it was set: its memory is that
//! process's, and so is the call that a local variable lasts for. Commands by
//! number reach all of them, whichever process is selected. When a process
//! ends, its watchpoints of globals wait for the next run, as those of a single
//! process do.
//!
//! Invariant: a watchpoint is in the list of one process, or waits.

use crate::session::Session;
use crate::state::process::{FIRST, Parked, Processes};
use juror_debuggee::DebuggeeError;
use juror_points::watchpoints::{Watchpoint, Watchpoints};
use juror_view::PointView;
use juror_view::error::CommandError;
use juror_view::observer::Observer;

impl Processes {
    /// The watchpoints of the other processes, and those that wait.
    pub(crate) fn other_watchpoints_mut(&mut self) -> impl Iterator<Item = &mut Watchpoint> {
        let others = self.others.iter_mut();
        let own = others.flat_map(|it| it.watchpoints.iter_mut());
        own.chain(self.waiting.iter_mut())
    }

    /// Removes those of these numbers from the other processes.
    pub(crate) fn delete_watchpoints(&mut self, numbers: &[u32]) -> Result<(), DebuggeeError> {
        let mut result = self.waiting.delete(None, numbers);
        for parked in &mut self.others {
            let program = parked.program.as_mut();
            result = result.and(parked.watchpoints.delete(program, numbers));
        }
        result
    }

    /// A process is gone: keeps those of its watchpoints that are set again in
    /// the next run, and notes the others.
    pub(super) fn keep_watchpoints(&mut self, gone: &mut Parked) {
        let mut watchpoints = std::mem::take(&mut gone.watchpoints);
        for lost in watchpoints.forget_program(false) {
            self.lost.push(format!(
                "watchpoint {} on {} is gone with process {}",
                lost.point.number, lost.text, gone.number
            ));
        }
        self.waiting.adopt(watchpoints);
    }

    /// Those that are set again in the next run.
    pub(crate) fn take_waiting(&mut self) -> Watchpoints {
        for mut other in std::mem::take(&mut self.others) {
            self.keep_watchpoints(&mut other);
        }
        std::mem::take(&mut self.waiting)
    }

    /// The number of the current process, when there have been several.
    fn number_shown(&self) -> Option<u32> {
        (self.last > FIRST).then_some(self.current)
    }
}

impl Session {
    /// The developer's watchpoints, of all processes.
    pub(crate) fn watchpoint_views(&self) -> Vec<PointView> {
        let processes = &self.processes;
        let shown = processes.number_shown();
        let mut views = of_process(self.watchpoints.views(self.program.as_ref()), shown);
        for parked in &processes.others {
            let own = parked.watchpoints.views(parked.program.as_ref());
            views.extend(of_process(own, shown.and(Some(parked.number))));
        }
        views.extend(processes.waiting.views(None));
        views.sort_by_key(|view| view.number);
        views
    }

    /// The process in which a watchpoint has been set, for a sentence.
    pub(crate) fn in_process(&self) -> String {
        match self.processes.number_shown() {
            Some(number) => format!(" in process {number}"),
            None => String::new(),
        }
    }

    /// Watches in the other processes what is enabled there. All stand.
    pub(crate) fn settle_other_watchpoints(&mut self) -> Result<(), DebuggeeError> {
        for parked in &mut self.processes.others {
            if let Some(program) = &mut parked.program
                && program.debuggee.is_alive()
            {
                parked.watchpoints.settle(program)?;
            }
        }
        Ok(())
    }

    /// Before the threads of all processes run: those of watched registers do
    /// it by steps.
    pub(crate) fn prepare_all_followed(&mut self) -> Result<(), CommandError> {
        self.in_every_process(|session| Ok(session.prepare_followed()?))
    }

    /// Tells of the watchpoints that are gone with their processes.
    pub(super) fn tell_lost_watchpoints(&mut self, observer: &mut dyn Observer) {
        for sentence in self.processes.lost.drain(..) {
            observer.notice(&sentence);
        }
    }
}

fn of_process(mut views: Vec<PointView>, process: Option<u32>) -> Vec<PointView> {
    for view in &mut views {
        view.process = process;
    }
    views
}
