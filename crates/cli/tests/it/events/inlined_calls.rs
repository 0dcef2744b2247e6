//! Events before inlined calls: each call is reported once, as the programs count them, or the
//! property is refused.

use crate::support::{Batch, Report, juror, program, property_of};
use juror_testing::{Build, Compiler, Fixture, Language, Optimization};
use serde_json::Value;
use std::path::Path;

/// The calls of `inlined_calls.c`: what it prints of them, and the event.
const CALLS: [(&str, &str); 6] = [
    ("push", "push(value)"),
    ("twice", "push_twice(first)"),
    ("rest", "rest_of(value)"),
    ("digits", "digits(number)"),
    ("step", "step(value)"),
    ("deep", "deep(depth)"),
];

fn optimized_by(compiler: Compiler, language: Language) -> Option<Build> {
    let mut builds = Build::all_of(language).into_iter();
    builds.find(|it| it.compiler == compiler && it.optimization == Optimization::Full)
}

fn watching(call: &str, option: &str) -> Batch {
    Batch::watching(&property_of(&format!("event e = before {call}"))).option(option)
}

/// Whether a property was refused since it is not certain where calls begin.
#[track_caller]
fn is_refused(report: &Report) -> bool {
    let is_refused = report.output.status.code() == Some(2);
    let why = &report.output.stderr;
    assert!(
        !is_refused || why.contains("error[inlined-function]"),
        "{why}"
    );
    is_refused
}

/// Each event happens as often as the program says, or is refused; gives which are seen.
#[track_caller]
fn check_counts<'a>(
    executable: &Path,
    calls: &[(&'a str, &str)],
    option: &str,
    case: &str,
) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for rounds in ["10", "23"] {
        seen.clear();
        for (word, call) in calls {
            let report = watching(call, option).run(executable, &[rounds]);
            if is_refused(&report) {
                continue;
            }
            let printed = report.printed(word);
            assert_eq!(report.occurrences("e"), printed, "{case}: {}", report.all());
            seen.push(*word);
        }
    }
    seen
}

#[test]
fn inlined_calls_of_c_are_seen_once() {
    for build in Build::all() {
        let executable = program("inlined_calls.c").compile(&build);
        let option = match build.compiler {
            Compiler::Gcc => "--at-inlined",
            _ => "--at-inlined=likely",
        };
        let seen = check_counts(&executable, &CALLS, option, &build.to_string());
        let expected: &[&str] = match (build.optimization, build.compiler) {
            (Optimization::Full, Compiler::Gcc) => &["push", "twice", "rest", "step"],
            (Optimization::Full, _) => &["rest"],
            _ => &["push", "twice", "rest", "digits", "step", "deep"],
        };
        for call in expected {
            assert!(seen.contains(call), "{build}: {call} of {seen:?}");
        }
    }
}

#[test]
fn inlined_methods_and_instances_are_seen_once() {
    let calls = [
        ("add", "Account::add(amount)"),
        ("int", "\"larger<int>\"(one, other)"),
        ("double", "\"larger<double>\"(one, other)"),
    ];
    for build in Build::all_of(Language::Cpp) {
        let executable = program("inlined_methods.cpp").compile(&build);
        let seen = check_counts(
            &executable,
            &calls,
            "--at-inlined=likely",
            &build.to_string(),
        );
        assert_eq!(seen, ["add", "int", "double"], "{build}");
    }
}

#[test]
fn inlined_instances_of_rust_are_seen_once() {
    let calls = [("larger", "larger(one, other)"), ("put", "put(thing)")];
    for build in Build::all_of(Language::Rust) {
        let executable = program("inlined_generics.rs").compile(&build);
        let seen = check_counts(
            &executable,
            &calls,
            "--at-inlined=likely",
            &build.to_string(),
        );
        assert!(seen.contains(&"larger"), "{build}: {seen:?}");
    }
}

/// The values of an event, each time that it happened.
#[track_caller]
fn values_of(executable: &Path, call: &str, name: &str) -> Vec<Value> {
    let report = watching(call, "--at-inlined").run(executable, &["10"]);
    report.assert_code(0);
    report.values("e", name)
}

#[test]
fn arguments_are_those_of_the_call_or_none() {
    let Some(build) = optimized_by(Compiler::Gcc, Language::C) else {
        return;
    };
    let plain = program("inlined_calls.c").compile_plain();
    let optimized = program("inlined_calls.c").compile(&build);
    for (_, call) in CALLS
        .iter()
        .filter(|(word, _)| !["digits", "deep"].contains(word))
    {
        let (_, name) = call.split_once('(').expect("a parameter");
        let name = name.trim_end_matches(')');
        let expected = values_of(&plain, call, name);
        let found = values_of(&optimized, call, name);
        assert_eq!(found.len(), expected.len(), "{call}");
        let mut known = 0;
        for (found, expected) in found.iter().zip(&expected) {
            if found.is_number() {
                assert_eq!(found, expected, "{call}");
                known += 1;
            }
        }
        assert!(known > 0, "{call}: {found:?}");
        // By its place among the parameters, too.
        let (function, _) = call.split_once('(').expect("a function");
        let by_place = format!("{function}({name} = arg 1)");
        assert_eq!(values_of(&optimized, &by_place, name), found, "{call}");
    }
}

