//! Stops in a library: the frame of the user that is selected, panics, the reasons why threads
//! wait; and the threads that run.

use crate::support::{juror, program};
use juror_testing::{Build, Language, Optimization};

const PROMPT: &str = "(juror) ";

/// Returns the output for lines of the standard input.
fn shown(file: &str, lines: &str) -> String {
    let executable = program(file).compile_plain();
    let output = juror(&["run"]).args([executable]).input(lines).run();
    output.stdout + &output.stderr
}

#[track_caller]
fn check(file: &str, lines: &str, expected: &[&str]) {
    let shown = shown(file, lines);
    for text in expected {
        assert!(shown.contains(text), "{text}:\n{shown}");
    }
}

#[test]
fn the_frame_that_has_called_abort_is_selected() {
    let lines = "run\nprint reason\nframe\nframe 0\nquit\n";
    let expected = ["which is selected: fail (reason=3)", "$1 = 3", "SIGABRT"];
    check("aborts.c", lines, &expected);
}

#[test]
fn threads_say_for_what_they_wait() {
    let expected = [
        "waits for the mutex `journal`, which thread 3 holds (audit at ",
        "waits for the mutex `accounts`, which thread 2 holds (transfer at ",
        "Deadlock: thread 2 waits for thread 3, which waits for thread 2.",
        "both wait",
        "status 7",
    ];
    check(
        "deadlocked.c",
        "break hanging\nrun\ninfo threads\ncontinue\nquit\n",
        &expected,
    );
}

#[test]
fn the_guards_of_locks_of_rust_say_who_holds_them() {
    let build = Build {
        optimization: Optimization::None,
        ..Build::plain(Language::Rust)
    };
    let executable = program("locked.rs").compile(&build);
    let lines = "set width 0\nbreak locked::hanging\nrun\ninfo threads\ncontinue\nquit\n";
    let output = juror(&["run"]).args([executable]).input(lines).run();
    let shown = output.stdout + &output.stderr;
    let row = |number: u32| {
        let begin = format!("   {number}  ");
        let row = shown.lines().find(|line| line.starts_with(&begin));
        row.unwrap_or_else(|| panic!("no row {number}: {shown}"))
    };
    for (number, expected) in [
        (2, ", held by thread 3 (a guard in locked::audit at "),
        (3, ", held by thread 2 (a guard in locked::transfer at "),
        (4, ", held by thread 3 (a guard in locked::audit at "),
        (5, ", may be held by thread 4 (a guard in locked::read at "),
        (6, ", held by thread 4 (a guard in locked::read at "),
    ] {
        assert!(row(number).contains(expected), "{number}: {shown}");
    }
    assert!(row(5).ends_with("), unless it was dropped"), "{shown}");
    let deadlock = "Deadlock: thread 2 waits for thread 3, which waits for thread 2.";
    assert!(shown.contains(deadlock), "{shown}");
}

#[test]
fn one_thread_can_step_alone() {
    let lines = |locking: &str| {
        format!(
            "set scheduler-locking {locking}\nshow scheduler-locking\nbreak step\nrun\n\
             set $before = others\nnext\nnext\nprint others - $before\nprint own\n\
             set scheduler-locking off\ncontinue\nquit\n"
        )
    };
    for locking in ["on", "step"] {
        let shown = match locking {
            // It would never begin: the program waits for the other thread.
            "on" => shown(
                "alone.c",
                &lines("off").replacen("set $before", "set scheduler-locking on\nset $before", 1),
            ),
            _ => shown("alone.c", &lines(locking)),
        };
        assert!(shown.contains("$1 = 0\n"), "{locking}: {shown}");
        assert!(shown.contains("$2 = 2000\n"), "{locking}: {shown}");
        assert!(shown.contains("own 3000"), "{locking}: {shown}");
    }
    check(
        "alone.c",
        "set scheduler-locking maybe\nquit\n",
        &["needs off, on or step"],
    );
}

#[test]
fn locations_and_fields_are_taken_in_gdbs_words() {
    let lines = "break -source pushes.c -function push if key == 3\nbreak -line 21\n\
                 run\nprint count->pushed\nprint (&count)->pushed\ndelete 2\ncontinue\n\
                 print key\ndelete breakpoints\ncontinue\nquit\n";
    let expected = [
        "main () at",
        "$1 = 0\n",
        "$2 = 0\n",
        "$3 = 3\n",
        "pushed 20, large 2\n",
    ];
    check("pushes.c", lines, &expected);
}

#[test]
fn functions_of_the_prompt_are_known() {
    let lines = "break push if $_streq(count.name, \"pushes\") && key == 5\n\
                 break push if $_nosuch(key)\nrun\nprint $_strlen(count.name)\n\
                 print $_regex(count.name, \"pu.h\")\nprint $_regex(count.name, \"ush\")\n\
                 print $_memeq(&key, &key, 4)\nprint $_caller_is(\"main\")\n\
                 print $_caller_is(\"push\")\nprint $_any_caller_is(\"push\")\n\
                 print $_caller_matches(\"ma\")\nprint $_streq(key, \"x\")\n\
                 condition 1 $_caller_is(\"main\") && key == 9\ncontinue\nprint key\nquit\n";
    check(
        "pushes.c",
        lines,
        &[
            "there is no function `$_nosuch`",
            "push (key=5)",
            "$1 = 6\n",
            "$2 = 1\n",
            "$3 = 0\n",
            "$4 = 1\n",
            "$5 = 1\n",
            "$6 = 0\n",
            "$7 = 1\n",
            "$8 = 1\n",
            "this is not text",
            "$9 = 9\n",
        ],
    );
}

#[test]
fn a_panic_stops_a_program_at_a_terminal() {
    let executable = program("panics.rs").compile_plain();
    let mut terminal = juror(&["run"]).args([&executable]).terminal();
    terminal.expect(PROMPT);
    terminal.type_line("info breakpoints");
    terminal.expect("catch panic");
    terminal.expect(PROMPT);
    terminal.type_line("run");
    terminal.expect("a panic");
    terminal.expect("which is selected");
    terminal.expect(PROMPT);
    terminal.type_line("delete 0");
    terminal.expect(PROMPT);
    terminal.type_line("continue");
    terminal.expect(PROMPT);
    terminal.type_line("quit");
    terminal.finish();
    // Elsewhere it is asked for.
    let output = juror(&["run"])
        .args([&executable])
        .input("catch panic\nrun\nquit\n")
        .run();
    assert!(output.stdout.contains("Catchpoint 1"), "{}", output.stdout);
    assert!(output.stdout.contains("a panic"), "{}", output.stdout);
}
