//! The words that juror and the agent share, by their offsets in bytes.
//!
//! Invariant: a word has one writer. Juror writes the settings before the agent begins, and the tasks
//! before it increases [`COMMAND`]; the agent writes the results before it increases [`DONE`].

/// The number of the last command, waited for as a futex.
pub const COMMAND: u64 = 0;
/// The number of the last command that is done, waited for as a futex.
pub const DONE: u64 = 8;
/// Changes as long as a run gets on.
pub const PROGRESS: u64 = 16;
/// The number of tasks of the command.
pub const TASK_COUNT: u64 = 24;
/// The exit status that is no failure, beside 0.
pub const USUAL: u64 = 32;
/// The number of runs that were made of the command: the last one has failed, unless it is the last task.
pub const MADE: u64 = 40;

/// The general registers of the first thread by their numbers in instructions, its counter and flags.
pub const REGISTERS: u64 = 64;
/// The process number.
pub const PROCESS: u64 = 256;
/// The robust list of the first thread.
pub const ROBUST_LIST: u64 = 264;
/// The end of the stack of the first thread, and its start.
pub const STACK_END: u64 = 272;
/// The lowest address of that stack.
pub const STACK_START: u64 = 280;
/// The range of the program itself.
pub const PROGRAM_START: u64 = 288;
/// Its end.
pub const PROGRAM_END: u64 = 296;
/// The number of sites, and where they begin ([`SITE_WORDS`]).
pub const SITE_COUNT: u64 = 304;
/// The number of writable ranges, which the agent finds.
pub const RANGE_COUNT: u64 = 312;
/// Whether the agent has noted the state to which it puts the process back. Before that a run that it
/// cannot hold leaves the process as no other run can use it.
pub const IS_NOTED: u64 = 320;

/// The number of areas of code that juror has mapped, and where they are told: start and end.
pub const AREA_COUNT: u64 = 336;
/// The areas.
pub const AREAS: u64 = 1024;
/// The most areas.
pub const AREAS_MAX: usize = 64;
/// The counter at which the agent itself has made a fault.
pub const FAULT_COUNTER: u64 = 328;

/// The tasks.
pub const TASKS: u64 = 1 << 12;
/// The most tasks of a command.
pub const TASKS_MAX: u64 = 64;
/// The size of a task.
pub const TASK_SIZE: u64 = 64;
/// The words of a task: how it chooses ([`RUN_ON`], [`PORTFOLIO`]).
pub const TASK_KIND: u64 = 0;
/// The seed of the portfolio.
pub const TASK_SEED: u64 = 8;
/// The length of a run, for the portfolio.
pub const TASK_LENGTH: u64 = 16;
/// The number of the run in the portfolio.
pub const TASK_RUN: u64 = 24;
/// The number of spurious wake-ups.
pub const TASK_SPURIOUS: u64 = 32;
/// The most points.
pub const TASK_POINTS_MAX: u64 = 40;
/// Whether deadlocks are predicted.
pub const TASK_PREDICTS: u64 = 48;

/// Always the usual choice.
pub const RUN_ON: u64 = 0;
/// A strategy of the portfolio.
pub const PORTFOLIO: u64 = 1;

/// The results, one for each task.
pub const RESULTS: u64 = 1 << 13;
/// The size of a result.
pub const RESULT_SIZE: u64 = 64;
/// The words of a result: the end of the run.
pub const RESULT_KIND: u64 = 0;
/// The exit status, the signal, or the reason.
pub const RESULT_VALUE: u64 = 8;
/// The number of points.
pub const RESULT_POINTS: u64 = 16;
/// The number of decisions.
pub const RESULT_DECISIONS: u64 = 24;
/// The number of threads.
pub const RESULT_THREADS: u64 = 32;
/// The hash of the run.
pub const RESULT_HASH: u64 = 40;
/// Where the predicted goals end in [`GOALS`], as an index of a word.
pub const RESULT_GOALS: u64 = 48;

/// It ended with a status.
pub const EXITED: u64 = 1;
/// Its threads wait for one another.
pub const DEADLOCK: u64 = 2;
/// A signal ended it.
pub const KILLED: u64 = 3;
/// It does not end.
pub const ENDLESS: u64 = 4;
/// The agent cannot hold it: a system call, or another reason from [`REASON_FAULT`] on.
pub const NOT_MINE: u64 = 5;

