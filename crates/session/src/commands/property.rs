//! `property`: adds, removes, enables and disables properties while the program runs.
//!
//! After V. Stolz, F. Huch, *Runtime Verification of Concurrent Haskell Programs*: properties may
//! be added at any time, and are evaluated from then on; if a trace is recorded, they may also be
//! evaluated from the start.

use crate::commands::info_graph;
use crate::commands::info_graph::no_property;
use crate::run::processes::properties;
use crate::run::scenarios::loaded_sentence;
use crate::session::Session;
use juror_fault::CommandError;
use juror_language::suggest;
use juror_monitoring::catch_up::{Replayed, replay};
use juror_monitoring::monitors::{MonitoredProperty, Since, loading};
use juror_monitoring::property_files::PropertySource;
use juror_monitoring::report;
use juror_view::observer::Observer;
use juror_view::{Outcome, PropertyView};
use std::path::{Path, PathBuf};

/// The words after `property`.
pub(crate) const ACTIONS: [&str; 4] = ["add", "disable", "enable", "remove"];
/// The option to evaluate the recorded part of the run.
const FROM_START: &str = "--from-start";
/// The limit of violations by earlier events shown of an added property.
const VIOLATIONS_MAX: usize = 5;

/// `property`, `property add FILE`, `property remove NAME`, ...
pub(crate) fn property_command(
    session: &mut Session,
    rest: &str,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let (action, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let words = words.trim();
    match action {
        "" => list_properties(session),
        "add" => add_properties(session, words, observer),
        "remove" | "delete" => remove_property(session, words),
        "enable" => enable_property(session, words, true),
        "disable" => enable_property(session, words, false),
        other => Err(CommandError::with_help(
            format!("`property {other}` is unknown"),
            match suggest(other, ACTIONS) {
                Some(near) => format!("did you mean `property {near}`?"),
                None => "property add FILE, property remove, enable or disable NAME, or \
                         property alone"
                    .to_owned(),
            },
        )),
    }
}

fn list_properties(session: &Session) -> Result<Outcome, CommandError> {
    let shown = session.processes.monitors.shown();
    if shown.is_empty() {
        return Err(no_property());
    }
    Ok(Outcome::Properties(shown.iter().map(view).collect()))
}

fn add_properties(
    session: &mut Session,
    words: &str,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let (file, from_start) = file_of(words)?;
    let source = PropertySource::read(Path::new(&file)).map_err(CommandError::new)?;
    let has_scenarios = source.load().scenario_count > 0;
    if has_scenarios {
        // Errors are reported before anything is changed.
        session.scenarios_of(&source)?;
    }
    let (found, _) = loading::load_file(&source, session.options.history)?;
    let known = session.processes.monitors.shown();
    let is_new = |it: &MonitoredProperty| {
        let same = known
            .iter()
            .find(|known| known.property.name == it.property.name);
        match same {
            None => Ok(true),
            // A property that several files use is monitored once.
            Some(same) if same.file() == it.file() && it.file() != source.file => Ok(false),
            Some(same) => Err(CommandError::with_help(
                format!(
                    "`{}` of {} is already monitored",
                    same.property.name,
                    same.file()
                ),
                format!("first remove it: property remove {}", same.property.name),
            )),
        }
    };
    let mut added = Vec::new();
    for monitored in found {
        if is_new(&monitored)? {
            added.push(monitored);
        }
    }
    if added.is_empty() {
        return Err(CommandError::new(format!("there is no property in {file}")));
    }
    let past = if from_start {
        give_past(session, &mut added)?
    } else {
        begin_now(session, &mut added);
        Vec::new()
    };
    let outcome = insert_all(session, &added, &past)?;
    if has_scenarios {
        let names = session.load_scenarios(&source)?;
        observer.notice(&loaded_sentence(&names));
    }
    Ok(outcome)
}

/// Marks properties as evaluated from now on.
fn begin_now(session: &Session, added: &mut [MonitoredProperty]) {
    let is_later = session.has_begun();
    for monitored in added.iter_mut().filter(|_| is_later) {
        monitored.since = Since::Addition;
    }
}

/// Adds the properties of a file, and of the files that it uses, that are not monitored yet by
/// name. Returns their names.
pub(crate) fn add_missing_properties(
    session: &mut Session,
    source: &PropertySource,
) -> Result<Vec<String>, CommandError> {
    let (mut added, _) = loading::load_file(source, session.options.history)?;
    let known = session.processes.monitors.shown();
    added.retain(|it| {
        let mut known = known.iter();
        known.all(|known| known.property.name != it.property.name)
    });
    if added.is_empty() {
        return Ok(Vec::new());
    }
    begin_now(session, &mut added);
    insert_all(session, &added, &[])?;
    let names = added.iter().map(|it| it.property.name.to_string());
    Ok(names.collect())
}

/// Feeds the trace to the properties.
fn give_past(
    session: &mut Session,
    added: &mut [MonitoredProperty],
) -> Result<Vec<Replayed>, CommandError> {
    if !session.has_begun() {
        // Nothing has happened.
        return Ok(Vec::new());
    }
    properties::past_is_whole(session)?;
    let trace = trace_kept(session)?;
    let mut past = Vec::new();
    for monitored in added {
        let replayed = replay(monitored, &trace)?;
        monitored.since = Since::Trace {
            events: replayed.events,
        };
        past.push(replayed);
    }
    Ok(past)
}

fn trace_kept(session: &Session) -> Result<PathBuf, CommandError> {
    session
        .processes
        .monitors
        .trace()
        .map(Path::to_owned)
        .ok_or_else(|| {
            CommandError::with_help(
                "the run is not recorded: earlier events are unknown",
                "start juror with --trace FILE, or leave out --from-start: then the property is \
             evaluated from now on",
            )
        })
}

/// Adds all of them, or none.
fn insert_all(
    session: &mut Session,
    added: &[MonitoredProperty],
    past: &[Replayed],
) -> Result<Outcome, CommandError> {
    let first = session.processes.monitors.shown().len();
    properties::insert_everywhere(session, added)?;
    session.renew_listeners();
    let shown = session.processes.monitors.shown().iter().skip(first);
    let views = shown.enumerate().map(|(number, monitored)| {
        let past = past.get(number);
        let violations = past.map_or(&[][..], |past| &past.violations);
        let told = violations.iter().take(VIOLATIONS_MAX).map(|it| {
            report::violation(
                monitored,
                it.slice,
                session.processes.program.as_ref(),
                false,
                it.repeated,
            )
        });
        PropertyView {
            violations: told.collect(),
            error: past.and_then(|past| past.error.clone()),
            added: true,
            ..view(monitored)
        }
    });
    Ok(Outcome::Properties(views.collect()))
}

/// Returns the position of a property by its name.
fn position_of(session: &Session, name: &str) -> Result<usize, CommandError> {
    if session.processes.monitors.shown().is_empty() {
        return Err(no_property());
    }
    if name.is_empty() {
        return Err(CommandError::with_help(
            "the name of a property is missing",
            "`property` alone lists them",
        ));
    }
    let named = info_graph::property_named(session, name)?;
    let mut shown = session.processes.monitors.shown().iter();
    let position = shown.position(|it| std::ptr::eq(it, named));
    position.ok_or_else(no_property)
}

fn remove_property(session: &mut Session, name: &str) -> Result<Outcome, CommandError> {
    let position = position_of(session, name)?;
    properties::remove_everywhere(session, position)?;
    session.renew_listeners();
    Ok(Outcome::Message(format!("{name} is no longer monitored")))
}

fn enable_property(
    session: &mut Session,
    name: &str,
    is_enabled: bool,
) -> Result<Outcome, CommandError> {
    let position = position_of(session, name)?;
    let known = session.processes.monitors.shown().get(position);
    if known.is_some_and(|it| it.is_enabled == is_enabled) {
        let state = if is_enabled { "on" } else { "off" };
        return Ok(Outcome::Message(format!("{name} is already {state}")));
    }
    properties::enable_everywhere(session, position, is_enabled)?;
    Ok(Outcome::Message(if is_enabled {
        format!(
            "{name} is enabled in the state it had; it has missed the events since it was \
                     disabled"
        )
    } else {
        format!("{name} is disabled: it keeps its state and receives no events")
    }))
}

/// Parses the file name, and whether its properties are to be evaluated from the start.
fn file_of(words: &str) -> Result<(String, bool), CommandError> {
    let is_option = |word: &&str| word.starts_with("--");
    let options: Vec<&str> = words.split_whitespace().filter(is_option).collect();
    if let Some(unknown) = options.iter().find(|&&option| option != FROM_START) {
        return Err(CommandError::with_help(
            format!("unknown argument `{unknown}`"),
            format!("property add FILE {FROM_START}"),
        ));
    }
    let from_start = !options.is_empty();
    // The file name may contain spaces; options come before or after it.
    let mut file = words.trim();
    while let Some(rest) = file.strip_prefix(FROM_START) {
        file = rest.trim_start();
    }
    while let Some(rest) = file.strip_suffix(FROM_START) {
        file = rest.trim_end();
    }
    match file {
        "" => Err(CommandError::with_help(
            "the name of a property file is missing",
            "property add queue.prop",
        )),
        file => Ok((file.to_owned(), from_start)),
    }
}

/// Returns the view of a property for `property`.
pub(crate) fn view(monitored: &MonitoredProperty) -> PropertyView {
    let property = &monitored.property;
    PropertyView {
        property: property.name.to_string(),
        description: property.description.as_ref().map(|it| it.to_string()),
        file: monitored.file().to_owned(),
        enabled: monitored.is_enabled,
        added: false,
        since: match monitored.since {
            Since::Start => "start",
            Since::Addition => "addition",
            Since::Trace { .. } => "trace",
        }
        .to_owned(),
        recorded_events: match monitored.since {
            Since::Trace { events } => Some(events),
            _ => None,
        },
        verdict: monitored.monitor.verdict(),
        violations: Vec::new(),
        error: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_and_its_option_are_told_apart() {
        for (words, expected) in [
            ("a.prop", Some(("a.prop", false))),
            ("a b.prop", Some(("a b.prop", false))),
            ("a.prop --from-start", Some(("a.prop", true))),
            ("--from-start a.prop", Some(("a.prop", true))),
            ("", None),
            ("--from-start", None),
            ("a.prop --from-now", None),
        ] {
            let expected = expected.map(|(file, from_start)| (file.to_owned(), from_start));
            assert_eq!(file_of(words).ok(), expected, "{words}");
        }
    }
}
