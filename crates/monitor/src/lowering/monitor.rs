//! A monitor whose slices are in a table of words.

use super::interpreter::{EventWordsSource, Progress, Running};
use super::layout::{HeaderWord, JournalWord, StripeWord};
use super::lower::Lowered;
use super::reasons::{Why, WordKind};
use super::table::Table;
use super::write_back::Notes;
use super::{EndKind, Layout, Source, WordMemory};
use crate::behaviour::Behaviour;
use crate::monitor::Ended;
use crate::needs::EventNeed;
use crate::slices::SliceId;
use crate::step::{Change, Occurrence, Step};
use crate::violations::Violations;
use crate::words::Words;
use juror_event::{EventId, Unavailability, Value, Verdict};
use juror_language::{EvaluationError, StateId};
use std::collections::{BTreeMap, HashMap};

/// The journal of general steps, and of steps that are interpreted here.
const OWN_JOURNAL: u32 = 0;
/// The maximum number of attempts to have the locks of a step that other threads hold.
const ATTEMPTS_MAX: u32 = 256;

/// A property under evaluation over a table of words.
///
/// Its results are those of [`crate::Monitor`] for the same events. Steps of other
/// threads on the same memory, by emitted code, may come between any two calls. While
/// threads are in such steps, these may be called: [`WordMonitor::try_step`], and the views
/// [`WordMonitor::sequence`], [`WordMonitor::needs`], [`WordMonitor::verdict`],
/// [`WordMonitor::slice_count`], [`WordMonitor::peak_count`],
/// [`WordMonitor::event_counts`], [`WordMonitor::is_behind`] and those of what only general
/// steps change ([`WordMonitor::violations`], [`WordMonitor::gates`],
/// [`WordMonitor::changes`]). Each result is one that the table had during the call, but
/// two results may be of different moments. For everything else all threads have been led
/// out of their steps.
#[derive(Debug, Clone)]
pub struct WordMonitor<M> {
    pub(super) lowered: Lowered,
    pub(super) table: Table<M>,
    /// The keys that are not their own words.
    pub(super) words: Words,
    /// The values of variables and records that are no words of their kind.
    pub(super) others: Vec<Value>,
    /// The number of `others` above which unused ones are removed.
    pub(super) crowded_at: usize,
    pub(super) changes: Vec<Change>,
    pub(super) violations: Violations,
    pub(super) ended: Vec<Ended>,
    pub(super) ended_count: u64,
    /// True if a slice was ever violated.
    pub(super) violated: bool,
    pub(super) finished: bool,
    /// The general steps so far, by reason.
    pub(super) gates: BTreeMap<Why, u64>,
    /// By event: the number of general steps that were needed.
    pub(super) general: Vec<u64>,
    /// The number of the last event that this monitor was given.
    pub(super) stepped_at: Option<u64>,
    /// The slices that general steps have changed.
    pub(super) notes: Notes,
    /// By number of a record: its time, if it is not 0, and perhaps those of records that
    /// are forgotten.
    pub(super) times: HashMap<u64, u64>,
}

impl<M: WordMemory> WordMonitor<M> {
    /// Creates a monitor that has seen no event, over memory of zeros; `None` if the
    /// memory has no room for the table.
    pub fn new(lowered: Lowered, memory: M) -> Option<WordMonitor<M>> {
        let program = &lowered.program;
        let mut table = Table::new(&program.layout, memory, &program.image)?;
        table.set_others(0, lowered.base_others);
        let initial = lowered.behaviour.initial();
        Some(WordMonitor {
            violated: lowered.behaviour.verdict(initial) == Verdict::Violated,
            others: lowered.others.clone(),
            general: vec![0; lowered.plan.property.events.len()],
            lowered,
            table,
            words: Words::default(),
            crowded_at: 0,
            changes: Vec::new(),
            violations: Violations::default(),
            ended: Vec::new(),
            ended_count: 0,
            finished: false,
            gates: BTreeMap::new(),
            stepped_at: None,
            notes: Notes::default(),
            times: HashMap::new(),
        })
    }

    /// Returns the memory of the table.
    pub fn memory(&self) -> &M {
        &self.table.memory
    }

    /// Returns the memory of the table, for the steps of threads.
    pub fn memory_mut(&mut self) -> &mut M {
        &mut self.table.memory
    }

    /// Returns the property with its operations.
    pub fn lowered(&self) -> &Lowered {
        &self.lowered
    }

