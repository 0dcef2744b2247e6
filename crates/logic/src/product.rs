//! The product of the independent parts of a formula.
//!
//! A state is a tuple of states of the parts. A conjunction is violated as soon as one
//! part is, and satisfied when all parts are; a disjunction the other way round. Since
//! the parts are independent ([`crate::independent`]), these are the earliest possible
//! steps. Undecided verdicts are the truth values of the parts for a run that ends now.
//!
//! If a part is too large for one automaton, it is replaced by its smallest parts,
//! although they share propositions. Every verdict is still correct, but a contradiction
//! between parts is noticed only when the first of them fails.

use crate::classes::classes;
use crate::explain::{Explanation, Way};
use crate::independent::{Union, independent_parts, smallest_parts};
use crate::residual::{Residuals, is_final};
use crate::work::Work;
use crate::{Formula, Guard, LogicError};
use juror_event::Verdict;
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum number of alternatives that are listed one by one.
const WAYS_MAX: usize = 16;

/// Maximum number of states of a part that are explored for its propositions.
const AHEAD_MAX: usize = 256;

/// The states of a formula created so far, as tuples of states of its parts.
#[derive(Debug, Clone)]
pub(crate) struct Product {
    parts: Vec<Residuals>,
    union: Union,
    states: Vec<State>,
    identities: FxHashMap<Box<[u32]>, u32>,
    satisfied: Option<u32>,
    violated: Option<u32>,
    /// By part and its state: the propositions that some later step depends on.
    ahead: FxHashMap<(usize, u32), u64>,
    work: Work,
}

#[derive(Debug, Clone)]
struct State {
    /// By part: its state.
    places: Box<[u32]>,
    verdict: Verdict,
}

impl Product {
    /// Starts with the formula itself as state 0; `None` if it has no independent parts.
    pub fn new(formula: &Formula) -> Result<Option<Product>, LogicError> {
        let (union, parts) = independent_parts(formula);
        Product::of_several(union, &parts)
    }

    /// Returns the product of the smallest parts; `None` if there is only one.
    pub fn of_smallest(formula: &Formula) -> Result<Option<Product>, LogicError> {
        let (union, _) = independent_parts(formula);
        Product::of_several(union, &smallest_parts(formula, union))
    }

    fn of_several(union: Union, parts: &[Formula]) -> Result<Option<Product>, LogicError> {
        match parts.len() {
            0 | 1 => Ok(None),
            _ => Product::of_parts(union, parts).map(Some),
        }
    }

    fn of_parts(union: Union, formulas: &[Formula]) -> Result<Product, LogicError> {
        let mut work = Work::new();
        // Replaces, once, the budget spent on a failed attempt.
        let mut spare = Some(Work::new());
        let mut parts = Vec::with_capacity(formulas.len());
        for formula in formulas {
            match Residuals::continuing(formula, work) {
                Ok(mut part) => {
                    work = *part.work();
                    parts.push(part);
                }
                Err(error) => {
                    let smallest = smallest_parts(formula, union);
                    let (2.., Some(fresh)) = (smallest.len(), spare.take()) else {
                        return Err(error);
                    };
                    work = fresh;
                    for formula in &smallest {
                        let mut part = Residuals::continuing(formula, work)?;
                        work = *part.work();
                        parts.push(part);
                    }
                }
            }
        }
        let mut product = Product {
            parts,
            union,
            states: Vec::new(),
            identities: FxHashMap::default(),
            satisfied: None,
            violated: None,
            ahead: FxHashMap::default(),
            work,
        };
        let places = vec![0; product.parts.len()];
        product.state(places.into());
        Ok(product)
    }

    /// Returns the number of states.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Returns the work budget.
    pub fn work(&mut self) -> &mut Work {
        &mut self.work
    }

    /// Returns the verdict of a state.
    pub fn verdict(&self, state: u32) -> Verdict {
        self.states[state as usize].verdict
    }

