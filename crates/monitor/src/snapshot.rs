//! A monitor as plain data that can be stored in a file and restored.
//!
//! A clone is the checkpoint of a running session. A snapshot serves another session:
//! it identifies its property by a hash, and describes for each state of a formula how
//! an instance reaches it, since the numbers of states are specific to one monitor.
//!
//! **Invariant:** a restored monitor equals the one that the snapshot was taken of, and
//! two equal monitors continue equally.

mod editing;

pub use editing::Edit;

use crate::behaviour::Behaviour;
use crate::hashing::Mixer;
use crate::history::SavedHistory;
use crate::logic::Origin;
use crate::monitor::{Ended, Monitor};
use crate::saved::SavedValue;
use crate::slices::SliceId;
use crate::timed::Entry;
use crate::violations::ViolationGroup;
use juror_event::EventId;
use juror_language::{Property, StateId};
use juror_logic::{Letter, TimedState};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write};
use std::hash::Hasher;
use std::sync::Arc;

/// A monitor as plain data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The hash of its property.
    property: u64,
    states: SavedStates,
    body: Body,
}

/// The meaning of state numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum SavedStates {
    /// The states of the property.
    Automaton,
    /// By state: the state from which it is reached and the letter of that step, and
    /// the true propositions.
    Logic(Vec<(Option<(u32, u64)>, u64)>),
    /// The remainder of the formula and the true propositions.
    Timed(Vec<Option<(TimedState, u64)>>),
}

/// All data in which two monitors can differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Body {
    slices: Vec<SavedSlice>,
    free: Vec<u32>,
    history: SavedHistory,
    violations: Vec<SavedViolations>,
    other_violations: u64,
    violated: bool,
    ended: Vec<SavedEnded>,
    ended_count: u64,
    peak: u64,
    sequence: u64,
    finished: bool,
}

/// A cell and its slice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SavedSlice {
    generation: u32,
    /// `None` if the cell is free.
    state: Option<u32>,
    binding: Vec<Option<SavedValue>>,
    environment: Vec<SavedValue>,
    last_record: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SavedEnded {
    id: u64,
    binding: Vec<Option<SavedValue>>,
    state: u32,
    environment: Vec<SavedValue>,
    last_record: Option<u64>,
}

/// Violations of one kind at one code address.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SavedViolations {
    event: Option<u16>,
    from: u32,
    to: u32,
    address: u64,
    first: u64,
    thread: u32,
    time: u64,
    first_sequence: u64,
    last_sequence: u64,
    count: u64,
}

/// The reason why a snapshot cannot be restored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// The snapshot was taken of another property.
    #[error("the snapshot is of another property, or of another version of this one")]
    OtherProperty,
    /// The snapshot contradicts itself.
    #[error("the snapshot is damaged: {0}")]
    Damaged(&'static str),
}

/// Returns a hash of a property's content that does not depend on its file.
fn hash_of(property: &Property) -> u64 {
    struct Sink(Mixer);
    impl Write for Sink {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.write(text.as_bytes());
            Ok(())
        }
    }
    let mut sink = Sink(Mixer::default());
    let anonymous = Property {
        source_name: None,
        ..property.clone()
    };
    // Writing to this sink never fails.
    let _ = write!(sink, "{anonymous:?}");
    sink.0.finish()
}

