//! Code that changes under its points: the program writes it anew, maps
//! something else in its place or returns its pages to the file; or the user
//! writes instructions.
//!
//! A store over a trap or a jump removes it, and nothing reports that. So it is
//! checked whenever all threads are stopped and the user is to see the program.
//! The present contents are then the program's own; the trap is inserted over
//! them, in place of a jump, too, and the step-over is planned for the new
//! instruction. Until then the point is not hit. When the last thread ends it is
//! checked once more, as the memory is gone afterwards.
//!
//! Invariant: a trap is inserted again only where code can be executed, since
//! the address of code that is gone may be that of data.

use juror_arch::INSTRUCTION_LENGTH_MAX;
use std::collections::BTreeSet;

use juror_stepping::{Input, ThreadId};

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::kernel::mapping::PAGE_LENGTH;
use crate::memory::Memory;

impl Debuggee {
    /// Checks whether the program now has other code at its points, and updates
    /// the points. Returns the addresses at which traps were gone: arrivals
    /// there may not have been reported. For a halted debuggee.
    pub fn reinsert_overwritten(&mut self) -> Result<Vec<u64>, DebuggeeError> {
        // While it is quiescent nothing runs that could write.
        if self.life.has_ended() || self.memory.is_quiescent() {
            return Ok(Vec::new());
        }
        self.give_up_overwritten_jumps()?;
        let (gone, changed) = self.overwritten();
        if gone.is_empty() && changed.is_empty() {
            return Ok(Vec::new());
        }
        let executable = self.executable_memory();
        let is_code = |address: &u64| executable.iter().any(|range| range.contains(address));
        let mut reinserted = Vec::new();
        for address in gone.into_iter().filter(is_code) {
            // A page that is unmapped just now needs no trap.
            if self.memory.reinsert_trap(address).is_ok() {
                reinserted.push(address);
            }
        }
        for address in reinserted.iter().copied().chain(changed) {
            self.replan(address)?;
        }
        Ok(reinserted)
    }

    /// Replaces jumps by traps that the program has written over, which are inserted
    /// again as others are.
    fn give_up_overwritten_jumps(&mut self) -> Result<(), DebuggeeError> {
        if self.image.patches.is_any() {
            let entries = self.overwritten_jumps();
            self.unpatch(entries)?;
        }
        Ok(())
    }

    /// Returns the entries of the jumps of which the program has changed a byte.
    fn overwritten_jumps(&self) -> Vec<u64> {
        let entries = self.driver.engine.patched_sites();
        entries
            .filter(|entry| self.memory.is_jump_overwritten(*entry))
            .collect()
    }

    /// Notes the sites that the program has written over, when its last thread ends.
    pub(crate) fn note_overwritten_at_end(&mut self, thread: ThreadId) {
        let others = self.threads.keys().filter(|id| **id != thread.0);
        if others.count() > 0 || self.memory.is_quiescent() {
            return;
        }
        let (mut gone, _) = self.overwritten();
        gone.extend(self.overwritten_jumps());
        if gone.is_empty() {
            return;
        }
        let executable = self.executable_memory();
        gone.retain(|address| executable.iter().any(|range| range.contains(address)));
        self.image.overwritten_at_end = gone;
    }

    /// Takes the addresses of the sites that the program had written over when it ended:
    /// arrivals there may not have been reported.
    pub fn take_overwritten_at_end(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.image.overwritten_at_end)
    }

    /// Returns the addresses at which traps are gone, and those at which they
    /// are there with other code under them.
    fn overwritten(&self) -> (Vec<u64>, Vec<u64>) {
        let mut window = Window::default();
        let mut gone = Vec::new();
        let mut changed = Vec::new();
        for (address, ..) in self.driver.engine.sites() {
            let mut bytes = [0; INSTRUCTION_LENGTH_MAX];
            let present = window.copy(&self.memory, address, &mut bytes);
            if self.memory.is_overwritten(address, present) {
                gone.push(address);
                continue;
            }
            self.memory.hide_traps(address, present);
            if self.image.out_of_line.is_other_code(address, present) {
                changed.push(address);
            }
        }
        (gone, changed)
    }

    /// Plans the step-overs for the new instructions after a write to these
    /// addresses.
    pub(crate) fn replan_overwritten(&mut self, address: u64, length: usize) {
        let from = address.saturating_sub(INSTRUCTION_LENGTH_MAX as u64 - 1);
        let range = from..address.saturating_add(length as u64);
        let reported = self.threads.values();
        let reported = reported.filter_map(|thread| self.driver.engine.reported_at(thread.id));
        let sites = self.driver.engine.sites_in(range.clone());
        let concerned: BTreeSet<u64> = sites
            .chain(reported.filter(|it| range.contains(it)))
            .collect();
        for address in concerned {
            // If no step-over can be planned the old one is as good as any.
            let _ = self.replan(address);
        }
    }

    fn replan(&mut self, address: u64) -> Result<(), DebuggeeError> {
        let step_over = self.plan(address);
        self.memory.note(None);
        match step_over {
            Ok(step_over) => self.feed(Input::Rewritten { address, step_over }),
            Err(DebuggeeError::Memory { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// A window of memory including the traps, so that many sites take few reads.
#[derive(Debug, Default)]
struct Window {
    start: u64,
    bytes: Vec<u8>,
}

impl Window {
    /// Copies as many bytes of an instruction at `address` as there are.
    fn copy<'a>(&mut self, memory: &Memory, address: u64, bytes: &'a mut [u8]) -> &'a mut [u8] {
        let offset = address.wrapping_sub(self.start) as usize;
        let is_inside = offset
            .checked_add(bytes.len())
            .is_some_and(|end| end <= self.bytes.len());
        if !is_inside {
            self.start = address;
            self.bytes.resize(PAGE_LENGTH as usize, 0);
            let length = memory.read_raw_up_to(address, &mut self.bytes);
            self.bytes.truncate(length);
        }
        let offset = address.wrapping_sub(self.start) as usize;
        let present = self.bytes.get(offset..).unwrap_or_default();
        let length = present.len().min(bytes.len());
        let copied = &mut bytes[..length];
        copied.copy_from_slice(&present[..length]);
        copied
    }
}
