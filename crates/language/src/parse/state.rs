//! States, transitions and update blocks.

use super::Parser;
use crate::diagnostic::Diagnostic;
use crate::suggest::suggest;
use crate::syntax::{
    BinaryOperator, BranchDeclaration, StateDeclaration, Statement, TransitionDeclaration,
};
use crate::token::{Sign, TokenKind};
use std::ops::Range;

impl Parser<'_> {
    pub(super) fn state(&mut self) -> Option<StateDeclaration> {
        let start = self.start();
        self.advance();
        let Some(name) = self.expect_name("the name of a state") else {
            self.skip_to(Self::at_item);
            return None;
        };
        let mut state = StateDeclaration {
            name,
            initial: None,
            accepting: None,
            non_accepting: None,
            is_final: None,
            transitions: Vec::new(),
            span: start..start,
        };
        self.state_words(&mut state);
        if self.take(Sign::OpenBrace) {
            self.transitions(&mut state);
        }
        state.span = self.span_from(start);
        Some(state)
    }

    fn state_words(&mut self, state: &mut StateDeclaration) {
        const WORDS: [&str; 4] = ["initial", "accepting", "non-accepting", "final"];
        while self.kind() == TokenKind::Word && !self.at_item() {
            let place = match self.text() {
                "initial" => &mut state.initial,
                "accepting" => &mut state.accepting,
                "non-accepting" => &mut state.non_accepting,
                "final" => &mut state.is_final,
                _ => {
                    let error = self.expected("`{` or the next item");
                    let similar = suggest(self.text(), WORDS);
                    let error = match similar {
                        Some(_) => error.did_you_mean(similar),
                        None => error.help("a state is initial, accepting, non-accepting, final"),
                    };
                    self.report(error);
                    self.advance();
                    continue;
                }
            };
            *place = self.tokens.get(self.position).map(|t| t.span.clone());
            self.advance();
        }
        if let (Some(accepting), Some(other)) = (&state.accepting, &state.non_accepting) {
            let error = Diagnostic::error(
                "conflicting-words",
                other.clone(),
                format!("state `{}` cannot be both", state.name.text),
            )
            .label(accepting.clone(), "accepting here");
            self.report(error);
        }
    }

    fn transitions(&mut self, state: &mut StateDeclaration) {
        loop {
            if self.take(Sign::Semicolon) {
                continue;
            }
            if self.take(Sign::CloseBrace) {
                return;
            }
            if self.kind() == TokenKind::End || self.at_item() {
                let error = self.expected("`on` or `}`");
                let opened = state.name.span.clone();
                self.report(error.label(opened, "the state that is not closed"));
                return;
            }
            let transition = if self.is_word("on") {
                self.transition()
            } else {
                let error = self.expected("`on` or `}`");
                self.report(error);
                self.advance();
                None
            };
            match transition {
                Some(transition) => state.transitions.push(transition),
                None => self.skip_transition(),
            }
        }
    }

    /// To the next transition, the end of the state, or the next item.
    fn skip_transition(&mut self) {
        let mut open = 0_usize;
        while self.kind() != TokenKind::End && !self.at_item() {
            match self.kind() {
                TokenKind::Word if self.text() == "on" => return,
                TokenKind::Sign(Sign::OpenBrace) => open += 1,
                TokenKind::Sign(Sign::CloseBrace) if open == 0 => return,
                TokenKind::Sign(Sign::CloseBrace) => open -= 1,
                _ => {}
            }
            self.advance();
        }
    }

    fn transition(&mut self) -> Option<TransitionDeclaration> {
        let start = self.start();
        self.advance();
        let event = self.expect_name("the name of an event")?;
        let guard = self.take_word("when").then(|| self.expression());
        let success = self.branch()?;
        let failure = if self.is_word("else") {
            let word = self.span();
            self.advance();
            let failure = self.branch()?;
            if guard.is_none() {
                let error =
                    Diagnostic::error("else-without-when", word, "this `else` has no `when`");
                self.report(error.help("without a guard the transition is always taken"));
            }
            Some(failure)
        } else {
            None
        };
        Some(TransitionDeclaration {
            event,
            guard,
            success,
            failure,
            span: self.span_from(start),
        })
    }

    fn branch(&mut self) -> Option<BranchDeclaration> {
        let start = self.start();
        let block = if self.is(Sign::OpenBrace) {
            self.block()?
        } else {
            Vec::new()
        };
        let target = if self.take(Sign::Arrow) {
            Some(self.expect_name("the name of a state")?)
        } else {
            None
        };
        Some(BranchDeclaration {
            block,
            target,
            span: self.span_from(start),
        })
    }

    /// A block in braces; nothing when the parser lost its way in it.
    fn block(&mut self) -> Option<Vec<Statement>> {
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
            let statement = if self.is_word("if") {
                self.nested(Self::conditional)??
            } else {
                self.assignment(&opened)?
            };
            statements.push(statement);
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

    fn assignment(&mut self, opened: &Range<usize>) -> Option<Statement> {
        let start = self.start();
        if self.kind() != TokenKind::Word {
            let error = self.expected("a variable to assign, `if` or `}`");
            self.report(error.label(opened.clone(), "in this block"));
            return None;
        }
        let variable = self.expect_name("the name of a variable")?;
        let operator = match self.kind() {
            TokenKind::Sign(Sign::Assign) => None,
            TokenKind::Sign(Sign::PlusAssign) => Some(BinaryOperator::Add),
            TokenKind::Sign(Sign::MinusAssign) => Some(BinaryOperator::Subtract),
            TokenKind::Sign(Sign::StarAssign) => Some(BinaryOperator::Multiply),
            TokenKind::Sign(Sign::Plus | Sign::Minus) => {
                let error = self.expected("`=`, `+=`, `-=` or `*=`");
                self.report(error.help(format!("write `{} += 1`", variable.text)));
                return None;
            }
            TokenKind::Sign(Sign::Dot | Sign::Arrow | Sign::OpenBracket) => {
                let error = self.expected("`=`, `+=`, `-=` or `*=`");
                self.report(error.help("a property assigns its own variables only"));
                return None;
            }
            _ => {
                let error = self.expected("`=`, `+=`, `-=` or `*=`");
                self.report(error);
                return None;
            }
        };
        self.advance();
        let value = self.expression();
        Some(Statement::Assignment {
            variable,
            operator,
            value,
            span: self.span_from(start),
        })
    }
}
