//! Specification patterns as formulas.
//!
//! The catalogue is that of M. Dwyer, G. Avrunin, J. Corbett, *Patterns in
//! Property Specifications for Finite-State Verification* (ICSE 1999): what is
//! demanded, and the scope in which it is. Chains need `next`, since their
//! parts follow one another.

use juror_logic::{Bound, Formula};
use std::sync::Arc;

/// Where a pattern applies.
#[derive(Debug, Clone)]
pub(super) enum Scope {
    Global,
    Before(Formula),
    After(Formula),
    Between(Formula, Formula),
    AfterUntil(Formula, Formula),
}

fn not(a: &Formula) -> Formula {
    Formula::Not(Arc::new(a.clone()))
}

fn and(a: Formula, b: Formula) -> Formula {
    Formula::And(Arc::new(a), Arc::new(b))
}

fn or(a: Formula, b: Formula) -> Formula {
    Formula::Or(Arc::new(a), Arc::new(b))
}

/// The one implies the other.
pub(super) fn implies(a: &Formula, b: Formula) -> Formula {
    or(not(a), b)
}

fn next(a: Formula) -> Formula {
    Formula::Next(Arc::new(a))
}

fn until(a: Formula, b: Formula) -> Formula {
    Formula::Until(Arc::new(a), Arc::new(b), Bound::Unbounded)
}

/// `a` until `b`, which need not come.
pub(super) fn weak_until(a: Formula, b: Formula) -> Formula {
    let both = or(a, b.clone());
    Formula::Release(Arc::new(b), Arc::new(both), Bound::Unbounded)
}

fn eventually(a: Formula) -> Formula {
    until(Formula::True, a)
}

fn always(a: Formula) -> Formula {
    Formula::Release(Arc::new(Formula::False), Arc::new(a), Bound::Unbounded)
}

impl Scope {
    /// The end of the scope; it never comes where there is none.
    fn end(&self) -> Formula {
        match self {
            Scope::Global | Scope::After(_) => Formula::False,
            Scope::Before(end) | Scope::Between(_, end) | Scope::AfterUntil(_, end) => end.clone(),
        }
    }

    /// A demand at the beginning of each scope. It looks no further than the
    /// end, and holds as far as it goes where the end does not come.
    fn at_begin(&self, demand: Formula) -> Formula {
        match self {
            Scope::Global => demand,
            Scope::Before(end) => implies(&eventually(end.clone()), demand),
            Scope::After(begin) => weak_until(not(begin), and(begin.clone(), demand)),
            Scope::Between(begin, end) => {
                let open = and(begin.clone(), and(not(end), eventually(end.clone())));
                always(implies(&open, demand))
            }
            Scope::AfterUntil(begin, end) => always(implies(&and(begin.clone(), not(end)), demand)),
        }
    }

    /// A demand at every step of each scope.
    fn throughout(&self, demand: Formula) -> Formula {
        let inside = match self {
            Scope::Global | Scope::After(_) => always(demand),
            _ => weak_until(demand, self.end()),
        };
        self.at_begin(inside)
    }

    /// Not at the end of the scope.
    fn inside(&self, a: &Formula) -> Formula {
        match self {
            Scope::Global | Scope::After(_) => a.clone(),
            _ => and(a.clone(), not(&self.end())),
        }
    }

    /// Some time before the end of the scope.
    fn soon(&self, a: &Formula) -> Formula {
        match self {
            Scope::Global | Scope::After(_) => eventually(a.clone()),
            _ => until(not(&self.end()), self.inside(a)),
        }
    }

    /// The one, and at a later step of the scope the other.
    fn followed(&self, first: &Formula, second: &Formula) -> Formula {
        and(self.inside(first), next(self.soon(second)))
    }
}

/// `p` never holds.
pub(super) fn absence(p: &Formula, scope: &Scope) -> Formula {
    scope.throughout(not(p))
}

/// `p` holds some time.
pub(super) fn existence(p: &Formula, scope: &Scope) -> Formula {
    match scope {
        // A scope that has not ended may still have it.
        Scope::Between(begin, end) => {
            let open = and(begin.clone(), not(end));
            let demand = weak_until(not(end), scope.inside(p));
            always(implies(&open, demand))
        }
        Scope::Before(end) => weak_until(not(end), scope.inside(p)),
        _ => scope.at_begin(scope.soon(p)),
    }
}

/// `p` holds at most so often: at so many steps when it is true for one step
/// only, in so many stretches of steps otherwise.
pub(super) fn bounded_existence(p: &Formula, times: u32, is_pulse: bool, scope: &Scope) -> Formula {
    let end = scope.end();
    let here = and(p.clone(), not(&end));
    let absent = and(not(p), not(&end));
    let mut rest = weak_until(not(p), end.clone());
    for _ in 0..times {
        let counted = if is_pulse {
            and(here.clone(), Formula::WeakNext(Arc::new(rest)))
        } else {
            weak_until(here.clone(), or(end.clone(), rest))
        };
        rest = weak_until(absent.clone(), or(end.clone(), counted));
    }
    scope.at_begin(rest)
}

/// `p` holds at every step.
pub(super) fn universality(p: &Formula, scope: &Scope) -> Formula {
    scope.throughout(p.clone())
}

/// `p` happens only after `s`.
pub(super) fn precedence(s: &Formula, p: &Formula, scope: &Scope) -> Formula {
    scope.at_begin(weak_until(not(p), or(s.clone(), scope.end())))
}

/// After `p` comes `s`.
pub(super) fn response(s: &Formula, p: &Formula, scope: &Scope) -> Formula {
    scope.throughout(implies(p, scope.soon(s)))
}

/// `p` happens only after `s` and, later, `t`.
pub(super) fn precedence_of_two_causes(
    s: &Formula,
    t: &Formula,
    p: &Formula,
    scope: &Scope,
) -> Formula {
    let end = scope.end();
    let second = weak_until(not(p), or(t.clone(), end.clone()));
    let first = and(and(s.clone(), not(p)), Formula::WeakNext(Arc::new(second)));
    scope.at_begin(weak_until(not(p), or(end, first)))
}

/// `s` and, later, `t` happen only after `p`.
pub(super) fn precedence_of_two_effects(
    p: &Formula,
    s: &Formula,
    t: &Formula,
    scope: &Scope,
) -> Formula {
    let chain = scope.followed(s, t);
    scope.at_begin(weak_until(not(&chain), or(p.clone(), scope.end())))
}

/// After `s` and, later, `t` comes `p`.
pub(super) fn response_to_two(p: &Formula, s: &Formula, t: &Formula, scope: &Scope) -> Formula {
    let after = and(scope.inside(t), scope.soon(p));
    let answered = next(scope.soon(&after));
    scope.throughout(implies(&scope.followed(s, t), answered))
}

/// After `p` come `s` and, later, `t`.
pub(super) fn response_of_two(s: &Formula, t: &Formula, p: &Formula, scope: &Scope) -> Formula {
    let chain = scope.followed(s, t);
    scope.throughout(implies(p, scope.soon(&chain)))
}
