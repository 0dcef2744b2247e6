//! The path of a slice through the states of its property.

use crate::columns::{self, Cell};
use crate::escape::{clip, safe};
use crate::event_phrases;
use crate::locations::{named_values, short_location};
use crate::page::{BAD, NAME, PLAIN, Page, QUIET};
use juror_view::{Location, PathStep, ViolationView};

/// Paths of at most this number of steps are shown whole.
const WHOLE_STEPS: usize = 12;
/// The number of first steps that are shown of a longer path.
const FIRST_STEPS: usize = 4;
/// The number of last steps that are shown of a longer path.
const LAST_STEPS: usize = 6;

/// The width of the labels `slice`, `path`, `where` with their margins, in columns.
const LABEL_COLUMNS: usize = 10;

/// Writes the slice, the path to its state, and its variables.
pub fn write(page: &mut Page, view: &ViolationView) {
    if !view.slice.is_empty() {
        label(page, "slice");
        page.push(&named_values(&view.slice));
        page.end_line(LABEL_COLUMNS);
    }
    if !view.path.is_empty() || view.forgotten {
        write_steps(page, view);
    }
    if !view.variables.is_empty() {
        label(page, "where");
        page.push(&named_values(&view.variables));
        page.end_line(LABEL_COLUMNS);
    }
    for note in &view.notes {
        label(page, "note");
        page.push(note);
        page.end_line(LABEL_COLUMNS);
    }
}

fn label(page: &mut Page, word: &str) {
    write!(page, "  {QUIET}{word:<8}{QUIET:#}");
}

fn write_steps(page: &mut Page, view: &ViolationView) {
    let steps = view.path.as_slice();
    let mut shown = Page::default().with_width(page.width());
    if view.forgotten {
        let remark = "(earlier steps are no longer kept)";
        columns::write(
            &mut shown,
            LABEL_COLUMNS,
            &[],
            &[vec![Cell::new(remark, QUIET)]],
        );
    }
    let row = |(index, step): (usize, &PathStep)| {
        let last = index + 1 == steps.len();
        row(step, last && step.to == view.state && !view.at_end)
    };
    let mut rows: Vec<Vec<Cell>>;
    let numbered = steps.iter().enumerate();
    if steps.len() <= WHOLE_STEPS {
        rows = numbered.map(row).collect();
    } else {
        let hidden = steps.len() - FIRST_STEPS - LAST_STEPS;
        rows = numbered.clone().take(FIRST_STEPS).map(row).collect();
        rows.push(vec![Cell::new(format!("… {hidden} more"), QUIET)]);
        rows.extend(numbered.skip(FIRST_STEPS + hidden).map(row));
    }
    columns::write(&mut shown, LABEL_COLUMNS, &[], &rows);
    // The label is written into the margin of the first row.
    let text = shown.into_text();
    label(page, "path");
    page.push(text.get(LABEL_COLUMNS..).unwrap_or(""));
}

fn row(step: &PathStep, is_violation: bool) -> Vec<Cell> {
    let event = format!("--{}({})-->", safe(&step.event), carried(step));
    let to = if is_violation { BAD } else { NAME };
    let repeated = match step.repeated {
        0 | 1 => String::new(),
        count => format!("× {count}"),
    };
    vec![
        Cell::new(safe(&step.from), NAME),
        Cell::new(event, PLAIN),
        Cell::new(safe(&step.to), to),
        place(&step.location).into(),
        Cell::new(thread(step.thread), QUIET),
        repeated.into(),
    ]
}

/// Returns the thread; empty if the trace does not have it.
fn thread(number: u32) -> String {
    match number {
        0 => String::new(),
        number => format!("thread {number}"),
    }
}

/// Returns the location of the call; empty if the trace does not have it.
fn place(location: &Location) -> String {
    if *location == Location::default() {
        String::new()
    } else {
        clip(&short_location(location), 40).into_owned()
    }
}

/// Returns the values of an event; for an access to memory, also the values before and
/// after it.
fn carried(step: &PathStep) -> String {
    let values = named_values(&step.values);
    let Some(stored) = &step.stored else {
        return values;
    };
    let change = match &stored.before {
        Some(before) => format!("{} → {}", safe_value(before), safe_value(&stored.after)),
        None => safe_value(&stored.after),
    };
    let subject = event_phrases::subject(&step.what);
    let separator = if values.is_empty() { "" } else { ", " };
    format!("{}: {change}{separator}{values}", safe(subject))
}

fn safe_value(value: &juror_event::Value) -> String {
    safe(&value.to_string()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::plain;
    use crate::stops::samples::{push, violation};

    #[test]
    fn a_short_path_is_shown_whole() {
        assert_eq!(
            plain(|page| write(page, &violation())),
            "  slice   queue = 0x4052a0
  path    init   --new(size = 8, queue = 0x4052a0)-->  ready     main.c:12  thread 4711
          ready  --push(queue = 0x4052a0)-->           ready     main.c:17  thread 4711  × 8
          ready  --push(queue = 0x4052a0)-->           overflow  main.c:17  thread 4711
  where   capacity = 8, count = 8\n"
        );
    }

    #[test]
    fn a_long_path_shows_its_first_and_last_steps() {
        let mut view = violation();
        view.path = (1..=50).map(|line| push(line, "ready", 1)).collect();
        view.forgotten = true;
        let text = plain(|page| write(page, &view));
        assert_eq!(text.lines().count(), 1 + 1 + 4 + 1 + 6 + 1);
        assert!(text.contains("  path    (earlier steps are no longer kept)\n"));
        assert!(text.contains("\n          … 40 more\n"));
        assert!(text.contains("main.c:4 ") && !text.contains("main.c:5 "));
        assert!(text.contains("main.c:45 ") && !text.contains("main.c:44 "));
    }

    #[test]
    fn an_access_shows_the_values_before_and_after_it() {
        let stored = |before: Option<i128>, values: bool| {
            let mut step = push(1, "ready", 1);
            step.what = "write total".into();
            if !values {
                step.values.clear();
            }
            step.stored = Some(juror_view::StoredValue {
                before: before.map(juror_event::Value::Int),
                after: juror_event::Value::Int(4),
            });
            carried(&step)
        };
        assert_eq!(stored(Some(3), true), "total: 3 → 4, queue = 0x4052a0");
        assert_eq!(stored(Some(3), false), "total: 3 → 4");
        assert_eq!(stored(None, false), "total: 4");
    }

    #[test]
    fn an_empty_path_is_left_out() {
        let mut view = violation();
        view.path.clear();
        view.slice.clear();
        assert_eq!(
            plain(|page| write(page, &view)),
            "  where   capacity = 8, count = 8\n"
        );
    }
}
