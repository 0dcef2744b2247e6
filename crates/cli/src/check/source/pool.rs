//! Threads that read parts of traces ahead.
//!
//! Invariant: whoever gives a part gets it back, read or not; the order of the
//! parts is the giver's to keep.

use juror_trace::{Part, PartReader};
use std::io;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// The threads. They end when this is dropped.
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
    /// So many threads; none where one is all there is to be.
    ///
    /// # Errors
    /// The system has no more threads.
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

    /// How many parts keep the threads busy.
    pub fn parts_ahead(&self) -> usize {
        self.threads + 2
    }

    /// Has a part read; it comes back through the channel.
    pub fn read(&self, part: Part, reader: Arc<PartReader>) -> Receiver<Part> {
        let (done, receiver) = sync_channel(1);
        let job = Job { part, reader, done };
        // Without threads nothing comes back, and the receiver says so.
        let _ = self.jobs.send(job);
        receiver
    }
}

fn work(jobs: &Mutex<Receiver<Job>>) {
    // A reader of one's own, since it learns what to expect next.
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
        // Who does not wait for it has left.
        let _ = done.send(part);
    }
}
