//! The examples of the repository stop at the lines that their READMEs name, in all builds;
//! their corrected versions hold.

use crate::support::{Batch, Report, base_name, named};
use juror_testing::{Build, Fixture, Optimization, repository_directory};
use serde_json::Value;
use std::fs;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// An example, and where its mistake shows.
struct Example {
    name: &'static str,
    property: &'static str,
    /// The function before which the program stops.
    function: &'static str,
    /// Its file.
    file: &'static str,
    /// The parameter of the slice.
    slice: &'static str,
    /// The state that is entered.
    state: &'static str,
}

fn directory(example: &Example) -> PathBuf {
    repository_directory().join("examples").join(example.name)
}

fn run(example: &Example, build: &Build, fixed: bool) -> Report {
    let fixture = Fixture::example(example.name);
    let fixture = if fixed {
        fixture.define("FIXED")
    } else {
        fixture
    };
    let directory = directory(example);
    let property = directory.join(format!("{}.prop", example.name));
    Batch::watching_file(property)
        .directory(directory)
        .run(fixture.compile(build), &[])
}

/// The number of the line that holds this text, which is there once.
fn line_of(example: &Example, file: &str, text: &str) -> u64 {
    let source = fs::read_to_string(directory(example).join(file)).expect("the source");
    let mut found = source
        .lines()
        .enumerate()
        .filter(|(_, line)| line.contains(text));
    let (number, _) = found.next().expect("the text is there");
    assert!(found.next().is_none(), "`{text}` is there twice");
    number as u64 + 1
}

/// From the line of the function's head to that of its first statement: which
/// of them its first instruction belongs to is the compiler's choice.
fn head_of(example: &Example, head: &str) -> RangeInclusive<u64> {
    let first = line_of(example, example.file, head);
    first..=first + 2
}

/// Checks everything about the stop but the caller, and gives it.
#[track_caller]
fn check_stop<'a>(example: &Example, report: &'a Report, build: &Build, head: &str) -> &'a Value {
    report.assert_code(1);
    let stop = report.stop();
    assert_eq!(stop["reason"], "violation", "{build}");
    let violations = stop["violations"].as_array().expect("a list");
    assert_eq!(violations.len(), 1, "{build}");
    let violation = &violations[0];
    assert_eq!(violation["property"], example.property, "{build}");
    assert_eq!(violation["state"], example.state, "{build}");
    assert_eq!(violation["at_end"], false, "{build}");

    let location = &stop["location"];
    assert_eq!(location["function"], example.function, "{build}");
    assert_eq!(location["offset"], 0, "{build}: {location}");
    assert_eq!(base_name(&location["file"]), example.file, "{build}");
    let line = location["line"].as_u64().expect("a line");
    let expected = head_of(example, head);
    assert!(expected.contains(&line), "{build}: {line} in {expected:?}");

    // The slice is the object that the call was about.
    let slice = named(&violation["slice"], example.slice);
    let argument = &stop["backtrace"][0]["arguments"][0];
    assert_eq!(argument["name"], example.slice, "{build}");
    assert_eq!(argument["value"], slice, "{build}");

    let path = violation["path"].as_array().expect("a list");
    let last = path.last().expect("the path has steps");
    assert_eq!(last["to"], example.state, "{build}");
    assert_eq!(path[0]["from"], "init", "{build}");
    for pair in path.windows(2) {
        assert_eq!(pair[0]["to"], pair[1]["from"], "{build}");
    }
    stop
}

/// The lines of the calls, from the last step of the path and from the stack;
/// both must say the same.
#[track_caller]
fn caller(stop: &Value) -> (&str, u64) {
    let path = stop["violations"][0]["path"].as_array().expect("a list");
    let last = &path.last().expect("a step")["location"];
    let frame = &stop["backtrace"][1]["location"];
    assert_eq!(last["file"], frame["file"]);
    assert_eq!(last["line"], frame["line"]);
    (
        base_name(&frame["file"]),
        frame["line"].as_u64().expect("a line"),
    )
}

#[track_caller]
fn check_fixed(example: &Example, build: &Build) {
    let report = run(example, build, true);
    report.assert_code(0);
    assert_eq!(report.summary(example.property)["verdict"], "satisfied");
    assert_eq!(report.kind("stop").count(), 0, "{build}");
    let alone = Fixture::example(example.name)
        .define("FIXED")
        .compile(build);
    let alone = std::process::Command::new(alone)
        .current_dir(directory(example))
        .output()
        .expect("the example runs");
    let alone = String::from_utf8(alone.stdout).expect("it prints text");
    assert!(report.output.stdout.starts_with(&alone), "{build}");
}

const QUEUE: Example = Example {
    name: "queue",
    property: "queue_bounds",
    function: "queue_push_letter",
    file: "queue.c",
    slice: "queue",
    state: "overflow",
};

