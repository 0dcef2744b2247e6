//! Blocks of commands: `if`, `while`, `define` with arguments, `document`, hooks; and the files that
//! hold them.

use crate::support::{juror, program};
use juror_testing::Terminal;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

const PROMPT: &str = "(juror) ";

fn pushes() -> PathBuf {
    program("pushes.c").compile_plain()
}

/// Returns the output for lines of the standard input.
fn shown(lines: &str) -> String {
    let output = juror(&["run"]).args([pushes()]).input(lines).run();
    output.stdout + &output.stderr
}

#[track_caller]
fn check(lines: &str, expected: &[&str], absent: &[&str]) {
    let shown = shown(lines);
    for text in expected {
        assert!(shown.contains(text), "{text}:\n{shown}");
    }
    for text in absent {
        assert!(!shown.contains(text), "{text}:\n{shown}");
    }
}

#[test]
fn the_commands_of_a_breakpoint_decide_by_conditions() {
    let lines = "break push\ncommands\nsilent\nif key > 17\nprintf \"large: %d\\n\", key\nelse\n\
                 if key == 3\nprintf \"three\\n\"\nend\nend\ncontinue\nend\nrun\nquit\n";
    let shown = shown(lines);
    let printed = |line: &&str| line.starts_with("large: ") || *line == "three";
    let printed: Vec<&str> = shown.lines().filter(printed).collect();
    assert_eq!(printed, ["three", "large: 18", "large: 19"], "{shown}");
    assert!(shown.contains("pushed 20, large 2"), "{shown}");
}

#[test]
fn a_defined_command_has_arguments_and_loops() {
    let lines = "define tally\nset $n = 0\nwhile $n < $arg0\nset $n = $n + 1\nif $n == 2\n\
                 loop_continue\nend\nif $n == 4\nloop_break\nend\n\
                 printf \"at %d of %d: %s\\n\", $n, $argc, $arg1\nend\nend\n\
                 tally 9 count.name\nprint $n\ntally\n";
    check(
        lines,
        &[
            "at 1 of 2: pushes\n",
            "at 3 of 2: pushes\n",
            "$1 = 4",
            "`$arg0` is missing",
        ],
        &["at 2 of", "at 4 of"],
    );
}

#[test]
fn a_block_that_is_typed_is_executed_at_its_end() {
    let lines = "break push\nrun\nif key == 0\necho zero\\n\nelse\necho other\\n\nend\n\
                 while key < 2\nnext\nend\nprint key\n";
    check(lines, &["\nzero\n", "= 2\n"], &["\nother\n"]);
    check("if 1\nquit\nend\nprint 40 + 2\n", &[], &["42"]);
}

#[test]
fn hooks_are_executed_around_their_command_and_at_stops() {
    let lines = "define hook-stop\necho stopped\\n\nend\ndefine hook-next\necho before\\n\nend\n\
                 define hookpost-next\necho after\\n\nend\nbreak push\nrun\nn\ndelete\nquit\n";
    let shown = shown(lines);
    let words = ["stopped", "before", "after"];
    let said: Vec<&str> = shown.lines().filter(|it| words.contains(it)).collect();
    assert_eq!(said, ["stopped", "before", "stopped", "after"], "{shown}");
    check(
        "define hook-frob\ndefine print\n",
        &[
            "`frob` is not a command that can have a hook",
            "`print` cannot be the name of a command",
        ],
        &[],
    );
}

#[test]
fn a_defined_command_has_the_help_that_was_written_for_it() {
    let lines = "document tally\ndefine tally\nprint $argc\nend\ndocument tally\nCounts.\n\
                 if you wish, with numbers\nend\nhelp tally\ntal 1 2\nshow user\n";
    check(
        lines,
        &[
            "no command `tally` is defined",
            "tally: Counts.",
            "if you wish, with numbers",
            "$1 = 2",
            "tally: print $argc",
        ],
        &[],
    );
}

