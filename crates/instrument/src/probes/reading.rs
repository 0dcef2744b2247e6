//! Reads the captures of events: before a call, at a line, and at the end of an awaited call.

use super::{Occurrence, Probes};
use crate::capture_plan::{CapturePlan, NOT_YET, compute_captures};
use crate::context_values::{Details, EventContext};
use juror_arch::abi;
use juror_debuggee::{DebuggeeError, Owner, ThreadId};
use juror_event::{EventKind, Unavailability, Value};
use juror_program::program::Program;
use juror_program::stack::pending_returns::PendingReturn;
use juror_values::read_plan::{Begun, ReadPlan};

impl Probes {
    /// Reads the captures of an event before a call into `values`, by slot; slots outside of `mask`
    /// are not captured. Returns the return address.
    pub fn read_before(
        &self,
        program: &Program,
        thread: ThreadId,
        number: u32,
        mask: u64,
        values: &mut Vec<Value>,
    ) -> Result<u64, DebuggeeError> {
        values.clear();
        let machine = program.machine(thread)?;
        let stack = machine.registers().stack_pointer();
        let caller = program.debuggee.read_u64(stack).unwrap_or(0);
        let Some(probe) = self.get(number) else {
            return Ok(caller);
        };
        let context = EventContext {
            return_address: Some(caller),
            ..EventContext::default()
        };
        for (slot, plan) in probe.captures.iter().enumerate() {
            values.push(if mask >> slot & 1 == 0 {
                Value::Unavailable(Unavailability::NotCaptured)
            } else {
                match plan {
                    CapturePlan::Entry(plan) | CapturePlan::Return(plan) => {
                        plan.read(&machine, abi::frame_at_entry(stack))
                    }
                    CapturePlan::Elements { plans, .. } => {
                        let frame = abi::frame_at_entry(stack);
                        let values = plans.iter().map(|plan| plan.read(&machine, frame));
                        Value::Sequence(values.collect())
                    }
                    CapturePlan::Context(value, conversion) => {
                        value.value_as(*conversion, program, thread, &context)
                    }
                    CapturePlan::Evaluate(..) | CapturePlan::Compiled(..) => {
                        plan.read(program, thread, &context)
                    }
                    CapturePlan::Arithmetic(_) | CapturePlan::Exact => NOT_YET,
                }
            });
        }
        compute_captures(&probe.captures, mask, values);
        Ok(caller)
    }

    /// Reads the captures of an event at a line, or before an inlined call, into `values`, by slot.
    /// The thread is at that address.
    pub fn read_here(
        &self,
        program: &Program,
        thread: ThreadId,
        number: u32,
        mask: u64,
        values: &mut Vec<Value>,
    ) {
        values.clear();
        let probe = self.get(number);
        let context = match probe.and_then(|probe| probe.inlined.as_ref()) {
            Some(entry) => EventContext::of(Details::InlinedCall {
                caller: &entry.caller,
            }),
            None => EventContext::default(),
        };
        let plans = probe.map_or(&[][..], |probe| &probe.captures);
        values.extend(plans.iter().enumerate().map(|(slot, plan)| {
            if mask >> slot & 1 == 0 {
                Value::Unavailable(Unavailability::NotCaptured)
            } else {
                plan.read(program, thread, &context)
            }
        }));
        compute_captures(plans, mask, values);
    }

    /// Returns the values that a call keeps from its entry until its return, which is an event, or
    /// `None` if the stack cannot be read.
    pub fn begin_return(
        &self,
        program: &Program,
        thread: ThreadId,
        number: u32,
    ) -> Result<Option<PendingReturn>, DebuggeeError> {
        let Some(probe) = self.probes.get(number as usize) else {
            return Ok(None);
        };
        let machine = program.machine(thread)?;
        let stack = machine.registers().stack_pointer();
        let Ok(address) = program.debuggee.read_u64(stack) else {
            return Ok(None);
        };
        let frame = abi::frame_at_entry(stack);
        let begun = probe
            .captures
            .iter()
            .map(|plan| match plan {
                CapturePlan::Entry(plan) => plan.begin(&machine, frame),
                // All of them begin with the same pointer.
                CapturePlan::Elements { plans, .. } => match plans.first() {
                    Some(plan) if !plan.follow.is_empty() => plan.begin(&machine, frame),
                    _ => Begun::Unavailable(Unavailability::OptimizedOut),
                },
                _ => Begun::Unavailable(Unavailability::NotCaptured),
            })
            .collect();
        let entry = probe.captures.iter().filter_map(|plan| match plan {
            CapturePlan::Evaluate(evaluation) => Some(evaluation.at_entry(program, thread)),
            _ => None,
        });
        Ok(Some(PendingReturn {
            address,
            frame,
            call: self.calls,
            probe: number,
            at_entry: false,
            begun,
            entry: entry.flatten().collect(),
        }))
    }

