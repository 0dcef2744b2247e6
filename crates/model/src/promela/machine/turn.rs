//! Where processes stand, and who may have a turn.

use super::Machine;
use crate::promela::evaluate::View;
use crate::promela::execute::Ready;
use crate::promela::memory::word;
use crate::promela::program::{Code, Location, Scalar};
use crate::promela::shape::{Frame, Shape};
use crate::promela::trap::Trap;
use std::sync::Arc;

impl Machine {
    /// Where a process stands.
    pub fn location(&self, state: &[u8], frame: &Frame) -> Option<&Location> {
        let kind = self.program.kinds.get(frame.kind as usize)?;
        let standing = self.program.standing(state, frame.base);
        kind.locations.get(standing as usize)
    }

    /// The shape of a state.
    pub fn shape(&self, state: &[u8]) -> Option<Arc<Shape>> {
        self.shapes.get(word(state, 0))
    }

    /// A value as it is kept in a variable.
    #[inline]
    pub fn fitting(&self, value: i32, scalar: &Scalar, code: Code) -> Result<i32, Trap> {
        if value >= scalar.least && value <= scalar.greatest {
            return Ok(value);
        }
        if !self.wraps {
            return Err(Trap::Value(code, value));
        }
        Ok(match scalar.least {
            0 => value & scalar.greatest,
            _ => i32::from(value as i16),
        })
    }

    /// Whether a process may have a turn, by its `provided` and by priority.
    pub(super) fn may_have_turn(&self, view: &View<'_>) -> Result<bool, Trap> {
        let Some(frame) = view.shape.frames.get(view.process) else {
            return Ok(false);
        };
        let kind = self.program.kinds.get(frame.kind as usize);
        if let Some(provided) = kind.and_then(|kind| kind.provided)
            && !view.holds(provided)?
        {
            return Ok(false);
        }
        if !self.program.priorities {
            return Ok(true);
        }
        let own = view.priority(view.process);
        let mut others = 0..view.shape.frames.len();
        Ok(!others.any(|other| {
            other != view.process && view.priority(other) > own && self.can_move(&view.of(other))
        }))
    }

    /// Whether a process could do something by itself.
    pub fn can_move(&self, view: &View<'_>) -> bool {
        let frame = view.shape.frames.get(view.process);
        let kind = frame.and_then(|frame| self.program.kinds.get(frame.kind as usize));
        if let Some(provided) = kind.and_then(|kind| kind.provided)
            && !view.holds(provided).unwrap_or(false)
        {
            return false;
        }
        if self.program.has_outside && self.is_outside(view.shape, view.process) {
            return self.outside_can_move(view);
        }
        let location = frame.and_then(|frame| self.location(view.state, frame));
        let transitions = location.map_or(&[][..], |location| &location.transitions);
        let mut moved = false;
        for transition in transitions {
            let Some(instruction) = self.program.instruction(transition) else {
                continue;
            };
            let ready = self.ready(view, &instruction.operation, moved);
            moved |= !matches!(ready, Ok(Ready::Blocked));
        }
        moved
    }
}
