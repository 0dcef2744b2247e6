//! Breakpoints in libraries that are loaded and unloaded.
//!
//! The scenario of Barnett, Börger, Gurevich, Schulte and Veanes, *Using Abstract State
//! Machines at Microsoft: A Case Study*: a breakpoint is bound in two modules, one of them is
//! unloaded, and the other one must still stop.

use crate::support::{Batch, Report, base_name, program};
use juror_testing::{Build, Fixture, Language};
use serde_json::Value;
use std::path::PathBuf;

/// A library of which there are two.
fn library(build: &Build, is_second: bool) -> PathBuf {
    let fixture: Fixture = program("module.c").argument("-shared").argument("-fPIC");
    if is_second {
        fixture.define("SECOND").compile(build)
    } else {
        fixture.compile(build)
    }
}

/// Runs the steps under these commands; every stop but the last command's goes
/// on by `continue`.
fn run(build: &Build, steps: &str, commands: &[&str]) -> Report {
    let libraries = [library(build, false), library(build, true)];
    let [first, second] = libraries.each_ref().map(|path| path.to_str().unwrap());
    let batch = commands
        .iter()
        .fold(Batch::new(), |batch, command| batch.command(command));
    let executable = program("modules.c").argument("-ldl").compile(build);
    batch.run(executable, &[steps, first, second])
}

/// Of each stop, the library: `A`, `B`, or `-` for the program itself.
fn stops(report: &Report, build: &Build) -> String {
    let names = [false, true].map(|second| {
        let path = library(build, second);
        path.file_name().unwrap().to_str().unwrap().to_owned()
    });
    let letter = |stop: &Value| {
        let module = base_name(&stop["location"]["module"]);
        match names.iter().position(|name| name == module) {
            Some(0) => 'A',
            Some(_) => 'B',
            None => '-',
        }
    };
    report.kind("stop").map(letter).collect()
}

#[track_caller]
fn check(steps: &str, commands: &[&str], expected: &str) {
    check_build(&Build::plain(Language::C), steps, commands, expected);
}

#[track_caller]
fn check_build(build: &Build, steps: &str, commands: &[&str], expected: &str) {
    let report = run(build, steps, commands);
    let found = stops(&report, build);
    assert_eq!(found, expected, "{build}: {}", report.all());
    assert!(report.output.stdout.contains("early 1"), "{}", report.all());
}

#[test]
fn unloading_one_library_leaves_the_other() {
    for build in Build::all_of(Language::C) {
        check_build(&build, "AB12a2A12b1", &["break work"], "ABBABA");
    }
    check("AB12a2A12b1", &["break module.c:10"], "ABBABA");
    // What comes back is somewhere else: where the other was.
    check("AB1abBA12", &["break work"], "AAB");
}

#[test]
fn constructors_and_destructors_of_libraries_stop() {
    check("AB12ab", &["break arrive"], "AB");
    check("AaBb", &["break leave"], "AB");
    // Each loads, works and goes.
    check("A1aB2bAa", &["break note"], "AAABBBAA");
}

#[test]
fn constructors_of_the_program_stop_before_main() {
    check("A", &["break main", "break early"], "--");
    let build = Build::plain(Language::C);
    let report = run(&build, "A", &["break main", "break early"]);
    let functions: Vec<_> = report
        .kind("stop")
        .map(|stop| stop["location"]["function"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(functions, ["early", "main"]);
}

#[test]
fn a_breakpoint_is_disabled_enabled_and_deleted_while_its_library_is_away() {
    let commands = |action| {
        [
            "break work",
            "break pause_here",
            "run",
            // In the library, then in the pause without it.
            "continue",
            action,
            "continue",
            "delete 2",
            "continue",
        ]
    };
    check("A1apA1", &commands("disable 1"), "A-");
    check("A1apA1", &commands("delete 1"), "A-");
    check("A1apA1", &commands("disable 1.1"), "A-");
    check("A1apA1", &commands("enable 1"), "A-A");
    let again = [
        "break work",
        "break pause_here",
        "disable 1",
        "run",
        "enable 1",
        "continue",
        "continue",
    ];
    check("A1apA1", &again, "-A");
}

#[test]
fn a_location_keeps_its_number_its_state_and_its_count() {
    let build = Build::plain(Language::C);
    let commands = [
        "break work",
        "break pause_here",
        "run",
        "continue",
        "disable 1.1",
        "continue",
        "info breakpoints",
        "continue",
        "info  breakpoints",
        "continue",
    ];
    let report = run(&build, "AB12apA12p2", &commands);
    assert_eq!(stops(&report, &build), "AB-B-", "{}", report.all());
    let locations = |command| {
        let points = report.outcome(command).as_array().unwrap();
        let rows = points[0]["locations"].as_array().unwrap().iter();
        rows.map(|it| {
            let number = |key: &str| it[key].as_u64().unwrap();
            (number("number"), it["enabled"] == true, number("hits"))
        })
        .collect::<Vec<_>>()
    };
    assert_eq!(locations("info breakpoints"), [(2, true, 1)]);
    assert_eq!(
        locations("info  breakpoints"),
        [(1, false, 1), (2, true, 2)]
    );
}

#[test]
fn a_condition_is_prepared_in_each_library() {
    check("AB12a2", &["break note if n == 1 && value >= 1"], "ABB");
    check("AB12a2", &["tbreak work if n == 1"], "A");
}

#[test]
fn a_type_of_the_program_is_meant_before_a_variable_of_a_library() {
    let library = Fixture::c("short_names", "int U = 7, V = 8;")
        .argument("-shared")
        .argument("-fPIC")
        .compile_plain();
    let source = "extern int V; struct U { int first; } u; int main(void) { return u.first + V; }";
    let program = Fixture::c("with_type", source)
        .argument("-Wl,--no-as-needed")
        .argument(library.to_str().unwrap())
        .compile_plain();
    let report = Batch::new()
        .command("break main")
        .command("run")
        .command("ptype U")
        .command("print U")
        .command("print V")
        .run(program, &[]);
    let text = &report.output.stdout;
    for expected in ["int first;", "= 7", "= 8"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}
