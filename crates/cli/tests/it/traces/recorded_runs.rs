//! Recorded runs: a check of the trace gives the output of the live run; faults in a trace are
//! reported, and the events before them count.

use crate::support::juror;
use juror_testing::{Expected, Fixture, Output, repository_directory};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// An example, compiled and run under its property, with its trace.
struct Recorded {
    directory: TempDir,
    example: PathBuf,
    property: PathBuf,
    live: Output,
    lines: Vec<Value>,
}

fn lines_of(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("a file of JSON");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect()
}

/// Records a run in the file `trace`, as well as its JSON.
fn record(name: &str, define: Option<&str>, trace: &str, options: &[&str]) -> Recorded {
    let fixture = Fixture::example(name);
    let fixture = match define {
        Some(define) => fixture.define(define),
        None => fixture,
    };
    let program = fixture.compile_plain();
    let example = repository_directory().join("examples").join(name);
    let property = example.join(format!("{name}.prop"));
    let directory = TempDir::with_prefix("juror-traces-").expect("a directory");
    let json = directory.path().join("live.json");
    let live = juror(&["run", "--batch", "--color=never", "--trace"])
        .args([directory.path().join(trace)])
        .args([format!("--json={}", json.display())])
        .args(options)
        .args(["--property".as_ref(), property.as_os_str()])
        .args([&program])
        .directory(&example)
        .run();
    let lines = lines_of(&json);
    Recorded {
        directory,
        example,
        property,
        live,
        lines,
    }
}

impl Recorded {
    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Checks a trace of the directory; gives the output and the JSON.
    fn check(&self, traces: &[&str], options: &[&str]) -> (Output, Vec<Value>) {
        let json = self.path("check.json");
        let output = juror(&["check", "--color=never"])
            .args([format!("--json={}", json.display())])
            .args(["--property".as_ref(), self.property.as_os_str()])
            .args(options)
            .args(traces.iter().map(|trace| self.path(trace)))
            .directory(&self.example)
            .run();
        let lines = lines_of(&json);
        (output, lines)
    }
}

/// The reports of violations in a text: each from its word to the next empty
/// line.
fn violations(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (start, _) in text.match_indices("VIOLATED  ") {
        let rest = &text[start..];
        let block = rest.split("\n\n").next().unwrap_or(rest);
        // A summary says how many there were.
        if block.contains("\n  path ") {
            found.push(block);
        }
    }
    found
}

fn of_kind<'a>(lines: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    lines.iter().filter(move |line| line["kind"] == kind)
}

#[track_caller]
fn check_same(name: &str, define: Option<&str>, trace: &str, options: &[&str]) {
    let recorded = record(name, define, trace, options);
    let (output, lines) = recorded.check(&[trace], options);
    let all = format!(
        "{}\n{}{}",
        recorded.live.stdout, output.stdout, output.stderr
    );
    assert_eq!(output.code(), recorded.live.code(), "{all}");
    assert_eq!(
        violations(&output.stdout),
        violations(&recorded.live.stdout),
        "{all}"
    );
    if define.is_none() {
        assert!(!violations(&output.stdout).is_empty(), "{all}");
    }
    let stops = of_kind(&lines, "trace_stop").map(|line| line["violations"].to_string());
    let live = of_kind(&recorded.lines, "stop").map(|line| line["violations"].to_string());
    assert_eq!(stops.collect::<Vec<_>>(), live.collect::<Vec<_>>(), "{all}");
    let changes =
        |lines: &[Value]| -> Vec<Value> { of_kind(lines, "state_change").cloned().collect() };
    assert_eq!(changes(&lines), changes(&recorded.lines), "{all}");
    let end = of_kind(&lines, "trace_end").last().expect("an end");
    let live = of_kind(&recorded.lines, "end").last().expect("an end");
    assert_eq!(
        end["ending"].is_null(),
        live["ending"].is_null() || live["ending"]["how"] != "exited"
    );
    assert_eq!(end["violations"], live["violations"], "{all}");
    let summaries = |line: &Value| {
        let mut summaries = line["summaries"].clone();
        for summary in summaries.as_array_mut().expect("a list") {
            for event in summary["events"].as_array_mut().expect("a list") {
                // A recording has no stops, and events of it are taken nowhere.
                event["stops"] = Value::Null;
                event["tier"] = Value::Null;
            }
        }
        summaries
    };
    assert_eq!(summaries(end), summaries(live), "{all}");
}

