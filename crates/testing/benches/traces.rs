//! The costs of reading a trace: juror against plain readers, in the same run.
//!
//! ```text
//! cargo bench -p juror-testing --bench traces [-- --quick]
//! ```
//!
//! A trace of resources that are opened, read and closed in turn is made in memory in each
//! format. juror reads it alone, and while evaluating a property (one instance per
//! resource), on one thread; `serde_json` into a plain structure and the `csv` crate into
//! fields read the same bytes. They alternate for several rounds; the processor time of the
//! best round counts, since other load only adds. A reader that misses an event or has the
//! wrong verdict fails the benchmark.

use juror_event::{Value, Verdict};
use juror_monitor::{Monitor, Occurrence};
use juror_trace::{Batch, Binding, Decoder, Encoder, Form, Header, How, Moment, Place};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::Arc;

const PROPERTY: &str = "
property closed \"nothing is read between its closing and its next opening\"
slice on file
event open  = after resource_open() returns file
event read  = before resource_read(file)
event close = before resource_close(file)
state shut accepting { on open -> usable on read -> wrong }
state usable accepting { on close -> shut }
state wrong non-accepting
";
const RESOURCES: u64 = 1000;

fn main() -> ExitCode {
    let has = |wanted| std::env::args().any(|argument| argument == wanted);
    let quick = has("--quick");
    if !quick && !has("--bench") {
        println!("Not run by cargo bench: nothing is measured.");
        return ExitCode::SUCCESS;
    }
    let (events, rounds) = if quick { (20_000, 1) } else { (2_000_000, 5) };
    match run(events, rounds) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("traces: {message}");
            ExitCode::FAILURE
        }
    }
}

/// A reader, which returns the number of events found.
type Reader = fn(&[u8]) -> Result<u64, String>;

fn run(events: u64, rounds: usize) -> Result<(), String> {
    let json = encoded(Encoder::json(), events);
    let binary = encoded(Encoder::binary(), events);
    let csv = as_csv(events);
    let readers: [(&str, &str, &[u8], Reader); 8] = [
        ("JSON lines", "juror", &json, |bytes| {
            decode(Form::Json, bytes)
        }),
        ("JSON lines", "juror, property", &json, |bytes| {
            monitor(Form::Json, bytes)
        }),
        ("JSON lines", "serde_json", &json, plain_json),
        ("CSV", "juror", &csv, |bytes| decode(Form::Csv, bytes)),
        ("CSV", "juror, property", &csv, |bytes| {
            monitor(Form::Csv, bytes)
        }),
        ("CSV", "csv", &csv, plain_csv),
        ("binary", "juror", &binary, |bytes| {
            decode(Form::Binary, bytes)
        }),
        ("binary", "juror, property", &binary, |bytes| {
            monitor(Form::Binary, bytes)
        }),
    ];
    let mut best = [f64::INFINITY; 8];
    for _ in 0..rounds {
        for ((_, name, bytes, reader), best) in readers.iter().zip(&mut best) {
            let started_s = processor_time_s()?;
            let found = reader(bytes)?;
            let elapsed_s = processor_time_s()? - started_s;
            if found != events {
                return Err(format!("{name} finds {found} events of {events}"));
            }
            *best = best.min(elapsed_s);
        }
    }
    println!(
        "{:10}  {:16} {:>12} {:>8} {:>16}",
        "form", "reader", "M events/s", "MB/s", "bytes per event"
    );
    for ((form, name, bytes, _), elapsed_s) in readers.iter().zip(best) {
        println!(
            "{form:10}  {name:16} {:12.2} {:8.0} {:16.1}",
            events as f64 / elapsed_s / 1e6,
            bytes.len() as f64 / elapsed_s / 1e6,
            bytes.len() as f64 / events as f64,
        );
    }
    Ok(())
}

/// Returns the processor time of this thread in seconds, excluding other load.
fn processor_time_s() -> Result<f64, String> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat");
    let text = text.map_err(|error| format!("/proc/thread-self/schedstat: {error}"))?;
    let elapsed_ns = text
        .split(' ')
        .next()
        .and_then(|word| word.parse::<f64>().ok());
    elapsed_ns
        .map(|elapsed_ns| elapsed_ns / 1e9)
        .ok_or_else(|| "/proc/thread-self/schedstat has no time".to_owned())
}

/// Returns the kind of an event by its number, the position of its value, and the value.
fn event(number: u64) -> (usize, u64) {
    let address = 0x5555_5555_0000 + number / 3 % RESOURCES * 64;
    ((number % 3) as usize, address)
}

