//! The states of a regular expression: its derivatives.
//!
//! An expression matches nothing if no derivative of it matches the empty word, and
//! everything if all do; that makes the verdicts the earliest possible.

use crate::classes::classes;
use crate::expression::{EVERYTHING, ExpressionId, Expressions};
use crate::residual::is_final;
use crate::work::Work;
use crate::{Guard, LogicError, Meaning, Regex};
use juror_event::Verdict;
use rustc_hash::{FxHashMap, FxHashSet};

/// The expressions created so far, and the states among them.
#[derive(Debug, Clone)]
pub(crate) struct Derivatives {
    expressions: Expressions,
    /// By expression: whether it matches some word (true), or rejects some word (false).
    can: FxHashMap<(ExpressionId, bool), bool>,
    meaning: Meaning,
    states: Vec<(ExpressionId, Verdict)>,
    by_expression: FxHashMap<ExpressionId, u32>,
    satisfied: Option<u32>,
    violated: Option<u32>,
}

impl Derivatives {
    /// Starts with the expression itself as state 0.
    pub fn new(regex: &Regex, meaning: Meaning) -> Result<Derivatives, LogicError> {
        let mut derivatives = Derivatives {
            expressions: Expressions::new()?,
            can: FxHashMap::default(),
            meaning,
            states: Vec::new(),
            by_expression: FxHashMap::default(),
            satisfied: None,
            violated: None,
        };
        let whole = derivatives.expressions.of(regex)?;
        let start = match meaning {
            Meaning::MatchRequired => whole,
            // A match may begin anywhere.
            Meaning::MatchViolates => derivatives.expressions.sequence(&[EVERYTHING, whole])?,
        };
        derivatives.state(start)?;
        Ok(derivatives)
    }

    /// Returns the number of states.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Returns the verdict of a state.
    pub fn verdict(&self, state: u32) -> Verdict {
        self.states[state as usize].1
    }

    /// Returns the expression that remains to be matched.
    pub fn rest(&self, state: u32) -> Regex {
        self.expressions.regex(self.states[state as usize].0)
    }

    /// Returns the guards that the next step of a state depends on.
    pub fn guards(&self, state: u32) -> impl Iterator<Item = Guard> + use<> {
        let (expression, verdict) = self.states[state as usize];
        let guards = if is_final(verdict) {
            Vec::new()
        } else {
            self.expressions.firsts(expression).to_vec()
        };
        guards.into_iter()
    }

    /// Returns the work budget.
    pub fn work(&mut self) -> &mut Work {
        &mut self.expressions.work
    }

    /// Returns the state after a step.
    pub fn step(&mut self, state: u32, letter: u64) -> Result<u32, LogicError> {
        let (expression, verdict) = self.states[state as usize];
        if is_final(verdict) {
            return Ok(state);
        }
        let derivative = self.expressions.derive(expression, letter)?;
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
        let nullable = self.expressions.nullable(expression);
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

    /// Returns whether the expression matches some word (`wanted`), or rejects some word.
    fn can(&mut self, start: ExpressionId, wanted: bool) -> Result<bool, LogicError> {
        // All expressions visited, with their predecessors.
        let mut visited: Vec<(ExpressionId, Option<usize>)> = vec![(start, None)];
        let mut seen: FxHashSet<ExpressionId> = FxHashSet::default();
        seen.insert(start);
        // Depth first: a deciding word is found long before all short ones are tried.
        let mut waiting = vec![0];
        while let Some(next) = waiting.pop() {
            let (expression, _) = visited[next];
            let known = self.can.get(&(expression, wanted)).copied();
            if known == Some(true) || self.expressions.nullable(expression) == wanted {
                let mut way = Some(next);
                while let Some((expression, from)) = way.and_then(|place| visited.get(place)) {
                    self.can.insert((*expression, wanted), true);
                    way = *from;
                }
                return Ok(true);
            }
            if known.is_none() {
                let guards = self.expressions.firsts(expression).to_vec();
                let classes = classes(guards.into_iter(), &mut self.expressions.work)?;
                for class in classes {
                    let derivative = self.expressions.derive(expression, class.required)?;
                    if seen.insert(derivative) {
                        waiting.push(visited.len());
                        visited.push((derivative, Some(next)));
                    }
                }
            }
        }
        for (expression, _) in visited {
            self.can.insert((expression, wanted), false);
        }
        Ok(false)
    }
}
