//! A trail as a sequence chart: one column for each actor, time downwards.
//!
//! Each step stands in the column of who takes it; what it changed stands at
//! the side. A rendezvous stands in both columns. That is how N. Ramsey,
//! *Correctness of Trap-Based Breakpoint Implementations* (1994), shows the run
//! of his Figure 2.

use crate::System;
use crate::trail::Trail;
use serde::Serialize;
use std::fmt::Write as _;

/// One line of a chart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Whose step it is.
    pub column: Option<usize>,
    /// Who takes part.
    pub partner: Option<usize>,
    /// What is done.
    pub text: String,
    /// What it changed: `name = value`.
    pub changes: Vec<String>,
    /// What it printed.
    pub printed: String,
    /// The run goes round from here.
    pub begins_cycle: bool,
}

/// A trail laid out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Chart {
    /// The names of the actors.
    pub columns: Vec<String>,
    /// The steps.
    pub rows: Vec<Row>,
    /// Whether the run goes on without end after the last row, without a step.
    pub stays: bool,
}

/// The widest column of the text.
const WIDTH_MAX: usize = 34;
/// The most lines of a step in the text. A statement may be as long as it likes.
const LINES_MAX: usize = 6;
/// What stands before the lines after the first.
const INDENT: &str = "  ";
/// The longest change that the text shows whole: sets may have thousands of members.
const CHANGE_MAX: usize = 400;

impl Chart {
    /// Lays a trail out.
    pub fn of<S: System>(system: &S, trail: &Trail) -> Chart {
        let mut columns: Vec<String> = Vec::new();
        let states = trail.moves.iter().map(|step| &step.from);
        for state in states.chain(&trail.end) {
            let actors = system.actors(state);
            if actors.len() > columns.len() {
                columns = actors;
            }
        }
        for (number, column) in columns.iter_mut().enumerate() {
            let _ = write!(column, " {number}");
        }
        let mut rows = Vec::new();
        for (number, step) in trail.moves.iter().enumerate() {
            for (part, visible) in step.steps.iter().enumerate() {
                let changes = visible.changes.iter();
                rows.push(Row {
                    column: visible.actor,
                    partner: visible.partner,
                    text: one_line(&visible.text),
                    changes: changes
                        .map(|change| format!("{} = {}", change.name, change.value))
                        .collect(),
                    printed: visible.printed.clone(),
                    begins_cycle: part == 0 && trail.cycle == Some(number),
                });
            }
        }
        let stays = trail.cycle == Some(trail.moves.len());
        Chart {
            columns,
            rows,
            stays,
        }
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.columns.iter().map(|name| count(name)).collect();
        for row in &self.rows {
            for column in [row.column, row.partner].into_iter().flatten() {
                if let Some(width) = widths.get_mut(column) {
                    *width = (*width).max(count(&row.text)).min(WIDTH_MAX);
                }
            }
        }
        widths
    }

    /// The chart as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if self.columns.is_empty() {
            return text;
        }
        let widths = self.widths();
        let heads = self.columns.iter().zip(&widths);
        let heads: Vec<String> = heads.map(|(name, width)| padded(name, *width)).collect();
        let _ = writeln!(text, "{}", heads.join("  ").trim_end());
        let rules: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
        let _ = writeln!(text, "{}", rules.join("  "));
        for row in &self.rows {
            if row.begins_cycle {
                let _ = writeln!(text, "-- from here on, again and again --");
            }
            for line in lines(row, &widths) {
                let _ = writeln!(text, "{}", line.trim_end());
            }
            for line in row.printed.lines() {
                let _ = writeln!(text, "| {line}");
            }
        }
        if self.stays {
            let _ = writeln!(text, "-- and so it stays for ever --");
        }
        text
    }

    /// The chart as a drawing.
    pub fn svg(&self) -> String {
        super::svg::draw(self)
    }
}

