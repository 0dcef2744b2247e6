//! The examples of the repository, opened by a client: each stops at its violation.

use super::client::Client;
use juror_testing::{Fixture, repository_directory};
use serde_json::{Value, json};

/// By example: the property, and what its state begins with.
const EXAMPLES: [(&str, &str, &str); 9] = [
    ("queue", "queue_bounds", "overflow"),
    ("file", "open_while_used", "used_after_close"),
    ("producers", "ring_bounds", "overflow"),
    ("stack", "taken_out", "lost"),
    ("iterator", "iterators", "used_when_invalid"),
    ("completion", "word_is_there", "looked_at_null"),
    ("sudoku", "consistent_board", "broken"),
    ("locks", "lock_order", "violated"),
    ("counter", "own_answers", "violated"),
];

/// How often an example is launched. The threads of `counter` race, and nearly always go wrong.
const LAUNCHES_MAX: usize = 50;

/// Launches an example until it stops. Returns the client, and the stop.
fn stopped(name: &str) -> (Client, Value) {
    let directory = repository_directory().join("examples").join(name);
    let program = Fixture::example(name).compile_plain();
    for _ in 0..LAUNCHES_MAX {
        let mut client = Client::start();
        client.launch(json!({
            "program": program,
            "properties": [directory.join(format!("{name}.prop"))],
            "cwd": directory,
        }));
        client.ask("configurationDone", Value::Null);
        let last = client.wait("a stop or the end", |message| {
            matches!(message["event"].as_str(), Some("stopped" | "terminated"))
        });
        if last["event"] == "stopped" {
            return (client, last["body"].clone());
        }
        client.leave();
    }
    panic!("{name} is not violated in {LAUNCHES_MAX} runs");
}

#[test]
fn examples_are_opened_and_stop_at_their_violation() {
    for (name, property, state) in EXAMPLES {
        let (mut client, stop) = stopped(name);
        assert_eq!(stop["reason"], "exception", "{name}: {stop}");
        let thread = &stop["threadId"];
        let info = client.ask("exceptionInfo", json!({ "threadId": thread }));
        let headline = info["description"].as_str().expect("text");
        let expected = format!("VIOLATED  {property}");
        assert!(headline.starts_with(&expected), "{name}: {headline}");
        let report = info["details"]["message"].as_str().expect("text");
        assert!(report.contains(state), "{name}: {report}");

        // The editor opens the line, and the monitor is among the variables.
        let frame = client.top(thread);
        let monitors = client.scope(&frame, "Monitors");
        client.variable(&monitors["variablesReference"], property);
        let stack = client.ask("stackTrace", json!({ "threadId": thread }));
        let frames = stack["stackFrames"].as_array().expect("a list");
        assert!(
            frames
                .iter()
                .any(|frame| frame["source"]["path"].is_string()),
            "{name}: {frames:?}"
        );
        client.leave();
    }
}
