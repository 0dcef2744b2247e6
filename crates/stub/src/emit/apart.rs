//! Code apart from the path of most steps: gates, re-entries, waits, and the operations
//! that few steps run.
//!
//! A processor fetches and predicts code in lines, so what is rarely run stands behind the
//! relocated head, and the path of most steps has few branches that are taken.

use super::assembler::{self, Binary, If, Label, RDX, Target};
use super::operations::SectionEmitter;
use super::order::Then;
use super::{EmitError, Emitter, MUTED, Section, malformed};
use crate::stub_map::{FlagsAt, Frame, Leave, Mark, Position};

/// A gate that is emitted behind the sections.
pub(super) struct Gate {
    pub label: Label,
    pub position: Position,
    pub leave: Leave,
    /// The locks to release, as base register and offset.
    pub held: Vec<assembler::Memory>,
}

/// The operations of a section that are emitted apart.
pub(super) struct Rest {
    pub number: usize,
    /// By operation: its place.
    pub labels: Vec<Label>,
    /// The end of the section.
    pub end: Label,
    /// The positions of the operations, ascending.
    pub ops: Vec<usize>,
}

/// A lock that was not had.
pub(super) struct Wait {
    pub mark: Mark,
    pub place: assembler::Memory,
    /// Where the wait begins.
    pub label: Label,
    /// Where the lock is tried again.
    pub again: Label,
    pub gate: Target,
}

impl Emitter {
    /// Emits the operations that few steps run.
    pub(super) fn rests(&mut self, sections: &[Section<'_>]) -> Result<(), EmitError> {
        for rest in std::mem::take(&mut self.rests) {
            let number = rest.number;
            let section = sections.get(number).ok_or(malformed(number, 0))?;
            let emission =
                SectionEmitter::with_labels(self, number, section, rest.end, rest.labels);
            emission.ops(section.program, &rest.ops, Then::Other)?;
        }
        Ok(())
    }

    /// Emits the waits for locks: the thread looks until the lock is free, and tries again.
    pub(super) fn waits(&mut self) {
        let attempts = u64::from(self.region.attempts.max(1));
        for wait in std::mem::take(&mut self.waits) {
            let mark = wait.mark;
            let code = &mut self.code;
            let look = code.label();
            code.bind(wait.label);
            code.set(mark, RDX, attempts);
            code.bind(look);
            code.raw(mark, &[0xf3, 0x90]);
            code.compare_zero(mark, wait.place);
            code.jump_if(mark, If::Equal, Target::Label(wait.again));
            code.binary_constant(mark, Binary::Subtract, RDX, 1);
            code.jump_if(mark, If::NotEqual, Target::Label(look));
            code.jump(mark, wait.gate);
        }
    }

    /// Emits the re-entry of a section.
    pub(super) fn reentry(&mut self, number: usize, section: Label) -> Label {
        let label = self.code.label();
        self.code.bind(label);
        self.save(number);
        let mark = self.mark(Position::Begin { done: number });
        self.code.jump(mark, Target::Label(section));
        label
    }

    /// Emits the gates.
    pub(super) fn gates(&mut self) {
        for gate in std::mem::take(&mut self.gates) {
            let mark = self.mark(gate.position);
            let through = Mark {
                leave: gate.leave,
                ..mark
            };
            let resume = self.code.label();
            self.code.bind(gate.label);
            self.code.address_of(mark, resume);
            self.code.jump(mark, Target::Address(self.region.gate));
            self.code.bind(resume);
            for lock in &gate.held {
                self.code.store_constant(through, 0, *lock);
            }
            self.code.jump(through, Target::Label(self.pops));
        }
    }

    /// Emits the ways on of threads that are not armed: out, or to the gate.
    pub(super) fn mute_tests(&mut self) {
        for (label, done) in std::mem::take(&mut self.mute_tests) {
            let mark = Mark {
                frame: Frame {
                    pushed: 2,
                    flags: FlagsAt::Slot,
                },
                position: Position::Begin { done },
                leave: Leave::Not,
            };
            let resume = self.code.label();
            self.code.bind(label);
            self.compare_armed(mark, MUTED);
            let out = Target::Label(self.out);
            self.code.jump_if(mark, If::Equal, out);
            self.code.address_of(mark, resume);
            self.code.jump(mark, Target::Address(self.region.gate));
            self.code.bind(resume);
            self.code.jump(mark, out);
        }
    }
}
