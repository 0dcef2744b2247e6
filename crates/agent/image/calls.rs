//! System calls at which a thread gives the baton back, and those that end a run.

use crate::begin::{Arrival, saved};
use crate::control::control;
use crate::futex::Clock;
use crate::orders::{deadline, finish};
use crate::protocol::*;
use crate::runs;
use crate::signals;
use crate::system;
use crate::threads::{R8, R9, R10, RAX, RDI, RDX, RSI, Standing, context, go_on};
use juror_schedule::PointKind;

const SCHED_YIELD: u64 = 24;
const NANOSLEEP: u64 = 35;
const CLONE: u64 = 56;
const EXIT: u64 = 60;
const KILL: u64 = 62;
const TKILL: u64 = 200;
const FUTEX: u64 = 202;
const CLOCK_NANOSLEEP: u64 = 230;
const EXIT_GROUP: u64 = 231;
const TGKILL: u64 = 234;
const CLONE3: u64 = 435;
const FUTEX_WAITV: u64 = 449;

/// The signals that end a program which has no handler for them.
const FATAL: [u64; 6] = [4, 6, 7, 8, 11, 15];

/// The thread that runs makes a system call.
pub fn on_call(index: usize) -> ! {
    let thread = context(index);
    let general = &thread.frame.general;
    let number = general[RAX];
    let arguments = [
        general[RDI],
        general[RSI],
        general[RDX],
        general[R10],
        general[R8],
        general[R9],
    ];
    let site = thread.frame.counter.wrapping_sub(2);
    (thread.number, thread.arguments, thread.call_site) = (number, arguments, site);
    let [first, second, third, ..] = arguments;
    let control = control();
    let is_plain = system::reads_listing(number, first);
    if is_point(number) && !is_plain {
        saved().note(Arrival::Call);
    }
    let mut reach = |standing, kind, object| {
        context(index).standing = standing;
        control.reach(kind, site, object);
    };
    match number {
        EXIT_GROUP => runs::end_exited(first & 0xff),
        FUTEX => reach(Standing::Futex, PointKind::Futex, first),
        FUTEX_WAITV => reach(Standing::FutexWaitv, PointKind::Futex, first),
        EXIT => reach(Standing::Exit, PointKind::Exit, 0),
        SCHED_YIELD => {
            finish(index, 0);
            control.reach_yield(index, site);
        }
        NANOSLEEP | CLOCK_NANOSLEEP => {
            let deadline = match (number, first, second & 1) {
                (NANOSLEEP, ..) => deadline(control, first, Clock::Relative),
                (_, _, 0) => deadline(control, third, Clock::Relative),
                (_, 0, _) => deadline(control, third, Clock::Realtime),
                _ => deadline(control, third, Clock::Monotonic),
            };
            context(index).standing = Standing::Sleep(deadline);
            control.reach(PointKind::Call, site, 0);
        }
        CLONE | CLONE3 if system::makes_thread(index) => {
            reach(Standing::Makes, PointKind::Call, 0);
        }
        KILL | TKILL | TGKILL => end_by_signal(index, number, arguments),
        number if system::may_wait(number) && !is_plain => {
            if !system::does_not_wait(number, arguments) {
                runs::give_up(REASON_CALL + number);
            }
            reach(Standing::InCall, PointKind::Call, 0);
        }
        number => {
            let result = system::execute(index, number, arguments);
            context(index).frame.general[RAX] = result as u64;
            go_on(index)
        }
    }
    control.proceed()
}

/// Returns whether a thread gives the baton back at a call, or the run ends there.
fn is_point(number: u64) -> bool {
    const POINTS: [u64; 11] = [
        EXIT_GROUP,
        FUTEX,
        FUTEX_WAITV,
        EXIT,
        SCHED_YIELD,
        NANOSLEEP,
        CLOCK_NANOSLEEP,
        CLONE,
        CLONE3,
        TGKILL,
        TKILL,
    ];
    POINTS.contains(&number) || system::may_wait(number)
}

/// A thread sends a signal: if it is for the program itself, and ends it, that is the end.
fn end_by_signal(index: usize, number: u64, arguments: [u64; 6]) -> ! {
    let [first, second, third, ..] = arguments;
    let process = word_of_process();
    let (target, signal) = match number {
        TGKILL => (second, third),
        TKILL => (first, second),
        _ => (
            if first == process {
                u64::from(context(index).id)
            } else {
                0
            },
            second,
        ),
    };
    let is_own = target == u64::from(context(index).id);
    let is_blocked = context(index).mask & 1 << (signal.wrapping_sub(1) & 63) != 0;
    if is_own && FATAL.contains(&signal) && signals::is_default(signal) && !is_blocked {
        runs::end_killed(signal)
    }
    runs::give_up(REASON_SIGNAL)
}

fn word_of_process() -> u64 {
    crate::settings::word(PROCESS)
}
