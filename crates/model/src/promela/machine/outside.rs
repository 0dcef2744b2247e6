//! Steps of processes implemented in Rust.

use super::{Here, Machine, Sink, StepDetails, Walk};
use crate::promela::evaluate::View;
use crate::promela::external::{Action, Channel, Numbered, Offer, Outside, Variable, World};
use crate::promela::memory::{byte, load, store};
use crate::promela::program::Transition;
use crate::promela::shape::{ChannelAt, Shape};
use crate::promela::trace::Event;
use crate::system::Fault;

/// A process in Rust, with its current state.
struct Standing<'a> {
    outside: Outside,
    numbered: &'a dyn Numbered,
    number: u32,
    process: usize,
    base: u32,
}

impl Machine {
    /// Returns whether a process is implemented in Rust.
    pub(super) fn is_outside(&self, shape: &Shape, process: usize) -> bool {
        let frame = shape.frames.get(process);
        let kind = frame.and_then(|frame| self.program.kinds.get(frame.kind as usize));
        kind.is_some_and(|kind| kind.outside.is_some())
    }

    fn standing(&self, state: &[u8], shape: &Shape, process: usize) -> Option<Standing<'_>> {
        let frame = shape.frames.get(process)?;
        let outside = self.program.kinds.get(frame.kind as usize)?.outside?;
        let numbered = self.outside.get(frame.kind as usize)?.as_deref()?;
        Some(Standing {
            outside,
            numbered,
            number: load(state, frame.base, &outside.cell) as u32,
            process,
            base: frame.base,
        })
    }

    fn offers(&self, state: &[u8], standing: &Standing<'_>) -> Vec<Offer<Option<u32>>> {
        let process = standing.process;
        standing
            .numbered
            .offers(standing.number, &World { state, process })
    }

    /// Returns the number of a channel, and the channel.
    fn outside_channel(
        &self,
        state: &[u8],
        shape: &Shape,
        channel: Channel,
    ) -> Option<(i32, ChannelAt)> {
        let number = load(state, 0, &channel.0);
        Some((number, shape.channel(number)?))
    }

    /// Returns whether a process in Rust is at a valid end; `None` for other processes.
    pub(in crate::promela) fn outside_may_end(
        &self,
        state: &[u8],
        shape: &Shape,
        process: usize,
    ) -> Option<bool> {
        let standing = self.standing(state, shape, process)?;
        Some(standing.numbered.may_end(standing.number))
    }

    /// Returns the display of the state of a process in Rust.
    pub(in crate::promela) fn outside_shown(
        &self,
        state: &[u8],
        shape: &Shape,
        process: usize,
    ) -> Option<String> {
        let standing = self.standing(state, shape, process)?;
        Some(standing.numbered.shown(standing.number))
    }

    /// Returns whether a process in Rust can make a step by itself.
    pub(super) fn outside_can_move(&self, view: &View<'_>) -> bool {
        let Some(standing) = self.standing(view.state, view.shape, view.process) else {
            return false;
        };
        let can = |offer: &Offer<Option<u32>>| match &offer.action {
            Action::Write { .. } | Action::Fail(_) => true,
            Action::Send { channel, .. } => self.has_room(view.state, view.shape, *channel),
            Action::Receive { channel } => {
                let at = self.outside_channel(view.state, view.shape, *channel);
                at.is_some_and(|(_, at)| {
                    self.channel_type(at).capacity > 0 && byte(view.state, at.base) > 0
                })
            }
        };
        self.offers(view.state, &standing).iter().any(can)
    }

    fn has_room(&self, state: &[u8], shape: &Shape, channel: Channel) -> bool {
        let at = self.outside_channel(state, shape, channel);
        at.is_some_and(|(_, at)| match self.channel_type(at).capacity {
            0 => true,
            capacity => u32::from(byte(state, at.base)) < capacity,
        })
    }
}

