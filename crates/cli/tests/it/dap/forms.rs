//! The forms of values: hexadecimal, whole, by page, and as they are set.

use super::client::Client;
use juror_testing::Fixture;
use serde_json::{Value, json};

/// Values of many kinds.
fn values() -> Fixture {
    Fixture::cpp(
        "dap_forms",
        r#"enum colour { RED, GREEN = 5, BLUE = 8 };
enum class kind { small, large };
struct node { int value; node *next; };

static int numbers[5000];
static const char *name = "ann";

static int place(int first, node *second, kind third)
{
    return first + second->value + static_cast<int>(third);
}

int main()
{
    char text[16] = "ann";
    char letter = 'a';
    unsigned char byte = 200;
    colour shade = GREEN;
    kind size = kind::small;
    bool truth = true;
    double half = 0.5;
    int (*function)(int, node *, kind) = place;
    node end = { 4, nullptr };
    node begin = { 17, &end };
    int &reference = begin.value;
    for (int i = 0; i < 5000; i++)
        numbers[i] = i;
    int result = place(255, &begin, size);
    return result + text[0] + letter + byte + shade + truth + reference + (function == nullptr)
        + (half > 0) + name[0];
}
"#,
    )
}

/// A client in `place`, its thread, and the frames of `place` and `main`.
fn stopped() -> (Client, Value, Value, Value) {
    let program = values().compile_plain();
    let mut client = Client::start();
    client.launch(json!({ "program": program }));
    client.ask(
        "setFunctionBreakpoints",
        json!({ "breakpoints": [{ "name": "place" }] }),
    );
    let thread = client.begin()["threadId"].clone();
    let stack = client.ask("stackTrace", json!({ "threadId": thread }));
    let frames = &stack["stackFrames"];
    (client, thread, frames[0].clone(), frames[1].clone())
}

fn evaluated(client: &mut Client, frame: &Value, expression: &str, context: &str) -> Value {
    let arguments = json!({
        "expression": expression, "frameId": frame["id"], "context": context,
    });
    client.ask("evaluate", arguments)
}

#[test]
fn frames_are_named_as_the_client_asks() {
    let (mut client, thread, inner, outer) = stopped();
    for (format, begin, end) in [
        (json!({}), "place", "place"),
        (
            json!({ "parameters": true, "hex": true }),
            "place(int first = 0xff, node * second = 0x",
            ", kind third = 0x0)",
        ),
        (
            json!({ "parameters": true, "parameterNames": true, "parameterValues": true }),
            "place(first = 255, second = 0x",
            ", third = small)",
        ),
        (
            json!({ "parameters": true, "parameterTypes": true }),
            "place(int, node *, kind)",
            "place(int, node *, kind)",
        ),
        (json!({ "module": true }), "", "!place"),
        (json!({ "line": true }), "place", "place line 10"),
    ] {
        let arguments = json!({ "threadId": thread, "levels": 1, "format": format });
        let stack = client.ask("stackTrace", arguments);
        let name = stack["stackFrames"][0]["name"].as_str().unwrap();
        assert!(name.starts_with(begin) && name.ends_with(end), "{name}");
    }
    let arguments = client.scope(&inner, "Arguments")["variablesReference"].clone();
    let hex = json!({ "hex": true });
    let all = client.ask(
        "variables",
        json!({ "variablesReference": arguments, "format": hex }),
    );
    assert_eq!(all["variables"][0]["value"], "0xff");
    let set = json!({
        "variablesReference": arguments, "name": "first", "value": "16", "format": hex,
    });
    assert_eq!(client.ask("setVariable", set)["value"], "0x10");
    let set = json!({
        "expression": "begin.value", "value": "17", "frameId": outer["id"], "format": hex,
    });
    assert_eq!(client.ask("setExpression", set)["value"], "0x11");
    client.leave();
}

#[test]
fn a_copy_is_whole() {
    let (mut client, _, _, outer) = stopped();
    let short = evaluated(&mut client, &outer, "numbers", "watch");
    assert!(short["result"].as_str().unwrap().len() < 500);
    let whole = evaluated(&mut client, &outer, "numbers", "clipboard");
    let text = whole["result"].as_str().unwrap();
    assert!(text.ends_with(", 4998, 4999}"), "{text}");
    client.leave();
}

