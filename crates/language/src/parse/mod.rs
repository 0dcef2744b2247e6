//! The recursive-descent parser, from tokens to the syntax tree; it never fails.
//!
//! After an error the parser continues with the next item, state or transition.
//!
//! **Invariants:** every loop consumes a token or ends; recursion is limited, so that
//! no input overflows the stack here or in later walks over the tree.

mod assignment;
mod block;
mod bound;
mod braces;
mod capture;
mod cast;
mod declarator;
mod event;
mod expression;
mod formula;
mod literal;
mod logic;
mod message;
mod pattern;
mod primary;
mod property;
mod reaction;
mod scenario;
mod sequence;
mod state;
mod template;
#[cfg(test)]
mod tests;
mod types;

pub(crate) use formula::PREFIX_WORDS;
pub(crate) use primary::TYPE_WORDS;
pub(crate) use types::conversion;

use crate::lexer::{Tokens, tokenize};
use crate::syntax::{Expression, File, Name, TypeName};
use crate::token::{Sign, Token, TokenKind};
use juror_fault::Diagnostic;
use std::ops::Range;

/// The maximum nesting of parentheses, unary operators and blocks.
const DEPTH_MAX: usize = 48;
/// The maximum number of operators and operands in an expression: the left side of a
/// long sum is as deep as the sum is long.
const NODES_MAX: usize = 400;
/// The number of diagnostics after which parsing stops.
const DIAGNOSTICS_MAX: usize = 50;

/// Words that cannot be names, because they have a meaning in expressions.
const RESERVED: &[&str] = &[
    "and", "or", "not", "true", "false", "null", "if", "else", "when", "on", "sizeof",
];

/// Those of them that are names where the program's own names are read and a value is expected.
const NAMES_ELSEWHERE: &[&str] = &["and", "or", "null", "when", "on"];

/// The result of [`parse`]: a tree, complete or not, and diagnostics.
#[derive(Debug, Clone, PartialEq)]
pub struct Parse {
    /// Everything without syntax errors.
    pub file: File,
    /// The diagnostics, in the order in which they were found.
    pub diagnostics: Vec<Diagnostic>,
    /// The ranges of comments, from their sign to the end of their line, in bytes and
    /// in order.
    pub comments: Vec<Range<usize>>,
}

/// Parses a source of properties.
pub fn parse(source: &str) -> Parse {
    let mut parser = Parser::new(source, Dialect::Property);
    let file = parser.file();
    Parse {
        file,
        diagnostics: parser.diagnostics,
        comments: parser.comments,
    }
}

/// Parses one expression of the prompt, with registers, casts, `sizeof`, slices and the
/// rest, and with assignments. Returns no expression only if the text contains none.
pub fn parse_expression(text: &str) -> (Option<Expression>, Vec<Diagnostic>) {
    parse_expression_with_types(text, &[])
}

/// Does the same without assignments, which are refused.
pub fn parse_pure_expression(text: &str) -> (Option<Expression>, Vec<Diagnostic>) {
    one_expression(text, Parser::new(text, Dialect::Prompt))
}

/// Does the same with these names known as types of the program: then `(t)-1` is a cast
/// and not a difference ([`possible_types`]). If `not` is among them, it is a variable of the
/// program, and `not - 1` is a difference.
pub fn parse_expression_with_types(
    text: &str,
    types: &[String],
) -> (Option<Expression>, Vec<Diagnostic>) {
    let mut parser = Parser::new(text, Dialect::Prompt);
    (parser.types, parser.may_assign) = (types, true);
    one_expression(text, parser)
}

/// Returns true if a text contains the sign of an assignment, such as `=` or `+=`, or is an
/// expression that assigns. The text may have errors.
pub fn is_assignment(text: &str) -> bool {
    let mut parser = Parser::new(text, Dialect::Prompt);
    while parser.kind() != TokenKind::End {
        if parser.assignment_sign().is_some() {
            return true;
        }
        parser.advance();
    }
    let (expression, diagnostics) = parse_expression(text);
    diagnostics.is_empty() && expression.is_some_and(|it| it.assigns())
}

