//! The way out of a stub, without running the thread.
//!
//! | where | what is done | where the thread goes on |
//! | --- | --- | --- |
//! | before `Commit` | its locks are released | at the entry, or at the re-entry of the section |
//! | after `Commit` | the remaining operations are run | at the next section, or at the first twin |
//! | in the pops | nothing | at the first twin |
//! | in a twin | a pushed return address is dropped | at the original instruction, or its twin |
//!
//! [`StubMap::lead_out`] reads memory and changes nothing: the result says what
//! to change. A lock is released only if its word is that of the thread's own
//! journal, since the memory alone says whether `cmpxchg` had succeeded.
//!
//! **Invariant**: the registers of the result are those that the program would
//! have without the patch, and the table is changed wholly or not at all.

use crate::emit::{base_register, virtual_register};
use crate::head::{Place, Undo};
use crate::stub_map::{FlagsAt, Found, Frame, Position, Saved, StubMap};
use juror_monitor::lowering::{Base, Register, Running};

/// The registers of a thread that a stub may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Registers {
    /// The general registers by their numbers in instructions.
    pub general: [u64; 16],
    /// The program counter.
    pub counter: u64,
    /// The flags.
    pub flags: u64,
}

impl Registers {
    /// Returns the registers of a thread at the gate of its region as they are
    /// where it came from.
    pub fn before_gate(mut self) -> Self {
        self.counter = self.general.first().copied().unwrap_or(self.counter);
        self
    }

    fn get(&self, register: u8) -> Option<u64> {
        self.general.get(usize::from(register)).copied()
    }

    fn set(&mut self, register: u8, word: u64) -> Option<()> {
        *self.general.get_mut(usize::from(register))? = word;
        Some(())
    }
}

/// The rest of a committed step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finish {
    /// The section.
    pub section: usize,
    /// The state from which the interpreter runs the section's operations to their
    /// end.
    pub running: Running,
}

/// Where a thread goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// At the address of the event, which has not happened.
    Entry,
    /// At the re-entry of a section, in the stub: the sections before it have
    /// happened.
    Section(usize),
    /// At a twin, or at its original if the patch is removed.
    Twin {
        /// The original address.
        original: u64,
    },
}

/// What leads a thread out of a stub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeadOut {
    /// The registers to set. The counter is the entry, a re-entry or a twin.
    pub registers: Registers,
    /// The addresses of locks to release: their words become 0.
    pub release: Vec<u64>,
    /// The operations to run first.
    pub finish: Option<Finish>,
    /// Whether the innermost pending call ends then: its record is dropped.
    pub ends_call: bool,
    /// The number of sections that have happened, once `finish` has run. At a return
    /// site the pending calls say it: it is 0 as long as one may be left.
    pub done: usize,
    /// What `registers.counter` is.
    pub resume: Resume,
}

impl StubMap {
    /// Returns the way out for a thread in the stub; none if it is not there, or
    /// if the stack cannot be read. `read` returns the word at an address.
    pub fn lead_out(
        &self,
        registers: &Registers,
        read: impl Fn(u64) -> Option<u64>,
    ) -> Option<LeadOut> {
        let mark = match self.find(registers.counter)? {
            Found::Twin(piece) => return self.out_of_twin(registers, piece.original, piece.undo),
            Found::Stub(mark) => mark,
        };
        let original = self.original_registers(mark.frame, registers, &read)?;
        let mut release = Vec::new();
        let mut finish = None;
        let done = match mark.position {
            Position::Begin { done } => done,
            Position::Done => self.sections.len(),
            Position::Ending { section } => section + 1,
            Position::Step { section, op } => match self.locks_at(section, op) {
                Some(locks) => {
                    release = self.owned(section, &locks, registers, read)?;
                    section
                }
                None => {
                    finish = Some(self.finish(section, op, registers)?);
                    section + 1
                }
            },
        };
        let is_ending = matches!(mark.position, Position::Ending { .. });
        let ends_call = self.place == Place::ReturnSite && (finish.is_some() || is_ending);
        let mut out = self.resume(original, self.done(mark.position, done))?;
        out.ends_call = ends_call;
        out.release = release;
        out.finish = finish;
        Some(out)
    }

    /// Returns how many sections are not taken again.
    fn done(&self, position: Position, done: usize) -> usize {
        match (self.place, position) {
            (Place::ReturnSite, Position::Done) | (Place::Entry, _) => done,
            (Place::ReturnSite, _) => 0,
        }
    }

