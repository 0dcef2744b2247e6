//! Calls whose event comes after them.
//!
//! The entry of the function adds a record to the thread's pending calls; the stub
//! of the return site takes the event of each record that has its stack pointer,
//! innermost first (a function that was entered by a tail call has the same), and
//! removes it.
//!
//! ```text
//! begin:  is the return site patched?        else a gate
//!         record := frame, address, event, absent, captures
//!         pending += record                  one instruction
//! return: next: innermost frame = rsp?       else pops, or a gate if a deeper one is
//!         the section of its event           else a gate
//!         pending -= record                  one instruction
//!         jmp next
//! ```
//!
//! A return site is known by its own bytes: a jump to a stub that begins with
//! [`RETURN_STUB`]. So there is no table of sites to be kept, none collides, and a
//! site whose patch was removed for a breakpoint is unknown at once.
//!
//! **Invariant**: at a return site the pending calls alone say which events have
//! happened, so a thread that is led out begins at the entry of the stub again.

use super::assembler::{Binary, If, Label, Memory, RAX, RDX, Target};
use super::operations::SectionEmitter;
use super::registers::SCRATCH;
use super::{Action, EmitError, Emitter, Section, malformed};
use crate::head::{JUMP_LENGTH, LONGEST_JUMP, Place};
use crate::stub_map::{FlagsAt, Frame, Leave, Mark, Position};
use juror_monitor::lowering::Why;

/// The size of the record of a pending call in bytes.
pub const PENDING_BYTES: u32 = 128;
/// The maximum number of values of a pending call.
pub const PENDING_VALUES: u32 = 12;

/// The first instruction of the stub of a return site: a `nop` with a constant. A
/// thread that stands at it has the program's registers.
pub const RETURN_STUB: [u8; 8] = [0x0f, 0x1f, 0x84, 0x00, 0x6a, 0x75, 0x72, 0x6f];

/// The first words of the record of a pending call; the captured values follow. A
/// record whose frame is 0 precedes the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PendingWord {
    /// The stack pointer after the return.
    Frame,
    /// The return address.
    Address,
    /// The event ([`Call::event`]).
    Event,
    /// The values that were not captured; bit n is slot n.
    Absent,
    /// The first value.
    Values,
}

impl PendingWord {
    /// Returns the distance from the end of the record in bytes; it is negative.
    pub fn from_end(self) -> i32 {
        8 * self as i32 - PENDING_BYTES as i32
    }
}

/// An event after a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// A number that no other property's event has.
    pub event: u32,
    /// The captures that are made at the entry; bit n is slot n.
    pub begun: u64,
}

impl Call {
    /// Returns the number of a slot among those captured at the entry.
    pub fn number_of(&self, slot: u8) -> Option<u32> {
        let bit = 1u64.checked_shl(slot.into())?;
        (self.begun & bit != 0).then(|| (self.begun & (bit - 1)).count_ones())
    }
}

/// Checks that a section is possible at such an address.
pub(super) fn check(place: Place, section: &Section<'_>) -> Option<()> {
    let call = match (place, section.action) {
        (Place::Entry, Action::Step) => return Some(()),
        (Place::Entry, Action::Begin(call)) | (Place::ReturnSite, Action::Return(call)) => call,
        _ => return None,
    };
    let fits = call.begun.count_ones() <= PENDING_VALUES && call.begun >> 31 == 0;
    (fits && i32::try_from(call.event).is_ok()).then_some(())
}

fn pending(word: PendingWord, number: u32) -> Memory {
    Memory::new(
        RDX,
        word.from_end() + PENDING_BYTES as i32 + 8 * number as i32,
    )
}

impl Emitter {
    /// Emits the section of an entry that begins a call.
    pub(super) fn begin_call(
        &mut self,
        number: usize,
        section: &Section<'_>,
        call: Call,
    ) -> Result<(), EmitError> {
        let end = self.pops;
        let mut emission = SectionEmitter::new(self, number, section, end);
        emission.begin();
        emission.record(call).ok_or(malformed(number, 0))?;
        let mark = emission.mark();
        let (pending, add) = (self.region.pending, PENDING_BYTES as i32);
        self.code.add_thread(mark, pending, add);
        Ok(())
    }

