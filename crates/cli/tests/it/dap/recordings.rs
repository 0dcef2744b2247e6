//! Recorded runs: a client goes forwards and backwards over the events.

use super::client::{Client, queue_source};
use super::sessions::queue;
use crate::support::juror;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The line of `main.c` that pushes a letter.
const PUSH: u64 = 16;

/// A property of two jobs, and three events of two threads in CSV.
const JOBS: &str = "property jobs\nslice on job\n\
    event begin = before begin(job)\nevent end = before end(job)\n\
    state idle accepting { on begin -> busy  on end -> wrong }\n\
    state busy accepting { on end -> idle }\n\
    state wrong non-accepting\n";
const EVENTS: &str = "{\"event\":\"before begin\",\"thread\":2,\"values\":{\"job\":7}}\n\
    {\"event\":\"before end\",\"thread\":3,\"values\":{\"job\":8}}\n\
    {\"event\":\"before begin\",\"values\":{\"job\":9}}\n\
    {\"event\":\"before end\",\"thread\":2,\"values\":{\"job\":7}}\n";

/// Records the example with the queue. Returns the recording, the property and the source.
fn recorded(directory: &Path) -> (PathBuf, PathBuf, PathBuf) {
    let (program, property) = queue();
    let recording = directory.join("run.jsonl");
    juror(&["run", "--batch", "--keep-going", "--trace"])
        .args([recording.as_os_str(), "--property".as_ref()])
        .args([&property, &program])
        .run();
    (recording, property, queue_source(&program, "main.c"))
}

/// Writes the jobs. Returns the recording and the property.
fn jobs(directory: &Path) -> (PathBuf, PathBuf) {
    let (recording, property) = (directory.join("jobs.jsonl"), directory.join("jobs.prop"));
    std::fs::write(&recording, EVENTS).expect("it is written");
    std::fs::write(&property, JOBS).expect("it is written");
    (recording, property)
}

/// The state of the violated slice among the monitors of a frame.
fn state(client: &mut Client, frame: &Value, property: &str) -> String {
    let monitors = client.scope(frame, "Monitors");
    let monitor = client.variable(&monitors["variablesReference"], property);
    let slices = client.variables(&monitor["variablesReference"]);
    slices[0]["value"].as_str().expect("text").to_owned()
}

#[test]
fn a_recorded_run_goes_forwards_and_backwards() {
    let directory = TempDir::with_prefix("juror-recorded-").expect("a directory");
    let (recording, property, source) = recorded(directory.path());
    let mut client = Client::start();
    client.launch(json!({ "recording": recording, "properties": [property] }));
    let announced = client.event("capabilities")["capabilities"].clone();
    assert_eq!(announced["supportsStepBack"], true);
    assert_eq!(announced["supportsReadMemoryRequest"], false);
    let filters = client.event("capabilities")["capabilities"].clone();
    let filters = filters["exceptionBreakpointFilters"]
        .as_array()
        .expect("a list");
    let filters: Vec<&str> = filters
        .iter()
        .filter_map(|it| it["filter"].as_str())
        .collect();
    assert_eq!(filters, ["violations", "property:queue_bounds"]);

    // The run begins, and stops at its violation.
    let stop = client.begin();
    assert_eq!(
        (&stop["reason"], &stop["text"]),
        (&json!("exception"), &json!("queue_bounds"))
    );
    let thread = stop["threadId"].clone();
    assert_eq!(
        client.event("juror/verdict")["violation"]["state"],
        "overflow"
    );
    let info = client.ask("exceptionInfo", json!({ "threadId": thread }));
    assert_eq!(info["exceptionId"], "property:queue_bounds");
    let threads = client.ask("threads", Value::Null);
    assert_eq!(
        threads["threads"],
        json!([{ "id": thread, "name": "thread 1" }])
    );
    let stack = client.ask("stackTrace", json!({ "threadId": thread }));
    assert_eq!(stack["totalFrames"], 1);
    let frame = stack["stackFrames"][0].clone();
    assert_eq!(frame["name"], "sort_text: before queue_push_letter");
    assert_eq!(
        (&frame["line"], &frame["source"]["path"]),
        (&json!(PUSH), &json!(source))
    );
    let values = client.scope(&frame, "Values");
    let queue = client.variable(&values["variablesReference"], "queue");
    assert!(
        queue["value"]
            .as_str()
            .is_some_and(|it| it.starts_with("0x")),
        "{queue}"
    );
    let watched = json!({ "expression": "queue", "frameId": frame["id"], "context": "watch" });
    assert_eq!(client.ask("evaluate", watched)["result"], queue["value"]);
    assert!(state(&mut client, &frame, "queue_bounds").starts_with("overflow"));

    // One event back, the property is not violated yet.
    assert_eq!(client.resume("stepBack", &thread)["reason"], "step");
    let frame = client.top(&thread);
    assert!(state(&mut client, &frame, "queue_bounds").starts_with("ready"));
    assert_eq!(client.resume("next", &thread)["reason"], "exception");
    assert_eq!(client.resume("reverseContinue", &thread)["reason"], "entry");
    let frame = client.top(&thread);
    assert_eq!(
        (&frame["name"], &frame["line"]),
        (&json!("before the first event"), &json!(0))
    );
    assert_eq!(client.resume("stepIn", &thread)["reason"], "step");
    assert_eq!(client.resume("continue", &thread)["reason"], "exception");

    // The end is a stop: one can go back from it.
    let end = client.resume("continue", &thread);
    assert_eq!(
        (&end["reason"], &end["description"]),
        (&json!("pause"), &json!("The recording ends"))
    );
    client.wait_for_output("console", "The program exited with status 0.");
    let refused = client.refused("continue", json!({ "threadId": thread }));
    assert!(
        refused.starts_with("this is the end of the recording"),
        "{refused}"
    );
    let stop = client.resume("reverseContinue", &thread);
    assert_eq!(stop["reason"], "exception");
    client.ask("restart", json!({}));
    assert_eq!(client.event("stopped")["reason"], "exception");
    assert!(!client.has_event("terminated"));
    client.leave();
}

