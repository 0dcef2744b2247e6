//! Events that concern every slice.
//!
//! A table may have a hundred thousand slices, most of them in the same few states and with
//! the same variables, and such an event may move none of them.

use super::WordMemory;
use super::general::{Delivery, Outcome};
use super::monitor::WordMonitor;
use super::table::Slot;
use super::write_back::NOTED_MAX;
use crate::automaton::{Automaton, Taken};
use crate::behaviour::Behaviour;
use crate::slices::Place;
use juror_language::EvaluationError;

/// The maximum number of contents of slices for which it is remembered what an event does.
const KNOWN_MAX: usize = 16;

impl<M: WordMemory> WordMonitor<M> {
    /// Gives an event to all slices; the first error is returned after the others have
    /// taken it.
    pub(super) fn take_everywhere(
        &mut self,
        delivery: Delivery<'_>,
    ) -> Result<(), EvaluationError> {
        if let Behaviour::Automaton(automaton) = &self.lowered.behaviour {
            let (concerned, outcomes) = self.concerned(automaton, delivery);
            return self.take_concerned(delivery, &concerned, &outcomes);
        }
        let slots = self.table.live();
        let mut result = Ok(());
        for slot in &slots {
            let taken = self.deliver(delivery, *slot);
            result = result.and(taken);
        }
        self.prune(&slots, true);
        result
    }

    /// Gives an event to the slices that it moves.
    fn take_concerned(
        &mut self,
        delivery: Delivery<'_>,
        concerned: &[(Slot, Option<usize>)],
        outcomes: &[Outcome],
    ) -> Result<(), EvaluationError> {
        let mut result = Ok(());
        self.changes.reserve(concerned.len());
        let are_noted = concerned.len() <= NOTED_MAX;
        if !are_noted {
            self.notes.lose();
        }
        for (slot, outcome) in concerned {
            match outcome.and_then(|number| outcomes.get(number)) {
                Some(outcome) => {
                    if are_noted {
                        self.notes.add(&self.table, *slot);
                    }
                    self.move_slice(delivery, *slot, outcome);
                }
                None => {
                    let taken = self.deliver(delivery, *slot);
                    result = result.and(taken);
                }
            }
        }
        result
    }

    /// Returns the slices that an event of every slice moves, by place, and those for which
    /// it cannot be evaluated, with the numbers of what it does to them. That depends on the
    /// state and the variables of a slice, which are the same for most.
    fn concerned(
        &self,
        automaton: &Automaton,
        delivery: Delivery<'_>,
    ) -> (Vec<(Slot, Option<usize>)>, Vec<Outcome>) {
        let mut concerned = Vec::new();
        let mut outcomes = Vec::new();
        // By the words of a slice: the number of its outcome, if it is moved.
        let mut known: Vec<(Vec<u64>, Option<usize>)> = Vec::new();
        self.table.each(|slot| {
            let mut before = known.iter();
            if let Some((_, outcome)) = before.find(|it| self.table.has_content(slot, &it.0)) {
                concerned.extend(outcome.map(|number| (slot, Some(number))));
                return;
            }
            let number = match self.outcome(automaton, delivery, slot) {
                Ok(None) => None,
                Ok(Some(outcome)) if known.len() < KNOWN_MAX => {
                    outcomes.push(outcome);
                    Some(outcomes.len() - 1)
                }
                Ok(Some(_)) | Err(_) => return concerned.push((slot, None)),
            };
            concerned.extend(number.map(|number| (slot, Some(number))));
            if known.len() < KNOWN_MAX {
                known.push((self.table.content(slot), number));
            }
        });
        concerned.sort_unstable_by_key(|(slot, _)| slot.id as Place);
        (concerned, outcomes)
    }

    /// Returns what an event does to a slice of an automaton; `None` if it does not move it.
    fn outcome(
        &self,
        automaton: &Automaton,
        delivery: Delivery<'_>,
        slot: Slot,
    ) -> Result<Option<Outcome>, EvaluationError> {
        let from = self.table.state(slot);
        let variables = self.environment(slot);
        let mut environment = variables.clone();
        let (event, captures) = (delivery.event, delivery.occurrence.values);
        let taken = automaton.take(from, &variables, event, captures, &mut environment)?;
        let (to, environment) = match taken {
            Taken::Ignored => return Ok(None),
            Taken::Goes(to) => (to, variables.clone()),
            Taken::Updates(to) => (to, environment),
        };
        Ok(Some(Outcome {
            from,
            to,
            environment,
            branch: automaton.branch_taken(from, &variables, event, captures),
        }))
    }
}
