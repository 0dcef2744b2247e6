//! Scenarios over running programs: their output, their actions, and their points.

mod moves;

use crate::support::{Batch, Report, juror};
use juror_testing::{Fixture, repository_directory};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A queue that gets `pushes` letters and has room for three.
const QUEUE: &str = "
    struct queue { int count; int items[8]; } q;
    int pushes = 5;
    __attribute__((noinline)) void push(struct queue *queue, int item) {
        queue->items[queue->count] = item;
        queue->count++;
    }
    __attribute__((noinline)) void done(void) { __asm__ volatile(\"\"); }
    union pun { long number; void (*code)(void); struct { unsigned low : 16, high : 16; } bits; } pun;
    struct held { int tag; union { long word; char *text; }; } held;
    long hidden = (long)done;
    int main(void) {
        for (int i = 0; i < pushes; i++)
            push(&q, i * 10);
        done();
        return q.count;
    }";

const BOUNDS: &str = "property bounds slice on queue
    event pushed = before push(queue, item)
    var count = 0
    state init accepting { on pushed -> some }
    state some accepting action growing {
        on pushed when count < 2 { count += 1 } else -> full
    }
    state full non-accepting";

fn queue() -> PathBuf {
    Fixture::c("queue", QUEUE).compile_plain()
}

/// What a batch run with this scenario reports.
fn run(scenario: &str, options: &[&str]) -> Report {
    let directory = TempDir::with_prefix("juror-scenario-").expect("a directory");
    let file = directory.path().join("s.scn");
    fs::write(&file, scenario).expect("a file");
    let mut batch = Batch::watching(BOUNDS).option("--scenario").option(&file);
    for option in options {
        batch = batch.option(option);
    }
    batch.run(queue(), &[])
}

/// What the scenarios of a run have said.
fn said(report: &Report) -> Vec<String> {
    let lines = report
        .lines
        .iter()
        .filter(|line| line["kind"] == "scenario");
    lines
        .map(|line| line["text"].as_str().expect("a text").to_owned())
        .collect()
}

#[track_caller]
fn check(scenario: &str, expected: &[&str]) -> Report {
    let report = run(scenario, &[]);
    assert_eq!(said(&report), expected, "{}", report.output.stderr);
    report
}

/// The error that stops a run.
#[track_caller]
fn check_error(scenario: &str, options: &[&str], place: &str, message: &str, help: &str) {
    let report = run(scenario, options);
    let stop = report.stop();
    assert_eq!(stop["reason"], "scenario_error", "{stop}");
    let text = |key: &str| stop[key].as_str().unwrap_or("").to_owned();
    assert!(text("message").contains(message), "{stop}");
    assert!(text("help").contains(help), "{stop}");
    let number = |key: &str| stop[key].as_u64().expect("a number") as usize;
    assert_eq!(&scenario[number("start")..number("end")], place);
    report.assert_code(2);
}

fn summary(report: &Report) -> &Value {
    report.summary("bounds")
}

#[test]
fn reactions_come_with_what_has_happened() {
    check(
        "scenario s
         on start { print \"start\", thread }
         on enter some { print \"{property_name}: {old_state} -> {new_state} by {event_name}\" }
         on leave some when count == 2 { print \"left with {count}\" }
         on verdict violated { print verdict continue }
         on action growing { print \"action\" }
         on exit { print \"exit {exit_status}\" }",
        &[
            "start 1",
            "bounds: init -> some by pushed",
            "action",
            "left with 2",
            "violated",
            "exit 5",
        ],
    );
}

#[test]
fn a_violation_stops_unless_a_scenario_lets_it_pass() {
    let report = check("scenario s on enter full { print \"full\" }", &["full"]);
    assert_eq!(report.stop()["reason"], "violation");
    let report = check("scenario s on enter full { continue }", &[]);
    assert_eq!(summary(&report)["violations"], 1);
    report.assert_code(1);
    // Who wants to stop is stronger.
    let report = check(
        "scenario a on enter full { continue } scenario b on enter full { stop \"here\" }",
        &["here"],
    );
    assert_eq!(report.stop()["reason"], "violation");
    let report = check("scenario s on enter some { stop \"first\" }", &["first"]);
    let stops = |report: &Report| -> Vec<Value> {
        let stops = report.lines.iter().filter(|line| line["kind"] == "stop");
        stops.map(|stop| stop["reason"].clone()).collect()
    };
    let stop = report.stop();
    assert_eq!(
        (&stop["reason"], &stop["message"]),
        (&"scenario".into(), &"first".into())
    );
    let shown = &report.output.stdout;
    assert!(shown.contains("Stopped by scenario s in "), "{shown}");
    // Nobody sits at a prompt: the run is over, as after a violation.
    assert_eq!(stops(&report), ["scenario"]);
    report.assert_code(1);
    let report = run(
        "scenario s on enter some { stop \"first\" }",
        &["--keep-going"],
    );
    assert_eq!(stops(&report)[..2], ["scenario", "violation"]);
}

#[test]
fn points_have_reactions_of_their_own() {
    check(
        "scenario s
         var pushes = 0
         on start {
             break push {
                 pushes += 1
                 print \"push {pushes} of {program(item)}\"
                 if pushes == 3 { remove point }
             }
             tbreak done when q.count > pushes { print \"once, {program(q.count)}\" }
         }
         on verdict violated { continue }",
        &["push 1 of 0", "push 2 of 10", "push 3 of 20", "once, 5"],
    );
}

#[test]
fn watched_memory_tells_its_values_while_a_state_lasts() {
    check(
        "scenario s
         on enter some {
             var from = new_state
             watch q.count while some { print \"{from}: {old_value} -> {new_value}\" }
         }
         on enter full { print \"full\" continue }",
        &["some: 0 -> 1", "some: 1 -> 2", "some: 2 -> 3", "full"],
    );
}

#[test]
fn values_of_the_program_are_read_and_set() {
    let report = check(
        "scenario s
         var limit = 2
         on start {
             print program(pushes), program(sizeof(struct queue)), program(&q != 0)
             set pushes = limit + 1
             for i in 0..3 { set q.items[i] = i - 1 }
             print program(q.items[0]), program(pushes - limit)
         }
         on exit { print exit_status }",
        &["5 36 true", "-1 1", "3"],
    );
    assert_eq!(summary(&report)["violations"], 0);
}

#[test]
fn properties_are_switched_and_commands_run() {
    let report = check(
        "scenario s
         on enter some { disable bounds command \"info monitors\" }",
        &[],
    );
    assert_eq!(summary(&report)["violations"], 0);
    let outcome = report.lines.iter().find(|line| line["kind"] == "outcome");
    assert_eq!(outcome.expect("an outcome")["command"], "info monitors");
}

#[test]
fn a_mistake_in_a_reaction_stops_the_program_and_is_shown() {
    check_error(
        "scenario s on enter some { print program(qq.count) }",
        &[],
        "program(qq.count)",
        "qq",
        "",
    );
    check_error(
        "scenario s on enter some { var x = {1: 2} print x[3] }",
        &[],
        "x[3]",
        "",
        "",
    );
    check_error(
        "scenario s on enter some { set q.count = 1 << 40 }",
        &[],
        "set q.count = 1 << 40",
        "does not fit",
        "",
    );
    check_error(
        "scenario s on enter some { restore 7 }",
        &[],
        "restore 7",
        "no checkpoint 7",
        "",
    );
}

#[test]
fn scenarios_reach_out_only_when_they_may() {
    let calls = "scenario s on enter some { command \"call done()\" }";
    check_error(
        calls,
        &[],
        "command \"call done()\"",
        "calls a function",
        "--allow-programs",
    );
    let report = run(calls, &["--allow-programs"]);
    assert_eq!(
        report.stop()["reason"],
        "violation",
        "{}",
        report.output.stderr
    );
    for statement in [
        "break push when done() == 1 { print \"never\" }",
        "command \"break push if done()\"",
        "command \"x/d done()\"",
        "command \"thread apply all print done()\"",
    ] {
        check_error(
            &format!("scenario s on enter some {{ {statement} }}"),
            &[],
            statement,
            "calls a function",
            "--allow-programs",
        );
    }
    check_error(
        "scenario s on enter some { command \"property add x.prop\" }",
        &[],
        "command \"property add x.prop\"",
        "reads a file",
        "--allow-files",
    );
    check_error(
        "scenario s on enter some { command \"thread apply all shell true\" }",
        &["--allow-files"],
        "command \"thread apply all shell true\"",
        "runs another program",
        "--allow-programs",
    );
    check_error(
        "scenario s on enter some { command \"attach 1\" }",
        &["--allow-files"],
        "command \"attach 1\"",
        "takes over another program",
        "--allow-programs",
    );
}

#[test]
fn scenarios_change_only_what_they_may() {
    let may_change = "scenarios may change only numbers";
    for (statement, message, help) in [
        ("set $rdi = 1", may_change, "--allow-programs"),
        ("set $rip = 0", may_change, "--allow-programs"),
        (
            "command \"set var $rax = 1\"",
            may_change,
            "--allow-programs",
        ),
        ("command \"print $rsp = 0\"", may_change, "--allow-programs"),
        (
            "command \"print $rsp += 8\"",
            may_change,
            "--allow-programs",
        ),
        ("set *(int *)$rsp = 1", may_change, "--allow-programs"),
        ("set *(&q.count + 1) = 1", may_change, "--allow-programs"),
        ("set queue = &q", may_change, "--allow-programs"),
        ("set q.items[8] = 1", may_change, "--allow-programs"),
        ("set q.items[-1] = 1", may_change, "--allow-programs"),
        ("set queue[1].count = 1", may_change, "--allow-programs"),
        ("set pun.number = 5", "these bytes", "--allow-programs"),
        ("set pun.bits.high = 5", "these bytes", "--allow-programs"),
        ("set held.word = 5", "these bytes", "--allow-programs"),
        ("set hidden = 5", "these bytes", "--allow-programs"),
        ("set pushes = done()", "", ""),
        ("command \"jump done\"", "other code", "--allow-programs"),
        ("command \"j *done\"", "other code", "--allow-programs"),
        (
            "command \"set environment LD_PRELOAD x.so\"",
            "started with",
            "--allow-programs",
        ),
        (
            "command \"set env A b\"",
            "started with",
            "--allow-programs",
        ),
        (
            "command \"unset environment PATH\"",
            "started with",
            "--allow-programs",
        ),
        ("command \"set cwd /\"", "is started", "--allow-programs"),
        ("command \"set args > made\"", "redirects", "--allow-files"),
        (
            "command \"set args 2>> made\"",
            "redirects",
            "--allow-files",
        ),
        ("command \"run > made\"", "redirects", "--allow-files"),
        (
            "command \"set args a b\"",
            "other arguments",
            "--allow-programs",
        ),
        (
            "command \"run -c 'touch made'\"",
            "other arguments",
            "--allow-programs",
        ),
        ("command \"cd /\"", "directory", "--allow-files"),
        (
            "command \"set substitute-path / /etc\"",
            "where files are",
            "--allow-files",
        ),
        (
            "command \"frame apply all set $rdi = 1\"",
            may_change,
            "--allow-programs",
        ),
        (
            "command \"thread apply all jump done\"",
            "other code",
            "--allow-programs",
        ),
    ] {
        check_error(
            &format!("scenario s on enter some {{ {statement} }}"),
            &[],
            statement,
            message,
            help,
        );
    }
    for statement in [
        "set q.count = 0",
        "set held.tag = 5",
        "set queue->count = 0",
        "set q.items[7] = 1",
        "set pushes += 1",
        "set $mine = 3",
        "set *queue = q",
        "command \"set print elements 3\"",
        "command \"set listsize 3\"",
    ] {
        let report = run(&format!("scenario s on enter some {{ {statement} }}"), &[]);
        let is_error = |line: &Value| line["reason"] == "scenario_error";
        let refused = report.lines.iter().any(is_error);
        // All of a structure may hold pointers.
        assert_eq!(refused, statement.contains("*queue ="), "{statement}");
    }
}

#[test]
fn a_command_that_stands_for_others_is_done_where_it_is() {
    let report = check(
        "scenario s on enter some {
             print \"before\"
             command \"thread apply all print q.count\"
             command \"frame apply 1 print q.count + 1\"
             print \"after\"
         }",
        &["before", "after"],
    );
    let text = &report.output.stdout;
    let places = ["[s] before", "$1 = 0", "$2 = 1", "[s] after"].map(|it| text.find(it));
    assert!(places.is_sorted() && places[0].is_some(), "{text}");
}

#[test]
fn a_group_of_commands_is_one_command_of_a_reaction() {
    let directory = TempDir::with_prefix("juror-scenario-").expect("a directory");
    let file = directory.path().join("s.scn");
    let text = "scenario s on stop { command \"look\" print \"after\" }";
    fs::write(&file, text).expect("a file");
    let load = format!("scenario load {}\n", file.display());
    let lines = ["group look\nprint q.count\nprint item\nend\nbreak push\n"];
    let input = lines.concat() + &load + "run\nthread apply all look\nquit\n";
    let output = juror(&["run"]).args([&queue()]).input(input).run();
    let text = &output.stdout;
    for expected in ["$1 = 0", "$2 = 0", "after", "$3 = 0", "$4 = 0"] {
        assert!(
            text.contains(expected),
            "{expected}:\n{text}{}",
            output.stderr
        );
    }
    let endless = "group again\nagain\nend\nbreak push\n";
    fs::write(&file, "scenario s on stop { command \"again\" }").expect("a file");
    let input = endless.to_owned() + &load + "run\nquit\n";
    let output = juror(&["run"]).args([&queue()]).input(input).run();
    assert!(
        output.stdout.contains("does not terminate"),
        "{}",
        output.stdout
    );
}

#[test]
fn what_is_wrong_with_a_point_of_a_scenario_is_shown_there() {
    check_error(
        "scenario s on start { break push when 10 / item > 4 { print \"never\" } }",
        &[],
        "break push when 10 / item > 4 { print \"never\" }",
        "division by zero",
        "",
    );
    let report = run("scenario s on start { break pushed_too { stop } }", &[]);
    let text = &report.output.stderr;
    assert!(text.contains("no loaded module has `pushed_too`"), "{text}");
}

#[test]
fn a_scenario_is_checked_against_the_properties() {
    let report = run("scenario s for bunds on enter some { stop }", &[]);
    report.assert_code(2);
    let text = &report.output.stderr;
    assert!(text.contains("did you mean `bounds`?"), "{text}");
    let report = run("scenario s on enter sone { stop }", &[]);
    report.assert_code(2);
    assert!(report.output.stderr.contains("did you mean `some`?"));
}

#[test]
fn signals_are_reacted_to() {
    let source = "#include <signal.h>
        int seen;
        static void handler(int signal) { seen = signal; }
        int main(void) {
            signal(SIGUSR1, handler);
            raise(SIGUSR1);
            return seen;
        }";
    let directory = TempDir::with_prefix("juror-scenario-").expect("a directory");
    let file = directory.path().join("s.scn");
    let text = "scenario s
        on signal SIGUSR1 { print \"{signal_name} in {thread}\" }
        on signal { print \"any:\", signal_name }
        on exit { print exit_status }";
    fs::write(&file, text).expect("a file");
    let report = Batch::new()
        .option("--scenario")
        .option(&file)
        .run(Fixture::c("raises", source).compile_plain(), &[]);
    let expected = ["SIGUSR1 in 1", "any: SIGUSR1", "10"];
    assert_eq!(said(&report), expected, "{}", report.output.stderr);
}

/// A scenario's checkpoints and restores do not come back with less than those
/// that are typed: what is lost is told, each once.
#[test]
fn what_a_scenario_cannot_bring_back_is_told_once() {
    let directory = TempDir::with_prefix("juror-scenario-").expect("a directory");
    let file = directory.path().join("s.scn");
    let text = "scenario s
        var last = 0
        var rounds = 0
        on start { break push { last = checkpoint } }
        on exit {
            rounds += 1
            print \"round {rounds}\"
            if rounds < 3 { restore last }
        }";
    fs::write(&file, text).expect("a file");
    let output = juror(&["run", "--batch", "--scenario"])
        .args([&file])
        .args([&queue()])
        .run();
    let text = format!("{}{}", output.stdout, output.stderr);
    assert!(text.contains("[s] round 3"), "{text}");
    let told = "checkpoint 1 cannot restore: the time of day; data written to files \
                that are opened later";
    assert!(text.contains(told), "{text}");
    assert!(
        text.contains("not restored with checkpoint 5: the time of day; "),
        "{text}"
    );
    assert_eq!(text.matches("the time of day").count(), 2, "{text}");
}

/// At the prompt as on the command line: what a file has of properties and
/// scenarios comes together.
#[test]
fn a_scenario_comes_with_its_properties_and_a_property_with_its_scenarios() {
    let directory = TempDir::with_prefix("juror-scenario-").expect("a directory");
    let write = |name: &str, text: &str| {
        fs::write(directory.path().join(name), text).expect("a file");
    };
    write("bounds.prop", BOUNDS);
    write(
        "s.scn",
        "use \"bounds.prop\" scenario s for bounds on enter some { print \"some\" }",
    );
    write(
        "both.prop",
        "property done event ends = before done() state a accepting { on ends -> b }
         state b accepting
         scenario after for done on enter b { print \"at the end\" }",
    );
    write(
        "wrong.prop",
        "property q event e = before done() state a accepting { on e }
         scenario s2 for q on enter nowhere { stop }",
    );
    let output = juror(&["run"])
        .args([&queue()])
        .directory(directory.path())
        .input(
            "scenario load s.scn\nproperty add both.prop\nproperty add wrong.prop\n\
             scenario load s.scn\nproperty\nrun\ncontinue\nverde frobnicate\nquit\n",
        )
        .run();
    let text = format!("{}{}", output.stdout, output.stderr);
    for part in [
        "scenario s loaded\nbounds is evaluated from the start of the run.",
        "[scenario after loaded]",
        "there is no state `nowhere`",
        "scenario `s` is already loaded",
        "[s] some",
        "[after] at the end",
        "`verde` takes one of: checkpoint, checkpoint-restart, cmd-group-begin",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    // What is wrong is not added.
    assert!(!text.contains("\nq is evaluated"), "{text}");
}

#[test]
fn a_step_goes_on_through_reactions() {
    let directory = TempDir::with_prefix("juror-scenario-").expect("a directory");
    let file = directory.path().join("s.scn");
    fs::write(
        &file,
        "scenario s on start { break push { print \"pushed\" } }",
    )
    .expect("a file");
    let output = juror(&["run", "--scenario"])
        .args([&file])
        .args([&queue()])
        .input("start\nnext\nnext\nnext\nnext\ninfo scenarios\ninfo breakpoints\ndelete\nquit\n")
        .run();
    let text = &output.stdout;
    assert!(text.matches("[s] pushed").count() >= 1, "{text}");
    assert!(text.contains("in main"), "{text}");
    assert!(text.contains("for all properties, "), "{text}");
    assert!(text.contains("scenario"), "{text}");
}

fn example(name: &str, lines: &str, defines: &[&str]) -> String {
    let directory = repository_directory().join("examples").join(name);
    let mut fixture = Fixture::example(name);
    for define in defines {
        fixture = fixture.define(define);
    }
    let program = fixture.compile_plain();
    let output = juror(&["run", "--color=never", "--scenario"])
        .args([format!("{name}.scn")])
        .args([&program])
        .directory(directory)
        .input(lines)
        .run();
    format!("{}{}", output.stdout, output.stderr)
}

/// The experiment of section 10.2 of the paper: checkpoints in accepting
/// states, and from the last one a close look at every cell.
#[test]
fn going_back_and_looking_closely_finds_the_line() {
    let text = example(
        "rows",
        "print i\nprint sizeof(board[0])\ninfo checkpoints\nquit\n",
        &[],
    );
    assert!(text.contains("[zoom] loading: checkpoint 1"), "{text}");
    assert!(
        text.contains("[zoom] failure: once more from checkpoint 1, closely"),
        "{text}"
    );
    assert!(text.contains("cell 10 goes to row 1, column 0"), "{text}");
    assert!(text.contains("cells[i] = number;"), "{text}");
    assert!(text.contains("$1 = 10\n"), "{text}");
    assert!(text.contains("$2 = 40\n"), "{text}");
    // One in each accepting state, and one at each write that was seen.
    assert!(text.contains("\n11 "), "{text}");
    let text = example("rows", "quit\n", &["FIXED"]);
    assert!(text.contains("5 3 4 6 7 8 9 1 2\n"), "{text}");
    assert!(text.contains("3 4 5 2 8 6 1 7 9\n"), "{text}");
    assert!(text.contains("[zoom] done: checkpoint 3"), "{text}");
    assert!(!text.contains("failure"), "{text}");
}

/// Three times back to before the first wrong push, each time another choice.
#[test]
fn another_choice_leads_to_another_verdict() {
    let lines = "continue
        restore 1
        set wanted = 4
        continue
        restore 1
        set wanted = 5
        continue
        restore 1
        monitor set room = 20
        continue
        quit
        ";
    let text = example("choices", lines, &[]);
    assert!(
        text.contains("[brink] the queue is full now; restore 1 comes back here"),
        "{text}"
    );
    assert_eq!(text.matches("VIOLATED  bounds").count(), 2, "{text}");
    assert_eq!(text.matches("HOLDS     bounds").count(), 2, "{text}");
    assert!(text.contains("abcd\n"), "{text}");
    assert!(text.contains("abcdefg\n"), "{text}");
}
