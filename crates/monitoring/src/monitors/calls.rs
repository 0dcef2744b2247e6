//! Events before and after calls and at lines: maps the address of a stopped thread to the monitors
//! that wait for the event.

use crate::monitors::handlers::Scene;
use crate::monitors::{EventOutcome, MonitoredProperty, Monitors};
use juror_debuggee::{DebuggeeError, Owners, ThreadId};
use juror_event::{EventKind, Value};
use juror_instrument::probes::{ActiveCall, Occurrence, Probe};
use juror_program::program::Program;
use juror_program::stack::unwinding::Dropped;
use juror_view::observer::Observer;
use smallvec::SmallVec;

impl Monitors {
    /// Handles a thread at an address where monitors own points: unwound calls come first, then
    /// returns, then calls.
    pub fn on_hit(
        &mut self,
        scene: &mut Scene<'_>,
        address: u64,
        owners: Owners,
    ) -> Result<(), DebuggeeError> {
        let thread = scene.thread;
        let (program, outcome) = (&mut *scene.program, &mut *scene.outcome);
        if owners.contains(Owners::INTERNAL) {
            self.on_unwinding(program, thread, address, scene.observer, outcome)?;
        }
        if owners.contains(Owners::RETURN) {
            self.on_return(program, thread, address, scene.observer, outcome)?;
        }
        if owners.contains(Owners::MONITOR) {
            self.on_call(program, thread, address, scene.observer, outcome)?;
        }
        Ok(())
    }

    /// Handles a thread that is about to execute the first instruction of monitored functions or of
    /// a monitored line.
    fn on_call(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        address: u64,
        observer: &mut dyn Observer,
        outcome: &mut EventOutcome,
    ) -> Result<(), DebuggeeError> {
        program.begin_moment();
        let is_round = self.probes.is_in_loop(program, thread, address)?;
        if !is_round && !self.places.is_empty() && self.places.announces(address) {
            self.places.enter(program, thread, address)?;
        }
        let mut hit = std::mem::take(&mut self.hit);
        let mut values = std::mem::take(&mut self.values);
        self.probes.arrive();
        let done = self.done_in_program(program, thread, address);
        // Inlined calls begin after the function or line that contains them; the event of one call
        // may make that of the next needed.
        let mut moment = self.probes.hit(address, None, &mut hit);
        while let Some(now) = moment {
            for &number in hit.iter().filter(|number| !done.contains(number)) {
                if is_round && self.probes.get(number).is_some_and(Probe::is_of_call) {
                    continue;
                }
                let values = &mut values;
                self.take_call(program, thread, number, values, observer, outcome)?;
            }
            moment = self.probes.hit(address, Some(now), &mut hit);
        }
        if is_round {
            hit.clear();
        } else {
            self.probes.awaited_at(address, &mut hit);
        }
        hit.retain(|number| !done.contains(number));
        // The rounds of a loop are told from calls by what is awaited here.
        let is_told = self.probes.is_loop_head(address);
        if is_told || !self.await_in_program(program, thread, &hit)? {
            for &number in &hit {
                self.probes.await_return(program, thread, number)?;
            }
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

    /// Processes one of the events at the address of a stopped thread.
    fn take_call(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        number: u32,
        values: &mut Vec<Value>,
        observer: &mut dyn Observer,
        outcome: &mut EventOutcome,
    ) -> Result<(), DebuggeeError> {
        let Some(probe) = self.probes.get(number) else {
            return Ok(());
        };
        // A preceding event of the same place may have made this one needed, or unneeded.
        if !probe.is_inserted {
            return Ok(());
        }
        count(&mut self.properties, probe);
        if probe.kind.is_end_of_call() {
            return Ok(());
        }
        let (monitor, event, address) = (usize::from(probe.monitor), probe.event, probe.address);
        if !self.is_needed_in_table(monitor, event) {
            return Ok(());
        }
        let level = probe.inlined.as_ref().map(|entry| entry.level);
        let is_here = probe.kind == EventKind::Line || level.is_some();
        let mask = self.mask(monitor, event);
        let place = if is_here {
            self.probes.read_here(program, thread, number, mask, values);
            address
        } else {
            self.probes
                .read_before(program, thread, number, mask, values)?
        };
        let was_empty = outcome.is_empty();
        self.step(
            program, thread, monitor, event, place, values, observer, outcome,
        )?;
        if was_empty && !outcome.is_empty() {
            outcome.level = level;
        }
        Ok(())
    }

    /// Handles a thread at a return address that some event waits for.
    fn on_return(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        address: u64,
        observer: &mut dyn Observer,
        outcome: &mut EventOutcome,
    ) -> Result<(), DebuggeeError> {
        program.begin_moment();
        let mut values = std::mem::take(&mut self.values);
        let mut returned = SmallVec::<[u32; 4]>::new();
        self.take_over_returned(program, thread, address)?;
        while let Some(occurrence) =
            self.probes
                .take_returned(program, thread, address, &mut values)?
        {
            returned.push(occurrence.probe);
            self.end_call(program, thread, occurrence, &values, observer, outcome)?;
            self.await_same_end(program, thread, occurrence)?;
        }
        self.values = values;
        self.await_those_needed_now(program, thread)?;
        if self.has_native() {
            self.patch_return(program, address, &returned)
        } else {
            Ok(())
        }
    }

    /// Awaits the events of the end of a call that an earlier one, which has just been taken, has
    /// made needed: they are taken next.
    fn await_same_end(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        taken: Occurrence,
    ) -> Result<(), DebuggeeError> {
        if self.newly_awaited.is_empty() {
            return Ok(());
        }
        let Some(ended) = self.probes.get(taken.probe) else {
            return Ok(());
        };
        let call = ActiveCall {
            address: taken.caller,
            frame: program.registers(thread)?.stack_pointer(),
            at_entry: false,
        };
        let is_same = |number: &u32| {
            self.probes.get(*number).is_some_and(|probe| {
                let is_later = probe.monitor == ended.monitor && probe.event > ended.event;
                let is_end = probe.address == ended.address && probe.kind == EventKind::AfterCall;
                is_later && is_end && probe.is_inserted
            })
        };
        let same = self.newly_awaited.iter().copied().filter(is_same);
        let same: SmallVec<[(u32, ActiveCall); 2]> = same.map(|number| (number, call)).collect();
        self.probes.await_active(program, thread, &same)
    }

    /// Handles a thread at an internal point where frames may be removed from its stack: the calls
    /// of these frames have ended.
    fn on_unwinding(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        address: u64,
        observer: &mut dyn Observer,
        outcome: &mut EventOutcome,
    ) -> Result<(), DebuggeeError> {
        self.unwinding_stops += 1;
        if self.has_native() {
            self.take_over_pending(program, thread)?;
        }
        let Some(outermost) = self.probes.outermost(thread) else {
            return Ok(());
        };
        let points = &mut self.unwind_points;
        let Some(dropped) = points.dropped(program, thread, address, outermost)? else {
            return Ok(());
        };
        program.begin_moment();
        let mut values = std::mem::take(&mut self.values);
        for call in self.probes.take_dropped(program, thread, &dropped)? {
            let values = &mut values;
            if let Some(occurrence) = self.probes.read_unwound(program, thread, &call, values)? {
                self.end_call(program, thread, occurrence, values, observer, outcome)?;
            }
        }
        self.values = values;
        self.await_those_needed_now(program, thread)?;
        // The frames that a jump drops are still on the stack.
        self.drop_calls(program, thread, &dropped)
    }

    /// Processes the end of a call as an event.
    fn end_call(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        occurrence: Occurrence,
        values: &[Value],
        observer: &mut dyn Observer,
        outcome: &mut EventOutcome,
    ) -> Result<(), DebuggeeError> {
        // A call may be awaited for its arguments, in case its end becomes needed.
        let probe = self.probes.get(occurrence.probe);
        let Some(probe) = probe.filter(|probe| probe.is_inserted) else {
            return Ok(());
        };
        count(&mut self.properties, probe);
        let (monitor, event) = (usize::from(probe.monitor), probe.event);
        if !self.is_needed_in_table(monitor, event) {
            return Ok(());
        }
        let place = occurrence.caller;
        self.step(
            program, thread, monitor, event, place, values, observer, outcome,
        )
    }

    /// Awaits the returns of active calls whose end an event has just made needed.
    pub fn await_those_needed_now(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
    ) -> Result<(), DebuggeeError> {
        self.newly_awaited
            .retain(|&number| !self.probes.is_quiet(number));
        if !self.newly_awaited.is_empty() {
            self.await_active_calls(program, thread, None)?;
        }
        Ok(())
    }

    /// Drops calls of a thread without events: the user removed their frames from the stack.
    pub fn drop_calls(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        dropped: &Dropped,
    ) -> Result<(), DebuggeeError> {
        // The program itself would end them where another call returns to the same place.
        if self.has_native() {
            self.take_over_pending(program, thread)?;
        }
        self.probes.take_dropped(program, thread, dropped)?;
        Ok(())
    }

    /// Monitors the returns of calls that may be active when an after-call event becomes needed
    /// (section 9.2.2 of the paper). `entered` is the function that the current thread is entering.
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
            let others = threads.into_iter().filter(|&thread| thread != current);
            program.debuggee.resume_halted(others)?;
        }
        Ok(())
    }

