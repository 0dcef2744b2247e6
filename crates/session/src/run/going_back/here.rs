//! The place at which a run stands, as it is found again when the run is made again.
//!
//! Between two schedule points one thread runs, and nothing comes in: its registers and the memory say
//! where it is. Threads and the process have other numbers each time; a word that is such a
//! number in one run corresponds to the number of the same thread in the other.

use crate::run::going_back::memory::Difference;
use crate::session::Session;
use juror_arch::{NO_SYSTEM_CALL, Register, Registers};
use juror_debuggee::{Debuggee, ThreadId};
use juror_fault::CommandError;
use juror_schedule::{Scheduler, State, ThreadPath};

/// The flags by which juror and the processor step: they say nothing of the program.
const STEPPING_FLAGS: u64 = 0x1_0100;

/// A place in a run.
#[derive(Debug, Clone)]
pub(super) struct Here {
    /// The number of schedule points up to it.
    pub points: u64,
    pub kind: Kind,
    /// Whether what happens at it is looked for, too: what has led to it.
    pub is_included: bool,
    /// The hash of what was seen at these points.
    hash: u64,
}

/// What happens at a place.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// A thread stands there.
    Stands(Standing),
    /// A signal is delivered to a thread there.
    Signal(Standing),
    /// No thread goes on.
    Standstill,
    /// The program has ended.
    End,
}

/// The registers of a thread.
#[derive(Debug, Clone)]
pub(super) struct Standing {
    pub path: ThreadPath,
    pub registers: Registers,
}

impl Here {
    /// Returns the start of the run.
    pub(super) fn start() -> Here {
        Here {
            points: 0,
            kind: Kind::Standstill,
            is_included: false,
            hash: 0,
        }
    }

    /// Returns the place at which the run stands.
    ///
    /// # Errors
    /// It cannot be found again, in words.
    pub(super) fn of(session: &Session) -> Result<Here, CommandError> {
        let Some(program) = &session.processes.program else {
            return Ok(Here {
                points: u64::MAX,
                kind: Kind::End,
                is_included: false,
                hash: 0,
            });
        };
        let Some(scheduler) = program.debuggee.scheduler() else {
            return Err(cannot_be_made_again());
        };
        let here = |kind| Here {
            points: scheduler.points(),
            kind,
            is_included: false,
            hash: scheduler.hash().value(),
        };
        let Some(path) = scheduler.bearer_now() else {
            let mut tasks = scheduler.tasks().iter();
            if tasks.any(|task| *task.state() == State::InKernel) {
                return Err(CommandError::with_help(
                    "all threads wait in system calls: this place cannot be found again",
                    "stop where a thread runs; goto N goes to a schedule point",
                ));
            }
            return Ok(here(Kind::Standstill));
        };
        let Some(thread) = thread_of(scheduler, path) else {
            return Ok(here(Kind::Standstill));
        };
        let registers = *program.registers(thread)?;
        let standing = Standing { path, registers };
        Ok(here(match session.processes.stop.at_signal {
            Some(at) if at == thread => Kind::Signal(standing),
            _ => Kind::Stands(standing),
        }))
    }

    /// Returns the thread that stands there.
    pub(super) fn standing(&self) -> Option<&Standing> {
        match &self.kind {
            Kind::Stands(standing) | Kind::Signal(standing) => Some(standing),
            Kind::Standstill | Kind::End => None,
        }
    }

    /// Returns the address of the thread that stands there, if it may come there more than once.
    pub(super) fn address(&self) -> Option<u64> {
        match &self.kind {
            Kind::Stands(standing) => Some(standing.registers.instruction_pointer()),
            _ => None,
        }
    }

    /// Returns whether another run of the program has been the same at all schedule points so far.
    /// It has had as many.
    pub(super) fn is_same_run(&self, scheduler: &Scheduler) -> bool {
        scheduler.points() == self.points && scheduler.hash().value() == self.hash
    }
}

/// The numbers of threads and processes in two runs.
#[derive(Debug, Default)]
pub(super) struct Numbers(Vec<(u32, u32)>);

