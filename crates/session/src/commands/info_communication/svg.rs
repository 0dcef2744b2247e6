//! The communication of threads as a picture: a line for each thread, time downwards, and an arrow
//! from a step to the thread that goes on by it.

use juror_language::show::escaped;
use juror_view::{CommunicationStepView, CommunicationView};
use std::fmt::Write as _;

/// The length of a line of text in characters; what is longer is cut.
const CHARACTERS_MAX: usize = 34;
/// The width of the column of a thread, and of the column of the points.
const COLUMN_WIDTH: usize = 300;
const MARGIN: usize = 60;
/// The heights of the heading and of a step.
const HEADING_HEIGHT: usize = 40;
const STEP_HEIGHT: usize = 34;

const STYLE: &str = "\
  <style>
    .juror { font: 12px ui-monospace, monospace; color: #222; }
    @media (prefers-color-scheme: dark) { .juror { color: #ddd; } }
    .juror text { fill: currentColor; }
    .juror line { stroke: currentColor; opacity: 0.4; }
    .juror circle { fill: currentColor; }
    .juror .effect { opacity: 0.75; marker-end: url(#head); }
    .juror .place { font-size: 10px; opacity: 0.75; }
    .juror #head path { fill: currentColor; }
  </style>
  <defs>
    <marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" \
    markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\"/></marker>
  </defs>
";

/// Returns the picture.
pub(super) fn picture(communication: &CommunicationView) -> String {
    let CommunicationView { threads, steps, .. } = communication;
    let width = MARGIN + COLUMN_WIDTH * threads.len().max(1);
    let height = HEADING_HEIGHT + STEP_HEIGHT * (steps.len() + 1);
    let mut page = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"juror\" width=\"{width}\" \
         height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n{STYLE}"
    );
    let column_of = |thread: u32| {
        let column = threads.iter().position(|it| *it == thread);
        column.map(|column| MARGIN + 10 + COLUMN_WIDTH * column)
    };
    for thread in threads {
        let x = column_of(*thread).unwrap_or_default();
        let _ = writeln!(
            page,
            "  <text x=\"{x}\" y=\"20\">thread {thread}</text>\n  \
             <line x1=\"{x}\" y1=\"28\" x2=\"{x}\" y2=\"{height}\"/>"
        );
    }
    for (row, step) in steps.iter().enumerate() {
        let y = HEADING_HEIGHT + STEP_HEIGHT * row + 8;
        let Some(x) = column_of(step.thread) else {
            continue;
        };
        let before = steps.get(..row).unwrap_or_default();
        let effect = step.by.and_then(|by| {
            let row = before.iter().rposition(|it| it.thread == by)?;
            Some((column_of(by)?, HEADING_HEIGHT + STEP_HEIGHT * row + 8))
        });
        if let Some((from_x, from_y)) = effect {
            let _ = writeln!(
                page,
                "  <line class=\"effect\" x1=\"{from_x}\" y1=\"{from_y}\" x2=\"{x}\" y2=\"{y}\"/>"
            );
        }
        write_step(&mut page, step, (x, y));
    }
    page.push_str("</svg>\n");
    page
}

fn write_step(page: &mut String, step: &CommunicationStepView, (x, y): (usize, usize)) {
    let text_x = x + 10;
    let _ = writeln!(
        page,
        "  <circle cx=\"{x}\" cy=\"{y}\" r=\"3\"/>\n  \
         <text class=\"place\" x=\"6\" y=\"{}\">{}</text>\n  \
         <text x=\"{text_x}\" y=\"{}\">{}</text>",
        y + 4,
        step.point,
        y + 4,
        escaped(&cut(&step.step)),
    );
    if !step.place.is_empty() {
        let _ = writeln!(
            page,
            "  <text class=\"place\" x=\"{text_x}\" y=\"{}\">{}</text>",
            y + 17,
            escaped(&cut(&step.place)),
        );
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(CHARACTERS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_a_line_and_each_step_a_dot() {
        let step = |thread, words: &str, by| CommunicationStepView {
            point: 1,
            thread,
            step: words.to_owned(),
            by,
            place: "main, a<b.c:1".to_owned(),
        };
        let picture = picture(&CommunicationView {
            threads: vec![1, 2],
            steps: vec![
                step(1, "pthread_mutex_unlock(l)", None),
                step(2, &"x".repeat(50), Some(1)),
            ],
            left_out: 0,
            file: None,
        });
        assert_eq!(picture.matches("<circle").count(), 2);
        assert_eq!(picture.matches("class=\"effect\"").count(), 1);
        assert!(picture.contains("main, a&lt;b.c:1"));
        assert!(picture.contains(&format!(">{}…<", "x".repeat(CHARACTERS_MAX))));
        assert!(picture.ends_with("</svg>\n"));
    }

    #[test]
    fn nothing_is_a_picture_too() {
        let nothing = CommunicationView {
            threads: Vec::new(),
            steps: Vec::new(),
            left_out: 0,
            file: None,
        };
        assert!(picture(&nothing).starts_with("<svg "));
    }
}
