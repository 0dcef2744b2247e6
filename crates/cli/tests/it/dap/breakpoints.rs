//! Breakpoints and watchpoints.

use super::client::Client;
use crate::support::program;
use juror_testing::Fixture;
use serde_json::{Value, json};

/// A loop with known counts.
fn counter() -> Fixture {
    Fixture::c(
        "dap_counter",
        r#"#include <stdio.h>

struct pair { int first; int second; };
static struct pair pair;
static int total;

static int add(int n)
{
    total += n;
    pair.second = total;
    return total;
}

int main(void)
{
    for (int i = 1; i <= 10; i++)
        add(i);
    printf("total %d\n", total);
    fflush(stdout);
    fprintf(stderr, "no error\n");
    return 3;
}
"#,
    )
}

/// A started client, and the path of the source.
fn loaded() -> (Client, String) {
    let program = counter().compile_plain();
    let source = program.with_file_name("dap_counter.c");
    let mut client = Client::start();
    client.launch(json!({ "program": program }));
    (client, source.to_str().unwrap().to_owned())
}

/// The value of an expression at a stop.
fn value(client: &mut Client, stop: &Value, expression: &str) -> String {
    let frame = client.top(&stop["threadId"]);
    let answer = client.ask(
        "evaluate",
        json!({ "expression": expression, "frameId": frame["id"], "context": "watch" }),
    );
    answer["result"].as_str().unwrap().to_owned()
}

#[test]
fn a_breakpoint_that_stays_keeps_its_number_and_its_hits() {
    let (mut client, source) = loaded();
    let first = client.break_at(&source, &[9]);
    let mut stop = client.begin();
    stop = client.resume("continue", &stop["threadId"]);
    let both = client.break_at(&source, &[18, 9]);
    assert_eq!(both[1]["id"], first[0]["id"]);
    assert_ne!(both[0]["id"], first[0]["id"]);
    let shown = client.repl("info breakpoints");
    let line = shown
        .lines()
        .find(|line| line.contains(":9"))
        .unwrap_or_default();
    assert!(
        line.split_whitespace().any(|word| word == "2"),
        "two hits: {shown}"
    );
    // It is gone from the program, too.
    client.break_at(&source, &[18]);
    stop = client.resume("continue", &stop["threadId"]);
    assert_eq!(client.top(&stop["threadId"])["line"], 18);
    assert_eq!(value(&mut client, &stop, "total"), "55");
    client.ask("continue", json!({ "threadId": stop["threadId"] }));
    assert_eq!(client.event("exited")["exitCode"], 3);
    let output = client.leave();
    assert_eq!(output["stdout"], "total 55\n");
    assert_eq!(output["stderr"], "no error\n");
}

#[test]
fn conditions_and_hit_counts_decide() {
    for (breakpoint, expected) in [
        (json!({ "line": 9, "condition": "n == 7" }), vec!["7"]),
        (json!({ "line": 9, "hitCondition": "9" }), vec!["9", "10"]),
        (json!({ "line": 9, "hitCondition": "> 9" }), vec!["10"]),
        (json!({ "line": 9, "hitCondition": "== 4" }), vec!["4"]),
        (json!({ "line": 9, "hitCondition": "% 4" }), vec!["4", "8"]),
        (
            json!({ "line": 9, "condition": "n > 2", "hitCondition": "% 4" }),
            vec!["6", "10"],
        ),
    ] {
        let (mut client, source) = loaded();
        let arguments = json!({ "source": { "path": source }, "breakpoints": [breakpoint] });
        let set = client.ask("setBreakpoints", arguments);
        assert_eq!(set["breakpoints"][0]["verified"], true, "{set}");
        client.ask("configurationDone", Value::Null);
        for expected in expected {
            let stop = client.event("stopped");
            assert_eq!(value(&mut client, &stop, "n"), expected, "{breakpoint}");
            client.ask("continue", json!({ "threadId": stop["threadId"] }));
        }
        client.event("exited");
        client.leave();
    }
}

#[test]
fn a_log_point_writes_and_does_not_stop() {
    let (mut client, source) = loaded();
    let point = json!({ "line": 9, "condition": "n > 8", "logMessage": "n is {n}, 100 % {n * 2}" });
    let arguments = json!({ "source": { "path": source }, "breakpoints": [point] });
    client.ask("setBreakpoints", arguments);
    client.ask("configurationDone", Value::Null);
    client.event("exited");
    let output = client.leave();
    let lines = output["console"]
        .lines()
        .filter(|line| line.starts_with("n is"));
    let lines: Vec<_> = lines.collect();
    assert_eq!(lines, ["n is 9, 100 % 18", "n is 10, 100 % 20"]);
}

