//! The states of a regular expression: its derivatives.
//!
//! The derivative of an expression by a letter matches what may follow the
//! letter (Brzozowski, 1964; for large alphabets Owens, Reppy and Turon, 2009).
//! Expressions are kept in a normal form in which choices and conjunctions are
//! sorted sets; so there are finitely many derivatives. Counted repetitions stay
//! counted.
//!
//! An expression matches nothing if no derivative of it matches the empty word,
//! and everything if all do: that makes the verdicts the earliest possible.

use crate::classes::classes;
use crate::normal::{DEPTH_MAX, SIZE_MAX};
use crate::{Guard, LogicError, Meaning, Regex};
use juror_event::Verdict;
use rustc_hash::FxHashMap;

/// The most expressions that are looked at.
const EXPRESSIONS_MAX: usize = 200_000;

/// An expression in normal form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ExpressionId(u32);

/// Matches nothing.
const NOTHING: ExpressionId = ExpressionId(0);
/// Matches the empty word.
const EMPTY: ExpressionId = ExpressionId(1);
/// Matches all.
const EVERYTHING: ExpressionId = ExpressionId(2);

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

/// An expression with what is known of it.
#[derive(Debug, Clone)]
struct Data {
    expression: Expression,
    /// Whether it matches the empty word.
    nullable: bool,
    /// Whether it matches some word, and whether it does not match some word.
    can: [Option<bool>; 2],
}

/// The expressions that were met, and the states among them.
#[derive(Debug, Clone)]
pub(crate) struct Derivatives {
    data: Vec<Data>,
    identities: FxHashMap<Expression, ExpressionId>,
    meaning: Meaning,
    states: Vec<(ExpressionId, Verdict)>,
    by_expression: FxHashMap<ExpressionId, u32>,
    satisfied: Option<u32>,
    violated: Option<u32>,
}

impl Derivatives {
    /// Begins with the expression itself, as state 0.
    pub fn new(regex: &Regex, meaning: Meaning) -> Result<Derivatives, LogicError> {
        check_size(regex, DEPTH_MAX, &mut 0)?;
        let mut derivatives = Derivatives {
            data: Vec::new(),
            identities: FxHashMap::default(),
            meaning,
            states: Vec::new(),
            by_expression: FxHashMap::default(),
            satisfied: None,
            violated: None,
        };
        // In the order of the constants.
        derivatives.intern(Expression::Nothing)?;
        derivatives.intern(Expression::Empty)?;
        derivatives.intern(Expression::Complement(NOTHING))?;
        let whole = derivatives.add(regex)?;
        let start = match meaning {
            Meaning::MatchRequired => whole,
            // A match may begin anywhere.
            Meaning::MatchViolates => derivatives.sequence(&[EVERYTHING, whole])?,
        };
        derivatives.state(start)?;
        Ok(derivatives)
    }

    /// How many states there are.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// What a state says.
    pub fn verdict(&self, state: u32) -> Verdict {
        self.states[state as usize].1
    }

    /// What is left to be matched.
    pub fn rest(&self, state: u32) -> Regex {
        self.regex(self.states[state as usize].0)
    }

    /// What the next step of a state asks of a letter.
    pub fn guards(&self, state: u32) -> impl Iterator<Item = Guard> + use<> {
        let (expression, verdict) = self.states[state as usize];
        let mut guards = Vec::new();
        if !crate::residual::is_final(verdict) {
            self.firsts(expression, &mut guards);
        }
        guards.into_iter()
    }

    /// The state after a step.
    pub fn step(&mut self, state: u32, letter: u64) -> Result<u32, LogicError> {
        let (expression, verdict) = self.states[state as usize];
        if crate::residual::is_final(verdict) {
            return Ok(state);
        }
        let derivative = self.derive(expression, letter)?;
        self.state(derivative)
    }

    fn state(&mut self, expression: ExpressionId) -> Result<u32, LogicError> {
        if let Some(known) = self.by_expression.get(&expression) {
            return Ok(*known);
        }
        let verdict = self.judge(expression)?;
        let next = self.states.len() as u32;
        let known = match verdict {
            Verdict::Satisfied => *self.satisfied.get_or_insert(next),
            Verdict::Violated => *self.violated.get_or_insert(next),
            _ => next,
        };
        self.by_expression.insert(expression, known);
        if known == next {
            self.states.push((expression, verdict));
        }
        Ok(known)
    }

    fn judge(&mut self, expression: ExpressionId) -> Result<Verdict, LogicError> {
        let nullable = self.nullable(expression);
        let can_match = self.can(expression, true)?;
        let can_miss = self.meaning == Meaning::MatchViolates || self.can(expression, false)?;
        Ok(match self.meaning {
            Meaning::MatchViolates if nullable => Verdict::Violated,
            Meaning::MatchViolates if !can_match => Verdict::Satisfied,
            Meaning::MatchViolates => Verdict::PresumablySatisfied,
            Meaning::MatchRequired if !can_match => Verdict::Violated,
            Meaning::MatchRequired if !can_miss => Verdict::Satisfied,
            Meaning::MatchRequired if nullable => Verdict::PresumablySatisfied,
            Meaning::MatchRequired => Verdict::PresumablyViolated,
        })
    }

    fn expression(&self, expression: ExpressionId) -> &Expression {
        &self.data[expression.0 as usize].expression
    }

    fn nullable(&self, expression: ExpressionId) -> bool {
        self.data[expression.0 as usize].nullable
    }

    /// Whether it matches some word, or whether it does not match some word.
    fn can(&mut self, start: ExpressionId, wanted: bool) -> Result<bool, LogicError> {
        let question = usize::from(!wanted);
        // Everything that was met, and from where.
        let mut met: Vec<(ExpressionId, Option<usize>)> = vec![(start, None)];
        let mut places: FxHashMap<ExpressionId, usize> = FxHashMap::default();
        places.insert(start, 0);
        // Deep first: a word that decides is found long before all short ones.
        let mut waiting = vec![0];
        while let Some(next) = waiting.pop() {
            let (expression, _) = met[next];
            let known = self.data[expression.0 as usize].can[question];
            if known == Some(true) || self.nullable(expression) == wanted {
                let mut way = Some(next);
                while let Some((expression, from)) = way.and_then(|place| met.get(place)) {
                    self.data[expression.0 as usize].can[question] = Some(true);
                    way = *from;
                }
                return Ok(true);
            }
            if known.is_none() {
                let mut guards = Vec::new();
                self.firsts(expression, &mut guards);
                for class in classes(guards.into_iter())? {
                    let derivative = self.derive(expression, class.required)?;
                    if !places.contains_key(&derivative) {
                        places.insert(derivative, met.len());
                        waiting.push(met.len());
                        met.push((derivative, Some(next)));
                    }
                }
            }
        }
        for (expression, _) in met {
            self.data[expression.0 as usize].can[question] = Some(false);
        }
        Ok(false)
    }

    /// The guards that a derivative depends on.
    fn firsts(&self, expression: ExpressionId, guards: &mut Vec<Guard>) {
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

    fn derive(
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
        if self.data.len() == EXPRESSIONS_MAX {
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
        let identity = ExpressionId(self.data.len() as u32);
        self.identities.insert(expression.clone(), identity);
        self.data.push(Data {
            expression,
            nullable,
            can: [None; 2],
        });
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

    fn sequence(&mut self, parts: &[ExpressionId]) -> Result<ExpressionId, LogicError> {
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
    fn regex(&self, expression: ExpressionId) -> Regex {
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
