//! The prompt at a terminal: keys, history, completion, Ctrl-C.

use crate::support::at_terminal::{PROMPT, ask, prepared, quit};
use crate::support::{juror, program};
use juror_testing::{Juror, Terminal};

/// juror with a program, at its prompt.
fn start(file: &str) -> Terminal {
    let mut terminal = prepared(file).terminal();
    terminal.expect(PROMPT);
    terminal
}

#[test]
fn enter_repeats_a_step_and_goes_on_listing() {
    let mut terminal = start("steps.c");
    assert!(ask(&mut terminal, "start").contains("steps.c:19"));
    assert!(ask(&mut terminal, "next").contains("steps.c:20"));
    assert!(ask(&mut terminal, "").contains("steps.c:21"));
    let shown = ask(&mut terminal, "list steps.c:8");
    assert!(
        shown.contains("int rest") && !shown.contains("int main(void)"),
        "{shown}"
    );
    let shown = ask(&mut terminal, "");
    assert!(shown.contains("int main(void)"), "{shown}");
    assert!(ask(&mut terminal, "info line").contains("line 21 of steps.c"));
    // What does not go forward is not done again.
    assert_eq!(ask(&mut terminal, "").trim(), "");
    quit(terminal);
}

#[test]
fn tab_completes_commands_functions_files_and_variables() {
    let mut terminal = start("steps.c");
    for (typed, completed) in [
        ("backt\t\x15", "backtrace"),
        ("break facto\t\x15", "break factorial"),
        ("break steps\t\x15", "break steps.c:"),
        ("info thr\t\x15", "info threads"),
    ] {
        terminal.type_keys(typed);
        terminal.expect(completed);
    }
    terminal.type_line("tbreak factorial");
    terminal.expect("temporary breakpoint 1");
    terminal.expect(PROMPT);
    ask(&mut terminal, "run");
    ask(&mut terminal, "finish");
    terminal.type_keys("print produ\t");
    terminal.expect("print product");
    terminal.type_line("");
    terminal.expect("$2 = ");
    terminal.expect(PROMPT);
    quit(terminal);
}

#[test]
fn the_history_is_kept_over_sessions() {
    let state = tempfile::tempdir().expect("a directory");
    let juror = || prepared("steps.c").env("XDG_STATE_HOME", state.path());
    let mut terminal = juror().terminal();
    terminal.expect(PROMPT);
    ask(&mut terminal, "print 40 + 2");
    quit(terminal);
    let mut terminal = juror().terminal();
    terminal.expect(PROMPT);
    // Up twice: over `quit`.
    terminal.type_keys("\x1b[A\x1b[A");
    terminal.expect("print 40 + 2");
    terminal.type_line("");
    terminal.expect("$1 = 42");
    terminal.expect(PROMPT);
    quit(terminal);
}

#[test]
fn control_c_stops_the_program_and_not_juror() {
    let mut terminal = start("endless.c");
    for goes_on in ["run", "continue", "advance main"] {
        if goes_on.starts_with("advance") {
            // It ends where the present function returns, and Ctrl-C may have
            // come inside of puts: spin does not return.
            ask(&mut terminal, "tbreak 9");
            assert!(ask(&mut terminal, "continue").contains("spin"));
        }
        terminal.type_line(goes_on);
        // Now the program has the terminal.
        terminal.expect("running");
        terminal.type_control('c');
        terminal.expect("Interrupted");
        terminal.expect(PROMPT);
    }
    assert!(ask(&mut terminal, "backtrace").contains("spin ()"));
    assert!(ask(&mut terminal, "print spins > 0").contains("true"));
    // At the prompt it forgets the line.
    terminal.type_keys("print 1");
    terminal.expect("print 1");
    terminal.type_control('c');
    terminal.expect(PROMPT);
    assert!(ask(&mut terminal, "print 2 + 1").contains("= 3"));
    assert!(ask(&mut terminal, "kill").contains("gone"));
    assert!(ask(&mut terminal, "info threads").contains("not running"));
    quit(terminal);
}

