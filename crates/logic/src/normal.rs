//! Formulas in negation normal form, each one once.
//!
//! Future operators are `next`, `until` and `release` with their duals, and
//! negation stands at propositions only. What a past operator says at a step is
//! decided by the run up to there: each different past operator is a *tracked*
//! formula, and appears elsewhere as a literal, like a proposition. A future
//! formula inside a past operator is tracked, too: its truth is guessed, and
//! the guess becomes an obligation (see [`crate::expand`]).
//!
//! Invariants: equal identities are equal formulas; the parts of a node come
//! before it; tracked formulas are ordered so that each depends on earlier ones
//! only.

use crate::{Bound, Formula, LogicError};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// The deepest nesting that is accepted; what walks a formula is recursive.
pub(crate) const DEPTH_MAX: usize = 256;
/// The most operators and propositions of one formula.
pub(crate) const SIZE_MAX: usize = 10_000;
const TRACKED_MAX: usize = 64;
const UNTILS_MAX: usize = 128;

/// A formula of an [`Arena`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct FormulaId(u32);

impl FormulaId {
    /// As an index.
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// The formula that holds.
pub(crate) const TRUE: FormulaId = FormulaId(0);
/// The formula that does not hold.
pub(crate) const FALSE: FormulaId = FormulaId(1);

/// The form of a formula.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    True,
    False,
    Literal {
        proposition: u8,
        positive: bool,
    },
    /// What a tracked formula says at this step.
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

/// A formula whose truth at each step is followed. Both polarities of its
/// parts are at hand, since a step asks for both.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Tracked {
    /// A future formula inside a past operator.
    Guess { holds: FormulaId, fails: FormulaId },
    /// It held one step before.
    Yesterday { holds: FormulaId, fails: FormulaId },
    /// The second held, the first ever since.
    Since {
        keeps: FormulaId,
        breaks: FormulaId,
        starts: FormulaId,
        idles: FormulaId,
        bound: Bound,
    },
}

/// All formulas that a machine speaks of.
#[derive(Debug, Clone)]
pub(crate) struct Arena {
    nodes: Vec<Node>,
    identities: FxHashMap<Node, FormulaId>,
    negations: Vec<Option<FormulaId>>,
    /// By formula: the tracked formulas that it depends on, now or later.
    reads: Vec<u64>,
    /// By formula: which of the `until` without an end it is.
    untils: Vec<Option<u8>>,
    until_count: u8,
    tracked: Vec<Tracked>,
    tracked_reads: Vec<u64>,
}

/// Whether the formula stands under a past operator.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Future,
    Past,
}

