//! Guards of one state on one event that overlap, leave a gap, or make a later one
//! unreachable.
//!
//! Only guards that compare the same term with integers are analysed, as sets of
//! integers; nothing is reported about others. An integer that proves an overlap or a
//! gap proves it for floating-point numbers, too.

use super::Checker;
use crate::property::{State, Transition};
use crate::syntax::{BinaryOperator, UnaryOperator};
use crate::term::{Kind, Term, TermKind};
use juror_event::Value;
use juror_fault::Diagnostic;

/// A set of integers as disjoint, non-adjacent, sorted ranges; both ends are inclusive.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Integers(Vec<(i128, i128)>);

impl Integers {
    fn range(from: i128, to: i128) -> Integers {
        Integers(if from <= to {
            vec![(from, to)]
        } else {
            Vec::new()
        })
    }

    fn all() -> Integers {
        Integers::range(i128::MIN, i128::MAX)
    }

    fn complement(&self) -> Integers {
        let mut ranges = Vec::new();
        let mut next = Some(i128::MIN);
        for &(from, to) in &self.0 {
            if let Some(start) = next
                && start < from
            {
                ranges.push((start, from - 1));
            }
            next = to.checked_add(1);
        }
        if let Some(start) = next {
            ranges.push((start, i128::MAX));
        }
        Integers(ranges)
    }

    fn intersection(&self, other: &Integers) -> Integers {
        let pairs = self
            .0
            .iter()
            .flat_map(|a| other.0.iter().map(move |b| (a.0.max(b.0), a.1.min(b.1))));
        let mut ranges: Vec<(i128, i128)> = pairs.filter(|(from, to)| from <= to).collect();
        ranges.sort_unstable();
        Integers(ranges)
    }

    fn union(&self, other: &Integers) -> Integers {
        let neither = self.complement().intersection(&other.complement());
        neither.complement()
    }

    fn is_subset(&self, other: &Integers) -> bool {
        self.intersection(&other.complement()).0.is_empty()
    }
}

/// A guard as the set of values of a term for which it holds.
struct Range {
    term: Term,
    integers: Integers,
    /// True if it contains an order comparison, not only `==` and `!=`.
    ordered: bool,
}

/// Returns true if two terms are equal except for their positions.
fn same(a: &Term, b: &Term) -> bool {
    match (&a.exact().kind, &b.exact().kind) {
        (TermKind::Variable(a), TermKind::Variable(b)) => a == b,
        (TermKind::Capture(a), TermKind::Capture(b)) => a == b,
        (TermKind::Constant(a), TermKind::Constant(b)) => a == b,
        (
            TermKind::Binary {
                operator,
                left,
                right,
            },
            TermKind::Binary {
                operator: other,
                left: other_left,
                right: other_right,
            },
        ) => operator == other && same(left, other_left) && same(right, other_right),
        _ => false,
    }
}

fn range_of(guard: &Term) -> Option<Range> {
    match &guard.kind {
        // For negative numbers the result depends on the type.
        TermKind::Arithmetic { exact, .. } => {
            if has_negative(exact) {
                None
            } else {
                range_of(exact)
            }
        }
        TermKind::Variable(_) | TermKind::Capture(_) => Some(Range {
            term: guard.clone(),
            // All numbers but 0 are true.
            integers: Integers::range(0, 0).complement(),
            ordered: false,
        }),
        TermKind::Unary {
            operator: UnaryOperator::Not,
            operand,
        } => {
            let range = range_of(operand)?;
            Some(Range {
                integers: range.integers.complement(),
                ..range
            })
        }
        TermKind::Binary {
            operator: operator @ (BinaryOperator::And | BinaryOperator::Or),
            left,
            right,
        } => {
            let (left, right) = (range_of(left)?, range_of(right)?);
            let integers = match operator {
                BinaryOperator::And => left.integers.intersection(&right.integers),
                _ => left.integers.union(&right.integers),
            };
            same(&left.term, &right.term).then_some(Range {
                term: left.term,
                integers,
                ordered: left.ordered || right.ordered,
            })
        }
        TermKind::Binary {
            operator,
            left,
            right,
        } if operator.is_comparison() => match (&left.kind, &right.kind) {
            (_, TermKind::Constant(Value::Int(number))) => comparison(*operator, left, *number),
            (TermKind::Constant(Value::Int(number)), _) => {
                comparison(mirrored(*operator), right, *number)
            }
            _ => None,
        },
        _ => None,
    }
}

