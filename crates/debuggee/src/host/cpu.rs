//! The CPUs that juror and the debuggee use.
//!
//! If both share one CPU, a stop is a context switch; on two it is the wake-up
//! of another CPU each way, which costs several times as much. So while events
//! are frequent and there is one thread (with more, sharing would take their
//! parallelism), both are bound to one CPU. They are released when events
//! become rare, when a second thread starts, and before the program could
//! observe it (a forked child, another program, the end, detaching).
//!
//! If events cease altogether, nothing wakes juror, which waits for the
//! debuggee. So a sampler thread checks the rate now and then, as long as the
//! CPU is shared, and sleeps otherwise.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::{Pid, gettid};

/// The clock is read once in this many hits.
const HITS_PER_MEASUREMENT: u32 = 64;
/// Hits are frequent if they come at least this often on average: a busy
/// program would gain more from sharing than it loses.
const FREQUENT: Duration = Duration::from_millis(1);
/// The interval at which the sampler checks whether hits have become rare.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(100);
/// Hits are rare if fewer come in one interval: one in ten milliseconds.
const RARE_HITS: u32 = 10;

/// The CPUs that juror and the debuggee use. Sharing one makes an event several
/// times cheaper, because no other CPU has to be woken; it costs parallelism.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CpuPolicy {
    /// Share one while events are frequent and the debuggee has one thread.
    #[default]
    Auto,
    /// Share one from the start to the end.
    Shared,
    /// Leave it to the kernel.
    Free,
}

/// The CPUs of one debuggee.
#[derive(Debug)]
pub(crate) struct Cpu {
    policy: CpuPolicy,
    process: Pid,
    /// juror's tracing thread.
    tracer: Pid,
    hits: u32,
    measured: Instant,
    /// Whether this is the only process. Of several processes none shares: they
    /// may run at the same time.
    is_alone: bool,
    common: Arc<Common>,
    sampler: Option<JoinHandle<()>>,
}

/// The state shared by the tracer and its sampler.
#[derive(Debug, Default)]
struct Common {
    sharing: Mutex<Sharing>,
    changed: Condvar,
    /// Counted by the tracer only; wraps around.
    hits: AtomicU32,
}

#[derive(Debug, Default)]
struct Sharing {
    shared: Option<Shared>,
    has_ended: bool,
}

/// Two threads that share one CPU: the masks before, and the one while sharing.
#[derive(Debug)]
struct Shared {
    one: CpuSet,
    tracer: (Pid, CpuSet),
    process: (Pid, CpuSet),
}

impl Cpu {
    pub(crate) fn new(policy: CpuPolicy, process: u32) -> Cpu {
        let mut cpu = Cpu::unshared(policy, process);
        cpu.is_alone = true;
        if policy == CpuPolicy::Shared {
            cpu.share();
        }
        cpu
    }

    /// Returns the state of a process that another debuggee made: it runs where
    /// that one does, and shares nothing while both exist.
    pub(crate) fn unshared(policy: CpuPolicy, process: u32) -> Cpu {
        Cpu {
            policy,
            process: Pid::from_raw(process as i32),
            tracer: gettid(),
            hits: 0,
            measured: Instant::now(),
            is_alone: false,
            common: Arc::default(),
            sampler: None,
        }
    }

    pub(crate) fn policy(&self) -> CpuPolicy {
        self.policy
    }

    /// Sets whether this is the only process.
    pub(crate) fn set_alone(&mut self, is_alone: bool) {
        self.is_alone = is_alone;
        if !is_alone && self.policy == CpuPolicy::Auto {
            self.unshare();
        }
    }

    /// Counts a hit, and sometimes checks whether hits are frequent.
    #[inline]
    pub(crate) fn count_hit(&mut self, single_thread: bool) {
        if self.policy != CpuPolicy::Auto {
            return;
        }
        self.hits = self.hits.wrapping_add(1);
        self.common.hits.store(self.hits, Ordering::Relaxed);
        if self.hits.is_multiple_of(HITS_PER_MEASUREMENT) {
            self.measure_rate(single_thread);
        }
    }

    fn measure_rate(&mut self, single_thread: bool) {
        let now = Instant::now();
        let interval = now.duration_since(self.measured) / HITS_PER_MEASUREMENT;
        self.measured = now;
        if interval < FREQUENT && single_thread && self.is_alone && self.has_sampler() {
            self.share();
        }
    }

