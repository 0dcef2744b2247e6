//! `trace` and `notrace`: the order in which messages are sent and received.
//!
//! A trace is an automaton beside the processes. Its position is a part of the
//! state, and moves with each event of the channels that it names: after a message
//! was put into a channel, and when one is taken. A `trace` says what must come next,
//! and another event is an error; a `notrace` says what must not happen as a whole.
//! A rendezvous is two events, that of the sender first, and they happen only if
//! somebody takes the message.

use super::evaluate::View;
use super::machine::Machine;
use super::memory::{load, store};
use super::program::{Cell, Code, Location, Operation, Transition};
use super::shape::Shape;
use crate::Span;
use crate::system::Fault;

/// The trace of a model.
#[derive(Debug, Clone)]
pub(super) struct Trace {
    /// The kind of process that has its events.
    pub kind: u16,
    /// It is what must not happen.
    pub is_negated: bool,
    /// Where in the state it is.
    pub position: Cell,
    /// Whose events count: whether those of senders, and on which channel.
    pub scope: Vec<(bool, Code)>,
}

/// What happened to a channel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Event<'a> {
    /// A message was sent; otherwise one was received.
    pub sends: bool,
    /// The value that names the channel.
    pub channel: i32,
    pub message: &'a [i32],
    /// The channel in the statement, if that is in the model.
    pub at: Option<Code>,
}

impl<'a> Event<'a> {
    /// The message that is handed over is taken.
    pub fn taken(self, at: Option<Code>) -> Event<'a> {
        Event {
            sends: false,
            at,
            ..self
        }
    }
}

impl Machine {
    /// The trace goes on with an event, if it has to do with it.
    ///
    /// # Errors
    /// The event may not happen.
    #[inline]
    pub fn happened(&self, shape: &Shape, next: &mut [u8], event: Event<'_>) -> Result<(), Fault> {
        match &self.program.trace {
            Some(trace) => self.go_on_with(trace, shape, next, event),
            None => Ok(()),
        }
    }

    fn go_on_with(
        &self,
        trace: &Trace,
        shape: &Shape,
        next: &mut [u8],
        event: Event<'_>,
    ) -> Result<(), Fault> {
        let view = View {
            machine: self,
            state: next,
            shape,
            process: usize::MAX,
            base: 0,
            timeout: false,
        };
        if !view.is_in_scope(trace, event)? {
            return Ok(());
        }
        let here = load(next, 0, &trace.position);
        let kind = self.program.kinds.get(trace.kind as usize);
        let locations = kind.map_or(&[][..], |kind| &kind.locations);
        let location = locations.get(here as usize);
        let ways = location.map_or(&[][..], |location| &location.transitions);
        let mut meant = None;
        for way in ways {
            if view.is_meant(way, event)? && meant.replace(way).is_some() {
                return Err(view.several_meant(ways, event));
            }
        }
        let to = match meant {
            Some(way) => way.to,
            None if trace.is_negated => {
                // What begins otherwise is not what must not happen.
                return self.give_up(trace, locations, next);
            }
            None => return Err(self.unexpected(shape, event, ways)),
        };
        store(next, 0, &trace.position, to as i32);
        let is_over = locations
            .get(to as usize)
            .is_some_and(|it| self.is_over(it));
        if trace.is_negated && is_over {
            let message = "with this event, all that `notrace` forbids has happened";
            return Err(Fault::new("trace", message, self.place_of(event)));
        }
        Ok(())
    }

    /// No event comes at a location any more.
    fn is_over(&self, location: &Location) -> bool {
        location.transitions.iter().any(|way| {
            let instruction = self.program.instruction(way);
            instruction.is_some_and(|it| it.operation == Operation::End)
        })
    }

    /// Goes where no event matches.
    fn give_up(&self, trace: &Trace, locations: &[Location], next: &mut [u8]) -> Result<(), Fault> {
        let end = locations.iter().position(|it| self.is_over(it));
        // Where the trace goes round for ever, there is no such place.
        let end = end.unwrap_or(locations.len());
        store(next, 0, &trace.position, end as i32);
        Ok(())
    }

