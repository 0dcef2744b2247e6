//! Spaces between tokens.
//!
//! If the parser itself depends on spaces (`->` for a field or for a target state, a
//! repetition or a product), the author's choice is kept.

use crate::parse::TYPE_WORDS;
use crate::token::{Sign, Token, TokenKind};

/// Words that are followed by an operand, never by the parenthesis of a call.
const PREFIX_WORDS: &[&str] = &[
    "when",
    "and",
    "or",
    "not",
    "in",
    "if",
    "else",
    "for",
    "where",
    "unless",
    "implies",
    "iff",
    "until",
    "release",
    "since",
    "trigger",
    "always",
    "eventually",
    "next",
    "once",
    "historically",
    "yesterday",
    "returns",
    "return",
    "ltl",
    "never",
    "to",
    "after",
    "before",
    "between",
    "precedes",
    "responds",
];

/// The tokens of one line and their properties.
pub(super) struct Spacing<'a> {
    pub source: &'a str,
    pub tokens: &'a [Token],
}

impl Spacing<'_> {
    fn text(&self, position: usize) -> &str {
        let token = self.tokens.get(position);
        token
            .and_then(|token| self.source.get(token.span.clone()))
            .unwrap_or("")
    }

    fn sign(&self, position: usize) -> Option<Sign> {
        match self.tokens.get(position)?.kind {
            TokenKind::Sign(sign) => Some(sign),
            _ => None,
        }
    }

    fn spaced(&self, position: usize) -> bool {
        self.tokens.get(position).is_none_or(|token| token.spaced)
    }

    fn is_prefix_word(&self, position: usize) -> bool {
        let kind = self.tokens.get(position).map(|token| token.kind);
        kind == Some(TokenKind::Word) && PREFIX_WORDS.contains(&self.text(position))
    }

    /// Returns true if an operand ends with this token.
    fn ends_operand(&self, position: usize) -> bool {
        match self.tokens.get(position).map(|token| token.kind) {
            Some(TokenKind::Sign(sign)) => matches!(
                sign,
                Sign::CloseParenthesis | Sign::CloseBracket | Sign::CloseBrace
            ),
            Some(TokenKind::Word) => !self.is_prefix_word(position),
            Some(TokenKind::End) | None => false,
            Some(_) => true,
        }
    }

    /// Returns true if this sign belongs to the operand after it (`-x`, `*p`).
    fn is_prefix(&self, position: usize) -> bool {
        let Some(sign) = self.sign(position) else {
            return false;
        };
        match sign {
            Sign::Not | Sign::Tilde => true,
            Sign::Minus | Sign::Star | Sign::And | Sign::Caret | Sign::Plus => {
                let first = position == 0;
                let operand = !first && self.ends_operand(position - 1);
                !operand
                    || self.follows_type(position)
                    || self.spaced(position) && !self.spaced(position + 1)
            }
            _ => false,
        }
    }

    /// Returns true if this sign belongs to the operand before it (`read*`).
    fn is_postfix(&self, position: usize) -> bool {
        let sign = self.sign(position);
        if sign == Some(Sign::Question) {
            // `read?` in a sequence, while `a ? b : c` is written with spaces.
            return !self.spaced(position);
        }
        let repeats = matches!(sign, Some(Sign::Star | Sign::Plus));
        let followed = self.spaced(position + 1)
            || matches!(
                self.sign(position + 1),
                Some(
                    Sign::CloseParenthesis
                        | Sign::CloseBracket
                        | Sign::CloseBrace
                        | Sign::Comma
                        | Sign::Semicolon
                )
            );
        repeats && !self.spaced(position) && followed
    }

    /// Returns true if a space precedes the token at `position`, which is not the first
    /// of its line.
    pub(super) fn before(&self, position: usize) -> bool {
        use Sign::{
            Arrow, At, CloseBrace, CloseBracket, CloseParenthesis, Colon, Comma, Dot, OpenBrace,
            OpenBracket, OpenParenthesis, PathSeparator, Range, Semicolon,
        };
        let spaced = self.spaced(position);
        let previous = position.saturating_sub(1);
        match self.sign(previous) {
            Some(OpenParenthesis | OpenBracket) => return false,
            Some(Arrow) => return self.leads(previous),
            Some(Dot | PathSeparator | Range | At) => return spaced,
            Some(OpenBrace) => return spaced,
            Some(CloseBrace) if self.follows_type(position) => return false,
            _ => {}
        }
        match self.sign(position) {
            Some(Colon) if self.is_of_choice(position) => return true,
            Some(Comma | Semicolon | Colon | CloseParenthesis | CloseBracket) => return false,
            Some(Arrow) => return self.leads(position),
            Some(Dot | PathSeparator | Range | At) => return spaced,
            Some(CloseBrace) => return self.closes_spaced(position),
            Some(OpenParenthesis | OpenBracket) => {
                let word = self.ends_operand(previous);
                return if word {
                    spaced
                } else {
                    !self.is_prefix(previous)
                };
            }
            Some(OpenBrace) => return spaced || !self.is_count(position),
            _ => {}
        }
        if self.is_prefix(previous) {
            return false;
        }
        !self.is_postfix(position)
    }

    /// Returns true if an arrow leads to a state and not to a field; the parser decides
    /// by the space before it.
    pub(super) fn leads(&self, position: usize) -> bool {
        let previous = position.saturating_sub(1);
        self.spaced(position)
            || self.sign(previous) == Some(Sign::CloseBrace)
            || self.text(previous) == "else"
    }

    /// Returns true if the token directly follows a type in braces, as in `{int}p`, by
    /// which the parser distinguishes it from a set.
    fn follows_type(&self, position: usize) -> bool {
        let Some(close) = position.checked_sub(1) else {
            return false;
        };
        if self.sign(close) != Some(Sign::CloseBrace) || self.spaced(position) {
            return false;
        }
        let open = (0..close)
            .rev()
            .find(|&at| self.sign(at) == Some(Sign::OpenBrace));
        open.is_some_and(|open| TYPE_WORDS.contains(&self.text(open + 1)))
    }

    /// Returns true if this colon belongs to `a ? b : c`.
    fn is_of_choice(&self, position: usize) -> bool {
        let (mut depth, mut colons) = (0_usize, 0_usize);
        for at in (0..position).rev() {
            match self.sign(at) {
                Some(Sign::CloseParenthesis | Sign::CloseBracket | Sign::CloseBrace) => depth += 1,
                Some(Sign::OpenParenthesis | Sign::OpenBracket | Sign::OpenBrace) => {
                    match depth.checked_sub(1) {
                        Some(outer) => depth = outer,
                        None => return false,
                    }
                }
                Some(Sign::Comma) if depth == 0 => return false,
                Some(Sign::Colon) if depth == 0 => colons += 1,
                Some(Sign::Question) if depth == 0 && !self.is_postfix(at) => {
                    match colons.checked_sub(1) {
                        Some(inner) => colons = inner,
                        None => return true,
                    }
                }
                _ => {}
            }
        }
        false
    }

    /// Returns true if this brace contains a repetition count (`x{2,5}`).
    fn is_count(&self, position: usize) -> bool {
        let next = self.tokens.get(position + 1).map(|token| token.kind);
        matches!(
            next,
            Some(TokenKind::Integer | TokenKind::Sign(Sign::Comma))
        )
    }

    /// Returns true if a brace closes with a space, as it was opened: `{ x }`, `{1,
    /// 2}`.
    fn closes_spaced(&self, position: usize) -> bool {
        let mut depth = 0_usize;
        for at in (0..position).rev() {
            match self.sign(at) {
                Some(Sign::CloseBrace) => depth += 1,
                Some(Sign::OpenBrace) if depth == 0 => {
                    return at + 1 < position && self.spaced(at + 1);
                }
                Some(Sign::OpenBrace) => depth -= 1,
                _ => {}
            }
        }
        self.spaced(position)
    }
}
