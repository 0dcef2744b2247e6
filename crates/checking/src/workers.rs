//! The threads that evaluate properties, or their slices.
//!
//! One thread orders the events and hands them out in portions. Each of these has some of the
//! properties, or of their slices, and takes all events of each portion. Their findings are
//! returned in the order of events, one portion at a time.
//!
//! **Invariant**: the findings are those of one thread. Threads may be ahead of what is shown; if
//! that ends early, their further work is dropped. Threads with some of the slices may not know the
//! findings of one thread; who shows them asks, and repeats the run.

use crate::portions::{Portion, Step};
use juror_monitoring::offline::{Finding, Part, Said, Standing, merge};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// The findings of a thread in a portion.
struct Found {
    findings: Vec<Finding>,
    /// The standings of its shares of slices.
    standings: Vec<Standing>,
}

/// The threads, each with its properties.
#[derive(Default)]
pub struct Workers {
    portions: Vec<Sender<Arc<Portion>>>,
    found: Vec<Receiver<Found>>,
    threads: Vec<JoinHandle<Part>>,
    /// No more findings are needed.
    is_over: Arc<AtomicBool>,
}

impl Workers {
    /// Starts a thread for each part of the properties.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start(parts: Vec<Part>) -> io::Result<Workers> {
        let mut workers = Workers::default();
        for part in parts {
            let (portions, to_take) = channel();
            let (to_tell, found) = channel();
            let is_over = Arc::clone(&workers.is_over);
            let thread = std::thread::Builder::new().name("properties".to_owned());
            let thread = thread.spawn(move || work(part, &to_take, &to_tell, &is_over))?;
            workers.threads.push(thread);
            workers.portions.push(portions);
            workers.found.push(found);
        }
        Ok(workers)
    }

    /// Hands out a portion.
    pub fn give(&self, portion: &Arc<Portion>) {
        for worker in &self.portions {
            // A thread that has ended is reported when its findings are received.
            let _ = worker.send(Arc::clone(portion));
        }
    }

    /// Returns the findings in the oldest portion that was not asked for.
    ///
    /// # Errors
    /// A thread has ended.
    pub fn findings(&self) -> io::Result<(Vec<Said>, Vec<Standing>)> {
        let mut all = Vec::new();
        let mut standings = Vec::new();
        for worker in &self.found {
            let mut found = worker.recv().map_err(|_| gone())?;
            all.append(&mut found.findings);
            standings.append(&mut found.standings);
        }
        Ok((merge(all), standings))
    }

    /// Returns the properties after all portions.
    ///
    /// # Errors
    /// A thread has ended.
    pub fn finish(mut self) -> io::Result<Vec<Part>> {
        self.portions.clear();
        let threads = std::mem::take(&mut self.threads).into_iter();
        threads
            .map(|thread| thread.join().map_err(|_| gone()))
            .collect()
    }
}

/// Returns the error of a thread that has ended too early.
pub fn gone() -> io::Error {
    io::Error::other("a thread that evaluates properties has ended")
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.portions.clear();
        for thread in self.threads.drain(..) {
            // Its properties are not needed.
            let _ = thread.join();
        }
    }
}

/// Takes portions until there are no more. Returns the properties.
fn work(
    mut part: Part,
    portions: &Receiver<Arc<Portion>>,
    to_tell: &Sender<Found>,
    is_over: &AtomicBool,
) -> Part {
    while let Ok(portion) = portions.recv() {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        let mut findings = Vec::new();
        let mut number = 0;
        for step in &portion.steps {
            match step {
                Step::Batch { trace, batch, .. } => part.learn(*trace, batch),
                Step::Events {
                    trace,
                    batch,
                    events,
                } => {
                    part.take(*trace, (batch, events.clone()), number, &mut findings);
                    number += events.len() as u64;
                }
                Step::Other(_) => {}
            }
        }
        // Its batches are used again once no thread has them.
        drop(portion);
        let found = Found {
            findings,
            standings: part.standings(),
        };
        if to_tell.send(found).is_err() {
            break;
        }
    }
    part
}
