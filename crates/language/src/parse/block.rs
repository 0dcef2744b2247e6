//! Parser of update blocks and functions.

use super::Parser;
use crate::syntax::{
    BinaryOperator, Expression, ExpressionKind, FunctionDeclaration, Name, Statement,
};
use crate::token::{Sign, TokenKind};
use std::ops::Range;

/// The maximum number of keys after an assigned variable, which is the maximum nesting
/// of collections.
const KEYS_MAX: usize = 16;

impl Parser<'_> {
    /// `function name(a, b) { … }`
    pub(super) fn function_declaration(&mut self) -> Option<FunctionDeclaration> {
        let start = self.start();
        self.advance();
        let name = self.expect_name("the name of the function")?;
        let parameters = self.names_in_parentheses("the name of a parameter", true)?;
        let body = self.block()?;
        Some(FunctionDeclaration {
            name,
            parameters,
            body,
            span: self.span_from(start),
        })
    }

    /// Parses `(a, b)`; without parentheses there are none, unless they are required.
    pub(super) fn names_in_parentheses(&mut self, what: &str, required: bool) -> Option<Vec<Name>> {
        let mut names = Vec::new();
        if !required && !self.is(Sign::OpenParenthesis) {
            return Some(names);
        }
        if !self.expect(Sign::OpenParenthesis) {
            return None;
        }
        while !self.is(Sign::CloseParenthesis) {
            names.push(self.expect_name(what)?);
            if !self.take(Sign::Comma) {
                break;
            }
        }
        self.expect(Sign::CloseParenthesis).then_some(names)
    }

    /// Parses a block in braces; returns `None` if the parser cannot recover within it.
    pub(super) fn block(&mut self) -> Option<Vec<Statement>> {
        self.braced(Self::statement)
    }

    /// Parses statements in braces, each with `statement`, which is given where the block was
    /// opened; returns `None` if the parser cannot recover within it.
    pub(super) fn braced<T>(
        &mut self,
        mut statement: impl FnMut(&mut Self, &Range<usize>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let opened = self.span();
        if !self.expect(Sign::OpenBrace) {
            return None;
        }
        let mut statements = Vec::new();
        loop {
            if self.take(Sign::Semicolon) {
                continue;
            }
            if self.take(Sign::CloseBrace) {
                return Some(statements);
            }
            if self.kind() == TokenKind::End {
                let error = self.expected("`}`");
                self.report(error.label(opened, "the block that is not closed"));
                return None;
            }
            statements.push(statement(self, &opened)?);
        }
    }

    fn statement(&mut self, opened: &Range<usize>) -> Option<Statement> {
        let next_is_word = self.kind_ahead(1) == TokenKind::Word;
        match self.text() {
            "if" => self.nested(Self::conditional)?,
            "for" if next_is_word => self.nested(Self::loop_over)?,
            "var" if next_is_word => self.local(),
            "return" => self.returning(),
            _ => self.assignment(opened),
        }
    }

    fn conditional(&mut self) -> Option<Statement> {
        self.advance();
        let condition = self.expression();
        let then = self.block()?;
        let otherwise = if !self.take_word("else") {
            Vec::new()
        } else if self.is_word("if") {
            vec![self.nested(Self::conditional)??]
        } else {
            self.block()?
        };
        Some(Statement::If {
            condition,
            then,
            otherwise,
        })
    }

    /// Parses `for x in s { … }`, `for i in a..b { … }`.
    fn loop_over(&mut self) -> Option<Statement> {
        let (element, collection) = self.loop_header()?;
        let body = self.block()?;
        Some(Statement::For {
            element,
            collection,
            body,
        })
    }

    /// Parses `for x in s`, up to the block.
    pub(super) fn loop_header(&mut self) -> Option<(Name, Expression)> {
        self.advance();
        let element = self.expect_name("a name for each element")?;
        if !self.take_word("in") {
            let error = self.expected("`in`");
            self.report(error.help("write `for x in values { … }` or `for i in 0..9 { … }`"));
            return None;
        }
        let start = self.start();
        let mut collection = self.expression();
        if self.is(Sign::Range) {
            let sign = self.span();
            self.advance();
            let end = self.expression();
            collection = Expression {
                kind: ExpressionKind::Call {
                    function: Box::new(Expression {
                        kind: ExpressionKind::Name("range".into()),
                        span: sign,
                    }),
                    arguments: vec![collection, end],
                },
                span: self.span_from(start),
            };
        }
        Some((element, collection))
    }

    fn local(&mut self) -> Option<Statement> {
        self.advance();
        let name = self.expect_name("the name of a variable")?;
        if !self.expect(Sign::Assign) {
            return None;
        }
        let value = self.expression();
        Some(Statement::Local { name, value })
    }

    fn returning(&mut self) -> Option<Statement> {
        let start = self.start();
        self.advance();
        let value = self.expression();
        Some(Statement::Return {
            value,
            span: self.span_from(start),
        })
    }

    pub(super) fn assignment(&mut self, opened: &Range<usize>) -> Option<Statement> {
        let start = self.start();
        if self.kind() != TokenKind::Word {
            let error = self.expected("a variable to assign, `if`, `for` or `}`");
            self.report(error.label(opened.clone(), "in this block"));
            return None;
        }
        let variable = self.expect_name("the name of a variable")?;
        let mut keys = Vec::new();
        while self.take(Sign::OpenBracket) {
            keys.push(self.key()?);
            if keys.len() > KEYS_MAX {
                let message = format!("an element has at most {KEYS_MAX} keys");
                let error = crate::Diagnostic::error("too-deep", self.span(), message);
                self.report(error);
                return None;
            }
        }
        let operator = self.assignment_operator(&variable)?;
        self.advance();
        let value = self.expression();
        Some(Statement::Assignment {
            variable,
            keys,
            operator,
            value,
            span: self.span_from(start),
        })
    }

    fn key(&mut self) -> Option<Expression> {
        let outer = self.enclosed;
        let key = self.nested(|parser| {
            parser.nodes = 0;
            parser.enclosed = 1;
            parser.binary(0)
        });
        self.enclosed = outer;
        self.expect(Sign::CloseBracket).then_some(())?;
        key
    }

    fn assignment_operator(&mut self, variable: &Name) -> Option<Option<BinaryOperator>> {
        let found = match self.kind() {
            TokenKind::Sign(Sign::Assign) => return Some(None),
            TokenKind::Sign(Sign::PlusAssign) => Some(BinaryOperator::Add),
            TokenKind::Sign(Sign::MinusAssign) => Some(BinaryOperator::Subtract),
            TokenKind::Sign(Sign::StarAssign) => Some(BinaryOperator::Multiply),
            _ => None,
        };
        if found.is_some() {
            return Some(found);
        }
        let error = self.expected("`=`, `+=`, `-=` or `*=`");
        self.report(match self.kind() {
            TokenKind::Sign(Sign::Plus | Sign::Minus) => {
                error.help(format!("write `{} += 1`", variable.text))
            }
            TokenKind::Sign(Sign::Dot | Sign::Arrow) => {
                error.help("only variables of the property can be assigned")
            }
            TokenKind::Sign(Sign::OpenParenthesis) => {
                error.help("functions are pure: assign the result, `s = add(s, x)`, `s = s + {x}`")
            }
            _ => error,
        });
        None
    }
}
