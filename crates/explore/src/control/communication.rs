//! The steps by which the threads communicate, for the user of a run that is made again.

use super::copying::Numbers;
use super::{Control, scheduled};
use crate::blocking::libc_numbers::CLOCK_NANOSLEEP;
use crate::threads::Standing;
use juror_debuggee::{
    Communication, CommunicationKind as Kind, CommunicationStep, Debuggee, ThreadId,
};
use juror_schedule::{Point, PointKind, State};
use rustc_hash::{FxHashMap, FxHashSet};

/// The notes. Nothing is noted before [`CommunicationNotes::begin`].
#[derive(Debug, Clone, Default)]
pub(super) struct CommunicationNotes {
    noted: Option<Communication>,
    /// The numbers of the threads; the kernel may give the id of one that has ended to another one.
    numbers: FxHashMap<ThreadId, u32>,
    /// The number of threads that have begun.
    begun: u32,
    /// The steps at which threads stand, with the return addresses.
    next: FxHashMap<ThreadId, (Kind, u64)>,
    /// Threads of which it was noted that they wait.
    waiting: FxHashSet<ThreadId>,
    /// The thread that made the last step.
    last: Option<u32>,
}

impl CommunicationNotes {
    pub(super) fn begin(&mut self) {
        self.noted = Some(Communication::default());
    }

    /// The threads have other numbers.
    pub(super) fn renumber(&mut self, numbers: Numbers<'_>) {
        numbers.keys(&mut self.numbers);
        numbers.keys(&mut self.next);
        self.waiting = numbers.set(&self.waiting);
    }

    pub(super) fn steps(&self) -> Option<&Communication> {
        self.noted.as_ref()
    }
}

impl Control {
    /// Notes that a thread begins.
    pub(super) fn note_beginning(&mut self, thread: ThreadId) {
        if self.communication.noted.is_some() {
            self.communication.begun += 1;
            let number = self.communication.begun;
            self.communication.numbers.insert(thread, number);
            self.note_step(thread, Kind::Begins, 0);
        }
    }

    /// Notes before what a thread stands. It is a step when the thread goes on.
    pub(super) fn note_point(
        &mut self,
        debuggee: &Debuggee,
        (thread, standing): (ThreadId, Standing),
        point: &Point,
    ) {
        if self.communication.noted.is_none() {
            return;
        }
        let step = match (point.kind, standing) {
            (PointKind::Synchronisation, _) => {
                let kind = Kind::Calls {
                    function: point.site,
                    object: point.object,
                };
                Some((kind, return_address(debuggee, thread)))
            }
            (PointKind::Exit, _) => Some((Kind::Ends, 0)),
            (PointKind::Call, Standing::MayWait(number) | Standing::Makes(number)) => {
                Some((Kind::SystemCall { number }, 0))
            }
            (PointKind::Call, Standing::Sleep(_)) => {
                let number = CLOCK_NANOSLEEP;
                Some((Kind::SystemCall { number }, 0))
            }
            _ => None,
        };
        match step {
            Some(step) => drop(self.communication.next.insert(thread, step)),
            None => drop(self.communication.next.remove(&thread)),
        }
    }

    /// Notes that a thread makes the step before which it stands.
    pub(super) fn note_going_on(&mut self, thread: ThreadId) {
        if self.communication.noted.is_none() {
            return;
        }
        if let Some((kind, caller)) = self.communication.next.remove(&thread) {
            self.note_step(thread, kind, caller);
        }
        self.communication.last = self.communication.numbers.get(&thread).copied();
    }

    /// Notes that a thread waits, if its futex call does.
    pub(super) fn note_waiting(&mut self, thread: ThreadId) {
        if self.communication.noted.is_none() {
            return;
        }
        let task = self.scheduler.task_of(scheduled(thread));
        if let Some(State::Waits { address, .. }) = task.map(|task| *task.state()) {
            self.communication.waiting.insert(thread);
            self.note_step(thread, Kind::Waits { address }, 0);
        }
    }

    /// Notes that the futex call of a thread has a result.
    pub(super) fn note_finished(&mut self, thread: ThreadId, result: i64) {
        if self.communication.waiting.remove(&thread) {
            let by = self.communication.last.filter(|_| result >= 0);
            self.note_step(thread, Kind::GoesOn { by }, 0);
        }
    }

    fn note_step(&mut self, thread: ThreadId, kind: Kind, caller: u64) {
        let number = self.communication.numbers.get(&thread).copied();
        let points = self.scheduler.points();
        if let (Some(communication), Some(thread)) = (&mut self.communication.noted, number) {
            communication.push(CommunicationStep {
                thread,
                points,
                kind,
                caller,
            });
        }
    }
}

/// Returns the return address of a function at whose entry a thread stands; 0 if it cannot be read.
fn return_address(debuggee: &Debuggee, thread: ThreadId) -> u64 {
    let registers = debuggee.registers(thread);
    let stack = registers.map(|registers| registers.stack_pointer());
    let address = stack.and_then(|stack| debuggee.read_u64(stack));
    address.unwrap_or_default()
}
