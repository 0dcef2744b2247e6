//! Inclusion of expressions, as far as their form shows it.
//!
//! Derivatives of choices accumulate alternatives that others include: `a{0,3}` after one
//! letter contains `a{0,2}`, and so on. With these dropped, equal remainders become equal
//! expressions, as with the antichains of clauses for formulas ([`crate::clause`]).
//!
//! Invariant: the test is sound (a reported inclusion holds) but incomplete.

use crate::LogicError;
use crate::expression::{EMPTY, EVERYTHING, Expression, ExpressionId, Expressions, NOTHING};

/// Number of repetitions: minimum, and maximum (`None` if unbounded).
pub(crate) type Count = (u32, Option<u32>);

impl Expressions {
    /// Returns whether every word that `small` matches is matched by the other
    /// expression.
    pub fn includes(
        &mut self,
        large: ExpressionId,
        small: ExpressionId,
    ) -> Result<bool, LogicError> {
        if large == small || large == EVERYTHING || small == NOTHING {
            return Ok(true);
        }
        if small == EMPTY {
            return Ok(self.nullable(large));
        }
        if self.nullable(small) && !self.nullable(large) {
            return Ok(false);
        }
        if let Some(known) = self.inclusions.get(&(large, small)) {
            return Ok(*known);
        }
        self.work.spend(1)?;
        let includes = self.compare(large, small)?;
        self.inclusions.insert((large, small), includes);
        Ok(includes)
    }

    fn compare(&mut self, large: ExpressionId, small: ExpressionId) -> Result<bool, LogicError> {
        use Expression::{Both, Choice, Complement, Letter, Repeat, Sequence};
        let forms = (self.expression(large), self.expression(small));
        match forms {
            (Letter(large), Letter(small)) => {
                let asks_less = large.required & !small.required == 0;
                return Ok(asks_less && large.forbidden & !small.forbidden == 0);
            }
            (Complement(large), Complement(small)) => {
                let (large, small) = (*large, *small);
                return self.includes(small, large);
            }
            (_, Choice(parts)) => {
                let parts = parts.clone();
                return self.all(&parts, |all, part| all.includes(large, part));
            }
            (Both(parts), _) => {
                let parts = parts.clone();
                return self.all(&parts, |all, part| all.includes(part, small));
            }
            (Choice(parts), _) => {
                let parts = parts.clone();
                if self.any(&parts, |all, part| all.includes(part, small))? {
                    return Ok(true);
                }
            }
            (_, Both(parts)) => {
                let parts = parts.clone();
                if self.any(&parts, |all, part| all.includes(large, part))? {
                    return Ok(true);
                }
            }
            (Sequence(larger), Sequence(smaller)) => {
                let (larger, smaller) = (larger.clone(), smaller.clone());
                return self.includes_in_order(&larger, &smaller);
            }
            (Sequence(larger), _) => {
                let larger = larger.clone();
                return self.includes_in_order(&larger, &[small]);
            }
            _ => {}
        }
        match self.expression(large) {
            Repeat { .. } => self.includes_counted(large, small),
            _ => Ok(false),
        }
    }

    /// Returns whether a repetition includes an expression; an expression that is not a
    /// repetition counts as repeated once.
    fn includes_counted(
        &mut self,
        large: ExpressionId,
        small: ExpressionId,
    ) -> Result<bool, LogicError> {
        let (repeated, most) = self.power(large);
        let (once, count) = self.power(small);
        let within = most.0 <= count.0
            && match (most.1, count.1) {
                (None, _) => true,
                (Some(_), None) => false,
                (Some(most), Some(count)) => count <= most,
            };
        if within && self.includes(repeated, once)? {
            return Ok(true);
        }
        // A repetition can itself be one round.
        Ok(most.0 <= 1 && self.includes(repeated, small)?)
    }

    /// Tests inclusion part by part; a part of the larger one that matches the empty word
    /// may be skipped.
    fn includes_in_order(
        &mut self,
        large: &[ExpressionId],
        small: &[ExpressionId],
    ) -> Result<bool, LogicError> {
        let mut rest = small;
        for part in large {
            self.work.spend(1)?;
            let taken = match rest.split_first() {
                Some((first, others)) if self.includes(*part, *first)? => Some(others),
                _ => None,
            };
            match taken {
                Some(others) => rest = others,
                None if self.nullable(*part) => {}
                None => return Ok(false),
            }
        }
        Ok(rest.is_empty())
    }

    fn all(
        &mut self,
        parts: &[ExpressionId],
        check: impl Fn(&mut Expressions, ExpressionId) -> Result<bool, LogicError>,
    ) -> Result<bool, LogicError> {
        for part in parts {
            if !check(self, *part)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn any(
        &mut self,
        parts: &[ExpressionId],
        check: impl Fn(&mut Expressions, ExpressionId) -> Result<bool, LogicError>,
    ) -> Result<bool, LogicError> {
        for part in parts {
            if check(self, *part)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Removes redundant parts: of a choice, those that another part includes; of a
    /// conjunction, those that include another part.
    pub fn without_included(
        &mut self,
        parts: &[ExpressionId],
        keeps_large: bool,
    ) -> Result<Vec<ExpressionId>, LogicError> {
        let mut kept: Vec<ExpressionId> = Vec::with_capacity(parts.len());
        for part in parts.iter().copied() {
            self.work.spend(1 + kept.len() / 2)?;
            let mut place = 0;
            let mut is_idle = false;
            while let Some(other) = kept.get(place).copied() {
                let ordered = |one, other| {
                    if keeps_large {
                        (one, other)
                    } else {
                        (other, one)
                    }
                };
                let (large, small) = ordered(other, part);
                if self.includes(large, small)? {
                    is_idle = true;
                    break;
                }
                let (large, small) = ordered(part, other);
                if self.includes(large, small)? {
                    kept.remove(place);
                } else {
                    place += 1;
                }
            }
            if !is_idle {
                kept.push(part);
            }
        }
        kept.sort_unstable();
        Ok(kept)
    }
}

#[cfg(test)]
mod tests;