impl Arena {
    pub fn new() -> Arena {
        let mut arena = Arena {
            nodes: Vec::new(),
            identities: FxHashMap::default(),
            negations: Vec::new(),
            reads: Vec::new(),
            untils: Vec::new(),
            until_count: 0,
            tracked: Vec::new(),
            tracked_reads: Vec::new(),
        };
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

    /// Whether there is such a formula.
    pub fn has(&self, formula: FormulaId) -> bool {
        formula.index() < self.nodes.len()
    }

    /// The form of a formula.
    pub fn node(&self, formula: FormulaId) -> &Node {
        &self.nodes[formula.index()]
    }

    /// The tracked formulas that a formula depends on, now or later.
    pub fn reads(&self, formula: FormulaId) -> u64 {
        self.reads[formula.index()]
    }

    /// Which of the `until` without an end it is.
    pub fn until_bit(&self, formula: FormulaId) -> u128 {
        self.untils[formula.index()].map_or(0, |until| 1 << until)
    }

    /// One bit for each `until` without an end.
    pub fn all_untils(&self) -> u128 {
        match self.until_count {
            128.. => u128::MAX,
            count => (1 << count) - 1,
        }
    }

    /// The tracked formulas, each after those it depends on.
    pub fn tracked(&self) -> &[Tracked] {
        &self.tracked
    }

    /// Whether an operator is bounded in time.
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

    /// The negation, when it was made.
    pub fn known_negation(&self, formula: FormulaId) -> Option<FormulaId> {
        self.negations[formula.index()]
    }

    /// A formula and its negation in normal form.
    pub fn add(&mut self, formula: &Formula) -> Result<(FormulaId, FormulaId), LogicError> {
        check_size(formula, DEPTH_MAX, &mut 0)?;
        let normal = self.normal(formula, true, Place::Future)?;
        let negation = self.normal(formula, false, Place::Future)?;
        Ok((normal, negation))
    }

    fn normal(
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
                // The weak one is the negation of the strong one of the negation.
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

    /// `since`, or its dual by way of the negations of all parts.
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
        let now_counts = matches!(
            bound,
            Bound::Unbounded | Bound::Steps { from: 0, .. } | Bound::Time { from: 0, .. }
        );
        match *starts {
            FALSE => Ok(constant(positive != strong)),
            TRUE if now_counts && !is_empty(*bound) => Ok(constant(positive == strong)),
            _ if is_empty(*bound) => Ok(constant(positive != strong)),
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
                let reads = match &tracked {
                    Tracked::Guess { holds, fails } | Tracked::Yesterday { holds, fails } => {
                        self.reads(*holds) | self.reads(*fails)
                    }
                    Tracked::Since {
                        keeps,
                        breaks,
                        starts,
                        idles,
                        ..
                    } => {
                        self.reads(*keeps)
                            | self.reads(*breaks)
                            | self.reads(*starts)
                            | self.reads(*idles)
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

    fn intern(&mut self, node: Node) -> Result<FormulaId, LogicError> {
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

    /// As it could have been written, with another bound if it is an operator
    /// under way.
    pub fn formula(&self, formula: FormulaId, left: Option<Bound>) -> Formula {
        use std::sync::Arc;
        let part = |part: FormulaId| Arc::new(self.formula(part, None));
        let signed = |formula: Formula, positive: bool| match positive {
            true => formula,
            false => formula.negation(),
        };
        match self.node(formula) {
            Node::True => Formula::True,
            Node::False => Formula::False,
            Node::Literal {
                proposition,
                positive,
            } => signed(Formula::Proposition(*proposition), *positive),
            Node::Tracked { index, positive } => {
                let formula = match &self.tracked[usize::from(*index)] {
                    Tracked::Guess { holds, .. } => self.formula(*holds, None),
                    Tracked::Yesterday { holds, .. } => Formula::Yesterday(part(*holds)),
                    Tracked::Since {
                        keeps,
                        starts,
                        bound,
                        ..
                    } => Formula::Since(part(*keeps), part(*starts), *bound),
                };
                signed(formula, *positive)
            }
            Node::And(parts) => parts.iter().fold(Formula::True, |all, part| {
                all.and(self.formula(*part, None))
            }),
            Node::Or(parts) => parts.iter().fold(Formula::False, |any, part| {
                any.or(self.formula(*part, None))
            }),
            Node::Next(inner) => Formula::Next(part(*inner)),
            Node::WeakNext(inner) => Formula::WeakNext(part(*inner)),
            Node::Until {
                keeps,
                reaches,
                bound,
            } => Formula::Until(part(*keeps), part(*reaches), left.unwrap_or(*bound)),
            Node::Release {
                frees,
                keeps,
                bound,
            } => Formula::Release(part(*frees), part(*keeps), left.unwrap_or(*bound)),
        }
    }

    /// The conjunction of any number of formulas.
    fn and(&mut self, parts: Vec<FormulaId>) -> Result<FormulaId, LogicError> {
        self.combine(parts, true)
    }

    fn or(&mut self, parts: Vec<FormulaId>) -> Result<FormulaId, LogicError> {
        self.combine(parts, false)
    }

    fn combine(&mut self, parts: Vec<FormulaId>, and: bool) -> Result<FormulaId, LogicError> {
        let (neutral, absorbing) = if and { (TRUE, FALSE) } else { (FALSE, TRUE) };
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match (self.node(part), and) {
                (Node::And(inner), true) | (Node::Or(inner), false) => {
                    flat.extend_from_slice(inner)
                }
                _ => flat.push(part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        flat.retain(|part| *part != neutral);
        for part in &flat {
            let negation = self.negate(*part)?;
            if *part == absorbing || flat.binary_search(&negation).is_ok() {
                return Ok(absorbing);
            }
        }
        match flat[..] {
            [] => Ok(neutral),
            [only] => Ok(only),
            _ if and => self.intern(Node::And(flat.into())),
            _ => self.intern(Node::Or(flat.into())),
        }
    }

    fn next(&mut self, part: FormulaId) -> Result<FormulaId, LogicError> {
        match part {
            FALSE => Ok(FALSE),
            _ => self.intern(Node::Next(part)),
        }
    }

    fn weak_next(&mut self, part: FormulaId) -> Result<FormulaId, LogicError> {
        match part {
            TRUE => Ok(TRUE),
            _ => self.intern(Node::WeakNext(part)),
        }
    }

    fn until(
        &mut self,
        keeps: FormulaId,
        reaches: FormulaId,
        bound: Bound,
    ) -> Result<FormulaId, LogicError> {
        let bound = plain(bound);
        if is_empty(bound) || reaches == FALSE {
            return Ok(FALSE);
        }
        let now_counts = starts_now(bound);
        match (keeps, now_counts) {
            (FALSE, true) => return Ok(reaches),
            (FALSE, false) => return Ok(FALSE),
            _ if reaches == TRUE && now_counts => return Ok(TRUE),
            _ => {}
        }
        if bound
            == (Bound::Steps {
                from: 0,
                to: Some(0),
            })
        {
            return Ok(reaches);
        }
        if bound == Bound::Unbounded {
            match self.node(reaches) {
                // F (a U b) is F b.
                Node::Until {
                    keeps: inner,
                    reaches: last,
                    bound: Bound::Unbounded,
                } if keeps == TRUE || *inner == keeps => {
                    let last = *last;
                    return self.until(keeps, last, bound);
                }
                // F G F a is G F a.
                Node::Release {
                    frees: FALSE,
                    keeps: inner,
                    bound: Bound::Unbounded,
                } if keeps == TRUE && self.is_eventually(*inner) => return Ok(reaches),
                _ => {}
            }
        }
        self.intern(Node::Until {
            keeps,
            reaches,
            bound,
        })
    }

    fn release(
        &mut self,
        frees: FormulaId,
        keeps: FormulaId,
        bound: Bound,
    ) -> Result<FormulaId, LogicError> {
        let bound = plain(bound);
        if is_empty(bound) || keeps == TRUE {
            return Ok(TRUE);
        }
        let now_counts = starts_now(bound);
        match (frees, now_counts) {
            (TRUE, true) => return Ok(keeps),
            (TRUE, false) => return Ok(TRUE),
            _ if keeps == FALSE && now_counts => return Ok(FALSE),
            _ => {}
        }
        if bound
            == (Bound::Steps {
                from: 0,
                to: Some(0),
            })
        {
            return Ok(keeps);
        }
        if bound == Bound::Unbounded {
            match self.node(keeps) {
                // G (a R b) is G b.
                Node::Release {
                    frees: inner,
                    keeps: last,
                    bound: Bound::Unbounded,
                } if frees == FALSE || *inner == frees => {
                    let last = *last;
                    return self.release(frees, last, bound);
                }
                // G F G a is F G a.
                Node::Until {
                    keeps: TRUE,
                    reaches: inner,
                    bound: Bound::Unbounded,
                } if frees == FALSE && self.is_always(*inner) => return Ok(keeps),
                _ => {}
            }
        }
        if let (FALSE, Node::And(parts)) = (frees, self.node(keeps)) {
            // G (a and b) is G a and G b.
            let mut each = Vec::with_capacity(parts.len());
            for part in parts.clone() {
                each.push(self.release(frees, part, bound)?);
            }
            return self.and(each);
        }
        self.intern(Node::Release {
            frees,
            keeps,
            bound,
        })
    }

    fn is_eventually(&self, formula: FormulaId) -> bool {
        matches!(
            self.node(formula),
            Node::Until {
                keeps: TRUE,
                bound: Bound::Unbounded,
                ..
            }
        )
    }

    fn is_always(&self, formula: FormulaId) -> bool {
        matches!(
            self.node(formula),
            Node::Release {
                frees: FALSE,
                bound: Bound::Unbounded,
                ..
            }
        )
    }

    /// The negation of a formula.
    pub fn negate(&mut self, formula: FormulaId) -> Result<FormulaId, LogicError> {
        if let Some(known) = self.negations[formula.index()] {
            return Ok(known);
        }
        let negation = match self.node(formula).clone() {
            Node::True => FALSE,
            Node::False => TRUE,
            Node::Literal {
                proposition,
                positive,
            } => self.intern(Node::Literal {
                proposition,
                positive: !positive,
            })?,
            Node::Tracked { index, positive } => self.intern(Node::Tracked {
                index,
                positive: !positive,
            })?,
            Node::And(parts) => {
                let parts = self.negate_all(&parts)?;
                self.or(parts)?
            }
            Node::Or(parts) => {
                let parts = self.negate_all(&parts)?;
                self.and(parts)?
            }
            Node::Next(part) => {
                let part = self.negate(part)?;
                self.weak_next(part)?
            }
            Node::WeakNext(part) => {
                let part = self.negate(part)?;
                self.next(part)?
            }
            Node::Until {
                keeps,
                reaches,
                bound,
            } => {
                let (keeps, reaches) = (self.negate(keeps)?, self.negate(reaches)?);
                self.release(keeps, reaches, bound)?
            }
            Node::Release {
                frees,
                keeps,
                bound,
            } => {
                let (frees, keeps) = (self.negate(frees)?, self.negate(keeps)?);
                self.until(frees, keeps, bound)?
            }
        };
        self.negations[formula.index()] = Some(negation);
        self.negations[negation.index()].get_or_insert(formula);
        Ok(negation)
    }

    fn negate_all(&mut self, parts: &[FormulaId]) -> Result<Vec<FormulaId>, LogicError> {
        parts.iter().map(|part| self.negate(*part)).collect()
    }
}

fn constant(holds: bool) -> FormulaId {
    if holds { TRUE } else { FALSE }
}

/// A bound that says nothing is none.
fn plain(bound: Bound) -> Bound {
    match bound {
        Bound::Steps { from: 0, to: None } | Bound::Time { from: 0, to: None } => Bound::Unbounded,
        _ => bound,
    }
}

fn starts_now(bound: Bound) -> bool {
    matches!(
        bound,
        Bound::Unbounded | Bound::Steps { from: 0, .. } | Bound::Time { from: 0, .. }
    )
}

/// Whether no step can be within the bound.
fn is_empty(bound: Bound) -> bool {
    match bound {
        Bound::Unbounded => false,
        Bound::Steps { from, to } => to.is_some_and(|to| to < from),
        Bound::Time { from, to } => to.is_some_and(|to| to < from),
    }
}

fn check_size(formula: &Formula, depth: usize, size: &mut usize) -> Result<(), LogicError> {
    *size += 1;
    if *size > SIZE_MAX {
        return Err(LogicError::TooLarge { limit: SIZE_MAX });
    }
    let Some(depth) = depth.checked_sub(1) else {
        return Err(LogicError::TooDeep { limit: DEPTH_MAX });
    };
    match formula {
        Formula::True | Formula::False | Formula::Proposition(_) => Ok(()),
        Formula::Not(part)
        | Formula::Next(part)
        | Formula::WeakNext(part)
        | Formula::Yesterday(part)
        | Formula::WeakYesterday(part) => check_size(part, depth, size),
        Formula::And(left, right)
        | Formula::Or(left, right)
        | Formula::Until(left, right, _)
        | Formula::Release(left, right, _)
        | Formula::Since(left, right, _)
        | Formula::Trigger(left, right, _) => {
            check_size(left, depth, size)?;
            check_size(right, depth, size)
        }
    }
}

/// What a formula says of the run without any step: no proposition is true,
/// there is no next step and there was none before.
pub(crate) fn holds_without_steps(formula: &Formula) -> bool {
    match formula {
        Formula::True | Formula::WeakNext(_) | Formula::WeakYesterday(_) => true,
        Formula::Release(..) | Formula::Trigger(..) => true,
        Formula::False | Formula::Proposition(_) => false,
        Formula::Next(_) | Formula::Yesterday(_) => false,
        Formula::Until(..) | Formula::Since(..) => false,
        Formula::Not(part) => !holds_without_steps(part),
        Formula::And(left, right) => holds_without_steps(left) && holds_without_steps(right),
        Formula::Or(left, right) => holds_without_steps(left) || holds_without_steps(right),
    }
}
