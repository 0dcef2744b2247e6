//! Hash-consed regular expressions in normal form, and their derivatives.
//!
//! The derivative of an expression by a letter matches what may follow the letter
//! (Brzozowski, 1964; for large alphabets Owens, Reppy and Turon, 2009). Choices and
//! conjunctions are sorted sets without parts that others include ([`crate::inclusion`]),
//! sequences are flat; so there are finitely many derivatives. Counted repetitions stay
//! counted, and repetitions of the same expression have one form ([`crate::counting`]).

use crate::work::Work;
use crate::{Guard, LogicError};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// An expression in normal form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ExpressionId(u32);

/// Matches nothing.
pub(crate) const NOTHING: ExpressionId = ExpressionId(0);
/// Matches the empty word.
pub(crate) const EMPTY: ExpressionId = ExpressionId(1);
/// Matches every word.
pub(crate) const EVERYTHING: ExpressionId = ExpressionId(2);
/// Matches any one letter.
pub(crate) const ANY: ExpressionId = ExpressionId(3);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Expression {
    Nothing,
    Empty,
    Letter(Guard),
    /// Concatenation of at least two parts.
    Sequence(Box<[ExpressionId]>),
    /// Alternation; sorted, at least two parts.
    Choice(Box<[ExpressionId]>),
    /// Intersection; sorted, at least two parts.
    Both(Box<[ExpressionId]>),
    Complement(ExpressionId),
    Repeat {
        expression: ExpressionId,
        from: u32,
        to: Option<u32>,
    },
}

/// An expression with its precomputed attributes.
#[derive(Debug, Clone)]
struct Known {
    form: Expression,
    /// Whether it matches the empty word.
    nullable: bool,
    /// The guards that its derivatives depend on, sorted.
    firsts: Arc<[Guard]>,
}

/// The expressions created so far.
#[derive(Debug, Clone)]
pub(crate) struct Expressions {
    expressions: Vec<Known>,
    identities: FxHashMap<Expression, ExpressionId>,
    /// Cached derivatives, by expression and letter.
    derived: FxHashMap<(ExpressionId, u64), ExpressionId>,
    /// Whether the first includes the second, as far as computed.
    pub inclusions: FxHashMap<(ExpressionId, ExpressionId), bool>,
    /// The work budget.
    pub work: Work,
}

impl Expressions {
    /// Creates the constants.
    pub fn new() -> Result<Expressions, LogicError> {
        let mut expressions = Expressions {
            expressions: Vec::new(),
            identities: FxHashMap::default(),
            derived: FxHashMap::default(),
            inclusions: FxHashMap::default(),
            work: Work::new(),
        };
        // In the order of the constants.
        expressions.intern(Expression::Nothing)?;
        expressions.intern(Expression::Empty)?;
        expressions.intern(Expression::Complement(NOTHING))?;
        expressions.intern(Expression::Letter(Guard::default()))?;
        Ok(expressions)
    }

    /// Returns the form of an expression.
    pub fn expression(&self, expression: ExpressionId) -> &Expression {
        &self.expressions[expression.0 as usize].form
    }

    /// Returns whether the expression matches the empty word.
    pub fn nullable(&self, expression: ExpressionId) -> bool {
        self.expressions[expression.0 as usize].nullable
    }

    /// Returns the guards that a derivative depends on, sorted.
    pub fn firsts(&self, expression: ExpressionId) -> &[Guard] {
        &self.expressions[expression.0 as usize].firsts
    }

    fn firsts_of(&self, expression: &Expression) -> Arc<[Guard]> {
        let parts = match expression {
            Expression::Nothing | Expression::Empty => return Arc::default(),
            Expression::Letter(guard) => return Arc::new([*guard]),
            Expression::Sequence(parts) => {
                let skipped = parts.iter().take_while(|part| self.nullable(**part));
                let reached = (skipped.count() + 1).min(parts.len());
                parts.get(..reached).unwrap_or(parts)
            }
            Expression::Choice(parts) | Expression::Both(parts) => parts,
            Expression::Complement(part)
            | Expression::Repeat {
                expression: part, ..
            } => std::slice::from_ref(part),
        };
        if let [part] = parts {
            // Most expressions share the guards of one part.
            return Arc::clone(&self.expressions[part.0 as usize].firsts);
        }
        let of_parts = parts.iter().flat_map(|part| self.firsts(*part));
        let mut firsts: Vec<Guard> = of_parts.copied().collect();
        firsts.sort_unstable();
        firsts.dedup();
        firsts.into()
    }

