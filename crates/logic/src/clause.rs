//! What remains to be fulfilled, as clauses of atoms.
//!
//! An *atom* is a formula that must hold at the next step; a *clause* is a set
//! of them that must all be fulfilled; a state of a formula is a set of
//! clauses, of which one must be. Equal demands get equal clauses as far as
//! that is cheap to see: an atom that follows from another one of its clause is
//! left out, contradictions are found, and among clauses only the weakest are
//! kept (an antichain). That canonical form is what keeps rewriting from
//! growing without end.

use crate::normal::{Arena, FALSE, FormulaId, Node, TRUE};
use serde::{Deserialize, Serialize};

/// What is left of the bound of an operator.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
pub(crate) enum Window {
    /// It is not an operator under way, or has no bound.
    #[default]
    Open,
    /// From so many steps after the next one to so many.
    Steps { from: u32, to: Option<u32> },
    /// From one time to another one, in nanoseconds on the clock of the run.
    Time { from: u64, to: Option<u64> },
}

impl Window {
    /// Whether every step within this one is within the other.
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
            (Window::Open, Window::Open) => true,
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
    /// Whether there must be a next step.
    pub strong: bool,
    /// What is left of its bound, when it is an operator under way.
    pub window: Window,
}

/// Atoms that must all be fulfilled; sorted, none follows from another one.
pub(crate) type Clause = Vec<Atom>;

/// Whether an atom cannot hold without the other one.
fn implies(arena: &Arena, atom: &Atom, other: &Atom) -> bool {
    if other.strong && !atom.strong {
        return false;
    }
    if atom.formula == FALSE {
        return true;
    }
    if atom.formula != other.formula {
        // Only that there is a next step.
        return other.formula == TRUE;
    }
    match arena.node(atom.formula) {
        Node::Release { .. } => other.window.is_within(atom.window),
        _ => atom.window.is_within(other.window),
    }
}

/// Whether two atoms exclude each other wherever there is a next step.
fn excludes(arena: &Arena, atom: &Atom, other: &Atom) -> bool {
    if arena.known_negation(atom.formula) != Some(other.formula) {
        return false;
    }
    match arena.node(atom.formula) {
        Node::Until { .. } => atom.window.is_within(other.window),
        Node::Release { .. } => other.window.is_within(atom.window),
        _ => true,
    }
}

/// Adds an atom; false when the clause cannot be fulfilled any more.
pub(crate) fn add(arena: &Arena, clause: &mut Clause, atom: Atom) -> bool {
    let mut atom = atom;
    if !atom.strong && atom.formula == TRUE {
        return true;
    }
    if clause.iter().any(|other| excludes(arena, other, &atom)) {
        // Both hold only where the run ends.
        atom = Atom {
            formula: FALSE,
            strong: atom.strong,
            window: Window::Open,
        };
    }
    let strong = atom.strong || clause.iter().any(|other| other.strong);
    let impossible = atom.formula == FALSE || clause.iter().any(|other| other.formula == FALSE);
    if strong && impossible {
        return false;
    }
    if clause.iter().any(|other| implies(arena, other, &atom)) {
        return true;
    }
    clause.retain(|other| !implies(arena, &atom, other));
    let place = clause.partition_point(|other| *other < atom);
    clause.insert(place, atom);
    true
}

/// Whether the first clause demands no more than the second.
pub(crate) fn is_weaker(arena: &Arena, clause: &[Atom], other: &[Atom]) -> bool {
    clause
        .iter()
        .all(|atom| other.iter().any(|given| implies(arena, given, atom)))
}

/// Whether the run fulfils the clause when it ends now.
pub(crate) fn ends_well(clause: &[Atom]) -> bool {
    clause.iter().all(|atom| !atom.strong)
}
