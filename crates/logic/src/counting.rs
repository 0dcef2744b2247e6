//! Normal form of counted repetitions.
//!
//! `a a`, `a{1} a` and `a{2}` match the same; so do `(a{1,2}){2,3}` and `a{2,6}`. With
//! one form they are one expression, and the derivatives of nested counts do not
//! multiply.

use crate::LogicError;
use crate::expression::{ANY, EMPTY, EVERYTHING, Expression, ExpressionId, Expressions, NOTHING};
use crate::inclusion::Count;

/// Exactly once.
const ONCE: Count = (1, Some(1));

impl Expressions {
    /// Returns an expression as a repetition of a base expression.
    pub fn power(&self, expression: ExpressionId) -> (ExpressionId, Count) {
        match self.expression(expression) {
            Expression::Repeat {
                expression,
                from,
                to,
            } => (*expression, (*from, *to)),
            _ if expression == EVERYTHING => (ANY, (0, None)),
            _ => (expression, ONCE),
        }
    }

    /// Concatenates two repetitions of the same base; `None` if the bases differ.
    pub fn one_after_the_other(
        &mut self,
        first: ExpressionId,
        second: ExpressionId,
    ) -> Result<Option<ExpressionId>, LogicError> {
        let (base, count) = self.power(first);
        let (other, more) = self.power(second);
        if base != other {
            return Ok(None);
        }
        let to = match (count.1, more.1) {
            (Some(to), Some(more)) => to.checked_add(more).map(Some),
            _ => Some(None),
        };
        match (count.0.checked_add(more.0), to) {
            (Some(from), Some(to)) => self.repeat(base, from, to).map(Some),
            _ => Ok(None),
        }
    }

    /// Merges the parts of a choice that repeat the same base, if their counts leave no
    /// gap.
    pub fn join_counts(&mut self, parts: &mut Vec<ExpressionId>) -> Result<(), LogicError> {
        let mut place = 0;
        while let Some(part) = parts.get(place).copied() {
            let (base, count) = self.power(part);
            let touching = (place + 1..parts.len()).find(|other| {
                let (other, more) = self.power(parts[*other]);
                base == other && (touches(count, more) && touches(more, count))
            });
            let Some(other) = touching else {
                place += 1;
                continue;
            };
            let (_, more) = self.power(parts[other]);
            let to = count.1.and_then(|to| more.1.map(|more| to.max(more)));
            let joined = self.repeat(base, count.0.min(more.0), to)?;
            parts.remove(other);
            parts[place] = joined;
        }
        parts.sort_unstable();
        parts.dedup();
        Ok(())
    }

    /// Repeats an expression.
    pub fn repeat(
        &mut self,
        expression: ExpressionId,
        from: u32,
        to: Option<u32>,
    ) -> Result<ExpressionId, LogicError> {
        if to.is_some_and(|to| to < from) {
            return Ok(NOTHING);
        }
        if to == Some(0) {
            return Ok(EMPTY);
        }
        let (mut expression, mut from) = (expression, from);
        if self.nullable(expression) {
            // The empty word replaces any number of repetitions.
            from = 0;
            if let Expression::Choice(parts) = self.expression(expression)
                && parts.contains(&EMPTY)
            {
                let others: Vec<ExpressionId> = parts
                    .iter()
                    .copied()
                    .filter(|part| *part != EMPTY)
                    .collect();
                expression = self.choice(&others)?;
            }
        }
        match self.expression(expression) {
            Expression::Nothing if from == 0 => return Ok(EMPTY),
            Expression::Nothing => return Ok(NOTHING),
            Expression::Empty => return Ok(EMPTY),
            _ if expression == ANY && (from, to) == (0, None) => return Ok(EVERYTHING),
            _ if expression == EVERYTHING || (from, to) == ONCE => return Ok(expression),
            Expression::Repeat {
                expression: inner,
                from: least,
                to: most,
            } => {
                if let Some((from, to)) = product((*least, *most), (from, to)) {
                    let inner = *inner;
                    return self.repeat(inner, from, to);
                }
            }
            _ => {}
        }
        self.intern(Expression::Repeat {
            expression,
            from,
            to,
        })
    }
}

/// Returns whether there is no gap between the end of one count and the start of the
/// other.
fn touches(one: Count, other: Count) -> bool {
    one.1.is_none_or(|to| other.0 <= to.saturating_add(1))
}

/// Returns the count of a nested repetition; `None` if the possible numbers of inner
/// repetitions have gaps.
fn product(inner: Count, outer: Count) -> Option<Count> {
    let (least, most) = inner;
    let (from, to) = outer;
    // One more outer repetition starts where the previous ones end.
    let begins = u64::from(least) * (u64::from(from) + 1);
    let ends = match (most, from) {
        (Some(most), _) => u64::from(most) * u64::from(from),
        (None, 0) => 0,
        (None, _) => u64::MAX - 1,
    };
    if Some(from) != to && begins > ends + 1 {
        return None;
    }
    let to = match (most, to) {
        (Some(most), Some(to)) => Some(most.checked_mul(to)?),
        _ => None,
    };
    Some((least.checked_mul(from)?, to))
}
