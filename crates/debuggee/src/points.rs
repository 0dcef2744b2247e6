//! Sites: planning the way past an instruction, and telling the engine.

use juror_stepping::{Input, Owner, Passage, PlannedPassage, plan_passage};

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::scratch::INSTRUCTION_LENGTH_MAX;
use crate::thread::State;

impl Debuggee {
    /// Makes [`StopEvent::Hit`](crate::Notice::Hit) come whenever a thread is
    /// about to execute the instruction at `address`. Counted by owner: two
    /// inserts need two removes. Works while threads run.
    pub fn insert(&mut self, address: u64, owner: Owner) -> Result<(), DebuggeeError> {
        let passage = if self.engine.is_site(address) {
            Passage::InPlace
        } else {
            self.plan(address)?
        };
        let inserted = self.feed(Input::Insert {
            address,
            owner,
            passage,
        });
        self.memory.note(None);
        inserted?;
        // A site whose trap could not be written is none.
        match self.engine.is_site(address) {
            true => Ok(()),
            false => Err(DebuggeeError::Memory { address, length: 1 }),
        }
    }

    /// Takes one insert back. The trap goes with the last one, also when the
    /// memory there is not mapped any more. Works while threads run.
    pub fn remove(&mut self, address: u64, owner: Owner) -> Result<(), DebuggeeError> {
        self.feed(Input::Remove { address, owner })
    }

    pub(crate) fn plan(&mut self, address: u64) -> Result<Passage, DebuggeeError> {
        let mut bytes = [0; INSTRUCTION_LENGTH_MAX];
        let count = self.memory.read_up_to(address, &mut bytes);
        let Some(readable) = bytes.get(..count).filter(|readable| !readable.is_empty()) else {
            self.memory.read_raw(address, &mut [0])?;
            return Err(DebuggeeError::Memory { address, length: 1 });
        };
        self.memory
            .note(readable.first().map(|&byte| (address, byte)));
        if self.in_place {
            return Ok(plan_in_place(readable, address));
        }
        if let Some(passage) = self.scratch.known_passage(address, &bytes) {
            return Ok(passage);
        }
        if !self.is_lasting_code(address) {
            let passage = plan_in_place(readable, address);
            self.scratch.remember_passage(address, bytes, passage);
            return Ok(passage);
        }
        let slot = self.scratch.free_slot_near(address);
        let slot = match slot {
            Some(slot) => Some(slot),
            None => self.make_slot(address)?,
        };
        let PlannedPassage { passage, copy, .. } = plan_passage(readable, address, slot);
        if let (Some(slot), Some(copy)) = (slot, copy) {
            self.memory.write_raw(slot, &copy.bytes)?;
            self.scratch.fill(slot, copy);
        }
        self.scratch.remember_passage(address, bytes, passage);
        Ok(passage)
    }

    /// Whether the code at an address is a file's, which the program does not write to. Of
    /// other code (a program makes it as it runs, or rewrites numbers in it) a copy may be
    /// out of date when it is executed.
    fn is_lasting_code(&mut self, address: u64) -> bool {
        if self.scratch.is_lasting_code(address) {
            return true;
        }
        let lasting = self.lasting_code();
        self.scratch.set_lasting_code(lasting);
        self.scratch.is_lasting_code(address)
    }

    /// More room for copies: needs a stopped thread to make the system call.
    /// Without one the site is passed in place, which always works.
    fn make_slot(&mut self, address: u64) -> Result<Option<u64>, DebuggeeError> {
        let stopped = self
            .threads
            .values()
            .find(|thread| thread.state == State::Stopped)
            .map(|thread| thread.id);
        if let Some(thread) = stopped {
            self.ensure_region_near(thread, address)?;
        }
        Ok(self.scratch.free_slot_near(address))
    }
}

/// The way past that executes the instruction where it is.
fn plan_in_place(readable: &[u8], address: u64) -> Passage {
    let passage = plan_passage(readable, address, None).passage;
    match passage.is_in_place() {
        true => passage,
        false => Passage::InPlace,
    }
}
