//! The state that the server and the thread that drives the session share.

use juror_view::live::SlicesWanted;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{oneshot, watch};

/// The limit of waiting requests; more are refused.
const REQUESTS_MAX: usize = 64;

/// The least time between two samples, in milliseconds.
pub(crate) const PERIOD_MIN_MS: u64 = 50;

/// A request of the browser, to be served by the thread that drives the session.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Request {
    /// The parts that do not change during a run.
    Static,
    /// A page of slices.
    Slices(SlicesWanted),
    /// The slice whose path snapshots have.
    Choose {
        /// The property's name.
        property: String,
        /// The values of its parameters, as text; none to choose none.
        binding: Option<Vec<String>>,
    },
    /// The part of the time line that snapshots have: its first and its last moment; none for all.
    Zoom(Option<(u64, u64)>),
    /// A command line.
    Command(String),
    /// A new snapshot.
    Sample,
}

impl Request {
    /// Returns whether it can be served in the middle of a command.
    pub(crate) fn is_quick(&self) -> bool {
        !matches!(self, Request::Command(_))
    }
}

/// A request and where its answer goes; the asker may have gone.
pub(crate) struct Job {
    pub(crate) request: Request,
    pub(crate) reply: Option<oneshot::Sender<Value>>,
}

/// Wakes the thread that drives the session.
type Bell = Box<dyn Fn() + Send>;

/// The shared state.
pub(crate) struct Shared {
    /// The token that a request must carry.
    pub(crate) token: String,
    jobs: Mutex<VecDeque<Job>>,
    /// Rung while a command runs.
    caller: Mutex<Option<Bell>>,
    /// Rung while the session waits for a line.
    waker: Mutex<Option<Bell>>,
    interrupter: Mutex<Option<Bell>>,
    /// The last snapshot, a line of JSON.
    pub(crate) snapshots: watch::Sender<Arc<str>>,
    /// The number of streams that are read.
    pub(crate) watchers: AtomicUsize,
    /// Whether a command runs.
    pub(crate) is_running: AtomicBool,
    /// The time between two samples, in milliseconds.
    pub(crate) period_ms: AtomicU64,
}

impl Shared {
    pub(crate) fn new(token: String) -> Shared {
        Shared {
            token,
            jobs: Mutex::default(),
            caller: Mutex::default(),
            waker: Mutex::default(),
            interrupter: Mutex::default(),
            snapshots: watch::Sender::new(Arc::from("")),
            watchers: AtomicUsize::new(0),
            is_running: AtomicBool::new(false),
            period_ms: AtomicU64::new(PERIOD_MIN_MS),
        }
    }

    /// Adds a request and wakes the session. Returns false if too many wait.
    pub(crate) fn submit(&self, job: Job) -> bool {
        {
            let mut jobs = lock(&self.jobs);
            // One sample serves all.
            let is_sample = |it: &Job| it.request == Request::Sample;
            let is_there = is_sample(&job) && jobs.iter().any(is_sample);
            if !is_there && jobs.len() >= REQUESTS_MAX {
                return false;
            }
            if !is_there {
                jobs.push_back(job);
            }
        }
        self.wake();
        true
    }

    /// Wakes the session, whether a command runs or a line is awaited.
    pub(crate) fn wake(&self) {
        ring(&self.caller);
        ring(&self.waker);
    }

    /// Takes the first request that can be served in the middle of a command, or the first one.
    pub(crate) fn take(&self, is_quick: bool) -> Option<Job> {
        let mut jobs = lock(&self.jobs);
        let position = jobs
            .iter()
            .position(|it| !is_quick || it.request.is_quick())?;
        jobs.remove(position)
    }

    /// Returns whether a request waits.
    pub(crate) fn has(&self, is_quick: bool) -> bool {
        let jobs = lock(&self.jobs);
        jobs.iter().any(|it| !is_quick || it.request.is_quick())
    }

    pub(crate) fn set_caller(&self, call: Bell) {
        *lock(&self.caller) = Some(call);
    }

    pub(crate) fn set_waker(&self, wake: Bell) {
        *lock(&self.waker) = Some(wake);
        // Earlier requests wait already.
        ring(&self.waker);
    }

    pub(crate) fn set_interrupter(&self, interrupt: Bell) {
        *lock(&self.interrupter) = Some(interrupt);
    }

    /// Makes a running command return.
    pub(crate) fn interrupt(&self) {
        if self.is_running.load(Ordering::SeqCst) {
            ring(&self.interrupter);
        }
    }
}

/// The choices of the browser.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    /// By property: the binding of the slice whose path is shown.
    pub(crate) chosen: BTreeMap<String, Vec<String>>,
    /// By property: the number of the next transition.
    pub(crate) since: BTreeMap<String, u64>,
    /// The part of the time line that is shown.
    pub(crate) window: Option<(u64, u64)>,
}

fn ring(bell: &Mutex<Option<Bell>>) {
    if let Some(bell) = &*lock(bell) {
        bell();
    }
}

/// Locks; a thread that panicked has left nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
