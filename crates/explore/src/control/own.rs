//! Calls that the program makes and notes itself, in a run that is recorded.

use super::Control;
use crate::error::ExploreError;
use crate::input::{Call, Inputs, Recorder, Way, classes};
use crate::own_calls::{self, OwnCalls};
use juror_debuggee::{Debuggee, StopEvent, ThreadId};

/// `CLONE_VM`, `CLONE_FILES`, `CLONE_VFORK`.
const SHARES_MEMORY: u64 = 0x100;
const SHARES_FILES: u64 = 0x400;
const STANDS_MEANWHILE: u64 = 0x4000;

impl Control {
    /// Returns the control of a program that notes some of its calls itself.
    pub(crate) fn with_own_calls(self, own_calls: Option<OwnCalls>) -> Control {
        Control { own_calls, ..self }
    }

    /// Records the calls that the thread which has the baton has noted up to an event.
    pub(super) fn take_own_calls(
        &mut self,
        debuggee: &Debuggee,
        event: &StopEvent,
    ) -> Result<(), ExploreError> {
        let Some(mut own) = self.own_calls.take() else {
            return Ok(());
        };
        let taken = own.take();
        let bearer = self.bearer();
        let is_any = taken.as_ref().is_none_or(|calls| !calls.is_empty());
        if let (Some(calls), Some(thread)) = (taken, bearer.filter(|_| is_any)) {
            self.signals.forget_exit(thread);
            let number = self.number_of(thread);
            let Inputs::Recorded(recorder) = &mut self.inputs else {
                return Ok(());
            };
            for call in calls {
                let closed =
                    (u64::from(call.number) == classes::CLOSE).then_some(call.arguments[0]);
                record(recorder, number, &own, call);
                if let Some(descriptor) = closed {
                    own.note_closed(descriptor..descriptor.saturating_add(1));
                }
            }
        } else if is_any {
            self.note_spoiled();
        }
        if matches!(event, StopEvent::Executed { .. }) {
            return Ok(());
        }
        if let Some(thread) = bearer.filter(|_| event.waiting_thread() == bearer) {
            let address = debuggee.registers(thread)?.instruction_pointer();
            if !own_calls::is_within(address) {
                own.empty();
            }
            if self.signals.are_held(thread) {
                own.stop_next();
            }
        }
        self.own_calls = Some(own);
        Ok(())
    }

    fn note_spoiled(&mut self) {
        if let Inputs::Recorded(recorder) = &mut self.inputs {
            recorder.stop("the program has overwritten the memory in which it notes its calls");
        }
    }

    /// Lets the program note its calls as far as nobody wants to see them stop.
    pub(super) fn adjust_own_calls(&mut self, debuggee: &mut Debuggee) -> Result<(), ExploreError> {
        match &mut self.own_calls {
            Some(own) => own.adjust(debuggee),
            None => Ok(()),
        }
    }

    /// A thread is about to make a process, with flags as those of clone(2).
    pub(super) fn pause_own_calls(
        &mut self,
        debuggee: &mut Debuggee,
        flags: u64,
    ) -> Result<(), ExploreError> {
        let Some(own) = &mut self.own_calls else {
            return Ok(());
        };
        own.pause(true);
        own.adjust(debuggee)?;
        let shares_memory = flags & SHARES_MEMORY != 0 && flags & STANDS_MEANWHILE == 0;
        if shares_memory || flags & SHARES_FILES != 0 {
            // It would change what is known of them, or write to the ring.
            self.own_calls = None;
        }
        Ok(())
    }

    /// A thread has made a process, or failed to.
    pub(super) fn continue_own_calls(&mut self) {
        if let Some(own) = &mut self.own_calls {
            own.pause(false);
        }
    }

    /// Lets the next call stop: a signal waits for it.
    pub(super) fn stop_next_call(&self) {
        if let Some(own) = &self.own_calls {
            own.stop_next();
        }
    }

    /// Returns whether a thread stands in its call in the code that notes it.
    pub(super) fn is_own_call(
        &self,
        debuggee: &Debuggee,
        thread: ThreadId,
    ) -> Result<bool, ExploreError> {
        let behind = debuggee.registers(thread)?.instruction_pointer();
        Ok(self.own_calls.is_some() && behind == own_calls::passing())
    }

    /// Notes what a call has done to the descriptors.
    pub(super) fn note_descriptors(
        &mut self,
        debuggee: &Debuggee,
        (number, result): (u64, i64),
        [first, second, _]: [u64; 3],
    ) {
        let (Some(own), Inputs::Recorded(recorder)) = (&mut self.own_calls, &self.inputs) else {
            return;
        };
        match classes::effect_on_descriptors(number) {
            Some(classes::Effect::Closes) => own.note_closed(first..first.saturating_add(1)),
            Some(classes::Effect::ClosesRange) => {
                own.note_closed(first..second.saturating_add(1));
            }
            Some(classes::Effect::Makes) => {
                if let Ok(descriptor) = u64::try_from(result) {
                    note_descriptor(own, recorder, debuggee, descriptor);
                }
            }
            None => {}
        }
    }

    /// Notes the descriptors with which the program begins.
    pub(super) fn note_first_descriptors(&mut self, debuggee: &Debuggee) {
        let (Some(own), Inputs::Recorded(recorder)) = (&mut self.own_calls, &self.inputs) else {
            return;
        };
        let open = std::fs::read_dir(format!("/proc/{}/fd", debuggee.pid()));
        let names = open.into_iter().flatten().flatten();
        let numbers = names.filter_map(|name| name.file_name().to_str()?.parse().ok());
        for descriptor in numbers {
            note_descriptor(own, recorder, debuggee, descriptor);
        }
    }
}

fn note_descriptor(own: &mut OwnCalls, recorder: &Recorder, debuggee: &Debuggee, descriptor: u64) {
    let stream = debuggee
        .has_plain_file(descriptor)
        .then(|| recorder.stream(debuggee.pid(), descriptor));
    own.note_descriptor(descriptor, stream);
}

fn record(
    recorder: &mut Recorder,
    thread: u32,
    own: &OwnCalls,
    call: juror_agent::recording::OwnCall,
) {
    let writes = classes::writes(call.number.into()) && call.result > 0;
    let stream = if writes {
        own.stream(call.arguments[0])
    } else {
        0
    };
    let written = |(address, bytes)| crate::input::Written { address, bytes };
    recorder.call(Call {
        thread,
        number: call.number,
        site: call.behind.wrapping_sub(2),
        arguments: call.arguments,
        result: call.result,
        way: Way::Own,
        stream,
        writes: call.writes.into_iter().map(written).collect(),
        is_unknown: false,
        file: None,
        signals: Vec::new(),
    });
}