#[test]
fn a_client_that_does_not_page_gets_a_first_page() {
    let (mut client, _, _, outer) = stopped();
    let numbers = evaluated(&mut client, &outer, "numbers", "watch");
    assert_eq!(numbers["indexedVariables"], 5000);
    let all = client.variables(&numbers["variablesReference"]);
    assert_eq!(all.len(), 1001);
    assert_eq!(all[999]["name"], "[999]");
    let rest = all[1000]["value"].as_str().unwrap();
    assert_eq!(rest, "4000 more parts, from 1000 on, of 5000");
    let arguments = json!({
        "variablesReference": numbers["variablesReference"], "start": 4000, "count": 1000,
    });
    let page = client.ask("variables", arguments);
    let page = page["variables"].as_array().unwrap();
    assert_eq!((page.len(), &page[999]["value"]), (1000, &json!("4999")));
    client.leave();
}

#[test]
fn a_reference_to_memory_is_where_a_pointer_points() {
    let (mut client, _, inner, outer) = stopped();
    let begin = evaluated(&mut client, &outer, "&begin", "watch");
    let object = evaluated(&mut client, &outer, "begin", "watch");
    assert_eq!(begin["memoryReference"], object["memoryReference"]);
    let arguments = client.scope(&inner, "Arguments")["variablesReference"].clone();
    let second = client.variable(&arguments, "second");
    assert_eq!(second["memoryReference"], object["memoryReference"]);
    let reference = evaluated(&mut client, &outer, "reference", "watch");
    assert_eq!(reference["memoryReference"], object["memoryReference"]);
    let nothing = evaluated(&mut client, &outer, "1 + 2", "watch");
    assert_eq!(nothing.get("memoryReference"), None);
    client.leave();
}

/// The `memory` event about a reference.
#[track_caller]
fn changed(client: &mut Client, reference: &Value) -> (i64, i64) {
    let event = client.wait("memory", |message| {
        message["event"] == "memory" && message["body"]["memoryReference"] == *reference
    });
    let body = &event["body"];
    let numbers = [&body["offset"], &body["count"]].map(|it| it.as_i64().unwrap());
    (numbers[0], numbers[1])
}

#[test]
fn changes_of_memory_are_told() {
    let (mut client, _, inner, outer) = stopped();
    let numbers = evaluated(&mut client, &outer, "numbers", "watch")["memoryReference"].clone();
    client.ask(
        "readMemory",
        json!({ "memoryReference": numbers, "count": 64 }),
    );
    client.repl("set var numbers[3] = 9");
    assert_eq!(changed(&mut client, &numbers), (12, 4));
    let set = json!({ "expression": "numbers[4]", "value": "1", "frameId": outer["id"] });
    client.ask("setExpression", set);
    assert_eq!(changed(&mut client, &numbers), (16, 4));
    let write = json!({ "memoryReference": numbers, "offset": 8, "data": "AAAAAA==" });
    client.ask("writeMemory", write);
    assert_eq!(changed(&mut client, &numbers), (8, 4));
    let arguments = client.scope(&inner, "Arguments")["variablesReference"].clone();
    let first = client.variable(&arguments, "first");
    let set = json!({ "variablesReference": arguments, "name": "first", "value": "3" });
    client.ask("setVariable", set);
    assert_eq!(changed(&mut client, &first["memoryReference"]), (0, 4));
    // A function of the program may change anything.
    client.ask("setFunctionBreakpoints", json!({ "breakpoints": [] }));
    client.repl("print place(1, second, third)");
    assert_eq!(changed(&mut client, &numbers), (0, 64));
    let count = |client: &Client| {
        let all = client.history.iter();
        all.filter(|message| message["event"] == "memory").count()
    };
    let before = count(&client);
    client.repl("output numbers[3]");
    assert_eq!(count(&client), before);
    client.leave();
}

