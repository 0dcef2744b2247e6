//! The number of entries in a recording.

use super::entry::Entry;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// The contents of a recording so far. The recorder counts, and who began the recording reads: to read the file
/// again takes as long as to write it.
#[derive(Debug, Default)]
pub struct Tally {
    threads: AtomicU64,
    calls: AtomicU64,
    /// The reason for which the recording ended before the program.
    stops: Mutex<Option<String>>,
}

impl Tally {
    /// Counts an entry.
    pub(crate) fn count(&self, entry: &Entry) {
        match entry {
            Entry::Call(_) => drop(self.calls.fetch_add(1, Ordering::Relaxed)),
            Entry::Thread { .. } => drop(self.threads.fetch_add(1, Ordering::Relaxed)),
            Entry::Stops { reason } => self.note_stop(reason),
            _ => {}
        }
    }

    /// Notes why nothing more is recorded; the first reason counts.
    pub(crate) fn note_stop(&self, reason: &str) {
        if let Ok(mut stops) = self.stops.lock() {
            stops.get_or_insert_with(|| reason.to_owned());
        }
    }

    /// Returns what is in the recording, to follow its name; nothing if it has not begun.
    pub fn words(&self) -> Option<String> {
        let [threads, calls] = [&self.threads, &self.calls].map(|it| it.load(Ordering::Relaxed));
        let noun = |count: u64, noun: &str| match count {
            1 => format!("1 {noun}"),
            _ => format!("{count} {noun}s"),
        };
        let (some_threads, some_calls) = (noun(threads, "thread"), noun(calls, "system call"));
        let mut words = format!(" ({some_threads}, {some_calls}");
        if let Some(reason) = self.stops.lock().ok().as_deref().and_then(Option::as_ref) {
            words += &format!("; not to its end: {reason}");
        }
        (threads > 0).then(|| words + ")")
    }
}

impl PartialEq for Tally {
    fn eq(&self, other: &Tally) -> bool {
        self.words() == other.words()
    }
}
