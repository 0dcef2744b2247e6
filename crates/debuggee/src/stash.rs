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
    /// Processes that this thread traces and that never run: no debuggee's.
    templates: Vec<u32>,
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

/// A process that this thread traces is to stand for ever.
pub(crate) fn add_template(process: u32) {
    STASH.with_borrow_mut(|stash| stash.templates.push(process));
}

/// It is gone.
pub(crate) fn remove_template(process: u32) {
    STASH.with_borrow_mut(|stash| {
        stash.templates.retain(|&it| it != process);
        stash.statuses.retain(|(thread, _)| *thread != process);
    });
}

/// Whether a process is to stand for ever.
pub(crate) fn is_template(process: u32) -> bool {
    STASH.with_borrow(|stash| stash.templates.contains(&process))
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
