//! Reachable verdicts of a state, and whether a formula can be decided.

use crate::independent::{Union, independent_parts};
use crate::normal::DEPTH_MAX;
use crate::written::check_size;
use crate::{Formula, LogicError, Machine, MachineState, Meaning, Outlook, Regex};
use juror_event::Verdict;
use rustc_hash::FxHashMap;

/// Maximum number of states explored for one state.
const EXPLORED_MAX: usize = 2_000;
/// Maximum number of states explored for a formula; small enough to load a property
/// interactively.
const DECIDABLE_STATES_MAX: usize = 10_000;

impl Machine {
    /// Returns the verdicts that a state can still reach; all four if that takes too long
    /// to compute.
    pub fn can_still(&mut self, state: MachineState) -> Outlook {
        match self.outlook(state, EXPLORED_MAX) {
            Ok(Some(outlook)) => outlook,
            _ => Outlook::OPEN,
        }
    }

    /// Returns the reachable verdicts; `None` if more states than allowed are reachable.
    fn outlook(
        &mut self,
        state: MachineState,
        limit: usize,
    ) -> Result<Option<Outlook>, LogicError> {
        if let Some(known) = self.known_outlook(state) {
            return Ok(Some(known));
        }
        // All reachable states, with their predecessors.
        let mut visited = vec![state];
        let mut places: FxHashMap<MachineState, usize> = FxHashMap::default();
        places.insert(state, 0);
        let mut predecessors: Vec<Vec<usize>> = vec![Vec::new()];
        let mut outlooks = Vec::new();
        while let Some(state) = visited.get(outlooks.len()).copied() {
            let here = outlooks.len();
            if let Some(known) = self.known_outlook(state) {
                outlooks.push(known);
                continue;
            }
            let mut outlook = Outlook::default();
            outlook.add(self.verdict(state));
            outlooks.push(outlook);
            for (_, to) in self.successors(state)? {
                let place = *places.entry(to).or_insert_with(|| {
                    visited.push(to);
                    predecessors.push(Vec::new());
                    visited.len() - 1
                });
                predecessors[place].push(here);
            }
            if visited.len() > limit {
                return Ok(None);
            }
        }
        Outlook::spread(&mut outlooks, &predecessors);
        for (state, outlook) in visited.iter().zip(&outlooks) {
            self.set_outlook(*state, *outlook);
        }
        Ok(self.known_outlook(state))
    }
}

impl Outlook {
    /// Propagates the verdicts of each state to its predecessors.
    pub(crate) fn spread(outlooks: &mut [Outlook], predecessors: &[Vec<usize>]) {
        let mut waiting: Vec<usize> = (0..outlooks.len()).collect();
        while let Some(place) = waiting.pop() {
            for from in &predecessors[place] {
                let mut outlook = outlooks[*from];
                outlook.join(outlooks[place]);
                if outlook != outlooks[*from] {
                    outlooks[*from] = outlook;
                    waiting.push(*from);
                }
            }
        }
    }
}

/// The final verdicts that some finite run reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decidable {
    /// Some finite run satisfies the formula for good.
    pub satisfied: bool,
    /// Some finite run violates the formula for good.
    pub violated: bool,
}

impl Decidable {
    /// Returns whether no finite run decides the formula; its verdict comes when the run
    /// ends.
    pub fn never(self) -> bool {
        !self.satisfied && !self.violated
    }
}

/// Returns the final verdicts of a formula that some finite run reaches.
///
/// `always eventually p` has none: every finite run can be extended either way.
///
/// # Errors
/// The automaton is too large.
pub fn decidable(formula: &Formula) -> Result<Decidable, LogicError> {
    check_size(formula, DEPTH_MAX, &mut 0)?;
    let (union, parts) = independent_parts(formula);
    let mut whole: Option<Decidable> = None;
    for part in &parts {
        let part = decidable_alone(part)?;
        // Parts reach their verdicts independently of each other.
        let satisfied = |whole: Decidable| match union {
            Union::All => whole.satisfied && part.satisfied,
            Union::Any => whole.satisfied || part.satisfied,
        };
        let violated = |whole: Decidable| match union {
            Union::All => whole.violated || part.violated,
            Union::Any => whole.violated && part.violated,
        };
        whole = Some(whole.map_or(part, |whole| Decidable {
            satisfied: satisfied(whole),
            violated: violated(whole),
        }));
    }
    whole.map_or_else(|| decidable_alone(formula), Ok)
}

/// Returns the final verdicts of an expression that some finite run reaches.
///
/// # Errors
/// The automaton is too large.
pub fn decidable_expression(expression: &Regex, meaning: Meaning) -> Result<Decidable, LogicError> {
    decided_by(Machine::of_expression(expression, meaning)?)
}

fn decidable_alone(formula: &Formula) -> Result<Decidable, LogicError> {
    decided_by(Machine::of_formula(formula)?)
}

fn decided_by(mut machine: Machine) -> Result<Decidable, LogicError> {
    let initial = machine.initial();
    let limit = DECIDABLE_STATES_MAX;
    let outlook = machine.outlook(initial, limit)?;
    let outlook = outlook.ok_or(LogicError::TooManyStates { limit })?;
    Ok(Decidable {
        satisfied: outlook.has(Verdict::Satisfied),
        violated: outlook.has(Verdict::Violated),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_states_are_explored_than_allowed() {
        let until = Formula::proposition(0).until(Formula::proposition(1));
        for (limit, is_known) in [(2, false), (3, true)] {
            let mut machine = Machine::of_formula(&until).unwrap();
            let initial = machine.initial();
            let found = machine.outlook(initial, limit).unwrap();
            assert_eq!(found.is_some(), is_known, "{limit}");
            let outlook = machine.can_still(initial);
            assert!(outlook.has(Verdict::Satisfied) && outlook.has(Verdict::Violated));
            assert!(!outlook.has(Verdict::PresumablySatisfied));
        }
    }
}
