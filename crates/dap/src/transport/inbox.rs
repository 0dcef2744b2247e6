//! The queue of the client's messages, which the reader thread fills.
//!
//! A request that comes while the program runs rings: the running command serves it. `pause` and
//! `cancel` do not wait for their turn.

use super::framing::{self, Frame};
use crate::protocol::message::Request;
use std::collections::{HashSet, VecDeque};
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
}

/// A message of the client, or the end of the connection.
#[derive(Debug, Clone, PartialEq)]
pub enum Incoming {
    /// A request.
    Request(Request),
    /// An answer to a request of the adapter.
    Response(serde_json::Value),
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
    /// The requests that the client has cancelled.
    cancelled: HashSet<i64>,
    /// The requests that are being handled: one that lets the program run, and one that is served
    /// meanwhile.
    handled: Vec<i64>,
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

    /// Reads messages until the connection ends.
    pub fn fill(&self, input: &mut impl BufRead) {
        loop {
            let incoming = match framing::read(input) {
                Ok(Some(Frame::Message(message))) => classified(message),
                Ok(Some(Frame::Malformed { seq, error })) => Incoming::Malformed { seq, error },
                Ok(None) | Err(_) => break,
            };
            self.push(incoming);
        }
        self.push(Incoming::End);
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
        let mut interrupts = incoming == Incoming::End;
        if let Incoming::Request(request) = &incoming {
            match &*request.command {
                "pause" => interrupts = true,
                "cancel" => {
                    let target = request.arguments["requestId"].as_i64();
                    state.cancelled.extend(target);
                    interrupts = target.is_some_and(|target| state.handled.contains(&target));
                }
                _ => {}
            }
        }
        state.has_ended |= incoming == Incoming::End;
        state.waiting.push_back(incoming);
        if let Some(bells) = &state.bells {
            match interrupts {
                true => (bells.interrupt)(),
                false => (bells.call)(),
            }
        }
        self.changed.notify_all();
    }

    /// Makes requests ring from now on, those that wait already, too; or not, without bells.
    pub fn set_bells(&self, bells: Option<Bells>) {
        let mut state = self.state();
        if let Some(bells) = &bells
            && !state.waiting.is_empty()
        {
            (bells.call)();
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
        let taken = self.state().waiting.pop_front();
        self.changed.notify_all();
        taken
    }

    /// Returns the next message; nothing if none comes in this time.
    pub fn wait(&self, time: Duration) -> Option<Incoming> {
        let end = Instant::now() + time;
        let mut state = self.state();
        loop {
            if let Some(taken) = state.waiting.pop_front() {
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
        state.cancelled.remove(&seq)
    }

    /// Notes that the request that began last has been handled.
    pub fn end(&self) {
        self.state().handled.pop();
    }
}

/// Tells requests from answers.
fn classified(message: serde_json::Value) -> Incoming {
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
