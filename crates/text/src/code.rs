//! Instructions, memory, and lists of names.

use crate::columns::{self, Cell};
use crate::escape::safe;
use crate::highlighting::source_line;
use crate::locations::file_and_line;
use crate::page::{NAME, Page, QUIET, STRONG};
use juror_view::{AssemblyView, MemoryView, NameView, ShownLine};

/// Writes instructions, each source line before the instructions it was compiled to.
pub fn write_assembly(page: &mut Page, view: &AssemblyView) {
    if let Some(function) = &view.function {
        writeln!(page, "{STRONG}{}{STRONG:#}:", safe(function));
    }
    let names = view.lines.iter();
    let width = names
        .filter_map(|line| line.name.as_ref())
        .map(|name| offset_of(view, name).chars().count())
        .max()
        .unwrap_or(0);
    let bytes_width = view
        .lines
        .iter()
        .map(|line| spaced(&line.bytes).len())
        .max();
    let bytes_width = bytes_width.unwrap_or(0);
    for line in &view.lines {
        if let Some(source) = &line.source {
            write_line(page, source);
        }
        let mark = if line.current { "→" } else { " " };
        let name = line
            .name
            .as_deref()
            .map_or(String::new(), |name| offset_of(view, name));
        let name = format!("{name:width$}");
        let bytes = match bytes_width {
            0 => String::new(),
            width => format!("  {:width$}", spaced(&line.bytes)),
        };
        let text = safe(&line.text);
        let shown = format!(
            "{:#x}  {NAME}{name}{NAME:#}{QUIET}{bytes}{QUIET:#}  {text}",
            line.address
        );
        if line.current {
            writeln!(page, "{mark} {STRONG}{shown}{STRONG:#}")
        } else {
            writeln!(page, "{mark} {shown}")
        }
    }
    write_unreadable(page, view.unreadable.as_deref());
}

/// Writes a source line, as `list` shows it; its place, if the file cannot be read.
fn write_line(page: &mut Page, line: &ShownLine) {
    let number = line.line;
    match line.text.as_deref().map(str::trim_end) {
        Some("") => writeln!(page, "{QUIET}{number:>6}{QUIET:#}"),
        Some(text) => {
            let text = source_line(text, &line.spans, false);
            writeln!(page, "{QUIET}{number:>6}{QUIET:#}   {text}");
        }
        None => {
            let file = safe(page.shown_file(&line.file)).into_owned();
            writeln!(page, "{QUIET}{file}:{number}{QUIET:#}");
        }
    }
}

/// Returns `<+4>` within the function of the view, `<name+4>` elsewhere.
fn offset_of(view: &AssemblyView, name: &str) -> String {
    let inside = view.function.as_ref().and_then(|function| {
        let offset = name.strip_prefix(function.as_str())?;
        match offset {
            "" => Some("+0".to_owned()),
            offset if offset.starts_with('+') => Some(offset.to_owned()),
            _ => None,
        }
    });
    let shown = inside.unwrap_or_else(|| name.to_owned());
    format!("<{}>", safe(&shown))
}

/// Returns hexadecimal digits with a space after each byte.
fn spaced(bytes: &str) -> String {
    let pairs: Vec<&str> = (0..bytes.len())
        .step_by(2)
        .filter_map(|at| bytes.get(at..at + 2))
        .collect();
    pairs.join(" ")
}

/// Writes memory, one row a line.
pub fn write_memory(page: &mut Page, view: &MemoryView) {
    let rows: Vec<Vec<Cell>> = view
        .rows
        .iter()
        .map(|row| {
            let address = match &row.name {
                Some(name) => format!("{:#x} <{}>", row.address, safe(name)),
                None => format!("{:#x}", row.address),
            };
            let cells = row.cells.iter().map(|cell| safe(cell).as_ref().into());
            std::iter::once(Cell::new(address, NAME))
                .chain(cells)
                .collect()
        })
        .collect();
    columns::write(page, 0, &[], &rows);
    write_unreadable(page, view.unreadable.as_deref());
}

