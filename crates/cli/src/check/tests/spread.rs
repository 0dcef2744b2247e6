//! Tests that the output does not depend on how many threads evaluate properties.

use super::super::{plan, with_output};
use super::jobs::{any_lines, arguments_with, json_line, text_of};
use crate::arguments::Check;
use crate::output::testing::{output, output_without_json};
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Properties of each kind: with and without parameters, with errors, violated only by the
/// end, with final states, with time bounds, and one without events.
const PROPERTIES: [&str; 9] = [
    "property closed slice on file
event open = before open(file)
event read = before read(file)
event close = before close(file)
state shut accepting { on open -> usable }
state usable accepting { on close -> gone }
state gone accepting { on open -> usable on read -> wrong }
state wrong non-accepting",
    "property small
event read = before read(file, size)
event close = before close(file)
var total = 0
state counting accepting {
    on read when size < 8 { total = total + size } else -> large
    on close -> counting
}
state large non-accepting { on close -> counting }",
    "property released slice on file
event open = before open(file)
event close = before close(file)
state never accepting { on open -> held }
state held non-accepting { on close -> released }
state released accepting final",
    "property paired for each address file
proposition opened(file) pulse before open(file)
proposition closed(file) pulse before close(file)
ltl always (opened(file) implies eventually closed(file))",
    "property one_at_a_time for each address a, b where a != b
proposition open_a(a) set before open(a) cleared before close(a)
proposition open_b(b) set before open(b) cleared before close(b)
ltl always not (open_a(a) and open_b(b) and yesterday open_b(b))",
    "property soon for each address file
proposition opened(file) pulse before open(file)
proposition closed(file) pulse before close(file)
ltl always (opened(file) implies eventually within 60 ns closed(file))",
    "property twice for each address file
event open = before open(file)
event close = before close(file)
never open open",
    "property elsewhere
event more = before more(file)
state waiting accepting { on more -> waiting }",
    "property wrong_at_once
proposition closed pulse before close()
ltl false and eventually closed",
];

/// Returns the exit status and the output.
fn checked(check: &Check, chunk_bytes: usize, with_json: bool) -> (u8, [String; 3]) {
    let (output, streams) = if with_json {
        output()
    } else {
        output_without_json()
    };
    let sources = check.sources().expect("the properties");
    let plan = plan(check, Arc::default()).expect("a plan");
    let status = with_output(check, output, &sources, plan.in_chunks(chunk_bytes));
    let written = [streams.text(), streams.messages(), streams.json()];
    (status.expect("it is written"), written)
}

pub fn write_properties(directory: &Path, chosen: &[&str]) -> Vec<String> {
    let file = |(number, text): (usize, &&str)| {
        let name = format!("{number}.prop");
        fs::write(directory.join(&name), text).expect("a file");
        name
    };
    chosen.iter().enumerate().map(file).collect()
}

/// The options of a check, and whether it writes JSON.
type Way<'a> = (&'a [&'a str], bool);

/// Checks that each number of threads gives the same output for traces with these texts.
#[track_caller]
pub fn check_jobs(
    directory: &Path,
    (properties, traces): (&[String], &[String]),
    chunk_bytes: usize,
    (ways, jobs): (&[Way<'_>], &[usize]),
) {
    let names: Vec<String> = (0..traces.len()).map(|n| format!("{n}.jsonl")).collect();
    for (name, text) in names.iter().zip(traces) {
        fs::write(directory.join(name), text).expect("a file");
    }
    for &(options, with_json) in ways {
        let of = |jobs| {
            let check = arguments_with(directory, properties, &names, jobs, options);
            checked(&check, chunk_bytes, with_json)
        };
        let alone = of(1);
        for &jobs in jobs {
            assert_eq!(of(jobs), alone, "{jobs} jobs, {options:?}: {traces:?}");
        }
    }
}

#[track_caller]
fn check_same(chosen: &[&str], traces: &[String], chunk_bytes: usize) {
    let directory = tempfile::TempDir::with_prefix("juror-spread-").expect("a directory");
    let directory = directory.path();
    let properties = write_properties(directory, chosen);
    let options = [
        &[][..],
        &["--keep-going"],
        &["--keep-going", "--history=3"],
        &["--merge", "--keep-going"],
        &["--merge"],
    ];
    let ways = options.into_iter().flat_map(|it| [(it, true), (it, false)]);
    let ways: Vec<Way<'_>> = ways.collect();
    let all = (properties.as_slice(), traces);
    check_jobs(directory, all, chunk_bytes, (&ways, &[2, 3]));
}

proptest! {
    #![proptest_config(juror_testing::with_cases(100))]

    #[test]
    fn threads_give_the_same_output(
        chosen in prop::sample::subsequence(&PROPERTIES[..], 2..=PROPERTIES.len()).prop_shuffle(),
        lines in prop::collection::vec(any_lines(), 1..3),
        chunk_bytes in 100..2000_usize,
    ) {
        let traces: Vec<String> = lines.iter().map(|it| text_of(it, json_line)).collect();
        check_same(&chosen, &traces, chunk_bytes);
    }
}

/// Each property is valid and gets events; otherwise the test above would compare only
/// errors.
#[test]
fn the_properties_are_evaluated() {
    let directory = tempfile::TempDir::with_prefix("juror-spread-").expect("a directory");
    let directory = directory.path();
    let lines = [(0, 1, 0), (12, 1, 9), (0, 2, 0), (6, 1, 0), (13, 1, 1)];
    let trace = text_of(&lines, json_line);
    fs::write(directory.join("run.jsonl"), trace).expect("a file");
    for text in PROPERTIES {
        let properties = write_properties(directory, &[text]);
        let check = arguments_with(directory, &properties, &["run.jsonl"], 1, &["--keep-going"]);
        let (_, [shown, messages, _]) = checked(&check, 1000, false);
        assert!(!messages.contains("error"), "{text}\n{messages}");
        let name = text.split_whitespace().nth(1).expect("a name");
        assert!(shown.contains(name), "{text}\n{shown}");
    }
}

/// More violations at one event than are shown, of several properties.
#[test]
fn violations_of_one_event_are_cut_off_after_all_properties() {
    let open = |file: usize, number: usize| {
        format!(
            "{{\"sequence\":{number},\"time\":{number},\"thread\":1,\
             \"event\":\"before open\",\"values\":{{\"file\":\"0x{file:x}0\"}}}}\n"
        )
    };
    let opened: String = (1..8).map(|number| open(number, number)).collect();
    let last = "{\"sequence\":8,\"time\":9,\"thread\":1,\"event\":\"before end\"}\n";
    let property = |name: &str| {
        format!(
            "property {name} slice on file
event open = before open(file)
event end = before end()
state shut accepting {{ on open -> usable }}
state usable accepting {{ on end -> wrong }}
state wrong non-accepting"
        )
    };
    let [one, two, three] = ["one", "two", "three"].map(property);
    check_same(&[&one, &two, &three], &[opened + last], 300);
}
