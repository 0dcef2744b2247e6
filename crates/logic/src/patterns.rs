//! The usual kinds of requirements, as functions that make formulas.
//!
//! The kinds and their scopes are those of Dwyer, Avrunin and Corbett, *Patterns
//! in Property Specifications for Finite-State Verification* (ICSE 1999). The
//! formulas are built from one rule for each kind and one for each scope, and
//! mean exactly what is said here; where the published ones differ from each
//! other between scopes, these do not.
//!
//! A *segment* is a part of the run: it begins with its first step and ends
//! before its last one. With `R` at its end it ends before the first `R`.
//! All kinds but the chains do without `next`; so they do not depend on how
//! steps of several threads interleave. In the chains one step comes strictly
//! after another one, and that takes a `next`.

use crate::Formula;

/// Where a requirement applies.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scope {
    /// In the whole run.
    Globally,
    /// From the beginning to the first step where this holds; nowhere if there
    /// is none.
    Before(Formula),
    /// From the first step where this holds, for ever.
    After(Formula),
    /// From each step where the first holds and the second does not, to the
    /// next one where the second holds; nowhere if there is none.
    Between(Formula, Formula),
    /// The same; for ever if the second never holds.
    AfterUntil(Formula, Formula),
}

impl Scope {
    /// A requirement on segments, put into the scope. The function is given what
    /// ends the segment; `False` if nothing does.
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

/// At all steps of a segment.
fn throughout(formula: Formula, end: Formula) -> Formula {
    match end {
        Formula::False => formula.always(),
        end => formula.weak_until(end),
    }
}

/// At some step of a segment.
fn within(formula: Formula, end: Formula) -> Formula {
    match end {
        Formula::False => formula.eventually(),
        end => end.clone().negation().until(formula.and(end.negation())),
    }
}

/// `first` at this step and `second` at a later one of the segment, `kept` at
/// the first and all between.
fn then(first: Formula, second: Formula, kept: Formula, end: Formula) -> Formula {
    let going = end.negation();
    let later = kept.clone().and(going.clone());
    let later = later.until(second.and(going.clone()));
    first.and(kept).and(going).and(later.next())
}

/// `p` never holds.
pub fn absence(p: Formula, scope: &Scope) -> Formula {
    scope.apply(|end| throughout(p.clone().negation(), end))
}

/// `p` holds at some step.
pub fn existence(p: Formula, scope: &Scope) -> Formula {
    scope.apply(|end| within(p.clone(), end))
}

/// `p` holds at no more than so many separate times. A time goes on as long as
/// `p` holds.
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

/// `p` holds at no more than so many steps; for what is true for one step only.
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

/// `p` holds at all steps.
pub fn universality(p: Formula, scope: &Scope) -> Formula {
    scope.apply(|end| throughout(p.clone(), end))
}

/// Where `p` holds, `s` does, or has before.
pub fn precedence(s: Formula, p: Formula, scope: &Scope) -> Formula {
    scope.apply(|end| p.clone().negation().weak_until(s.clone().or(end)))
}

/// Where `p` holds, `s` does, or will later.
pub fn response(s: Formula, p: Formula, scope: &Scope) -> Formula {
    scope.apply(|end| {
        let answered = within(s.clone(), end.clone());
        throughout(p.clone().implies(answered), end)
    })
}

/// Where `p` holds, there was `s` and strictly after it `t`, which may be at
/// the same step as `p`.
pub fn precedence_chain(s: Formula, t: Formula, p: Formula, scope: &Scope) -> Formula {
    scope.apply(|end| {
        let absent = p.clone().negation();
        let second = absent.clone().weak_until(t.clone().or(end.clone()));
        let first = s.clone().and(absent.clone()).and(second.next());
        absent.weak_until(first.or(end))
    })
}

/// Where `s` holds and strictly later `t`, `p` holds at the step of that `s` or
/// has before.
pub fn precedence_of_chain(p: Formula, s: Formula, t: Formula, scope: &Scope) -> Formula {
    scope.apply(|end| {
        let chain = then(s.clone(), t.clone(), Formula::True, end.clone());
        chain.negation().weak_until(p.clone().or(end))
    })
}

/// Where `s` holds and strictly later `t`, `p` holds with that `t` or after it.
pub fn response_to_chain(p: Formula, s: Formula, t: Formula, scope: &Scope) -> Formula {
    scope.apply(|end| {
        let chain = then(s.clone(), t.clone(), Formula::True, end.clone());
        let answer = t.clone().and(within(p.clone(), end.clone()));
        let answered = within(answer, end.clone()).next();
        throughout(chain.implies(answered), end)
    })
}

/// Where `p` holds, `s` does or will later, and `t` strictly after that.
pub fn response_chain(s: Formula, t: Formula, p: Formula, scope: &Scope) -> Formula {
    constrained_chain(s, t, Formula::False, p, scope)
}

/// Where `p` holds, `s` does or will later, and `t` strictly after that, without
/// `z` from that `s` to before that `t`.
pub fn constrained_chain(s: Formula, t: Formula, z: Formula, p: Formula, scope: &Scope) -> Formula {
    scope.apply(|end| {
        let free = z.clone().negation();
        let chain = then(s.clone(), t.clone(), free, end.clone());
        throughout(p.clone().implies(within(chain, end.clone())), end)
    })
}
