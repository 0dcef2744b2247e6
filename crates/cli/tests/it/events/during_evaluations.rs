//! Functions called from the prompt: no event of the program is lost or reported twice
//! meanwhile.

use crate::support::{Batch, juror, program, property_of};
use juror_testing::{Build, Language, Optimization, Output};

/// Runs the lines over a program and gives what juror says.
#[track_caller]
fn play(file: &str, build: &Build, arguments: &[&str], lines: &[&str]) -> Output {
    let executable = program(file).compile(build);
    let input: String = lines.iter().flat_map(|line| [*line, "\n"]).collect();
    let output = juror(&["run"])
        .args([executable])
        .args(arguments)
        .input(input)
        .run();
    assert!(!output.stdout.is_empty(), "{}", output.stderr);
    output
}

fn count(output: &Output, wanted: &str) -> usize {
    output.stdout.matches(wanted).count()
}

/// What the program counted itself.
#[track_caller]
fn passes(output: &Output) -> usize {
    let mut lines = output.stdout.lines();
    let line = lines
        .find_map(|line| line.strip_prefix("passes "))
        .expect("it ends");
    line.parse().expect("a number")
}

/// Each compiler, optimised and not; one of them position-independent.
fn builds() -> impl Iterator<Item = Build> {
    let builds = Build::all_of(Language::C).into_iter();
    builds.filter(|build| build.pie == (build.optimization == Optimization::None))
}

/// The classic: the program stands at a breakpoint, and an expression calls
/// the function in which it is.
#[test]
fn a_called_function_may_reach_the_breakpoint_at_which_the_program_stands() {
    const PASSES: usize = 6;
    for build in builds() {
        for threads in [1, 4] {
            let mut lines = vec!["break work", "run"];
            for _ in 0..PASSES * threads {
                // One that stops inside, and returns; one that is abandoned.
                lines.extend([
                    "print work(41)",
                    "continue",
                    "call work(7)",
                    "abandon",
                    "continue",
                ]);
            }
            let arguments = [&*threads.to_string(), &*PASSES.to_string()];
            let output = play("passes.c", &build, &arguments, &lines);
            let stops = PASSES * threads;
            let what = format!("{build}, {threads} threads:\n{}", output.stdout);
            assert_eq!(count(&output, "Breakpoint 1 in work"), 3 * stops, "{what}");
            assert_eq!(count(&output, "= 42\n"), stops, "{what}");
            // What is abandoned at the breakpoint has not counted yet.
            assert_eq!(passes(&output), 2 * stops, "{what}");
        }
    }
}

#[test]
fn a_condition_may_call_the_function_in_which_it_is_asked() {
    const PASSES: usize = 25;
    for build in builds() {
        for threads in [1, 4] {
            let arguments = [&*threads.to_string(), &*PASSES.to_string()];
            let lines = ["break work if work(n) == 10", "run"];
            let mut lines = lines.to_vec();
            lines.extend(std::iter::repeat_n("continue", threads));
            let output = play("passes.c", &build, &arguments, &lines);
            let what = format!("{build}, {threads} threads:\n{}", output.stdout);
            assert_eq!(count(&output, "Breakpoint 1 in work"), threads, "{what}");
            // Each pass asks once.
            assert_eq!(passes(&output), 2 * PASSES * threads, "{what}");
        }
    }
}

/// What juror calls is not the program's behaviour, and hides none of it.
#[test]
fn monitors_see_the_program_and_not_the_calls() {
    let events = "
        event enter = before work(n)
        event leave = after work(n) returns result";
    for threads in [1, 4] {
        let executable = program("passes.c").compile_plain();
        let mut batch = Batch::watching(&property_of(events)).command("break work if n == 3");
        for line in [
            "run",
            "call work(3)",
            "continue",
            "print work(5)",
            "call work(3)",
            "abandon",
        ] {
            batch = batch.command(line);
        }
        // The last one lets the program end.
        for _ in 0..threads {
            batch = batch.command("continue");
        }
        let report = batch.run(executable, &[&*threads.to_string(), "10"]);
        report.assert_code(0);
        let program_passes = 10 * threads;
        assert_eq!(report.occurrences("enter"), program_passes);
        assert_eq!(report.occurrences("leave"), program_passes);
        // The one that was abandoned had not counted.
        assert_eq!(report.printed("passes"), program_passes + 2);
    }
}

#[test]
fn the_end_inside_a_call_decides_no_verdict() {
    let property = "property open\nevent enter = before work(n)\n\
                    state init non-accepting { on enter }\n";
    let executable = program("passes.c").compile_plain();
    let report = Batch::watching(property)
        .command("break work")
        .command("run")
        .command("call leave(5)")
        .run(executable, &["1", "3"]);
    assert_eq!(report.end()["called"], "leave");
    assert_eq!(report.end()["ending"]["status"], 5);
    assert_eq!(report.end()["violations"].as_array().map(Vec::len), Some(0));
}

#[test]
fn other_threads_stand_still_and_new_ones_run() {
    let build = Build::plain(Language::C);
    let lines = [
        "break work",
        "run",
        "print started()",
        "break started",
        "print started()",
        "thread 1",
        "next",
        "step",
        "info evaluations",
        "continue",
        "delete",
        "call gone()",
        "continue",
    ];
    let output = play("passes.c", &build, &["2", "3"], &lines);
    let what = &output.stdout;
    assert!(what.contains("$1 = 17\n"), "{what}");
    assert!(
        what.contains("evaluation 1 is open in thread"),
        "{what}{}",
        output.stderr
    );
    assert!(
        what.contains("Evaluation 1 is done: started()\n$2 = 17\n"),
        "{what}"
    );
    assert!(
        what.contains("ended in `gone`, which was called from juror"),
        "{what}"
    );
    // One thread was taken away at the beginning of its work.
    assert!(passes(&output) < 6, "{what}");
}

