//! An event reads only the requested parts of a container.

use crate::support::printed::{plain_builds, printed};
use crate::support::{Batch, program};
use juror_testing::{Build, Language, Optimization};
use std::path::{Path, PathBuf};

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

/// What is refused when the event is bound says what can be read instead.
/// The property holds, and each of the three calls is its event.
#[track_caller]
fn check_holds(executable: &Path, property: &str, what: &str) {
    let report = Batch::watching(property).run(executable, &[]);
    let shown = report.all();
    assert_eq!(report.output.code(), Some(0), "{what}: {shown}");
    assert_eq!(report.occurrences("e"), 3, "{what}: {shown}");
}

#[test]
fn what_is_no_value_is_refused_before_the_run() {
    for (build, executable) in builds() {
        for (read, instead) in [
            (
                "this->order",
                "a part, `this->order[0].id`, how many there are, `len(this->order)`",
            ),
            ("this->numbers", "a part, `this->numbers[0]`"),
            ("this->truths", "a part, `this->truths[0]`"),
            ("this->words", "a part, `this->words[0]`"),
            ("this->listed", "a part, `this->listed[0]`"),
            (
                "this->by_id",
                "a part, `this->by_id[7].id`, how many there are",
            ),
            ("this->ids", "a part, `this->ids[0]`"),
            ("this->table", "a part, `this->table[7]`"),
            ("this->ages", "a part, `this->ages[\"key\"]`"),
            ("this->items", "a part, `this->items[0].id`"),
            ("this->pair", "a part, `this->pair[0].id`"),
            ("this->stacked", "a part, `this->stacked[0]`"),
            ("this->perhaps_many", "a part, `this->perhaps_many[0]`"),
            (
                "this->one",
                "a part, `this->one.id`, or its address, `&this->one`",
            ),
            (
                "this->chained",
                "read a part, `this->chained[0]`, or its address",
            ),
            // Elements and ranges of what is gone through.
            (
                "this->order[0]",
                "a part, `this->order[0].id`, or its address, `&this->order[0]`",
            ),
            ("this->order[0..2]", "read a part, `this->order[0].id`"),
            ("this->items[0..2]", "read a part, `this->items[0].id`"),
            ("this->items[0]", "a part, `this->items[0].id`"),
            ("this->by_id[1]", "a part, `this->by_id[1].id`"),
            ("this->pair[1]", "a part, `this->pair[1].id`"),
        ] {
            let event = format!("before Store::add(x = {read})");
            let report = Batch::watching(&property(&event)).run(&executable, &[]);
            let shown = report.all();
            assert_eq!(report.output.code(), Some(2), "{read}, {build}: {shown}");
            for words in [
                &format!("`{read}` is a `"),
                "an event reads numbers, addresses, texts, and sequences of them",
                &event,
                "^^^^",
                instead,
            ] {
                assert!(shown.contains(words), "{read}, {build}: {words}: {shown}");
            }
            assert!(!shown.contains("no value"), "{read}, {build}: {shown}");
        }
    }
}

/// What the help names is a value.
#[test]
fn the_parts_that_are_named_instead_are_read() {
    for (build, executable) in builds() {
        let reads = [
            "this->order[0].id",
            "this->truths[0]",
            "this->words[0]",
            "this->listed[0]",
            "this->by_id[1].id",
            "this->ids[0]",
            "this->table[1]",
            "this->ages[\"ann\"]",
            "this->items[0].id",
            "this->pair[0].id",
            "this->stacked[0]",
            "this->perhaps_many[0]",
            "this->one.id",
            "this->chained[0]",
            "&this->order[0]",
            "this->perhaps",
        ];
        let captures = reads.iter().enumerate();
        let captures: Vec<String> = captures.map(|(n, read)| format!("x{n} = {read}")).collect();
        let used: Vec<String> = (0..reads.len()).map(|n| format!("x{n} == x{n}")).collect();
        let expected = format!(
            "property p\nevent e = before Store::add(id, {})\n\
             state s accepting {{ on e when id < 2 or {} -> s else -> bad }}\n\
             state bad non-accepting\n",
            captures.join(", "),
            used.join(" and ")
        );
        check_holds(&executable, &expected, &format!("{build}"));
    }
}

#[test]
fn an_array_of_the_library_is_its_elements() {
    for (build, executable) in builds() {
        for (read, condition) in [
            ("this->fixed", "x == [1, 8, 9]"),
            ("this->fixed[1..3]", "x == [8, 9]"),
            ("this->letters", "x == \"ab\""),
            ("this->cells", "x == [0, 1]"),
            ("this->grid[1]", "x == [1, 0]"),
            ("this->grid", "x == [[0, 1], [1, 0]]"),
        ] {
            let expected = format!(
                "property p\nevent e = before Store::add(id, x = {read})\n\
                 state s accepting {{ on e when id == 2 and not ({condition}) -> bad on e -> s }}\n\
                 state bad non-accepting\n"
            );
            check_holds(&executable, &expected, &format!("{read}, {build}"));
        }
    }
}

/// At the first call everything is empty.
#[test]
fn an_element_that_is_not_there_says_so() {
    for (build, executable) in builds() {
        for read in [
            "this->numbers[0]",
            "this->numbers[0..2]",
            "this->order[0].id",
            "this->by_id[1].id",
            "this->listed[0]",
            "this->ages[\"ann\"]",
        ] {
            let event = format!("before Store::add(x = {read})");
            let report = Batch::watching(&property(&event)).run(&executable, &[]);
            let shown = report.all();
            assert_eq!(report.output.code(), Some(2), "{read}, {build}: {shown}");
            let words = "this value is not available: there is no such element";
            assert!(shown.contains(words), "{read}, {build}: {shown}");
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
            check_holds(&executable, &property(event), &format!("{event}, {build}"));
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
            ("this->fixed", 3),
            ("this->perhaps_many", 2),
            ("this->stacked", 2),
        ] {
            let expected = format!(
                "property p\nevent e = before Store::add(id, n = len({read}))\n\
                 state s accepting {{ on e when id == 2 and n != {count} -> bad on e -> s }}\n\
                 state bad non-accepting\n"
            );
            check_holds(&executable, &expected, &format!("{read}, {build}"));
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
            ("this->perhaps", "nothing in it says how many"),
            ("this->one", "nothing in it says how many"),
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

/// Most of these functions have no code in the program: they are answered by what is shown.
#[test]
fn member_functions_without_code_are_answered_by_what_is_shown() {
    let table = [
        ("three.size()", "3"),
        ("three.at(2)", "9"),
        ("some.size()", "3"),
        ("len(some)", "3"),
        ("some.empty()", "false"),
        ("some.back()", "9"),
        ("all.size()", "3"),
        ("ages.size()", "2"),
        ("ages.empty()", "false"),
        ("none.has_value()", "false"),
        ("one.has_value()", "true"),
        ("one.value()", "5"),
        ("heap.top()", "9"),
        ("stack.top()", "2"),
        ("shared->size()", "4"),
        ("shared->front()", "6"),
        ("shared.get()->size()", "4"),
    ];
    for build in plain_builds(Language::Cpp) {
        let executable = program("library_calls.cpp")
            .argument("-std=gnu++20")
            .compile(&build);
        let shown = printed(&executable, &table).into_iter();
        // A call gives a reference, which is shown with its address.
        let values = shown.map(|it| it.replace("@0x?: ", ""));
        for (value, (expression, expected)) in values.zip(&table) {
            assert_eq!(value, *expected, "{build}: {expression}");
        }
    }
}
