//! Macro expansion.

use super::{DEPTH_MAX, Frame, Macro, Preprocessor, TOKENS_MAX};
use crate::promela::lexer::{Kind, Token, lex};
use std::sync::Arc;

impl Preprocessor<'_, '_> {
    pub(super) fn expand_into_tokens(&mut self, tokens: Vec<Token>) {
        let expanded = self.expand(tokens);
        self.tokens.extend(expanded);
    }

    /// Expands tokens on their own, also during another expansion.
    pub(super) fn expand(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        let outside = std::mem::replace(&mut self.outside, self.frames.len());
        self.frames.push(Frame {
            tokens: tokens.into_iter(),
            origin: None,
        });
        self.depth += 1;
        let expanded = self.expand_frames();
        self.depth -= 1;
        self.frames.truncate(self.outside);
        self.outside = outside;
        expanded
    }

    fn expand_frames(&mut self) -> Vec<Token> {
        let mut expanded = Vec::new();
        while let Some(token) = self.next_token() {
            let tokens = self.tokens.len() + expanded.len();
            let is_large = tokens.max(self.collected) > TOKENS_MAX;
            if is_large || self.depth > DEPTH_MAX || self.is_full {
                if !self.is_full {
                    let message = "the model is too large after macro expansion";
                    self.fault("too-large", message, token.span);
                }
                self.is_full = true;
                break;
            }
            let name = match &token.kind {
                Kind::Name(name) if !token.is_final => name.clone(),
                _ => {
                    expanded.push(token);
                    continue;
                }
            };
            match self.macros.get(&name).cloned() {
                Some(_) if self.is_in_use(&name) => expanded.push(Token {
                    is_final: true,
                    ..token
                }),
                Some(meaning) => self.use_macro(&mut expanded, token, name, &meaning),
                None => expanded.push(token),
            }
        }
        expanded
    }

    fn is_in_use(&self, name: &Arc<str>) -> bool {
        let mut origins = self.frames.iter().filter_map(|frame| frame.origin.as_ref());
        origins.any(|(used, _)| used == name)
    }

    fn next_token(&mut self) -> Option<Token> {
        while self.frames.len() > self.outside {
            let frame = self.frames.last_mut()?;
            if let Some(mut token) = frame.tokens.next() {
                token.begins_line |= std::mem::take(&mut self.begins_line);
                return Some(token);
            }
            self.frames.pop();
        }
        None
    }

    fn peek_is_open(&self) -> bool {
        let own = self.frames.get(self.outside..).unwrap_or(&[]);
        for frame in own.iter().rev() {
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
                let expanded = arguments.iter().map(|it| self.expand(it.clone())).collect();
                let expanded: Vec<Vec<Token>> = expanded;
                substitute(&meaning.body, parameters, &arguments, &expanded)
            }
        };
        self.begins_line |= body.is_empty() && token.begins_line;
        let mut body = body;
        for (index, part) in body.iter_mut().enumerate() {
            (part.span, part.stands_for) = (token.span, None);
            part.begins_line = index == 0 && token.begins_line;
            part.is_apart = if index == 0 {
                token.is_apart
            } else {
                part.is_apart
            };
        }
        self.frames.push(Frame {
            tokens: body.into_iter(),
            origin: Some((name, token.span)),
        });
    }

    /// Parses the arguments after the name of a macro.
    fn arguments(&mut self, name: &Token, count: usize) -> Option<Vec<Vec<Token>>> {
        let mut arguments = vec![Vec::new()];
        let mut depth = 0;
        loop {
            let Some(token) = self.next_token() else {
                let message = format!("the arguments of `{name}` are not closed");
                self.fault("macro", message, name.span);
                return None;
            };
            self.collected += 1;
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
                "the macro `{name}` takes {count} arguments, but is given {}",
                arguments.len()
            );
            self.fault("macro", message, name.span);
            return None;
        }
        Some(arguments)
    }
}

/// Returns the body of a macro or an inline with the arguments substituted, as in C: `a
/// ## b` becomes one token, and `#a` a string; these use the arguments unexpanded, all
/// others use them expanded.
pub(in crate::promela) fn substitute(
    body: &[Token],
    parameters: &[Arc<str>],
    written: &[Vec<Token>],
    arguments: &[Vec<Token>],
) -> Vec<Token> {
    let position = |token: &Token| {
        let name = token.name()?;
        parameters.iter().position(|it| it == name)
    };
    let mut replaced: Vec<Token> = Vec::with_capacity(body.len());
    // Whether the previous token is `##`, and whether it has a left operand.
    let (mut pastes, mut has_left) = (false, false);
    // Whether the next token begins a line, since the arguments before it are empty.
    let mut begins_line = false;
    let mut tokens = body.iter().peekable();
    while let Some(token) = tokens.next() {
        if token.is("##") {
            pastes = true;
            continue;
        }
        let is_pasted = pastes || tokens.peek().is_some_and(|next| next.is("##"));
        let quoted = if token.is("#") {
            tokens.peek().and_then(|next| position(next))
        } else {
            None
        };
        let mut part = match (quoted, position(token)) {
            (Some(index), _) => {
                tokens.next();
                vec![quote(token, written.get(index).map_or(&[], |it| it))]
            }
            (None, Some(index)) => {
                let given = if is_pasted { written } else { arguments };
                let part = given.get(index).cloned().unwrap_or_default();
                let stands_for = Some(token.span);
                let part = part.into_iter().map(|it| Token { stands_for, ..it });
                part.collect()
            }
            (None, None) => vec![token.clone()],
        };
        begins_line |= token.begins_line;
        if let Some(first) = part.first_mut() {
            first.begins_line = std::mem::take(&mut begins_line);
            first.is_apart = token.is_apart;
        }
        let has_part = !part.is_empty();
        if pastes && has_left && has_part {
            paste(&mut replaced, part.remove(0));
        }
        has_left = has_part || pastes && has_left;
        pastes = false;
        replaced.extend(part);
    }
    replaced
}

/// Converts an argument to a string.
fn quote(mark: &Token, argument: &[Token]) -> Token {
    let mut text = String::from("\"");
    for (index, token) in argument.iter().enumerate() {
        if index > 0 && token.is_apart {
            text.push(' ');
        }
        let word = token.to_string();
        match &token.kind {
            Kind::Text(_) => text += &word.replace('\\', "\\\\").replace('"', "\\\""),
            _ => text += &word,
        }
    }
    text.push('"');
    Token {
        kind: Kind::Text(text.into()),
        ..mark.clone()
    }
}

/// Joins a token to the last one; if that does not make a token, both stay.
fn paste(replaced: &mut Vec<Token>, right: Token) {
    let Some(left) = replaced.last_mut() else {
        return replaced.push(right);
    };
    let (made, faults) = lex(0, &format!("{left}{right}"));
    match <[Token; 1]>::try_from(made) {
        Ok([made]) if faults.is_empty() => {
            left.kind = made.kind;
            left.is_final = false;
        }
        _ => replaced.push(right),
    }
}
