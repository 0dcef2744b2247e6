//! Where statements begin: lines and columns.

use crate::session::Session;
use juror_points::breakpoints::Resolvable;
use juror_program::stack::frames::Frame;
use juror_view::queries::{ColumnView, StatementView};
use std::collections::BTreeSet;
use std::path::Path;

/// The limit of lines that are looked up at once.
const LINES_MAX: u32 = 1000;

/// Returns where statements begin in a range of lines.
pub(crate) fn statements(
    session: &mut Session,
    path: &str,
    first: u32,
    last: u32,
) -> Vec<StatementView> {
    let last = last.min(first.saturating_add(LINES_MAX));
    let mut found = Vec::new();
    for line in first..=last {
        let modules = session.modules();
        let resolved = Resolvable::Line(path.to_owned(), line, None).resolve(modules);
        if resolved.addresses.is_empty() || resolved.moved_to_line.is_some() {
            continue;
        }
        let columns = modules
            .iter()
            .flat_map(|module| module.symbols.columns_of_line(path, line));
        let columns: BTreeSet<u32> = columns.collect();
        if columns.is_empty() {
            found.push(StatementView { line, column: None });
        }
        for byte in columns {
            let column = Some(column_of(session, Path::new(path), line, byte));
            found.push(StatementView { line, column });
        }
    }
    found
}

/// Returns the column of a frame's line, if it is that of its code.
pub(crate) fn column_of_frame(session: &mut Session, frame: &Frame) -> Option<ColumnView> {
    let (module, file) = frame.module.as_ref().zip(frame.file.as_ref())?;
    let line = module.symbols.line_at(module.to_file(frame.lookup))?;
    let is_own = Some(line.line) == frame.line && *line.file == **file;
    let byte = line.column.filter(|_| is_own)?;
    Some(column_of(session, file, line.line, byte))
}

/// Returns a column of a line in both units; the same in both if the source is not there.
pub(crate) fn column_of(session: &mut Session, path: &Path, line: u32, byte: u32) -> ColumnView {
    let view = session.user.sources.lines(path, line, 1, None);
    let text = view.and_then(|view| view.lines.into_iter().next());
    ColumnView {
        byte,
        unit: text.map_or(byte, |text| unit_of(&text, byte)),
    }
}

/// Returns the UTF-16 unit of a byte of a line, both from 1.
fn unit_of(text: &str, byte: u32) -> u32 {
    let before = text.char_indices();
    let before = before.take_while(|(at, _)| at + 1 < byte as usize);
    let units: usize = before.map(|(_, c)| c.len_utf16()).sum();
    u32::try_from(units + 1).unwrap_or(byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_utf_16_units() {
        // One, three and four bytes; one, one and two units.
        let text = "a\u{20ac}\u{1d11e}b";
        for (byte, unit) in [(1, 1), (2, 2), (5, 3), (9, 5), (10, 6), (40, 6)] {
            assert_eq!(unit_of(text, byte), unit, "{byte}");
        }
    }
}
