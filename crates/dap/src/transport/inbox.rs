//! The queue of the client's messages, which the reader thread fills.
//!
//! A request that comes while the program runs rings: the running command serves it. `pause` does
//! not wait for its turn, and `cancel` is answered at once.

use super::framing::{Frame, Frames};
use super::outbox::Outbox;
use crate::protocol::message::{Failure, Request, refusal, response};
use serde_json::Value;
use std::collections::VecDeque;
use std::io::BufRead;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The limit of waiting messages; the reader waits then, and with it the client.
const WAITING_MAX: usize = 1024;

/// The means to reach a running command.
pub struct Bells {
    /// Makes the command serve requests and go on.
    pub call: Box<dyn Fn() + Send>,
    /// Makes the command return.
    pub interrupt: Box<dyn Fn() + Send>,
    /// Whether the program stands still meanwhile: nothing is served, and the end of the session
    /// does not wait for the command.
    pub is_still: bool,
}

impl Bells {
    /// Returns whether a message makes the command return.
    fn is_interrupted_by(&self, incoming: &Incoming) -> bool {
        match incoming {
            Incoming::End => true,
            Incoming::Request(request) => {
                request.command == "pause" || self.is_still && ends_run(&request.command)
            }
            Incoming::Response(_) | Incoming::Malformed { .. } => false,
        }
    }
}

/// Returns whether a request needs the program to stop, and is carried out after that.
pub(crate) fn ends_run(command: &str) -> bool {
    matches!(command, "restart" | "terminate" | "disconnect")
}

/// A message of the client, or the end of the connection.
#[derive(Debug, Clone, PartialEq)]
pub enum Incoming {
    /// A request.
    Request(Request),
    /// An answer to a request of the adapter.
    Response(Value),
    /// A message that is neither; with its number, if it has one.
    Malformed {
        /// The number.
        seq: Option<i64>,
        /// The reason.
        error: String,
    },
    /// The client has gone.
    End,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Incoming>,
    has_ended: bool,
    bells: Option<Bells>,
    /// The request that was taken, and is not handled yet.
    taken: Option<i64>,
    /// Whether the client has cancelled that one.
    is_cancelled: bool,
    /// The request that was interrupted since the client has cancelled it.
    interrupted: Option<i64>,
    /// The requests that are being handled: one that lets the program run, and one that is served
    /// meanwhile.
    handled: Vec<i64>,
}

impl State {
    fn take(&mut self) -> Option<Incoming> {
        let taken = self.waiting.pop_front();
        self.is_cancelled = false;
        self.taken = match &taken {
            Some(Incoming::Request(request)) => Some(request.seq),
            _ => None,
        };
        taken
    }
}

/// The queue.
#[derive(Default)]
pub struct Inbox {
    state: Mutex<State>,
    changed: Condvar,
}

impl Inbox {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads messages until the connection ends. What can be answered without the session is.
    pub fn fill(&self, input: impl BufRead, outbox: &Outbox) {
        let mut frames = Frames::new(input);
        loop {
            let incoming = match frames.read() {
                Ok(Some(Frame::Message(message))) => classified(message),
                Ok(Some(Frame::Malformed { seq, error })) => Incoming::Malformed { seq, error },
                Ok(None) | Err(_) => break,
            };
            match incoming {
                Incoming::Request(request) if request.command == "cancel" => {
                    let dropped = self.cancel(request.arguments["requestId"].as_i64());
                    if let Some(dropped) = dropped {
                        let failure = Failure::cancelled();
                        outbox.send(refusal(dropped.seq, &dropped.command, &failure));
                    }
                    outbox.send(response(request.seq, &request.command, Value::Null));
                }
                incoming => self.push(incoming),
            }
        }
        self.push(Incoming::End);
    }

    /// Cancels a request. Returns it if it waits, so that it is dropped; one that is being handled
    /// is interrupted, and one that was answered stays so.
    fn cancel(&self, target: Option<i64>) -> Option<Request> {
        let target = target?;
        let mut state = self.state();
        let is_target = |incoming: &Incoming| match incoming {
            Incoming::Request(request) => request.seq == target,
            _ => false,
        };
        if let Some(position) = state.waiting.iter().position(is_target) {
            let dropped = state.waiting.remove(position);
            self.changed.notify_all();
            return match dropped {
                Some(Incoming::Request(request)) => Some(request),
                _ => None,
            };
        }
        if state.taken == Some(target) {
            state.is_cancelled = true;
        } else if state.handled.contains(&target)
            && let Some(bells) = &state.bells
        {
            (bells.interrupt)();
            state.interrupted = Some(target);
        }
        None
    }

