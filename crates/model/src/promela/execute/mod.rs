//! Execution of single instructions.

mod processes;
mod running;
mod sequence;

use crate::promela::channel::Message;
use crate::promela::evaluate::View;
use crate::promela::machine::Machine;
use crate::promela::memory::{byte, store};
use crate::promela::program::{Code, Field, Operation, Place, Reception, Transition};
use crate::promela::shape::Shape;
use crate::promela::trace::Event;
use crate::promela::trap::Trap;
use crate::system::Fault;
use std::sync::Arc;

/// Whether an instruction is executable, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::promela) enum Ready {
    Blocked,
    Go,
    /// Receives the message in a slot.
    Slot(u32),
    /// Sends over a rendezvous channel, if there is a receiver.
    Rendezvous,
}

/// The result of an instruction.
#[derive(Debug, Default)]
pub(in crate::promela) struct Done {
    /// The new shape, if the processes have changed.
    pub shape: Option<Arc<Shape>>,
    /// Whether the process has terminated.
    pub has_ended: bool,
    /// The new location, if not the target of the transition.
    pub location: Option<u16>,
    /// Whether it has left the atomic sequence of the transition.
    pub leaves_atomic: bool,
    /// The error, if there is one; the state is valid all the same.
    pub fault: Option<Fault>,
}

impl Machine {
    /// Returns whether an instruction is executable by its process alone.
    #[inline]
    pub(in crate::promela) fn ready(
        &self,
        view: &View<'_>,
        operation: &Operation,
        moved: bool,
    ) -> Result<Ready, Trap> {
        let go = |is: bool| if is { Ready::Go } else { Ready::Blocked };
        Ok(match operation {
            Operation::Condition(code) => go(view.holds(*code)?),
            Operation::Else => go(!moved),
            Operation::Send { channel, .. } => {
                let (_, at) = view.channel(*channel)?;
                match self.channel_type(at).capacity {
                    0 => Ready::Rendezvous,
                    capacity => go(u32::from(byte(view.state, at.base)) < capacity),
                }
            }
            Operation::Receive(reception) => {
                let (_, at) = view.channel(reception.channel)?;
                if self.channel_type(at).capacity == 0 {
                    return Ok(Ready::Blocked);
                }
                match view.matching(reception, false)? {
                    Some(slot) => Ready::Slot(slot),
                    None => Ready::Blocked,
                }
            }
            Operation::End => go(view.process + 1 == view.shape.frames.len()),
            // Occurs only in a trace, which makes no steps.
            Operation::Event { .. } => Ready::Blocked,
            Operation::Sequence(start) => self.sequence_ready(view, *start)?,
            Operation::Skip
            | Operation::Assign(..)
            | Operation::Assert(_)
            | Operation::Print(..)
            | Operation::PrintName(_)
            | Operation::Run { .. }
            | Operation::Running(..)
            | Operation::SetPriority(..) => Ready::Go,
        })
    }

    /// Returns whether a `d_step` is executable: whether its first statement is.
    fn sequence_ready(&self, view: &View<'_>, start: u32) -> Result<Ready, Trap> {
        let mut moved = false;
        for transition in self.transitions(view, start) {
            if let Some(instruction) = self.program.instruction(transition) {
                match self.ready(view, &instruction.operation, moved)? {
                    Ready::Blocked | Ready::Rendezvous => {}
                    _ => moved = true,
                }
            }
        }
        Ok(if moved { Ready::Go } else { Ready::Blocked })
    }

    fn transitions(&self, view: &View<'_>, location: u32) -> &[Transition] {
        let frame = view.shape.frames.get(view.process);
        let kind = frame.and_then(|frame| self.program.kinds.get(frame.kind as usize));
        let location = kind.and_then(|kind| kind.locations.get(location as usize));
        location.map_or(&[], |location| &location.transitions)
    }

    /// Executes an instruction that is ready, on a copy of the state.
    pub(in crate::promela) fn execute(
        &self,
        view: &View<'_>,
        operation: &Operation,
        ready: Ready,
        next: &mut Vec<u8>,
        message: &mut Message,
    ) -> Result<Done, Fault> {
        let trapped = |trap: Trap| trap.fault(&self.program);
        match operation {
            Operation::Skip | Operation::Else | Operation::Condition(_) | Operation::Print(..) => {}
            Operation::PrintName(_) | Operation::Event { .. } => {}
            Operation::Assign(place, value) => {
                self.assign_value(view, place, *value, next)
                    .map_err(trapped)?;
            }
            Operation::Assert(condition) => {
                if !view.holds(*condition).map_err(trapped)? {
                    return Ok(Done {
                        fault: Some(self.assertion(*condition)),
                        ..Done::default()
                    });
                }
            }
            Operation::Send {
                channel,
                sorted,
                values,
            } => {
                let (number, at) = view.channel(*channel).map_err(trapped)?;
                let kind = self.channel_type(at);
                view.message(kind, values, message).map_err(trapped)?;
                self.put(next, at, message, *sorted);
                let event = Event {
                    sends: true,
                    channel: number,
                    message,
                    at: Some(*channel),
                };
                self.advance_trace(view.shape, next, event)?;
            }
            Operation::Receive(reception) => {
                let Ready::Slot(slot) = ready else {
                    return Ok(Done::default());
                };
                let (number, at) = view.channel(reception.channel).map_err(trapped)?;
                self.read(view.state, at, slot, message);
                if !reception.keeps {
                    self.take(next, at, slot);
                    let event = Event {
                        sends: false,
                        channel: number,
                        message,
                        at: Some(reception.channel),
                    };
                    self.advance_trace(view.shape, next, event)?;
                }
                self.deliver(view, reception, message, next)
                    .map_err(trapped)?;
            }
            Operation::Run {
                kind,
                arguments,
                priority,
            } => return self.run(view, (*kind, *priority), arguments, next),
            Operation::Running(values, then) => return self.running(view, values, then, next),
            Operation::SetPriority(process, value) => {
                self.set_priority(view, *process, *value, next)
                    .map_err(trapped)?;
            }
            Operation::End => return self.end(view, next),
            Operation::Sequence(start) => return self.sequence(view, *start, next, message),
        }
        Ok(Done::default())
    }

