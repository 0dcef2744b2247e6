//! Random orders of requests, by five kinds of clients: each request is answered exactly once,
//! and stops come in their order.

use super::client::{Client, queue_source};
use super::sessions::queue;
use juror_testing::Numbers;
use serde_json::{Value, json};

/// The number of sessions of each kind.
const SESSIONS: u64 = 12;

/// The number of random requests of a session.
const REQUESTS: u64 = 40;

/// A kind of client.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// Waits for each answer.
    Patient,
    /// Sends all at once.
    Hasty,
    /// Configures before the launch.
    EarlyConfigured,
    /// Sends null for what is missing, and what is not valid.
    Sloppy,
    /// Closes the connection in the middle.
    Vanishing,
}

/// A request that may or may not be possible.
fn request(numbers: &mut Numbers, main: &str) -> (&'static str, Value) {
    let thread = json!({ "threadId": 1 + numbers.below(8) / 7 });
    let number = numbers.below(40);
    let line = 30 + numbers.below(10);
    let all: [(&str, Value); 24] = [
        ("threads", Value::Null),
        ("stackTrace", thread.clone()),
        ("scopes", json!({ "frameId": number })),
        ("variables", json!({ "variablesReference": number })),
        ("continue", thread.clone()),
        ("next", thread.clone()),
        ("stepIn", thread.clone()),
        ("stepOut", thread.clone()),
        ("pause", thread.clone()),
        (
            "setBreakpoints",
            json!({ "source": { "path": main }, "breakpoints": [{ "line": line }] }),
        ),
        (
            "setBreakpoints",
            json!({ "source": { "path": main }, "breakpoints": [] }),
        ),
        (
            "setFunctionBreakpoints",
            json!({ "breakpoints": [{ "name": "queue_push_digit" }] }),
        ),
        (
            "setExceptionBreakpoints",
            json!({ "filters": ["violations"] }),
        ),
        ("setExceptionBreakpoints", json!({ "filters": [] })),
        ("evaluate", json!({ "expression": "i", "context": "watch" })),
        (
            "evaluate",
            json!({ "expression": "info monitors", "context": "repl" }),
        ),
        ("exceptionInfo", thread.clone()),
        ("modules", json!({})),
        ("loadedSources", Value::Null),
        (
            "readMemory",
            json!({ "memoryReference": "0x10", "count": 4 }),
        ),
        ("completions", json!({ "text": "br", "column": 3 })),
        ("cancel", json!({ "requestId": number })),
        ("dataBreakpointInfo", json!({ "name": "i" })),
        (
            "disassemble",
            json!({ "memoryReference": "0x10", "instructionCount": 2 }),
        ),
    ];
    let chosen = numbers.below(all.len() as u64) as usize;
    all[chosen].clone()
}

fn converse(kind: Kind, seed: u64) {
    let mut numbers = Numbers(seed);
    let (program, property) = queue();
    let main = queue_source(&program, "main.c")
        .to_str()
        .unwrap()
        .to_owned();
    let launch = json!({ "program": program, "properties": [property] });
    let mut client = Client::start();
    let mut begin = vec![("launch", launch), ("configurationDone", Value::Null)];
    if kind == Kind::EarlyConfigured {
        begin.reverse();
    }
    client.initialize();
    let mut plan: Vec<(&str, Value)> = Vec::new();
    for step in begin {
        for _ in 0..numbers.below(4) {
            plan.push(request(&mut numbers, &main));
        }
        plan.push(step);
    }
    for _ in 0..REQUESTS {
        plan.push(request(&mut numbers, &main));
    }
    let cut = match kind {
        Kind::Vanishing => numbers.below(plan.len() as u64) as usize,
        _ => plan.len(),
    };
    for (command, arguments) in plan.into_iter().take(cut) {
        if kind == Kind::Sloppy && numbers.below(4) == 0 {
            let seq = client.next_seq();
            client.send_unjudged(json!({
                "seq": seq, "type": "request", "command": command, "arguments": null,
            }));
            continue;
        }
        let seq = client.send(command, arguments);
        if kind == Kind::Patient {
            client.answer(seq);
        }
    }
    match kind {
        Kind::Vanishing => {
            client.vanish();
            let status = client.wait_for_exit();
            assert!(status.success(), "{kind:?} {seed}: {status}");
        }
        _ => {
            let seq = client.send("disconnect", json!({}));
            assert_eq!(client.answer(seq)["success"], true);
            client.end();
        }
    }
    if let Err(fault) = judge(&client.history) {
        client.fail(&format!("{kind:?} {seed}: {fault}"));
    }
}

/// Checks the order of stops.
fn judge(history: &[Value]) -> Result<(), String> {
    const RESUMING: [&str; 6] = [
        "continue",
        "next",
        "stepIn",
        "stepOut",
        "launch",
        "configurationDone",
    ];
    let mut may_stop = false;
    let mut has_ended = false;
    for message in history {
        let resumed = RESUMING
            .iter()
            .any(|command| message["command"] == **command);
        if message["type"] == "response" && message["success"] == true && resumed {
            may_stop = true;
        }
        if message["event"] == "terminated" {
            has_ended = true;
        }
        if message["event"] == "stopped" {
            if !may_stop || has_ended {
                return Err("a stop without a resume".to_owned());
            }
            may_stop = false;
        }
    }
    Ok(())
}

fn sessions(kind: Kind) {
    for seed in 1..=SESSIONS {
        converse(kind, seed * 7919);
    }
}

#[test]
fn a_patient_client() {
    sessions(Kind::Patient);
}

#[test]
fn a_hasty_client() {
    sessions(Kind::Hasty);
}

#[test]
fn a_client_that_configures_first() {
    sessions(Kind::EarlyConfigured);
}

#[test]
fn a_sloppy_client() {
    sessions(Kind::Sloppy);
}

#[test]
fn a_client_that_vanishes() {
    sessions(Kind::Vanishing);
}

#[test]
fn a_stop_out_of_order_is_found() {
    let stop = json!({ "type": "event", "event": "stopped" });
    let resume = json!({ "type": "response", "success": true, "command": "next" });
    assert!(judge(&[resume.clone(), stop.clone()]).is_ok());
    assert!(judge(&[stop.clone(), resume.clone()]).is_err());
    assert!(judge(&[resume, stop.clone(), stop]).is_err());
}
