//! The constraint on the parameters of an instance (`where t != u`).
//!
//! The constraint is split at its `and`s, and each part is evaluated as soon as an
//! instance binds all its parameters: an instance that violates a part is never
//! created, nor are instances derived from it.

use crate::words::{Word, Words};
use juror_event::Value;
use juror_language::{BinaryOperator, Environment, EvaluationError, Term, TermKind, truth};

/// A condition on parameters, as a conjunction of parts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Constraint {
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
struct Part {
    /// The parameters that it refers to; bit n is parameter n.
    mask: u32,
    test: Test,
}

#[derive(Debug, Clone)]
enum Test {
    /// Two parameters differ: the most common part by far.
    Differ(usize, usize),
    /// The term is true.
    Holds(Term),
}

impl Constraint {
    pub(crate) fn new(term: Option<&Term>, parameters: usize) -> Constraint {
        let mut constraint = Constraint::default();
        if let Some(term) = term {
            constraint.add(term, parameters);
        }
        constraint
    }

    fn add(&mut self, term: &Term, parameters: usize) {
        let test = match &term.kind {
            TermKind::Binary {
                operator: BinaryOperator::And,
                left,
                right,
            } => {
                self.add(left, parameters);
                self.add(right, parameters);
                return;
            }
            TermKind::Binary {
                operator: BinaryOperator::NotEqual,
                left,
                right,
            } => match (&left.kind, &right.kind) {
                (TermKind::Variable(a), TermKind::Variable(b)) => {
                    Test::Differ(usize::from(*a), usize::from(*b))
                }
                _ => Test::Holds(term.clone()),
            },
            _ => Test::Holds(term.clone()),
        };
        let everything = 1_u32.checked_shl(parameters as u32).unwrap_or(0);
        let everything = everything.wrapping_sub(1);
        let mask = parameters_of(term).unwrap_or(everything) & everything;
        self.parts.push(Part { mask, test });
    }

    /// Returns true if every binding satisfies the constraint.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns true if every part requires two parameters to differ.
    pub(crate) fn only_differs(&self) -> bool {
        self.differing().count() == self.parts.len()
    }

    /// Iterates over the pairs of parameters that must differ.
    pub(crate) fn differing(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.parts.iter().filter_map(|part| match part.test {
            Test::Differ(a, b) => Some((a, b)),
            Test::Holds(_) => None,
        })
    }

    /// Returns true if a binding of these parameters satisfies all parts that refer to
    /// no others.
    ///
    /// # Errors
    /// If a part has no value for the binding.
    pub(crate) fn admits(
        &self,
        binding: &[Word],
        mask: u32,
        words: &Words,
    ) -> Result<bool, EvaluationError> {
        for part in self
            .parts
            .iter()
            .filter(|part| part.mask & mask == part.mask)
        {
            let holds = match &part.test {
                Test::Differ(a, b) => binding.get(*a) != binding.get(*b),
                Test::Holds(term) => truth(
                    term,
                    &Parameters {
                        values: words.binding(binding),
                    },
                )?,
            };
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Returns the parameters that a term refers to; `None` if the form of the term is not
/// analysed.
fn parameters_of(term: &Term) -> Option<u32> {
    match &term.kind {
        TermKind::Constant(_) => Some(0),
        TermKind::Variable(slot) => 1_u32.checked_shl(u32::from(*slot)),
        TermKind::Unary { operand, .. } => parameters_of(operand),
        TermKind::Binary { left, right, .. } => Some(parameters_of(left)? | parameters_of(right)?),
        TermKind::Conditional {
            condition,
            then,
            otherwise,
        } => Some(parameters_of(condition)? | parameters_of(then)? | parameters_of(otherwise)?),
        _ => None,
    }
}

/// The values of an instance's parameters.
struct Parameters {
    values: Vec<Option<Value>>,
}

impl Environment for Parameters {
    fn variable(&self, slot: u16) -> Option<&Value> {
        self.values.get(usize::from(slot))?.as_ref()
    }

    fn capture(&self, _slot: u8) -> Option<&Value> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(kind: TermKind) -> Term {
        Term { kind, span: 0..0 }
    }

    fn variable(slot: u16) -> Box<Term> {
        Box::new(term(TermKind::Variable(slot)))
    }

    fn binary(operator: BinaryOperator, left: Box<Term>, right: Box<Term>) -> Box<Term> {
        Box::new(term(TermKind::Binary {
            operator,
            left,
            right,
        }))
    }

    #[test]
    fn parts_are_asked_when_their_parameters_are_bound() {
        let different = binary(BinaryOperator::NotEqual, variable(0), variable(1));
        let less = binary(BinaryOperator::Less, variable(1), variable(2));
        let both = binary(BinaryOperator::And, different, less);
        let constraint = Constraint::new(Some(&both), 3);
        let words = Words::default();
        let unbound = crate::words::UNBOUND;
        let admits = |binding: [Word; 3]| {
            let mask = crate::words::mask_of(&binding);
            constraint.admits(&binding, mask, &words).unwrap()
        };
        assert!(admits([1, unbound, 9]));
        assert!(!admits([1, 1, unbound]));
        assert!(admits([1, 2, unbound]));
        assert!(!admits([1, 2, 2]));
        assert!(admits([1, 2, 3]));
        assert!(!admits([unbound, 2, 1]));
        assert_eq!(constraint.differing().collect::<Vec<_>>(), [(0, 1)]);
    }
}
