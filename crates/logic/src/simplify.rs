//! Constructors of formulas in normal form, simplified as far as that is cheap.
//!
//! Every rule is an equivalence for finite and for infinite runs, so it may be applied
//! anywhere.

use crate::normal::{Arena, FALSE, FormulaId, Node, TRUE};
use crate::{Bound, LogicError};

impl Arena {
    /// Returns the conjunction of any number of formulas.
    pub fn and(&mut self, parts: Vec<FormulaId>) -> Result<FormulaId, LogicError> {
        self.combine(parts, true)
    }

    /// Returns the disjunction of any number of formulas.
    pub fn or(&mut self, parts: Vec<FormulaId>) -> Result<FormulaId, LogicError> {
        self.combine(parts, false)
    }

    fn combine(&mut self, parts: Vec<FormulaId>, and: bool) -> Result<FormulaId, LogicError> {
        let (neutral, absorbing) = if and { (TRUE, FALSE) } else { (FALSE, TRUE) };
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match (self.node(part), and) {
                (Node::And(inner), true) | (Node::Or(inner), false) => {
                    flat.extend_from_slice(inner)
                }
                _ => flat.push(part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        flat.retain(|part| *part != neutral);
        for part in &flat {
            let negation = self.negate(*part)?;
            if *part == absorbing || flat.binary_search(&negation).is_ok() {
                return Ok(absorbing);
            }
        }
        match flat[..] {
            [] => Ok(neutral),
            [only] => Ok(only),
            _ if and => self.intern(Node::And(flat.into())),
            _ => self.intern(Node::Or(flat.into())),
        }
    }

    /// Returns strong `next`.
    pub fn next(&mut self, part: FormulaId) -> Result<FormulaId, LogicError> {
        match part {
            FALSE => Ok(FALSE),
            _ => self.intern(Node::Next(part)),
        }
    }

    /// Returns `weak next`.
    pub fn weak_next(&mut self, part: FormulaId) -> Result<FormulaId, LogicError> {
        match part {
            TRUE => Ok(TRUE),
            _ => self.intern(Node::WeakNext(part)),
        }
    }

    /// Returns `until` with a bound.
    pub fn until(
        &mut self,
        keeps: FormulaId,
        reaches: FormulaId,
        bound: Bound,
    ) -> Result<FormulaId, LogicError> {
        let bound = plain(bound);
        if is_empty(bound) || reaches == FALSE {
            return Ok(FALSE);
        }
        let now_counts = starts_now(bound);
        match (keeps, now_counts) {
            (FALSE, true) => return Ok(reaches),
            (FALSE, false) => return Ok(FALSE),
            _ if reaches == TRUE && now_counts => return Ok(TRUE),
            _ => {}
        }
        if bound
            == (Bound::Steps {
                from: 0,
                to: Some(0),
            })
        {
            return Ok(reaches);
        }
        if bound == Bound::Unbounded {
            match self.node(reaches) {
                // F (a U b) is F b.
                Node::Until {
                    keeps: inner,
                    reaches: last,
                    bound: Bound::Unbounded,
                } if keeps == TRUE || *inner == keeps => {
                    let last = *last;
                    return self.until(keeps, last, bound);
                }
                // F G F a is G F a.
                Node::Release {
                    frees: FALSE,
                    keeps: inner,
                    bound: Bound::Unbounded,
                } if keeps == TRUE && self.is_eventually(*inner) => return Ok(reaches),
                _ => {}
            }
        }
        self.intern(Node::Until {
            keeps,
            reaches,
            bound,
        })
    }

    /// Returns `release` with a bound.
    pub fn release(
        &mut self,
        frees: FormulaId,
        keeps: FormulaId,
        bound: Bound,
    ) -> Result<FormulaId, LogicError> {
        let bound = plain(bound);
        if is_empty(bound) || keeps == TRUE {
            return Ok(TRUE);
        }
        let now_counts = starts_now(bound);
        match (frees, now_counts) {
            (TRUE, true) => return Ok(keeps),
            (TRUE, false) => return Ok(TRUE),
            _ if keeps == FALSE && now_counts => return Ok(FALSE),
            _ => {}
        }
        if bound
            == (Bound::Steps {
                from: 0,
                to: Some(0),
            })
        {
            return Ok(keeps);
        }
        if bound == Bound::Unbounded {
            match self.node(keeps) {
                // G (a R b) is G b.
                Node::Release {
                    frees: inner,
                    keeps: last,
                    bound: Bound::Unbounded,
                } if frees == FALSE || *inner == frees => {
                    let last = *last;
                    return self.release(frees, last, bound);
                }
                // G F G a is F G a.
                Node::Until {
                    keeps: TRUE,
                    reaches: inner,
                    bound: Bound::Unbounded,
                } if frees == FALSE && self.is_always(*inner) => return Ok(keeps),
                _ => {}
            }
        }
        if let (FALSE, Node::And(parts)) = (frees, self.node(keeps)) {
            // G (a and b) is G a and G b.
            let mut each = Vec::with_capacity(parts.len());
            for part in parts.clone() {
                each.push(self.release(frees, part, bound)?);
            }
            return self.and(each);
        }
        self.intern(Node::Release {
            frees,
            keeps,
            bound,
        })
    }

    fn is_eventually(&self, formula: FormulaId) -> bool {
        matches!(
            self.node(formula),
            Node::Until {
                keeps: TRUE,
                bound: Bound::Unbounded,
                ..
            }
        )
    }

    fn is_always(&self, formula: FormulaId) -> bool {
        matches!(
            self.node(formula),
            Node::Release {
                frees: FALSE,
                bound: Bound::Unbounded,
                ..
            }
        )
    }

    /// Returns the negation of a formula.
    pub fn negate(&mut self, formula: FormulaId) -> Result<FormulaId, LogicError> {
        if let Some(known) = self.known_negation(formula) {
            return Ok(known);
        }
        let negation = match self.node(formula).clone() {
            Node::True => FALSE,
            Node::False => TRUE,
            Node::Literal {
                proposition,
                positive,
            } => self.intern(Node::Literal {
                proposition,
                positive: !positive,
            })?,
            Node::Tracked { index, positive } => self.intern(Node::Tracked {
                index,
                positive: !positive,
            })?,
            Node::And(parts) => {
                let parts = self.negate_all(&parts)?;
                self.or(parts)?
            }
            Node::Or(parts) => {
                let parts = self.negate_all(&parts)?;
                self.and(parts)?
            }
            Node::Next(part) => {
                let part = self.negate(part)?;
                self.weak_next(part)?
            }
            Node::WeakNext(part) => {
                let part = self.negate(part)?;
                self.next(part)?
            }
            Node::Until {
                keeps,
                reaches,
                bound,
            } => {
                let (keeps, reaches) = (self.negate(keeps)?, self.negate(reaches)?);
                self.release(keeps, reaches, bound)?
            }
            Node::Release {
                frees,
                keeps,
                bound,
            } => {
                let (frees, keeps) = (self.negate(frees)?, self.negate(keeps)?);
                self.until(frees, keeps, bound)?
            }
        };
        self.set_negation(formula, negation);
        Ok(negation)
    }

    fn negate_all(&mut self, parts: &[FormulaId]) -> Result<Vec<FormulaId>, LogicError> {
        parts.iter().map(|part| self.negate(*part)).collect()
    }
}

/// Returns a bound in simplest form: one that excludes nothing becomes `Unbounded`.
pub(crate) fn plain(bound: Bound) -> Bound {
    match bound {
        Bound::Steps { from: 0, to: None } | Bound::Time { from: 0, to: None } => Bound::Unbounded,
        _ => bound,
    }
}

/// Returns whether the present step is within the bound.
pub(crate) fn starts_now(bound: Bound) -> bool {
    matches!(
        bound,
        Bound::Unbounded | Bound::Steps { from: 0, .. } | Bound::Time { from: 0, .. }
    )
}

/// Returns whether no step can be within the bound.
pub(crate) fn is_empty(bound: Bound) -> bool {
    match bound {
        Bound::Unbounded => false,
        Bound::Steps { from, to } => to.is_some_and(|to| to < from),
        Bound::Time { from, to } => to.is_some_and(|to| to < from),
    }
}

#[cfg(test)]
mod tests;
