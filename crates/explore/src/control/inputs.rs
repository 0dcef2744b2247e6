//! Inputs that are recorded, or fed: what the threads' system calls return, and when.

use super::{Control, Step, scheduled, traced};
use crate::error::ExploreError;
use crate::input::feeder::Substituted;
use crate::input::{Call, Comes, Ending, Feeder, FileIdentity, Inputs, Recorder, Written, classes};
use crate::threads::Standing;
use juror_arch::Register;
use juror_debuggee::{Debuggee, StopEvent, SystemCallPhase, ThreadId};
use juror_points::system_call_names::system_call_name;
use juror_schedule::{Input, State, Task};
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

/// `MAP_SHARED` (also of `MAP_SHARED_VALIDATE`), `PROT_WRITE`.
const SHARED: u64 = 1;
const WRITABLE: u64 = 2;

/// `O_ACCMODE` (read-only is 0), `O_CREAT` and `O_TRUNC`.
const CHANGES_FILE: u64 = 3 | 0o100 | 0o1000;

/// `AT_FDCWD`, `O_CLOEXEC`.
const AT_DIRECTORY: u64 = -100_i64 as u64;
const CLOSES_AT_EXEC: u64 = 0o200_0000;

/// The bytes below the stack pointer that a function may use.
const RED_ZONE_BYTES: u64 = 128;

/// The bytes of a thread's block in which its number is looked for.
const BLOCK_BYTES: usize = 4096;

/// The longest sleep of juror before it looks whether a thread has returned.
const NAP: Duration = Duration::from_millis(1);

impl Control {
    /// Returns the number of a thread: how many had started before it.
    pub(super) fn number_of(&self, thread: ThreadId) -> u32 {
        let place = self.started.iter().position(|it| *it == thread);
        u32::try_from(place.unwrap_or(usize::MAX)).unwrap_or(u32::MAX)
    }

    /// Notes in a recording what comes to the scheduler from outside.
    pub(super) fn note_coming(&mut self, input: &Input) {
        let (thread, what) = match input {
            Input::Returned { thread } => (*thread, Comes::Returned),
            Input::Expired { thread } => (*thread, Comes::Expired),
            Input::Signal { .. } => return self.give_up_signal(),
            _ => return,
        };
        let number = self.number_of(traced(thread));
        let inputs = self.inputs_made;
        if let Inputs::Recorded(recorder) = &mut self.inputs {
            recorder.comes(inputs, number, what);
        }
    }

