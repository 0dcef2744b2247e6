//! The parts of a formula that have nothing to do with each other.
//!
//! Whether a run fulfils `A and B` is no question about both together when no
//! proposition is in both: what is true of the one can be had with whatever is
//! true of the other. So each part gets states of its own ([`crate::product`]),
//! where one automaton for both would have to multiply theirs.
//!
//! Invariant: the parts together say what the formula says; two of them share no
//! proposition.

use crate::Formula;

/// How the parts of a formula make the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Union {
    /// All must hold.
    All,
    /// One must hold.
    Any,
}

/// The parts of a formula that share no proposition; one, if it has no such
/// parts.
pub(crate) fn independent_parts(formula: &Formula) -> (Union, Vec<Formula>) {
    let conjuncts = formula.conjuncts();
    if conjuncts.len() > 1 {
        return (Union::All, together(conjuncts, Formula::and));
    }
    let disjuncts = disjuncts(formula);
    (Union::Any, together(disjuncts, Formula::or))
}

/// The smallest parts of which all must hold, or one.
pub(crate) fn smallest_parts(formula: &Formula, union: Union) -> Vec<Formula> {
    match union {
        Union::All => formula.conjuncts(),
        Union::Any => disjuncts(formula),
    }
}

/// The formulas of which one must hold.
fn disjuncts(formula: &Formula) -> Vec<Formula> {
    let negations = formula.clone().negation().conjuncts().into_iter();
    negations.map(Formula::negation).collect()
}

/// Puts those together that share propositions, in the order of their first;
/// what is about no proposition goes to the first.
fn together(parts: Vec<Formula>, join: fn(Formula, Formula) -> Formula) -> Vec<Formula> {
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
        // Those before the first that was met are where they were.
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
        // Under `always`, too.
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
        // The third brings the first two together.
        let both = a.clone().or(c.clone()).always();
        check(
            ga.clone().and(gc.clone()).and(gb.clone()).and(both.clone()),
            Union::All,
            vec![ga.clone().and(gc).and(both), gb],
        );
        let linked = a.until(b).and(c.implies(d.clone()).always()).and(d);
        assert_eq!(independent_parts(&linked).1.len(), 2);
        assert_eq!(independent_parts(&ga).1, [ga]);
    }
}
