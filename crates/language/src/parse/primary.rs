//! Parser of operands: literals, names, casts, and postfix operators.

use super::declarator::TypeAhead;
use super::{Dialect, NAMES_ELSEWHERE, Parser, RESERVED};
use crate::syntax::{BinaryOperator, Derivation, Expression, ExpressionKind, Name, TypeName};
use crate::token::{Sign, TokenKind};

/// Words that begin only types.
pub(crate) const TYPE_WORDS: &[&str] = &[
    "struct", "union", "enum", "class", "const", "volatile", "unsigned", "signed", "char", "short",
    "int", "long", "float", "double", "void", "_Bool", "i8", "i16", "i32", "i64", "u8", "u16",
    "u32", "u64", "f32", "f64", "usize", "isize",
];

impl Parser<'_> {
    /// Parses an operand with its fields, elements and slices.
    pub(super) fn postfix(&mut self) -> Expression {
        let start = self.start();
        let mut object = self.primary();
        loop {
            let kind = match self.kind() {
                _ if self.at_member_pointer() => return object,
                TokenKind::Sign(Sign::Dot) => self.field(&mut object, false),
                TokenKind::Sign(Sign::Arrow) if !self.arrow_ends_guard() => {
                    self.field(&mut object, true)
                }
                TokenKind::Sign(Sign::OpenBracket) => self.index(&mut object),
                TokenKind::Sign(Sign::OpenParenthesis) if self.dialect != Dialect::Subject => {
                    self.call(&mut object)
                }
                TokenKind::Sign(Sign::Plus | Sign::Minus) => self.postfix_step(&mut object),
                _ => return object,
            };
            let Some(kind) = kind else {
                return object;
            };
            object = Expression {
                kind,
                span: self.span_from(start),
            };
        }
    }

    /// Returns true if an arrow ends the guard: `when a -> b` goes to the state `b`,
    /// `when a->b` reads a field. In a guard outside of parentheses, the space decides.
    fn arrow_ends_guard(&self) -> bool {
        self.dialect == Dialect::Property && self.enclosed == 0 && self.spaced()
    }

    /// Returns true if `.*` or `->*` is at the current token.
    fn at_member_pointer(&self) -> bool {
        let is_star = self.kind_ahead(1) == TokenKind::Sign(Sign::Star);
        let is_joined = self.token(1).is_some_and(|token| !token.spaced);
        let is_sign = match self.kind() {
            TokenKind::Sign(Sign::Dot) => true,
            TokenKind::Sign(Sign::Arrow) => !self.arrow_ends_guard(),
            _ => false,
        };
        is_sign && is_star && is_joined && self.dialect != Dialect::Subject
    }

    /// Parses an operand and accesses through pointers to members: `o.*m`. Their
    /// precedence is between that of postfix operators and that of products.
    pub(super) fn with_members(&mut self) -> Expression {
        let start = self.start();
        let mut object = self.unary();
        while self.at_member_pointer() && self.count_node() {
            let arrow = self.is(Sign::Arrow);
            self.advance();
            self.advance();
            let member = self.nested(Self::unary);
            let member = member.unwrap_or_else(|| self.error_expression());
            object = Expression {
                kind: ExpressionKind::Member {
                    object: self.take_object(&mut object),
                    member: Box::new(member),
                    arrow,
                },
                span: self.span_from(start),
            };
        }
        object
    }

    pub(super) fn take_object(&self, object: &mut Expression) -> Box<Expression> {
        Box::new(std::mem::replace(object, self.error_expression()))
    }

    fn field(&mut self, object: &mut Expression, arrow: bool) -> Option<ExpressionKind> {
        if !self.count_node() {
            return None;
        }
        self.advance();
        let digits = self.kind() == TokenKind::Integer
            && self.text().bytes().all(|byte| byte.is_ascii_digit());
        if self.kind() != TokenKind::Word && !digits {
            let error = self.expected("the name of a field");
            self.report(error);
            return None;
        }
        let start = self.start();
        let mut name = self.text().to_owned();
        self.advance();
        if !digits {
            self.member_of_class(&mut name);
        }
        Some(ExpressionKind::Field {
            object: self.take_object(object),
            field: Name {
                text: name.into(),
                span: self.span_from(start),
            },
            arrow,
        })
    }

    fn index(&mut self, object: &mut Expression) -> Option<ExpressionKind> {
        if !self.count_node() {
            return None;
        }
        self.advance();
        let index = self.enclosed(Self::comma_expression)?;
        let kind = if self.take(Sign::Range) {
            let end = self.enclosed_expression()?;
            ExpressionKind::Slice {
                object: self.take_object(object),
                start: Box::new(index),
                end: Box::new(end),
            }
        } else {
            ExpressionKind::Index {
                object: self.take_object(object),
                index: Box::new(index),
            }
        };
        self.expect(Sign::CloseBracket);
        Some(kind)
    }

    /// Parses the arguments of a call. Calls are parsed in every context, so that the
    /// checker can explain why a property cannot have them.
    fn call(&mut self, object: &mut Expression) -> Option<ExpressionKind> {
        if !self.count_node() {
            return None;
        }
        self.advance();
        let mut arguments = Vec::new();
        while !self.is(Sign::CloseParenthesis) {
            arguments.push(self.enclosed_expression()?);
            if !self.take(Sign::Comma) {
                break;
            }
        }
        self.expect(Sign::CloseParenthesis);
        Some(ExpressionKind::Call {
            function: self.take_object(object),
            arguments,
        })
    }

    /// Parses expressions up to the closing sign.
    fn elements(&mut self, close: Sign) -> Option<Vec<Expression>> {
        let mut elements = Vec::new();
        while !self.is(close) {
            elements.push(self.enclosed_expression()?);
            if !self.take(Sign::Comma) {
                break;
            }
        }
        self.expect(close).then_some(elements)
    }

    /// Parses a set or, with colons, a map after `{`.
    fn set_or_map(&mut self) -> Option<ExpressionKind> {
        if self.take(Sign::Colon) {
            let closed = self.expect(Sign::CloseBrace);
            return closed.then(|| ExpressionKind::Map(Vec::new()));
        }
        if self.take(Sign::CloseBrace) {
            return Some(ExpressionKind::Set(Vec::new()));
        }
        let first = self.enclosed_expression()?;
        if !self.take(Sign::Colon) {
            let mut elements = vec![first];
            if self.take(Sign::Comma) {
                elements.extend(self.elements(Sign::CloseBrace)?);
            } else if !self.expect(Sign::CloseBrace) {
                return None;
            }
            return Some(ExpressionKind::Set(elements));
        }
        let mut entries = vec![(first, self.enclosed_expression()?)];
        while self.take(Sign::Comma) && !self.is(Sign::CloseBrace) {
            let key = self.enclosed_expression()?;
            if !self.expect(Sign::Colon) {
                return None;
            }
            entries.push((key, self.enclosed_expression()?));
        }
        let closed = self.expect(Sign::CloseBrace);
        closed.then_some(ExpressionKind::Map(entries))
    }

    /// Parses an expression inside of parentheses or brackets, which a comma may end.
    fn enclosed_expression(&mut self) -> Option<Expression> {
        self.enclosed(Self::assignment_expression)
    }

    pub(super) fn enclosed(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Expression,
    ) -> Option<Expression> {
        self.enclosed += 1;
        let inner = self.nested(parse);
        self.enclosed -= 1;
        inner
    }

    fn primary(&mut self) -> Expression {
        let start = self.start();
        let enough = self.count_node();
        let kind = match self.kind() {
            _ if !enough => ExpressionKind::Error,
            TokenKind::Integer => self.integer(),
            TokenKind::Float => self.float(),
            TokenKind::Text | TokenKind::Character
                if self.kind_ahead(1) == TokenKind::Sign(Sign::PathSeparator) =>
            {
                let file = self.quoted_text();
                self.path(file)
            }
            TokenKind::Text => ExpressionKind::Text(self.quoted_text().into()),
            TokenKind::Character => self.character(),
            TokenKind::Register => {
                let text = self.text();
                self.advance();
                ExpressionKind::Register(text.get(1..).unwrap_or("").into())
            }
            TokenKind::Sign(Sign::PathSeparator) => self.path(String::new()),
            TokenKind::Sign(Sign::OpenParenthesis) => self.parenthesis(),
            TokenKind::Sign(Sign::OpenBracket) if self.dialect == Dialect::Property => {
                self.advance();
                let elements = self.elements(Sign::CloseBracket);
                elements.map_or(ExpressionKind::Error, ExpressionKind::Sequence)
            }
            TokenKind::Sign(Sign::OpenBrace) if self.at_braced_type() => self.braced_type(),
            TokenKind::Sign(Sign::OpenBrace) if self.dialect == Dialect::Property => {
                self.advance();
                self.set_or_map().unwrap_or(ExpressionKind::Error)
            }
            TokenKind::Sign(Sign::OpenBrace) if self.dialect == Dialect::Code => {
                self.inserted_value().unwrap_or(ExpressionKind::Error)
            }
            TokenKind::Word => self.word(),
            _ => {
                let error = self.expected("a value");
                self.report(error);
                ExpressionKind::Error
            }
        };
        Expression {
            kind,
            span: self.span_from(start),
        }
    }

    fn word(&mut self) -> ExpressionKind {
        let text = self.text();
        let literal = match text {
            "true" => Some(ExpressionKind::Bool(true)),
            "false" => Some(ExpressionKind::Bool(false)),
            "null" if self.dialect == Dialect::Property => Some(ExpressionKind::Null),
            "nullptr" => Some(ExpressionKind::Null),
            "ret" if self.dialect == Dialect::Read => Some(ExpressionKind::Return),
            _ => None,
        };
        if let Some(literal) = literal {
            self.advance();
            return literal;
        }
        if let Some(cast) = self.cast_of_cpp() {
            return cast;
        }
        if text == "sizeof" {
            self.advance();
            return self.size_of();
        }
        let is_name = self.dialect != Dialect::Property && NAMES_ELSEWHERE.contains(&text);
        if is_name || text == "not" && self.not_is_name() {
            let name = text.to_owned();
            self.advance();
            return self.path(name);
        }
        if text == "not" {
            // `-not x` is not in the grammar.
            let error = self.expected("a value");
            self.report(error.help("put parentheses around `not …`"));
            self.advance();
            return ExpressionKind::Error;
        }
        if RESERVED.contains(&text) {
            let error = self.expected("a value");
            self.report(error);
            return ExpressionKind::Error;
        }
        let numbered = self.kind_ahead(1) == TokenKind::Integer;
        if text == "arg" && numbered && self.dialect == Dialect::Read {
            self.advance();
            return self.argument();
        }
        let mut name = text.to_owned();
        self.advance();
        self.file_name(&mut name);
        self.path(name)
    }

    /// Returns true if `not` is the name of a variable: no operand follows, or it is known to be
    /// one and a sign follows that may be a binary operator.
    pub(super) fn not_is_name(&self) -> bool {
        if self.dialect == Dialect::Property {
            return false;
        }
        let is_known = self.types.iter().any(|name| name == "not");
        match self.kind_ahead(1) {
            TokenKind::Word => matches!(self.text_ahead(1), "and" | "or"),
            TokenKind::Sign(Sign::Not | Sign::Tilde | Sign::OpenParenthesis) => false,
            TokenKind::Sign(Sign::PathSeparator | Sign::OpenBrace) => false,
            TokenKind::Sign(_) if self.is_prefix(1) => is_known,
            TokenKind::Sign(_) | TokenKind::End => true,
            _ => false,
        }
    }

    /// Returns true if the sign at this offset may be a prefix operator.
    fn is_prefix(&self, ahead: usize) -> bool {
        matches!(
            self.kind_ahead(ahead),
            TokenKind::Sign(Sign::Plus | Sign::Minus | Sign::Star | Sign::And | Sign::Caret)
        )
    }

    fn argument(&mut self) -> ExpressionKind {
        let span = self.span();
        match self.integer() {
            ExpressionKind::Integer(position @ 1..=255) => {
                ExpressionKind::Argument(u8::try_from(position).unwrap_or(u8::MAX))
            }
            ExpressionKind::Error => ExpressionKind::Error,
            _ => {
                self.report(
                    crate::Diagnostic::error("bad-argument", span, "no argument has this position")
                        .help("arguments are counted from 1"),
                );
                ExpressionKind::Error
            }
        }
    }

    /// Parses the rest of `file.c` if `::` follows it.
    fn file_name(&mut self, name: &mut String) {
        let mut ahead = 0;
        while self.kind_ahead(ahead) == TokenKind::Sign(Sign::Dot)
            && self.kind_ahead(ahead + 1) == TokenKind::Word
        {
            ahead += 2;
        }
        if ahead > 0 && self.kind_ahead(ahead) == TokenKind::Sign(Sign::PathSeparator) {
            for _ in 0..ahead {
                name.push_str(self.text());
                self.advance();
            }
        }
    }

    /// Parses the remaining components of a name.
    fn path(&mut self, mut name: String) -> ExpressionKind {
        name.push_str(&self.template_arguments().unwrap_or_default());
        while self.take(Sign::PathSeparator) {
            name.push_str("::");
            // `max::<i32>`, in Rust's syntax.
            if let Some(arguments) = self.template_arguments() {
                name.push_str(&arguments);
                continue;
            }
            if self.kind() != TokenKind::Word {
                let error = self.expected("a name after `::`");
                self.report(error);
                return ExpressionKind::Error;
            }
            name.push_str(self.text());
            self.advance();
            name.push_str(&self.template_arguments().unwrap_or_default());
        }
        ExpressionKind::Name(name.into())
    }

    /// Parses `(expression)` or `(type)operand`.
    fn parenthesis(&mut self) -> ExpressionKind {
        self.advance();
        if let Some(type_name) = self.type_in_parentheses(false) {
            let operand = self.nested(Self::unary);
            let operand = operand.unwrap_or_else(|| self.error_expression());
            return ExpressionKind::Cast {
                type_name,
                operand: Box::new(operand),
            };
        }
        let inner = self.enclosed(Self::comma_expression);
        self.expect(Sign::CloseParenthesis);
        inner.map_or(ExpressionKind::Error, |inner| inner.kind)
    }

    fn size_of(&mut self) -> ExpressionKind {
        let is_open = self.is(Sign::OpenParenthesis);
        if self.is_character(usize::from(is_open)) {
            return self.size_of_character(is_open);
        }
        if is_open {
            let before = self.position;
            self.advance();
            if let Some(type_name) = self.type_in_parentheses(true) {
                return ExpressionKind::SizeOfType(type_name);
            }
            if let Some(size) = self.size_of_array() {
                return size;
            }
            self.position = before;
        }
        let operand = self.nested(Self::unary);
        let operand = operand.unwrap_or_else(|| self.error_expression());
        ExpressionKind::SizeOf(Box::new(operand))
    }

    /// Returns true if a plain character is at this offset and is no part of a larger
    /// expression: in parentheses it is alone.
    fn is_character(&self, ahead: usize) -> bool {
        let is_plain = self.text_ahead(ahead).starts_with('\'');
        let is_alone = match ahead {
            0 => self.kind_ahead(1) != TokenKind::Sign(Sign::PathSeparator),
            _ => self.kind_ahead(ahead + 1) == TokenKind::Sign(Sign::CloseParenthesis),
        };
        self.kind_ahead(ahead) == TokenKind::Character && is_plain && is_alone
    }

    fn size_of_character(&mut self, is_open: bool) -> ExpressionKind {
        if is_open {
            self.advance();
        }
        let character = self.character();
        if is_open {
            self.advance();
        }
        match character {
            ExpressionKind::Integer(_) => ExpressionKind::SizeOfCharacter,
            _ => ExpressionKind::Error,
        }
    }

    /// Parses `int[4])` after `sizeof(` as a multiple of the element size. Only a
    /// keyword that begins types distinguishes it from an element of a variable.
    fn size_of_array(&mut self) -> Option<ExpressionKind> {
        let start = self.start();
        let is_type = TYPE_WORDS.contains(&self.text());
        let TypeAhead {
            name,
            derivations,
            end,
        } = self.type_ahead(0).filter(|_| is_type)?;
        if self.kind_ahead(end) != TokenKind::Sign(Sign::OpenBracket) {
            return None;
        }
        self.position += end;
        let span = self.span_from(start);
        let mut size = ExpressionKind::SizeOfType(TypeName {
            name: name.into(),
            derivations,
            span: span.clone(),
        });
        while self.take(Sign::OpenBracket) {
            let count = self.enclosed_expression()?;
            self.expect(Sign::CloseBracket);
            size = ExpressionKind::Binary {
                operator: BinaryOperator::Multiply,
                left: Box::new(Expression {
                    kind: size,
                    span: span.clone(),
                }),
                right: Box::new(count),
            };
        }
        self.expect(Sign::CloseParenthesis);
        Some(size)
    }

    /// Parses a type and `)` after `(`, if that is what follows. A single name is a
    /// type if it cannot be anything else: with `*` after it, or at the prompt if an
    /// operand follows directly.
    fn type_in_parentheses(&mut self, in_size_of: bool) -> Option<TypeName> {
        let start = self.start();
        let is_bool = self.text() == "bool" && self.dialect != Dialect::Property;
        let known = TYPE_WORDS.contains(&self.text()) || is_bool;
        let ends = |found: &TypeAhead| {
            self.kind_ahead(found.end) == TokenKind::Sign(Sign::CloseParenthesis)
        };
        let found = self.type_ahead(0)?;
        // Brackets after a plain name are those of an element.
        let is_array = !ends(&found) && self.dialect != Dialect::Property;
        let has_brackets = is_array && (known || !found.derivations.is_empty());
        let found = if has_brackets {
            self.whole_type_ahead(0)?
        } else {
            found
        };
        // There are no casts to functions: `a * (b)` and `a(*(b))` are values.
        if !ends(&found) || matches!(found.derivations.last(), Some(Derivation::Function(_))) {
            return None;
        }
        let TypeAhead {
            name,
            derivations,
            end: ahead,
        } = found;
        let is_standard = || name.ends_with("_t") && super::conversion(&name).is_some();
        let is_named = || self.types.contains(&name) || is_standard();
        let known = known || (self.is_sign_of_operand(ahead + 1) && is_named());
        let operand_follows = match self.kind_ahead(ahead + 1) {
            TokenKind::Word
            | TokenKind::Integer
            | TokenKind::Float
            | TokenKind::Character
            | TokenKind::Register => true,
            // These are no binary operators.
            TokenKind::Sign(Sign::Not | Sign::Tilde) => true,
            // An event calls no functions.
            TokenKind::Sign(Sign::OpenParenthesis) => self.dialect == Dialect::Read,
            _ => false,
        } && matches!(
            self.dialect,
            Dialect::Prompt | Dialect::Code | Dialect::Read
        ) && !in_size_of
            && !self.token(ahead + 1).is_some_and(|token| {
                let word = self.text_at(token.span.clone());
                RESERVED.contains(&word) && !matches!(word, "null" | "on" | "when")
            });
        if !known && derivations.is_empty() && !operand_follows {
            return None;
        }
        self.position += ahead;
        let span = self.span_from(start);
        self.advance();
        Some(TypeName {
            name: name.into(),
            derivations,
            span,
        })
    }

    /// Returns true if the token at this offset may begin an operand or be a binary
    /// operator.
    pub(super) fn is_sign_of_operand(&self, ahead: usize) -> bool {
        matches!(
            self.kind_ahead(ahead),
            TokenKind::Sign(
                Sign::Minus
                    | Sign::Plus
                    | Sign::Star
                    | Sign::And
                    | Sign::Tilde
                    | Sign::Not
                    | Sign::OpenParenthesis
            )
        )
    }
}
