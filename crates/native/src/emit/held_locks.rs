//! Which locks a step holds before each of its operations.
//!
//! A gate releases them, and a lead-out asks the memory about them alone.

use juror_monitor::native::{Base, Op, Phase};

/// A lock: the base of its address and the offset in bytes.
pub type LockPlace = (Base, u32);

/// Returns the locks that may be held before each operation; none if two ways to
/// an operation hold different locks before `Commit`.
///
/// An operation that is not reached holds none. After `Commit` the union is
/// returned: there, nothing is released but by the operations themselves.
pub(super) fn held_locks(ops: &[Op], phases: &[Phase]) -> Option<Vec<Vec<LockPlace>>> {
    let mut before: Vec<Option<Vec<LockPlace>>> = vec![None; ops.len()];
    *before.first_mut()? = Some(Vec::new());
    for (position, op) in ops.iter().enumerate() {
        let Some(held) = before.get(position).cloned().flatten() else {
            continue;
        };
        if moves_lock(op, &held) {
            return None;
        }
        let after = leads(op, held);
        let next = (!op.is_last()).then_some(position + 1);
        let target = op.target().and_then(|target| usize::try_from(target).ok());
        for reached in next.into_iter().chain(target) {
            let known = before.get_mut(reached)?;
            match known {
                Some(known) if *phases.get(reached)? == Phase::Committed => merge(known, &after),
                Some(known) if *known != after => return None,
                Some(_) => {}
                None => *known = Some(after.clone()),
            }
        }
    }
    Some(before.into_iter().map(Option::unwrap_or_default).collect())
}

/// Returns the lock that an operation takes.
pub(super) fn taken_lock(op: &Op) -> Option<LockPlace> {
    match *op {
        Op::Lock { base, offset } => Some((base, offset)),
        _ => None,
    }
}

/// Returns the locks after an operation.
fn leads(op: &Op, mut held: Vec<LockPlace>) -> Vec<LockPlace> {
    match *op {
        Op::Lock { base, offset } => held.push((base, offset)),
        Op::Unlock { base, offset } => held.retain(|lock| *lock != (base, offset)),
        _ => {}
    }
    held
}

/// Tells whether an operation changes the base of a lock that is held.
fn moves_lock(op: &Op, held: &[LockPlace]) -> bool {
    match op {
        Op::Point { base, .. } => held.iter().any(|lock| lock.0 == *base),
        _ => false,
    }
}

fn merge(known: &mut Vec<LockPlace>, other: &[LockPlace]) {
    for lock in other {
        if !known.contains(lock) {
            known.push(*lock);
        }
    }
}
