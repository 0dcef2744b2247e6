//! Parser of text with embedded values: `"cell {i}"`.
//!
//! The text in braces is parsed as an expression of its own, whose positions are those
//! of the source.

use super::{Dialect, Parser};
use crate::lexer::tokenize;
use crate::syntax::{Expression, ExpressionKind, Message, MessagePiece};
use crate::token::{Sign, TokenKind};
use juror_fault::Diagnostic;
use std::ops::Range;

/// The maximum number of values in one text: each is parsed separately.
const VALUES_MAX: usize = 64;

impl Parser<'_> {
    /// `"text", value`
    pub(super) fn messages(&mut self) -> Option<Vec<Message>> {
        let mut messages = Vec::new();
        loop {
            if !self.begins_operand() {
                let error = self.expected("a message");
                self.report(error.help("for example: `print \"the queue holds {count}\"`"));
                return None;
            }
            messages.push(self.message()?);
            if !self.take(Sign::Comma) {
                return Some(messages);
            }
        }
    }

    fn message(&mut self) -> Option<Message> {
        if self.kind() == TokenKind::Text {
            return self.text_with_values();
        }
        let value = self.expression();
        let span = value.span.clone();
        Some(Message {
            pieces: vec![MessagePiece::Value(value)],
            span,
        })
    }

    /// Parses `"cell {i}"`; `{{` and `}}` stand for braces.
    pub(super) fn text_with_values(&mut self) -> Option<Message> {
        let span = self.span();
        let raw = self.text();
        self.quoted_text();
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut values = 0;
        let end = raw.len() - usize::from(raw.len() > 1 && raw.ends_with('"'));
        let mut position = 1.min(end);
        while let Some(rest) = raw.get(position..end).filter(|rest| !rest.is_empty()) {
            if rest.starts_with("{{") || rest.starts_with("}}") {
                literal.push_str(rest.get(..1).unwrap_or(""));
                position += 2;
                continue;
            }
            let at = span.start + position;
            if let Some(inner) = rest.strip_prefix('{') {
                let Some(length) = closing_brace(inner) else {
                    let error = Diagnostic::error(
                        "unclosed-value",
                        at..span.end,
                        "this value in the text is not closed",
                    );
                    self.report(error.help("close it with `}`, or write `{{` for a brace"));
                    return None;
                };
                values += 1;
                if values > VALUES_MAX {
                    let message = format!("a text can have at most {VALUES_MAX} values");
                    self.report(Diagnostic::error("too-long", at..span.end, message));
                    return None;
                }
                if !literal.is_empty() {
                    pieces.push(MessagePiece::Text(unescaped(&std::mem::take(&mut literal))));
                }
                let inner = at + 1..at + 1 + length;
                pieces.push(MessagePiece::Value(self.value_in_text(inner)?));
                position += length + 2;
                continue;
            }
            if rest.starts_with('}') {
                let error = Diagnostic::error("unopened-value", at..at + 1, "nothing is open here");
                self.report(error.help("write `}}` for a brace"));
                return None;
            }
            let mut characters = rest.chars();
            for character in characters
                .by_ref()
                .take(1 + usize::from(rest.starts_with('\\')))
            {
                literal.push(character);
            }
            position = end - characters.as_str().len();
        }
        if !literal.is_empty() || pieces.is_empty() {
            pieces.push(MessagePiece::Text(unescaped(&literal)));
        }
        Some(Message { pieces, span })
    }

    /// Parses a part of the source as one expression.
    fn value_in_text(&mut self, span: Range<usize>) -> Option<Expression> {
        let inner = self.text_at(span.clone());
        let mut found = tokenize(inner);
        for token in &mut found.tokens {
            token.span = token.span.start + span.start..token.span.end + span.start;
        }
        let mut parser = Parser {
            source: self.source,
            tokens: found.tokens,
            position: 0,
            diagnostics: Vec::new(),
            comments: Vec::new(),
            dialect: Dialect::Property,
            may_assign: false,
            types: self.types,
            enclosed: 0,
            depth: self.depth,
            nodes: 0,
            reports: 0,
        };
        for mut diagnostic in found.diagnostics {
            diagnostic.span = diagnostic.span.start + span.start..diagnostic.span.end + span.start;
            parser.report(diagnostic);
        }
        let mut expression = parser.expression();
        let is_whole = parser.kind() == TokenKind::End;
        if !is_whole && !parser.has_errors() {
            let error = parser.expected("`}` after the value");
            parser.report(error);
        }
        if inner.contains('\\') && !parser.has_errors() {
            let error = Diagnostic::error(
                "escape-in-value",
                span.clone(),
                "a value in a text cannot contain text with escapes",
            );
            parser.report(error.help("assign it to a variable first"));
        }
        let is_sound = !parser.has_errors();
        for diagnostic in parser.diagnostics {
            self.report(diagnostic);
        }
        if !is_sound {
            expression.kind = ExpressionKind::Error;
        }
        is_sound.then_some(expression)
    }
}

/// Returns the position of the matching closing brace.
fn closing_brace(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    for (position, character) in text.char_indices() {
        match character {
            '{' => open += 1,
            '}' if open == 0 => return Some(position),
            '}' => open -= 1,
            '"' => return None,
            _ => {}
        }
    }
    None
}

/// Resolves the escapes of a text; invalid ones have been reported.
fn unescaped(raw: &str) -> String {
    let quoted = format!("\"{raw}\"");
    let mut parser = Parser::new(&quoted, Dialect::Prompt);
    parser.quoted_text()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;
    use crate::syntax::ReactionKind;

    fn pieces(text: &str) -> Result<Vec<String>, String> {
        let source = format!("scenario s on start {{ print {text} }}");
        let parsed = parse(&source);
        if let Some(diagnostic) = parsed.diagnostics.first() {
            return Err(format!(
                "{}: {}",
                diagnostic.code,
                &source[diagnostic.span.clone()]
            ));
        }
        let ReactionKind::Print(messages) = &parsed.file.scenarios[0].reactions[0].body[0].kind
        else {
            return Err("no print".to_owned());
        };
        let pieces = messages.iter().flat_map(|message| &message.pieces);
        Ok(pieces
            .map(|piece| match piece {
                MessagePiece::Text(text) => format!("{text:?}"),
                MessagePiece::Value(value) => source[value.span.clone()].to_owned(),
            })
            .collect())
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let expected: Vec<String> = expected.iter().map(|&it| it.to_owned()).collect();
        assert_eq!(pieces(text), Ok(expected), "{text}");
    }

    #[track_caller]
    fn wrong(text: &str, code: &str, at: &str) {
        assert_eq!(pieces(text), Err(format!("{code}: {at}")), "{text}");
    }

    #[test]
    fn a_text_has_values_in_it() {
        check(
            r#""cell {i} of {n + 1}""#,
            &[r#""cell ""#, "i", r#"" of ""#, "n + 1"],
        );
        check(r#""{a}{b}""#, &["a", "b"]);
        check(r#""a {{b}} \n""#, &[r#""a {b} \n""#]);
        check(r#""", x"#, &[r#""""#, "x"]);
        check(r#""{len({1, 2})} ü""#, &["len({1, 2})", r#"" ü""#]);
        check(r#"x, "y", z + 1"#, &["x", r#""y""#, "z + 1"]);
    }

    #[test]
    fn values_in_texts_have_an_end() {
        wrong(r#""a {b""#, "unclosed-value", r#"{b""#);
        wrong(r#""a } b""#, "unopened-value", "}");
        wrong(r#""a {b c}""#, "syntax", "c");
        wrong(r#""a {}""#, "syntax", "");
    }
}
