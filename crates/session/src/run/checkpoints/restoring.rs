//! Going back to a checkpoint.

use crate::session::Session;
use crate::state::checkpoints::{CheckpointId, Saved};
use crate::state::selection::Selection;
use juror_checkpoint::Restored;
use juror_debuggee::{Owner, ThreadId};
use juror_monitoring::monitors::Watch;
use juror_program::program::Program;
use juror_view::error::CommandError;
use std::mem;

/// What there is to say of a restore.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct RestoreReport {
    /// What has not come back, each in words.
    pub losses: Vec<String>,
    /// What has changed with it, each in a sentence.
    pub remarks: Vec<String>,
}

impl Session {
    /// Brings the program and its monitors back to a checkpoint, which stays.
    /// The present program ends, if it has not ended before. All threads wait.
    ///
    /// # Errors
    /// There is none of this number, or it cannot be restored.
    pub fn restore(&mut self, id: CheckpointId) -> Result<RestoreReport, CommandError> {
        self.check_for_checkpoint("a restore replaces one process")?;
        self.saved(id)?;
        // Taken out, since all of the session changes.
        let Some(saved) = self.checkpoints.saved.remove(&id.0) else {
            return Ok(RestoreReport::default());
        };
        let report = self.go_back_to(&saved);
        self.checkpoints.saved.insert(id.0, saved);
        let report = report?;
        self.forget_points_after(id.0)?;
        Ok(report)
    }

    fn go_back_to(&mut self, saved: &Saved) -> Result<RestoreReport, CommandError> {
        let points = self.points_after(saved);
        let present = self
            .processes
            .program
            .as_mut()
            .map(|program| &mut program.debuggee);
        let was_alive = present.is_some();
        let restored = saved.state.restore(present, &points);
        let Restored { thawed, losses } = restored.map_err(|error| {
            CommandError::with_help(
                format!(
                    "checkpoint {} cannot be restored: {error}",
                    saved.view.number
                ),
                "info checkpoints shows which are there",
            )
        })?;
        let threads = thawed.threads;
        let number = |thread: ThreadId| {
            let found = threads.iter().find(|(then, _)| *then == thread);
            found.map_or(thread, |(_, now)| *now)
        };
        let mut report = RestoreReport {
            losses: losses.iter().map(ToString::to_string).collect(),
            remarks: Vec::new(),
        };
        let mut program = Program::restored(&saved.program, thawed.debuggee, number);
        self.user.pretty_printers.apply(&mut program);
        let before = self.processes.program.replace(program);
        // It has ended.
        drop(before);
        let mark = saved.trace.as_ref();
        report
            .remarks
            .extend(self.processes.monitors.go_back(&saved.watch, mark, number));
        self.processes
            .exit_violations
            .clone_from(&saved.exit_violations);
        self.processes.stop.announced = saved.announced.map(|(thread, at)| (number(thread), at));
        self.points.breakpoints.passes = saved.passes.renumbered(number);
        self.points.hardware.passes = saved.hardware_passes.renumbered(number);
        self.processes.stop.asked = None;
        self.processes.stop.ended_call = None;
        self.points.commands.clear();
        self.control.state.restore(saved.is_fresh);
        self.processes.selection = Selection {
            thread: Some(number(saved.thread)),
            ..Selection::default()
        };
        self.adjust_developers_points(was_alive, &mut report)?;
        if let Some(program) = self.processes.program.as_mut().filter(|_| !was_alive) {
            for (address, owner, count) in developers_points_of(saved) {
                for _ in 0..count {
                    // What could not be planted is not there.
                    let _ = program.debuggee.remove(address, owner);
                }
            }
        }
        Ok(report)
    }

    /// The monitors' points of then, the developer's of now.
    fn points_after(&self, saved: &Saved) -> Vec<(u64, Owner, u32)> {
        let internal = |watch: &Watch| -> Vec<u64> { watch.internal_points().collect() };
        let then = saved.state.process().points().iter().copied();
        let monitors = then.filter(|(_, owner, _)| matches!(owner, Owner::Monitor | Owner::Return));
        let mut points: Vec<(u64, Owner, u32)> = monitors.collect();
        points.extend(
            internal(&saved.watch)
                .into_iter()
                .map(|at| (at, Owner::Internal, 1)),
        );
        let Some(program) = &self.processes.program else {
            points.extend(developers_points_of(saved));
            return points;
        };
        // What is internal now is the developer's, but for the monitors' own.
        let own = internal(&self.processes.monitors);
        let now = program.debuggee.points().into_iter();
        points.extend(now.filter_map(|(address, owner, count)| match owner {
            Owner::Developer | Owner::Scenario => Some((address, owner, count)),
            Owner::Internal => {
                let count = count - u32::from(own.contains(&address)).min(count);
                (count > 0).then_some((address, owner, count))
            }
            _ => None,
        }));
        points
    }

    /// Binds the developer's points to what is loaded in the program that has
    /// come back, and looks at what is watched.
    fn adjust_developers_points(
        &mut self,
        was_alive: bool,
        report: &mut RestoreReport,
    ) -> Result<(), CommandError> {
        let mut program = self.processes.program.take();
        if let Some(program) = &mut program {
            self.control.share_interrupter(&mut program.debuggee)?;
            program.debuggee.set_follow(self.options.follow);
            self.points.breakpoints.bind(program);
            self.points.catchpoints.bind(program);
        }
        self.processes.program = program;
        self.renew_catchpoints();
        if was_alive {
            self.end_foreign_watchpoints(report)?;
        }
        let process = &mut *self.processes;
        if let Some(program) = &mut process.program {
            self.points.hardware.settle(program)?;
            process.watchpoints.look_again(program)?;
            process.watchpoints.settle(program)?;
        }
        Ok(())
    }

    /// Watchpoints on variables of calls that had not begun then.
    fn end_foreign_watchpoints(&mut self, report: &mut RestoreReport) -> Result<(), CommandError> {
        let program = self.running()?;
        let standing: Vec<(ThreadId, u64)> = program
            .debuggee
            .thread_ids()
            .filter_map(|thread| Some((thread, program.registers(thread).ok()?.rsp)))
            .collect();
        let mut gone = self.processes.watchpoints.of_other_threads(&standing);
        for (thread, stack) in standing {
            gone.extend(self.processes.watchpoints.ended(thread, stack));
        }
        gone.sort_unstable();
        for &number in &gone {
            report.remarks.push(format!(
                "watchpoint {number} is gone: the call whose variable it watched has not begun"
            ));
        }
        let mut watchpoints = mem::take(&mut self.processes.watchpoints);
        let deleted = watchpoints.delete(self.processes.program.as_mut(), &gone);
        self.processes.watchpoints = watchpoints;
        Ok(deleted?)
    }
}

/// The developer's points of then. While the program is dead, its breakpoints have none in
/// it; but a thread that comes back to where it had stopped has been told of, and only a
/// point that is there as it comes tells that. They go when those of now are there.
fn developers_points_of(saved: &Saved) -> Vec<(u64, Owner, u32)> {
    let then = saved.state.process().points().iter().copied();
    let is_own = |owner: &Owner| matches!(owner, Owner::Developer | Owner::Scenario);
    then.filter(|(_, owner, _)| is_own(owner)).collect()
}