impl Numbers {
    /// Returns the numbers of one run and of another one.
    pub(super) fn of(then: &Debuggee, now: &Debuggee) -> Numbers {
        let mut pairs = vec![(then.pid(), now.pid())];
        if let (Some(before), Some(after)) = (then.scheduler(), now.scheduler()) {
            for task in before.tasks() {
                let same = after.tasks().iter().find(|it| it.path() == task.path());
                pairs.extend(same.map(|same| (task.id().0, same.id().0)));
            }
        }
        Numbers(pairs)
    }

    /// Returns whether half words of the two runs are the same.
    pub(super) fn are_same(&self, then: u32, now: u32) -> bool {
        let negated = |number: u32| number.wrapping_neg();
        then == now
            || self.0.iter().any(|&(before, after)| {
                (then, now) == (before, after) || (then, now) == (negated(before), negated(after))
            })
    }

    fn are_same_words(&self, then: u64, now: u64) -> bool {
        self.are_same(then as u32, now as u32)
            && self.are_same((then >> 32) as u32, (now >> 32) as u32)
    }

    /// Returns whether the registers of a thread are the same in the two runs.
    pub(super) fn have_same_registers(&self, then: &Registers, now: &Registers) -> bool {
        let (mut then, mut now) = (*then, *now);
        // That of a call which is over says how the thread was stopped.
        for registers in [&mut then, &mut now] {
            registers.set_system_call(NO_SYSTEM_CALL);
        }
        let mut pairs = then.words().iter().zip(now.words()).enumerate();
        pairs.all(|(index, (&then, &now))| match index {
            _ if index == Register::Flags as usize => {
                then & !STEPPING_FLAGS == now & !STEPPING_FLAGS
            }
            _ => self.are_same_words(then, now),
        })
    }
}

/// Returns the thread with a path.
pub(super) fn thread_of(scheduler: &Scheduler, path: ThreadPath) -> Option<ThreadId> {
    let mut tasks = scheduler.tasks().iter();
    let task = tasks.find(|task| task.path() == path)?;
    Some(ThreadId(task.id().0))
}

/// Returns the path of a thread.
pub(super) fn path_of(debuggee: &Debuggee, thread: ThreadId) -> Option<ThreadPath> {
    let task = debuggee
        .scheduler()?
        .task_of(juror_schedule::ThreadId(thread.0))?;
    Some(task.path())
}

/// Returns the error of a run that is not made again by a file.
pub(super) fn cannot_be_made_again() -> CommandError {
    CommandError::with_help(
        "this run cannot be made again, so it does not go back",
        "record, then run, keeps the next run; juror record ./program does, juror explore ./program finds one that fails, and juror \
         replay FILE.run goes through it in both directions; juror run --trace FILE records events \
         for juror replay; checkpoint and restore go back in a live program",
    )
}

/// Finds the place among those where a thread stands with its registers.
#[derive(Debug)]
pub(super) struct Finder<T> {
    candidates: Vec<(Difference, T)>,
}

impl<T> Finder<T> {
    pub(super) fn new() -> Finder<T> {
        Finder {
            candidates: Vec::new(),
        }
    }

    /// Takes a place with the same registers, what differs in memory there, and what is to be known if
    /// it is the one. Returns that if nothing differs.
    pub(super) fn take(&mut self, difference: Difference, known: T) -> Option<T> {
        if difference.is_empty() {
            return Some(known);
        }
        self.candidates.push((difference, known));
        None
    }

    /// Returns what is known of the place, after all places with its registers between the same
    /// schedule points have been taken: what differs at it (a random number, a time) differs at all of
    /// them, and at the others there is more.
    ///
    /// # Errors
    /// There is none, or they cannot be told apart.
    pub(super) fn found(self) -> Result<T, CommandError> {
        let mut candidates = self.candidates;
        let is_least = |index: usize| {
            let least = candidates.get(index).map(|(difference, _)| difference);
            least.is_some_and(|least| candidates.iter().all(|(other, _)| least.is_within(other)))
        };
        let least = (0..candidates.len()).find(|index| is_least(*index));
        match least {
            Some(index) => Ok(candidates.swap_remove(index).1),
            None if candidates.is_empty() => Err(CommandError::with_help(
                "the run that was made again did not come to this place",
                "the program depends on more than the order of its threads: on the time, on other \
                 programs, on chance",
            )),
            None => Err(CommandError::new(
                "the run that was made again came several times to places like this one, and they \
                 cannot be told apart",
            )),
        }
    }
}
