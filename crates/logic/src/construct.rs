//! Constructors of formulas and expressions, and simple queries on them.

use crate::{Bound, Formula, Guard, Regex};
use std::sync::Arc;

impl Formula {
    /// Returns a proposition by its bit.
    pub fn proposition(bit: u8) -> Formula {
        Formula::Proposition(bit)
    }

    /// Returns the negation.
    pub fn negation(self) -> Formula {
        match self {
            Formula::True => Formula::False,
            Formula::False => Formula::True,
            Formula::Not(part) => Arc::unwrap_or_clone(part),
            other => Formula::Not(Arc::new(other)),
        }
    }

    /// Returns the conjunction.
    pub fn and(self, other: Formula) -> Formula {
        match (self, other) {
            (Formula::True, only) | (only, Formula::True) => only,
            (Formula::False, _) | (_, Formula::False) => Formula::False,
            (left, right) => Formula::And(Arc::new(left), Arc::new(right)),
        }
    }

    /// Returns the disjunction.
    pub fn or(self, other: Formula) -> Formula {
        match (self, other) {
            (Formula::False, only) | (only, Formula::False) => only,
            (Formula::True, _) | (_, Formula::True) => Formula::True,
            (left, right) => Formula::Or(Arc::new(left), Arc::new(right)),
        }
    }

    /// Returns the implication: if this formula holds, the other one does.
    pub fn implies(self, other: Formula) -> Formula {
        self.negation().or(other)
    }

    /// Returns "strong next": there is a next step, and the formula holds there.
    pub fn next(self) -> Formula {
        Formula::Next(Arc::new(self))
    }

    /// Returns "until": the other formula holds at some step, and this one at all steps
    /// before it.
    pub fn until(self, other: Formula) -> Formula {
        Formula::Until(Arc::new(self), Arc::new(other), Bound::Unbounded)
    }

    /// Returns "weak until": as [`until`](Formula::until), or this formula holds forever.
    pub fn weak_until(self, other: Formula) -> Formula {
        let kept = other.clone().or(self);
        Formula::Release(Arc::new(other), Arc::new(kept), Bound::Unbounded)
    }

    /// Returns "release": the other formula holds up to and including the step at which
    /// this one does.
    pub fn release(self, other: Formula) -> Formula {
        Formula::Release(Arc::new(self), Arc::new(other), Bound::Unbounded)
    }

    /// Returns "eventually": the formula holds now or at some later step.
    pub fn eventually(self) -> Formula {
        self.eventually_within(Bound::Unbounded)
    }

    /// Returns "eventually within a bound": the formula holds at some step within it.
    pub fn eventually_within(self, bound: Bound) -> Formula {
        Formula::Until(Arc::new(Formula::True), Arc::new(self), bound)
    }

    /// Returns "always": the formula holds now and at all later steps.
    pub fn always(self) -> Formula {
        self.always_within(Bound::Unbounded)
    }

    /// Returns "always within a bound": the formula holds at all steps within it.
    pub fn always_within(self, bound: Bound) -> Formula {
        Formula::Release(Arc::new(Formula::False), Arc::new(self), bound)
    }

    /// Returns "yesterday": there is a previous step, and the formula held there.
    pub fn yesterday(self) -> Formula {
        Formula::Yesterday(Arc::new(self))
    }

    /// Returns "once": the formula holds now or held at some earlier step.
    pub fn once(self) -> Formula {
        Formula::Since(Arc::new(Formula::True), Arc::new(self), Bound::Unbounded)
    }

    /// Returns "historically": the formula holds now and held at all earlier steps.
    pub fn historically(self) -> Formula {
        Formula::Trigger(Arc::new(Formula::False), Arc::new(self), Bound::Unbounded)
    }

    /// Returns "since": the other formula held at some step, and this one at all steps
    /// after it.
    pub fn since(self, other: Formula) -> Formula {
        Formula::Since(Arc::new(self), Arc::new(other), Bound::Unbounded)
    }

    /// Returns the direct operands and the bound.
    pub fn parts(&self) -> (Option<&Formula>, Option<&Formula>, Bound) {
        match self {
            Formula::True | Formula::False | Formula::Proposition(_) => {
                (None, None, Bound::Unbounded)
            }
            Formula::Not(part)
            | Formula::Next(part)
            | Formula::WeakNext(part)
            | Formula::Yesterday(part)
            | Formula::WeakYesterday(part) => (Some(part), None, Bound::Unbounded),
            Formula::And(left, right) | Formula::Or(left, right) => {
                (Some(left), Some(right), Bound::Unbounded)
            }
            Formula::Until(left, right, bound)
            | Formula::Release(left, right, bound)
            | Formula::Since(left, right, bound)
            | Formula::Trigger(left, right, bound) => (Some(left), Some(right), *bound),
        }
    }

    /// Calls a function for the formula and all its subformulas. Shared subformulas are
    /// visited once.
    pub fn visit(&self, see: &mut dyn FnMut(&Formula)) {
        let mut seen: rustc_hash::FxHashSet<*const Formula> = Default::default();
        let mut waiting = vec![self];
        while let Some(formula) = waiting.pop() {
            if !seen.insert(std::ptr::from_ref(formula)) {
                continue;
            }
            see(formula);
            let (left, right, _) = formula.parts();
            waiting.extend(right);
            waiting.extend(left);
        }
    }

    /// Returns the bits of the propositions that occur.
    pub fn propositions(&self) -> u64 {
        let mut propositions = 0;
        self.visit(&mut |formula| {
            if let Formula::Proposition(bit) = formula {
                propositions |= 1_u64 << (bit & 63);
            }
        });
        propositions
    }

