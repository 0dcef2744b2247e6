//! Writes lines as text, with adjacent lines of one kind in columns.

use super::lines::Line;
use super::spacing::Spacing;
use crate::token::{Sign, Token, TokenKind};
use unicode_width::UnicodeWidthStr as _;

/// The number of spaces of one indentation step.
const STEP: usize = 4;
/// The maximum width of a cell that is followed by a column.
const CELL_MAX: usize = 48;

/// The kind of a line that is aligned with its neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `event name = before f()`
    Event,
    /// `var name = value`
    Variable,
    /// `state name accepting`, on a single line.
    State,
    /// `on event when guard { updates } -> state else -> state`
    Transition,
}

/// A line split at its possible columns.
struct Row {
    kind: Kind,
    cells: Vec<String>,
}

/// Writes the lines.
pub(super) fn write(source: &str, tokens: &[Token], lines: &[Line<'_>]) -> String {
    let writer = Writer {
        source,
        tokens,
        spacing: Spacing { source, tokens },
    };
    let rows: Vec<Option<Row>> = lines.iter().map(|line| writer.row(line)).collect();
    let mut page = String::new();
    let mut position = 0;
    while position < lines.len() {
        let end = run_end(lines, &rows, position);
        let widths = widths(&rows[position..end]);
        for (line, row) in lines[position..end].iter().zip(&rows[position..end]) {
            writer.write(&mut page, line, row.as_ref(), &widths);
        }
        position = end;
    }
    page
}

/// Returns the end of the run of adjacent lines of one kind that begins here.
fn run_end(lines: &[Line<'_>], rows: &[Option<Row>], start: usize) -> usize {
    let Some(first) = &rows[start] else {
        return start + 1;
    };
    let mut end = start + 1;
    while let (Some(line), Some(Some(row))) = (lines.get(end), rows.get(end)) {
        let neighbours = row.kind == first.kind && line.depth == lines[start].depth;
        if !neighbours || line.separated {
            break;
        }
        end += 1;
    }
    end
}

fn widths(rows: &[Option<Row>]) -> Vec<usize> {
    let mut widths = Vec::new();
    for row in rows.iter().flatten() {
        // The last cell of a row is not padded.
        let cells = row.cells.len().saturating_sub(1);
        for (position, cell) in row.cells.iter().take(cells).enumerate() {
            if widths.len() <= position {
                widths.push(0);
            }
            let width = cell.width();
            if width <= CELL_MAX {
                widths[position] = widths[position].max(width);
            }
        }
    }
    widths
}

struct Writer<'a> {
    source: &'a str,
    tokens: &'a [Token],
    spacing: Spacing<'a>,
}

impl Writer<'_> {
    fn text(&self, position: usize) -> &str {
        let token = self.tokens.get(position);
        token
            .and_then(|token| self.source.get(token.span.clone()))
            .unwrap_or("")
    }

    fn is_sign(&self, position: usize, sign: Sign) -> bool {
        let token = self.tokens.get(position);
        token.is_some_and(|token| token.kind == TokenKind::Sign(sign))
    }

    /// Writes the tokens of a range with the spaces between them.
    fn joined(&self, range: std::ops::Range<usize>) -> String {
        let mut text = String::new();
        for position in range.clone() {
            if position != range.start && self.spacing.before(position) {
                text.push(' ');
            }
            text.push_str(self.text(position));
        }
        text
    }

    fn row(&self, line: &Line<'_>) -> Option<Row> {
        if line.continued || line.tokens.is_empty() {
            return None;
        }
        let start = line.tokens.start;
        let (kind, mut cuts) = match self.text(start) {
            "event" => (Kind::Event, self.declaration_cuts(line, true)),
            "var" => (Kind::Variable, self.declaration_cuts(line, false)),
            "state" => (Kind::State, self.state_cuts(line)?),
            "on" => (Kind::Transition, self.transition_cuts(line)),
            _ => return None,
        };
        cuts.push(line.tokens.end);
        let mut from = start;
        let mut cells = Vec::new();
        for cut in cuts {
            cells.push(self.joined(from..cut));
            from = cut;
        }
        Some(Row { kind, cells })
    }

    /// Cuts before the `=`, and after the word for the kind of event.
    fn declaration_cuts(&self, line: &Line<'_>, is_event: bool) -> Vec<usize> {
        let mut tokens = line.tokens.clone();
        let Some(assign) = tokens.find(|&position| self.is_sign(position, Sign::Assign)) else {
            return Vec::new();
        };
        let moment = matches!(self.text(assign + 1), "before" | "after" | "unwound");
        if is_event && moment && assign + 2 < line.tokens.end {
            vec![assign, assign + 2]
        } else {
            vec![assign]
        }
    }

    fn state_cuts(&self, line: &Line<'_>) -> Option<Vec<usize>> {
        let mut tokens = line.tokens.clone();
        let whole = !tokens.any(|position| self.is_sign(position, Sign::OpenBrace));
        let attributes = line.tokens.start + 2;
        (whole && attributes < line.tokens.end).then(|| vec![attributes])
    }

    /// Cuts after the event, before the target state, and before `else`.
    fn transition_cuts(&self, line: &Line<'_>) -> Vec<usize> {
        let mut cuts = vec![line.tokens.start + 2];
        let mut depth = 0_usize;
        for position in line.tokens.start + 2..line.tokens.end {
            if self.is_sign(position, Sign::OpenBrace) {
                depth += 1;
            } else if self.is_sign(position, Sign::CloseBrace) {
                depth = depth.saturating_sub(1);
            }
            let arrow = self.is_sign(position, Sign::Arrow) && self.spacing.leads(position);
            let otherwise = self.text(position) == "else";
            if depth == 0 && (arrow && cuts.len() == 1 || otherwise) {
                if otherwise && cuts.len() == 1 {
                    // There is no target before it: the column stays empty.
                    cuts.push(position);
                }
                cuts.push(position);
                if otherwise {
                    break;
                }
            }
        }
        cuts.retain(|&cut| cut <= line.tokens.end);
        cuts
    }

    fn write(&self, page: &mut String, line: &Line<'_>, row: Option<&Row>, widths: &[usize]) {
        if line.separated {
            page.push('\n');
        }
        let mut text = " ".repeat((line.depth + usize::from(line.continued)) * STEP);
        match row {
            Some(row) => write_cells(&mut text, row, widths),
            None => text.push_str(&self.joined(line.tokens.clone())),
        }
        let mut text = text.trim_end().to_owned();
        if let Some(comment) = line.comment {
            if line.tokens.is_empty() {
                text = " ".repeat((line.depth + usize::from(line.continued)) * STEP);
            } else {
                text.push_str("  ");
            }
            text.push_str(comment);
        }
        page.push_str(&text);
        page.push('\n');
    }
}

fn write_cells(text: &mut String, row: &Row, widths: &[usize]) {
    // Targets are separated from the conditions by a wider gap.
    let gap = |position: usize| {
        if row.kind == Kind::Transition && position > 0 {
            2
        } else {
            1
        }
    };
    let last = row.cells.len().saturating_sub(1);
    for (position, cell) in row.cells.iter().enumerate() {
        text.push_str(cell);
        if position == last {
            break;
        }
        let width = widths.get(position).copied().unwrap_or(0);
        let padding = width.saturating_sub(cell.width());
        // The column is empty: no gap for it.
        let gap = if width == 0 { 0 } else { gap(position) };
        text.extend(std::iter::repeat_n(' ', padding + gap));
    }
}
