//! Steps: into a chosen call of a line, and of one thread alone.

use super::client::Client;
use juror_testing::Fixture;
use serde_json::{Value, json};

/// Lines with several calls, some of which are not made.
fn calls() -> Fixture {
    Fixture::c(
        "dap_calls",
        r#"#include <stdio.h>
#include <stdlib.h>

static int made[3];

static int one(int n)
{
    made[0]++;
    return n + 1;
}

static int two(int n)
{
    made[1]++;
    return n + 2;
}

static int three(int n)
{
    made[2]++;
    return n + 3;
}

int main(int argc, char **argv)
{
    int (*computed)(int) = three;
    int all = one(two(one(10))) + atoi("1") + computed(0);
    int none = argc > 9 ? two(1) : three(2);
    int fact = argc > 9;
    printf("%d %d %d: %d %d %d\n", all, none, fact, made[0], made[1], made[2]);
    return 0;
}
"#,
    )
}

/// A client at a line of `main`, and its thread.
fn stopped_at(line: u32) -> (Client, Value) {
    let program = calls().compile_plain();
    let source = program.with_file_name("dap_calls.c");
    let mut client = Client::start();
    client.launch(json!({ "program": program }));
    client.break_at(source.to_str().unwrap(), &[line]);
    let thread = client.begin()["threadId"].clone();
    (client, thread)
}

/// The targets of the innermost frame.
fn targets(client: &mut Client, thread: &Value) -> Vec<Value> {
    let frame = client.top(thread);
    let answer = client.ask("stepInTargets", json!({ "frameId": frame["id"] }));
    answer["targets"].as_array().unwrap().clone()
}

fn labels(targets: &[Value]) -> Vec<&str> {
    let all = targets.iter();
    all.map(|target| target["label"].as_str().unwrap())
        .collect()
}

/// Steps into a target. Returns the frame where the program stops.
fn step_into(client: &mut Client, thread: &Value, target: &Value) -> Value {
    let arguments = json!({ "threadId": thread, "targetId": target["id"] });
    client.ask("stepIn", arguments);
    assert_eq!(client.event("stopped")["reason"], "step");
    client.top(thread)
}

/// How often each function has been called.
fn made(client: &mut Client) -> String {
    client.repl("output made")
}

#[test]
fn each_call_of_a_line_can_be_stepped_into() {
    // The calls before the chosen one are passed over, and the program itself counts them.
    for (chosen, function, count) in [
        (0, "one", "{0, 0, 0}"),
        (1, "two", "{1, 0, 0}"),
        (2, "one", "{1, 1, 0}"),
    ] {
        let (mut client, thread) = stopped_at(27);
        let all = targets(&mut client, &thread);
        // `atoi` has no source, and what is computed has no name before the call.
        let expected = ["one (call 1 of 2)", "two", "one (call 2 of 2)"];
        assert_eq!(labels(&all), expected);
        assert!(all.iter().all(|target| target["line"] == 27), "{all:?}");
        let frame = step_into(&mut client, &thread, &all[chosen]);
        assert_eq!(frame["name"], function);
        assert_eq!(made(&mut client), count);
        let old = json!({ "threadId": thread, "targetId": all[chosen]["id"] });
        let words = client.refused("stepIn", old);
        assert!(words.contains("no longer there"), "{words}");
        client.leave();
    }
}

#[test]
fn a_call_that_was_made_is_no_target_any_more() {
    let (mut client, thread) = stopped_at(27);
    let all = targets(&mut client, &thread);
    step_into(&mut client, &thread, &all[1]);
    client.resume("stepOut", &thread);
    let left = targets(&mut client, &thread);
    assert_eq!(labels(&left), ["one"]);
    assert_eq!(step_into(&mut client, &thread, &left[0])["name"], "one");
    // Outer frames make no call of their own.
    let stack = client.ask("stackTrace", json!({ "threadId": thread }));
    let outer = &stack["stackFrames"][1]["id"];
    let answer = client.ask("stepInTargets", json!({ "frameId": outer }));
    assert_eq!(answer["targets"], json!([]));
    client.leave();
}

#[test]
fn a_chosen_call_that_is_not_made_ends_at_the_next_line_and_says_so() {
    let (mut client, thread) = stopped_at(28);
    let all = targets(&mut client, &thread);
    assert_eq!(labels(&all), ["two", "three"]);
    let frame = step_into(&mut client, &thread, &all[0]);
    assert_eq!(
        (&frame["name"], &frame["line"]),
        (&json!("main"), &json!(29))
    );
    client.wait_for_output("console", "the chosen call was not made");
    client.ask("continue", json!({ "threadId": thread }));
    client.event("exited");
    let output = client.leave();
    // one(two(one(10))) + atoi("1") + three(0), three(2), 0: no call was lost.
    assert_eq!(output["stdout"], "18 5 0: 2 1 2\n");
}

#[test]
fn a_breakpoint_in_a_call_that_is_passed_over_stops() {
    let (mut client, thread) = stopped_at(27);
    client.ask(
        "setFunctionBreakpoints",
        json!({ "breakpoints": [{ "name": "two" }] }),
    );
    let all = targets(&mut client, &thread);
    let arguments = json!({ "threadId": thread, "targetId": all[2]["id"] });
    client.ask("stepIn", arguments);
    let stop = client.event("stopped");
    assert_eq!(stop["reason"], "function breakpoint");
    assert_eq!(client.top(&thread)["name"], "two");
    client.leave();
}

