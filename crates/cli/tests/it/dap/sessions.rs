//! Sessions from the launch to a violation.

use super::client::{Client, queue_source};
use crate::support::transcripts;
use serde_json::{Value, json};

pub use crate::support::transcripts::queue;

#[test]
fn from_a_breakpoint_to_the_violation() {
    let (program, property) = queue();
    let main = queue_source(&program, "main.c");
    let main = main.to_str().unwrap();
    let mut client = Client::start();
    client.launch(json!({ "program": program, "properties": [property] }));
    let process = client.event("process");
    assert_eq!(process["startMethod"], "launch");
    let filters =
        client.event("capabilities")["capabilities"]["exceptionBreakpointFilters"].clone();
    let filters = filters.as_array().unwrap();
    assert!(
        filters
            .iter()
            .any(|it| it["filter"] == "property:queue_bounds"),
        "{filters:?}"
    );
    let points = client.break_at(main, &[30]);
    assert_eq!(points[0]["verified"], true, "{points}");
    assert_eq!(points[0]["line"], 30);

    let stop = client.begin();
    assert_eq!(stop["reason"], "breakpoint");
    assert_eq!(stop["hitBreakpointIds"], json!([points[0]["id"]]));
    let thread = &stop["threadId"];
    let threads = client.ask("threads", Value::Null);
    assert_eq!(threads["threads"][0]["id"], *thread);
    let stack = client.ask("stackTrace", json!({ "threadId": thread }));
    let frame = &stack["stackFrames"][0];
    assert_eq!(frame["name"], "main");
    assert_eq!(frame["line"], 30);
    assert_eq!(frame["source"]["path"], main);
    assert_eq!(stack["totalFrames"], 1);
    let locals = client.scope(frame, "Locals");
    let names: Vec<Value> = client
        .variables(&locals["variablesReference"])
        .iter()
        .map(|variable| variable["name"].clone())
        .collect();
    for name in ["lists", "queues", "i"] {
        assert!(names.contains(&json!(name)), "{names:?}");
    }
    let i = client.variable(&locals["variablesReference"], "i");
    assert_eq!((&i["value"], &i["type"]), (&json!("0"), &json!("int")));

    client.break_at(main, &[]);
    let stop = client.resume("continue", thread);
    assert_eq!(stop["reason"], "exception");
    assert_eq!(stop["text"], "queue_bounds");
    let verdict = client.event("juror/verdict");
    assert_eq!(verdict["property"], "queue_bounds");
    assert_eq!(verdict["violation"]["state"], "overflow");
    let info = client.ask("exceptionInfo", json!({ "threadId": stop["threadId"] }));
    assert_eq!(info["exceptionId"], "property:queue_bounds");
    let headline = info["description"].as_str().unwrap();
    assert!(
        headline.starts_with("VIOLATED  queue_bounds:"),
        "{headline}"
    );
    let report = info["details"]["message"].as_str().unwrap();
    assert!(report.contains("overflow"), "{report}");
    client.wait_for_output("console", "VIOLATED  queue_bounds:");

    // The same letter is pushed.
    let frame = client.top(&stop["threadId"]);
    assert_eq!(frame["name"], "queue_push_letter");
    client.ask("continue", json!({ "threadId": stop["threadId"] }));
    let exit = client.event("exited");
    assert_eq!(exit["exitCode"], 0);
    client.event("terminated");
    let output = client.leave();
    assert!(
        output["stdout"].contains("2 eggs, 1 ham: letters eggsham"),
        "{output:?}"
    );
    assert!(output["console"].contains("The program exited with status 0."));
}

#[test]
fn what_a_line_of_the_repl_shows_is_what_the_prompt_shows() {
    let (program, property) = queue();
    let mut client = Client::start();
    client.launch(json!({ "program": program, "properties": [property] }));
    client.begin();
    let mut shown = String::new();
    for line in transcripts::LINES {
        let seq = client.send("evaluate", json!({ "expression": line, "context": "repl" }));
        let answer = client.answer(seq);
        let text = if answer["success"] == true {
            &answer["body"]["result"]
        } else {
            &answer["body"]["error"]["format"]
        };
        shown.push_str(&transcripts::exchange(line, text.as_str().unwrap()));
    }
    // A command that lets the program run is told as such.
    client.event("continued");
    let stop = client.event("stopped");
    assert_eq!(stop["reason"], "breakpoint");
    client.leave();

    let prompt = transcripts::at_the_prompt();
    assert_eq!(transcripts::plain(&shown), transcripts::plain(&prompt));
}

#[test]
fn filters_choose_the_properties_that_stop() {
    let (program, property) = queue();
    // Off: the violation is reported, and nothing stops.
    for filters in [json!([]), json!(["violations", "property:other"])] {
        let mut client = Client::start();
        client.launch(json!({ "program": program, "properties": [property] }));
        client.ask("setExceptionBreakpoints", json!({ "filters": filters }));
        client.ask("configurationDone", Value::Null);
        client.event("exited");
        assert!(!client.has_event("stopped"));
        let output = client.leave();
        assert!(
            output["console"].contains("VIOLATED  queue_bounds:"),
            "{output:?}"
        );
    }
    // On, by a client that knows no single properties, or that chooses one.
    for filters in [
        json!(["violations"]),
        json!(["violations", "property:queue_bounds"]),
        json!(["property:queue_bounds"]),
    ] {
        let mut client = Client::start();
        client.launch(json!({ "program": program, "properties": [property] }));
        client.ask("setExceptionBreakpoints", json!({ "filters": filters }));
        assert_eq!(client.begin()["reason"], "exception");
        client.leave();
    }
    let mut client = Client::start();
    client.launch(json!({ "program": program, "properties": [property] }));
    let answer = client.ask(
        "setExceptionBreakpoints",
        json!({
            "filters": ["violations", "nonsense"],
            "filterOptions": [
                { "filterId": "property:queue_bounds", "condition": "satisfied" },
            ],
        }),
    );
    let verified: Vec<_> = answer["breakpoints"].as_array().unwrap().iter().collect();
    let verified: Vec<_> = verified.iter().map(|it| it["verified"].clone()).collect();
    assert_eq!(json!(verified), json!([true, false, false]), "{answer}");
    client.leave();
}

