//! Stacks of many frames.

use super::client::Client;
use juror_testing::Fixture;
use serde_json::{Value, json};

/// The calls of the recursion, without that of `main`.
const DEPTH: usize = 50;

fn recursion() -> Fixture {
    let source = format!(
        "static int deep(int n)\n{{\n    if (n == 0)\n        return 0;\n    \
         return 1 + deep(n - 1);\n}}\n\nint main(void)\n{{\n    return deep({}) != {};\n}}\n",
        DEPTH - 1,
        DEPTH - 1
    );
    Fixture::c("dap_recursion", &source)
}

#[test]
fn frames_are_read_by_page() {
    let program = recursion().compile_plain();
    let source = program.with_file_name("dap_recursion.c");
    let mut client = Client::start();
    client.launch(json!({ "program": program }));
    client.break_at(source.to_str().unwrap(), &[4]);
    let thread = client.begin()["threadId"].clone();
    let mut names = Vec::new();
    let mut first = 0;
    loop {
        let page = json!({ "threadId": thread, "startFrame": first, "levels": 20 });
        let answer = client.ask("stackTrace", page);
        let frames = answer["stackFrames"].as_array().unwrap().clone();
        let total = answer["totalFrames"].as_u64().unwrap() as usize;
        first += frames.len();
        names.extend(frames.iter().map(|frame| frame["name"].clone()));
        assert!(frames.len() <= 20 && total >= first, "{answer}");
        if total == first {
            break;
        }
    }
    let mut expected = vec![Value::from("deep"); DEPTH];
    expected.push("main".into());
    assert_eq!(names, expected);
    client.leave();
}
