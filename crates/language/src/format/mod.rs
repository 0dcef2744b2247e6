//! The formatter of property files.
//!
//! It works on tokens, not on the tree: it keeps the author's line breaks and all
//! comments, and decides the indentation, the spaces between tokens, empty lines, and
//! the columns of adjacent declarations and transitions. So it depends little on the
//! grammar and cannot change the meaning.
//!
//! **Invariants:** the tokens of the result are those of the source, in order;
//! formatting is idempotent.

mod columns;
mod lines;
mod spacing;

use crate::lexer::{Tokens, tokenize};
use crate::token::Token;

/// The maximum number of rounds until the text no longer changes: decisions based on
/// the author's spaces may change with them.
const ROUNDS_MAX: usize = 8;

/// Formats a source text; returns `None` if it contains a character that begins no
/// token.
///
/// The text need not be a valid property: see [`crate::parse`].
pub fn format(source: &str) -> Option<String> {
    let mut formatted = format_once(source)?;
    for _ in 0..ROUNDS_MAX {
        let again = format_once(&formatted)?;
        if again == formatted {
            break;
        }
        formatted = again;
    }
    Some(formatted)
}

fn format_once(source: &str) -> Option<String> {
    let Tokens {
        tokens,
        diagnostics,
        ..
    } = tokenize(source);
    if !diagnostics.is_empty() {
        return None;
    }
    let lines = lines::lines(source, &tokens);
    let formatted = columns::write(source, &tokens, &lines);
    let again = tokenize(&formatted).tokens;
    // A space that the lexer or the parser depends on must not appear or disappear.
    same(source, &tokens, &formatted, &again).then_some(formatted)
}

fn same(source: &str, tokens: &[Token], formatted: &str, again: &[Token]) -> bool {
    let text = |source: &str, token: &Token| source.get(token.span.clone()).map(str::to_owned);
    tokens.len() == again.len()
        && tokens
            .iter()
            .zip(again)
            .all(|(a, b)| a.kind == b.kind && text(source, a) == text(formatted, b))
}

#[cfg(test)]
mod tests;
