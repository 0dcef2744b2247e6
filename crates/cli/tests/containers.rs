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

#[test]
fn the_length_of_a_container_is_read() {
    for (build, executable) in builds() {
        // The third call of `add` is looked at: each was given two elements before.
        for (read, count) in [
            ("this->order", 2),
            ("this->numbers", 2),
            ("this->truths", 70),
            ("this->words", 200),
            ("this->listed", 2),
            ("this->by_id", 2),
            ("this->ids", 2),
            ("this->table", 2),
            ("this->items", 2),
            ("this->text", 2),
            ("this->names[0]", 4),
        ] {
            let expected = format!(
                "property p\nevent e = before Store::add(id, n = len({read}))\n\
                 state s accepting {{ on e when id == 2 and n != {count} -> bad on e -> s }}\n\
                 state bad non-accepting\n"
            );
            let report = Batch::watching(&expected).run(&executable, &[]);
            let shown = report.all();
            assert_eq!(report.output.code(), Some(0), "{read}, {build}: {shown}");
            assert_eq!(report.occurrences("e"), 3, "{read}, {build}: {shown}");
        }
    }
}

#[test]
fn a_length_that_only_a_walk_would_tell_is_refused() {
    for (build, executable) in builds() {
        for (read, words) in [
            ("this->chained", "nothing in it says how many"),
            ("this->plain", "a pointer does not say how many"),
            ("this", "a pointer does not say how many"),
            ("id", "nothing in it says how many"),
        ] {
            let event = format!("before Store::add(id, x = len({read}))");
            let report = Batch::watching(&property(&event)).run(&executable, &[]);
            let shown = report.all();
            assert_eq!(report.output.code(), Some(2), "{read}, {build}: {shown}");
            assert!(shown.contains(words), "{read}, {build}: {shown}");
        }
    }
}

#[test]
fn a_function_of_the_program_that_is_called_len_takes_what_has_no_length() {
    for (build, executable) in builds() {
        let report = Batch::new()
            .command("break Store::add if len(this->numbers) == 2")
            .command("run")
            .command("print len(this->numbers)")
            .command("print len(this->plain)")
            .command("print (&len)(this->plain) - len(this->numbers)")
            .command("break Store::add if len(this->plain) == 2")
            .run(&executable, &[]);
        let value = |command: &str| report.outcome(command)["value"].clone();
        let shown = report.all();
        assert_eq!(value("print len(this->numbers)"), "2", "{build}: {shown}");
        assert_eq!(value("print len(this->plain)"), "1000", "{build}: {shown}");
        let both = value("print (&len)(this->plain) - len(this->numbers)");
        assert_eq!(both, "998", "{build}: {shown}");
        let why = "a pointer does not say how many";
        assert!(shown.contains(why), "{build}: {shown}");
    }
}
