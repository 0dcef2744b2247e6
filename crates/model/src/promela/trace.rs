//! `trace` and `notrace`: constraints on the order of sends and receives.
//!
//! A trace is an automaton that runs with the processes. Its position is part of the
//! state and advances with each event on the channels that it names: after a message is
//! appended to a channel, and when one is removed. A `trace` specifies the required next
//! event, and another event is an error; a `notrace` specifies a forbidden sequence. A
//! rendezvous is two events, the sender's first, which occur only if there is a receiver.

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
    /// The process type that contains its events.
    pub kind: u16,
    /// Whether it is a `notrace`.
    pub is_negated: bool,
    /// Location of its position in the state.
    pub position: Cell,
    /// The events in scope: whether sends, and the channel.
    pub scope: Vec<(bool, Code)>,
}

/// An event on a channel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Event<'a> {
    /// Whether it is a send or a receive.
    pub sends: bool,
    /// The value of the channel.
    pub channel: i32,
    pub message: &'a [i32],
    /// The channel expression of the statement, if that is in the model.
    pub at: Option<Code>,
}

impl<'a> Event<'a> {
    /// Returns the receive event of a rendezvous.
    pub fn taken(self, at: Option<Code>) -> Event<'a> {
        Event {
            sends: false,
            at,
            ..self
        }
    }
}

impl Machine {
    /// Advances the trace by an event, if it is in scope.
    ///
    /// # Errors
    /// The event is not allowed.
    #[inline]
    pub fn advance_trace(
        &self,
        shape: &Shape,
        next: &mut [u8],
        event: Event<'_>,
    ) -> Result<(), Fault> {
        match &self.program.trace {
            Some(trace) => self.advance(trace, shape, next, event),
            None => Ok(()),
        }
    }

    fn advance(
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
        let transitions = location.map_or(&[][..], |location| &location.transitions);
        let mut matched = None;
        for transition in transitions {
            if view.matches_event(transition, event)? && matched.replace(transition).is_some() {
                return Err(view.ambiguous(transitions, event));
            }
        }
        let to = match matched {
            Some(transition) => transition.to,
            None if trace.is_negated => {
                // A different sequence is not the forbidden one.
                return self.give_up(trace, locations, next);
            }
            None => return Err(self.unexpected(shape, event, transitions)),
        };
        store(next, 0, &trace.position, to as i32);
        let is_over = locations
            .get(to as usize)
            .is_some_and(|it| self.is_over(it));
        if trace.is_negated && is_over {
            let message = "this event completes what `notrace` forbids";
            return Err(Fault::new("trace", message, self.place_of(event)));
        }
        Ok(())
    }

    /// Returns whether no event follows at a location.
    fn is_over(&self, location: &Location) -> bool {
        location.transitions.iter().any(|transition| {
            let instruction = self.program.instruction(transition);
            instruction.is_some_and(|it| it.operation == Operation::End)
        })
    }

    /// Moves to a position at which no event matches.
    fn give_up(&self, trace: &Trace, locations: &[Location], next: &mut [u8]) -> Result<(), Fault> {
        let end = locations.iter().position(|it| self.is_over(it));
        // A trace that loops forever has no end location.
        let end = end.unwrap_or(locations.len());
        store(next, 0, &trace.position, end as i32);
        Ok(())
    }

    fn unexpected(&self, shape: &Shape, event: Event<'_>, transitions: &[Transition]) -> Fault {
        let what = if event.sends { "sent" } else { "received" };
        let fields = shape
            .channel(event.channel)
            .map(|at| &self.channel_type(at).fields);
        let fields = fields.into_iter().flatten().zip(event.message);
        let shown = fields.map(|(cell, value)| {
            let name = self.program.name_of(&cell.scalar, *value);
            name.map_or_else(|| value.to_string(), ToString::to_string)
        });
        let shown: Vec<String> = shown.collect();
        let shown = shown.join(",");
        let message =
            format!("the message {shown} is {what}, but the trace requires another event here");
        let fault = Fault::new("trace", message, self.place_of(event));
        self.labelled(fault, transitions.iter(), "required by the trace")
    }

    fn place_of(&self, event: Event<'_>) -> Option<Span> {
        event.at.map(|code| self.program.span_of(code))
    }

    /// Adds labels at events of the trace.
    fn labelled<'a>(
        &self,
        fault: Fault,
        transitions: impl Iterator<Item = &'a Transition>,
        text: &str,
    ) -> Fault {
        let instructions =
            transitions.filter_map(|transition| self.program.instruction(transition));
        instructions.fold(fault, |fault, instruction| match instruction.operation {
            Operation::End => fault.label(instruction.span, "the trace ends here"),
            _ => fault.label(instruction.span, text),
        })
    }

    /// Returns whether the trace is at a valid end. As in Spin, it is checked as long as
    /// there are processes.
    pub fn trace_may_end(&self, state: &[u8], shape: &Shape) -> bool {
        let location = self.trace_location(state);
        location.is_none_or(|location| location.is_end || shape.frames.is_empty())
    }

    /// Returns the location of the trace.
    fn trace_location(&self, state: &[u8]) -> Option<&Location> {
        let trace = self.program.trace.as_ref()?;
        let kind = self.program.kinds.get(trace.kind as usize)?;
        let here = load(state, 0, &trace.position);
        kind.locations.get(here as usize)
    }

    /// Returns the keyword of the trace and its possible next events, for display.
    pub fn trace_shown(&self, state: &[u8]) -> Option<(String, String)> {
        let trace = self.program.trace.as_ref()?;
        let name = if trace.is_negated { "notrace" } else { "trace" };
        let transitions = self
            .trace_location(state)
            .map_or(&[][..], |it| &it.transitions);
        let texts = transitions
            .iter()
            .filter_map(|transition| self.program.instruction(transition));
        let texts: Vec<&str> = texts.map(|instruction| &*instruction.text).collect();
        Some((name.to_owned(), texts.join(" :: ")))
    }
}

impl View<'_> {
    /// Returns whether an event is in scope of the trace.
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

    /// Returns the fault of an event that matches several events of the trace.
    fn ambiguous(&self, transitions: &[Transition], event: Event<'_>) -> Fault {
        let message = "several events of the trace match this one";
        let fault = Fault::new("trace-choice", message, self.machine.place_of(event));
        let matched = transitions.iter();
        let matched =
            matched.filter(|transition| matches!(self.matches_event(transition, event), Ok(true)));
        self.machine.labelled(fault, matched, "this one")
    }

    /// Returns whether an event matches a transition of the trace.
    fn matches_event(&self, transition: &Transition, event: Event<'_>) -> Result<bool, Fault> {
        let Some(instruction) = self.machine.program.instruction(transition) else {
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