fn write_unreadable(page: &mut Page, why: Option<&str>) {
    if let Some(why) = why {
        writeln!(page, "{QUIET}<{}>{QUIET:#}", safe(why));
    }
}

/// Writes names with their types and locations.
pub fn write_names(page: &mut Page, names: &[NameView]) {
    let rows: Vec<Vec<Cell>> = names
        .iter()
        .map(|name| {
            let location = name.location.as_ref();
            let place = location.and_then(|location| file_and_line(page, location));
            let address = location.map_or(String::new(), |it| format!("{:#x}", it.address));
            let module = match (&place, location.and_then(|it| it.module.as_deref())) {
                (None, Some(module)) => safe(module).into_owned(),
                _ => String::new(),
            };
            vec![
                Cell::new(safe(&name.name), NAME),
                safe(&name.type_name).as_ref().into(),
                Cell::new(address, QUIET),
                format!("{}{module}", place.unwrap_or_default()).into(),
            ]
        })
        .collect();
    columns::write(page, 0, &[], &rows);
}

/// Sample views for tests.
#[cfg(any(test, feature = "samples"))]
pub mod samples {
    use super::*;
    use crate::stops::samples::location;
    use juror_highlight::{Language, Lexer};
    use juror_view::{AssemblyLine, MemoryRow};

    pub fn assembly() -> AssemblyView {
        let declared = "void queue_push(queue *q, char c) {";
        let line = |address, name: &str, text: &str, current| AssemblyLine {
            address,
            name: Some(name.into()),
            bytes: if current { "4889e5" } else { "55" }.into(),
            text: text.into(),
            current,
            source: (!current).then(|| ShownLine {
                file: "queue.c".into(),
                line: 22,
                text: Some(declared.into()),
                spans: Lexer::new(Language::C).line(declared),
            }),
        };
        AssemblyView {
            function: Some("queue_push".into()),
            lines: vec![
                line(0x401136, "queue_push", "push rbp", false),
                line(0x401137, "queue_push+1", "mov rbp, rsp", true),
            ],
            unreadable: Some("the memory at 0x40113a cannot be read".into()),
        }
    }

    pub fn memory() -> MemoryView {
        MemoryView {
            rows: vec![MemoryRow {
                address: 0x4052a0,
                name: Some("names+8".into()),
                cells: vec!["0x0001".into(), "0x0002".into()],
            }],
            unreadable: Some("the memory at 0x4052a4 cannot be read".into()),
        }
    }

    pub fn names() -> Vec<NameView> {
        vec![NameView {
            name: "queue_push".into(),
            type_name: "int".into(),
            location: Some(location("queue_push", "queue.c", 22)),
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::plain;

    #[test]
    fn instructions_are_below_their_lines() {
        let expected = "\
queue_push:
    22   void queue_push(queue *q, char c) {
  0x401136  <+0>  55        push rbp
→ 0x401137  <+1>  48 89 e5  mov rbp, rsp
<the memory at 0x40113a cannot be read>
";
        assert_eq!(
            plain(|page| write_assembly(page, &samples::assembly())),
            expected
        );
    }

    #[test]
    fn source_lines_have_the_colours_of_list() {
        let mut page = Page::default();
        let view = samples::assembly();
        write_assembly(&mut page, &view);
        let source = view.lines[0].source.as_ref().unwrap();
        let text = source.text.as_ref().unwrap();
        let expected = source_line(text, &source.spans, false);
        assert_ne!(expected, *text);
        assert!(page.into_text().contains(&format!("   {expected}\n")));
    }

    #[test]
    fn memory_is_in_columns() {
        let expected = "\
0x4052a0 <names+8>  0x0001  0x0002
<the memory at 0x4052a4 cannot be read>
";
        assert_eq!(
            plain(|page| write_memory(page, &samples::memory())),
            expected
        );
    }
}
