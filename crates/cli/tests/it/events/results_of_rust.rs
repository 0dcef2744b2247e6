//! Results of functions of Rust, in registers and in memory, at every level of
//! optimization, in events and after `finish`.

use crate::support::dialog::dialog;
use crate::support::{Batch, program, property_of};
use juror_testing::{Build, Language};
use serde_json::{Value, json};

const EVENTS: &str = "
    event make = after returned::make(n, e = ret == Err, none = ret.0 == None)
    event three = after returned::three(n, a = ret.a, c = ret.c)
    event forwarded = after returned::forwarded(n, b = ret.b)
    event looped = after returned::looped(n, all = ret[0..4])
    event option = after returned::option(n, none = ret == None)
    event narrow = after returned::narrow(n, ok = ret == Ok, v = ret.0)
    event text = after returned::text(n, none = ret == None)
    event pair = after returned::pair(n, a = ret.0, b = ret.1)
    event small = after returned::small(n, a = ret.a, b = ret.b)
    event float = after returned::float(n, v = ret)
    event floats = after returned::floats(n, x = ret.x, y = ret.y)
    event mixed = after returned::mixed(n, x = ret.x, k = ret.n)
    event wide = after returned::wide(n, v = ret)
    event word = after returned::word(n, even = ret == \"even\")";

fn builds() -> Vec<Build> {
    let mut builds = Build::all_of(Language::Rust);
    builds.retain(|build| build.pie);
    builds.extend(Build::light_of(Language::Rust));
    builds
}

#[test]
fn events_have_what_functions_of_rust_return() {
    for build in builds() {
        let executable = program("returned.rs").compile(&build);
        let report = Batch::watching(&property_of(EVENTS)).run(&executable, &[]);
        let of = |make: &dyn Fn(u64) -> Value| (0..6).map(make).collect::<Vec<_>>();
        for (event, name, expected) in [
            ("make", "e", of(&|n| json!(n == 5))),
            ("forwarded", "b", of(&|n| json!(n + 11))),
            ("option", "none", of(&|n| json!(n % 2 == 0))),
            ("narrow", "ok", of(&|n| json!(n % 2 == 0))),
            (
                "narrow",
                "v",
                of(&|n| json!(if n % 2 == 0 { n } else { n + 100 })),
            ),
            ("text", "none", of(&|n| json!(n % 2 == 0))),
            ("pair", "a", of(&|n| json!(n))),
            ("pair", "b", of(&|n| json!(n + 1))),
            ("small", "a", of(&|n| json!(n))),
            ("small", "b", of(&|n| json!(n + 300))),
            ("float", "v", of(&|n| json!(n as f64 + 0.5))),
            ("floats", "x", of(&|n| json!(n as f64 + 0.5))),
            ("floats", "y", of(&|n| json!(n as f64 + 0.25))),
            ("mixed", "x", of(&|n| json!(n as f64 + 0.5))),
            ("mixed", "k", of(&|n| json!(n))),
            ("word", "even", of(&|n| json!(n % 2 == 0))),
            (
                "looped",
                "all",
                of(&|n| json!(format!("[{}, {}, {}, {}]", n + 1, n + 2, n + 3, n + 4))),
            ),
        ] {
            assert_eq!(
                report.values(event, name),
                expected,
                "{event}.{name}, {build}"
            );
        }
        let none = report.values("make", "none");
        assert_eq!(
            none[..5],
            [true, false, false, false, false].map(Value::from),
            "{build}"
        );
        for (n, value) in report
            .values("three", "n")
            .iter()
            .zip(report.values("three", "c"))
        {
            let n = n.as_u64().expect("a number");
            assert_eq!(value, json!(n + 2), "{build}");
        }
    }
}

#[test]
fn finish_shows_what_a_function_of_rust_returns_or_that_it_is_not_known() {
    for build in builds() {
        let executable = program("returned.rs").compile(&build);
        let commands = [
            "break returned::make",
            "run",
            "finish",
            "continue",
            "finish",
            "continue",
            "finish",
            "continue",
            "finish",
            "continue",
            "finish",
            "continue",
            "finish",
            "kill",
        ];
        let answers = dialog(&executable, &commands);
        for (at, expected) in [
            (2, "Ok(None)"),
            (4, "Ok(Some(Int(7)))"),
            (6, "Bulk([1, 2, 3])"),
            (8, "Simple(\"s3\")"),
            (10, "Null"),
            (12, "Err(\"e5\")"),
        ] {
            let is_known = answers[at].contains(expected);
            let is_said = answers[at].contains("not known");
            assert!(is_known || is_said, "{expected}, {build}: {answers:?}");
        }
        // In the middle of a function that has called others.
        let commands = [
            "break returned::three",
            "run",
            "continue",
            "continue",
            "up",
            "delete",
            "finish",
            "kill",
        ];
        let answers = dialog(&executable, &commands);
        let is_right = answers[6].contains("[1, 2, 3, 4]") || answers[6].contains("not known");
        assert!(
            is_right || !answers[4].contains("looped"),
            "{build}: {answers:?}"
        );
    }
}
