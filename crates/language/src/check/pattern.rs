//! Expansion of specification patterns to formulas.

use super::Checker;
use super::formula::Environment;
use super::grounding::Grounding;
use crate::syntax::{PatternExpression, PatternKind, PatternScope};
use juror_fault::Diagnostic;
use juror_logic::{Formula, patterns};

/// The maximum count of a bounded pattern: each occurrence makes the formula longer.
const TIMES_MAX: u32 = 32;

impl<'a> Checker<'a> {
    /// Expands a specification pattern.
    pub(super) fn pattern(
        &mut self,
        pattern: &'a PatternExpression,
        grounding: &mut Grounding<'_>,
    ) -> Option<Formula> {
        let scope = self.pattern_scope(&pattern.scope, grounding);
        let outside = Environment::outside();
        let mut of = |checker: &mut Self, formula| checker.formula(formula, &outside, grounding);
        Some(match &pattern.kind {
            PatternKind::Absence(p) => patterns::absence(of(self, p)?, &scope?),
            PatternKind::Existence(p) => patterns::existence(of(self, p)?, &scope?),
            PatternKind::Universality(p) => patterns::universality(of(self, p)?, &scope?),
            PatternKind::BoundedExistence(p, times) => {
                if *times > TIMES_MAX {
                    let message = format!("a pattern can count to at most {TIMES_MAX}");
                    self.error("too-many", &pattern.span, message);
                    return None;
                }
                let p = of(self, p)?;
                let is_pulse = match p {
                    Formula::Proposition(bit) => {
                        let found = grounding.propositions.get(usize::from(bit));
                        found.is_some_and(|proposition| !proposition.persistent)
                    }
                    _ => false,
                };
                if is_pulse {
                    patterns::bounded_count(p, *times, &scope?)
                } else {
                    patterns::bounded_existence(p, *times, &scope?)
                }
            }
            PatternKind::Precedence { causes, effects } => match (&causes[..], &effects[..]) {
                ([s], [p]) => patterns::precedence(of(self, s)?, of(self, p)?, &scope?),
                ([s, t], [p]) => {
                    let (s, t, p) = (of(self, s)?, of(self, t)?, of(self, p)?);
                    patterns::precedence_chain(s, t, p, &scope?)
                }
                ([p], [s, t]) => {
                    let (p, s, t) = (of(self, p)?, of(self, s)?, of(self, t)?);
                    patterns::precedence_of_chain(p, s, t, &scope?)
                }
                _ => return self.no_such_chain(pattern),
            },
            PatternKind::Response { responses, causes } => match (&responses[..], &causes[..]) {
                ([s], [p]) => patterns::response(of(self, s)?, of(self, p)?, &scope?),
                ([s, t], [p]) => {
                    let (s, t, p) = (of(self, s)?, of(self, t)?, of(self, p)?);
                    patterns::response_chain(s, t, p, &scope?)
                }
                ([p], [s, t]) => {
                    let (p, s, t) = (of(self, p)?, of(self, s)?, of(self, t)?);
                    patterns::response_to_chain(p, s, t, &scope?)
                }
                _ => return self.no_such_chain(pattern),
            },
        })
    }

    fn no_such_chain(&mut self, pattern: &PatternExpression) -> Option<Formula> {
        let message = "a chain has two propositions on one side and one on the other";
        let error = Diagnostic::error("bad-pattern", pattern.span.clone(), message);
        self.diagnostics.push(
            error.help("write a longer chain as a formula: `ltl always (p implies eventually …)`"),
        );
        None
    }

    fn pattern_scope(
        &mut self,
        scope: &'a PatternScope,
        grounding: &mut Grounding<'_>,
    ) -> Option<patterns::Scope> {
        let outside = Environment::outside();
        let mut of = |formula| self.formula(formula, &outside, grounding);
        Some(match scope {
            PatternScope::Global => patterns::Scope::Globally,
            PatternScope::Before(end) => patterns::Scope::Before(of(end)?),
            PatternScope::After(begin) => patterns::Scope::After(of(begin)?),
            PatternScope::Between(begin, end) => {
                let (begin, end) = (of(begin), of(end));
                patterns::Scope::Between(begin?, end?)
            }
            PatternScope::AfterUntil(begin, end) => {
                let (begin, end) = (of(begin), of(end));
                patterns::Scope::AfterUntil(begin?, end?)
            }
        })
    }
}
