//! Which slices take an event, and which come into being by it.
//!
//! An event that binds no parameter goes to every slice. One that binds some
//! goes to the slices that bind at least these with the same values, and every
//! slice that binds less and contradicts nothing is the parent of a slice with
//! the bindings of both (Chen and Rosu 2009, algorithm D). The base slice and
//! other parents stay as they are.
//!
//! A new slice that takes no transition would be a copy of its parent, so it
//! is left out, unless another slice came into being between the two.
//!
//! Invariant: for every binding, the slice that knows most of it and
//! contradicts none of it is in the state of the automaton run alone over the
//! events that the binding contains (until final states forget slices).

use crate::automaton::Automaton;
use crate::history::Record;
use crate::index::agree;
use crate::monitor::{ENDED_MAX, Ended, Monitor, Scratch};
use crate::slices::{BASE, Place};
use crate::step::{Change, Occurrence};
use juror_event::{EventId, Value, Verdict};
use juror_language::{EvaluationError, StateId};
use std::sync::Arc;

/// An event on its way to the slices.
#[derive(Clone, Copy)]
struct Delivery<'a> {
    automaton: &'a Automaton,
    event: EventId,
    occurrence: &'a Occurrence<'a>,
    /// Which parameters it binds.
    mask: u32,
}

impl Monitor {
    /// Gives an event to all slices that it concerns; the first error comes
    /// back when all others have taken it.
    pub(crate) fn route(
        &mut self,
        event: EventId,
        occurrence: &Occurrence<'_>,
    ) -> Result<(), EvaluationError> {
        let automaton = Arc::clone(&self.automaton);
        let delivery = Delivery {
            automaton: &automaton,
            event,
            occurrence,
            mask: automaton.mask(event),
        };
        let mut result = Ok(());
        if delivery.mask == 0 {
            for place in 0..self.slices.places() {
                if self.slices.is_live(place) {
                    result = result.and(self.deliver(delivery, place));
                }
            }
            return result;
        }
        bind(&mut self.scratch, delivery)?;
        // The buffers go round by value: no allocation, no borrow of the rest.
        let mut targets = std::mem::take(&mut self.scratch.targets);
        let mut parents = std::mem::take(&mut self.scratch.parents);
        let binding = &self.scratch.binding;
        self.index.split(
            &self.slices,
            binding,
            delivery.mask,
            &mut targets,
            &mut parents,
        );
        // Parents first: what they give birth to must not take the event twice,
        // and they do not change by it themselves.
        result = result.and(self.join(delivery, &mut parents));
        for &place in &targets {
            result = result.and(self.deliver(delivery, place));
        }
        self.scratch.targets = targets;
        self.scratch.parents = parents;
        result
    }

    /// One slice takes the event.
    fn deliver(&mut self, delivery: Delivery<'_>, place: Place) -> Result<(), EvaluationError> {
        let from = self.slices.state(place);
        let taken = delivery.automaton.take(
            from,
            self.slices.environment(place),
            delivery.event,
            delivery.occurrence.values,
            &mut self.scratch.environment,
        )?;
        let Some(to) = taken else {
            return Ok(());
        };
        let record = self.remember(delivery, self.slices.last_record(place), from, to);
        let environment = &mut self.scratch.environment;
        self.slices.advance(place, to, environment, record);
        if from != to {
            self.needs.enter(delivery.automaton, to);
            self.needs.leave(delivery.automaton, from);
            self.tally.enter(delivery.automaton.verdict(to));
            self.tally.leave(delivery.automaton.verdict(from));
        }
        self.changed(delivery, place, None, from, to);
        Ok(())
    }

    /// New slices from parents, from those that bind most to the base: the
    /// first parent of a binding is the one that knows most of it.
    fn join(
        &mut self,
        delivery: Delivery<'_>,
        parents: &mut [Place],
    ) -> Result<(), EvaluationError> {
        self.scratch.declined.clear();
        self.scratch.created.clear();
        if parents.len() > 1 {
            let slices = &self.slices;
            parents.sort_unstable_by_key(|&parent| {
                let bound = slices.mask(parent).count_ones();
                (std::cmp::Reverse(bound), slices.id(parent))
            });
        }
        let mut result = Ok(());
        for &parent in &*parents {
            let mask = self.join_binding(delivery, parent);
            let joined = &self.scratch.joined;
            let known = self.index.exact(&self.slices, joined, mask).is_some();
            if known || self.was_declined(mask) {
                continue;
            }
            match self.bear(delivery, parent) {
                Ok(true) => {}
                Ok(false) => self.scratch.declined.push((parent, mask)),
                Err(error) => {
                    // Its slice stays what its parent is.
                    self.scratch.declined.push((parent, mask));
                    result = result.and(Err(error));
                }
            }
        }
        self.separate(delivery);
        result
    }

    /// Puts what the parent and the event bind together into the scratch.
    fn join_binding(&mut self, delivery: Delivery<'_>, parent: Place) -> u32 {
        let of_parent = self.slices.binding(parent);
        let both = self.scratch.binding.iter().zip(of_parent);
        for (joined, (of_event, of_parent)) in self.scratch.joined.iter_mut().zip(both) {
            joined.clone_from(if of_event.is_some() {
                of_event
            } else {
                of_parent
            });
        }
        self.slices.mask(parent) | delivery.mask
    }

    /// True when a parent that knows more has declined the joined binding.
    fn was_declined(&self, mask: u32) -> bool {
        let joined = &self.scratch.joined;
        self.scratch.declined.iter().any(|&(parent, other)| {
            let own = self.slices.mask(parent);
            // What the event binds is the same for all.
            other == mask && agree(self.slices.binding(parent), joined, own)
        })
    }

