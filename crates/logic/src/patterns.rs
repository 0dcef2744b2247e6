//! Functions that build formulas for common kinds of requirements.
//!
//! The patterns and scopes are those of Dwyer, Avrunin and Corbett, *Patterns in Property
//! Specifications for Finite-State Verification* (ICSE 1999). Each formula is built from
//! one rule for its pattern and one for its scope, and means exactly what its
//! documentation says; the published formulas are not consistent between scopes, these
//! are.
//!
//! A *segment* is a part of the run that begins with its first step and ends before its
//! last one. If it is delimited by `R`, it ends before the first `R`. All patterns except
//! the chains avoid `next`, so they do not depend on how the steps of several threads
//! interleave. In a chain, one step comes strictly after another, which needs `next`.

use crate::Formula;

/// The part of the run in which a requirement applies.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The whole run.
    Globally,
    /// From the beginning to the first step at which the formula holds; nowhere if there
    /// is none.
    Before(Formula),
    /// From the first step at which the formula holds to the end of the run.
    After(Formula),
    /// From each step at which the first formula holds and the second does not, to the
    /// next step at which the second holds; nowhere if there is none.
    Between(Formula, Formula),
    /// As `Between`, but up to the end of the run if the second formula never holds.
    AfterUntil(Formula, Formula),
}

impl Scope {
    /// Applies a requirement on segments within the scope. The function is given the
    /// formula that ends the segment, or `False` if nothing does.
    fn apply(&self, segment: impl Fn(Formula) -> Formula) -> Formula {
        match self {
            Scope::Globally => segment(Formula::False),
            Scope::Before(end) => end.clone().eventually().implies(segment(end.clone())),
            Scope::After(start) => {
                let first = start.clone().and(segment(Formula::False));
                start.clone().negation().weak_until(first)
            }
            Scope::Between(start, end) => {
                let begins = start.clone().and(end.clone().negation());
                let ends = end.clone().eventually();
                begins.and(ends).implies(segment(end.clone())).always()
            }
            Scope::AfterUntil(start, end) => {
                let begins = start.clone().and(end.clone().negation());
                begins.implies(segment(end.clone())).always()
            }
        }
    }
}

/// Builds: `formula` holds at all steps of a segment.
fn throughout(formula: Formula, end: Formula) -> Formula {
    formula.weak_until(end)
}

/// Builds: `formula` holds at some step of a segment.
fn within(formula: Formula, end: Formula) -> Formula {
    let going = end.negation();
    going.clone().until(formula.and(going))
}

/// Builds: `first` holds at this step and `second` at a later one of the segment, and
/// `kept` from the first up to before the second.
fn then(first: Formula, second: Formula, kept: Formula, end: Formula) -> Formula {
    let going = end.negation();
    let later = kept.clone().and(going.clone());
    let later = later.until(second.and(going.clone()));
    first.and(kept).and(going).and(later.next())
}

/// Absence: `p` never holds.
pub fn absence(p: Formula, scope: &Scope) -> Formula {
    scope.apply(|end| throughout(p.clone().negation(), end))
}

/// Existence: `p` holds at some step.
pub fn existence(p: Formula, scope: &Scope) -> Formula {
    scope.apply(|end| within(p.clone(), end))
}

/// Bounded existence: `p` holds during at most `times` separate periods. A period lasts
/// as long as `p` holds.
pub fn bounded_existence(p: Formula, times: u32, scope: &Scope) -> Formula {
    scope.apply(|end| {
        let absent = p.clone().negation();
        let mut formula = throughout(absent.clone(), end.clone());
        for _ in 0..times {
            let present = p.clone().weak_until(end.clone().or(formula));
            formula = absent.clone().weak_until(end.clone().or(present));
        }
        formula
    })
}

/// Bounded count: `p` holds at at most `times` steps. For propositions that are true for
/// one step only.
pub fn bounded_count(p: Formula, times: u32, scope: &Scope) -> Formula {
    scope.apply(|end| {
        let absent = p.clone().negation();
        let mut formula = throughout(absent.clone(), end.clone());
        for _ in 0..times {
            let rest = Formula::WeakNext(std::sync::Arc::new(formula));
            let present = p.clone().and(end.clone().negation()).and(rest);
            formula = absent.clone().weak_until(end.clone().or(present));
        }
        formula
    })
}

/// Universality: `p` holds at all steps.
pub fn universality(p: Formula, scope: &Scope) -> Formula {
    scope.apply(|end| throughout(p.clone(), end))
}

/// Precedence: if `p` holds, `s` holds at that step or held before.
pub fn precedence(s: Formula, p: Formula, scope: &Scope) -> Formula {
    scope.apply(|end| p.clone().negation().weak_until(s.clone().or(end)))
}

/// Response: if `p` holds, `s` holds at that step or later.
pub fn response(s: Formula, p: Formula, scope: &Scope) -> Formula {
    scope.apply(|end| {
        let answered = within(s.clone(), end.clone());
        throughout(p.clone().implies(answered), end)
    })
}

/// Precedence chain: if `p` holds, `s` held and strictly after it `t`, which may be at
/// the same step as `p`.
pub fn precedence_chain(s: Formula, t: Formula, p: Formula, scope: &Scope) -> Formula {
    scope.apply(|end| {
        let absent = p.clone().negation();
        let second = absent.clone().weak_until(t.clone().or(end.clone()));
        let first = s.clone().and(absent.clone()).and(second.next());
        absent.weak_until(first.or(end))
    })
}

/// Precedence of a chain: if `s` holds and strictly later `t`, `p` holds at the step of
/// that `s` or held before.
pub fn precedence_of_chain(p: Formula, s: Formula, t: Formula, scope: &Scope) -> Formula {
    scope.apply(|end| {
        let chain = then(s.clone(), t.clone(), Formula::True, end.clone());
        chain.negation().weak_until(p.clone().or(end))
    })
}

/// Response to a chain: if `s` holds and strictly later `t`, `p` holds at the step of
/// that `t` or after it.
pub fn response_to_chain(p: Formula, s: Formula, t: Formula, scope: &Scope) -> Formula {
    scope.apply(|end| {
        let chain = then(s.clone(), t.clone(), Formula::True, end.clone());
        let answer = t.clone().and(within(p.clone(), end.clone()));
        let answered = within(answer, end.clone()).next();
        throughout(chain.implies(answered), end)
    })
}

/// Response chain: if `p` holds, `s` holds at that step or later, and `t` strictly after
/// that.
pub fn response_chain(s: Formula, t: Formula, p: Formula, scope: &Scope) -> Formula {
    constrained_chain(s, t, Formula::False, p, scope)
}

/// Constrained chain: if `p` holds, `s` holds at that step or later, and `t` strictly
/// after that, and `z` does not hold from that `s` to before that `t`.
pub fn constrained_chain(s: Formula, t: Formula, z: Formula, p: Formula, scope: &Scope) -> Formula {
    scope.apply(|end| {
        let free = z.clone().negation();
        let chain = then(s.clone(), t.clone(), free, end.clone());
        throughout(p.clone().implies(within(chain, end.clone())), end)
    })
}
