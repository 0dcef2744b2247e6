//! Instructions, memory and lists of names. The bytes are compared with gdb if it is
//! installed.

use crate::support::{Batch, Report, program};
use juror_testing::{Build, Language};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Runs to `queue_push` and executes commands there.
fn at_push(executable: &Path, commands: &[&str]) -> Report {
    let batch = Batch::new().command("break queue_push").command("run");
    let batch = commands
        .iter()
        .fold(batch, |batch, line| batch.command(line));
    batch.run(executable, &[])
}

fn cells(report: &Report, command: &str) -> Vec<String> {
    let rows = report.outcome(command)["rows"].as_array().expect("rows");
    rows.iter()
        .flat_map(|row| row["cells"].as_array().expect("cells"))
        .map(|cell| cell.as_str().expect("text").to_owned())
        .collect()
}

fn instructions<'a>(report: &'a Report, command: &str) -> &'a [Value] {
    report.outcome(command)["lines"].as_array().expect("lines")
}

#[test]
fn memory_is_shown_in_every_format() {
    let fixture = program("code.c");
    for build in Build::all_of(Language::C) {
        let executable = fixture.compile(&build);
        let table: &[(&str, &[&str])] = &[
            ("x/2dw &shared", &["3", "8"]),
            ("x/2xw &shared", &["0x00000003", "0x00000008"]),
            ("x/4dh small", &["-1", "2", "300", "4"]),
            ("x/uh small", &["65535"]),
            ("x/gf &ratio", &["1.5"]),
            ("x/s names", &["\"ann\""]),
            ("x/s names[1]", &["\"b\\n\""]),
            ("x/2cb names[1]", &["98 'b'", "10 '\\n'"]),
            ("x/2tb names[0]", &["01100001", "01101110"]),
            ("x/2ob names[0]", &["0141", "0156"]),
        ];
        let commands: Vec<&str> = table.iter().map(|(command, _)| *command).collect();
        let report = at_push(&executable, &commands);
        for (command, expected) in table {
            assert_eq!(cells(&report, command), *expected, "{command}, {build}");
        }
    }
}

#[test]
fn what_is_left_out_is_as_before_and_goes_on() {
    let fixture = program("code.c");
    let executable = fixture.compile(&Build::all_of(Language::C)[0]);
    let report = at_push(&executable, &["x/2dh small", "x", "x/xb small"]);
    assert_eq!(cells(&report, "x/2dh small"), ["-1", "2"]);
    assert_eq!(cells(&report, "x"), ["300"]);
    assert_eq!(cells(&report, "x/xb small"), ["0xff"]);
}

#[test]
fn memory_that_cannot_be_read_is_said_behind_what_can() {
    let fixture = program("code.c");
    let executable = fixture.compile(&Build::all_of(Language::C)[0]);
    let report = at_push(&executable, &["x/2xg 16", "disassemble 16,+8"]);
    for command in ["x/2xg 16", "disassemble 16,+8"] {
        let why = report.outcome(command)["unreadable"].as_str();
        assert!(why.is_some_and(|why| why.contains("0x10")), "{why:?}");
    }
}

#[test]
fn instructions_are_those_of_the_program_not_the_traps() {
    let fixture = program("code.c");
    for build in Build::all_of(Language::C) {
        let executable = fixture.compile(&build);
        let command = "disassemble/r queue_push";
        let report = at_push(
            &executable,
            &["break *queue_push", command, "disassemble/s"],
        );
        assert_eq!(report.outcome(command)["function"], "queue_push", "{build}");
        let lines = instructions(&report, command);
        for line in lines {
            assert_ne!(line["text"], "int3", "{build}");
            assert_ne!(line["bytes"], "cc", "{build}");
        }
        assert!(lines.iter().any(|line| line["text"] == "ret"), "{build}");
        // Where it was inlined, the program stands in another function.
        let shown = instructions(&report, "disassemble/s").iter();
        let current = shown.clone().filter(|line| line["current"] == true);
        assert_eq!(current.count(), 1, "{build}");
        let numbers: Vec<_> = shown
            .filter_map(|line| line["source"]["line"].as_u64())
            .collect();
        assert!(numbers.contains(&15), "{numbers:?}, {build}");
    }
}