    /// Adds a message.
    pub fn push(&self, incoming: Incoming) {
        let mut state = self.state();
        while state.waiting.len() >= WAITING_MAX {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.has_ended |= incoming == Incoming::End;
        if let Some(bells) = &state.bells {
            if bells.is_interrupted_by(&incoming) {
                (bells.interrupt)()
            } else {
                (bells.call)()
            }
        }
        state.waiting.push_back(incoming);
        self.changed.notify_all();
    }

    /// Makes requests ring from now on, those that wait already, too; or not, without bells.
    pub fn set_bells(&self, bells: Option<Bells>) {
        let mut state = self.state();
        if let Some(bells) = &bells
            && !state.waiting.is_empty()
        {
            let ends = |it: &Incoming| bells.is_still && bells.is_interrupted_by(it);
            if state.waiting.iter().any(ends) {
                (bells.interrupt)();
            } else {
                (bells.call)();
            }
        }
        state.bells = bells;
    }

    /// Returns whether a message waits.
    pub fn has_waiting(&self) -> bool {
        !self.state().waiting.is_empty()
    }

    /// Returns whether the client has gone.
    pub fn has_ended(&self) -> bool {
        self.state().has_ended
    }

    /// Returns the next message if there is one.
    pub fn take(&self) -> Option<Incoming> {
        let taken = self.state().take();
        self.changed.notify_all();
        taken
    }

    /// Returns the next message; nothing if none comes in this time.
    pub fn wait(&self, time: Duration) -> Option<Incoming> {
        let end = Instant::now() + time;
        let mut state = self.state();
        loop {
            if let Some(taken) = state.take() {
                self.changed.notify_all();
                return Some(taken);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Removes and returns the first waiting message that fits.
    pub fn take_if(&self, fits: impl Fn(&Incoming) -> bool) -> Option<Incoming> {
        let mut state = self.state();
        let position = state.waiting.iter().position(fits)?;
        state.waiting.remove(position)
    }

    /// Notes that a request is being handled. Returns whether it has been cancelled.
    pub fn begin(&self, seq: i64) -> bool {
        let mut state = self.state();
        state.handled.push(seq);
        let is_taken = state.taken.take() == Some(seq);
        std::mem::take(&mut state.is_cancelled) && is_taken
    }

    /// Returns whether the client has cancelled a request while it was handled.
    pub fn was_interrupted(&self, seq: i64) -> bool {
        self.state().interrupted == Some(seq)
    }

    /// Notes that the request that began last has been handled.
    pub fn end(&self) {
        self.state().handled.pop();
    }
}

/// Tells requests from answers.
fn classified(message: Value) -> Incoming {
    let seq = message["seq"].as_i64();
    match message["type"].as_str() {
        Some("response") => Incoming::Response(message),
        Some("request") => match serde_json::from_value::<Request>(message) {
            Ok(request) => Incoming::Request(request),
            Err(error) => Incoming::Malformed {
                seq,
                error: error.to_string(),
            },
        },
        _ => Incoming::Malformed {
            seq,
            error: "this is neither a request nor a response".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn request(seq: i64) -> Incoming {
        Incoming::Request(Request {
            seq,
            command: "threads".to_owned(),
            arguments: Value::Null,
        })
    }

    #[test]
    fn a_waiting_request_that_is_cancelled_is_dropped() {
        let inbox = Inbox::default();
        inbox.push(request(1));
        inbox.push(request(2));
        assert_eq!(inbox.cancel(Some(2)).map(|it| it.seq), Some(2));
        assert_eq!(inbox.cancel(Some(3)), None);
        assert_eq!(inbox.take(), Some(request(1)));
        assert!(!inbox.begin(1));
        assert_eq!(inbox.take(), None);
    }

    #[test]
    fn a_question_is_interrupted_by_its_cancellation_and_by_the_end() {
        let inbox = Inbox::default();
        let rung = Arc::new(AtomicU32::new(0));
        let ring = || {
            let count = Arc::clone(&rung);
            inbox.set_bells(Some(Bells {
                call: Box::new(|| {}),
                interrupt: Box::new(move || {
                    count.fetch_add(1, Ordering::SeqCst);
                }),
                is_still: true,
            }));
        };
        inbox.begin(1);
        ring();
        inbox.push(request(2));
        assert_eq!(rung.load(Ordering::SeqCst), 0);
        inbox.cancel(Some(1));
        assert_eq!(rung.load(Ordering::SeqCst), 1);
        assert!(inbox.was_interrupted(1) && !inbox.was_interrupted(2));
        inbox.push(Incoming::Request(Request {
            seq: 3,
            command: "disconnect".to_owned(),
            arguments: Value::Null,
        }));
        assert_eq!(rung.load(Ordering::SeqCst), 2);
        // It waits already when the next question begins.
        ring();
        assert_eq!(rung.load(Ordering::SeqCst), 3);
    }

    #[test]
    fn a_request_may_be_cancelled_until_it_has_been_handled() {
        let inbox = Inbox::default();
        let rung = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&rung);
        inbox.set_bells(Some(Bells {
            call: Box::new(|| {}),
            interrupt: Box::new(move || {
                count.fetch_add(1, Ordering::SeqCst);
            }),
            is_still: false,
        }));
        inbox.push(request(1));
        inbox.take();
        inbox.cancel(Some(1));
        assert!(inbox.begin(1));
        assert_eq!(rung.load(Ordering::SeqCst), 0);
        inbox.cancel(Some(1));
        assert_eq!(rung.load(Ordering::SeqCst), 1);
        inbox.end();
        inbox.cancel(Some(1));
        assert_eq!(rung.load(Ordering::SeqCst), 1);
        inbox.push(request(2));
        inbox.take();
        assert!(!inbox.begin(2));
    }
}
