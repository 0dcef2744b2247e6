//! Read access to a monitor: its slices, their results and their paths.

use crate::history::Path;
use crate::monitor::Monitor;
use crate::slices::{BASE, Place, SliceId, SliceView};
use crate::violations::ViolationGroup;
use juror_event::{EventId, Verdict};
use juror_language::{Property, StateId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A remembered transition of some slice, without its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TakenTransition {
    /// The event.
    pub event: EventId,
    /// The state before.
    pub from: StateId,
    /// The state after.
    pub to: StateId,
    /// The thread in which the event occurred.
    pub thread: u32,
    /// The code address, as [`crate::PathEvent`] has it.
    pub address: u64,
    /// The time of the event, in nanoseconds since the program's start; 0 if times are not taken.
    pub time: u64,
    /// The number of the event among all events of the monitor, from 1.
    pub sequence: u64,
}

impl Monitor {
    /// Returns the property.
    pub fn property(&self) -> &Arc<Property> {
        &self.plan.property
    }

    /// Returns true if verdicts depend on the time of events.
    pub fn uses_time(&self) -> bool {
        self.behaviour.uses_time()
    }

    /// Describes a state: its name in an automaton; for a formula, what it still waits
    /// for.
    pub fn state_name(&self, state: StateId) -> String {
        self.behaviour.state_name(&self.plan.property, state)
    }

    /// Describes a state briefly, for the steps of a path: its name in an automaton;
    /// for a formula, its true propositions.
    pub fn state_sketch(&self, state: StateId) -> String {
        self.behaviour.sketch(&self.plan.property, state)
    }

    /// Returns the number of slices, including the base.
    pub fn slice_count(&self) -> usize {
        self.slices.count()
    }

    /// Returns the number of slices that were forgotten in final states.
    pub fn ended_count(&self) -> u64 {
        self.ended_count
    }

    /// Returns the maximum number of slices at one time.
    pub fn peak_count(&self) -> usize {
        self.peak
    }

    /// Returns the number of bytes allocated for slices and their index, without the
    /// values of variables.
    pub fn bytes(&self) -> usize {
        self.slices.bytes() + self.index.bytes()
    }

    /// Returns the number of events that the monitor was given.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Returns the violations by events so far, grouped by kind and code address, in
    /// the order of the first of each group.
    pub fn violations(&self) -> &[ViolationGroup] {
        &self.violations.groups
    }

    /// Returns the number of violations by events.
    pub fn violation_count(&self) -> u64 {
        self.violations.total()
    }

    /// Iterates over the slices, the base first, and then over the first 1 024 that
    /// were violated in final states.
    pub fn slices(&self) -> impl Iterator<Item = SliceView<'_>> {
        let places = (0..self.slices.places()).filter(|&place| self.slices.is_live(place));
        let live = places.map(|place| self.view(place));
        let ended = self.ended.iter().map(|ended| SliceView {
            id: ended.id,
            binding: ended.binding.clone(),
            state: ended.state,
            environment: &ended.environment,
            verdict: self.at_this_point(ended.state),
            ended: true,
        });
        live.chain(ended)
    }

    /// Counts the live slices by their states, without the base; the last is the state of the
    /// base. Reads each cell once and builds no views.
    pub fn occupancy(&self) -> (BTreeMap<StateId, u64>, StateId) {
        let mut counts = BTreeMap::new();
        // Neighbours are often in one state.
        let mut run: Option<(StateId, u64)> = None;
        for place in 1..self.slices.places() {
            if !self.slices.is_live(place) {
                continue;
            }
            let state = self.slices.state(place);
            run = match run {
                Some((of, count)) if of == state => Some((of, count + 1)),
                Some((of, count)) => {
                    *counts.entry(of).or_insert(0) += count;
                    Some((state, 1))
                }
                None => Some((state, 1)),
            };
        }
        if let Some((of, count)) = run {
            *counts.entry(of).or_insert(0) += count;
        }
        (counts, self.slices.state(BASE))
    }

    /// Returns the remembered transitions of all slices from the record with this number on, in
    /// their order, and the number of the next one to be made.
    pub fn transitions_since(&self, number: u64) -> (impl Iterator<Item = TakenTransition>, u64) {
        let made = self.history.made();
        let first = number.max(made.saturating_sub(self.history.capacity() as u64));
        let taken = (first..made).filter_map(|number| {
            let (record, _) = self.history.stored(number)?;
            Some(TakenTransition {
                event: record.event,
                from: record.from,
                to: record.to,
                thread: record.thread,
                address: record.address,
                time: record.time,
                sequence: record.sequence,
            })
        });
        (taken, made)
    }

    /// Returns whether transitions are remembered.
    pub fn keeps_history(&self) -> bool {
        self.history.is_kept()
    }

    /// Returns the verdict of a slice that enters a state, whether or not the run has ended
    /// since.
    pub fn verdict_in(&self, state: StateId) -> Verdict {
        self.behaviour.verdict(state)
    }

    fn view(&self, place: Place) -> SliceView<'_> {
        SliceView {
            id: self.slices.id(place),
            binding: self.words.binding(self.slices.binding(place)),
            state: self.slices.state(place),
            environment: self.slices.environment(place),
            verdict: self.at_this_point(self.slices.state(place)),
            ended: false,
        }
    }

    fn at_this_point(&self, state: StateId) -> Verdict {
        let verdict = self.behaviour.verdict(state);
        if self.finished {
            verdict.at_end()
        } else {
            verdict
        }
    }

    /// Returns a slice by its identifier; `None` if it has been forgotten.
    pub fn slice(&self, id: SliceId) -> Option<SliceView<'_>> {
        match self.slices.place_of(id) {
            Some(place) => Some(self.view(place)),
            None => self.slices().find(|slice| slice.ended && slice.id == id),
        }
    }

    /// Returns the path of a slice to its state; empty for a slice that is forgotten or
    /// has seen no events.
    pub fn path(&self, id: SliceId) -> Path {
        self.history.path(self.last_record_of(id))
    }

    /// Returns the last remembered transition of a slice.
    pub(crate) fn last_record_of(&self, id: SliceId) -> Option<u64> {
        match self.slices.place_of(id) {
            Some(place) => self.slices.last_record(place),
            None => {
                let ended = self.ended.iter().find(|ended| ended.id == id);
                ended.and_then(|ended| ended.last_record)
            }
        }
    }
}