    /// Returns whether the formula has a time bound; it then needs a
    /// [`TimedMachine`](crate::TimedMachine).
    pub fn measures_time(&self) -> bool {
        let mut timed = false;
        self.visit(&mut |formula| timed |= matches!(formula.parts().2, Bound::Time { .. }));
        timed
    }
}

impl Regex {
    /// Returns an expression that matches any one letter.
    pub fn any() -> Regex {
        Regex::Letter(Guard::default())
    }

    /// Returns an expression that matches one letter in which a proposition is true.
    pub fn proposition(bit: u8) -> Regex {
        Regex::Letter(Guard {
            required: 1 << (bit & 63),
            forbidden: 0,
        })
    }

    /// Returns the concatenation.
    pub fn then(self, next: Regex) -> Regex {
        Regex::Sequence(Arc::new(self), Arc::new(next))
    }

    /// Returns the alternation.
    pub fn or(self, other: Regex) -> Regex {
        Regex::Choice(Arc::new(self), Arc::new(other))
    }

    /// Returns the intersection.
    pub fn and(self, other: Regex) -> Regex {
        Regex::Both(Arc::new(self), Arc::new(other))
    }

    /// Returns the complement.
    pub fn complement(self) -> Regex {
        Regex::Complement(Arc::new(self))
    }

    /// Returns the repetition any number of times.
    pub fn star(self) -> Regex {
        self.repeat(0, None)
    }

    /// Returns the repetition `from` to `to` times.
    pub fn repeat(self, from: u32, to: Option<u32>) -> Regex {
        Regex::Repeat {
            expression: Arc::new(self),
            from,
            to,
        }
    }

    /// Returns the bits of the propositions that occur.
    pub fn propositions(&self) -> u64 {
        let mut propositions = 0;
        let mut seen: rustc_hash::FxHashSet<*const Regex> = Default::default();
        let mut waiting = vec![self];
        while let Some(regex) = waiting.pop() {
            if !seen.insert(std::ptr::from_ref(regex)) {
                continue;
            }
            match regex {
                Regex::Nothing | Regex::Empty => {}
                Regex::Letter(guard) => propositions |= guard.propositions(),
                Regex::Sequence(first, second)
                | Regex::Choice(first, second)
                | Regex::Both(first, second) => waiting.extend([&**first, &**second]),
                Regex::Complement(part) => waiting.push(part),
                Regex::Repeat { expression, .. } => waiting.push(expression),
            }
        }
        propositions
    }

    /// Returns whether the expression matches the empty word. It is then useless with
    /// [`MatchViolates`](crate::Meaning::MatchViolates): every run is a violation before
    /// it begins.
    pub fn matches_empty(&self) -> bool {
        match self {
            Regex::Nothing | Regex::Letter(_) => false,
            Regex::Empty => true,
            Regex::Sequence(first, second) | Regex::Both(first, second) => {
                first.matches_empty() && second.matches_empty()
            }
            Regex::Choice(first, second) => first.matches_empty() || second.matches_empty(),
            Regex::Complement(part) => !part.matches_empty(),
            Regex::Repeat {
                expression,
                from,
                to,
            } => to.is_none_or(|to| *from <= to) && (*from == 0 || expression.matches_empty()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_simplified() {
        let p = Formula::proposition(0);
        for (formula, expected) in [
            (Formula::True.negation(), Formula::False),
            (Formula::False.negation(), Formula::True),
            (p.clone().negation().negation(), p.clone()),
            (p.clone().and(Formula::True), p.clone()),
            (Formula::False.and(p.clone()), Formula::False),
            (p.clone().or(Formula::False), p.clone()),
            (Formula::True.or(p.clone()), Formula::True),
            (Formula::True.implies(p.clone()), p),
        ] {
            assert_eq!(formula, expected);
        }
    }

    #[test]
    fn a_formula_measures_time_if_a_part_of_it_does() {
        let p = Formula::proposition(0);
        let time = Bound::Time {
            from: 0,
            to: Some(5),
        };
        let steps = Bound::Steps {
            from: 0,
            to: Some(5),
        };
        let timed = p.clone().eventually_within(time);
        for (formula, expected) in [
            (p.clone(), false),
            (p.clone().eventually(), false),
            (p.clone().eventually_within(steps), false),
            (timed.clone(), true),
            (timed.clone().and(p.clone()), true),
            (p.clone().and(timed).always(), true),
            (Formula::Since(p.clone().into(), p.into(), time), true),
        ] {
            assert_eq!(formula.measures_time(), expected, "{formula:?}");
        }
    }

    #[test]
    fn expressions_that_match_the_empty_word() {
        let a = Regex::proposition(0);
        let maybe = a.clone().repeat(0, Some(1));
        for (regex, expected) in [
            (Regex::Nothing, false),
            (Regex::Empty, true),
            (a.clone(), false),
            (maybe.clone().then(maybe.clone()), true),
            (maybe.clone().then(a.clone()), false),
            (maybe.clone().and(a.clone()), false),
            (a.clone().or(maybe.clone()), true),
            (a.clone().or(a.clone()), false),
            (a.clone().complement(), true),
            (maybe.clone().complement(), false),
            (a.clone().star(), true),
            (a.clone().repeat(1, None), false),
            (maybe.clone().repeat(2, None), true),
            (maybe.clone().repeat(2, Some(2)), true),
            (maybe.repeat(2, Some(1)), false),
            (a.repeat(0, Some(0)), true),
        ] {
            assert_eq!(regex.matches_empty(), expected, "{regex:?}");
        }
    }
}
