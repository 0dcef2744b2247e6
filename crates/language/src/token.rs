//! The words and signs of the language.

use std::ops::Range;

/// What a token is; its text is in the source at its span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name or a word of the language; which one depends on where it stands.
    Word,
    /// A whole number, not yet read.
    Integer,
    /// A number with a fraction or exponent, not yet read.
    Float,
    /// A string in double quotes, escapes not yet read.
    Text,
    /// A character in single quotes, escapes not yet read.
    Character,
    /// `$` and the word after it.
    Register,
    /// A sign.
    Sign(Sign),
    /// A character that no token begins with; reported by the lexer.
    Unknown,
    /// The end of the source; there is always exactly one, the last.
    End,
}

/// One token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it is, in bytes.
    pub span: Range<usize>,
    /// True when white space or a comment stands directly before it.
    pub spaced: bool,
}

macro_rules! signs {
    ($($name:ident $text:literal),* $(,)?) => {
        /// A sign of one to three characters.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Sign { $($name),* }

        impl Sign {
            /// All signs; a sign stands before each of its own beginnings.
            pub(crate) const ALL: &'static [(&'static str, Sign)] = &[$(($text, Sign::$name)),*];

            /// How it is written.
            pub(crate) fn text(self) -> &'static str {
                match self { $(Sign::$name => $text),* }
            }
        }
    };
}

signs! {
    ShiftLeft "<<", ShiftRight ">>", LessEqual "<=", GreaterEqual ">=", Equal "==",
    NotEqual "!=", AndAnd "&&", OrOr "||", Arrow "->", PathSeparator "::", Range "..",
    PlusAssign "+=", MinusAssign "-=", StarAssign "*=",
    Less "<", Greater ">", Assign "=", Not "!", And "&", Or "|", Caret "^", Tilde "~",
    Plus "+", Minus "-", Star "*", Slash "/", Percent "%", At "@", Dot ".", Comma ",",
    Colon ":", Question "?", Semicolon ";", OpenParenthesis "(", CloseParenthesis ")",
    OpenBracket "[", CloseBracket "]", OpenBrace "{", CloseBrace "}",
}