fn has_negative(term: &Term) -> bool {
    matches!(term.kind, TermKind::Constant(Value::Int(..0)))
        || term.parts().into_iter().any(has_negative)
}

fn mirrored(operator: BinaryOperator) -> BinaryOperator {
    use BinaryOperator as Op;
    match operator {
        Op::Less => Op::Greater,
        Op::LessEqual => Op::GreaterEqual,
        Op::Greater => Op::Less,
        Op::GreaterEqual => Op::LessEqual,
        same => same,
    }
}

fn comparison(operator: BinaryOperator, term: &Term, number: i128) -> Option<Range> {
    use BinaryOperator as Op;
    if matches!(term.kind, TermKind::Constant(_)) {
        return None;
    }
    let below = || match number.checked_sub(1) {
        Some(end) => Integers::range(i128::MIN, end),
        None => Integers(Vec::new()),
    };
    let from = || Integers::range(number, i128::MAX);
    let integers = match operator {
        Op::Equal => Integers::range(number, number),
        Op::NotEqual => Integers::range(number, number).complement(),
        Op::Less => below(),
        Op::GreaterEqual => from(),
        Op::LessEqual => Integers::range(i128::MIN, number),
        Op::Greater => Integers::range(i128::MIN, number).complement(),
        _ => return None,
    };
    Some(Range {
        term: term.clone(),
        integers,
        ordered: !matches!(operator, Op::Equal | Op::NotEqual),
    })
}

