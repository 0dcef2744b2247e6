//! Several stacks of one thread: fibers, and signal handlers on alternate stacks. A call whose
//! stack was switched away is still active; it ends only if its frame is removed.

use crate::support::{Batch, program, property_of};
use juror_testing::{Build, Language};
use serde_json::{Value, json};

const FIBERS: &str = "
    event enter = before work(number, depth)
    event leave = after work(number, depth)
    event left  = unwound work(number, depth)";

#[test]
fn calls_of_fibers_return_or_are_unwound_each_on_its_stack() {
    for build in Build::all_of(Language::Cpp) {
        for arguments in [&[][..], &["reversed"]] {
            let executable = program("fibers.cpp").compile(&build);
            let report = Batch::watching(&property_of(FIBERS)).run(executable, arguments);
            report.assert_code(0);
            for (event, count) in [("enter", "entered"), ("leave", "returned")] {
                let told = report.occurrences(event);
                assert_eq!(told, report.printed(count), "{build} {arguments:?} {event}");
            }
            let numbers = [1, 1, 1, 2, 2, 2, 4, 4, 4, 5, 5, 5].map(Value::from);
            assert_eq!(report.values("left", "number"), numbers, "{build}");
            let depths: Vec<Value> = [0, 1, 2].repeat(4).into_iter().map(Value::from).collect();
            assert_eq!(report.values("left", "depth"), depths, "{build}");
        }
    }
}

#[test]
fn panics_in_fibers_unwind_calls_of_their_stacks_alone() {
    let events = "
        event enter = before fibers::work(n)
        event leave = after  fibers::work(n)
        event left  = unwound fibers::work(n)";
    for build in Build::all_of(Language::Rust) {
        let executable = program("fibers.rs").compile(&build);
        let report = Batch::watching(&property_of(events)).run(executable, &[]);
        report.assert_code(0);
        assert_eq!(report.printed("done"), 4, "{build}");
        assert_eq!(report.occurrences("enter"), report.printed("entered"));
        assert_eq!(
            report.values("left", "n"),
            [1, 3].map(Value::from),
            "{build}"
        );
        assert_eq!(
            report.values("leave", "n"),
            [0, 2].map(Value::from),
            "{build}"
        );
    }
}

#[test]
fn a_step_comes_back_on_the_stack_from_which_it_began() {
    let source = include_str!("../../programs/fibers.cpp");
    let line_of = |mark: &str| {
        let line = source.lines().position(|line| line.contains(mark));
        line.expect("the line is there") + 1
    };
    let (first, again) = (line_of("mark: pause"), line_of("mark: again"));
    for build in Build::all_of(Language::Cpp) {
        for arguments in [&[][..], &["reversed"]] {
            let report = Batch::new()
                .command(&format!(
                    "tbreak fibers.cpp:{first} if current->number == 3"
                ))
                .command("run")
                .command("next")
                .command("print current->number")
                .command(&format!(
                    "tbreak fibers.cpp:{again} if current->number == 3"
                ))
                .command("continue")
                .command("next")
                .command("print current->number")
                .command("finish")
                .command("print current->number")
                .run(program("fibers.cpp").compile(&build), arguments);
            let asked = |outcome: &&Value| outcome["command"] == "print current->number";
            let shown = report.kind("outcome").filter(asked);
            let shown: Vec<Value> = shown.map(|it| it["value"]["value"].clone()).collect();
            assert_eq!(shown, [json!("3"), json!("3"), json!("3")], "{build}");
        }
    }
}

#[test]
fn calls_on_a_handlers_stack_return_or_are_unwound() {
    let events = "
        event enter  = before work(n)
        event leave  = after work(n)
        event left   = unwound work(n)
        event around = after interrupted(n)
        event outer  = unwound interrupted(n)
        event deeper = unwound deep(n)
        event never  = after deep(n)";
    for build in Build::all() {
        let executable = program("handlers_stack.c").compile(&build);
        let report = Batch::watching(&property_of(events))
            .command("handle SIGUSR1 nostop noprint")
            .command("run")
            .run(executable, &[]);
        report.assert_code(0);
        let returned = [0, 2, 4, 6, 8, 10].map(Value::from);
        let left = [1, 3, 5, 7, 9, 11].map(Value::from);
        for (event, expected) in [("leave", &returned), ("around", &returned)] {
            assert_eq!(report.values(event, "n"), expected, "{build} {event}");
        }
        for (event, expected) in [("left", &left), ("outer", &left)] {
            assert_eq!(report.values(event, "n"), expected, "{build} {event}");
        }
        let deep = [0, 1, 2, 3].map(Value::from);
        assert_eq!(report.values("deeper", "n"), deep, "{build}");
        assert_eq!(report.occurrences("never"), 0, "{build}");
        let told = report.occurrences("enter") + report.occurrences("deeper");
        assert_eq!(told, report.printed("entered"), "{build}");
    }
}

#[test]
fn the_stack_of_a_handler_has_the_kernels_frame_and_what_was_interrupted() {
    for build in Build::all() {
        for arguments in [["1"].as_slice(), &["1", "x"]] {
            let report = Batch::new()
                .command("handle SIGSEGV nostop noprint")
                .command("break on_fault")
                .command("run")
                .run(program("faulting.c").compile(&build), arguments);
            let case = format!("{build} {arguments:?}: {}", report.all());
            let frames = report.stop()["backtrace"].as_array().expect("a stack");
            let names = frames.iter().map(|it| &it["location"]["function"]);
            let names: Vec<&Value> = names.collect();
            let is_of_signal = |level: usize| &frames[level]["signal"];
            assert_eq!(names[0], "on_fault", "{case}");
            assert_eq!(
                (is_of_signal(0), is_of_signal(1)),
                (&json!(false), &json!(true)),
                "{case}"
            );
            assert_eq!(
                (names[2], is_of_signal(2)),
                (&json!("touch"), &json!(false)),
                "{case}"
            );
            assert!(names[3..].contains(&&json!("main")), "{case}");
        }
    }
}
