//! A property being evaluated.

use crate::automaton::Automaton;
use crate::history::{HISTORY_RECORDS, History, Path};
use crate::index::Index;
use crate::needs::{EventNeed, Needs};
use crate::slices::{BASE, SliceId, SliceView, Slices};
use crate::step::{Change, Occurrence, Step};
use juror_event::{EventId, Value, Verdict};
use juror_language::{EvaluationError, Property, StateId};
use std::sync::Arc;

/// How many violated slices in final states are kept for reports.
pub(crate) const ENDED_MAX: usize = 1_024;

/// A property being evaluated over events: its slices, and what they need.
///
/// A clone is a checkpoint: it goes on from the same slices and history.
#[derive(Debug, Clone)]
pub struct Monitor {
    pub(crate) automaton: Arc<Automaton>,
    pub(crate) slices: Slices,
    pub(crate) index: Index,
    pub(crate) needs: Needs,
    pub(crate) history: History,
    /// Live slices by verdict, in the order of [`Verdict`].
    pub(crate) tally: Tally,
    /// Violated slices that final states ended.
    pub(crate) ended: Vec<Ended>,
    /// How many slices final states ended, violated or not.
    pub(crate) ended_count: u64,
    pub(crate) sequence: u64,
    pub(crate) changes: Vec<Change>,
    pub(crate) scratch: Scratch,
    finished: bool,
}

/// How many live slices have each verdict, and the worst of the others.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    live: [u64; 4],
    /// A violated slice keeps its property violated when it is gone.
    pub violated: bool,
}

impl Tally {
    pub(crate) fn enter(&mut self, verdict: Verdict) {
        if let Some(count) = self.live.get_mut(verdict as usize) {
            *count += 1;
        }
        self.violated |= verdict == Verdict::Violated;
    }

    pub(crate) fn leave(&mut self, verdict: Verdict) {
        if let Some(count) = self.live.get_mut(verdict as usize) {
            *count = count.saturating_sub(1);
        }
    }

    fn worst(&self) -> Verdict {
        let from_worst = [
            Verdict::PresumablyViolated,
            Verdict::PresumablySatisfied,
            Verdict::Satisfied,
        ];
        if self.violated {
            return Verdict::Violated;
        }
        let has = |verdict: &Verdict| self.live.get(*verdict as usize).is_some_and(|&n| n > 0);
        from_worst
            .into_iter()
            .find(has)
            .unwrap_or(Verdict::Satisfied)
    }
}

/// A slice that is gone but not forgotten.
#[derive(Debug, Clone)]
pub(crate) struct Ended {
    pub id: SliceId,
    pub binding: Vec<Option<Value>>,
    pub state: StateId,
    pub environment: Vec<Value>,
    pub last_record: Option<u64>,
}

/// Buffers that steps use again and again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch {
    /// The variables that a transition computes.
    pub environment: Vec<Value>,
    /// What the event binds.
    pub binding: Vec<Option<Value>>,
    /// What a new slice would bind.
    pub joined: Vec<Option<Value>>,
    pub targets: Vec<u32>,
    pub parents: Vec<u32>,
    /// Parents from which no slice came, and the mask it would have had.
    pub declined: Vec<(u32, u32)>,
    /// Slices that the event brought into being.
    pub created: Vec<u32>,
}

impl Monitor {
    /// A monitor that has seen no event, with room for
    /// [`HISTORY_RECORDS`] transitions.
    pub fn new(property: Arc<Property>) -> Monitor {
        Monitor::with_history(property, HISTORY_RECORDS)
    }

    /// A monitor that has seen no event and remembers this many transitions.
    pub fn with_history(property: Arc<Property>, records: usize) -> Monitor {
        let captures = property.events.iter().map(|e| e.captures.len()).collect();
        let slices = Slices::new(&property);
        let scratch = Scratch {
            environment: slices.environment(BASE).to_vec(),
            binding: slices.binding(BASE).to_vec(),
            joined: slices.binding(BASE).to_vec(),
            ..Scratch::default()
        };
        let automaton = Automaton::new(property);
        let mut monitor = Monitor {
            index: Index::new(automaton.distinct_masks()),
            needs: Needs::new(&automaton),
            history: History::new(records, captures),
            tally: Tally::default(),
            ended: Vec::new(),
            ended_count: 0,
            sequence: 0,
            // One slice moves at most events; more grow it once.
            changes: Vec::with_capacity(4),
            slices,
            scratch,
            automaton: Arc::new(automaton),
            finished: false,
        };
        let state = monitor.slices.state(BASE);
        monitor.tally.enter(monitor.automaton.verdict(state));
        monitor.needs.enter(&monitor.automaton, state);
        monitor.needs.take_changed();
        monitor
    }

