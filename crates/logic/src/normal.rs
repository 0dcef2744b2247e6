//! Hash-consed formulas in negation normal form.
//!
//! Future operators are `next`, `until` and `release` with their duals; only propositions
//! are negated. The truth of a past operator at a step is determined by the run up to
//! there: each distinct past operator is a *tracked* formula, and occurs elsewhere as a
//! literal, like a proposition. A future formula inside a past operator is tracked too:
//! its truth is guessed, and the guess becomes an obligation (see [`crate::expand`]).
//!
//! Invariants: equal ids are equal formulas; the parts of a node precede it; tracked
//! formulas are ordered so that each depends only on earlier ones.

use crate::simplify::{is_empty, plain, starts_now};
use crate::written::check_size;
use crate::{Bound, Formula, LogicError};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Maximum nesting depth; functions over formulas are recursive.
pub(crate) const DEPTH_MAX: usize = 256;
/// Maximum number of operators and propositions of one formula.
pub(crate) const SIZE_MAX: usize = 10_000;
const TRACKED_MAX: usize = 64;
const UNTILS_MAX: usize = 128;

/// A formula of an [`Arena`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct FormulaId(u32);

impl FormulaId {
    /// Returns the id as an index.
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// The constant `true`.
pub(crate) const TRUE: FormulaId = FormulaId(0);
/// The constant `false`.
pub(crate) const FALSE: FormulaId = FormulaId(1);

/// A formula with its parts as ids.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    True,
    False,
    Literal {
        proposition: u8,
        positive: bool,
    },
    /// The truth of a tracked formula at this step.
    Tracked {
        index: u8,
        positive: bool,
    },
    /// Sorted, at least two.
    And(Box<[FormulaId]>),
    /// Sorted, at least two.
    Or(Box<[FormulaId]>),
    Next(FormulaId),
    WeakNext(FormulaId),
    Until {
        keeps: FormulaId,
        reaches: FormulaId,
        bound: Bound,
    },
    Release {
        frees: FormulaId,
        keeps: FormulaId,
        bound: Bound,
    },
}

/// A formula whose truth is tracked step by step. Both polarities of its parts are
/// stored, since a step needs both.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Tracked {
    /// A future formula inside a past operator.
    Guess { holds: FormulaId, fails: FormulaId },
    /// The part held at the previous step.
    Yesterday { holds: FormulaId, fails: FormulaId },
    /// The second part held, and the first at all steps since.
    Since {
        keeps: FormulaId,
        breaks: FormulaId,
        starts: FormulaId,
        idles: FormulaId,
        bound: Bound,
    },
}

/// All formulas of a machine.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arena {
    nodes: Vec<Node>,
    identities: FxHashMap<Node, FormulaId>,
    negations: Vec<Option<FormulaId>>,
    /// By formula: the tracked formulas that it depends on, now or later.
    reads: Vec<u64>,
    /// By formula: its number among the unbounded `until`s.
    untils: Vec<Option<u8>>,
    until_count: u8,
    tracked: Vec<Tracked>,
    tracked_reads: Vec<u64>,
    /// The parts of the formula that is being added, by address, sign and place. Those of
    /// past operators are needed with both signs, so without this each level would double
    /// the work.
    written: FxHashMap<(usize, bool, Place), FormulaId>,
}

/// Whether a formula occurs under a past operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Future,
    Past,
}

impl Arena {
    pub fn new() -> Arena {
        let mut arena = Arena::default();
        // In the order of TRUE and FALSE; these two always fit.
        for (node, negation) in [(Node::True, FALSE), (Node::False, TRUE)] {
            arena
                .identities
                .insert(node.clone(), FormulaId(arena.nodes.len() as u32));
            arena.nodes.push(node);
            arena.negations.push(Some(negation));
            arena.reads.push(0);
            arena.untils.push(None);
        }
        arena
    }

    /// Returns whether the id belongs to this arena.
    pub fn has(&self, formula: FormulaId) -> bool {
        formula.index() < self.nodes.len()
    }

    /// Returns the nodes of all formulas.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the node of a formula.
    pub fn node(&self, formula: FormulaId) -> &Node {
        &self.nodes[formula.index()]
    }

    /// Returns the bound of a future operator.
    pub fn bound(&self, formula: FormulaId) -> Bound {
        match self.node(formula) {
            Node::Until { bound, .. } | Node::Release { bound, .. } => *bound,
            _ => Bound::Unbounded,
        }
    }

