//! Parses breakpoints in a recording: an event with its condition, or a line.

use crate::replay::stops::What;
use crate::replay::tape::Tape;
use juror_event::{EventKind, Read, Unavailability, Value};
use juror_fault::CommandError;
use juror_language::{Property, suggest};
use juror_monitor::Monitor;
use juror_symbols::is_path_of;
use juror_trace::{Binding, Given, Layout, event_words};
use std::path::Path;
use std::sync::Arc;

/// The recorded name of a call's result.
const RETURNED: &str = "ret";

/// `main.c:30`, `'my file.c':30`
pub(super) fn line_of(text: &str) -> Option<(&str, u32)> {
    let (file, line) = text.rsplit_once(':')?;
    let quoted = file.strip_prefix('\'').and_then(|it| it.strip_suffix('\''));
    if let Some(file) = quoted {
        return Some((file, line.parse().ok()?));
    }
    let is_file = !file.is_empty() && !file.contains(char::is_whitespace) && !file.ends_with(':');
    is_file.then_some((file, line.parse().ok()?))
}

/// Returns the places of a line.
pub(super) fn at_line(file: &str, line: u32, tape: &Tape) -> Result<What, CommandError> {
    let is_in = |known: &Option<String>| {
        let known = known.as_deref().map(Path::new);
        known.is_some_and(|it| is_path_of(Path::new(file), it))
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
        if near.is_empty() {
            "info events lists the recorded events".to_owned()
        } else {
            format!("lines of {file} with events: {}", near.join(", "))
        },
    ))
}

/// Parses an event with its condition, as a property of one state.
pub(super) fn at_event(
    text: &str,
    condition: Option<&str>,
    tape: &Tape,
) -> Result<What, CommandError> {
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
                None => "info events lists the recorded events".to_owned(),
            },
        ));
    }
    lacks_no_value(&property, &binding, tape)?;
    Ok(What::Event {
        monitor: Box::new(monitor),
        binding,
    })
}

/// Returns whether recorded events have exactly this name.
pub(super) fn is_named(text: &str, tape: &Tape) -> bool {
    let is_word = text.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_word && tape.layouts.iter().any(|it| *it.event == *text)
}

/// Completes a function name to an event: its calls, or its returns if only those were recorded.
fn call_of(text: &str, tape: &Tape) -> String {
    let name = text.split('(').next().unwrap_or(text).trim();
    let is_recorded = |event: &str| tape.layouts.iter().any(|it| *it.event == *event);
    let after = format!("after {name}");
    if !is_recorded(&format!("before {name}")) && is_recorded(&after) {
        format!("after {text}")
    } else {
        format!("before {text}")
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

/// Lists the recorded values that a condition names, in the syntax of events.
fn values_in(condition: &str, event: &str, tape: &Tape) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let words: Vec<&str> = condition.split(|c: char| !is_part(c)).collect();
    let mut names: Vec<&str> = names_of(event, tape)
        .into_iter()
        .filter(|key| key.chars().all(is_part) && words.contains(key))
        .collect();
    let returns = if names.contains(&RETURNED) {
        format!(" returns {RETURNED}")
    } else {
        String::new()
    };
    names.retain(|it| *it != RETURNED);
    if names.is_empty() {
        returns
    } else {
        format!("({}){returns}", names.join(", "))
    }
}

/// Parses the event and its condition as a property.
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
            // The condition may name only recorded values.
            "unknown-name" => Some(values_of(text, tape)),
            _ => wrong.help.clone(),
        };
        let message = format!("`{whole}`: {}", wrong.message);
        return Err(CommandError::advised(message, help));
    }
    let property = properties.into_iter().next();
    property.map(Arc::new).ok_or_else(|| {
        CommandError::with_help(
            format!("`{text}` is not an event"),
            "info events lists the recorded events",
        )
    })
}

/// Lists the recorded values of an event, in words.
fn values_of(text: &str, tape: &Tape) -> String {
    let event = match EventKind::of_words(text) {
        Some(_) => text.to_owned(),
        None => call_of(text, tape),
    };
    let keys = names_of(&event, tape);
    if keys.is_empty() {
        "info events lists the recorded events".to_owned()
    } else {
        format!("recorded for `{event}`: {}", keys.join(", "))
    }
}

/// Returns the names of an event's values, in order.
fn names_of<'a>(event: &str, tape: &'a Tape) -> Vec<&'a str> {
    // An event with its own name may stand for a call.
    let own = event.strip_prefix("before ").unwrap_or(event);
    let is_meant = |it: &&Layout| *it.event == *event || *it.event == *own;
    let layouts = tape.layouts.iter().filter(is_meant);
    let mut names: Vec<&str> = layouts.flat_map(Tape::names).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Checks the values of a condition: if no such event carries one of them, it could never be
/// evaluated.
fn lacks_no_value(property: &Property, binding: &Binding, tape: &Tape) -> Result<(), CommandError> {
    let layouts = (0_u32..).zip(&tape.layouts);
    let found: Vec<_> = layouts
        .flat_map(|(number, layout)| binding.events(number).iter().map(move |it| (it, layout)))
        .collect();
    let captures = property.events.first().map_or(&[][..], |it| &it.captures);
    let carried = captures.iter().enumerate();
    // Values computed from the others are not recorded values.
    let carried = carried.filter(|(_, it)| !matches!(it.read, Read::Arithmetic(_)));
    for (slot, capture) in carried {
        let is_there = found.iter().any(|(event, layout)| {
            let values = vec![Value::Bool(true); layout.keys.len()];
            let given = Given {
                values: &values,
                thread: 1,
                time_ns: Some(1),
            };
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
                if keys.is_empty() {
                    "the event has no values".to_owned()
                } else {
                    format!("the event has {}", keys.join(", "))
                },
            ));
        }
    }
    Ok(())
}
