//! The interpreter of steps, one operation at a time.

use super::{
    Alu, Base, Checked, Condition, EndKind, HeaderWord, JournalWord, Layout, Op, Operand, Phase,
    Register, Source, StepProgram, StripeWord, Why, WordMemory,
};
use crate::hashing;

/// The values of an occurrence.
pub trait EventWordsSource {
    /// Returns a value as a word; `None` if it cannot be read, or is no word of its
    /// kind.
    fn word(&self, source: Source) -> Option<u64>;
}

/// A thread in a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// The position of the next operation.
    pub position: u32,
    /// The registers.
    pub registers: [u64; Register::COUNT as usize],
    /// The byte offsets of the bases, in the order of [`Base`].
    pub bases: [u64; 5],
}

/// What an operation led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The next operation is to be run.
    Goes,
    /// The lock is held by another thread: the operation is to be run again.
    Waits,
    /// The step has ended.
    Ends(EndKind),
    /// The step has ended without effect; its locks are released, and the event is to be
    /// taken by a general step.
    Gates(Why),
}

impl Running {
    /// Begins a step of the thread with this journal.
    pub fn new(layout: &Layout, journal: u32) -> Running {
        Running {
            position: 0,
            registers: [0; Register::COUNT as usize],
            bases: [0, layout.journal(journal), 0, 0, 0],
        }
    }

    fn register(&self, register: Register) -> u64 {
        let word = self.registers.get(usize::from(register.0));
        word.copied().unwrap_or(0)
    }

    fn set(&mut self, register: Register, word: u64) {
        if let Some(place) = self.registers.get_mut(usize::from(register.0)) {
            *place = word;
        }
    }

    fn operand(&self, operand: Operand) -> u64 {
        match operand {
            Operand::Register(register) => self.register(register),
            Operand::Constant(number) => i64::from(number) as u64,
        }
    }

    fn base(&self, base: Base) -> u64 {
        self.bases.get(base as usize).copied().unwrap_or(0)
    }

    fn at(&self, base: Base, offset: u32, index: Option<Register>) -> u64 {
        let index = index.map_or(0, |index| self.register(index).wrapping_mul(8));
        let at = self.base(base).wrapping_add(offset.into());
        at.wrapping_add(index)
    }

    /// Runs one operation.
    pub fn advance(
        &mut self,
        program: &StepProgram,
        memory: &mut impl WordMemory,
        event: &impl EventWordsSource,
    ) -> Progress {
        let Some(op) = program.ops.get(self.position as usize) else {
            return self.gate(memory, Why::Event);
        };
        self.position += 1;
        match *op {
            Op::Capture { to, source } => match event.word(source) {
                Some(word) => self.set(to, word),
                None => return self.gate(memory, Why::Capture),
            },
            Op::Checked {
                operation,
                to,
                right,
            } => match checked(operation, self.register(to), self.operand(right)) {
                Some(word) => self.set(to, word),
                None => return self.gate(memory, Why::Value),
            },
            Op::Lock { base, offset } => {
                let owner = self.base(Base::Journal);
                if !memory.cas(self.at(base, offset, None), 0, owner) {
                    self.position -= 1;
                    return Progress::Waits;
                }
            }
            Op::Commit(journaled) => {
                let committed = JournalWord::Committed.offset();
                let at = self.at(Base::Journal, committed, None);
                memory.store(at, journaled.word());
            }
            Op::Done => {
                let committed = JournalWord::Committed.offset();
                memory.store(self.at(Base::Journal, committed, None), 0);
            }
            Op::End(kind) => return Progress::Ends(kind),
            Op::Gate(why) => return self.gate(memory, why),
            _ => self.simple(*op, memory),
        }
        Progress::Goes
    }

