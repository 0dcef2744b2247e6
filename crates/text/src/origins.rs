//! The origins of a value: a row for each step.

use crate::columns::{self, Cell};
use crate::escape::{clip, safe, safe_source};
use crate::locations::short_location;
use crate::page::{PLAIN, Page, QUIET, STRONG};
use juror_view::{OriginCallView, OriginKind, OriginStepView, OriginsView};

/// The indent of the sources of a value with several.
const INDENT: usize = 2;

/// The width limit for the name of a function.
const FUNCTION_COLUMNS: usize = 32;

/// Writes the value, the steps, and whether there are more.
pub fn write(page: &mut Page, origins: &OriginsView) {
    let OriginsView {
        expression,
        value,
        steps,
        is_cut,
    } = origins;
    writeln!(
        page,
        "{STRONG}{}{STRONG:#} = {}",
        safe(expression),
        safe(value)
    );
    let rows: Vec<Vec<Cell>> = steps.iter().map(row).collect();
    columns::write(page, 0, &["step", "value", "from", "where"], &rows);
    if *is_cut {
        let words =
            "there are more: go to the last step by its number (why N), and ask there again";
        writeln!(page, "{QUIET}{words}{QUIET:#}");
    }
}

fn row(step: &OriginStepView) -> Vec<Cell> {
    let mut value = " ".repeat(step.depth as usize * INDENT);
    match (&step.name, &step.value) {
        (Some(name), Some(number)) => value += &format!("{} = {}", safe(name), safe(number)),
        (Some(name), None) => value += &safe(name),
        (None, Some(number)) => value += &safe(number),
        (None, None) => {}
    }
    let is_end = !matches!(
        step.origin,
        OriginKind::Written | OriginKind::Copied | OriginKind::Computed
    );
    let style = if is_end { STRONG } else { PLAIN };
    vec![
        Cell::new(step.number.to_string(), STRONG),
        Cell::from(value),
        Cell::new(source(step), style),
        Cell::new(place(step), QUIET),
    ]
}

/// Returns what the value is from: the source line, or words.
fn source(step: &OriginStepView) -> String {
    let line = step
        .source
        .as_deref()
        .map(|line| safe_source(line).into_owned());
    let remark = step
        .remark
        .as_deref()
        .map(|remark| safe(remark).into_owned());
    let call = step.call.as_ref().map(call_words);
    match (call.or(remark), line) {
        (Some(words), Some(line)) => format!("{line} ({words})"),
        (Some(words), None) => words,
        (None, line) => line.unwrap_or_default(),
    }
}

/// Returns a call in words: `read from transfers.txt (3) at byte 120`.
fn call_words(call: &OriginCallView) -> String {
    let mut words = safe(&call.name).into_owned();
    match (&call.file, call.descriptor) {
        (Some(file), Some(descriptor)) => {
            words += &format!(" from {}, descriptor {descriptor}", safe(file));
        }
        (None, Some(0)) => words += " from the standard input",
        (None, Some(descriptor)) => words += &format!(" from descriptor {descriptor}"),
        (Some(file), None) => words += &format!(" of {}", safe(file)),
        (None, None) => {}
    }
    match (call.offset, &call.file) {
        (Some(offset), _) => words += &format!(", byte {offset}"),
        (None, Some(_)) => words += ", at a byte that is not known",
        (None, None) => {}
    }
    words
}

fn place(step: &OriginStepView) -> String {
    let place = step.place.as_ref().map_or_else(String::new, |at| {
        let function = at.function.as_deref().filter(|_| at.line.is_some());
        let function = function.map(|it| format!("{} at ", clip(&safe(it), FUNCTION_COLUMNS)));
        function.unwrap_or_default() + &short_location(at)
    });
    match step.thread {
        Some(thread) if !place.is_empty() => format!("{place}, thread {thread}"),
        Some(thread) => format!("thread {thread}"),
        None => place,
    }
}

/// Sample views for tests.
#[cfg(any(test, feature = "samples"))]
pub mod samples {
    use super::*;
    use juror_view::Location;

    fn step(
        number: u32,
        depth: u32,
        origin: OriginKind,
        of: (&str, &str),
        at: (&str, u32),
    ) -> OriginStepView {
        OriginStepView {
            number,
            depth,
            origin,
            name: Some(of.0.to_owned()),
            value: Some(of.1.to_owned()),
            remark: None,
            source: Some(format!("{} = …;", of.0)),
            place: Some(Location {
                function: Some(at.0.to_owned()),
                file: Some("src/bank.c".to_owned()),
                line: Some(at.1),
                ..Location::default()
            }),
            thread: Some(2),
            points: Some(27),
            call: None,
        }
    }

    /// Returns the origins of a sum.
    pub fn origins() -> OriginsView {
        OriginsView {
            expression: "balance".to_owned(),
            value: "107".to_owned(),
            steps: vec![
                step(
                    1,
                    0,
                    OriginKind::Computed,
                    ("balance", "107"),
                    ("deposit", 31),
                ),
                OriginStepView {
                    remark: Some("a constant".to_owned()),
                    ..step(2, 1, OriginKind::Constant, ("old", "100"), ("main", 12))
                },
                OriginStepView {
                    call: Some(OriginCallView {
                        name: "read".to_owned(),
                        descriptor: Some(3),
                        file: Some("transfers.txt".to_owned()),
                        offset: Some(120),
                    }),
                    ..step(
                        3,
                        1,
                        OriginKind::SystemCall,
                        ("amount", "7"),
                        ("deposit", 22),
                    )
                },
                OriginStepView {
                    remark: Some("initial data of bank (.data)".to_owned()),
                    source: None,
                    place: None,
                    thread: None,
                    points: None,
                    ..step(4, 1, OriginKind::Initial, ("limit", "0"), ("", 0))
                },
            ],
            is_cut: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::plain;

    #[test]
    fn each_step_has_a_row() {
        let text = plain(|page| write(page, &samples::origins()));
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = text.lines().map(words).collect();
        let expected = [
            "balance = 107",
            "step value from where",
            "1 balance = 107 balance = …; deposit at bank.c:31, thread 2",
            "2 old = 100 old = …; (a constant) main at bank.c:12, thread 2",
            "3 amount = 7 amount = …; (read from transfers.txt, descriptor 3, byte 120) \
             deposit at bank.c:22, thread 2",
            "4 limit = 0 initial data of bank (.data)",
            "there are more: go to the last step by its number (why N), and ask there again",
        ];
        assert_eq!(lines, expected);
        // The sources of a sum are indented.
        assert!(text.contains("\n2       old"), "{text}");
    }

    #[test]
    fn a_call_says_what_is_known_of_its_file() {
        let call = |descriptor, file: Option<&str>, offset| OriginCallView {
            name: "read".to_owned(),
            descriptor,
            file: file.map(str::to_owned),
            offset,
        };
        for (call, expected) in [
            (call(Some(0), None, None), "read from the standard input"),
            (call(Some(5), None, None), "read from descriptor 5"),
            (
                call(Some(5), Some("a"), None),
                "read from a, descriptor 5, at a byte that is not known",
            ),
            (call(None, None, None), "read"),
        ] {
            assert_eq!(call_words(&call), expected);
        }
    }
}
