//! Which expressions match no more than others, as far as their form shows it.
//!
//! Derivatives of choices pile up alternatives that others contain: of `a{0,3}`
//! after one letter `a{0,2}`, and so on. Where they are left out, equal rests
//! become equal expressions, as the antichains of clauses do it for formulas
//! ([`crate::clause`]).
//!
//! Invariant: what is said to be included is; not all that is included is seen.

use crate::LogicError;
use crate::expression::{EMPTY, EVERYTHING, Expression, ExpressionId, Expressions, NOTHING};

/// How often an expression is repeated: at least, and at most.
pub(crate) type Count = (u32, Option<u32>);

impl Expressions {
    /// Whether all that one expression matches is matched by the other.
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
        if large == NOTHING || large == EMPTY || (self.nullable(small) && !self.nullable(large)) {
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

    /// The same for a repetition, where once is a repetition, too.
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
        // What is a repetition itself may be one round.
        Ok(most.0 <= 1 && most.1 != Some(0) && self.includes(repeated, small)?)
    }

    /// Part by part; a part of the larger one that matches the empty word may be
    /// left out.
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

    /// Of parts of a choice those that no other one includes; of parts that must
    /// all match those that include no other one.
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
