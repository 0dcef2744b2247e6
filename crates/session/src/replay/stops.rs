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
use juror_view::{PointView, SetPointView, StopReason};

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
    /// Sets the breakpoint that is written as `EVENT if CONDITION`, or as `FILE:LINE`.
    pub fn set(
        &mut self,
        words: &str,
        is_temporary: bool,
        tape: &Tape,
    ) -> Result<SetPointView, CommandError> {
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
            Some(_) => return Err(no_common_condition()),
            None => at_event(text, condition.as_deref(), tape)?,
        };
        let text = match &what {
            What::Event { .. } if is_named(text, tape) => text.to_owned(),
            What::Event { monitor, .. } => {
                let event = monitor.property().events.first();
                event.map_or_else(|| text.to_owned(), event_words)
            }
            What::Line { .. } => text.to_owned(),
        };
        Ok(self.add(text, condition, what, is_temporary))
    }

    /// Sets a breakpoint at a line of a file, given by its path.
    pub fn set_at_line(
        &mut self,
        file: &str,
        line: u32,
        condition: Option<&str>,
        tape: &Tape,
    ) -> Result<SetPointView, CommandError> {
        if condition.is_some() {
            return Err(no_common_condition());
        }
        let what = at_line(file, line, tape)?;
        Ok(self.add(format!("{file}:{line}"), None, what, false))
    }

    /// Sets the condition of a breakpoint, or clears it.
    pub fn set_condition(
        &mut self,
        number: u32,
        condition: Option<&str>,
        tape: &Tape,
    ) -> Result<(), CommandError> {
        let mut points = self.points.iter_mut();
        let point = points.find(|it| it.number == number);
        let point = point.ok_or_else(|| unknown(&number.to_string()))?;
        match &point.what {
            What::Line { .. } if condition.is_some() => return Err(no_common_condition()),
            What::Line { .. } => {}
            What::Event { .. } => point.what = at_event(&point.text, condition, tape)?,
        }
        point.condition = condition.map(str::to_owned);
        Ok(())
    }

    /// Enables a breakpoint.
    pub fn enable(&mut self, number: u32) -> Result<(), CommandError> {
        self.change(&number.to_string(), Change::Enable(true))
    }

    /// Deletes breakpoints by number.
    pub fn delete(&mut self, numbers: &[u32]) {
        self.points.retain(|it| !numbers.contains(&it.number));
    }

    /// Adds a breakpoint with the next number.
    fn add(
        &mut self,
        text: String,
        condition: Option<String>,
        what: What,
        is_temporary: bool,
    ) -> SetPointView {
        self.count += 1;
        let point = Point {
            number: self.count,
            text,
            condition,
            what,
            is_enabled: true,
            is_temporary,
            hits: 0,
        };
        let set = SetPointView {
            point: point.view(),
            written: point.text.clone(),
            ..SetPointView::default()
        };
        self.points.push(point);
        set
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
            numbers.push(known.ok_or_else(|| unknown(word))?);
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
        self.points.iter().map(Point::view).collect()
    }
}

impl Point {
    fn view(&self) -> PointView {
        PointView {
            number: Some(self.number),
            owner: "developer".to_owned(),
            kind: "recorded event",
            for_what: self.text.clone(),
            enabled: self.is_enabled,
            temporary: self.is_temporary,
            hits: self.hits,
            condition: self.condition.clone(),
            ..PointView::default()
        }
    }
}

/// Returns the error for a condition at a line.
fn no_common_condition() -> CommandError {
    CommandError::with_help(
        "the events of this line are of several kinds, and cannot share a condition",
        "name the event: break push if job > 3",
    )
}

/// Returns the error for the number of a breakpoint that does not exist.
fn unknown(number: &str) -> CommandError {
    CommandError::with_help(
        format!("there is no breakpoint {number}"),
        "see: info breakpoints",
    )
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
