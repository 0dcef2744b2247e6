//! The monitor: a property under evaluation.

use crate::behaviour::Behaviour;
use crate::error::MonitorError;
use crate::history::{HISTORY_RECORDS, History};
use crate::index::Index;
use crate::joining::Family;
use crate::lowering::Written;
use crate::needs::{EventNeed, Needs};
use crate::plan::Plan;
use crate::routing::Played;
use crate::slices::{BASE, Place, SliceId, Slices};
use crate::step::{Change, Occurrence, Step};
use crate::violations::Violations;
use crate::words::{UNBOUND, Word, Words};
use juror_event::{EventId, Value, Verdict};
use juror_language::{EvaluationError, Property, StateId};
use std::collections::VecDeque;
use std::sync::Arc;

/// The maximum number of violated slices in final states that are kept for reports.
pub(crate) const ENDED_MAX: usize = 1_024;

/// A property under evaluation: its slices and their needs.
///
/// A clone is a checkpoint: it continues from the same slices and history.
#[derive(Debug, Clone)]
pub struct Monitor {
    pub(crate) plan: Arc<Plan>,
    pub(crate) behaviour: Behaviour,
    /// The number of slice parameters.
    pub(crate) parameters: usize,
    /// True if redundant slices, which equal the slice below them, are dropped.
    pub(crate) drops: bool,
    pub(crate) words: Words,
    pub(crate) slices: Slices,
    pub(crate) index: Index,
    pub(crate) needs: Needs,
    pub(crate) history: History,
    /// The number of live slices per verdict, in the order of [`Verdict`].
    pub(crate) tally: Tally,
    pub(crate) violations: Violations,
    /// Violated slices that ended in final states.
    pub(crate) ended: Vec<Ended>,
    /// The last slices that were violated without an event, with the deadlines.
    pub(crate) expired: VecDeque<(SliceId, u64)>,
    /// The number of slices that ended in final states, violated or not.
    pub(crate) ended_count: u64,
    /// The maximum number of slices at one time.
    pub(crate) peak: usize,
    pub(crate) sequence: u64,
    pub(crate) changes: Vec<Change>,
    pub(crate) scratch: Scratch,
    pub(crate) finished: bool,
    /// The table of words from which the monitor was written last.
    pub(crate) written: Option<Written>,
}

/// The number of live slices per verdict, and whether a slice was ever violated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub live: [u64; 4],
    /// Keeps the property violated after its violated slice is gone.
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

/// A violated slice that has ended and is kept for reports.
#[derive(Debug, Clone)]
pub(crate) struct Ended {
    pub id: SliceId,
    pub binding: Vec<Option<Value>>,
    pub state: StateId,
    pub environment: Vec<Value>,
    pub last_record: Option<u64>,
}

/// Buffers that are reused by all steps.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch {
    /// The new values of the variables.
    pub environment: Vec<Value>,
    /// The roles of the event.
    pub roles: Vec<Played>,
    /// The bindings of the event in each role, concatenated.
    pub role_words: Vec<Word>,
    /// The bindings of the event in one role or several roles together, concatenated.
    pub unions: Vec<Word>,
    /// The binding of a new slice.
    pub joined: Vec<Word>,
    pub targets: Vec<Place>,
    pub parents: Vec<Place>,
    pub families: Vec<Family>,
    /// Slices created by the event.
    pub created: Vec<Place>,
    /// The distinct sets of parameters that the created slices bind.
    pub created_masks: Vec<u32>,
    /// Slices to be sorted by the number of parameters that they bind, which is in the
    /// high half.
    pub ranked: Vec<u64>,
    /// The values of an event that is given as words.
    pub values: Vec<Value>,
}

impl Monitor {
    /// Creates a monitor that has seen no event and remembers [`HISTORY_RECORDS`]
    /// transitions.
    ///
    /// It may be created at any time of a run: the property is evaluated from the next
    /// event on. To evaluate the property from the beginning, give the monitor the
    /// events of a recorded trace first.
    ///
    /// # Errors
    /// If the property cannot be monitored.
    pub fn new(property: Arc<Property>) -> Result<Monitor, MonitorError> {
        Monitor::with_history(property, HISTORY_RECORDS)
    }

    /// Creates a monitor that has seen no event and remembers this many transitions.
    ///
    /// # Errors
    /// If the property cannot be monitored.
    pub fn with_history(property: Arc<Property>, records: usize) -> Result<Monitor, MonitorError> {
        let plan = Plan::new(property);
        let mut behaviour = Behaviour::new(&plan)?;
        behaviour.prepare(&plan, behaviour.initial())?;
        Ok(Monitor::of(Arc::new(plan), behaviour, records))
    }

    /// Creates a monitor of the same property that has seen no event and remembers this
    /// many transitions.
    pub fn restarted(&self, records: usize) -> Monitor {
        Monitor::of(Arc::clone(&self.plan), self.behaviour.restarted(), records)
    }

