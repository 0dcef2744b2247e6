//! The slices of one property evaluated apart from each other, in *shares*.
//!
//! Where every event that matters binds one and the same parameter, an event
//! concerns slices with its value of it alone, and slices with different values
//! of it are never joined. So each of several monitors may take the events of
//! some of the values, and together they have the slices that one would have.
//!
//! Invariant: what a share says of a slice, one monitor of all events would say,
//! with the same values in its path. What depends on all slices together is for
//! those to find out who have all shares: which events the property needs at a
//! moment, and which transitions are so old that one monitor would have
//! forgotten them ([`remember_as_one`]).

use crate::behaviour::Behaviour;
use crate::hashing::Mixed;
use crate::monitor::Monitor;
use crate::slices::SliceId;
use juror_event::{EventId, Value};
use juror_language::StateId;
use std::hash::BuildHasher;

/// Sets of events are bits of a word.
const EVENTS_MAX: usize = 64;

/// By what the slices of a property are spread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spreading {
    /// By event: the capture that binds the parameter.
    slots: Vec<Option<usize>>,
    /// By event: which parameter each capture binds that binds one.
    bound: Vec<Vec<(usize, usize)>>,
}

impl Spreading {
    /// The capture of an event by which it belongs to a share; nothing where no
    /// state ever needs the event.
    #[inline]
    pub fn slot(&self, event: EventId) -> Option<usize> {
        self.slots.get(usize::from(event.0)).copied().flatten()
    }

    /// The captures of an event that bind parameters, with the number of the parameter.
    #[inline]
    pub fn bound(&self, event: EventId) -> &[(usize, usize)] {
        let bound = self.bound.get(usize::from(event.0));
        bound.map_or(&[], |bound| bound)
    }

    /// Which of so many shares has the slices with this value.
    #[inline]
    pub fn share_of(value: &Value, shares: usize) -> usize {
        let hash = Mixed.hash_one(value);
        // The high half of the product: every share is as likely as the others.
        ((u128::from(hash) * shares as u128) >> 64) as usize
    }
}

impl Monitor {
    /// By what its slices can be spread; nothing where they cannot: events concern
    /// slices of several values, one access may be several events, verdicts depend on
    /// the time or on what is found out while the run goes on, or which values are read
    /// depends on the states of other slices.
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
            // Its states have not been asked yet what they need.
            _ => true,
        };
        (0..self.parameters)
            .find_map(|parameter| {
                let slots = events.clone().map(|event| match is_needed(&event) {
                    true => self.slot_of(EventId(event as u16), parameter),
                    false => Ok(None),
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

    /// The captures of an event that bind parameters, with the number of each.
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

    /// The one capture that binds this parameter in every role of an event; nothing
    /// where the event has no role.
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

    /// Of the next event on, the numbers begin after this one.
    #[inline]
    pub fn count_from(&mut self, sequence: u64) {
        self.sequence = sequence;
    }

    /// Which of the first 64 events the occupied states need: bit n is event n.
    #[inline]
    pub fn needed_events(&self) -> u64 {
        let needs = (0..EVENTS_MAX).zip(self.needs());
        needs.fold(0, |mask, (event, need)| {
            mask | u64::from(need.needed) << event
        })
    }

    /// How many transitions it remembers, and how many there were.
    pub fn records(&self) -> (usize, u64) {
        (self.history.capacity(), self.history.made())
    }

    /// The number of the event that made the first transition of a slice; nothing
    /// where that is forgotten, or there was none.
    pub fn first_event(&self, id: SliceId) -> Option<u64> {
        self.history.first_sequence(self.last_record_of(id))
    }
}

/// An event leaves the parameter open, or takes it from several captures.
struct Unbound;

/// The shares of a property, whose events were numbered together, forget what one
/// monitor of them all would have forgotten.
pub fn remember_as_one(shares: &mut [&mut Monitor]) {
    let capacity = shares.iter().map(|it| it.history.capacity()).max();
    let Some(capacity) = capacity.filter(|&capacity| capacity > 0) else {
        return;
    };
    // The next record of each that is to be kept, going back.
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
    /// True when all that an event can do is known beforehand, and the time has no
    /// part in it.
    fn is_known(&self) -> bool {
        match self {
            Behaviour::Automaton(_) => true,
            Behaviour::Logic(states) => states.is_whole() && !states.effects.are_guarded(),
            Behaviour::Timed(_) => false,
        }
    }

    /// The states of an automaton.
    fn states(&self) -> impl Iterator<Item = StateId> + use<> {
        let count = match self {
            Behaviour::Automaton(automaton) => automaton.property.states().len(),
            _ => 0,
        };
        (0..count as u32).map(StateId)
    }
}
