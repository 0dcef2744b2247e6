//! A property being evaluated.

use crate::behaviour::Behaviour;
use crate::error::MonitorError;
use crate::history::{HISTORY_RECORDS, History};
use crate::index::Index;
use crate::joining::Family;
use crate::needs::{EventNeed, Needs};
use crate::plan::Plan;
use crate::routing::Played;
use crate::slices::{BASE, Place, SliceId, Slices};
use crate::step::{Change, Occurrence, Step};
use crate::violations::Violations;
use crate::words::{UNBOUND, Word, Words};
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
    pub(crate) plan: Arc<Plan>,
    pub(crate) behaviour: Behaviour,
    /// How many parameters there are.
    pub(crate) parameters: usize,
    /// Slices that are like those below them are dropped.
    pub(crate) drops: bool,
    pub(crate) words: Words,
    pub(crate) slices: Slices,
    pub(crate) index: Index,
    pub(crate) needs: Needs,
    pub(crate) history: History,
    /// Live slices by verdict, in the order of [`Verdict`].
    pub(crate) tally: Tally,
    pub(crate) violations: Violations,
    /// Violated slices that final states ended.
    pub(crate) ended: Vec<Ended>,
    /// How many slices final states ended, violated or not.
    pub(crate) ended_count: u64,
    /// The most slices there were at once.
    pub(crate) peak: usize,
    pub(crate) sequence: u64,
    pub(crate) changes: Vec<Change>,
    pub(crate) scratch: Scratch,
    pub(crate) finished: bool,
}

/// How many live slices have each verdict, and the worst of the others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub live: [u64; 4],
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
    /// The roles that the event plays.
    pub roles: Vec<Played>,
    /// What it binds in each of them, one after the other.
    pub role_words: Vec<Word>,
    /// What it binds in one or several of them together.
    pub unions: Vec<Word>,
    /// What a new slice would bind.
    pub joined: Vec<Word>,
    pub targets: Vec<Place>,
    pub parents: Vec<Place>,
    pub families: Vec<Family>,
    /// Slices that the event brought into being.
    pub created: Vec<Place>,
    /// What these bind, each once.
    pub created_masks: Vec<u32>,
    /// Slices by how much they bind: the number of parameters in the high half.
    pub ranked: Vec<u64>,
    /// What an event of plain numbers carries.
    pub values: Vec<Value>,
}

impl Monitor {
    /// A monitor that has seen no event, with room for
    /// [`HISTORY_RECORDS`] transitions.
    ///
    /// It may be made at any time of a run: the property is evaluated from the
    /// next event on. To evaluate it from the beginning, it is given the events
    /// of a recorded trace first.
    ///
    /// # Errors
    /// When no monitor can evaluate the property.
    pub fn new(property: Arc<Property>) -> Result<Monitor, MonitorError> {
        Monitor::with_history(property, HISTORY_RECORDS)
    }

    /// A monitor that has seen no event and remembers this many transitions.
    ///
    /// # Errors
    /// When no monitor can evaluate the property.
    pub fn with_history(property: Arc<Property>, records: usize) -> Result<Monitor, MonitorError> {
        let plan = Plan::new(property);
        let mut behaviour = Behaviour::new(&plan)?;
        behaviour.prepare(&plan, behaviour.initial())?;
        Ok(Monitor::of(Arc::new(plan), behaviour, records))
    }

    /// A monitor of the same property that has seen no event and remembers
    /// this many transitions.
    pub fn restarted(&self, records: usize) -> Monitor {
        Monitor::of(Arc::clone(&self.plan), self.behaviour.restarted(), records)
    }

    /// A monitor at the beginning; what its first state needs is known.
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
            ended_count: 0,
            peak: 1,
            sequence: 0,
            // Most events move one slice.
            changes: Vec::with_capacity(4),
            scratch: Scratch {
                environment,
                joined: vec![UNBOUND; parameters],
                // With one parameter the common event needs no more than this.
                targets: Vec::with_capacity(4),
                parents: Vec::with_capacity(4),
                created: Vec::with_capacity(4),
                ..Scratch::default()
            },
            behaviour,
            plan,
            finished: false,
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
    /// When a guard or update of a slice has no value, or the event's binding
    /// is not available. That slice is as it was before; other slices have
    /// taken the event, so [`Monitor::needs`], [`Monitor::changes`] and
    /// [`Monitor::verdict`] are to be looked at again.
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

    /// Takes one event, as [`Monitor::step`], and says nothing of it.
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

    /// Forgets the values that no slice has any more.
    pub(crate) fn tidy(&mut self) {
        self.words.retain(self.slices.words_mut());
        // Slices are found by their words.
        self.index = Index::new(self.plan.masks(), self.drops);
        for place in (0..self.slices.places()).filter(|&place| self.slices.is_live(place)) {
            self.index.insert(&self.slices, place);
        }
    }

    /// From here on what is needed is counted; what was not counted meanwhile is
    /// made good by a look at all slices.
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

    /// Another event.
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

    /// The transitions that slices took at the last event, in order.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// What the occupied states need, by event; after
    /// [`Monitor::step_words`], what they needed before.
    pub fn needs(&self) -> &[EventNeed] {
        self.needs.all()
    }

    /// The worst verdict of all slices that there are, and `Violated` when
    /// any slice ever was.
    pub fn verdict(&self) -> Verdict {
        let worst = self.tally.worst();
        if self.finished { worst.at_end() } else { worst }
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