    /// Returns the tracked formulas that a formula depends on, now or later.
    pub fn reads(&self, formula: FormulaId) -> u64 {
        self.reads[formula.index()]
    }

    /// Returns the bit of an unbounded `until`; 0 for other formulas.
    pub fn until_bit(&self, formula: FormulaId) -> u128 {
        self.untils[formula.index()].map_or(0, |until| 1 << until)
    }

    /// Returns one bit for each unbounded `until`.
    pub fn all_untils(&self) -> u128 {
        (0..self.until_count).fold(0, |all, until| all | 1 << until)
    }

    /// Returns the tracked formulas, each after those it depends on.
    pub fn tracked(&self) -> &[Tracked] {
        &self.tracked
    }

    /// Returns whether an operator has a time bound.
    pub fn measures_time(&self) -> bool {
        let timed = |bound: &Bound| matches!(bound, Bound::Time { .. });
        let nodes = self.nodes.iter().any(|node| match node {
            Node::Until { bound, .. } | Node::Release { bound, .. } => timed(bound),
            _ => false,
        });
        nodes
            || self.tracked.iter().any(|tracked| match tracked {
                Tracked::Since { bound, .. } => timed(bound),
                _ => false,
            })
    }

    /// Records that two formulas are each other's negation.
    pub fn set_negation(&mut self, formula: FormulaId, negation: FormulaId) {
        self.negations[formula.index()] = Some(negation);
        self.negations[negation.index()].get_or_insert(formula);
    }

    /// Returns the negation, if it was created.
    pub fn known_negation(&self, formula: FormulaId) -> Option<FormulaId> {
        self.negations[formula.index()]
    }

    /// Returns a formula and its negation in normal form.
    pub fn add(&mut self, formula: &Formula) -> Result<(FormulaId, FormulaId), LogicError> {
        check_size(formula, DEPTH_MAX, &mut 0)?;
        let normal = self.normal(formula, true, Place::Future);
        let negation = self.normal(formula, false, Place::Future);
        // The addresses are those of this formula only.
        self.written = FxHashMap::default();
        Ok((normal?, negation?))
    }

    fn normal(
        &mut self,
        formula: &Formula,
        positive: bool,
        place: Place,
    ) -> Result<FormulaId, LogicError> {
        let key = (std::ptr::from_ref(formula).addr(), positive, place);
        if let Some(known) = self.written.get(&key) {
            return Ok(*known);
        }
        let normal = self.new_normal(formula, positive, place)?;
        self.written.insert(key, normal);
        Ok(normal)
    }

    fn new_normal(
        &mut self,
        formula: &Formula,
        positive: bool,
        place: Place,
    ) -> Result<FormulaId, LogicError> {
        use Formula as F;
        match formula {
            F::True => Ok(constant(positive)),
            F::False => Ok(constant(!positive)),
            F::Proposition(proposition) if *proposition > 63 => {
                Err(LogicError::NoSuchProposition {
                    proposition: *proposition,
                })
            }
            F::Proposition(proposition) => self.intern(Node::Literal {
                proposition: *proposition,
                positive,
            }),
            F::Not(part) => self.normal(part, !positive, place),
            F::And(left, right) | F::Or(left, right) => {
                let parts = vec![
                    self.normal(left, positive, place)?,
                    self.normal(right, positive, place)?,
                ];
                if matches!(formula, F::And(..)) == positive {
                    self.and(parts)
                } else {
                    self.or(parts)
                }
            }
            F::Yesterday(part) | F::WeakYesterday(part) => {
                // The weak operator is the negation of the strong operator of the
                // negation.
                let strong = matches!(formula, F::Yesterday(_));
                let holds = self.normal(part, strong, Place::Past)?;
                let fails = self.normal(part, !strong, Place::Past)?;
                self.track(Tracked::Yesterday { holds, fails }, positive == strong)
            }
            F::Since(keeps, starts, bound) => self.since(keeps, starts, *bound, true, positive),
            F::Trigger(frees, keeps, bound) => self.since(frees, keeps, *bound, false, positive),
            _ if place == Place::Past => {
                let holds = self.normal(formula, true, Place::Future)?;
                let fails = self.normal(formula, false, Place::Future)?;
                match holds {
                    TRUE | FALSE => Ok(constant((holds == TRUE) == positive)),
                    _ => self.track(Tracked::Guess { holds, fails }, positive),
                }
            }
            F::Next(part) | F::WeakNext(part) => {
                let part = self.normal(part, positive, place)?;
                if matches!(formula, F::Next(_)) == positive {
                    self.next(part)
                } else {
                    self.weak_next(part)
                }
            }
            F::Until(left, right, bound) | F::Release(left, right, bound) => {
                let left = self.normal(left, positive, place)?;
                let right = self.normal(right, positive, place)?;
                if matches!(formula, F::Until(..)) == positive {
                    self.until(left, right, *bound)
                } else {
                    self.release(left, right, *bound)
                }
            }
        }
    }

