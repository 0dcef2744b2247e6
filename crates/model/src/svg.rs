//! A chart as an SVG drawing: a lifeline for each process, and arrows.

use crate::chart::{Chart, Row};
use std::fmt::Write as _;

const COLUMN: usize = 220;
const ROW: usize = 22;
const TOP: usize = 48;
const SIDE: usize = 320;

fn center(column: usize) -> usize {
    COLUMN / 2 + column * COLUMN
}

/// Returns the drawing.
pub(crate) fn draw(chart: &Chart) -> String {
    let width = chart.columns.len() * COLUMN + SIDE;
    let height = TOP + (chart.rows.len() + 2) * ROW;
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"monospace\" font-size=\"12\">"
    );
    let _ = writeln!(svg, "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>");
    for (column, name) in chart.columns.iter().enumerate() {
        let x = center(column);
        let _ = writeln!(
            svg,
            "<text x=\"{x}\" y=\"24\" text-anchor=\"middle\" font-weight=\"bold\">{}</text>",
            escaped(name)
        );
        let _ = writeln!(
            svg,
            "<line x1=\"{x}\" y1=\"32\" x2=\"{x}\" y2=\"{}\" stroke=\"#bbb\"/>",
            height - ROW
        );
    }
    for (number, row) in chart.rows.iter().enumerate() {
        draw_row(&mut svg, chart, row, TOP + (number + 1) * ROW);
    }
    if chart.stays {
        let y = TOP + (chart.rows.len() + 1) * ROW;
        let _ = writeln!(
            svg,
            "<text x=\"8\" y=\"{y}\" fill=\"#a00\">the run stays in this state forever</text>"
        );
    }
    svg += "</svg>\n";
    svg
}

fn draw_row(svg: &mut String, chart: &Chart, row: &Row, y: usize) {
    if row.begins_cycle {
        let line = y - ROW / 2 - 4;
        let _ = writeln!(
            svg,
            "<line x1=\"0\" y1=\"{line}\" x2=\"100%\" y2=\"{line}\" stroke=\"#a00\" stroke-dasharray=\"4\"/>"
        );
    }
    let x = row.column.map_or(8, center);
    if let (Some(_), Some(partner)) = (row.column, row.partner) {
        let (to, way) = (center(partner), if center(partner) > x { -6 } else { 6 });
        let y = y + 4;
        let _ = writeln!(
            svg,
            "<line x1=\"{x}\" y1=\"{y}\" x2=\"{to}\" y2=\"{y}\" stroke=\"#06c\"/>"
        );
        let _ = writeln!(
            svg,
            "<path d=\"M{to} {y} l{way} -4 l0 8 z\" fill=\"#06c\"/>"
        );
    }
    let anchor = if row.column.is_some() {
        "middle"
    } else {
        "start"
    };
    let _ = writeln!(
        svg,
        "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>",
        escaped(&row.text)
    );
    if !row.changes.is_empty() {
        let side = chart.columns.len() * COLUMN;
        let _ = writeln!(
            svg,
            "<text x=\"{side}\" y=\"{y}\" fill=\"#060\">{}</text>",
            escaped(&row.changes.join(", "))
        );
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '&' => escaped += "&amp;",
            '"' => escaped += "&quot;",
            control if control.is_control() => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}
