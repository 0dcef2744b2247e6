//! The phases of a step, and the rules of its operations.

use super::{EndKind, Op, StepProgram};

/// What may be done with a thread between two operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// No lock is held: the step can be abandoned.
    Free,
    /// A lock may be held: the step can be abandoned when it is released.
    Locked,
    /// The step must be finished.
    Committed,
}

impl Op {
    /// Returns the position to which the operation may go, other than the next one.
    pub fn target(&self) -> Option<u32> {
        match self {
            Op::Branch { target, .. } | Op::Jump { target } | Op::Again { target } => Some(*target),
            _ => None,
        }
    }

    /// Returns true if the operation never goes to the next one.
    pub fn is_last(&self) -> bool {
        matches!(
            self,
            Op::Jump { .. } | Op::Again { .. } | Op::End(_) | Op::Gate(_)
        )
    }

    /// Returns the phase after the operation, from that before it.
    fn leads(&self, phase: Phase) -> Phase {
        match self {
            Op::Lock { .. } => phase.max(Phase::Locked),
            Op::Commit(_) => Phase::Committed,
            _ => phase,
        }
    }

    /// Returns true if the operation may be in this phase.
    fn may_be_in(&self, phase: Phase) -> bool {
        match self {
            Op::Capture { .. } => phase == Phase::Free,
            Op::Checked { .. } | Op::Gate(_) | Op::Lock { .. } | Op::Again { .. } => {
                phase < Phase::Committed
            }
            Op::Commit(_) => phase == Phase::Locked,
            Op::Xadd { .. } | Op::Unlock { .. } | Op::Done => phase == Phase::Committed,
            Op::End(EndKind::Unneeded) => phase == Phase::Free,
            Op::End(_) => phase == Phase::Committed,
            _ => true,
        }
    }
}

impl StepProgram {
    /// Returns the phase before each operation; `None` if the list breaks a rule of this
    /// module: a target or the end is out of the list, a branch goes backwards, an
    /// operation is reached in two phases, or in one in which it must not be. An
    /// operation that is never reached is in phase `Free`.
    pub fn phases(&self) -> Option<Vec<Phase>> {
        let mut phases: Vec<Option<Phase>> = vec![None; self.ops.len()];
        *phases.first_mut()? = Some(Phase::Free);
        for (position, op) in self.ops.iter().enumerate() {
            let Some(phase) = phases.get(position).copied().flatten() else {
                continue;
            };
            if !op.may_be_in(phase) {
                return None;
            }
            let after = op.leads(phase);
            let target = op.target().map(|target| target as usize);
            let is_back = target.is_some_and(|target| target <= position);
            if is_back != matches!(op, Op::Again { .. }) {
                return None;
            }
            let next = (!op.is_last()).then_some(position + 1);
            for reached in next.into_iter().chain(target) {
                let known = phases.get_mut(reached)?;
                if known.is_some_and(|known| known != after) {
                    return None;
                }
                *known = Some(after);
            }
        }
        let phases = phases.into_iter();
        Some(phases.map(|phase| phase.unwrap_or(Phase::Free)).collect())
    }
}
