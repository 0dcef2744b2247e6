//! The common state of the debuggees of one tracer thread: their process
//! numbers, and statuses that a wait returned and that have not been claimed
//! yet.
//!
//! A wait sees every debuggee of the tracer thread. A status may belong to
//! another [`Debuggee`](crate::Debuggee) of the same thread, or to a new
//! process whose parent has not reported it yet (either may report first). Both
//! are kept here until the number is known.

use std::cell::RefCell;

use crate::kernel::{self, Status};

#[derive(Default)]
struct PendingStops {
    statuses: Vec<(u32, Status)>,
    /// Templates: processes that this thread traces and that never run.
    templates: Vec<u32>,
    /// Templates that have been killed, and whose end has not been waited for.
    ending: Vec<u32>,
    /// The processes that are debuggees of this thread.
    processes: Vec<u32>,
}

thread_local! {
    static PENDING_STOPS: RefCell<PendingStops> = RefCell::default();
}

/// Adds a debuggee of this thread.
pub(crate) fn register(process: u32) {
    PENDING_STOPS.with_borrow_mut(|pending_stops| pending_stops.processes.push(process));
}

/// Removes a debuggee; with the last one, unclaimed statuses are dropped.
pub(crate) fn unregister(process: u32) {
    PENDING_STOPS.with_borrow_mut(|pending_stops| {
        pending_stops.forget(process);
        if pending_stops.processes.is_empty() {
            pending_stops.statuses.clear();
        }
    });
    wait_for_last();
}

/// Waits for templates that are ending, if there is no debuggee any more.
fn wait_for_last() {
    let ending = PENDING_STOPS.with_borrow_mut(|pending_stops| {
        if pending_stops.processes.is_empty() {
            std::mem::take(&mut pending_stops.ending)
        } else {
            Vec::new()
        }
    });
    for process in ending {
        while let Ok(Status::Stopped { .. }) = kernel::wait_for(process) {
            let _ = kernel::resume(process, 0);
        }
    }
}

/// Replaces the process number of a debuggee.
pub(crate) fn replace(former: u32, process: u32) {
    PENDING_STOPS.with_borrow_mut(|pending_stops| {
        pending_stops.forget(former);
        pending_stops.processes.push(process);
    });
}

/// Returns true if there is one debuggee on this thread.
pub(crate) fn has_one_debuggee() -> bool {
    PENDING_STOPS.with_borrow(|pending_stops| pending_stops.processes.len() == 1)
}

/// Returns true if a process is a debuggee of this thread.
pub(crate) fn is_debuggee(process: u32) -> bool {
    PENDING_STOPS.with_borrow(|pending_stops| pending_stops.processes.contains(&process))
}

impl PendingStops {
    fn forget(&mut self, process: u32) {
        if let Some(index) = self.processes.iter().position(|it| *it == process) {
            self.processes.swap_remove(index);
        }
    }
}

/// Adds a template: a traced process that stays stopped.
pub(crate) fn add_template(process: u32) {
    PENDING_STOPS.with_borrow_mut(|pending_stops| pending_stops.templates.push(process));
}

/// Removes a template that has ended.
pub(crate) fn remove_template(process: u32) {
    PENDING_STOPS.with_borrow_mut(|pending_stops| {
        pending_stops.templates.retain(|&it| it != process);
        pending_stops
            .statuses
            .retain(|(thread, _)| *thread != process);
    });
}

/// Marks a template as killed; its end is not waited for now.
pub(crate) fn end_template(process: u32) {
    PENDING_STOPS.with_borrow_mut(|pending_stops| {
        pending_stops.templates.retain(|&it| it != process);
        pending_stops.ending.push(process);
    });
    wait_for_last();
}

/// Reaps the templates that have ended since.
pub(crate) fn reap_ended() {
    let is_left = |process: &u32| matches!(kernel::poll_for(*process), Ok(None));
    PENDING_STOPS.with_borrow_mut(|pending_stops| pending_stops.ending.retain(is_left));
}

/// Returns true if a process is a template, or is ending as one.
pub(crate) fn is_template(process: u32) -> bool {
    PENDING_STOPS.with_borrow(|pending_stops| {
        pending_stops.templates.contains(&process) || pending_stops.ending.contains(&process)
    })
}

pub(crate) fn put(thread: u32, status: Status) {
    PENDING_STOPS.with_borrow_mut(|pending_stops| {
        if pending_stops.ending.contains(&thread) {
            pending_stops.ending.retain(|&it| it != thread)
        } else {
            pending_stops.statuses.push((thread, status))
        }
    });
}

/// Takes the oldest status of a thread that `is_known`.
pub(crate) fn take(is_known: impl Fn(u32) -> bool) -> Option<(u32, Status)> {
    PENDING_STOPS.with_borrow_mut(|pending_stops| {
        let index = pending_stops
            .statuses
            .iter()
            .position(|(thread, _)| is_known(*thread))?;
        Some(pending_stops.statuses.remove(index))
    })
}
