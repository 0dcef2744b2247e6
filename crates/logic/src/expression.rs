//! Regular expressions in normal form, each one once, and their derivatives.
//!
//! The derivative of an expression by a letter matches what may follow the
//! letter (Brzozowski, 1964; for large alphabets Owens, Reppy and Turon, 2009).
//! Choices and conjunctions are sorted sets, sequences are flat; so there are
//! finitely many derivatives. Counted repetitions stay counted.

use crate::normal::{DEPTH_MAX, SIZE_MAX};
use crate::{Guard, LogicError, Regex};
use rustc_hash::FxHashMap;

/// The most expressions that are looked at.
const EXPRESSIONS_MAX: usize = 50_000;

/// The most derivatives that are found.
const DERIVATIONS_MAX: usize = 400_000;

/// An expression in normal form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ExpressionId(u32);

/// Matches nothing.
pub(crate) const NOTHING: ExpressionId = ExpressionId(0);
/// Matches the empty word.
pub(crate) const EMPTY: ExpressionId = ExpressionId(1);
/// Matches all.
pub(crate) const EVERYTHING: ExpressionId = ExpressionId(2);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Expression {
    Nothing,
    Empty,
    Letter(Guard),
    /// One after the other, at least two.
    Sequence(Box<[ExpressionId]>),
    /// Sorted, at least two.
    Choice(Box<[ExpressionId]>),
    /// Sorted, at least two.
    Both(Box<[ExpressionId]>),
    Complement(ExpressionId),
    Repeat {
        expression: ExpressionId,
        from: u32,
        to: Option<u32>,
    },
}

/// The expressions that were met.
#[derive(Debug, Clone)]
pub(crate) struct Expressions {
    /// Each with whether it matches the empty word.
    expressions: Vec<(Expression, bool)>,
    identities: FxHashMap<Expression, ExpressionId>,
    /// Derivatives that are known, by what and for which letter.
    derived: FxHashMap<(ExpressionId, u64), ExpressionId>,
}

impl Expressions {
    /// With the constants.
    pub fn new() -> Result<Expressions, LogicError> {
        let mut expressions = Expressions {
            expressions: Vec::new(),
            identities: FxHashMap::default(),
            derived: FxHashMap::default(),
        };
        // In the order of the constants.
        expressions.intern(Expression::Nothing)?;
        expressions.intern(Expression::Empty)?;
        expressions.intern(Expression::Complement(NOTHING))?;
        Ok(expressions)
    }

    /// An expression as it is written.
    pub fn of(&mut self, regex: &Regex) -> Result<ExpressionId, LogicError> {
        check_size(regex, DEPTH_MAX, &mut 0)?;
        self.add(regex)
    }

    /// The form of an expression.
    pub fn expression(&self, expression: ExpressionId) -> &Expression {
        &self.expressions[expression.0 as usize].0
    }

    /// Whether it matches the empty word.
    pub fn nullable(&self, expression: ExpressionId) -> bool {
        self.expressions[expression.0 as usize].1
    }

    /// The guards that a derivative depends on.
    pub fn firsts(&self, expression: ExpressionId, guards: &mut Vec<Guard>) {
        match self.expression(expression) {
            Expression::Nothing | Expression::Empty => {}
            Expression::Letter(guard) => guards.push(*guard),
            Expression::Sequence(parts) => {
                for part in parts {
                    self.firsts(*part, guards);
                    if !self.nullable(*part) {
                        break;
                    }
                }
            }
            Expression::Choice(parts) | Expression::Both(parts) => {
                for part in parts {
                    self.firsts(*part, guards);
                }
            }
            Expression::Complement(part) => self.firsts(*part, guards),
            Expression::Repeat { expression, .. } => self.firsts(*expression, guards),
        }
    }

