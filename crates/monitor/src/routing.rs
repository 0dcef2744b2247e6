//! Routing of events to slices, and creation of slices.
//!
//! An event that binds no parameter goes to every slice. One that binds parameters goes
//! to the slices that bind at least these with the same values; every compatible slice
//! that binds less is the parent of a slice with the bindings of both (Chen and Rosu
//! 2009, algorithm D; [`crate::joining`]).
//!
//! An event of a formula may have several roles; a slice takes it once, with the
//! effects of all roles whose binding it contains. Each role has an effect without a
//! condition, which may be that it is a step.
//!
//! **Invariant:** for every binding, the maximal slice whose binding it contains is in
//! the state of the property evaluated alone over the events that concern the binding
//! (until final states forget slices).

use crate::automaton::Taken;
use crate::monitor::Monitor;
use crate::plan::Plan;
use crate::slices::{BASE, Place};
use crate::step::Occurrence;
use crate::words::{UNBOUND, Word, agree, mask_of};
use juror_event::{EventId, Value};
use juror_language::EvaluationError;
use std::sync::Arc;

/// An event that is being routed.
#[derive(Clone, Copy)]
pub(crate) struct Delivery<'a> {
    pub event: EventId,
    pub occurrence: &'a Occurrence<'a>,
    /// The effects of the event that its values allow.
    pub applying: u64,
}

/// A role of the event, with the values of this occurrence.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Played {
    pub mask: u32,
    pub effects: u64,
}

impl Monitor {
    /// Returns the error of an event that cannot be evaluated if some slice needs the
    /// event.
    #[cold]
    fn refuse(&mut self, event: EventId, error: EvaluationError) -> Result<(), EvaluationError> {
        self.count_again()?;
        if self.needs.is_needed(event) {
            Err(error)
        } else {
            Ok(())
        }
    }

    /// Gives an event to all slices that it concerns; the first error is returned after
    /// all others have taken it.
    #[inline]
    pub(crate) fn route(
        &mut self,
        event: EventId,
        occurrence: &Occurrence<'_>,
    ) -> Result<(), EvaluationError> {
        if !self.needs.is_deferred() && !self.needs.is_needed(event) {
            return Ok(());
        }
        let applying = match self.behaviour.applying(event, occurrence.values) {
            Ok(applying) => applying,
            Err(error) => return self.refuse(event, error),
        };
        if applying == 0 {
            return Ok(());
        }
        let delivery = Delivery {
            event,
            occurrence,
            applying,
        };
        match (self.parameters, self.plan.roles(event)) {
            (0, _) => self.deliver(delivery, applying, BASE),
            (1, [role]) if role.mask == 1 => {
                let slot = role.slots.first().copied().flatten();
                let slot = usize::from(slot.unwrap_or(0));
                let word = match occurrence.values.get(slot) {
                    Some(Value::Unavailable(_)) | None => {
                        let error = unbound(&self.plan, event, occurrence, 0, slot);
                        return self.refuse(event, error);
                    }
                    Some(value) => self.words.word(0, value),
                };
                self.route_word(delivery, word)
            }
            _ => self.route_anywhere(delivery),
        }
    }

    /// Routes an event that binds the only parameter.
    #[inline]
    pub(crate) fn route_word(
        &mut self,
        delivery: Delivery<'_>,
        word: Word,
    ) -> Result<(), EvaluationError> {
        match self.index.only(&self.slices, word) {
            Some(place) => {
                self.deliver(delivery, delivery.applying, place)?;
                if self.drops && self.slices.state(place) == self.slices.state(BASE) {
                    self.forget(place);
                }
                Ok(())
            }
            None => {
                if let Some(joined) = self.scratch.joined.first_mut() {
                    *joined = word;
                }
                if !self
                    .plan
                    .constraint
                    .admits(&self.scratch.joined, 1, &self.words)?
                {
                    return Ok(());
                }
                let from = self.slices.state(BASE);
                let taken = self.take(delivery, delivery.applying, BASE)?;
                match taken {
                    Taken::Ignored => Ok(()),
                    Taken::Goes(to) | Taken::Updates(to) => {
                        self.bear(delivery, BASE, from, to, taken).map(|_| ())
                    }
                }
            }
        }
    }

    /// Routes an event in one or several roles that bind any parameters.
    fn route_anywhere(&mut self, delivery: Delivery<'_>) -> Result<(), EvaluationError> {
        let plan = Arc::clone(&self.plan);
        if let Err(error) = self.bind_roles(&plan, delivery) {
            return self.refuse(delivery.event, error);
        }
        // The buffers are moved out and back: no allocation, no borrow of `self`.
        let mut targets = std::mem::take(&mut self.scratch.targets);
        self.find_targets(&mut targets);
        // Parents first: the slices that they create must not take the event twice, and
        // are copies of the parents before the event.
        let mut result = self.join(&plan, delivery);
        for &place in &targets {
            let effects = self.effects_on(place);
            result = result.and(self.deliver(delivery, effects, place));
        }
        if self.drops {
            targets.extend_from_slice(&self.scratch.created);
            self.prune(&targets);
        }
        self.scratch.targets = targets;
        result
    }