    /// Adds `since`, or its dual by negating all parts.
    fn since(
        &mut self,
        keeps: &Formula,
        starts: &Formula,
        bound: Bound,
        strong: bool,
        positive: bool,
    ) -> Result<FormulaId, LogicError> {
        let tracked = Tracked::Since {
            keeps: self.normal(keeps, strong, Place::Past)?,
            breaks: self.normal(keeps, !strong, Place::Past)?,
            starts: self.normal(starts, strong, Place::Past)?,
            idles: self.normal(starts, !strong, Place::Past)?,
            bound: plain(bound),
        };
        let Tracked::Since { starts, bound, .. } = &tracked else {
            return Ok(FALSE);
        };
        if is_empty(*bound) || *starts == FALSE {
            return Ok(constant(positive != strong));
        }
        match *starts {
            TRUE if starts_now(*bound) => Ok(constant(positive == strong)),
            _ => self.track(tracked, positive == strong),
        }
    }

    fn track(&mut self, tracked: Tracked, positive: bool) -> Result<FormulaId, LogicError> {
        let known = self.tracked.iter().position(|other| *other == tracked);
        let index = match known {
            Some(index) => index,
            None if self.tracked.len() == TRACKED_MAX => {
                return Err(LogicError::TooManyPastOperators { limit: TRACKED_MAX });
            }
            None => {
                let index = self.tracked.len();
                // A formula and its negation depend on the same ones.
                let reads = match &tracked {
                    Tracked::Guess { holds, .. } | Tracked::Yesterday { holds, .. } => {
                        self.reads(*holds)
                    }
                    Tracked::Since { keeps, starts, .. } => {
                        self.reads(*keeps) | self.reads(*starts)
                    }
                };
                self.tracked.push(tracked);
                self.tracked_reads.push(reads | 1 << index);
                index
            }
        };
        self.intern(Node::Tracked {
            index: index as u8,
            positive,
        })
    }

    /// Returns the id of a node that is already simplified.
    pub fn intern(&mut self, node: Node) -> Result<FormulaId, LogicError> {
        if let Some(known) = self.identities.get(&node) {
            return Ok(*known);
        }
        let reads = match &node {
            Node::True | Node::False | Node::Literal { .. } => 0,
            Node::Tracked { index, .. } => self.tracked_reads[usize::from(*index)],
            Node::And(parts) | Node::Or(parts) => parts
                .iter()
                .fold(0, |reads, part| reads | self.reads(*part)),
            Node::Next(part) | Node::WeakNext(part) => self.reads(*part),
            Node::Until { keeps, reaches, .. } => self.reads(*keeps) | self.reads(*reaches),
            Node::Release { frees, keeps, .. } => self.reads(*frees) | self.reads(*keeps),
        };
        let until = self.until_of(&node)?;
        let formula = FormulaId(self.nodes.len() as u32);
        self.identities.insert(node.clone(), formula);
        self.nodes.push(node);
        self.negations.push(None);
        self.reads.push(reads);
        self.untils.push(until);
        Ok(formula)
    }

    fn until_of(&mut self, node: &Node) -> Result<Option<u8>, LogicError> {
        let endless = match node {
            Node::Until { bound, .. } => match bound {
                Bound::Unbounded => true,
                Bound::Steps { to, .. } => to.is_none(),
                Bound::Time { to, .. } => to.is_none(),
            },
            _ => false,
        };
        if !endless {
            return Ok(None);
        }
        let until = self.until_count;
        if usize::from(until) == UNTILS_MAX {
            return Err(LogicError::TooManyUntils { limit: UNTILS_MAX });
        }
        self.until_count += 1;
        Ok(Some(until))
    }
}

fn constant(holds: bool) -> FormulaId {
    if holds { TRUE } else { FALSE }
}
