//! The side of the session: serves the browser's requests, and publishes snapshots.

use crate::report;
use crate::shared::{Choices, Job, PERIOD_MIN_MS, Request, Shared};
use crate::snapshot::{self, Shown, Static, Status};
use juror_fault::CommandError;
use juror_view::Outcome;
use juror_view::driver::Driver;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The times that a sample may take: one part in this many of the run.
const SHARE: u32 = 100;

/// The result of a command that the browser asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Performed {
    /// The text that the prompt shows.
    pub text: String,
    /// Whether it failed.
    pub failed: bool,
}

impl Performed {
    /// Returns the result of a command as the prompt shows it.
    pub fn of(result: &Result<Outcome, CommandError>) -> Performed {
        match result {
            Ok(outcome) => Performed {
                text: snapshot::text_of(outcome),
                failed: false,
            },
            Err(error) => Performed {
                text: snapshot::error_text(error),
                failed: true,
            },
        }
    }
}

/// The page of a session; it belongs to the thread that drives the session.
pub struct LivePage {
    /// Absent if only a report is written.
    shared: Option<Arc<Shared>>,
    fixed: Static,
    shown: Shown,
    choices: Choices,
    sequence: u64,
    /// The last snapshot, for a report.
    last: Value,
    /// The fixed part, with the pictures of the properties at the last snapshot.
    last_fixed: Value,
}

impl LivePage {
    pub(crate) fn new(shared: Option<Arc<Shared>>, fixed: Static) -> LivePage {
        LivePage {
            shared,
            last_fixed: snapshot::fixed(&fixed, None),
            fixed,
            shown: Shown::default(),
            choices: Choices::default(),
            sequence: 0,
            last: Value::Null,
        }
    }

    /// Creates a page that nobody can open, for a report.
    pub fn unserved(fixed: Static) -> LivePage {
        LivePage::new(None, fixed)
    }

    /// Lets the server wake the session and interrupt it.
    pub fn connect(&self, session: &dyn Driver) {
        if let Some(shared) = &self.shared {
            shared.set_caller(session.caller());
            shared.set_interrupter(session.interrupter());
        }
    }

    /// Sets what wakes the session while it waits for a line.
    pub fn set_waker(&self, wake: Box<dyn Fn() + Send>) {
        if let Some(shared) = &self.shared {
            shared.set_waker(wake);
        }
    }

    /// Notes that a command begins.
    pub fn begin(&mut self) {
        if let Some(shared) = &self.shared {
            shared.is_running.store(true, Ordering::SeqCst);
        }
    }

    /// Notes that the program runs.
    pub fn resumes(&mut self) {
        self.shown.status = Status::Running;
    }

    /// Notes the outcome of a command, which has ended, and publishes a snapshot.
    pub fn end(&mut self, session: &mut dyn Driver, result: &Result<Outcome, CommandError>) {
        if let Some(shared) = &self.shared {
            shared.is_running.store(false, Ordering::SeqCst);
        }
        match result {
            Ok(outcome) => self.shown.note(outcome),
            // The program stands where it stood.
            Err(_) if self.shown.status == Status::Running => self.shown.status = Status::Stopped,
            Err(_) => {}
        }
        self.publish(session);
    }

    /// Publishes a snapshot if somebody looks, or for a report.
    fn publish(&mut self, session: &mut dyn Driver) {
        let watchers = |shared: &Arc<Shared>| shared.watchers.load(Ordering::Relaxed);
        if self
            .shared
            .as_ref()
            .is_some_and(|shared| watchers(shared) == 0)
        {
            return;
        }
        self.sequence += 1;
        let (shown, choices) = (&self.shown, &mut self.choices);
        self.last = snapshot::snapshot(session, shown, choices, self.sequence);
        self.last_fixed = snapshot::fixed(&self.fixed, Some(session));
        if let Some(shared) = &self.shared {
            shared.snapshots.send_replace(self.last.to_string().into());
        }
    }

    /// Returns whether requests wait that can be served in the middle of a command.
    pub fn has_requests(&self) -> bool {
        self.shared.as_ref().is_some_and(|shared| shared.has(true))
    }

    /// Serves the requests that can be served in the middle of a command.
    pub fn serve(&mut self, session: &mut dyn Driver) {
        while let Some(job) = self.take(true) {
            let begin = Instant::now();
            let is_sample = job.request == Request::Sample;
            self.answer(job, session);
            if is_sample && let Some(shared) = &self.shared {
                shared
                    .period_ms
                    .store(period_after(begin.elapsed()), Ordering::Relaxed);
            }
        }
    }

    /// Serves the next request while no command runs. Returns the command to execute, if it is
    /// one; its result goes to [`LivePage::reply`].
    pub fn next_command(&mut self, session: &mut dyn Driver) -> Option<(String, Reply)> {
        loop {
            let job = self.take(false)?;
            match job.request {
                Request::Command(line) => return Some((line, Reply(job.reply))),
                _ => self.answer(job, session),
            }
        }
    }

    /// Answers a command.
    pub fn reply(&self, reply: Reply, performed: &Performed) {
        if let Some(reply) = reply.0 {
            let _ = reply.send(json!({ "text": performed.text, "failed": performed.failed }));
        }
    }

    fn take(&self, is_quick: bool) -> Option<Job> {
        self.shared.as_ref()?.take(is_quick)
    }

    fn answer(&mut self, job: Job, session: &mut dyn Driver) {
        let answer = match job.request {
            Request::Static => snapshot::fixed(&self.fixed, Some(session)),
            Request::Slices(wanted) => match session.slices(&wanted) {
                Ok(page) => json!(page),
                Err(error) => json!({ "error": snapshot::error_text(&error) }),
            },
            Request::Choose { property, binding } => {
                match binding {
                    Some(binding) => self.choices.chosen.insert(property, binding),
                    None => self.choices.chosen.remove(&property),
                };
                self.publish(session);
                json!({})
            }
            Request::Zoom(window) => {
                self.choices.window = window;
                self.publish(session);
                json!({ "sequence": self.sequence })
            }
            Request::Sample => {
                self.publish(session);
                json!({})
            }
            // Not taken from the queue here.
            Request::Command(_) => json!({ "text": "", "failed": true }),
        };
        if let Some(reply) = job.reply {
            let _ = reply.send(answer);
        }
    }

    /// Returns the page with the last snapshot as one file that needs no server.
    pub fn report(&mut self, session: &mut dyn Driver) -> String {
        if self.last.is_null() {
            self.sequence += 1;
            let (shown, choices) = (&self.shown, &mut self.choices);
            self.last = snapshot::snapshot(session, shown, choices, self.sequence);
            self.last_fixed = snapshot::fixed(&self.fixed, Some(session));
        }
        report::page(&self.last_fixed, &self.last)
    }
}

/// Returns the time until the next sample, in milliseconds, after one that has taken so long.
fn period_after(spent: Duration) -> u64 {
    let period = spent.saturating_mul(SHARE).as_millis();
    u64::try_from(period).unwrap_or(u64::MAX).max(PERIOD_MIN_MS)
}

/// The receiver of the answer to a command.
pub struct Reply(Option<tokio::sync::oneshot::Sender<Value>>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_take_at_most_their_share() {
        assert_eq!(period_after(Duration::ZERO), PERIOD_MIN_MS);
        assert_eq!(period_after(Duration::from_micros(990)), 99);
        assert_eq!(period_after(Duration::from_millis(30)), 3000);
        assert_eq!(period_after(Duration::MAX), u64::MAX);
    }
}