impl Monitor {
    /// Returns the monitor as plain data.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            property: hash_of(self.property()),
            states: match &self.behaviour {
                Behaviour::Automaton(_) => SavedStates::Automaton,
                Behaviour::Logic(states) => {
                    let origin = |origin: Origin| (origin.from, origin.letter.0);
                    let origins = states.origins();
                    SavedStates::Logic(origins.map(|(o, v)| (o.map(origin), v)).collect())
                }
                Behaviour::Timed(states) => {
                    let saved = |entry: &Entry| (entry.state.clone(), entry.valuation);
                    let entries = states.entries().iter();
                    SavedStates::Timed(entries.map(|e| e.as_ref().map(saved)).collect())
                }
            },
            body: self.body(&|state| state.0),
        }
    }

    fn body(&self, name: &dyn Fn(StateId) -> u32) -> Body {
        let values = |values: &[juror_event::Value]| values.iter().map(SavedValue::of).collect();
        let binding = |binding: Vec<Option<juror_event::Value>>| {
            let values = binding.iter();
            values.map(|v| v.as_ref().map(SavedValue::of)).collect()
        };
        let slices = (0..self.slices.places()).map(|place| {
            let is_live = self.slices.is_live(place);
            SavedSlice {
                generation: self.slices.generation(place),
                state: is_live.then(|| name(self.slices.state(place))),
                binding: if is_live {
                    binding(self.words.binding(self.slices.binding(place)))
                } else {
                    Vec::new()
                },
                environment: if is_live {
                    values(self.slices.environment(place))
                } else {
                    Vec::new()
                },
                last_record: if is_live {
                    self.slices.last_record(place)
                } else {
                    None
                },
            }
        });
        let ended = self.ended.iter().map(|ended| SavedEnded {
            id: ended.id.0,
            binding: binding(ended.binding.clone()),
            state: name(ended.state),
            environment: values(&ended.environment),
            last_record: ended.last_record,
        });
        let violations = |group: &ViolationGroup| SavedViolations {
            event: group.event.map(|event| event.0),
            from: name(group.from),
            to: name(group.to),
            address: group.address,
            first: group.first.0,
            thread: group.thread,
            time: group.time,
            first_sequence: group.first_sequence,
            last_sequence: group.last_sequence,
            count: group.count,
        };
        Body {
            slices: slices.collect(),
            free: self.slices.free(),
            history: self.history.saved(name),
            violations: self.violations.groups.iter().map(violations).collect(),
            other_violations: self.violations.others,
            violated: self.tally.violated,
            ended: ended.collect(),
            ended_count: self.ended_count,
            peak: self.peak as u64,
            sequence: self.sequence,
            finished: self.finished,
        }
    }

    /// Restores the monitor that a snapshot was taken of.
    ///
    /// # Errors
    /// If the snapshot is of another property, or damaged.
    pub fn restore(property: Arc<Property>, snapshot: &Snapshot) -> Result<Monitor, SnapshotError> {
        if hash_of(&property) != snapshot.property {
            return Err(SnapshotError::OtherProperty);
        }
        let body = &snapshot.body;
        let records = body.history.capacity();
        let monitor = Monitor::with_history(property, records);
        let mut monitor = monitor.map_err(|_| SnapshotError::OtherProperty)?;
        let names = monitor.restore_states(&snapshot.states)?;
        let state = |number: u32| match &names {
            None => Ok(StateId(number)),
            Some(names) => {
                let state = names.get(number as usize).copied();
                state.ok_or(SnapshotError::Damaged("a state is missing"))
            }
        };
        monitor.restore_slices(body, &state)?;
        monitor.history.restore(&body.history, &state)?;
        for group in &body.violations {
            monitor.violations.groups.push(ViolationGroup {
                event: group.event.map(EventId),
                from: state(group.from)?,
                to: state(group.to)?,
                address: group.address,
                first: SliceId(group.first),
                thread: group.thread,
                time: group.time,
                first_sequence: group.first_sequence,
                last_sequence: group.last_sequence,
                count: group.count,
            });
        }
        monitor.violations.others = body.other_violations;
        monitor.tally.violated |= body.violated;
        for ended in &body.ended {
            let binding = ended.binding.iter();
            monitor.ended.push(Ended {
                id: SliceId(ended.id),
                binding: binding.map(|v| v.as_ref().map(SavedValue::value)).collect(),
                state: state(ended.state)?,
                environment: ended.environment.iter().map(SavedValue::value).collect(),
                last_record: ended.last_record,
            });
        }
        monitor.ended_count = body.ended_count;
        monitor.peak = usize::try_from(body.peak).unwrap_or(usize::MAX);
        monitor.sequence = body.sequence;
        monitor.finished = body.finished;
        monitor.needs.take_changed();
        Ok(monitor)
    }

    /// Restores the states of a snapshot; returns their numbers in this monitor.
    fn restore_states(
        &mut self,
        saved: &SavedStates,
    ) -> Result<Option<Vec<StateId>>, SnapshotError> {
        match (&mut self.behaviour, saved) {
            (Behaviour::Automaton(_), SavedStates::Automaton) => Ok(None),
            (Behaviour::Logic(states), SavedStates::Logic(origins)) => {
                let origin = |(from, letter): (u32, u64)| Origin {
                    from,
                    letter: Letter(letter),
                };
                let origins = origins.iter().map(|(o, v)| (o.map(origin), *v));
                let names = Arc::make_mut(states).take_in(origins);
                let names = names.map_err(|_| SnapshotError::Damaged("too many states"))?;
                Ok(Some(names))
            }
            (Behaviour::Timed(states), SavedStates::Timed(entries)) => {
                let entry = |(state, valuation): &(TimedState, u64)| Entry {
                    state: state.clone(),
                    valuation: *valuation,
                };
                states.restore(entries.iter().map(|e| e.as_ref().map(entry)).collect());
                Ok(None)
            }
            _ => Err(SnapshotError::Damaged("its states are of another kind")),
        }
    }

    /// Restores the slices to their cells.
    fn restore_slices(
        &mut self,
        body: &Body,
        state: &dyn Fn(u32) -> Result<StateId, SnapshotError>,
    ) -> Result<(), SnapshotError> {
        let damaged = |_| SnapshotError::Damaged("a state leads to too many others");
        self.needs.clear();
        self.tally = crate::monitor::Tally::default();
        for (place, saved) in (0_u32..).zip(&body.slices) {
            let Some(number) = saved.state else {
                self.slices.restore_free(place, saved.generation);
                continue;
            };
            let at = state(number)?;
            if !self.behaviour.has(at) {
                return Err(SnapshotError::Damaged("a state is missing"));
            }
            self.behaviour.prepare(&self.plan, at).map_err(damaged)?;
            let mut words = Vec::new();
            for (parameter, value) in saved.binding.iter().enumerate() {
                let value = value.as_ref().map(SavedValue::value);
                let word = value.map(|value| self.words.word(parameter, &value));
                words.push(word.unwrap_or(crate::words::UNBOUND));
            }
            let environment: Vec<_> = saved.environment.iter().map(SavedValue::value).collect();
            let fits = self.slices.restore(
                place,
                saved.generation,
                (at, &words, &environment),
                saved.last_record,
            );
            let is_base = place == crate::slices::BASE;
            if !fits || is_base != words.iter().all(|&word| word == crate::words::UNBOUND) {
                return Err(SnapshotError::Damaged("a slice has another shape"));
            }
            self.index.insert(&self.slices, place);
            self.needs.enter(at, || self.behaviour.needs(at));
            self.tally.enter(self.behaviour.verdict(at));
        }
        if body.slices.first().is_none_or(|base| base.state.is_none()) {
            return Err(SnapshotError::Damaged("the base slice is missing"));
        }
        let free = self.slices.set_free(&body.free);
        free.then_some(())
            .ok_or(SnapshotError::Damaged("its free cells are not free"))
    }
}

