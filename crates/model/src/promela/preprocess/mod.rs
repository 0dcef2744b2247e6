//! The preprocessor: macros, included files, conditions.
//!
//! It works on tokens. Expanded tokens have the span of the macro's use, as a reader of a
//! message expects. Recursive macros are not expanded again, as in C.

mod expansion;
#[cfg(test)]
mod tests;

use super::lexer::{Kind, Token, lex};
use crate::{Fault, Span};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

pub(super) use expansion::substitute;

/// A source text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// The file name.
    pub name: String,
    /// The contents.
    pub text: String,
}

/// A function that returns the text of an included file, or the reason that it cannot be
/// read.
pub type Reader<'a> = dyn FnMut(&str) -> Result<Text, String> + 'a;

/// Maximum number of tokens after expansion; a few lines of macros could produce more
/// than fits in memory.
const TOKENS_MAX: usize = 4_000_000;
const INCLUDES_MAX: usize = 64;
/// Maximum nesting depth of macro expansions in arguments.
const DEPTH_MAX: usize = 200;

#[derive(Debug, Clone)]
struct Macro {
    parameters: Option<Vec<Arc<str>>>,
    body: Vec<Token>,
}

/// Pending tokens of a macro or a file.
struct Frame {
    tokens: std::vec::IntoIter<Token>,
    /// The macro they come from, and the span of its use.
    origin: Option<(Arc<str>, Span)>,
}

/// An open condition.
struct Condition {
    span: Span,
    /// Whether its current branch is active.
    taken: bool,
    /// Whether one of its branches has been active.
    done: bool,
    /// Whether it is in an active branch.
    within: bool,
}

/// The state of the preprocessor.
pub(super) struct Preprocessor<'a, 'r> {
    reader: &'a mut Reader<'r>,
    pub texts: Vec<Text>,
    /// The texts that are included and do not begin as a model does, with the place of
    /// the directive.
    pub foreign: Vec<(u32, Span)>,
    pub tokens: Vec<Token>,
    pub faults: Vec<Fault>,
    macros: FxHashMap<Arc<str>, Macro>,
    /// The current expansions; the first ones wait while an argument is expanded on its
    /// own.
    frames: Vec<Frame>,
    outside: usize,
    depth: usize,
    conditions: Vec<Condition>,
    is_full: bool,
    /// Whether the next token begins a line, since a macro before it on its line has an
    /// empty expansion.
    begins_line: bool,
    /// Number of tokens of arguments so far. Each level of nested arguments collects those
    /// inside it again.
    collected: usize,
}

impl<'a, 'r> Preprocessor<'a, 'r> {
    /// Preprocesses a text with predefined macros (name and definition).
    pub fn run(
        text: Text,
        definitions: &[(String, String)],
        reader: &'a mut Reader<'r>,
    ) -> Preprocessor<'a, 'r> {
        let mut this = Preprocessor {
            reader,
            texts: Vec::new(),
            foreign: Vec::new(),
            tokens: Vec::new(),
            faults: Vec::new(),
            macros: FxHashMap::default(),
            frames: Vec::new(),
            outside: 0,
            depth: 0,
            conditions: Vec::new(),
            is_full: false,
            begins_line: false,
            collected: 0,
        };
        this.file(text);
        for (name, meaning) in definitions {
            let (body, faults) = lex(0, meaning);
            this.faults.extend(faults);
            let parameters = None;
            this.macros
                .insert(name.as_str().into(), Macro { parameters, body });
        }
        let (first, faults) = this.tokens_of(0);
        this.lines(first, faults);
        this
    }

    /// Returns the tokens of a further text, such as a formula, with the same macros.
    pub fn more(&mut self, text: &str) -> Vec<Token> {
        let source = self.file(Text {
            name: "formula".to_owned(),
            text: text.to_owned(),
        });
        let (tokens, faults) = self.tokens_of(source);
        self.faults.extend(faults);
        self.expand(tokens)
    }

    fn file(&mut self, text: Text) -> u32 {
        self.texts.push(text);
        self.texts.len() as u32 - 1
    }

    fn tokens_of(&self, source: u32) -> (Vec<Token>, Vec<Fault>) {
        let text = self
            .texts
            .get(source as usize)
            .map_or("", |text| &text.text);
        lex(source, text)
    }

