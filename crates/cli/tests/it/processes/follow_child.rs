//! `set follow child`: what the developer has asked for goes on in the child.

use crate::support::{Batch, Report};
use juror_testing::{Build, Fixture, Language};
use std::path::PathBuf;

fn compile(name: &str, source: &str) -> PathBuf {
    Fixture::c(name, source).compile(&Build::plain(Language::C))
}

fn lines(report: &Report) -> Vec<String> {
    report
        .kind("stop")
        .map(|stop| {
            let location = &stop["location"];
            let function = location["function"].as_str().unwrap_or("?");
            format!("{function}:{}", location["line"])
        })
        .collect()
}

const FORKS: &str = "#include <unistd.h>
#include <sys/wait.h>
static int makes(void)
{
    int pid = fork();
    return pid;
}
int main(void)
{
    int pid = makes();
    if (pid == 0)
        return 3;
    wait(0);
    return 0;
}
";

#[test]
fn a_step_over_fork_ends_in_the_child() {
    let program = compile("forks", FORKS);
    let run = |commands: &[&str]| {
        let batch = Batch::new().command("set follow child");
        let batch = commands.iter().fold(batch, |batch, it| batch.command(it));
        batch.run(&program, &[])
    };
    let report = run(&["break main", "run", "next", "print pid", "next"]);
    assert_eq!(lines(&report)[..3], ["main:10", "main:11", "main:12"]);
    assert_eq!(report.outcome("print pid")["value"], "0");
    let report = run(&[
        "break main",
        "run",
        "step",
        "next",
        "print pid",
        "next",
        "next",
    ]);
    let expected = ["main:10", "makes:5", "makes:6", "makes:7"];
    assert_eq!(lines(&report)[..4], expected);
    assert_eq!(report.outcome("print pid")["value"], "0");
    let report = run(&["break makes", "run", "finish", "print $"]);
    assert_eq!(lines(&report)[..2], ["makes:5", "main:10"]);
    assert_eq!(report.outcome("print $")["value"], "0");
    let report = run(&["break main", "run", "until 12", "print pid"]);
    assert_eq!(lines(&report)[..2], ["main:10", "main:12"]);
}

const WATCHED: &str = "#include <sys/wait.h>
#include <unistd.h>
int var;
int table[600];
void marker(void) { }
int main(void)
{
    if (fork() != 0) {
        wait(0);
        return 0;
    }
    var = 1;
    table[300] = 5;
    marker();
    var = 2;
    return 7;
}
";

#[test]
fn watchpoints_and_hardware_breakpoints_go_on_in_the_child() {
    let program = compile("watched", WATCHED);
    let commands = [
        "set follow child",
        "break main",
        "run",
        "watch var",
        "hbreak marker",
        "continue",
        "continue",
        "continue",
        "continue",
    ];
    let batch = commands
        .iter()
        .fold(Batch::new(), |batch, it| batch.command(it));
    let report = batch.run(&program, &[]);
    let stops = lines(&report);
    assert_eq!(
        stops,
        ["main:8", "main:12", "marker:5", "main:15"],
        "{}",
        report.all()
    );
}

#[test]
fn a_watchpoint_by_page_protection_goes_on_in_the_child() {
    let program = compile("watched", WATCHED);
    let commands = [
        "set follow child",
        "break main",
        "run",
        "watch table",
        "continue",
        "continue",
    ];
    let batch = commands
        .iter()
        .fold(Batch::new(), |batch, it| batch.command(it));
    let report = batch.run(&program, &[]);
    assert_eq!(lines(&report), ["main:8", "main:13"], "{}", report.all());
}

#[test]
fn an_event_at_memory_goes_on_in_the_child() {
    let program = compile("watched", WATCHED);
    let property = "property p event e = change var state a accepting { on e -> a }";
    let report = Batch::watching(property)
        .command("set follow child")
        .command("run")
        .run(&program, &[]);
    assert_eq!(report.occurrences("e"), 2, "{}", report.all());
}

#[test]
fn execve_is_caught_at_its_entry_and_at_its_exit() {
    let source = "#include <unistd.h>
int main(int argc, char **argv)
{
    if (argc == 1)
        execl(argv[0], argv[0], \"again\", (char *)0);
    return 0;
}
";
    let program = compile("replaces", source);
    let report = Batch::new()
        .command("catch syscall execve")
        .command("run")
        .command("continue")
        .command("continue")
        .run(&program, &[]);
    let phases: Vec<String> = report
        .kind("stop")
        .map(|stop| stop["reason"].to_string())
        .collect();
    assert_eq!(phases.len(), 2, "{}", report.all());
    let property = "property p event begin = entry execve event end = exit execve
        state a accepting { on begin -> b } state b accepting { on end -> a }";
    let report = Batch::watching(property).run(&program, &[]);
    assert_eq!(
        (report.occurrences("begin"), report.occurrences("end")),
        (1, 1),
        "{}",
        report.all()
    );
}
