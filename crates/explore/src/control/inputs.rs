//! Inputs that are recorded, or fed: what the threads' system calls return, and when.

mod feeding;

use super::{Control, Step, traced};
use crate::error::ExploreError;
use crate::input::{Call, Comes, Ending, FileIdentity, Inputs, Recorder, Way, Written, classes};
use crate::threads::Standing;
use juror_arch::Register;
use juror_debuggee::{Debuggee, StopEvent, SystemCallPhase, ThreadId};
use juror_schedule::{Input, State, Task};
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

/// `MAP_SHARED` (also of `MAP_SHARED_VALIDATE`), `PROT_WRITE`.
const SHARED: u64 = 1;
const WRITABLE: u64 = 2;

/// `O_ACCMODE` (read-only is 0), `O_CREAT` and `O_TRUNC`.
const CHANGES_FILE: u64 = 3 | 0o100 | 0o1000;

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
        let way = if recorder.take_waited(thread) {
            Way::Waited
        } else {
            Way::AtOnce
        };
        recorder.call(Call {
            thread: thread_number,
            number: number as u32,
            site: registers.call_instruction(),
            arguments: [first, second, third],
            result,
            way,
            stream,
            writes,
            is_unknown,
            file,
            signals: Vec::new(),
        });
        self.note_descriptors(debuggee, (number, result), [first, second, third]);
        if shares && let Inputs::Recorded(recorder) = &mut self.inputs {
            recorder.stop("the program shares memory that it writes with a file or other programs");
        }
        Ok(())
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
    pub(in crate::control) fn ended_early(&self) -> ExploreError {
        let stops = match &self.inputs {
            Inputs::Fed(feeder) => feeder.stops.clone(),
            _ => None,
        };
        let reason = stops.unwrap_or_else(|| "the recording ends here".to_owned());
        ExploreError::RecordingEnds(reason)
    }

    pub(in crate::control) fn lost(&self, words: &str) -> ExploreError {
        ExploreError::AnotherRun {
            points: self.scheduler.points(),
            words: words.to_owned(),
        }
    }
}

impl Recorder {
    /// Returns the standard stream to which a descriptor of a process leads; 0 for none.
    pub(super) fn stream(&self, process: u32, descriptor: u64) -> u8 {
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
