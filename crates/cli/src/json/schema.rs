//! Tests that the documented schema matches the lines that are written.
//!
//! `book/src/json.md` has a section for each object, headed by the name of the object in
//! backquotes, with a table of keys: name, type, meaning. A type that is a link names
//! another section. The tests compare samples of each line with the tables.

use super::*;
use juror_event::Verdict;
use juror_text::outcome::samples;
use juror_text::stops::samples as stops;
use juror_view::{Ending, Location, ProcessName, SourceLine, StopReason, StoredValue};
use std::collections::{BTreeMap, BTreeSet};

const DOCUMENT: &str = include_str!("../../../../book/src/json.md");

/// The keys of each object, with their types.
type Schema = BTreeMap<String, BTreeMap<String, String>>;

fn schema() -> Schema {
    let mut schema = Schema::new();
    let mut object = None;
    for line in DOCUMENT.lines() {
        if line.starts_with('#') {
            object = line.split('`').nth(1).map(str::to_owned);
        } else if let (Some(object), Some(row)) = (&object, line.strip_prefix("| `")) {
            let (key, rest) = row.split_once("` |").expect("a key ends its cell");
            let kind = rest.split('|').next().unwrap_or("").trim();
            schema
                .entry(object.clone())
                .or_default()
                .insert(key.to_owned(), kind.to_owned());
        }
    }
    schema
}

/// Returns the section that a type links to.
fn linked(kind: &str) -> Option<&str> {
    kind.split_once("[`")
        .and_then(|(_, rest)| rest.split_once("`]"))
        .map(|(name, _)| name)
}

/// Compares the value with the section `object`; `seen` collects the sections that were
/// compared.
fn check(schema: &Schema, object: &str, value: &Value, seen: &mut BTreeSet<String>) {
    // Each way in which a program ends has a section.
    let object = &match value["how"].as_str() {
        Some(how) => format!("{object}: {how}"),
        None => object.to_owned(),
    };
    let documented = schema
        .get(object)
        .unwrap_or_else(|| panic!("`{object}` has no section"));
    let Value::Object(fields) = value else {
        panic!("`{object}` is no object: {value}");
    };
    let keys: BTreeSet<_> = fields.keys().collect();
    assert_eq!(
        keys,
        documented.keys().collect(),
        "the keys of `{object}`: written left, documented right"
    );
    seen.insert(object.to_owned());
    for (key, kind) in documented {
        check_field(schema, object, key, kind, &fields[key], seen);
    }
}

fn check_field(
    schema: &Schema,
    object: &str,
    key: &str,
    kind: &str,
    value: &Value,
    seen: &mut BTreeSet<String>,
) {
    let place = format!("`{object}`.`{key}` is {kind}, not {value}");
    match value {
        Value::Null => assert!(kind.ends_with("null"), "{place}"),
        Value::Array(elements) => {
            assert!(kind.starts_with("list"), "{place}");
            if let Some(name) = linked(kind) {
                for element in elements {
                    check(schema, name, element, seen);
                }
            }
        }
        Value::Object(_) => {
            let name = linked(kind).unwrap_or_else(|| panic!("{place}"));
            check(schema, name, value, seen);
        }
        Value::String(_) => assert!(
            kind.starts_with("text") || kind.starts_with("value"),
            "{place}"
        ),
        Value::Number(_) => assert!(
            kind.starts_with("number") || kind.starts_with("value"),
            "{place}"
        ),
        Value::Bool(_) => assert!(
            kind.starts_with("boolean") || kind.starts_with("value"),
            "{place}"
        ),
    }
}

fn written(line: &Line<'_>) -> Value {
    let mut bytes = Vec::new();
    write(&mut bytes, line).expect("memory takes it");
    assert_eq!(bytes.iter().filter(|byte| **byte == b'\n').count(), 1);
    assert_eq!(bytes.last(), Some(&b'\n'));
    serde_json::from_slice(&bytes).expect("it is JSON")
}

