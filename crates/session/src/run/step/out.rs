//! Runs out of a function, and to a location.

use crate::inspect::{expressions, locations};
use crate::run::pause::{Pause, Temporary};
use crate::session::Session;
use crate::state::nodes::Returned;
use juror_debuggee::ThreadId;
use juror_fault::CommandError;
use juror_points::breakpoints::Resolvable;
use juror_program::stack::frames::{Frame, returns_to};
use juror_program::stack::unwinding::JumpTarget;
use juror_symbols::TypeKind;
use juror_values::format::{Radix, format};
use juror_values::typed::Typed;
use juror_view::observer::Observer;
use juror_view::{Outcome, StopReason, VariableView};

impl Session {
    /// `finish`: runs until a frame returns.
    pub(crate) fn finish_frame(
        &mut self,
        level: usize,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let frame = self.frames()?.get(level).cloned();
        if let Some(frame) = frame.filter(Frame::is_inlined) {
            return self.finish_inlined(level, &frame, observer);
        }
        let frame = self.frames()?.get(level).cloned();
        // The frame is gone when it has returned.
        let program = self.processes.program.as_ref();
        let address = frame
            .zip(program)
            .and_then(|(it, of)| of.result_address(&it));
        let (frame, pause) = self.leave_frame(level, observer)?;
        let Pause::Temporary(thread) = pause else {
            return self.settle(pause);
        };
        let function = frame.name.clone().unwrap_or_else(|| "??".to_owned());
        self.stand_before_calls(thread)?;
        let returned = self.returned_value(&frame, thread, address);
        self.stop(StopReason::Finished { returned, function }, thread)
    }

    /// Leaves an inlined call: runs to where its caller continues with a line of its own. Its
    /// result is in no known place.
    fn finish_inlined(
        &mut self,
        level: usize,
        frame: &Frame,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let function = frame.name.clone().unwrap_or_else(|| "??".to_owned());
        let called = self.frames()?.get(..level).unwrap_or(&[]);
        if let Some(called) = called.iter().rposition(|inner| !inner.is_inlined()) {
            let (_, pause) = self.leave_frame(called, observer)?;
            if !matches!(pause, Pause::Temporary(_)) {
                return self.settle(pause);
            }
        }
        match self.step_out_of_inlined(frame, observer)? {
            Pause::Stepped(thread) => {
                let returned = None;
                self.stop(StopReason::Finished { returned, function }, thread)
            }
            pause => self.settle(pause),
        }
    }

    /// Runs until a frame returns: `Temporary` then. If it is left by a jump or an exception, it
    /// has no result, and the pause is that of a step.
    pub(super) fn leave_frame(
        &mut self,
        level: usize,
        observer: &mut dyn Observer,
    ) -> Result<(Frame, Pause), CommandError> {
        let thread = self.thread()?;
        let frames = self.frames()?;
        let frame = frames
            .get(level)
            .cloned()
            .ok_or_else(|| CommandError::new("there is no such frame"))?;
        if frame.called_by_juror.is_some() {
            let pause = self.continue_until_pause(observer)?;
            return Ok((frame, pause));
        }
        let caller = returns_to(frames, level);
        let (Some(back), Some(cfa)) = (caller.map(|caller| caller.pc), frame.cfa) else {
            return Err(nowhere_to_return(&frame));
        };
        let pause = match self.run_over_call(back, thread, cfa, observer)? {
            Pause::Temporary(thread)
                if self.running()?.registers(thread)?.instruction_pointer() != back =>
            {
                Pause::Stepped(thread)
            }
            pause => pause,
        };
        Ok((frame, pause))
    }

    pub(super) fn returned_value(
        &mut self,
        frame: &Frame,
        thread: ThreadId,
        address: Option<u64>,
    ) -> Option<VariableView> {
        let (module, function) = frame.module.as_ref().zip(frame.function.as_ref())?;
        let value = module.symbols.return_value_plan(function)?;
        if matches!(value.r#type.strip().kind(), TypeKind::Void) {
            return None;
        }
        let program = self.processes.program.as_ref()?;
        let (frames, _) = program.backtrace(thread, 1);
        let now = frames.first()?;
        let typed = match address {
            Some(address) => Typed::in_memory(value.r#type.clone(), address),
            None => program.at_entry(now, value.r#type.clone(), &value.location, None),
        };
        let text = format(&typed, program, program, Radix::Natural);
        let number = expressions::keep(self, typed);
        self.processes.nodes.returned = Some(Returned { thread, number });
        Some(VariableView {
            name: format!("${number}"),
            type_name: value.r#type.name(),
            value: text,
        })
    }

    /// `advance PLACE`, `until PLACE`: runs to a location, or to the return of the current
    /// function.
    pub(crate) fn advance_to(
        &mut self,
        text: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        if text.is_empty() {
            return Err(CommandError::with_help(
                "this command needs a location",
                "for example: advance queue.c:30",
            ));
        }
        let thread = self.thread()?;
        let placed = locations::parsed_alone(text)?;
        let place = locations::resolvable(self, &placed.place)?;
        let resolved = place.resolve(&self.running()?.modules);
        if resolved.addresses.is_empty() {
            return Err(CommandError::new(format!("there is no code at `{text}`")));
        }
        // The outlined part of the call that begins here is not another call.
        let here = self.running()?.registers(thread)?.instruction_pointer();
        let rest_calls = resolved.rest_calls.into_iter();
        let rest_calls = rest_calls.filter(|(_, entry)| *entry != here);
        let addresses = resolved.addresses.into_iter();
        let mut points: Vec<Temporary> = addresses
            .chain(rest_calls.map(|(call, _)| call))
            .map(|address| Temporary::anywhere(address, thread))
            .collect();
        let frames = self.frames()?;
        let pause = match (frames.first(), returns_to(frames, 0)) {
            (Some(Frame { cfa: Some(cfa), .. }), Some(caller)) => {
                let (pc, stack) = (caller.pc, *cfa);
                points.push(Temporary::back(pc, thread, stack));
                self.run_inside_call(&points, thread, JumpTarget { pc, stack }, observer)?
            }
            _ => self.run_to_any(&points, observer)?,
        };
        if let Pause::Temporary(thread) = pause {
            self.stand_at_place(thread, &place, resolved.moved_to_line)?;
        }
        self.settle(pause)
    }

    /// Shows a thread that was to reach a location in it, or before the inlined calls that begin at
    /// its address.
    pub(crate) fn stand_at_place(
        &mut self,
        thread: ThreadId,
        place: &Resolvable,
        line: Option<u32>,
    ) -> Result<(), CommandError> {
        let chain = self.running()?.inlined_chain(thread);
        match place.level_in(&chain, line) {
            Some(level) => self.stand_at_level(thread, Some(level), &chain),
            None => self.stand_before_calls(thread)?,
        }
        Ok(())
    }
}

/// Returns why a frame cannot be left by a return.
pub(crate) fn nowhere_to_return(frame: &Frame) -> CommandError {
    CommandError::new(if frame.is_cut {
        "the backtrace ends here: the caller of this frame cannot be found"
    } else {
        "the outermost frame has no caller"
    })
}