    /// Returns the way out to the section after `done` others.
    fn resume(&self, mut registers: Registers, done: usize) -> Option<LeadOut> {
        let (counter, resume) = if done == self.sections.len() {
            let first = self.relocated.pieces.first()?;
            let original = first.original;
            (self.relocated.at, Resume::Twin { original })
        } else if done == 0 {
            (self.entry, Resume::Entry)
        } else {
            (*self.reentries.get(done)?, Resume::Section(done))
        };
        registers.counter = counter;
        Some(LeadOut {
            registers,
            release: Vec::new(),
            finish: None,
            ends_call: false,
            done,
            resume,
        })
    }

    fn out_of_twin(&self, registers: &Registers, original: u64, undo: Undo) -> Option<LeadOut> {
        let mut registers = *registers;
        if undo == Undo::ReturnAddress {
            const RSP: u8 = 4;
            let top = registers.get(RSP)?.wrapping_add(8);
            registers.set(RSP, top)?;
            registers.counter = self.relocated.twin_of(original)?;
        }
        Some(LeadOut {
            registers,
            release: Vec::new(),
            finish: None,
            ends_call: false,
            done: self.sections.len(),
            resume: Resume::Twin { original },
        })
    }

    /// Returns the program's registers; the counter stays.
    fn original_registers(
        &self,
        frame: Frame,
        registers: &Registers,
        read: &impl Fn(u64) -> Option<u64>,
    ) -> Option<Registers> {
        const RSP: u8 = 4;
        let top = registers.get(RSP)?;
        let mut original = *registers;
        for register in 0..16 {
            match self.saved_in(frame.pushed, register) {
                Saved::Register => {}
                Saved::Stack(above) => original.set(register, read(top.wrapping_add(above))?)?,
                Saved::StackPointer(above) => original.set(register, top.wrapping_add(above))?,
            }
        }
        original.flags = match frame.flags {
            FlagsAt::Live => registers.flags,
            FlagsAt::Slot => {
                let above = 8 * frame.pushed.checked_sub(2)? as u64;
                let word = read(top.wrapping_add(above))?;
                with_flags(registers.flags, word, word & 1 != 0)
            }
            FlagsAt::Rax => {
                let word = registers.get(0)?;
                with_flags(registers.flags, word, word & 1 != 0)
            }
            FlagsAt::RaxAdded => {
                let word = registers.get(0)?;
                with_flags(registers.flags, word, word & 0x80 != 0)
            }
        };
        Some(original)
    }

    /// Returns the addresses of those locks that the thread holds.
    fn owned(
        &self,
        section: usize,
        locks: &[(Base, u32)],
        registers: &Registers,
        read: impl Fn(u64) -> Option<u64>,
    ) -> Option<Vec<u64>> {
        let table = self.sections.get(section)?.table;
        let mut owned = Vec::new();
        for (base, offset) in locks {
            let base = match base {
                Base::Table => table,
                base => registers.get(base_register(*base))?,
            };
            let address = base.wrapping_add(u64::from(*offset));
            let journal = registers.get(base_register(Base::Journal))?;
            if read(address)? == journal.wrapping_sub(table) {
                owned.push(address);
            }
        }
        Some(owned)
    }

    fn finish(&self, section: usize, op: usize, registers: &Registers) -> Option<Finish> {
        let table = self.sections.get(section)?.table;
        let mut words = [0; Register::COUNT as usize];
        for (number, word) in (0..).zip(&mut words) {
            *word = registers.get(virtual_register(Register(number))?)?;
        }
        let mut bases = [0; BASES.len()];
        for (base, offset) in BASES.into_iter().zip(&mut bases) {
            let address = registers.get(base_register(base))?;
            *offset = address.wrapping_sub(table);
        }
        let running = Running {
            position: u32::try_from(op).ok()?,
            registers: words,
            bases,
        };
        Some(Finish { section, running })
    }
}

/// The bases in the order of [`Running::bases`].
const BASES: [Base; 5] = [
    Base::Table,
    Base::Journal,
    Base::Stripe,
    Base::Slot,
    Base::Record,
];

/// The flags of `lahf`.
const LOW_FLAGS: u64 = 0xd5;
const OVERFLOW: u64 = 1 << 11;

/// Returns the flags with those of a word of `lahf`, and an overflow flag.
fn with_flags(flags: u64, word: u64, overflow: bool) -> u64 {
    let low = word >> 8 & LOW_FLAGS;
    let overflow = if overflow { OVERFLOW } else { 0 };
    flags & !(LOW_FLAGS | OVERFLOW) | low | overflow
}
