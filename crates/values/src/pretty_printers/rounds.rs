//! The loops of a view, and how a walk goes on in the middle of one.

use super::evaluate::{Halt, Run};
use super::rule::Statement;
use super::seek::Wanted;
use super::walks::Place;
use crate::typed::Typed;
use juror_language::Expression;

impl Run<'_> {
    /// Goes on from a place that an earlier walk has kept.
    pub(super) fn resume(&mut self, body: &[Statement], place: &Place) -> Result<(), Halt> {
        self.passed = place.passed;
        self.frame.variables.clone_from(&place.variables);
        self.frame.names.clone_from(&place.names);
        // The blocks around the loop, the innermost last.
        let mut blocks = Vec::new();
        let mut statements = body;
        let mut left = place.at.iter().copied();
        let done = loop {
            let (Some(number), depth) = (left.next(), self.at.len()) else {
                return Err(Halt::Failed);
            };
            blocks.push((statements, number, depth));
            self.at.push(number);
            match (statements.get(number), place.round) {
                (Some(Statement::If(_, then, otherwise)), _) => {
                    let chosen = left.next().ok_or(Halt::Failed)?;
                    self.at.push(chosen);
                    statements = if chosen == 1 { then } else { otherwise };
                }
                (Some(Statement::While(condition, body)), None) => {
                    break self.rounds(condition, body);
                }
                (Some(Statement::For(name, _, _, body)), Some(round)) => {
                    break self.numbered_rounds(name, round, body);
                }
                _ => return Err(Halt::Failed),
            }
        };
        done?;
        for (statements, number, depth) in blocks.into_iter().rev() {
            self.at.truncate(depth);
            self.block_from(statements, number + 1)?;
        }
        Ok(())
    }

    /// Keeps the state at the beginning of a round of the outermost loop, once in a while.
    fn keep_place(&mut self, round: Option<(i128, i128)>) {
        let passed = self.passed + self.elements.len() + self.entries.len();
        if self.loops > 1 {
            return;
        }
        if let Some(trail) = self.trail.as_mut().filter(|it| it.wants(passed)) {
            trail.push(Place {
                passed,
                at: self.at.clone(),
                round,
                variables: self.frame.variables.clone(),
                names: self.frame.names.clone(),
            });
        }
    }

    /// Executes a loop as long as its condition is true. One that comes back to a former state never
    /// ends: the value is damaged.
    pub(super) fn rounds(
        &mut self,
        condition: &Expression,
        body: &[Statement],
    ) -> Result<(), Halt> {
        self.loops += 1;
        let (mut former, mut number, mut next) = (None, 0_u64, 64_u64);
        while self.is_true(condition)? {
            self.step()?;
            self.keep_place(None);
            number += 1;
            if former.as_ref() == Some(&self.frame.variables) {
                return Err(Halt::Failed);
            }
            if number == next {
                next = next.saturating_mul(2);
                former = Some(self.frame.variables.clone());
            }
            self.block(body)?;
        }
        self.loops -= 1;
        Ok(())
    }

    pub(super) fn numbered_rounds(
        &mut self,
        name: &str,
        (first, end): (i128, i128),
        body: &[Statement],
    ) -> Result<(), Halt> {
        self.loops += 1;
        for number in first..end {
            self.step()?;
            self.keep_place(Some((number, end)));
            let number = Typed::of_integer(number).ok_or(Halt::Failed)?;
            self.frame.variables.insert(name.into(), number);
            self.block(body)?;
        }
        self.loops -= 1;
        Ok(())
    }

    /// Returns whether the next element or entry is before the wanted ones: it is not read then.
    pub(super) fn skips(&self) -> bool {
        matches!(self.wanted, Wanted::Elements(start, _) if self.passed < start)
    }
}
