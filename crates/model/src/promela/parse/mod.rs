//! Tokens to what is written.
//!
//! A mistake is reported once, and parsing goes on at the next declaration.
//! Uses of an `inline` are parsed where they stand, with the arguments in place
//! of the parameters, as the language has it.

mod declaration;
mod expression;
mod statement;

use super::lexer::{Kind, Token};
use super::syntax::{Name, Reference, Written};
use crate::{Fault, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// How deep statements and expressions may be nested.
const DEPTH_MAX: usize = 200;

/// Words that are no names of the model's own.
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
    "in",
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

/// A mistake was found and is noted; what was being read is given up.
struct GivenUp;

type Parsed<T> = Result<T, GivenUp>;

pub(super) struct Parser {
    tokens: Vec<Token>,
    position: usize,
    faults: Vec<Fault>,
    written: Written,
    inlines: FxHashMap<Arc<str>, Inline>,
    records: FxHashSet<Arc<str>>,
    processes: FxHashSet<Arc<str>>,
    instances: u32,
    /// By inline that is being used, the innermost last: what its value goes to.
    returns: Vec<Option<Reference>>,
    depth: usize,
    /// How many parentheses are open: no end of a line ends a statement there.
    parentheses: usize,
    /// A formula of temporal logic is read.
    temporal: bool,
    /// The operators of the present expression, and how many are open.
    operators: usize,
    expressions: usize,
}

/// Reads a model. What could be read is given with all mistakes.
pub(super) fn parse(tokens: Vec<Token>) -> (Written, Vec<Fault>) {
    let mut parser = Parser::new(tokens);
    parser.model();
    (parser.written, parser.faults)
}

/// Reads a formula of temporal logic for a model.
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

    fn is_at(&self, ahead: usize, text: &str) -> bool {
        self.peek_at(ahead).is_some_and(|token| token.is(text))
    }

    /// Takes the token if it is this word or mark.
    fn take(&mut self, text: &str) -> bool {
        let is = self.next_is(text);
        self.position += usize::from(is);
        is
    }

    fn expect(&mut self, text: &str) -> Parsed<Span> {
        let span = self.span();
        match self.take(text) {
            true => Ok(span),
            false => self.unexpected(&format!("`{text}`")),
        }
    }

    /// Where the next token is; at the end, where the last one was.
    fn span(&self) -> Span {
        let token = self.peek().or(self.tokens.last());
        token.map(|token| token.span).unwrap_or_default()
    }

    /// Where the token before is.
    fn last_span(&self) -> Span {
        let before = self.position.checked_sub(1);
        let token = before.and_then(|before| self.tokens.get(before));
        token.map(|token| token.span).unwrap_or_default()
    }

    /// From a token of this number to the token before. If only one of them is in an
    /// argument of an inline, or they are in two, the place is in the inline, from where the
    /// one stands there to where the other does: the text of an inline and that of its use
    /// are far apart.
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
        Err(GivenUp)
    }

    fn refuse<T>(
        &mut self,
        code: &'static str,
        message: impl Into<String>,
        span: Span,
    ) -> Parsed<T> {
        self.faults.push(Fault::new(code, message, Some(span)));
        Err(GivenUp)
    }

    /// A name of the model's own.
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
                let message = format!("expected a name, but `{word}` is a word of the language");
                self.refuse("syntax", message, self.span())
            }
            None => self.unexpected("a name"),
        }
    }

    /// Calls a function one level deeper.
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

    /// Calls a function between parentheses, which it reads.
    fn in_parentheses<T>(&mut self, inner: impl FnOnce(&mut Parser) -> Parsed<T>) -> Parsed<T> {
        self.expect("(")?;
        self.parentheses += 1;
        let parsed = self.nested(inner);
        self.parentheses -= 1;
        let parsed = parsed?;
        self.expect(")")?;
        Ok(parsed)
    }

    /// The tokens between two positions, as text.
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

/// Whether a space stands between two tokens.
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