    /// Returns the number of general steps so far, by the reason.
    pub fn gates(&self) -> &BTreeMap<Why, u64> {
        &self.gates
    }

    /// Takes one event: by its operations, or by a general step. No thread may be in a
    /// step.
    ///
    /// # Errors
    /// As [`crate::Monitor::step`].
    pub fn step(
        &mut self,
        event: EventId,
        occurrence: &Occurrence<'_>,
    ) -> Result<Step, EvaluationError> {
        match self.try_step(event, occurrence) {
            Ok(step) => Ok(step),
            Err(why) => self.step_generally(event, occurrence, why),
        }
    }

    /// Takes one event by its operations, which may be done while other threads are in
    /// steps of emitted code (with lock prefixes), since it takes the same locks.
    ///
    /// The result compares the table before and after the step: a verdict or needs that
    /// another thread changed meanwhile are included.
    ///
    /// # Errors
    /// If the event must be taken by a general step. Nothing has been changed or counted;
    /// when all threads stand, and none of them is in a step, call
    /// [`WordMonitor::step_generally`] (or [`WordMonitor::step`], which tries again).
    pub fn try_step(&mut self, event: EventId, occurrence: &Occurrence<'_>) -> Result<Step, Why> {
        let (verdict, occupied) = (self.verdict(), self.table.occupied());
        let kind = self.interpret(event, occurrence)?;
        self.changes.clear();
        let number = match kind {
            // In the debugger every event that it is given is numbered.
            EndKind::Unneeded => self.number_unneeded()?,
            EndKind::Ignored => self.table.sequence_in(self.journaled(JournalWord::Drawn)),
            EndKind::Taken => {
                self.note_change();
                let drawn = self.journaled(JournalWord::Drawn);
                if self.lowered.records > 0 {
                    self.put_time(self.table.made_in(drawn).wrapping_sub(1), occurrence.time);
                }
                self.table.sequence_in(drawn)
            }
        };
        self.stepped_at = Some(number);
        Ok(self.summary(verdict, &occupied))
    }

    /// Takes one event by the general evaluator, for this reason, whether or not its
    /// operations could take it. No thread may be in a step: all must have been led out.
    ///
    /// # Errors
    /// As [`crate::Monitor::step`].
    pub fn step_generally(
        &mut self,
        event: EventId,
        occurrence: &Occurrence<'_>,
        why: Why,
    ) -> Result<Step, EvaluationError> {
        let (verdict, occupied) = (self.verdict(), self.table.occupied());
        self.changes.clear();
        *self.gates.entry(why).or_default() += 1;
        let result = self.take_generally(event, occurrence);
        self.stepped_at = Some(self.sequence());
        result.map(|()| self.summary(verdict, &occupied))
    }

    /// Runs the operations of an event.
    fn interpret(&mut self, event: EventId, occurrence: &Occurrence<'_>) -> Result<EndKind, Why> {
        let lowered = &self.lowered;
        let program = lowered.program.steps.get(usize::from(event.0));
        let Some(program) = program else {
            return Ok(EndKind::Unneeded);
        };
        if program.why.is_some() || self.has_unneeded_value(event, occurrence) {
            return Err(Why::Event);
        }
        if let Behaviour::Automaton(automaton) = &lowered.behaviour
            && automaton.has_any_twins()
        {
            // The branch that was taken is reported.
            return Err(Why::Twin);
        }
        let journal = self.table.layout.journal(OWN_JOURNAL);
        let thread = journal + u64::from(JournalWord::Thread.offset());
        self.table.memory.store(thread, occurrence.thread.into());
        let kinds = lowered.kinds.get(usize::from(event.0));
        let values = Values {
            occurrence,
            kinds: kinds.map_or(&[], |kinds| kinds),
        };
        let mut running = Running::new(&self.table.layout, OWN_JOURNAL);
        let mut attempts = 0;
        loop {
            match running.advance(program, &mut self.table.memory, &values) {
                Progress::Goes => {}
                Progress::Ends(kind) => return Ok(kind),
                Progress::Gates(why) => return Err(why),
                Progress::Waits if attempts < ATTEMPTS_MAX => attempts += 1,
                Progress::Waits => {
                    running.lead_out(program, super::Phase::Locked, &mut self.table.memory);
                    return Err(Why::Busy);
                }
            }
        }
    }

