//! Obligations as clauses of atoms.
//!
//! An *atom* is a formula that must hold at the next step; a *clause* is a conjunction of
//! atoms; a state of a formula is a disjunction of clauses. Equal obligations get equal
//! clauses as far as that is cheap to detect: an atom implied by another one of its
//! clause is dropped, contradictions are detected, and of several clauses only the
//! weakest are kept (an antichain). This canonical form keeps rewriting from growing
//! without bound.

use crate::Bound;
use crate::normal::{Arena, FALSE, FormulaId, Node, TRUE};
use serde::{Deserialize, Serialize};

/// The remaining bound of an operator.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
pub(crate) enum Window {
    /// None: the formula is not a partly consumed operator, or it is unbounded.
    #[default]
    Open,
    /// A range of steps; 0 is the next step.
    Steps { from: u32, to: Option<u32> },
    /// A range of times, in nanoseconds on the clock of the run.
    Time { from: u64, to: Option<u64> },
}

impl Window {
    /// Returns the part that remains at a time; `None` if the window is over.
    pub fn after(self, now: u64) -> Option<Window> {
        match self {
            Window::Time { to: Some(to), .. } if to < now => None,
            // If the window is open, its start no longer matters.
            Window::Time { from, to } if from <= now => Some(Window::Time { from: 0, to }),
            _ => Some(self),
        }
    }

    /// Returns whether this window is contained in another.
    pub fn is_within(self, other: Window) -> bool {
        fn within<T: Ord>(from: T, to: Option<T>, start: T, end: Option<T>) -> bool {
            from >= start
                && match (to, end) {
                    (_, None) => true,
                    (None, Some(_)) => false,
                    (Some(to), Some(end)) => to <= end,
                }
        }
        match (self, other) {
            (_, Window::Open) => true,
            (
                Window::Steps { from, to },
                Window::Steps {
                    from: start,
                    to: end,
                },
            ) => within(from, to, start, end),
            (
                Window::Time { from, to },
                Window::Time {
                    from: start,
                    to: end,
                },
            ) => within(from, to, start, end),
            _ => false,
        }
    }
}

/// A formula that must hold at the next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Atom {
    pub formula: FormulaId,
    /// The remaining bound, if the operator is partly consumed.
    pub window: Window,
}

impl Atom {
    /// Returns the atom of a formula with its whole bound.
    pub fn new(formula: FormulaId) -> Atom {
        Atom {
            formula,
            window: Window::Open,
        }
    }
}

/// A conjunction of atoms.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
pub(crate) struct Clause {
    /// Whether there must be a next step. If there is one, it does not matter which atom
    /// required it.
    pub strong: bool,
    /// Sorted; none implies another.
    pub atoms: Vec<Atom>,
}

impl Clause {
    /// Adds an atom. Returns false if the clause cannot be satisfied any more.
    pub fn add(&mut self, arena: &Arena, strong: bool, atom: Atom) -> bool {
        self.strong |= strong;
        let mut atom = atom;
        if self.atoms.iter().any(|other| excludes(arena, other, &atom)) {
            // Both hold only if the run ends.
            atom = Atom::new(FALSE);
        }
        let given = self.atoms.iter().any(|other| implies(arena, other, &atom));
        if atom.formula != TRUE && !given {
            self.atoms.retain(|other| !implies(arena, &atom, other));
            let (Ok(place) | Err(place)) = self.atoms.binary_search(&atom);
            self.atoms.insert(place, atom);
        }
        let impossible = self.atoms.first().is_some_and(|atom| atom.formula == FALSE);
        !(self.strong && impossible)
    }

    /// Returns whether the clause requires no more than the other one.
    pub fn is_weaker(&self, arena: &Arena, other: &Clause) -> bool {
        let given = |atom: &Atom| other.atoms.iter().any(|given| implies(arena, given, atom));
        (other.strong || !self.strong) && self.atoms.iter().all(given)
    }

    /// Returns whether the clause is satisfied if the run ends now.
    pub fn ends_well(&self) -> bool {
        !self.strong
    }
}

/// Returns whether an atom implies another one.
fn implies(arena: &Arena, atom: &Atom, other: &Atom) -> bool {
    if atom == other || atom.formula == FALSE || other.formula == TRUE {
        return true;
    }
    match (arena.node(atom.formula), arena.node(other.formula)) {
        (
            Node::Until { keeps, reaches, .. },
            Node::Until {
                keeps: other_keeps,
                reaches: other_reaches,
                ..
            },
        ) => {
            reaches == other_reaches
                && (keeps == other_keeps || *other_keeps == TRUE)
                && is_within(arena, atom, other)
        }
        (
            Node::Release { frees, keeps, .. },
            Node::Release {
                frees: other_frees,
                keeps: other_keeps,
                ..
            },
        ) if keeps == other_keeps => {
            (frees == other_frees || *frees == FALSE) && is_within(arena, other, atom)
        }
        // A formula that always holds also holds at the next step.
        (
            Node::Release {
                frees: FALSE,
                keeps,
                ..
            },
            _,
        ) => {
            let begins = matches!(
                extent(arena, atom),
                Window::Open | Window::Steps { from: 0, .. }
            );
            begins && Atom::new(*keeps) == *other
        }
        _ => false,
    }
}

