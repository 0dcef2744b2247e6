//! The progress of a check on a terminal.

use super::super::{plan, with_output};
use super::jobs::arguments;
use crate::output::testing::output;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

const PROPERTY: &str = "property p\nevent a = before f()\nstate s accepting { on a -> s }\n";

/// Returns what is written to the terminal while a trace with this number of events is
/// checked. Progress is shown from the beginning.
fn shown(events: usize, jobs: usize) -> String {
    let directory = tempfile::TempDir::with_prefix("juror-progress-").expect("a directory");
    let directory = directory.path();
    fs::write(directory.join("p.prop"), PROPERTY).expect("a file");
    let trace = "{\"event\":\"before f\"}\n".repeat(events);
    fs::write(directory.join("run.jsonl"), trace).expect("a file");
    let check = arguments(directory, "run.jsonl", jobs, &[]);
    let (output, streams) = output();
    let sources = check.sources().expect("the property");
    let mut plan = plan(&check, Arc::default()).expect("a plan");
    plan.progress_after = Duration::ZERO;
    let status = with_output(&check, output, &sources, plan.in_chunks(220));
    assert_eq!(status.expect("it is written"), 0);
    assert!(!streams.text().contains("checking"), "{}", streams.text());
    streams.raw_messages()
}

/// The numbers rise, each overwrites the previous one, and none is left at the end. Which
/// numbers are shown depends on how far ahead the trace is read.
#[test]
fn progress_rises_and_is_gone_at_the_end() {
    for jobs in [1, 2] {
        let shown = shown(1000, jobs);
        let mut before = None;
        let mut rest = shown.as_str();
        while !rest.is_empty() {
            let (line, after) = rest.split_once('\r').expect("the line is written over");
            let percent = line
                .strip_prefix("checking ")
                .and_then(|it| it.strip_suffix(" %"));
            let percent: u32 = percent.expect("a number").parse().expect("a number");
            assert!(before < Some(percent) && percent < 100, "{shown:?}");
            before = Some(percent);
            let blank = " ".repeat(line.len()) + "\r";
            rest = after.strip_prefix(&blank).expect("nothing is left");
        }
        assert!(before.is_some(), "{shown:?}");
    }
}