    /// Numbers an event that no occupied state needs.
    fn number_unneeded(&mut self) -> Result<u64, Why> {
        let memory = &mut self.table.memory;
        let layout = &self.table.layout;
        let at = u64::from(HeaderWord::Drawn.offset());
        if (memory.load(at) as i64) < 0 {
            return Err(Why::Numbers);
        }
        if !layout.has_one_lock() {
            let drawn = memory.xadd(at, Layout::EVENT_DRAWN);
            return Ok(self.table.sequence_in(drawn + Layout::EVENT_DRAWN));
        }
        // Steps draw their numbers under the lock.
        let lock = layout.stripe(0) + u64::from(StripeWord::Lock.offset());
        let owner = layout.journal(OWN_JOURNAL);
        if !(0..=ATTEMPTS_MAX).any(|_| memory.cas(lock, 0, owner)) {
            return Err(Why::Busy);
        }
        let drawn = memory.load(at).wrapping_add(Layout::EVENT_DRAWN);
        memory.store(at, drawn);
        memory.store(lock, 0);
        Ok(self.table.sequence_in(drawn))
    }

    /// Returns true if the occurrence has a value that no occupied state needs: a general
    /// step records it.
    fn has_unneeded_value(&self, event: EventId, occurrence: &Occurrence<'_>) -> bool {
        let property = &self.lowered.plan.property;
        let captures = property.event(event).map_or(&[][..], |it| &it.captures);
        let given = occurrence.values.iter().zip(captures).enumerate();
        let missing = Value::Unavailable(Unavailability::NotCaptured);
        let mut hoisted =
            given.filter(|(_, (value, capture))| capture.hoisted && **value != missing);
        let needs = std::cell::OnceCell::new();
        hoisted.any(|(slot, _)| {
            let needs: &Vec<EventNeed> = needs.get_or_init(|| self.needs());
            let need = needs.get(usize::from(event.0));
            need.is_none_or(|need| need.captures >> (slot & 63) & 1 == 0)
        })
    }

    /// Reads a word of the journal.
    fn journaled(&self, word: JournalWord) -> u64 {
        let journal = self.table.layout.journal(OWN_JOURNAL);
        self.table.memory.load(journal + u64::from(word.offset()))
    }

    /// Reports the transition in the journal.
    fn note_change(&mut self) {
        let transition = self.journaled(JournalWord::Transition);
        let (_, from, to) = JournalWord::parts(transition);
        let (from, to) = (StateId(from), StateId(to));
        let is_born = self.journaled(JournalWord::Born) != 0;
        let id = self.journaled(JournalWord::Id);
        let parent = is_born.then_some(SliceId(0));
        let change = self.change(id, parent, from, to);
        self.changes.push(change);
    }

    pub(super) fn change(
        &self,
        id: u64,
        parent: Option<SliceId>,
        from: StateId,
        to: StateId,
    ) -> Change {
        let behaviour = &self.lowered.behaviour;
        Change {
            slice: SliceId(id),
            parent,
            from,
            to,
            verdict_before: behaviour.verdict(from),
            verdict_after: behaviour.verdict(to),
            ended: id != 0 && behaviour.is_final(to),
            branch: None,
            deadline: None,
        }
    }

    /// Summarizes a step, from the verdict and the occupied states before it.
    fn summary(&self, verdict_before: Verdict, occupied: &[u64]) -> Step {
        let needs_changed = *occupied != *self.table.occupied() && {
            let needs = self.needs();
            needs != self.needs_of(occupied)
        };
        let violated = self.changes.iter().find(|change| change.violates());
        let satisfied = self.changes.iter().find(|change| change.satisfies());
        let shown = violated.or(satisfied).or(self.changes.first());
        let base = self.table.state(self.table.base());
        Step {
            taken: !self.changes.is_empty(),
            needs_changed,
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
}

/// The values of an occurrence, as words of their kinds.
pub(super) struct Values<'a> {
    pub occurrence: &'a Occurrence<'a>,
    pub kinds: &'a [Option<WordKind>],
}

impl EventWordsSource for Values<'_> {
    fn word(&self, source: Source) -> Option<u64> {
        match source {
            Source::Address => Some(self.occurrence.address),
            Source::Capture(slot) => {
                let kind = self.kinds.get(usize::from(slot)).copied().flatten()?;
                kind.word_of(self.occurrence.values.get(usize::from(slot))?)
            }
        }
    }
}
