//! Signals of a run that is recorded or fed. A signal comes behind a system call of its thread, where it
//! comes again when the run is made again; one that finds the thread elsewhere waits for its next call.

use super::copying::Numbers;
use super::{Control, Step, scheduled};
use crate::error::ExploreError;
use crate::input::{Call, Inputs, Recorder, classes};
use crate::threads::Standing;
use juror_debuggee::{Debuggee, StopEvent, ThreadId};
use juror_schedule::Input;
use rustc_hash::FxHashMap;

/// `-EINTR`.
const INTERRUPTED: i64 = -4;
/// `-ERESTARTSYS`: the call is made again if the handler says so. `-ERESTARTNOINTR`: in any case.
const RESTARTED_BY_HANDLER: i64 = -512;
const RESTARTED_ALWAYS: i64 = -513;

/// The signals by which threads of the C library cancel one another and change their user.
const OF_LIBRARY: [u64; 2] = [32, 33];

/// `SA_RESTART`.
const RESTARTS: u64 = 0x1000_0000;

/// The exit of a call at which a thread stood last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LastExit {
    instruction_pointer: u64,
    number: u64,
    result: i64,
    is_recorded: bool,
}

/// The signals, as far as they are recorded or fed.
#[derive(Debug, Clone, Default)]
pub(super) struct KeptSignals {
    exits: FxHashMap<ThreadId, LastExit>,
    /// Signals that wait for the next call of their thread.
    held: FxHashMap<ThreadId, Vec<Vec<u8>>>,
    /// The signals of threads that are recorded, and still to come.
    recorded: FxHashMap<ThreadId, u32>,
    /// The flags of the handlers.
    handlers: FxHashMap<u64, u64>,
}

impl KeptSignals {
    /// The threads have other numbers.
    pub(super) fn renumber(&mut self, numbers: Numbers<'_>) {
        numbers.keys(&mut self.exits);
        numbers.keys(&mut self.held);
        numbers.keys(&mut self.recorded);
    }

    /// Notes that a thread has gone on since the exit of its last call that stopped.
    pub(super) fn forget_exit(&mut self, thread: ThreadId) {
        self.exits.remove(&thread);
    }

    /// Returns whether a signal waits for the next call of a thread.
    pub(super) fn are_held(&self, thread: ThreadId) -> bool {
        self.held.get(&thread).is_some_and(|held| !held.is_empty())
    }
}

impl Control {
    /// Notes that a thread stands at the exit of a call. A call that is made again is not recorded yet.
    pub(super) fn note_exit(
        &mut self,
        debuggee: &Debuggee,
        thread: ThreadId,
        (number, result): (u64, i64),
        is_recorded: bool,
    ) -> Result<(), ExploreError> {
        if !self.inputs.are_kept() {
            return Ok(());
        }
        let registers = debuggee.registers(thread)?;
        let [signal, action, ..] = registers.system_call_arguments();
        if number == classes::ACTION && result == 0 && action != 0 {
            let handler = debuggee.read_u64(action).unwrap_or_default();
            let flags = debuggee
                .read_u64(action.wrapping_add(8))
                .unwrap_or_default();
            self.signals.handlers.remove(&signal);
            // `SIG_DFL` and `SIG_IGN`.
            if handler > 1 {
                self.signals.handlers.insert(signal, flags);
            }
        }
        let exit = LastExit {
            instruction_pointer: registers.instruction_pointer(),
            number,
            result,
            is_recorded,
        };
        self.signals.exits.insert(thread, exit);
        Ok(())
    }

    /// Returns whether a signal may let a thread go on that waits for the scheduler.
    pub(super) fn catches_signals(&self) -> bool {
        let mut signals = self.signals.handlers.keys();
        matches!(self.inputs, Inputs::Recorded(_)) && signals.any(|it| !OF_LIBRARY.contains(it))
    }

    /// Takes a signal of a run that is recorded.
    pub(super) fn take_kept_signal(
        &mut self,
        debuggee: &mut Debuggee,
        event: StopEvent,
        (thread, signal, is_fatal): (ThreadId, i32, bool),
    ) -> Result<Option<Step>, ExploreError> {
        let exit = self.signals.exits.remove(&thread);
        let is_fault = debuggee.has_fault(thread);
        let has_effect = is_fatal || debuggee.catches_signal(signal);
        if self.take_recorded(thread) || is_fault || !has_effect {
            return self.pass_on_signal(debuggee, event, (thread, signal, is_fatal));
        }
        let here = debuggee.registers(thread)?.instruction_pointer();
        match exit.filter(|exit| exit.instruction_pointer == here) {
            Some(exit) => {
                if !exit.is_recorded {
                    self.record_call(debuggee, thread, (exit.number, exit.result))?;
                }
                self.record_signal(debuggee, thread);
                if self.is_away(thread) {
                    *self.signals.recorded.entry(thread).or_default() += 1;
                    self.threads.stands(thread, Standing::Ready);
                    self.threads.returned.insert(thread, event);
                    self.input(Input::Returned {
                        thread: scheduled(thread),
                    })?;
                    return Ok(None);
                }
            }
            None if is_fatal => {
                if let Inputs::Recorded(recorder) = &mut self.inputs {
                    recorder.stop(&format!(
                        "signal {signal} ended the program while it computed"
                    ));
                }
            }
            None => {
                let information = debuggee.take_signal(thread);
                let held = self.signals.held.entry(thread).or_default();
                held.extend(information);
                self.stop_next_call();
                self.let_go(debuggee, thread)?;
                return Ok(None);
            }
        }
        self.threads.stands(thread, Standing::Ready);
        self.pass_on_signal(debuggee, event, (thread, signal, is_fatal))
    }

