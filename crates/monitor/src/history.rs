//! The transitions that led here, in one ring for all slices.
//!
//! Each record names the previous one of its slice, so a slice keeps only the
//! number of its last; a path is walked back until its records have been
//! overwritten. A new slice goes on from the records of the one it came from.
//! Nothing is allocated for a record: values have a ring of their own, with
//! room for the largest event of the property.

use crate::saved::SavedValue;
use crate::step::Occurrence;
use juror_event::{EventId, Unavailability, Value};
use juror_language::StateId;
use serde::{Deserialize, Serialize};

/// How many transitions a monitor remembers unless told otherwise.
pub const HISTORY_RECORDS: usize = 65_536;
/// No history is larger than this.
const RECORDS_MAX: usize = 1 << 24;

/// How a slice came to its state.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// The transitions, oldest first.
    pub events: Vec<PathEvent>,
    /// True when older ones have been forgotten.
    pub forgotten: bool,
}

/// A transition of a slice, or a run of equal ones that stayed in a state, by
/// one thread at one place.
#[derive(Debug, Clone, PartialEq)]
pub struct PathEvent {
    /// The number of the event among all that the monitor was given, from 1;
    /// of a run, the last.
    pub sequence: u64,
    /// The event.
    pub event: EventId,
    /// The thread in which it happened.
    pub thread: u32,
    /// The return address of the call.
    pub address: u64,
    /// When it happened, in nanoseconds since the program's start.
    pub time: u64,
    /// What was read, by capture slot; of a run, the last time.
    pub values: Vec<Value>,
    /// The state before.
    pub from: StateId,
    /// The state after.
    pub to: StateId,
    /// How often it happened: more than once for a run.
    pub repeated: u64,
}

/// One transition, as it is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record {
    /// The slice's record before this.
    pub previous: Option<u64>,
    pub sequence: u64,
    pub event: EventId,
    pub from: StateId,
    pub to: StateId,
    pub thread: u32,
    pub address: u64,
    pub time: u64,
}

#[derive(Debug)]
pub(crate) struct History {
    /// How many records are kept.
    capacity: usize,
    /// How many values each record has room for.
    stride: usize,
    /// By event: how many values it has.
    captures: Vec<usize>,
    records: Vec<Record>,
    values: Vec<Value>,
    /// How many records were ever made; the next one has this number.
    made: u64,
    /// Those before this one are as forgotten as if there were no room for them.
    forgotten: u64,
}

impl History {
    /// A history of this many records for events with these numbers of values.
    pub(crate) fn new(capacity: usize, captures: Vec<usize>) -> History {
        let capacity = capacity.min(RECORDS_MAX);
        let stride = captures.iter().copied().max().unwrap_or(0);
        let mut history = History {
            capacity,
            stride,
            captures,
            records: Vec::new(),
            values: Vec::new(),
            made: 0,
            forgotten: 0,
        };
        history.reserve();
        history
    }

    /// Room for all records, so that none of them has to make it. The pages
    /// are the system's until they are written to.
    fn reserve(&mut self) {
        let records = self.capacity.saturating_sub(self.records.len());
        self.records.reserve_exact(records);
        let values = self.capacity.saturating_mul(self.stride);
        let values = values.saturating_sub(self.values.len());
        self.values.reserve_exact(values);
    }

    /// True when transitions are remembered.
    #[inline]
    pub(crate) fn is_kept(&self) -> bool {
        self.capacity > 0
    }

    /// Keeps a transition; gives its number.
    pub(crate) fn push(&mut self, record: Record, occurrence: &Occurrence<'_>) -> Option<u64> {
        if self.capacity == 0 {
            return None;
        }
        let number = self.made;
        self.made += 1;
        let position = self.position(number);
        if position == self.records.len() {
            self.records.push(record);
            let missing = Value::Unavailable(Unavailability::NotCaptured);
            self.values.resize(self.values.len() + self.stride, missing);
        } else if let Some(place) = self.records.get_mut(position) {
            *place = record;
        }
        let start = position * self.stride;
        let places = self.values.get_mut(start..).unwrap_or(&mut []);
        let count = self.captures.get(usize::from(record.event.0)).copied();
        let places = places.iter_mut().take(count.unwrap_or(0));
        let missing = Value::Unavailable(Unavailability::NotCaptured);
        for (slot, place) in places.enumerate() {
            place.clone_from(occurrence.values.get(slot).unwrap_or(&missing));
        }
        Some(number)
    }

    fn position(&self, number: u64) -> usize {
        // The remainder is below the capacity, which is a usize.
        (number % self.capacity.max(1) as u64) as usize
    }

    fn record(&self, number: u64) -> Option<&Record> {
        let age = self.made.checked_sub(number)?;
        if age == 0 || age > self.capacity as u64 || number < self.forgotten {
            return None;
        }
        self.records.get(self.position(number))
    }

