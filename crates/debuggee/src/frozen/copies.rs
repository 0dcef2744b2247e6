//! A run under a control of its threads, kept to be gone through again from there: by another process,
//! beside the present one.
//!
//! Such a process has other numbers, which is right if the program learns no numbers of the kernel's:
//! the control tells it those that it had when its run was recorded. So nothing ends for it, and the user
//! needs no privileges.
//!
//! Invariant: the process that is kept goes on as if it had not been; the control of each copy is that of
//! the moment at which it was kept.

use std::fs;

use juror_stepping::Owner;

use super::{FreezeError, FrozenProcess, ThawError, Thawed};
use crate::debuggee::Debuggee;
use crate::host::terminal::Terminal;
use crate::kernel::mapping::mappings;
use crate::state::thread_control::ThreadControl;

/// The state of a run.
#[derive(Debug)]
pub struct FrozenRun {
    process: FrozenProcess,
    control: Box<dyn ThreadControl>,
}

impl Debuggee {
    /// Keeps the state of a run under a control of its threads; all of them are stopped. Nothing if the
    /// control has something under way, or cannot be copied, or a copy would not have its own of all
    /// memory.
    ///
    /// # Errors
    /// The run cannot be kept, for this reason.
    pub fn freeze_run(&mut self) -> Result<Option<FrozenRun>, FreezeError> {
        let control = self.wait.control.as_ref().and_then(|it| it.copy());
        let is_quiet = self.wait.events.is_empty() && self.wait.departing.is_empty();
        let Some(control) = control.filter(|_| is_quiet && !self.writes_shared_memory()) else {
            return Ok(None);
        };
        let process = self.freeze_for_copies()?;
        let is_whole = process.uncopied == Some(0);
        Ok(is_whole.then_some(FrozenRun { process, control }))
    }

    /// Returns whether what a copy of the process writes may be seen by others; also if that is not known.
    fn writes_shared_memory(&self) -> bool {
        let maps = self.memory_map();
        maps.is_none_or(|maps| mappings(&maps).any(|it| it.is_shared() && it.is_writable()))
    }
}

impl FrozenRun {
    /// Returns the points that had been inserted, with their owners and counts.
    pub fn points(&self) -> &[(u64, Owner, u32)] {
        self.process.points()
    }

    /// Makes a process that is at this place of the run, with these points. Nothing of it has run, and
    /// all its threads wait.
    ///
    /// # Errors
    /// A copy is impossible, for this reason.
    pub fn copy(&self, points: &[(u64, Owner, u32)]) -> Result<Thawed, ThawError> {
        let Some(mut control) = self.control.copy() else {
            return Err(ThawError::TemplateGone(self.process.template()));
        };
        let mut thawed = self.process.copy(points)?;
        control.renumber(&thawed.threads);
        let debuggee = &mut thawed.debuggee;
        debuggee.system_calls = self.process.system_calls.clone();
        debuggee.wait.control = Some(control);
        if self.process.had_terminal {
            debuggee.host.terminal = Terminal::hand_over(debuggee.process);
            debuggee.take_terminal();
        }
        Ok(thawed)
    }

    /// Returns the memory that this alone holds, in bytes; nothing if the kernel does not say.
    pub fn held_bytes(&self) -> Option<u64> {
        let path = format!("/proc/{}/smaps_rollup", self.process.template());
        let text = fs::read_to_string(path).ok()?;
        let kib = |name: &str| -> Option<u64> {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse().ok()
        };
        Some((kib("Private_Clean:")? + kib("Private_Dirty:")?) << 10)
    }
}
