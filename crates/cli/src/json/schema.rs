//! The JSON Schema of the output, and that the lines which are written match it.
//!
//! `schema.txt` describes each object; `book/src/json-schema.json` is written from it. Samples of
//! every line are validated against the schema: each has exactly the keys of one definition, and
//! each definition is used.

use super::*;
use juror_event::Verdict;
use juror_testing::{Expected, JsonSchema, repository_directory};
use juror_text::outcome::samples;
use juror_text::stops::samples as stops;
use juror_view::{Ending, Location, ProcessName, SourceLine, StopReason, StoredValue};
use std::collections::{BTreeMap, BTreeSet};

const SOURCE: &str = include_str!("schema.txt");

/// An entry of the source.
#[derive(Debug, Default)]
struct Entry<'a> {
    /// `line`, `object`, `group` or `words`.
    sort: &'a str,
    name: &'a str,
    /// The key that tells it apart from others of its name, with its value.
    tag: Option<(&'a str, &'a str)>,
    about: &'a str,
    /// The type of words.
    words: &'a str,
    rows: Vec<Row<'a>>,
}

#[derive(Debug, Clone, Copy)]
enum Row<'a> {
    Key {
        name: &'a str,
        kind: &'a str,
        meaning: &'a str,
    },
    Group(&'a str),
}

/// Splits a line where two spaces or more are.
fn cells(line: &str) -> Vec<&str> {
    let cells = line.split("  ").map(str::trim);
    cells.filter(|cell| !cell.is_empty()).collect()
}

fn entries() -> Vec<Entry<'static>> {
    let mut entries: Vec<Entry<'static>> = Vec::new();
    let lines = SOURCE.lines().enumerate();
    for (at, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let place = format!("schema.txt:{}: {line}", at + 1);
        if !line.starts_with(' ') {
            let (head, words) = line.split_once("  ").unwrap_or((line, ""));
            let mut parts = head.split(' ');
            entries.push(Entry {
                sort: parts.next().expect(&place),
                name: parts.next().expect(&place),
                tag: parts.next().and_then(|tag| tag.split_once('=')),
                words,
                ..Entry::default()
            });
            continue;
        }
        let entry = entries.last_mut().expect(&place);
        match cells(line)[..] {
            [about] if about.starts_with('"') => entry.about = about.trim_matches('"'),
            [group] if group.starts_with("+ ") => entry.rows.push(Row::Group(&group[2..])),
            [name, kind, meaning] => entry.rows.push(Row::Key {
                name,
                kind,
                meaning,
            }),
            _ => panic!("{place}"),
        }
    }
    entries
}

impl Entry<'_> {
    /// The name of its definition.
    fn definition(&self) -> String {
        match self.tag {
            Some((_, word)) => format!("{}_{word}", self.name),
            None => self.name.to_owned(),
        }
    }

    /// The keys that its name and tag stand for.
    fn constants(&self) -> Vec<(&str, Value)> {
        let mut constants = Vec::new();
        if self.sort == "line" {
            constants.push(("juror", json!({ "const": SCHEMA_VERSION })));
            constants.push(("kind", json!({ "const": self.name })));
        }
        if self.name == "outcome" {
            let command = "the command line";
            constants.push((
                "command",
                json!({ "type": "string", "description": command }),
            ));
        }
        constants.extend(self.tag.map(|(key, word)| (key, json!({ "const": word }))));
        constants
    }
}

/// Returns the schema of a type.
fn of_type(kind: &str) -> Value {
    if let Some(of_elements) = kind.strip_prefix("list of ") {
        // `list of X or null` is a list or nothing.
        return match of_elements.strip_suffix(" or null") {
            Some(elements) => json!({ "type": ["array", "null"], "items": of_type(elements) }),
            None => json!({ "type": "array", "items": of_type(of_elements) }),
        };
    }
    if let Some(other) = kind.strip_suffix(" or null") {
        return match of_type(other)["type"].as_str() {
            Some(name) => json!({ "type": [name, "null"] }),
            None => json!({ "oneOf": [of_type(other), { "type": "null" }] }),
        };
    }
    match kind {
        "string" | "integer" | "boolean" | "null" => json!({ "type": kind }),
        words if words.starts_with('"') => {
            let words: Vec<&str> = words.split('"').skip(1).step_by(2).collect();
            json!({ "enum": words })
        }
        object => json!({ "$ref": format!("#/$defs/{object}") }),
    }
}

/// The keys of an entry, in their order, with those of its groups.
fn rows<'a>(entry: &'a Entry<'a>, groups: &'a BTreeMap<&str, &Entry<'a>>) -> Vec<(&'a str, Value)> {
    let of_row = |row: &Row<'a>| match *row {
        Row::Key {
            name,
            kind,
            meaning,
        } => {
            let mut schema = of_type(kind);
            schema["description"] = json!(meaning);
            vec![(name, schema)]
        }
        Row::Group(name) => match groups.get(name) {
            Some(group) => rows(group, groups),
            None => panic!("there is no group `{name}`"),
        },
    };
    entry.rows.iter().flat_map(of_row).collect()
}

