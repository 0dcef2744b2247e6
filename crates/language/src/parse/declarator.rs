//! Look-ahead for types: a name and its declarator, `int (*)[4]`, `int Shape::*`, `char
//! *(*)(int)`.

use super::{Parser, RESERVED};
use crate::syntax::{Derivation, Parameters, TypeName};
use crate::token::{Sign, TokenKind};

/// The maximum nesting of parentheses in a type.
const DEPTH_MAX: usize = 8;
/// The maximum number of consecutive stars, or of brackets and parameter lists.
const IN_A_ROW_MAX: usize = 32;

/// Keywords after a star that have no effect here.
const QUALIFIERS: &[&str] = &["const", "volatile", "restrict", "__restrict"];

/// A type found by look-ahead.
pub(super) struct TypeAhead {
    /// The words, separated by single spaces.
    pub(super) name: String,
    /// The derivations.
    pub(super) derivations: Vec<Derivation>,
    /// The offset of the token after the type.
    pub(super) end: usize,
}

impl Parser<'_> {
    /// Finds the words and stars at this offset that may name a type, and a group in
    /// parentheses with its suffix: `int (*)[4]`. Brackets directly after the stars are
    /// not included.
    pub(super) fn type_ahead(&self, ahead: usize) -> Option<TypeAhead> {
        self.type_within(ahead, DEPTH_MAX)
    }

    /// The same including brackets, which contain plain numbers, and parameter lists.
    pub(super) fn whole_type_ahead(&self, ahead: usize) -> Option<TypeAhead> {
        self.whole_type_within(ahead, DEPTH_MAX)
    }

    fn type_within(&self, ahead: usize, depth: usize) -> Option<TypeAhead> {
        let (name, ahead) = self.words_ahead(ahead)?;
        let (mut derivations, end) = self.pointers_ahead(ahead);
        match self.group_ahead(end, depth) {
            Some((grouped, end)) => {
                derivations.extend(grouped);
                Some(TypeAhead {
                    name,
                    derivations,
                    end,
                })
            }
            None => Some(TypeAhead {
                name,
                derivations,
                end,
            }),
        }
    }

    fn whole_type_within(&self, ahead: usize, depth: usize) -> Option<TypeAhead> {
        let mut found = self.type_within(ahead, depth)?;
        let (behind, end) = self.behind_ahead(found.end, depth)?;
        found.derivations.extend(behind);
        found.end = end;
        Some(found)
    }

    /// Finds the words of a name, up to its derivations.
    fn words_ahead(&self, mut ahead: usize) -> Option<(String, usize)> {
        let mut name = String::new();
        loop {
            let token = self.token(ahead)?;
            let text = self.text_at(token.span.clone());
            let joined = match token.kind {
                TokenKind::Word if RESERVED.contains(&text) => return None,
                TokenKind::Word => name.is_empty() || name.ends_with("::"),
                TokenKind::Sign(Sign::PathSeparator) => true,
                TokenKind::Sign(Sign::Less) if !name.is_empty() => {
                    let end = self.end_of_arguments(ahead)?;
                    let last = self.token(end.checked_sub(1)?)?.span.end;
                    name.push_str(self.text_at(token.span.start..last));
                    ahead = end;
                    continue;
                }
                _ => break,
            };
            if !joined && self.class_ahead(ahead).is_some() {
                break;
            }
            if !joined {
                name.push(' ');
            }
            name.push_str(text);
            ahead += 1;
        }
        (!name.is_empty()).then_some((name, ahead))
    }

    /// Finds `Class::*`.
    fn class_ahead(&self, mut ahead: usize) -> Option<(Box<str>, usize)> {
        let start = self.token(ahead)?.span.start;
        loop {
            let token = self.token(ahead)?;
            let is_word = token.kind == TokenKind::Word;
            if !is_word || RESERVED.contains(&self.text_at(token.span.clone())) {
                return None;
            }
            ahead += 1;
            if self.kind_ahead(ahead) == TokenKind::Sign(Sign::Less) {
                ahead = self.end_of_arguments(ahead)?;
            }
            if self.kind_ahead(ahead) != TokenKind::Sign(Sign::PathSeparator) {
                return None;
            }
            if self.kind_ahead(ahead + 1) == TokenKind::Sign(Sign::Star) {
                let end = self.token(ahead)?.span.start;
                return Some((self.text_at(start..end).trim_end().into(), ahead + 2));
            }
            ahead += 1;
        }
    }

    /// Finds stars, pointers to members, and a reference at the end.
    fn pointers_ahead(&self, mut ahead: usize) -> (Vec<Derivation>, usize) {
        let mut found = Vec::new();
        loop {
            if found.len() >= IN_A_ROW_MAX {
                return (found, ahead);
            }
            match self.kind_ahead(ahead) {
                TokenKind::Sign(Sign::Star) => found.push(Derivation::Pointer),
                TokenKind::Sign(Sign::And) if self.ends_type(ahead + 1) => {
                    found.push(Derivation::Reference);
                }
                TokenKind::Sign(Sign::AndAnd) if self.ends_type(ahead + 1) => {
                    found.push(Derivation::RvalueReference);
                }
                TokenKind::Word
                    if !found.is_empty() && QUALIFIERS.contains(&self.text_ahead(ahead)) => {}
                TokenKind::Word if let Some((class, end)) = self.class_ahead(ahead) => {
                    found.push(Derivation::MemberPointer(class));
                    ahead = end;
                    continue;
                }
                _ => return (found, ahead),
            }
            ahead += 1;
        }
    }

    fn ends_type(&self, ahead: usize) -> bool {
        let end = [
            TokenKind::End,
            TokenKind::Sign(Sign::CloseParenthesis),
            TokenKind::Sign(Sign::Comma),
        ];
        end.contains(&self.kind_ahead(ahead))
    }

    /// Finds `(*)[4]`, `(*)(int)`, `(Class::*)(int)`: the suffix applies first.
    fn group_ahead(&self, ahead: usize, depth: usize) -> Option<(Vec<Derivation>, usize)> {
        let depth = depth.checked_sub(1)?;
        if self.kind_ahead(ahead) != TokenKind::Sign(Sign::OpenParenthesis) {
            return None;
        }
        let (mut inner, end) = self.pointers_ahead(ahead + 1);
        if inner.is_empty() {
            return None;
        }
        let (nested, end) = match self.group_ahead(end, depth) {
            Some(nested) => nested,
            None => self.behind_ahead(end, depth)?,
        };
        inner.extend(nested);
        if self.kind_ahead(end) != TokenKind::Sign(Sign::CloseParenthesis) {
            return None;
        }
        let (mut found, end) = self.behind_ahead(end + 1, depth)?;
        found.extend(inner);
        Some((found, end))
    }

    /// Finds brackets and parameter lists; the last one applies first.
    fn behind_ahead(&self, mut ahead: usize, depth: usize) -> Option<(Vec<Derivation>, usize)> {
        let mut found = Vec::new();
        while found.len() < IN_A_ROW_MAX {
            let behind = match self.kind_ahead(ahead) {
                TokenKind::Sign(Sign::OpenBracket) => self.count_ahead(ahead + 1)?,
                TokenKind::Sign(Sign::OpenParenthesis) => {
                    self.parameters_ahead(ahead + 1, depth)?
                }
                _ => break,
            };
            found.push(behind.0);
            ahead = behind.1;
        }
        found.reverse();
        Some((found, ahead))
    }

    fn count_ahead(&self, ahead: usize) -> Option<(Derivation, usize)> {
        let is_closed = self.kind_ahead(ahead + 1) == TokenKind::Sign(Sign::CloseBracket);
        let is_number = self.kind_ahead(ahead) == TokenKind::Integer;
        let count = self.text_ahead(ahead).parse();
        let count = count.ok().filter(|_| is_closed && is_number)?;
        Some((Derivation::Array(count), ahead + 2))
    }

    fn parameters_ahead(&self, mut ahead: usize, depth: usize) -> Option<(Derivation, usize)> {
        let depth = depth.checked_sub(1)?;
        let mut parameters = Parameters::default();
        let is_sign = |ahead: usize, sign| self.kind_ahead(ahead) == TokenKind::Sign(sign);
        let is_void = self.text_ahead(ahead) == "void";
        if is_void && is_sign(ahead + 1, Sign::CloseParenthesis) {
            ahead += 1;
        }
        while !is_sign(ahead, Sign::CloseParenthesis) {
            // `...` consists of two tokens.
            if is_sign(ahead, Sign::Range) && is_sign(ahead + 1, Sign::Dot) {
                parameters.is_variadic = true;
                ahead += 2;
                break;
            }
            let start = self.token(ahead)?.span.start;
            let found = self.whole_type_within(ahead, depth)?;
            let last = self.token(found.end.checked_sub(1)?)?;
            parameters.types.push(TypeName {
                name: found.name.into(),
                derivations: found.derivations,
                span: start..last.span.end,
            });
            ahead = found.end;
            if !is_sign(ahead, Sign::Comma) {
                break;
            }
            ahead += 1;
        }
        if !is_sign(ahead, Sign::CloseParenthesis) {
            return None;
        }
        ahead += 1;
        parameters.is_const = self.text_ahead(ahead) == "const";
        let end = ahead + usize::from(parameters.is_const);
        Some((Derivation::Function(parameters), end))
    }
}