    /// Tells the scheduler what came at this moment of the recorded run. Returns whether there was
    /// something.
    pub(super) fn feed_due(&mut self) -> Result<bool, ExploreError> {
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

    /// No thread runs. Feeds what came next in the recorded run, or waits for the moment that a thread
    /// waits for. Returns whether something came.
    pub(super) fn await_input(&mut self, debuggee: &mut Debuggee) -> Result<bool, ExploreError> {
        match &self.inputs {
            Inputs::Own => Ok(false),
            Inputs::Fed(_) if self.bearer().is_some() => Ok(false),
            Inputs::Fed(_) => {
                if self.feed_due()? {
                    return Ok(true);
                }
                Err(self.ended_early())
            }
            Inputs::Recorded(_) => self.await_moment(debuggee),
        }
    }

    /// While a thread waits for a moment, and none has the baton: waits for the moment, or until a call
    /// of another thread has returned.
    fn await_moment(&mut self, debuggee: &mut Debuggee) -> Result<bool, ExploreError> {
        loop {
            let Inputs::Recorded(recorder) = &self.inputs else {
                return Ok(false);
            };
            let now = recorder.now();
            let deadline = |task: &Task| Some((task.state().deadline()?, task.id()));
            let tasks = self.scheduler.tasks().iter();
            let Some((moment, thread)) = tasks.filter_map(deadline).min() else {
                let mut tasks = self.scheduler.tasks().iter();
                let runs = |task: &Task| matches!(task.state(), State::Running | State::InKernel);
                let is_waiting = self.stands.is_none() && !tasks.any(runs);
                return Ok(is_waiting && self.await_signal(debuggee)?);
            };
            if moment <= now {
                self.input(Input::Expired { thread })?;
                return Ok(true);
            }
            if self.bearer().is_some() {
                return Ok(false);
            }
            if self.is_interrupted(debuggee) {
                return Ok(true);
            }
            if self.has_ended_call(debuggee)? {
                return Ok(false);
            }
            std::thread::sleep(NAP.min(Duration::from_nanos(moment - now)));
        }
    }

    /// Tells the stop that is asked for while all threads stand. Returns whether one is.
    pub(super) fn is_interrupted(&mut self, debuggee: &mut Debuggee) -> bool {
        let Some(thread) = self.started.first() else {
            return false;
        };
        let event = debuggee.take_interruption(*thread);
        let is_asked = event.is_some();
        self.told.extend(event.map(Step::Event));
        is_asked
    }

    /// Takes the entry of a call whose inputs are recorded or fed. Returns nothing if it is not such a
    /// call.
    pub(super) fn take_kept_entry(
        &mut self,
        debuggee: &mut Debuggee,
        thread: ThreadId,
        (number, arguments): (u64, [u64; 6]),
    ) -> Result<Option<Step>, ExploreError> {
        let phase = SystemCallPhase::Entry { arguments };
        if self.inputs.are_fed() {
            return self.feed_call(debuggee, thread, number);
        }
        self.threads.stands(thread, Standing::Kept(number));
        self.send_held_signals(debuggee, thread);
        self.pass_on_call(debuggee, (thread, number), phase)
    }

    /// Records the call at whose exit a thread stands.
    pub(super) fn record_call(
        &mut self,
        debuggee: &Debuggee,
        thread: ThreadId,
        (number, result): (u64, i64),
    ) -> Result<(), ExploreError> {
        let registers = *debuggee.registers(thread)?;
        let [first, second, third, fourth, fifth, _] = registers.system_call_arguments();
        let number = match self.threads.standing(thread) {
            Standing::InCall(call) | Standing::Kept(call) => call,
            _ => number,
        };
        let is_own = classes::is_of_memory(number) || classes::is_answered(number);
        let ranges = if is_own {
            // It writes again, or is no call of the kernel's.
            Some(Vec::new())
        } else {
            debuggee.written_by_call(thread, number)?
        };
        let process = debuggee.pid();
        let thread_number = self.number_of(thread);
        let Inputs::Recorded(recorder) = &mut self.inputs else {
            return Ok(());
        };
        let is_unknown = ranges.is_none() && result >= 0;
        let mut writes = Vec::new();
        for range in ranges.unwrap_or_default() {
            let mut bytes = vec![0; usize::try_from(range.end - range.start).unwrap_or(0)];
            let count = debuggee.read_up_to(range.start, &mut bytes);
            bytes.truncate(count);
            writes.push(Written {
                address: range.start,
                bytes,
            });
        }
        let flags = if number == classes::OPEN {
            second
        } else {
            third
        };
        let is_shared = number == classes::MMAP && result > 0 && fourth & classes::ANONYMOUS == 0;
        let descriptor = match number {
            classes::OPEN | classes::OPENAT if flags & CHANGES_FILE == 0 => {
                u64::try_from(result).ok()
            }
            classes::MMAP if is_shared => Some(fifth),
            _ => None,
        };
        let file = descriptor.and_then(|descriptor| file_of(process, descriptor));
        let shares = is_shared && fourth & SHARED != 0 && third & WRITABLE != 0;
        let is_stream = classes::writes(number) && result > 0;
        let stream = if is_stream {
            recorder.stream(process, first)
        } else {
            0
        };
        let has_waited = recorder.take_waited(thread);
        recorder.call(Call {
            thread: thread_number,
            number: number as u32,
            site: registers.call_instruction(),
            arguments: [first, second, third],
            result,
            has_waited,
            stream,
            writes,
            is_unknown,
            file,
            signals: Vec::new(),
        });
        if shares {
            recorder.stop("the program shares memory that it writes with a file or other programs");
        }
        Ok(())
    }

    /// Feeds the call at whose entry a thread stands, or makes it if it is one on the program's own
    /// memory.
    pub(super) fn feed_call(
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
            let (there, here) = (system_call_name(there), system_call_name(here));
            let words = format!(
                "thread {} calls {here}, where the recorded run has {there}",
                thread_number + 1
            );
            return Err(self.lost(&words));
        }
        if call.is_unknown {
            let words = format!(
                "it is not known what {} has written",
                system_call_name(number)
            );
            return Err(self.lost(&words));
        }
        if call.has_waited {
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
    pub(super) fn give(
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
        let substitute = match &mut self.inputs {
            Inputs::Fed(feeder) => feeder.substitute(call, arguments),
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
        self.let_go(debuggee, thread)?;
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
    pub(super) fn take_substituted(
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

    /// Records or feeds the number by which the program knows a thread that has started. The kernel has
    /// filled words with another one, and returned it, if it is fed.
    pub(super) fn keep_id(
        &mut self,
        debuggee: &mut Debuggee,
        parent: ThreadId,
        child: ThreadId,
    ) -> Result<(), ExploreError> {
        let words = self.threads.id_words.remove(&parent).unwrap_or_default();
        match &mut self.inputs {
            Inputs::Own => {}
            Inputs::Recorded(recorder) => recorder.thread(child.0),
            Inputs::Fed(feeder) => {
                let Some(id) = feeder.take_id() else {
                    return Err(self.ended_early());
                };
                for word in words {
                    debuggee.write(word, &id.to_le_bytes())?;
                }
                let mut registers = *debuggee.registers(parent)?;
                registers.set_result(id.into());
                debuggee.set_registers(parent, &registers)?;
            }
        }
        Ok(())
    }

    /// Begins to record or feed: the first thread has started.
    pub(super) fn begin_inputs(
        &mut self,
        debuggee: &mut Debuggee,
        main: ThreadId,
    ) -> Result<(), ExploreError> {
        self.started.push(main);
        match &mut self.inputs {
            Inputs::Own => {}
            Inputs::Recorded(recorder) => {
                debuggee.keep_signals();
                recorder.streams = [1, 2].map(|stream| place_of_file(main.0, stream));
                recorder.thread(main.0);
            }
            Inputs::Fed(feeder) => {
                let Some(id) = feeder.take_id() else {
                    return Err(self.ended_early());
                };
                // The dynamic linker has asked for it before anything was fed: the C library keeps it in
                // the block of the thread.
                let block = debuggee.registers(main)?.get(Register::FsBase);
                let mut bytes = vec![0; BLOCK_BYTES];
                let count = debuggee.read_up_to(block, &mut bytes);
                let own = main.0.to_le_bytes();
                let mut words = bytes
                    .get(..count)
                    .unwrap_or_default()
                    .chunks_exact(own.len());
                if block != 0
                    && let Some(place) = words.position(|word| word == own)
                {
                    let address = block + (place * own.len()) as u64;
                    debuggee.write(address, &id.to_le_bytes())?;
                }
            }
        }
        Ok(())
    }

    /// Returns the present moment, from which time-outs are counted.
    pub(super) fn now_ns(&self) -> u64 {
        match &self.inputs {
            Inputs::Recorded(recorder) => recorder.now(),
            Inputs::Own | Inputs::Fed(_) => self.scheduler.now(),
        }
    }

    /// Notes that others go on while a thread is in its call.
    pub(super) fn note_given_away(&mut self, thread: ThreadId) {
        if let Inputs::Recorded(recorder) = &mut self.inputs {
            recorder.note_waiting(thread);
        }
    }

    /// Records what a call has returned, or gives the thread what it returned in the recorded run.
    pub(super) fn keep_result(
        &mut self,
        debuggee: &mut Debuggee,
        thread: ThreadId,
        (number, result): (u64, i64),
    ) -> Result<(), ExploreError> {
        let is_substituted = self.take_substituted(debuggee, thread, result)?;
        self.note_exit(debuggee, thread, (number, result), true)?;
        if is_substituted {
            return Ok(());
        }
        let thread_number = self.number_of(thread);
        match &mut self.inputs {
            Inputs::Own => Ok(()),
            Inputs::Recorded(_) => self.record_call(debuggee, thread, (number, result)),
            // One that has made a thread.
            Inputs::Fed(feeder) => match feeder.take_call(thread_number) {
                Some(call) if u64::from(call.number) == number => Ok(()),
                _ => Err(self.lost("a thread is made where the recorded run has none")),
            },
        }
    }

    /// A call of a thread returned in the recorded run while others went on; the thread goes on now.
    pub(super) fn give_returned(
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

    /// Notes the end of the run in its recording.
    pub(super) fn note_end(&mut self, event: &StopEvent) {
        let hash = self.scheduler.hash().value();
        let Inputs::Recorded(recorder) = &mut self.inputs else {
            return;
        };
        match event {
            StopEvent::Exited { status } => recorder.end(Ending::Exited(*status), hash),
            StopEvent::Killed { signal, .. }
            | StopEvent::Signal {
                signal,
                fatal: true,
                ..
            } => recorder.end(Ending::Killed(*signal), hash),
            StopEvent::Executed { .. } => recorder.stop("the program executes another one"),
            _ => {}
        }
    }

    /// The recording has no more, although the program has not ended.
    fn ended_early(&self) -> ExploreError {
        let stops = match &self.inputs {
            Inputs::Fed(feeder) => feeder.stops.clone(),
            _ => None,
        };
        let reason = stops.unwrap_or_else(|| "the recording ends here".to_owned());
        ExploreError::RecordingEnds(reason)
    }

    fn lost(&self, words: &str) -> ExploreError {
        ExploreError::AnotherRun {
            points: self.scheduler.points(),
            words: words.to_owned(),
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

impl Recorder {
    /// Returns the standard stream to which a descriptor of a process leads; 0 for none.
    fn stream(&self, process: u32, descriptor: u64) -> u8 {
        let place = place_of_file(process, descriptor);
        match place {
            None => 0,
            place if place == self.streams[0] => 1,
            place if place == self.streams[1] => 2,
            _ => 0,
        }
    }
}

/// Returns the device and the inode of an open file.
pub(super) fn place_of_file(process: u32, descriptor: u64) -> Option<(u64, u64)> {
    let metadata = std::fs::metadata(format!("/proc/{process}/fd/{descriptor}")).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// Returns the regular file behind a descriptor.
fn file_of(process: u32, descriptor: u64) -> Option<FileIdentity> {
    let path = std::fs::read_link(format!("/proc/{process}/fd/{descriptor}")).ok()?;
    FileIdentity::of(path.to_str()?)
}
