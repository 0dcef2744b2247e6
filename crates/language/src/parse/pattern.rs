//! Parser of specification patterns: `absence of p between q and r`.

use super::Parser;
use crate::syntax::{
    ExpressionKind, FormulaExpression, PatternExpression, PatternKind, PatternScope,
};
use crate::token::{Sign, TokenKind};

impl Parser<'_> {
    /// Parses a pattern and its scope.
    pub(super) fn pattern(&mut self) -> Option<PatternExpression> {
        let start = self.start();
        let of = self.text_ahead(1) == "of";
        let kind = match self.text() {
            "absence" if of => PatternKind::Absence(self.pattern_of()),
            "universality" if of => PatternKind::Universality(self.pattern_of()),
            "existence" if of => {
                let what = self.pattern_of();
                match self.at_most()? {
                    Some(times) => PatternKind::BoundedExistence(what, times),
                    None => PatternKind::Existence(what),
                }
            }
            _ => self.relation()?,
        };
        let scope = self.scope()?;
        Some(PatternExpression {
            kind,
            scope,
            span: self.span_from(start),
        })
    }

    fn pattern_of(&mut self) -> FormulaExpression {
        self.advance();
        self.advance();
        self.formula_operand()
    }

    /// `at most 2 times`
    fn at_most(&mut self) -> Option<Option<u32>> {
        if !(self.is_word("at") && self.text_ahead(1) == "most") {
            return Some(None);
        }
        self.advance();
        self.advance();
        if self.kind() != TokenKind::Integer {
            let error = self.expected("a number");
            self.report(error);
            return None;
        }
        let span = self.span();
        let ExpressionKind::Integer(number) = self.integer() else {
            return None;
        };
        if !(self.take_word("times") || self.take_word("time")) {
            let error = self.expected("`times`");
            self.report(error);
            return None;
        }
        match u32::try_from(number) {
            Ok(times) if times > 0 => Some(Some(times)),
            _ => {
                let message = "a count goes from 1 to 4294967295";
                let error = crate::Diagnostic::error("bad-number", span, message);
                self.report(error.help("for none at all, write `absence of`"));
                None
            }
        }
    }

    /// Parses `s precedes p`, `s, t respond to p` and the like.
    fn relation(&mut self) -> Option<PatternKind> {
        let left = self.operands()?;
        let response = match self.text() {
            "precedes" | "precede" => false,
            "responds" | "respond" => true,
            _ => {
                let error = self.expected("`precedes` or `responds to`");
                self.report(error.help(
                    "patterns: `absence of p`, `existence of p`, `universality of p`, \
                     `s precedes p`, `s responds to p`, each `globally`, `before r`, `after q`, \
                     `between q and r` or `after q until r`",
                ));
                return None;
            }
        };
        self.advance();
        if response && !self.take_word("to") {
            let error = self.expected("`to`");
            self.report(error);
            return None;
        }
        let right = self.operands()?;
        Some(if response {
            PatternKind::Response {
                responses: left,
                causes: right,
            }
        } else {
            PatternKind::Precedence {
                causes: left,
                effects: right,
            }
        })
    }

    fn operands(&mut self) -> Option<Vec<FormulaExpression>> {
        let mut operands = Vec::new();
        loop {
            let reports = self.reports;
            operands.push(self.formula_operand());
            if reports != self.reports {
                return None;
            }
            if !self.take(Sign::Comma) {
                return Some(operands);
            }
        }
    }

    fn scope(&mut self) -> Option<PatternScope> {
        Some(match self.text() {
            "globally" => {
                self.advance();
                PatternScope::Global
            }
            "before" => {
                self.advance();
                PatternScope::Before(self.formula_operand())
            }
            "after" => {
                self.advance();
                let from = self.formula_operand();
                if self.take_word("until") {
                    PatternScope::AfterUntil(from, self.formula_operand())
                } else {
                    PatternScope::After(from)
                }
            }
            "between" => {
                self.advance();
                let from = self.formula_operand();
                if !self.take_word("and") {
                    let error = self.expected("`and`");
                    self.report(error.help("write `between q and r`"));
                    return None;
                }
                PatternScope::Between(from, self.formula_operand())
            }
            _ => PatternScope::Global,
        })
    }
}
