//! Detection of constraints (`where`) that no instance satisfies.
//!
//! A term that compares parameters with each other and with integers is satisfiable by
//! integers exactly if it is satisfied by some integers near those in the term: at most
//! as many steps away as there are parameters. So few assignments are tried.

use super::Checker;
use crate::syntax::{BinaryOperator, UnaryOperator};
use crate::term::{Term, TermKind};
use crate::{Environment, truth};
use juror_event::Value;
use juror_fault::Diagnostic;
use std::collections::BTreeSet;
use std::ops::Range;

/// The maximum number of assignments that are tried.
const ASSIGNMENTS_MAX: usize = 20_000;

impl Checker<'_> {
    /// Reports a constraint that cannot be satisfied; reports nothing if this is
    /// uncertain.
    pub(super) fn warn_of_contradiction(&mut self, constraint: &Term, span: &Range<usize>) {
        let mut parameters = BTreeSet::new();
        let mut constants = BTreeSet::from([0_i128]);
        if !is_plain(constraint, &mut parameters, &mut constants) {
            return;
        }
        let reach = i128::try_from(parameters.len()).unwrap_or(0);
        let domain: BTreeSet<i128> = constants
            .iter()
            .flat_map(|&near| (near.saturating_sub(reach))..=(near.saturating_add(reach)))
            .collect();
        let domain: Vec<Value> = domain.into_iter().map(Value::Int).collect();
        let slots = parameters.last().map_or(0, |last| usize::from(*last) + 1);
        let count = u32::try_from(slots)
            .ok()
            .and_then(|slots| domain.len().checked_pow(slots));
        let Some(count) = count.filter(|&count| count <= ASSIGNMENTS_MAX) else {
            return;
        };
        for number in 0..count {
            let mut rest = number;
            let mut values = Vec::with_capacity(slots);
            for _ in 0..slots {
                values.extend(domain.get(rest % domain.len()).cloned());
                rest /= domain.len();
            }
            match truth(constraint, &Parameters(values)) {
                Ok(false) => {}
                _ => return,
            }
        }
        let error = Diagnostic::error(
            "contradiction",
            span.clone(),
            "this is never true: the property would have no instances",
        );
        self.diagnostics.push(error);
    }
}

/// Returns true if a term consists of comparisons of parameters and integers only.
fn is_plain(term: &Term, parameters: &mut BTreeSet<u16>, constants: &mut BTreeSet<i128>) -> bool {
    match &term.kind {
        TermKind::Constant(Value::Bool(_)) => true,
        TermKind::Unary {
            operator: UnaryOperator::Not,
            operand,
        } => is_plain(operand, parameters, constants),
        TermKind::Binary {
            operator: BinaryOperator::And | BinaryOperator::Or,
            left,
            right,
        } => is_plain(left, parameters, constants) && is_plain(right, parameters, constants),
        TermKind::Binary {
            operator,
            left,
            right,
        } if operator.is_comparison() => [left, right].into_iter().all(|side| match &side.kind {
            TermKind::Variable(slot) => {
                parameters.insert(*slot);
                true
            }
            TermKind::Constant(value) => match value.as_integer() {
                Some(number) => {
                    constants.insert(number);
                    true
                }
                None => false,
            },
            _ => false,
        }),
        _ => false,
    }
}

/// An assignment to the parameters.
struct Parameters(Vec<Value>);

impl Environment for Parameters {
    fn variable(&self, slot: u16) -> Option<&Value> {
        self.0.get(usize::from(slot))
    }

    fn capture(&self, _slot: u8) -> Option<&Value> {
        None
    }
}
