//! A thread: what it waits for, and what it needs to go on.

use crate::terms::{Point, ThreadId, ThreadPath};
use alloc::vec::Vec;

/// The places and states that are remembered of a thread: loops with more points are not seen
/// to spin.
const STOPS_MAX: usize = 32;

/// The state of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// It has the baton.
    Running,
    /// It stands at a point.
    At(Point),
    /// It stands behind a call that is finished or has returned.
    Behind,
    /// It stands where a loop begins whose last turn changed nothing, and goes on when another
    /// thread has.
    Spins(Point),
    /// It waits for a wake at a word.
    Waits {
        /// The word.
        address: u64,
        /// When it gives up.
        deadline: Option<u64>,
        /// Whether it waits for a priority-inheritance lock.
        is_pi: bool,
    },
    /// It sleeps until this moment.
    Sleeps(u64),
    /// It is in the kernel, without the baton.
    InKernel,
}

impl State {
    /// Returns true if nothing but the two keys is missing.
    pub fn can_run(&self) -> bool {
        matches!(self, State::At(_) | State::Behind)
    }

    /// Returns the moment at which it gives up, or wakes.
    pub fn deadline(&self) -> Option<u64> {
        match self {
            State::Waits { deadline, .. } => *deadline,
            State::Sleeps(deadline) => Some(*deadline),
            _ => None,
        }
    }

    /// Returns the point at which it stands.
    pub fn point(&self) -> Option<&Point> {
        match self {
            State::At(point) | State::Spins(point) => Some(point),
            _ => None,
        }
    }
}

/// A thread.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Task {
    pub(crate) id: ThreadId,
    pub(crate) path: ThreadPath,
    pub(crate) state: State,
    /// The number of points that it reached.
    pub(crate) points: u64,
    /// The number of decisions since the last one.
    pub(crate) part: u32,
    /// The number of threads that it started.
    pub(crate) children: u32,
    /// The number of the function that it runs: equal for threads that do the same.
    pub(crate) code: u64,
    /// The word that the kernel clears when it ends.
    pub(crate) child_tid: Option<u64>,
    /// Whether the user lets it go on.
    pub(crate) user_key: bool,
    /// Pending signals, a bit for each.
    pub(crate) signals: u64,
    /// The places at which it stood since it changed something, and its states there.
    pub(crate) stops: Vec<(u64, u64)>,
}

impl Task {
    pub(crate) fn new(id: ThreadId, path: ThreadPath) -> Task {
        Task {
            id,
            path,
            state: State::At(Point::default()),
            points: 0,
            part: 0,
            children: 0,
            code: 0,
            child_tid: None,
            user_key: true,
            signals: 0,
            stops: Vec::new(),
        }
    }

    /// Returns its kernel id.
    pub fn id(&self) -> ThreadId {
        self.id
    }

    /// Returns its identity across runs.
    pub fn path(&self) -> ThreadPath {
        self.path
    }

    /// Returns what it does.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Returns the number of points that it reached.
    pub fn points(&self) -> u64 {
        self.points
    }

    /// Returns true if the user lets it go on.
    pub fn has_user_key(&self) -> bool {
        self.user_key
    }

    /// Returns true if a signal can be delivered to it.
    pub(crate) fn can_be_signalled(&self) -> bool {
        self.signals != 0 && !matches!(self.state, State::Running | State::InKernel)
    }

    /// Notes that it stands somewhere. Returns true if it did so in the same state before, and
    /// has changed nothing since: its registers are what they were.
    pub(crate) fn repeats(&mut self, site: u64, state: u64) -> bool {
        let stop = (site, state);
        if state == 0 || self.stops.contains(&stop) {
            return state != 0;
        }
        if self.stops.len() == STOPS_MAX {
            self.stops.remove(0);
        }
        self.stops.push(stop);
        false
    }

    /// Takes the pending signal with the lowest number.
    pub(crate) fn take_signal(&mut self) -> Option<u8> {
        let lowest = self.signals.trailing_zeros();
        self.signals &= self.signals.wrapping_sub(1);
        // Signal 1 is bit 0.
        u8::try_from(lowest + 1).ok().filter(|signal| *signal <= 64)
    }
}