impl<S: Sink> Walk<'_, S> {
    /// Generates the steps of a process in Rust. Returns whether there were any.
    pub(super) fn outside(&mut self, here: Here<'_>, process: usize) -> bool {
        let view = self.view(here, process, false);
        match self.machine.may_run(&view) {
            Ok(true) => {}
            Ok(false) => return false,
            Err(trap) => return self.trapped(trap),
        }
        let machine = self.machine;
        let Some(standing) = machine.standing(here.state, here.shape, process) else {
            return false;
        };
        let mut moved = false;
        for offer in machine.offers(here.state, &standing) {
            if self.stopped {
                break;
            }
            self.push_outside(&standing, &offer.text, false);
            moved |= self.offer(here, &standing, offer);
            self.scratch.path.pop();
            self.follow_chains();
        }
        moved
    }

    fn push_outside(&mut self, standing: &Standing<'_>, text: &str, takes: bool) {
        self.scratch.path.push(super::Micro {
            process: standing.process,
            transition: Transition {
                instruction: standing.outside.instruction,
                to: 0,
                is_atomic: false,
                escape: 0,
            },
            takes,
            hash: 0,
            details: S::RECORDS_STEPS.then(|| {
                Box::new(StepDetails {
                    text: Some(text.into()),
                    after: None,
                })
            }),
        });
    }

    /// Makes the step of one offer, if it is enabled. Returns whether it was.
    fn offer(
        &mut self,
        here: Here<'_>,
        standing: &Standing<'_>,
        offer: Offer<Option<u32>>,
    ) -> bool {
        match offer.action {
            Action::Fail(words) => {
                let instruction = self
                    .machine
                    .program
                    .instructions
                    .get(standing.outside.instruction as usize);
                let span = instruction.map(|instruction| instruction.span);
                self.fault(Fault::new("external", words, span));
                true
            }
            Action::Write { values, next } => {
                self.outside_step(here, standing, next, |walk, state| {
                    walk.write(state, &values)
                });
                true
            }
            Action::Send {
                channel,
                message,
                next,
            } => self.outside_sends(here, standing, channel, &message, next),
            Action::Receive { channel } => self.outside_takes(here, standing, channel),
        }
    }

    /// Makes a step: updates the state by a function, and moves the process.
    fn outside_step(
        &mut self,
        here: Here<'_>,
        standing: &Standing<'_>,
        next: Option<u32>,
        change: impl FnOnce(&Self, &mut [u8]) -> Result<(), Fault>,
    ) {
        let mut state = self.scratch.copy(here.state);
        let changed = change(self, &mut state).and_then(|()| set_state(standing, next, &mut state));
        match changed {
            Err(fault) => self.fault(fault),
            Ok(()) => {
                self.mark_last(&mut state, standing.process);
                self.after(&mut state, here.shape, standing.process, false);
            }
        }
        self.scratch.recycle(state);
    }

    fn write(&self, state: &mut [u8], values: &[(Variable, i32)]) -> Result<(), Fault> {
        for (Variable(cell), value) in values {
            let scalar = &cell.scalar;
            if !(scalar.least..=scalar.greatest).contains(value) {
                let message = format!(
                    "the value {value} is out of range for the variable that a process in Rust \
                     assigns it to"
                );
                return Err(Fault::new("value", message, None));
            }
            store(state, 0, cell, *value);
        }
        Ok(())
    }

    fn outside_sends(
        &mut self,
        here: Here<'_>,
        standing: &Standing<'_>,
        channel: Channel,
        message: &[i32],
        next: Option<u32>,
    ) -> bool {
        let machine = self.machine;
        let Some((number, at)) = machine.outside_channel(here.state, here.shape, channel) else {
            return self.no_channel();
        };
        let kind = machine.channel_type(at);
        let fits = |(value, cell): (&i32, &crate::promela::program::Cell)| {
            (cell.scalar.least..=cell.scalar.greatest).contains(value)
        };
        if message.len() != kind.fields.len() || !message.iter().zip(&kind.fields).all(fits) {
            let message = "a process in Rust sends a message that does not fit the channel";
            self.fault(Fault::new("fields", message, None));
            return true;
        }
        let event = Event {
            sends: true,
            channel: number,
            message,
            at: None,
        };
        if kind.capacity == 0 {
            let mut sent = Ok(());
            let taken = self.offer_message(here, standing.process, event, |state| {
                sent = set_state(standing, next, state);
            });
            if let Err(fault) = sent {
                self.fault(fault);
            }
            return taken;
        }
        if !machine.has_room(here.state, here.shape, channel) {
            return false;
        }
        self.outside_step(here, standing, next, |walk, state| {
            walk.machine.put(state, at, message, false);
            walk.machine.advance_trace(here.shape, state, event)
        });
        true
    }

    /// Receives the oldest message of a buffered channel, if there is one that the process
    /// accepts. Returns whether there was.
    fn outside_takes(&mut self, here: Here<'_>, standing: &Standing<'_>, channel: Channel) -> bool {
        let machine = self.machine;
        let Some((number, at)) = machine.outside_channel(here.state, here.shape, channel) else {
            return self.no_channel();
        };
        if machine.channel_type(at).capacity == 0 || byte(here.state, at.base) == 0 {
            return false;
        }
        let mut message = Vec::new();
        machine.read(here.state, at, 0, &mut message);
        let received = standing
            .numbered
            .received(standing.number, channel, &message);
        let Some(next) = received else {
            return false;
        };
        self.outside_step(here, standing, next, |walk, state| {
            walk.machine.take(state, at, 0);
            let event = Event {
                sends: false,
                channel: number,
                message: &message,
                at: None,
            };
            walk.machine.advance_trace(here.shape, state, event)
        });
        true
    }

    /// Makes the steps in which a process in Rust receives a rendezvous message. Returns
    /// whether there were any.
    pub(super) fn outside_receives(
        &mut self,
        here: Here<'_>,
        process: usize,
        event: Event<'_>,
    ) -> bool {
        let machine = self.machine;
        let Some(standing) = machine.standing(here.state, here.shape, process) else {
            return false;
        };
        let mut taken = false;
        for offer in machine.offers(here.state, &standing) {
            let Action::Receive { channel: asked } = offer.action else {
                continue;
            };
            if load(here.state, 0, &asked.0) != event.channel || self.stopped {
                continue;
            }
            let received = standing
                .numbered
                .received(standing.number, asked, event.message);
            if let Some(next) = received {
                self.push_outside(&standing, &offer.text, true);
                self.outside_step(here, &standing, next, |walk, state| {
                    walk.machine.advance_trace(here.shape, state, event)?;
                    walk.machine
                        .advance_trace(here.shape, state, event.taken(None))
                });
                self.scratch.path.pop();
                taken = true;
            }
        }
        taken
    }

    fn no_channel(&mut self) -> bool {
        let message = "a process in Rust uses a variable that holds no channel";
        self.fault(Fault::new("no-channel", message, None));
        true
    }
}

/// Sets the state of the process.
fn set_state(standing: &Standing<'_>, next: Option<u32>, state: &mut [u8]) -> Result<(), Fault> {
    let Some(next) = next else {
        let message = "a process in Rust has too many states";
        return Err(Fault::new("too-large", message, None));
    };
    store(state, standing.base, &standing.outside.cell, next as i32);
    Ok(())
}