    fn unexpected(&self, shape: &Shape, event: Event<'_>, ways: &[Transition]) -> Fault {
        let what = match event.sends {
            true => "sent",
            false => "received",
        };
        let fields = shape
            .channel(event.channel)
            .map(|at| &self.channel_type(at).fields);
        let fields = fields.into_iter().flatten().zip(event.message);
        let shown = fields.map(|(cell, value)| {
            let name = usize::try_from(value - 1)
                .ok()
                .filter(|_| cell.scalar.is_mtype);
            let name = name.and_then(|name| self.program.mtypes.get(name));
            name.map_or_else(|| value.to_string(), ToString::to_string)
        });
        let shown: Vec<String> = shown.collect();
        let shown = shown.join(",");
        let message =
            format!("the message {shown} is {what}, and the trace has another event here");
        let fault = Fault::new("trace", message, self.place_of(event));
        self.labelled(fault, ways.iter(), "what the trace has next")
    }

    fn place_of(&self, event: Event<'_>) -> Option<Span> {
        event.at.map(|code| self.program.span_of(code))
    }

    /// Points at events of the trace.
    fn labelled<'a>(
        &self,
        fault: Fault,
        ways: impl Iterator<Item = &'a Transition>,
        text: &str,
    ) -> Fault {
        let instructions = ways.filter_map(|way| self.program.instruction(way));
        instructions.fold(fault, |fault, instruction| match instruction.operation {
            Operation::End => fault.label(instruction.span, "the trace is over"),
            _ => fault.label(instruction.span, text),
        })
    }

    /// The trace may stay where it is when nothing happens any more. As in Spin, that
    /// is asked as long as there are processes.
    pub fn trace_may_end(&self, state: &[u8], shape: &Shape) -> bool {
        let location = self.trace_location(state);
        location.is_none_or(|location| location.is_end || shape.frames.is_empty())
    }

    /// Where the trace is.
    fn trace_location(&self, state: &[u8]) -> Option<&Location> {
        let trace = self.program.trace.as_ref()?;
        let kind = self.program.kinds.get(trace.kind as usize)?;
        let here = load(state, 0, &trace.position);
        kind.locations.get(here as usize)
    }

    /// The name of the trace and what may come next in it, for people.
    pub fn trace_shown(&self, state: &[u8]) -> Option<(String, String)> {
        let trace = self.program.trace.as_ref()?;
        let name = match trace.is_negated {
            true => "notrace",
            false => "trace",
        };
        let ways = self
            .trace_location(state)
            .map_or(&[][..], |it| &it.transitions);
        let texts = ways.iter().filter_map(|way| self.program.instruction(way));
        let texts: Vec<&str> = texts.map(|instruction| &*instruction.text).collect();
        Some((name.to_owned(), texts.join(" :: ")))
    }
}

impl View<'_> {
    /// Whether the trace has to do with an event.
    fn is_in_scope(&self, trace: &Trace, event: Event<'_>) -> Result<bool, Fault> {
        for (sends, channel) in &trace.scope {
            if *sends == event.sends && self.names(*channel, event)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn names(&self, channel: Code, event: Event<'_>) -> Result<bool, Fault> {
        let value = self.value(channel);
        let value = value.map_err(|trap| trap.fault(&self.machine.program))?;
        Ok(value == event.channel)
    }

    /// That the trace does not say how it goes on.
    fn several_meant(&self, ways: &[Transition], event: Event<'_>) -> Fault {
        let message = "several events of the trace match this one";
        let fault = Fault::new("trace-choice", message, self.machine.place_of(event));
        let meant = ways.iter();
        let meant = meant.filter(|way| matches!(self.is_meant(way, event), Ok(true)));
        self.machine.labelled(fault, meant, "this one")
    }

    /// Whether an event is one of the trace.
    fn is_meant(&self, way: &Transition, event: Event<'_>) -> Result<bool, Fault> {
        let Some(instruction) = self.machine.program.instruction(way) else {
            return Ok(false);
        };
        let Operation::Event {
            sends,
            channel,
            fields,
        } = &instruction.operation
        else {
            return Ok(false);
        };
        if *sends != event.sends || !self.names(*channel, event)? {
            return Ok(false);
        }
        if fields.len() > event.message.len() {
            let message = "this event of the trace has more fields than the message";
            let fault = Fault::new("fields", message, Some(instruction.span));
            return Err(match self.machine.place_of(event) {
                Some(span) => fault.label(span, "the message"),
                None => fault,
            });
        }
        let mut fields = fields.iter().zip(event.message);
        Ok(fields.all(|(field, value)| field.is_none_or(|field| field == *value)))
    }
}
