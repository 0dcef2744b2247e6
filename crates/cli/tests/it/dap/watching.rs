//! Watched memory: what can be watched, and how long.

use super::client::Client;
use juror_testing::Fixture;
use serde_json::{Value, json};

/// Calls that use the same memory of the stack one after another.
fn calls() -> Fixture {
    Fixture::c(
        "dap_watched",
        r#"struct big { long all[8]; };
static int counted;

static int fill(int *place)
{
    *place = 7;
    return *place;
}

static int sum(int n)
{
    int total = n;
    total += fill(&counted);
    return total;
}

static int other(int n)
{
    int reused = n;
    reused *= 2;
    return reused;
}

static long last(struct big taken)
{
    taken.all[7] = 3;
    return taken.all[7];
}

static int outer(void)
{
    int mine = 1;
    int all = sum(mine) + other(mine);
    all += fill(&mine);
    return all;
}

int main(void)
{
    struct big big = { { 0 } };
    long all = outer();
    all += last(big);
    big.all[7] = 4;
    all += last(big);
    return all == 23 ? 0 : 1;
}
"#,
    )
}

/// A client at a line, and its thread.
fn stopped_at(line: u32) -> (Client, Value) {
    let program = calls().compile_plain();
    let source = program.with_file_name("dap_watched.c");
    let mut client = Client::start();
    client.launch(json!({ "program": program }));
    client.break_at(source.to_str().unwrap(), &[line]);
    let thread = client.begin()["threadId"].clone();
    client.break_at(source.to_str().unwrap(), &[]);
    (client, thread)
}

fn info(client: &mut Client, thread: &Value, name: &str, more: Value) -> Value {
    let frame = client.top(thread);
    let mut arguments = json!({ "name": name, "frameId": frame["id"] });
    for (name, value) in more.as_object().into_iter().flatten() {
        arguments[name] = value.clone();
    }
    client.ask("dataBreakpointInfo", arguments)
}

/// Watches what was asked for. Returns the client's number.
fn watch(client: &mut Client, info: &Value) -> Value {
    let point = json!({ "dataId": info["dataId"], "accessType": "write" });
    let answer = client.ask("setDataBreakpoints", json!({ "breakpoints": [point] }));
    let set = &answer["breakpoints"][0];
    assert_eq!(set["verified"], true, "{set}");
    set["id"].clone()
}

/// Lets the program run to its end. Returns how often watched memory was written before `removed`,
/// and after it.
fn writes(client: &mut Client, thread: &Value, id: &Value) -> (u32, Option<u32>) {
    let (mut before, mut after) = (0, None);
    client.ask("continue", json!({ "threadId": thread }));
    loop {
        let message = client.wait("a stop or the end", |message| {
            ["stopped", "exited"]
                .map(Value::from)
                .contains(&message["event"])
        });
        if message["event"] == "exited" {
            assert_eq!(message["body"]["exitCode"], 0);
            return (before, after);
        }
        let stop = &message["body"];
        assert_eq!(stop["reason"], "data breakpoint");
        let removed = |message: &&Value| {
            message["event"] == "breakpoint" && message["body"]["reason"] == "removed"
        };
        let is_removed = client.history.iter().rev().find(removed).is_some_and(|it| {
            assert_eq!(it["body"]["breakpoint"]["id"], *id);
            true
        });
        match (&mut after, is_removed) {
            (Some(after), _) => *after += 1,
            (None, true) => after = Some(0),
            (None, false) => before += 1,
        }
        client.ask("continue", json!({ "threadId": thread }));
    }
}

#[test]
fn a_watched_local_variable_ends_with_its_call() {
    let (mut client, thread) = stopped_at(13);
    let info = info(&mut client, &thread, "total", Value::Null);
    let id = watch(&mut client, &info);
    assert_eq!(writes(&mut client, &thread, &id), (1, Some(0)));
    let output = client.leave();
    let said = "the call that held `total` has returned\n";
    assert!(output["console"].contains(said), "{output:?}");
}