#[test]
fn the_caller_is_the_function_around() {
    let Some(build) = optimized_by(Compiler::Gcc, Language::C) else {
        return;
    };
    let executable = program("inlined_calls.c").compile(&build);
    let callers = |option: &str| -> Vec<Value> {
        let call = "push(who = caller, back = return_address)";
        let report = watching(call, option).run(&executable, &["2"]);
        report.assert_code(0);
        assert!(report.values("e", "back").iter().all(|it| !it.is_number()));
        report.values("e", "who")
    };
    let expected = [
        "push_twice",
        "push_twice",
        "outer",
        "main",
        "push_twice",
        "push_twice",
        "outer",
    ];
    assert_eq!(callers("--at-inlined"), expected);
}

/// Calls that begin at one instruction.
const NESTED: &str = "
    property order
    event twice = before push_twice(first)
    event push = before push(value)
    state outside accepting { on twice -> first on push -> outside }
    state first non-accepting { on push -> second on twice -> wrong }
    state second non-accepting { on push -> outside on twice -> wrong }
    state wrong non-accepting final
";

#[test]
fn calls_that_begin_together_come_from_the_outside_in() {
    for build in Build::all() {
        if build.compiler != Compiler::Gcc {
            continue;
        }
        let executable = program("inlined_calls.c").compile(&build);
        let report = Batch::watching(NESTED)
            .option("--at-inlined")
            .run(&executable, &["9"]);
        report.assert_code(0);
        assert_eq!(
            report.occurrences("twice"),
            report.printed("twice"),
            "{build}"
        );
        assert_eq!(
            report.occurrences("push"),
            report.printed("push"),
            "{build}"
        );
    }
}

#[test]
fn an_event_that_becomes_needed_by_the_call_around_is_seen() {
    // Nothing is watched within the first call until that has begun, at the same instruction.
    let property = "
        property first
        event twice = before push_twice(first)
        event push = before push(value)
        state outside accepting { on twice -> inside }
        state inside accepting { on push -> done }
        state done accepting final";
    let Some(build) = optimized_by(Compiler::Gcc, Language::C) else {
        return;
    };
    let executable = program("inlined_calls.c").compile(&build);
    let report = Batch::watching(property)
        .option("--at-inlined")
        .run(&executable, &["3"]);
    report.assert_code(0);
    let values: Vec<Value> = report.values("push", "value");
    assert_eq!(values, [0], "{}", report.all());
}

#[test]
fn a_trace_tells_the_same_as_the_run() {
    let Some(build) = optimized_by(Compiler::Gcc, Language::C) else {
        return;
    };
    let executable = program("inlined_calls.c").compile(&build);
    let directory = tempfile::tempdir().expect("a directory");
    let property = directory.path().join("p.prop");
    let trace = directory.path().join("run.jsonl");
    let text = "property few
        event push = before push(value)
        var seen = 0
        state few accepting { on push when seen < 11 { seen += 1 } else -> many }
        state many non-accepting final";
    std::fs::write(&property, text).expect("it is written");
    let (property, trace) = (
        property.to_str().expect("a name"),
        trace.to_str().expect("a name"),
    );
    let executable = executable.to_str().expect("a name");
    let live = juror(&[
        "run",
        "--batch",
        "--at-inlined",
        "--property",
        property,
        "--trace",
        trace,
        executable,
    ])
    .run();
    let offline = juror(&["check", "--property", property, trace]).run();
    for output in [&live, &offline] {
        let said = output.stdout.clone() + &output.stderr;
        assert_eq!(output.code(), Some(1), "{said}");
        assert!(said.contains("inlined_calls.c:"), "{said}");
    }
    // The path of the violation, and its values.
    let path = |text: &str| -> Vec<String> {
        let steps = text.lines().filter(|line| line.contains("--push("));
        steps.map(|step| step.trim_start().to_owned()).collect()
    };
    assert_eq!(path(&live.stdout).len(), 12, "{}", live.stdout);
    assert_eq!(path(&live.stdout), path(&offline.stdout));
}

#[test]
fn a_violation_is_shown_in_the_inlined_call() {
    let Some(build) = optimized_by(Compiler::Gcc, Language::C) else {
        return;
    };
    let executable = program("inlined_calls.c").compile(&build);
    for (call, expected) in [("push_twice(first)", "push_twice"), ("push(value)", "push")] {
        let property = format!(
            "property p\nevent e = before {call}\nstate a accepting {{ on e -> b }}\nstate b non-accepting final\n"
        );
        let report = Batch::new()
            .property(&property)
            .option("--at-inlined")
            .command("break push")
            .command("run")
            .command("bt")
            .run(&executable, &["3"]);
        let shown = report.all();
        let stop = report.stop();
        let frame = &stop["backtrace"][0];
        assert_eq!(frame["location"]["function"], expected, "{shown} {stop}");
        assert_eq!(frame["inlined"], true, "{shown}");
    }
}

