//! The recording of inputs.

use super::Tally;
use super::blocks::Blocks;
use super::entry::{Call, Comes, Ending, Entry};
use juror_debuggee::ThreadId;
use rustc_hash::FxHashMap;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time after which what was recorded is written.
const FLUSH: Duration = Duration::from_millis(100);

/// The recording of a run.
#[derive(Debug)]
pub(crate) struct Recorder {
    blocks: Blocks<File>,
    /// Why no more is recorded.
    stopped: Option<String>,
    flushed: Instant,
    /// The moment from which times are counted.
    begin: Instant,
    /// The first calls of which it is not known what they wrote, and how many.
    unknown: FxHashMap<u64, u32>,
    has_ended: bool,
    /// The files behind the standard output and error, by device and inode.
    pub(crate) streams: [Option<(u64, u64)>; 2],
    /// Threads whose call gave the baton away.
    waited: FxHashMap<ThreadId, ()>,
    tally: Arc<Tally>,
}

impl Recorder {
    /// Returns the recording to a file whose first line is written, which is counted.
    pub(crate) fn new(file: File, tally: Arc<Tally>) -> Recorder {
        Recorder {
            blocks: Blocks::new(file),
            stopped: None,
            flushed: Instant::now(),
            begin: Instant::now(),
            unknown: FxHashMap::default(),
            has_ended: false,
            streams: [None; 2],
            waited: FxHashMap::default(),
            tally,
        }
    }

    /// Returns the time since the beginning, in nanoseconds.
    pub(crate) fn now(&self) -> u64 {
        u64::try_from(self.begin.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Notes that others go on while a thread is in its call.
    pub(crate) fn note_waiting(&mut self, thread: ThreadId) {
        self.waited.insert(thread, ());
    }

    /// Takes whether others went on while a thread was in its call.
    pub(crate) fn take_waited(&mut self, thread: ThreadId) -> bool {
        self.waited.remove(&thread).is_some()
    }

    pub(crate) fn call(&mut self, call: Call) {
        if call.is_unknown {
            *self.unknown.entry(u64::from(call.number)).or_default() += 1;
        }
        self.append(&Entry::Call(call));
    }

    pub(crate) fn comes(&mut self, inputs: u64, thread: u32, what: Comes) {
        self.append(&Entry::Comes {
            inputs,
            thread,
            what,
        });
    }

    pub(crate) fn signal(&mut self, thread: u32, information: Vec<u8>) {
        self.append(&Entry::Signal {
            thread,
            information,
        });
    }

    pub(crate) fn signal_before(&mut self, inputs: u64, thread: u32, information: Vec<u8>) {
        self.append(&Entry::SignalBefore {
            inputs,
            thread,
            information,
        });
    }

    pub(crate) fn thread(&mut self, id: u32) {
        self.append(&Entry::Thread { id });
    }

    /// Ends the recording before the program ends.
    pub(crate) fn stop(&mut self, reason: &str) {
        let reason = reason.to_owned();
        self.append(&Entry::Stops {
            reason: reason.clone(),
        });
        self.flush();
        self.stopped.get_or_insert(reason);
    }

    /// Notes the end of the program.
    pub(crate) fn end(&mut self, ending: Ending, hash: u64) {
        self.append(&Entry::End { ending, hash });
        self.has_ended = true;
        self.flush();
    }

    fn append(&mut self, entry: &Entry) {
        if self.stopped.is_some() || self.has_ended {
            return;
        }
        self.tally.count(entry);
        let mut written = self.blocks.append(entry);
        if written.is_ok() && self.flushed.elapsed() > FLUSH {
            written = self.blocks.flush();
            self.flushed = Instant::now();
        }
        self.note(written);
    }

    fn flush(&mut self) {
        let written = self.blocks.flush();
        self.note(written);
    }

    /// A full disk ends the recording, not the program.
    fn note(&mut self, written: io::Result<()>) {
        if let Err(error) = written {
            let reason = format!("the file cannot be written: {error}");
            self.tally.note_stop(&reason);
            self.stopped.get_or_insert(reason);
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.stop("it was ended there");
    }
}
