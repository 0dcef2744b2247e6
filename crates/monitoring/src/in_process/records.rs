//! The thread records that the stubs of monitors use: their layout, and the calls
//! that are pending in a thread.
//!
//! ```text
//! armed | end of the innermost pending call | end of the room for them
//! journals: one address for each property
//! 0, a record of a call with the frame 0, the pending calls, outermost first
//! ```

use juror_debuggee::{DebuggeeError, FirstWords, RecordWords, ThreadId, ThreadRecord};
use juror_program::program::Program;
use juror_stub::emit::{self, PENDING_BYTES, PENDING_VALUES, PendingWord};
use std::sync::{Arc, Mutex, PoisonError};

/// The word that says whether the thread is muted.
pub(crate) const ARMED: u32 = 0;
/// The end of the innermost pending call.
pub(crate) const PENDING: u32 = 8;
/// The end of the room for pending calls.
pub(crate) const PENDING_END: u32 = 16;
/// The addresses of the thread's journals, by property.
const JOURNALS: u32 = 24;
/// The maximum number of native properties.
pub(crate) const PROPERTIES_MAX: usize = 16;
/// The start of the pending calls.
const CALLS: u64 = 256;
/// The size of a record of a call.
pub(crate) const RECORD_OF_CALL_BYTES: u64 = PENDING_BYTES as u64;
/// The size of a thread record; a thread has at most 1 020 pending calls.
pub(crate) const RECORD_BYTES: u64 = 128 * 1024;
/// The maximum number of pending calls of a thread.
pub(crate) const PENDING_MAX: usize =
    ((RECORD_BYTES - CALLS - 2 * RECORD_OF_CALL_BYTES) / RECORD_OF_CALL_BYTES) as usize;
/// The number of thread records, one of which is that of muted processes.
pub(crate) const RECORDS: u32 = 1024;

/// Returns where a record has the address of the journal of a property.
pub(crate) fn journal_offset(property: usize) -> u32 {
    JOURNALS + 8 * property as u32
}

/// The journals of the native properties, by property: the address of that of thread
/// record 0, and the distance to the next.
pub(crate) type Journals = Arc<Mutex<Vec<(u64, u64)>>>;

/// Returns the address of the journal of a thread record.
pub(crate) fn journal((first, size): (u64, u64), record: u32) -> u64 {
    first + size * u64::from(record)
}

/// The first words of thread records.
pub(crate) const FIRST_WORDS: FirstWords = FirstWords {
    armed: emit::ARMED as u64,
    muted: emit::MUTED as u64,
};

/// Returns what new thread records contain.
pub(crate) fn words(journals: &Journals) -> RecordWords {
    let journals = Arc::clone(journals);
    Arc::new(move |number, address| {
        let journals = journals.lock().unwrap_or_else(PoisonError::into_inner);
        let mut words = vec![0; (CALLS + RECORD_OF_CALL_BYTES) as usize / 8 - 1];
        let innermost = address + CALLS + RECORD_OF_CALL_BYTES;
        let last = address + RECORD_BYTES - RECORD_OF_CALL_BYTES;
        let fixed = [innermost, last];
        let of_properties = journals.iter().map(|table| journal(*table, number));
        for (word, value) in words.iter_mut().zip(fixed.into_iter().chain(of_properties)) {
            *word = value;
        }
        words
    })
}

/// A call that is pending in a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PendingCall {
    /// The stack pointer after the return.
    pub frame: u64,
    /// The return address.
    pub address: u64,
    /// The event.
    pub event: u32,
    /// The values that were not captured; bit n is slot n.
    pub absent: u64,
    /// The captured values, by number.
    pub values: [u64; PENDING_VALUES as usize],
}

/// The records of the pending calls of a thread.
pub(crate) struct PendingRecords(Vec<u8>);

impl PendingRecords {
    /// Reads them.
    pub(crate) fn read(program: &Program, record: ThreadRecord) -> PendingRecords {
        let first = first_call(record);
        let length = usize::try_from(innermost_end(program, record) - first).unwrap_or(0);
        let mut bytes = vec![0; length.min(RECORD_BYTES as usize)];
        let read = program.debuggee.read_up_to(first, &mut bytes);
        bytes.truncate(read);
        PendingRecords(bytes)
    }

    /// Returns whether one of them has this frame and return address.
    pub(crate) fn has(&self, frame: u64, address: u64) -> bool {
        let mut calls = self.0.chunks_exact(RECORD_OF_CALL_BYTES as usize);
        calls.any(|call| {
            word(call, PendingWord::Frame as usize) == Some(frame)
                && word(call, PendingWord::Address as usize) == Some(address)
        })
    }

    /// Returns the calls, outermost first.
    pub(crate) fn calls(&self) -> Vec<PendingCall> {
        let calls = self.0.chunks_exact(RECORD_OF_CALL_BYTES as usize);
        calls.filter_map(decode).collect()
    }
}

fn first_call(record: ThreadRecord) -> u64 {
    record.address + CALLS + RECORD_OF_CALL_BYTES
}

/// Returns the end of the innermost pending call of a thread.
fn innermost_end(program: &Program, record: ThreadRecord) -> u64 {
    let pending = record.address + u64::from(PENDING);
    let end = program.debuggee.read_u64(pending).unwrap_or(0);
    end.max(first_call(record))
}

