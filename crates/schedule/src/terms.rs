//! The terms of both directions: threads, their identity across runs, places and footprints.

use core::fmt;

/// A thread of the debuggee, by its kernel id. Words of priority-inheritance futexes hold it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(pub u32);

/// The longest chain of threads that started one another.
const DEPTH_MAX: usize = 7;

/// The identity of a thread across runs: which child of which thread it is. The first thread
/// is `main`, its second child is `main/2`, and the first child of that is `main/2/1`.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadPath {
    numbers: [u16; DEPTH_MAX],
    depth: u8,
}

impl ThreadPath {
    /// The first thread.
    pub const MAIN: ThreadPath = ThreadPath {
        numbers: [0; DEPTH_MAX],
        depth: 0,
    };

    /// Returns the path of the `number`-th child, counted from 1, if there may be one: a chain
    /// of threads has at most 8, and a thread has at most 65 535 children.
    pub fn child(self, number: u32) -> Option<ThreadPath> {
        let number = u16::try_from(number).ok().filter(|number| *number != 0)?;
        let mut path = self;
        *path.numbers.get_mut(usize::from(self.depth))? = number;
        path.depth += 1;
        Some(path)
    }

    /// Returns the numbers from the first thread down; none for the first thread itself.
    pub fn numbers(&self) -> &[u16] {
        self.numbers
            .get(..usize::from(self.depth))
            .unwrap_or_default()
    }
}

impl fmt::Display for ThreadPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("main")?;
        self.numbers()
            .iter()
            .try_for_each(|number| write!(formatter, "/{number}"))
    }
}

impl fmt::Debug for ThreadPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// The kind of an access to memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// It reads.
    #[default]
    Read,
    /// It writes.
    Write,
    /// It may write, and changes nothing as the memory is now: a compare-and-swap that would
    /// fail, an exchange for the same value. Another thread may change the memory first, so it
    /// counts as a write but for loops that only spin.
    WriteSame,
}

/// An access to memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Access {
    /// The first byte.
    pub address: u64,
    /// The number of bytes.
    pub length: u32,
    /// Its kind.
    pub kind: AccessKind,
}

impl Access {
    /// Returns an access that reads.
    pub const fn read(address: u64, length: u32) -> Access {
        Access {
            address,
            length,
            kind: AccessKind::Read,
        }
    }

    /// Returns an access that writes.
    pub const fn write(address: u64, length: u32) -> Access {
        Access {
            address,
            length,
            kind: AccessKind::Write,
        }
    }

    /// Returns true if the order of the two can be seen.
    pub fn conflicts(&self, other: &Access) -> bool {
        let both_read = self.kind == AccessKind::Read && other.kind == AccessKind::Read;
        let begins_within = |inner: &Access, outer: &Access| {
            inner
                .address
                .checked_sub(outer.address)
                .is_some_and(|offset| offset < u64::from(outer.length))
        };
        !both_read && (begins_within(self, other) || begins_within(other, self))
    }
}

/// Stands for virtual time in a [`Footprint`]: what waits until a moment reads it, a time-out
/// writes it.
pub const CLOCK: u64 = u64::MAX - 7;

/// Stands for the number of spurious wake-ups that are left.
pub(crate) const BUDGET: u64 = u64::MAX - 15;

/// The accesses of an [`Footprint`] that are kept apart.
const ACCESSES_MAX: usize = 4;

/// The accesses of a thread from one point to its next. Two steps whose footprints do not
/// conflict lead to the same state in either order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Footprint {
    accesses: [Access; ACCESSES_MAX],
    count: u8,
    is_unknown: bool,
}

impl Footprint {
    /// Touches nothing that another thread sees.
    pub const NONE: Footprint = Footprint {
        accesses: [Access::read(0, 0); ACCESSES_MAX],
        count: 0,
        is_unknown: false,
    };

    /// May touch anything.
    pub const UNKNOWN: Footprint = Footprint {
        is_unknown: true,
        ..Footprint::NONE
    };

    /// Returns the footprint of one access.
    pub fn of(access: Access) -> Footprint {
        Footprint::NONE.and(access)
    }

    /// Returns the footprint with one more access. More than four are as good as unknown.
    #[must_use]
    pub fn and(mut self, access: Access) -> Footprint {
        match self.accesses.get_mut(usize::from(self.count)) {
            Some(place) => {
                *place = access;
                self.count += 1;
            }
            None => self.is_unknown = true,
        }
        self
    }

    /// Returns the accesses that are known.
    pub fn accesses(&self) -> &[Access] {
        self.accesses
            .get(..usize::from(self.count))
            .unwrap_or_default()
    }

    /// Returns true if nothing is known of it.
    pub fn is_unknown(&self) -> bool {
        self.is_unknown
    }

    /// Returns true if it may change the memory.
    pub fn writes(&self) -> bool {
        let mut accesses = self.accesses().iter();
        self.is_unknown || accesses.any(|access| access.kind == AccessKind::Write)
    }

    /// Returns true if the order of the two can be seen.
    pub fn conflicts(&self, other: &Footprint) -> bool {
        if self.is_unknown || other.is_unknown {
            return true;
        }
        let mut pairs = self
            .accesses()
            .iter()
            .flat_map(|access| other.accesses().iter().map(move |other| (access, other)));
        pairs.any(|(access, other)| access.conflicts(other))
    }
}

/// The kind of a point.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum PointKind {
    /// It has not executed anything yet.
    #[default]
    Start,
    /// It accesses memory that others access.
    Access,
    /// It calls a function of a synchronisation library.
    Synchronisation,
    /// It makes a futex call: an [`Input::Futex`](crate::Input::Futex) follows.
    Futex,
    /// It makes another system call.
    Call,
    /// It yields (`sched_yield`).
    Yield,
    /// It begins a turn of a loop.
    Loop,
    /// It ends.
    Exit,
    /// It has done what it stood before, and others may go first now.
    Behind,
    /// It was stopped anywhere: the baton is taken from it.
    Preempted,
}

/// A schedule point: where a thread stands, and what it touches next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Point {
    /// Its kind.
    pub kind: PointKind,
    /// The address of the instruction.
    pub site: u64,
    /// The lock, condition variable or word concerned, or 0.
    pub object: u64,
    /// A value that is equal if the thread's registers are equal and it has written nothing
    /// meanwhile that is no point; 0 if that is not known. It finds loops that only spin, and
    /// goes into the hash of the run.
    pub state: u64,
    /// The accesses before its next point, whatever others write before it goes on.
    pub footprint: Footprint,
}