#[test]
fn control_d_leaves_and_the_terminal_is_as_before() {
    let executable = program("endless.c").compile_plain();
    let script =
        "stty -g > before; \"$1\" run \"$2\"; stty -g > after; cmp before after && echo same";
    let directory = tempfile::tempdir().expect("a directory");
    let mut terminal = Juror::new("/bin/sh")
        .args(["-c", script, "sh", env!("CARGO_BIN_EXE_juror")])
        .args([executable])
        .directory(directory.path())
        .terminal();
    terminal.expect(PROMPT);
    terminal.type_line("run");
    terminal.expect("running");
    terminal.type_control('c');
    terminal.expect("Interrupted");
    terminal.expect(PROMPT);
    terminal.type_control('d');
    terminal.expect("same");
    let (_, status) = terminal.finish();
    assert_eq!(status, 0);
}

#[test]
fn commands_have_abbreviations_and_unique_beginnings() {
    let mut terminal = start("steps.c");
    assert!(ask(&mut terminal, "b factorial").contains("breakpoint 1"));
    assert!(ask(&mut terminal, "r").contains("Breakpoint 1"));
    assert!(ask(&mut terminal, "bt").contains("#1"));
    assert!(ask(&mut terminal, "i b").contains("factorial"));
    assert!(ask(&mut terminal, "p/x n").contains("0x4"));
    assert!(ask(&mut terminal, "fini").contains("Breakpoint 1"));
    assert!(ask(&mut terminal, "st").contains("stepi"));
    assert!(ask(&mut terminal, "frob").contains("no command"));
    quit(terminal);
}

#[test]
fn what_gdb_is_told_first_is_understood() {
    let mut terminal = start("crash.c");
    for (setting, expected) in [
        ("set pagination off", ""),
        ("set style function foreground red", "no such setting"),
        ("set verbose off", "no such setting is needed"),
        ("set confirm off", ""),
        ("set print pretty on", ""),
        ("set print array on", "print -pretty"),
        ("set print object on", "no such setting"),
        ("set frob on", "there is no setting `frob`"),
        ("set args 7", ""),
        ("handle SIGUSR1 nostop noprint", ""),
        ("run", "status 7"),
        ("run 8", "status 8"),
        ("run", "status 8"),
        ("set args", ""),
        ("run", "SIGSEGV"),
    ] {
        let answer = ask(&mut terminal, setting);
        assert!(answer.contains(expected), "{setting}: {answer}");
    }
    quit(terminal);
}

#[test]
fn a_command_of_the_shell_has_the_terminal_until_it_ends() {
    let executable = program("steps.c").compile_plain();
    let directory = tempfile::tempdir().expect("a directory");
    let mut terminal = juror(&["run"])
        .args([executable])
        .directory(directory.path())
        .env("SHELL", "/bin/sh")
        .terminal();
    terminal.expect(PROMPT);
    assert!(ask(&mut terminal, "start").contains("steps.c:19"));
    assert!(ask(&mut terminal, "!echo $((40 + 2))").contains("42"));
    // It reads what is typed.
    terminal.type_line("shell read word; echo \"<$word>\"");
    terminal.expect("\n");
    terminal.type_line("hello");
    terminal.expect("<hello>");
    terminal.expect(PROMPT);
    // Ctrl-C ends it, not juror, and not the program. The number is not in the line that is typed.
    terminal.type_line("!echo $((40 + 3)); sleep 1000");
    terminal.expect("43");
    terminal.type_control('c');
    let said = terminal.expect(PROMPT);
    assert!(said.contains("SIGINT"), "{said}");
    // Ctrl-Z, too: nobody could let it go on.
    terminal.type_line("!echo $((40 + 4)); sleep 1000");
    terminal.expect("44");
    terminal.type_control('z');
    terminal.expect(PROMPT);
    assert!(ask(&mut terminal, "next").contains("steps.c:20"));
    quit(terminal);
}

