//! Checkpoints: saves the program and its monitors together, and restores them together.
//!
//! The rules CHECKPOINT and RESTORE of Jakse, Falcone and Méhaut, *Interactive Runtime
//! Verification* (2019), section 6: a restore affects the program, the monitors with their state
//! and counts, and the points that they need; the user's points stay as they are now, with their
//! counts. The state of the run is restored too: the numbers of threads, the elapsed time, and the
//! trace, which is truncated.
//!
//! **Invariant**: a checkpoint holds values and a stopped process, so restoring it does not change
//! it.

pub(crate) mod automatic;
pub(crate) mod losses;
pub(crate) mod numbers;
pub(crate) mod restoring;

pub use crate::run::checkpoints::restoring::RestoreReport;
use crate::run::scheduling;
use crate::session::Session;
use crate::state::checkpoints::{CheckpointId, Saved};
use juror_checkpoint::Checkpoint;
use juror_debuggee::{ThreadId, ThreadState};
use juror_fault::CommandError;
use juror_view::observer::Observer;
use juror_view::{CheckpointView, Location};

impl Session {
    /// Saves the program and its monitors. Running threads are stopped for a moment.
    ///
    /// # Errors
    /// There is no program, or it cannot be saved; nothing has changed then.
    pub fn checkpoint(&mut self) -> Result<CheckpointId, CommandError> {
        self.take_checkpoint(false)
    }

    /// Returns the view of a checkpoint.
    ///
    /// # Errors
    /// There is none of this number.
    pub fn checkpoint_view(&self, id: CheckpointId) -> Result<CheckpointView, CommandError> {
        let saved = self.saved(id)?;
        Ok(CheckpointView {
            alive: saved.state.process().is_alive(),
            ..saved.view.clone()
        })
    }

    /// Returns the checkpoints, in the order of their numbers.
    pub fn checkpoints(&self) -> impl DoubleEndedIterator<Item = CheckpointId> + '_ {
        self.checkpoints.saved.keys().copied().map(CheckpointId)
    }

    /// Deletes a checkpoint.
    ///
    /// # Errors
    /// There is none of this number.
    pub fn delete_checkpoint(&mut self, id: CheckpointId) -> Result<(), CommandError> {
        self.saved(id)?;
        self.checkpoints.saved.remove(&id.0);
        Ok(())
    }

    pub(crate) fn saved(&self, id: CheckpointId) -> Result<&Saved, CommandError> {
        let found = self.checkpoints.saved.get(&id.0);
        found.ok_or_else(|| {
            let help = if self.checkpoints.saved.is_empty() {
                "checkpoint creates the first one"
            } else {
                "info checkpoints lists them"
            };
            CommandError::with_help(format!("there is no checkpoint {}", id.0), help)
        })
    }

    fn take_checkpoint(&mut self, is_automatic: bool) -> Result<CheckpointId, CommandError> {
        self.check_for_checkpoint("a checkpoint holds one process")?;
        let before = self.checkpoints.saved.values().next_back();
        let before = before.map(|saved| &saved.state);
        let process = &mut *self.processes;
        let Some(program) = &mut process.program else {
            return Err(crate::state::control::not_running());
        };
        let threads = program.debuggee.threads();
        let running: Vec<ThreadId> = threads
            .filter(|thread| thread.state == ThreadState::Running)
            .map(|thread| thread.id)
            .collect();
        let settings = &self.checkpoints.settings;
        process.monitors.leave_native(program)?;
        let taken = Checkpoint::take(&mut program.debuggee, settings, before);
        let program = program.state();
        let state = taken.map_err(|error| CommandError::new(error.to_string()))?;
        let number = self.checkpoints.last + 1;
        let thread = self.thread_of_checkpoint()?;
        let view = self.view_of_checkpoint(number, thread, &state, is_automatic);
        let saved = Saved {
            state,
            program,
            thread,
            monitors: self.processes.monitors.kept(),
            trace: self.processes.monitors.trace_mark(),
            announced: self.processes.stop.announced,
            passes: self.points.breakpoints.passes.clone(),
            hardware_passes: self.points.hardware.passes.clone(),
            exit_violations: self.processes.exit_violations.clone(),
            is_fresh: self.is_fresh(),
            view,
        };
        let last_point = self.points.breakpoints.last_number();
        self.scenarios.checkpoints.push((number, last_point));
        self.checkpoints.last = number;
        self.checkpoints.saved.insert(number, saved);
        let debuggee = &mut self.running_mut()?.debuggee;
        for thread in running {
            debuggee.resume(thread)?;
        }
        Ok(CheckpointId(number))
    }

    /// Checks that the session is in a state that can be saved or replaced.
    fn check_for_checkpoint(&self, why: &str) -> Result<(), CommandError> {
        scheduling::refuse(self, "a checkpoint")?;
        if self.processes.are_several() {
            return Err(CommandError::with_help(
                format!("{why}, and several are debugged"),
                "set follow parent follows only one; detach releases the selected one",
            ));
        }
        if !self.processes.evaluations.is_empty() {
            return Err(CommandError::with_help(
                "an evaluation is stopped in a function that it called",
                "continue until it has its value, or end it: abandon",
            ));
        }
        Ok(())
    }

    fn thread_of_checkpoint(&self) -> Result<ThreadId, CommandError> {
        let program = self.running()?;
        let is_there = |thread: &ThreadId| program.registers(*thread).is_ok();
        let mut threads = program.debuggee.thread_ids();
        let selected = self.processes.selection.thread.filter(is_there);
        let found = selected.or_else(|| threads.find(is_there));
        found.ok_or_else(crate::state::control::not_running)
    }

    fn view_of_checkpoint(
        &self,
        number: u32,
        thread: ThreadId,
        state: &Checkpoint,
        automatic: bool,
    ) -> CheckpointView {
        let program = self.processes.program.as_ref();
        let location = program.and_then(|program| {
            let pc = program.registers(thread).ok()?.instruction_pointer();
            Some(juror_program::locations::location(program, pc))
        });
        let shown = self.processes.monitors.shown().iter();
        CheckpointView {
            number,
            automatic,
            alive: true,
            process: state.process().pid(),
            thread: program.map_or(0, |program| program.thread_number(thread)),
            thread_count: state.process().thread_count(),
            location: if self.is_fresh() {
                Location::default()
            } else {
                location.unwrap_or_default()
            },
            events: shown.map(|monitored| monitored.sequence()).sum(),
            losses: state.losses().iter().map(ToString::to_string).collect(),
        }
    }

    /// Reports the side effects of a restore.
    pub(crate) fn tell(&mut self, sentences: Vec<String>, observer: &mut dyn Observer) {
        for sentence in sentences {
            observer.notice(&sentence);
        }
    }
}
