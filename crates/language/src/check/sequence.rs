//! Resolution of regular expressions to expressions over letters.
//!
//! An expression that takes exactly one step is a *class* of letters, represented by
//! guards of which one must apply; `not` of a class is the class of all other steps,
//! `not` of any other expression is every run that does not match it.

use super::Checker;
use super::formula::Environment;
use super::grounding::Grounding;
use crate::syntax::{SequenceExpression, SequenceKind};
use juror_fault::Diagnostic;
use juror_logic::{Guard, Regex};
use std::sync::Arc;

/// The maximum number of guards of a class.
const CLASS_MAX: usize = 256;

/// A part of an expression.
enum Part {
    /// One step that one of these guards accepts.
    Class(Vec<Guard>),
    /// Any other expression.
    Other(Regex),
}

impl Part {
    fn regex(self) -> Regex {
        match self {
            Part::Other(regex) => regex,
            Part::Class(guards) => guards
                .into_iter()
                .map(Regex::Letter)
                .reduce(|a, b| Regex::Choice(Arc::new(a), Arc::new(b)))
                .unwrap_or(Regex::Nothing),
        }
    }
}

impl<'a> Checker<'a> {
    /// Resolves an expression; returns `None` after an error, which was reported.
    pub(super) fn regex(
        &mut self,
        expression: &'a SequenceExpression,
        grounding: &mut Grounding<'_>,
    ) -> Option<Regex> {
        self.part(expression, grounding).map(Part::regex)
    }

    fn part(
        &mut self,
        expression: &'a SequenceExpression,
        grounding: &mut Grounding<'_>,
    ) -> Option<Part> {
        let part = match &expression.kind {
            SequenceKind::Error => return None,
            SequenceKind::Any => Part::Class(vec![Guard::default()]),
            SequenceKind::Letter { name, arguments } => {
                if let Some((definition, _)) = self.formula_definition(&name.text) {
                    let message = format!("`{}` is a formula, not an event", name.text);
                    let error = Diagnostic::error("not-an-event", name.span.clone(), message);
                    let error = error.label(definition.name.span.clone(), "its definition");
                    self.diagnostics
                        .push(error.help("expressions consist of events and propositions"));
                    return None;
                }
                let outside = Environment::outside();
                let bit = self.letter(name, arguments.as_deref(), &outside, grounding)?;
                Part::Class(vec![Guard {
                    required: 1 << bit,
                    forbidden: 0,
                }])
            }
            SequenceKind::Not(inner) => match self.part(inner, grounding)? {
                Part::Class(guards) => Part::Class(self.other_steps(&guards, expression)?),
                Part::Other(regex) => Part::Other(Regex::Complement(Arc::new(regex))),
            },
            SequenceKind::Sequence(parts) => {
                let parts = self.parts(parts, grounding)?;
                joined(parts, Regex::Sequence)
            }
            SequenceKind::Choice(parts) => {
                let parts = self.parts(parts, grounding)?;
                match classes(&parts) {
                    Some(guards) => Part::Class(guards.concat()),
                    None => joined(parts, Regex::Choice),
                }
            }
            SequenceKind::Both(parts) => {
                let parts = self.parts(parts, grounding)?;
                match classes(&parts) {
                    Some(guards) => Part::Class(self.common(guards, expression)?),
                    None => joined(parts, Regex::Both),
                }
            }
            SequenceKind::Repeat {
                expression,
                from,
                to,
            } => Part::Other(Regex::Repeat {
                expression: Arc::new(self.regex(expression, grounding)?),
                from: *from,
                to: *to,
            }),
        };
        Some(part)
    }

    /// Resolves all parts, so that the errors of all are reported.
    fn parts(
        &mut self,
        parts: &'a [SequenceExpression],
        grounding: &mut Grounding<'_>,
    ) -> Option<Vec<Part>> {
        let found: Vec<Option<Part>> = parts
            .iter()
            .map(|part| self.part(part, grounding))
            .collect();
        found.into_iter().collect()
    }

    /// Returns the steps that none of the guards accepts.
    fn other_steps(
        &mut self,
        guards: &[Guard],
        expression: &SequenceExpression,
    ) -> Option<Vec<Guard>> {
        let negations = guards.iter().map(|guard| {
            let bits = (0..64).map(|bit| 1_u64 << bit);
            let wrong = bits.flat_map(|bit| {
                let missing = (guard.required & bit != 0).then_some(Guard {
                    required: 0,
                    forbidden: bit,
                });
                let present = (guard.forbidden & bit != 0).then_some(Guard {
                    required: bit,
                    forbidden: 0,
                });
                missing.into_iter().chain(present)
            });
            wrong.collect()
        });
        self.common(negations.collect(), expression)
    }

    /// Returns the steps that a guard of each class accepts.
    fn common(
        &mut self,
        classes: Vec<Vec<Guard>>,
        expression: &SequenceExpression,
    ) -> Option<Vec<Guard>> {
        let mut product = vec![Guard::default()];
        for class in classes {
            let mut joined: Vec<Guard> = Vec::new();
            for (a, b) in product
                .iter()
                .flat_map(|a| class.iter().map(move |b| (a, b)))
            {
                let guard = Guard {
                    required: a.required | b.required,
                    forbidden: a.forbidden | b.forbidden,
                };
                if guard.required & guard.forbidden == 0 && !joined.contains(&guard) {
                    joined.push(guard);
                }
            }
            if joined.len() > CLASS_MAX {
                let message = "this matches too many different steps";
                self.error("too-long", &expression.span, message);
                return None;
            }
            product = joined;
        }
        Some(product)
    }
}

/// Returns the guards of parts that all take one step.
fn classes(parts: &[Part]) -> Option<Vec<Vec<Guard>>> {
    let guards = parts.iter().map(|part| match part {
        Part::Class(guards) => Some(guards.clone()),
        Part::Other(_) => None,
    });
    guards.collect()
}

fn joined(parts: Vec<Part>, join: fn(Arc<Regex>, Arc<Regex>) -> Regex) -> Part {
    let whole = parts
        .into_iter()
        .map(Part::regex)
        .reduce(|a, b| join(Arc::new(a), Arc::new(b)));
    Part::Other(whole.unwrap_or(Regex::Empty))
}

/// Returns true if an expression matches the empty run.
pub(super) fn matches_nothing(regex: &Regex) -> bool {
    match regex {
        Regex::Nothing | Regex::Letter(_) => false,
        Regex::Empty => true,
        Regex::Sequence(a, b) | Regex::Both(a, b) => matches_nothing(a) && matches_nothing(b),
        Regex::Choice(a, b) => matches_nothing(a) || matches_nothing(b),
        Regex::Complement(inner) => !matches_nothing(inner),
        Regex::Repeat {
            expression, from, ..
        } => *from == 0 || matches_nothing(expression),
    }
}