/// Two monitors are equal if they have the same property and no result differs, now or
/// after any further events.
impl PartialEq for Monitor {
    fn eq(&self, other: &Monitor) -> bool {
        if !Arc::ptr_eq(&self.plan, &other.plan) && self.property() != other.property() {
            return false;
        }
        let names = match (&self.behaviour, &other.behaviour) {
            (Behaviour::Logic(one), Behaviour::Logic(another)) if !Arc::ptr_eq(one, another) => {
                let mut one = (**one).clone();
                match one.take_in(another.origins()) {
                    Ok(names) => Some(names),
                    Err(_) => return false,
                }
            }
            (Behaviour::Timed(one), Behaviour::Timed(another)) => {
                if one.entries() != another.entries() {
                    return false;
                }
                None
            }
            _ => None,
        };
        let renamed = |state: StateId| match &names {
            Some(names) => names.get(state.index()).map_or(u32::MAX, |name| name.0),
            None => state.0,
        };
        self.body(&|state| state.0) == other.body(&renamed)
    }
}

impl Snapshot {
    /// Returns the number of slices.
    pub fn slice_count(&self) -> usize {
        let slices = self.body.slices.iter();
        slices.filter(|slice| slice.state.is_some()).count()
    }

    /// Returns true if the snapshot contains a violation.
    pub fn is_violated(&self) -> bool {
        self.body.violated
    }
}