/// The lines of a row: what is done, as wide as its column, and in the first of them what
/// it changed.
fn lines(row: &Row, widths: &[usize]) -> Vec<String> {
    let width = row.column.and_then(|column| widths.get(column));
    let parts = match width {
        Some(width) => wrapped(&row.text, *width),
        None => vec![row.text.clone()],
    };
    let mut lines: Vec<String> = parts
        .iter()
        .enumerate()
        .map(|(number, part)| line(row, (number, part), widths))
        .collect();
    if let Some(first) = lines.first_mut()
        && !row.changes.is_empty()
    {
        let changes = row.changes.iter();
        let changes: Vec<String> = changes.map(|it| shortened(it, CHANGE_MAX)).collect();
        let _ = write!(first, "  {}", changes.join(", "));
    }
    lines
}

/// The columns of a line that has a part of what is done.
fn line(row: &Row, (number, part): (usize, &str), widths: &[usize]) -> String {
    let mut cells = Vec::new();
    for (column, width) in widths.iter().enumerate() {
        let cell = match () {
            () if row.column == Some(column) => part,
            () if row.partner == Some(column) && number == 0 => "*",
            () => "",
        };
        cells.push(padded(cell, *width));
    }
    if row.column.is_none() {
        cells.push(part.to_owned());
    }
    cells.join("  ")
}

/// A text in lines, each of which is so wide at most; those after the first are indented.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let (mut lines, mut rest, mut indent) = (Vec::new(), text, "");
    let room = |indent: &str| width.saturating_sub(count(indent)).max(1);
    while count(rest) > room(indent) && lines.len() + 1 < LINES_MAX {
        // What comes after so many characters, and the last space before it.
        let end = rest.char_indices().nth(room(indent));
        let end = end.map_or(rest.len(), |(at, _)| at);
        let space = rest.get(..=end).and_then(|line| line.rfind(' '));
        let (first, after) = rest.split_at(space.filter(|at| *at > 0).unwrap_or(end));
        lines.push(format!("{indent}{first}"));
        (rest, indent) = (after.trim_start(), INDENT);
    }
    lines.push(format!("{indent}{}", shortened(rest, room(indent))));
    lines
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn count(text: &str) -> usize {
    text.chars().count()
}

fn padded(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(count(text));
    format!("{text}{}", " ".repeat(missing))
}

fn shortened(text: &str, width: usize) -> String {
    if count(text) <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_is_shown_whole_in_as_many_lines_as_it_takes() {
        let check = |text: &str, expected: &[&str]| assert_eq!(wrapped(text, 8), expected);
        check("", &[""]);
        check("12345678", &["12345678"]);
        check("a = 1, b = 2", &["a = 1, b", "  = 2"]);
        check("abc, defghi", &["abc,", "  defghi"]);
        check("abcdefghijkl", &["abcdefgh", "  ijkl"]);
        check("ääääääää öö", &["ääääääää", "  öö"]);
        check("äääääääääö ö", &["ääääääää", "  äö ö"]);
        let long = "123456 ".repeat(9);
        assert_eq!(wrapped(&long, 8).len(), LINES_MAX);
        assert!(wrapped(&long, 8)[LINES_MAX - 1].ends_with('…'));
    }

    #[test]
    fn changes_stand_beside_the_first_line() {
        let text = "first = true, second = false, third = true";
        let chart = Chart {
            columns: vec!["environment 0".into(), "machine 1".into()],
            rows: vec![Row {
                column: Some(0),
                partner: None,
                text: text.into(),
                changes: vec!["n = 1".into()],
                printed: String::new(),
                begins_cycle: false,
            }],
            stays: false,
        };
        let shown = chart.text();
        let lines: Vec<&str> = shown.lines().skip(2).collect();
        let expected = format!("{:<34}  {:<9}  n = 1", "first = true, second = false,", "");
        assert_eq!(lines, [&*expected, "  third = true"]);
    }
}
