//! Statuses that a wait brought and that nobody has claimed yet.
//!
//! A wait sees every debuggee of the tracer thread. A status may belong to
//! another [`Debuggee`](crate::Debuggee) of the same thread, or to a new
//! process whose parent has not told of it yet (either may report first). Both
//! wait here until somebody knows the number.

use std::cell::RefCell;

use crate::kernel::Status;

#[derive(Default)]
struct Stash {
    statuses: Vec<(u32, Status)>,
    /// How many debuggees this thread traces.
    users: usize,
}

thread_local! {
    static STASH: RefCell<Stash> = RefCell::default();
}

/// One more debuggee on this thread.
pub(crate) fn enter() {
    STASH.with_borrow_mut(|stash| stash.users += 1);
}

/// One less; with the last one, what nobody claimed is nobody's.
pub(crate) fn leave() {
    STASH.with_borrow_mut(|stash| {
        stash.users = stash.users.saturating_sub(1);
        if stash.users == 0 {
            stash.statuses.clear();
        }
    });
}

/// Whether there is no other debuggee on this thread.
pub(crate) fn has_one_user() -> bool {
    STASH.with_borrow(|stash| stash.users == 1)
}

pub(crate) fn put(thread: u32, status: Status) {
    STASH.with_borrow_mut(|stash| stash.statuses.push((thread, status)));
}

/// The oldest status of a thread that `is_known`.
pub(crate) fn take(is_known: impl Fn(u32) -> bool) -> Option<(u32, Status)> {
    STASH.with_borrow_mut(|stash| {
        let index = stash
            .statuses
            .iter()
            .position(|(thread, _)| is_known(*thread))?;
        Some(stash.statuses.remove(index))
    })
}
