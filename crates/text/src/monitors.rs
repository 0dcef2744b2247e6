//! Monitors with their slices: states, verdicts, variables.

use crate::columns::{self, Cell};
use crate::escape::safe;
use crate::locations::named_values;
use crate::page::{BAD, GOOD, NAME, OPEN, PLAIN, Page, QUIET, STRONG};
use crate::violation_counts;
use anstyle::Style;
use juror_event::Verdict;
use juror_view::{MonitorView, SliceView};

/// Writes monitors with their slices.
pub fn write(page: &mut Page, monitors: &[MonitorView]) {
    if monitors.is_empty() {
        page.push("No monitors: start juror with --property FILE.\n");
    }
    for monitor in monitors {
        page.gap();
        write_monitor(page, monitor);
    }
}

/// Returns the style of a verdict.
pub fn style_of(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Satisfied => GOOD,
        Verdict::PresumablySatisfied => PLAIN,
        Verdict::PresumablyViolated => OPEN,
        Verdict::Violated => BAD,
    }
}

fn write_monitor(page: &mut Page, monitor: &MonitorView) {
    let style = style_of(monitor.verdict);
    write!(
        page,
        "{STRONG}{}{STRONG:#}  {style}{}{style:#}",
        safe(&monitor.property),
        monitor.verdict
    );
    if let Some(description) = &monitor.description {
        write!(page, "  {QUIET}{}{QUIET:#}", safe(description));
    }
    page.push("\n");
    write_events(page, "needs", &monitor.needed);
    write_events(page, "ignores", &monitor.not_needed);
    let counts = &monitor.violation_counts;
    let violations = counts.iter().map(|it| it.count).sum();
    if violations > 1 {
        writeln!(
            page,
            "  {BAD}{}{BAD:#}",
            violation_counts::words(violations, counts)
        );
        violation_counts::write(page, 4, counts);
    }
    let rows: Vec<Vec<Cell>> = monitor.slices.iter().map(row).collect();
    columns::write(page, 2, &["slice", "state", "verdict", "variables"], &rows);
    let hidden = monitor.slice_count.saturating_sub(monitor.slices.len());
    if hidden > 0 {
        writeln!(page, "  {QUIET}… {hidden} more slices{QUIET:#}");
    }
}

fn write_events(page: &mut Page, word: &str, events: &[String]) {
    if !events.is_empty() {
        let names: Vec<_> = events.iter().map(|event| safe(event)).collect();
        writeln!(page, "  {QUIET}{word:<8}{QUIET:#}{}", names.join(", "));
    }
}

fn row(slice: &SliceView) -> Vec<Cell> {
    let binding = match slice.binding.as_slice() {
        [] => Cell::new("(nothing bound)", QUIET),
        bound => named_values(bound).into(),
    };
    vec![
        binding,
        Cell::new(safe(&slice.state), NAME),
        Cell::new(slice.verdict.to_string(), style_of(slice.verdict)),
        named_values(&slice.variables).into(),
    ]
}

#[cfg(any(test, feature = "samples"))]
pub fn sample() -> MonitorView {
    use crate::stops::samples::{named, violation_count};
    use juror_event::Value;
    MonitorView {
        property: "queue_bounds".into(),
        description: Some("a queue never overflows".into()),
        verdict: Verdict::Violated,
        slices: vec![
            SliceView {
                binding: vec![],
                state: "init".into(),
                verdict: Verdict::PresumablySatisfied,
                variables: vec![named("count", Value::Int(0))],
            },
            SliceView {
                binding: vec![named("queue", Value::Address(0x4052a0))],
                state: "overflow".into(),
                verdict: Verdict::Violated,
                variables: vec![named("count", Value::Int(8))],
            },
        ],
        slice_count: 42,
        violation_counts: vec![violation_count(3)],
        needed: vec!["push".into(), "pop".into()],
        not_needed: vec!["new".into()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::plain;

    #[test]
    fn a_monitor_shows_its_slices() {
        assert_eq!(
            plain(|page| write(page, &[sample()])),
            "queue_bounds  violated  a queue never overflows
  needs   push, pop
  ignores new
  3 violations at 1 location
    3 times  before queue_push  main.c:17  ready → overflow  first: queue = 0x4052a0, thread 4711, event 9
  slice             state     verdict               variables
  (nothing bound)   init      presumably satisfied  count = 0
  queue = 0x4052a0  overflow  violated              count = 8
  … 40 more slices
"
        );
    }

    #[test]
    fn no_monitors_are_explained() {
        assert_eq!(
            plain(|page| write(page, &[])),
            "No monitors: start juror with --property FILE.\n"
        );
    }
}
