//! Reading a trace ahead, in a thread of its own.
//!
//! The thread reads and decodes; batches come through a channel that holds a
//! few of them, and go back empty to be used again. Of a file, it has parts read
//! by further threads ([`parts`]). Invariant: what has been read of anything that
//! may grow is sent before the thread waits for more, so a trace that is being
//! recorded is followed event by event.

mod parts;
mod pool;

use super::spread::PORTION_EVENTS;
use crate::arguments::Check;
use juror_trace::{Batch, Decoder, Form};
use pool::Pool;
use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

/// How much is read at once.
const CHUNK_BYTES: usize = 1 << 20;
/// No record is longer than this.
const RECORD_BYTES_MAX: usize = 1 << 28;
/// How many batches may be ahead.
const BATCHES_AHEAD: usize = 8;
/// How long a growing trace is left alone at its end.
const FOLLOW_PAUSE: Duration = Duration::from_millis(50);
/// Progress is shown when a run takes so long.
const PROGRESS_AFTER: Duration = Duration::from_secs(1);
/// Of so many slices, what a thread has is not in its cache any more.
const SLICES_MANY: usize = 16_384;

/// Who evaluates the slices of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slices {
    /// One thread all of them.
    Together,
    /// One thread, until they are many: with two processors, of which one reads, the
    /// other one is as fast alone while what it has is in its cache.
    TogetherWhileFew,
    /// Several threads.
    Spread,
}

impl Slices {
    /// What is tried when this was given up.
    pub fn otherwise(self) -> Slices {
        match self {
            Slices::TogetherWhileFew => Slices::Spread,
            Slices::Together | Slices::Spread => Slices::Together,
        }
    }
}

/// How traces are to be read.
pub struct Plan {
    form: Option<Form>,
    columns: Vec<String>,
    follow: bool,
    /// Set by Ctrl-C.
    stop: Arc<AtomicBool>,
    pool: Option<Arc<Pool>>,
    chunk_bytes: usize,
    /// How many threads there may be for the properties.
    pub jobs: usize,
    /// How many events they are given at once.
    pub portion_events: usize,
    /// How many slices are many.
    pub slices_many: usize,
    /// When progress is shown.
    pub progress_after: Duration,
}

impl Plan {
    /// What the command line asks for. `stop` ends following.
    pub fn new(check: &Check, stop: Arc<AtomicBool>) -> anyhow::Result<Plan> {
        // Mistakes are told before anything is read.
        Decoder::csv_with_columns(&check.columns)?;
        let jobs = match check.jobs {
            Some(jobs) => jobs.get(),
            None => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
        };
        Ok(Plan {
            form: check.trace_format.form(),
            columns: check.columns.clone(),
            follow: check.follow,
            stop,
            pool: Pool::new(jobs)?,
            chunk_bytes: CHUNK_BYTES,
            jobs,
            portion_events: PORTION_EVENTS,
            slices_many: SLICES_MANY,
            progress_after: PROGRESS_AFTER,
        })
    }

    /// The same, with so many bytes read at once, and few events handed out.
    #[cfg(test)]
    pub fn in_chunks(self, chunk_bytes: usize) -> Plan {
        Plan {
            chunk_bytes,
            portion_events: 1 + chunk_bytes / 200,
            slices_many: 4,
            ..self
        }
    }

    /// Who evaluates the slices of a property, as long as nothing else is known.
    pub fn slices(&self, keeps_going: bool) -> Slices {
        match self.jobs {
            // What goes on after a violation tells more than some of the slices know.
            _ if keeps_going => Slices::Together,
            0..=2 => Slices::TogetherWhileFew,
            _ => Slices::Spread,
        }
    }
}

/// What comes of a trace.
pub enum Item {
    /// Some of it.
    Batch(Box<Batch>),
    /// It cannot be read on.
    Failed(io::Error),
    /// Following was ended.
    Interrupted,
}

/// A trace that is being read.
pub struct Source {
    /// Its name, for messages.
    pub name: String,
    /// Its size, where it is a file.
    pub size: Option<u64>,
    /// Of what form it is; known with the first batch.
    pub is_binary: Arc<AtomicBool>,
    items: Receiver<Item>,
    empty: Sender<Batch>,
    read: Arc<AtomicU64>,
}

/// What a trace is called.
pub fn name(path: &Path) -> String {
    match is_standard_input(path) {
        true => "standard input".to_owned(),
        false => path.display().to_string(),
    }
}

fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

impl Source {
    /// Begins to read a trace; `-` is standard input.
    ///
    /// # Errors
    /// A sentence, when it cannot be opened.
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

    /// The next item; nothing when the trace is over.
    pub fn next(&self) -> Option<Item> {
        self.items.recv().ok()
    }

    /// Gives a batch back, to be used again.
    pub fn give_back(&self, batch: Batch) {
        // At the end nobody takes it.
        let _ = self.empty.send(batch);
    }

    /// How many bytes have been read.
    pub fn read_bytes(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }
}

/// What the thread has.
struct Reader {
    input: Box<dyn Read + Send>,
    sender: SyncSender<Item>,
    returned: Receiver<Batch>,
    read: Arc<AtomicU64>,
    is_binary: Arc<AtomicBool>,
    form: Option<Form>,
    columns: Vec<String>,
    follow: bool,
    stop: Arc<AtomicBool>,
    /// Of a file: who reads parts of it.
    pool: Option<Arc<Pool>>,
    chunk_bytes: usize,
}

/// Nobody wants more.
struct Unwanted;

/// Why no more is read: with the last item to be sent, or because nobody wants
/// one.
type Stopped = Result<Item, Unwanted>;

impl Reader {
    fn run(mut self) {
        // Who does not take what is sent does not want to hear of it either.
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
            // A run that was followed to its end has no more.
            is_last = self.follow && decoder.has_ended() || self.fill(&mut buffer)?;
        }
    }

    /// Reads more; true at the end.
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

    /// Sends what can be decoded of the buffer; the rest stays in it.
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
