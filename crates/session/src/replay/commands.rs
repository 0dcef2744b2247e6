//! The commands of a recording.

use crate::command_table;
use crate::command_table::arguments::{number, split_line, times};
use crate::command_table::entry::{Completes, Repeats};
use crate::command_table::recorded::Recorded;
use crate::commands::completion::matching;
use crate::commands::{info_graph, info_views, property};
use crate::replay::RecordedRun;
use crate::replay::lookup::{self, RECORDED, find};
use crate::replay::moves::Goal;
use crate::replay::settings;
use crate::replay::stops::Change;
use juror_fault::CommandError;
use juror_language::suggest;
use juror_monitoring::monitors::loading;
use juror_monitoring::property_files::PropertySource;
use juror_view::observer::Observer;
use juror_view::{Outcome, QuitView, RecordedCheckpointView, StopReason};
use std::path::Path;

impl RecordedRun {
    /// Executes a line. An empty line does nothing.
    ///
    /// # Errors
    /// The line is not a command, or the command fails.
    pub fn execute(
        &mut self,
        line: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let own = command_table::translated(line);
        let (word, rest) = split_line(own.as_deref().unwrap_or(line));
        if word.is_empty() || word.starts_with('#') {
            return Ok(Outcome::Done);
        }
        let (entry, recorded) = find(word)?;
        if recorded.takes_nothing && !rest.is_empty() {
            return Err(CommandError::unexpected(rest, entry.name));
        }
        self.carry_out(recorded, rest, observer)
    }

    /// Carries out a command with its argument, if it is possible now.
    pub(super) fn carry_out(
        &mut self,
        recorded: &Recorded,
        rest: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        self.control.permit(recorded.modes).map_err(|_| {
            CommandError::with_help(
                "this is the end of the recording",
                "reverse-step, reverse-continue and goto go back, run goes to the beginning",
            )
        })?;
        let result = (recorded.run)(self, rest, observer);
        self.control.finish();
        result
    }

    /// Returns the goal of `step N`: events of any thread.
    pub(super) fn events_of_all(&self, rest: &str) -> Result<Goal, CommandError> {
        let left = times(rest)?;
        Ok(Goal::Events { left, thread: None })
    }

    /// Returns the goal of `next N`: events of the selected thread. Before the first and after the
    /// last event, the next event of any thread counts.
    pub(super) fn events_of_thread(&self, rest: &str) -> Result<Goal, CommandError> {
        let left = times(rest)?;
        let is_at_event = self.position > 0 && !self.is_over();
        let thread = is_at_event.then(|| self.selected.unwrap_or_else(|| self.event_thread()));
        Ok(Goal::Events { left, thread })
    }

    /// `run`
    pub(super) fn run_anew(
        &mut self,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        self.go_to("start", observer)?;
        self.go_on(Goal::Never, 0, observer)
    }

    /// `help`, `help COMMAND`
    pub(super) fn help(&self, rest: &str) -> Result<Outcome, CommandError> {
        lookup::help(rest)
    }

    /// `delete N`, `delete checkpoint N`
    pub(super) fn delete(&mut self, rest: &str) -> Result<Outcome, CommandError> {
        match rest.strip_prefix("checkpoint") {
            Some(words) => self.delete_checkpoint(words.trim_start_matches('s').trim()),
            None => self.change_stops(rest, Change::Delete),
        }
    }

    pub(super) fn set_stop(
        &mut self,
        words: &str,
        is_temporary: bool,
    ) -> Result<Outcome, CommandError> {
        let set = self.stops.set(words, is_temporary, &self.tape)?;
        Ok(Outcome::from(set))
    }

    pub(super) fn change_stops(
        &mut self,
        words: &str,
        change: Change,
    ) -> Result<Outcome, CommandError> {
        self.stops.change(words, change).map(|()| Outcome::Done)
    }

    /// `goto N`, `goto start`, `goto end`
    pub(super) fn go_to(
        &mut self,
        rest: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let wanted = match rest {
            "start" | "begin" => 0,
            "end" => self.tape.count,
            rest => number(rest)?.ok_or_else(|| {
                CommandError::with_help(
                    "`goto` needs the number of an event",
                    "goto 27, goto start, goto end",
                )
            })?,
        };
        if wanted > self.tape.count {
            return Err(CommandError::new(format!(
                "the recording has {} events",
                self.tape.count
            )));
        }
        self.seek(wanted);
        let reason = match wanted {
            0 => StopReason::Started,
            _ => StopReason::Step,
        };
        self.stand_again(reason, observer)
    }

