//! Core files: a client sees what it sees of a program that is stopped, and is told what is not
//! possible in the words of the prompt.

use super::client::Client;
use crate::support::{Batch, juror, program};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A program that has crashed, and its core file.
fn crashed() -> (TempDir, PathBuf, PathBuf) {
    let executable = program("crashes.c").compile_plain();
    let directory = TempDir::with_prefix("juror-core-").expect("a directory");
    let batch = Batch::new().directory(directory.path());
    let batch = batch.command("run").command("gcore crash.core");
    batch.run(&executable, &[]);
    let core = directory.path().join("crash.core");
    assert!(core.is_file(), "gcore writes the file");
    (directory, executable, core)
}

/// Returns what the prompt says to a line about a core file.
fn at_the_prompt(core: &Path, line: &str) -> String {
    let core = core.to_str().expect("text");
    let output = juror(&["--batch", "--core", core, "-e", line]).run();
    format!("{}{}", output.stdout, output.stderr)
}

/// Opens a core file, and waits for its stop.
fn opened(arguments: Value) -> (Client, Value) {
    let mut client = Client::start();
    client.initialize();
    client.ask("attach", arguments);
    let process = client.event("process");
    assert_eq!(process["startMethod"], "attach");
    assert_eq!(process.get("systemProcessId"), None, "there is no process");
    client.event("initialized");
    let stop = client.begin();
    (client, stop)
}

#[test]
fn a_core_file_is_shown_as_a_program_that_is_stopped() {
    let (directory, executable, core) = crashed();
    let (mut client, stop) = opened(json!({ "coreFile": core, "program": executable }));
    assert_eq!(stop["reason"], "exception");
    assert_eq!(stop["description"], "SIGSEGV");
    let thread = stop["threadId"].clone();
    let info = client.ask("exceptionInfo", json!({ "threadId": thread }));
    assert_eq!(info["exceptionId"], "SIGSEGV");
    let report = info["details"]["message"].as_str().expect("text");
    assert!(report.contains("SIGSEGV at address 0x10"), "{report}");
    assert!(report.contains(&format!("thread {thread}")), "{report}");
    let threads = client.ask("threads", Value::Null);
    assert_eq!(threads["threads"].as_array().map(Vec::len), Some(3));

    let stack = client.ask("stackTrace", json!({ "threadId": thread }));
    let frames = stack["stackFrames"].as_array().expect("a list").iter();
    let names: Vec<&str> = frames.filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names[..3], ["leaf", "middle", "crasher"]);
    let frame = stack["stackFrames"][0].clone();
    let arguments = client.scope(&frame, "Arguments");
    let depth = client.variable(&arguments["variablesReference"], "depth");
    assert_eq!(depth["value"], "2");

    let shared = client.ask(
        "evaluate",
        json!({ "expression": "shared", "frameId": frame["id"], "context": "watch" }),
    );
    let read = json!({ "memoryReference": shared["memoryReference"], "count": 4 });
    assert_eq!(client.ask("readMemory", read)["data"], "BwAAAA==");
    let at = frame["instructionPointerReference"].clone();
    let shown = client.ask(
        "disassemble",
        json!({ "memoryReference": at, "instructionCount": 2 }),
    );
    assert_eq!(shown["instructions"][0]["address"], at);
    assert_eq!(shown["instructions"][0]["line"], 36);
    assert!(client.repl("print words").contains("second"));
    client.leave();
    drop(directory);
}

#[test]
fn what_needs_a_process_is_refused_in_the_words_of_the_prompt() {
    let (directory, _, core) = crashed();
    // The core file names the program; the file may be relative to the directory.
    let relative = json!({ "coreFile": "crash.core", "cwd": directory.path() });
    let (mut client, stop) = opened(relative);
    let thread = &stop["threadId"];
    for (request, line) in [
        ("continue", "continue"),
        ("next", "next"),
        ("stepIn", "step"),
        ("stepOut", "finish"),
    ] {
        let words = client.refused(request, json!({ "threadId": thread }));
        // The advice is for the prompt.
        assert!(words.ends_with("needs a running program: this is a core file"));
        let prompt = at_the_prompt(&core, line);
        assert!(prompt.contains(&words), "{line}: {words}\n{prompt}");
    }
    // It is where it was.
    assert!(!client.has_event("continued"));
    let line = json!({ "expression": "continue", "context": "repl" });
    client.refused("evaluate", line);
    client.event("stopped");
    let info = client.ask("exceptionInfo", json!({ "threadId": thread }));
    assert_eq!(info["exceptionId"], "SIGSEGV");
    let points = json!({ "breakpoints": [{ "name": "leaf" }] });
    let points = client.ask("setFunctionBreakpoints", points);
    let point = &points["breakpoints"][0];
    assert_eq!(point["verified"], false);
    let why = point["message"].as_str().expect("a reason");
    assert!(why.contains("this is a core file"), "{why}");
    let frame = client.top(thread);
    let arguments = client.scope(&frame, "Arguments");
    let set = json!({
        "variablesReference": arguments["variablesReference"], "name": "depth", "value": "3",
    });
    client.refused("setVariable", set);
    client.refused("restart", json!({}));
    client.ask("terminate", json!({}));
    client.event("terminated");
    client.leave();
}

#[test]
fn a_core_file_without_a_signal_has_information() {
    let executable = program("crashes.c").compile_plain();
    let directory = TempDir::with_prefix("juror-core-").expect("a directory");
    let batch = Batch::new().directory(directory.path());
    let batch = batch.command("start").command("gcore still.core");
    batch.run(&executable, &[]);
    let core = directory.path().join("still.core");
    let (mut client, stop) = opened(json!({ "coreFile": core, "program": executable }));
    let info = client.ask("exceptionInfo", json!({ "threadId": stop["threadId"] }));
    assert_eq!(info["exceptionId"], "core file");
    assert!(info["description"].is_string(), "{info}");
    client.leave();
}

#[test]
fn a_core_file_that_cannot_be_opened_says_why() {
    let mut client = Client::start();
    client.initialize();
    let words = client.refused("attach", json!({ "coreFile": "/no/such/core" }));
    assert!(words.contains("/no/such/core"), "{words}");
    let words = client.refused("launch", json!({ "coreFile": "/no/such/core" }));
    assert_eq!(words, "a core file is opened by `attach`");
    let (_directory, executable, core) = crashed();
    let property = crate::support::property_file("examples/queue/queue.prop");
    let arguments = json!({ "coreFile": core, "program": executable, "properties": [property] });
    let words = client.refused("attach", arguments);
    assert!(words.contains("a core file has no events"), "{words}");
    // The client may try again.
    client.ask("attach", json!({ "coreFile": core, "program": executable }));
    client.event("initialized");
    assert_eq!(client.begin()["reason"], "exception");
    client.leave();
}
