//! Sources, modules, instructions, and where the program continues.

use super::client::Client;
use juror_testing::Fixture;
use serde_json::{Value, json};

/// A C++ program that throws.
fn throwing() -> Fixture {
    Fixture::cpp(
        "dap_throwing",
        r#"#include <cstdio>
#include <cstdlib>
#include <stdexcept>

static int skipped = 1;

static void fail()
{
    throw std::runtime_error("no ham");
}

int main()
{
    skipped = 2;
    try {
        fail();
    } catch (const std::exception &error) {
        std::printf("%s %d\n", error.what(), skipped);
    }
    std::abort();
}
"#,
    )
}

fn stopped_at(line: u32) -> (Client, String, Value) {
    let program = throwing().compile_plain();
    let source = program.with_file_name("dap_throwing.cpp");
    let source = source.to_str().unwrap().to_owned();
    let mut client = Client::start();
    client.launch(json!({ "program": program }));
    client.break_at(&source, &[line]);
    let thread = client.begin()["threadId"].clone();
    (client, source, thread)
}

#[test]
fn sources_and_modules_are_listed() {
    let (mut client, source, _) = stopped_at(14);
    let sources = client.ask("loadedSources", Value::Null);
    let sources = sources["sources"].as_array().unwrap().clone();
    assert!(
        sources.iter().any(|it| it["path"] == *source),
        "{sources:?}"
    );
    let text = client.ask(
        "source",
        json!({ "source": { "path": source }, "sourceReference": 0 }),
    );
    assert_eq!(text["content"], std::fs::read_to_string(&source).unwrap());
    let words = client.refused(
        "source",
        json!({ "source": { "path": "/nowhere.c" }, "sourceReference": 0 }),
    );
    assert!(words.contains("/nowhere.c cannot be read"), "{words}");
    let modules = client.ask("modules", json!({}));
    let total = modules["totalModules"].as_u64().unwrap();
    let all = modules["modules"].as_array().unwrap();
    assert_eq!(all.len() as u64, total);
    assert!(
        all.iter()
            .any(|it| it["name"].as_str().unwrap().starts_with("libc.so"))
    );
    let page = client.ask("modules", json!({ "startModule": 1, "moduleCount": 1 }));
    assert_eq!(page["modules"][0], all[1]);
    let lines = client.ask(
        "breakpointLocations",
        json!({ "source": { "path": source }, "line": 5, "endLine": 16 }),
    );
    let lines: Vec<_> = lines["breakpoints"].as_array().unwrap().iter().collect();
    let lines: Vec<_> = lines
        .iter()
        .map(|it| it["line"].as_u64().unwrap())
        .collect();
    assert!(
        lines.contains(&14) && lines.contains(&16) && !lines.contains(&6),
        "{lines:?}"
    );
    client.leave();
}

#[test]
fn exactly_so_many_instructions_are_shown() {
    let (mut client, source, thread) = stopped_at(14);
    let frame = client.top(&thread);
    let at = frame["instructionPointerReference"].clone();
    let answer = client.ask(
        "disassemble",
        json!({ "memoryReference": at, "instructionOffset": -2, "instructionCount": 6 }),
    );
    let lines = answer["instructions"].as_array().unwrap();
    assert_eq!(lines.len(), 6);
    assert_eq!(lines[2]["address"], at);
    assert_eq!(lines[2]["line"], 14);
    assert_eq!(lines[2]["location"]["path"], *source);
    let forwards = client.ask(
        "disassemble",
        json!({ "memoryReference": at, "instructionOffset": 1, "instructionCount": 2 }),
    );
    assert_eq!(forwards["instructions"][0], lines[3]);
    assert_eq!(forwards["instructions"][1], lines[4]);
    let nothing = client.ask(
        "disassemble",
        json!({ "memoryReference": "0x10", "instructionOffset": -1, "instructionCount": 3 }),
    );
    let nothing = nothing["instructions"].as_array().unwrap().clone();
    let hints: Vec<_> = nothing
        .iter()
        .map(|it| it["presentationHint"].clone())
        .collect();
    assert_eq!(json!(hints), json!(["invalid", "invalid", "invalid"]));
    client.leave();
}