/// The agent itself has made a fault.
pub const REASON_FAULT: u64 = 10_000;
/// The scheduler refused an input.
pub const REASON_REFUSED: u64 = 10_001;
/// It has more threads than are kept.
pub const REASON_THREADS: u64 = 10_002;
/// It has too much memory.
pub const REASON_MEMORY: u64 = 10_003;
/// All of its threads have ended.
pub const REASON_OVER: u64 = 10_004;
/// A wait for a condition ends for no reason: the result of the call is to be changed.
pub const REASON_SPURIOUS: u64 = 10_005;
/// A trap that is no point.
pub const REASON_TRAP: u64 = 10_006;
/// The agent has read what the program has given it, and nothing is there.
pub const REASON_UNMAPPED: u64 = 10_008;
/// It asks for a signal.
pub const REASON_SIGNAL: u64 = 10_007;
/// It asks the system for what would stay: 20 000 and the number of the call.
pub const REASON_CALL: u64 = 20_000;

/// The predicted goals of a command, one after the other: the number of places, and the places
/// ([`GOAL_PLACE_WORDS`]).
pub const GOALS: u64 = 1 << 14;
/// The most words of goals.
pub const GOALS_MAX: u64 = 4_096;
/// The words of a place: 1 with a thread and 2 with an object, plus the depth of the thread's path times
/// 256; its numbers, four in a word; the site; the object.
pub const GOAL_PLACE_WORDS: u64 = 5;

/// The writable ranges: start and length, with the lowest bit if they are executable.
pub const RANGES: u64 = 1 << 16;
/// The most of them.
pub const RANGES_MAX: u64 = 2_048;

/// The most sites.
pub const SITES_MAX: usize = 24_000;
/// The sites.
pub const SITES: u64 = 1 << 17;
/// The words of a site: its address; the address of its moved instruction; the kind, and from the second
/// byte on the use of a lock; the operands of the access; its displacement; its immediate.
pub const SITE_WORDS: u64 = 6;

/// A call of a function of the library.
pub const SITE_CALL: u64 = 0;
/// An access to memory.
pub const SITE_ACCESS: u64 = 1;
/// The function that makes a thread.
pub const SITE_MAKES: u64 = 2;
/// The beginning of a loop.
pub const SITE_LOOP: u64 = 3;

/// A system call.
pub const SITE_SYSTEM_CALL: u64 = 4;
/// An instruction that is no site, and is executed at a copy.
pub const SITE_COPIED: u64 = 5;

/// The uses of a lock: none, and those of `points::LockUse` in their order.
pub const LOCK_NONE: u64 = 0;
/// It takes it.
pub const LOCK_TAKES: u64 = 1;
/// It tries to.
pub const LOCK_TRIES: u64 = 2;
/// It takes it in time.
pub const LOCK_TAKES_IN_TIME: u64 = 3;
/// It drops it.
pub const LOCK_DROPS: u64 = 4;
/// It waits without it.
pub const LOCK_WAITS: u64 = 5;
/// It waits without it, and gives up at no moment.
pub const LOCK_WAITS_WITHOUT_END: u64 = 6;

/// No register.
pub const NO_REGISTER: u8 = 16;
/// The bytes of the operands of an access: base, index, scale, size, class, source, register of the
/// source, and flags.
pub const CLASS_READ: u8 = 0;
/// A compare-and-exchange.
pub const CLASS_COMPARE_EXCHANGE: u8 = 1;
/// A move or an exchange: it writes its source.
pub const CLASS_MOVE: u8 = 2;
/// It writes something else.
pub const CLASS_WRITE: u8 = 3;
/// It is not known what it accesses.
pub const CLASS_UNKNOWN: u8 = 4;
/// It reads and writes in two steps, between which others may write.
pub const CLASS_CHANGE: u8 = 5;
/// No value is known.
pub const SOURCE_NONE: u8 = 0;
/// A general register.
pub const SOURCE_REGISTER: u8 = 1;
/// The second byte of a general register.
pub const SOURCE_HIGH_BYTE: u8 = 2;
/// The immediate.
pub const SOURCE_IMMEDIATE: u8 = 3;
/// The address is relative to the base of `fs`.
pub const FLAG_THREAD_LOCAL: u8 = 1;
/// The address has 32 bits.
pub const FLAG_SHORT_ADDRESS: u8 = 2;

/// The bytes of the trap by which a site stops.
pub const TRAP: u8 = 0xcc;

/// Returns the size in bytes of the shared words with this many sites.
pub const fn size_of_shared(sites: u64) -> u64 {
    SITES + sites * SITE_WORDS * 8
}
