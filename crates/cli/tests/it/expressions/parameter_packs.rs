//! Parameter packs, instances of templates and closures, for both compilers. gcc describes
//! the parameters of a pack without names, clang gives all of them the same name.

use crate::support::printed::{check, plain_builds, printed};
use crate::support::{Batch, program, property_of};
use juror_testing::{Build, Language, Optimization};
use serde_json::Value;
use std::path::Path;

/// The values of the arguments that `info args` lists, in order.
fn arguments_at(build: &Build, function: &str, listed: &str) -> Vec<String> {
    let report = Batch::new()
        .command(&format!("break {function}"))
        .command("run")
        .command(listed)
        .run(program("packs.cpp").compile(build), &[]);
    let values = report.outcome(listed).clone();
    let values = values.as_array().cloned().unwrap_or_default();
    let value = |it: &Value| it["value"].as_str().unwrap_or_default().to_owned();
    values.iter().map(value).collect()
}

#[test]
fn the_parameters_of_a_pack_are_arguments() {
    for build in Build::all_of(Language::Cpp) {
        let expected: &[&str] = match build.optimization {
            Optimization::None => &["0", "10", "2.5"],
            // A copy for one call has no constant arguments.
            _ => &["0", "10"],
        };
        let told = arguments_at(&build, "tell", "info args");
        assert_eq!(
            told.get(..expected.len()).unwrap_or(&told),
            expected,
            "{build}"
        );
        let inlined = arguments_at(&build, "inlined", "info args");
        assert_eq!(inlined, ["0", "7", "8"], "{build}");
    }
}

#[test]
fn the_arguments_of_inlined_calls_are_in_the_order_of_their_own_function() {
    for build in Build::all_of(Language::Cpp) {
        let inner = arguments_at(&build, "inner", "info args");
        assert_eq!(inner, ["50", "20"], "{build}");
    }
}

#[test]
fn events_have_the_parameters_behind_a_pack() {
    for build in plain_builds(Language::Cpp) {
        let events = "
            event told  = before tell(level, first = arg 2, second = arg 3)
            event ended = before last(second = arg 2, third = arg 3)";
        let executable = program("packs.cpp").compile(&build);
        let report = Batch::watching(&property_of(events)).run(executable, &[]);
        assert_eq!(
            report.occurrences("told"),
            report.printed("told"),
            "{build}"
        );
        let numbers = |from: i64| [0, 1, 2].map(|it| Value::from(from + it));
        assert_eq!(report.values("told", "first"), numbers(10), "{build}");
        assert_eq!(report.values("told", "second"), [2.5, 2.5, 2.5], "{build}");
        assert_eq!(report.values("ended", "second"), numbers(2), "{build}");
        assert_eq!(report.values("ended", "third"), numbers(40), "{build}");
    }
}

#[test]
fn calls_mean_the_instance_for_their_arguments() {
    let table = [
        ("any(1)", "4"),
        ("any(2.5)", "5.5"),
        ("both(5, 3)", "2"),
        ("plain(4)", "12"),
        ("counter.twice(1)", "7"),
        ("counter.twice(2.5)", "10"),
        ("counter.next(3)", "4"),
        ("Counter::next(3)", "4"),
        ("counter.many(1, 2)", "2"),
        ("counter.many()", "0"),
        ("later(1)", "11"),
        ("later(2.5)", "12.5"),
    ];
    for build in plain_builds(Language::Cpp) {
        let executable = program("packs.cpp").compile(&build);
        let expected: Vec<&str> = table.iter().map(|(_, value)| *value).collect();
        assert_eq!(printed(&executable, &table), expected, "{build}");
    }
}

/// The compiler would make another instance, which the program does not have.
#[test]
fn no_instance_takes_an_argument_of_another_kind() {
    for build in plain_builds(Language::Cpp) {
        let executable = program("packs.cpp").compile(&build);
        for call in [
            "counter.next(2.5)",
            "Counter::next(2.5)",
            "counter.many(1)",
            "later(1u)",
            "later((short)1)",
            "later(1.5f)",
            "any(three == 3)",
        ] {
            assert_refused(&executable, call, "takes");
        }
    }
}

#[track_caller]
fn assert_refused(executable: &Path, call: &str, reason: &str) {
    let report = Batch::new()
        .command("break look")
        .command("run")
        .command("up")
        .command(&format!("print {call}"))
        .run(executable, &[]);
    let said = report.all();
    assert_eq!(report.output.code(), Some(2), "{call}: {said}");
    assert!(said.contains(reason), "{call}: {said}");
}

/// Rust converts no number, so that the instance for the argument's own type is meant. A
/// number that is written is an `i32` before it is of another type.
#[test]
fn a_call_of_rust_means_the_instance_for_the_type_of_its_argument() {
    let table = [
        ("scale.with(short)", "2021"),
        ("scale.with(long)", "4021"),
        ("scale.with(real)", "4001.5"),
        ("scale.with(7)", "4021"),
        ("scale.with(7u16)", "2021"),
        ("scale.with(-7)", "3979"),
        ("scale.with(0.5f32)", "4001.5"),
        ("scale.fixed(7, 2)", "14"),
        ("size(short)", "2"),
        ("size(wide)", "8"),
        ("size(2.5)", "8"),
        ("only(short)", "8"),
        ("only(5)", "6"),
        ("instances::only(5)", "6"),
    ];
    for build in plain_builds(Language::Rust) {
        check(&program("instances.rs").compile(&build), &build, &table);
    }
}

#[test]
fn no_instance_of_rust_takes_a_number_of_another_type() {
    for build in plain_builds(Language::Rust) {
        let executable = program("instances.rs").compile(&build);
        for call in [
            "scale.with(byte)",
            "scale.with(wide)",
            "scale.with(7u8)",
            "scale.fixed(long, 2)",
            "size(byte)",
            "size(real)",
            "only(long)",
            "only(2.5)",
        ] {
            assert_refused(&executable, call, "none of these takes such arguments");
        }
        for call in ["scale.bits()", "Scale::bits(&scale)"] {
            assert_refused(&executable, call, "several traits have such a method");
        }
    }
}