    /// Returns the derivative by a letter.
    pub fn derive(
        &mut self,
        expression: ExpressionId,
        letter: u64,
    ) -> Result<ExpressionId, LogicError> {
        // Expressions share parts: each is derived once.
        if let Some(known) = self.derived.get(&(expression, letter)) {
            return Ok(*known);
        }
        self.work.spend(1)?;
        let derivative = self.derive_anew(expression, letter)?;
        self.derived.insert((expression, letter), derivative);
        Ok(derivative)
    }

    fn derive_anew(
        &mut self,
        expression: ExpressionId,
        letter: u64,
    ) -> Result<ExpressionId, LogicError> {
        match self.expression(expression).clone() {
            Expression::Nothing | Expression::Empty => Ok(NOTHING),
            Expression::Letter(guard) => Ok(if guard.takes(letter) { EMPTY } else { NOTHING }),
            Expression::Sequence(parts) => {
                let mut ways = Vec::new();
                for (place, part) in parts.iter().enumerate() {
                    self.work.spend(parts.len() - place)?;
                    let mut way = vec![self.derive(*part, letter)?];
                    way.extend_from_slice(parts.get(place + 1..).unwrap_or(&[]));
                    ways.push(self.sequence(&way)?);
                    if !self.nullable(*part) {
                        break;
                    }
                }
                self.choice(&ways)
            }
            Expression::Choice(parts) => {
                let parts = self.derive_each(&parts, letter)?;
                self.choice(&parts)
            }
            Expression::Both(parts) => {
                let parts = self.derive_each(&parts, letter)?;
                self.both(&parts)
            }
            Expression::Complement(part) => {
                let part = self.derive(part, letter)?;
                self.complement(part)
            }
            Expression::Repeat {
                expression,
                from,
                to,
            } => {
                let first = self.derive(expression, letter)?;
                let rest = self.repeat(
                    expression,
                    from.saturating_sub(1),
                    to.map(|to| to.saturating_sub(1)),
                )?;
                self.sequence(&[first, rest])
            }
        }
    }

    fn derive_each(
        &mut self,
        parts: &[ExpressionId],
        letter: u64,
    ) -> Result<Vec<ExpressionId>, LogicError> {
        parts
            .iter()
            .map(|part| self.derive(*part, letter))
            .collect()
    }

    pub(crate) fn intern(&mut self, expression: Expression) -> Result<ExpressionId, LogicError> {
        if let Some(known) = self.identities.get(&expression) {
            return Ok(*known);
        }
        let firsts = self.firsts_of(&expression);
        self.work.spend(2 + firsts.len())?;
        let nullable = match &expression {
            Expression::Nothing | Expression::Letter(_) => false,
            Expression::Empty => true,
            Expression::Sequence(parts) | Expression::Both(parts) => {
                parts.iter().all(|part| self.nullable(*part))
            }
            Expression::Choice(parts) => parts.iter().any(|part| self.nullable(*part)),
            Expression::Complement(part) => !self.nullable(*part),
            Expression::Repeat {
                expression, from, ..
            } => *from == 0 || self.nullable(*expression),
        };
        let identity = ExpressionId(self.expressions.len() as u32);
        self.identities.insert(expression.clone(), identity);
        self.expressions.push(Known {
            form: expression,
            nullable,
            firsts,
        });
        Ok(identity)
    }

    /// Returns the concatenation of parts.
    pub fn sequence(&mut self, parts: &[ExpressionId]) -> Result<ExpressionId, LogicError> {
        let mut flat: Vec<ExpressionId> = Vec::with_capacity(parts.len());
        for part in parts {
            match self.expression(*part) {
                Expression::Nothing => return Ok(NOTHING),
                Expression::Empty => {}
                Expression::Sequence(inner) => {
                    let inner = inner.clone();
                    self.work.spend(inner.len())?;
                    for part in inner {
                        self.append(&mut flat, part)?;
                    }
                }
                _ => self.append(&mut flat, *part)?,
            }
        }
        match flat[..] {
            [] => Ok(EMPTY),
            [only] => Ok(only),
            _ => self.intern(Expression::Sequence(flat.into())),
        }
    }

