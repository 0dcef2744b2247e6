//! A list of operations with labels in place of positions.

use crate::lowering::{
    Alu, Base, Checked, Condition, JournalWord, Layout, Op, Operand, Register, SlotWord, Why,
};

use std::ops::Range;

/// A place in the list, which may not be known yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label(usize);

/// The registers by number.
pub(super) const R: [Register; Register::COUNT as usize] = [
    Register(0),
    Register(1),
    Register(2),
    Register(3),
    Register(4),
    Register(5),
];

/// A list of operations that is being written.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    ops: Vec<Op>,
    /// By label: its position.
    labels: Vec<Option<u32>>,
    /// The operations that go to a label.
    uses: Vec<(usize, Label)>,
    /// The gates behind the list: the reason, whether a lock is held, and the label.
    gates: Vec<(Why, bool, Label)>,
    /// True behind the first lock.
    is_locked: bool,
    /// The ranges of operations that few steps run.
    unlikely: Vec<Range<u32>>,
}

/// A length of the list to which it can be cut.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    ops: usize,
    labels: usize,
    uses: usize,
    gates: usize,
}

impl Assembler {
    /// Returns the present length.
    pub(super) fn mark(&self) -> Mark {
        Mark {
            ops: self.ops.len(),
            labels: self.labels.len(),
            uses: self.uses.len(),
            gates: self.gates.len(),
        }
    }

    /// Removes what was written since the mark.
    pub(super) fn reset(&mut self, mark: Mark) {
        self.ops.truncate(mark.ops);
        self.labels.truncate(mark.labels);
        self.uses.truncate(mark.uses);
        self.gates.truncate(mark.gates);
        self.unlikely.retain(|range| range.end as usize <= mark.ops);
    }

    /// Returns a new label.
    pub(super) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Places a label before the next operation.
    pub(super) fn bind(&mut self, label: Label) {
        let here = u32::try_from(self.ops.len()).ok();
        if let Some(position) = self.labels.get_mut(label.0) {
            *position = here;
        }
    }

    /// Declares the operations since `start` as ones that few steps run.
    pub(super) fn unlikely_since(&mut self, start: Mark) {
        let position = |ops: usize| u32::try_from(ops).unwrap_or(u32::MAX);
        let range = position(start.ops)..position(self.ops.len());
        // An inner range ends before the one that contains it.
        self.unlikely.retain(|inner| inner.start < range.start);
        if !range.is_empty() {
            self.unlikely.push(range);
        }
    }

    pub(super) fn push(&mut self, op: Op) {
        self.is_locked |= matches!(op, Op::Lock { .. });
        self.ops.push(op);
    }

    fn push_to(&mut self, op: Op, label: Label) {
        self.uses.push((self.ops.len(), label));
        self.push(op);
    }

    pub(super) fn jump(&mut self, label: Label) {
        self.push_to(Op::Jump { target: 0 }, label);
    }

    pub(super) fn again(&mut self, label: Label) {
        self.push_to(Op::Again { target: 0 }, label);
    }

    pub(super) fn branch(
        &mut self,
        condition: Condition,
        left: Register,
        right: impl Into<Operand>,
        label: Label,
    ) {
        let right = right.into();
        let op = Op::Branch {
            condition,
            left,
            right,
            target: 0,
        };
        self.push_to(op, label);
    }

    /// Goes to a gate if the condition holds.
    pub(super) fn gate_if(
        &mut self,
        condition: Condition,
        left: Register,
        right: impl Into<Operand>,
        why: Why,
    ) {
        let is_locked = self.is_locked;
        let mut gates = self.gates.iter();
        let known = gates.find(|(other, locked, _)| (*other, *locked) == (why, is_locked));
        let label = match known {
            Some((_, _, label)) => *label,
            None => {
                let label = self.label();
                self.gates.push((why, is_locked, label));
                label
            }
        };
        self.branch(condition, left, right, label);
    }

    pub(super) fn set(&mut self, to: Register, word: u64) {
        self.push(Op::Set { to, word });
    }

    pub(super) fn alu(&mut self, operation: Alu, to: Register, right: impl Into<Operand>) {
        let right = right.into();
        self.push(Op::Alu {
            operation,
            to,
            right,
        });
    }

