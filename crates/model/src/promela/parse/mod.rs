//! Parser: tokens to a syntax tree.
//!
//! An error is reported once, and parsing continues at the next declaration. Uses of an
//! `inline` are parsed in place, with the arguments substituted for the parameters, as
//! the language defines it.

mod declaration;
mod expression;
mod statement;

use super::lexer::{Kind, Token};
use super::syntax::{Name, Reference, Written};
use crate::{Fault, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Maximum nesting depth of statements and expressions.
const DEPTH_MAX: usize = 200;

/// Reserved words.
const WORDS: &[&str] = &[
    "active",
    "assert",
    "atomic",
    "bit",
    "bool",
    "break",
    "byte",
    "chan",
    "c_code",
    "c_decl",
    "c_expr",
    "c_state",
    "c_track",
    "d_proctype",
    "d_step",
    "do",
    "else",
    "empty",
    "enabled",
    "eval",
    "false",
    "fi",
    "for",
    "full",
    "get_priority",
    "goto",
    "hidden",
    "if",
    "init",
    "inline",
    "int",
    "len",
    "local",
    "ltl",
    "mtype",
    "nempty",
    "never",
    "nfull",
    "notrace",
    "np_",
    "od",
    "of",
    "pc_value",
    "pid",
    "printf",
    "printm",
    "priority",
    "proctype",
    "provided",
    "return",
    "run",
    "select",
    "set_priority",
    "short",
    "show",
    "skip",
    "timeout",
    "trace",
    "true",
    "typedef",
    "unless",
    "unsigned",
    "xr",
    "xs",
];

#[derive(Debug, Clone)]
struct Inline {
    parameters: Vec<Arc<str>>,
    body: Vec<Token>,
}

/// An error was recorded; the current construct is abandoned.
struct Reported;

type Parsed<T> = Result<T, Reported>;

pub(super) struct Parser {
    tokens: Vec<Token>,
    position: usize,
    faults: Vec<Fault>,
    written: Written,
    inlines: FxHashMap<Arc<str>, Inline>,
    records: FxHashSet<Arc<str>>,
    processes: FxHashSet<Arc<str>>,
    instances: u32,
    /// By active inline, innermost last: the variable that receives its value.
    returns: Vec<Option<Reference>>,
    depth: usize,
    /// Number of open parentheses, within which a line end does not end a statement.
    parentheses: usize,
    /// Whether a temporal formula is being parsed.
    temporal: bool,
    /// Number of operators of the current expression, and number of open expressions.
    operators: usize,
    expressions: usize,
}

/// Parses a model. Returns what could be parsed, with all errors.
pub(super) fn parse(tokens: Vec<Token>) -> (Written, Vec<Fault>) {
    let mut parser = Parser::new(tokens);
    parser.model();
    (parser.written, parser.faults)
}

/// Parses a temporal formula for a model.
pub(super) fn parse_formula(
    tokens: Vec<Token>,
    processes: impl IntoIterator<Item = Arc<str>>,
) -> Result<super::syntax::Expression, Vec<Fault>> {
    let mut parser = Parser::new(tokens);
    parser.processes.extend(processes);
    let parsed = parser.formula();
    if parser.faults.is_empty() && parser.position < parser.tokens.len() {
        let _: Parsed<()> = parser.unexpected("the end of the formula");
    }
    match (parsed, parser.faults) {
        (Ok(formula), faults) if faults.is_empty() => Ok(formula),
        (_, faults) => Err(faults),
    }
}

impl Parser {
    fn new(tokens: Vec<Token>) -> Parser {
        let names_after = |word: &str| -> FxHashSet<Arc<str>> {
            let pairs = tokens.windows(2);
            pairs
                .filter(|pair| pair[0].is(word))
                .filter_map(|pair| pair[1].name().cloned())
                .collect()
        };
        // Both may be used before they are declared.
        let (records, processes) = (names_after("typedef"), names_after("proctype"));
        Parser {
            tokens,
            position: 0,
            faults: Vec::new(),
            written: Written::default(),
            inlines: FxHashMap::default(),
            records,
            processes,
            instances: 0,
            returns: Vec::new(),
            depth: 0,
            parentheses: 0,
            temporal: false,
            operators: 0,
            expressions: 0,
        }
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.position)
    }

    fn peek_at(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.position + ahead)
    }

    fn next_is(&self, text: &str) -> bool {
        self.peek().is_some_and(|token| token.is(text))
    }

    /// Returns whether the next token is this mark on the same line. The end of a line ends
    /// a statement, so a mark after it begins the next one: `(` a condition, `!` a
    /// negation.
    fn continues_with(&self, text: &str) -> bool {
        self.next_is(text) && self.is_continued(0)
    }

    /// Returns whether the token at a distance continues the line, or is between
    /// parentheses, where the end of a line does not matter.
    fn is_continued(&self, ahead: usize) -> bool {
        let token = self.peek_at(ahead);
        self.parentheses > 0 || token.is_some_and(|token| !token.begins_line)
    }

    fn is_at(&self, ahead: usize, text: &str) -> bool {
        self.peek_at(ahead).is_some_and(|token| token.is(text))
    }

    /// Consumes the token if it is this word or mark. Returns whether it was.
    fn take(&mut self, text: &str) -> bool {
        let is = self.next_is(text);
        self.position += usize::from(is);
        is
    }

    fn expect(&mut self, text: &str) -> Parsed<Span> {
        let span = self.span();
        if self.take(text) {
            Ok(span)
        } else {
            self.unexpected(&format!("`{text}`"))
        }
    }

    /// Returns the span of the next token; at the end, that of the last one.
    fn span(&self) -> Span {
        let token = self.peek().or(self.tokens.last());
        token.map(|token| token.span).unwrap_or_default()
    }

    /// Returns the span of the previous token.
    fn last_span(&self) -> Span {
        let before = self.position.checked_sub(1);
        let token = before.and_then(|before| self.tokens.get(before));
        token.map(|token| token.span).unwrap_or_default()
    }

    /// Returns the span from the token of this number to the previous token. If the two
    /// are not in the same argument of an inline, the span is within the body of the
    /// inline, from the parameter of one to that of the other, since the inline and its
    /// use are far apart in the text.
    fn since(&self, start: usize) -> Span {
        let last = self.position.checked_sub(1).unwrap_or(start);
        let ends = [start, last].map(|at| self.tokens.get(at).or(self.tokens.last()));
        let [Some(first), Some(last)] = ends else {
            return Span::default();
        };
        if first.stands_for == last.stands_for {
            return first.span.to(last.span);
        }
        let place = |token: &Token| token.stands_for.unwrap_or(token.span);
        place(first).to(place(last))
    }

    fn unexpected<T>(&mut self, wanted: &str) -> Parsed<T> {
        let found = match self.peek() {
            Some(token) => format!("`{token}`"),
            None => "the end of the model".to_owned(),
        };
        let mut fault = Fault::new(
            "syntax",
            format!("expected {wanted}, found {found}"),
            Some(self.span()),
        );
        if let Some(token) = self.peek()
            && token.begins_line
            && matches!(
                token.kind,
                Kind::Punctuation("||" | "&&" | "+" | "-" | "*" | "/" | "==" | "!=")
            )
        {
            fault =
                fault.help("the end of a line ends a statement: put the expression in parentheses");
        }
        if self
            .peek()
            .is_some_and(|token| token.kind == Kind::Punctuation("="))
        {
            fault = fault.help("`==` compares; `=` gives a variable a value, as a statement");
        }
        self.faults.push(fault);
        Err(Reported)
    }

    fn refuse<T>(
        &mut self,
        code: &'static str,
        message: impl Into<String>,
        span: Span,
    ) -> Parsed<T> {
        self.faults.push(Fault::new(code, message, Some(span)));
        Err(Reported)
    }

    /// Parses a name that is not reserved.
    fn name(&mut self) -> Parsed<Name> {
        match self.peek() {
            Some(Token {
                kind: Kind::Name(text),
                span,
                ..
            }) if !WORDS.contains(&&**text) => {
                let name = Name {
                    text: text.clone(),
                    span: *span,
                };
                self.position += 1;
                Ok(name)
            }
            _ => self.no_name(),
        }
    }

    fn no_name(&mut self) -> Parsed<Name> {
        match WORDS.iter().find(|word| self.next_is(word)) {
            Some(word) => {
                let message = format!("expected a name, but `{word}` is a reserved word");
                self.refuse("syntax", message, self.span())
            }
            None => self.unexpected("a name"),
        }
    }

    /// Calls a function one nesting level deeper.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Parser) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEPTH_MAX {
            let span = self.span();
            return self.refuse("too-deep", "this is nested too deeply", span);
        }
        self.depth += 1;
        let parsed = inner(self);
        self.depth -= 1;
        parsed
    }

    /// Calls a function between parentheses, which it consumes.
    fn in_parentheses<T>(&mut self, inner: impl FnOnce(&mut Parser) -> Parsed<T>) -> Parsed<T> {
        self.expect("(")?;
        self.parentheses += 1;
        let parsed = self.nested(inner);
        self.parentheses -= 1;
        let parsed = parsed?;
        self.expect(")")?;
        Ok(parsed)
    }

    /// Returns the tokens between two positions as text.
    fn text(&self, from: usize, to: usize) -> Arc<str> {
        let mut text = String::new();
        let mut last: Option<&Token> = None;
        for token in self.tokens.get(from..to).unwrap_or(&[]) {
            if last.is_some_and(|last| is_spaced(last, token)) {
                text.push(' ');
            }
            text += &token.to_string();
            last = Some(token);
        }
        text.into()
    }
}

/// Returns whether two tokens are separated by a space in that text.
fn is_spaced(left: &Token, right: &Token) -> bool {
    let tight_left = ["(", "[", "!", "?", "!!", "??", ".", "@", "~", "<>", ":"];
    let tight_right = [
        ")", "]", ",", ";", "(", "[", "!", "?", "!!", "??", ".", "@", "++", "--", ":",
    ];
    let is_one = |token: &Token, marks: &[&str]| marks.iter().any(|mark| token.is(mark));
    !is_one(left, &tight_left) && !is_one(right, &tight_right)
        || is_one(right, &["(", "!"])
            && matches!(
                left.kind,
                Kind::Punctuation(
                    "&&" | "||" | "==" | "=" | "->" | "+" | "-" | "*" | "/" | "%" | "<" | ">" | ","
                )
            )
}
