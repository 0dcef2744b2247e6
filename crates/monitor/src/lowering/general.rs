//! General steps: events that the operations leave to the debugger, taken on the same
//! table.
//!
//! An event concerns the slice with its keys, or every slice if it binds nothing. The
//! consequences of a transition are those of [`crate::Monitor`], in the same order.

use super::layout::SlotWord;
use super::monitor::WordMonitor;
use super::records::RecordWords;
use super::table::Slot;
use super::{Layout, WordMemory};
use crate::automaton::Taken;
use crate::monitor::{ENDED_MAX, Ended};
use crate::slices::SliceId;
use crate::step::{Change, Occurrence};
use juror_event::{EventId, Value, Verdict};
use juror_language::{EvaluationError, StateId};

/// What an event does to a slice.
pub(super) struct Outcome {
    pub(super) from: StateId,
    pub(super) to: StateId,
    pub(super) environment: Vec<Value>,
    pub(super) branch: Option<u32>,
}

/// An event that is taken.
#[derive(Clone, Copy)]
pub(super) struct Delivery<'a> {
    pub(super) event: EventId,
    pub(super) occurrence: &'a Occurrence<'a>,
    effects: u64,
    sequence: u64,
}

impl<M: WordMemory> WordMonitor<M> {
    /// Takes an event by the general evaluator.
    pub(super) fn take_generally(
        &mut self,
        event: EventId,
        occurrence: &Occurrence<'_>,
    ) -> Result<(), EvaluationError> {
        self.tidy();
        self.words.set_addresses(self.addresses());
        let drawn = self.table.draw(Layout::EVENT_DRAWN);
        let sequence = self.table.sequence_in(drawn);
        let needs = self.needs();
        let is_needed = needs.get(usize::from(event.0)).is_some_and(|it| it.needed);
        if !is_needed {
            return Ok(());
        }
        if let Some(count) = self.general.get_mut(usize::from(event.0)) {
            *count += 1;
        }
        let applying = self.lowered.behaviour.applying(event, occurrence.values)?;
        if applying == 0 {
            return Ok(());
        }
        let delivery = Delivery {
            event,
            occurrence,
            effects: applying,
            sequence,
        };
        let is_base = self.table.layout.sizes.parameters == 0;
        match self.lowered.plan.whole_slots(event).filter(|_| !is_base) {
            Some(slots) => {
                let slots = slots.to_vec();
                let keys = self.bind(delivery, &slots)?;
                self.take_by_keys(delivery, &keys)
            }
            None if is_base => self.deliver(delivery, self.table.base()),
            None => self.take_everywhere(delivery),
        }
    }

    /// Returns the keys of an event.
    fn bind(&mut self, delivery: Delivery<'_>, slots: &[u8]) -> Result<Vec<u64>, EvaluationError> {
        let mut keys = Vec::with_capacity(slots.len());
        for (parameter, slot) in slots.iter().enumerate() {
            match delivery.occurrence.values.get(usize::from(*slot)) {
                Some(Value::Unavailable(_)) | None => {
                    let slot = usize::from(*slot);
                    let (event, occurrence) = (delivery.event, delivery.occurrence);
                    let plan = &self.lowered.plan;
                    return Err(crate::routing::unbound(
                        plan, event, occurrence, parameter, slot,
                    ));
                }
                Some(value) => keys.push(self.words.word(parameter, value)),
            }
        }
        Ok(keys)
    }

    /// Gives an event to the slice with these keys, or creates that slice.
    fn take_by_keys(
        &mut self,
        delivery: Delivery<'_>,
        keys: &[u64],
    ) -> Result<(), EvaluationError> {
        let slot = self.table.find(keys);
        if slot.id == 0 {
            return self.bear(delivery, keys);
        }
        let result = self.deliver(delivery, slot);
        // A property with several parameters looks for redundant slices after errors, too.
        if keys.len() > 1 || result.is_ok() {
            self.prune(&[slot], keys.len() > 1);
        }
        result
    }

