//! Parser of states, transitions and update blocks.

use super::Parser;
use crate::suggest::suggest;
use crate::syntax::{BranchDeclaration, Name, StateDeclaration, TransitionDeclaration};
use crate::token::{Sign, TokenKind};
use juror_fault::Diagnostic;

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
            action: None,
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
        const WORDS: [&str; 5] = ["initial", "accepting", "non-accepting", "final", "action"];
        while self.kind() == TokenKind::Word && !self.at_item() {
            let place = match self.text() {
                "initial" => &mut state.initial,
                "accepting" => &mut state.accepting,
                "non-accepting" => &mut state.non_accepting,
                "final" => &mut state.is_final,
                "action" => {
                    state.action = self.action();
                    continue;
                }
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

    /// Skips to the next transition, the end of the state, or the next item.
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
        let mut guard = None;
        let mut ignored = None;
        loop {
            if self.is_word("when") && guard.is_none() {
                self.advance();
                guard = Some(self.expression());
            } else if self.is_word("ignore") && ignored.is_none() {
                self.advance();
                if !self.take_word("when") {
                    let error = self.expected("`when` after `ignore`");
                    self.report(error);
                    return None;
                }
                ignored = Some(self.expression());
            } else {
                break;
            }
        }
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
            ignored,
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
        let action = if self.is_word("action") {
            Some(self.action()?)
        } else {
            None
        };
        Some(BranchDeclaration {
            block,
            target,
            action,
            span: self.span_from(start),
        })
    }

    /// `action name`
    fn action(&mut self) -> Option<Name> {
        self.advance();
        if self.kind() == TokenKind::Text {
            let span = self.span();
            return Some(Name {
                text: self.quoted_text().into(),
                span,
            });
        }
        self.expect_name("the name of the action")
    }
}