    fn assertion(&self, condition: Code) -> Fault {
        Fault::new(
            "assertion",
            "this assertion does not hold",
            Some(self.program.span_of(condition)),
        )
    }

    /// Assigns the value of an expression to a variable.
    #[inline]
    pub(in crate::promela) fn assign_value(
        &self,
        view: &View<'_>,
        place: &Place,
        value: Code,
        next: &mut [u8],
    ) -> Result<(), Trap> {
        let number = view.value(value)?;
        self.assign(view, place, number, value, next)
    }

    fn assign(
        &self,
        view: &View<'_>,
        place: &Place,
        number: i32,
        code: Code,
        next: &mut [u8],
    ) -> Result<(), Trap> {
        if place.is_discard {
            return Ok(());
        }
        let at = view.offset(place)?;
        let value = self.fitting(number, &place.cell.scalar, code)?;
        store(next, at, &place.cell, value);
        Ok(())
    }

    /// Stores the fields of a received message.
    fn deliver(
        &self,
        view: &View<'_>,
        reception: &Reception,
        message: &[i32],
        next: &mut [u8],
    ) -> Result<(), Trap> {
        for (field, value) in reception.fields.iter().zip(message) {
            if let Field::Into(place) = field {
                self.assign(view, place, *value, reception.channel, next)?;
            }
        }
        Ok(())
    }

    fn set_priority(
        &self,
        view: &View<'_>,
        process: Code,
        value: Code,
        next: &mut [u8],
    ) -> Result<(), Trap> {
        let number = view.value(process)?;
        let frame = usize::try_from(number)
            .ok()
            .and_then(|it| view.shape.frames.get(it));
        let priority = view.value(value)?;
        let priority = u8::try_from(priority).map_err(|_| Trap::Value(value, priority))?;
        if let Some(frame) = frame
            && let Some(place) =
                next.get_mut((frame.base + self.program.priority_offset()) as usize)
        {
            *place = priority;
        }
        Ok(())
    }

    /// Evaluates the channel of a rendezvous and the message.
    pub(in crate::promela) fn rendezvous_message(
        &self,
        view: &View<'_>,
        channel: Code,
        values: &[Code],
        message: &mut Message,
    ) -> Result<i32, Trap> {
        let (number, at) = view.channel(channel)?;
        view.message(self.channel_type(at), values, message)?;
        Ok(number)
    }

    /// Returns whether an instruction receives a rendezvous message.
    pub(in crate::promela) fn takes(
        &self,
        view: &View<'_>,
        operation: &Operation,
        channel: i32,
        message: &[i32],
    ) -> Result<bool, Trap> {
        match self.reception(view, operation) {
            Some(reception) => Ok(
                view.value(reception.channel)? == channel && view.accepts(reception, message)?
            ),
            None => Ok(false),
        }
    }

    /// Returns the reception of an instruction, including that at the start of a
    /// `d_step`.
    fn reception<'a>(&'a self, view: &View<'_>, operation: &'a Operation) -> Option<&'a Reception> {
        match operation {
            Operation::Receive(reception) => Some(reception),
            Operation::Sequence(start) => {
                let first = self.transitions(view, *start).first()?;
                match &self.program.instruction(first)?.operation {
                    Operation::Receive(reception) => Some(reception),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Receives a rendezvous message; `sent` is the event of its sender.
    pub(in crate::promela) fn receive(
        &self,
        view: &View<'_>,
        operation: &Operation,
        sent: Event<'_>,
        next: &mut Vec<u8>,
    ) -> Result<Done, Fault> {
        let Some(reception) = self.reception(view, operation) else {
            return Ok(Done::default());
        };
        self.advance_trace(view.shape, next, sent)?;
        self.advance_trace(view.shape, next, sent.taken(Some(reception.channel)))?;
        let message = sent.message;
        let trapped = |trap: Trap| trap.fault(&self.program);
        self.deliver(view, reception, message, next)
            .map_err(trapped)?;
        let Operation::Sequence(start) = operation else {
            return Ok(Done::default());
        };
        let to = self
            .transitions(view, *start)
            .first()
            .map_or(0, |first| first.to);
        let shape = self.shape(next);
        let Some(shape) = shape else {
            return Ok(Done::default());
        };
        self.go_on(view, &shape, to, next, &mut Message::new())
    }
}
