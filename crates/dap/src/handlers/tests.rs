//! Handlers that fail by a bug: the program is not lost, and each request is answered once.

use super::*;
use crate::transport::framing::{self, Frame};
use crate::transport::outbox::Outbox;
use juror_fault::CommandError;
use juror_view::changes::{Changes, PointChange, PointRequest, Resume as How};
use juror_view::observer::Observer;
use juror_view::{Outcome, SetPointView};
use serde_json::json;
use std::time::Duration;

/// A session with bugs in some calls.
struct Broken {
    inbox: Arc<Inbox>,
}

impl Driver for Broken {
    fn execute(&mut self, line: &str, _: &mut dyn Observer) -> Result<Outcome, CommandError> {
        panic!("`{line}` was not typed");
    }
    fn complete(&mut self, _: &str, _: usize) -> (usize, Vec<String>) {
        panic!("a bug");
    }
    fn changes(&mut self) -> Option<&mut dyn Changes> {
        Some(self)
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

impl Changes for Broken {
    fn set_points(
        &mut self,
        _: &[PointRequest],
        _: &mut dyn Observer,
    ) -> Vec<Result<SetPointView, CommandError>> {
        Vec::new()
    }
    fn change_point(&mut self, _: u32, _: &PointChange) -> Result<(), CommandError> {
        Ok(())
    }
    fn delete_points(&mut self, _: &[u32]) -> Result<(), CommandError> {
        Ok(())
    }
    fn resume(&mut self, how: How, observer: &mut dyn Observer) -> Result<Outcome, CommandError> {
        observer.resumes();
        if how == How::Continue {
            panic!("a bug in the run");
        }
        // Serves two requests while the program runs.
        for served in [request(21, FAILS), request(22, WORKS)] {
            self.inbox.push(Incoming::Request(served));
        }
        assert!(observer.has_requests());
        observer.serve(self);
        Ok(Outcome::Done)
    }
}

/// A request whose handler comes to a bug.
const FAILS: &str = "completions";

/// A request that the session has no part in.
const WORKS: &str = "setFunctionBreakpoints";

fn request(seq: i64, command: &str) -> Request {
    Request {
        seq,
        command: command.to_owned(),
        arguments: json!({ "text": "a", "column": 1 }),
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
    let sent = conversation(&[(1, FAILS), (2, WORKS), (3, FAILS)]);
    assert_eq!(json!(sent), json!([[1, false], [2, true], [3, false]]));
}

#[test]
fn a_run_that_fails_after_its_answer_is_a_stop() {
    let sent = conversation(&[(1, "continue"), (2, WORKS)]);
    let expected = json!([[1, true], "output", "stopped", [2, true]]);
    assert_eq!(json!(sent), expected);
}

#[test]
fn a_request_that_fails_while_the_program_runs_does_not_end_the_run() {
    let sent = conversation(&[(1, "next"), (2, WORKS)]);
    let expected = json!([[1, true], [21, false], [22, true], "stopped", [2, true]]);
    assert_eq!(json!(sent), expected);
}
