//! Watchpoints as `info watchpoints` shows them: what each waits for, how it is
//! carried out, and where its memory or its call is.

use super::{Watchpoint, Watchpoints};
use crate::points::PointKind;
use crate::report;
use crate::view::{Location, PointLocation, PointView};
use juror_debuggee::WatchTier;
use juror_program::program::Program;

impl Watchpoints {
    /// As `info watchpoints` shows them.
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
                let call = start.map(|start| report::location(program, start));
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
