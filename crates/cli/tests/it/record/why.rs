//! `why`: the origins of values in recorded runs.

use super::{Recorded, program, recorded};
use crate::support::juror;
use juror_testing::Fixture;
use std::fs;
use std::path::Path;

/// Types commands over a recorded run. Returns what is shown, by command.
fn answers(run: &Recorded, commands: &[&str]) -> Vec<(String, String)> {
    let input = commands.join("\n") + "\nkill\nquit\n";
    let file = run.file.display().to_string();
    let output = juror(&["replay", &file]).input(input).run();
    let text = format!("{}{}", output.stdout, output.stderr);
    let answers = text.split("(juror) ").filter_map(|answer| {
        let (line, answer) = answer.split_once('\n')?;
        Some((line.to_owned(), answer.to_owned()))
    });
    answers.collect()
}

/// Returns the answer to the first command of this text.
#[track_caller]
fn answer<'a>(answers: &'a [(String, String)], command: &str) -> &'a str {
    let mut found = answers.iter().filter(|(line, _)| line == command);
    &found.next().unwrap_or_else(|| panic!("{answers:#?}")).1
}

/// Checks that lines have these words, in this order.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let mut rest = text;
    for words in expected {
        let Some((_, behind)) = rest.split_once(words) else {
            panic!("{words}: {text}");
        };
        rest = behind;
    }
}

/// Returns the source of a program of `tests/programs/record`.
fn source(file: &str) -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/record");
    fs::read_to_string(directory.join(file)).expect("a program")
}

#[test]
fn a_sum_comes_from_a_file_and_from_another_thread() {
    let executable = program("bank.c").compile_plain();
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("transfers.txt");
    fs::write(&file, "x".repeat(120) + "7\n2\n").expect("a file");
    let path = file.display().to_string();
    let run = recorded(&executable, &[&path, "hello"], "", 0);
    let commands = [
        "why 1",
        "break done",
        "run",
        "finish",
        "why balance",
        "why copy.number",
        "why copy.balance",
        "why first",
        "why 1",
        "why copy",
        "print balance",
        "why",
        "why balance + 1",
    ];
    let answers = answers(&run, &commands);
    check(answer(&answers, "why 1"), &["there is no step 1"]);
    let balance = answer(&answers, "why balance");
    let expected = [
        "balance = 107",
        "balance = 107",
        "balance = old + amount;",
        "thread 2",
        "old = 100",
        "balance = 100; (a constant)",
        "thread 1",
        "amount = 7",
        "buffer[0] - '0'",
        "memcpy(buffer",
        "read from ",
        "transfers.txt, descriptor 3, byte 120)",
    ];
    check(balance, &expected);
    let number = answer(&answers, "why copy.number");
    let expected = [
        "copy = saved;",
        "thread 1",
        "saved.number = limit;",
        "thread 2",
        "(.data)",
    ];
    check(number, &expected);
    let half = answer(&answers, "why copy.balance");
    check(
        half,
        &[
            "copy = saved;",
            "saved.balance = 53",
            "amount / 2",
            "old + amount",
        ],
    );
    check(
        answer(&answers, "why first"),
        &["arguments[2][0]", "argument 2 of the program"],
    );
    // The number is taken for a step of the list, and the run stands there.
    let (_, there) = answers
        .iter()
        .rfind(|(line, _)| line == "why 1")
        .expect("an answer");
    check(there, &["→", "char first"]);
    check(answer(&answers, "print balance"), &["$1 = 0"]);
    check(answer(&answers, "why"), &["`why` needs an expression"]);
    check(answer(&answers, "why balance + 1"), &["is not in memory"]);
}

#[test]
fn a_spoiled_pointer_comes_from_the_write_beside_it() {
    let executable = program("overflow.c").compile_plain();
    let run = recorded(&executable, &["guest from far away"], "", 0);
    let commands = ["run", "why guest.visits", "why 1", "print guest.visits"];
    let answers = answers(&run, &commands);
    let expected = [
        "guest.visits = 0x",
        "strcpy(user->name, name);",
        "set_name",
        "argument 1 of the program",
    ];
    check(answer(&answers, "why guest.visits"), &expected);
    check(answer(&answers, "why 1"), &["strcpy"]);
}

#[test]
fn values_in_registers_are_followed() {
    let executable = program("optimized.c").argument("-O2").compile_plain();
    let run = recorded(&executable, &[], "12 ", 0);
    let commands = ["break done", "run", "why total", "why cost", "why $rdi"];
    let answers = answers(&run, &commands);
    let total = [
        "total = 39",
        "total + scaled",
        "read from the standard input",
    ];
    check(answer(&answers, "why total"), &total);
    check(
        answer(&answers, "why cost"),
        &["price * (double)number", "(.rodata)"],
    );
    check(
        answer(&answers, "why $rdi"),
        &["$rdi = 39", "total + scaled"],
    );
}

#[test]
fn values_of_cpp_and_rust_are_followed() {
    let executable = Fixture::cpp("counted", &source("counted.cpp")).compile_plain();
    let run = recorded(&executable, &["6"], "", 0);
    let answered = answers(&run, &["break done", "run", "why result"]);
    let expected = [
        "result = 4",
        "rate.of(amounts[1])",
        "amount / 2",
        "amounts.push_back(8); (a constant)",
    ];
    check(answer(&answered, "why result"), &expected);
    let executable = Fixture::rust("moved", &source("moved.rs")).compile_plain();
    let run = recorded(&executable, &[], "", 0);
    let answered = answers(&run, &["break moved::done", "run", "why RESULT"]);
    let expected = [
        "RESULT = 7",
        "RESULT = moved",
        "thread 1",
        "numbers[1] + 2",
        "thread 2",
    ];
    check(answer(&answered, "why RESULT"), &expected);
}

#[test]
fn a_run_that_cannot_be_made_again_has_no_origins() {
    let executable = program("overflow.c").compile_plain().display().to_string();
    let output = juror(&[&executable])
        .input("start\nwhy guest\nkill\nquit\n")
        .run();
    let text = format!("{}{}", output.stdout, output.stderr);
    assert!(text.contains("this run cannot be made again"), "{text}");
}

#[test]
fn a_step_behind_the_end_of_another_thread_is_gone_to() {
    let source = "
        #include <pthread.h>
        #include <stdlib.h>
        static int seen, value;
        static void *other(void *x) { seen = 1; return x; }
        static void done(void) { }
        int main(int count, char **words)
        {
            pthread_t thread;
            pthread_create(&thread, 0, other, 0);
            pthread_join(thread, 0);
            int read = count + seen;
            value = read * 2;
            done();
            return 0;
        }";
    let fixture = Fixture::c("origin_behind_a_thread", source).argument("-pthread");
    let run = recorded(&fixture.compile_plain(), &[], "", 0);
    let answers = answers(&run, &["break done", "run", "why value", "why 1", "why 2"]);
    check(answer(&answers, "why 1"), &["main", "value = read * 2"]);
    check(
        answer(&answers, "why 2"),
        &["main", "int read = count + seen"],
    );
}