#[test]
fn the_prompt_asks_for_events_at_inlined_calls() {
    let Some(build) = optimized_by(Compiler::Gcc, Language::C) else {
        return;
    };
    let executable = program("inlined_calls.c").compile(&build);
    let directory = tempfile::tempdir().expect("a directory");
    let property = directory.path().join("p.prop");
    std::fs::write(&property, property_of("event e = before push(value)")).expect("written");
    let add = format!("property add {}", property.display());
    for (setting, is_accepted) in [
        ("set at-inlined off", false),
        ("set ignore-inlined on", true),
        ("set at-inlined marked", true),
        ("set at-inlined likely", true),
    ] {
        let report = Batch::new()
            .command("break main")
            .command("run")
            .command(setting)
            .command(&add)
            .command("continue")
            .run(&executable, &["4"]);
        let shown = report.all() + &report.output.stderr;
        assert_eq!(
            !shown.contains("inlined-function"),
            is_accepted,
            "{setting}: {shown}"
        );
        if is_accepted && setting.contains("at-inlined") {
            assert_eq!(report.occurrences("e"), report.printed("push"), "{setting}");
        }
    }
}

#[test]
fn checkpoints_bring_events_at_inlined_calls_back() {
    let Some(build) = optimized_by(Compiler::Gcc, Language::C) else {
        return;
    };
    let executable = program("inlined_calls.c").compile(&build);
    let report = Batch::watching(&property_of("event e = before push(value)"))
        .option("--at-inlined")
        .command("break outer")
        .command("run")
        .command("checkpoint")
        .command("continue")
        .command("restore")
        .command("delete")
        .command("continue")
        .run(&executable, &["4"]);
    assert_eq!(
        report.occurrences("e"),
        report.printed("push"),
        "{}",
        report.all()
    );
    // The events after the checkpoint happened twice, and were reported twice.
    let reported = report.changes("e").len() as u64;
    assert!(reported > report.occurrences("e"), "{}", report.all());
}

#[test]
fn the_ends_of_inlined_calls_are_refused() {
    let Some(build) = optimized_by(Compiler::Gcc, Language::C) else {
        return;
    };
    let executable = program("inlined_calls.c").compile(&build);
    let property = property_of("event e = after push(value)");
    let report = Batch::watching(&property)
        .option("--at-inlined")
        .run(&executable, &["3"]);
    report.assert_code(2);
    let shown = &report.output.stderr;
    assert!(shown.contains("inlined calls have no return"), "{shown}");
}

/// A loop of calls that are made at once.
const ROUNDS: &str = "
    #include <stdio.h>
    int table[4] = {4, 3, 2, 1};
    int calls;
    static int mix(int value) { calls++; return (value ^ 3) + 7; }
    int main(void)
    {
        for (int i = 0; i < 4; i++)
            table[i] = mix(table[i]);
        printf(\"calls %d %d\\n\", calls, table[2]);
        return 0;
    }";

#[test]
fn code_that_stands_for_several_calls_is_refused() {
    let fixture = Fixture::c("rounds", ROUNDS);
    for build in Build::all() {
        let executable = fixture.compile(&build);
        let report = watching("mix(value)", "--at-inlined").run(&executable, &[]);
        match build.optimization {
            Optimization::Full => assert!(is_refused(&report), "{build}"),
            _ => assert_eq!(report.occurrences("e"), report.printed("calls"), "{build}"),
        }
    }
}

/// That a library's function has other parameters is a mistake where the program has none
/// of that name, also where calls of it were inlined and need not be seen.
#[test]
fn a_misspelt_parameter_of_a_library_is_told() {
    let library = "
        inline __attribute__((always_inline)) int push(int value) { return value + 1; }
        extern inline int push(int value);
        int twice(int value) { return push(value) + push(value + 1); }";
    let library = Fixture::c("pushing", library).argument("-shared");
    let library = library.argument("-fPIC").compile_plain();
    let user = "
        int push(int);
        int twice(int);
        int main(void) { return push(1) + twice(2) - 9; }";
    let user = Fixture::c("pushed", user).argument("-Wl,--no-as-needed");
    let user = user.argument(&library.display().to_string());
    let executable = user.compile_plain();
    for (parameter, code) in [("value", 0), ("valeu", 2)] {
        let report = watching(&format!("push({parameter})"), "--ignore-inlined");
        let report = report.run(&executable, &[]);
        report.assert_code(code);
        let is_told = report.output.stderr.contains("did you mean `value`?");
        assert_eq!(is_told, code == 2, "{}", report.all());
    }
}
