//! Captures: words of the program as operands of a step.
//!
//! A register that the stub has written is read from where it was pushed.

use super::Action;
use super::assembler::{Memory, Physical, RAX, RSP};
use super::operations::{SectionEmitter, memory};
use crate::head::Place;
use crate::stub_map::{Leave, Mark};
use juror_monitor::lowering::{Base, JournalWord, Origin, Source, Why, WordCapture, WordKind};

/// Where a word is before memory is read.
enum Found {
    Register(Physical),
    Memory(Memory),
    Address(Memory),
    Word(u64),
    /// The address of the event.
    Site,
}

impl SectionEmitter<'_, '_> {
    /// Emits a capture into a register.
    pub(super) fn capture(&mut self, to: Physical, source: Source) -> Option<()> {
        let capture = match source {
            Source::Address => {
                let found = self.return_address()?;
                self.fetch(to, found);
                return Some(());
            }
            Source::Capture(slot) => {
                let capture = self.words.captures.get(usize::from(slot))?.clone();
                if let (Action::Return(call), Some(capture)) = (self.action, &capture)
                    && capture.origin == Origin::Begun
                {
                    self.begun(to, slot, call.number_of(slot)?);
                    self.read(to, capture);
                    return Some(());
                }
                capture
            }
        };
        let Some(capture) = capture else {
            // A capture that is never made.
            let (mark, gate) = (self.mark(), self.gate(Why::Capture));
            self.emitter.code.jump(mark, gate);
            return Some(());
        };
        self.capture_word(to, &capture)
    }

    /// Emits a capture of the program's registers and memory.
    pub(super) fn capture_word(&mut self, to: Physical, capture: &WordCapture) -> Option<()> {
        let found = self.find(capture.origin)?;
        self.fetch(to, found);
        self.read(to, capture);
        Some(())
    }

    fn find(&self, origin: Origin) -> Option<Found> {
        Some(match origin {
            Origin::Register(RSP) => Found::Address(self.stack(0)?),
            Origin::Register(register) => self.original(register)?,
            Origin::Stack(offset) => Found::Address(self.stack(offset)?),
            Origin::Constant(word) => Found::Word(word),
            Origin::Thread => {
                Found::Memory(memory(Base::Journal, JournalWord::Thread.offset(), None)?)
            }
            Origin::ReturnAddress => self.return_address()?,
            // Kept by an entry, for a return.
            Origin::Begun => return None,
        })
    }

    /// Returns where the value is that a register had at the address of the event.
    fn original(&self, register: Physical) -> Option<Found> {
        let saved = self
            .emitter
            .saved
            .iter()
            .position(|saved| *saved == register);
        let word = match (register, saved) {
            (RAX, _) => 0,
            (_, Some(at)) => 2 + at,
            (0..16, None) => return Some(Found::Register(register)),
            _ => return None,
        };
        let above = self.emitter.depth().checked_sub(1 + word)?;
        let offset = i32::try_from(8 * above).ok()?;
        Some(Found::Memory(Memory::new(RSP, offset)))
    }

    /// Returns a place relative to the stack pointer at the event.
    pub(super) fn stack(&self, offset: i32) -> Option<Memory> {
        let pushed = i32::try_from(8 * self.emitter.depth()).ok()?;
        Some(Memory::new(RSP, offset.checked_add(pushed)?))
    }

    /// Returns the code address of the event: at an entry, the return address is on
    /// top of the stack; a return site is the address itself.
    fn return_address(&self) -> Option<Found> {
        Some(match self.emitter.place {
            Place::Entry => Found::Memory(self.stack(0)?),
            Place::ReturnSite => Found::Site,
        })
    }

    fn fetch(&mut self, to: Physical, found: Found) {
        let mark = self.mark();
        let code = &mut self.emitter.code;
        match found {
            Found::Register(register) => code.copy(mark, to, register),
            Found::Memory(place) => code.load(mark, to, place),
            Found::Address(place) => code.address(mark, to, place),
            Found::Word(word) => code.set(mark, to, word),
            Found::Site => code.address_of_site(mark, to),
        }
    }

    /// Reads memory as the capture says, and makes the value of the word.
    fn read(&mut self, to: Physical, capture: &WordCapture) {
        self.load(to, capture);
        if capture.kind == WordKind::Boolean {
            self.truth(to);
        }
    }

    /// Reads memory as the capture says, and extends the last word.
    fn load(&mut self, to: Physical, capture: &WordCapture) {
        let width = (capture.bytes, capture.kind == WordKind::Signed);
        let mark = self.mark();
        let Some((last, pointers)) = capture.reads.split_last() else {
            if capture.bytes < 8 {
                self.emitter.code.extend(mark, to, width);
            }
            return;
        };
        let faulting = Mark {
            leave: Leave::Capture,
            ..mark
        };
        for offset in pointers {
            self.emitter
                .code
                .load(faulting, to, Memory::new(to, *offset));
        }
        let place = Memory::new(to, *last);
        self.emitter.code.load_extended(faulting, to, place, width);
    }

    /// Makes 1 of a value that is not 0.
    fn truth(&mut self, to: Physical) {
        let mark = self.mark();
        let code = &mut self.emitter.code;
        code.set(mark, RAX, 0);
        code.test(mark, to, to);
        code.raw(mark, &[0x0f, 0x95, 0xc0]);
        code.copy(mark, to, RAX);
    }
}
