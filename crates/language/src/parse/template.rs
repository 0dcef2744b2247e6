//! Parser of template arguments in names: `largest<int>(3, 4)`, `Stack<char *>::push`.
//!
//! `<` is also a comparison. Directly after a name it begins arguments if the tokens up
//! to the matching `>` can be types and numbers, and if a comparison would be
//! meaningless before the next token: `(`, `::`, `)`, `,`, `]` or the end. Only the
//! prompt and captures have template arguments; properties name functions elsewhere.

use super::{Dialect, Parser, RESERVED};
use crate::token::{Sign, TokenKind};
use std::ops::Range;

/// The maximum number of tokens of template arguments.
const TOKENS_MAX: usize = 400;

impl Parser<'_> {
    /// Takes the template arguments at the current token, and returns their text
    /// including the brackets; `None` if there are none.
    pub(super) fn template_arguments(&mut self) -> Option<String> {
        if !self.is_of_prompt() || !self.is(Sign::Less) || self.spaced() {
            return None;
        }
        let end = self.end_of_arguments(0)?;
        let follows = self.kind_ahead(end);
        let is_name = matches!(
            follows,
            TokenKind::End
                | TokenKind::Sign(
                    Sign::OpenParenthesis
                        | Sign::CloseParenthesis
                        | Sign::CloseBracket
                        | Sign::Comma
                        | Sign::PathSeparator
                )
        );
        is_name.then(|| self.take_ahead(end))
    }

    /// Takes the remaining components of `Base<int>::member` after a dot or an arrow: a member
    /// of a base class, which the class itself may hide.
    pub(super) fn member_of_class(&mut self, name: &mut String) {
        if !self.is_of_prompt() {
            return;
        }
        loop {
            let arguments = if self.is(Sign::Less) && !self.spaced() {
                self.end_of_arguments(0).unwrap_or(0)
            } else {
                0
            };
            if self.kind_ahead(arguments) != TokenKind::Sign(Sign::PathSeparator)
                || self.kind_ahead(arguments + 1) != TokenKind::Word
            {
                return;
            }
            name.push_str(&self.take_ahead(arguments + 2));
        }
    }

    fn is_of_prompt(&self) -> bool {
        matches!(
            self.dialect,
            Dialect::Prompt | Dialect::Code | Dialect::Read
        )
    }

    /// Returns the offset after the `>` that matches the `<` at this offset.
    pub(super) fn end_of_arguments(&self, mut ahead: usize) -> Option<usize> {
        let (mut open, mut parentheses) = (0_usize, 0_usize);
        for _ in 0..TOKENS_MAX {
            match self.kind_ahead(ahead) {
                TokenKind::Word if self.is_operator_ahead(ahead) => return None,
                TokenKind::Word | TokenKind::Integer | TokenKind::Character => {}
                TokenKind::Sign(sign) => match sign {
                    Sign::Less => open += 1,
                    Sign::Greater => open = open.checked_sub(1)?,
                    Sign::ShiftRight => open = open.checked_sub(2)?,
                    // The type of a function: `int (char)`.
                    Sign::OpenParenthesis => parentheses += 1,
                    Sign::CloseParenthesis => parentheses = parentheses.checked_sub(1)?,
                    Sign::PathSeparator
                    | Sign::Comma
                    | Sign::Star
                    | Sign::And
                    | Sign::AndAnd
                    | Sign::Minus => {}
                    _ => return None,
                },
                _ => return None,
            }
            ahead += 1;
            if open == 0 {
                return (parentheses == 0).then_some(ahead);
            }
        }
        None
    }

    fn is_operator_ahead(&self, ahead: usize) -> bool {
        let text = self.text_ahead(ahead);
        RESERVED.contains(&text) && !matches!(text, "true" | "false")
    }

    /// Takes `count` tokens; returns their text.
    fn take_ahead(&mut self, count: usize) -> String {
        let start = self.start();
        for _ in 0..count {
            self.advance();
        }
        let written: Range<usize> = self.span_from(start);
        self.text_at(written).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use crate::{ExpressionKind, parse_expression};

    /// Returns the name at the beginning of the text if the whole text is a name or a
    /// call.
    fn name_in(text: &str) -> Option<String> {
        let (expression, diagnostics) = parse_expression(text);
        assert_eq!(diagnostics, [], "{text}");
        match expression.unwrap().kind {
            ExpressionKind::Name(name) => Some(name.to_string()),
            ExpressionKind::Call { function, .. } => match function.kind {
                ExpressionKind::Name(name) => Some(name.to_string()),
                _ => None,
            },
            _ => None,
        }
    }

    #[test]
    fn arguments_belong_to_the_name_before_them() {
        for (text, expected) in [
            ("largest<int>(3, 4)", Some("largest<int>")),
            ("largest<int>", Some("largest<int>")),
            (
                "Stack<unsigned long>::count",
                Some("Stack<unsigned long>::count"),
            ),
            ("a::b<c::d *, 3>::e(1)", Some("a::b<c::d *, 3>::e")),
            (
                "Map<int, Stack<char>>::it",
                Some("Map<int, Stack<char>>::it"),
            ),
            ("call<int (char, long)>(f)", Some("call<int (char, long)>")),
            ("max::<i32>(1, 2)", Some("max::<i32>")),
            ("at<-1>()", Some("at<-1>")),
            // Comparisons.
            ("a<b", None),
            ("a < b", None),
            ("a<b and c>(d)", None),
            ("largest <int", None),
            ("a<b>c", None),
            ("a<<b", None),
            ("a<(b)", None),
        ] {
            assert_eq!(name_in(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn members_of_base_classes_are_named_by_their_class() {
        for (text, expected) in [
            ("p->Base::size", "Base::size"),
            ("(*p).Base::size", "Base::size"),
            ("p->ns::Base::size", "ns::Base::size"),
            ("p->Base<int>::size", "Base<int>::size"),
            (
                "p->ns::Base<Pair<int, char>>::size",
                "ns::Base<Pair<int, char>>::size",
            ),
            ("p[1].Base::size", "Base::size"),
        ] {
            let (expression, diagnostics) = parse_expression(text);
            assert_eq!(diagnostics, [], "{text}");
            let ExpressionKind::Field { field, .. } = expression.unwrap().kind else {
                panic!("{text} is no field");
            };
            assert_eq!(&*field.text, expected, "{text}");
            assert_eq!(&text[field.span], expected, "{text}");
        }
        for text in ["p->size < limit", "p->a<b", "p->Base::size<limit"] {
            let (expression, diagnostics) = parse_expression(text);
            assert_eq!(diagnostics, [], "{text}");
            let kind = expression.unwrap().kind;
            assert!(
                matches!(kind, ExpressionKind::Binary { .. }),
                "{text}: {kind:?}"
            );
        }
        let (_, diagnostics) = parse_expression("p->Base::");
        let messages: Vec<_> = diagnostics.iter().map(|it| &*it.message).collect();
        assert_eq!(messages, ["the expression ends before `::`"]);
    }

    #[test]
    fn a_comparison_of_a_call_stays_one() {
        let (expression, diagnostics) = parse_expression("f(a<b, 3)");
        assert_eq!(diagnostics, []);
        let ExpressionKind::Call { arguments, .. } = expression.unwrap().kind else {
            panic!("no call");
        };
        assert_eq!(arguments.len(), 2);
    }

    #[test]
    fn types_in_casts_have_arguments() {
        for text in [
            "sizeof(Stack<int>)",
            "(Stack<int> *)p",
            "(ns::Map<int, Stack<char>> **)p",
            "(ns::Stack<char>::Node)p",
        ] {
            let (expression, diagnostics) = parse_expression(text);
            assert_eq!(diagnostics, [], "{text}");
            let name = match expression.unwrap().kind {
                ExpressionKind::Cast { type_name, .. } => type_name.name,
                ExpressionKind::SizeOf(operand) => match operand.kind {
                    ExpressionKind::Name(name) => name,
                    other => panic!("{text}: {other:?}"),
                },
                other => panic!("{text}: {other:?}"),
            };
            let written = text.trim_start_matches("sizeof").trim_start_matches('(');
            assert!(written.starts_with(&*name), "{text}: {name}");
        }
    }
}
