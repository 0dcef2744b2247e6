//! The parts of the program that the user wants to see at each stop.

use crate::columns::{self, Cell};
use crate::locations::{write_frames, write_source};
use crate::outcome;
use crate::page::{NAME, Page, QUIET, STRONG};
use crate::stops::Context;
use juror_view::{ContextPart, ContextView, FrameView, Outcome, RegisterView, SourceView};

/// The number of lines of a part. The others are counted.
const LINES_MAX: usize = 10;

/// The indent of what a command shows.
const INDENT: &str = "  ";

/// The columns of a page without a width.
const WIDTH: usize = 80;

/// The columns that a register takes, with the gap behind it.
const REGISTER_COLUMNS: usize = 26;

/// What the stop itself has of the parts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shown<'a> {
    /// The source.
    pub source: Option<&'a SourceView>,
    /// The stack.
    pub frames: &'a [FrameView],
    /// Whether there are more frames.
    pub more_frames: bool,
}

/// Writes the parts in their order, each below a heading.
pub fn write_context(page: &mut Page, parts: &[ContextView], of: Shown<'_>, context: Context) {
    for part in parts {
        // What is about the stop itself has an indent of its own.
        let indent = match part.part {
            ContextPart::Locals | ContextPart::Monitors => INDENT,
            _ => "",
        };
        let width = page.width().map(|it| it.saturating_sub(indent.len()));
        let mut shown = Page::new(page.directory()).with_width(width);
        write_part(&mut shown, of, part, context);
        let text = shown.into_text();
        if !text.is_empty() {
            writeln!(page, "{STRONG}{}:{STRONG:#}", heading_of(part.part));
            write_beginning(page, indent, &text);
        }
    }
}

fn heading_of(part: ContextPart) -> &'static str {
    match part {
        ContextPart::Source => "Source",
        ContextPart::Locals => "Locals",
        ContextPart::Backtrace => "Backtrace",
        ContextPart::Registers => "Registers",
        ContextPart::Monitors => "Monitors",
    }
}

fn write_part(page: &mut Page, of: Shown<'_>, part: &ContextView, context: Context) {
    match (part.part, &part.shown) {
        (ContextPart::Source, _) => {
            if let Some(source) = of.source {
                write_source(page, source);
            }
        }
        (ContextPart::Backtrace, _) => {
            write_frames(page, of.frames, of.more_frames, 2);
        }
        (ContextPart::Registers, Outcome::Registers(registers)) => {
            write_registers(page, registers);
        }
        (_, shown) => outcome::write(page, shown, context),
    }
}

/// Writes the values of registers only, several in a row.
fn write_registers(page: &mut Page, registers: &[RegisterView]) {
    let in_row = page.width().unwrap_or(WIDTH).div_euclid(REGISTER_COLUMNS);
    let rows: Vec<Vec<Cell>> = registers
        .chunks(in_row.max(1))
        .map(|row| {
            let cells = row.iter().flat_map(|register| {
                let value = format!("{:#018x}", register.value);
                [Cell::new(register.name.as_str(), NAME), value.into()]
            });
            cells.collect()
        })
        .collect();
    columns::write(page, 2, &[], &rows);
}

/// Writes the first lines of a text.
fn write_beginning(page: &mut Page, indent: &str, text: &str) {
    for line in text.lines().take(LINES_MAX) {
        writeln!(page, "{indent}{line}");
    }
    let hidden = text.lines().count().saturating_sub(LINES_MAX);
    if hidden > 0 {
        writeln!(page, "{indent}{QUIET}… {hidden} more{QUIET:#}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{plain, plain_at};
    use crate::stops::samples::{stop, variable};
    use juror_view::{StopReason, StopView};

    fn view(context: Vec<ContextView>) -> StopView {
        StopView {
            context,
            ..stop(StopReason::Step)
        }
    }

    fn write(page: &mut Page, view: &StopView) {
        let context = Context { prompt: true };
        write_context(page, &view.context, Shown::default(), context);
    }

    #[test]
    fn parts_are_in_their_order_and_the_source_is_not_shown_twice() {
        let part = |part, shown| ContextView { part, shown };
        let locals = vec![variable("count", "int", "3")];
        let view = view(vec![
            part(ContextPart::Locals, Outcome::Variables(locals)),
            part(ContextPart::Source, Outcome::Done),
        ]);
        let text = plain(|page| crate::stops::write_stop(page, &view, Context { prompt: true }));
        let expected = "Locals:\n  count = 3\nSource:\n      22   void queue_push";
        assert!(text.contains(expected), "{text}");
        assert_eq!(text.matches("void queue_push").count(), 1, "{text}");
    }

    #[test]
    fn long_parts_are_cut() {
        let variables = (1..=17).map(|it| variable(&format!("v{it}"), "int", "0"));
        let view = view(vec![ContextView {
            part: ContextPart::Locals,
            shown: Outcome::Variables(variables.collect()),
        }]);
        let text = plain(|page| write(page, &view));
        assert!(text.ends_with("  v10 = 0\n  … 7 more\n"), "{text}");
        assert_eq!(text.lines().count(), 12);
    }

    #[test]
    fn registers_stand_side_by_side() {
        let registers = crate::tables::samples::registers();
        let shown = Outcome::Registers(registers);
        let part = ContextPart::Registers;
        let view = view(vec![ContextView { part, shown }]);
        let write = |page: &mut Page| write(page, &view);
        assert_eq!(
            plain(write),
            "Registers:\n  rax  0x0000000000000010  rip  0x0000000000401136\n"
        );
        assert_eq!(plain_at(40, write).lines().count(), 3);
    }
}
