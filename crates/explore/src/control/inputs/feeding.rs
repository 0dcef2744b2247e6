//! The answers to the system calls of a run that is made again, from its recording.

use super::super::{Control, Step, scheduled};
use crate::error::ExploreError;
use crate::input::feeder::Substituted;
use crate::input::{Call, Comes, Feeder, Inputs, Way, Written, classes};
use crate::threads::Standing;
use juror_agent::recording::is_recorded;
use juror_debuggee::{Debuggee, StopEvent, SystemCallPhase, ThreadId};
use juror_points::system_call_names::system_call_name;
use juror_schedule::Input;

/// `AT_FDCWD`, `O_CLOEXEC`.
const AT_DIRECTORY: u64 = -100_i64 as u64;
const CLOSES_AT_EXEC: u64 = 0o200_0000;

/// The bytes below the stack pointer that a function may use.
const RED_ZONE_BYTES: u64 = 128;

impl Control {
    /// Tells the scheduler what came at this moment of the recorded run. Returns whether there was
    /// something.
    pub(in crate::control) fn feed_due(&mut self) -> Result<bool, ExploreError> {
        let mut is_any = false;
        loop {
            let inputs = self.inputs_made;
            let Inputs::Fed(feeder) = &mut self.inputs else {
                return Ok(is_any);
            };
            let Some((number, what)) = feeder.take_due(inputs) else {
                return Ok(is_any);
            };
            is_any = true;
            let Some(thread) = self.started.get(number as usize).copied() else {
                return Err(self.lost("a thread of the recording has not started"));
            };
            let returned = match (what, &mut self.inputs) {
                (Comes::Returned, Inputs::Fed(feeder)) => feeder.take_call(number),
                _ => None,
            };
            match (what, returned) {
                (Comes::Expired, _) => self.tell(Input::Expired {
                    thread: scheduled(thread),
                })?,
                (Comes::Returned, Some(call)) => {
                    if let Inputs::Fed(feeder) = &mut self.inputs {
                        feeder.returned.insert(thread, call);
                    }
                    self.threads.stands(thread, Standing::Fed);
                    self.tell(Input::Returned {
                        thread: scheduled(thread),
                    })?;
                }
                (Comes::Returned, None) => return Err(self.ended_early()),
            }
        }
    }

    /// Returns whether the call at whose entry a thread stands was one of the program's own when it was
    /// recorded: no point of the scheduler is there.
    pub(in crate::control) fn is_fed_own_call(&self, thread: ThreadId, number: u64) -> bool {
        match &self.inputs {
            // Calls that are answered are in no recording.
            Inputs::Fed(feeder) if is_recorded(number) => {
                feeder.is_next_own(self.number_of(thread))
            }
            _ => false,
        }
    }

    /// Feeds the call at whose entry a thread stands, or makes it if it is one on the program's own
    /// memory.
    pub(in crate::control) fn feed_call(
        &mut self,
        debuggee: &mut Debuggee,
        thread: ThreadId,
        number: u64,
    ) -> Result<Option<Step>, ExploreError> {
        let registers = *debuggee.registers(thread)?;
        let arguments = registers.system_call_arguments();
        let thread_number = self.number_of(thread);
        let Inputs::Fed(feeder) = &mut self.inputs else {
            return Ok(None);
        };
        let Some(call) = feeder.next_call(thread_number) else {
            return Err(self.ended_early());
        };
        let is_same = u64::from(call.number) == number
            && call.site == registers.call_instruction()
            && call.arguments[..] == arguments[..3];
        if !is_same {
            let (there, here) = (u64::from(call.number), number);
            let is_other = there != here;
            let (there, here) = (system_call_name(there), system_call_name(here));
            let thread = thread_number + 1;
            let words = if is_other {
                format!("thread {thread} calls {here}, where the recorded run has {there}")
            } else {
                // The dynamic linker maps its cache before anything is fed, and unmaps it later.
                format!(
                    "thread {thread} calls {here} with other arguments, or from another place, than \
                     in the recorded run: a file that it maps may have changed (/etc/ld.so.cache)"
                )
            };
            return Err(self.lost(&words));
        }
        if call.is_unknown {
            let words = format!(
                "it is not known what {} has written",
                system_call_name(number)
            );
            return Err(self.lost(&words));
        }
        if call.way == Way::Waited {
            self.input(Input::Call {
                thread: scheduled(thread),
            })?;
            return Ok(None);
        }
        let Some(call) = feeder.take_call(thread_number) else {
            return Ok(None);
        };
        self.give(debuggee, thread, &call)
    }