#[test]
fn a_malformed_block_is_refused_where_it_is_typed_and_not_executed() {
    let lines = "if 1\nelse\nelse\necho hidden\\n\nend\nprint 40 + 2\n";
    check(
        lines,
        &["`else` without `if`", "the lines are dropped", "$1 = 42"],
        &["\nhidden"],
    );
    check("loop_break\n", &["`loop_break` outside of a block"], &[]);
    check(
        "while\nend\nprint 6 * 7\n",
        &["`while` needs a condition", "$1 = 42"],
        &[],
    );
}

#[test]
fn a_file_with_a_malformed_block_is_not_executed() {
    let directory = TempDir::with_prefix("juror-scripts-").expect("a directory");
    let source = |text: &str| {
        let file = directory.path().join("file");
        fs::write(&file, text).expect("a file");
        shown(&format!("source {}\nprint 40 + 2\n", file.display()))
    };
    let said = source("echo first\\n\nif 1\necho second\\n\n");
    assert!(said.contains("file:2: `end` is missing"), "{said}");
    assert!(
        !said.contains("\nfirst\n") && said.contains("= 42"),
        "{said}"
    );
    let said = source("echo first\\n\n# no\nif 1\nprint nosuch\nend\necho last\\n\n");
    assert!(
        said.contains("first\n") && said.contains("file:4: "),
        "{said}"
    );
    assert!(!said.contains("last\n"), "{said}");
    let said = source("echo first\\n\ndefine look\nprint 7\nend\nlook\n");
    assert!(said.contains("$1 = 7"), "{said}");
}

#[test]
fn a_line_of_a_block_that_could_only_fail_is_refused_where_it_stands() {
    // The lines after a refused one may belong to it: nothing of the block is kept.
    check(
        "break push\ncommands\nnosuchcommand\necho hidden\\n\nend\nrun\nprint key + 40\n",
        &[
            "there is no command `nosuchcommand`",
            "the lines are dropped",
            "$1 = 40",
        ],
        &["\nhidden"],
    );
    for (line, expected) in [
        (
            "if $_nosuch(1)\necho hidden\\n\nend",
            "there is no function `$_nosuch`",
        ),
        (
            "while $_nosuch\nend",
            "no convenience variable is named `$_nosuch`",
        ),
        ("thread apply all frob", "there is no command `frob`"),
        ("frame apply level 2 frob 3", "there is no command `frob`"),
        ("python print(1)", "juror has no `python`"),
    ] {
        let lines = format!("define look\n{line}\nend\nlook\nprint 40 + 2\n");
        let dropped = "the lines are dropped";
        check(&lines, &[expected, dropped, "$1 = 42"], &["\nhidden"]);
    }
    check(
        "if $_nosuch(1)\necho hidden\\n\nend\nprint 40 + 2\n",
        &["there is no function `$_nosuch`", "$1 = 42"],
        &["\nhidden"],
    );
}

#[test]
fn a_line_of_a_block_that_may_succeed_is_taken() {
    let lines = "define fall\nset $_left = $_left - 1\nif $_left > 0\nfall\nend\n\
                 if $argc == 9\n$arg0\nend\nend\n\
                 document fall\nnosuchcommand of a text\nend\n\
                 break push\ncommands\nsilent\nthread apply all -s echo in\\n\nend\n\
                 set $_left = 3\nfall\nprint $_left\nif $_exitcode == 0 || $_thread\nend\n";
    check(
        lines,
        &["$1 = 0"],
        &["the lines are dropped", "is left out", "there is no"],
    );
}

#[test]
fn a_file_with_a_block_that_could_only_fail_is_not_executed() {
    let directory = TempDir::with_prefix("juror-scripts-").expect("a directory");
    let file = directory.path().join("file");
    let sourced = |text: &str| {
        fs::write(&file, text).expect("a file");
        shown(&format!("source {}\nprint 40 + 2\n", file.display()))
    };
    let said = sourced("echo first\\n\ndefine look\nfrob\nend\n");
    assert!(
        said.contains("file:3: there is no command `frob`"),
        "{said}"
    );
    assert!(
        !said.contains("\nfirst\n") && said.contains("= 42"),
        "{said}"
    );
    let said = sourced("echo first\\n\nif 1\nif $_nosuch(2)\nend\nend\n");
    assert!(
        said.contains("file:3: there is no function `$_nosuch`"),
        "{said}"
    );
    assert!(!said.contains("\nfirst\n"), "{said}");
    // A command may be defined further down, or by another file.
    let said = sourced("define look\nlast\nend\ndefine last\nprint 7\nend\nlook\n");
    assert!(said.contains("$1 = 7"), "{said}");
}

