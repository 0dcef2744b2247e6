//! The point that a command has set, in a sentence.

use crate::page::Page;
use crate::tables;
use juror_view::{CodePlaceView, SetPointView};
use std::fmt::Write as _;

/// Writes a point that was set.
pub fn write(page: &mut Page, set: &SetPointView) {
    tables::write_message(page, &words(set));
}

fn words(set: &SetPointView) -> String {
    let point = &set.point;
    let number = point.number.unwrap_or(0);
    let written = &set.written;
    let temporary = if point.temporary { "temporary " } else { "" };
    let mut words = match point.kind {
        "watchpoint" => watchpoint(set, number),
        "catchpoint" => format!("{temporary}catchpoint {number}: {written}"),
        "recorded event" => format!("breakpoint {number}: {}", point.for_what),
        "hardware breakpoint" => {
            let place = set.place.as_ref().map_or_else(String::new, place_words);
            format!("{temporary}hardware breakpoint {number} at {place}")
        }
        _ => breakpoint(set, number),
    };
    if let Some(line) = set.moved_to_line {
        words += &format!(" (no code at this line; line {line} is the next with code)");
    }
    for function in &set.functions {
        words += &format!("\n  {}", place_words(function));
    }
    if set.functions_left_out > 0 {
        let more = set.functions_left_out;
        words += &format!("\n  and {more} more; info breakpoints shows all");
    }
    for remark in &set.remarks {
        words.push('\n');
        words += remark;
    }
    words
}

fn breakpoint(set: &SetPointView, number: u32) -> String {
    let kind = match (set.prints, set.point.temporary) {
        (true, _) => "dprintf breakpoint",
        (false, true) => "temporary breakpoint",
        (false, false) => "breakpoint",
    };
    let written = &set.written;
    match (&set.place, set.address_count) {
        (Some(place), _) => format!("{kind} {number} at {}", place_words(place)),
        (None, 0) => {
            format!("{kind} {number} at {written} is pending: no loaded module has this location")
        }
        (None, several) => format!("{kind} {number} at {written} ({several} locations)"),
    }
}

fn watchpoint(set: &SetPointView, number: u32) -> String {
    let tier = set.point.passage.as_deref().unwrap_or_default();
    let mut words = format!("watchpoint {number} on {} ({tier})", set.written);
    if let Some(process) = set.point.process {
        words += &format!(" in process {process}");
    }
    if let Some(why) = &set.value_error {
        words += &format!("; {why} now");
    }
    words
}

/// Returns a place in words: `0x401136: push, inlined into main, queue.c:23`.
fn place_words(place: &CodePlaceView) -> String {
    let mut words = format!("{:#x}", place.address);
    if let Some(function) = &place.function {
        let _ = write!(words, ": {function}");
    }
    if let Some(caller) = &place.caller {
        let _ = write!(words, ", inlined into {caller}");
    }
    if let Some((file, line)) = place.file.as_ref().zip(place.line) {
        let _ = write!(words, ", {file}:{line}");
    }
    words
}

#[cfg(any(test, feature = "samples"))]
pub(crate) mod samples {
    use super::*;
    use juror_view::PointView;

    /// A breakpoint at a line.
    pub(crate) fn breakpoint() -> SetPointView {
        SetPointView {
            point: PointView {
                number: Some(1),
                kind: "breakpoint",
                ..PointView::default()
            },
            written: "queue.c:22".into(),
            place: Some(CodePlaceView {
                address: 0x40_1136,
                function: Some("queue_push".into()),
                caller: None,
                file: Some("queue.c".into()),
                line: Some(23),
            }),
            moved_to_line: Some(23),
            ..SetPointView::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_view::PointView;

    fn point(kind: &'static str, temporary: bool) -> SetPointView {
        SetPointView {
            point: PointView {
                number: Some(3),
                kind,
                temporary,
                passage: Some("hardware".into()),
                for_what: "push".into(),
                ..PointView::default()
            },
            written: "push".into(),
            ..SetPointView::default()
        }
    }

    #[test]
    fn a_point_is_named_by_its_kind() {
        for (kind, temporary, expected) in [
            (
                "breakpoint",
                false,
                "breakpoint 3 at push is pending: no loaded module has this location",
            ),
            (
                "breakpoint",
                true,
                "temporary breakpoint 3 at push is pending: no loaded module has this location",
            ),
            ("watchpoint", false, "watchpoint 3 on push (hardware)"),
            ("catchpoint", true, "temporary catchpoint 3: push"),
            ("recorded event", false, "breakpoint 3: push"),
            ("hardware breakpoint", false, "hardware breakpoint 3 at "),
        ] {
            assert_eq!(words(&point(kind, temporary)), expected);
        }
    }

    #[test]
    fn a_breakpoint_at_a_moved_line_says_so() {
        assert_eq!(
            words(&samples::breakpoint()),
            "breakpoint 1 at 0x401136: queue_push, queue.c:23 (no code at this line; line 23 is \
             the next with code)"
        );
    }

    #[test]
    fn several_functions_are_listed() {
        let mut set = point("breakpoint", false);
        set.address_count = 2;
        set.functions = vec![CodePlaceView {
            address: 16,
            function: Some("push(int)".into()),
            caller: Some("main".into()),
            file: Some("a.c".into()),
            line: Some(3),
        }];
        set.functions_left_out = 1;
        set.remarks = vec!["a remark".into()];
        assert_eq!(
            words(&set),
            "breakpoint 3 at push (2 locations)\n  0x10: push(int), inlined into main, a.c:3\n  \
             and 1 more; info breakpoints shows all\na remark"
        );
    }
}
