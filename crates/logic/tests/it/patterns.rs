//! Every pattern against its definition, written as loops over a trace.

use crate::common::holds;
use juror_logic::patterns::{self, Scope};
use juror_logic::{Formula, Letter, decidable};
use juror_testing::Numbers;

const P: u8 = 0;
const S: u8 = 1;
const T: u8 = 2;
const Z: u8 = 3;
const Q: u8 = 4;
const R: u8 = 5;

/// The segments of a trace that a scope speaks of.
fn segments(scope: &Scope, trace: &[Letter]) -> Vec<(usize, usize)> {
    let end = trace.len();
    let next = |bit: u8, from: usize| (from..end).find(|step| trace[*step].has(bit));
    match scope {
        Scope::Globally => vec![(0, end)],
        Scope::Before(_) => next(R, 0).map(|last| (0, last)).into_iter().collect(),
        Scope::After(_) => next(Q, 0).map(|first| (first, end)).into_iter().collect(),
        Scope::Between(..) | Scope::AfterUntil(..) => (0..end)
            .filter(|step| trace[*step].has(Q) && !trace[*step].has(R))
            .filter_map(|first| match (next(R, first), scope) {
                (Some(last), _) => Some((first, last)),
                (None, Scope::AfterUntil(..)) => Some((first, end)),
                (None, _) => None,
            })
            .collect(),
    }
}

/// A kind of requirement: its name, its formula, its definition on a segment.
struct Kind {
    name: &'static str,
    formula: fn(&Scope) -> Formula,
    defined: fn(&[Letter]) -> bool,
}

fn proposition(bit: u8) -> Formula {
    Formula::Proposition(bit)
}

/// The steps of a segment where a proposition is true.
fn steps(segment: &[Letter], bit: u8) -> Vec<usize> {
    (0..segment.len())
        .filter(|step| segment[*step].has(bit))
        .collect()
}

fn times(segment: &[Letter]) -> usize {
    let mut times = 0;
    let mut before = false;
    for letter in segment {
        times += usize::from(letter.has(P) && !before);
        before = letter.has(P);
    }
    times
}

fn kinds() -> Vec<Kind> {
    vec![
        Kind {
            name: "absence",
            formula: |scope| patterns::absence(proposition(P), scope),
            defined: |segment| steps(segment, P).is_empty(),
        },
        Kind {
            name: "existence",
            formula: |scope| patterns::existence(proposition(P), scope),
            defined: |segment| !steps(segment, P).is_empty(),
        },
        Kind {
            name: "at most two times",
            formula: |scope| patterns::bounded_existence(proposition(P), 2, scope),
            defined: |segment| times(segment) <= 2,
        },
        Kind {
            name: "universality",
            formula: |scope| patterns::universality(proposition(P), scope),
            defined: |segment| steps(segment, P).len() == segment.len(),
        },
        Kind {
            name: "precedence",
            formula: |scope| patterns::precedence(proposition(S), proposition(P), scope),
            defined: |segment| {
                let causes = steps(segment, S);
                steps(segment, P)
                    .iter()
                    .all(|p| causes.iter().any(|s| s <= p))
            },
        },
        Kind {
            name: "response",
            formula: |scope| patterns::response(proposition(S), proposition(P), scope),
            defined: |segment| {
                let answers = steps(segment, S);
                steps(segment, P)
                    .iter()
                    .all(|p| answers.iter().any(|s| s >= p))
            },
        },
        Kind {
            name: "two causes of one effect",
            formula: |scope| {
                let [s, t, p] = [S, T, P].map(proposition);
                patterns::precedence_chain(s, t, p, scope)
            },
            defined: |segment| {
                let (firsts, seconds) = (steps(segment, S), steps(segment, T));
                steps(segment, P).iter().all(|p| {
                    seconds
                        .iter()
                        .any(|t| t <= p && firsts.iter().any(|s| s < t))
                })
            },
        },
        Kind {
            name: "one cause of two effects",
            formula: |scope| {
                let [p, s, t] = [P, S, T].map(proposition);
                patterns::precedence_of_chain(p, s, t, scope)
            },
            defined: |segment| {
                let (causes, seconds) = (steps(segment, P), steps(segment, T));
                steps(segment, S)
                    .iter()
                    .filter(|s| seconds.iter().any(|t| t > s))
                    .all(|s| causes.iter().any(|p| p <= s))
            },
        },
        Kind {
            name: "one response to two stimuli",
            formula: |scope| {
                let [p, s, t] = [P, S, T].map(proposition);
                patterns::response_to_chain(p, s, t, scope)
            },
            defined: |segment| {
                let (answers, seconds) = (steps(segment, P), steps(segment, T));
                steps(segment, S)
                    .iter()
                    .filter_map(|s| seconds.iter().find(|t| *t > s))
                    .all(|t| answers.iter().any(|p| p >= t))
            },
        },
        Kind {
            name: "two responses to one stimulus",
            formula: |scope| {
                let [s, t, p] = [S, T, P].map(proposition);
                patterns::response_chain(s, t, p, scope)
            },
            defined: |segment| {
                let (firsts, seconds) = (steps(segment, S), steps(segment, T));
                steps(segment, P).iter().all(|p| {
                    firsts
                        .iter()
                        .any(|s| s >= p && seconds.iter().any(|t| t > s))
                })
            },
        },
        Kind {
            name: "two responses without another in between",
            formula: |scope| {
                let [s, t, z, p] = [S, T, Z, P].map(proposition);
                patterns::constrained_chain(s, t, z, p, scope)
            },
            defined: |segment| {
                let (firsts, seconds) = (steps(segment, S), steps(segment, T));
                let forbidden = steps(segment, Z);
                let free = |s: usize, t: usize| !forbidden.iter().any(|z| (s..t).contains(z));
                steps(segment, P).iter().all(|p| {
                    firsts
                        .iter()
                        .any(|s| s >= p && seconds.iter().any(|t| t > s && free(*s, *t)))
                })
            },
        },
    ]
}

