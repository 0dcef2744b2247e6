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
            let _ = writeln!(text, "{}", self.line(row, &widths).trim_end());
            for line in row.printed.lines() {
                let _ = writeln!(text, "| {line}");
            }
        }
        if self.stays {
            let _ = writeln!(text, "-- and so it stays for ever --");
        }
        text
    }

    fn line(&self, row: &Row, widths: &[usize]) -> String {
        let mut cells = Vec::new();
        for (column, width) in widths.iter().enumerate() {
            let cell = match () {
                () if row.column == Some(column) => shortened(&row.text, *width),
                () if row.partner == Some(column) => "*".to_owned(),
                () => String::new(),
            };
            cells.push(padded(&cell, *width));
        }
        if row.column.is_none() {
            cells.push(row.text.clone());
        }
        let mut line = cells.join("  ");
        if !row.changes.is_empty() {
            let changes = row.changes.iter();
            let changes: Vec<String> = changes.map(|it| shortened(it, CHANGE_MAX)).collect();
            let _ = write!(line, "  {}", changes.join(", "));
        }
        line
    }

    /// The chart as a drawing.
    pub fn svg(&self) -> String {
        super::svg::draw(self)
    }
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
