//! A position in a line, and the spans before it.

use crate::{Kind, Span};

/// A line that is being read.
pub(crate) struct Cursor<'l> {
    line: &'l str,
    position: usize,
    spans: Vec<Span>,
}

impl<'l> Cursor<'l> {
    /// Begins a line.
    pub(crate) fn new(line: &'l str) -> Cursor<'l> {
        Cursor {
            line,
            position: 0,
            spans: Vec::new(),
        }
    }

    /// Returns the spans.
    pub(crate) fn into_spans(self) -> Vec<Span> {
        self.spans
    }

    /// Returns the position in bytes.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// Returns what is not read yet.
    pub(crate) fn rest(&self) -> &'l str {
        self.line.get(self.position..).unwrap_or("")
    }

    /// Returns the text from a position to the present one.
    pub(crate) fn since(&self, start: usize) -> &'l str {
        self.line.get(start..self.position).unwrap_or("")
    }

    /// Returns whether only white space is before the position.
    pub(crate) fn is_first(&self) -> bool {
        self.since(0).trim_start().is_empty()
    }

    /// Returns whether the line ends in a backslash.
    pub(crate) fn is_continued(&self) -> bool {
        self.line.ends_with('\\')
    }

    /// Returns the next character.
    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Returns the character after the next `count`.
    pub(crate) fn peek_after(&self, count: usize) -> Option<char> {
        self.rest().chars().nth(count)
    }

    /// Reads a character.
    pub(crate) fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.position += next.len_utf8();
        Some(next)
    }

    /// Reads this text, if it follows.
    pub(crate) fn eat(&mut self, text: &str) -> bool {
        let follows = self.rest().starts_with(text);
        if follows {
            self.position += text.len();
        }
        follows
    }

    /// Reads the characters that fulfil a condition.
    pub(crate) fn eat_while(&mut self, condition: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.position += rest.find(|c| !condition(c)).unwrap_or(rest.len());
    }

    /// Reads to the end of this text. Without it, reads to the end of the line, and returns false.
    pub(crate) fn eat_through(&mut self, text: &str) -> bool {
        let rest = self.rest();
        let found = rest.find(text);
        self.position += found.map_or(rest.len(), |at| at + text.len());
        found.is_some()
    }

    /// Reads to the end of the line.
    pub(crate) fn eat_all(&mut self) {
        self.position = self.line.len();
    }

    /// Makes what was read since a position a span, or a part of the one that ends there.
    pub(crate) fn mark(&mut self, start: usize, kind: Kind) {
        let end = self.position;
        if start >= end {
            return;
        }
        match self.spans.last_mut() {
            Some(last) if last.end == start && last.kind == kind => last.end = end,
            _ => self.spans.push(Span { start, end, kind }),
        }
    }
}
