//! Recorded events of each kind: the monitors give the same output for the trace as for the
//! run, byte for byte.

use crate::support::{juror, program};
use juror_testing::Output;
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// The line of `occasions.c` that `line` events are about.
const LINE: &str = "/* the line */";

fn line_number() -> usize {
    let path = format!("{}/tests/programs/occasions.c", env!("CARGO_MANIFEST_DIR"));
    let source = fs::read_to_string(path).expect("the program is there");
    let position = source.lines().position(|line| line.contains(LINE));
    position.expect("the line is there") + 1
}

/// A property that the event of its kind after so many violates, for which each
/// event is shown with all its values.
fn property(event: &str, enough: u64) -> String {
    format!(
        "property counted \"two are enough\"
         event e = {event}
         var seen = 0
         state init accepting {{ on e when seen < {enough} {{ seen += 1 }} else -> many }}
         state many non-accepting"
    )
}

fn lines_of(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("a file of JSON");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect()
}

fn of_kind<'a>(lines: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    lines.iter().filter(move |line| line["kind"] == kind)
}

/// A report of a violation, from its first word to the next empty line.
fn report(output: &Output) -> Option<&str> {
    let start = output.stdout.find("VIOLATED  counted: two are enough")?;
    output.stdout.get(start..)?.split("\n\n").next()
}

/// All violations that were told, at a stop or with the end: the program may end
/// while it is being stopped.
fn violations(lines: &[Value]) -> Vec<Value> {
    let told = lines
        .iter()
        .filter_map(|line| line["violations"].as_array());
    told.flatten().cloned().collect()
}

struct Run<'a> {
    directory: &'a TempDir,
    executable: &'a Path,
    arguments: &'a [&'a str],
    property: &'a Path,
}

impl Run<'_> {
    fn lines(&self, json: &str, arguments: &[&str]) -> (Output, Vec<Value>) {
        let json = self.directory.path().join(json);
        let output = juror(&[arguments[0], "--color=never"])
            .args([format!("--json={}", json.display())])
            .args(["--property".as_ref(), self.property.as_os_str()])
            .args(&arguments[1..])
            .directory(self.directory.path())
            .run();
        (output, lines_of(&json))
    }

    /// Live and from its trace: the output, and the lines of JSON.
    fn both(&self, trace: &str) -> [(Output, Vec<Value>); 2] {
        let executable = self.executable.display().to_string();
        let words = ["run", "--batch", "--keep-going", "--trace", trace];
        let live = self.lines(
            "live.json",
            &[&words[..], &[&executable], self.arguments].concat(),
        );
        let offline = self.lines("offline.json", &["check", "--keep-going", trace]);
        [live, offline]
    }
}

/// The third event violates live and in the trace; everything that is said of
/// it is the same.
#[track_caller]
fn check(events: &[&str], is_violated: bool) {
    let executable = program("occasions.c").compile_plain();
    check_program(&executable, &["3", "4"], events, 2, is_violated);
}

/// The same of the event after so many in a run of another program.
#[track_caller]
fn check_program(
    executable: &Path,
    arguments: &[&str],
    events: &[&str],
    enough: u64,
    is_violated: bool,
) {
    let directory = TempDir::with_prefix("juror-kinds-").expect("a directory");
    let file = directory.path().join("counted.prop");
    let run = Run {
        directory: &directory,
        executable,
        arguments,
        property: &file,
    };
    for event in events {
        fs::write(&file, property(event, enough)).expect("a file");
        for trace in ["run.jsonl", "run.jtr"] {
            let [(live, lines), (offline, checked)] = run.both(trace);
            let case = format!(
                "{event} {trace}\n{}{}\n{}{}",
                live.stdout, live.stderr, offline.stdout, offline.stderr
            );
            assert_eq!(live.code(), Some(i32::from(is_violated)), "{case}");
            assert_eq!(offline.code(), live.code(), "{case}");
            assert_eq!(report(&offline), report(&live), "{case}");
            assert_eq!(report(&live).is_some(), is_violated, "{case}");
            let changes =
                |lines| -> Vec<Value> { of_kind(lines, "state_change").cloned().collect() };
            assert_eq!(changes(&checked), changes(&lines), "{case}");
            assert!(!changes(&lines).is_empty(), "{case}");
            assert_eq!(violations(&checked), violations(&lines), "{case}");
            let end = |lines, kind| {
                let line = of_kind(lines, kind).last().expect("an end");
                let summary = &line["summaries"][0];
                let keys = ["verdict", "violations", "violation_counts", "slices"];
                keys.map(|key| summary[key].clone())
            };
            assert_eq!(end(&checked, "trace_end"), end(&lines, "end"), "{case}");
        }
    }
}

#[test]
fn memory() {
    check(
        &[
            "write total(thread, time, caller, back = return_address)",
            "change total(value, old)",
            "read limit(value)",
            "access limit(value)",
            "write where->second(at = address)",
            "change flags.high",
            "write filled(value)",
        ],
        true,
    );
}

#[test]
fn ranges_of_elements() {
    check(
        &[
            "write board[2..16](at = address, which = index, now = value)",
            "access board[0..16](index)",
            "change board[1..16](all = board[0..16])",
            "before store(all = board[0..16], round)",
            "after store(all = board[0..4])",
            "after store(all = ((unsigned char *)board)[0..4])",
        ],
        true,
    );
}

#[test]
fn the_kernel() {
    check(
        &[
            "entry getppid(thread, time)",
            "exit getppid returns parent",
            "entry read(fd: i32 = arg 1, size = arg 3)",
            "exit read(size = arg 3) returns count: i64",
            "signal SIGUSR1(number, sender, code)",
            "signal(number)",
            "thread start(thread, time, start_routine, start_function)",
            "thread end(thread)",
        ],
        true,
    );
}

#[test]
fn calls_that_are_unwound() {
    check_program(
        &program("exceptions.cpp").compile_plain(),
        &[],
        &[
            "unwound work(n)",
            "unwound outer(n, back = return_address, by = caller, who = thread, at = time)",
        ],
        2,
        true,
    );
}

#[test]
fn lines_of_the_source() {
    let line = line_number();
    check(
        &[&format!(
            "line \"occasions.c:{line}\"(by = step, so_far = lines, thread, time)"
        )],
        true,
    );
}

#[test]
fn what_happens_once() {
    check(
        &[
            "program start(all = board[0..3], time)",
            "program exit(status)",
            "module load \"libc\"(name, base)",
        ],
        false,
    );
}

#[test]
fn modules_that_come_and_go() {
    let plugin = program("plugin.c").argument("-shared").argument("-fPIC");
    let plugin = plugin.compile_plain().display().to_string();
    check_program(
        &program("loader.c").compile_plain(),
        &[&plugin],
        &[
            "module load \"plugin\"(name, base, thread)",
            "module unload \"plugin\"(name, thread)",
        ],
        1,
        true,
    );
}
