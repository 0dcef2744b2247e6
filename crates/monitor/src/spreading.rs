//! Division of the slices of one property into *shares* that are evaluated
//! independently.
//!
//! If every event that matters binds the same parameter, an event concerns only slices
//! with its value of that parameter, and slices with different values of it are never
//! joined. So each of several monitors may take the events of some of the values, and
//! together they have the slices that a single monitor would have.
//! `docs/design/monitors.md` describes how offline checks use it.
//!
//! **Invariant:** a share reports the same about a slice as a single monitor of all
//! events, with the same values in its path. Results that depend on all slices together
//! are left to the owner of all shares: which events the property needs at a moment,
//! and which transitions are so old that a single monitor would have forgotten them
//! ([`remember_as_one`]).

use crate::behaviour::Behaviour;
use crate::hashing::Mixed;
use crate::monitor::Monitor;
use crate::slices::SliceId;
use juror_event::{EventId, Value};
use juror_language::StateId;
use std::hash::BuildHasher;

/// Sets of events are bits of a word.
const EVENTS_MAX: usize = 64;

/// How the slices of a property are divided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spreading {
    /// By event: the capture that binds the dividing parameter.
    slots: Vec<Option<usize>>,
    /// By event: the captures that bind parameters, each with the parameter.
    bound: Vec<Vec<(usize, usize)>>,
}

impl Spreading {
    /// Returns the capture that assigns an event to a share; `None` if no state ever
    /// needs the event.
    #[inline]
    pub fn slot(&self, event: EventId) -> Option<usize> {
        self.slots.get(usize::from(event.0)).copied().flatten()
    }

    /// Returns the captures of an event that bind parameters, with the number of each
    /// parameter.
    #[inline]
    pub fn bound(&self, event: EventId) -> &[(usize, usize)] {
        let bound = self.bound.get(usize::from(event.0));
        bound.map_or(&[], |bound| bound)
    }

    /// Returns the share that has the slices with this value.
    #[inline]
    pub fn share_of(value: &Value, shares: usize) -> usize {
        let hash = Mixed.hash_one(value);
        // The high half of the product: all shares are equally likely.
        ((u128::from(hash) * shares as u128) >> 64) as usize
    }
}

impl Monitor {
    /// Returns how the slices can be divided, or `None` if they cannot: if events
    /// concern slices with several values, one access may be several events, verdicts
    /// depend on the time or on states that are computed during the run, or the set of
    /// captured values depends on the states of other slices.
    pub fn spreading(&self) -> Option<Spreading> {
        let events = 0..self.plan.property.events.len();
        let accesses = self.plan.property.events.iter();
        let accesses = accesses
            .filter(|event| event.kind.is_about_memory())
            .count();
        if events.len() > EVENTS_MAX || accesses > 1 || !self.behaviour.is_known() {
            return None;
        }
        let mut hoisted: Vec<Option<u64>> = vec![None; events.len()];
        self.behaviour
            .states()
            .flat_map(|state| self.behaviour.needs(state))
            .try_for_each(|need| {
                let known = hoisted.get_mut(usize::from(need.event.0))?;
                let is_same = known.is_none_or(|known| known == need.hoisted);
                *known = Some(need.hoisted);
                is_same.then_some(())
            })?;
        let is_needed = |event: &usize| match &self.behaviour {
            Behaviour::Automaton(_) => hoisted.get(*event).is_some_and(Option::is_some),
            // The needs of a formula's states have not been computed yet.
            _ => true,
        };
        (0..self.parameters)
            .find_map(|parameter| {
                let slots = events.clone().map(|event| {
                    if is_needed(&event) {
                        self.slot_of(EventId(event as u16), parameter)
                    } else {
                        Ok(None)
                    }
                });
                let slots: Result<Vec<Option<usize>>, Unbound> = slots.collect();
                slots.ok()
            })
            .map(|slots| Spreading {
                bound: events
                    .map(|event| self.bound_by(EventId(event as u16)))
                    .collect(),
                slots,
            })
    }

