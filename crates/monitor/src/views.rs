//! A monitor, looked at: its slices, what became of them, how they came there.

use crate::history::Path;
use crate::monitor::Monitor;
use crate::slices::{Place, SliceId, SliceView};
use crate::violations::ViolationGroup;
use juror_event::Verdict;
use juror_language::{Property, StateId};
use std::sync::Arc;

impl Monitor {
    /// The property.
    pub fn property(&self) -> &Arc<Property> {
        &self.plan.property
    }

    /// True when verdicts depend on the time of events.
    pub fn uses_time(&self) -> bool {
        self.behaviour.uses_time()
    }

    /// A state in words: its name in an automaton; of a formula, what is still
    /// waited for.
    pub fn state_name(&self, state: StateId) -> String {
        self.behaviour.state_name(&self.plan.property, state)
    }

    /// A state in a few words, for the steps of a path: its name in an
    /// automaton; of a formula, the propositions that hold.
    pub fn state_sketch(&self, state: StateId) -> String {
        self.behaviour.sketch(&self.plan.property, state)
    }

    /// How many slices there are, the base included.
    pub fn slice_count(&self) -> usize {
        self.slices.count()
    }

    /// How many slices have been forgotten in final states.
    pub fn ended_count(&self) -> u64 {
        self.ended_count
    }

    /// The most slices that there were at once.
    pub fn peak_count(&self) -> usize {
        self.peak
    }

    /// The bytes that slices and their index have taken, without the values of
    /// variables.
    pub fn bytes(&self) -> usize {
        self.slices.bytes() + self.index.bytes()
    }

    /// How many events the monitor was given.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The violations by events so far, those of one kind at one place
    /// together, in the order of their first.
    pub fn violations(&self) -> &[ViolationGroup] {
        &self.violations.groups
    }

    /// How many violations by events there were.
    pub fn violation_count(&self) -> u64 {
        self.violations.total()
    }

    /// The slices, the base first; then those that were violated in final
    /// states (the first 1 024 of them).
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

    /// One slice by its name; nothing when it has been forgotten.
    pub fn slice(&self, id: SliceId) -> Option<SliceView<'_>> {
        match self.slices.place_of(id) {
            Some(place) => Some(self.view(place)),
            None => self.slices().find(|slice| slice.ended && slice.id == id),
        }
    }

    /// How a slice came to its state; no events for a slice that is forgotten
    /// or has seen none.
    pub fn path(&self, id: SliceId) -> Path {
        self.history.path(self.last_record_of(id))
    }

    /// The last transition of a slice that is remembered.
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