    /// A new slice with the joined binding, when the parent's state takes a
    /// transition on the event.
    fn bear(&mut self, delivery: Delivery<'_>, parent: Place) -> Result<bool, EvaluationError> {
        let from = self.slices.state(parent);
        let taken = delivery.automaton.take(
            from,
            self.slices.environment(parent),
            delivery.event,
            delivery.occurrence.values,
            &mut self.scratch.environment,
        )?;
        let Some(to) = taken else {
            return Ok(false);
        };
        let record = self.remember(delivery, self.slices.last_record(parent), from, to);
        let place = self
            .slices
            .insert(&self.scratch.joined, to, &self.scratch.environment, record);
        self.index.insert(&self.slices, place);
        self.needs.enter(delivery.automaton, to);
        self.tally.enter(delivery.automaton.verdict(to));
        self.scratch.created.push(place);
        self.changed(delivery, place, Some(parent), from, to);
        Ok(true)
    }

    /// Copies of parents that declined, where a slice that came into being
    /// would otherwise be taken for the one that knows most of the binding.
    /// From those that bind least, since a copy may call for another.
    fn separate(&mut self, delivery: Delivery<'_>) {
        if self.scratch.created.is_empty() || self.scratch.declined.is_empty() {
            return;
        }
        let declined = std::mem::take(&mut self.scratch.declined);
        for &(parent, mask) in declined.iter().rev() {
            self.join_binding(delivery, parent);
            let joined = &self.scratch.joined;
            let between = self.scratch.created.iter().any(|&created| {
                let own = self.slices.mask(created);
                self.slices.is_live(created)
                    && own & mask == own
                    && agree(self.slices.binding(created), joined, own)
            });
            if between {
                self.copy(delivery, parent);
            }
        }
        self.scratch.declined = declined;
    }

    /// A new slice with the joined binding, as its parent is.
    fn copy(&mut self, delivery: Delivery<'_>, parent: Place) {
        let state = self.slices.state(parent);
        let environment = &mut self.scratch.environment;
        for (to, from) in environment.iter_mut().zip(self.slices.environment(parent)) {
            to.clone_from(from);
        }
        let record = self.slices.last_record(parent);
        let place = self
            .slices
            .insert(&self.scratch.joined, state, environment, record);
        self.index.insert(&self.slices, place);
        self.needs.enter(delivery.automaton, state);
        self.tally.enter(delivery.automaton.verdict(state));
        self.scratch.created.push(place);
    }

    fn remember(
        &mut self,
        delivery: Delivery<'_>,
        previous: Option<u64>,
        from: StateId,
        to: StateId,
    ) -> Option<u64> {
        let record = Record {
            previous,
            sequence: self.sequence,
            event: delivery.event,
            from,
            to,
            thread: delivery.occurrence.thread,
            address: delivery.occurrence.address,
        };
        self.history.push(record, delivery.occurrence)
    }

    /// Notes a transition, and forgets a slice that is in a final state.
    fn changed(
        &mut self,
        delivery: Delivery<'_>,
        place: Place,
        parent: Option<Place>,
        from: StateId,
        to: StateId,
    ) {
        let ended = place != BASE && delivery.automaton.is_final(to);
        let verdict_after = delivery.automaton.verdict(to);
        self.changes.push(Change {
            slice: self.slices.id(place),
            parent: parent.map(|parent| self.slices.id(parent)),
            from,
            to,
            verdict_before: delivery.automaton.verdict(from),
            verdict_after,
            ended,
        });
        if !ended {
            return;
        }
        if verdict_after == Verdict::Violated && self.ended.len() < ENDED_MAX {
            self.ended.push(Ended {
                id: self.slices.id(place),
                binding: self.slices.binding(place).to_vec(),
                state: to,
                environment: self.slices.environment(place).to_vec(),
                last_record: self.slices.last_record(place),
            });
        }
        self.ended_count += 1;
        self.index.remove(&self.slices, place);
        self.slices.remove(place);
        self.needs.leave(delivery.automaton, to);
        self.tally.leave(verdict_after);
    }
}

/// Puts what the event binds into the scratch.
fn bind(scratch: &mut Scratch, delivery: Delivery<'_>) -> Result<(), EvaluationError> {
    let property = &delivery.automaton.property;
    let event = usize::from(delivery.event.0);
    let slots = property.bindings.get(event).map_or(&[][..], |slots| slots);
    for (position, (place, slot)) in scratch.binding.iter_mut().zip(slots).enumerate() {
        let Some(slot) = slot.map(usize::from) else {
            *place = None;
            continue;
        };
        match delivery.occurrence.values.get(slot) {
            Some(value) if !matches!(value, Value::Unavailable(_)) => *place = Some(value.clone()),
            missing => return Err(unbound(delivery, position, slot, missing)),
        }
    }
    Ok(())
}

fn unbound(
    delivery: Delivery<'_>,
    position: usize,
    slot: usize,
    value: Option<&Value>,
) -> EvaluationError {
    let property = &delivery.automaton.property;
    let capture = property
        .event(delivery.event)
        .and_then(|event| event.captures.get(slot));
    let name = property.slice.get(position).map_or("", |name| name);
    let why = match value {
        Some(Value::Unavailable(why)) => why.to_string(),
        _ => "not captured".to_owned(),
    };
    EvaluationError {
        span: capture.map_or(0..0, |capture| capture.span.clone()),
        message: format!("the slice parameter `{name}` is not available: {why}"),
    }
}
