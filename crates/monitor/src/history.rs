//! The transitions that led to the current states, in one ring for all slices.
//!
//! Each record has the number of the previous one of its slice, so a slice stores only
//! the number of its last record; a path is followed back until its records have been
//! overwritten. A new slice continues the records of its parent. A record allocates
//! nothing: values have a ring of their own, with room for the largest event of the
//! property.

use crate::saved::SavedValue;
use crate::step::Occurrence;
use juror_event::{EventId, Unavailability, Value};
use juror_language::StateId;
use serde::{Deserialize, Serialize};

/// The default number of transitions that a monitor remembers.
pub const HISTORY_RECORDS: usize = 65_536;
/// The maximum number of records of a history.
const RECORDS_MAX: usize = 1 << 24;

/// The path by which a slice reached its state.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// The transitions, oldest first.
    pub events: Vec<PathEvent>,
    /// True if older transitions have been forgotten.
    pub forgotten: bool,
}

/// A transition of a slice, or a run of equal transitions that stay in a state, by one
/// thread at one code address.
#[derive(Debug, Clone, PartialEq)]
pub struct PathEvent {
    /// The number of the event among all events of the monitor, from 1; for a run, of
    /// the last event.
    pub sequence: u64,
    /// The symbolic event.
    pub event: EventId,
    /// The thread in which the event occurred.
    pub thread: u32,
    /// The return address of the call.
    pub address: u64,
    /// The time of the event, in nanoseconds since the program's start.
    pub time: u64,
    /// The captured values, by slot.
    pub values: Vec<Value>,
    /// The state before the transition.
    pub from: StateId,
    /// The state after the transition.
    pub to: StateId,
    /// The number of occurrences: more than one for a run.
    pub repeated: u64,
}

/// A stored transition.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record {
    /// The number of the slice's previous record.
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
    /// The number of records that are kept.
    capacity: usize,
    /// The number of values for which each record has room.
    stride: usize,
    /// By event: its number of values.
    captures: Vec<usize>,
    records: Vec<Record>,
    values: Vec<Value>,
    /// The number of records that were ever made, which is the number of the next one.
    made: u64,
    /// Records before this one are treated as overwritten.
    forgotten: u64,
}

impl History {
    /// Creates a history of this many records for events with these numbers of values.
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

    /// Reserves memory for all records, so that a step never allocates. The system
    /// provides the pages when they are first written.
    fn reserve(&mut self) {
        let records = self.capacity.saturating_sub(self.records.len());
        self.records.reserve_exact(records);
        let values = self.capacity.saturating_mul(self.stride);
        let values = values.saturating_sub(self.values.len());
        self.values.reserve_exact(values);
    }

    /// Returns true if transitions are remembered.
    #[inline]
    pub(crate) fn is_kept(&self) -> bool {
        self.capacity > 0
    }

    /// Stores a transition; returns its number.
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

    /// Returns the number of records for which there is room.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Returns the number of records that were ever made.
    pub(crate) fn made(&self) -> u64 {
        self.made
    }

    /// Returns the number of the event that made this record, if it is remembered.
    pub(crate) fn sequence(&self, number: u64) -> Option<u64> {
        self.record(number).map(|record| record.sequence)
    }

    /// Forgets the records before this one.
    pub(crate) fn forget_before(&mut self, number: u64) {
        self.forgotten = self.forgotten.max(number);
    }

    /// Returns the number of the first event of the path that ends in this record;
    /// `None` if it is forgotten.
    pub(crate) fn first_sequence(&self, last: Option<u64>) -> Option<u64> {
        let mut record = self.record(last?)?;
        while let Some(previous) = record.previous {
            record = self.record(previous)?;
        }
        Some(record.sequence)
    }

    /// Returns the path that ends in this record.
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

    /// Returns the last event of the path that ends in this record whose time is meant.
    pub(crate) fn find(
        &self,
        last: Option<u64>,
        is_meant: impl Fn(u64) -> bool,
    ) -> Option<PathEvent> {
        let mut number = last?;
        loop {
            let record = self.record(number)?;
            if is_meant(record.time) {
                return self.event(number);
            }
            number = record.previous?;
        }
    }

    /// Returns a record that is remembered, and its values.
    pub(crate) fn stored(&self, number: u64) -> Option<(&Record, &[Value])> {
        let record = self.record(number)?;
        let start = self.position(number) * self.stride;
        let count = self.captures.get(usize::from(record.event.0))?;
        Some((record, self.values.get(start..start + count)?))
    }

    /// Forgets all records.
    pub(crate) fn clear(&mut self) {
        self.records.clear();
        self.values.clear();
        (self.made, self.forgotten) = (0, 0);
    }

    /// Writes the record with this number, which may be lost; later ones are not known.
    /// The numbers from the last one that was made up to this one must be written, too,
    /// as far as they are to be remembered.
    pub(crate) fn put(&mut self, number: u64, record: Option<(Record, Vec<Value>)>) {
        if self.capacity == 0 {
            return;
        }
        self.made = number + 1;
        let lost = Record {
            previous: None,
            sequence: 0,
            event: EventId(0),
            from: StateId(0),
            to: StateId(0),
            thread: 0,
            address: 0,
            time: 0,
        };
        let missing = Value::Unavailable(Unavailability::NotCaptured);
        let position = self.position(number);
        let size = self.records.len().max(position + 1);
        self.records.resize(size, lost);
        self.values.resize(size * self.stride, missing.clone());
        let (record, values) = record.unwrap_or((lost, Vec::new()));
        if let Some(place) = self.records.get_mut(position) {
            *place = record;
        }
        let count = self.captures.get(usize::from(record.event.0)).copied();
        let places = self.values.get_mut(position * self.stride..);
        let places = places
            .unwrap_or(&mut [])
            .iter_mut()
            .take(count.unwrap_or(0));
        let values = values.into_iter().chain(std::iter::repeat(missing));
        for (place, value) in places.zip(values) {
            *place = value;
        }
    }

    /// Sets the number of records ever made.
    pub(crate) fn set_made(&mut self, made: u64) {
        self.made = made;
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
        // A cloned vector has no spare capacity.
        history.reserve();
        history
    }
}

/// Appends an event, or counts it as part of the last run if it is the same event with the
/// same values in the same thread at the same address. Nothing else is ever hidden in a run.
pub(crate) fn append(events: &mut Vec<PathEvent>, event: PathEvent) {
    match events.last_mut() {
        Some(last)
            if event.from == event.to
                && last.event == event.event
                && last.from == event.from
                && last.to == event.to
                && last.thread == event.thread
                && last.address == event.address
                && last.values == event.values =>
        {
            let repeated = last.repeated + 1;
            *last = PathEvent { repeated, ..event };
        }
        _ => events.push(event),
    }
}

/// A history in the form of a snapshot.
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
    /// Returns the number of transitions that are remembered.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }
}

impl History {
    /// Converts the history for a snapshot, with states renamed.
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

    /// Restores a history from a snapshot, into an empty one of the same capacity.
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