fn schema() -> Value {
    let entries = entries();
    let groups = entries.iter().filter(|entry| entry.sort == "group");
    let groups: BTreeMap<&str, &Entry<'_>> = groups.map(|entry| (entry.name, entry)).collect();
    let mut definitions = serde_json::Map::new();
    // Objects of one name that a key tells apart.
    let mut variants: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    let mut lines = Vec::new();
    for entry in entries.iter().filter(|entry| entry.sort != "group") {
        let name = entry.definition();
        let reference = json!({ "$ref": format!("#/$defs/{name}") });
        match (entry.sort, entry.tag) {
            ("line", _) => lines.push(reference),
            (_, Some(_)) => variants.entry(entry.name).or_default().push(reference),
            _ => {}
        }
        let mut definition = match entry.sort {
            "words" => of_type(entry.words),
            _ => {
                let keys = entry.constants().into_iter().chain(rows(entry, &groups));
                let properties: serde_json::Map<String, Value> =
                    keys.map(|(key, schema)| (key.to_owned(), schema)).collect();
                let required: Vec<&String> = properties.keys().collect();
                json!({ "type": "object", "required": required, "properties": properties })
            }
        };
        definition["description"] = json!(entry.about);
        let before = definitions.insert(name, definition);
        assert!(before.is_none(), "{} stands twice", entry.definition());
    }
    for (name, choices) in variants {
        definitions.insert(name.to_owned(), json!({ "oneOf": choices }));
    }
    let value = "A number (integers up to 2^53 in size), a boolean, or a string: an address \
                 (`\"0x4052a0\"`), a string of the program, a larger integer or a sequence, or in \
                 angle brackets why there is no value.";
    definitions.insert(
        "value".to_owned(),
        json!({ "type": ["number", "boolean", "string"], "description": value }),
    );
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line of juror's JSON output",
        "oneOf": lines,
        "$defs": definitions,
    })
}

/// Writes a value with what fits on a line on one.
fn write_pretty(value: &Value, indent: usize, text: &mut String) {
    let flat = value.to_string();
    let (open, close, parts) = match value {
        Value::Object(fields) => {
            let fields = fields.iter();
            let parts = fields.map(|(key, value)| (format!("{}: ", json!(key)), value));
            ('{', '}', parts.collect::<Vec<_>>())
        }
        Value::Array(elements) => {
            let parts = elements.iter().map(|value| (String::new(), value));
            ('[', ']', parts.collect())
        }
        _ => return text.push_str(&flat),
    };
    if flat.len() + indent <= 96 {
        return text.push_str(&flat);
    }
    text.push(open);
    for (at, (key, value)) in parts.iter().enumerate() {
        text.push_str(if at == 0 { "\n" } else { ",\n" });
        text.push_str(&" ".repeat(indent + 2));
        text.push_str(key);
        write_pretty(value, indent + 2, text);
    }
    text.push_str(&format!("\n{}{close}", " ".repeat(indent)));
}

#[test]
fn the_book_has_the_schema() {
    let mut text = String::new();
    write_pretty(&schema(), 0, &mut text);
    text.push('\n');
    let path = repository_directory().join("book/src/json-schema.json");
    let file = Expected::file(path);
    file.check_part(&file.text(), &text, "the schema of the JSON output");
}

fn written(line: &Line<'_>) -> Value {
    let mut bytes = Vec::new();
    write(&mut bytes, line).expect("memory takes it");
    assert_eq!(bytes.iter().filter(|byte| **byte == b'\n').count(), 1);
    assert_eq!(bytes.last(), Some(&b'\n'));
    serde_json::from_slice(&bytes).expect("it is JSON")
}

/// Every line that is written, with the name of its definition.
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
        let definition = format!("stop_{}", line["reason"].as_str().unwrap_or("?"));
        lines.push((definition, line));
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
        let definition = match line["kind"].as_str() {
            Some("stop") => continue,
            Some("end") => "end".to_owned(),
            _ => format!("outcome_{}", line["type"].as_str().unwrap_or("?")),
        };
        lines.push((definition, line));
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
        let definition = format!("trace_stop_{}", line["reason"].as_str().unwrap_or("?"));
        lines.push((definition, line));
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
        others: vec![OtherEvents {
            event: "before queue_peek".into(),
            count: 2,
        }],
        unneeded: vec![UnneededEvents {
            property: "queue_bounds",
            event: "push",
            count: 1,
        }],
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
        violations: vec![juror_view::ViolationView {
            deadline: Some(juror_view::DeadlineView {
                time_ns: 110,
                asked_ns: Some(10),
                asked: Some(stops::push(17, "ready", 1)),
            }),
            ..stops::violation()
        }],
    };
    lines.push(("process_end".into(), written(&Line::ProcessEnd(&ended))));
    let mut in_process = stops::stop(StopReason::Step);
    in_process.process = Some(ProcessName {
        number: 2,
        id: 4711,
        count: 3,
    });
    lines.push(("stop_step".into(), written(&Line::Stop(&in_process))));
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
fn every_line_has_exactly_the_keys_of_the_schema() {
    let schema = JsonSchema::parse(&schema().to_string());
    let mut seen = BTreeSet::new();
    for (definition, line) in lines() {
        if let Err(error) = schema.check_definition(&definition, &line) {
            panic!("{error}\n{line}");
        }
        match schema.check(&line) {
            Ok(used) => seen.extend(used),
            Err(error) => panic!("{definition}: {error}\n{line}"),
        }
    }
    assert_eq!(
        seen,
        schema.definitions(),
        "written left, in the schema right"
    );
}

#[test]
fn values_are_numbers_if_json_holds_them_exactly() {
    let line = written(&Line::Stop(&stops::violation_stop()));
    let step = &line["violations"][0]["path"][0];
    assert_eq!(step["values"][0]["value"], 8);
    assert_eq!(step["values"][1]["value"], "0x4052a0");
    assert_eq!(line["reason"], "violation");
}
