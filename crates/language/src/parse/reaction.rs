//! Parser of the statements of a reaction.
//!
//! A statement ends at the beginning of the next one; so each begins with a word that
//! cannot follow an operand.

use super::{Dialect, Parser};
use crate::suggest::suggest;
use crate::syntax::{
    Expression, ExpressionKind, Name, PointDeclaration, PointLocation, PointWord, ReactionKind,
    ReactionStatement, Statement, Target,
};
use crate::token::{Sign, TokenKind};
use std::ops::Range;

/// The words that begin statements, except points.
const STATEMENTS: [&str; 15] = [
    "print",
    "report",
    "stop",
    "continue",
    "backtrace",
    "checkpoint",
    "restore",
    "set",
    "remove",
    "enable",
    "disable",
    "command",
    "if",
    "for",
    "var",
];

impl Parser<'_> {
    /// Parses a block in braces; returns `None` if the parser cannot recover within it.
    pub(super) fn reaction_block(&mut self) -> Option<Vec<ReactionStatement>> {
        self.braced(|parser, opened| {
            let start = parser.start();
            let kind = parser.reaction_statement(opened)?;
            let span = parser.span_from(start);
            Some(ReactionStatement { kind, span })
        })
    }

    fn reaction_statement(&mut self, opened: &Range<usize>) -> Option<ReactionKind> {
        let word = self.text();
        if self.kind() != TokenKind::Word || self.assigns_at(1) {
            return self.reaction_assignment(opened);
        }
        if PointWord::named(word).is_some() {
            return self.point(None);
        }
        match word {
            "if" => self.nested(Self::reaction_conditional)?,
            "for" => self.nested(Self::reaction_loop)?,
            "var" => self.reaction_local(),
            _ if STATEMENTS.contains(&word) => {
                self.advance();
                self.simple_statement(word)
            }
            _ => {
                let known = PointWord::ALL.map(PointWord::text);
                let known = STATEMENTS.iter().copied().chain(known);
                let error = self.expected("a statement or `}`");
                let error = match suggest(word, known) {
                    similar @ Some(_) => error.did_you_mean(similar),
                    None => error
                        .help("any command of the prompt can be run: `command \"info threads\"`"),
                };
                self.report(error.label(opened.clone(), "in this block"));
                None
            }
        }
    }

    fn simple_statement(&mut self, word: &str) -> Option<ReactionKind> {
        Some(match word {
            "print" => ReactionKind::Print(self.messages()?),
            "report" => ReactionKind::Report(self.messages()?),
            "stop" => ReactionKind::Stop(match self.kind() {
                TokenKind::Text => self.messages()?,
                _ => Vec::new(),
            }),
            "continue" => ReactionKind::Continue,
            "backtrace" => ReactionKind::Backtrace(match self.kind() {
                TokenKind::Integer => Some(self.expression()),
                _ => None,
            }),
            "checkpoint" => ReactionKind::Checkpoint(None),
            "restore" => ReactionKind::Restore(self.operand("a checkpoint")?),
            "remove" => ReactionKind::Remove(self.operand("a point")?),
            "enable" | "disable" => ReactionKind::Switch {
                property: self.expect_name("the name of a property")?,
                is_enabled: word == "enable",
            },
            "set" => {
                let place = self.program_operand("a location in the program")?;
                if !self.expect(Sign::Assign) {
                    return None;
                }
                let value = self.program_expression();
                ReactionKind::Set { place, value }
            }
            _ => {
                if self.kind() != TokenKind::Text {
                    let error = self.expected("a command in quotes");
                    self.report(error.help("for example: `command \"info threads\"`"));
                    return None;
                }
                ReactionKind::Command(self.text_with_values()?)
            }
        })
    }

    /// Returns true if the token at this offset makes the preceding word an assignment.
    fn assigns_at(&self, ahead: usize) -> bool {
        matches!(
            self.kind_ahead(ahead),
            TokenKind::Sign(
                Sign::Assign
                    | Sign::PlusAssign
                    | Sign::MinusAssign
                    | Sign::StarAssign
                    | Sign::OpenBracket
            )
        )
    }

    /// Parses `x = value`, `x = checkpoint`, `x = break f { … }`.
    fn reaction_assignment(&mut self, opened: &Range<usize>) -> Option<ReactionKind> {
        let gives = self.kind_ahead(1) == TokenKind::Sign(Sign::Assign) && self.gives_number(2);
        if self.kind() == TokenKind::Word && gives {
            let name = self.expect_name("the name of a variable")?;
            self.advance();
            let is_new = false;
            return self.numbered(Target { name, is_new });
        }
        self.assignment(opened).map(ReactionKind::Update)
    }

    fn reaction_local(&mut self) -> Option<ReactionKind> {
        self.advance();
        let name = self.expect_name("the name of a variable")?;
        if !self.expect(Sign::Assign) {
            return None;
        }
        if self.gives_number(0) {
            let is_new = true;
            return self.numbered(Target { name, is_new });
        }
        let value = self.expression();
        Some(ReactionKind::Update(Statement::Local { name, value }))
    }

    /// Returns true if a statement that returns a number is at this offset, and not a
    /// name that is spelled the same.
    fn gives_number(&self, ahead: usize) -> bool {
        if self.kind_ahead(ahead) != TokenKind::Word {
            return false;
        }
        let word = self.text_ahead(ahead);
        let is_operator = matches!(
            self.kind_ahead(ahead + 1),
            TokenKind::Sign(sign) if !matches!(
                sign,
                Sign::CloseBrace | Sign::Semicolon | Sign::Star | Sign::And | Sign::OpenParenthesis
            )
        );
        match PointWord::named(word) {
            Some(_) => {
                !is_operator && self.kind_ahead(ahead + 1) != TokenKind::Sign(Sign::CloseBrace)
            }
            None => word == "checkpoint" && !is_operator,
        }
    }

    fn numbered(&mut self, into: Target) -> Option<ReactionKind> {
        if self.is_word("checkpoint") {
            self.advance();
            return Some(ReactionKind::Checkpoint(Some(into)));
        }
        self.point(Some(into))
    }

    fn reaction_conditional(&mut self) -> Option<ReactionKind> {
        self.advance();
        let condition = self.expression();
        let then = self.reaction_block()?;
        let otherwise = if !self.take_word("else") {
            Vec::new()
        } else if self.is_word("if") {
            let start = self.start();
            let kind = self.nested(Self::reaction_conditional)??;
            let span = self.span_from(start);
            vec![ReactionStatement { kind, span }]
        } else {
            self.reaction_block()?
        };
        Some(ReactionKind::If {
            condition,
            then,
            otherwise,
        })
    }

    fn reaction_loop(&mut self) -> Option<ReactionKind> {
        let (element, collection) = self.loop_header()?;
        let body = self.reaction_block()?;
        Some(ReactionKind::For {
            element,
            collection,
            body,
        })
    }

    /// `break place when condition while state { … }`
    fn point(&mut self, into: Option<Target>) -> Option<ReactionKind> {
        let word = PointWord::named(self.text())?;
        self.advance();
        let place = if word.is_watch() {
            PointLocation::Memory(self.program_operand("a watched location")?)
        } else if self.kind() == TokenKind::Text {
            PointLocation::Text(self.text_with_values()?)
        } else {
            PointLocation::Function(self.function_path()?)
        };
        let condition = if self.is_word("when") {
            self.advance();
            Some(self.program_expression())
        } else {
            None
        };
        let lasting = if self.is_word("while") {
            self.advance();
            self.name_list("the name of a state")?
        } else {
            Vec::new()
        };
        let body = if self.is(Sign::OpenBrace) {
            Some(self.nested(Self::reaction_block)??)
        } else {
            None
        };
        Some(ReactionKind::Point(Box::new(PointDeclaration {
            word,
            place,
            condition,
            lasting,
            into,
            body,
        })))
    }

    /// `queue_push`, `Queue::push`
    fn function_path(&mut self) -> Option<Name> {
        let mut name = self.expect_name("the name of a function, or a location in quotes")?;
        while self.is(Sign::PathSeparator) {
            self.advance();
            let part = self.expect_name("the name of a function")?;
            name.text = format!("{}::{}", name.text, part.text).into();
            name.span.end = part.span.end;
        }
        Some(name)
    }

    /// Parses a required operand.
    fn operand(&mut self, what: &str) -> Option<Expression> {
        if !self.begins_operand() {
            let error = self.expected(what);
            self.report(error);
            return None;
        }
        Some(self.expression())
    }

    pub(super) fn begins_operand(&self) -> bool {
        !matches!(
            self.kind(),
            TokenKind::End
                | TokenKind::Sign(Sign::CloseBrace | Sign::Semicolon | Sign::Assign | Sign::Comma)
        )
    }

    /// Parses a location in the program: prefix and postfix operators only.
    fn program_operand(&mut self, what: &str) -> Option<Expression> {
        if !self.begins_operand() {
            let error = self.expected(what);
            self.report(error);
            return None;
        }
        Some(self.as_at_prompt(Self::unary))
    }

    /// Parses an expression of the prompt.
    fn program_expression(&mut self) -> Expression {
        self.as_at_prompt(|parser| parser.binary(0))
    }

    /// Parses `{count + 1}`: an embedded value of a scenario's expression.
    pub(super) fn inserted_value(&mut self) -> Option<ExpressionKind> {
        self.advance();
        let outer = (self.dialect, self.enclosed);
        (self.dialect, self.enclosed) = (Dialect::Property, 1);
        let value = self.expression();
        (self.dialect, self.enclosed) = outer;
        self.expect(Sign::CloseBrace)
            .then(|| ExpressionKind::Set(vec![value]))
    }

    fn as_at_prompt(&mut self, read: impl FnOnce(&mut Self) -> Expression) -> Expression {
        let outer = (self.dialect, self.nodes, self.enclosed);
        (self.dialect, self.nodes, self.enclosed) = (Dialect::Code, 0, 0);
        let expression = read(self);
        (self.dialect, self.nodes, self.enclosed) = outer;
        expression
    }
}
