//! Which CPUs juror and the debuggee use.
//!
//! When both share one CPU, a stop is a switch of context; on two it is the
//! wake-up of another CPU each way, which costs about ten times as much. So
//! while events are frequent and there is one thread (with more, sharing would
//! take their parallelism), both are bound to one CPU, and let go when events
//! become rare, when a second thread starts, and before anything else of the
//! program could see it (a forked child, the end, detaching).

use std::time::{Duration, Instant};

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::launch::CpuPolicy;

/// The clock is read once in this many hits.
const HITS_PER_LOOK: u32 = 64;
/// Hits are frequent when they come at least this often on average: a busy
/// program would gain more from sharing than it loses.
const FREQUENT: Duration = Duration::from_millis(1);
/// Hits are rare when they come at most this often on average.
const RARE: Duration = Duration::from_millis(10);

#[derive(Debug)]
pub(crate) struct Cpu {
    policy: CpuPolicy,
    process: Pid,
    shared: Option<Shared>,
    hits: u32,
    looked: Instant,
}

/// The masks before sharing, and the one while sharing.
#[derive(Debug)]
struct Shared {
    one: CpuSet,
    juror: CpuSet,
    debuggee: CpuSet,
}

impl Cpu {
    pub(crate) fn new(policy: CpuPolicy, process: u32) -> Cpu {
        let mut cpu = Cpu {
            policy,
            process: Pid::from_raw(process as i32),
            shared: None,
            hits: 0,
            looked: Instant::now(),
        };
        if policy == CpuPolicy::Shared {
            cpu.share();
        }
        cpu
    }

    /// Counts a hit, and sometimes looks whether they are frequent.
    #[inline]
    pub(crate) fn count_hit(&mut self, single_thread: bool) {
        self.hits += 1;
        if self.hits >= HITS_PER_LOOK && self.policy == CpuPolicy::Auto {
            self.look(single_thread);
        }
    }

    fn look(&mut self, single_thread: bool) {
        let now = Instant::now();
        let interval = now.duration_since(self.looked) / self.hits;
        self.looked = now;
        self.hits = 0;
        if self.shared.is_some() {
            if interval > RARE {
                self.part();
            }
        } else if interval < FREQUENT && single_thread {
            self.share();
        }
    }

    /// A second thread has started.
    pub(crate) fn note_threads(&mut self, second: u32) {
        if self.policy == CpuPolicy::Auto {
            self.release(second);
            self.part();
        }
    }

    /// Gives a process or thread that inherited the shared CPU its own back.
    pub(crate) fn release(&self, inheritor: u32) {
        if let Some(shared) = &self.shared {
            restore(Pid::from_raw(inheritor as i32), shared);
        }
    }

    /// Binds both to one CPU. What fails leaves everything as it was: this is
    /// about speed alone.
    fn share(&mut self) {
        let juror = Pid::from_raw(0);
        let (Ok(own), Ok(other)) = (sched_getaffinity(juror), sched_getaffinity(self.process))
        else {
            return;
        };
        let Some(one) = common_cpu(&own, &other) else {
            return;
        };
        if sched_setaffinity(self.process, &one).is_err() {
            return;
        }
        if sched_setaffinity(juror, &one).is_err() {
            let _ = sched_setaffinity(self.process, &other);
            return;
        }
        self.shared = Some(Shared {
            one,
            juror: own,
            debuggee: other,
        });
    }

    /// Gives both their CPUs back.
    pub(crate) fn part(&mut self) {
        if let Some(shared) = self.shared.take() {
            let _ = sched_setaffinity(Pid::from_raw(0), &shared.juror);
            restore(self.process, &shared);
        }
    }
}

/// A mask that the program has set meanwhile is the program's and stays.
fn restore(process: Pid, shared: &Shared) {
    if sched_getaffinity(process).is_ok_and(|present| present == shared.one) {
        let _ = sched_setaffinity(process, &shared.debuggee);
    }
}

/// A mask of one CPU that both may use: the present one of juror's if possible.
fn common_cpu(own: &CpuSet, other: &CpuSet) -> Option<CpuSet> {
    let common = |cpu: &usize| {
        own.is_set(*cpu).unwrap_or(false) && other.is_set(*cpu).unwrap_or(false)
    };
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
        self.part();
    }
}
