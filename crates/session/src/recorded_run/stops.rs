//! Where a person wants to stop in a recording: at an event, with a condition over
//! its values, or at a line that events came from.
//!
//! An event with its condition is a property of one state, so it is read, checked
//! and evaluated by what evaluates properties. Invariant: a condition that cannot
//! be evaluated stops, and says why; it is never false.

use super::tape::Tape;
use crate::options::CommandError;
use crate::view::{PointView, StopReason};
use juror_event::{EventKind, Unavailability, Value};
use juror_language::{Property, suggest};
use juror_monitor::{Monitor, Occurrence};
use juror_trace::{Binding, Layout, NO_PLACE, event_words};
use std::path::Path;
use std::sync::Arc;

/// How a recording names the value that a call returned.
const RETURNED: &str = "ret";

/// What is to happen where one stops.
#[derive(Debug)]
enum What {
    /// An event that fulfils a condition.
    Event {
        monitor: Box<Monitor>,
        binding: Binding,
    },
    /// Any event from these places.
    Line { places: Vec<bool> },
}

/// A point of the person.
#[derive(Debug)]
struct Point {
    number: u32,
    /// As it was written, without its condition.
    text: String,
    condition: Option<String>,
    what: What,
    is_enabled: bool,
    is_temporary: bool,
    hits: u64,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Stops {
    points: Vec<Point>,
    count: u32,
}

impl Stops {
    /// Sets one; gives what is to be said.
    pub fn set(
        &mut self,
        words: &str,
        is_temporary: bool,
        tape: &Tape,
    ) -> Result<String, CommandError> {
        let (text, condition) = match words.split_once(" if ") {
            Some((text, condition)) => (text.trim(), Some(condition.trim().to_owned())),
            None => (words.trim(), None),
        };
        if text.is_empty() || condition.as_deref() == Some("") {
            return Err(CommandError::with_help(
                "where is it to stop?",
                "for example: break push, break after push if ret == 0, break main.c:30; \
                 info events shows what was recorded",
            ));
        }
        let what = match line_of(text) {
            Some((file, line)) if condition.is_none() => at_line(file, line, tape)?,
            Some(_) => {
                return Err(CommandError::with_help(
                    "the events of a line are of several kinds, and have no condition in common",
                    "name the event: break push if job > 3",
                ));
            }
            None => at_event(text, condition.as_deref(), tape)?,
        };
        self.count += 1;
        let number = self.count;
        let text = match &what {
            What::Event { .. } if is_named(text, tape) => text.to_owned(),
            What::Event { monitor, .. } => {
                let event = monitor.property().events.first();
                event.map_or_else(|| text.to_owned(), event_words)
            }
            What::Line { .. } => text.to_owned(),
        };
        let said = format!("breakpoint {number}: {text}");
        self.points.push(Point {
            number,
            text,
            condition,
            what,
            is_enabled: true,
            is_temporary,
            hits: 0,
        });
        Ok(said)
    }

    /// Asks all of them about an event; why to stop there, if so. Going back,
    /// nothing is counted.
    pub fn ask(&mut self, event: u64, tape: &Tape, counts: bool) -> Option<StopReason> {
        if self.points.is_empty() {
            return None;
        }
        let (batch, happened) = tape.event(event)?;
        let (mut numbers, mut errors, mut temporary) = (Vec::new(), Vec::new(), false);
        for point in self.points.iter_mut().filter(|it| it.is_enabled) {
            let answer = point.what.is_hit(batch, happened);
            if let Err(error) = &answer {
                errors.push(format!("breakpoint {}: {error}", point.number));
            }
            if answer != Ok(false) {
                point.hits += u64::from(counts);
                temporary |= point.is_temporary;
                numbers.push(point.number);
            }
        }
        if numbers.is_empty() {
            return None;
        }
        if counts {
            self.points
                .retain(|it| !(it.is_temporary && numbers.contains(&it.number)));
        }
        Some(StopReason::Breakpoint {
            numbers,
            temporary,
            errors,
            silent: false,
        })
    }

    /// `delete`, `delete 1 2`, and the same for `enable` and `disable`.
    pub fn change(&mut self, words: &str, change: Change) -> Result<(), CommandError> {
        let mut numbers = Vec::new();
        for word in words.split_whitespace().filter(|it| *it != "breakpoints") {
            let number = word.parse().ok();
            let known = number.filter(|it| self.points.iter().any(|point| point.number == *it));
            numbers.push(known.ok_or_else(|| {
                CommandError::with_help(
                    format!("there is no breakpoint {word}"),
                    "see: info breakpoints",
                )
            })?);
        }
        let is_meant = |point: &Point| numbers.is_empty() || numbers.contains(&point.number);
        match change {
            Change::Delete => self.points.retain(|it| !is_meant(it)),
            Change::Enable(is_enabled) => {
                let meant = self.points.iter_mut().filter(|it| is_meant(it));
                meant.for_each(|it| it.is_enabled = is_enabled);
            }
        }
        Ok(())
    }

