//! The settings of a recording, and what each of its stops shows after `set context`.

use crate::command_table::setting_names::{Setting, meant, setting_value};
use crate::commands::set::presented;
use crate::replay::RecordedRun;
use crate::state::presentation::parse_context;
use juror_fault::CommandError;
use juror_view::{ContextPart, ContextView, Outcome, RecordedStop};
use std::path::PathBuf;

/// Returns whether events are recorded with a part of the context of a stop.
fn is_recorded(part: ContextPart) -> bool {
    !matches!(part, ContextPart::Backtrace | ContextPart::Registers)
}

/// Returns the error of a change to what was recorded.
pub(super) fn unchangeable() -> CommandError {
    CommandError::new("a recording cannot be changed")
}

/// Parses the value of `set context`; `on` chooses the recorded parts of the usual ones.
fn context(value: &str) -> Result<Vec<ContextPart>, CommandError> {
    let mut parts = parse_context(value)?;
    if matches!(value, "" | "on") {
        parts.retain(|part| is_recorded(*part));
    }
    match parts.iter().find(|part| !is_recorded(**part)) {
        Some(part) => Err(CommandError::with_help(
            format!("a recording has no {}", part.word()),
            "set context on, off, or a list of source, locals and monitors",
        )),
        None => Ok(parts),
    }
}

impl RecordedRun {
    /// `set context`, `set substitute-path FROM TO`, and the settings of the terminal.
    pub(super) fn set(&mut self, rest: &str) -> Result<Outcome, CommandError> {
        match meant(rest) {
            Some((_, Setting::Context)) => {
                self.presentation.context = context(setting_value(rest))?;
                return Ok(Outcome::Done);
            }
            Some((_, setting)) if presented::is_about_terminal(setting) => {
                let value = setting_value(rest);
                presented::set(&mut self.presentation, &mut self.sources, setting, value)?;
                return Ok(Outcome::Done);
            }
            _ => {}
        }
        let words: Vec<&str> = rest.split_whitespace().collect();
        match words.as_slice() {
            ["substitute-path", from, to] => {
                self.sources
                    .substitute(PathBuf::from(from), Some(PathBuf::from(to)));
                Ok(Outcome::Done)
            }
            _ => Err(CommandError::with_help(
                unchangeable().message,
                "set substitute-path FROM TO, context, height, pagination, style or width",
            )),
        }
    }

    /// Returns the parts that the user wants to see at a stop. A part that there is not here is
    /// left out.
    pub(super) fn context_of(&self, stop: &RecordedStop) -> Vec<ContextView> {
        let shown = |part: ContextPart| match part {
            ContextPart::Source => stop.source.is_some().then_some(Outcome::Done),
            ContextPart::Locals => self.variables().ok(),
            ContextPart::Monitors => self.monitors("").ok(),
            ContextPart::Backtrace | ContextPart::Registers => None,
        };
        let is_something = |shown: &Outcome| !matches!(shown, Outcome::Empty(_));
        let parts = self.presentation.context.iter();
        parts
            .filter_map(|&part| {
                let shown = shown(part).filter(is_something)?;
                Some(ContextView { part, shown })
            })
            .collect()
    }
}
