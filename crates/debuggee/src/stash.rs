//! What the debuggees of one tracer thread have in common: which processes they
//! are, and statuses that a wait brought and that nobody has claimed yet.
//!
//! A wait sees every debuggee of the tracer thread. A status may belong to
//! another [`Debuggee`](crate::Debuggee) of the same thread, or to a new
//! process whose parent has not told of it yet (either may report first). Both
//! wait here until somebody knows the number.

use std::cell::RefCell;

use crate::kernel::{self, Status};

#[derive(Default)]
struct Stash {
    statuses: Vec<(u32, Status)>,
    /// Processes that this thread traces and that never run: no debuggee's.
    templates: Vec<u32>,
    /// Processes of that kind that have been killed, and whose end nobody has
    /// waited for.
    ending: Vec<u32>,
    /// The processes that are debuggees of this thread.
    processes: Vec<u32>,
}

thread_local! {
    static STASH: RefCell<Stash> = RefCell::default();
}

/// One more debuggee on this thread.
pub(crate) fn enter(process: u32) {
    STASH.with_borrow_mut(|stash| stash.processes.push(process));
}

/// One less; with the last one, what nobody claimed is nobody's.
pub(crate) fn leave(process: u32) {
    STASH.with_borrow_mut(|stash| {
        stash.forget(process);
        if stash.processes.is_empty() {
            stash.statuses.clear();
        }
    });
    wait_for_last();
}

/// Where nothing is debugged any more, ends that nobody has waited for are.
fn wait_for_last() {
    let ending = STASH.with_borrow_mut(|stash| match stash.processes.is_empty() {
        true => std::mem::take(&mut stash.ending),
        false => Vec::new(),
    });
    for process in ending {
        while let Ok(Status::Stopped { .. }) = kernel::wait_for(process) {
            let _ = kernel::resume(process, 0);
        }
    }
}

/// A debuggee is another process now.
pub(crate) fn replace(former: u32, process: u32) {
    STASH.with_borrow_mut(|stash| {
        stash.forget(former);
        stash.processes.push(process);
    });
}

/// Whether there is no other debuggee on this thread.
pub(crate) fn has_one_user() -> bool {
    STASH.with_borrow(|stash| stash.processes.len() == 1)
}

/// Whether a process is a debuggee of this thread.
pub(crate) fn is_debuggee(process: u32) -> bool {
    STASH.with_borrow(|stash| stash.processes.contains(&process))
}

impl Stash {
    fn forget(&mut self, process: u32) {
        if let Some(index) = self.processes.iter().position(|it| *it == process) {
            self.processes.swap_remove(index);
        }
    }
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

/// One of them has been killed, and its end is not waited for now.
pub(crate) fn end_template(process: u32) {
    STASH.with_borrow_mut(|stash| {
        stash.templates.retain(|&it| it != process);
        stash.ending.push(process);
    });
    wait_for_last();
}

/// Takes note of the ends that have come since.
pub(crate) fn reap_ended() {
    let is_left = |process: &u32| matches!(kernel::poll_for(*process), Ok(None));
    STASH.with_borrow_mut(|stash| stash.ending.retain(is_left));
}

/// Whether a process is to stand for ever, or is just ending after that.
pub(crate) fn is_template(process: u32) -> bool {
    STASH.with_borrow(|stash| stash.templates.contains(&process) || stash.ending.contains(&process))
}

pub(crate) fn put(thread: u32, status: Status) {
    STASH.with_borrow_mut(|stash| match stash.ending.contains(&thread) {
        true => stash.ending.retain(|&it| it != thread),
        false => stash.statuses.push((thread, status)),
    });
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