    /// Gives a thread what its call has returned in the recorded run; it goes on.
    pub(in crate::control) fn give(
        &mut self,
        debuggee: &mut Debuggee,
        thread: ThreadId,
        call: &Call,
    ) -> Result<Option<Step>, ExploreError> {
        let number = u64::from(call.number);
        let arguments = debuggee.registers(thread)?.system_call_arguments();
        let phase = SystemCallPhase::Exit {
            result: call.result,
        };
        let is_silent = self.silence.is_some() && call.stream != 0;
        let substitute = match &mut self.inputs {
            Inputs::Fed(feeder) if !is_silent => feeder.substitute(call, arguments),
            _ => Ok(None),
        };
        let substitute = substitute.map_err(|words| self.lost(&words))?;
        let mut substituted = Substituted {
            arguments,
            result: call.result,
            is_checked: false,
            opens: false,
            scratch: None,
            signals: call.signals.clone(),
        };
        if let Some((made, is_checked)) = substitute {
            substituted.is_checked = is_checked;
            return self.make_instead(debuggee, thread, (number, made), substituted);
        }
        if let Some(path) = Feeder::opened_path(call)
            && let Some(scratch) = fill_scratch(debuggee, thread, path)?
        {
            let address = scratch.0;
            let made = match number {
                classes::OPEN => [address, CLOSES_AT_EXEC, 0, 0, 0, 0],
                _ => [AT_DIRECTORY, address, CLOSES_AT_EXEC, 0, 0, 0],
            };
            substituted.opens = true;
            substituted.scratch = Some(scratch);
            return self.make_instead(debuggee, thread, (number, made), substituted);
        }
        for written in &call.writes {
            debuggee.write(written.address, &written.bytes)?;
        }
        self.finish_with_signals(debuggee, thread, call)?;
        if debuggee.is_call_wanted(number) {
            let entry = SystemCallPhase::Entry { arguments };
            for phase in [entry, phase] {
                self.told.push_back(Step::Event(StopEvent::SystemCall {
                    thread,
                    number,
                    phase,
                }));
            }
            return Ok(self.told.pop_front());
        }
        let range = |it: &Written| it.address..it.address.saturating_add(it.bytes.len() as u64);
        let ranges: Vec<_> = call.writes.iter().map(range).collect();
        if !debuggee.report_written(thread, (number, call.site), &ranges)? {
            // The points that were asked for may have been reached at the call.
            if let Some(event) = self.event_of_others(debuggee, thread)? {
                return Ok(Some(Step::Event(event)));
            }
            self.let_go(debuggee, thread)?;
        }
        Ok(None)
    }

    /// Makes the call at whose entry a thread stands with other arguments.
    fn make_instead(
        &mut self,
        debuggee: &mut Debuggee,
        thread: ThreadId,
        (number, made): (u64, [u64; 6]),
        substituted: Substituted,
    ) -> Result<Option<Step>, ExploreError> {
        let mut registers = *debuggee.registers(thread)?;
        registers.set_system_call_arguments(made);
        debuggee.set_registers(thread, &registers)?;
        if let Inputs::Fed(feeder) = &mut self.inputs {
            feeder.substituted.insert(thread, substituted);
        }
        self.threads.stands(thread, Standing::Kept(number));
        self.let_go(debuggee, thread)?;
        Ok(None)
    }

    /// Takes the exit of a call that was made with other arguments. Returns whether it is one.
    pub(in crate::control) fn take_substituted(
        &mut self,
        debuggee: &mut Debuggee,
        thread: ThreadId,
        result: i64,
    ) -> Result<bool, ExploreError> {
        let Inputs::Fed(feeder) = &mut self.inputs else {
            return Ok(false);
        };
        let Some(substituted) = feeder.substituted.remove(&thread) else {
            return Ok(false);
        };
        if substituted.is_checked && result != substituted.result {
            return Err(self.lost("the memory is laid out in another way"));
        }
        if substituted.opens
            && let (Ok(known), Ok(real)) = (substituted.result.try_into(), result.try_into())
        {
            feeder.open.insert(known, real);
        }
        if let Some((address, bytes)) = &substituted.scratch {
            debuggee.write(*address, bytes)?;
        }
        let mut registers = *debuggee.registers(thread)?;
        registers.set_system_call_arguments(substituted.arguments);
        registers.set_result(substituted.result as u64);
        debuggee.set_registers(thread, &registers)?;
        for information in &substituted.signals {
            debuggee.send_signal(thread, information);
        }
        Ok(true)
    }

    /// A call of a thread returned in the recorded run while others went on; the thread goes on now.
    pub(in crate::control) fn give_returned(
        &mut self,
        debuggee: &mut Debuggee,
        thread: ThreadId,
    ) -> Result<Option<Step>, ExploreError> {
        let Inputs::Fed(feeder) = &mut self.inputs else {
            return Ok(None);
        };
        match feeder.returned.remove(&thread) {
            Some(call) => self.give(debuggee, thread, &call),
            None => Err(self.ended_early()),
        }
    }
}

/// Writes a path below the stack of a thread, where nothing is kept. Returns the address and the bytes
/// before; nothing if there is no memory.
fn fill_scratch(
    debuggee: &mut Debuggee,
    thread: ThreadId,
    path: &str,
) -> Result<Option<(u64, Vec<u8>)>, ExploreError> {
    let mut text = path.as_bytes().to_vec();
    text.push(0);
    let stack = debuggee.registers(thread)?.stack_pointer();
    let address = stack.saturating_sub(RED_ZONE_BYTES + text.len() as u64);
    let mut before = vec![0; text.len()];
    if debuggee.read(address, &mut before).is_err() || debuggee.write(address, &text).is_err() {
        return Ok(None);
    }
    Ok(Some((address, before)))
}