    /// Processes the lines of a file: directives, and the text between them. Lexical
    /// errors are reported only in active branches.
    fn lines(&mut self, tokens: Vec<Token>, faults: Vec<Fault>) {
        let open = self.conditions.len();
        let mut skipped: Vec<Range<u32>> = Vec::new();
        let mut tokens = tokens.into_iter().peekable();
        let mut text = Vec::new();
        while let Some(token) = tokens.next() {
            if !(token.begins_line && token.is("#")) {
                if self.is_taken() {
                    text.push(token);
                }
                continue;
            }
            let taken = std::mem::take(&mut text);
            self.expand_into_tokens(taken);
            let mut line = Vec::new();
            while let Some(token) = tokens.next_if(|token| !token.begins_line) {
                line.push(token);
            }
            self.directive(token.span, &line);
            if let Some(last) = skipped.last_mut()
                && last.end == u32::MAX
            {
                last.end = token.span.start;
            }
            if !self.is_taken() {
                skipped.push(token.span.end..u32::MAX);
            }
        }
        let is_skipped = |at: u32| skipped.iter().any(|range| range.contains(&at));
        let is_active = |fault: &Fault| !fault.span.is_some_and(|span| is_skipped(span.start));
        self.faults.extend(faults.into_iter().filter(is_active));
        self.expand_into_tokens(text);
        for condition in self.conditions.split_off(open) {
            let message = "this condition has no `#endif`";
            self.fault("open-condition", message, condition.span);
        }
    }

    fn is_taken(&self) -> bool {
        self.conditions
            .last()
            .is_none_or(|condition| condition.taken)
    }

    fn fault(&mut self, code: &'static str, message: impl Into<String>, span: Span) {
        self.faults.push(Fault::new(code, message, Some(span)));
    }

    fn directive(&mut self, at: Span, line: &[Token]) {
        let Some((word, rest)) = line.split_first() else {
            return;
        };
        let name = word.name().map_or("", |name| &**name);
        match name {
            "if" | "ifdef" | "ifndef" => {
                let within = self.is_taken();
                let taken = within && self.condition(name, at, rest);
                self.conditions.push(Condition {
                    span: at.to(word.span),
                    taken,
                    done: taken,
                    within,
                });
            }
            "elif" | "else" | "endif" => self.next_part(name, at, rest),
            _ if !self.is_taken() => {}
            "define" => self.define(at, rest),
            "undef" => match rest.first().and_then(Token::name) {
                Some(name) => drop(self.macros.remove(name)),
                None => self.fault("directive", "`#undef` needs a name", at),
            },
            "include" => self.include(at, rest),
            "error" => {
                let message: Vec<String> = rest.iter().map(ToString::to_string).collect();
                self.fault("error-directive", message.join(" "), at.to(word.span));
            }
            "line" | "pragma" | "ident" | "warning" => {}
            // Output of other preprocessors: a line number and a file.
            _ if matches!(word.kind, Kind::Number(_)) => {}
            _ => {
                let message = format!("`#{word}` is not a directive");
                self.fault("directive", message, at.to(word.span));
            }
        }
    }

    fn next_part(&mut self, name: &str, at: Span, rest: &[Token]) {
        let Some(condition) = self.conditions.last() else {
            let message = format!("`#{name}` has no matching `#if`");
            return self.fault("directive", message, at);
        };
        if name == "endif" {
            self.conditions.pop();
            return;
        }
        let may = condition.within && !condition.done;
        let taken = may && (name == "else" || self.condition("if", at, rest));
        if let Some(condition) = self.conditions.last_mut() {
            condition.taken = taken;
            condition.done |= taken;
        }
    }

    fn condition(&mut self, name: &str, at: Span, rest: &[Token]) -> bool {
        let word = rest.first().and_then(Token::name);
        match (name, word) {
            ("ifdef", Some(word)) => self.macros.contains_key(word),
            ("ifndef", Some(word)) => !self.macros.contains_key(word),
            ("if", _) => {
                let tokens = self.without_defined(rest);
                let expanded = self.expand(tokens);
                match super::condition::evaluate(&expanded) {
                    Some(value) => value != 0,
                    None => {
                        let message = "this condition cannot be evaluated";
                        self.fault("condition", message, at);
                        false
                    }
                }
            }
            _ => {
                self.fault("directive", format!("`#{name}` needs a name"), at);
                false
            }
        }
    }

    /// Replaces `defined NAME` and `defined(NAME)` by 1 or 0.
    fn without_defined(&self, tokens: &[Token]) -> Vec<Token> {
        let mut replaced = Vec::new();
        let mut rest = tokens;
        while let Some((token, after)) = rest.split_first() {
            rest = after;
            let (name, after) = match rest {
                _ if !token.is("defined") => (None, rest),
                [open, name, close, after @ ..] if open.is("(") && close.is(")") => {
                    (name.name(), after)
                }
                [name, after @ ..] => (name.name(), after),
                [] => (None, rest),
            };
            let mut token = token.clone();
            if let Some(name) = name {
                rest = after;
                token.kind = Kind::Number(i32::from(self.macros.contains_key(name)));
            }
            replaced.push(token);
        }
        replaced
    }