    /// Returns the captures of an event that bind parameters, with the number of each.
    fn bound_by(&self, event: EventId) -> Vec<(usize, usize)> {
        let roles = self.plan.roles(event).iter();
        let mut bound: Vec<(usize, usize)> = roles
            .flat_map(|role| (0..).zip(&role.slots))
            .filter_map(|(parameter, slot)| Some((usize::from((*slot)?), parameter)))
            .collect();
        bound.sort_unstable();
        bound.dedup();
        bound
    }

    /// Returns the one capture that binds this parameter in every role of an event;
    /// `None` if the event has no role.
    fn slot_of(&self, event: EventId, parameter: usize) -> Result<Option<usize>, Unbound> {
        let roles = self.plan.roles(event).iter();
        let mut slots = roles.map(|role| role.slots.get(parameter).copied().flatten());
        let Some(first) = slots.next() else {
            return Ok(None);
        };
        match (first, slots.all(|slot| slot == first)) {
            (Some(slot), true) => Ok(Some(usize::from(slot))),
            _ => Err(Unbound),
        }
    }

    /// Sets the number of the last event; the next one is numbered after it.
    #[inline]
    pub fn count_from(&mut self, sequence: u64) {
        self.sequence = sequence;
    }

    /// Returns which of the first 64 events the occupied states need: bit n is event n.
    #[inline]
    pub fn needed_events(&self) -> u64 {
        let needs = (0..EVENTS_MAX).zip(self.needs());
        needs.fold(0, |mask, (event, need)| {
            mask | u64::from(need.needed) << event
        })
    }

    /// Returns the number of transitions that are remembered, and of all that were
    /// made.
    pub fn records(&self) -> (usize, u64) {
        (self.history.capacity(), self.history.made())
    }

    /// Returns the number of the event that made the first transition of a slice;
    /// `None` if it is forgotten, or there was none.
    pub fn first_event(&self, id: SliceId) -> Option<u64> {
        self.history.first_sequence(self.last_record_of(id))
    }
}

/// An error: an event does not bind the parameter, or binds it by several captures.
struct Unbound;

/// Makes the shares of a property, whose events were numbered together, forget the
/// transitions that a single monitor would have forgotten.
pub fn remember_as_one(shares: &mut [&mut Monitor]) {
    let capacity = shares.iter().map(|it| it.history.capacity()).max();
    let Some(capacity) = capacity.filter(|&capacity| capacity > 0) else {
        return;
    };
    // For each share, the oldest record to keep, moving backwards.
    let mut oldest: Vec<u64> = shares.iter().map(|it| it.history.made()).collect();
    for _ in 0..capacity {
        let before = oldest.iter().zip(&*shares).enumerate();
        let newest = before.filter_map(|(share, (&number, monitor))| {
            let sequence = monitor.history.sequence(number.checked_sub(1)?)?;
            Some((sequence, share))
        });
        match newest.max().and_then(|(_, share)| oldest.get_mut(share)) {
            Some(number) => *number -= 1,
            None => break,
        }
    }
    for (monitor, number) in shares.iter_mut().zip(oldest) {
        monitor.history.forget_before(number);
    }
}

impl Behaviour {
    /// Returns true if all effects of events are known in advance and do not depend on
    /// the time.
    fn is_known(&self) -> bool {
        match self {
            Behaviour::Automaton(_) => true,
            Behaviour::Logic(states) => states.is_whole() && !states.effects.are_guarded(),
            Behaviour::Timed(_) => false,
        }
    }

    /// Returns the states of an automaton.
    fn states(&self) -> impl Iterator<Item = StateId> + use<> {
        let count = match self {
            Behaviour::Automaton(automaton) => automaton.property.states().len(),
            _ => 0,
        };
        (0..count as u32).map(StateId)
    }
}
