//! The queue of messages to the client, which the writer thread empties.
//!
//! **Invariant**: the sender never waits. Answers and stops are kept; output of the program and
//! events of the moment are dropped, and counted, while too much of them waits.

use super::framing;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The limit of waiting output, in bytes of messages.
const OUTPUT_MAX: usize = 4 << 20;

struct Waiting {
    body: Vec<u8>,
    is_output: bool,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Waiting>,
    /// The number of the last message.
    seq: i64,
    /// The bytes of waiting output.
    output_size: usize,
    /// The number of output events that were dropped and not reported.
    dropped: u64,
    is_closed: bool,
    /// The client takes nothing any more.
    is_broken: bool,
    /// A message is being written.
    is_writing: bool,
}

/// The queue; clones share it.
#[derive(Clone, Default)]
pub struct Outbox {
    shared: Arc<(Mutex<State>, Condvar)>,
}

impl Outbox {
    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a message, whose number is set here. Returns the number.
    ///
    /// Lost output is counted before it also while the queue is full: the program's last output may
    /// be what was lost, and a client reads nothing after `terminated`.
    pub fn send(&self, message: Value) -> i64 {
        let mut state = self.state();
        report_dropped(&mut state);
        push(&mut state, message, false);
        self.shared.1.notify_all();
        state.seq
    }

    /// Sends an event.
    pub fn event(&self, event: &str, body: Value) {
        self.send(json!({ "type": "event", "event": event, "body": body }));
    }

    /// Sends an event that is only of the moment; it is dropped if too much waits.
    pub fn passing_event(&self, event: &str, body: Value) {
        self.send_or_drop(json!({ "type": "event", "event": event, "body": body }));
    }

    /// Sends output of the program; it is dropped if too much waits.
    pub fn output(&self, category: &str, text: &str) {
        self.send_or_drop(output_event(category, text));
    }

    fn send_or_drop(&self, message: Value) {
        let mut state = self.state();
        if state.output_size > OUTPUT_MAX {
            state.dropped += 1;
            return;
        }
        report_dropped(&mut state);
        push(&mut state, message, true);
        self.shared.1.notify_all();
    }

    /// Writes the messages until the queue is closed or the client does not take them.
    pub fn drain(&self, output: &mut impl Write) {
        loop {
            let mut state = self.state();
            state.is_writing = false;
            self.shared.1.notify_all();
            let next = loop {
                if let Some(next) = state.waiting.pop_front() {
                    break next;
                }
                if state.is_closed {
                    return;
                }
                state = self
                    .shared
                    .1
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
            };
            if next.is_output {
                state.output_size = state.output_size.saturating_sub(next.body.len());
            }
            state.is_writing = true;
            drop(state);
            if framing::write(output, &next.body).is_err() {
                let mut state = self.state();
                state.is_broken = true;
                state.is_closed = true;
                state.is_writing = false;
                state.waiting.clear();
                self.shared.1.notify_all();
                return;
            }
        }
    }

    /// Closes the queue, and waits until all is written, but not longer than this.
    pub fn close(&self, time: Duration) {
        let end = Instant::now() + time;
        let mut state = self.state();
        report_dropped(&mut state);
        state.is_closed = true;
        self.shared.1.notify_all();
        while !state.waiting.is_empty() || state.is_writing {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.shared.1.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

fn output_event(category: &str, text: &str) -> Value {
    json!({
        "type": "event",
        "event": "output",
        "body": { "category": category, "output": text },
    })
}

fn push(state: &mut State, mut message: Value, is_output: bool) {
    if state.is_broken {
        return;
    }
    state.seq += 1;
    if let Some(fields) = message.as_object_mut() {
        fields.insert("seq".to_owned(), state.seq.into());
    }
    let body = message.to_string().into_bytes();
    if is_output {
        state.output_size += body.len();
    }
    state.waiting.push_back(Waiting { body, is_output });
}

fn report_dropped(state: &mut State) {
    if state.dropped == 0 {
        return;
    }
    let count = std::mem::take(&mut state.dropped);
    let text =
        format!("[{count} pieces of output and events were dropped: the client was too slow]\n");
    push(state, output_event("console", &text), false);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_lost_is_counted_before_the_next_message() {
        let outbox = Outbox::default();
        let text = "x".repeat(1 << 20);
        for _ in 0..20 {
            outbox.output("stdout", &text);
        }
        outbox.event("terminated", json!({}));
        let waiting = &outbox.state().waiting;
        let bodies: Vec<Value> = waiting
            .iter()
            .map(|it| serde_json::from_slice(&it.body).unwrap())
            .collect();
        let [.., lost, last] = &bodies[..] else {
            panic!("{} messages", bodies.len())
        };
        let lost = lost["body"]["output"].as_str().unwrap();
        assert!(lost.contains("were dropped"), "{lost}");
        assert_eq!(last["event"], "terminated");
    }

    #[test]
    fn a_client_that_reads_nothing_gets_every_answer_and_the_count_of_lost_output() {
        let outbox = Outbox::default();
        let text = "x".repeat(1 << 20);
        for _ in 0..20 {
            outbox.output("stdout", &text);
        }
        outbox.send(json!({ "type": "response" }));
        let mut taken = Vec::new();
        // Only the queue is closed, so that draining returns.
        outbox.state().is_closed = true;
        outbox.drain(&mut taken);
        outbox.state().is_closed = false;
        outbox.send(json!({ "type": "response" }));
        outbox.state().is_closed = true;
        outbox.drain(&mut taken);
        let mut frames = framing::Frames::new(&taken[..]);
        let mut seen = Vec::new();
        while let Ok(Some(framing::Frame::Message(message))) = frames.read() {
            assert_eq!(message["seq"], seen.len() as i64 + 1);
            seen.push(message);
        }
        let answers = seen.iter().filter(|it| it["type"] == "response");
        assert_eq!(answers.count(), 2);
        let program = |it: &&Value| it["body"]["category"] == "stdout";
        let shown = seen.iter().filter(program).count();
        let said = seen.iter().find_map(|it| {
            let text = it["body"]["output"].as_str()?;
            text.strip_prefix('[')?.split(' ').next()?.parse().ok()
        });
        assert_eq!(said, Some(20 - shown));
        assert!((4..20).contains(&shown), "{shown}");
    }
}
