//! `catch`: each event is caught once, and the program ends as it does without juror.

use crate::support::{juror, program};
use juror_testing::Fixture;
use serde_json::Value;
use std::path::Path;

/// Sets the catchpoints, runs the program to its end, and gives what stopped
/// it: the numbers, the event and its words.
#[track_caller]
fn caught(
    executable: &Path,
    arguments: &[&str],
    catchpoints: &[&str],
) -> Vec<(u64, String, String)> {
    let mut typed = String::from("handle all nostop noprint pass\n");
    for catchpoint in catchpoints {
        typed.push_str(&format!("{catchpoint}\n"));
    }
    typed.push_str("run\n");
    typed.push_str(&"continue\n".repeat(60));
    let output = juror(&["run", "--json"])
        .args([executable])
        .args(arguments)
        .input(typed)
        .run();
    let lines = output.stdout.lines().filter(|line| line.starts_with('{'));
    let lines: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).expect("it is JSON"))
        .collect();
    let end = lines.iter().find(|line| line["kind"] == "end");
    assert_eq!(
        end.expect("the program ended")["ending"]["status"],
        0,
        "{}",
        output.stdout
    );
    let stops = lines.iter().filter(|line| line["kind"] == "stop");
    stops
        .map(|stop| {
            assert_eq!(stop["reason"], "caught", "{stop}");
            let text = |key: &str| stop[key].as_str().unwrap_or_default().to_owned();
            let number = stop["numbers"][0].as_u64().expect("a number");
            (number, text("event"), text("description"))
        })
        .collect()
}

fn count(caught: &[(u64, String, String)], number: u64, event: &str) -> usize {
    let is_meant = |it: &&(u64, String, String)| it.0 == number && it.1 == event;
    caught.iter().filter(is_meant).count()
}

#[test]
fn what_is_asked_of_the_kernel_is_caught_once_each() {
    let executable = program("catches.c").compile_plain();
    let caught = caught(
        &executable,
        &[],
        &[
            "catch syscall getppid",
            "catch fork",
            "catch vfork",
            "catch exec",
            "catch signal SIGUSR1",
            "tcatch syscall close",
        ],
    );
    for (number, event, expected) in [
        (1, "syscall_entry", 3),
        (1, "syscall_exit", 3),
        (2, "fork", 2),
        (3, "vfork", 1),
        (4, "exec", 1),
        (5, "signal", 4),
        (6, "syscall_entry", 1),
        (6, "syscall_exit", 0),
    ] {
        assert_eq!(
            count(&caught, number, event),
            expected,
            "{event} {caught:?}"
        );
    }
    let (_, _, words) = &caught[0];
    assert_eq!(words, "entry into getppid");
    assert_eq!(caught.len(), 15);
}

#[test]
fn every_system_call_has_an_entry_and_an_exit() {
    let executable = program("catches.c").compile_plain();
    let caught = caught(&executable, &["short"], &["catch syscall"]);
    let entries = count(&caught, 1, "syscall_entry");
    // `exit_group` does not come back.
    assert_eq!(count(&caught, 1, "syscall_exit"), entries - 1);
    let (_, _, last) = caught.last().expect("a call");
    assert_eq!(last, "entry into exit_group");
}

#[test]
fn exceptions_are_caught_with_their_type() {
    let executable = program("throws.cpp").compile_plain();
    let caught = caught(&executable, &[], &["catch throw", "catch catch"]);
    let events: Vec<_> = caught.iter().map(|it| (it.0, it.1.as_str())).collect();
    assert_eq!(
        events,
        [(1, "throw"), (2, "catch"), (1, "throw"), (2, "catch")]
    );
    assert_eq!(caught[0].2, "exception of type std::runtime_error thrown");
    assert_eq!(caught[1].2, "exception of type std::runtime_error caught");
}

#[test]
fn libraries_are_caught_as_they_come_and_go() {
    let loader = program("loader.c").argument("-ldl").compile_plain();
    let plugin = program("plugin.c").argument("-shared").argument("-fPIC");
    let plugin = plugin.compile_plain();
    let plugin = plugin.to_str().expect("a path of text");
    let commands = ["catch load plugin", "catch unload", "catch load nothing"];
    let caught = caught(&loader, &[plugin], &commands);
    let events: Vec<_> = caught.iter().map(|it| (it.0, it.1.as_str())).collect();
    let round = [(1, "load"), (2, "unload")];
    assert_eq!(events, [round, round].concat());
    assert_eq!(caught[0].2, format!("loaded {plugin}"));
}

#[test]
fn what_becomes_of_a_child_is_told_before_the_stop() {
    let executable = program("catches.c").compile_plain();
    for (what, how) in [("fork", "created by fork"), ("vfork", "created by vfork")] {
        let mut terminal = juror(&["run"]).args([&executable]).terminal();
        let mut ask = |line: &str| {
            terminal.expect("(juror) ");
            terminal.type_line(line);
            terminal.expect("\n");
        };
        ask(&format!("tcatch {what}"));
        ask("run");
        let told = format!("{how}; it runs without juror");
        terminal.expect(&told);
        terminal.expect("Temporary catchpoint 1");
        terminal.expect("(juror) ");
        terminal.type_line("quit");
        terminal.finish();
    }
}

#[test]
fn the_stop_at_a_fork_is_in_the_child_that_is_followed() {
    let executable = program("catches.c").compile_plain();
    let mut terminal = juror(&["run", "--follow", "child"])
        .args([&executable])
        .terminal();
    let mut ask = |line: &str| {
        terminal.expect("(juror) ");
        terminal.type_line(line);
        terminal.expect("\n");
    };
    ask("tcatch fork");
    ask("run");
    terminal.expect("continues without juror");
    terminal.expect("following process");
    terminal.expect("Temporary catchpoint 1");
    // The first one was its parent's.
    terminal.expect("thread 2\r\n");
    terminal.expect("(juror) ");
    terminal.type_line("quit");
    terminal.finish();
}

#[test]
fn of_a_child_that_will_be_followed_it_is_said_when() {
    let source = r#"
        #include <sys/wait.h>
        #include <unistd.h>
        int main(void) {
            int status;
            pid_t child = vfork();
            if (!child) {
                execl("/bin/sh", "sh", "-c", "exit 3", (char *)0);
                _exit(4);
            }
            waitpid(child, &status, 0);
            return 0;
        }"#;
    let executable = Fixture::c("followed_vfork", source).compile_plain();
    let output = juror(&["run", "--follow", "child"])
        .args([&executable])
        .input("catch vfork\nrun\ncontinue\nquit\n")
        .run();
    let text = format!("{}{}", output.stdout, output.stderr);
    for part in [
        "created by vfork; it is followed when it executes its program",
        "continues without juror",
        "exited with status 3",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