#[test]
fn what_cannot_be_set_says_why() {
    let (mut client, source) = loaded();
    let points = json!([
        { "line": 9, "condition": "nothing_here > 1" },
        { "line": 10, "hitCondition": "often" },
        { "line": 11, "logMessage": "{n" },
        { "line": 4000 },
    ]);
    let arguments = json!({ "source": { "path": source }, "breakpoints": points });
    let answer = client.ask("setBreakpoints", arguments);
    for (number, words) in [
        (0, "nothing_here"),
        (1, "is not a number of hits"),
        (2, "a brace is not closed"),
        (3, "no code at line 4000"),
    ] {
        let point = &answer["breakpoints"][number];
        assert_eq!(point["verified"], false, "{point}");
        let message = point["message"].as_str().unwrap();
        assert!(message.contains(words), "{message}");
    }
    let arguments = json!({ "breakpoints": [{ "name": "nowhere" }, { "name": "add" }] });
    let answer = client.ask("setFunctionBreakpoints", arguments);
    assert_eq!(answer["breakpoints"][0]["verified"], false, "{answer}");
    assert_eq!(answer["breakpoints"][1]["verified"], true, "{answer}");
    // None of them is left in the program.
    let stop = client.begin();
    assert_eq!(stop["reason"], "function breakpoint");
    assert_eq!(value(&mut client, &stop, "n"), "1");
    client.ask("setFunctionBreakpoints", json!({ "breakpoints": [] }));
    client.ask("continue", json!({ "threadId": stop["threadId"] }));
    client.event("exited");
    client.leave();
}

#[test]
fn an_instruction_stops() {
    let (mut client, _) = loaded();
    let arguments = json!({ "breakpoints": [{ "name": "add" }] });
    client.ask("setFunctionBreakpoints", arguments);
    let stop = client.begin();
    let frame = client.top(&stop["threadId"]);
    let reference = &frame["instructionPointerReference"];
    let code = client.ask(
        "disassemble",
        json!({ "memoryReference": reference, "instructionCount": 3 }),
    );
    let third = &code["instructions"][2]["address"];
    let arguments = json!({ "breakpoints": [{ "instructionReference": third }] });
    let answer = client.ask("setInstructionBreakpoints", arguments);
    assert_eq!(answer["breakpoints"][0]["verified"], true);
    assert_eq!(answer["breakpoints"][0]["instructionReference"], *third);
    let stop = client.resume("continue", &stop["threadId"]);
    assert_eq!(stop["reason"], "instruction breakpoint");
    let frame = client.top(&stop["threadId"]);
    assert_eq!(frame["instructionPointerReference"], *third);
    client.leave();
}

#[test]
fn watched_memory_stops() {
    let (mut client, _) = loaded();
    let arguments = json!({ "breakpoints": [{ "name": "main" }] });
    client.ask("setFunctionBreakpoints", arguments);
    let stop = client.begin();
    let frame = client.top(&stop["threadId"]);
    let place = json!({ "name": "pair.second", "frameId": frame["id"] });
    let info = client.ask("dataBreakpointInfo", place);
    assert_eq!(info["description"], "pair.second");
    let watch =
        json!({ "dataId": info["dataId"], "accessType": "write", "condition": "total > 5" });
    let answer = client.ask("setDataBreakpoints", json!({ "breakpoints": [watch] }));
    assert_eq!(answer["breakpoints"][0]["verified"], true, "{answer}");
    let stop = client.resume("continue", &stop["threadId"]);
    assert_eq!(stop["reason"], "data breakpoint");
    assert_eq!(
        stop["hitBreakpointIds"],
        json!([answer["breakpoints"][0]["id"]])
    );
    assert_eq!(stop["text"], "pair.second if total > 5: 3 -> 6");

    // By the address and a number of bytes.
    let at = client.repl("output &total");
    let at = at
        .split_whitespace()
        .find(|word| word.starts_with("0x"))
        .unwrap()
        .to_owned();
    let info = client.ask(
        "dataBreakpointInfo",
        json!({ "name": at, "asAddress": true, "bytes": 4 }),
    );
    let watch = json!({ "dataId": info["dataId"], "accessType": "write" });
    let answer = client.ask("setDataBreakpoints", json!({ "breakpoints": [watch] }));
    assert_eq!(answer["breakpoints"][0]["verified"], true, "{answer}");
    let stop = client.resume("continue", &stop["threadId"]);
    assert_eq!(stop["reason"], "data breakpoint");
    assert_eq!(value(&mut client, &stop, "total"), "10");
    let info = client.ask("dataBreakpointInfo", json!({ "name": "nothing_here" }));
    assert_eq!(info["dataId"], Value::Null);
    client.leave();
}

#[test]
fn breakpoints_are_set_while_the_program_runs() {
    let program = program("spin.c").compile_plain();
    let source = program.with_file_name("spin.c");
    let mut client = Client::start();
    client.launch(json!({ "program": program }));
    client.ask("configurationDone", Value::Null);
    client.wait_for_output("stdout", "spinning");
    let words = client.refused("stackTrace", json!({ "threadId": 1 }));
    assert_eq!(words, "the program is running");
    let threads = client.ask("threads", Value::Null);
    assert_eq!(threads["threads"].as_array().unwrap().len(), 1);
    let points = client.break_at(source.to_str().unwrap(), &[12]);
    assert_eq!(points[0]["verified"], true, "{points}");
    let stop = client.event("stopped");
    assert_eq!(stop["reason"], "breakpoint");
    assert_eq!(client.top(&stop["threadId"])["line"], 12);
    client.break_at(source.to_str().unwrap(), &[]);
    client.ask("continue", json!({ "threadId": stop["threadId"] }));
    client.ask("pause", json!({ "threadId": stop["threadId"] }));
    assert_eq!(client.event("stopped")["reason"], "pause");
    client.leave();
}
