//! `property`: which properties are watched, while the program is there.
//!
//! After V. Stolz, F. Huch, *Runtime Verification of Concurrent Haskell
//! Programs*: properties may be added at any time, and are evaluated from then
//! on; where a trace is kept, they may as well be evaluated from the start.

use crate::commands::info_graph::no_property;
use crate::run::scenarios::loaded_sentence;
use crate::session::Session;
use juror_language::suggest;
use juror_monitoring::catch_up::{Replayed, replay};
use juror_monitoring::monitors::{Since, Watched, loading};
use juror_monitoring::property_files::PropertySource;
use juror_monitoring::report;
use juror_view::error::CommandError;
use juror_view::observer::Observer;
use juror_view::{Outcome, PropertyView};
use std::path::{Path, PathBuf};

/// The words after `property`.
pub(crate) const ACTIONS: [&str; 4] = ["add", "disable", "enable", "remove"];
/// The option that asks for the part of the run that has passed.
const FROM_START: &str = "--from-start";
/// Violations of the events before that are shown of a property that is added.
const VIOLATIONS_MAX: usize = 5;

impl Session {
    /// `property`, `property add FILE`, `property remove NAME`, ...
    pub(crate) fn property_command(
        &mut self,
        rest: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let (action, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let words = words.trim();
        match action {
            "" => self.list_properties(),
            "add" => self.add_properties(words, observer),
            "remove" | "delete" => self.remove_property(words),
            "enable" => self.enable_property(words, true),
            "disable" => self.enable_property(words, false),
            other => Err(CommandError::with_help(
                format!("`property {other}` is not known"),
                match suggest(other, ACTIONS) {
                    Some(near) => format!("did you mean `property {near}`?"),
                    None => "property add FILE, property remove, enable or disable NAME, or \
                             property alone"
                        .to_owned(),
                },
            )),
        }
    }

    fn list_properties(&self) -> Result<Outcome, CommandError> {
        let shown = self.watch.shown();
        if shown.is_empty() {
            return Err(no_property());
        }
        Ok(Outcome::Properties(shown.iter().map(view).collect()))
    }

    fn add_properties(
        &mut self,
        words: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let (file, from_start) = file_of(words)?;
        let source = PropertySource::read(Path::new(&file)).map_err(CommandError::new)?;
        let has_scenarios = source.load().scenario_count > 0;
        if has_scenarios {
            // What is wrong with them is told before anything is changed.
            self.scenarios_of(&source)?;
        }
        let (found, _) = loading::monitors(&source, self.options.history)?;
        let known = self.watch.shown();
        let is_new = |it: &Watched| {
            let same = known
                .iter()
                .find(|known| known.property.name == it.property.name);
            match same {
                None => Ok(true),
                // What several files use is watched once.
                Some(same) if same.file() == it.file() && it.file() != source.file => Ok(false),
                Some(same) => Err(CommandError::with_help(
                    format!(
                        "`{}` of {} is watched already",
                        same.property.name,
                        same.file()
                    ),
                    format!("property remove {} makes room", same.property.name),
                )),
            }
        };
        let mut added = Vec::new();
        for watched in found {
            if is_new(&watched)? {
                added.push(watched);
            }
        }
        if added.is_empty() {
            return Err(CommandError::new(format!("there is no property in {file}")));
        }
        let past = match from_start {
            true => self.give_past(&mut added)?,
            false => {
                self.begin_now(&mut added);
                Vec::new()
            }
        };
        let outcome = self.insert_all(&added, &past)?;
        if has_scenarios {
            let names = self.load_scenarios(&source)?;
            observer.notice(&loaded_sentence(&names));
        }
        Ok(outcome)
    }

    /// They see what happens from now on.
    fn begin_now(&self, added: &mut [Watched]) {
        let is_later = self.has_begun();
        for watched in added.iter_mut().filter(|_| is_later) {
            watched.since = Since::Addition;
        }
    }

    /// Adds the properties of a file, and of those that it uses, of which none is
    /// watched under that name. Gives their names.
    pub(crate) fn add_missing_properties(
        &mut self,
        source: &PropertySource,
    ) -> Result<Vec<String>, CommandError> {
        let (mut added, _) = loading::monitors(source, self.options.history)?;
        let known = self.watch.shown();
        added.retain(|it| {
            let mut known = known.iter();
            known.all(|known| known.property.name != it.property.name)
        });
        if added.is_empty() {
            return Ok(Vec::new());
        }
        self.begin_now(&mut added);
        self.insert_all(&added, &[])?;
        let names = added.iter().map(|it| it.property.name.to_string());
        Ok(names.collect())
    }

    /// Gives what the trace has to the properties.
    fn give_past(&mut self, added: &mut [Watched]) -> Result<Vec<Replayed>, CommandError> {
        if !self.has_begun() {
            // Nothing has happened.
            return Ok(Vec::new());
        }
        self.past_is_whole()?;
        let trace = self.trace_kept()?;
        let mut past = Vec::new();
        for watched in added {
            let replayed = replay(watched, &trace)?;
            watched.since = Since::Trace {
                events: replayed.events,
            };
            past.push(replayed);
        }
        Ok(past)
    }

    fn trace_kept(&self) -> Result<PathBuf, CommandError> {
        self.watch.trace().map(Path::to_owned).ok_or_else(|| {
            CommandError::with_help(
                "the run is not recorded, so nobody knows what has happened before",
                "start juror with --trace FILE, or leave out --from-start: then the property is \
                 evaluated from now on",
            )
        })
    }

    /// Adds all of them, or none.
    fn insert_all(
        &mut self,
        added: &[Watched],
        past: &[Replayed],
    ) -> Result<Outcome, CommandError> {
        let first = self.watch.shown().len();
        self.insert_everywhere(added)?;
        self.renew_listeners();
        let shown = self.watch.shown().iter().skip(first);
        let views = shown.enumerate().map(|(number, watched)| {
            let past = past.get(number);
            let violations = past.map_or(&[][..], |past| &past.violations);
            let told = violations.iter().take(VIOLATIONS_MAX).map(|it| {
                report::violation(watched, it.slice, self.program.as_ref(), false, it.repeated)
            });
            PropertyView {
                violations: told.collect(),
                error: past.and_then(|past| past.error.clone()),
                added: true,
                ..view(watched)
            }
        });
        Ok(Outcome::Properties(views.collect()))
    }

    /// The position of the property that a word names.
    fn position_of(&self, name: &str) -> Result<usize, CommandError> {
        if self.watch.shown().is_empty() {
            return Err(no_property());
        }
        if name.is_empty() {
            return Err(CommandError::with_help(
                "a property is missing",
                "`property` alone lists them",
            ));
        }
        let named = self.property_named(name)?;
        let mut shown = self.watch.shown().iter();
        let position = shown.position(|it| std::ptr::eq(it, named));
        position.ok_or_else(no_property)
    }

    fn remove_property(&mut self, name: &str) -> Result<Outcome, CommandError> {
        let position = self.position_of(name)?;
        self.remove_everywhere(position)?;
        self.renew_listeners();
        Ok(Outcome::Message(format!("{name} is watched no more")))
    }

    fn enable_property(&mut self, name: &str, is_enabled: bool) -> Result<Outcome, CommandError> {
        let position = self.position_of(name)?;
        let known = self.watch.shown().get(position);
        if known.is_some_and(|it| it.is_enabled == is_enabled) {
            let state = if is_enabled { "on" } else { "off" };
            return Ok(Outcome::Message(format!("{name} is {state} already")));
        }
        self.enable_everywhere(position, is_enabled)?;
        Ok(Outcome::Message(match is_enabled {
            true => format!(
                "{name} is on again, as it was left; what happened meanwhile it does not know"
            ),
            false => format!("{name} is off: it sees nothing, and is kept as it is"),
        }))
    }
}

/// The file that is named, and whether its properties are to be evaluated from
/// the start.
fn file_of(words: &str) -> Result<(String, bool), CommandError> {
    let is_option = |word: &&str| word.starts_with("--");
    let options: Vec<&str> = words.split_whitespace().filter(is_option).collect();
    if let Some(unknown) = options.iter().find(|&&option| option != FROM_START) {
        return Err(CommandError::with_help(
            format!("`{unknown}` is not known"),
            format!("property add FILE {FROM_START}"),
        ));
    }
    let from_start = !options.is_empty();
    // A file may have spaces in its name; options stand before or after it.
    let mut file = words.trim();
    while let Some(rest) = file.strip_prefix(FROM_START) {
        file = rest.trim_start();
    }
    while let Some(rest) = file.strip_suffix(FROM_START) {
        file = rest.trim_end();
    }
    match file {
        "" => Err(CommandError::with_help(
            "a file of properties is missing",
            "property add queue.prop",
        )),
        file => Ok((file.to_owned(), from_start)),
    }
}

/// A property, as `property` shows it.
pub(crate) fn view(watched: &Watched) -> PropertyView {
    let property = &watched.property;
    PropertyView {
        property: property.name.to_string(),
        description: property.description.as_ref().map(|it| it.to_string()),
        file: watched.file().to_owned(),
        enabled: watched.is_enabled,
        added: false,
        since: match watched.since {
            Since::Start => "start",
            Since::Addition => "addition",
            Since::Trace { .. } => "trace",
        }
        .to_owned(),
        recorded_events: match watched.since {
            Since::Trace { events } => Some(events),
            _ => None,
        },
        verdict: watched.monitor.verdict(),
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
