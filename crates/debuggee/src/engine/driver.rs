//! Driving the breakpoint engine: queued inputs, and the state of the exchange.
//!
//! Invariant: inputs reach the engine one at a time, and the operations of one
//! are carried out before the next is handled. After a failure the exchange is
//! broken: what the engine assumes may not hold, and the debuggee can only be
//! detached by force.

mod feed;

use std::collections::VecDeque;
use std::mem;

use juror_stepping::{Engine, Input, Operation, StepBy};

use crate::state::self_check::{EngineCheck, SelfCheck};

/// The breakpoint engine and the queue before it.
#[derive(Debug)]
pub(crate) struct EngineDriver {
    pub(crate) engine: Engine,
    pub(crate) self_check: Option<Box<EngineCheck>>,
    /// Inputs that the engine has not handled yet.
    pub(crate) inputs: VecDeque<Input>,
    /// Kept between inputs, so that an event allocates nothing.
    operations: Vec<Operation>,
    exchange: Exchange,
    /// Every site is stepped over in place, whatever its instruction allows.
    pub(crate) in_place: bool,
}

/// The state of the exchange with the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exchange {
    /// The next input is handled at once.
    Ready,
    /// Inputs are being handled: a further one is queued. A panic leaves the
    /// exchange in this state.
    Feeding,
    /// An operation was not carried out.
    Failed,
    /// Inputs are queued and never handled.
    Disconnected,
}

impl EngineDriver {
    pub(crate) fn new() -> EngineDriver {
        EngineDriver {
            engine: Engine::new(),
            self_check: None,
            inputs: VecDeque::with_capacity(64),
            operations: Vec::with_capacity(64),
            exchange: Exchange::Ready,
            in_place: false,
        }
    }

    /// Sets the step-over methods and the self-check, before the first input.
    pub(crate) fn configure(
        &mut self,
        step_by: StepBy,
        in_place: bool,
        self_check: Option<&SelfCheck>,
    ) {
        self.engine = Engine::stepping_by(step_by);
        self.self_check = self_check.map(|check| check.start_engine_check(step_by));
        self.in_place = in_place;
    }

    /// Returns the self-check of this engine, if it has one.
    pub(crate) fn self_check(&self) -> Option<&SelfCheck> {
        self.self_check.as_ref().map(|check| check.check())
    }

    /// Returns true if an operation could not be carried out, or something
    /// panicked in the middle of the operations.
    pub(crate) fn is_broken(&self) -> bool {
        self.exchange != Exchange::Ready
    }

    /// Queues all further inputs without handling them.
    pub(crate) fn disconnect(&mut self) {
        self.exchange = Exchange::Disconnected;
    }

    /// Begins to handle the queued inputs; returns the state to return to, or
    /// none if they are not to be handled now.
    fn begin(&mut self) -> Option<Exchange> {
        match self.exchange {
            Exchange::Feeding | Exchange::Disconnected => None,
            Exchange::Ready | Exchange::Failed => {
                Some(mem::replace(&mut self.exchange, Exchange::Feeding))
            }
        }
    }
}
