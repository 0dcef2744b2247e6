//! The preprocessor: macros, included files, conditions.
//!
//! It works on tokens. What comes of a macro has the place where the macro is
//! used, since that is what a reader of a message looks for. Macros that use
//! themselves are left as they are, as in C.

use super::lexer::{Kind, Token, lex};
use crate::{Fault, Span};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The texts that a model is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// What it is called.
    pub name: String,
    /// What it says.
    pub text: String,
}

/// Gives the text of a file that another one includes, or says why not.
pub type Reader<'a> = dyn FnMut(&str) -> Result<Text, String> + 'a;

/// The most tokens that may come of a model; a few lines of macros could make
/// more than any memory holds.
const TOKENS_MAX: usize = 4_000_000;
const INCLUDES_MAX: usize = 64;

#[derive(Debug, Clone)]
struct Macro {
    parameters: Option<Vec<Arc<str>>>,
    body: Vec<Token>,
}

/// Tokens that wait to be taken, those of a macro or of a file.
struct Frame {
    tokens: std::vec::IntoIter<Token>,
    /// The macro that they come from, and where it was used.
    origin: Option<(Arc<str>, Span)>,
}

/// A condition that is open.
struct Condition {
    span: Span,
    /// Its present part is taken.
    taken: bool,
    /// One of its parts has been taken.
    done: bool,
    /// It stands in a part that is taken.
    within: bool,
}

/// The tokens of a text with all that it includes.
pub(super) struct Preprocessor<'a, 'r> {
    reader: &'a mut Reader<'r>,
    pub texts: Vec<Text>,
    pub tokens: Vec<Token>,
    pub faults: Vec<Fault>,
    macros: FxHashMap<Arc<str>, Macro>,
    frames: Vec<Frame>,
    conditions: Vec<Condition>,
    is_full: bool,
}

impl<'a, 'r> Preprocessor<'a, 'r> {
    /// Takes a text with definitions of the caller (`NAME` and what it means).
    pub fn run(
        text: Text,
        definitions: &[(String, String)],
        reader: &'a mut Reader<'r>,
    ) -> Preprocessor<'a, 'r> {
        let mut this = Preprocessor {
            reader,
            texts: Vec::new(),
            tokens: Vec::new(),
            faults: Vec::new(),
            macros: FxHashMap::default(),
            frames: Vec::new(),
            conditions: Vec::new(),
            is_full: false,
        };
        this.file(text);
        for (name, meaning) in definitions {
            let (body, faults) = lex(0, meaning);
            this.faults.extend(faults);
            let parameters = None;
            this.macros
                .insert(name.as_str().into(), Macro { parameters, body });
        }
        let first = this.tokens_of(0);
        this.lines(first);
        this
    }

    /// The tokens of a further text, such as a formula, with the same macros.
    pub fn more(&mut self, text: &str) -> Vec<Token> {
        let source = self.file(Text {
            name: "formula".to_owned(),
            text: text.to_owned(),
        });
        let tokens = self.tokens_of(source);
        self.expand(tokens)
    }

    fn file(&mut self, text: Text) -> u32 {
        self.texts.push(text);
        self.texts.len() as u32 - 1
    }

    fn tokens_of(&mut self, source: u32) -> Vec<Token> {
        let text = self
            .texts
            .get(source as usize)
            .map_or("", |text| &text.text);
        let (tokens, faults) = lex(source, text);
        self.faults.extend(faults);
        tokens
    }