    /// Drops slices of a formula that equal the base; if `hides`, the base reports their
    /// violations.
    pub(super) fn prune(&mut self, slots: &[Slot], hides: bool) {
        if !self.lowered.behaviour.drops() {
            return;
        }
        let base = self.table.state(self.table.base());
        let mut is_hidden = false;
        for slot in slots.iter().filter(|slot| slot.stripe.is_some()) {
            let is_live = self.table.word(*slot, SlotWord::Id) == slot.id;
            if is_live && self.table.state(*slot) == base {
                is_hidden |= self.lowered.behaviour.verdict(base) == Verdict::Violated;
                self.forget(*slot);
            }
        }
        if is_hidden && hides {
            let mut changes = std::mem::take(&mut self.changes);
            changes.retain(|change| {
                !change.violates() || self.table.slot_of(change.slice.0).is_some()
            });
            self.changes = changes;
        }
    }

    /// Computes what an event does to a slice with this state and these variables.
    fn take(
        &mut self,
        delivery: Delivery<'_>,
        state: StateId,
        variables: &[Value],
    ) -> Result<(Taken, Vec<Value>), EvaluationError> {
        let mut environment = variables.to_vec();
        let taken = self.lowered.behaviour.take(
            (state, variables),
            delivery.event,
            delivery.occurrence,
            delivery.effects,
            &mut environment,
        )?;
        if !matches!(taken, Taken::Updates(_)) {
            environment = variables.to_vec();
        }
        Ok((taken, environment))
    }

    /// Gives an event to one slice.
    pub(super) fn deliver(
        &mut self,
        delivery: Delivery<'_>,
        slot: Slot,
    ) -> Result<(), EvaluationError> {
        let from = self.table.state(slot);
        let variables = self.environment(slot);
        let (taken, environment) = self.take(delivery, from, &variables)?;
        let to = match taken {
            Taken::Ignored => return Ok(()),
            Taken::Goes(to) | Taken::Updates(to) => to,
        };
        let captures = delivery.occurrence.values;
        let behaviour = &self.lowered.behaviour;
        let outcome = Outcome {
            from,
            to,
            environment,
            branch: behaviour.branch_taken((from, &variables), delivery.event, captures),
        };
        self.notes.add(&self.table, slot);
        self.move_slice(delivery, slot, &outcome);
        Ok(())
    }

    /// Moves a slice, which the caller has noted, and reports that.
    pub(super) fn move_slice(&mut self, delivery: Delivery<'_>, slot: Slot, outcome: &Outcome) {
        let (from, to) = (outcome.from, outcome.to);
        let mut change = self.change(slot.id, None, from, to);
        change.branch = outcome.branch;
        let previous = self.table.last_record(slot);
        let record = self.remember(delivery, previous, from, to);
        self.write(slot, to, &outcome.environment, record);
        if from != to {
            self.table.count(slot, to, true);
            self.table.count(slot, from, false);
        }
        self.changed(change, slot, delivery);
    }

    /// Creates the slice with these keys if the event moves the base.
    fn bear(&mut self, delivery: Delivery<'_>, keys: &[u64]) -> Result<(), EvaluationError> {
        let mask = crate::words::mask_of(keys);
        let plan = std::sync::Arc::clone(&self.lowered.plan);
        if !plan.constraint.admits(keys, mask, &self.words)? {
            return Ok(());
        }
        let base = self.table.base();
        let from = self.table.state(base);
        let variables = self.environment(base);
        let (taken, environment) = self.take(delivery, from, &variables)?;
        let to = match taken {
            Taken::Ignored => return Ok(()),
            Taken::Goes(to) | Taken::Updates(to) => to,
        };
        let mut slot = self.table.find(keys);
        if self.table.is_full(slot) {
            let contents = self.table.contents();
            if !self.table.rebuild(&contents) {
                return Err(EvaluationError {
                    span: plan.property.span.clone(),
                    message: "there is no memory for another slice".to_owned(),
                });
            }
            slot = self.table.find(keys);
        }
        let previous = self.table.last_record(base);
        let record = self.remember(delivery, previous, from, to);
        let slot = self.table.bear(slot);
        for (parameter, key) in (0..).zip(keys) {
            let at = slot.at + u64::from(self.table.layout.key(parameter));
            self.table.memory.store(at, *key);
        }
        self.notes.add(&self.table, slot);
        self.write(slot, to, &environment, record);
        self.table.count(slot, to, true);
        let mut change = self.change(slot.id, Some(SliceId(0)), from, to);
        let captures = delivery.occurrence.values;
        let behaviour = &self.lowered.behaviour;
        change.branch = behaviour.branch_taken((from, &variables), delivery.event, captures);
        self.changed(change, slot, delivery);
        Ok(())
    }

