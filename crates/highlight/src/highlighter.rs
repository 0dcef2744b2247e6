//! The tokens of some lines of a file.

use crate::{Language, Lexer, Span};

/// The number of lines between two of which the state is kept.
const STRIDE: usize = 64;

/// The tokens of the lines of one file, which may be asked for in any order. The lines before are
/// read once, and every 64th state is kept.
#[derive(Debug)]
pub struct Highlighter {
    /// The lexer before line 0, 64, 128 and so on.
    known: Vec<Lexer>,
}

impl Highlighter {
    /// Creates a highlighter for a file in a language.
    pub fn new(language: Language) -> Highlighter {
        Highlighter {
            known: vec![Lexer::new(language)],
        }
    }

    /// Returns the spans of `count` lines from the one with the index `first` on, of which `lines`
    /// has all that are before. It is the same file at each call.
    pub fn spans(
        &mut self,
        lines: &[impl AsRef<str>],
        first: usize,
        count: usize,
    ) -> Vec<Vec<Span>> {
        let first = first.min(lines.len());
        let end = first.saturating_add(count).min(lines.len());
        let start = (first / STRIDE).min(self.known.len() - 1);
        let mut lexer = self.known[start].clone();
        let mut spans = Vec::with_capacity(end - first);
        for (index, line) in lines.iter().enumerate().take(end).skip(start * STRIDE) {
            if index == self.known.len() * STRIDE {
                self.known.push(lexer.clone());
            }
            let found = lexer.line(line.as_ref());
            if index >= first {
                spans.push(found);
            }
        }
        spans
    }
}