    pub(super) fn checkpoint(&mut self) -> Outcome {
        self.checkpoint_count += 1;
        self.checkpoints
            .push((self.checkpoint_count, self.position));
        Outcome::RecordedCheckpoints(vec![RecordedCheckpointView {
            number: self.checkpoint_count,
            event: self.position,
        }])
    }

    /// Returns the position of a checkpoint in the list.
    fn checkpoint_of(&self, rest: &str) -> Result<usize, CommandError> {
        let number = number(rest)?;
        let mut known = self.checkpoints.iter();
        let found = known.position(|(it, _)| Some(u64::from(*it)) == number);
        found.ok_or_else(|| {
            CommandError::with_help(
                match number {
                    Some(number) => format!("there is no checkpoint {number}"),
                    None => "`restore` needs the number of a checkpoint".to_owned(),
                },
                "see: info checkpoints",
            )
        })
    }

    fn delete_checkpoint(&mut self, rest: &str) -> Result<Outcome, CommandError> {
        let found = self.checkpoint_of(rest)?;
        self.checkpoints.remove(found);
        Ok(Outcome::Done)
    }

    pub(super) fn restore(
        &mut self,
        rest: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let found = self.checkpoint_of(rest)?;
        let known = self.checkpoints.get(found).copied();
        let (checkpoint, position) = known.unwrap_or_default();
        self.seek(position);
        let losses = Vec::new();
        self.stand_again(StopReason::Restored { checkpoint, losses }, observer)
    }

    pub(super) fn info(&mut self, rest: &str) -> Result<Outcome, CommandError> {
        const SUBJECTS: [&str; 10] = [
            "args",
            "breakpoints",
            "checkpoints",
            "events",
            "graph",
            "line",
            "locals",
            "monitors",
            "properties",
            "threads",
        ];
        let (word, argument) = split_line(rest);
        let begun: Vec<&str> = SUBJECTS
            .into_iter()
            .filter(|it| it.starts_with(word))
            .collect();
        match (begun.as_slice(), word) {
            (_, "b") | (["breakpoints"], _) => Ok(Outcome::Points(self.stops.views())),
            (["args"] | ["locals"], _) => self.variables(),
            (["checkpoints"], _) => Ok(Outcome::RecordedCheckpoints(self.checkpoint_views())),
            (["events"], _) => Ok(self.events()),
            (["graph"], _) => info_graph::graphs(self.shown_properties(), argument),
            (["line"], _) => {
                let location = self.location()?;
                Ok(Outcome::Location(Box::new(location)))
            }
            (["monitors"], _) => self.monitors(argument),
            (["properties"], _) => self.property(""),
            (["threads"], _) => Ok(Outcome::Threads(self.thread_views())),
            ([], word) if command_table::find_info_subject(word).is_ok() => {
                Err(CommandError::with_help(
                    format!("`info {word}` needs the program, and this is a recording"),
                    format!("info has {}", SUBJECTS.join(", ")),
                ))
            }
            ([], word) => Err(CommandError::with_help(
                format!("there is no subject `{word}`"),
                match suggest(word, SUBJECTS) {
                    Some(near) => format!("did you mean `info {near}`?"),
                    None => format!("info has {}", SUBJECTS.join(", ")),
                },
            )),
            (several, word) => Err(CommandError::new(match word {
                "" => format!("`info` needs a subject: {}", SUBJECTS.join(", ")),
                word => format!("`{word}` may be {}", several.join(", ")),
            })),
        }
    }

    /// Returns the views of the checkpoints.
    pub(super) fn checkpoint_views(&self) -> Vec<RecordedCheckpointView> {
        let checkpoints = self.checkpoints.iter();
        let views = checkpoints.map(|&(number, event)| RecordedCheckpointView { number, event });
        views.collect()
    }

