//! Waiting: the stop events that are queued, and what is waited for.

use std::collections::{BTreeSet, VecDeque};
use std::marker::PhantomData;
use std::mem;

use juror_stepping::ThreadId;

use crate::interruption::Interruption;
use crate::state::fair_selection::FairSelection;
use crate::state::stop_event::StopEvent;
use crate::state::thread_control::ThreadControl;

/// The queues between the kernel and [`Debuggee::wait`](crate::Debuggee::wait).
#[derive(Debug)]
pub(crate) struct Wait {
    /// Stop events that have not been taken.
    pub(crate) events: VecDeque<StopEvent>,
    /// Threads that are ending and whose last status has not been seen.
    pub(crate) departing: BTreeSet<u32>,
    pub(crate) selection: FairSelection,
    pub(crate) interruption: Interruption,
    /// The control of the threads above the kernel.
    pub(crate) control: Option<Box<dyn ThreadControl>>,
    /// The kernel knows a tracer by its thread: waiting is bound to it.
    not_send: PhantomData<*const ()>,
}

impl Wait {
    pub(crate) fn new() -> Wait {
        Wait {
            events: VecDeque::with_capacity(64),
            departing: BTreeSet::new(),
            selection: FairSelection::default(),
            interruption: Interruption::default(),
            control: None,
            not_send: PhantomData,
        }
    }

    /// Returns true if a stop event of a thread is queued.
    pub(crate) fn has_event_of(&self, thread: ThreadId) -> bool {
        self.events
            .iter()
            .any(|event| event.waiting_thread() == Some(thread))
    }

    /// Drops the events of one thread.
    pub(crate) fn drop_events_of(&mut self, thread: ThreadId) {
        self.events
            .retain(|event| event.waiting_thread() != Some(thread));
    }

    /// Drops the events for which a thread waits.
    pub(crate) fn drop_thread_events(&mut self) {
        self.events.retain(|event| event.waiting_thread().is_none());
    }

    /// Moves the events for which a thread waits to another queue.
    pub(crate) fn defer_thread_events(&mut self, deferred: &mut VecDeque<StopEvent>) {
        self.events.retain(|event| {
            let is_of_thread = event.waiting_thread().is_some();
            if is_of_thread {
                deferred.push_back(event.clone());
            }
            !is_of_thread
        });
    }

    /// Takes the events that match out of the queue, in order.
    pub(crate) fn take_matching(
        &mut self,
        is_meant: impl Fn(&StopEvent) -> bool,
    ) -> Vec<StopEvent> {
        let events = mem::take(&mut self.events);
        let (taken, others): (Vec<StopEvent>, Vec<StopEvent>) =
            events.into_iter().partition(is_meant);
        self.events.extend(others);
        taken
    }
}