    /// Runs an operation that always goes on.
    fn simple(&mut self, op: Op, memory: &mut impl WordMemory) {
        match op {
            Op::Set { to, word } => self.set(to, word),
            Op::Load {
                to,
                base,
                offset,
                index,
            } => self.set(to, memory.load(self.at(base, offset, index))),
            Op::Store {
                from,
                base,
                offset,
                index,
            } => memory.store(self.at(base, offset, index), self.operand(from)),
            Op::Xadd {
                to,
                base,
                offset,
                add,
            } => {
                let before = memory.xadd(self.at(base, offset, None), add as u64);
                self.set(to, before);
            }
            Op::Alu {
                operation,
                to,
                right,
            } => self.set(to, alu(operation, self.register(to), self.operand(right))),
            Op::Hash { to, word } => {
                self.set(to, hashing::mix(self.register(to), self.register(word)));
            }
            Op::Point { base, at } => {
                let at = self.register(at);
                if let Some(place) = self.bases.get_mut(base as usize) {
                    *place = at;
                }
            }
            Op::Branch {
                condition,
                left,
                right,
                target,
            } => {
                if holds(condition, self.register(left), self.operand(right)) {
                    self.position = target;
                }
            }
            Op::Jump { target } | Op::Again { target } => self.position = target,
            Op::Unlock { base, offset } => memory.store(self.at(base, offset, None), 0),
            Op::Capture { .. }
            | Op::Checked { .. }
            | Op::Lock { .. }
            | Op::Commit(_)
            | Op::Done
            | Op::End(_)
            | Op::Gate(_) => {}
        }
    }

    fn gate(&self, memory: &mut impl WordMemory, why: Why) -> Progress {
        self.release(memory);
        Progress::Gates(why)
    }

    /// Releases the locks that the thread holds.
    fn release(&self, memory: &mut impl WordMemory) {
        let owner = self.base(Base::Journal);
        let stripe = StripeWord::Lock.offset();
        memory.cas(self.at(Base::Stripe, stripe, None), owner, 0);
        memory.cas(HeaderWord::Lock.offset().into(), owner, 0);
    }

    /// Leads the thread out of the step without running it on: before the commit the
    /// step never happened, after it the rest is done here. Returns the end of the step,
    /// or `None` if it never happened.
    pub fn lead_out(
        &mut self,
        program: &StepProgram,
        phase: Phase,
        memory: &mut impl WordMemory,
    ) -> Option<EndKind> {
        if phase < Phase::Committed {
            self.release(memory);
            return None;
        }
        loop {
            match self.advance(program, memory, &Nothing) {
                Progress::Goes => {}
                Progress::Ends(kind) => return Some(kind),
                // Not after the commit.
                Progress::Waits | Progress::Gates(_) => return None,
            }
        }
    }
}

/// An occurrence without values.
struct Nothing;

impl EventWordsSource for Nothing {
    fn word(&self, _: Source) -> Option<u64> {
        None
    }
}

fn alu(operation: Alu, left: u64, right: u64) -> u64 {
    match operation {
        Alu::Move => right,
        Alu::Add => left.wrapping_add(right),
        Alu::Subtract => left.wrapping_sub(right),
        Alu::And => left & right,
        Alu::Or => left | right,
        Alu::Xor => left ^ right,
        Alu::ShiftLeft => left.wrapping_shl(right as u32),
        Alu::ShiftRight => left.wrapping_shr(right as u32),
    }
}

fn checked(operation: Checked, left: u64, right: u64) -> Option<u64> {
    let (left, right) = (left as i64, right as i64);
    let result = match operation {
        Checked::Add => left.checked_add(right),
        Checked::Subtract => left.checked_sub(right),
        Checked::Multiply => left.checked_mul(right),
        Checked::Divide => left.checked_div(right),
        Checked::Remainder => left.checked_rem(right),
    };
    result.map(|result| result as u64)
}

fn holds(condition: Condition, left: u64, right: u64) -> bool {
    let (signed_left, signed_right) = (left as i64, right as i64);
    match condition {
        Condition::Equal => left == right,
        Condition::NotEqual => left != right,
        Condition::Less => signed_left < signed_right,
        Condition::LessEqual => signed_left <= signed_right,
        Condition::Greater => signed_left > signed_right,
        Condition::GreaterEqual => signed_left >= signed_right,
        Condition::Below => left < right,
        Condition::BelowEqual => left <= right,
        Condition::Above => left > right,
        Condition::AboveEqual => left >= right,
        Condition::AnySet => left & right != 0,
        Condition::NoneSet => left & right == 0,
    }
}
