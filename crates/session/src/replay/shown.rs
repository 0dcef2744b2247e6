//! Views of a recording: the present event, its values and place, and the recorded events.

use crate::replay::RecordedRun;
use crate::replay::tape::Tape;
use juror_fault::CommandError;
use juror_language::suggest;
use juror_trace::{Event, Position};
use juror_view::{
    EmptyView, Listed, Location, NamedValue, Outcome, RecordedEventView, RecordedStop, SourceView,
    StopReason, ValueView, VariableView,
};
use std::path::{Path, PathBuf};

/// The number of lines shown around a place.
const LINES_AROUND: u32 = 7;
/// The number of lines that `list` shows.
const LINES_LISTED: u32 = 10;

impl RecordedRun {
    /// Shows the present position and the reason to stop.
    pub(super) fn stopped(&mut self, why: StopReason) -> Outcome {
        self.list_from = None;
        self.selected = None;
        let mut stop = RecordedStop {
            recording: self.name.clone(),
            event: self.position,
            events: self.tape.count,
            line: None,
            byte: None,
            reason: why.word(),
            violations: Vec::new(),
            breakpoints: Vec::new(),
            errors: Vec::new(),
            why,
            sequence: None,
            time_ns: None,
            thread: 0,
            what: String::new(),
            is_call: false,
            location: None,
            values: self.values(),
            source: None,
            context: Vec::new(),
        };
        match &stop.why {
            StopReason::Violation { violations } => stop.violations.clone_from(violations),
            StopReason::MonitorError { message, .. } => stop.errors.push(message.clone()),
            StopReason::Breakpoint {
                numbers, errors, ..
            } => {
                stop.breakpoints.clone_from(numbers);
                stop.errors.clone_from(errors);
            }
            _ => {}
        }
        if let Some(event) = self.present().cloned() {
            self.place(&mut stop, &event);
        }
        stop.context = self.context_of(&stop);
        Outcome::RecordedStop(Box::new(stop))
    }

    /// Adds the event and its place to a stop.
    fn place(&mut self, stop: &mut RecordedStop, event: &Event) {
        let told = self.offline.describe(0, event, StopReason::Step);
        match self.tape.position(event) {
            Position::Line(line) => stop.line = Some(line),
            Position::Byte(byte) => stop.byte = Some(byte),
        }
        stop.source = told.location.as_ref().and_then(|it| self.source_of(it));
        stop.sequence = told.sequence;
        stop.time_ns = told.time_ns;
        stop.thread = told.thread;
        stop.what = told.what;
        stop.is_call = told.is_call;
        stop.location = told.location;
    }

    /// Returns the error after the last event, in words.
    pub(super) fn fault_words(&self) -> Option<String> {
        let fault = self.tape.fault.as_ref()?;
        let place = match fault.position {
            Position::Line(line) => format!("{}:{line}", self.name),
            Position::Byte(byte) => format!("{}, byte {byte}", self.name),
        };
        Some(format!("{place}: {fault}"))
    }

    /// Returns the present event.
    fn present(&self) -> Option<&Event> {
        self.tape.event(self.position).map(|(_, event)| event)
    }

    fn values(&self) -> Vec<NamedValue> {
        self.values_of(self.position)
    }

    /// Returns the values of an event.
    pub(super) fn values_of(&self, number: u64) -> Vec<NamedValue> {
        let Some((batch, event)) = self.tape.event(number) else {
            return Vec::new();
        };
        let layout = self.tape.layouts.get(event.layout as usize);
        let names = layout.into_iter().flat_map(Tape::names);
        let values = names.zip(batch.values_of(event));
        let named = values.map(|(name, value)| NamedValue {
            name: name.to_string(),
            value: value.clone(),
        });
        named.collect()
    }

    /// `info args`, `info locals`
    pub(super) fn variables(&self) -> Result<Outcome, CommandError> {
        let views: Vec<VariableView> = self
            .values()
            .into_iter()
            .map(|it| VariableView {
                name: it.name,
                type_name: String::new(),
                value: it.value.to_string(),
            })
            .collect();
        if views.is_empty() {
            Ok(Outcome::Empty(EmptyView {
                listed: Listed::EventValues,
                pattern: None,
                has_debug_info: None,
            }))
        } else {
            Ok(Outcome::Variables(views))
        }
    }