    /// Returns the guards that the next step of a state depends on.
    pub fn guards(&self, state: u32) -> impl Iterator<Item = Guard> + '_ {
        let state = &self.states[state as usize];
        let parts = self.parts.iter().zip(&state.places);
        let open = !is_final(state.verdict);
        parts
            .filter(move |_| open)
            .flat_map(|(part, place)| part.guards(*place))
    }

    /// Returns the state after a step.
    pub fn step(&mut self, state: u32, letter: u64) -> Result<u32, LogicError> {
        let from = &self.states[state as usize];
        if is_final(from.verdict) {
            return Ok(state);
        }
        let mut places = from.places.clone();
        self.work.spend(places.len())?;
        for (part, place) in self.parts.iter_mut().zip(&mut places) {
            *part.work() = self.work;
            let next = part.step(*place, letter);
            self.work = *part.work();
            *place = next?;
        }
        Ok(self.state(places))
    }

    fn state(&mut self, places: Box<[u32]>) -> u32 {
        if let Some(known) = self.identities.get(&places) {
            return *known;
        }
        let verdict = self.judge(&places);
        let next = self.states.len() as u32;
        let known = match verdict {
            Verdict::Satisfied => *self.satisfied.get_or_insert(next),
            Verdict::Violated => *self.violated.get_or_insert(next),
            _ => next,
        };
        if !is_final(verdict) {
            self.identities.insert(places.clone(), known);
        }
        if known == next {
            self.states.push(State { places, verdict });
        }
        known
    }

    fn judge(&self, places: &[u32]) -> Verdict {
        let parts = || self.parts.iter().zip(places);
        let verdicts = || parts().map(|(part, place)| part.verdict(*place));
        let any = |wanted| verdicts().any(|verdict| verdict == wanted);
        let all = |wanted| verdicts().all(|verdict| verdict == wanted);
        let mut ends = parts().map(|(part, place)| part.holds(*place));
        let (is_violated, is_satisfied, holds) = match self.union {
            Union::All => (
                any(Verdict::Violated),
                all(Verdict::Satisfied),
                ends.all(|holds| holds),
            ),
            Union::Any => (
                all(Verdict::Violated),
                any(Verdict::Satisfied),
                ends.any(|holds| holds),
            ),
        };
        match (is_violated, is_satisfied, holds) {
            (true, _, _) => Verdict::Violated,
            (_, true, _) => Verdict::Satisfied,
            (_, _, true) => Verdict::PresumablySatisfied,
            (_, _, false) => Verdict::PresumablyViolated,
        }
    }

    /// Returns the propositions that some step from this state on depends on; all of them
    /// if a part has too many states to explore.
    pub fn propositions_ahead(&mut self, state: u32) -> u64 {
        let state = &self.states[state as usize];
        if is_final(state.verdict) {
            return 0;
        }
        let places = state.places.clone();
        let mut ahead = 0;
        for (part, place) in places.iter().enumerate() {
            let known = self.ahead.get(&(part, *place)).copied();
            let of_part = known.unwrap_or_else(|| {
                let found = of_part(&mut self.parts[part], *place).unwrap_or(u64::MAX);
                self.ahead.insert((part, *place), found);
                found
            });
            ahead |= of_part;
        }
        ahead
    }

    /// Returns the obligations of a state.
    pub fn explain(&self, state: u32) -> Explanation {
        let places = &self.states[state as usize].places;
        let mut ways: Vec<Way> = Vec::new();
        for (part, place) in self.parts.iter().zip(places) {
            if part.is_settled(*place) {
                continue;
            }
            let of_part = part.explain(*place).ways;
            ways = match self.union {
                Union::Any => [ways, of_part].concat(),
                Union::All if ways.is_empty() => of_part,
                Union::All => all_pairs(&ways, of_part),
            };
        }
        ways.sort();
        Explanation { ways, rest: None }
    }
}

/// Returns all combinations of alternatives. If there are too many, the second list
/// becomes one alternative with a disjunction in it.
fn all_pairs(ways: &[Way], others: Vec<Way>) -> Vec<Way> {
    let others = if ways.len() * others.len() > WAYS_MAX {
        vec![Way::any(others)]
    } else {
        others
    };
    let pairs = ways
        .iter()
        .flat_map(|way| others.iter().map(|other| way.clone().and(other)));
    pairs.collect()
}

/// Returns the propositions that a part depends on from a state on; `None` if there is
/// too much to explore.
fn of_part(part: &mut Residuals, place: u32) -> Option<u64> {
    let before = *part.work();
    *part.work() = Work::new();
    let mut asked = 0;
    let mut seen: FxHashSet<u32> = FxHashSet::default();
    seen.insert(place);
    let mut waiting = vec![place];
    let mut is_complete = true;
    while let Some(place) = waiting.pop() {
        let guards: Vec<Guard> = part.guards(place).collect();
        asked |= guards
            .iter()
            .fold(0, |asked, guard| asked | guard.propositions());
        let classes = classes(guards.into_iter(), part.work());
        for class in classes.iter().flatten() {
            match part.step(place, class.required) {
                Ok(next) if seen.insert(next) => waiting.push(next),
                Ok(_) => {}
                Err(_) => is_complete = false,
            }
        }
        if classes.is_err() || seen.len() > AHEAD_MAX || !is_complete {
            is_complete = false;
            break;
        }
    }
    *part.work() = before;
    is_complete.then_some(asked)
}