    /// Awaits the return of a call that has been entered: inserts a breakpoint there.
    pub fn await_return(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        number: u32,
    ) -> Result<(), DebuggeeError> {
        let Some(pending) = self.begin_return(program, thread, number)? else {
            return Ok(());
        };
        let address = pending.address;
        self.take_noted_entry(program, thread, &pending)?;
        self.pending.push(thread, pending);
        program.debuggee.insert(address, Owner::Return)
    }

    /// Removes a call that was recorded while its thread was at the first instruction.
    pub fn take_noted_entry(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        call: &PendingReturn,
    ) -> Result<(), DebuggeeError> {
        let (address, frame, probe) = (call.address, call.frame, call.probe);
        let pending = &mut self.pending;
        match pending.take_noted_entry(thread, address, frame, probe) {
            Some(_) => program.debuggee.remove(address, Owner::Return),
            None => Ok(()),
        }
    }

    /// Removes the next awaited call of a thread at a return address, and reads the captures of its
    /// event. Returns `None` if none is left.
    pub fn take_returned(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        address: u64,
        values: &mut Vec<Value>,
    ) -> Result<Option<Occurrence>, DebuggeeError> {
        let stack = program.registers(thread)?.stack_pointer();
        while let Some(pending) = self.pending.pop_returned(thread, address, stack) {
            program.debuggee.remove(address, Owner::Return)?;
            if self.is_of_kind(&pending, EventKind::AfterCall) {
                self.read_ended(program, thread, &pending, stack, values)?;
                return Ok(Some(Occurrence::of(&pending)));
            }
        }
        Ok(None)
    }

    /// Reads the captures of the event at the end of a dropped call. Returns `None` if no probe
    /// awaits it.
    pub fn read_unwound(
        &self,
        program: &Program,
        thread: ThreadId,
        call: &PendingReturn,
        values: &mut Vec<Value>,
    ) -> Result<Option<Occurrence>, DebuggeeError> {
        let is_planted = self.get(call.probe).is_some_and(|probe| probe.is_inserted);
        if !is_planted || !self.is_of_kind(call, EventKind::Unwound) {
            return Ok(None);
        }
        let stack = program.registers(thread)?.stack_pointer();
        self.read_ended(program, thread, call, stack, values)?;
        Ok(Some(Occurrence::of(call)))
    }

    fn is_of_kind(&self, pending: &PendingReturn, kind: EventKind) -> bool {
        self.get(pending.probe).is_some_and(|it| it.kind == kind)
    }

    /// Reads the captures of an event at the end of a call, by slot.
    fn read_ended(
        &self,
        program: &Program,
        thread: ThreadId,
        pending: &PendingReturn,
        stack: u64,
        values: &mut Vec<Value>,
    ) -> Result<(), DebuggeeError> {
        values.clear();
        let machine = program.machine(thread)?;
        let context = EventContext {
            return_address: Some(pending.address),
            ..EventContext::default()
        };
        let plans = self
            .get(pending.probe)
            .map_or(&[][..], |it| it.captures.as_slice());
        let mut kept = pending.entry.as_slice();
        for (plan, begun) in plans.iter().zip(&pending.begun) {
            values.push(match plan {
                CapturePlan::Return(plan) => plan.read(&machine, stack),
                CapturePlan::Entry(plan) => plan.complete(&machine, *begun),
                CapturePlan::Elements { plans, is_late } => {
                    let read = |plan: &ReadPlan| {
                        if *is_late {
                            plan.read(&machine, stack)
                        } else {
                            plan.complete(&machine, *begun)
                        }
                    };
                    Value::Sequence(plans.iter().map(read).collect())
                }
                CapturePlan::Context(value, conversion) => {
                    value.value_as(*conversion, program, thread, &context)
                }
                CapturePlan::Evaluate(evaluation) => {
                    let own = kept.split_at_checked(evaluation.entry_count());
                    let (own, rest) = own.unwrap_or_default();
                    kept = rest;
                    evaluation.value(program, thread, own)
                }
                CapturePlan::Compiled(..) => plan.read(program, thread, &context),
                CapturePlan::Arithmetic(_) | CapturePlan::Exact => NOT_YET,
            });
        }
        compute_captures(plans, u64::MAX, values);
        Ok(())
    }
}

impl Occurrence {
    fn of(ended: &PendingReturn) -> Occurrence {
        Occurrence {
            probe: ended.probe,
            caller: ended.address,
        }
    }
}
