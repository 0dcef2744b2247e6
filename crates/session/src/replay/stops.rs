//! Breakpoints in a recording: at an event, with a condition over its values, or at a line that
//! events came from.
//!
//! An event with its condition is a property of one state, parsed, checked and evaluated as other
//! properties are.
//!
//! **Invariant**: a condition that cannot be evaluated stops with the reason; it is never false.

mod written;

use crate::replay::stops::written::{at_event, at_line, is_named, line_of};
use crate::replay::tape::Tape;
use juror_event::Value;
use juror_fault::CommandError;
use juror_monitor::{Monitor, Occurrence};
use juror_trace::{Binding, NO_PLACE, event_words};
use juror_view::{PointView, StopReason};

/// The event of a breakpoint.
#[derive(Debug)]
pub(super) enum What {
    /// An event that fulfils a condition.
    Event {
        monitor: Box<Monitor>,
        binding: Binding,
    },
    /// Any event from these places.
    Line { places: Vec<bool> },
}

/// A breakpoint of the user.
#[derive(Debug)]
struct Point {
    number: u32,
    /// Its text, without its condition.
    text: String,
    condition: Option<String>,
    what: What,
    is_enabled: bool,
    is_temporary: bool,
    hits: u64,
}

/// All breakpoints.
#[derive(Debug, Default)]
pub(super) struct Stops {
    points: Vec<Point>,
    count: u32,
}

impl Stops {
    /// Sets one; returns the message.
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
                "`break` needs an event or a line",
                "for example: break push, break after push if ret == 0, break main.c:30; info \
                 events lists the recorded events",
            ));
        }
        let what = match line_of(text) {
            Some((file, line)) if condition.is_none() => at_line(file, line, tape)?,
            Some(_) => {
                return Err(CommandError::with_help(
                    "the events of this line are of several kinds, and cannot share a condition",
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

    /// Checks all for an event; returns the reason to stop, if any. Hits are not counted when going
    /// back.
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

/// A change of breakpoints.
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
                    found.fill(&batch.given(event), u64::MAX, &mut captures);
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