#[test]
fn names_are_found_by_regular_expressions() {
    let fixture = program("code.c");
    let build = &Build::all_of(Language::C)[0];
    let executable = fixture.compile(build);
    let report = at_push(
        &executable,
        &[
            "info functions ^queue_p",
            "info variables ^(shared|names|ratio)$",
            "info types ^queue$",
            "info functions ^no_such_name$",
            "info symbol queue_push",
            "info symbol &shared.max",
            "info line queue_push",
            "info scope queue_push",
        ],
    );
    let names = |command: &str| -> Vec<String> {
        let list = report.outcome(command).as_array().expect("names").iter();
        list.map(|name| name["name"].as_str().expect("text").to_owned())
            .collect()
    };
    assert_eq!(names("info functions ^queue_p"), ["queue_push"]);
    assert_eq!(
        names("info variables ^(shared|names|ratio)$"),
        ["names", "ratio", "shared"]
    );
    assert!(names("info types ^queue$").contains(&"queue".to_owned()));
    let location = &report.outcome("info functions ^queue_p")[0]["location"];
    assert_eq!(location["line"], 14);
    let text = &report.output.stdout;
    for words in [
        "no function",
        "is queue_push in code",
        "is shared+4 in code",
        "parameter struct queue *queue, 8 bytes",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert_eq!(report.outcome("info line queue_push")[0]["line"], 15);
    let wrong = at_push(&executable, &["info functions ("]);
    let message = wrong.kind("error").next().expect("an error")["message"].clone();
    assert!(
        message
            .as_str()
            .is_some_and(|it| it.contains("unclosed group")),
        "{message}"
    );
}

/// What gdb shows for the same command at the same place; nothing without gdb.
fn gdb(executable: &Path, command: &str) -> Option<String> {
    let lines = ["break queue_push", "run", "echo ==\\n", command];
    let mut gdb = Command::new("gdb");
    gdb.args(["-nx", "-q", "-batch", "-iex", "set debuginfod enabled off"]);
    for line in lines {
        gdb.args(["-ex", line]);
    }
    let output = gdb.arg(executable).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split_once("==\n").map(|(_, shown)| shown.to_owned())
}

#[test]
fn gdb_shows_the_same() {
    let fixture = program("code.c");
    let build = &Build::all_of(Language::C)[0];
    let executable = fixture.compile(build);
    let shared = [
        "x/16xb &shared",
        "x/4xh small",
        "x/2xg names",
        "x/3uw &shared",
        "x/6dh small",
    ];
    let report = at_push(
        &executable,
        &[&shared[..], &["disassemble queue_push"]].concat(),
    );
    for command in shared {
        let Some(shown) = gdb(&executable, command) else {
            println!("There is no gdb here: what it shows is not compared.");
            return;
        };
        let theirs: Vec<&str> = shown
            .lines()
            .filter_map(|line| line.split_once(":\t"))
            .flat_map(|(_, cells)| cells.split('\t'))
            .collect();
        assert_eq!(cells(&report, command), theirs, "{command}");
    }
    let shown = gdb(&executable, "disassemble queue_push").expect("gdb is there");
    let theirs: Vec<u64> = shown
        .lines()
        .filter_map(|line| line.trim_start_matches("=>").trim().strip_prefix("0x"))
        .filter_map(|line| u64::from_str_radix(line.split(' ').next()?, 16).ok())
        .collect();
    let ours: Vec<u64> = instructions(&report, "disassemble queue_push")
        .iter()
        .map(|line| line["address"].as_u64().expect("an address"))
        .collect();
    assert_eq!(ours, theirs, "{shown}");
}
