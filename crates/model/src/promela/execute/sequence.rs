//! Execution of `d_step`: several instructions as one step.

use super::{Done, Ready};
use crate::promela::channel::Message;
use crate::promela::evaluate::View;
use crate::promela::machine::Machine;
use crate::promela::program::Transition;
use crate::promela::shape::Shape;
use crate::system::Fault;
use std::sync::Arc;

/// Maximum number of instructions of one `d_step`.
const STEPS_MAX: usize = 20_000_000;

impl Machine {
    /// Executes a `d_step` from its start.
    pub(super) fn sequence(
        &self,
        view: &View<'_>,
        start: u32,
        next: &mut Vec<u8>,
        message: &mut Message,
    ) -> Result<Done, Fault> {
        match self.shape(view.state) {
            Some(shape) => self.go_on(view, &shape, start, next, message),
            None => Ok(Done::default()),
        }
    }

    /// Executes a `d_step` from a location in it to its exit.
    pub(super) fn go_on(
        &self,
        view: &View<'_>,
        shape: &Arc<Shape>,
        from: u32,
        next: &mut Vec<u8>,
        message: &mut Message,
    ) -> Result<Done, Fault> {
        let kind = shape.frames.get(view.process).map_or(0, |frame| frame.kind);
        let locations = self
            .program
            .kinds
            .get(kind as usize)
            .map_or(&[][..], |kind| &kind.locations);
        let mut here = from;
        let mut state = next.clone();
        // An earlier state and its location, the furthest at a power of two: a cycle comes
        // back to it (R. Brent, An Improved Monte Carlo Factorization Algorithm, 1980).
        let mut earlier = (u32::MAX, Vec::new());
        let mut is_cycle = false;
        for count in 0..STEPS_MAX {
            if earlier.0 == here && earlier.1 == *next {
                is_cycle = true;
                break;
            }
            if count.is_power_of_two() {
                earlier.0 = here;
                earlier.1.clone_from(next);
            }
            let location = locations.get(here as usize);
            let in_atomic = location.is_some_and(|location| location.in_atomic);
            let Some(location) = location.filter(|location| location.in_sequence) else {
                return Ok(Done {
                    location: Some(here as u16),
                    leaves_atomic: !in_atomic,
                    ..Done::default()
                });
            };
            state.clone_from(next);
            self.program.stand(&mut state, view.base, here as u16);
            let now = View {
                state: &state,
                shape,
                ..*view
            };
            let (transition, ready) = self.first_ready(&now, &location.transitions)?;
            let Some(instruction) = self.program.instruction(transition) else {
                break;
            };
            let done = self.execute(&now, &instruction.operation, ready, next, message)?;
            if let Some(fault) = done.fault {
                return Err(fault);
            }
            here = transition.to;
        }
        Err(self.endless_step(view, here, is_cycle))
    }

    /// Returns the error that a `d_step` comes back to a location and state, or is too long.
    fn endless_step(&self, view: &View<'_>, here: u32, is_cycle: bool) -> Fault {
        let first = self.transitions(view, here).first();
        let span = first.and_then(|it| self.program.instruction(it));
        let span = span.map(|it| it.span);
        if is_cycle {
            let message = "this `d_step` does not terminate";
            return Fault::new("endless-d_step", message, span);
        }
        let message = format!("this `d_step` has more than {STEPS_MAX} steps");
        let help = "whether it terminates is not known: let it end sooner";
        Fault::new("endless-d_step", message, span).help(help)
    }

    /// Returns the first enabled transition of a `d_step`.
    fn first_ready<'a>(
        &'a self,
        view: &View<'_>,
        transitions: &'a [Transition],
    ) -> Result<(&'a Transition, Ready), Fault> {
        let mut span = None;
        for transition in transitions {
            let Some(instruction) = self.program.instruction(transition) else {
                continue;
            };
            span = span.or(Some(instruction.span));
            let ready = self.ready(view, &instruction.operation, false);
            match ready.map_err(|trap| trap.fault(&self.program))? {
                Ready::Blocked => {}
                Ready::Rendezvous => {
                    let message = "a rendezvous is not allowed in the middle of a `d_step`";
                    return Err(Fault::new("rendezvous", message, Some(instruction.span)));
                }
                ready => return Ok((transition, ready)),
            }
        }
        let message = "this `d_step` is blocked in the middle";
        Err(Fault::new("blocked-d_step", message, span))
    }
}