    pub(super) fn monitors(&self, name: &str) -> Result<Outcome, CommandError> {
        if split_line(name).0 == "set" {
            return Err(settings::unchangeable());
        }
        let places = &self.offline.recorded.places;
        info_views::monitors(self.shown_properties(), Some(places), name)
    }

    /// `property`, `property add FILE`, `property remove NAME`
    pub(super) fn property(&mut self, rest: &str) -> Result<Outcome, CommandError> {
        let (action, words) = split_line(rest);
        match action {
            "" if self.shown_properties().is_empty() => Err(info_graph::no_property()),
            "" => Ok(self.property_list()),
            "add" if !words.is_empty() => self.add_properties(words),
            "remove" | "delete" => {
                let name = info_graph::named(self.shown_properties(), words)?
                    .property
                    .name
                    .clone();
                self.offline
                    .monitors
                    .properties
                    .retain(|it| it.property.name != name);
                self.begin_again();
                Ok(Outcome::Message(format!("{name} is no longer monitored")))
            }
            _ => Err(CommandError::with_help(
                "unknown property command",
                "property add FILE, property remove NAME, or property alone",
            )),
        }
    }

    fn property_list(&self) -> Outcome {
        let views = self.shown_properties().iter().map(property::view);
        Outcome::Properties(views.collect())
    }

    /// They are evaluated from the beginning to the present position.
    fn add_properties(&mut self, file: &str) -> Result<Outcome, CommandError> {
        let source = PropertySource::read(Path::new(file)).map_err(CommandError::new)?;
        let (found, _) = loading::load_file(&source, self.offline.history)?;
        let known = self.shown_properties();
        if let Some(twice) = found.iter().find(|it| {
            known
                .iter()
                .any(|other| other.property.name == it.property.name)
        }) {
            let name = &twice.property.name;
            return Err(CommandError::with_help(
                format!("`{name}` is already monitored"),
                format!("first remove it: property remove {name}"),
            ));
        }
        let before = self.offline.monitors.properties.clone();
        self.offline.monitors.properties.extend(found);
        crate::replay::learn(&mut self.offline, &self.tape);
        let missing = self.offline.not_recorded();
        if missing.is_some() {
            self.offline.monitors.properties = before;
        }
        self.begin_again();
        match missing {
            Some(error) => Err(error.into()),
            None => Ok(self.property_list()),
        }
    }

    /// Returns the line that an empty line after this one repeats.
    pub fn repetition(&self, line: &str) -> Option<String> {
        let (word, _) = split_line(line);
        let (entry, recorded) = find(word).ok()?;
        match recorded.repeats {
            Repeats::No => None,
            Repeats::Line | Repeats::Onwards => Some(line.to_owned()),
            Repeats::Name => Some(entry.name.to_owned()),
        }
    }

    /// Returns the beginning of the word at `position`, and its completions.
    pub fn complete(&self, line: &str, position: usize) -> (usize, Vec<String>) {
        let before = line.get(..position).unwrap_or(line);
        let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let typed = before.get(start..).unwrap_or("");
        let (word, _) = split_line(before);
        if before.trim_start().len() == typed.len() {
            return (start, matching(command_names(), typed));
        }
        let completes = find(word).map_or(Completes::Nothing, |(_, recorded)| recorded.completes);
        let candidates: Vec<String> = match completes {
            Completes::Caught => {
                let events = self.tape.layouts.iter().map(|it| it.event.to_string());
                let words =
                    events.flat_map(|it| it.split(' ').map(str::to_owned).collect::<Vec<String>>());
                words.collect()
            }
            Completes::Properties => {
                let names = self.shown_properties().iter();
                names.map(|it| it.property.name.to_string()).collect()
            }
            Completes::Commands => command_names().collect(),
            _ => Vec::new(),
        };
        (start, matching(candidates.into_iter(), typed))
    }
}

fn command_names() -> impl Iterator<Item = String> {
    RECORDED.iter().map(|(entry, _)| entry.name.to_owned())
}

/// `quit`: leaves, with an exit status if one is named. A recording has no expressions.
pub(super) fn quit(rest: &str) -> Result<Outcome, CommandError> {
    let status = number(rest)?.map(|status| (status & 0xff) as u8);
    Ok(Outcome::Quit(QuitView { status }))
}
