//! Programs that write their own code, and users who write code: points are in the present
//! code, and the present code is executed.

use crate::support::{juror, program, property_of};
use std::path::PathBuf;
use tempfile::TempDir;

/// What is written on the standard output where these lines are typed.
fn typed(executable: &std::path::Path, lines: &[&str]) -> String {
    let typed: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let executable = executable.to_str().expect("a name");
    let output = juror(&["run", "--color=never", executable])
        .input(typed)
        .run();
    format!("{}{}", output.stdout, output.stderr)
}

#[test]
fn a_breakpoint_is_in_the_code_that_was_written_over_it() {
    let program = program("rewritten.c").compile_plain();
    let told = "the program has changed its code at 0x10000000: breakpoint 2 is inserted again";
    let said = typed(
        &program,
        &[
            "break is_written",
            "run",
            "break *0x10000000",
            "continue",
            "continue",
            "x/2bx 0x10000000",
            "continue",
            "continue",
            "continue",
            "delete",
            "continue",
        ],
    );
    assert_eq!(said.matches(told).count(), 2, "{said}");
    assert_eq!(
        said.matches("Breakpoint 2 in 0x10000000").count(),
        3,
        "{said}"
    );
    assert!(said.contains("0x10000000  0x90  0x8d\n"), "{said}");
    assert!(said.contains("sum 12, first byte 90"), "{said}");
}

#[test]
fn numbers_in_code_are_those_that_the_program_writes_there() {
    let program = program("rewritten.c").compile_plain();
    let said = typed(
        &program,
        &[
            "break is_written if round == 4",
            "run",
            "break *0x10000040 if $rsp == 0",
            "info breakpoints",
            "continue",
        ],
    );
    assert!(said.contains("in place"), "{said}");
    assert!(said.contains("numbers 4950\n"), "{said}");
}

#[test]
fn an_instruction_that_a_person_writes_is_executed() {
    let program = program("rewritten.c").compile_plain();
    let said = typed(
        &program,
        &[
            "break is_written",
            "run",
            "break *0x10000000",
            "continue",
            // lea 9(%rdi),%eax, where the thread stands.
            "set *(unsigned char *)0x10000002 = 9",
            "delete",
            "stepi",
            "print $eax",
            "kill",
        ],
    );
    assert!(said.contains("$1 = 9"), "{said}");
}

/// A program that replaces a function, and a property of its calls.
fn hot_patched(directory: &TempDir) -> (PathBuf, String) {
    let property = directory.path().join("p.prop");
    let text = property_of("event t = before tick(i = arg 1)\nevent r = after tick returns s");
    std::fs::write(&property, text).expect("a file");
    (
        program("hot_patched.c").compile_plain(),
        format!("--property={}", property.display()),
    )
}

#[test]
fn a_property_whose_function_is_written_over_does_not_hold() {
    let directory = TempDir::with_prefix("juror-patched-").expect("a directory");
    let (program, property) = hot_patched(&directory);
    for tier in ["trap", "native"] {
        let run = |word: &str| {
            juror(&[
                "run",
                "--batch",
                "--color=never",
                "--no-init",
                "--tier",
                tier,
            ])
            .args([&property])
            .args([program.to_str().expect("a name"), word])
            .run()
        };
        let output = run("patch");
        let said = format!("{}{}", output.stdout, output.stderr);
        let words = "UNDECIDED  watched: the program wrote over code where `tick` was watched: \
                     events were missed";
        assert!(said.contains(words), "{tier}: {said}");
        assert!(said.contains("sum 120"), "{tier}: {said}");
        let told = "(tick): an event of a property is not there any more";
        assert!(said.contains(told), "{tier}: {said}");
        assert_eq!(output.status.code(), Some(2), "{tier}: {said}");
        let output = run("leave");
        assert!(output.stdout.contains("HOLDS     watched"), "{output:?}");
        assert!(output.stdout.contains("sum 110"), "{output:?}");
    }
}

#[test]
fn a_function_that_is_written_over_is_watched_again_after_a_stop() {
    let directory = TempDir::with_prefix("juror-patched-").expect("a directory");
    let (program, property) = hot_patched(&directory);
    for tier in ["trap", "native"] {
        let lines = "break is_patched\nrun patch\ncontinue\n";
        let output = juror(&["run", "--color=never", "--no-init", "--tier", tier])
            .args([&property])
            .args([&program])
            .input(lines)
            .run();
        let said = format!("{}{}", output.stdout, output.stderr);
        assert!(said.contains("sum 120"), "{tier}: {said}");
        let told = "an event of a property is inserted again";
        assert!(said.contains(told), "{tier}: {said}");
        assert!(said.contains("before tick  20 times"), "{tier}: {said}");
        assert!(said.contains("UNDECIDED  watched"), "{tier}: {said}");
    }
}