    /// Returns whether a signal that comes to a thread is recorded, and takes that.
    fn take_recorded(&mut self, thread: ThreadId) -> bool {
        let Some(count) = self.signals.recorded.get_mut(&thread) else {
            return false;
        };
        *count -= 1;
        if *count == 0 {
            self.signals.recorded.remove(&thread);
        }
        true
    }

    /// Sends a thread the signal that comes before the call at whose entry it stands, if the scheduler
    /// answers that. Returns whether there is one: the thread makes the call again afterwards.
    pub(super) fn is_signalled_before(
        &mut self,
        debuggee: &mut Debuggee,
        thread: ThreadId,
        number: u64,
    ) -> Result<bool, ExploreError> {
        if !classes::is_answered(number) {
            return Ok(false);
        }
        let place = self.number_of(thread);
        let inputs = self.inputs_made;
        let information = match &mut self.inputs {
            Inputs::Own => return Ok(false),
            Inputs::Fed(feeder) => feeder.take_signal_before(inputs, place),
            Inputs::Recorded(recorder) => {
                let held = self.signals.held.get_mut(&thread);
                let information = held.and_then(|held| (!held.is_empty()).then(|| held.remove(0)));
                if let Some(information) = &information {
                    recorder.signal_before(inputs, place, information.clone());
                    *self.signals.recorded.entry(thread).or_default() += 1;
                }
                information
            }
        };
        let Some(information) = information else {
            return Ok(false);
        };
        let mut registers = *debuggee.registers(thread)?;
        registers.repeat_system_call();
        debuggee.set_registers(thread, &registers)?;
        debuggee.send_signal(thread, &information);
        self.let_go(debuggee, thread)?;
        Ok(true)
    }

    fn record_signal(&mut self, debuggee: &Debuggee, thread: ThreadId) {
        let number = self.number_of(thread);
        let information = debuggee.signal_information(thread);
        if let (Inputs::Recorded(recorder), Some(information)) = (&mut self.inputs, information) {
            recorder.signal(number, information);
        }
    }

    /// Lets a thread get its signal, or tells the user of it first.
    fn pass_on_signal(
        &mut self,
        debuggee: &mut Debuggee,
        event: StopEvent,
        (thread, signal, is_fatal): (ThreadId, i32, bool),
    ) -> Result<Option<Step>, ExploreError> {
        if is_fatal || debuggee.is_signal_wanted(signal, is_fatal) {
            self.note_end(&event);
            return Ok(Some(Step::Event(event)));
        }
        self.let_go(debuggee, thread)?;
        Ok(None)
    }

    /// Sends a thread the signals that have waited for its call, at whose entry it stands.
    pub(super) fn send_held_signals(&mut self, debuggee: &mut Debuggee, thread: ThreadId) {
        for information in self.signals.held.remove(&thread).unwrap_or_default() {
            debuggee.send_signal(thread, &information);
        }
    }

    /// Gives the call at whose entry a thread stands its recorded result, and sends the signals that came
    /// behind it.
    pub(super) fn finish_with_signals(
        &mut self,
        debuggee: &mut Debuggee,
        thread: ThreadId,
        call: &Call,
    ) -> Result<(), ExploreError> {
        let Some(first) = call.signals.first() else {
            return self.finish_call(debuggee, thread, call.result);
        };
        // `si_signo` is the first word.
        let signal = first
            .first_chunk()
            .map_or(0, |word| u32::from_le_bytes(*word));
        let flags = self.signals.handlers.get(&signal.into());
        let is_restarted = match call.result {
            RESTARTED_ALWAYS => true,
            RESTARTED_BY_HANDLER => flags.is_some_and(|flags| flags & RESTARTS != 0),
            _ => false,
        };
        if is_restarted {
            let mut registers = *debuggee.registers(thread)?;
            registers.repeat_system_call();
            debuggee.set_registers(thread, &registers)?;
            self.threads.stands(thread, Standing::Ready);
        } else {
            let is_interrupted = (-516..=-512).contains(&call.result);
            let result = if is_interrupted {
                INTERRUPTED
            } else {
                call.result
            };
            self.finish_call(debuggee, thread, result)?;
        }
        for information in &call.signals {
            debuggee.send_signal(thread, information);
        }
        Ok(())
    }

    /// A signal that came to a thread which waits for the scheduler cannot be repeated.
    pub(super) fn give_up_signal(&mut self) {
        if let Inputs::Recorded(recorder) = &mut self.inputs {
            Recorder::stop(
                recorder,
                "a signal came to a thread that waited for another one",
            );
        }
    }
}
