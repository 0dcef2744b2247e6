//! The thread that reads a trace ahead.
//!
//! It reads and decodes the trace. Batches come through a bounded channel, and return
//! empty to be used again. Further threads decode parts of a file (`parts`).
//!
//! **Invariant**: all that has been read of a trace that may grow is sent before the
//! thread waits for more, so that a trace that is being recorded is followed event by
//! event.

mod parts;
mod pool;

use crate::portions::PORTION_EVENTS;
use juror_trace::{Batch, ColumnError, Decoder, Form, TextColumns};
use pool::Pool;
use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

/// The size of a read.
const CHUNK_BYTES: usize = 1 << 20;
/// The maximum size of a record.
const RECORD_BYTES_MAX: usize = 1 << 28;
/// The capacity of the channel, in batches.
const BATCHES_AHEAD: usize = 8;
/// The pause at the end of a growing trace.
const FOLLOW_PAUSE: Duration = Duration::from_millis(50);
/// The duration of a run after which progress is shown.
const PROGRESS_AFTER: Duration = Duration::from_secs(1);
/// The number of slices that do not fit the cache of a processor.
const SLICES_MANY: usize = 16_384;

/// The threads that evaluate the slices of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slices {
    /// One thread evaluates all of them.
    Together,
    /// One thread, until there are many: with two processors, one of which reads, the other
    /// is as fast alone while the slices fit its cache.
    TogetherWhileFew,
    /// Several threads.
    Spread,
}

impl Slices {
    /// Returns the alternative when this one has been given up.
    pub fn otherwise(self) -> Slices {
        match self {
            Slices::TogetherWhileFew => Slices::Spread,
            Slices::Together | Slices::Spread => Slices::Together,
        }
    }
}

/// The options by which traces are read and evaluated.
#[derive(Debug, Default)]
pub struct Options {
    /// The format; by default that of the first bytes.
    pub form: Option<Form>,
    /// The columns of CSV: `EVENT=NAME,NAME`.
    pub columns: Vec<String>,
    /// Whether to wait for more at the end of a trace.
    pub follows: bool,
    /// The maximum number of threads that evaluate properties; by default one a processor.
    pub jobs: Option<NonZeroUsize>,
    /// Set by somebody to end the waiting.
    pub stop: Arc<AtomicBool>,
}