#[test]
fn an_instruction_is_stepped_and_a_line_is_gone_to() {
    let (mut client, source, thread) = stopped_at(14);
    let before = client.top(&thread)["instructionPointerReference"].clone();
    client.ask(
        "next",
        json!({ "threadId": thread, "granularity": "instruction" }),
    );
    assert_eq!(client.event("stopped")["reason"], "step");
    assert_ne!(client.top(&thread)["instructionPointerReference"], before);
    let targets = client.ask(
        "gotoTargets",
        json!({ "source": { "path": source }, "line": 16 }),
    );
    let target = &targets["targets"][0];
    assert_eq!(target["line"], 16);
    client.ask(
        "goto",
        json!({ "threadId": thread, "targetId": target["id"] }),
    );
    let stop = client.event("stopped");
    assert_eq!(stop["reason"], "goto");
    assert_eq!(client.top(&thread)["line"], 16);
    let words = client.refused(
        "goto",
        json!({ "threadId": thread, "targetId": target["id"] }),
    );
    assert!(words.contains("no longer there"), "{words}");
    let words = client.refused(
        "gotoTargets",
        json!({ "source": { "path": source }, "line": 8 }),
    );
    assert_eq!(words, "the target is in `fail`, and the frame is in `main`");
    client.leave();
}

/// A program that handles two signals, and is ended by a third.
fn signals() -> Fixture {
    Fixture::c(
        "dap_signals",
        r#"#include <signal.h>

static volatile int seen;

static void take(int signal)
{
    (void)signal;
    seen++;
}

int main(void)
{
    signal(SIGUSR1, take);
    signal(SIGUSR2, take);
    raise(SIGUSR1);
    raise(SIGUSR2);
    raise(SIGTERM);
    return 0;
}
"#,
    )
}

#[test]
fn signals_stop_by_their_filter_and_the_table() {
    let program = signals().compile_plain();
    for (filters, line, expected) in [
        (json!([]), "", vec!["SIGTERM"]),
        (json!([]), "handle SIGUSR2 stop", vec!["SIGUSR2", "SIGTERM"]),
        (json!([]), "handle SIGTERM nostop", vec![]),
        (
            json!(["signals"]),
            "",
            vec!["SIGUSR1", "SIGUSR2", "SIGTERM"],
        ),
        (
            json!(["signals"]),
            "handle SIGUSR1 nostop",
            vec!["SIGUSR2", "SIGTERM"],
        ),
    ] {
        let mut client = Client::start();
        client.launch(json!({ "program": program, "initCommands": [line] }));
        let answer = client.ask("setExceptionBreakpoints", json!({ "filters": filters }));
        for point in answer["breakpoints"].as_array().unwrap() {
            assert_eq!(point["verified"], true, "{point}");
        }
        client.ask("configurationDone", Value::Null);
        for signal in expected {
            let stop = client.event("stopped");
            assert_eq!(stop["description"], signal, "{filters} {line}");
            client.ask("continue", json!({ "threadId": stop["threadId"] }));
        }
        assert_eq!(client.event("exited")["exitCode"], 128 + 15);
        client.leave();
    }
}

#[test]
fn exceptions_and_signals_stop_by_their_filters() {
    let (mut client, _, thread) = stopped_at(14);
    let words = client.refused("exceptionInfo", json!({ "threadId": thread }));
    assert!(words.contains("not stopped at an exception"), "{words}");
    let filters = json!({ "filters": ["throw", "catch", "abort"] });
    let answer = client.ask("setExceptionBreakpoints", filters);
    for point in answer["breakpoints"].as_array().unwrap() {
        assert_eq!(point["verified"], true, "{point}");
    }
    for filter in ["throw", "catch", "abort"] {
        let stop = client.resume("continue", &thread);
        assert_eq!(stop["reason"], "exception", "{filter}");
        let info = client.ask("exceptionInfo", json!({ "threadId": thread }));
        assert_eq!(info["exceptionId"], filter);
        // The library's frames are pale, and lines are about the user's own frame.
        let stack = client.ask("stackTrace", json!({ "threadId": thread }));
        let frames = stack["stackFrames"].as_array().unwrap();
        let own = frames
            .iter()
            .position(|it| it.get("presentationHint").is_none());
        let own = own.unwrap();
        assert!(own > 0, "{filter}");
        let name = if filter == "throw" { "fail" } else { "main" };
        assert!(
            frames[own]["name"].as_str().unwrap().contains(name),
            "{filter}"
        );
        assert!(client.repl("info frame").contains(name), "{filter}");
    }
    let stop = client.resume("continue", &thread);
    assert_eq!(stop["reason"], "exception");
    assert_eq!(stop["description"], "SIGABRT");
    let info = client.ask("exceptionInfo", json!({ "threadId": thread }));
    assert_eq!(info["exceptionId"], "SIGABRT");
    client.ask("continue", json!({ "threadId": thread }));
    assert_eq!(client.event("exited")["exitCode"], 128 + 6);
    client.leave();
}
