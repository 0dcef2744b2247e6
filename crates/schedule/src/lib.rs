//! The thread scheduler of a controlled run: a state machine without I/O.
//!
//! The threads of the debuggee run one at a time, from one *point* to the next. The shell
//! tells the scheduler where a thread stands and what it is about to do ([`Input`]); the
//! scheduler says who goes on, and what calls that it makes itself return ([`Order`]). Futexes
//! are state here and no calls: so it is known who waits for what, and a deadlock is told when
//! it is made.
//!
//! There are two shells: the debugger, with the threads stopped by ptrace, and code inside the
//! process. So the crate has no std, no floating point, no recursion, and no order that depends on
//! addresses of its own.
//!
//! # Invariants
//!
//! Checked by exploration (`explore`), against a naive futex specification:
//!
//! - **One baton.** At most one thread has it, and only that one is ordered to run. An input of
//!   a thread that only the bearer can send is refused from others.
//! - **Two keys.** A thread gets the baton only if the user lets it go on.
//! - **Words are inputs.** The scheduler reads no memory. What it says of a word holds because
//!   nobody else ran since the shell read it.
//! - **Nothing is lost.** A thread waits exactly as long as the kernel would let it; who is
//!   woken, and what calls return, is what the kernel does.
//! - **A deadlock is told if and only if nobody has a step**: nobody can go on, no moment may
//!   come, nobody is in the kernel, and the user holds nobody. Threads that wait for one another
//!   while others go on are told when the last one begins to wait.
//! - **Same inputs, same orders.** The log and the inputs rebuild the state. A log has only
//!   *deviations* from the usual choice, each named by the thread that ran last and the number
//!   of its points, so that one can be left out and the others stay where they are.
//!
//! # How a shell drives it
//!
//! Two threads that are started, come to a point each, and end:
//!
//! ```
//! use juror_schedule::{
//!     Input, Options, Order, Point, PointKind, Scheduler, Standstill, Strategy, ThreadId,
//! };
//!
//! let mut scheduler = Scheduler::new(Options::default(), Strategy::random(1));
//! let mut orders = Vec::new();
//! let (main, child) = (ThreadId(100), ThreadId(101));
//! let started = |thread, parent| Input::Started { thread, parent };
//! scheduler.handle(started(main, None), &mut orders)?;
//! scheduler.handle(started(child, Some(main)), &mut orders)?;
//! let mut ends = 0;
//! while !orders.is_empty() {
//!     for order in std::mem::take(&mut orders) {
//!         match order {
//!             // Let the thread run to its next stop, and tell what it is: here each thread
//!             // stands once, and ends then.
//!             Order::Run { thread } => {
//!                 let has_stood = scheduler.task_of(thread).is_some_and(|it| it.points() == 1);
//!                 let point = Point {
//!                     kind: PointKind::Exit,
//!                     ..Point::default()
//!                 };
//!                 let input = if has_stood {
//!                     ends += 1;
//!                     Input::Ended { thread }
//!                 } else {
//!                     Input::Reached { thread, point }
//!                 };
//!                 scheduler.handle(input, &mut orders)?;
//!             }
//!             Order::Stands { reason } => assert_eq!(reason, Standstill::Over),
//!             other => panic!("{other:?}"),
//!         }
//!     }
//! }
//! assert_eq!(ends, 2);
//! # Ok::<(), juror_schedule::Refusal>(())
//! ```

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod choice;
mod clock;
mod deadlock;
#[cfg(test)]
mod explore;
mod hash;
mod holders;
mod lock_order;
mod minimize;
mod protocol;
mod queues;
mod races;
mod random;
mod rule;
mod scheduler;
mod strategy;
mod task;
mod terms;

pub use choice::{Choice, ChoiceKind, Decision, Deviation, Log, Moment, Offer};
pub use deadlock::{Deadlock, WaitsFor};
pub use hash::RunHash;
pub use holders::{Held, Holders, Wanted};
pub use lock_order::{LockCycle, LockEdge, LockOrder};
pub use minimize::{Minimized, minimize};
pub use protocol::{FutexCall, Input, LockMode, LockStep, Order, Refusal, Standstill};
pub use races::{Race, Races, RacingAccess};
pub use random::Random;
pub use scheduler::{Options, Scheduler};
pub use strategy::{
    Directed, Exhaustive, Goal, GoalState, Groups, Pct, Place, Portfolio, Relay, Replay, Strategy,
    Verdict,
};
pub use task::{State, Task};
pub use terms::{Access, AccessKind, CLOCK, Footprint, Point, PointKind, ThreadId, ThreadPath};
