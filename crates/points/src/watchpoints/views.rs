//! Views of watchpoints for `info watchpoints`: the event of each, its method, and its memory or
//! call.

pub use crate::point::PointKind;
use crate::watchpoints::{WatchKind, Watchpoint, Watchpoints};
use juror_debuggee::{ThreadId, WatchTier};
use juror_fault::CommandError;
use juror_instrument::watched::Reading;
use juror_program::locations;
use juror_program::program::Program;
use juror_values::format::{Radix, format};
use juror_view::{Location, PointLocation, PointView, WatchedAccess};

impl Watchpoints {
    /// Returns the views for `info watchpoints`.
    pub fn views(&self, program: Option<&Program>) -> Vec<PointView> {
        let tier = |watchpoint: &Watchpoint| {
            if watchpoint.followed.is_some() {
                return Some("steps");
            }
            Some(match program?.debuggee.watch_tier(watchpoint.id?)? {
                WatchTier::Hardware => "hardware",
                WatchTier::Page => "page",
                WatchTier::Stepping => "stepping",
            })
        };
        let location = |watchpoint: &Watchpoint, place, number| PointLocation {
            place,
            number,
            enabled: watchpoint.point.enabled,
            hits: watchpoint.point.hits,
            passage: tier(watchpoint).map(str::to_owned),
        };
        let at = |address| Location {
            address,
            ..Location::default()
        };
        let places = |watchpoint: &Watchpoint| -> Vec<PointLocation> {
            let Some(program) = program else {
                return Vec::new();
            };
            if watchpoint.followed.is_some() {
                let start = watchpoint.home.as_ref().and_then(|home| home.start);
                let call = start.map(|start| locations::location(program, start));
                let call = call.filter(|_| watchpoint.point.enabled);
                return call
                    .map(|call| location(watchpoint, call, 1))
                    .into_iter()
                    .collect();
            }
            let ranges = watchpoint.seen.ranges.iter();
            ranges
                .filter(|_| watchpoint.id.is_some())
                .zip(1..)
                .map(|(range, number)| location(watchpoint, at(range.start), number))
                .collect()
        };
        let view = |watchpoint: &Watchpoint| PointView {
            locations: places(watchpoint),
            passage: tier(watchpoint).map(str::to_owned),
            ..watchpoint
                .point
                .view(PointKind::Watchpoint, &watchpoint.words())
        };
        self.list.iter().map(view).collect()
    }
}

impl Watchpoint {
    /// Returns the view of an access by a thread, at an instruction if it is known; `before` is the
    /// value that a store replaced.
    ///
    /// # Errors
    /// The registers of the thread cannot be read.
    pub fn access_view(
        &self,
        program: &Program,
        thread: ThreadId,
        before: Option<&Reading>,
        instruction: Option<u64>,
    ) -> Result<WatchedAccess, CommandError> {
        let place = match instruction {
            Some(at) => locations::location(program, at),
            None => locations::location(program, program.registers(thread)?.instruction_pointer()),
        };
        let access = match before {
            _ if self.kind == WatchKind::Change => "change",
            Some(_) => "write",
            None => "read",
        };
        Ok(WatchedAccess {
            number: self.point.number,
            expression: self.point.words(&self.text),
            access: access.to_owned(),
            before: before.map(|before| value_text(program, before)),
            value: value_text(program, &self.seen),
            place,
            system_call: None,
        })
    }
}

/// Returns a value as the user sees it.
pub fn value_text(program: &Program, reading: &Reading) -> String {
    match &reading.value {
        Ok(value) => format(value, program, program, Radix::Natural),
        Err(why) => std::format!("<{why}>"),
    }
}