    /// How many records it has room for.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// How many records were ever made.
    pub(crate) fn made(&self) -> u64 {
        self.made
    }

    /// The number of the event that made this record, if it is remembered.
    pub(crate) fn sequence(&self, number: u64) -> Option<u64> {
        self.record(number).map(|record| record.sequence)
    }

    /// Forgets the records before this one.
    pub(crate) fn forget_before(&mut self, number: u64) {
        self.forgotten = self.forgotten.max(number);
    }

    /// The number of the event with which the path begins that ends in this record;
    /// nothing where that is forgotten.
    pub(crate) fn first_sequence(&self, last: Option<u64>) -> Option<u64> {
        let mut record = self.record(last?)?;
        while let Some(previous) = record.previous {
            record = self.record(previous)?;
        }
        Some(record.sequence)
    }

    /// The path that ends in this record.
    pub(crate) fn path(&self, last: Option<u64>) -> Path {
        let mut numbers = Vec::new();
        let mut next = last;
        let mut forgotten = false;
        while let Some(number) = next {
            let Some(record) = self.record(number) else {
                forgotten = true;
                break;
            };
            numbers.push(number);
            next = record.previous;
        }
        let mut events: Vec<PathEvent> = Vec::new();
        for number in numbers.into_iter().rev() {
            if let Some(event) = self.event(number) {
                append(&mut events, event);
            }
        }
        Path { events, forgotten }
    }

    fn event(&self, number: u64) -> Option<PathEvent> {
        let record = self.record(number)?;
        let start = self.position(number) * self.stride;
        let count = self.captures.get(usize::from(record.event.0))?;
        let values = self.values.get(start..start + count)?;
        Some(PathEvent {
            sequence: record.sequence,
            event: record.event,
            thread: record.thread,
            address: record.address,
            time: record.time,
            values: values.to_vec(),
            from: record.from,
            to: record.to,
            repeated: 1,
        })
    }
}

impl Clone for History {
    fn clone(&self) -> History {
        let mut history = History {
            capacity: self.capacity,
            stride: self.stride,
            captures: self.captures.clone(),
            records: self.records.clone(),
            values: self.values.clone(),
            made: self.made,
            forgotten: self.forgotten,
        };
        // A cloned vector has no spare room.
        history.reserve();
        history
    }
}

/// Adds an event, or counts it into the run that it goes on with: the same
/// event in the same thread at the same place. What another thread or another
/// place did is never hidden in a run.
fn append(events: &mut Vec<PathEvent>, event: PathEvent) {
    match events.last_mut() {
        Some(last)
            if event.from == event.to
                && last.event == event.event
                && last.from == event.from
                && last.to == event.to
                && last.thread == event.thread
                && last.address == event.address =>
        {
            let repeated = last.repeated + 1;
            *last = PathEvent { repeated, ..event };
        }
        _ => events.push(event),
    }
}

/// A history as a snapshot has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedHistory {
    capacity: usize,
    made: u64,
    records: Vec<SavedRecord>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SavedRecord {
    previous: Option<u64>,
    sequence: u64,
    event: u16,
    from: u32,
    to: u32,
    thread: u32,
    address: u64,
    time: u64,
    values: Vec<SavedValue>,
}

impl SavedHistory {
    /// How many transitions are remembered.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }
}

impl History {
    /// The same as data, with other names of the states.
    pub(crate) fn saved(&self, name: &dyn Fn(StateId) -> u32) -> SavedHistory {
        let values = self.values.chunks(self.stride.max(1));
        let none: &[Value] = &[];
        let values = values.chain(std::iter::repeat(none));
        let saved = |(record, values): (&Record, &[Value])| SavedRecord {
            previous: record.previous,
            sequence: record.sequence,
            event: record.event.0,
            from: name(record.from),
            to: name(record.to),
            thread: record.thread,
            address: record.address,
            time: record.time,
            values: values.iter().map(SavedValue::of).collect(),
        };
        SavedHistory {
            capacity: self.capacity,
            made: self.made,
            records: self.records.iter().zip(values).map(saved).collect(),
        }
    }

    /// Takes what a snapshot has, into an empty history of its capacity.
    pub(crate) fn restore<E>(
        &mut self,
        saved: &SavedHistory,
        state: &dyn Fn(u32) -> Result<StateId, E>,
    ) -> Result<(), E> {
        self.made = saved.made;
        for record in saved.records.iter().take(self.capacity) {
            self.records.push(Record {
                previous: record.previous,
                sequence: record.sequence,
                event: EventId(record.event),
                from: state(record.from)?,
                to: state(record.to)?,
                thread: record.thread,
                address: record.address,
                time: record.time,
            });
            let values = record.values.iter().map(SavedValue::value);
            let missing = || Value::Unavailable(Unavailability::NotCaptured);
            let missing = std::iter::repeat_with(missing);
            self.values.extend(values.chain(missing).take(self.stride));
        }
        Ok(())
    }
}
