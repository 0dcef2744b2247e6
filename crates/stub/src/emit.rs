//! Stubs: the operations of monitors as machine code.
//!
//! ```text
//! S:  push rax; lahf; seto al; push rax
//!     cmp dword gs:[armed], ARMED; jne other
//!     push (registers that are written)
//!     sections, one for each property and event of the address
//!     pops
//! out: pop rax; add al, 0x7f; sahf; pop rax
//! R:  relocated head; jmp to the end of the head
//!     operations of the sections that few steps run, and waits for locks
//!     re-entries: the same pushes, and a jump to a section
//!     gates: lea rax, [resume]; jmp gate; resume: release locks; jmp pops
//!     other: cmp dword gs:[armed], MUTED; je out; lea rax, [resume]; jmp gate
//! ```
//!
//! A word that is neither [`ARMED`] nor [`MUTED`] is not one of a thread record: the
//! program uses `gs` itself, and nothing else may be read through it. juror takes the
//! event then.
//!
//! The live red zone is empty at entries and return sites, so the pushes write
//! nothing that the program reads. Only general registers are used. The two
//! instructions behind `lahf` keep the overflow flag: `add` of 0x7f overflows
//! for 1 and not for 0.
//!
//! A gate does not trap in the stub: it gives the gate of the region its own
//! address in `rax`. So one site serves all stubs, it is known which gate a
//! thread came through, and if the site is gone (juror was killed) the thread
//! releases its locks and goes on.
//!
//! **Invariant**: each instruction has a mark from which the state of the program
//! follows ([`crate::stub_map`]).

mod apart;
mod arithmetic;
mod assembler;
mod calls;
mod captures;
mod held_locks;
mod operations;
mod order;
mod registers;
#[cfg(test)]
mod tests;

pub use assembler::{LOCK_OFF, LOCK_ON};
pub use calls::{Call, PENDING_BYTES, PENDING_VALUES, PendingWord, RETURN_STUB};
pub(crate) use held_locks::Locks;
pub(crate) use registers::{base_register, virtual_register};

use crate::head::{Head, Obstacle, Place};
use crate::stub_map::{FlagsAt, Frame, Leave, Mark, Position, SectionMap, StubMap};
use apart::{Gate, Rest, Wait};
use assembler::{Assembler, If, Label, Physical, RAX, Target};
use held_locks::{held_locks, taken_lock};
use juror_monitor::lowering::{EventWords, Phase, StepProgram};
use std::sync::Arc;

/// The code of a region's gate: a `nop`, on which there is a site while juror is
/// attached, and a jump back to where the thread came from.
pub const GATE: [u8; 4] = [0x90, 0x3e, 0xff, 0xe0];

/// The word of a thread record whose thread takes events.
pub const ARMED: u32 = 0x6a75_726f;
/// The word of a thread record whose thread is muted.
pub const MUTED: u32 = 0x726f_756a;

/// The step of one property at an address.
#[derive(Debug, Clone, Copy)]
pub struct Section<'a> {
    /// The operations.
    pub program: &'a StepProgram,
    /// The captures: of the event; at an entry that begins a call, those that it keeps.
    pub words: &'a EventWords,
    /// The address of the property's table in the debuggee.
    pub table: u64,
    /// Where the thread record has the address of the thread's journal for this
    /// property, in bytes.
    pub journal: u32,
    /// What it does.
    pub action: Action,
}

/// What a section does.
#[derive(Debug, Clone, Copy)]
pub enum Action {
    /// Takes an event at the address.
    Step,
    /// At an entry: begins a call, whose event comes after it.
    Begin(Call),
    /// At a return site: takes the event after the call, if that is pending.
    Return(Call),
}

/// What all stubs of a region have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// The address of the gate ([`GATE`]).
    pub gate: u64,
    /// Where the thread record has the word that is [`ARMED`] or [`MUTED`], in bytes.
    pub armed: u32,
    /// Where the thread record has the end of the innermost pending call, in bytes.
    pub pending: u32,
    /// Where it has the end of the room for pending calls.
    pub pending_end: u32,
    /// How often a thread looks at a lock that stays taken before it goes to the gate.
    pub attempts: u32,
}

/// The reason why a stub could not be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EmitError {
    /// The operations break a rule of the lowering.
    #[error("operation {op} of section {section} is malformed")]
    Malformed {
        /// The section.
        section: usize,
        /// The position of the operation.
        op: usize,
    },
    /// The stub is too large, or has too many sections.
    #[error("the stub is too large")]
    TooLarge,
    /// The address is out of reach of the gate.
    #[error("the stub does not reach its gate")]
    OutOfReach,
    /// The head cannot be relocated there.
    #[error(transparent)]
    Head(#[from] Obstacle),
}

