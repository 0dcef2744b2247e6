//! Properties that are shipped hold for programs that do what is unusual, and correct: for all
//! of the C library, and for each example with its own property, in both tiers.
//!
//! Each program prints the uses that it makes and their number, so that a run that ended early
//! is seen. It says which events must have happened.

use crate::support::property_file;
use crate::support::tiers::Tiers;
use juror_testing::Fixture;
use std::path::Path;
use tempfile::TempDir;

/// The properties of the C library, by file.
const LIBRARY: [(&str, &[&str]); 4] = [
    ("double-free", &["double_free"]),
    ("mutex", &["unlock_of_locked"]),
    ("streams", &["stream_closed_once", "stream_closed"]),
    ("descriptors", &["file_closed_once"]),
];

/// Runs a program in a tier, and checks that these properties hold and that all uses were
/// made; returns the summary of events.
#[track_caller]
fn hold(tiers: &Tiers, tier: &str, program: &Path, uses: usize, properties: &[&str]) -> String {
    let told = tiers.run(tier, program.as_os_str(), &[]);
    let output = told.output.stdout;
    let place = format!(
        "{} in {tier}: {output}{}",
        program.display(),
        told.output.stderr
    );
    assert!(told.output.status.success(), "{place}");
    let sum = format!("sum {uses} uses\n");
    assert!(output.contains(&sum), "{place}");
    let holds = output
        .lines()
        .filter_map(|line| line.strip_prefix("HOLDS "));
    let holds: Vec<&str> = holds
        .filter_map(|rest| rest.trim_start().split(':').next())
        .collect();
    assert_eq!(holds, properties, "{place}");
    output
}

/// The number of uses in a source.
fn uses(fixture: &Fixture) -> usize {
    let lines = fixture.sources().flat_map(str::lines).map(str::trim_start);
    lines
        .filter(|line| line.starts_with("USE(") || line.starts_with("LAST_USE("))
        .count()
}

/// Checks that a program holds for all properties of the library, and that it makes these
/// events happen.
#[track_caller]
fn check_library(name: &str, events: &[(&str, &str)]) {
    let fixture = Fixture::legal(name);
    let program = fixture.compile_plain();
    let directory = TempDir::with_prefix("juror-legal-").expect("a directory");
    for (file, properties) in LIBRARY {
        let path = property_file(&format!("properties/libc/{file}.prop"));
        let tiers = Tiers::new().watching_file(path).directory(directory.path());
        for tier in ["trap", "auto"] {
            let output = hold(&tiers, tier, &program, uses(&fixture), properties);
            for (_, event) in events.iter().filter(|(of, _)| *of == file) {
                assert!(happened(&output, event), "{event} in {tier}: {output}");
            }
        }
    }
}

/// Whether the summary has an event that has happened: its name begins a line of its own.
fn happened(output: &str, event: &str) -> bool {
    let mut lines = output.lines().map(str::split_whitespace);
    lines.any(|mut words| words.next() == Some(event) && words.any(|it| it.starts_with("time")))
}

#[test]
fn blocks_of_every_origin() {
    let events = [
        "malloc",
        "calloc",
        "aligned_alloc",
        "memalign",
        "posix_memalign",
        "renewed",
    ];
    check_library("blocks", &events.map(|event| ("double-free", event)));
}

#[test]
fn blocks_that_another_one_frees() {
    let events = ["malloc", "free", "resize", "thread_ends"];
    check_library("block_owners", &events.map(|event| ("double-free", event)));
}

#[test]
fn mutexes_of_every_kind() {
    let events = [
        "lock",
        "trylock",
        "timedlock",
        "clocklock",
        "unlock",
        "create",
        "destroy",
    ];
    check_library("mutex_kinds", &events.map(|event| ("mutex", event)));
}

#[test]
fn mutexes_whose_owner_is_gone() {
    // No state needs the creation of a mutex that was never locked.
    let events = ["lock", "trylock", "unlock", "destroy"];
    check_library("mutex_owners", &events.map(|event| ("mutex", event)));
}

#[test]
fn streams_of_every_origin() {
    let events = [
        "fopen",
        "fdopen",
        "tmpfile",
        "popen",
        "fmemopen",
        "open_memstream",
        "fclose",
    ];
    check_library("streams", &events.map(|event| ("streams", event)));
}

#[test]
fn descriptors_that_are_copied_and_replaced() {
    let events = ["openat", "creat", "close", "dup2", "dup3", "range"];
    check_library("descriptors", &events.map(|event| ("descriptors", event)));
}

#[test]
fn signals_and_other_processes() {
    check_library(
        "handlers",
        &[("descriptors", "openat"), ("double-free", "free")],
    );
}

#[test]
fn threads_that_are_cancelled() {
    let events = [
        ("mutex", "unlock"),
        ("descriptors", "close"),
        ("double-free", "thread_ends"),
    ];
    check_library("cancelled", &events);
}

#[test]
fn a_program_that_is_replaced() {
    let events = [
        ("mutex", "lock"),
        ("streams", "fclose"),
        ("double-free", "malloc"),
    ];
    check_library("replaced", &events);
}

#[test]
fn a_program_that_ends_early() {
    check_library("early_end", &[("mutex", "lock"), ("double-free", "malloc")]);
}

/// Checks that an example's property holds for the correct uses of it.
#[track_caller]
fn check_example(name: &str, property: &str, options: &[&str], events: &[&str]) {
    let fixture = Fixture::legal_example(name);
    let program = fixture.compile_plain();
    let directory = TempDir::with_prefix("juror-legal-").expect("a directory");
    let path = property_file(&format!("examples/{name}/{name}.prop"));
    let tiers = Tiers::new().options(options).watching_file(path);
    let tiers = tiers.directory(directory.path());
    for tier in ["trap", "auto"] {
        let output = hold(&tiers, tier, &program, uses(&fixture), &[property]);
        for event in events {
            assert!(happened(&output, event), "{event} in {tier}: {output}");
        }
    }
}

#[test]
fn examples_of_one_object() {
    check_example(
        "queue",
        "queue_bounds",
        &[],
        &["new", "letter", "digit", "delete"],
    );
    check_example("stack", "taken_out", &[], &["push", "pop", "gone"]);
    check_example(
        "producers",
        "ring_bounds",
        &[],
        &["new", "push", "pop", "delete"],
    );
    check_example("choices", "bounds", &[], &["made", "pushed"]);
}

#[test]
fn examples_of_files_and_processes() {
    check_example(
        "file",
        "open_while_used",
        &[],
        &["opened", "read", "close", "deleted"],
    );
    check_example(
        "workers",
        "closed_everywhere",
        &["--follow=both"],
        &["opened", "closed"],
    );
}

#[test]
fn examples_of_words() {
    let events = ["again", "begin", "next", "add", "remove", "delete"];
    check_example("iterator", "iterators", &[], &events);
    check_example("comp_string", "s_not_null", &[], &["call", "store", "end"]);
    check_example(
        "completion",
        "word_is_there",
        &[],
        &["begin", "store", "look"],
    );
}

#[test]
fn examples_of_boards() {
    let events = ["load", "loaded", "placed", "solved"];
    check_example("sudoku", "consistent_board", &[], &events);
    check_example("rows", "loads", &[], &["begin", "loaded", "solved"]);
}

#[test]
fn examples_of_threads() {
    check_example("counter", "own_answers", &[], &["before"]);
    check_example("locks", "lock_order", &[], &["after", "before"]);
}