    /// Takes the lines of a file: directives, and what lies between them.
    fn lines(&mut self, tokens: Vec<Token>) {
        let open = self.conditions.len();
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
        }
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
            // What other preprocessors write: a number and a file.
            _ if matches!(word.kind, Kind::Number(_)) => {}
            _ => {
                let message = format!("`#{word}` is no directive");
                self.fault("directive", message, at.to(word.span));
            }
        }
    }

    fn next_part(&mut self, name: &str, at: Span, rest: &[Token]) {
        let Some(condition) = self.conditions.last() else {
            let message = format!("there is no condition that `#{name}` could belong to");
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

    /// With `defined NAME` and `defined(NAME)` replaced by 1 or 0.
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
                let message = "the parameters of this macro have no end";
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
                let tokens = self.tokens_of(source);
                self.lines(tokens);
            }
            Err(error) => self.fault("include", error, at),
        }
    }

    fn expand_into_tokens(&mut self, tokens: Vec<Token>) {
        let expanded = self.expand(tokens);
        self.tokens.extend(expanded);
    }

    fn expand(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        self.frames.push(Frame {
            tokens: tokens.into_iter(),
            origin: None,
        });
        let mut expanded = Vec::new();
        while let Some(token) = self.next_token() {
            if self.tokens.len() + expanded.len() > TOKENS_MAX {
                if !self.is_full {
                    let message = "the macros make more text than a model may have";
                    self.fault("too-large", message, token.span);
                }
                self.is_full = true;
                self.frames.clear();
                break;
            }
            let name = match &token.kind {
                Kind::Name(name) => name.clone(),
                _ => {
                    expanded.push(token);
                    continue;
                }
            };
            match self.macros.get(&name).cloned() {
                Some(meaning) if !self.is_in_use(&name) => {
                    self.use_macro(&mut expanded, token, name, &meaning)
                }
                _ => expanded.push(token),
            }
        }
        expanded
    }

    fn is_in_use(&self, name: &Arc<str>) -> bool {
        let mut origins = self.frames.iter().filter_map(|frame| frame.origin.as_ref());
        origins.any(|(used, _)| used == name)
    }

    fn next_token(&mut self) -> Option<Token> {
        loop {
            let frame = self.frames.last_mut()?;
            if let Some(token) = frame.tokens.next() {
                return Some(token);
            }
            self.frames.pop();
        }
    }

    fn peek_is_open(&self) -> bool {
        for frame in self.frames.iter().rev() {
            if let Some(token) = frame.tokens.as_slice().first() {
                return token.is("(");
            }
        }
        false
    }

    fn use_macro(
        &mut self,
        expanded: &mut Vec<Token>,
        token: Token,
        name: Arc<str>,
        meaning: &Macro,
    ) {
        let body = match &meaning.parameters {
            None => meaning.body.clone(),
            Some(_) if !self.peek_is_open() => return expanded.push(token),
            Some(parameters) => {
                let Some(arguments) = self.arguments(&token, parameters.len()) else {
                    return;
                };
                substitute(&meaning.body, parameters, &arguments)
            }
        };
        let mut body = body;
        for (index, part) in body.iter_mut().enumerate() {
            part.span = token.span;
            part.begins_line = index == 0 && token.begins_line;
        }
        self.frames.push(Frame {
            tokens: body.into_iter(),
            origin: Some((name, token.span)),
        });
    }

    /// The arguments after the name of a macro.
    fn arguments(&mut self, name: &Token, count: usize) -> Option<Vec<Vec<Token>>> {
        let mut arguments = vec![Vec::new()];
        let mut depth = 0;
        loop {
            let Some(token) = self.next_token() else {
                let message = format!("the arguments of `{name}` have no end");
                self.fault("macro", message, name.span);
                return None;
            };
            match &token.kind {
                Kind::Punctuation("(") => depth += 1,
                Kind::Punctuation(")") => depth -= 1,
                _ => {}
            }
            match depth {
                0 => break,
                1 if token.is("(") && arguments == [Vec::new()] => {}
                1 if token.is(",") => arguments.push(Vec::new()),
                _ => arguments.last_mut()?.push(token),
            }
        }
        if count == 0 && arguments == [Vec::new()] {
            arguments.clear();
        }
        if arguments.len() != count {
            let message = format!(
                "`{name}` is a macro with {count} parameters, and here are {} arguments",
                arguments.len()
            );
            self.fault("macro", message, name.span);
            return None;
        }
        Some(arguments)
    }
}