fn word(call: &[u8], number: usize) -> Option<u64> {
    let word = call.get(8 * number..)?.first_chunk()?;
    Some(u64::from_le_bytes(*word))
}

fn decode(call: &[u8]) -> Option<PendingCall> {
    let fixed = |at: PendingWord| word(call, at as usize);
    let value = |number: usize| word(call, PendingWord::Values as usize + number).unwrap_or(0);
    Some(PendingCall {
        frame: fixed(PendingWord::Frame)?,
        address: fixed(PendingWord::Address)?,
        event: u32::try_from(fixed(PendingWord::Event)?).ok()?,
        absent: fixed(PendingWord::Absent)?,
        values: std::array::from_fn(value),
    })
}

/// Adds pending calls of a thread, outermost first, if there is room for them.
pub(crate) fn add_pending_calls(
    program: &mut Program,
    record: ThreadRecord,
    calls: &[PendingCall],
) -> Result<bool, DebuggeeError> {
    let end = innermost_end(program, record);
    let count = (end - first_call(record)) / RECORD_OF_CALL_BYTES;
    let has_room = count as usize + calls.len() <= PENDING_MAX;
    if has_room {
        write_pending_calls(program, record, end, calls)?;
    }
    Ok(has_room)
}

/// Replaces the pending calls of a thread by these, outermost first.
pub(crate) fn set_pending_calls(
    program: &mut Program,
    record: ThreadRecord,
    calls: &[PendingCall],
) -> Result<(), DebuggeeError> {
    write_pending_calls(program, record, first_call(record), calls)
}

fn write_pending_calls(
    program: &mut Program,
    record: ThreadRecord,
    mut at: u64,
    calls: &[PendingCall],
) -> Result<(), DebuggeeError> {
    for call in calls {
        let fixed = [call.frame, call.address, call.event.into(), call.absent];
        let words: Vec<u64> = fixed.into_iter().chain(call.values).collect();
        program.debuggee.write_own_words(at, &words)?;
        at += RECORD_OF_CALL_BYTES;
    }
    let pending = record.address + u64::from(PENDING);
    program.debuggee.write_own_words(pending, &[at])
}

/// Returns the thread's record, if it has pending calls.
pub(crate) fn has_pending_calls(program: &Program, thread: ThreadId) -> Option<ThreadRecord> {
    let record = program.debuggee.thread_record(thread)?;
    (innermost_end(program, record) > first_call(record)).then_some(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_record_has_no_pending_call_and_the_journals_of_its_number() {
        let journals = Journals::default();
        let tables = [(0x7000, 0x100), (0x9000, 0x40)];
        journals
            .lock()
            .expect("no thread has panicked")
            .extend(tables);
        let address = 0x10_0000;
        let words = words(&journals)(3, address);
        let first = address + CALLS + RECORD_OF_CALL_BYTES;
        // The word that says whether the thread is armed is not one of them.
        let at = |offset: u32| words[(offset / 8 - 1) as usize];
        assert_eq!(at(PENDING), first);
        assert_eq!(
            at(PENDING_END),
            address + RECORD_BYTES - RECORD_OF_CALL_BYTES
        );
        assert_eq!(
            [0, 1, 2].map(|property| at(journal_offset(property))),
            [0x7300, 0x90c0, 0]
        );
        // The record before the first call has the frame 0.
        let before = &words[CALLS as usize / 8 - 1..];
        assert!(
            before.len() as u64 * 8 >= RECORD_OF_CALL_BYTES && before.iter().all(|it| *it == 0)
        );
    }

    #[test]
    fn the_journals_of_all_properties_are_before_the_calls() {
        assert!(u64::from(journal_offset(PROPERTIES_MAX)) <= CALLS);
        let end = CALLS + RECORD_OF_CALL_BYTES * (PENDING_MAX as u64 + 1);
        assert!(end <= RECORD_BYTES - RECORD_OF_CALL_BYTES);
    }

    /// The bytes of two calls and of half a third.
    fn records() -> PendingRecords {
        let mut bytes = Vec::new();
        for call in 1..=3_u64 {
            let fixed = [0x100 * call, 0x10 * call, call, 1 << call];
            let values = (0..12).map(|value| call * 1000 + value);
            for word in fixed.into_iter().chain(values) {
                bytes.extend(word.to_le_bytes());
            }
        }
        bytes.truncate(2 * RECORD_OF_CALL_BYTES as usize + 64);
        PendingRecords(bytes)
    }

    #[test]
    fn pending_calls_are_read_as_they_were_written() {
        let calls = records().calls();
        assert_eq!(calls.len(), 2);
        let second = &calls[1];
        assert_eq!(
            (second.frame, second.address, second.event),
            (0x200, 0x20, 2)
        );
        assert_eq!(
            (second.absent, second.values[0], second.values[11]),
            (4, 2000, 2011)
        );
    }

    #[test]
    fn a_call_is_known_by_its_frame_and_return_address_together() {
        let records = records();
        assert!(records.has(0x100, 0x10) && records.has(0x200, 0x20));
        assert!(!records.has(0x100, 0x20) && !records.has(0x300, 0x30));
    }
}