#[test]
fn tab_completes_settings_files_and_what_a_command_takes() {
    let executable = program("steps.c").compile_plain();
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(directory.path().join("pointless")).expect("a directory");
    std::fs::write(directory.path().join("pointless/saved"), "").expect("a file");
    let juror = juror(&["run"]).args([executable]);
    let mut terminal = juror.directory(directory.path()).terminal();
    terminal.expect(PROMPT);
    for (typed, completed) in [
        ("dpri\t\x15", "dprintf"),
        ("set listsi\t\x15", "set listsize"),
        ("show environ\t\x15", "show environment"),
        ("info proc mapp\t\x15", "info proc mappings"),
        ("frame app\t\x15", "frame apply"),
        ("source pointl\t\x15", "source pointless/"),
        ("source pointless/sa\t\x15", "source pointless/saved"),
    ] {
        terminal.type_keys(typed);
        terminal.expect(completed);
    }
    quit(terminal);
}

#[test]
fn lines_that_arrive_at_once_are_all_executed_in_order() {
    let mut terminal = start("steps.c");
    terminal.type_keys("print 10 + 1\nprint 20 + 1\nprint 30 + 1\nprint 40 + 1\n");
    for expected in ["$1 = 11", "$2 = 21", "$3 = 31", "$4 = 41"] {
        terminal.expect(expected);
    }
    terminal.expect(PROMPT);
    quit(terminal);
}

#[test]
fn lines_typed_while_the_program_runs_are_executed_when_it_stops() {
    let directory = tempfile::tempdir().expect("a directory");
    let awaited = directory.path().join("go");
    let mut terminal = start("until_file.c");
    ask(&mut terminal, "break reached");
    terminal.type_line(&format!("run {}", awaited.display()));
    terminal.expect("running");
    terminal.type_keys("print 10 + 1\nprint 20 + 1\nprint 30 + 1\n");
    std::fs::write(&awaited, "").expect("a file");
    terminal.expect("Breakpoint 1");
    for expected in ["$1 = 11", "$2 = 21", "$3 = 31"] {
        terminal.expect(expected);
    }
    terminal.expect(PROMPT);
    ask(&mut terminal, "kill");
    quit(terminal);
}

#[test]
fn a_bracketed_paste_is_executed_line_by_line() {
    let mut terminal = start("steps.c");
    terminal.type_keys("\x1b[200~print 10 + 1\nprint 20 + 1\n\nprint 30 + 1\n\x1b[201~");
    terminal.type_line("");
    terminal.expect("$1 = 11");
    terminal.expect("(juror) print 20 + 1");
    terminal.expect("$2 = 21");
    terminal.expect("$3 = 31");
    terminal.expect(PROMPT);
    // Each line is one of the history: Up finds the last.
    terminal.type_keys("\x1b[A");
    terminal.expect("print 30 + 1");
    terminal.type_line("");
    terminal.expect("$4 = 31");
    terminal.expect(PROMPT);
    quit(terminal);
}

#[test]
fn the_user_is_asked_before_a_program_is_lost() {
    let mut terminal = prepared("steps.c").terminal_with("");
    terminal.expect(PROMPT);
    // It has not begun.
    ask(&mut terminal, "start");
    for line in ["run", "quit"] {
        terminal.type_line(line);
        terminal.expect("End it? (y or n) ");
        terminal.type_line("n");
        terminal.expect(PROMPT);
    }
    assert!(ask(&mut terminal, "next").contains("steps.c:20"));
    terminal.type_line("start");
    terminal.expect("End it? (y or n) ");
    terminal.type_line("y");
    assert!(terminal.expect(PROMPT).contains("steps.c:19"));
    terminal.type_control('d');
    terminal.expect("End it? (y or n) ");
    terminal.type_line("yes");
    let (_, status) = terminal.finish();
    assert_eq!(status, 0);
}