#[test]
fn a_property_that_is_added_in_the_session_is_in_the_scope_of_monitors() {
    let (program, property) = queue();
    let mut client = Client::start();
    client.launch(json!({ "program": program, "stopOnEntry": true }));
    let stop = client.begin();
    let frame = client.top(&stop["threadId"]);
    let scopes = client.ask("scopes", json!({ "frameId": frame["id"] }));
    let is_monitors = |it: &serde_json::Value| it["name"] == "Monitors";
    let has_monitors =
        |scopes: &serde_json::Value| scopes["scopes"].as_array().unwrap().iter().any(is_monitors);
    assert!(!has_monitors(&scopes), "{scopes}");
    client.repl(&format!("property add {}", property.display()));
    let scopes = client.ask("scopes", json!({ "frameId": frame["id"] }));
    assert!(has_monitors(&scopes), "{scopes}");
    client.leave();
}

#[test]
fn monitors_are_a_scope_that_can_be_set() {
    let (program, property) = queue();
    let mut client = Client::start();
    client.launch(json!({ "program": program, "properties": [property] }));
    let stop = client.begin();
    let frame = client.top(&stop["threadId"]);
    let scope = client.scope(&frame, "Monitors");
    let property = client.variable(&scope["variablesReference"], "queue_bounds");
    assert_eq!(property["value"], "violated, 2 slices");
    assert_eq!(property["indexedVariables"], 2);
    let slices = client.variables(&property["variablesReference"]);
    assert_eq!(slices.len(), 2);
    // The violated first.
    assert_eq!(slices[0]["value"], "overflow: violated");
    assert_eq!(slices[1]["value"], "ready: presumably satisfied");
    assert!(
        slices[0]["name"]
            .as_str()
            .unwrap()
            .starts_with("queue = 0x")
    );
    let page = client.ask(
        "variables",
        json!({
            "variablesReference": property["variablesReference"],
            "filter": "indexed", "start": 1, "count": 1,
        }),
    );
    assert_eq!(page["variables"][0]["name"], slices[1]["name"]);
    let slice = &slices[1]["variablesReference"];
    let letters = client.variable(slice, "letters");
    assert_eq!(letters["value"], "7");
    let set = client.ask(
        "setVariable",
        json!({ "variablesReference": slice, "name": "letters", "value": "3" }),
    );
    assert_eq!(set["value"], "3");
    assert_eq!(client.event("invalidated")["areas"], json!(["variables"]));
    assert_eq!(client.variable(slice, "letters")["value"], "3");
    let state = client.ask(
        "setVariable",
        json!({ "variablesReference": slice, "name": "state", "value": "overflow" }),
    );
    assert_eq!(state["value"], "overflow");
    let words = client.refused(
        "setVariable",
        json!({ "variablesReference": slice, "name": "state", "value": "nowhere" }),
    );
    assert!(words.contains("has no state `nowhere`"), "{words}");
    let path = client.variable(&slices[0]["variablesReference"], "path");
    let steps = client.variables(&path["variablesReference"]);
    let last = steps[0]["value"].as_str().unwrap();
    assert!(last.contains("before queue_push_letter"), "{last}");
    assert!(last.contains("ready -> overflow"), "{last}");
    client.leave();
}

/// The filters that the next `capabilities` event has for properties.
fn filters_told(client: &mut Client) -> Vec<String> {
    let told = client.event("capabilities");
    let all = told["capabilities"]["exceptionBreakpointFilters"]
        .as_array()
        .unwrap();
    let names = all.iter().map(|it| it["filter"].as_str().unwrap());
    let own = names.filter(|it| it.starts_with("property:"));
    own.map(str::to_owned).collect()
}

#[test]
fn filters_follow_the_properties_of_the_session() {
    let (program, property) = queue();
    let mut client = Client::start();
    client.launch(json!({ "program": program, "stopOnEntry": true }));
    // The client has chosen single properties, and cannot know the one to come.
    let filters = json!({ "filters": ["violations", "property:other"] });
    client.ask("setExceptionBreakpoints", filters);
    let stop = client.begin();
    assert!(!client.has_event("capabilities"));
    let add = format!("property add {}", property.display());
    client.repl(&add);
    assert_eq!(filters_told(&mut client), ["property:queue_bounds"]);
    client.repl("property remove queue_bounds");
    assert_eq!(filters_told(&mut client), [""; 0]);
    client.repl(&add);
    assert_eq!(filters_told(&mut client), ["property:queue_bounds"]);
    let stop = client.resume("continue", &stop["threadId"]);
    assert_eq!(stop["text"], "queue_bounds");
    client.leave();
}