    /// Emits the stub of a return site up to the pops.
    pub(super) fn return_site(
        &mut self,
        sections: &[Section<'_>],
        labels: &[Label],
    ) -> Result<(), EmitError> {
        let standing = Frame {
            pushed: 0,
            flags: FlagsAt::Live,
        };
        let position = Position::Begin { done: 0 };
        let first = Mark {
            frame: standing,
            position,
            leave: Leave::Not,
        };
        self.code.raw(first, &RETURN_STUB);
        self.save(0);
        let next = self.code.label();
        self.code.bind(next);
        self.dispatch(sections, labels);
        for (number, section) in sections.iter().enumerate() {
            if let Some(label) = labels.get(number) {
                self.code.bind(*label);
            }
            let end = self.code.label();
            self.section(number, section, end)?;
            self.code.bind(end);
            let ending = self.mark(Position::Ending { section: number });
            let (pending, add) = (self.region.pending, -(PENDING_BYTES as i32));
            self.code.add_thread(ending, pending, add);
            let mark = self.mark(position);
            self.code.jump(mark, Target::Label(next));
        }
        Ok(())
    }

    /// Emits the search for the section of the innermost pending call.
    fn dispatch(&mut self, sections: &[Section<'_>], labels: &[Label]) {
        let mark = self.mark(Position::Begin { done: 0 });
        let unknown = self.other_call();
        let (deeper, other) = (self.code.label(), self.code.label());
        let pushed = 8 * self.depth() as i32;
        let word = |word: PendingWord| Memory::new(RDX, word.from_end());
        let code = &mut self.code;
        code.load_thread(mark, RDX, self.region.pending);
        let stack = Memory::new(super::assembler::RSP, pushed);
        code.address(mark, SCRATCH, stack);
        code.compare(mark, SCRATCH, word(PendingWord::Frame));
        code.jump_if(mark, If::NotEqual, Target::Label(other));
        code.load(mark, RAX, word(PendingWord::Event));
        for (section, label) in sections.iter().zip(labels) {
            if let Action::Return(call) = section.action {
                code.binary_constant(mark, Binary::Compare, RAX, call.event as i32);
                code.jump_if(mark, If::Equal, Target::Label(*label));
            }
        }
        code.jump(mark, unknown);
        // A deeper record with this stack pointer is of another stack's turn.
        code.bind(deeper);
        code.compare(mark, SCRATCH, word(PendingWord::Frame));
        code.jump_if(mark, If::Equal, unknown);
        code.bind(other);
        code.load(mark, RAX, word(PendingWord::Frame));
        code.binary_constant(mark, Binary::Subtract, RDX, PENDING_BYTES as i32);
        code.test(mark, RAX, RAX);
        code.jump_if(mark, If::NotEqual, Target::Label(deeper));
        code.jump(mark, Target::Label(self.pops));
    }

    /// Returns the gate for a pending call that this stub cannot end.
    fn other_call(&mut self) -> Target {
        let label = self.code.label();
        self.gates.push(super::Gate {
            label,
            position: Position::Begin { done: 0 },
            leave: Leave::OtherCall,
            held: Vec::new(),
        });
        Target::Label(label)
    }
}

impl SectionEmitter<'_, '_> {
    /// Writes the record of a call behind the innermost one.
    fn record(&mut self, call: Call) -> Option<()> {
        self.find_return_site()?;
        let (mark, full) = (self.mark(), self.leave(Leave::Calls));
        let region = self.emitter.region;
        let frame = self.stack(8)?;
        let code = &mut self.emitter.code;
        code.load_thread(mark, RDX, region.pending);
        code.compare_thread(mark, RDX, region.pending_end);
        code.jump_if(mark, If::AboveEqual, full);
        // The return address is still in the scratch register.
        code.store(mark, SCRATCH, pending(PendingWord::Address, 0));
        code.address(mark, SCRATCH, frame);
        code.store(mark, SCRATCH, pending(PendingWord::Frame, 0));
        let event = i32::try_from(call.event).ok()?;
        code.store_constant(mark, event, pending(PendingWord::Event, 0));
        self.values(call)
    }

    /// Goes to a gate unless the return address is that of a patched return site.
    fn find_return_site(&mut self) -> Option<()> {
        let (mark, gate) = (self.mark(), self.leave(Leave::ReturnSite));
        let reading = Mark {
            leave: Leave::ReturnSite,
            ..mark
        };
        let address = self.stack(0)?;
        let code = &mut self.emitter.code;
        let found = code.label();
        code.load(mark, SCRATCH, address);
        code.copy(mark, RAX, SCRATCH);
        // The opcode may follow prefixes. Bytes of the program that look like a jump do not
        // lead to a stub.
        for _ in 0..LONGEST_JUMP - JUMP_LENGTH {
            code.compare_byte(reading, Memory::new(RAX, 0), 0xe9);
            code.jump_if(mark, If::Equal, Target::Label(found));
            code.binary_constant(mark, Binary::Add, RAX, 1);
        }
        code.compare_byte(reading, Memory::new(RAX, 0), 0xe9);
        code.jump_if(mark, If::NotEqual, gate);
        code.bind(found);
        code.load_extended(reading, RDX, Memory::new(RAX, 1), (4, true));
        code.binary(mark, Binary::Add, RAX, RDX);
        code.set(mark, RDX, u64::from_le_bytes(RETURN_STUB));
        // The displacement counts from the end of the jump, five bytes long.
        code.compare(reading, RDX, Memory::new(RAX, 5));
        code.jump_if(mark, If::NotEqual, gate);
        Some(())
    }

    /// Writes the values of the record; `rdx` is its address.
    fn values(&mut self, call: Call) -> Option<()> {
        let mark = self.mark();
        let absent = pending(PendingWord::Absent, 0);
        self.emitter.code.store_constant(mark, 0, absent);
        for slot in 0..31u8 {
            let Some(number) = call.number_of(slot) else {
                continue;
            };
            let capture = self.words.captures.get(usize::from(slot))?.clone()?;
            self.capture_word(SCRATCH, &capture)?;
            let place = pending(PendingWord::Values, number);
            self.emitter.code.store(mark, SCRATCH, place);
        }
        Some(())
    }

    /// Loads a value that was captured at the entry.
    pub(super) fn begun(&mut self, to: u8, slot: u8, number: u32) {
        let (mark, gate) = (self.mark(), self.gate(Why::Capture));
        let pending = self.emitter.region.pending;
        let code = &mut self.emitter.code;
        let of = |word: PendingWord| Memory::new(to, word.from_end() + 8 * number as i32);
        code.load_thread(mark, to, pending);
        code.load(mark, RAX, Memory::new(to, PendingWord::Absent.from_end()));
        code.test_constant(mark, RAX, 1 << (slot & 31));
        code.jump_if(mark, If::NotEqual, gate);
        code.load(mark, to, of(PendingWord::Values));
    }
}
