//! Templates: the machine code of each operation.
//!
//! **Invariant**: between two instructions of a template the operation has either
//! had no effect but on its result register and scratch registers, so that it can
//! be run again, or has had all of it.

use super::apart::{Gate, Wait};
use super::assembler::{Binary, If, Label, Memory, Physical, RAX, RDX, Target};
use super::held_locks::Locks;
use super::registers::{base_register, virtual_register};
use super::{Action, Emitter, Section};
use crate::stub_map::{Leave, Mark, Position};
use juror_monitor::lowering::{
    Alu, Base, Condition, EventWords, JournalWord, Op, Operand, Register, Why,
};

/// The opcodes of `cmpxchg` and `xadd`.
const COMPARE_EXCHANGE: u8 = 0xb1;
const EXCHANGE_ADD: u8 = 0xc1;

/// Emits the operations of one section. Methods return none for an operation that
/// breaks a rule.
pub(super) struct SectionEmitter<'e, 's> {
    pub(super) emitter: &'e mut Emitter,
    pub(super) words: &'s EventWords,
    pub(super) action: Action,
    pub(super) number: usize,
    table: u64,
    journal: u32,
    /// By operation: its place.
    pub(super) labels: Vec<Label>,
    pub(super) end: Label,
    /// The operation that is emitted now, and its locks.
    op: usize,
    held: Locks,
}

impl<'e, 's> SectionEmitter<'e, 's> {
    pub(super) fn new(
        emitter: &'e mut Emitter,
        number: usize,
        section: &Section<'s>,
        end: Label,
    ) -> Self {
        let labels = section.program.ops.iter();
        let labels = labels.map(|_| emitter.code.label()).collect();
        Self::with_labels(emitter, number, section, end, labels)
    }

    /// Emits more operations of a section, whose labels exist.
    pub(super) fn with_labels(
        emitter: &'e mut Emitter,
        number: usize,
        section: &Section<'s>,
        end: Label,
        labels: Vec<Label>,
    ) -> Self {
        Self {
            emitter,
            words: section.words,
            action: section.action,
            number,
            table: section.table,
            journal: section.journal,
            labels,
            end,
            op: 0,
            held: Locks::new(),
        }
    }

    /// Loads the addresses of the table and of the thread's journal.
    pub(super) fn begin(&mut self) {
        let mark = self.mark();
        let table = base_register(Base::Table);
        self.emitter.code.set(mark, table, self.table);
        let to = base_register(Base::Journal);
        self.emitter.code.load_thread(mark, to, self.journal);
    }

    /// Begins an operation, with the locks that are held before it.
    pub(super) fn begin_op(&mut self, at: usize) -> Option<()> {
        let section = self.emitter.sections.get(self.number)?;
        self.held.clone_from(section.held.get(at)?);
        self.op = at;
        self.emitter.code.bind(*self.labels.get(at)?);
        Some(())
    }

    /// Emits an operation that has begun, other than a branch.
    pub(super) fn op(&mut self, op: &Op) -> Option<()> {
        match *op {
            Op::Capture { to, source } => self.capture(virtual_register(to)?, source),
            Op::Set { to, word } => {
                let mark = self.mark();
                self.emitter.code.set(mark, virtual_register(to)?, word);
                Some(())
            }
            Op::Load {
                to,
                base,
                offset,
                index,
            } => {
                let (mark, from) = (self.mark(), memory(base, offset, index)?);
                self.emitter.code.load(mark, virtual_register(to)?, from);
                Some(())
            }
            Op::Store {
                from,
                base,
                offset,
                index,
            } => self.store(from, memory(base, offset, index)?),
            Op::Xadd {
                to,
                base,
                offset,
                add,
            } => {
                let (mark, to) = (self.mark(), virtual_register(to)?);
                let place = memory(base, offset, None)?;
                self.emitter.code.set(mark, to, add as u64);
                self.emitter.code.atomic(mark, EXCHANGE_ADD, to, place);
                Some(())
            }
            Op::Alu {
                operation,
                to,
                right,
            } => self.alu(operation, to, right),
            Op::Checked {
                operation,
                to,
                right,
            } => self.checked(operation, to, right),
            Op::Hash { to, word } => self.hash(virtual_register(to)?, virtual_register(word)?),
            Op::Point { base, at } => {
                let (mark, table) = (self.mark(), base_register(Base::Table));
                let (to, at) = (base_register(base), virtual_register(at)?);
                self.emitter.code.sum(mark, to, table, at);
                Some(())
            }
            Op::Branch { .. } => None,
            Op::Jump { target } | Op::Again { target } => {
                let (mark, target) = (self.mark(), usize::try_from(target).ok()?);
                let target = self.label_of(target)?;
                self.emitter.code.jump(mark, target);
                Some(())
            }
            Op::Lock { base, offset } => self.lock(memory(base, offset, None)?),
            Op::Unlock { base, offset } => self.store_constant(0, memory(base, offset, None)?),
            Op::Commit(journaled) => self.committed(journaled.word()),
            Op::Done => self.committed(0),
            Op::End(_) => {
                let (mark, end) = (self.mark(), Target::Label(self.end));
                self.emitter.code.jump(mark, end);
                Some(())
            }
            Op::Gate(why) => {
                let (mark, gate) = (self.mark(), self.gate(why));
                self.emitter.code.jump(mark, gate);
                Some(())
            }
        }
    }

    /// Returns the mark of an instruction of the current operation.
    pub(super) fn mark(&self) -> Mark {
        self.emitter.mark(Position::Step {
            section: self.number,
            op: self.op,
        })
    }

    /// Returns the gate of the current operation for a reason.
    pub(super) fn gate(&mut self, why: Why) -> Target {
        self.leave(Leave::Gate(why))
    }