    /// The property.
    pub fn property(&self) -> &Arc<Property> {
        &self.automaton.property
    }

    /// Takes one event.
    ///
    /// # Errors
    /// When a guard or update of a slice has no value, or the event's binding
    /// is not available. That slice is as it was before; other slices have
    /// taken the event, so [`Monitor::needs`], [`Monitor::changes`] and
    /// [`Monitor::verdict`] are to be looked at again.
    pub fn step(
        &mut self,
        event: EventId,
        occurrence: &Occurrence<'_>,
    ) -> Result<Step, EvaluationError> {
        let before = self.verdict();
        self.sequence += 1;
        self.changes.clear();
        self.needs.take_changed();
        self.route(event, occurrence)?;
        Ok(self.summary(before))
    }

    fn summary(&mut self, verdict_before: Verdict) -> Step {
        let violated = self.changes.iter().find(|change| change.violates());
        let satisfied = self.changes.iter().find(|change| change.satisfies());
        let shown = violated.or(satisfied).or(self.changes.first());
        let base = self.slices.state(BASE);
        Step {
            taken: !self.changes.is_empty(),
            needs_changed: self.needs.take_changed(),
            verdict_before,
            verdict_after: self.verdict(),
            violated: violated.map(|change| change.slice),
            satisfied: satisfied.map(|change| change.slice),
            slice: shown.map(|change| change.slice),
            from: shown.map_or(base, |change| change.from),
            to: shown.map_or(base, |change| change.to),
        }
    }

    /// The transitions that slices took at the last event, in order.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// What the occupied states need, by event.
    pub fn needs(&self) -> &[EventNeed] {
        self.needs.all()
    }

    /// The worst verdict of all slices that there are, and `Violated` when
    /// any slice ever was.
    pub fn verdict(&self) -> Verdict {
        let worst = self.tally.worst();
        if self.finished { worst.at_end() } else { worst }
    }

    /// How many slices there are, the base included.
    pub fn slice_count(&self) -> usize {
        self.slices.count()
    }

    /// How many slices have been forgotten in final states.
    pub fn ended_count(&self) -> u64 {
        self.ended_count
    }

    /// The slices, the base first; then those that were violated in final
    /// states (the first 1 024 of them).
    pub fn slices(&self) -> impl Iterator<Item = SliceView<'_>> {
        let places = (0..self.slices.places()).filter(|&place| self.slices.is_live(place));
        let live = places.map(|place| SliceView {
            id: self.slices.id(place),
            binding: self.slices.binding(place),
            state: self.slices.state(place),
            environment: self.slices.environment(place),
            verdict: self.at_this_point(self.slices.state(place)),
            ended: false,
        });
        let ended = self.ended.iter().map(|ended| SliceView {
            id: ended.id,
            binding: &ended.binding,
            state: ended.state,
            environment: &ended.environment,
            verdict: self.at_this_point(ended.state),
            ended: true,
        });
        live.chain(ended)
    }

    fn at_this_point(&self, state: StateId) -> Verdict {
        let verdict = self.automaton.verdict(state);
        if self.finished {
            verdict.at_end()
        } else {
            verdict
        }
    }

    /// One slice by its name; nothing when it has been forgotten.
    pub fn slice(&self, id: SliceId) -> Option<SliceView<'_>> {
        self.slices().find(|slice| slice.id == id)
    }

    /// How a slice came to its state; no events for a slice that is forgotten
    /// or has seen none.
    pub fn path(&self, id: SliceId) -> Path {
        let last = match self.slices.place_of(id) {
            Some(place) => self.slices.last_record(place),
            None => {
                let ended = self.ended.iter().find(|ended| ended.id == id);
                ended.and_then(|ended| ended.last_record)
            }
        };
        self.history.path(last)
    }

    /// The run has ended: what was not decided is decided as it stands. Gives
    /// the slices and their verdicts, in the order of [`Monitor::slices`].
    pub fn finish(&mut self) -> Vec<(SliceId, Verdict)> {
        self.finished = true;
        self.slices()
            .map(|slice| (slice.id, slice.verdict))
            .collect()
    }
}
