//! Breakpoints at columns: the statements of one line.

use super::client::Client;
use juror_testing::Fixture;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The line of a loop, and a line of which a part is not ASCII.
const LOOP: u32 = 12;
const CALLS: &str = r#"    puts("eggs é, 𝄞"); add(100);"#;

fn statements() -> Fixture {
    let source = format!(
        r#"#include <stdio.h>

static int total;

static void add(int n)
{{
    total += n;
}}

int main(void)
{{
    for (int i = 1; i <= 10; i++)
        add(i);
{CALLS}
    return total;
}}
"#
    );
    Fixture::c("dap_statements", &source)
}

fn loaded() -> (Client, String) {
    let program = statements().compile_plain();
    let source = program.with_file_name("dap_statements.c");
    let mut client = Client::start();
    client.launch(json!({ "program": program }));
    (client, source.to_str().unwrap().to_owned())
}

/// The columns of a line where statements begin.
fn columns(client: &mut Client, source: &str, line: u32) -> Vec<i64> {
    let wanted = json!({ "source": { "path": source }, "line": line });
    let answer = client.ask("breakpointLocations", wanted);
    let places = answer["breakpoints"].as_array().unwrap().clone();
    let columns = places.iter().map(|it| {
        assert_eq!(it["line"], line);
        it["column"].as_i64().unwrap()
    });
    columns.collect()
}

/// Sets a breakpoint at a column of a line. Returns it.
fn break_at(client: &mut Client, source: &str, breakpoint: Value) -> Value {
    let arguments = json!({ "source": { "path": source }, "breakpoints": [breakpoint] });
    let set = client.ask("setBreakpoints", arguments)["breakpoints"][0].clone();
    assert_eq!(set["verified"], true, "{set}");
    set
}

#[test]
fn each_statement_of_a_line_stops_as_often_as_it_is_executed() {
    let (mut client, source) = loaded();
    let all = columns(&mut client, &source, LOOP);
    client.leave();
    let mut counts = BTreeSet::new();
    for column in all {
        let (mut client, source) = loaded();
        let point = json!({ "line": LOOP, "column": column, "logMessage": "passed" });
        let set = break_at(&mut client, &source, point);
        assert_eq!(set["column"], column);
        client.ask("configurationDone", Value::Null);
        assert_eq!(client.event("exited")["exitCode"], 155);
        let output = client.leave();
        counts.insert(output["console"].matches("passed\n").count());
    }
    // The beginning of the loop, its increments, its conditions.
    assert_eq!(counts, BTreeSet::from([1, 10, 11]));
}

#[test]
fn a_column_counts_as_the_editor_counts() {
    let (mut client, source) = loaded();
    let units = |text: &str| 1 + text.encode_utf16().count() as i64;
    let (puts, add) = (CALLS.find("puts").unwrap(), CALLS.find("add").unwrap());
    let expected = [units(&CALLS[..puts]), units(&CALLS[..add])];
    let line = LOOP + 2;
    assert_eq!(columns(&mut client, &source, line), expected);
    let part = json!({ "source": { "path": source }, "line": line, "column": expected[0] + 1 });
    let part = client.ask("breakpointLocations", part);
    assert_eq!(part["breakpoints"].as_array().unwrap().len(), 1);

    let point = json!({ "line": line, "column": expected[1] });
    let set = break_at(&mut client, &source, point);
    assert_eq!(set["column"], expected[1]);
    let stop = client.begin();
    let frame = client.top(&stop["threadId"]);
    assert_eq!(
        (&frame["line"], &frame["column"]),
        (&json!(line), &json!(expected[1]))
    );
    assert_eq!(client.repl("output total"), "55");
    client.wait_for_output("stdout", "eggs é, 𝄞");
    client.ask("continue", json!({ "threadId": stop["threadId"] }));
    assert_eq!(client.event("exited")["exitCode"], 155);
    client.leave();
}

#[test]
fn between_statements_the_next_one_is_meant_and_at_last_the_last() {
    let (mut client, source) = loaded();
    let all = columns(&mut client, &source, LOOP + 2);
    let asked = [all[0] + 1, 200].map(|column| json!({ "line": LOOP + 2, "column": column }));
    for point in asked {
        // The place differs from the one that was asked for.
        let set = break_at(&mut client, &source, point);
        assert_eq!(set["column"], Value::Null);
    }
    let stop = client.begin();
    let frame = client.top(&stop["threadId"]);
    assert_eq!(frame["column"], all[1]);
    client.leave();
}