    /// Starts the sampler, before anything is bound, so that it is not.
    fn has_sampler(&mut self) -> bool {
        if self.sampler.is_none() {
            let common = Arc::clone(&self.common);
            let builder = std::thread::Builder::new().name("juror-cpu".to_owned());
            self.sampler = builder.spawn(move || common.sample_rate()).ok();
        }
        self.sampler.is_some()
    }

    /// Handles the start of a second thread.
    pub(crate) fn note_second_thread(&mut self, second: u32) {
        if self.policy == CpuPolicy::Auto {
            self.restore_affinity(second);
            self.unshare();
        }
    }

    /// Handles an `exec`: the program may ask for its CPUs at once.
    pub(crate) fn note_exec(&mut self) {
        if self.policy == CpuPolicy::Auto {
            self.unshare();
        }
    }

    /// Restores the CPUs of a process or thread that inherited the shared one.
    pub(crate) fn restore_affinity(&self, inheritor: u32) {
        if let Some(shared) = &self.common.lock().shared {
            restore(Pid::from_raw(inheritor as i32), shared);
        }
    }

    /// Restores the CPUs of a child that inherited the one shared with juror,
    /// unless sharing was requested.
    pub(crate) fn restore_affinity_of_child(&self, child: u32) {
        if self.policy != CpuPolicy::Shared {
            self.restore_affinity(child);
        }
    }

    /// Binds both to one CPU. A failure leaves everything as it was: this
    /// affects speed only.
    fn share(&mut self) {
        let mut sharing = self.common.lock();
        if sharing.shared.is_none() {
            sharing.shared = Shared::begin(self.tracer, self.process);
            self.common.changed.notify_one();
        }
    }

    /// Shares again after a temporary release, if sharing was requested.
    pub(crate) fn share_again(&mut self) {
        if self.policy == CpuPolicy::Shared {
            self.share();
        }
    }

    /// Restores the CPUs of both.
    pub(crate) fn unshare(&mut self) {
        if let Some(shared) = self.common.lock().shared.take() {
            shared.end();
        }
    }
}

impl Common {
    fn lock(&self) -> MutexGuard<'_, Sharing> {
        self.sharing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Releases the two when hits have become rare; returns at the end.
    fn sample_rate(&self) {
        let mut sharing = self.lock();
        while !sharing.has_ended {
            if sharing.shared.is_none() {
                let woken = self.changed.wait(sharing);
                sharing = woken.unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let before = self.hits.load(Ordering::Relaxed);
            let woken = self.changed.wait_timeout(sharing, SAMPLE_INTERVAL);
            let (guard, waited) = woken.unwrap_or_else(PoisonError::into_inner);
            sharing = guard;
            let hits = self.hits.load(Ordering::Relaxed).wrapping_sub(before);
            if waited.timed_out()
                && hits < RARE_HITS
                && let Some(shared) = sharing.shared.take()
            {
                shared.end();
            }
        }
    }
}

impl Shared {
    fn begin(tracer: Pid, process: Pid) -> Option<Shared> {
        let own = sched_getaffinity(tracer).ok()?;
        let other = sched_getaffinity(process).ok()?;
        let one = common_cpu(&own, &other)?;
        sched_setaffinity(process, &one).ok()?;
        if sched_setaffinity(tracer, &one).is_err() {
            let _ = sched_setaffinity(process, &other);
            return None;
        }
        Some(Shared {
            one,
            tracer: (tracer, own),
            process: (process, other),
        })
    }

    fn end(self) {
        let (tracer, own) = self.tracer;
        let _ = sched_setaffinity(tracer, &own);
        restore(self.process.0, &self);
    }
}

/// Restores the mask of a process. A mask that the program has set meanwhile
/// is kept.
fn restore(process: Pid, shared: &Shared) {
    if sched_getaffinity(process).is_ok_and(|present| present == shared.one) {
        let _ = sched_setaffinity(process, &shared.process.1);
    }
}

/// Returns a mask of one CPU that both may use: juror's present one if
/// possible.
fn common_cpu(own: &CpuSet, other: &CpuSet) -> Option<CpuSet> {
    let common =
        |cpu: &usize| own.is_set(*cpu).unwrap_or(false) && other.is_set(*cpu).unwrap_or(false);
    let cpu = nix::sched::sched_getcpu()
        .ok()
        .filter(common)
        .or_else(|| (0..CpuSet::count()).find(common))?;
    let mut one = CpuSet::new();
    one.set(cpu).ok()?;
    Some(one)
}

impl Drop for Cpu {
    fn drop(&mut self) {
        self.unshare();
        self.common.lock().has_ended = true;
        self.common.changed.notify_one();
        if let Some(sampler) = self.sampler.take() {
            let _ = sampler.join();
        }
    }
}