/// The reason why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The columns of CSV are wrong.
    #[error(transparent)]
    Columns(#[from] ColumnError),
    /// A thread cannot be started.
    #[error(transparent)]
    Threads(#[from] io::Error),
}

/// How traces are read and evaluated.
pub struct Plan {
    form: Option<Form>,
    columns: Vec<String>,
    /// The values of CSV that are texts.
    pub texts: Arc<TextColumns>,
    follow: bool,
    /// Set to end the waiting.
    stop: Arc<AtomicBool>,
    pool: Option<Arc<Pool>>,
    chunk_bytes: usize,
    /// The maximum number of threads that evaluate properties.
    pub jobs: usize,
    /// The number of events of a portion.
    pub portion_events: usize,
    /// The number of slices from which on they are many.
    pub slices_many: usize,
    /// The duration of a run after which progress is shown.
    pub progress_after: Duration,
}

impl Plan {
    /// Creates the plan of a check, and starts the threads that decode.
    ///
    /// # Errors
    /// The columns of CSV are wrong, or a thread cannot be started.
    pub fn new(options: Options) -> Result<Plan, PlanError> {
        // Errors are reported before anything is read.
        Decoder::csv_with_columns(&options.columns)?;
        let jobs = match options.jobs {
            Some(jobs) => jobs.get(),
            None => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
        };
        Ok(Plan {
            form: options.form,
            columns: options.columns,
            texts: Arc::default(),
            follow: options.follows,
            stop: options.stop,
            pool: Pool::new(jobs)?,
            chunk_bytes: CHUNK_BYTES,
            jobs,
            portion_events: PORTION_EVENTS,
            slices_many: SLICES_MANY,
            progress_after: PROGRESS_AFTER,
        })
    }

    /// Returns the plan with smaller reads and portions, which a test of short traces needs.
    #[must_use]
    pub fn in_chunks(self, chunk_bytes: usize) -> Plan {
        Plan {
            chunk_bytes,
            portion_events: 1 + chunk_bytes / 200,
            slices_many: 4,
            ..self
        }
    }

    /// Returns which threads evaluate the slices of a property at first.
    pub fn slices(&self, keeps_going: bool) -> Slices {
        match self.jobs {
            // The report of a violation needs all slices.
            _ if keeps_going => Slices::Together,
            0..=2 => Slices::TogetherWhileFew,
            _ => Slices::Spread,
        }
    }
}

/// An item of a trace.
pub enum Item {
    /// A batch of events.
    Batch(Box<Batch>),
    /// The trace cannot be read.
    Failed(io::Error),
    /// Following was ended.
    Interrupted,
}

/// A trace that is being read.
pub struct Source {
    /// The name, for messages.
    pub name: String,
    /// The size in bytes, if it is a file.
    pub size: Option<u64>,
    /// Whether the format is binary; known with the first batch.
    pub is_binary: Arc<AtomicBool>,
    items: Receiver<Item>,
    empty: Sender<Batch>,
    read: Arc<AtomicU64>,
}

/// Returns the name of a trace for messages.
pub fn name(path: &Path) -> String {
    if is_standard_input(path) {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    }
}

fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

impl Source {
    /// Starts to read a trace; `-` is the standard input.
    ///
    /// # Errors
    /// Fails with a message if the trace cannot be opened.
    pub fn open(path: &Path, plan: &Plan) -> Result<Source, String> {
        let failed =
            |error: io::Error| format!("the trace {} cannot be read: {error}", path.display());
        let (input, size): (Box<dyn Read + Send>, _) = if is_standard_input(path) {
            (Box::new(io::stdin()), None)
        } else {
            let file = File::open(path).map_err(failed)?;
            let metadata = file.metadata().map_err(failed)?;
            if metadata.is_dir() {
                return Err(failed(io::ErrorKind::IsADirectory.into()));
            }
            let size = Some(metadata.len()).filter(|_| metadata.is_file() && !plan.follow);
            (Box::new(file), size)
        };
        let (sender, items) = sync_channel(BATCHES_AHEAD);
        let (empty, returned) = channel();
        let read = Arc::new(AtomicU64::new(0));
        let is_binary = Arc::new(AtomicBool::new(false));
        let reader = Reader {
            input,
            sender,
            returned,
            read: Arc::clone(&read),
            is_binary: Arc::clone(&is_binary),
            form: plan.form,
            columns: plan.columns.clone(),
            texts: Arc::clone(&plan.texts),
            follow: plan.follow,
            stop: Arc::clone(&plan.stop),
            pool: plan.pool.clone().filter(|_| size.is_some()),
            chunk_bytes: plan.chunk_bytes,
        };
        std::thread::Builder::new()
            .name("trace".to_owned())
            .spawn(move || reader.run())
            .map_err(failed)?;
        Ok(Source {
            name: name(path),
            size,
            is_binary,
            items,
            empty,
            read,
        })
    }

    /// Returns the next item; nothing at the end of the trace.
    pub fn next(&self) -> Option<Item> {
        self.items.recv().ok()
    }

    /// Returns a batch to the thread, to be used again.
    pub fn give_back(&self, batch: Batch) {
        // At the end, the thread is gone.
        let _ = self.empty.send(batch);
    }

    /// Returns the number of bytes that have been read.
    pub fn read_bytes(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }
}

/// The state of the thread.
struct Reader {
    input: Box<dyn Read + Send>,
    sender: SyncSender<Item>,
    returned: Receiver<Batch>,
    read: Arc<AtomicU64>,
    is_binary: Arc<AtomicBool>,
    form: Option<Form>,
    columns: Vec<String>,
    texts: Arc<TextColumns>,
    follow: bool,
    stop: Arc<AtomicBool>,
    /// The threads that decode parts of a file.
    pool: Option<Arc<Pool>>,
    chunk_bytes: usize,
}

/// The receiver has gone.
struct Unwanted;

/// Why reading stopped: the last item to be sent, or nothing if the receiver has gone.
type Stopped = Result<Item, Unwanted>;

impl Reader {
    fn run(mut self) {
        // A receiver that has gone needs no error.
        let _ = match self.read_all() {
            Ok(()) => Ok(()),
            Err(Ok(item)) => self.sender.send(item).map_err(|_| Unwanted),
            Err(Err(unwanted)) => Err(unwanted),
        };
    }

    /// Reads to the end.
    fn read_all(&mut self) -> Result<(), Stopped> {
        let mut buffer = Vec::new();
        let mut is_last = false;
        while !is_last && buffer.len() < 4 {
            is_last = self.fill(&mut buffer)?;
        }
        let form = self.form.unwrap_or_else(|| Form::of(&buffer));
        self.is_binary
            .store(form == Form::Binary, Ordering::Relaxed);
        let columns = Decoder::csv_with_columns(&self.columns).ok();
        let mut decoder = match (form, columns) {
            (Form::Csv, Some(decoder)) => decoder,
            (form, _) => Decoder::new(form),
        };
        decoder.set_texts(&self.texts);
        if let Some(pool) = self.pool.take()
            && decoder.whole_records(&[]).is_some()
        {
            self.read_in_parts(&pool, &mut decoder, &mut buffer, is_last)?;
            is_last = true;
        }
        loop {
            self.decode(&mut decoder, &mut buffer, is_last)?;
            if is_last {
                let mut batch = self.batch();
                decoder.finish(&mut batch);
                return self.send(batch).map_err(Err);
            }
            if buffer.len() > RECORD_BYTES_MAX {
                return Err(parts::too_long());
            }
            // A followed run that has ended has no more events.
            is_last = self.follow && decoder.has_ended() || self.fill(&mut buffer)?;
        }
    }

    /// Reads more. Returns whether the end is reached.
    fn fill(&mut self, buffer: &mut Vec<u8>) -> Result<bool, Stopped> {
        let before = buffer.len();
        buffer.resize(before + self.chunk_bytes, 0);
        loop {
            let place = buffer.get_mut(before..).unwrap_or(&mut []);
            let outcome = self.input.read(place);
            let is_stopped = self.stop.load(Ordering::Relaxed);
            match outcome {
                Ok(0) if self.follow && !is_stopped => std::thread::sleep(FOLLOW_PAUSE),
                Ok(0) if self.follow => return Err(Ok(Item::Interrupted)),
                Ok(count) => {
                    buffer.truncate(before + count);
                    self.read.fetch_add(count as u64, Ordering::Relaxed);
                    return Ok(count == 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    if is_stopped {
                        return Err(Ok(Item::Interrupted));
                    }
                }
                Err(error) => return Err(Ok(Item::Failed(error))),
            }
        }
    }

    /// Decodes and sends the whole records of the buffer; the rest stays in it.
    fn decode(
        &self,
        decoder: &mut Decoder,
        buffer: &mut Vec<u8>,
        is_last: bool,
    ) -> Result<(), Stopped> {
        let mut start = 0;
        loop {
            let mut batch = self.batch();
            let bytes = buffer.get(start..).unwrap_or(&[]);
            let consumed = decoder.decode(bytes, is_last, &mut batch);
            start += consumed;
            if consumed == 0 {
                break;
            }
            self.send(batch).map_err(Err)?;
        }
        buffer.drain(..start);
        Ok(())
    }

    fn batch(&self) -> Batch {
        let mut batch = self.returned.try_recv().unwrap_or_default();
        batch.clear();
        batch
    }

    fn send(&self, batch: Batch) -> Result<(), Unwanted> {
        self.sender
            .send(Item::Batch(Box::new(batch)))
            .map_err(|_| Unwanted)
    }
}
