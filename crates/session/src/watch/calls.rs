//! Events before and after calls, and at lines: from the place where a thread
//! stands to the monitors that wait for it.

use super::{Reaction, Watch, Watched};
use crate::options::Observer;
use juror_debuggee::{DebuggeeError, ThreadId};
use juror_event::EventKind;
use juror_instrument::probes::{ActiveCall, Probe};
use juror_instrument::program::Program;

impl Watch {
    /// A thread is about to execute the first instruction of watched
    /// functions, or of a watched line.
    pub fn on_call(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        address: u64,
        observer: &mut dyn Observer,
        reaction: &mut Reaction,
    ) -> Result<(), DebuggeeError> {
        program.begin_moment();
        let mut hit = std::mem::take(&mut self.hit);
        let mut values = std::mem::take(&mut self.values);
        self.probes.hit(address, &mut hit);
        for &number in &hit {
            let Some(probe) = self.probes.get(number) else {
                continue;
            };
            count(&mut self.watched, probe);
            // An event before may have made this one unneeded.
            if probe.kind == EventKind::AfterCall || !probe.planted {
                continue;
            }
            let (monitor, event) = (usize::from(probe.monitor), probe.event);
            let mask = self.mask(monitor, event);
            let place = if probe.kind == EventKind::Line {
                let values = &mut values;
                self.probes.read_line(program, thread, number, mask, values);
                address
            } else {
                let values = &mut values;
                self.probes
                    .read_before(program, thread, number, mask, values)?
            };
            self.step(
                program, thread, monitor, event, place, &values, observer, reaction,
            )?;
        }
        // Those that became needed just now count: the call has not returned.
        self.probes.awaited_at(address, &mut hit);
        for &number in &hit {
            self.probes.await_return(program, thread, number)?;
        }
        self.hit = hit;
        self.values = values;
        self.newly_awaited
            .retain(|&number| !self.probes.is_quiet(number));
        self.probes.note_entry(address);
        if !self.newly_awaited.is_empty() {
            self.await_active_calls(program, thread, Some(address))?;
        }
        Ok(())
    }

    /// A thread stands at a return address that some event waits for.
    pub fn on_return(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        address: u64,
        observer: &mut dyn Observer,
        reaction: &mut Reaction,
    ) -> Result<(), DebuggeeError> {
        program.begin_moment();
        let mut values = std::mem::take(&mut self.values);
        while let Some(occurrence) =
            self.probes
                .take_returned(program, thread, address, &mut values)?
        {
            let Some(probe) = self.probes.get(occurrence.probe) else {
                continue;
            };
            count(&mut self.watched, probe);
            let (monitor, event) = (usize::from(probe.monitor), probe.event);
            let place = occurrence.caller;
            self.step(
                program, thread, monitor, event, place, &values, observer, reaction,
            )?;
        }
        self.values = values;
        self.newly_awaited
            .retain(|&number| !self.probes.is_quiet(number));
        if !self.newly_awaited.is_empty() {
            self.await_active_calls(program, thread, None)?;
        }
        Ok(())
    }

    /// A thread is at one of juror's own points.
    pub fn on_internal(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        address: u64,
    ) -> Result<(), DebuggeeError> {
        if !self.probes.is_waiting(thread) {
            return Ok(());
        }
        if let Some(stack) = self.unwind_points.future_stack(program, thread, address)?
            && let Some(mapping) = program.mapping_of(stack)
        {
            self.probes
                .unwind_to(program, thread, stack, |frame| mapping.contains(&frame))?;
        }
        Ok(())
    }

    /// A person took frames off a thread's stack, which begins at `stack` now: the
    /// calls among them return to nobody.
    pub fn drop_calls(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        stack: u64,
    ) -> Result<(), DebuggeeError> {
        match program.mapping_of(stack) {
            Some(mapping) => {
                let same = |frame| mapping.contains(&frame);
                self.probes.unwind_to(program, thread, stack, same)
            }
            None => Ok(()),
        }
    }

    /// An event after a call has become needed while calls may be active:
    /// their returns are watched too (section 9.2.2 of the paper). `entered`:
    /// the function that the current thread is entering just now.
    fn await_active_calls(
        &mut self,
        program: &mut Program,
        current: ThreadId,
        entered: Option<u64>,
    ) -> Result<(), DebuggeeError> {
        let threads: Vec<ThreadId> = program.debuggee.thread_ids().collect();
        let alone = threads.len() == 1;
        if !alone {
            program.debuggee.halt_all()?;
        }
        self.await_calls_on_stacks(program, current, entered)?;
        if !alone {
            for thread in threads.into_iter().filter(|&thread| thread != current) {
                program.debuggee.resume(thread)?;
            }
        }
        Ok(())
    }

    /// The same, all threads being stopped.
    pub(super) fn await_calls_on_stacks(
        &mut self,
        program: &mut Program,
        current: ThreadId,
        entered: Option<u64>,
    ) -> Result<(), DebuggeeError> {
        let numbers = std::mem::take(&mut self.newly_awaited);
        if numbers.is_empty() {
            return Ok(());
        }
        let threads: Vec<ThreadId> = program.debuggee.thread_ids().collect();
        for &thread in &threads {
            // Outermost first, so that inner calls return first.
            for (function, call) in active_calls(program, thread).into_iter().rev() {
                // The call that is being entered right now is awaited already.
                if call.at_entry && thread == current && Some(function) == entered {
                    continue;
                }
                for &number in &numbers {
                    let probe = self.probes.get(number);
                    if probe.is_some_and(|probe| probe.address == function) {
                        self.probes.await_active(program, thread, number, call)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The calls on a stopped thread's stack, innermost first, each with the first
/// instruction of its function.
fn active_calls(program: &Program, thread: ThreadId) -> Vec<(u64, ActiveCall)> {
    let mut calls = Vec::new();
    let mut is_innermost = true;
    program.walk(thread, |frame| {
        // What juror has called is not the program's.
        if frame.called_by_juror.is_some() {
            calls.clear();
        }
        if frame.is_inlined() {
            return true;
        }
        let innermost = std::mem::take(&mut is_innermost);
        let known = frame.function.as_ref().zip(frame.module.as_ref());
        let Some(((function, module), cfa)) = known.zip(frame.cfa) else {
            return true;
        };
        let function = module.to_process(function.low_pc);
        if let Ok(address) = program.debuggee.read_u64(cfa.wrapping_sub(8)) {
            let call = ActiveCall {
                address,
                frame: cfa,
                at_entry: innermost && frame.pc == function,
            };
            calls.push((function, call));
        }
        true
    });
    calls
}

/// The debuggee was stopped for a probe.
fn count(watched: &mut [Watched], probe: &Probe) {
    let monitor = watched.get_mut(usize::from(probe.monitor));
    let stops = monitor.and_then(|watched| watched.stops.get_mut(usize::from(probe.event.0)));
    if let Some(stops) = stops {
        *stops += 1;
    }
}