#[test]
fn a_line_names_the_call_to_step_into() {
    let (mut client, thread) = stopped_at(27);
    client.repl("step two");
    assert_eq!(client.event("stopped")["reason"], "step");
    assert_eq!(client.top(&thread)["name"], "two");
    assert_eq!(made(&mut client), "{1, 0, 0}");
    let line = json!({ "expression": "step atoi", "context": "repl" });
    let words = client.refused("evaluate", line);
    assert!(words.contains("makes no call of `atoi`"), "{words}");
    client.leave();
}

/// Two threads, of which one only counts.
fn threads() -> Fixture {
    Fixture::c(
        "dap_threads",
        r#"#include <pthread.h>
#include <stdio.h>

static volatile long counted;
static volatile int is_over;

static void *count(void *argument)
{
    while (!is_over)
        counted++;
    return argument;
}

static void see_it_count(void)
{
    long before = counted;
    puts("waiting");
    fflush(stdout);
    while (counted == before)
        ;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, NULL, count, NULL);
    see_it_count();
    int number = 0;
    number++;
    see_it_count();
    number++;
    is_over = 1;
    pthread_join(other, NULL);
    return number;
}
"#,
    )
    .argument("-pthread")
}

/// The number that the other thread has counted to.
fn counted(client: &mut Client) -> String {
    client.repl("output counted")
}

#[test]
fn one_thread_runs_alone() {
    let program = threads().compile_plain();
    let source = program.with_file_name("dap_threads.c");
    let mut client = Client::start();
    client.launch(json!({ "program": program }));
    client.break_at(source.to_str().unwrap(), &[28]);
    let thread = client.begin()["threadId"].clone();
    let before = counted(&mut client);
    let alone = json!({ "threadId": thread, "singleThread": true });
    for line in [29, 30] {
        client.ask("next", alone.clone());
        client.event("stopped");
        assert_eq!(client.top(&thread)["line"], line);
    }
    assert_eq!(counted(&mut client), before);
    client.ask("stepIn", alone.clone());
    client.event("stopped");
    assert_eq!(client.top(&thread)["name"], "see_it_count");

    // The function waits for the other thread, which does not run: only a pause ends this.
    let answer = client.ask("continue", alone);
    assert_eq!(answer["allThreadsContinued"], false);
    let said = |client: &Client| client.output["stdout"].matches("waiting").count();
    while said(&client) < 2 {
        client.event("output");
    }
    client.ask("pause", json!({ "threadId": thread }));
    assert_eq!(client.event("stopped")["reason"], "pause");
    assert_eq!(counted(&mut client), before);

    // It is for that request alone.
    let setting = client.repl("show scheduler-locking");
    assert!(setting.contains("off"), "{setting}");
    let stop = client.resume("stepOut", &thread);
    assert_eq!(stop["reason"], "step");
    assert_ne!(counted(&mut client), before);
    client.ask("continue", json!({ "threadId": thread }));
    assert_eq!(client.event("exited")["exitCode"], 2);
    client.leave();
}

#[test]
fn a_thread_that_ran_alone_ends() {
    let program = threads().compile_plain();
    let source = program.with_file_name("dap_threads.c");
    let mut client = Client::start();
    client.launch(json!({ "program": program }));
    client.break_at(source.to_str().unwrap(), &[9]);
    let other = client.begin()["threadId"].clone();
    assert_eq!(other, 2);
    client.repl("set var is_over = 1");
    client.break_at(source.to_str().unwrap(), &[]);
    client.ask(
        "continue",
        json!({ "threadId": other, "singleThread": true }),
    );
    let stop = client.event("stopped");
    assert_eq!(
        (&stop["reason"], &stop["threadId"]),
        (&json!("pause"), &json!(1))
    );
    client.wait_for_output(
        "console",
        "thread 2 has ended, and it was the only one that ran",
    );
    let threads = client.ask("threads", Value::Null);
    assert_eq!(threads["threads"].as_array().unwrap().len(), 1);
    client.leave();
}

#[test]
fn threads_are_told_as_they_start_and_end() {
    let program = threads().compile_plain();
    let source = program.with_file_name("dap_threads.c");
    let mut client = Client::start();
    client.launch(json!({ "program": program }));
    let first = client.event("thread");
    assert_eq!(first, json!({ "reason": "started", "threadId": 1 }));
    client.break_at(source.to_str().unwrap(), &[34]);
    client.ask("configurationDone", Value::Null);
    let second = client.event("thread");
    assert_eq!(second, json!({ "reason": "started", "threadId": 2 }));
    let ended = client.event("thread");
    assert_eq!(ended, json!({ "reason": "exited", "threadId": 2 }));
    client.event("stopped");
    let threads = client.ask("threads", Value::Null);
    assert_eq!(threads["threads"].as_array().unwrap().len(), 1);
    assert!(!client.has_event("thread"));
    client.leave();
}
