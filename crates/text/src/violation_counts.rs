//! Counts of violations: how many of each kind at each location, and the first of
//! them.

use crate::columns::{self, Cell};
use crate::escape::safe;
use crate::locations::{named_values, short_location};
use crate::page::{BAD, NAME, PLAIN, Page, QUIET};
use juror_view::{Location, ViolationCount};

/// Returns `1204 violations at 2 locations`, or `1 violation`.
pub fn words(violations: u64, counts: &[ViolationCount]) -> String {
    let located = counts.iter().filter(|it| location(it).is_some());
    let locations = located.count();
    match (violations, locations) {
        (1, _) => "1 violation".to_owned(),
        (_, 0) => format!("{violations} violations"),
        (_, 1) => format!("{violations} violations at 1 location"),
        _ => format!("{violations} violations at {locations} locations"),
    }
}

/// Writes a line for each kind at each location. Writes nothing for a single
/// violation.
pub fn write(page: &mut Page, indent: usize, counts: &[ViolationCount]) {
    let total: u64 = counts.iter().map(|it| it.count).sum();
    if total < 2 {
        return;
    }
    let rows: Vec<Vec<Cell>> = counts.iter().map(row).collect();
    columns::write(page, indent, &[], &rows);
}

fn row(kind: &ViolationCount) -> Vec<Cell> {
    let times = match kind.count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    };
    let what = match (&kind.what, kind.at_end) {
        (Some(what), _) => safe(what).into_owned(),
        (None, true) => "at the end of the run".to_owned(),
        (None, false) if kind.from.is_empty() => "in other ways".to_owned(),
        (None, false) => "by a deadline that passed".to_owned(),
    };
    let steps = if kind.from.is_empty() {
        String::new()
    } else {
        format!("{} → {}", safe(&kind.from), safe(&kind.to))
    };
    vec![
        Cell::new(times, BAD),
        Cell::new(what, NAME),
        location(kind)
            .map_or_else(String::new, short_location)
            .into(),
        Cell::new(steps, PLAIN),
        Cell::new(first(kind), QUIET),
    ]
}

/// Returns where the violations happened, if the trace has it.
fn location(kind: &ViolationCount) -> Option<&Location> {
    let location = kind.location.as_ref();
    location.filter(|location| **location != Location::default())
}

/// Returns `first: queue = 0x4052a0, thread 1, event 27`.
fn first(kind: &ViolationCount) -> String {
    let mut facts = Vec::new();
    if !kind.slice.is_empty() {
        facts.push(named_values(&kind.slice));
    }
    let thread = kind.thread.filter(|thread| *thread != 0);
    facts.extend(thread.map(|thread| format!("thread {thread}")));
    facts.extend(kind.sequence.map(|sequence| format!("event {sequence}")));
    if facts.is_empty() {
        String::new()
    } else {
        format!("first: {}", facts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::plain;
    use crate::stops::samples::violation_count;

    #[test]
    fn what_a_trace_does_not_have_is_left_out() {
        let mut count = violation_count(7);
        count.location = Some(Location::default());
        count.thread = Some(0);
        let counts = [count];
        assert_eq!(words(7, &counts), "7 violations");
        let shown = plain(|page| write(page, 2, &counts));
        assert_eq!(
            shown,
            "  7 times  before queue_push  ready → overflow  first: queue = 0x4052a0, event 9\n"
        );
    }

    #[test]
    fn each_kind_has_its_count_and_its_first() {
        let one = violation_count(1203);
        let mut other = violation_count(1);
        other.slice.clear();
        other.location = None;
        other.event = None;
        other.what = None;
        let end = ViolationCount {
            count: 2,
            at_end: true,
            ..ViolationCount::default()
        };
        let counts = [one, other, end];
        assert_eq!(words(1206, &counts), "1206 violations at 1 location");
        assert_eq!(
            plain(|page| write(page, 2, &counts)),
            "  1203 times  before queue_push          main.c:17  ready → overflow  \
             first: queue = 0x4052a0, thread 4711, event 9
  once        by a deadline that passed             ready → overflow  first: thread 4711, event 9
  2 times     at the end of the run
"
        );
    }

    #[test]
    fn one_violation_needs_no_count() {
        let one = [violation_count(1)];
        assert_eq!(words(1, &one), "1 violation");
        assert_eq!(plain(|page| write(page, 2, &one)), "");
    }
}