#[test]
fn breakpoints_of_a_recording_are_events_and_lines_that_they_came_from() {
    let directory = TempDir::with_prefix("juror-recorded-").expect("a directory");
    let (recording, property, source) = recorded(directory.path());
    let source = source.to_str().expect("text");
    let mut client = Client::start();
    client.launch(json!({
        "recording": recording.file_name().map(Path::new),
        "cwd": directory.path(),
        "properties": [property],
        "stopOnEntry": true,
    }));
    let set = client.break_at(source, &[u32::try_from(PUSH).expect("a line"), 2]);
    assert_eq!(set[0]["verified"], true, "{set}");
    assert_eq!(
        (&set[1]["verified"], &set[1]["reason"]),
        (&json!(false), &json!("failed"))
    );
    let why = set[1]["message"].as_str().expect("text");
    assert!(
        why.starts_with("no event of the recording came from"),
        "{why}"
    );
    let functions = json!({ "breakpoints": [{ "name": "queue_delete" }] });
    let functions = client.ask("setFunctionBreakpoints", functions)["breakpoints"].clone();
    let stop = client.begin();
    assert_eq!(stop["reason"], "entry");
    let thread = &stop["threadId"];
    let places = json!({ "source": { "path": source }, "line": 1, "endLine": 40 });
    let places = client.ask("breakpointLocations", places)["breakpoints"].clone();
    assert!(
        places
            .as_array()
            .expect("a list")
            .contains(&json!({ "line": PUSH })),
        "{places}"
    );

    let stop = client.resume("continue", thread);
    assert_eq!(
        (&stop["reason"], &stop["hitBreakpointIds"]),
        (&json!("breakpoint"), &json!([set[0]["id"]]))
    );
    assert_eq!(client.top(thread)["line"], PUSH);
    client.break_at(source, &[]);
    client.ask("setExceptionBreakpoints", json!({ "filters": [] }));
    // The violation is passed, forwards and backwards.
    let stop = client.resume("continue", thread);
    assert_eq!(
        (&stop["reason"], &stop["hitBreakpointIds"]),
        (&json!("function breakpoint"), &json!([functions[0]["id"]]))
    );
    client.wait_for_output("console", "VIOLATED  queue_bounds:");
    assert_eq!(client.resume("reverseContinue", thread)["reason"], "entry");
    client.leave();
}

#[test]
fn each_thread_of_a_recording_has_its_last_event() {
    let directory = TempDir::with_prefix("juror-recorded-").expect("a directory");
    let (recording, property) = jobs(directory.path());
    let mut client = Client::start();
    client.launch(json!({ "recording": recording, "properties": [property] }));
    let stop = client.begin();
    assert_eq!(
        (&stop["reason"], &stop["threadId"]),
        (&json!("exception"), &json!(3))
    );
    let threads = client.ask("threads", Value::Null)["threads"].clone();
    // The event without a thread has one of its own.
    let numbers: Vec<i64> = threads
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|it| it["id"].as_i64())
        .collect();
    assert_eq!(numbers, [4, 2, 3]);
    for (thread, name, job) in [
        (2, "before begin", Some("7")),
        (3, "before end", Some("8")),
        (4, "before the first event", None),
    ] {
        let frame = client.top(&json!(thread));
        assert_eq!(
            (&frame["name"], frame.get("source")),
            (&json!(name), None),
            "{thread}"
        );
        let values = client.scope(&frame, "Values");
        let values = client.variables(&values["variablesReference"]);
        assert_eq!(
            values.first().and_then(|it| it["value"].as_str()),
            job,
            "{thread}"
        );
    }
    // Another thread is stepped to its next event.
    assert_eq!(client.resume("next", &json!(2))["threadId"], 2);
    assert_eq!(client.top(&json!(2))["name"], "before end");
    assert_eq!(client.resume("stepBack", &json!(2))["threadId"], 4);
    client.leave();
}

