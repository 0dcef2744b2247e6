//! Uses of macros, and what becomes of them.

use super::{Frame, Macro, Preprocessor, TOKENS_MAX};
use crate::promela::lexer::{Kind, Token};
use std::sync::Arc;

impl Preprocessor<'_, '_> {
    pub(super) fn expand_into_tokens(&mut self, tokens: Vec<Token>) {
        let expanded = self.expand(tokens);
        self.tokens.extend(expanded);
    }

    pub(super) fn expand(&mut self, tokens: Vec<Token>) -> Vec<Token> {
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
pub(in crate::promela) fn substitute(
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
