//! What single instructions do.

use super::channel::Message;
use super::evaluate::View;
use super::machine::Machine;
use super::memory::{byte, set_word, store, word};
use super::program::{Beginning, Code, Field, Operation, Place, Reception, Transition};
use super::shape::Shape;
use super::trap::Trap;
use crate::system::Fault;
use std::sync::Arc;

/// Whether an instruction can be executed, and with what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ready {
    Blocked,
    Go,
    /// It receives the message in a slot.
    Slot(u32),
    /// It sends over a rendezvous channel, if somebody takes it.
    Handover,
}

/// What came of an instruction.
#[derive(Debug, Default)]
pub(super) struct Done {
    /// The processes are others now.
    pub shape: Option<Arc<Shape>>,
    /// The process is gone.
    pub has_ended: bool,
    /// Where it stands, if not where the transition leads.
    pub location: Option<u16>,
    /// It went wrong, and the state is what it would be otherwise.
    pub fault: Option<Fault>,
}

/// The most steps of one `d_step`.
const STEPS_MAX: usize = 1_000_000;

impl Machine {
    /// Whether an instruction can be executed now by its process alone.
    #[inline]
    pub(super) fn ready(
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
                    0 => Ready::Handover,
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
            Operation::Run { .. } => go(view.shape.frames.len() < 255),
            Operation::Sequence(start) => self.sequence_ready(view, *start)?,
            Operation::Skip
            | Operation::Assign(..)
            | Operation::Assert(_)
            | Operation::Print(..)
            | Operation::PrintName(_)
            | Operation::SetPriority(..) => Ready::Go,
        })
    }

    /// A `d_step` begins if its first statement does.
    fn sequence_ready(&self, view: &View<'_>, start: u32) -> Result<Ready, Trap> {
        let mut moved = false;
        for transition in self.transitions(view, start) {
            if let Some(instruction) = self.program.instruction(transition) {
                match self.ready(view, &instruction.operation, moved)? {
                    Ready::Blocked | Ready::Handover => {}
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
    pub(super) fn execute(
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
            Operation::PrintName(_) => {}
            Operation::Assign(place, value) => {
                let number = view.value(*value).map_err(trapped)?;
                self.assign(view, place, number, *value, next)
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
                let (_, at) = view.channel(*channel).map_err(trapped)?;
                let kind = self.channel_type(at);
                view.message(kind, values, message).map_err(trapped)?;
                self.put(next, at, message, *sorted);
            }
            Operation::Receive(reception) => {
                let Ready::Slot(slot) = ready else {
                    return Ok(Done::default());
                };
                let (_, at) = view.channel(reception.channel).map_err(trapped)?;
                self.read(view.state, at, slot, message);
                if !reception.keeps {
                    self.take(next, at, slot);
                }
                self.deliver(view, reception, message, next)
                    .map_err(trapped)?;
            }
            Operation::Run {
                kind,
                arguments,
                priority,
                into,
            } => return self.run(view, (*kind, *priority), arguments, into.as_ref(), next),
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

    fn assign(
        &self,
        view: &View<'_>,
        place: &Place,
        number: i32,
        code: Code,
        next: &mut [u8],
    ) -> Result<(), Trap> {
        if place.is_nowhere {
            return Ok(());
        }
        let at = view.offset(place)?;
        let value = self.fitting(number, &place.cell.scalar, code)?;
        store(next, at, &place.cell, value);
        Ok(())
    }

    /// Puts the fields of a message where they belong.
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
            && let Some(place) = next.get_mut((frame.base + super::program::NODE_SIZE) as usize)
        {
            *place = priority;
        }
        Ok(())
    }

    /// The channel of a rendezvous, and the message.
    pub(super) fn handed(
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

    /// Whether an instruction takes a message that is handed over.
    pub(super) fn takes(
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

    /// What an instruction receives, also as the first of a `d_step`.
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

    /// Takes a message that is handed over.
    pub(super) fn receive(
        &self,
        view: &View<'_>,
        operation: &Operation,
        message: &[i32],
        next: &mut Vec<u8>,
    ) -> Result<Done, Fault> {
        let Some(reception) = self.reception(view, operation) else {
            return Ok(Done::default());
        };
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

    /// Executes a `d_step` from its beginning.
    fn sequence(
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

    /// Executes a `d_step` from a place in it up to where it is left.
    fn go_on(
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
        for _ in 0..STEPS_MAX {
            let location = locations.get(here as usize);
            let Some(location) = location.filter(|location| location.in_sequence) else {
                return Ok(Done {
                    location: Some(here as u16),
                    ..Done::default()
                });
            };
            state.clone_from(next);
            set_word(&mut state, view.base, here as u16);
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
        let span = self
            .transitions(view, here)
            .first()
            .and_then(|it| self.program.instruction(it));
        let message = "this `d_step` does not come to its end";
        Err(Fault::new(
            "endless-d_step",
            message,
            span.map(|it| it.span),
        ))
    }

    /// The first transition of a `d_step` that can be made.
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
                Ready::Handover => {
                    let message = "a rendezvous cannot be in the middle of a `d_step`";
                    return Err(Fault::new("rendezvous", message, Some(instruction.span)));
                }
                ready => return Ok((transition, ready)),
            }
        }
        let message = "this `d_step` is blocked in the middle";
        Err(Fault::new("blocked-d_step", message, span))
    }

    /// Begins a process.
    fn run(
        &self,
        view: &View<'_>,
        (kind, priority): (u16, u8),
        arguments: &[Code],
        into: Option<&Place>,
        next: &mut Vec<u8>,
    ) -> Result<Done, Fault> {
        let trapped = |trap: Trap| trap.fault(&self.program);
        let process = view.shape.frames.len() as i32;
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push((view.value(*argument).map_err(trapped)?, *argument));
        }
        if let Some(place) = into {
            let code = arguments.first().copied().unwrap_or(Code(0));
            self.assign(view, place, process, code, next)
                .map_err(trapped)?;
        }
        let shape = self.begin(view.shape, kind, priority, &values, next)?;
        Ok(Done {
            shape: Some(shape),
            ..Done::default()
        })
    }

    /// Puts a new process at the end of a state.
    pub(super) fn begin(
        &self,
        shape: &Shape,
        kind: u16,
        priority: u8,
        arguments: &[(i32, Code)],
        next: &mut Vec<u8>,
    ) -> Result<Arc<Shape>, Fault> {
        let mut kinds = shape.kinds();
        kinds.push(kind);
        let Some(after) = self.shapes.of(&self.program, &kinds) else {
            let message = "there are too many processes and channels, or combinations of them";
            return Err(Fault::new("too-large", message, None));
        };
        let Some(process) = self.program.kinds.get(kind as usize) else {
            return Ok(after);
        };
        let trapped = |trap: Trap| trap.fault(&self.program);
        let base = next.len() as u32;
        next.resize(after.size as usize, 0);
        set_word(next, 0, after.number);
        set_word(next, base, process.start as u16);
        if self.program.priorities
            && let Some(place) = next.get_mut((base + super::program::NODE_SIZE) as usize)
        {
            *place = priority;
        }
        if arguments.len() != process.parameters.len() {
            let message = format!(
                "`{}` takes {} values, and is given {}",
                process.name,
                process.parameters.len(),
                arguments.len()
            );
            return Err(Fault::new("arguments", message, Some(process.span)));
        }
        for ((value, code), cell) in arguments.iter().zip(&process.parameters) {
            let value = self.fitting(*value, &cell.scalar, *code).map_err(trapped)?;
            store(next, base, cell, value);
        }
        if let Some(outside) = process.outside {
            let values: Vec<i32> = arguments.iter().map(|(value, _)| *value).collect();
            let made = self.outside.get(kind as usize).and_then(Option::as_ref);
            let number = made.and_then(|made| made.begin(&values));
            let message = "nothing in Rust stands for this process, or it has too many states";
            let none = || Fault::new("external", message, Some(process.span));
            let number = number.ok_or_else(none)?;
            store(next, base, &outside.cell, number as i32);
        }
        let first_channel = shape.channels.len();
        self.beginnings(
            &after,
            after.frames.len() - 1,
            base,
            &process.beginnings,
            first_channel,
            next,
        )
        .map_err(trapped)?;
        Ok(after)
    }

    /// Gives variables what they begin with.
    pub(super) fn beginnings(
        &self,
        shape: &Arc<Shape>,
        process: usize,
        base: u32,
        beginnings: &[Beginning],
        first_channel: usize,
        next: &mut [u8],
    ) -> Result<(), Trap> {
        let mut channel = first_channel;
        for beginning in beginnings {
            match beginning {
                Beginning::Value(cell, code) => {
                    let view = View {
                        machine: self,
                        state: next,
                        shape,
                        process,
                        base,
                        timeout: false,
                    };
                    let value = view.value(*code)?;
                    let value = self.fitting(value, &cell.scalar, *code)?;
                    store(next, base, cell, value);
                }
                Beginning::Channel(cell, _) => {
                    channel += 1;
                    store(next, base, cell, channel as i32);
                }
            }
        }
        Ok(())
    }

    /// Ends the youngest process, with its channels.
    fn end(&self, view: &View<'_>, next: &mut Vec<u8>) -> Result<Done, Fault> {
        let mut kinds = view.shape.kinds();
        kinds.pop();
        let Some(shape) = self.shapes.of(&self.program, &kinds) else {
            let message = "there are too many processes and channels, or combinations of them";
            return Err(Fault::new("too-large", message, None));
        };
        next.truncate(shape.size as usize);
        set_word(next, 0, shape.number);
        debug_assert_eq!(word(next, 0), shape.number);
        Ok(Done {
            shape: Some(shape),
            has_ended: true,
            ..Done::default()
        })
    }

    /// The first state.
    pub(super) fn initial(&self) -> Result<Vec<u8>, Fault> {
        let too_large = || Fault::new("too-large", "there are too many processes", None);
        let mut shape = self.shapes.of(&self.program, &[]).ok_or_else(too_large)?;
        let mut state = vec![0; shape.size as usize];
        set_word(&mut state, 0, shape.number);
        let begun = self.beginnings(&shape, 0, 0, &self.program.global_beginnings, 0, &mut state);
        begun.map_err(|trap| trap.fault(&self.program))?;
        for active in &self.program.active {
            let count = self
                .program
                .kinds
                .get(active.kind as usize)
                .map_or(0, |kind| kind.parameters.len());
            // A process that is there from the beginning is given nothing.
            let arguments = vec![(0, Code(0)); count];
            shape = self.begin(&shape, active.kind, active.priority, &arguments, &mut state)?;
        }
        Ok(state)
    }
}