fn scopes() -> [Scope; 5] {
    let (q, r) = (proposition(Q), proposition(R));
    [
        Scope::Globally,
        Scope::Before(r.clone()),
        Scope::After(q.clone()),
        Scope::Between(q.clone(), r.clone()),
        Scope::AfterUntil(q, r),
    ]
}

#[test]
fn patterns_mean_what_they_say() {
    let mut numbers = Numbers(7);
    for kind in kinds() {
        for scope in scopes() {
            let formula = (kind.formula)(&scope);
            let mut held = 0;
            for _ in 0..1_000 {
                let length = 1 + numbers.below(16);
                // What ends a scope is rare, so that all kinds of traces come.
                let trace: Vec<Letter> = (0..length)
                    .map(|_| {
                        let bits = if numbers.below(3) == 0 { 64 } else { 32 };
                        let rare = numbers.below(bits) & numbers.below(64);
                        Letter(rare ^ numbers.below(2))
                    })
                    .collect();
                let defined = segments(&scope, &trace)
                    .into_iter()
                    .all(|(first, end)| (kind.defined)(&trace[first..end]));
                let found = holds(&formula, &trace, &[], 0);
                assert_eq!(
                    found, defined,
                    "{} {scope:?} on {trace:?}: {formula:?}",
                    kind.name
                );
                held += u32::from(defined);
            }
            assert!(
                (10..1_000).contains(&held),
                "{} {scope:?}: {held}",
                kind.name
            );
        }
    }
}

#[test]
fn only_chains_count_steps() {
    for kind in kinds() {
        for scope in scopes() {
            let counts = !(kind.formula)(&scope).step_operators().is_empty();
            assert_eq!(
                counts,
                kind.name.contains("two") && !kind.name.contains("at most")
            );
        }
    }
}

#[test]
fn what_can_never_be_decided_is_known() {
    let mut never = Vec::new();
    for kind in kinds() {
        for scope in scopes() {
            if decidable(&(kind.formula)(&scope)).unwrap().never() {
                never.push((kind.name, scope));
            }
        }
    }
    let open_ended = [
        "response",
        "one response to two stimuli",
        "two responses to one stimulus",
        "two responses without another in between",
    ];
    let expected = open_ended.iter().flat_map(|name| {
        let scopes = [Scope::Globally, Scope::After(proposition(Q))];
        scopes.into_iter().map(move |scope| (*name, scope))
    });
    assert_eq!(never, expected.collect::<Vec<_>>());
}