#[test]
fn the_queue_is_the_same_live_and_offline() {
    check_same("queue", None, "run.jsonl", &[]);
    check_same("queue", None, "run.jtr", &[]);
    check_same("queue", None, "run.jsonl", &["--keep-going"]);
    check_same("queue", Some("FIXED"), "run.jtr", &[]);
}

#[test]
fn the_file_is_the_same_live_and_offline() {
    check_same("file", None, "run.jsonl", &[]);
    check_same("file", None, "run.jtr", &["--keep-going"]);
    check_same("file", Some("FIXED"), "run.jsonl", &[]);
}

#[test]
fn the_producers_are_the_same_live_and_offline() {
    check_same("producers", None, "run.jsonl", &[]);
    check_same("producers", None, "run.jtr", &["--keep-going"]);
    check_same("producers", Some("FIXED"), "run.jsonl", &[]);
}

#[test]
fn formulas_are_the_same_live_and_offline() {
    for example in ["locks", "counter"] {
        check_same(example, None, "run.jsonl", &[]);
        check_same(example, None, "run.jtr", &["--keep-going"]);
        check_same(example, Some("FIXED"), "run.jsonl", &[]);
    }
}

/// The end of a run decides what was undecided, in the trace as live.
/// Which property has watched for an access first is no matter to who reads the report.
#[test]
fn what_one_access_violates_is_told_in_the_order_of_the_properties() {
    let source = "
        long written;
        __attribute__((noinline)) void begin(void) { __asm__ volatile(\"\"); }
        int main(void) {
            begin();
            written = 5;
            return 0;
        }";
    let properties = "
        property later
        event begin = before begin()
        event store = write written
        state init accepting { on begin -> waits }
        state waits accepting { on store -> wrong }
        state wrong non-accepting

        property from_the_start
        event store = write written
        state init accepting { on store -> wrong }
        state wrong non-accepting
        ";
    let program = Fixture::c("order", source).compile_plain();
    let directory = TempDir::with_prefix("juror-traces-").expect("a directory");
    let property = directory.path().join("order.prop");
    fs::write(&property, properties).expect("a file");
    let trace = directory.path().join("run.jsonl");
    let live = juror(&["run", "--batch", "--color=never", "--trace"])
        .args([&trace])
        .args(["--property".as_ref(), property.as_os_str()])
        .args([&program])
        .run();
    let offline = juror(&["check", "--color=never", "--property"])
        .args([&property, &trace])
        .run();
    let all = format!("{}\n{}{}", live.stdout, offline.stdout, offline.stderr);
    let told = violations(&live.stdout);
    let names = told.iter().map(|it| it.split_whitespace().nth(1));
    let names: Vec<&str> = names.flatten().collect();
    assert_eq!(names, ["later", "from_the_start"], "{all}");
    assert_eq!(violations(&offline.stdout), told, "{all}");
}

/// A write is an access, too: which of the two is told first, and that the first may make the second
/// needed, does not depend on what else is watched, or recorded.
#[test]
fn an_access_that_is_two_events_is_both_in_their_order() {
    let source = "
        volatile long value, other;
        int main(void) {
            value = 1;
            value = value - 1;
            if (value)
                other = 1;
            return 0;
        }";
    let properties = "
        property p
        event store  = write value
        event access = access value
        state s0 accepting { on store -> s1 }
        state s1 accepting { on access -> s2 }
        state s2 accepting { on access -> s3  on store -> s0 }
        state s3 accepting
        ";
    let program = Fixture::c("accesses", source).compile_plain();
    let directory = TempDir::with_prefix("juror-traces-").expect("a directory");
    let path = |name: &str| directory.path().join(name);
    fs::write(path("p.prop"), properties).expect("a file");
    let events = |words: &[&str], files: &[&Path], name: &str| -> Vec<String> {
        let output = juror(words)
            .args([format!("--json={}", path(name).display())])
            .args(["--property".as_ref(), path("p.prop").as_os_str()])
            .args(files)
            .run();
        assert_eq!(output.code(), Some(0), "{}{}", output.stdout, output.stderr);
        let lines = lines_of(&path(name));
        let changes = of_kind(&lines, "state_change");
        changes.map(|it| it["event"].to_string()).collect()
    };
    let trace = path("run.jsonl");
    let alone = events(&["run", "--batch"], &[program.as_ref()], "alone.json");
    // Both are the first write; then the value is read.
    assert_eq!(alone, ["\"store\"", "\"access\"", "\"access\""]);
    let recorded = ["run", "--batch", "--trace", trace.to_str().expect("a name")];
    assert_eq!(
        events(&recorded, &[program.as_ref()], "recorded.json"),
        alone
    );
    assert_eq!(
        events(&["check"], &[trace.as_path()], "offline.json"),
        alone
    );
}

#[test]
fn an_end_that_violates_is_the_same() {
    let recorded = record("queue", Some("FIXED"), "unused.jsonl", &[]);
    let property = recorded.path("end.prop");
    let text = "property closed \"every queue is closed\" slice on queue\n\
                event new = after queue_new() returns queue\n\
                event gone = before queue_delete(queue)\n\
                state init accepting { on new -> live }\n\
                state live non-accepting { on gone when queue == 1 -> closed }\n\
                state closed accepting final\n";
    fs::write(&property, text).expect("a file");
    let program = Fixture::example("queue").define("FIXED").compile_plain();
    let trace = recorded.path("end.jsonl");
    let live = juror(&["run", "--batch", "--color=never", "--property"])
        .args([&property])
        .args(["--trace".as_ref(), trace.as_os_str()])
        .args([&program])
        .run();
    let offline = juror(&["check", "--color=never", "--property"])
        .args([&property, &trace])
        .run();
    live.assert_code(1);
    offline.assert_code(1);
    let begin = |text: &str| {
        text.find("The program exited")
            .map(|at| text[at..].to_owned())
    };
    let without_stops = |text: String| -> Vec<String> {
        let lines = text.lines().map(|line| {
            line.split("times")
                .next()
                .unwrap_or("")
                .trim_end()
                .to_owned()
        });
        lines.collect()
    };
    let live = begin(&live.stdout).expect("an end");
    let offline = begin(&offline.stdout).expect("an end");
    assert_eq!(violations(&offline).len(), 2, "{offline}");
    assert_eq!(without_stops(offline), without_stops(live));
}

#[test]
fn another_property_finds_what_was_recorded_for_none() {
    let directory = TempDir::new().expect("a directory");
    let program = Fixture::example("queue").define("FIXED").compile_plain();
    let trace = directory.path().join("run.jsonl");
    let record = |event: &[&str]| {
        let mut juror = juror(&["run", "--batch", "--trace"]).args([&trace]);
        for event in event {
            juror = juror.args(["--record", event]);
        }
        juror.args([&program]).run()
    };
    record(&[
        "after queue_new(size) returns queue",
        "before queue_push_letter(queue = arg 1)",
    ])
    .assert_code(0);
    let check = |events: &str| {
        let property = directory.path().join("p.prop");
        let text = format!("property p\n{events}\nstate s accepting {{ on e when x != 0 -> s }}\n");
        fs::write(&property, text).expect("a file");
        juror(&["check", "--color=never", "--property"])
            .args([&property, &trace])
            .run()
    };
    // By name instead of by position, and the other way round.
    check("event e = before queue_push_letter(x = queue)").assert_code(0);
    check("event e = after queue_new(x = arg 1)").assert_code(0);
    // What was not read is an error where it is needed, and never false.
    let output = check("event e = before queue_push_letter(x = letter)");
    output.assert_code(2);
    assert!(
        output
            .stdout
            .contains("this value is not available: not captured"),
        "{}",
        output.stdout
    );
    // What was not recorded has not happened, or has: nobody knows.
    let output = check("event e = before queue_delete(x = queue)");
    output.assert_code(2);
    assert!(
        output
            .stderr
            .contains("error[event-not-recorded]: the trace does not record `before queue_delete`"),
        "{}",
        output.stderr
    );
    // A mistake in --record is shown where it stands.
    let output = record(&["before queue_new(size)", "before queue_nwe(size)"]);
    output.assert_code(2);
    for part in [
        "the program has no function `queue_nwe`",
        "--record:3:",
        "did you mean `queue_new`",
    ] {
        assert!(output.stderr.contains(part), "{}", output.stderr);
    }
    let output = record(&["before"]);
    output.assert_code(2);
    assert!(output.stderr.contains("--record:"), "{}", output.stderr);
}

/// What a mistake in a trace of the fixed queue comes to.
#[track_caller]
fn check_mistake(recorded: &Recorded, change: impl Fn(&mut Vec<String>), code: &str, faults: u64) {
    let text = fs::read_to_string(recorded.path("run.jsonl")).expect("the trace");
    // The last of the lines is what follows the last newline: nothing.
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    change(&mut lines);
    fs::write(recorded.path("wrong.jsonl"), lines.join("\n")).expect("a file");
    let (output, _) = recorded.check(&["wrong.jsonl"], &[]);
    output.assert_code(2);
    let expected = format!("error[{code}]");
    assert!(output.stderr.contains(&expected), "{}", output.stderr);
    assert!(output.stderr.contains("wrong.jsonl:"), "{}", output.stderr);
    assert!(
        output.stdout.contains("The trace is invalid"),
        "{}",
        output.stdout
    );
    assert!(
        output.stdout.contains("OPEN      queue_bounds"),
        "{}",
        output.stdout
    );
    let (output, lines) = recorded.check(&["wrong.jsonl"], &["--keep-going"]);
    output.assert_code(2);
    let end = of_kind(&lines, "trace_end").last().expect("an end");
    assert_eq!(end["faults"], faults, "{}", output.stderr);
}

#[test]
fn mistakes_in_a_trace_are_told_and_may_be_passed_over() {
    let recorded = record("queue", Some("FIXED"), "run.jsonl", &[]);
    let at = |lines: &[String], number: usize| {
        let wanted = format!("{{\"sequence\":{number},");
        lines
            .iter()
            .position(|line| line.starts_with(&wanted))
            .expect("it is there")
    };
    // The lines end before the end of the trace.
    check_mistake(
        &recorded,
        |lines| {
            lines.truncate(at(lines, 5));
            lines.push(String::new());
        },
        "truncated-trace",
        1,
    );
    // A line is cut off in the middle.
    check_mistake(
        &recorded,
        |lines| {
            lines.truncate(at(lines, 5));
            lines.push("{\"sequence\":5,\"ti".to_owned());
        },
        "truncated-trace",
        1,
    );
    // A whole line is no record, and after it there is no end: two mistakes.
    check_mistake(
        &recorded,
        |lines| {
            lines.truncate(at(lines, 5));
            lines.push("{\"sequence\":5,\"ti".to_owned());
            lines.push(String::new());
        },
        "malformed-record",
        2,
    );
    check_mistake(
        &recorded,
        |lines| {
            let fifth = at(lines, 5);
            lines[fifth] = "never mind".to_owned();
        },
        "malformed-record",
        1,
    );
    check_mistake(
        &recorded,
        |lines| {
            let fifth = at(lines, 5);
            let line = lines[fifth].clone();
            lines.insert(fifth, line);
        },
        "repeated-event",
        1,
    );
    check_mistake(
        &recorded,
        |lines| {
            lines.remove(at(lines, 5));
        },
        "missing-events",
        1,
    );
}

/// What is violated before a mistake is violated.
#[test]
fn a_violation_before_a_mistake_counts() {
    let recorded = record("queue", None, "run.jsonl", &["--keep-going"]);
    let mut text = fs::read_to_string(recorded.path("run.jsonl")).expect("the trace");
    text.push_str("never mind\n");
    fs::write(recorded.path("run.jsonl"), text).expect("a file");
    let (output, _) = recorded.check(&["run.jsonl"], &["--keep-going"]);
    output.assert_code(1);
    assert!(
        output.stderr.contains("error[malformed-record]"),
        "{}",
        output.stderr
    );
}

#[test]
fn traces_of_others_are_checked() {
    let directory = TempDir::new().expect("a directory");
    let property = directory.path().join("jobs.prop");
    let text = "property jobs slice on job\n\
                event begin = before job_begin(job)\n\
                event end = before job_end(job)\n\
                state idle accepting { on begin -> busy on end -> wrong }\n\
                state busy accepting { on end -> idle on begin -> wrong }\n\
                state wrong non-accepting\n";
    fs::write(&property, text).expect("a file");
    let check = |input: &str, options: &[&str], code: i32, expected: &str| {
        let output = juror(&["check", "--color=never", "--property"])
            .args([&property])
            .args(options)
            .args(["-"])
            .input(input)
            .run();
        output.assert_code(code);
        assert!(
            output.stdout.contains(expected),
            "{input}\n{}{}",
            output.stdout,
            output.stderr
        );
    };
    check(
        "1,1,begin,job=5\n2,1,end,job=5\n",
        &[],
        0,
        "2 events.\n\nHOLDS     jobs: 1 slice",
    );
    check(
        "1,1,begin,5\n2,1,begin,5\n",
        &["--columns", "begin=job"],
        1,
        "At event (standard input:2), begin, thread 1",
    );
    check("1,1,begin,5\n2,1,begin,5\n", &[], 1, "  slice   job = 5\n");
    check(
        "event,job\nbefore job_begin,a\nend,a\nend,b\n",
        &[],
        1,
        "  slice   job = \"b\"\n",
    );
    check(
        "{\"event\":\"begin\",\"values\":{\"job\":1}}\n{\"event\":\"end\",\"values\":{\"job\":1}}\n",
        &[],
        0,
        "HOLDS     jobs: 1 slice",
    );
    check("", &[], 0, "0 events.");
    // Time goes back, and there are no numbers to tell the order.
    check(
        "2,1,begin,5\n1,1,end,5\n",
        &[],
        2,
        "The trace is invalid at standard input:2",
    );
    let output = juror(&["check", "--color=never", "--property"])
        .args([&property])
        .args(["-"])
        .input("{\"sequence\":1,\"time\":2,\"event\":\"begin\"}\n{\"sequence\":2,\"time\":1,\"event\":\"other\"}\n")
        .run();
    assert!(
        output.stderr.contains("warning: time went backwards once"),
        "{}",
        output.stderr
    );
}

#[test]
fn several_traces_are_several_runs_or_one() {
    let directory = TempDir::new().expect("a directory");
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::write(&path, text).expect("a file");
        path
    };
    let property = file(
        "turns.prop",
        "property turns\nevent ask = before ask()\nevent answer = before answer()\n\
         state idle accepting { on ask -> asked on answer -> wrong }\n\
         state asked accepting { on answer -> idle on ask -> wrong }\n\
         state wrong non-accepting\n",
    );
    let client = file("client.csv", "1,1,ask\n3,1,ask\n");
    let server = file("server.csv", "2,1,answer\n4,1,answer\n");
    let run = |options: &[&str], traces: &[&PathBuf]| {
        juror(&["check", "--color=never", "--property"])
            .args([&property])
            .args(options)
            .args(traces)
            .run()
    };
    let apart = run(&[], &[&client, &server]);
    apart.assert_code(1);
    assert_eq!(
        apart.stdout.matches("VIOLATED  turns").count(),
        2,
        "{}",
        apart.stdout
    );
    for file in [&client, &server] {
        assert!(
            apart.stdout.contains(&format!("{}\n", file.display())),
            "{}",
            apart.stdout
        );
    }
    let merged = run(&["--merge"], &[&client, &server]);
    merged.assert_code(0);
    let expected = "2 traces merged by time; events at the same time are in the order of the traces.\n4 events.\n\nHOLDS     turns\n";
    assert!(merged.stdout.starts_with(expected), "{}", merged.stdout);
    let timeless = file("timeless.csv", ",1,answer\n");
    let refused = run(&["--merge"], &[&client, &timeless]);
    refused.assert_code(2);
    assert!(
        refused
            .stderr
            .contains("timeless.csv:1: this event has no time"),
        "{}",
        refused.stderr
    );
    run(&[], &[&client, &directory.path().join("absent")]).assert_code(1);
    run(&[], &[&directory.path().join("absent")]).assert_code(2);
}

/// What the book shows of a mistake is what is said.
#[test]
fn the_book_shows_what_is_said_of_a_mistake() {
    let file = Expected::file(repository_directory().join("book/src/traces.md"));
    let book = file.text();
    let directory = TempDir::new().expect("a directory");
    let block = |mark: &str| {
        let (_, rest) = book.split_once(mark).expect("the block is there");
        let (_, rest) = rest.split_once("```\n").expect("it begins");
        rest.split("```").next().expect("it ends").to_owned()
    };
    fs::write(
        directory.path().join("jobs.prop"),
        block("<!-- file: jobs.prop -->"),
    )
    .expect("a file");
    fs::write(
        directory.path().join("jobs.csv"),
        block("<!-- file: jobs.csv -->"),
    )
    .expect("a file");
    let output = juror(&["check", "--property", "jobs.prop", "jobs.csv"])
        .directory(directory.path())
        .run();
    let shown = block("<!-- output: jobs -->");
    let command = "$ juror check --property jobs.prop jobs.csv\n";
    let given = format!("{command}{}{}", output.stderr, output.stdout);
    file.check_part(&shown, &given, "a mistake in a trace");
}

/// The file may grow to so many blocks of a kibibyte; 1 is enough for the beginning of the
/// trace and some events.
#[test]
fn a_trace_that_could_not_be_written_whole_is_an_error() {
    let program = Fixture::example("queue").compile_plain();
    let property = repository_directory().join("examples/queue/queue.prop");
    let directory = TempDir::with_prefix("juror-traces-").expect("a directory");
    for (name, blocks, status) in [("whole", "unlimited", 1), ("cut", "1", 2), ("none", "0", 2)] {
        let trace = directory.path().join(name);
        let output = std::process::Command::new("bash")
            .args(["-c", "ulimit -f $0; exec \"$@\"", blocks])
            .arg(env!("CARGO_BIN_EXE_juror"))
            .args(["run", "--batch", "--keep-going", "--trace"])
            .args([&trace])
            .arg("--property")
            .args([&property, &program])
            .env("XDG_STATE_HOME", directory.path())
            .env("XDG_CACHE_HOME", directory.path())
            .output()
            .expect("juror runs");
        let text = String::from_utf8_lossy(&output.stderr);
        let is_ended = text.contains("cannot be written") || text.contains("ends here");
        let is_said = text.contains("error: the trace") && is_ended;
        assert_eq!(is_said, status == 2, "{name}: {text}");
        let expected = if status == 2 { [1, 2] } else { [1, 1] };
        let given = output.status.code().unwrap_or(-1);
        assert!(expected.contains(&given), "{name}: {given} {text}");
    }
}