#[test]
fn a_command_file_with_a_block_that_is_not_closed_is_not_executed() {
    let directory = TempDir::with_prefix("juror-scripts-").expect("a directory");
    let file = directory.path().join("file");
    let given = |text: &str, options: &[&str]| {
        fs::write(&file, text).expect("a file");
        let file = file.to_str().expect("a path that is text");
        let arguments = [&["run"], options, &["-x", file, "-e", "print 40 + 2"]].concat();
        let output = juror(&arguments).args([pushes()]).run();
        (output.code(), output.stdout + &output.stderr)
    };
    let text = "echo first\\n\n# no\nif 1\necho second\\n\n";
    let (_, said) = given(text, &[]);
    assert!(said.contains("file:3: `end` is missing: `if 1`"), "{said}");
    assert!(said.contains("nothing of the file is executed"), "{said}");
    assert!(
        !said.contains("first") && !said.contains("second"),
        "{said}"
    );
    // At a prompt the next command follows; in batch mode the error ends juror.
    assert!(said.contains("= 42"), "{said}");
    let (status, said) = given(text, &["--batch"]);
    assert_eq!(status, Some(2), "{said}");
    assert!(!said.contains("= 42") && !said.contains("first"), "{said}");
    let (_, said) = given("define look\nif 1\nprint 7\nend\nend\nlook\n", &[]);
    assert!(
        said.contains("$1 = 7") && said.contains("$2 = 42"),
        "{said}"
    );
}

/// juror with the program, at its prompt.
fn at_prompt() -> Terminal {
    let mut terminal = juror(&["run"]).args([pushes()]).terminal();
    terminal.expect(PROMPT);
    terminal
}

#[test]
fn control_d_ends_a_list_before_it_ends_juror() {
    let mut terminal = at_prompt();
    terminal.type_line("break push");
    terminal.expect(PROMPT);
    terminal.type_line("commands");
    terminal.expect(">");
    terminal.type_line("print key");
    terminal.expect(">");
    terminal.type_control('d');
    terminal.expect(PROMPT);
    terminal.type_line("run");
    terminal.expect("$1 = 0");
    terminal.expect(PROMPT);
    terminal.type_line("kill");
    terminal.expect(PROMPT);
    terminal.type_line("quit");
    assert_eq!(terminal.finish().1, 0);
}

#[test]
fn a_refused_line_of_a_block_is_corrected_at_the_prompt() {
    let mut terminal = at_prompt();
    terminal.type_line("define look");
    terminal.expect(">");
    terminal.type_line("nosuchcommand");
    terminal.expect("the line is left out");
    terminal.expect(">");
    terminal.type_line("if $_nosuch(1)");
    terminal.expect("the line is left out");
    terminal.expect(">");
    terminal.type_line("print 40 + 2");
    terminal.expect(">");
    terminal.type_line("end");
    terminal.expect(PROMPT);
    terminal.type_line("look");
    terminal.expect("$1 = 42");
    terminal.expect(PROMPT);
    terminal.type_line("if $_nosuch(1)");
    terminal.expect("there is no function");
    terminal.expect(PROMPT);
    terminal.type_line("quit");
    assert_eq!(terminal.finish().1, 0);
}

#[test]
fn control_c_ends_a_loop() {
    let mut terminal = at_prompt();
    terminal.type_line("while 1");
    terminal.expect(">");
    terminal.type_line("echo turn\\n");
    terminal.expect(">");
    terminal.type_line("end");
    terminal.expect("turn");
    terminal.type_control('c');
    terminal.expect("the rest is not executed");
    terminal.expect(PROMPT);
    terminal.type_line("print 40 + 2");
    terminal.expect("= 42");
    terminal.expect(PROMPT);
    terminal.type_line("quit");
    assert_eq!(terminal.finish().1, 0);
}
