//! Clients that do not read, or say what is not the protocol.

use super::client::{Client, read};
use super::schema::Schema;
use super::sessions::queue;
use crate::support::program;
use juror_testing::Fixture;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A program that writes more than any queue takes, and then leaves a mark.
fn writer() -> Fixture {
    Fixture::c(
        "dap_writer",
        r#"#include <stdio.h>

int main(int argc, char **argv)
{
    for (int i = 0; i < 400000; i++)
        printf("line %d of a program that writes much\n", i);
    fflush(stdout);
    FILE *mark = fopen(argv[1], "w");
    fclose(mark);
    return 3;
}
"#,
    )
}

#[test]
fn a_client_that_reads_nothing_does_not_hold_the_program() {
    let directory = tempfile::tempdir().unwrap();
    let mark = directory.path().join("mark");
    let mut child = Command::new(env!("CARGO_BIN_EXE_juror"))
        .arg("dap")
        .env("XDG_STATE_HOME", directory.path())
        .env("XDG_CACHE_HOME", directory.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let launch = json!({ "program": writer().compile_plain(), "args": [mark] });
    let requests = [
        ("initialize", json!({ "adapterID": "juror" })),
        ("launch", launch),
        ("configurationDone", json!({})),
    ];
    for (seq, (command, arguments)) in (1..).zip(&requests) {
        let message = json!({
            "seq": seq, "type": "request", "command": command, "arguments": arguments,
        });
        let body = message.to_string();
        write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    }
    let begun = Instant::now();
    while !mark.exists() {
        assert!(begun.elapsed() < Duration::from_secs(120), "it is held");
        std::thread::sleep(Duration::from_millis(10));
    }

    // Now it reads: every answer, each once, and what was lost is counted.
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut answers: BTreeMap<i64, u32> = BTreeMap::new();
    let (mut last, mut status, mut lost) = (0, None, false);
    while let Some(message) = read(&mut output) {
        last += 1;
        assert_eq!(message["seq"], last);
        if message["type"] == "response" {
            assert_eq!(message["success"], true, "{message}");
            *answers
                .entry(message["request_seq"].as_i64().unwrap())
                .or_default() += 1;
        }
        let text = message["body"]["output"].as_str().unwrap_or_default();
        lost |= text.contains("were dropped: the client was too slow");
        if message["event"] == "exited" {
            status = message["body"]["exitCode"].as_i64();
        }
        if message["event"] == "terminated" {
            break;
        }
    }
    assert_eq!(answers, BTreeMap::from([(1, 1), (2, 1), (3, 1)]));
    assert_eq!((status, lost), (Some(3), true));
    drop(input);
    while read(&mut output).is_some() {}
    assert!(child.wait().unwrap().success());
}

#[test]
fn malformed_messages_are_refused_and_the_session_goes_on() {
    let (program, _) = queue();
    let mut client = Client::start();
    client.launch(json!({ "program": program, "stopOnEntry": true }));
    client.begin();
    for (seq, body) in [
        (501, r#"{"seq": 501, "type": "request", "#),
        (502, r#"{"seq": 502, "type": "request"}"#),
        (503, r#"{"seq": 503, "type": "request", "command": 7}"#),
        (504, r#"{"seq": 504, "type": "gift", "command": "threads"}"#),
        (505, r#"{"seq": 505}"#),
        (
            506,
            r#"{"seq": 506, "type": "request", "command": "threads"}}"#,
        ),
    ] {
        client.send_malformed(seq, body);
        let answer = client.answer(seq);
        assert_eq!(answer["success"], false, "{body}");
        let words = answer["message"].as_str().unwrap();
        assert!(words.starts_with("the message is malformed"), "{words}");
    }
    // Without a number there is nothing to answer.
    let numberless = [
        "[]",
        "3",
        "null",
        "\"x\"",
        "{}",
        r#"{"seq": "7", "type": "request", "command": "threads"}"#,
        r#"{"seq": 1e30, "type": "request", "command": "threads"}"#,
        r#"{"type": "request", "command": "threads"}"#,
    ];
    for body in numberless {
        client.send_frame(body);
    }
    client.send_raw(b"Content-Length: 3\r\n\r\n\xff\xfe{");
    client.ask("threads", Value::Null);
    let said = client.output["stderr"].matches("malformed").count();
    assert_eq!(said, numberless.len() + 1);
    client.leave();
}

/// All requests of the protocol.
fn commands() -> Vec<String> {
    Schema::shared().commands()
}

#[test]
fn requests_without_arguments_are_answered_whatever_they_are() {
    const ENDING: [&str; 3] = ["disconnect", "restart", "terminate"];
    const STEPS: [&str; 2] = ["next", "stepIn"];
    // The function may never return.
    const ENDLESS: [&str; 2] = ["continue", "stepOut"];
    let mut client = Client::start();
    client.launch(json!({ "program": program("spin.c").compile_plain(), "stopOnEntry": true }));
    client.begin();
    let all = commands();
    let known = ["attach", "evaluate", "setBreakpoints", "stepInTargets"];
    assert!(known.iter().all(|it| all.iter().any(|other| other == it)));
    for command in all.iter().filter(|it| !ENDING.contains(&&***it)) {
        for has_null in [false, true] {
            let seq = client.next_seq();
            let mut message = json!({ "seq": seq, "type": "request", "command": command });
            if has_null {
                message["arguments"] = Value::Null;
            }
            client.send_unjudged(message);
            let answer = client.answer(seq);
            let has_run = answer["success"] == true;
            if has_run && ENDLESS.contains(&&**command) {
                client.ask("pause", json!({ "threadId": 1 }));
            }
            if has_run && (ENDLESS.contains(&&**command) || STEPS.contains(&&**command)) {
                client.event("stopped");
            }
        }
    }
    let threads = client.ask("threads", Value::Null);
    assert_eq!(threads["threads"].as_array().unwrap().len(), 1);
    client.leave();
}

#[test]
fn styles_are_sent_to_a_client_that_shows_them() {
    let (program, property) = queue();
    for has_styles in [true, false] {
        let mut client = Client::start();
        let arguments = json!({ "adapterID": "juror", "supportsANSIStyling": has_styles });
        client.ask("initialize", arguments);
        client.ask(
            "launch",
            json!({ "program": program, "properties": [property] }),
        );
        client.event("initialized");
        client.begin();
        let output = client.leave();
        let said = &output["console"];
        assert!(said.contains("VIOLATED"), "{said}");
        assert_eq!(said.contains('\u{1b}'), has_styles, "{said:?}");
    }
}
