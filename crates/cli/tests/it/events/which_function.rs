//! Programs that count the calls of their functions, of kinds in which the first instruction
//! of a function is also reached in other ways, or by the calls of other functions: the events
//! are as many, natively and by traps, or the property is refused.

mod random;

use crate::support::tiers::Tiers;
use crate::support::{Batch, Report, program, property_of};
use juror_testing::{Build, Compiler, Fixture, Language, Optimization};
use std::collections::BTreeSet;
use std::path::Path;

/// What the program prints of the calls, and the event.
type Row = (&'static str, &'static str);

const OF_C: &[Row] = &[
    ("twin", "before put_twin(it)"),
    ("other", "after put_other"),
    ("lifted", "before put_lifted"),
    ("raised", "before put_raised"),
    ("outer", "before put_outer"),
    ("outside", "before put_outside"),
    ("waits", "before wait_zero"),
    ("waits", "after wait_zero"),
    ("spins", "before spin_down"),
    ("spins", "after spin_down"),
    ("walks", "before walk_to_end(at)"),
    ("walks", "after walk_to_end"),
    (
        "locks",
        "after pthread_spin_lock(lock: address = arg 1) in library",
    ),
    ("locks", "before pthread_spin_lock in library"),
    ("named", "before named_again"),
    ("named", "before named"),
];

const OF_CPP: &[Row] = &[
    ("trees", "before \"Tree::~Tree\"(this)"),
    ("nodes", "before \"Node::~Node\"(this)"),
    ("nodes", "after \"Node::~Node\"(this)"),
    ("cursors", "before \"Cursor::~Cursor\"(this)"),
    ("peers", "before \"Peer::Peer\"(this)"),
    ("parts", "before \"Shared::~Shared\"(this)"),
    ("writes", "before Pipe::write(value)"),
    ("reads", "before Pipe::read"),
    ("steps", "before steps(from)"),
];

/// Whether a property was refused since the calls cannot be counted.
#[track_caller]
fn is_refused(report: &Report) -> bool {
    let why = &report.output.stderr;
    let is_refused = report.output.status.code() == Some(2);
    let is_known = ["error[inlined-function]", "error[doubtful-calls]"]
        .iter()
        .any(|code| why.contains(code));
    assert!(!is_refused || is_known, "{why}");
    is_refused
}

/// Returns how often the event of a property happens if it may be taken in the program.
#[track_caller]
fn seen_natively(executable: &Path, property: &str) -> u64 {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("e.prop");
    std::fs::write(&file, property).expect("a file");
    let tiers = Tiers::new().watching_file(&file);
    tiers.run("auto", executable.as_os_str(), &[]).occurrences
}

/// Checks an event; returns whether it is seen.
#[track_caller]
fn check(executable: &Path, case: &str, (word, event): Row) -> bool {
    let property = property_of(&format!("event e = {event}"));
    let report = Batch::watching(&property).run(executable, &[]);
    if is_refused(&report) {
        return false;
    }
    let printed = report.printed(word);
    let all = || format!("{case}, {event}: {}", report.all());
    assert_eq!(report.occurrences("e"), printed, "{}", all());
    assert_eq!(
        seen_natively(executable, &property),
        printed,
        "native, {}",
        all()
    );
    true
}

/// Checks the rows of a program in a build; returns the events that are seen.
#[track_caller]
fn check_rows(fixture: &Fixture, build: &Build, rows: &[Row]) -> BTreeSet<&'static str> {
    let executable = fixture.compile(build);
    let case = format!("{build}");
    let seen = rows.iter().filter(|row| check(&executable, &case, **row));
    seen.map(|(_, event)| *event).collect()
}

fn builds_of(language: Language) -> impl Iterator<Item = Build> {
    Build::all_of(language)
        .into_iter()
        .filter(|build| build.pie)
}

#[test]
fn functions_of_c_are_counted_as_the_source_calls_them() {
    for build in builds_of(Language::C) {
        let seen = check_rows(&program("which_function.c"), &build, OF_C);
        let is_optimized = build.optimization == Optimization::Full;
        let is_merged = is_optimized && build.compiler == Compiler::Gcc;
        assert_eq!(!seen.contains("before put_twin(it)"), is_merged, "{build}");
        assert_eq!(!seen.contains("before put_lifted"), is_merged, "{build}");
        // The others are merged by some versions.
        let certain = OF_C.iter().filter(|(_, it)| !it.contains("put_"));
        for (_, event) in certain {
            assert!(seen.contains(event), "{build}: {event}");
        }
    }
}

#[test]
fn methods_are_counted_as_objects_and_virtual_calls_reach_them() {
    for build in builds_of(Language::Cpp) {
        let fixture = program("which_method.cpp").argument("-std=gnu++20");
        let seen = check_rows(&fixture, &build, OF_CPP);
        if build.optimization == Optimization::None {
            assert_eq!(seen.len(), OF_CPP.len(), "{build}: {seen:?}");
        }
    }
}