#[test]
fn the_console_of_a_recording_is_its_prompt() {
    let directory = TempDir::with_prefix("juror-recorded-").expect("a directory");
    let (recording, property) = jobs(directory.path());
    let mut client = Client::start();
    client.launch(json!({ "recording": recording, "properties": [property], "stopOnEntry": true }));
    client.begin();
    client.repl("set context locals monitors");
    let shown = client.repl("step");
    assert!(shown.contains("Locals:\n  job = 7\nMonitors:\n"), "{shown}");
    client.event("continued");
    assert_eq!(client.event("stopped")["reason"], "step");
    let shown = client.repl("reverse-step");
    assert!(shown.starts_with("Before the first of 4 events"), "{shown}");
    client.event("continued");
    client.event("stopped");
    let threads = client.repl("info threads");
    assert!(threads.contains("before the first event"), "{threads}");
    let shown = client.repl("goto 2\ninfo monitors");
    assert!(shown.starts_with("At event 2 of 4"), "{shown}");
    assert!(shown.contains("wrong"), "{shown}");
    client.leave();
}

#[test]
fn what_a_recording_does_not_have_is_refused_in_a_sentence() {
    let directory = TempDir::with_prefix("juror-recorded-").expect("a directory");
    let (recording, property) = jobs(directory.path());
    let mut client = Client::start();
    client.initialize();
    for (request, arguments, expected) in [
        (
            "attach",
            json!({ "recording": recording }),
            "a recording is replayed by `launch`",
        ),
        (
            "launch",
            json!({ "recording": recording, "scenarios": ["a.scn"] }),
            "a recording has no scenarios: there is no program to react to",
        ),
    ] {
        assert_eq!(client.refused(request, arguments), expected);
    }
    let missing = client.refused("launch", json!({ "recording": "/no/such.jsonl" }));
    assert!(
        missing.contains("the recording /no/such.jsonl cannot be read"),
        "{missing}"
    );
    client.ask(
        "launch",
        json!({ "recording": recording, "properties": [property] }),
    );
    client.event("initialized");
    let thread = client.begin()["threadId"].clone();
    let frame = client.top(&thread);
    let values = client.scope(&frame, "Values")["variablesReference"].clone();
    let monitors = client.scope(&frame, "Monitors")["variablesReference"].clone();
    let monitor = client.variable(&monitors, "jobs")["variablesReference"].clone();
    let slice = client.variables(&monitor)[0]["variablesReference"].clone();
    let changed = "a recording cannot be changed";
    for (request, arguments, expected) in [
        (
            "readMemory",
            json!({ "memoryReference": "0x10", "count": 4 }),
            "a recording has no memory",
        ),
        (
            "stepOut",
            json!({ "threadId": thread }),
            "`finish` needs the program, and this is a recording",
        ),
        (
            "setVariable",
            json!({ "variablesReference": values, "name": "job", "value": "1" }),
            changed,
        ),
        (
            "setVariable",
            json!({ "variablesReference": slice, "name": "state", "value": "idle" }),
            changed,
        ),
        (
            "setExpression",
            json!({ "expression": "job", "value": "1" }),
            changed,
        ),
        ("modules", json!({}), "a recording has no modules"),
        ("exceptionInfo", json!({ "threadId": 1 }), ""),
    ] {
        if expected.is_empty() {
            client.ask(request, arguments);
            continue;
        }
        let said = client.refused(request, arguments);
        assert!(said.starts_with(expected), "{request}: {said}");
    }
    client.leave();
}

#[test]
fn a_program_does_not_go_back() {
    let (program, _) = queue();
    let mut client = Client::start();
    client.launch(json!({ "program": program, "stopOnEntry": true }));
    let thread = client.begin()["threadId"].clone();
    client.repl("checkpoint");
    for request in ["stepBack", "reverseContinue"] {
        let said = client.refused(request, json!({ "threadId": thread }));
        assert!(said.contains("a program does not go back"), "{said}");
    }
    let is_step_back = |message: &&Value| {
        message["body"]["capabilities"]
            .get("supportsStepBack")
            .is_some()
    };
    assert_eq!(client.history.iter().find(is_step_back), None);
    client.leave();
}