/// A stub without an address, for all heads of one size with the same sections.
#[derive(Debug, Clone)]
pub struct Draft {
    place: Place,
    code: Assembler<Mark>,
    /// The offset of the relocated head, and the room for it.
    relocated: (usize, usize),
    /// The part that the maps of its stubs have in common.
    marks: Arc<[(usize, Mark)]>,
    saved: Arc<[Physical]>,
    sections: Arc<[SectionMap]>,
    /// By section: its re-entry. The first is the stub itself.
    reentries: Vec<Label>,
}

/// A stub at its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stub {
    /// The code, to be written at `map.at`.
    pub bytes: Vec<u8>,
    /// What each of its instructions means.
    pub map: StubMap,
    /// The addresses of the prefixes that become [`LOCK_ON`] when there is a
    /// second thread.
    pub lock_prefixes: Vec<u64>,
}

/// Makes the stub of a head.
pub fn draft(
    head: &Head,
    place: Place,
    sections: &[Section<'_>],
    region: Region,
) -> Result<Draft, EmitError> {
    let mut emitter = Emitter::new(place, sections, region)?;
    let labels: Vec<Label> = sections.iter().map(|_| emitter.code.label()).collect();
    let start = emitter.code.label();
    emitter.code.bind(start);
    match place {
        Place::Entry => {
            emitter.save(0);
            emitter.entry_sections(sections, &labels)?;
        }
        Place::ReturnSite => emitter.return_site(sections, &labels)?,
    }
    emitter.restore();
    let relocated = emitter.code.label();
    emitter.code.bind(relocated);
    emitter.code.reserve(head.relocated_size());
    emitter.rests(sections)?;
    emitter.waits();
    let mut reentries = vec![start];
    let again = match place {
        Place::Entry => labels.as_slice(),
        Place::ReturnSite => &[],
    };
    for (number, label) in again.iter().enumerate().skip(1) {
        reentries.push(emitter.reentry(number, *label));
    }
    emitter.gates();
    emitter.mute_tests();
    emitter.code.shorten();
    let relocated = emitter
        .code
        .offset_of(relocated)
        .ok_or(EmitError::TooLarge)?;
    Ok(Draft {
        place,
        marks: emitter.code.take_marks().into(),
        code: emitter.code,
        relocated: (relocated, head.relocated_size()),
        saved: emitter.saved.into(),
        sections: emitter.sections.into(),
        reentries,
    })
}

impl Draft {
    /// Returns true if it is also the stub of this head.
    pub fn serves(&self, head: &Head) -> bool {
        self.relocated.1 == head.relocated_size()
    }

    /// Returns the size in bytes, which does not depend on the address.
    pub fn size(&self) -> u64 {
        self.code.size() as u64
    }

    /// Makes the stub of a head that it serves, for an address.
    pub fn place(&self, head: &Head, at: u64) -> Result<Stub, EmitError> {
        let mut bytes = self
            .code
            .link(at, head.address)
            .ok_or(EmitError::OutOfReach)?;
        let (start, _) = self.relocated;
        let relocated = head.relocate(at.wrapping_add(start as u64))?;
        let end = start + relocated.bytes.len();
        bytes
            .get_mut(start..end)
            .ok_or(EmitError::TooLarge)?
            .copy_from_slice(&relocated.bytes);
        let address = |offset: usize| at.wrapping_add(offset as u64);
        let reentries = self
            .reentries
            .iter()
            .filter_map(|label| self.code.offset_of(*label));
        Ok(Stub {
            map: StubMap {
                at,
                size: self.size(),
                entry: head.address,
                place: self.place,
                marks: Arc::clone(&self.marks),
                relocated,
                saved: Arc::clone(&self.saved),
                sections: Arc::clone(&self.sections),
                reentries: reentries.map(address).collect(),
            },
            lock_prefixes: self
                .code
                .lock_prefixes()
                .iter()
                .map(|at| address(*at))
                .collect(),
            bytes,
        })
    }
}

/// Emits one stub.
struct Emitter {
    place: Place,
    region: Region,
    code: Assembler<Mark>,
    /// The registers that are pushed behind `rax` and the flags, in order.
    saved: Vec<Physical>,
    sections: Vec<SectionMap>,
    gates: Vec<Gate>,
    /// By section with operations that few steps run: their rest.
    rests: Vec<Rest>,
    /// The waits for locks that were not had at once.
    waits: Vec<Wait>,
    /// The tests for a muted thread, with the number of the sections that have
    /// happened there.
    mute_tests: Vec<(Label, usize)>,
    /// The end of the sections, and the way out of a muted thread.
    pops: Label,
    out: Label,
}

impl Emitter {
    fn new(place: Place, sections: &[Section<'_>], region: Region) -> Result<Self, EmitError> {
        let mut maps = Vec::new();
        for (number, section) in sections.iter().enumerate() {
            let malformed = malformed(number, 0);
            calls::check(place, section).ok_or(malformed)?;
            let phases = section.program.phases().ok_or(malformed)?;
            let held = held_locks(&section.program.ops, &phases).ok_or(malformed)?;
            maps.push(SectionMap {
                table: section.table,
                phases,
                held,
                takes: section.program.ops.iter().map(taken_lock).collect(),
            });
        }
        let mut code = Assembler::new();
        Ok(Self {
            place,
            region,
            saved: registers::used(sections),
            sections: maps,
            gates: Vec::new(),
            rests: Vec::new(),
            waits: Vec::new(),
            mute_tests: Vec::new(),
            pops: code.label(),
            out: code.label(),
            code,
        })
    }

    /// Returns the number of words that are pushed while a section runs.
    fn depth(&self) -> usize {
        2 + self.saved.len()
    }

    /// Emits the pushes before section `done`.
    fn save(&mut self, done: usize) {
        let position = Position::Begin { done };
        let mark = |pushed: usize, flags: FlagsAt| Mark {
            frame: Frame { pushed, flags },
            position,
            leave: Leave::Not,
        };
        let push = |pushed: usize, flags: FlagsAt| Mark {
            leave: Leave::Stack,
            ..mark(pushed, flags)
        };
        self.code.push(push(0, FlagsAt::Live), RAX);
        self.code.raw(mark(1, FlagsAt::Live), &[0x9f]);
        self.code.raw(mark(1, FlagsAt::Live), &[0x0f, 0x90, 0xc0]);
        self.code.push(push(1, FlagsAt::Live), RAX);
        let saved = mark(2, FlagsAt::Slot);
        let other = self.code.label();
        self.compare_armed(saved, ARMED);
        let target = Target::Label(other);
        self.code.jump_if(saved, If::NotEqual, target);
        self.mute_tests.push((other, done));
        for (at, register) in self.saved.iter().enumerate() {
            self.code.push(push(2 + at, FlagsAt::Slot), *register);
        }
    }

    /// Emits the comparison of the first word of the thread record.
    fn compare_armed(&mut self, mark: Mark, word: u32) {
        let mut compare = [0x65, 0x81, 0x3c, 0x25, 0, 0, 0, 0, 0, 0, 0, 0];
        let operands = [self.region.armed, word].into_iter();
        let bytes = operands.flat_map(u32::to_le_bytes);
        for (place, byte) in compare.iter_mut().skip(4).zip(bytes) {
            *place = byte;
        }
        self.code.raw(mark, &compare);
    }

    /// Emits the pops and the restoration of the flags.
    fn restore(&mut self) {
        let mark = |pushed: usize, flags: FlagsAt| Mark {
            frame: Frame { pushed, flags },
            position: Position::Done,
            leave: Leave::Not,
        };
        self.code.bind(self.pops);
        for (at, register) in self.saved.iter().enumerate().rev() {
            self.code.pop(mark(3 + at, FlagsAt::Slot), *register);
        }
        self.code.bind(self.out);
        self.code.pop(mark(2, FlagsAt::Slot), RAX);
        self.code.raw(mark(1, FlagsAt::Rax), &[0x04, 0x7f]);
        self.code.raw(mark(1, FlagsAt::RaxAdded), &[0x9e]);
        self.code.pop(mark(1, FlagsAt::Live), RAX);
    }

    /// Emits the sections of an entry, one behind the other.
    fn entry_sections(
        &mut self,
        sections: &[Section<'_>],
        labels: &[Label],
    ) -> Result<(), EmitError> {
        for (number, section) in sections.iter().enumerate() {
            if let Some(label) = labels.get(number) {
                self.code.bind(*label);
            }
            let end = labels.get(number + 1).copied().unwrap_or(self.pops);
            match section.action {
                Action::Begin(call) => self.begin_call(number, section, call)?,
                _ => self.section(number, section, end)?,
            }
        }
        Ok(())
    }

    /// Returns the mark of an instruction behind all pushes.
    fn mark(&self, position: Position) -> Mark {
        Mark {
            frame: Frame {
                pushed: self.depth(),
                flags: FlagsAt::Slot,
            },
            position,
            leave: Leave::Not,
        }
    }
}

fn malformed(section: usize, op: usize) -> EmitError {
    EmitError::Malformed { section, op }
}

/// Tells whether a phase can be abandoned.
pub(crate) fn can_abandon(phase: Phase) -> bool {
    phase < Phase::Committed
}