    /// Creates a monitor in the initial state, whose needs are counted.
    pub(crate) fn of(plan: Arc<Plan>, behaviour: Behaviour, records: usize) -> Monitor {
        let property = &plan.property;
        let captures = property.events.iter().map(|e| e.captures.len()).collect();
        let variables = property.variables.iter();
        let environment: Vec<Value> = variables.map(|v| v.initial.clone()).collect();
        let parameters = plan.parameters();
        let initial = behaviour.initial();
        let mut monitor = Monitor {
            parameters,
            drops: behaviour.drops(),
            words: Words::default(),
            slices: Slices::new(parameters, &environment, initial, records > 0),
            index: Index::new(plan.masks(), behaviour.drops()),
            needs: Needs::new(&plan.declared),
            history: History::new(records, captures),
            tally: Tally::default(),
            violations: Violations::default(),
            ended: Vec::new(),
            expired: VecDeque::new(),
            ended_count: 0,
            peak: 1,
            sequence: 0,
            // Most events move one slice.
            changes: Vec::with_capacity(4),
            scratch: Scratch {
                environment,
                joined: vec![UNBOUND; parameters],
                // The common event of a property with one parameter needs no more than
                // this.
                targets: Vec::with_capacity(4),
                parents: Vec::with_capacity(4),
                created: Vec::with_capacity(4),
                ..Scratch::default()
            },
            behaviour,
            plan,
            finished: false,
            written: None,
        };
        let needs = monitor.behaviour.needs(initial);
        monitor.tally.enter(monitor.behaviour.verdict(initial));
        monitor.needs.enter(initial, || needs);
        monitor.needs.take_changed();
        monitor
    }

    /// Takes one event.
    ///
    /// # Errors
    /// If a guard or update of a slice has no value, or a value that the event binds is
    /// unavailable. The failing slice is unchanged; other slices have taken the event,
    /// so [`Monitor::needs`], [`Monitor::changes`] and [`Monitor::verdict`] must be
    /// read again.
    pub fn step(
        &mut self,
        event: EventId,
        occurrence: &Occurrence<'_>,
    ) -> Result<Step, EvaluationError> {
        if let Some(step) = self.step_known(event, occurrence) {
            return Ok(step);
        }
        let before = self.verdict();
        self.needs.take_changed();
        self.count_again()?;
        self.take_event(event, occurrence)?;
        Ok(self.summary(before))
    }

    /// Takes one event like [`Monitor::step`], without a summary.
    pub(crate) fn take_event(
        &mut self,
        event: EventId,
        occurrence: &Occurrence<'_>,
    ) -> Result<(), EvaluationError> {
        if self.words.is_crowded() {
            self.tidy();
        }
        self.begin();
        self.pass(occurrence.time);
        let routed = self.route(event, occurrence);
        self.sweep();
        routed
    }

    /// Removes the values that no slice binds any more from the word table.
    pub(crate) fn tidy(&mut self) {
        self.words.retain(self.slices.words_mut());
        // The index depends on the words of the slices.
        self.index = Index::new(self.plan.masks(), self.drops);
        for place in (0..self.slices.places()).filter(|&place| self.slices.is_live(place)) {
            self.index.insert(&self.slices, place);
        }
    }

    /// Resumes the counting of needs; if anything was not counted, counts all slices.
    pub(crate) fn count_again(&mut self) -> Result<(), EvaluationError> {
        if !self.needs.defer(false) {
            return Ok(());
        }
        self.needs.clear();
        for place in (0..self.slices.places()).filter(|&place| self.slices.is_live(place)) {
            let state = self.slices.state(place);
            self.behaviour.prepare(&self.plan, state)?;
            self.needs.enter(state, || self.behaviour.needs(state));
        }
        Ok(())
    }

    /// Begins a new event.
    #[inline]
    pub(crate) fn begin(&mut self) {
        self.sequence += 1;
        self.changes.clear();
    }

    pub(crate) fn summary(&mut self, verdict_before: Verdict) -> Step {
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

    /// Returns the transitions that slices took at the last event, in order.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Returns the needs of the occupied states, by event. After
    /// [`Monitor::step_words`] they are out of date.
    pub fn needs(&self) -> &[EventNeed] {
        self.needs.all()
    }

    /// Returns the worst verdict of all slices; `Violated` if any slice was ever
    /// violated.
    pub fn verdict(&self) -> Verdict {
        let worst = self.tally.worst();
        if self.finished { worst.at_end() } else { worst }
    }

    /// Ends the run: undecided verdicts become decided. Returns the slices and their
    /// verdicts, in the order of [`Monitor::slices`].
    pub fn finish(&mut self) -> Vec<(SliceId, Verdict)> {
        self.finished = true;
        self.slices()
            .map(|slice| (slice.id, slice.verdict))
            .collect()
    }
}
