//! What an event reads of containers: their parts, and never the whole.

mod support;

use juror_testing::{Build, Language, Optimization};
use std::path::PathBuf;
use support::{Batch, program};

/// The program without and with optimization.
fn builds() -> Vec<(Build, PathBuf)> {
    let mut builds = Build::all_of(Language::Cpp);
    builds.retain(|build| {
        build.pie && [Optimization::None, Optimization::Full].contains(&build.optimization)
    });
    assert!(!builds.is_empty());
    let compiled = |build: Build| {
        let executable = program("containers.cpp").compile(&build);
        (build, executable.to_path_buf())
    };
    builds.into_iter().map(compiled).collect()
}

fn property(event: &str) -> String {
    format!("property p\nevent e = {event}\nstate s accepting {{ on e when x == x -> s }}\n")
}

#[test]
fn a_whole_container_is_refused_before_the_run() {
    for (build, executable) in builds() {
        for read in [
            "order", "numbers", "truths", "words", "listed", "by_id", "ids", "table", "items",
        ] {
            let event = format!("before Store::add(x = this->{read})");
            let report = Batch::watching(&property(&event)).run(&executable, &[]);
            let shown = report.all();
            assert_eq!(report.output.code(), Some(2), "{read}, {build}: {shown}");
            for words in [
                &format!("`this->{read}` is a `"),
                "an event reads numbers, addresses, texts, and sequences of them",
                &event,
                "^^^^",
                &format!("read an element, `this->{read}[0]`"),
                &format!("`&this->{read}`"),
            ] {
                assert!(shown.contains(words), "{read}, {build}: {words}: {shown}");
            }
            assert!(!shown.contains("no value"), "{read}, {build}: {shown}");
        }
    }
}

#[test]
fn what_can_be_a_value_is_still_one() {
    for (build, executable) in builds() {
        for event in [
            "before Store::add(x = this->text)",
            "before Store::add(x = this->cells)",
            "before Store::add(x = this->names)",
            "before Store::add(x = &this->order)",
            "before Store::add(x = &this->items)",
            "before by_reference(x = all)",
            "before by_reference(x = all[0])",
            "before by_reference(x = all[0] + 1)",
            "before by_reference(x = all[0..1])",
        ] {
            let report = Batch::watching(&property(event)).run(&executable, &[]);
            let shown = report.all();
            assert_eq!(report.output.code(), Some(0), "{event}, {build}: {shown}");
            assert_eq!(report.occurrences("e"), 3, "{event}, {build}: {shown}");
        }
    }
}