    /// Writes the bindings of the event in each of its roles to the scratch buffers.
    fn bind_roles(&mut self, plan: &Plan, delivery: Delivery<'_>) -> Result<(), EvaluationError> {
        self.scratch.roles.clear();
        self.scratch.role_words.clear();
        for role in plan.roles(delivery.event) {
            let effects = role.effects & delivery.applying;
            if effects == 0 {
                continue;
            }
            for (parameter, slot) in role.slots.iter().enumerate() {
                let Some(slot) = slot.map(usize::from) else {
                    self.scratch.role_words.push(UNBOUND);
                    continue;
                };
                match delivery.occurrence.values.get(slot) {
                    Some(Value::Unavailable(_)) | None => {
                        let (event, occurrence) = (delivery.event, delivery.occurrence);
                        return Err(unbound(plan, event, occurrence, parameter, slot));
                    }
                    Some(value) => {
                        let word = self.words.word(parameter, value);
                        self.scratch.role_words.push(word);
                    }
                }
            }
            let mask = role.mask;
            self.scratch.roles.push(Played { mask, effects });
        }
        Ok(())
    }

    /// Finds the slices that the event concerns in one of its roles.
    fn find_targets(&self, targets: &mut Vec<Place>) {
        targets.clear();
        let scratch = &self.scratch;
        if scratch.roles.iter().any(|role| role.mask == 0) {
            let live = (0..self.slices.places()).filter(|&place| self.slices.is_live(place));
            targets.extend(live);
            return;
        }
        let bindings = scratch.role_words.chunks(self.parameters.max(1));
        for (role, binding) in scratch.roles.iter().zip(bindings) {
            self.index
                .targets(&self.slices, binding, role.mask, targets);
        }
        // Several roles may concern one slice. Sorting makes the order independent of
        // the index.
        if targets.len() > 1 {
            targets.sort_unstable();
            targets.dedup();
        }
    }

    /// Returns the effects of the current event on a slice.
    pub(crate) fn effects_on(&self, place: Place) -> u64 {
        match self.scratch.roles.as_slice() {
            [role] if role.mask == 0 => role.effects,
            _ => {
                let binding = self.slices.binding(place);
                self.effects_at(binding, mask_of(binding))
            }
        }
    }

    /// Returns the effects of the current event on a slice with this binding, whose
    /// parameters are `mask`.
    #[inline]
    pub(crate) fn effects_at(&self, binding: &[Word], mask: u32) -> u64 {
        let scratch = &self.scratch;
        let bindings = scratch.role_words.chunks_exact(self.parameters.max(1));
        let roles = scratch.roles.iter().zip(bindings);
        let played = roles.filter(|(role, of_role)| {
            role.mask & mask == role.mask && agree(binding, of_role, role.mask)
        });
        played.fold(0, |effects, (role, _)| effects | role.effects)
    }

    /// Computes what the event does to a slice; new variables are in the scratch
    /// buffer.
    #[inline]
    pub(crate) fn take(
        &mut self,
        delivery: Delivery<'_>,
        effects: u64,
        place: Place,
    ) -> Result<Taken, EvaluationError> {
        let slice = (self.slices.state(place), self.slices.environment(place));
        let taken = self.behaviour.take(
            slice,
            delivery.event,
            delivery.occurrence,
            effects,
            &mut self.scratch.environment,
        )?;
        if let Taken::Goes(to) | Taken::Updates(to) = taken {
            self.behaviour.prepare(&self.plan, to)?;
        }
        Ok(taken)
    }

    /// Applies the event to one slice.
    #[inline]
    pub(crate) fn deliver(
        &mut self,
        delivery: Delivery<'_>,
        effects: u64,
        place: Place,
    ) -> Result<(), EvaluationError> {
        let from = self.slices.state(place);
        let taken = self.take(delivery, effects, place)?;
        let to = match taken {
            Taken::Ignored => return Ok(()),
            Taken::Goes(to) | Taken::Updates(to) => to,
        };
        let last = self.slices.last_record(place);
        let record = self.remember(delivery, last, from, to);
        let mut change = self.change(place, None, from, to);
        change.branch = self.branch_taken(delivery, place, from);
        let environment = match taken {
            Taken::Updates(_) => self.scratch.environment.as_mut_slice(),
            _ => &mut [],
        };
        self.slices.advance(place, to, environment, record);
        if from != to {
            self.moved(place, from, to);
        }
        self.changed(change, Some(delivery.event), delivery.occurrence);
        Ok(())
    }
}

#[cold]
pub(crate) fn unbound(
    plan: &Plan,
    event: EventId,
    occurrence: &Occurrence<'_>,
    position: usize,
    slot: usize,
) -> EvaluationError {
    let property = &plan.property;
    let capture = property
        .event(event)
        .and_then(|event| event.captures.get(slot));
    let name = property.slice.get(position).map_or("", |name| name);
    let why = match occurrence.values.get(slot) {
        Some(Value::Unavailable(why)) => why.to_string(),
        _ => "not captured".to_owned(),
    };
    EvaluationError {
        span: capture.map_or(0..0, |capture| capture.span.clone()),
        message: format!("the slice parameter `{name}` is not available: {why}"),
    }
}
