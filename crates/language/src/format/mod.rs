//! One layout for property files.
//!
//! The formatter works on the tokens, not on the tree: it keeps the lines as
//! the author broke them and all comments, and decides indentation, the spaces
//! between tokens, empty lines, and the columns of neighbouring declarations
//! and transitions. So it knows little of the grammar and can change nothing
//! of the meaning.
//!
//! Invariants: the tokens of the result are those of the source, in order;
//! formatting twice is formatting once.

mod columns;
mod lines;
mod spacing;

use crate::lexer::{Tokens, tokenize};
use crate::token::Token;

/// How often a text is laid out until nothing changes any more: what is read
/// from the author's spaces may change with them.
const ROUNDS_MAX: usize = 8;

/// Lays a source text out; nothing when it holds what no token begins with.
///
/// Whether the text is a property is not asked: see [`crate::parse`].
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
    // A space that the lexer or the parser looks at must not come or go.
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
