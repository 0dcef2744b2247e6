//! Message sequence chart of a trail: one column for each process, time downwards.
//!
//! Each step is in the column of its process, with its changes at the side. A rendezvous
//! is in both columns. The layout follows Figure 2 of N. Ramsey, *Correctness of
//! Trap-Based Breakpoint Implementations* (1994).

use crate::System;
use crate::trail::Trail;
use serde::Serialize;
use std::fmt::Write as _;

/// One step of a chart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Column of the process that makes the step.
    pub column: Option<usize>,
    /// Column of the second participant.
    pub partner: Option<usize>,
    /// The step, as written in the source.
    pub text: String,
    /// The changes: `name = value`.
    pub changes: Vec<String>,
    /// Printed output.
    pub printed: String,
    /// Whether the cycle of the run starts here.
    pub begins_cycle: bool,
}

/// A trail as a chart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Chart {
    /// Names of the processes.
    pub columns: Vec<String>,
    /// The steps.
    pub rows: Vec<Row>,
    /// Whether the run stays in its last state forever, without a step.
    pub stays: bool,
}

/// Maximum width of a column in the text.
const WIDTH_MAX: usize = 34;
/// Maximum number of lines of a step in the text; statements can be of any length.
const LINES_MAX: usize = 6;
/// Prefix of the continuation lines of a step.
const INDENT: &str = "  ";
/// Maximum length of a change in the text; sets may have thousands of members.
const CHANGE_MAX: usize = 400;

impl Chart {
    /// Lays out a trail.
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

    /// Returns the chart as text.
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
                let _ = writeln!(text, "-- cycle: the run repeats from here --");
            }
            for line in lines(row, &widths) {
                let _ = writeln!(text, "{}", line.trim_end());
            }
            for line in row.printed.lines() {
                let _ = writeln!(text, "| {line}");
            }
        }
        if self.stays {
            let _ = writeln!(text, "-- the run stays in this state forever --");
        }
        text
    }

    /// Returns the chart as an SVG drawing.
    pub fn svg(&self) -> String {
        super::svg::draw(self)
    }
}

/// Returns the lines of a row: the step, wrapped to its column, with the changes on the
/// first line.
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

/// Returns the columns of a line that contains one part of the step.
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

/// Wraps a text to a width; continuation lines are indented.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let (mut lines, mut rest, mut indent) = (Vec::new(), text, "");
    let room = |indent: &str| width.saturating_sub(count(indent)).max(1);
    while count(rest) > room(indent) && lines.len() + 1 < LINES_MAX {
        // The byte position after the width, and the last space before it.
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
    fn long_steps_are_wrapped() {
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