    /// `print NAME`
    pub(super) fn print(&self, name: &str) -> Result<Outcome, CommandError> {
        Ok(Outcome::Value(ValueView {
            is_formatted: false,
            number: 0,
            type_name: String::new(),
            value: self.value_of(self.position, name)?,
        }))
    }

    /// Returns a value of an event; also its `thread` and its `time`.
    pub(super) fn value_of(&self, number: u64, name: &str) -> Result<String, CommandError> {
        let values = self.values_of(number);
        if let Some(known) = values.iter().find(|it| it.name == name) {
            return Ok(known.value.to_string());
        }
        let event = self.tape.event(number).map(|(_, event)| event);
        match (name, event) {
            ("thread", Some(event)) => return Ok(event.thread.to_string()),
            ("time", Some(event)) if event.time_ns.is_some() => {
                return Ok(event.time_ns.unwrap_or(0).to_string());
            }
            _ => {}
        }
        let known = || values.iter().map(|it| it.name.as_str());
        Err(CommandError::with_help(
            match name {
                "" => "`print` needs a value".to_owned(),
                name => format!("`{name}` was not recorded for this event"),
            },
            match (suggest(name, known()), values.is_empty()) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, true) => "the event has no values".to_owned(),
                (None, false) => {
                    let names: Vec<&str> = known().collect();
                    format!(
                        "the event has {}; info monitors shows the variables of properties",
                        names.join(", ")
                    )
                }
            },
        ))
    }

    /// `info events`: the recorded events, and their counts.
    pub(super) fn events(&self) -> Outcome {
        let mut views: Vec<RecordedEventView> = Vec::new();
        for (layout, count) in self.tape.layouts.iter().zip(self.tape.counts()) {
            let values: Vec<String> = Tape::names(layout).map(|it| it.to_string()).collect();
            let mut known = views.iter_mut();
            match known.find(|it| it.event == *layout.event && it.values == values) {
                Some(known) => known.count += count,
                None => views.push(RecordedEventView {
                    event: layout.event.to_string(),
                    values,
                    count,
                }),
            }
        }
        Outcome::RecordedEvents(views)
    }

    /// Returns the place of the present event.
    pub(super) fn location(&self) -> Result<Location, CommandError> {
        let nowhere = || {
            CommandError::with_help(
                "the location of this event was not recorded",
                "step goes to the next event",
            )
        };
        let event = self.present().ok_or_else(nowhere)?;
        let stop = self.offline.describe(0, event, StopReason::Step);
        stop.location.ok_or_else(nowhere)
    }

    fn source_of(&mut self, location: &Location) -> Option<SourceView> {
        let file = location.file.as_ref().map(PathBuf::from)?;
        let view = self
            .sources
            .around(&file, location.line?, LINES_AROUND, None);
        self.list_from = view
            .as_ref()
            .map(|it| (file, it.first_line + it.lines.len() as u32));
        view
    }

    /// `list`, `list N`: the source around the event, then the following lines.
    pub(super) fn list(&mut self, rest: &str) -> Result<Outcome, CommandError> {
        let wanted = crate::command_table::arguments::number(rest)?;
        let (file, first, current) = match (wanted, self.list_from.take()) {
            (None, Some((file, line))) => (file, line, None),
            (wanted, _) => {
                let location = self.location()?;
                let here = location.line.filter(|_| location.file.is_some());
                let line = here.ok_or_else(|| {
                    CommandError::new("there is no line information for this event")
                })?;
                let middle = wanted.map_or(line, |it| u32::try_from(it).unwrap_or(u32::MAX));
                let first = middle.saturating_sub(LINES_LISTED / 2).max(1);
                (location.file.unwrap_or_default().into(), first, Some(line))
            }
        };
        let view = self.sources.lines(&file, first, LINES_LISTED, None);
        let mut view = view.ok_or_else(|| no_source(&file))?;
        view.current = current
            .filter(|it| (view.first_line..view.first_line + view.lines.len() as u32).contains(it));
        self.list_from = Some((file, view.first_line + view.lines.len() as u32));
        Ok(Outcome::Source(view))
    }
}

fn no_source(file: &Path) -> CommandError {
    CommandError::with_help(
        format!("{} has no such line, or is not here", file.display()),
        "set substitute-path FROM TO sets where source files are now",
    )
}