    /// Returns the gate of the current operation for any reason.
    pub(super) fn leave(&mut self, leave: Leave) -> Target {
        let held: Vec<Memory> = self
            .held
            .iter()
            .filter_map(|(base, offset)| memory(*base, *offset, None))
            .collect();
        let number = self.number;
        let is_same = |gate: &&Gate| {
            let section = match gate.position {
                Position::Step { section, .. } => Some(section),
                _ => None,
            };
            section == Some(number) && gate.leave == leave && gate.held == held
        };
        let known = self.emitter.gates.iter().find(is_same);
        if let Some(gate) = known {
            return Target::Label(gate.label);
        }
        let label = self.emitter.code.label();
        self.emitter.gates.push(Gate {
            label,
            position: Position::Step {
                section: self.number,
                op: self.op,
            },
            leave,
            held,
        });
        Target::Label(label)
    }

    /// Returns the place of an operation.
    pub(super) fn label_of(&self, position: usize) -> Option<Target> {
        Some(Target::Label(*self.labels.get(position)?))
    }

    fn committed(&mut self, word: u64) -> Option<()> {
        let place = memory(Base::Journal, JournalWord::Committed.offset(), None)?;
        self.store_constant(i32::try_from(word).ok()?, place)
    }

    fn store_constant(&mut self, constant: i32, place: Memory) -> Option<()> {
        let mark = self.mark();
        self.emitter.code.store_constant(mark, constant, place);
        Some(())
    }

    fn store(&mut self, from: Operand, place: Memory) -> Option<()> {
        match from {
            Operand::Register(from) => {
                let mark = self.mark();
                self.emitter
                    .code
                    .store(mark, virtual_register(from)?, place);
                Some(())
            }
            Operand::Constant(constant) => self.store_constant(constant, place),
        }
    }

    fn alu(&mut self, operation: Alu, to: Register, right: Operand) -> Option<()> {
        let (mark, to) = (self.mark(), virtual_register(to)?);
        let binary = match operation {
            Alu::Move => {
                match right {
                    Operand::Register(right) => {
                        self.emitter.code.copy(mark, to, virtual_register(right)?);
                    }
                    Operand::Constant(word) => {
                        self.emitter.code.set(mark, to, i64::from(word) as u64);
                    }
                }
                return Some(());
            }
            Alu::ShiftLeft | Alu::ShiftRight => {
                let Operand::Constant(count @ 0..64) = right else {
                    return None;
                };
                let is_left = operation == Alu::ShiftLeft;
                self.emitter.code.shift(mark, is_left, to, count as u8);
                return Some(());
            }
            Alu::Add => Binary::Add,
            Alu::Subtract => Binary::Subtract,
            Alu::And => Binary::And,
            Alu::Or => Binary::Or,
            Alu::Xor => Binary::Xor,
        };
        self.binary(binary, to, right)
    }

    pub(super) fn binary(&mut self, operation: Binary, to: Physical, right: Operand) -> Option<()> {
        let mark = self.mark();
        let code = &mut self.emitter.code;
        match right {
            Operand::Register(right) => code.binary(mark, operation, to, virtual_register(right)?),
            Operand::Constant(right) => code.binary_constant(mark, operation, to, right),
        }
        Some(())
    }

    /// Emits the comparison of a branch.
    pub(super) fn compare(
        &mut self,
        condition: Condition,
        left: Register,
        right: Operand,
    ) -> Option<()> {
        let (mark, left) = (self.mark(), virtual_register(left)?);
        let is_test = matches!(condition, Condition::AnySet | Condition::NoneSet);
        match right {
            Operand::Register(right) if is_test => {
                self.emitter.code.test(mark, left, virtual_register(right)?);
            }
            Operand::Constant(right) if is_test => {
                self.emitter.code.test_constant(mark, left, right);
            }
            _ => self.binary(Binary::Compare, left, right)?,
        }
        Some(())
    }

    /// Takes a lock, whose word becomes the offset of the journal.
    fn lock(&mut self, place: Memory) -> Option<()> {
        let (mark, gate) = (self.mark(), self.gate(Why::Busy));
        let code = &mut self.emitter.code;
        let (again, label) = (code.label(), code.label());
        code.bind(again);
        code.copy(mark, RDX, base_register(Base::Journal));
        code.binary(mark, Binary::Subtract, RDX, base_register(Base::Table));
        code.set(mark, RAX, 0);
        code.atomic(mark, COMPARE_EXCHANGE, RDX, place);
        code.jump_if(mark, If::NotEqual, Target::Label(label));
        self.emitter.waits.push(Wait {
            mark,
            place,
            label,
            again,
            gate,
        });
        Some(())
    }
}

/// Returns the memory operand of an operation; none if the offset has more than 31
/// bits.
pub(super) fn memory(base: Base, offset: u32, index: Option<Register>) -> Option<Memory> {
    let index = match index {
        Some(register) => Some(virtual_register(register)?),
        None => None,
    };
    Some(Memory {
        base: base_register(base),
        offset: i32::try_from(offset).ok()?,
        index,
    })
}

/// Returns the jump for a condition after the comparison or the test.
pub(super) fn jump_of(condition: Condition) -> If {
    match condition {
        Condition::Equal | Condition::NoneSet => If::Equal,
        Condition::NotEqual | Condition::AnySet => If::NotEqual,
        Condition::Less => If::Less,
        Condition::LessEqual => If::LessEqual,
        Condition::Greater => If::Greater,
        Condition::GreaterEqual => If::GreaterEqual,
        Condition::Below => If::Below,
        Condition::BelowEqual => If::BelowEqual,
        Condition::Above => If::Above,
        Condition::AboveEqual => If::AboveEqual,
    }
}