impl Checker<'_> {
    pub(super) fn warn_of_guards(&mut self, states: &[State]) {
        for state in states {
            let mut looked_at = Vec::new();
            for transition in &state.transitions {
                if looked_at.contains(&transition.event) {
                    continue;
                }
                looked_at.push(transition.event);
                let same_event = state.transitions.iter();
                let same_event = same_event.filter(|other| other.event == transition.event);
                self.warn_of_ranges(&same_event.collect::<Vec<_>>());
            }
        }
    }

    /// Compares the guards of a state's transitions on one event, if all of them
    /// concern the same term.
    fn warn_of_ranges(&mut self, transitions: &[&Transition]) {
        let ranges: Option<Vec<Range>> = transitions
            .iter()
            .map(|transition| {
                let guard = transition.guard.as_ref()?;
                range_of(guard).filter(|_| transition.failure.is_none())
            })
            .collect();
        let Some(ranges) = ranges else { return };
        let Some(first) = ranges.first().filter(|_| ranges.len() > 1) else {
            return;
        };
        if !ranges.iter().all(|range| same(&range.term, &first.term)) {
            return;
        }
        let whole = self.is_whole(&first.term, transitions);
        let mut taken = Integers(Vec::new());
        for (position, range) in ranges.iter().enumerate() {
            let earlier = ranges.iter().zip(transitions).take(position);
            let overlap = earlier
                .clone()
                .map(|(other, transition)| {
                    (
                        range.integers.intersection(&other.integers),
                        other,
                        transition,
                    )
                })
                .find(|(common, other, _)| {
                    // A narrow guard before a wide one expresses a priority.
                    !common.0.is_empty() && !other.integers.is_subset(&range.integers)
                });
            let Some(transition) = transitions.get(position) else {
                return;
            };
            if whole && position > 0 && range.integers.is_subset(&taken) {
                self.diagnostics.push(Diagnostic::warning(
                    "never-taken",
                    transition.span.clone(),
                    "this transition is never taken: those before it take every such value",
                ));
            } else if let Some((common, _, other)) = overlap {
                self.warn_of_overlap(transition, other, &common, &range.term);
            }
            taken = taken.union(&range.integers);
        }
        // An ignored value is no gap: the user has handled it.
        let doubts = transitions.iter().filter_map(|it| it.ignored.as_ref());
        for doubt in doubts.map(|ignored| range_of(&ignored.doubt)) {
            match doubt.filter(|doubt| same(&doubt.term, &first.term)) {
                Some(doubt) => taken = taken.union(&doubt.integers),
                None => return,
            }
        }
        if ranges.iter().all(|range| range.ordered) {
            self.warn_of_gap(transitions, &taken);
        }
    }

    /// Returns true if the values of a term are known to be integers.
    fn is_whole(&self, term: &Term, transitions: &[&Transition]) -> bool {
        let kind = match &term.kind {
            TermKind::Variable(slot) => self.variable_kind(*slot),
            TermKind::Capture(slot) => transitions
                .first()
                .and_then(|t| self.capture_kinds.get(usize::from(t.event.0)))
                .and_then(|kinds| kinds.get(usize::from(*slot)))
                .copied()
                .unwrap_or(Kind::Unknown),
            _ => Kind::Unknown,
        };
        matches!(kind, Kind::Integer | Kind::Address)
    }

    fn warn_of_overlap(
        &mut self,
        transition: &Transition,
        earlier: &Transition,
        common: &Integers,
        term: &Term,
    ) {
        let Some(value) = witness(common) else { return };
        let boolean = matches!(
            transition.guard.as_ref().map(|guard| &guard.kind),
            Some(TermKind::Variable(_) | TermKind::Capture(_))
        );
        let when = if boolean {
            "both apply at once".to_owned()
        } else {
            format!("both apply when the value is {value}")
        };
        let warning = Diagnostic::warning(
            "overlapping-guards",
            transition
                .guard
                .as_ref()
                .map_or(term.span.clone(), |g| g.span.clone()),
            format!("this guard and one before it overlap: {when}"),
        );
        self.diagnostics.push(
            warning
                .label(earlier.span.clone(), "this one is taken then")
                .help("make them mutually exclusive, or use `else`"),
        );
    }

    /// Warns of values between those of the guards for which no transition exists.
    fn warn_of_gap(&mut self, transitions: &[&Transition], taken: &Integers) {
        let open_at = |end: i128| end == i128::MIN || end == i128::MAX;
        let rest = taken.complement();
        let gap = (rest.0.iter()).find(|(from, to)| !open_at(*from) && !open_at(*to));
        let (Some(&(from, to)), Some(last)) = (gap, transitions.last()) else {
            return;
        };
        let values = if from == to {
            format!("{from}")
        } else {
            format!("{from} to {to}")
        };
        let warning = Diagnostic::warning(
            "gap-in-guards",
            last.guard
                .as_ref()
                .map_or(last.span.clone(), |g| g.span.clone()),
            format!("these guards leave a gap: nothing happens when the value is {values}"),
        );
        let warning = transitions
            .iter()
            .take(transitions.len() - 1)
            .fold(warning, |warning, t| {
                warning.label(t.span.clone(), "the same event")
            });
        self.diagnostics
            .push(warning.help("if this is intended, write `ignore when …`"));
    }
}

/// Returns a natural example value.
fn witness(integers: &Integers) -> Option<i128> {
    let near_zero = integers.intersection(&Integers::range(0, i128::MAX));
    let from = near_zero.0.first().map(|range| range.0);
    from.or_else(|| integers.0.last().map(|range| range.1))
        .filter(|_| *integers != Integers::all())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn integers() -> impl Strategy<Value = Integers> {
        prop::collection::vec((-8..8_i128, 0..4_i128), 0..4).prop_map(|ranges| {
            ranges
                .into_iter()
                .fold(Integers(Vec::new()), |all, (from, length)| {
                    all.union(&Integers::range(from, from + length))
                })
        })
    }

    fn has(set: &Integers, number: i128) -> bool {
        set.0
            .iter()
            .any(|(from, to)| (*from..=*to).contains(&number))
    }

    proptest! {
        #[test]
        fn they_are_sets(a in integers(), b in integers()) {
            for number in -14..14 {
                let (in_a, in_b) = (has(&a, number), has(&b, number));
                prop_assert_eq!(has(&a.complement(), number), !in_a);
                prop_assert_eq!(has(&a.union(&b), number), in_a || in_b);
                prop_assert_eq!(has(&a.intersection(&b), number), in_a && in_b);
            }
            prop_assert_eq!(a.complement().complement(), a.clone());
            prop_assert!(a.intersection(&b).is_subset(&a));
        }
    }
}
