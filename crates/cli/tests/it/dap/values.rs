//! Values: scopes, parts, assignment, expressions, memory, completion.

use super::client::Client;
use juror_testing::Fixture;
use serde_json::{Value, json};

/// Values of many kinds.
fn values() -> Fixture {
    Fixture::c(
        "dap_values",
        r#"#include <stdio.h>

struct point { int x; int y; };
static int numbers[1000];
static struct point points[2] = { { 1, 2 }, { 3, 4 } };

static int twice(int n)
{
    int doubled = 2 * n;
    return doubled;
}

int main(void)
{
    struct point *second = &points[1];
    char text[] = "ham";
    for (int i = 0; i < 1000; i++)
        numbers[i] = i;
    int result = twice(second->x);
    printf("%d %s %d\n", result, text, numbers[0]);
    return points[0].x;
}
"#,
    )
}

/// A client at the call of `twice`, and the innermost frame.
fn stopped() -> (Client, Value, Value) {
    let program = values().compile_plain();
    let source = program.with_file_name("dap_values.c");
    let mut client = Client::start();
    client.launch(json!({ "program": program }));
    client.break_at(source.to_str().unwrap(), &[19]);
    let stop = client.begin();
    let thread = stop["threadId"].clone();
    let frame = client.top(&thread);
    (client, thread, frame)
}