    /// Monitors the returns of active calls, all threads being stopped.
    pub(crate) fn await_calls_on_stacks(
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
            let mut found = Vec::new();
            // Outermost first, so that inner calls return first.
            for (function, call) in active_calls(program, thread).into_iter().rev() {
                // The call that is being entered is awaited already.
                if call.at_entry && thread == current && Some(function) == entered {
                    continue;
                }
                let is_its = |number: &u32| {
                    let probe = self.probes.get(*number);
                    probe.is_some_and(|probe| probe.address == function)
                };
                let its = numbers.iter().copied().filter(is_its);
                found.extend(its.map(|number| (number, call)));
            }
            self.probes.await_active(program, thread, &found)?;
        }
        Ok(())
    }
}

/// Returns the calls on a stopped thread's stack, innermost first, each with the first instruction
/// of its function.
fn active_calls(program: &Program, thread: ThreadId) -> Vec<(u64, ActiveCall)> {
    let mut calls = Vec::new();
    let mut is_innermost = true;
    program.walk_functions(thread, |frame| {
        // Calls that juror made are not the program's.
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

/// Counts a stop of the debuggee for a probe.
fn count(monitored: &mut [MonitoredProperty], probe: &Probe) {
    let monitor = monitored.get_mut(usize::from(probe.monitor));
    let stops = monitor.and_then(|monitored| monitored.stops.get_mut(usize::from(probe.event.0)));
    if let Some(stops) = stops {
        *stops += 1;
    }
}