    /// Writes the state, the variables and the last record of a slice.
    pub(super) fn write(
        &mut self,
        slot: Slot,
        state: StateId,
        environment: &[Value],
        record: Option<u64>,
    ) {
        let kinds = std::sync::Arc::clone(&self.lowered.variables);
        let mut others = 0_u64;
        for (variable, (kind, value)) in (0_u32..).zip(kinds.iter().zip(environment)) {
            let (word, is_other) = self.word(Some(*kind), value);
            others |= u64::from(is_other) << variable;
            let at = slot.at + u64::from(self.table.layout.variable(variable));
            self.table.memory.store(at, word);
        }
        self.table.set_last(slot, state, record, others);
        self.violated |= self.lowered.behaviour.verdict(state) == Verdict::Violated;
    }

    /// Writes a record; returns its number, or `previous` if none are kept.
    fn remember(
        &mut self,
        delivery: Delivery<'_>,
        previous: Option<u64>,
        from: StateId,
        to: StateId,
    ) -> Option<u64> {
        if self.table.layout.sizes.records == 0 {
            return previous;
        }
        let occurrence = delivery.occurrence;
        let number = self.table.made();
        // The number of the event has been drawn.
        self.table.draw(Layout::RECORD_DRAWN - Layout::EVENT_DRAWN);
        let all_kinds = std::sync::Arc::clone(&self.lowered.kinds);
        let kinds = all_kinds.get(usize::from(delivery.event.0));
        let count = self.capture_count(delivery.event);
        let values = occurrence.values.get(..count);
        let values = values.unwrap_or(occurrence.values);
        let kinds = kinds.map_or(&[][..], |kinds| kinds);
        let (absent, others) = self.write_values(number, kinds, values);
        let missing = (values.len()..count).fold(0, |all, slot| all | 1 << (slot & 63));
        let record = RecordWords {
            previous,
            sequence: delivery.sequence,
            event: delivery.event,
            from,
            to,
            thread: occurrence.thread,
            address: occurrence.address,
            absent: absent | missing,
            others,
        };
        self.table.put_record(number, &record);
        self.put_time(number, occurrence.time);
        Some(number)
    }

    /// Reports a transition, and forgets a slice that is in a final state.
    fn changed(&mut self, change: Change, slot: Slot, delivery: Delivery<'_>) {
        if change.violates() {
            let event = Some(delivery.event);
            self.violations
                .note(&change, event, delivery.occurrence, delivery.sequence);
        }
        self.changes.push(change);
        if change.ended {
            self.end(slot, change);
        }
    }

    /// Forgets a slice in a final state, except for reports.
    fn end(&mut self, slot: Slot, change: Change) {
        if change.verdict_after == Verdict::Violated && self.ended.len() < ENDED_MAX {
            self.ended.push(Ended {
                id: change.slice,
                binding: self.words.binding(&self.table.keys(slot)),
                state: change.to,
                environment: self.environment(slot),
                last_record: self.table.last_record(slot),
            });
        }
        self.ended_count += 1;
        self.forget(slot);
    }

    /// Removes a slice.
    fn forget(&mut self, slot: Slot) {
        let state = self.table.state(slot);
        self.notes.add(&self.table, slot);
        self.table.remove(slot);
        self.table.count(slot, state, false);
    }
}
