//! Successors reported as known are found on another path; dependent steps are looked up.

use super::*;
use crate::system::{Fault, Participants, System, Visitor};
use std::collections::{HashMap, HashSet};

/// The successors reported for one state.
#[derive(Default)]
struct Successors {
    next: Vec<Vec<u8>>,
    known: usize,
}

impl Visitor for Successors {
    fn next(&mut self, state: &[u8], _participants: Participants) -> bool {
        self.next.push(state.to_vec());
        true
    }

    fn fault(&mut self, fault: Fault) -> bool {
        panic!("{fault:?}");
    }

    fn known(&mut self) -> bool {
        self.known += 1;
        true
    }
}

/// Returns the states of a model layer by layer, and the number of successors reported as
/// known.
fn layered(model: &Model) -> (HashSet<Vec<u8>>, usize) {
    let (mut scratch, mut successors) = (model.scratch(), Successors::default());
    model.initial(&mut scratch, &mut successors);
    let mut before: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
    let mut known: HashSet<Vec<u8>> = successors.next.iter().cloned().collect();
    let (mut layer, mut passed) = (successors.next, 0);
    while !layer.is_empty() {
        let mut new = Vec::new();
        for state in layer {
            let mut successors = Successors::default();
            match before.get(&state) {
                Some(before) => {
                    model.successors_after(&mut scratch, before, &state, &mut successors);
                    let mut all = Successors::default();
                    model.successors(&mut scratch, &state, &mut all);
                    assert_eq!(successors.next.len() + successors.known, all.next.len());
                }
                None => model.successors(&mut scratch, &state, &mut successors),
            }
            passed += successors.known;
            for next in successors.next {
                if known.insert(next.clone()) {
                    before.insert(next.clone(), state.clone());
                    new.push(next);
                }
            }
        }
        layer = new;
    }
    (known, passed)
}

/// Returns all states of a model, in any order.
fn all(model: &Model) -> HashSet<Vec<u8>> {
    let (mut scratch, mut successors) = (model.scratch(), Successors::default());
    model.initial(&mut scratch, &mut successors);
    let mut known: HashSet<Vec<u8>> = successors.next.iter().cloned().collect();
    while let Some(state) = successors.next.pop() {
        let mut all = Successors::default();
        model.successors(&mut scratch, &state, &mut all);
        let new = all.next.into_iter().filter(|it| known.insert(it.clone()));
        successors.next.extend(new);
    }
    known
}

fn check(text: &str, expected: usize) {
    let model = model(text);
    let (found, passed) = layered(&model);
    assert_eq!(found, all(&model), "{text}");
    assert_eq!(passed, expected, "{text}");
}

/// Returns a model of two processes with these steps and shared declarations.
fn both(shared: &str, steps: &str) -> String {
    format!("{shared} active [2] proctype P() {{ byte i; {steps} }}")
}

#[test]
fn of_two_orders_one_is_looked_up() {
    // A grid of three by three states has four squares, each with two paths through it.
    // Only the youngest process can terminate.
    check(&both("", "i = 1; i = 2"), 4);
    check(&both("byte a[2]", "a[0] == 0; i = a[1]"), 4);
    // Both read `a` at the start and at the end, and neither reads the other's value.
    check(&both("byte a", "(a == 0); a = 1; i = a"), 2);
    check(&both("byte a[2]", "a[_pid] = 1"), 0);
    check(
        &both("byte a", "i = 1 unless { i == 2 }; d_step { a = 3 }"),
        1,
    );
    let own = "active proctype P() { a = 1; a = 2 } active proctype Q() { b = 1; b = 2 }";
    check(&format!("byte a, b; {own}"), 4);
    // Bytes that are 64 apart are not distinguished.
    let wide = own.replace("b = 2", "b = 2; c[b] = 1");
    check(&format!("byte a; byte c[63]; byte b; {wide}"), 0);
    check(&format!("byte a; byte c[62]; byte b; {wide}"), 6);
}

#[test]
fn channels_are_distinguished() {
    let with = |first: &str, second: &str| {
        format!(
            "chan a = [2] of {{byte}}; chan b = [2] of {{byte}}; chan none = [0] of {{byte}};
             proctype P(chan c) {{ byte x; {first} }} proctype Q(chan c) {{ byte x; {second} }}
             init {{ atomic {{ run P(a); run Q(b) }} }}"
        )
    };
    check(&with("c!1; c?x", "c!1; c?x"), 4);
    check(&with("a!1; a!2", "c!1; c?x"), 4);
    check(&with("c!1; c!2", "a!1; c!2"), 1);
    check(&with("len(c) == 0; full(a)", "b!1; b?x"), 2);
    check(&with("none!1", "none?x"), 0);
    check(&with("x = 1; none!1; x = 2", "x = 1; none?x; x = 2"), 2);
}

/// Checks a step that continues inside an atomic sequence, where another step would be
/// skipped.
#[test]
fn parts_of_an_atomic_step_are_not_skipped() {
    let handshake = "chan none = [0] of {byte};
        active proctype P() { byte x; x = 1; none!1 }
        active proctype R() { byte x; atomic { none?x; x = 2 } }";
    check(handshake, 0);
    let kept = "chan box = [1] of {byte};
        active proctype P() { byte x; x = 1; box!1 }
        active proctype R() { byte x; atomic { box?x; x = 2; x = 3 } }";
    check(kept, 0);
}

#[test]
fn steps_that_read_all_processes_are_dependent() {
    for (shared, steps) in [
        ("", "i = 1; timeout; i = 2"),
        ("", "i = 1; i = _last; i = 2"),
        ("", "i = 1; i = enabled(0); i = 2"),
        ("", "i = 1; (P[0]@there || 1); there: i = 2"),
        ("", "atomic { i = 1; i = 2 }"),
        ("", "d_step { i = 1; i = 2 }"),
    ] {
        check(&both(shared, steps), 0);
    }
    let turns = "active proctype P() priority 2 { byte i; i = 1; i = 2 }";
    check(
        &format!("{turns} active proctype Q() priority 2 {{ byte i; i = 1; i = 2 }}"),
        0,
    );
    check(
        "byte a; active [2] proctype P() provided (a == 0) { byte i; i = 1; i = 2 }",
        0,
    );
}

#[test]
fn the_way_to_a_fault_is_the_shortest() {
    let text = "byte a, b, c;
        active proctype P() { a = 1; b = a; assert(b + c < 2) }
        active proctype Q() { byte x; x = 1; x = 2; c = x - 1 }";
    let model = model(text);
    let options = Options::default();
    let run = |kind, options: &Options| search(&model, kind, options, &mut |_, _| true);
    let steps = |report: Report| report.finding.map(|(_, trail)| trail.moves.len());
    let plain = Options {
        all: true,
        ..options
    };
    let shortest = steps(run(Search::Breadth, &plain));
    assert_eq!(shortest, Some(6));
    assert_eq!(steps(run(Search::Breadth, &options)), shortest);
    assert_eq!(steps(run(Search::Parallel(2), &options)), shortest);
}