/// Returns whether two atoms cannot both hold if there is a next step.
fn excludes(arena: &Arena, atom: &Atom, other: &Atom) -> bool {
    if arena.known_negation(atom.formula) != Some(other.formula) {
        return false;
    }
    match arena.node(atom.formula) {
        Node::Until { .. } => is_within(arena, atom, other),
        Node::Release { .. } => is_within(arena, other, atom),
        _ => true,
    }
}

/// Returns whether the steps that the first atom covers are among those of the second.
fn is_within(arena: &Arena, atom: &Atom, other: &Atom) -> bool {
    let outer = extent(arena, other);
    // The times that a bound covers are known only at the next step; those of a partly
    // consumed one are known now, and cannot be compared with them.
    let is_known = |atom: &Atom| matches!(atom.window, Window::Time { .. });
    outer == Window::Open
        || (is_known(atom) == is_known(other) && extent(arena, atom).is_within(outer))
}

/// Returns the range of an atom from the next step on.
fn extent(arena: &Arena, atom: &Atom) -> Window {
    match (atom.window, arena.bound(atom.formula)) {
        (Window::Open, Bound::Steps { from, to }) => Window::Steps { from, to },
        (Window::Open, Bound::Time { from, to }) => Window::Time { from, to },
        (window, _) => window,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Formula;

    const ALWAYS: Bound = Bound::Unbounded;

    fn steps(from: u32, to: u32) -> Bound {
        Bound::Steps { from, to: Some(to) }
    }

    fn time(to: u64) -> Bound {
        Bound::Time {
            from: 0,
            to: Some(to),
        }
    }

    /// Returns the atom of a partly consumed operator.
    fn left(formula: FormulaId, bound: Bound) -> Atom {
        let window = match bound {
            Bound::Unbounded => Window::Open,
            Bound::Steps { from, to } => Window::Steps { from, to },
            Bound::Time { from, to } => Window::Time { from, to },
        };
        Atom { formula, window }
    }

    #[test]
    fn atoms_imply_those_that_demand_less() {
        let mut arena = Arena::new();
        let [p, q] = [0, 1].map(Formula::proposition);
        let mut id = |formula: &Formula| arena.add(formula).unwrap().0;
        let soon = |bound| q.clone().eventually_within(bound);
        let stays = |bound| q.clone().always_within(bound);
        let until = Atom::new(id(&p.clone().until(q.clone())));
        let release = Atom::new(id(&p.clone().release(q.clone())));
        let now = Atom::new(id(&q));
        let [eventually, in_two, in_five] = [ALWAYS, steps(0, 2), steps(0, 5)].map(soon);
        let [eventually, in_two, in_five] = [eventually, in_two, in_five].map(|it| id(&it));
        let [always, for_five, after_one] = [ALWAYS, steps(0, 5), steps(1, 5)].map(stays);
        let [always, for_five, after_one] = [always, for_five, after_one].map(|it| id(&it));
        let [in_time, for_time] = [soon(time(5)), stays(time(5))].map(|it| id(&it));
        for (atom, other, expected) in [
            (until, Atom::new(eventually), true),
            (Atom::new(eventually), until, false),
            (Atom::new(always), release, true),
            (release, Atom::new(always), false),
            (Atom::new(always), now, true),
            (Atom::new(for_five), now, true),
            (Atom::new(after_one), now, false),
            (left(after_one, steps(0, 4)), now, true),
            (Atom::new(for_time), now, false),
            (release, now, false),
            (now, Atom::new(always), false),
            (Atom::new(in_two), Atom::new(in_five), true),
            (Atom::new(in_five), Atom::new(in_two), false),
            (left(in_five, steps(0, 3)), Atom::new(in_five), true),
            (Atom::new(in_five), left(in_five, steps(0, 3)), false),
            (Atom::new(for_five), left(for_five, steps(0, 3)), true),
            (left(for_five, steps(0, 3)), Atom::new(for_five), false),
            // A bound in time that is partly consumed is a range on the clock of the run.
            (left(in_time, time(3)), left(in_time, time(4)), true),
            (left(in_time, time(4)), left(in_time, time(3)), false),
            (Atom::new(in_time), left(in_time, time(9)), false),
            (left(in_time, time(3)), Atom::new(in_time), false),
            (left(for_time, time(3)), Atom::new(for_time), false),
            (Atom::new(in_time), Atom::new(in_time), true),
            (Atom::new(FALSE), until, true),
            (until, Atom::new(TRUE), true),
        ] {
            assert_eq!(
                implies(&arena, &atom, &other),
                expected,
                "{atom:?} {other:?}"
            );
        }
        // Any time is within no bound.
        let eventually = Atom::new(eventually);
        for atom in [Atom::new(in_time), left(in_time, time(3))] {
            assert!(is_within(&arena, &atom, &eventually), "{atom:?}");
            assert!(!is_within(&arena, &eventually, &atom), "{atom:?}");
        }
    }

    #[test]
    fn an_until_and_its_negation_exclude_each_other_while_it_covers_no_other_step() {
        let mut arena = Arena::new();
        let mut pair = |bound: Bound| {
            let formula = Formula::proposition(0).eventually_within(bound);
            let until = arena.add(&formula).unwrap().0;
            (until, arena.negate(until).unwrap())
        };
        let (in_steps, not_in_steps) = pair(steps(0, 5));
        let (in_time, not_in_time) = pair(time(5));
        for (until, negation, expected) in [
            (Atom::new(in_steps), Atom::new(not_in_steps), true),
            (left(in_steps, steps(0, 2)), Atom::new(not_in_steps), true),
            (Atom::new(in_steps), left(not_in_steps, steps(0, 2)), false),
            (Atom::new(in_time), Atom::new(not_in_time), true),
            (left(in_time, time(7)), left(not_in_time, time(9)), true),
            (left(in_time, time(9)), left(not_in_time, time(7)), false),
            (Atom::new(in_time), left(not_in_time, time(9)), false),
            (left(in_time, time(3)), Atom::new(not_in_time), false),
            (Atom::new(in_steps), Atom::new(not_in_time), false),
        ] {
            let found = [(until, negation), (negation, until)]
                .map(|(atom, other)| excludes(&arena, &atom, &other));
            assert_eq!(found, [expected; 2], "{until:?} {negation:?}");
        }
    }

    #[test]
    fn a_clause_does_not_depend_on_the_order_of_its_atoms() {
        let mut arena = Arena::new();
        let mut atom = |bit| Atom::new(arena.add(&Formula::proposition(bit)).unwrap().0);
        let [a, b, c] = [0, 1, 2].map(&mut atom);
        for order in [
            [a, b, c],
            [a, c, b],
            [b, a, c],
            [b, c, a],
            [c, a, b],
            [c, b, a],
        ] {
            let mut clause = Clause::default();
            assert!(order.iter().all(|atom| clause.add(&arena, false, *atom)));
            assert_eq!(clause.atoms, [a, b, c]);
            assert!(clause.ends_well());
            assert!(clause.add(&arena, true, a));
            assert!(!clause.ends_well());
        }
    }

    #[test]
    fn windows_of_one_kind_contain_one_another() {
        let steps = |from, to| Window::Steps { from, to };
        let time = |from, to| Window::Time { from, to };
        for (inner, outer, expected) in [
            (steps(1, Some(3)), steps(1, Some(3)), true),
            (steps(2, Some(2)), steps(1, Some(3)), true),
            (steps(0, Some(3)), steps(1, Some(3)), false),
            (steps(1, Some(4)), steps(1, Some(3)), false),
            (steps(1, None), steps(1, Some(3)), false),
            (steps(1, None), steps(1, None), true),
            (time(2, Some(2)), time(1, Some(3)), true),
            (time(1, Some(4)), time(1, Some(3)), false),
            (time(1, Some(3)), steps(1, Some(3)), false),
            (time(1, Some(3)), Window::Open, true),
            (Window::Open, Window::Open, true),
            (Window::Open, time(0, None), false),
        ] {
            assert_eq!(inner.is_within(outer), expected, "{inner:?} {outer:?}");
        }
    }

    #[test]
    fn a_window_is_over_after_its_last_time() {
        let time = |from, to| Window::Time { from, to };
        for (window, now, expected) in [
            (time(3, Some(5)), 2, Some(time(3, Some(5)))),
            (time(3, Some(5)), 3, Some(time(0, Some(5)))),
            (time(3, Some(5)), 5, Some(time(0, Some(5)))),
            (time(3, Some(5)), 6, None),
            (time(3, None), 9, Some(time(0, None))),
            (Window::Open, 9, Some(Window::Open)),
        ] {
            assert_eq!(window.after(now), expected, "{window:?} at {now}");
        }
    }
}
