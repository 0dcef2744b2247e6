//! The points of a client are set by calls with values: no hook, alias or quote of a command line
//! takes part.

use super::client::Client;
use juror_testing::{Fixture, compile_c};
use serde_json::{Value, json};

const PROGRAM: &str = "\
int total;
static void add(int n)
{
    total += n;
}
int main(void)
{
    for (int i = 1; i <= 5; i++)
        add(i);
    return total;
}
";

/// Launches a program whose source is beside it, after the commands of an init file.
fn launched(init: &str, program: &std::path::Path) -> Client {
    let mut client = Client::start_with(init, &[]);
    client.launch(json!({ "program": program }));
    client
}

#[test]
fn a_hook_of_break_leaves_the_points_of_the_client_alone() {
    let program = Fixture::c("dap_hooked", PROGRAM).compile_plain();
    let source = program.with_file_name("dap_hooked.c");
    let init = "break main\ndefine hook-break\necho setting\\n\nend\n";
    let mut client = launched(init, &program);
    let set = client.ask(
        "setBreakpoints",
        json!({
            "source": { "path": source },
            "breakpoints": [{ "line": 4, "condition": "n == 3" }, { "line": 10 }],
        }),
    );
    let verified = |set: &Value| {
        let all = set["breakpoints"].as_array().expect("a list").clone();
        all.iter().all(|it| it["verified"] == true)
    };
    assert!(verified(&set), "{set}");
    let mut stop = client.begin();
    let mut lines = Vec::new();
    for _ in 0..3 {
        let top = client.top(&stop["threadId"]);
        lines.push(top["line"].clone());
        stop = if lines.len() < 3 {
            client.resume("continue", &stop["threadId"])
        } else {
            stop
        };
    }
    assert_eq!(json!(lines), json!([8, 4, 10]));
    let output = client.leave();
    assert!(!output["console"].contains("setting"), "{output:?}");
}

#[test]
fn a_path_may_have_quotes_and_spaces() {
    for name in ["it's if", "a \"b\"", "x:3"] {
        let directory = tempfile::tempdir().expect("a directory");
        let place = directory.path().join(name);
        std::fs::create_dir(&place).expect("it is created");
        let program = place.join("quoted");
        compile_c(&program, PROGRAM, &["-g", "-O0"]);
        let mut client = launched("", &program);
        let source = program.with_extension("c");
        let set = client.break_at(source.to_str().expect("text"), &[4]);
        assert_eq!(set[0]["verified"], true, "{name}: {set}");
        let stop = client.begin();
        assert_eq!(client.top(&stop["threadId"])["line"], 4, "{name}");
        client.leave();
    }
}

#[test]
fn the_questions_of_the_adapter_run_no_hook() {
    let program = Fixture::c("dap_hooked", PROGRAM).compile_plain();
    let source = program.with_file_name("dap_hooked.c");
    let hook = |name: &str| format!("define hook-{name}\necho hooked {name}\\n\nend\n");
    let init: String = [
        "info",
        "delete",
        "continue",
        "ignore",
        "condition",
        "enable",
    ]
    .map(hook)
    .concat();
    let mut client = launched(&init, &program);
    let source = source.to_str().expect("text");
    client.break_at(source, &[4, 10]);
    let stop = client.begin();
    client.ask("threads", json!({}));
    client.ask("modules", json!({}));
    client.break_at(source, &[10]);
    let last = client.resume("continue", &stop["threadId"]);
    assert_eq!(client.top(&last["threadId"])["line"], 10);
    // A typed line has its hook.
    assert!(client.repl("info program").contains("hooked info"));
    let output = client.leave();
    for text in output.values() {
        assert!(!text.contains("hooked"), "{output:?}");
    }
}

#[test]
fn points_are_replaced_by_the_thousand() {
    let statements = "    total++;\n".repeat(2_000);
    let program = format!("int total;\nint main(void)\n{{\n{statements}    return 0;\n}}\n");
    let program = Fixture::c("dap_thousands", &program).compile_plain();
    let source = program.with_file_name("dap_thousands.c");
    let source = source.to_str().expect("text");
    let mut client = launched("", &program);
    let numbers = |set: &Value| -> Vec<i64> {
        let all = set.as_array().expect("a list").clone();
        assert!(all.iter().all(|it| it["verified"] == true));
        all.iter().filter_map(|it| it["id"].as_i64()).collect()
    };
    let all: Vec<u32> = (4..2_004).collect();
    let first = numbers(&client.break_at(source, &all));
    let odd: Vec<u32> = all.iter().copied().filter(|line| line % 2 == 1).collect();
    let second = numbers(&client.break_at(source, &odd));
    // Points that stay keep their numbers.
    let kept: Vec<i64> = first.iter().skip(1).step_by(2).copied().collect();
    assert_eq!(second, kept);
    let stop = client.begin();
    assert_eq!(client.top(&stop["threadId"])["line"], 5);
    let next = client.resume("continue", &stop["threadId"]);
    assert_eq!(client.top(&next["threadId"])["line"], 7);
    client.leave();
}
