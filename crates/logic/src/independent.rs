//! The independent parts of a formula.
//!
//! If `A` and `B` share no proposition, whether a run satisfies `A and B` needs no joint
//! automaton: each truth value of one part can occur together with each of the other. So
//! each part has its own states ([`crate::product`]) instead of the product of both in
//! one automaton.
//!
//! Invariant: the combined parts are equivalent to the formula; no two of them share a
//! proposition.

use crate::Formula;

/// How the parts of a formula are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Union {
    /// Conjunction.
    All,
    /// Disjunction.
    Any,
}

/// Returns the parts of a formula that share no proposition; a single one if the formula
/// cannot be divided.
pub(crate) fn independent_parts(formula: &Formula) -> (Union, Vec<Formula>) {
    let conjuncts = formula.conjuncts();
    if conjuncts.len() > 1 {
        return (Union::All, merge_sharing(conjuncts, Formula::and));
    }
    let disjuncts = disjuncts(formula);
    (Union::Any, merge_sharing(disjuncts, Formula::or))
}

/// Returns the smallest conjuncts or disjuncts.
pub(crate) fn smallest_parts(formula: &Formula, union: Union) -> Vec<Formula> {
    match union {
        Union::All => formula.conjuncts(),
        Union::Any => disjuncts(formula),
    }
}

/// Returns the disjuncts of a formula.
fn disjuncts(formula: &Formula) -> Vec<Formula> {
    let negations = formula.clone().negation().conjuncts().into_iter();
    negations.map(Formula::negation).collect()
}

/// Merges parts that share propositions, in the order of their first member; a part
/// without propositions joins the first group.
fn merge_sharing(parts: Vec<Formula>, join: fn(Formula, Formula) -> Formula) -> Vec<Formula> {
    let mut groups: Vec<(u64, Vec<Formula>)> = Vec::new();
    let mut idle = Vec::new();
    for part in parts {
        let mut propositions = part.propositions();
        if propositions == 0 {
            idle.push(part);
            continue;
        }
        let meets = |(of_group, _): &(u64, Vec<Formula>)| of_group & propositions != 0;
        let place = groups.iter().position(meets).unwrap_or(groups.len());
        let (met, others): (Vec<_>, Vec<_>) = groups.into_iter().partition(meets);
        let mut members = Vec::new();
        for (of_group, of_members) in met {
            propositions |= of_group;
            members.extend(of_members);
        }
        members.push(part);
        groups = others;
        // Groups before the first match keep their position.
        groups.insert(place, (propositions, members));
    }
    match groups.first_mut() {
        Some((_, members)) => members.extend(idle),
        None => groups.push((0, idle)),
    }
    let groups = groups.into_iter();
    groups
        .filter_map(|(_, members)| members.into_iter().reduce(join))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_those_that_share_nothing() {
        let [a, b, c, d] = [0, 1, 2, 3].map(Formula::proposition);
        let check = |formula: Formula, union: Union, expected: Vec<Formula>| {
            assert_eq!(independent_parts(&formula), (union, expected));
        };
        let [ga, gb, gc] = [&a, &b, &c].map(|p| p.clone().always());
        let [fa, fb] = [&a, &b].map(|p| p.clone().negation().always().negation());
        check(
            ga.clone().and(gb.clone()),
            Union::All,
            vec![ga.clone(), gb.clone()],
        );
        // Also under `always`.
        check(
            a.clone().and(b.clone()).always(),
            Union::All,
            vec![ga.clone(), gb.clone()],
        );
        check(
            a.clone().or(b.clone()).eventually(),
            Union::Any,
            vec![fa.clone(), fb.clone()],
        );
        check(
            ga.clone().and(gb.clone()).negation(),
            Union::Any,
            vec![ga.clone().negation(), gb.clone().negation()],
        );
        // The third connects the first two.
        let both = a.clone().or(c.clone()).always();
        check(
            ga.clone().and(gc.clone()).and(gb.clone()).and(both.clone()),
            Union::All,
            vec![ga.clone().and(gc).and(both), gb],
        );
        // Each of these shares a proposition with the one before.
        let chain = [(&a, &b), (&b, &c), (&a, &d)].map(|(one, other)| {
            let either = one.clone().or(other.clone());
            either.always()
        });
        let [first, second, third] = chain;
        let linked = first.and(second).and(third);
        check(linked.clone(), Union::All, vec![linked]);
        let linked = a.until(b).and(c.implies(d.clone()).always()).and(d);
        assert_eq!(independent_parts(&linked).1.len(), 2);
        assert_eq!(independent_parts(&ga).1, [ga]);
    }
}