fn evaluated(client: &mut Client, frame: &Value, expression: &str, more: Value) -> Value {
    let mut arguments = json!({
        "expression": expression, "frameId": frame["id"], "context": "watch",
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        arguments[name] = value.clone();
    }
    client.ask("evaluate", arguments)
}

#[test]
fn parts_are_read_by_page() {
    let (mut client, _, frame) = stopped();
    let numbers = evaluated(&mut client, &frame, "numbers", Value::Null);
    assert_eq!(numbers["indexedVariables"], 1000);
    assert_eq!(numbers["type"], "int [1000]");
    let page = client.ask(
        "variables",
        json!({
            "variablesReference": numbers["variablesReference"],
            "filter": "indexed", "start": 700, "count": 2,
        }),
    );
    let page = page["variables"].as_array().unwrap();
    let shown: Vec<_> = page.iter().map(|it| (&it["name"], &it["value"])).collect();
    assert_eq!(json!(shown), json!([["[700]", "700"], ["[701]", "701"]]));
    assert_eq!(page[0]["evaluateName"], "numbers[700]");
    let hex = client.ask(
        "variables",
        json!({
            "variablesReference": numbers["variablesReference"],
            "start": 255, "count": 1, "format": { "hex": true },
        }),
    );
    assert_eq!(hex["variables"][0]["value"], "0xff");
    let hex = evaluated(
        &mut client,
        &frame,
        "numbers[255]",
        json!({ "format": { "hex": true } }),
    );
    assert_eq!(hex["result"], "0xff");
    client.leave();
}

#[test]
fn values_are_set() {
    let (mut client, _, frame) = stopped();
    let locals = client.scope(&frame, "Locals")["variablesReference"].clone();
    let second = client.variable(&locals, "second");
    let fields = client.variables(&second["variablesReference"]);
    let point = if fields[0]["name"] == "x" {
        second["variablesReference"].clone()
    } else {
        fields[0]["variablesReference"].clone()
    };
    let set = client.ask(
        "setVariable",
        json!({ "variablesReference": point, "name": "x", "value": "20 + 1" }),
    );
    assert_eq!(set["value"], "21");
    assert_eq!(client.event("invalidated")["areas"], json!(["variables"]));
    assert_eq!(
        evaluated(&mut client, &frame, "points[1].x", Value::Null)["result"],
        "21"
    );
    let set = client.ask(
        "setExpression",
        json!({ "expression": "points[0].x", "value": "7", "frameId": frame["id"] }),
    );
    assert_eq!(set["value"], "7");
    let registers = client.scope(&frame, "Registers");
    assert_eq!(registers["expensive"], true);
    let rax = json!({
        "variablesReference": registers["variablesReference"], "name": "rax", "value": "11",
    });
    client.ask("setVariable", rax);
    let rax = client.variable(&registers["variablesReference"], "rax");
    let number = rax["value"].as_str().unwrap();
    assert!(
        number.starts_with("0xb") || number.starts_with("11"),
        "{rax}"
    );
    let words = client.refused(
        "setVariable",
        json!({ "variablesReference": locals, "name": "nothing_here", "value": "1" }),
    );
    assert!(words.contains("nothing_here"), "{words}");
    client.ask("continue", json!({ "threadId": 1 }));
    assert_eq!(client.event("exited")["exitCode"], 7);
    assert!(client.leave()["stdout"].starts_with("42 ham"));
}

#[test]
fn only_what_changes_values_says_that_they_have_changed() {
    let (mut client, _, _) = stopped();
    for line in [
        "print points[1]",
        "print/x second->y",
        "info locals",
        "backtrace",
        "break twice",
        "delete",
        "frame 0",
        "echo done",
        "x/2bx second",
    ] {
        client.repl(line);
        client.ask("threads", Value::Null);
        assert!(!client.has_event("invalidated"), "{line}");
    }
    for line in [
        "print points[1].x = 8",
        "set var points[1].x = 9",
        "print twice(4)",
    ] {
        client.repl(line);
        let areas = client.event("invalidated")["areas"].clone();
        assert_eq!(areas, json!(["variables"]), "{line}");
    }
    // The stack is another one.
    client.repl("frame 0");
    client.repl("print $rip = $rip + 1");
    assert_eq!(client.event("invalidated")["areas"], json!(["all"]));
}

#[test]
fn a_hover_calls_no_function_and_the_repl_does() {
    let (mut client, _, frame) = stopped();
    for context in ["hover", "watch"] {
        let arguments = json!({
            "expression": "twice(4)", "frameId": frame["id"], "context": context,
        });
        client.refused("evaluate", arguments);
    }
    assert_eq!(client.repl("print twice(4)"), "$1 = 8");
    // The frame is still the one that the client knows.
    assert_eq!(
        evaluated(&mut client, &frame, "second->y", Value::Null)["result"],
        "4"
    );
    let clip = evaluated(
        &mut client,
        &frame,
        "text",
        json!({ "context": "clipboard" }),
    );
    assert_eq!(clip["result"], "\"ham\"");
    client.leave();
}

#[test]
fn a_returned_value_is_a_scope() {
    let (mut client, thread, _) = stopped();
    let stop = client.resume("stepIn", &thread);
    let frame = client.top(&stop["threadId"]);
    assert_eq!(frame["name"], "twice");
    let arguments = client.scope(&frame, "Arguments");
    let n = client.variable(&arguments["variablesReference"], "n");
    assert_eq!(n["value"], "3");
    let old = frame["id"].clone();
    let stop = client.resume("stepOut", &thread);
    assert_eq!(stop["reason"], "step");
    let frame = client.top(&stop["threadId"]);
    let scope = client.scope(&frame, "Return value");
    let returned = client.variables(&scope["variablesReference"]);
    assert_eq!(returned.len(), 1);
    assert_eq!(returned[0]["value"], "6");
    // A value of an earlier stop is refused, and not mistaken for another one.
    let words = client.refused("scopes", json!({ "frameId": old }));
    assert!(words.contains("no longer there"), "{words}");
    client.leave();
}

#[test]
fn memory_is_read_and_written() {
    let (mut client, _, frame) = stopped();
    let numbers = evaluated(&mut client, &frame, "numbers", Value::Null);
    let at = &numbers["memoryReference"];
    let read = client.ask(
        "readMemory",
        json!({ "memoryReference": at, "offset": 4, "count": 8 }),
    );
    // 1 and 2 as little-endian words.
    assert_eq!(read["data"], "AQAAAAIAAAA=");
    let write = json!({ "memoryReference": at, "offset": 4, "data": "CQAAAA==" });
    assert_eq!(client.ask("writeMemory", write)["bytesWritten"], 4);
    let memory = client.event("memory");
    assert_eq!(
        (&memory["offset"], &memory["count"]),
        (&json!(4), &json!(4))
    );
    assert_eq!(
        evaluated(&mut client, &frame, "numbers[1]", Value::Null)["result"],
        "9"
    );
    let nothing = client.ask(
        "readMemory",
        json!({ "memoryReference": "0x10", "count": 4 }),
    );
    assert_eq!(nothing["unreadableBytes"], 4);
    assert_eq!(nothing["data"], Value::Null);
    client.refused(
        "readMemory",
        json!({ "memoryReference": "nowhere", "count": 4 }),
    );
    client.refused("writeMemory", json!({ "memoryReference": at, "data": "?" }));
    client.leave();
}

#[test]
fn lines_of_the_repl_are_completed() {
    let (mut client, _, frame) = stopped();
    for (text, column, word, start, length) in [
        ("brea", 5, "break", 1, 4),
        ("break twi", 10, "twice", 7, 3),
        ("print sec", 10, "second", 7, 3),
        // The letter before is two units long.
        ("print \"𝄞\", sec", 16, "second", 13, 3),
    ] {
        let answer = client.ask(
            "completions",
            json!({ "text": text, "column": column, "frameId": frame["id"] }),
        );
        let targets = answer["targets"].as_array().unwrap();
        let found = targets.iter().find(|it| it["label"] == word);
        let found = found.unwrap_or_else(|| panic!("{text}: {answer}"));
        assert_eq!(
            (&found["start"], &found["length"]),
            (&json!(start), &json!(length)),
            "{text}"
        );
    }
    client.leave();
}

#[test]
fn a_frame_chosen_by_a_line_stays_until_the_client_chooses_another() {
    let (mut client, thread, _) = stopped();
    let stop = client.resume("stepIn", &thread);
    let stack = client.ask("stackTrace", json!({ "threadId": stop["threadId"] }));
    let (inner, outer) = (
        &stack["stackFrames"][0]["id"],
        &stack["stackFrames"][1]["id"],
    );
    let mut line = |expression: &str, frame: &Value| {
        let arguments = json!({ "expression": expression, "frameId": frame, "context": "repl" });
        let answer = client.ask("evaluate", arguments);
        answer["result"].as_str().unwrap().trim_end().to_owned()
    };
    assert_eq!(line("output n", inner), "3");
    line("up", inner);
    assert_eq!(line("output second->x", inner), "3");
    assert_eq!(line("output second->y", outer), "4");
    assert_eq!(line("output n", inner), "3");
    client.leave();
}
