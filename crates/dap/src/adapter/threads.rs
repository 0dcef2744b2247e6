//! The threads that the client knows.
//!
//! Starts and ends are told as they happen. At a stop the client is told of what has happened
//! otherwise: the first thread of a program, processes that were joined or left, a restore.

use super::Adapter;
use juror_view::driver::Driver;
use serde_json::json;
use std::collections::BTreeSet;

impl Adapter {
    /// Tells that a thread has started.
    pub(super) fn tell_started(&mut self, number: u32) {
        if self.threads.insert(number) {
            self.tell_thread("started", number);
        }
    }

    /// Tells that a thread has ended.
    pub(super) fn tell_exited(&mut self, number: u32) {
        if self.threads.remove(&number) {
            self.tell_thread("exited", number);
        }
    }

    fn tell_thread(&self, reason: &str, number: u32) {
        // A client that lags behind gets the list at the next stop.
        let body = json!({ "reason": reason, "threadId": number });
        self.outbox.passing_event("thread", body);
    }

    /// Tells the differences between the threads of the program and those that the client knows.
    pub(crate) fn renew_threads(&mut self, session: &mut dyn Driver) {
        let numbers = session.queries().map(|it| it.thread_numbers());
        let now: BTreeSet<u32> = numbers.unwrap_or_default().into_iter().collect();
        let gone: Vec<u32> = self.threads.difference(&now).copied().collect();
        for number in gone {
            self.tell_exited(number);
        }
        for number in now {
            self.tell_started(number);
        }
    }
}