#[test]
fn the_queue_stops_before_the_letter_too_many() {
    let call = line_of(&QUEUE, "main.c", "queue_push_letter(queue, *text);");
    for build in Build::all() {
        let report = run(&QUEUE, &build, false);
        let stop = check_stop(&QUEUE, &report, &build, "void queue_push_letter(");
        assert_eq!(caller(stop), ("main.c", call), "{build}");
        let violation = &stop["violations"][0];
        assert_eq!(named(&violation["variables"], "room"), 12, "{build}");
        assert_eq!(named(&violation["variables"], "letters"), 12, "{build}");
        assert_eq!(named(&violation["variables"], "digits"), 3, "{build}");
        // The second queue: the first one never was full.
        let queues = report.values("new", "queue");
        assert_eq!(queues.len(), 2, "{build}");
        assert_eq!(named(&violation["slice"], "queue"), queues[1], "{build}");
        assert_eq!(report.values("letter", "queue").len(), 20, "{build}");
    }
}

#[test]
fn the_fixed_queue_holds() {
    for build in Build::all() {
        check_fixed(&QUEUE, &build);
    }
}

const FILE: Example = Example {
    name: "file",
    property: "open_while_used",
    function: "document_read",
    file: "document.c",
    slice: "document",
    state: "used_after_close",
};

#[test]
fn the_file_stops_before_it_is_read_when_closed() {
    let read = line_of(&FILE, "main.c", "while (document_read(");
    let close = line_of(&FILE, "main.c", "/* that was the last course */");
    let dessert = line_of(&FILE, "main.c", "\"Dessert\"");
    for build in Build::all() {
        let report = run(&FILE, &build, false);
        let stop = check_stop(&FILE, &report, &build, "bool document_read(");
        assert_eq!(caller(stop), ("main.c", read), "{build}");
        // The menu, which was opened first, and where it was closed.
        let violation = &stop["violations"][0];
        let documents = report.values("opened", "document");
        assert_eq!(named(&violation["slice"], "document"), documents[0]);
        let path = violation["path"].as_array().expect("a list");
        let closed = path.iter().find(|step| step["event"] == "close");
        assert_eq!(closed.expect("it was closed")["location"]["line"], close);
        let main = &stop["backtrace"][2]["location"];
        assert_eq!(main["function"], "main", "{build}");
        assert_eq!(main["line"], dessert, "{build}");
    }
}

#[test]
fn the_fixed_file_holds() {
    for build in Build::all() {
        check_fixed(&FILE, &build);
    }
}

const PRODUCERS: Example = Example {
    name: "producers",
    property: "ring_bounds",
    function: "ring_push",
    file: "ring.c",
    slice: "ring",
    state: "overflow",
};

#[test]
fn the_producers_stop_at_a_push_on_a_full_ring() {
    let batch = line_of(&PRODUCERS, "main.c", "        ring_push(ring, job);");
    let single = line_of(&PRODUCERS, "main.c", "sem_wait(&room);") + 2;
    for build in Build::all() {
        let report = run(&PRODUCERS, &build, false);
        let stop = check_stop(&PRODUCERS, &report, &build, "void ring_push(");
        let (file, line) = caller(stop);
        assert_eq!(file, "main.c", "{build}");
        // Whichever producer finds the ring overfull.
        assert!([batch, single].contains(&line), "{build}: {line}");
        let violation = &stop["violations"][0];
        assert_eq!(named(&violation["variables"], "room"), 8, "{build}");
        assert_eq!(named(&violation["variables"], "jobs"), 8, "{build}");
        let path = violation["path"].as_array().expect("a list");
        let unlocked = path.iter().any(|step| step["location"]["line"] == batch);
        assert!(unlocked, "{build}: the path shows no push without the lock");
    }
}

#[test]
fn the_fixed_producers_hold() {
    for build in Build::all() {
        check_fixed(&PRODUCERS, &build);
    }
}

/// A smaller example: where it stops, and the state that is entered.
struct Small {
    name: &'static str,
    property: &'static str,
    /// The function where it stands; nothing where that is the compiler's
    /// choice.
    function: &'static str,
    /// What the state begins with: of a formula it goes on with what failed.
    state: &'static str,
    file: &'static str,
    /// The line of the file that begins with this text made the last event.
    line: &'static str,
}

const SMALL: &[Small] = &[
    Small {
        name: "stack",
        property: "taken_out",
        function: "stack_delete",
        state: "lost",
        file: "main.c",
        line: "    stack_delete(stack);",
    },
    Small {
        name: "iterator",
        property: "iterators",
        function: "iterator_next",
        state: "used_when_invalid",
        file: "main.c",
        line: "    while (iterator_next(&iterator, &entry)) {\n        if",
    },
    Small {
        name: "completion",
        property: "word_is_there",
        function: "name_end",
        state: "looked_at_null",
        file: "completion.c",
        line: "    size_t length = (size_t)(name_end(word) - word);",
    },
    Small {
        name: "sudoku",
        property: "consistent_board",
        function: "",
        state: "broken",
        file: "board.c",
        line: "        board[cell] = number;",
    },
    Small {
        name: "locks",
        property: "lock_order",
        function: "",
        state: "violated",
        file: "main.c",
        line: "    pthread_mutex_lock(&second->lock);",
    },
    Small {
        name: "counter",
        property: "own_answers",
        function: "client_received",
        state: "violated",
        file: "main.c",
        line: "        client_received(asked, answer.request);",
    },
];

