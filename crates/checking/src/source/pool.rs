//! The threads that decode parts of traces.
//!
//! **Invariant**: a part returns to the caller, decoded or not. The caller keeps the order
//! of parts.

use juror_trace::{Part, PartReader};
use std::io;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// The threads. They end when the pool is dropped.
pub struct Pool {
    jobs: Sender<Job>,
    threads: usize,
}

struct Job {
    part: Part,
    reader: Arc<PartReader>,
    done: SyncSender<Part>,
}

impl Pool {
    /// Starts threads. Returns no pool for fewer than two.
    ///
    /// # Errors
    /// Fails if a thread cannot be started.
    pub fn new(threads: usize) -> io::Result<Option<Arc<Pool>>> {
        if threads < 2 {
            return Ok(None);
        }
        let (sender, receiver) = channel();
        let receiver = Arc::new(Mutex::new(receiver));
        for _ in 0..threads {
            let receiver = Arc::clone(&receiver);
            std::thread::Builder::new()
                .name("trace part".to_owned())
                .spawn(move || work(&receiver))?;
        }
        let jobs = sender;
        Ok(Some(Arc::new(Pool { jobs, threads })))
    }

    /// Returns the number of parts that keep the threads busy.
    pub fn parts_ahead(&self) -> usize {
        self.threads + 2
    }

    /// Decodes a part by a thread; it returns through the channel.
    pub fn read(&self, part: Part, reader: Arc<PartReader>) -> Receiver<Part> {
        let (done, receiver) = sync_channel(1);
        let job = Job { part, reader, done };
        // Without threads, the receiver reports the closed channel.
        let _ = self.jobs.send(job);
        receiver
    }
}

fn work(jobs: &Mutex<Receiver<Job>>) {
    // Each thread has its own reader, which adapts to what it reads.
    let mut own: Option<(Arc<PartReader>, PartReader)> = None;
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job {
            mut part,
            reader,
            done,
        }) = job
        else {
            return;
        };
        let same = own.take().filter(|(of, _)| Arc::ptr_eq(of, &reader));
        let (of, mut mine) = same.unwrap_or_else(|| (Arc::clone(&reader), (*reader).clone()));
        mine.read(&mut part);
        own = Some((of, mine));
        // The caller may be gone.
        let _ = done.send(part);
    }
}
