//! Handlers that fail by a bug: the program is not lost, and each request is answered once.

use super::*;
use crate::transport::framing::{self, Frame};
use crate::transport::outbox::Outbox;
use juror_fault::CommandError;
use juror_view::Outcome;
use juror_view::observer::Observer;
use serde_json::json;
use std::time::Duration;

/// A session with a bug in some commands.
struct Broken {
    inbox: Arc<Inbox>,
}

impl Driver for Broken {
    fn execute(
        &mut self,
        line: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        match line {
            "info threads" => panic!("a bug"),
            "continue" => {
                observer.resumes();
                panic!("a bug in the run");
            }
            // Serves two requests while the program runs.
            "next" => {
                observer.resumes();
                for served in [request(21, "threads"), request(22, "modules")] {
                    self.inbox.push(Incoming::Request(served));
                }
                assert!(observer.has_requests());
                observer.serve(self);
                Ok(Outcome::Done)
            }
            _ => Ok(Outcome::Done),
        }
    }
    fn complete(&mut self, _: &str, position: usize) -> (usize, Vec<String>) {
        (position, Vec::new())
    }
    fn repetition(&self, _: &str) -> Option<String> {
        None
    }
    fn is_alive(&self) -> bool {
        true
    }
    fn interrupter(&self) -> Box<dyn Fn() + Send> {
        Box::new(|| {})
    }
}

fn request(seq: i64, command: &str) -> Request {
    Request {
        seq,
        command: command.to_owned(),
        arguments: Value::Null,
    }
}

/// Handles requests in a stopped program. Returns what was sent, in short.
fn conversation(requests: &[(i64, &str)]) -> Vec<Value> {
    let inbox = Arc::new(Inbox::default());
    let outbox = Outbox::default();
    let mut adapter = Adapter::new(Arc::clone(&inbox), outbox.clone());
    adapter.motion = Motion::Stopped;
    let mut session = Broken { inbox };
    for (seq, command) in requests {
        handle(&mut adapter, Some(&mut session), &request(*seq, command));
    }
    outbox.close(Duration::ZERO);
    let mut sent = Vec::new();
    outbox.drain(&mut sent);
    let mut frames = framing::Frames::new(&sent[..]);
    let mut found = Vec::new();
    while let Ok(Some(Frame::Message(message))) = frames.read() {
        found.push(if message["type"] == "response" {
            json!([message["request_seq"], message["success"]])
        } else {
            message["event"].clone()
        });
    }
    found
}

#[test]
fn a_handler_that_fails_is_an_answer_and_the_next_request_is_handled() {
    let sent = conversation(&[(1, "threads"), (2, "modules"), (3, "threads")]);
    assert_eq!(json!(sent), json!([[1, false], [2, true], [3, false]]));
}

#[test]
fn a_run_that_fails_after_its_answer_is_a_stop() {
    let sent = conversation(&[(1, "continue"), (2, "modules")]);
    let expected = json!([[1, true], "output", "stopped", [2, true]]);
    assert_eq!(json!(sent), expected);
}

#[test]
fn a_request_that_fails_while_the_program_runs_does_not_end_the_run() {
    let sent = conversation(&[(1, "next"), (2, "modules")]);
    let expected = json!([[1, true], [21, false], [22, true], "stopped", [2, true]]);
    assert_eq!(json!(sent), expected);
}
