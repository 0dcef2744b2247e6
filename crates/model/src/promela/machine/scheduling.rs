//! Locations of processes, and which processes may run.

use super::Machine;
use crate::promela::evaluate::View;
use crate::promela::execute::Ready;
use crate::promela::memory::word;
use crate::promela::program::{Code, Location, Scalar};
use crate::promela::shape::{Frame, Shape};
use crate::promela::trap::Trap;
use std::sync::Arc;

impl Machine {
    /// Returns the location of a process.
    pub fn location(&self, state: &[u8], frame: &Frame) -> Option<&Location> {
        let kind = self.program.kinds.get(frame.kind as usize)?;
        let standing = self.program.standing(state, frame.base);
        kind.locations.get(standing as usize)
    }

    /// Returns the shape of a state.
    pub fn shape(&self, state: &[u8]) -> Option<Arc<Shape>> {
        self.shapes.get(word(state, 0))
    }

    /// Converts a value to the range of a variable.
    ///
    /// # Errors
    /// The value is out of range, and values are not truncated.
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

    /// Returns whether a process may run, by its `provided` clause and by priority.
    pub(super) fn may_run(&self, view: &View<'_>) -> Result<bool, Trap> {
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

    /// Returns whether a process could make a step by itself.
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
