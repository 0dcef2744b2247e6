//! The tokens of the language.

use std::ops::Range;

/// The kind of a token; its text is in the source at its span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name or keyword; the distinction depends on the context.
    Word,
    /// An integer, not parsed yet.
    Integer,
    /// A floating-point number, not parsed yet.
    Float,
    /// A string in double quotes, with unresolved escapes.
    Text,
    /// A character in single quotes, with unresolved escapes.
    Character,
    /// `$` and the word after it.
    Register,
    /// A sign.
    Sign(Sign),
    /// A character that no token begins with; reported by the lexer.
    Unknown,
    /// The end of the source; always exactly one token, the last.
    End,
}

/// One token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    /// The kind.
    pub kind: TokenKind,
    /// The position, in bytes.
    pub span: Range<usize>,
    /// True if white space or a comment directly precedes it.
    pub spaced: bool,
}

macro_rules! signs {
    ($($name:ident $text:literal),* $(,)?) => {
        /// A sign of one to three characters.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Sign { $($name),* }

        impl Sign {
            /// All signs; a sign precedes every proper prefix of it.
            pub(crate) const ALL: &'static [(&'static str, Sign)] = &[$(($text, Sign::$name)),*];

            /// Returns its text.
            pub(crate) fn text(self) -> &'static str {
                match self { $(Sign::$name => $text),* }
            }
        }
    };
}

signs! {
    ShiftLeftAssign "<<=", ShiftRightAssign ">>=",
    ShiftLeft "<<", ShiftRight ">>", LessEqual "<=", GreaterEqual ">=", Equal "==",
    NotEqual "!=", AndAnd "&&", OrOr "||", Arrow "->", PathSeparator "::", Range "..",
    PlusAssign "+=", MinusAssign "-=", StarAssign "*=", SlashAssign "/=", PercentAssign "%=",
    AndAssign "&=", OrAssign "|=", CaretAssign "^=",
    Less "<", Greater ">", Assign "=", Not "!", And "&", Or "|", Caret "^", Tilde "~",
    Plus "+", Minus "-", Star "*", Slash "/", Percent "%", At "@", Dot ".", Comma ",",
    Colon ":", Question "?", Semicolon ";", OpenParenthesis "(", CloseParenthesis ")",
    OpenBracket "[", CloseBracket "]", OpenBrace "{", CloseBrace "}",
}
