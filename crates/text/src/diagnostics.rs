//! Diagnostics as compilers show them: file, line, and the position underlined.
//!
//! **Invariant**: rendering never fails, whatever the span and the text are.
//! Positions outside the text are moved to its end.

use crate::escape::{safe, safe_same_length};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use juror_language::{Diagnostic, Severity};
use juror_view::StopReason;
use std::ops::Range;

/// Returns an error at a position, without a code.
pub fn at(message: &str, span: Range<usize>) -> Diagnostic {
    Diagnostic {
        severity: Severity::Error,
        code: "",
        message: message.to_owned(),
        span,
        labels: Vec::new(),
        help: None,
    }
}

/// Returns the file, its text and the diagnostic of a property or scenario that
/// could not be evaluated at a stop. Nothing for other reasons.
pub fn of_stop(reason: &StopReason) -> Option<(&str, &str, Diagnostic)> {
    match reason {
        StopReason::MonitorError {
            property,
            message,
            start,
            end,
            file,
            text,
        } => Some((
            file,
            text,
            at(&format!("{property}: {message}"), *start..*end),
        )),
        StopReason::ScenarioError {
            scenario,
            message,
            help,
            start,
            end,
            file,
            text,
        } => {
            let mut error = at(&format!("{scenario}: {message}"), *start..*end);
            error.help = help.as_deref().map(str::to_owned);
            Some((file, text, error))
        }
        _ => None,
    }
}

/// Returns a diagnostic as text with styles. If the text of the file is empty, only
/// the name of the file is shown.
pub fn render(file: &str, text: &str, diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let file = safe(file);
    let message = safe(&diagnostic.message);
    if text.is_empty() {
        let title = level.primary_title(format!("{file}: {message}"));
        return finish(Group::with_title(title), diagnostic);
    }
    // Some editors write a byte order mark at the beginning of a file.
    let mark = mark_length(text);
    let shown = |span: &Range<usize>| {
        let Range { start, end } = inside(text, span);
        start.saturating_sub(mark)..end.saturating_sub(mark)
    };
    let source = safe_same_length(text.get(mark..).unwrap_or(text));
    let primary = AnnotationKind::Primary.span(shown(&diagnostic.span));
    let others = diagnostic.labels.iter().map(|(span, label)| {
        AnnotationKind::Context
            .span(shown(span))
            .label(safe(label).into_owned())
    });
    let snippet = Snippet::source(source)
        .path(file.into_owned())
        .annotation(primary)
        .annotations(others);
    let mut title = level.primary_title(message.into_owned());
    if !diagnostic.code.is_empty() {
        title = title.id(diagnostic.code);
    }
    finish(title.element(snippet), diagnostic)
}

fn finish<'a>(group: Group<'a>, diagnostic: &'a Diagnostic) -> String {
    let group = match &diagnostic.help {
        Some(help) => group.element(Level::HELP.message(safe(help).into_owned())),
        None => group,
    };
    let mut shown = Renderer::styled().render(&[group]);
    shown.push('\n');
    shown
}

/// Returns all diagnostics of a file as text, with an empty line after each.
pub fn render_all(file: &str, text: &str, diagnostics: &[Diagnostic]) -> String {
    diagnostics
        .iter()
        .map(|diagnostic| render(file, text, diagnostic) + "\n")
        .collect()
}

/// Returns the length in bytes of the byte order mark at the beginning of a text.
fn mark_length(text: &str) -> usize {
    const MARK: char = '\u{feff}';
    if text.starts_with(MARK) {
        MARK.len_utf8()
    } else {
        0
    }
}

/// Returns the span moved into the text, at boundaries of characters.
fn inside(text: &str, span: &Range<usize>) -> Range<usize> {
    let start = text.floor_char_boundary(span.start);
    let end = text.ceil_char_boundary(span.end.min(text.len()));
    start..end.max(start)
}

/// Returns the line and column of a byte position, both from 1; columns count
/// characters.
pub fn line_and_column(text: &str, position: usize) -> (usize, usize) {
    let position = text.floor_char_boundary(position);
    let before = text.get(mark_length(text)..position).unwrap_or("");
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before.get(start..).unwrap_or("").chars().count() + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str, diagnostic: &Diagnostic) -> String {
        anstream::adapter::strip_str(&render("queue.prop", text, diagnostic)).to_string()
    }

    #[test]
    fn a_misspelt_name_is_underlined_and_helped() {
        let text = "event new = after queue_new(size)\nstate init {\n  on nwe -> ready\n}\n";
        let diagnostic = Diagnostic {
            severity: Severity::Error,
            code: "unknown-event",
            message: "no event is named `nwe`".into(),
            span: 52..55,
            labels: vec![(6..9, "declared here".into())],
            help: Some("write `new`".into()),
        };
        assert_eq!(
            plain(text, &diagnostic),
            "error[unknown-event]: no event is named `nwe`
 --> queue.prop:3:6
  |
1 | event new = after queue_new(size)
  |       --- declared here
2 | state init {
3 |   on nwe -> ready
  |      ^^^
  |
  = help: write `new`
"
        );
    }

    #[test]
    fn a_byte_order_mark_is_not_shown() {
        let diagnostic = at("wrong", 3..6);
        assert_eq!(
            plain("\u{feff}inti { skip }\n", &diagnostic),
            "error: wrong
 --> queue.prop:1:1
  |
1 | inti { skip }
  | ^^^
"
        );
        assert_eq!(line_and_column("\u{feff}inti", 3), (1, 1));
        assert_eq!(line_and_column("\u{feff}a\nb", 5), (2, 1));
    }

    #[test]
    fn any_span_of_any_text_is_rendered() {
        let texts = [
            "",
            "x",
            "\u{feff}",
            "\u{feff}x",
            "äöü\n",
            "\u{1b}[2J\r\n\u{9b}\tb",
            "a\n\n\nb",
        ];
        for text in texts {
            for start in 0..9 {
                for end in 0..9 {
                    let mut diagnostic = at("wrong \u{1b}", start..end);
                    diagnostic.labels.push((end..start, "there".into()));
                    diagnostic
                        .labels
                        .push((usize::MAX..usize::MAX, "far".into()));
                    let shown = plain(text, &diagnostic);
                    assert!(shown.contains("wrong \\u{1b}"));
                    assert!(!shown.contains(['\u{1b}', '\u{9b}']));
                }
            }
        }
    }

    #[test]
    fn lines_and_columns_count_from_one() {
        let text = "ab\nä=\n";
        for (position, expected) in [
            (0, (1, 1)),
            (2, (1, 3)),
            (3, (2, 1)),
            (5, (2, 2)),
            (7, (3, 1)),
            (99, (3, 1)),
        ] {
            assert_eq!(line_and_column(text, position), expected, "{position}");
        }
    }
}
