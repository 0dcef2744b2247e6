//! Programs that write their own code, and users who write code: points are in the present
//! code, and the present code is executed.

use crate::support::{juror, program};

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