    /// `info breakpoints`
    pub fn views(&self) -> Vec<PointView> {
        let view = |point: &Point| PointView {
            number: Some(point.number),
            owner: "developer".to_owned(),
            kind: "recorded event",
            for_what: point.text.clone(),
            enabled: point.is_enabled,
            temporary: point.is_temporary,
            hits: point.hits,
            condition: point.condition.clone(),
            ..PointView::default()
        };
        self.points.iter().map(view).collect()
    }
}

/// What is done with points that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Delete,
    Enable(bool),
}

impl What {
    fn is_hit(
        &mut self,
        batch: &juror_trace::Batch,
        event: &juror_trace::Event,
    ) -> Result<bool, String> {
        match self {
            What::Line { places } => {
                let place = (event.place != NO_PLACE).then_some(event.place as usize);
                Ok(place.is_some_and(|it| places.get(it) == Some(&true)))
            }
            What::Event { monitor, binding } => {
                let mut is_hit = false;
                for found in binding.events(event.layout) {
                    let mut captures: Vec<Value> = Vec::new();
                    found.fill(batch.values_of(event), u64::MAX, &mut captures);
                    let happened = Occurrence {
                        thread: event.thread,
                        address: 0,
                        time: event.time_ns.unwrap_or(0),
                        values: &captures,
                    };
                    let step = monitor.step(found.event, &happened);
                    is_hit |= step.map_err(|error| error.message)?.taken;
                }
                Ok(is_hit)
            }
        }
    }
}

/// `main.c:30`
fn line_of(text: &str) -> Option<(&str, u32)> {
    let (file, line) = text.rsplit_once(':')?;
    let is_file = !file.is_empty() && !file.contains(char::is_whitespace) && !file.ends_with(':');
    is_file.then_some((file, line.parse().ok()?))
}

fn at_line(file: &str, line: u32, tape: &Tape) -> Result<What, CommandError> {
    let is_in = |known: &Option<String>| {
        let known = known.as_deref().map(Path::new);
        known.is_some_and(|it| it.ends_with(file))
    };
    let places = tape.places.iter();
    let places: Vec<bool> = places
        .map(|it| it.line == Some(line) && is_in(&it.file))
        .collect();
    if places.contains(&true) {
        return Ok(What::Line { places });
    }
    let mut lines: Vec<u32> = tape
        .places
        .iter()
        .filter(|it| is_in(&it.file))
        .filter_map(|it| it.line)
        .collect();
    lines.sort_unstable();
    lines.dedup();
    let near: Vec<String> = lines.iter().map(u32::to_string).collect();
    Err(CommandError::with_help(
        format!("no event of the recording came from {file}:{line}"),
        match near.is_empty() {
            true => "info events shows what was recorded".to_owned(),
            false => format!("of {file} there are events from lines {}", near.join(", ")),
        },
    ))
}

fn at_event(text: &str, condition: Option<&str>, tape: &Tape) -> Result<What, CommandError> {
    let mut event = match EventKind::of_words(text) {
        Some(_) => text.to_owned(),
        None => call_of(text, tape),
    };
    if let Some(condition) = condition {
        is_one_expression(condition)?;
    }
    if let (Some(condition), false) = (condition, event.contains('(')) {
        event += &values_in(condition, &event, tape);
    }
    let guard = condition.map_or_else(String::new, |it| format!(" when ({it})"));
    // Events of other programs may have names of their own.
    let name = if is_named(text, tape) { text } else { "it" };
    let source = format!(
        "property stop\nevent {name} = {event}\nstate here accepting {{ on {name}{guard} -> here }}\n"
    );
    let property = read(&source, text, condition, tape)?;
    let monitor = Monitor::with_history(Arc::clone(&property), 1)
        .map_err(|error| CommandError::new(error.message))?;
    let mut binding = Binding::new(Arc::clone(&property));
    for batch in tape.batches() {
        batch.declarations.iter().for_each(|it| binding.declare(it));
        batch.layouts.iter().for_each(|it| binding.add(it));
    }
    let happens = (0_u32..).zip(&tape.layouts);
    let is_recorded = happens
        .into_iter()
        .any(|(it, _)| !binding.events(it).is_empty());
    if !is_recorded {
        let event = property.events.first().map(event_words).unwrap_or_default();
        let known = tape.layouts.iter().map(|layout| &*layout.event);
        return Err(CommandError::with_help(
            format!("there is no event `{event}` in the recording"),
            match suggest(&event, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "info events shows what was recorded".to_owned(),
            },
        ));
    }
    lacks_no_value(&property, &binding, tape)?;
    Ok(What::Event {
        monitor: Box::new(monitor),
        binding,
    })
}

/// Whether events have just this name.
fn is_named(text: &str, tape: &Tape) -> bool {
    let is_word = text.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_word && tape.layouts.iter().any(|it| *it.event == *text)
}