    pub(super) fn checked(&mut self, operation: Checked, to: Register, right: Register) {
        let right = right.into();
        self.push(Op::Checked {
            operation,
            to,
            right,
        });
    }

    pub(super) fn load(&mut self, to: Register, base: Base, offset: u32) {
        self.load_at(to, base, offset, None);
    }

    pub(super) fn load_at(
        &mut self,
        to: Register,
        base: Base,
        offset: u32,
        index: Option<Register>,
    ) {
        self.push(Op::Load {
            to,
            base,
            offset,
            index,
        });
    }

    pub(super) fn store(&mut self, from: impl Into<Operand>, base: Base, offset: u32) {
        self.store_at(from, base, offset, None);
    }

    pub(super) fn store_at(
        &mut self,
        from: impl Into<Operand>,
        base: Base,
        offset: u32,
        index: Option<Register>,
    ) {
        let from = from.into();
        self.push(Op::Store {
            from,
            base,
            offset,
            index,
        });
    }

    pub(super) fn load_slot(&mut self, to: Register, word: SlotWord) {
        self.load(to, Base::Slot, word.offset());
    }

    pub(super) fn load_journal(&mut self, to: Register, word: JournalWord) {
        self.load(to, Base::Journal, word.offset());
    }

    pub(super) fn store_journal(&mut self, from: impl Into<Operand>, word: JournalWord) {
        self.store(from, Base::Journal, word.offset());
    }

    /// Adds a number to a word of the table that only the owner of a lock writes; leaves
    /// the sum in `scratch`.
    pub(super) fn add_at(
        &mut self,
        (base, offset, index): (Base, u32, Option<Register>),
        number: i32,
        scratch: Register,
    ) {
        self.load_at(scratch, base, offset, index);
        self.alu(Alu::Add, scratch, number);
        self.store_at(scratch, base, offset, index);
    }

    /// Goes to `label` if one bit of the word is set; `scratch` is another register.
    pub(super) fn branch_bit(&mut self, word: Register, bit: u32, scratch: Register, label: Label) {
        let right = self.bit(bit, scratch);
        self.branch(Condition::AnySet, word, right, label);
    }

    /// Goes to a gate if one bit of the word is set.
    pub(super) fn gate_bit(&mut self, word: Register, bit: u32, scratch: Register, why: Why) {
        let right = self.bit(bit, scratch);
        self.gate_if(Condition::AnySet, word, right, why);
    }

    /// Returns an operand with one bit; `scratch` is set if it needs a register.
    fn bit(&mut self, bit: u32, scratch: Register) -> Operand {
        if bit < 31 {
            return Operand::Constant(1 << bit);
        }
        self.set(scratch, 1 << (bit & 63));
        Operand::Register(scratch)
    }

    /// Returns the operations, and the ranges of those that few steps run; `None` if a
    /// label was never placed.
    pub(super) fn finish(mut self) -> Option<(Vec<Op>, Vec<Range<u32>>)> {
        let gates = self.mark();
        for (why, _, label) in std::mem::take(&mut self.gates) {
            self.bind(label);
            self.push(Op::Gate(why));
        }
        self.unlikely_since(gates);
        for (position, label) in &self.uses {
            let place = self.labels.get(label.0).copied().flatten()?;
            match self.ops.get_mut(*position)? {
                Op::Branch { target, .. } | Op::Jump { target } | Op::Again { target } => {
                    *target = place;
                }
                _ => return None,
            }
        }
        Some((self.ops, self.unlikely))
    }
}

impl From<Register> for Operand {
    fn from(register: Register) -> Operand {
        Operand::Register(register)
    }
}

impl From<i32> for Operand {
    fn from(constant: i32) -> Operand {
        Operand::Constant(constant)
    }
}

/// Loads the byte offset of an element of an array of the table whose number is in the
/// register.
pub(super) fn element(code: &mut Assembler, register: Register, shift: u8, start: u32) {
    code.alu(Alu::ShiftLeft, register, i32::from(shift));
    // Offsets are below 2^31.
    code.alu(Alu::Add, register, start as i32);
}

/// Returns the offset of a word of a stripe's counts of states.
pub(super) fn stripe_state(layout: &Layout, state: Register) -> (Base, u32, Option<Register>) {
    (Base::Stripe, layout.stripe_states(), Some(state))
}
