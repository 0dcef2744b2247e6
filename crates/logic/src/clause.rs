//! What remains to be fulfilled, as clauses of atoms.
//!
//! An *atom* is a formula that must hold at the next step; a *clause* is a set
//! of them that must all be fulfilled; a state of a formula is a set of
//! clauses, of which one must be. Equal demands get equal clauses as far as
//! that is cheap to see: an atom that follows from another one of its clause is
//! left out, contradictions are found, and among clauses only the weakest are
//! kept (an antichain). That canonical form is what keeps rewriting from
//! growing without end.

use crate::Bound;
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
    /// What is left of it at a time; nothing when it is over.
    pub fn after(self, now: u64) -> Option<Window> {
        match self {
            Window::Time { to: Some(to), .. } if to < now => None,
            // Once it is open, it does not matter since when.
            Window::Time { from, to } if from <= now => Some(Window::Time { from: 0, to }),
            _ => Some(self),
        }
    }

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
    /// What is left of its bound, when it is an operator under way.
    pub window: Window,
}

impl Atom {
    /// A formula with all of its bound.
    pub fn new(formula: FormulaId) -> Atom {
        Atom {
            formula,
            window: Window::Open,
        }
    }
}

/// Atoms that must all be fulfilled.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
pub(crate) struct Clause {
    /// Whether there must be a next step. If there is one, it makes no
    /// difference which of the atoms asked for it.
    pub strong: bool,
    /// Sorted; none follows from another one.
    pub atoms: Vec<Atom>,
}

impl Clause {
    /// Adds an atom; false when the clause cannot be fulfilled any more.
    pub fn add(&mut self, arena: &Arena, strong: bool, atom: Atom) -> bool {
        self.strong |= strong;
        let mut atom = atom;
        if self.atoms.iter().any(|other| excludes(arena, other, &atom)) {
            // Both hold only where the run ends.
            atom = Atom::new(FALSE);
        }
        let given = self.atoms.iter().any(|other| implies(arena, other, &atom));
        if atom.formula != TRUE && !given {
            self.atoms.retain(|other| !implies(arena, &atom, other));
            let place = self.atoms.partition_point(|other| *other < atom);
            self.atoms.insert(place, atom);
        }
        let impossible = self.atoms.first().is_some_and(|atom| atom.formula == FALSE);
        !(self.strong && impossible)
    }

    /// Whether it demands no more than the other one.
    pub fn is_weaker(&self, arena: &Arena, other: &Clause) -> bool {
        let given = |atom: &Atom| other.atoms.iter().any(|given| implies(arena, given, atom));
        (other.strong || !self.strong) && self.atoms.iter().all(given)
    }

    /// Whether the run fulfils it when it ends now.
    pub fn ends_well(&self) -> bool {
        !self.strong
    }

    /// Whether every run fulfils it.
    pub fn is_empty(&self) -> bool {
        !self.strong && self.atoms.is_empty()
    }
}

/// Whether an atom cannot hold without the other one.
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
        // What always holds does so at the next step.
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
            begins && !is_timed(arena, atom) && Atom::new(*keeps) == *other
        }
        _ => false,
    }
}

/// Whether two atoms exclude each other wherever there is a next step.
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

/// Whether all steps that the first one looks at are among those of the second.
fn is_within(arena: &Arena, atom: &Atom, other: &Atom) -> bool {
    match (is_timed(arena, atom), is_timed(arena, other)) {
        // How far these look is known when the next step has come.
        (true, false) => extent(arena, other) == Window::Open,
        (false, true) => false,
        _ => extent(arena, atom).is_within(extent(arena, other)),
    }
}

/// Whether the atom has a bound in time that has not begun.
fn is_timed(arena: &Arena, atom: &Atom) -> bool {
    atom.window == Window::Open && matches!(arena.bound(atom.formula), Bound::Time { .. })
}

/// How far an atom looks from the next step on.
fn extent(arena: &Arena, atom: &Atom) -> Window {
    match (atom.window, arena.bound(atom.formula)) {
        (Window::Open, Bound::Steps { from, to }) => Window::Steps { from, to },
        (Window::Open, Bound::Time { from, to }) => Window::Time { from, to },
        (window, _) => window,
    }
}