/// Each thread has its own, and they end in any order.
#[test]
fn evaluations_of_several_threads_end_in_any_order() {
    let lines = [
        "break work",
        "run",
        "print work(10)",
        "thread 1",
        "print work(20)",
        "info evaluations",
        "thread 2",
        "step",
        "step",
        "step",
        "info evaluations",
        "thread 1",
        "finish",
        "info evaluations",
        "delete",
        "continue",
    ];
    let build = Build::plain(Language::C);
    let output = play("passes.c", &build, &["1", "3"], &lines);
    let what = &output.stdout;
    let shown: Vec<&str> = what
        .lines()
        .filter(|line| line.contains("work(") && !line.contains("(juror)"))
        .map(str::trim_end)
        .collect();
    let expected = [
        "1  2       work  work(10)",
        "2  1       work  work(20)",
        "Evaluation 1 is done: work(10)",
        "2  1       work  work(20)",
        "Evaluation 2 is done: work(20)",
    ];
    let shown: Vec<&str> = shown
        .into_iter()
        .filter(|line| !line.contains("long work"))
        .collect();
    assert_eq!(shown, expected, "{what}");
    assert!(
        what.contains("$1 = 11\n") && what.contains("$2 = 21\n"),
        "{what}"
    );
    assert!(what.contains("No evaluation is open."), "{what}");
    assert_eq!(passes(&output), 5, "{what}");
}

/// A thread that is stopped at the entry into a system call makes the call
/// once, whatever is evaluated there.
#[test]
fn a_call_at_the_entry_into_a_system_call_leaves_it_as_it_is() {
    let lines = [
        "start",
        "catch syscall write",
        "print puts(\"once\") != 0",
        "print (int)fflush(0)",
        "print sum(1, 2)",
        "continue",
        "print sum(3, 4)",
        "continue",
        "delete",
        "continue",
    ];
    let build = Build::plain(Language::C);
    let output = play("callees.c", &build, &[], &lines);
    let what = &output.stdout;
    assert_eq!(count(&output, "(entry into write)"), 1, "{what}");
    assert_eq!(count(&output, "(exit from write"), 1, "{what}");
    assert_eq!(count(&output, "\nonce\n"), 1, "{what}");
    for expected in [
        "$2 = 3\n",
        "$3 = 7\n",
        "Evaluation 1 is done: (int)fflush(0)\n$4 = 0\n",
    ] {
        assert!(what.contains(expected), "{expected:?} in {what}");
    }
}

#[test]
fn control_c_stops_a_call_that_waits() {
    let executable = program("passes.c").compile_plain();
    let mut terminal = juror(&["run"])
        .args([executable])
        .args(["2", "3"])
        .terminal();
    terminal.expect("(juror) ");
    for line in ["break work", "run"] {
        terminal.type_line(line);
        terminal.expect("\n");
        terminal.expect("(juror) ");
    }
    terminal.type_line("call wait()");
    // Now the program has the terminal.
    terminal.expect("waiting");
    terminal.type_control('c');
    terminal.expect("Interrupted");
    // The sentence goes on in the next line.
    terminal.expect("The other threads are stopped");
    terminal.expect("(juror) ");
    terminal.type_line("abandon");
    terminal.expect("Evaluation 1 is abandoned.");
    terminal.expect("(juror) ");
    terminal.type_line("delete");
    terminal.expect("(juror) ");
    terminal.type_line("continue");
    terminal.expect("passes 6");
    terminal.expect("exited with status 0");
    terminal.type_line("quit");
    let (_, status) = terminal.finish();
    assert_eq!(status, 0);
}

#[test]
fn exceptions_stay_inside_or_give_the_call_up() {
    for build in Build::all_of(Language::Cpp) {
        if build.optimization != Optimization::None {
            continue;
        }
        let lines = [
            "break main",
            "run",
            "print tried(2)",
            "print checked(2)",
            "print tried(1)",
            "continue",
        ];
        let output = play("throws.cpp", &build, &[], &lines);
        let what = format!("{build}:\n{}{}", output.stdout, output.stderr);
        assert!(what.contains("$1 = -1\n"), "{what}");
        assert!(
            what.contains("`checked` was left by an exception"),
            "{what}"
        );
        assert!(what.contains("$2 = 1\n"), "{what}");
        assert!(what.contains("exited with status"), "{what}");
    }
}

#[test]
fn objects_and_references_are_passed_as_cpp_does() {
    for build in Build::all_of(Language::Cpp) {
        if build.optimization != Optimization::None {
            continue;
        }
        let lines = [
            "break stop",
            "run",
            "up",
            "print Shape::count(&shape, 4)",
            "print twice(number)",
            "print twice(5)",
            "print grow(number)",
            "print number",
            "print owned(owner)",
            "print make(3)",
            "print ns::inside(2)",
        ];
        let output = play("objects.cpp", &build, &[], &lines);
        let what = format!("{build}:\n{}{}", output.stdout, output.stderr);
        for expected in [
            "$1 = 7\n",
            "$2 = 42\n",
            "$3 = 10\n",
            "$4 = 22\n",
            "$5 = 22\n",
            "runs code of the program",
            "$6 = {value = 3}\n",
            "$7 = 4\n",
        ] {
            assert!(what.contains(expected), "{expected:?} in {what}");
        }
    }
}
