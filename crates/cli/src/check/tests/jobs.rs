//! Tests that the output does not depend on how many threads read a trace.

use super::super::{plan, with_output};
use crate::arguments::{Action, Check, parse_from};
use crate::output::testing::output;
use proptest::prelude::*;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::Arc;

const PROPERTIES: &str = "
property closed \"nothing is read between its closing and its next opening\"
slice on file
event open = before open(file)
event read = before read(file, size)
event close = before close(file)
state shut accepting { on open -> usable }
state usable accepting { on close -> gone on read when size > 7 -> large }
state gone accepting { on open -> usable on read -> wrong }
state large accepting { on close -> gone }
state wrong non-accepting

property paired \"every opening is followed by a closing\"
for each address file
proposition opened(file) pulse before open(file)
proposition closed(file) pulse before close(file)
ltl always (opened(file) implies eventually closed(file))
";

/// Returns a JSON line by its kind: mostly an event, in order.
pub fn json_line(kind: u8, number: usize, file: u8, size: u8) -> String {
    let event = |name: &str, values: &str| {
        format!(
            "{{\"sequence\":{number},\"time\":{},\"thread\":1,\"event\":\"{name}\",\"values\":{{\"file\":\"0x{file:x}0\"{values}}}}}",
            10 * number
        )
    };
    match kind {
        0..6 => event("before open", ""),
        6..12 => event("before close", ""),
        12..18 => event("before read", &format!(",\"size\":{size}")),
        18 => event("before read", ""),
        19 => event("other", ",\"name\":\"x\""),
        20 => event("before open", ", \"more\": 1"),
        21 => event("before close", "").replace("sequence", "number"),
        22 => event("before close", "").replacen(&number.to_string(), "1", 1),
        23 => "{\"event\":".to_owned(),
        _ => String::new(),
    }
}

/// As [`json_line`], as a row of CSV.
fn csv_row(kind: u8, number: usize, file: u8, size: u8) -> String {
    let event = |name: &str, values: &str| format!("{number},1,{name},file=0x{file:x}0{values}");
    match kind {
        0..6 => event("before open", ""),
        6..12 => event("before close", ""),
        12..18 => event("before read", &format!(",size={size}")),
        18 => event("before read", ""),
        19 => event("other", ",name=\"x\ny\""),
        20 => event(" before open", ""),
        21 => event("before close", "").replacen(&number.to_string(), "0", 1),
        22 => event("before close", ",file=1"),
        23 => event("before close", ",a=\""),
        _ => String::new(),
    }
}

pub fn arguments(directory: &Path, trace: &str, jobs: usize, options: &[&str]) -> Check {
    arguments_with(directory, &["p.prop"], &[trace], jobs, options)
}

pub fn arguments_with(
    directory: &Path,
    properties: &[impl AsRef<Path>],
    traces: &[impl AsRef<Path>],
    jobs: usize,
    options: &[&str],
) -> Check {
    let jobs = jobs.to_string();
    let mut words: Vec<OsString> = ["juror", "check", "--jobs", &jobs].map(Into::into).into();
    for property in properties {
        words.extend(["--property".into(), directory.join(property).into()]);
    }
    words.extend(options.iter().map(Into::into));
    words.extend(traces.iter().map(|trace| directory.join(trace).into()));
    match parse_from(words).expect("a command line").action {
        Action::Check(check) => *check,
        other => panic!("{other:?}"),
    }
}

/// Returns the exit status and the output.
fn checked(check: &Check, chunk_bytes: usize) -> (u8, [String; 3]) {
    let (output, streams) = output();
    let sources = check.sources().expect("the properties");
    let plan = plan(check, Arc::default()).expect("a plan");
    let status = with_output(check, output, &sources, plan.in_chunks(chunk_bytes));
    let written = [streams.text(), streams.messages(), streams.json()];
    (status.expect("it is written"), written)
}

#[track_caller]
fn check_same(name: &str, text: &str, chunk_bytes: usize) {
    let directory = tempfile::TempDir::with_prefix("juror-jobs-").expect("a directory");
    let directory = directory.path();
    fs::write(directory.join("p.prop"), PROPERTIES).expect("a file");
    fs::write(directory.join(name), text).expect("a file");
    for options in [&[][..], &["--keep-going"], &["--keep-going", "--history=3"]] {
        let alone = checked(&arguments(directory, name, 1, options), chunk_bytes);
        for jobs in [2, 3] {
            let together = checked(&arguments(directory, name, jobs, options), chunk_bytes);
            assert_eq!(together, alone, "{jobs} jobs, {options:?}:\n{text}");
        }
    }
}

pub type Line = (u8, u8, u8);

pub fn any_lines() -> impl Strategy<Value = Vec<Line>> {
    // Faults are rare, so that many events precede the first.
    let kind = prop_oneof![30 => 0..18_u8, 1 => 18..25_u8];
    proptest::collection::vec((kind, 0..4_u8, 0..10_u8), 0..60)
}

pub fn text_of(lines: &[Line], line: impl Fn(u8, usize, u8, u8) -> String) -> String {
    let lines = (1..).zip(lines);
    let lines = lines.map(|(number, &(kind, file, size))| line(kind, number, file, size) + "\n");
    lines.collect()
}

proptest! {
    #![proptest_config(juror_testing::with_cases(150))]

    #[test]
    fn json_lines_are_the_same(lines in any_lines(), chunk_bytes in 100..2000_usize) {
        check_same("run.jsonl", &text_of(&lines, json_line), chunk_bytes);
    }

    #[test]
    fn rows_are_the_same(lines in any_lines(), chunk_bytes in 30..500_usize) {
        check_same("run.csv", &text_of(&lines, csv_row), chunk_bytes);
    }
}
