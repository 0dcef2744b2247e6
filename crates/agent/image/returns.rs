//! The end of a call of `pthread_cond_wait` that returns for no reason: its futex call has timed out, and
//! its result is corrected by a trap at its return address.
//!
//! Invariant: the trap is there only while the thread runs whose call it ends.

use crate::kernel::call;
use crate::protocol::TRAP;
use crate::runs;
use crate::threads::{ConditionWait, RAX, RSP, context};

/// `-ETIMEDOUT`.
pub const TIMED_OUT: i64 = -110;

const PAGE: u64 = 4096;
const PAGES: usize = 16;

struct Armed {
    /// The address of the trap, and the byte that it replaces.
    at: Option<(u64, u8)>,
    /// Pages of code that can be written.
    pages: [u64; PAGES],
    page_count: usize,
}

static mut ARMED: Armed = Armed {
    at: None,
    pages: [0; PAGES],
    page_count: 0,
};

fn armed() -> &'static mut Armed {
    // SAFETY: one thread runs the agent.
    unsafe { &mut *(&raw mut ARMED) }
}

/// Sets the trap for the thread that is about to run, if it needs one.
pub fn arm(wait: Option<ConditionWait>) {
    let wanted = wait
        .filter(|wait| wait.is_spurious)
        .map(|wait| wait.return_address);
    let armed = armed();
    if armed.at.map(|it| it.0) == wanted {
        return;
    }
    disarm();
    if let Some(at) = wanted {
        make_writable(armed, at & !(PAGE - 1));
        let place = at as *mut u8;
        // SAFETY: the page can be written, and no other thread runs.
        unsafe {
            armed.at = Some((at, place.read_volatile()));
            place.write_volatile(TRAP);
        }
    }
}

/// Removes the trap.
pub fn disarm() {
    if let Some((at, byte)) = armed().at.take() {
        // SAFETY: the page can be written since the trap was set.
        unsafe { (at as *mut u8).write_volatile(byte) };
    }
}

fn make_writable(armed: &mut Armed, page: u64) {
    const MPROTECT: u64 = 10;
    const ALL: u64 = 7;
    if armed.pages[..armed.page_count].contains(&page) {
        return;
    }
    // SAFETY: the page has code, which stays.
    let result = unsafe { call(MPROTECT, [page, PAGE, ALL, 0, 0, 0]) };
    if result != 0 || armed.page_count == PAGES {
        runs::give_up(crate::protocol::REASON_SPURIOUS);
    }
    armed.pages[armed.page_count] = page;
    armed.page_count += 1;
}

/// A thread has trapped. If its wait returns there, for no reason, it has its result.
pub fn end_wait(index: usize, at: u64) -> bool {
    let context = context(index);
    let stack = context.frame.general[RSP];
    let is_it = context.condition.is_some_and(|wait| {
        wait.is_spurious && wait.return_address == at && wait.stack_then == stack
    });
    if is_it {
        context.condition = None;
        context.frame.general[RAX] = 0;
        context.frame.counter = at;
        disarm();
    }
    is_it
}
