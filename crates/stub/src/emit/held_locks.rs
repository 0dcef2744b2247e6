//! Which locks a step holds before each of its operations.
//!
//! A gate releases them, and a lead-out asks the memory about them alone.

use juror_monitor::lowering::{Base, Op, Phase};
use smallvec::SmallVec;

/// A lock: the base of its address and the offset in bytes.
pub type LockPlace = (Base, u32);

/// The locks that may be held at once: two stripes, or one.
pub type Locks = SmallVec<[LockPlace; 2]>;

/// The locks before an operation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Held {
    /// Held on some way to it.
    perhaps: Locks,
    /// Whether the ways differ.
    differs: bool,
}

/// Returns the locks that may be held before each operation; none if an operation
/// may gate while it is uncertain which locks are held, or if the base of a held
/// lock changes.
///
/// An operation that is not reached holds none. Where ways differ, the memory says
/// which locks a thread holds; a gate of emitted code does not ask it.
pub(super) fn held_locks(ops: &[Op], phases: &[Phase]) -> Option<Vec<Locks>> {
    let mut before: Vec<Option<Held>> = vec![None; ops.len()];
    *before.first_mut()? = Some(Held::default());
    for (position, op) in ops.iter().enumerate() {
        let Some(held) = before.get(position).cloned().flatten() else {
            continue;
        };
        let abandons = *phases.get(position)? < Phase::Committed;
        if abandons && (moves_lock(op, &held.perhaps) || may_gate(op) && held.differs) {
            return None;
        }
        let after = leads(op, held);
        let next = (!op.is_last()).then_some(position + 1);
        let target = op.target().and_then(|target| usize::try_from(target).ok());
        for reached in next.into_iter().chain(target) {
            match before.get_mut(reached)? {
                Some(known) => known.merge(&after),
                unknown => *unknown = Some(after.clone()),
            }
        }
    }
    let locks = before
        .into_iter()
        .map(|held| held.unwrap_or_default().perhaps);
    Some(locks.collect())
}

/// Returns the lock that an operation takes.
pub(super) fn taken_lock(op: &Op) -> Option<LockPlace> {
    match *op {
        Op::Lock { base, offset } => Some((base, offset)),
        _ => None,
    }
}

/// Tells whether an operation may go to a gate.
fn may_gate(op: &Op) -> bool {
    matches!(
        op,
        Op::Gate(_) | Op::Checked { .. } | Op::Lock { .. } | Op::Capture { .. }
    )
}

/// Tells whether an operation changes the base of a lock that is held.
fn moves_lock(op: &Op, held: &[LockPlace]) -> bool {
    match op {
        Op::Point { base, .. } => held.iter().any(|lock| lock.0 == *base),
        _ => false,
    }
}

/// Returns the locks after an operation.
fn leads(op: &Op, mut held: Held) -> Held {
    match *op {
        Op::Lock { base, offset } => held.perhaps.push((base, offset)),
        Op::Unlock { base, offset } => held.perhaps.retain(|lock| *lock != (base, offset)),
        _ => {}
    }
    held
}

impl Held {
    /// Adds the locks of another way.
    fn merge(&mut self, other: &Held) {
        self.differs |= other.differs || self.perhaps != other.perhaps;
        for lock in &other.perhaps {
            if !self.perhaps.contains(lock) {
                self.perhaps.push(*lock);
            }
        }
    }
}