/// Returns the names in parentheses that may be types or variables of the program: a
/// sign follows that may be a prefix or a binary operator. `not` before such a sign is among them.
pub fn possible_types(text: &str) -> Vec<String> {
    let mut parser = Parser::new(text, Dialect::Prompt);
    let mut found = Vec::new();
    while parser.kind() != TokenKind::End {
        let is_open = parser.is(Sign::OpenParenthesis);
        if parser.is_word("not") && parser.is_sign_of_operand(1) {
            found.push("not".to_owned());
        }
        parser.advance();
        let named = parser.type_ahead(0).filter(|_| is_open);
        if let Some(named) = named.filter(|it| it.derivations.is_empty())
            && parser.kind_ahead(named.end) == TokenKind::Sign(Sign::CloseParenthesis)
            && parser.is_sign_of_operand(named.end + 1)
        {
            found.push(named.name);
        }
    }
    found
}

/// Parses a type and nothing else: `int (*)[4]`. Returns `None` if the text is no type.
pub fn parse_type(text: &str) -> Option<TypeName> {
    let mut parser = Parser::new(text, Dialect::Prompt);
    let found = parser.whole_type_ahead(0)?;
    parser.position = found.end;
    let span = parser.span_from(0);
    let is_whole = parser.kind() == TokenKind::End && !parser.has_errors();
    is_whole.then_some(TypeName {
        name: found.name.into(),
        derivations: found.derivations,
        span,
    })
}

/// Parses the read of a capture: an expression of the prompt in which `arg 1` and `ret`
/// have a meaning, too.
pub fn parse_read(text: &str) -> (Option<Expression>, Vec<Diagnostic>) {
    one_expression(text, Parser::new(text, Dialect::Read))
}

fn one_expression(text: &str, mut parser: Parser<'_>) -> (Option<Expression>, Vec<Diagnostic>) {
    if parser.kind() == TokenKind::End {
        let error = Diagnostic::error("expected-expression", 0..text.len(), "no expression here");
        parser.report(error);
        return (None, parser.diagnostics);
    }
    let expression = parser.expression();
    if parser.kind() != TokenKind::End && !parser.has_errors() {
        let message = format!("the expression ends before {}", parser.described());
        let error = Diagnostic::error("after-expression", parser.span(), message);
        parser.report(error);
    }
    (Some(expression), parser.diagnostics)
}

/// The context in which an expression is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// Guards and updates: an arrow after a space ends the expression.
    Property,
    /// The read of a capture: `arg 1` and `ret` have a meaning.
    Read,
    /// The subject of an event: a parenthesis after it begins the captures.
    Subject,
    /// The prompt: one expression up to the end of the text.
    Prompt,
    /// Code of the prompt in a scenario: the same, with embedded values in braces.
    Code,
}

struct Parser<'a> {
    source: &'a str,
    tokens: Vec<Token>,
    position: usize,
    diagnostics: Vec<Diagnostic>,
    comments: Vec<Range<usize>>,
    dialect: Dialect,
    /// Whether expressions may assign.
    may_assign: bool,
    /// Names that are known to be types.
    types: &'a [String],
    /// The number of open parentheses and brackets in the current expression.
    enclosed: usize,
    /// The nesting of the current expressions and blocks.
    depth: usize,
    /// The number of nodes in the current expression.
    nodes: usize,
    /// The number of calls of [`Parser::report`], whether the diagnostics were kept or
    /// not.
    reports: usize,
}

