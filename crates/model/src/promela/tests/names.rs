//! Names of the values of `mtype`.

use super::model;
use crate::System;
use crate::promela::machine::Scratch;
use crate::system::Step;

/// Returns the steps of a model without choices.
fn steps(text: &str) -> Vec<Step> {
    let model = model(text);
    let mut scratch = Scratch::default();
    let mut first = Vec::new();
    model.initial(&mut scratch, &mut Keep(&mut first));
    let mut state = first.pop().unwrap_or_default();
    let mut all = Vec::new();
    loop {
        let mut next = Vec::new();
        model.successors(&mut scratch, &state, &mut Keep(&mut next));
        assert!(next.len() < 2, "{text}");
        all.extend(model.steps(&state, 0));
        match next.pop() {
            Some(next) => state = next,
            None => return all,
        }
    }
}

struct Keep<'a>(&'a mut Vec<Vec<u8>>);

impl crate::system::Visitor for Keep<'_> {
    fn next(&mut self, state: &[u8], _: crate::system::Participants) -> bool {
        self.0.push(state.to_vec());
        true
    }

    fn fault(&mut self, fault: crate::Fault) -> bool {
        panic!("{fault:?}")
    }
}

const SETS: &str = "mtype { one, two, three } mtype:fruit = { apple, pear, banana }
    mtype:tree = { oak } mtype:tree = { elm }
    mtype:fruit g = banana; mtype h = two; mtype:tree t = elm; byte n = 2;
    chan q = [2] of { mtype:fruit, mtype };
    typedef R { mtype:fruit a = pear; mtype b; mtype:fruit c[2] } R r;";

fn printed(body: &str) -> String {
    let steps = steps(&format!("{SETS} active proctype P() {{ {body} }}"));
    steps.iter().map(|step| &*step.printed).collect()
}

/// Returns all changes of variables.
fn changed(body: &str) -> String {
    let steps = steps(&format!("{SETS} active proctype P() {{ {body} }}"));
    let changes = steps.iter().flat_map(|step| &step.changes);
    let shown = changes.map(|change| format!("{}={}", change.name, change.value));
    shown.collect::<Vec<_>>().join(" ")
}

#[test]
fn values_are_printed_with_the_names_of_their_type() {
    assert_eq!(printed("printf(\"%e %e %e\", g, h, t)"), "banana two elm");
    assert_eq!(printed("printm(g); printm(h); printm(t)"), "bananatwoelm");
    assert_eq!(
        printed("printf(\"%e,%e,%e\", pear, one, oak); printm(apple)"),
        "pear,one,oakapple"
    );
    assert_eq!(
        printed("mtype:fruit f; f = pear; printf(\"%e %d\", f, f)"),
        "pear 2"
    );
    assert_eq!(
        printed("r.c[1] = apple; byte i = 1; printf(\"%e %e %e\", r.a, r.c[1], r.c[i])"),
        "pear apple apple"
    );
    assert_eq!(
        printed("printf(\"%e\", (n == 2 -> g : pear)); printm((n == 1 -> one : h))"),
        "bananatwo"
    );
    assert_eq!(
        printed("mtype:fruit f[2] = g; printm(f[1]); printm(P[0]:f[0])"),
        "bananabanana"
    );
    // A number has the name that it has as `mtype`.
    assert_eq!(printed("printf(\"%e %e\", n, 7); printm(n)"), "two 7two");
    // A type without values.
    assert_eq!(printed("mtype:none z; z = 2; printm(z)"), "2");
    assert_eq!(
        printed("mtype:fruit f; mtype m; q!pear(two); q?f(m); printf(\"%e %e\", f, m)"),
        "pear two"
    );
}

#[test]
fn trails_have_the_names_of_their_type() {
    assert_eq!(
        changed("g = pear; h = three; t = oak"),
        "g=pear h=three t=oak"
    );
    assert_eq!(changed("mtype:fruit f = pear; f = apple"), "P(0):f=apple");
    assert_eq!(
        changed("r.c[1] = banana; r.b = one"),
        "r.c[1]=banana r.b=one"
    );
    assert_eq!(changed("q!apple(two)"), "q=[apple,two]");
    assert_eq!(changed("n = 1"), "n=1");
}