/// Returns a sample of each line, with the section that documents it.
fn lines() -> Vec<(String, Value)> {
    let mut lines = Vec::new();
    let start = Start {
        version: "0.1.0",
        program: "./faulty".into(),
        arguments: vec!["8".into()],
        properties: vec!["queue.prop"],
    };
    lines.push(("start".to_owned(), written(&Line::Start(start))));
    lines.push(("resume".to_owned(), written(&Line::Resume {})));
    let change = StateChange {
        property: "queue_bounds".into(),
        process: Some(2),
        slice: stops::violation().slice,
        step: stops::push(17, "overflow", 1),
        verdict: Verdict::Violated,
    };
    lines.push(("state_change".into(), written(&Line::StateChange(&change))));
    for before in [None, Some(juror_event::Value::Int(3))] {
        let mut stored = change.clone();
        let after = juror_event::Value::Int(4);
        stored.step.stored = Some(StoredValue { before, after });
        lines.push(("state_change".into(), written(&Line::StateChange(&stored))));
    }
    for reason in samples::stop_reasons() {
        let line = written(&Line::Stop(&stops::stop(reason)));
        let section = format!("stop: {}", line["reason"].as_str().unwrap_or("?"));
        lines.push((section, line));
    }
    let wrong = juror_text::diagnostics::at("wrong", 3..4);
    let error = ErrorLine {
        fault: "user",
        command: None,
        message: "m".into(),
        help: Some("h"),
        diagnostics: vec![DiagnosticLine::new("f", "a\nbc", &wrong)],
    };
    lines.push(("error".into(), written(&Line::Error(error))));
    let check = SelfCheckLine { inputs: 12_345 };
    lines.push(("self_check".into(), written(&Line::SelfCheck(check))));
    for outcome in samples::all() {
        let line = written(&Line::of("command", &outcome).expect("it is JSON"));
        let section = match line["kind"].as_str() {
            Some("stop") => continue,
            Some("end") => "end".to_owned(),
            _ => format!("outcome: {}", line["type"].as_str().unwrap_or("?")),
        };
        lines.push((section, line));
    }
    lines.push((
        "check".into(),
        written(&Line::Check(Check {
            version: "0.1.0",
            traces: vec!["run.jsonl"],
            properties: vec!["queue.prop"],
        })),
    ));
    let known = stops::location("fill", "main.c", 17);
    let file = known.file.clone().expect("it has one");
    let made_by_compiler = Location {
        near: Some(SourceLine { file, line: 17 }),
        file: None,
        line: None,
        ..known.clone()
    };
    let reasons = samples::stop_reasons().into_iter();
    for (reason, location) in reasons.zip([known, made_by_compiler]) {
        let stop = TraceStop {
            reason,
            sequence: Some(1),
            time_ns: None,
            thread: 1,
            what: "before queue_push".into(),
            is_call: true,
            location: Some(location),
        };
        let line = written(&Line::TraceStop(TraceStopLine {
            trace: "run.jsonl",
            line: Some(3),
            byte: None,
            stop: &stop,
        }));
        let section = format!("trace_stop: {}", line["reason"].as_str().unwrap_or("?"));
        lines.push((section, line));
    }
    let end = stops::end(
        Some(Ending::Exited { status: 0 }),
        stops::summary(Verdict::Satisfied, 0),
    );
    let line = written(&Line::TraceEnd(TraceEndLine {
        traces: vec!["run.jsonl"],
        events: 3,
        faults: 0,
        complete: true,
        end: &end,
    }));
    lines.push(("trace_end".into(), line));
    let chart = juror_model::Chart {
        columns: vec!["philosopher 0".into()],
        rows: vec![juror_model::Row {
            column: Some(0),
            partner: None,
            text: "left ! 1".into(),
            changes: vec!["free = 0".into()],
            printed: String::new(),
            begins_cycle: false,
        }],
        stays: false,
    };
    for trail in [None, Some(&chart)] {
        let line = written(&Line::ModelVerdict(ModelVerdict {
            model: "philosophers.pml",
            question: "steps and states",
            verdict: "violated",
            why: Some("nobody can go on"),
            states: 12,
            transitions: Some(24),
            depth: Some(5),
            trail,
        }));
        lines.push(("model_verdict".into(), line));
    }
    let said = juror_view::ScenarioLine {
        scenario: "zoom".into(),
        sort: "print",
        text: "full".into(),
    };
    lines.push(("scenario".into(), written(&Line::Scenario(&said))));
    let ended = ProcessEnd {
        number: 2,
        id: 4711,
        ending: Some(Ending::Exited { status: 0 }),
        violations: vec![stops::violation()],
    };
    lines.push(("process_end".into(), written(&Line::ProcessEnd(&ended))));
    let mut in_process = stops::stop(StopReason::Step);
    in_process.process = Some(ProcessName {
        number: 2,
        id: 4711,
        count: 3,
    });
    lines.push(("stop: step".into(), written(&Line::Stop(&in_process))));
    let killed = stops::end(
        Some(Ending::Killed { signal: 11 }),
        stops::summary(Verdict::Violated, 1),
    );
    lines.push(("end".into(), written(&Line::End(&killed))));
    let detached = stops::end(
        Some(Ending::Detached { process: 815 }),
        stops::summary(Verdict::Violated, 1),
    );
    lines.push(("end".into(), written(&Line::End(&detached))));
    lines
}

#[test]
fn each_line_has_exactly_the_documented_keys() {
    let schema = schema();
    let mut seen = BTreeSet::new();
    for (section, line) in lines() {
        assert_eq!(line["juror"], SCHEMA_VERSION, "{section}");
        check(&schema, &section, &line, &mut seen);
    }
    let documented: BTreeSet<_> = schema.keys().cloned().collect();
    assert_eq!(seen, documented, "written left, documented right");
}

#[test]
fn values_are_numbers_if_json_holds_them_exactly() {
    let line = written(&Line::Stop(&stops::violation_stop()));
    let step = &line["violations"][0]["path"][0];
    assert_eq!(step["values"][0]["value"], 8);
    assert_eq!(step["values"][1]["value"], "0x4052a0");
    assert_eq!(line["reason"], "violation");
}
