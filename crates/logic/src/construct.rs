//! Formulas and expressions put together, and simple questions about them.

use crate::{Bound, Formula, Guard, Regex};
use std::sync::Arc;

impl Formula {
    /// The proposition with a bit.
    pub fn proposition(bit: u8) -> Formula {
        Formula::Proposition(bit)
    }

    /// It does not hold.
    pub fn negation(self) -> Formula {
        match self {
            Formula::True => Formula::False,
            Formula::False => Formula::True,
            Formula::Not(part) => Arc::unwrap_or_clone(part),
            other => Formula::Not(Arc::new(other)),
        }
    }

    /// Both hold.
    pub fn and(self, other: Formula) -> Formula {
        match (self, other) {
            (Formula::True, only) | (only, Formula::True) => only,
            (Formula::False, _) | (_, Formula::False) => Formula::False,
            (left, right) => Formula::And(Arc::new(left), Arc::new(right)),
        }
    }

    /// One or both hold.
    pub fn or(self, other: Formula) -> Formula {
        match (self, other) {
            (Formula::False, only) | (only, Formula::False) => only,
            (Formula::True, _) | (_, Formula::True) => Formula::True,
            (left, right) => Formula::Or(Arc::new(left), Arc::new(right)),
        }
    }

    /// If this holds, the other one does.
    pub fn implies(self, other: Formula) -> Formula {
        self.negation().or(other)
    }

    /// There is a next step, and it holds there.
    pub fn next(self) -> Formula {
        Formula::Next(Arc::new(self))
    }

    /// The other one holds at some step, this one at all before it.
    pub fn until(self, other: Formula) -> Formula {
        Formula::Until(Arc::new(self), Arc::new(other), Bound::Unbounded)
    }

    /// The other one holds at some step, this one at all before it; or this one
    /// holds for ever.
    pub fn weak_until(self, other: Formula) -> Formula {
        let kept = other.clone().or(self);
        Formula::Release(Arc::new(other), Arc::new(kept), Bound::Unbounded)
    }

    /// The other one holds up to and with the step where this one does.
    pub fn release(self, other: Formula) -> Formula {
        Formula::Release(Arc::new(self), Arc::new(other), Bound::Unbounded)
    }

    /// It holds now or at some later step.
    pub fn eventually(self) -> Formula {
        self.eventually_within(Bound::Unbounded)
    }

    /// It holds at some step within a bound.
    pub fn eventually_within(self, bound: Bound) -> Formula {
        Formula::Until(Arc::new(Formula::True), Arc::new(self), bound)
    }

    /// It holds now and at all later steps.
    pub fn always(self) -> Formula {
        self.always_within(Bound::Unbounded)
    }

    /// It holds at all steps within a bound.
    pub fn always_within(self, bound: Bound) -> Formula {
        Formula::Release(Arc::new(Formula::False), Arc::new(self), bound)
    }

    /// There was a step before, and it held there.
    pub fn yesterday(self) -> Formula {
        Formula::Yesterday(Arc::new(self))
    }

    /// It holds now or held at some earlier step.
    pub fn once(self) -> Formula {
        Formula::Since(Arc::new(Formula::True), Arc::new(self), Bound::Unbounded)
    }

    /// It holds now and held at all earlier steps.
    pub fn historically(self) -> Formula {
        Formula::Trigger(Arc::new(Formula::False), Arc::new(self), Bound::Unbounded)
    }

    /// The other one held at some step, this one at all after it.
    pub fn since(self, other: Formula) -> Formula {
        Formula::Since(Arc::new(self), Arc::new(other), Bound::Unbounded)
    }

    /// The formulas that it is directly made of, and its bound.
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

    /// Calls a function for the formula and all that it is made of. What is
    /// shared is visited once.
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

    /// The bits of the propositions that it speaks of.
    pub fn propositions(&self) -> u64 {
        let mut propositions = 0;
        self.visit(&mut |formula| {
            if let Formula::Proposition(bit) = formula {
                propositions |= 1_u64 << (bit & 63);
            }
        });
        propositions
    }

    /// Whether a bound of it is in time; it needs a
    /// [`TimedMachine`](crate::TimedMachine) then.
    pub fn measures_time(&self) -> bool {
        let mut timed = false;
        self.visit(&mut |formula| timed |= matches!(formula.parts().2, Bound::Time { .. }));
        timed
    }
}

impl Regex {
    /// One letter, whatever it is.
    pub fn any() -> Regex {
        Regex::Letter(Guard::default())
    }

    /// One letter in which a proposition is true.
    pub fn proposition(bit: u8) -> Regex {
        Regex::Letter(Guard {
            required: 1 << (bit & 63),
            forbidden: 0,
        })
    }

    /// One after the other.
    pub fn then(self, next: Regex) -> Regex {
        Regex::Sequence(Arc::new(self), Arc::new(next))
    }

    /// One or the other.
    pub fn or(self, other: Regex) -> Regex {
        Regex::Choice(Arc::new(self), Arc::new(other))
    }

    /// Both match the same letters.
    pub fn and(self, other: Regex) -> Regex {
        Regex::Both(Arc::new(self), Arc::new(other))
    }

    /// Matches what this one does not.
    pub fn complement(self) -> Regex {
        Regex::Complement(Arc::new(self))
    }

    /// Any number of times.
    pub fn star(self) -> Regex {
        self.repeat(0, None)
    }

    /// From so many times to so many.
    pub fn repeat(self, from: u32, to: Option<u32>) -> Regex {
        Regex::Repeat {
            expression: Arc::new(self),
            from,
            to,
        }
    }

    /// The bits of the propositions that it speaks of.
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

    /// Whether it matches the empty word. As something that must never match
    /// it makes no sense then: every run is a violation before it begins.
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