const EVENTS: [(&str, &str); 3] = [
    ("after resource_open", "ret"),
    ("before resource_close", "file"),
    ("after resource_flush", "file"),
];

fn encoded(mut encoder: Encoder, events: u64) -> Vec<u8> {
    let mut out = Vec::new();
    encoder.header(&Header::default(), &mut out);
    let layouts = EVENTS.map(|(event, key)| encoder.layout(event, &[key], &mut out));
    let place = encoder.place(&Place::default(), &mut out);
    for number in 0..events {
        let (kind, address) = event(number);
        let moment = Moment {
            sequence: Some(number + 1),
            time_ns: Some(number * 1250),
            thread: 1,
            place: Some(place),
            values: &[Value::Address(address)],
        };
        encoder.event(layouts[kind], &moment, &mut out);
    }
    encoder.end(How::Exited(0), &mut out);
    out
}

fn as_csv(events: u64) -> Vec<u8> {
    let mut out = String::new();
    for number in 0..events {
        let (kind, address) = event(number);
        let (event, key) = EVENTS[kind];
        let time = number * 1250;
        out.push_str(&format!("{time},1,{event},{key}={address:#x}\n"));
    }
    out.into_bytes()
}

/// Decodes everything; passes each batch to `take`.
fn read(form: Form, bytes: &[u8], mut take: impl FnMut(&Batch)) -> Result<(), String> {
    let mut decoder = Decoder::new(form);
    let mut batch = Batch::default();
    let mut start = 0;
    loop {
        batch.clear();
        let consumed = decoder.decode(&bytes[start..], true, &mut batch);
        if let Some((_, fault)) = batch.faults.first() {
            return Err(fault.to_string());
        }
        if consumed == 0 {
            return Ok(());
        }
        start += consumed;
        take(&batch);
    }
}

fn decode(form: Form, bytes: &[u8]) -> Result<u64, String> {
    let mut events = 0;
    read(form, bytes, |batch| events += batch.events.len() as u64)?;
    Ok(events)
}

fn monitor(form: Form, bytes: &[u8]) -> Result<u64, String> {
    let (mut properties, _) = juror_language::load(PROPERTY);
    let property = Arc::new(properties.pop().ok_or("the property is wrong")?);
    let mut binding = Binding::new(Arc::clone(&property));
    let mut monitor = Monitor::new(property).map_err(|error| error.to_string())?;
    let mut captures = Vec::new();
    let mut events = 0;
    read(form, bytes, |batch| {
        batch.layouts.iter().for_each(|layout| binding.add(layout));
        events += batch.events.len() as u64;
        for event in &batch.events {
            for found in binding.events(event.layout) {
                found.fill(&batch.given(event), u64::MAX, &mut captures);
                let happened = Occurrence {
                    thread: event.thread,
                    address: u64::from(event.place),
                    time: event.time_ns.unwrap_or(0),
                    values: &captures,
                };
                let _ = monitor.step(found.event, &happened);
            }
        }
    })?;
    let instances = monitor.slice_count() as u64;
    let expected = RESOURCES.min(events / 3) + 1;
    if monitor.verdict() == Verdict::Violated || instances < expected {
        return Err(format!("{} with {instances} instances", monitor.verdict()));
    }
    Ok(events)
}

/// An event as one would read it with `serde_json`.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    event: Option<Cow<'a, str>>,
    sequence: Option<u64>,
    time: Option<u64>,
    thread: Option<u32>,
    #[serde(default, borrow)]
    values: HashMap<Cow<'a, str>, serde_json::Value>,
}

fn plain_json(bytes: &[u8]) -> Result<u64, String> {
    let mut events = 0;
    for line in bytes
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        let line: Line<'_> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let is_whole = line.sequence.and(line.time).and(line.thread).is_some();
        events += u64::from(line.event.is_some() && is_whole && !line.values.is_empty());
    }
    Ok(events)
}

fn plain_csv(bytes: &[u8]) -> Result<u64, String> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(bytes);
    let mut record = csv::StringRecord::new();
    let mut events = 0;
    while reader
        .read_record(&mut record)
        .map_err(|error| error.to_string())?
    {
        let number = |field: usize| record.get(field).and_then(|it| it.parse::<u64>().ok());
        events += u64::from(number(0).and(number(1)).is_some() && record.len() == 4);
    }
    Ok(events)
}