fn run_small(name: &str, build: &Build, fixed: bool) -> Report {
    let fixture = Fixture::example(name);
    let fixture = if fixed {
        fixture.define("FIXED")
    } else {
        fixture
    };
    let directory = repository_directory().join("examples").join(name);
    Batch::watching_file(directory.join(format!("{name}.prop")))
        .directory(&directory)
        .run(fixture.compile(build), &[])
}

#[track_caller]
fn check_small(name: &str) {
    for build in Build::all() {
        check_small_stop(name, &build);
        check_small_fixed(name, &build);
    }
}

#[track_caller]
fn check_small_stop(name: &str, build: &Build) {
    let small = SMALL.iter().find(|small| small.name == name);
    let small = small.expect("it is in the table");
    let directory = repository_directory().join("examples").join(name);
    let source = fs::read_to_string(directory.join(small.file)).expect("the source");
    let at = source.find(small.line).expect("the text is there");
    let line = source[..at].matches('\n').count() as u64 + 1;
    let report = run_small(name, build, false);
    report.assert_code(1);
    let stop = report.stop();
    assert_eq!(stop["reason"], "violation", "{build}");
    if !small.function.is_empty() {
        assert_eq!(stop["location"]["function"], small.function, "{build}");
    }
    let violation = &stop["violations"][0];
    assert_eq!(violation["property"], small.property, "{build}");
    let state = violation["state"].as_str().expect("text");
    assert!(state.starts_with(small.state), "{build}: {state}");
    let path = violation["path"].as_array().expect("a list");
    let last = path.last().expect("a step");
    let file = base_name(&last["location"]["file"]);
    assert_eq!(
        (file, &last["location"]["line"]),
        (small.file, &line.into()),
        "{build}"
    );
}

#[track_caller]
fn check_small_fixed(name: &str, build: &Build) {
    let report = run_small(name, build, true);
    report.assert_code(0);
    assert_eq!(report.kind("stop").count(), 0, "{build}");
}

#[test]
fn the_stack_loses_the_number() {
    check_small("stack");
}

#[test]
fn the_iterator_is_used_after_a_change() {
    check_small("iterator");
}

#[test]
fn the_completion_looks_at_null() {
    check_small("completion");
}

#[test]
fn the_sudoku_board_is_broken() {
    for build in Build::all() {
        check_small_stop("sudoku", &build);
    }
}

/// Each run looks at the whole board 8365 times.
#[track_caller]
fn check_fixed_sudoku(optimization: Optimization) {
    let mut builds = Build::all();
    builds.retain(|build| build.pie && build.optimization == optimization);
    for build in builds {
        check_small_fixed("sudoku", &build);
    }
}

#[test]
fn the_fixed_sudoku_board_is_solved() {
    check_fixed_sudoku(Optimization::None);
}

#[test]
fn the_fixed_sudoku_board_is_solved_by_optimized_code() {
    check_fixed_sudoku(Optimization::Full);
}

#[test]
fn the_locks_are_taken_in_opposite_orders() {
    check_small("locks");
}

#[test]
fn the_client_gets_the_answer_of_another() {
    check_small("counter");
}

/// In one thread the orders do not matter. A third lock around both makes them
/// harmless, which the formula does not say.
#[test]
fn one_thread_takes_locks_as_it_likes() {
    let directory = repository_directory().join("examples/locks");
    for (define, code) in [("SINGLE", 0), ("GATE", 1)] {
        let program = Fixture::example("locks").define(define);
        let report = Batch::watching_file(directory.join("locks.prop"))
            .directory(&directory)
            .run(program.compile(&Build::all()[0]), &[]);
        report.assert_code(code);
    }
}

/// The second worker ends without closing what it inherited.
#[test]
fn a_worker_forgets_a_connection_until_it_is_fixed() {
    let directory = repository_directory().join("examples/workers");
    for (fixed, violations) in [(false, 1), (true, 0)] {
        let fixture = Fixture::example("workers");
        let fixture = if fixed {
            fixture.define("FIXED")
        } else {
            fixture
        };
        for build in Build::all() {
            let report = Batch::watching_file(directory.join("workers.prop"))
                .option("--follow=both")
                .option("--keep-going")
                .run(fixture.compile(&build), &[]);
            report.assert_code(i32::from(!fixed));
            let summary = report.summary("closed_everywhere");
            assert_eq!(summary["violations"], violations, "{}", report.all());
            assert_eq!(report.occurrences("opened"), 3, "{build}");
            assert_eq!(
                report.occurrences("closed"),
                5 + u64::from(fixed),
                "{build}"
            );
        }
    }
}
