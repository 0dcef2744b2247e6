//! Calls of the stack that begin anew: `restartFrame`.

use super::client::Client;
use crate::support::program;
use juror_testing::{Build, Language, Optimization};
use serde_json::{Value, json};

/// The first line that the program prints, whichever call begins anew.
const RESULTS: &str = "38 9 102 5 6 2 5\n";

/// Builds without optimization and with it.
fn builds() -> [Build; 2] {
    [Optimization::None, Optimization::Full].map(|optimization| Build {
        optimization,
        ..Build::plain(Language::C)
    })
}

/// A client at the beginning of a function, and the thread.
fn stopped_in(function: &str, build: &Build) -> (Client, Value) {
    let mut client = Client::start();
    client.launch(json!({ "program": program("begun_again.c").compile(build) }));
    break_in(&mut client, &[function]);
    let thread = client.begin()["threadId"].clone();
    (client, thread)
}

/// Sets breakpoints of functions; those before are gone.
fn break_in(client: &mut Client, functions: &[&str]) {
    let points: Vec<Value> = functions.iter().map(|it| json!({ "name": it })).collect();
    client.ask("setFunctionBreakpoints", json!({ "breakpoints": points }));
}

/// The arguments of a frame, in order.
fn arguments(client: &mut Client, frame: &Value) -> Vec<String> {
    let scope = client.scope(frame, "Arguments");
    let all = client.variables(&scope["variablesReference"]);
    let shown = all
        .iter()
        .map(|it| format!("{}={}", it["name"], it["value"]));
    shown.map(|it| it.replace('"', "")).collect()
}

/// The innermost frame of a function in which this is among the arguments.
fn frame_with(client: &mut Client, thread: &Value, function: &str, argument: &str) -> Value {
    let stack = client.ask("stackTrace", json!({ "threadId": thread }));
    let frames = stack["stackFrames"].as_array().expect("a list").clone();
    for frame in frames.into_iter().filter(|it| it["name"] == function) {
        if arguments(client, &frame).iter().any(|it| it == argument) {
            return frame;
        }
    }
    client.fail(&format!("there is no {function} with {argument}"))
}

/// Lets the call of a frame begin anew. Returns the innermost frame.
fn restart(client: &mut Client, thread: &Value, frame: &Value) -> Value {
    assert_eq!(frame["canRestart"], true, "{frame}");
    client.ask("restartFrame", json!({ "frameId": frame["id"] }));
    let stop = client.event("stopped");
    assert_eq!(
        (&stop["reason"], &stop["threadId"]),
        (&json!("restart"), thread)
    );
    let top = client.top(thread);
    assert_eq!(top["name"], frame["name"]);
    top
}

/// Continues to the end. Returns what the program has printed behind its results.
fn finish(mut client: Client, thread: &Value) -> String {
    break_in(&mut client, &[]);
    client.ask("continue", json!({ "threadId": thread }));
    assert_eq!(client.event("exited")["exitCode"], 0);
    let printed = client.leave()["stdout"].clone();
    let counts = printed.strip_prefix(RESULTS);
    counts.unwrap_or_else(|| panic!("{printed}")).to_owned()
}

#[test]
fn an_outer_frame_of_a_recursion_begins_anew() {
    for build in builds() {
        let (mut client, thread) = stopped_in("bottom", &build);
        let frame = frame_with(&mut client, &thread, "weigh", "n=2");
        let top = restart(&mut client, &thread, &frame);
        let expected = ["n=2", "sum=13", "part=4.25"];
        assert_eq!(arguments(&mut client, &top), expected, "{build}");
        // Nothing of it is executed yet, and what the inner frames have done stays.
        assert_eq!(client.repl("output made"), "{0, 4, 0, 0, 0}");
        let words = client.refused("restartFrame", json!({ "frameId": frame["id"] }));
        assert!(words.contains("frame"), "{words}");
        // From there the same breakpoint is reached again.
        let stop = client.resume("continue", &thread);
        assert_eq!(stop["reason"], "function breakpoint");
        assert_eq!(finish(client, &thread), "2 7 3 1 2\n");
    }
}

#[test]
fn the_innermost_frame_begins_anew_with_structures_and_fractions() {
    let [plain, optimized] = builds();
    let (mut client, thread) = stopped_in("fill", &plain);
    let before = client.top(&thread);
    let before = arguments(&mut client, &before);
    for _ in 0..2 {
        client.resume("next", &thread);
    }
    let frame = client.top(&thread);
    let top = restart(&mut client, &thread, &frame);
    assert_eq!(arguments(&mut client, &top), before);
    assert_eq!(finish(client, &thread), "2 4 3 2 2\n");

    let (mut client, thread) = stopped_in("bottom", &optimized);
    client.resume("next", &thread);
    let frame = client.top(&thread);
    let top = restart(&mut client, &thread, &frame);
    assert_eq!(arguments(&mut client, &top), ["sum=16", "share=0.5"]);
    client.leave();
}

#[test]
fn a_frame_whose_arguments_are_not_known_is_refused_with_the_reason() {
    let [plain, optimized] = builds();
    let refused = |client: &mut Client, frame: &Value, reason: &str| {
        let words = client.refused("restartFrame", json!({ "frameId": frame["id"] }));
        assert!(words.contains(reason), "{words}");
        assert!(!client.has_event("stopped"));
    };
    let (mut client, thread) = stopped_in("count", &plain);
    let frame = client.top(&thread);
    assert_eq!(frame["canRestart"], false);
    refused(&mut client, &frame, "`count` is variadic");

    break_in(&mut client, &["twice"]);
    client.resume("continue", &thread);
    let frame = client.top(&thread);
    assert_eq!(
        (&frame["name"], &frame["canRestart"]),
        (&json!("twice [inlined]"), &json!(false))
    );
    refused(&mut client, &frame, "the call is inlined");
    assert_eq!(finish(client, &thread), "2 4 3 1 2\n");

    // Only its value shows whether an argument is lost; the first call is told by its caller.
    let (mut client, thread) = stopped_in("lose", &optimized);
    client.resume("continue", &thread);
    client.resume("continue", &thread);
    let stack = client.ask("stackTrace", json!({ "threadId": thread }));
    let frame = &stack["stackFrames"][1];
    assert_eq!(
        (&frame["name"], &frame["canRestart"]),
        (&json!("lose"), &json!(true))
    );
    refused(&mut client, frame, "argument `n` is not known any more");
    let first = stack["stackFrames"][2].clone();
    let top = restart(&mut client, &thread, &first);
    assert_eq!(arguments(&mut client, &top), ["n=2", "sum=8"]);
    assert_eq!(finish(client, &thread), "2 4 5 1 2\n");
}