/// A function alone stands for its calls; where only its returns were recorded, for
/// those.
fn call_of(text: &str, tape: &Tape) -> String {
    let name = text.split('(').next().unwrap_or(text).trim();
    let is_recorded = |event: &str| tape.layouts.iter().any(|it| *it.event == *event);
    let after = format!("after {name}");
    match !is_recorded(&format!("before {name}")) && is_recorded(&after) {
        true => format!("after {text}"),
        false => format!("before {text}"),
    }
}

fn is_one_expression(condition: &str) -> Result<(), CommandError> {
    let (_, diagnostics) = juror_language::parse_expression(condition);
    match diagnostics.into_iter().find(|it| it.is_error()) {
        Some(wrong) => Err(CommandError::advised(
            format!("`{condition}`: {}", wrong.message),
            wrong.help,
        )),
        None => Ok(()),
    }
}

/// The recorded values that a condition names, as an event of a property lists them.
fn values_in(condition: &str, event: &str, tape: &Tape) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let words: Vec<&str> = condition.split(|c: char| !is_part(c)).collect();
    let mut names: Vec<&str> = names_of(event, tape)
        .into_iter()
        .filter(|key| key.chars().all(is_part) && words.contains(key))
        .collect();
    let returns = match names.contains(&RETURNED) {
        true => format!(" returns {RETURNED}"),
        false => String::new(),
    };
    names.retain(|it| *it != RETURNED);
    match names.is_empty() {
        true => returns,
        false => format!("({}){returns}", names.join(", ")),
    }
}

/// The property that says the event and its condition.
fn read(
    source: &str,
    text: &str,
    condition: Option<&str>,
    tape: &Tape,
) -> Result<Arc<Property>, CommandError> {
    let (properties, diagnostics) = juror_language::load(source);
    let wrong = diagnostics.iter().find(|it| it.is_error());
    if let Some(wrong) = wrong {
        let whole = match condition {
            Some(condition) => format!("{text} if {condition}"),
            None => text.to_owned(),
        };
        let help = match wrong.code {
            // What is meant is a value that was recorded.
            "unknown-name" => Some(values_of(text, tape)),
            _ => wrong.help.clone(),
        };
        let message = format!("`{whole}`: {}", wrong.message);
        return Err(CommandError::advised(message, help));
    }
    let property = properties.into_iter().next();
    property.map(Arc::new).ok_or_else(|| {
        CommandError::with_help(
            format!("`{text}` is no event"),
            "info events shows what was recorded",
        )
    })
}

/// The values that were recorded of an event, in words.
fn values_of(text: &str, tape: &Tape) -> String {
    let event = match EventKind::of_words(text) {
        Some(_) => text.to_owned(),
        None => call_of(text, tape),
    };
    let keys = names_of(&event, tape);
    match keys.is_empty() {
        true => "info events shows what was recorded".to_owned(),
        false => format!("recorded of `{event}`: {}", keys.join(", ")),
    }
}

/// What the values of an event are called, in order.
fn names_of<'a>(event: &str, tape: &'a Tape) -> Vec<&'a str> {
    // One that has a name of its own may stand for a call.
    let own = event.strip_prefix("before ").unwrap_or(event);
    let is_meant = |it: &&Layout| *it.event == *event || *it.event == *own;
    let layouts = tape.layouts.iter().filter(is_meant);
    let mut names: Vec<&str> = layouts.flat_map(Tape::names).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// A condition over a value that no such event carries could never be evaluated.
fn lacks_no_value(property: &Property, binding: &Binding, tape: &Tape) -> Result<(), CommandError> {
    let layouts = (0_u32..).zip(&tape.layouts);
    let found: Vec<_> = layouts
        .flat_map(|(number, layout)| binding.events(number).iter().map(move |it| (it, layout)))
        .collect();
    let captures = property.events.first().map_or(&[][..], |it| &it.captures);
    for (slot, capture) in captures.iter().enumerate() {
        let is_there = found.iter().any(|(event, layout)| {
            let given = vec![Value::Bool(true); layout.keys.len()];
            let mut filled = Vec::new();
            event.fill(&given, u64::MAX, &mut filled);
            let value = filled.get(slot);
            value.is_some_and(|it| !matches!(it, Value::Unavailable(Unavailability::NotCaptured)))
        });
        if !is_there {
            let mut keys: Vec<&str> = found
                .iter()
                .flat_map(|(_, layout)| layout.keys.iter().map(|key| &**key))
                .collect();
            keys.sort_unstable();
            keys.dedup();
            return Err(CommandError::with_help(
                format!("`{}` was not recorded there", capture.name),
                match keys.is_empty() {
                    true => "the event has no values".to_owned(),
                    false => format!("the event has {}", keys.join(", ")),
                },
            ));
        }
    }
    Ok(())
}
