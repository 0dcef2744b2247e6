//! Sites: planning the step-over of an instruction, and inserting it into the
//! engine.

use juror_arch::INSTRUCTION_LENGTH_MAX;
use juror_stepping::{Input, Owner, PlannedStepOver, StepOver, plan_step_over};

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::state::thread::State;

impl Debuggee {
    /// Inserts a point: [`StopEvent::Hit`](crate::StopEvent::Hit) is reported
    /// whenever a thread is about to execute the instruction at `address`.
    /// Counted by owner: two inserts need two removes. Works while threads run.
    pub fn insert(&mut self, address: u64, owner: Owner) -> Result<(), DebuggeeError> {
        self.needs_process()?;
        let step_over = if self.driver.engine.is_site(address) {
            StepOver::InPlace
        } else {
            self.plan(address)?
        };
        let inserted = self.feed(Input::Insert {
            address,
            owner,
            step_over,
        });
        self.memory.note(None);
        inserted?;
        // A site whose trap could not be written does not exist.
        if self.driver.engine.is_site(address) {
            Ok(())
        } else {
            Err(DebuggeeError::Memory { address, length: 1 })
        }
    }

    /// Removes one insert. The trap is removed with the last one, also if the
    /// memory there is no longer mapped. Works while threads run.
    pub fn remove(&mut self, address: u64, owner: Owner) -> Result<(), DebuggeeError> {
        self.feed(Input::Remove { address, owner })
    }

    pub(crate) fn plan(&mut self, address: u64) -> Result<StepOver, DebuggeeError> {
        let mut bytes = [0; INSTRUCTION_LENGTH_MAX];
        let count = self.memory.read_up_to(address, &mut bytes);
        let Some(readable) = bytes.get(..count).filter(|readable| !readable.is_empty()) else {
            self.memory.read_raw(address, &mut [0])?;
            return Err(DebuggeeError::Memory { address, length: 1 });
        };
        self.memory
            .note(readable.first().map(|&byte| (address, byte)));
        if self.driver.in_place {
            return Ok(plan_in_place(readable, address));
        }
        if let Some(step_over) = self.image.out_of_line.known_step_over(address, &bytes) {
            return Ok(step_over);
        }
        if !self.is_immutable_code(address) {
            let step_over = plan_in_place(readable, address);
            self.image
                .out_of_line
                .remember_step_over(address, bytes, step_over);
            return Ok(step_over);
        }
        let slot = self.image.out_of_line.free_slot_near(address);
        let slot = match slot {
            Some(slot) => Some(slot),
            None => self.make_slot(address)?,
        };
        let PlannedStepOver {
            step_over, code, ..
        } = plan_step_over(readable, address, slot);
        if let (Some(slot), Some(code)) = (slot, code) {
            self.memory.write_raw(slot, &code.bytes)?;
            self.image.out_of_line.fill(slot, code);
        }
        self.image
            .out_of_line
            .remember_step_over(address, bytes, step_over);
        Ok(step_over)
    }

    /// Returns true if the code at an address is that of a file to which the
    /// program does not write. A copy of other code (a program generates it, or
    /// patches it) may be out of date when it is executed.
    fn is_immutable_code(&mut self, address: u64) -> bool {
        if self.image.out_of_line.is_immutable_code(address) {
            return true;
        }
        let ranges = self.immutable_code();
        self.image.out_of_line.set_immutable_code(ranges);
        self.image.out_of_line.is_immutable_code(address)
    }

    /// Returns a slot in a new region: needs a stopped thread to make the
    /// system call. Without one the site is stepped over in place, which always
    /// works.
    fn make_slot(&mut self, address: u64) -> Result<Option<u64>, DebuggeeError> {
        let stopped = self
            .threads
            .values()
            .find(|thread| thread.state == State::Stopped)
            .map(|thread| thread.id);
        if let Some(thread) = stopped {
            self.ensure_region_near(thread, address)?;
        }
        Ok(self.image.out_of_line.free_slot_near(address))
    }
}

/// Returns the step-over method that executes the instruction in place.
fn plan_in_place(readable: &[u8], address: u64) -> StepOver {
    let step_over = plan_step_over(readable, address, None).step_over;
    if step_over.is_in_place() {
        step_over
    } else {
        StepOver::InPlace
    }
}