/// The body of a macro or of an inline with the arguments in place of the
/// parameters; `a ## b` becomes one name.
pub(super) fn substitute(
    body: &[Token],
    parameters: &[Arc<str>],
    arguments: &[Vec<Token>],
) -> Vec<Token> {
    let mut replaced: Vec<Token> = Vec::with_capacity(body.len());
    let mut pasting = false;
    for token in body {
        if token.is("##") {
            pasting = true;
            continue;
        }
        let index = token
            .name()
            .and_then(|name| parameters.iter().position(|it| it == name));
        let own = std::slice::from_ref(token);
        let mut part = index
            .and_then(|index| arguments.get(index))
            .map_or(own, |it| it)
            .to_vec();
        if let Some(first) = part.first_mut() {
            first.begins_line = token.begins_line;
        }
        if std::mem::take(&mut pasting)
            && let (Some(left), Some(right)) = (replaced.last_mut(), part.first())
        {
            left.kind = Kind::Name(format!("{left}{right}").into());
            part.remove(0);
        }
        replaced.extend(part);
    }
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str, files: &[(&str, &str)]) -> (String, Vec<&'static str>) {
        let mut reader = |name: &str| {
            let found = files.iter().find(|(file, _)| *file == name);
            let text = found.map(|(_, text)| (*text).to_owned());
            let name = name.to_owned();
            text.map(|text| Text { name, text })
                .ok_or("there is no such file".to_owned())
        };
        let text = Text {
            name: "model.pml".into(),
            text: text.into(),
        };
        let done = Preprocessor::run(text, &[("GIVEN".into(), "7".into())], &mut reader);
        let words: Vec<String> = done.tokens.iter().map(ToString::to_string).collect();
        let codes = done.faults.iter().map(|fault| fault.code).collect();
        (words.join(" "), codes)
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(run(text, &[]), (expected.to_owned(), vec![]), "{text}");
    }

    #[test]
    fn macros() {
        check("#define N 3\nx[N] = N;", "x [ 3 ] = 3 ;");
        check(
            "#define inc(x, y) x = (x + y)\ninc(a[f(1,2)], 2)",
            "a [ f ( 1 , 2 ) ] = ( a [ f ( 1 , 2 ) ] + 2 )",
        );
        check("#define f (x)\nf", "( x )");
        check("#define f(x) x\nf f (2)", "f 2");
        check("#define a b\n#define b a\na b", "a b");
        check("#define A B\n#define B 2\nA\n#undef B\nA", "2 B");
        check("#define p(x) in##x\np(3) p(it)", "in3 init");
        check("#define go() skip\ngo()", "skip");
        check(
            "#define two(x) x, x\n#define one(x) [x]\ntwo(one(1))",
            "[ 1 ] , [ 1 ]",
        );
        check("x = GIVEN", "x = 7");
    }

    #[test]
    fn conditions() {
        check("#ifdef A\na\n#else\nb\n#endif\nc", "b c");
        check("#define A\n#ifndef A\na\n#elif 1\nb\n#else\nc\n#endif", "b");
        check(
            "#if GIVEN > 3 && !defined(B)\na\n#if 0\nb\n#endif\nc\n#endif",
            "a c",
        );
        check(
            "#if 0\n#if 1\na\n#else\nb\n#endif\n#elif GIVEN == 7\nc\n#endif",
            "c",
        );
        check("#if 0\n#error no\n#define X 1\n#endif\nX", "X");
    }

    #[test]
    fn files() {
        let files = [
            ("a.h", "#define N 2\nbyte n = N;"),
            ("loop", "#include \"loop\"\n"),
        ];
        assert_eq!(run("#include \"a.h\"\nN", &files).0, "byte n = 2 ; 2");
        assert_eq!(run("#include <a.h>\nN", &files).0, "byte n = 2 ; 2");
        assert_eq!(run("#include \"b.h\"", &files).1, ["include"]);
        assert_eq!(run("#include \"loop\"", &files).1, ["include"]);
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (text, code) in [
            ("#if 1\n", "open-condition"),
            ("#endif\n", "directive"),
            ("#define\n", "directive"),
            ("#define f(a\n", "directive"),
            ("#define f(a) a\nf(1, 2)", "macro"),
            ("#define f(a) a\nf(1", "macro"),
            ("#nonsense\n", "directive"),
            ("#error this way\n", "error-directive"),
            ("#if 1 +\n#endif", "condition"),
        ] {
            assert_eq!(run(text, &[]).1, [code], "{text}");
        }
    }

    #[test]
    fn macros_that_grow_without_end_are_stopped() {
        let mut text = "#define a0 x x x x x x x x\n".to_owned();
        for level in 1..12 {
            let below = format!(" a{}", level - 1).repeat(8);
            text += &format!("#define a{level}{below}\n");
        }
        assert_eq!(run(&(text + "a11"), &[]).1, ["too-large"]);
    }
}