#[test]
fn a_value_is_set_as_it_is_shown() {
    let (mut client, _, _, outer) = stopped();
    let locals = client.scope(&outer, "Locals")["variablesReference"].clone();
    let mut set = |name: &str, value: &str| {
        let arguments = json!({ "variablesReference": locals, "name": name, "value": value });
        client.ask("setVariable", arguments)["value"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    // A value is taken as it is shown, and shown again.
    for (name, value) in [
        ("text", "\"ben\""),
        ("text", "\"someone else..\""),
        ("letter", "98 'b'"),
        ("byte", "201 '\\311'"),
        ("shade", "RED"),
        ("shade", "BLUE"),
        ("size", "large"),
        ("truth", "false"),
        ("half", "0.25"),
    ] {
        assert_eq!(set(name, value), value, "{name}");
    }
    assert_eq!(set("letter", "'c'"), "99 'c'");
    let scope = client.variables(&locals);
    let shown = |name: &str| {
        let found = scope.iter().find(|it| it["name"] == name).unwrap();
        found["value"].as_str().unwrap().to_owned()
    };
    let (function, end) = (shown("function"), shown("begin"));
    assert!(function.contains("place"), "{function} {end}");
    let mut set = |name: &str, value: &str| {
        let arguments = json!({ "variablesReference": locals, "name": name, "value": value });
        client.ask("setVariable", arguments)["value"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(set("function", &function), function);
    let pointer = evaluated(&mut client, &outer, "name", "watch")["result"].clone();
    let again = json!({ "expression": "name", "value": pointer, "frameId": outer["id"] });
    assert_eq!(client.ask("setExpression", again)["value"], pointer);
    for (name, value) in [
        ("text", "\"much longer than the array\""),
        ("letter", "b 'b'"),
    ] {
        let arguments = json!({ "variablesReference": locals, "name": name, "value": value });
        client.refused("setVariable", arguments);
    }
    client.leave();
}

#[test]
fn registers_are_set_or_say_why_not() {
    let (mut client, thread, inner, outer) = stopped();
    let _ = outer;
    let registers = client.scope(&inner, "Registers")["variablesReference"].clone();
    let all = client.variables(&registers);
    let flags = all
        .iter()
        .find(|it| it["name"] == "eflags")
        .unwrap()
        .clone();
    let value = flags["value"].as_str().unwrap();
    assert!(value.contains("IF"), "{value}");
    let set = |client: &mut Client, container: &Value, name: &str, value: &str| {
        let arguments = json!({ "variablesReference": container, "name": name, "value": value });
        client.ask("setVariable", arguments)["value"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(set(&mut client, &registers, "eflags", value), value);
    let carried = set(&mut client, &registers, "eflags", "[CF ZF IF]");
    assert!(
        carried.contains("CF") && carried.contains("ZF"),
        "{carried}"
    );
    assert!(!carried.contains("SF"), "{carried}");
    assert_eq!(client.repl("print $eflags & 0x41"), "$1 = 65");
    let words = client.refused(
        "setVariable",
        json!({ "variablesReference": registers, "name": "eflags", "value": "0" }),
    );
    assert!(words.contains("only the flags CF"), "{words}");
    client.repl("set var $eax = 7");
    assert_eq!(client.repl("output $eax"), "7");
    client.repl("set var $al = 9");
    assert_eq!(client.repl("output $ax"), "9");

    let segments = all.iter().find(|it| it["name"] == "segments").unwrap();
    let segments = segments["variablesReference"].clone();
    let within = client.variables(&segments);
    let find = |name: &str| within.iter().find(|it| it["name"] == name).unwrap();
    assert_eq!(find("cs")["value"], "0x33");
    let base = find("fs_base")["value"].as_str().unwrap().to_owned();
    assert_eq!(set(&mut client, &segments, "fs_base", &base), base);
    assert_eq!(set(&mut client, &segments, "gs_base", "0x1000"), "0x1000");
    let read_only = json!(["readOnly"]);
    assert_eq!(find("cs")["presentationHint"]["attributes"], read_only);
    let words = client.refused(
        "setVariable",
        json!({ "variablesReference": segments, "name": "cs", "value": "1" }),
    );
    assert!(words.contains("`$cs` cannot be set"), "{words}");
    let words = client.refused(
        "setExpression",
        json!({ "expression": "$ymm0", "value": "1", "frameId": inner["id"] }),
    );
    assert!(words.contains("`$ymm0` cannot be set"), "{words}");
    let _ = thread;
    client.leave();
}
