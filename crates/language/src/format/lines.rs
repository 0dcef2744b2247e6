//! Splits a source into lines of tokens with their indentation.

use crate::token::{Sign, Token, TokenKind};

/// A line of the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// The indentation, in steps.
    pub depth: usize,
    /// True if it continues the previous line.
    pub continued: bool,
    /// True if an empty line precedes it.
    pub separated: bool,
    /// The positions of its tokens.
    pub tokens: std::ops::Range<usize>,
    /// The comment at its end, or the comment that is the whole line.
    pub comment: Option<&'a str>,
}

/// A block whose lines are being read.
struct Block {
    /// The author's indentation of its first line, once known.
    indentation: Option<usize>,
}

struct Reader<'a> {
    source: &'a str,
    tokens: &'a [Token],
    blocks: Vec<Block>,
    lines: Vec<Line<'a>>,
    /// The number of line ends since the last token or comment.
    breaks: usize,
    /// The position of the current source line.
    line_start: usize,
}

/// Splits the tokens into lines where the author did.
pub(super) fn lines<'a>(source: &'a str, tokens: &'a [Token]) -> Vec<Line<'a>> {
    let mut reader = Reader {
        source,
        tokens,
        blocks: vec![Block { indentation: None }],
        lines: Vec::new(),
        breaks: 1,
        line_start: 0,
    };
    let mut end = 0;
    for (position, token) in tokens.iter().enumerate() {
        reader.gap(end..token.span.start, position);
        if token.kind == TokenKind::End {
            break;
        }
        reader.token(position, token);
        end = token.span.end;
    }
    reader.lines
}

impl<'a> Reader<'a> {
    /// Reads white space and comments before the token at `position`.
    fn gap(&mut self, span: std::ops::Range<usize>, position: usize) {
        let start = span.start;
        let text = self.source.get(span).unwrap_or("");
        let mut comment: Option<usize> = None;
        for (offset, character) in text.char_indices() {
            match character {
                '\n' => {
                    if let Some(from) = comment.take() {
                        self.comment(from, start + offset, position);
                    }
                    self.breaks += 1;
                    self.line_start = start + offset + 1;
                }
                '#' | '/' if comment.is_none() => comment = Some(start + offset),
                _ => {}
            }
        }
        if let Some(from) = comment {
            self.comment(from, start + text.len(), position);
        }
    }

    fn comment(&mut self, from: usize, to: usize, position: usize) {
        let text = self.source.get(from..to).unwrap_or("").trim_end();
        if self.breaks == 0
            && let Some(line) = self.lines.last_mut()
        {
            line.comment = Some(text);
            return;
        }
        self.begin(from, position, false);
        if let Some(line) = self.lines.last_mut() {
            line.comment = Some(text);
        }
    }

    fn token(&mut self, position: usize, token: &Token) {
        let closes = token.kind == TokenKind::Sign(Sign::CloseBrace);
        if closes && self.blocks.len() > 1 {
            self.blocks.pop();
        }
        if self.breaks > 0 {
            self.begin(token.span.start, position, closes);
        }
        if token.kind == TokenKind::Sign(Sign::OpenBrace) {
            self.blocks.push(Block { indentation: None });
        }
        if let Some(line) = self.lines.last_mut() {
            line.tokens.end = position + 1;
        }
    }

    /// Begins a line with the token or comment at `at`.
    fn begin(&mut self, at: usize, position: usize, closes: bool) {
        let before = self.source.get(self.line_start..at).unwrap_or("");
        let indentation: usize = before
            .chars()
            .map(|character| if character == '\t' { 8 } else { 1 })
            .sum();
        let depth = self.blocks.len().saturating_sub(1);
        let first = self.lines.is_empty();
        let opened = self.opened_block();
        let continued = match self.blocks.last_mut() {
            Some(block) if !closes => {
                let base = *block.indentation.get_or_insert(indentation);
                indentation > base
            }
            _ => false,
        };
        self.lines.push(Line {
            depth,
            continued,
            // No empty line at the beginning or end of a block.
            separated: self.breaks > 1 && !first && !opened && !closes,
            tokens: position..position,
            comment: None,
        });
        self.breaks = 0;
    }

    /// Returns true if the previous line ends in an open brace.
    fn opened_block(&self) -> bool {
        let last = self
            .lines
            .last()
            .and_then(|line| line.tokens.clone().last());
        let last = last.and_then(|position| self.tokens.get(position));
        last.is_some_and(|token| token.kind == TokenKind::Sign(Sign::OpenBrace))
    }
}
