//! Rows of cells in aligned columns.

use crate::page::{PLAIN, Page, QUIET};
use anstyle::Style;

/// Wider cells, in characters, do not widen the column for other rows.
const WIDEST: usize = 48;

/// The number of spaces between two columns.
const GAP: usize = 2;

/// The last cell of a row is wrapped below its beginning if there are so many columns for it.
const CELL_MIN: usize = 24;

/// The indent of what follows the first line of a row otherwise, beyond that of the row.
const ROW_INDENT: usize = 4;

/// A cell: text that has been escaped, and its style.
#[derive(Debug, Clone)]
pub struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// Creates a cell in a style.
    pub fn new(text: impl Into<String>, style: Style) -> Cell {
        Cell {
            text: text.into(),
            style,
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::new(text, PLAIN)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::new(text, PLAIN)
    }
}

/// Writes rows below a heading, if `heading` is not empty. Columns that are empty in
/// all rows are left out. What does not fit the width of the page is wrapped in the last column.
pub fn write(page: &mut Page, indent: usize, heading: &[&str], rows: &[Vec<Cell>]) {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count)
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            let widths = cells.map(|cell| cell.text.chars().count());
            let widest = widths.filter(|&width| width <= WIDEST).max().unwrap_or(0);
            let filled = rows
                .iter()
                .any(|row| row.get(column).is_some_and(|cell| !cell.text.is_empty()));
            match (filled, heading.get(column)) {
                (false, _) => 0,
                (true, Some(title)) => widest.max(title.chars().count()),
                (true, None) => widest.max(1),
            }
        })
        .collect();
    if !heading.is_empty() && !rows.is_empty() {
        let titles: Vec<Cell> = heading
            .iter()
            .map(|&title| Cell::new(title, QUIET))
            .collect();
        write_row(page, indent, &widths, &titles);
    }
    for row in rows {
        write_row(page, indent, &widths, row);
    }
}

fn write_row(page: &mut Page, indent: usize, widths: &[usize], row: &[Cell]) {
    write!(page, "{:indent$}", "");
    // Written before the next cell that has text: no line ends in spaces.
    let mut pending_spaces = 0;
    let mut column = indent;
    let mut last = indent;
    for (cell, &width) in row.iter().zip(widths) {
        if width == 0 {
            continue;
        }
        let length = cell.text.chars().count();
        if length > 0 {
            let style = cell.style;
            write!(page, "{:pending_spaces$}{style}{}{style:#}", "", cell.text);
            last = column + pending_spaces;
            column = last + length;
            pending_spaces = 0;
        }
        pending_spaces += width.saturating_sub(length) + GAP;
    }
    let has_room = page.width().is_some_and(|it| last + CELL_MIN <= it);
    page.end_line(if has_room { last } else { indent + ROW_INDENT });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{plain, plain_at};

    #[test]
    fn columns_are_aligned_and_empty_ones_left_out() {
        let rows = [
            vec![Cell::from("a"), "".into(), "long name".into(), "x".into()],
            vec!["bcd".into(), "".into(), "".into(), "y".into()],
            vec!["e".into(), "".into(), "f".into(), "".into()],
        ];
        let text = plain(|page| write(page, 2, &["n", "none", "name", "last"], &rows));
        let expected =
            "  n    name       last\n  a    long name  x\n  bcd             y\n  e    f\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_very_wide_cell_widens_its_own_row_only() {
        let wide = "w".repeat(60);
        let rows = [
            vec![Cell::from("a"), "1".into()],
            vec![wide.as_str().into(), "2".into()],
        ];
        let text = plain(|page| write(page, 0, &[], &rows));
        assert_eq!(text, format!("a  1\n{wide}  2\n"));
    }

    #[test]
    fn the_last_column_is_wrapped_to_the_width() {
        let rows = |first: &str| {
            [vec![
                Cell::from(first),
                "take at queue.c:40, called from f".into(),
            ]]
        };
        let written = |first: &str| plain_at(40, |page| write(page, 0, &[], &rows(first)));
        assert_eq!(
            written("worker"),
            "worker  take at queue.c:40, called from\n        f\n"
        );
        assert_eq!(
            written("a rather long name"),
            "a rather long name  take at queue.c:40,\n    called from f\n"
        );
        let all = plain(|page| write(page, 0, &[], &rows("worker")));
        assert_eq!(all.lines().count(), 1);
    }

    #[test]
    fn no_rows_have_no_heading() {
        assert_eq!(plain(|page| write(page, 0, &["a"], &[])), "");
    }
}
