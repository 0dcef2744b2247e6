//! What the engine orders about patches.

use juror_stepping::{Input, ThreadId};

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::memory::text::TextPatch;
use crate::state::thread::State;

impl Debuggee {
    /// Writes the jump of a patch in place of its trap.
    pub(crate) fn write_patch(&mut self, entry: u64) -> Result<(), DebuggeeError> {
        let Some(patch) = self.image.patches.list.get(&entry) else {
            return Ok(());
        };
        let text = TextPatch {
            jump: patch.jump,
            code: patch.code.clone(),
            shared: patch.shared(),
        };
        match self.memory.write_patch(entry, text) {
            Ok(true) => {}
            Err(error) if error.is_end() => return Err(error),
            // The trap is still there.
            Ok(false) | Err(_) => {
                let unpatch = Input::Unpatch { address: entry };
                self.driver.inputs.push_back(unpatch);
            }
        }
        Ok(())
    }

    /// Writes the original bytes in place of a jump, with the trap.
    pub(crate) fn remove_patch(&mut self, entry: u64) -> Result<(), DebuggeeError> {
        match self.memory.remove_patch(entry) {
            Err(DebuggeeError::Memory { .. }) => {
                let failed = Input::InsertFailed { address: entry };
                self.driver.inputs.push_back(failed);
                Ok(())
            }
            done => done,
        }
    }

    /// Moves a stopped thread to the twin of the instruction at which it is.
    pub(crate) fn move_to_twin(
        &mut self,
        thread: ThreadId,
        address: u64,
    ) -> Result<(), DebuggeeError> {
        let entry = self.driver.engine.patch_over(address);
        let patch = entry.and_then(|entry| self.image.patches.list.get(&entry));
        let patch = patch.filter(|patch| address < patch.end);
        match patch.and_then(|patch| patch.stub.twin_of(address)) {
            Some(twin) => self.set_counter(thread, twin),
            // No instruction begins there.
            None => self.set_counter(thread, address),
        }
    }

    /// Passes the arrival of a thread that is to make a step before a patch.
    pub(crate) fn arrive(&mut self, thread: ThreadId, address: u64) -> Result<(), DebuggeeError> {
        let stack = match self.stop_registers(thread) {
            Ok(registers) => registers.shown.stack_pointer(),
            Err(DebuggeeError::ThreadGone(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.hold_requested = false;
        }
        self.driver.inputs.push_front(Input::Trapped {
            thread,
            address,
            stack,
        });
        Ok(())
    }

    /// Passes, ahead of a stop, that a thread is before the first twin of a patch.
    #[inline]
    pub(crate) fn pass_counted(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        if !self.image.patches.is_any() {
            return Ok(());
        }
        let registers = self.stop_registers(thread)?;
        let (counter, stack) = (registers.kernel_counter, registers.shown.stack_pointer());
        match self.image.patches.at_first_twin(counter) {
            Some((address, _)) => self.feed(Input::Counted {
                thread,
                address,
                stack,
            }),
            None => Ok(()),
        }
    }

    /// Returns true if a stopped thread is at a twin: no signal is delivered to it
    /// there.
    #[inline]
    pub(crate) fn is_in_twin(&self, thread: ThreadId) -> bool {
        let patches = &self.image.patches;
        patches.is_any()
            && self
                .stop_registers(thread)
                .is_ok_and(|registers| patches.is_twin_inside(registers.kernel_counter))
    }

    /// Returns the number of the sections of a stub that have been done for the
    /// hit at which a thread stands.
    pub fn sections_done(&self, thread: ThreadId) -> usize {
        let known = self.threads.get(&thread.0);
        known.map_or(0, |known| known.sections_done)
    }

    /// Moves every stopped thread out of stubs, before they are unmapped. Returns false if one
    /// cannot be moved.
    pub(crate) fn leave_all_stubs(&mut self) -> bool {
        if !self.image.patches.is_any() {
            return true;
        }
        let stopped = self.threads.values();
        let stopped = stopped.filter(|known| known.state == State::Stopped);
        let stopped: Vec<ThreadId> = stopped.map(|known| known.id).collect();
        stopped.into_iter().fold(true, |all, thread| {
            let left = self.leave_stub(thread);
            all & left.map_or_else(|error| error.is_end(), |_| true)
        })
    }
}