impl<'a> Parser<'a> {
    fn new(source: &'a str, dialect: Dialect) -> Parser<'a> {
        let Tokens {
            tokens,
            comments,
            mut diagnostics,
        } = tokenize(source);
        diagnostics.truncate(DIAGNOSTICS_MAX);
        Parser {
            source,
            tokens,
            comments,
            position: 0,
            diagnostics,
            dialect,
            may_assign: false,
            types: &[],
            enclosed: 0,
            depth: 0,
            nodes: 0,
            reports: 0,
        }
    }

    /// Returns the token at an offset; the end token is repeated after the last.
    fn token(&self, ahead: usize) -> Option<&Token> {
        self.tokens
            .get(self.position + ahead)
            .or_else(|| self.tokens.last())
    }

    fn kind(&self) -> TokenKind {
        self.kind_ahead(0)
    }

    fn kind_ahead(&self, ahead: usize) -> TokenKind {
        self.token(ahead).map_or(TokenKind::End, |token| token.kind)
    }

    fn span(&self) -> Range<usize> {
        self.token(0).map_or(0..0, |token| token.span.clone())
    }

    fn start(&self) -> usize {
        self.span().start
    }

    fn spaced(&self) -> bool {
        self.token(0).is_some_and(|token| token.spaced)
    }

    /// Returns the range from `start` to the end of the last token taken.
    fn span_from(&self, start: usize) -> Range<usize> {
        let end = match self.position.checked_sub(1) {
            Some(last) => self.tokens.get(last).map_or(start, |token| token.span.end),
            None => start,
        };
        start..end.max(start)
    }

    fn text_at(&self, span: Range<usize>) -> &'a str {
        self.source.get(span).unwrap_or("")
    }

    fn text(&self) -> &'a str {
        self.text_at(self.span())
    }

    fn advance(&mut self) {
        if self.position + 1 < self.tokens.len() {
            self.position += 1;
        }
    }

    /// Returns the text of the token at an offset.
    fn text_ahead(&self, ahead: usize) -> &'a str {
        let span = self.token(ahead).map_or(0..0, |token| token.span.clone());
        self.text_at(span)
    }

    fn is(&self, sign: Sign) -> bool {
        self.kind() == TokenKind::Sign(sign)
    }

    fn is_word(&self, word: &str) -> bool {
        self.kind() == TokenKind::Word && self.text() == word
    }

    fn take(&mut self, sign: Sign) -> bool {
        let found = self.is(sign);
        if found {
            self.advance();
        }
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// Adds a diagnostic; of several at one position only the first is kept.
    fn report(&mut self, diagnostic: Diagnostic) {
        self.reports += 1;
        let repeated = self
            .diagnostics
            .iter()
            .any(|earlier| earlier.span.start == diagnostic.span.start);
        if !repeated && self.diagnostics.len() < DIAGNOSTICS_MAX {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Describes the current token for a message.
    fn described(&self) -> String {
        match self.kind() {
            TokenKind::End => "the end of the text".to_owned(),
            _ => format!("`{}`", self.text()),
        }
    }

    fn expected(&mut self, what: &str) -> Diagnostic {
        let message = format!("expected {what}, found {}", self.described());
        Diagnostic::error("syntax", self.span(), message)
    }

    /// Takes a sign, or reports that it is missing.
    fn expect(&mut self, sign: Sign) -> bool {
        let found = self.take(sign);
        if !found {
            let error = self.expected(&format!("`{}`", sign.text()));
            self.report(error);
        }
        found
    }

    /// Takes a name, or reports that `what` is missing.
    fn expect_name(&mut self, what: &str) -> Option<Name> {
        let text = self.text();
        if self.kind() != TokenKind::Word {
            let error = self.expected(what);
            self.report(error);
            return None;
        }
        if RESERVED.contains(&text) {
            let error = self.expected(what).help(format!(
                "`{text}` is a word of the language: choose another name"
            ));
            self.report(error);
            return None;
        }
        let name = Name {
            text: text.into(),
            span: self.span(),
        };
        self.advance();
        Some(name)
    }

    /// Calls `inner` one nesting level deeper, or reports that the text is nested too
    /// deeply and returns `None`.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= DEPTH_MAX {
            let error = Diagnostic::error(
                "too-deep",
                self.span(),
                format!("this is nested more than {DEPTH_MAX} levels deep"),
            );
            self.report(error.help("split it, or keep an intermediate value in a variable"));
            return None;
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        Some(result)
    }
}