    /// Appends a part that is not a sequence.
    fn append(
        &mut self,
        flat: &mut Vec<ExpressionId>,
        part: ExpressionId,
    ) -> Result<(), LogicError> {
        if let Some(last) = flat.last().copied()
            && let Some(both) = self.one_after_the_other(last, part)?
        {
            flat.pop();
            flat.push(both);
        } else {
            flat.push(part);
        }
        Ok(())
    }

    pub(crate) fn choice(&mut self, parts: &[ExpressionId]) -> Result<ExpressionId, LogicError> {
        let mut flat: Vec<ExpressionId> = Vec::with_capacity(parts.len());
        for part in parts {
            match self.expression(*part) {
                Expression::Nothing => {}
                Expression::Choice(inner) => flat.extend_from_slice(inner),
                _ => flat.push(*part),
            }
        }
        self.work.spend(flat.len())?;
        flat.sort_unstable();
        flat.dedup();
        let mut flat = self.without_included(&flat, true)?;
        self.join_counts(&mut flat)?;
        if flat.contains(&EVERYTHING) || self.has_complements(&flat, true)? {
            return Ok(EVERYTHING);
        }
        match flat[..] {
            [] => Ok(NOTHING),
            [only] => Ok(only),
            [EMPTY, other] => self.repeat(other, 0, Some(1)),
            _ => self.intern(Expression::Choice(flat.into())),
        }
    }

    pub(crate) fn both(&mut self, parts: &[ExpressionId]) -> Result<ExpressionId, LogicError> {
        let mut flat: Vec<ExpressionId> = Vec::with_capacity(parts.len());
        let mut letter: Option<Guard> = None;
        for part in parts {
            let inner = match self.expression(*part) {
                Expression::Both(inner) => &inner[..],
                _ => std::slice::from_ref(part),
            };
            for part in inner {
                match self.expression(*part) {
                    Expression::Nothing => return Ok(NOTHING),
                    Expression::Letter(guard) => {
                        let known = letter.get_or_insert_default();
                        known.required |= guard.required;
                        known.forbidden |= guard.forbidden;
                    }
                    _ if *part == EVERYTHING => {}
                    _ => flat.push(*part),
                }
            }
        }
        if let Some(guard) = letter {
            if guard.is_contradictory() {
                return Ok(NOTHING);
            }
            flat.push(self.intern(Expression::Letter(guard))?);
        }
        self.work.spend(flat.len())?;
        flat.sort_unstable();
        flat.dedup();
        let flat = self.without_included(&flat, false)?;
        if self.has_complements(&flat, false)? {
            return Ok(NOTHING);
        }
        if flat.contains(&EMPTY) {
            let all = flat.iter().all(|part| self.nullable(*part));
            return Ok(if all { EMPTY } else { NOTHING });
        }
        match flat[..] {
            [] => Ok(EVERYTHING),
            [only] => Ok(only),
            _ => self.intern(Expression::Both(flat.into())),
        }
    }

    /// Returns whether parts exclude each other, or together match everything: one is the
    /// complement of an expression that includes, or is included in, another part.
    fn has_complements(
        &mut self,
        parts: &[ExpressionId],
        are_choices: bool,
    ) -> Result<bool, LogicError> {
        for part in parts {
            let Expression::Complement(inner) = *self.expression(*part) else {
                continue;
            };
            for other in parts {
                let (large, small) = if are_choices {
                    (*other, inner)
                } else {
                    (inner, *other)
                };
                if other != part && self.includes(large, small)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    pub(crate) fn complement(&mut self, part: ExpressionId) -> Result<ExpressionId, LogicError> {
        match self.expression(part) {
            Expression::Complement(inner) => Ok(*inner),
            _ => self.intern(Expression::Complement(part)),
        }
    }
}