    fn define(&mut self, at: Span, line: &[Token]) {
        let Some((word, rest)) = line.split_first() else {
            return self.fault("directive", "`#define` needs a name", at);
        };
        let Some(name) = word.name() else {
            return self.fault("directive", "`#define` needs a name", word.span);
        };
        let is_function = rest
            .first()
            .is_some_and(|open| open.is("(") && open.span.start == word.span.end);
        let (parameters, body) = if is_function {
            let Some(close) = rest.iter().position(|token| token.is(")")) else {
                let message = "the parameters of this macro are not closed";
                return self.fault("directive", message, word.span);
            };
            let names = rest.get(1..close).unwrap_or(&[]);
            let names = names.iter().filter_map(Token::name).cloned().collect();
            (Some(names), rest.get(close + 1..).unwrap_or(&[]))
        } else {
            (None, rest)
        };
        let mut body = body.to_vec();
        for token in &mut body {
            token.begins_line = false;
        }
        self.macros.insert(name.clone(), Macro { parameters, body });
    }

    fn include(&mut self, at: Span, line: &[Token]) {
        let name = match line {
            [token, ..] => match &token.kind {
                Kind::Text(text) => text.trim_matches('"').to_owned(),
                _ => {
                    let inside = line.iter().skip(1).take_while(|token| !token.is(">"));
                    inside.map(ToString::to_string).collect()
                }
            },
            [] => String::new(),
        };
        if self.texts.len() > INCLUDES_MAX {
            let message = "too many files are included, or one of them includes itself";
            return self.fault("include", message, at);
        }
        match (self.reader)(&name) {
            Ok(text) => {
                let source = self.file(text);
                let (tokens, faults) = self.tokens_of(source);
                if !tokens.is_empty() && !begins_as_model(&tokens) {
                    self.foreign.push((source, at));
                }
                self.lines(tokens, faults);
            }
            Err(error) => self.fault("include", error, at),
        }
    }
}

/// Returns true if a text begins with a directive or with a word that begins a declaration.
fn begins_as_model(tokens: &[Token]) -> bool {
    const DIRECTIVES: [&str; 10] = [
        "define", "elif", "else", "endif", "error", "if", "ifdef", "ifndef", "include", "undef",
    ];
    const WORDS: [&str; 26] = [
        "active",
        "bit",
        "bool",
        "byte",
        "c_code",
        "c_decl",
        "c_state",
        "c_track",
        "chan",
        "hidden",
        "init",
        "inline",
        "int",
        "local",
        "ltl",
        "mtype",
        "never",
        "notrace",
        "pid",
        "proctype",
        "short",
        "show",
        "trace",
        "typedef",
        "unsigned",
        "D_proctype",
    ];
    let is_one_of = |words: &[&str], token: Option<&Token>| {
        token.is_some_and(|token| words.iter().any(|word| token.is(word)))
    };
    match tokens {
        [first, rest @ ..] if first.is("#") => is_one_of(&DIRECTIVES, rest.first()),
        [first, ..] => is_one_of(&WORDS, Some(first)),
        [] => false,
    }
}

/// Replaces the faults in included texts that do not begin as a model does by one at the
/// directive each: an include may name any file of the user's, whose text is not shown.
pub(super) fn hide_foreign(
    faults: Vec<Fault>,
    foreign: &[(u32, Span)],
    texts: &mut [Text],
) -> Vec<Fault> {
    let mut told = Vec::new();
    let mut kept = Vec::new();
    for mut fault in faults {
        let is_foreign = |span: &Span| foreign.iter().find(|(source, _)| *source == span.source);
        fault.labels.retain(|(span, _)| is_foreign(span).is_none());
        let Some(&(source, at)) = fault.span.as_ref().and_then(is_foreign) else {
            kept.push(fault);
            continue;
        };
        if !told.contains(&source) {
            told.push(source);
            let text = texts.get(source as usize);
            let (name, text) = text.map_or(("", ""), |it| (&it.name, &it.text));
            let start = fault.span.map_or(0, |span| span.start as usize);
            let line = 1 + text.bytes().take(start).filter(|&it| it == b'\n').count();
            let message =
                format!("{name} does not begin as a model does, and is wrong in line {line}");
            kept.push(Fault::new("include", message, Some(at)));
        }
    }
    for (source, _) in foreign {
        if let Some(text) = texts.get_mut(*source as usize) {
            text.text.clear();
        }
    }
    kept
}