    /// What may follow a letter.
    pub fn derive(
        &mut self,
        expression: ExpressionId,
        letter: u64,
    ) -> Result<ExpressionId, LogicError> {
        // Expressions share their parts: each is derived once.
        if let Some(known) = self.derived.get(&(expression, letter)) {
            return Ok(*known);
        }
        if self.derived.len() == DERIVATIONS_MAX {
            return Err(LogicError::TooManyStates {
                limit: DERIVATIONS_MAX,
            });
        }
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
            Expression::Letter(guard) => Ok(match guard.takes(letter) {
                true => EMPTY,
                false => NOTHING,
            }),
            Expression::Sequence(parts) => {
                let mut ways = Vec::new();
                for (place, part) in parts.iter().enumerate() {
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

    fn intern(&mut self, expression: Expression) -> Result<ExpressionId, LogicError> {
        if let Some(known) = self.identities.get(&expression) {
            return Ok(*known);
        }
        if self.expressions.len() == EXPRESSIONS_MAX {
            return Err(LogicError::TooManyStates {
                limit: EXPRESSIONS_MAX,
            });
        }
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
        self.expressions.push((expression, nullable));
        Ok(identity)
    }

    fn add(&mut self, regex: &Regex) -> Result<ExpressionId, LogicError> {
        match regex {
            Regex::Nothing => Ok(NOTHING),
            Regex::Empty => Ok(EMPTY),
            Regex::Letter(guard) if guard.is_contradictory() => Ok(NOTHING),
            Regex::Letter(guard) => self.intern(Expression::Letter(*guard)),
            Regex::Sequence(first, second) => {
                let parts = [self.add(first)?, self.add(second)?];
                self.sequence(&parts)
            }
            Regex::Choice(first, second) => {
                let parts = [self.add(first)?, self.add(second)?];
                self.choice(&parts)
            }
            Regex::Both(first, second) => {
                let parts = [self.add(first)?, self.add(second)?];
                self.both(&parts)
            }
            Regex::Complement(part) => {
                let part = self.add(part)?;
                self.complement(part)
            }
            Regex::Repeat {
                expression,
                from,
                to,
            } => {
                let part = self.add(expression)?;
                self.repeat(part, *from, *to)
            }
        }
    }

    /// One after the other.
    pub fn sequence(&mut self, parts: &[ExpressionId]) -> Result<ExpressionId, LogicError> {
        let mut flat: Vec<ExpressionId> = Vec::with_capacity(parts.len());
        for part in parts {
            match self.expression(*part) {
                Expression::Nothing => return Ok(NOTHING),
                Expression::Empty => {}
                Expression::Sequence(inner) => flat.extend_from_slice(inner),
                _ => flat.push(*part),
            }
        }
        flat.dedup_by(|second, first| *first == EVERYTHING && *second == EVERYTHING);
        match flat[..] {
            [] => Ok(EMPTY),
            [only] => Ok(only),
            _ => self.intern(Expression::Sequence(flat.into())),
        }
    }

    fn choice(&mut self, parts: &[ExpressionId]) -> Result<ExpressionId, LogicError> {
        let mut flat: Vec<ExpressionId> = Vec::with_capacity(parts.len());
        for part in parts {
            match self.expression(*part) {
                Expression::Nothing => {}
                Expression::Choice(inner) => flat.extend_from_slice(inner),
                _ => flat.push(*part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        if flat.contains(&EVERYTHING) || self.has_complements(&flat) {
            return Ok(EVERYTHING);
        }
        // The empty word is in what matches it anyway.
        if flat
            .iter()
            .any(|part| *part != EMPTY && self.nullable(*part))
        {
            flat.retain(|part| *part != EMPTY);
        }
        match flat[..] {
            [] => Ok(NOTHING),
            [only] => Ok(only),
            _ => self.intern(Expression::Choice(flat.into())),
        }
    }

    fn both(&mut self, parts: &[ExpressionId]) -> Result<ExpressionId, LogicError> {
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
        flat.sort_unstable();
        flat.dedup();
        if self.has_complements(&flat) {
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

    fn has_complements(&self, parts: &[ExpressionId]) -> bool {
        parts.iter().any(|part| match self.expression(*part) {
            Expression::Complement(inner) => parts.binary_search(inner).is_ok(),
            _ => false,
        })
    }

    fn complement(&mut self, part: ExpressionId) -> Result<ExpressionId, LogicError> {
        match self.expression(part) {
            Expression::Complement(inner) => Ok(*inner),
            _ => self.intern(Expression::Complement(part)),
        }
    }

    fn repeat(
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
        // With the empty word in it, fewer repetitions are as good.
        let from = if self.nullable(expression) { 0 } else { from };
        match self.expression(expression) {
            Expression::Nothing if from == 0 => return Ok(EMPTY),
            Expression::Nothing => return Ok(NOTHING),
            Expression::Empty => return Ok(EMPTY),
            Expression::Letter(guard) if *guard == Guard::default() && (from, to) == (0, None) => {
                return Ok(EVERYTHING);
            }
            Expression::Repeat {
                from: 0, to: None, ..
            } => return Ok(expression),
            _ if expression == EVERYTHING || (from, to) == (1, Some(1)) => return Ok(expression),
            _ => {}
        }
        self.intern(Expression::Repeat {
            expression,
            from,
            to,
        })
    }

    /// As it could have been written.
    pub fn regex(&self, expression: ExpressionId) -> Regex {
        use std::sync::Arc;
        let join = |parts: &[ExpressionId], make: fn(Arc<Regex>, Arc<Regex>) -> Regex| {
            let mut parts = parts.iter().rev().map(|part| self.regex(*part));
            let last = parts.next().unwrap_or(Regex::Empty);
            parts.fold(last, |rest, part| make(Arc::new(part), Arc::new(rest)))
        };
        match self.expression(expression) {
            Expression::Nothing => Regex::Nothing,
            Expression::Empty => Regex::Empty,
            Expression::Letter(guard) => Regex::Letter(*guard),
            Expression::Sequence(parts) => join(parts, Regex::Sequence),
            Expression::Choice(parts) => join(parts, Regex::Choice),
            Expression::Both(parts) => join(parts, Regex::Both),
            Expression::Complement(part) => Regex::Complement(Arc::new(self.regex(*part))),
            Expression::Repeat {
                expression,
                from,
                to,
            } => Regex::Repeat {
                expression: Arc::new(self.regex(*expression)),
                from: *from,
                to: *to,
            },
        }
    }
}

fn check_size(regex: &Regex, depth: usize, size: &mut usize) -> Result<(), LogicError> {
    *size += 1;
    if *size > SIZE_MAX {
        return Err(LogicError::TooLarge { limit: SIZE_MAX });
    }
    let Some(depth) = depth.checked_sub(1) else {
        return Err(LogicError::TooDeep { limit: DEPTH_MAX });
    };
    match regex {
        Regex::Nothing | Regex::Empty | Regex::Letter(_) => Ok(()),
        Regex::Sequence(first, second)
        | Regex::Choice(first, second)
        | Regex::Both(first, second) => {
            check_size(first, depth, size)?;
            check_size(second, depth, size)
        }
        Regex::Complement(part) => check_size(part, depth, size),
        Regex::Repeat { expression, .. } => check_size(expression, depth, size),
    }
}
