//! `display`: expressions that are shown at every stop.
//!
//! A display shows; it never runs the program, so it calls none of its
//! functions. One that has no value at a stop says why there, and is asked
//! again at the next.

use crate::options::CommandError;
use crate::convenience::convenience;
use crate::print::{read, split_format};
use crate::session::Session;
use crate::view::{DisplayView, Outcome};
use juror_instrument::expression::evaluate;
use juror_instrument::format::{Radix, format, pretty};
use juror_instrument::frames::Frame;
use juror_instrument::scope::FrameScope;
use juror_language::Expression;

/// The displays, in the order in which they were made.
#[derive(Debug, Default)]
pub(crate) struct Displays {
    displays: Vec<Display>,
    last_number: u32,
}

#[derive(Debug)]
struct Display {
    number: u32,
    /// Its words, with its format.
    text: String,
    radix: Radix,
    expression: Expression,
}

impl Session {
    /// `display`, `display EXPRESSION`, `display/x EXPRESSION`
    pub(crate) fn display(&mut self, text: &str) -> Result<Outcome, CommandError> {
        let level = self.selection.level;
        if text.is_empty() {
            if self.displays.displays.is_empty() {
                return Ok(Outcome::Message("there are no displays".to_owned()));
            }
            let frames = self.frames_if_any()?;
            return Ok(Outcome::Displays(self.displayed(&frames, level)));
        }
        let (radix, words) = split_format(text)?;
        let expression = read(words)?;
        if expression.calls_functions() {
            return Err(CommandError::with_help(
                "a display calls no functions: it would run the program at every stop",
                "show it now with print, or at one breakpoint with commands",
            ));
        }
        let format = text.strip_suffix(words).unwrap_or("").trim();
        self.displays.last_number += 1;
        self.displays.displays.push(Display {
            number: self.displays.last_number,
            text: format!("{format} {words}").trim().to_owned(),
            radix,
            expression,
        });
        let frames = self.frames_if_any()?;
        let views = self.displayed(&frames, level);
        Ok(Outcome::Displays(views.into_iter().rev().take(1).collect()))
    }

    /// `undisplay`, `undisplay 2`, `delete display 2`
    pub(crate) fn undisplay(&mut self, text: &str) -> Result<Outcome, CommandError> {
        if text.is_empty() {
            self.displays.displays.clear();
            return Ok(Outcome::Done);
        }
        for word in text.split_whitespace() {
            let number = word.parse::<u32>().ok();
            let place = self
                .displays
                .displays
                .iter()
                .position(|display| Some(display.number) == number);
            let place = place.ok_or_else(|| {
                CommandError::with_help(
                    format!("there is no display `{word}`"),
                    "info display shows them",
                )
            })?;
            self.displays.displays.remove(place);
        }
        Ok(Outcome::Done)
    }

    fn frames_if_any(&mut self) -> Result<Vec<Frame>, CommandError> {
        Ok(match self.has_begun() && self.program.is_some() {
            true => self.frames()?.to_vec(),
            false => Vec::new(),
        })
    }

    /// What the displays show in a frame.
    pub(crate) fn displayed(&self, frames: &[Frame], level: usize) -> Vec<DisplayView> {
        let shown = |display: &Display| -> Result<String, String> {
            let program = self.program.as_ref().ok_or("the program is not running")?;
            let values = |name: &str| convenience(&self.values, name);
            let scope = FrameScope {
                program,
                frames,
                level,
                convenience: &values,
            };
            let value = evaluate(&display.expression, &scope).map_err(|error| error.message)?;
            let shown = format(&value, program, program, display.radix);
            Ok(match self.settings.is_pretty {
                true => pretty(&shown),
                false => shown,
            })
        };
        let views = self.displays.displays.iter().map(|display| {
            let (value, error) = match shown(display) {
                Ok(value) => (Some(value), None),
                Err(error) => (None, Some(error)),
            };
            DisplayView {
                number: display.number,
                expression: display.text.clone(),
                value,
                error,
            }
        });
        views.collect()
    }
}
