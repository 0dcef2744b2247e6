//! The order in which the operations of a section are emitted.
//!
//! The operations that few steps run come later, so the operation after another one may be
//! elsewhere, and a branch may be inverted.

use super::apart::Rest;
use super::assembler::Label;
use super::operations::{SectionEmitter, jump_of};
use super::{EmitError, Emitter, Section, malformed};
use crate::stub_map::{Mark, Position};
use juror_monitor::lowering::{Op, StepProgram};

impl Emitter {
    /// Emits the operations of a section that most steps run. The section ends at the label
    /// `end`, which is bound behind them.
    pub(super) fn section(
        &mut self,
        number: usize,
        section: &Section<'_>,
        end: Label,
    ) -> Result<(), EmitError> {
        let program = section.program;
        let (likely, ops) = parts(program);
        let mut emission = SectionEmitter::new(self, number, section, end);
        emission.begin();
        let labels = emission.ops(program, &likely, Then::End)?;
        self.rests.push(Rest {
            number,
            labels,
            end,
            ops,
        });
        Ok(())
    }
}

/// Returns the positions of the operations that most steps run, among them the first, and
/// those of the others.
fn parts(program: &StepProgram) -> (Vec<usize>, Vec<usize>) {
    let is_likely = |position: &usize| {
        let unlikely = |range: &std::ops::Range<u32>| {
            u32::try_from(*position).is_ok_and(|position| range.contains(&position))
        };
        *position == 0 || !program.unlikely.iter().any(unlikely)
    };
    (0..program.ops.len()).partition(is_likely)
}

/// What is emitted behind a list of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// The end of the section.
    End,
    /// Something else.
    Other,
}

impl SectionEmitter<'_, '_> {
    /// Emits operations in this order; returns the labels of all operations.
    pub(super) fn ops(
        mut self,
        program: &StepProgram,
        order: &[usize],
        then: Then,
    ) -> Result<Vec<Label>, EmitError> {
        for (at, position) in order.iter().enumerate() {
            let next = order.get(at + 1).copied();
            let wrong = malformed(self.number, *position);
            let op = program.ops.get(*position).ok_or(wrong)?;
            if next.is_none() && then == Then::End && matches!(op, Op::End(_)) {
                self.begin_op(*position).ok_or(wrong)?;
                continue;
            }
            self.op_before(*position, op, next).ok_or(wrong)?;
        }
        Ok(self.labels)
    }

    /// Emits an operation, and `next` comes after it.
    fn op_before(&mut self, position: usize, op: &Op, next: Option<usize>) -> Option<()> {
        self.begin_op(position)?;
        let behind = position + 1;
        let target = op.target().and_then(|target| usize::try_from(target).ok());
        match *op {
            Op::Jump { .. } if target == next => return Some(()),
            Op::Branch {
                condition,
                left,
                right,
                ..
            } => {
                let jump = jump_of(condition);
                self.compare(condition, left, right)?;
                let inverts = target == next && next != Some(behind);
                let (jump, to) = if inverts {
                    (jump.inverted(), behind)
                } else {
                    (jump, target?)
                };
                let (mark, to) = (self.mark(), self.label_of(to)?);
                self.emitter.code.jump_if(mark, jump, to);
                if inverts {
                    return Some(());
                }
            }
            _ => self.op(op)?,
        }
        if !op.is_last() && next != Some(behind) {
            let mark = self.mark_of(behind);
            let behind = self.label_of(behind)?;
            self.emitter.code.jump(mark, behind);
        }
        Some(())
    }

    /// Returns the mark of an instruction before an operation.
    fn mark_of(&self, op: usize) -> Mark {
        let section = self.number;
        self.emitter.mark(Position::Step { section, op })
    }
}