#[test]
fn memory_of_another_call_ends_with_that_call() {
    // `place` points into the frame of the caller, which goes on.
    let (mut client, thread) = stopped_at(33);
    client.repl("tbreak 6");
    client.resume("continue", &thread);
    client.repl("tbreak 6");
    client.resume("continue", &thread);
    let info = info(&mut client, &thread, "*place", Value::Null);
    let id = watch(&mut client, &info);
    assert_eq!(writes(&mut client, &thread, &id), (1, Some(0)));
    let output = client.leave();
    let said = "the call that held `*place` has returned\n";
    assert!(output["console"].contains(said), "{output:?}");

    // An argument in memory is in the frame of the caller, and ends with its own call.
    let (mut client, thread) = stopped_at(26);
    let part = super::watching::info(&mut client, &thread, "taken.all[7]", Value::Null);
    let id = watch(&mut client, &part);
    assert_eq!(writes(&mut client, &thread, &id), (1, Some(0)));
    client.leave();
}

#[test]
fn other_memory_is_watched_to_the_end() {
    for (name, more) in [
        ("counted", Value::Null),
        ("*place", Value::Null),
        ("counted", json!({ "bytes": 4 })),
    ] {
        let (mut client, thread) = stopped_at(6);
        let info = info(&mut client, &thread, name, more);
        let id = watch(&mut client, &info);
        assert_eq!(writes(&mut client, &thread, &id), (1, None), "{name}");
        client.leave();
    }
    // An address says nothing of a call.
    let (mut client, thread) = stopped_at(13);
    let frame = client.top(&thread);
    let arguments = json!({ "expression": "&total", "frameId": frame["id"], "context": "watch" });
    let at = client.ask("evaluate", arguments)["memoryReference"].clone();
    let info = info(
        &mut client,
        &thread,
        at.as_str().unwrap(),
        json!({ "asAddress": true, "bytes": 4 }),
    );
    assert!(info["dataId"].is_string(), "{info}");
    client.leave();
}

#[test]
fn what_is_no_place_cannot_be_watched() {
    let (mut client, thread) = stopped_at(13);
    for (name, why) in [
        ("1 + 2", "`1 + 2` is not a place in memory"),
        ("total + n", "`total + n` is not a place in memory"),
        ("$rax", "`$rax` is a register"),
        ("nothing_here", "nothing_here"),
    ] {
        let info = info(&mut client, &thread, name, Value::Null);
        assert_eq!(info["dataId"], Value::Null, "{info}");
        let said = info["description"].as_str().unwrap();
        assert!(said.contains(why), "{said}");
    }
    client.leave();
}

#[test]
fn a_frame_of_an_earlier_stop_is_not_mistaken_for_another() {
    let (mut client, thread) = stopped_at(13);
    let info = info(&mut client, &thread, "total", Value::Null);
    client.resume("next", &thread);
    let point = json!({ "dataId": info["dataId"], "accessType": "write" });
    let answer = client.ask("setDataBreakpoints", json!({ "breakpoints": [point] }));
    let set = &answer["breakpoints"][0];
    assert_eq!(set["verified"], false, "{set}");
    let why = set["message"].as_str().unwrap();
    assert!(why.contains("no longer there"), "{why}");
    client.leave();
}

#[test]
fn a_point_that_a_line_deletes_is_removed() {
    let (mut client, _) = stopped_at(13);
    let set = client.ask(
        "setFunctionBreakpoints",
        json!({ "breakpoints": [{ "name": "other" }] }),
    );
    let id = set["breakpoints"][0]["id"].clone();
    client.repl("clear other");
    let removed = client.wait("removed", |message| {
        message["event"] == "breakpoint" && message["body"]["reason"] == "removed"
    });
    assert_eq!(removed["body"]["breakpoint"]["id"], id);
    client.leave();
}

#[test]
fn the_prompt_watches_memory_for_a_call() {
    let (mut client, thread) = stopped_at(13);
    let said = client.repl("watch -location -call total");
    assert!(said.contains("watchpoint"), "{said}");
    let words = client.refused(
        "evaluate",
        json!({ "expression": "watch -call total", "context": "repl" }),
    );
    assert!(words.contains("is an option of `-location`"), "{words}");
    client.resume("continue", &thread);
    let stop = client.resume("continue", &thread);
    let said = stop["description"].as_str().unwrap();
    assert!(said.contains("sum has ended"), "{said}");
    client.leave();
}
