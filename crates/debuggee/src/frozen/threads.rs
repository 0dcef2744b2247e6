//! The state of a thread, and the same thread again in another process.
//!
//! The kernel's state of a thread is read by requests, if there are any, and
//! otherwise by system calls of the thread itself. Invariant: a thread whose
//! state has been kept is unchanged; one that has been made again continues as
//! the kept one would have: the system call in which it was interrupted is
//! restarted.

use std::io;

use juror_arch::Registers;
use juror_stepping::Input;
use libc::siginfo_t;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use super::bare;
use super::batch::{Answers, Batch, Data};
use super::kernel::{self as tasks, RestartableSequences};
use super::scheduling::Scheduling;
use crate::kernel::process_status;
use crate::kernel::{self, ExtendedState, Outcome};
use crate::memory::Memory;
use crate::state::thread::{DeferredSignal, PendingSignal, StopRegisters, Thread};

/// `struct clone_args` of the kernel, as far as it is used here.
const CLONE_ARGUMENTS: usize = 10;
/// Length of the kernel's `stack_t`.
const STACK_LENGTH: usize = 24;
/// The offset of the flags in it; the flag that the thread is on that stack
/// cannot be read.
const STACK_FLAGS: usize = 8;
const ON_STACK: u32 = 1;
/// Length of the head of the list of robust mutexes.
const ROBUST_LENGTH: u64 = 24;
/// Length of the kernel's names of threads, with the zero.
const NAME_LENGTH: usize = 16;

/// Where a task makes calls, and where their arguments are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) gadget: u64,
    pub(super) data: u64,
}

/// The kept state of a thread.
#[derive(Debug, Clone)]
pub(super) struct FrozenThread {
    /// Its number for juror.
    pub(super) id: u32,
    /// Its number in its own namespace.
    pub(super) own_id: u32,
    pub(super) registers: Registers,
    state: ExtendedState,
    mask: u64,
    sequences: Option<RestartableSequences>,
    robust_list: u64,
    /// The word that is cleared at its end.
    end_word: u64,
    signal_stack: [u8; STACK_LENGTH],
    name: Vec<u8>,
    processors: Option<CpuSet>,
    scheduling: Scheduling,
    /// Signals that the kernel holds for it.
    waiting: Vec<siginfo_t>,
    /// Signals that juror holds for it.
    pending: Option<PendingSignal>,
    deferred_signals: Vec<DeferredSignal>,
    reenters_call: bool,
    is_stepped: bool,
    /// Whether it has been reported at the site where it stands.
    pub(super) is_reported: bool,
    /// The arrivals to which its handlers return ([`Input::Inherited`]).
    pub(super) arrivals: Vec<Input>,
}

/// The state that a thread reads by system calls of its own.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) batch: Batch,
    end_word: Data,
    signal_stack: Data,
}

impl Question {
    pub(super) fn new() -> Question {
        let mut batch = Batch::default();
        let end_word = batch.data(&[0; 8]);
        let signal_stack = batch.data(&[0; STACK_LENGTH]);
        let asked = (libc::PR_GET_TID_ADDRESS as u64).into();
        batch.call(libc::SYS_prctl, [asked, end_word.into()]);
        batch.call(libc::SYS_sigaltstack, [0.into(), signal_stack.into()]);
        Question {
            batch,
            end_word,
            signal_stack,
        }
    }
}

impl FrozenThread {
    /// Returns the state of a thread that is outside of the kernel, and has
    /// answered a question. `known` is juror's record of it, `stop` its
    /// registers.
    pub(super) fn of(
        process: u32,
        known: &Thread,
        stop: &StopRegisters,
        (question, answers): (&Question, &Answers),
    ) -> Outcome<FrozenThread> {
        answers.all()?;
        let id = known.id.0;
        let mut registers = kernel::registers(id)?;
        // A thread that has executed a trap stands before the instruction, also
        // if the trap has been removed since.
        if registers.instruction_pointer() == stop.shown.instruction_pointer().wrapping_add(1) {
            registers.set_instruction_pointer(stop.shown.instruction_pointer());
        }
        let name = process_status::read(&process_status::file_of(process, id, "comm"));
        Ok(FrozenThread {
            id,
            own_id: process_status::own_pid(process, id).unwrap_or(id),
            registers,
            state: kernel::extended_state(id)?,
            mask: kernel::signal_mask(id)?,
            sequences: tasks::restartable_sequences(id),
            robust_list: tasks::robust_list(id),
            end_word: u64::from_le_bytes(answers.bytes(question.end_word)?),
            signal_stack: answers.bytes(question.signal_stack)?,
            name: name.unwrap_or_default(),
            processors: sched_getaffinity(Pid::from_raw(id as i32)).ok(),
            scheduling: Scheduling::of(id),
            waiting: waiting_signals(id, false),
            pending: known.pending.clone(),
            deferred_signals: known.deferred_signals.clone(),
            reenters_call: known.call.reenters,
            is_stepped: known.is_stepped,
            is_reported: false,
            arrivals: Vec::new(),
        })
    }

    /// Returns the arguments that make this thread in its process.
    pub(super) fn clone_arguments(&self, keeps_pid: bool) -> CloneArguments {
        let flags = libc::CLONE_VM
            | libc::CLONE_FS
            | libc::CLONE_FILES
            | libc::CLONE_SIGHAND
            | libc::CLONE_THREAD
            | libc::CLONE_SYSVSEM
            | libc::CLONE_SETTLS
            | libc::CLONE_CHILD_CLEARTID;
        CloneArguments {
            flags: flags as u64,
            end_word: self.end_word,
            thread_storage: self.registers.thread_base(),
            number: keeps_pid.then_some(self.own_id),
        }
    }

    /// Returns the calls by which a new task takes over this thread's kernel
    /// state. `is_leader`: it was made by a copy of the process, and has some
    /// of that state.
    pub(super) fn calls_to_install(&self, is_leader: bool) -> Batch {
        let mut batch = Batch::default();
        if self.robust_list != 0 {
            let list = [self.robust_list.into(), ROBUST_LENGTH.into()];
            batch.call(libc::SYS_set_robust_list, list);
        }
        if is_leader {
            batch.call(libc::SYS_set_tid_address, [self.end_word.into()]);
            return batch;
        }
        if let Some(sequences) = self.sequences {
            let length = u64::from(sequences.length).into();
            let signature = u64::from(sequences.signature).into();
            let arguments = [sequences.area.into(), length, 0.into(), signature];
            batch.call(libc::SYS_rseq, arguments);
        }
        let mut stack = self.signal_stack;
        if let Some(flags) = stack.get_mut(STACK_FLAGS) {
            *flags &= !(ON_STACK as u8);
        }
        let stack = batch.data(&stack);
        batch.call(libc::SYS_sigaltstack, [stack.into(), 0.into()]);
        let mut name = [0; NAME_LENGTH];
        let text = self.name.strip_suffix(b"\n").unwrap_or(&self.name);
        for (to, from) in name.iter_mut().take(NAME_LENGTH - 1).zip(text) {
            *to = *from;
        }
        let name = batch.data(&name);
        let set_name = (libc::PR_SET_NAME as u64).into();
        batch.call(libc::SYS_prctl, [set_name, name.into()]);
        batch
    }

    /// Gives a new task, which has made its calls, the state that is set by
    /// requests. Returns what was refused, with the reason.
    pub(super) fn install(
        &self,
        task: u32,
        memory: &Memory,
        place: Place,
    ) -> Outcome<Vec<(&'static str, io::Error)>> {
        send_again(&self.waiting, task, false, memory, place)?;
        if let Some(processors) = &self.processors {
            let id = Pid::from_raw(task as i32);
            if sched_getaffinity(id).is_ok_and(|present| present != *processors) {
                let _ = sched_setaffinity(id, processors);
            }
        }
        kernel::set_extended_state(task, &self.state)?;
        kernel::set_registers(task, &self.registers_to_go_on())?;
        kernel::set_signal_mask(task, self.mask)?;
        Ok(self.scheduling.install(task))
    }

    /// Returns the registers with which a new task continues as the old one
    /// would have.
    fn registers_to_go_on(&self) -> Registers {
        let mut registers = self.registers;
        let stop = StopRegisters {
            kernel_counter: registers.instruction_pointer(),
            shown: registers,
        };
        if !stop.restarts_system_call() || stop.restarted_call() == registers.system_call() {
            return registers;
        }
        // The kernel keeps the progress in the task that is gone: the call is
        // made again.
        registers.repeat_system_call();
        registers
    }

    /// Returns juror's record of the thread that has been made again.
    pub(super) fn known(&self, id: u32) -> Thread {
        let id = juror_stepping::ThreadId(id);
        let mut thread = Thread::new(id, crate::state::thread::State::Stopped);
        thread.awaits_resume = true;
        thread.at_signal = true;
        thread.pending.clone_from(&self.pending);
        if let Some(pending) = &mut thread.pending {
            pending.fresh = false;
        }
        thread.deferred_signals.clone_from(&self.deferred_signals);
        thread.call.reenters = self.reenters_call;
        thread.is_stepped = self.is_stepped;
        thread
    }
}

/// The arguments of `clone3`.
pub(super) struct CloneArguments {
    pub(super) flags: u64,
    pub(super) end_word: u64,
    pub(super) thread_storage: u64,
    /// The number of the new task.
    pub(super) number: Option<u32>,
}

impl CloneArguments {
    /// The maximum number of bytes of a batch that this takes.
    pub(super) const LENGTH_MAX: usize = 256;

    /// Appends a call to a batch.
    pub(super) fn add_to(&self, batch: &mut Batch) {
        /// The index of the word that is the address of the numbers.
        const SET: usize = 8;
        let storage = self.thread_storage;
        let count = u64::from(self.number.is_some());
        let words: [u64; CLONE_ARGUMENTS] =
            [self.flags, 0, self.end_word, 0, 0, 0, 0, storage, 0, count];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let length = bytes.len() as u64;
        let arguments = batch.data(&bytes);
        if let Some(number) = self.number {
            let numbers = batch.data(&number.to_le_bytes());
            batch.point(arguments, SET, numbers);
        }
        batch.call(libc::SYS_clone3, [arguments.into(), length.into()]);
    }

    /// Makes a task make another; returns its number for juror.
    pub(super) fn make(&self, task: u32, memory: &Memory, place: Place) -> Outcome<u32> {
        let mut batch = Batch::default();
        self.add_to(&mut batch);
        let answers = batch.run(task, memory, place)?;
        answers.all()?;
        answers
            .made
            .first()
            .copied()
            .ok_or(nix::errno::Errno::ESRCH)
    }
}

/// Returns the pending signals of a stopped thread, or of its process, as far
/// as they are the program's.
pub(super) fn waiting_signals(thread: u32, of_process: bool) -> Vec<siginfo_t> {
    let is_programs = |information: &siginfo_t| {
        let number = information.si_signo;
        // A stop of job control holds the whole group, which is another then.
        number != libc::SIGSTOP && !(number == libc::SIGTRAP && information.si_code > 0)
    };
    let mut found = tasks::waiting_signals(thread, of_process);
    found.retain(is_programs);
    found
}

/// Makes a task, whose signals are blocked, send signals to itself, or to its
/// process.
pub(super) fn send_again(
    signals: &[siginfo_t],
    task: u32,
    to_process: bool,
    memory: &Memory,
    place: Place,
) -> Outcome<()> {
    if signals.is_empty() {
        return Ok(());
    }
    let ask = |number| bare::demand(task, place.gadget, number, [0; 6]);
    let process = ask(libc::SYS_getpid)?.result as u64;
    let own = ask(libc::SYS_gettid)?.result as u64;
    for information in signals {
        write(memory, place.data, &tasks::bytes_of(information))?;
        let signal = information.si_signo as u64;
        let (number, arguments) = if to_process {
            (
                libc::SYS_rt_sigqueueinfo,
                [process, signal, place.data, 0, 0, 0],
            )
        } else {
            (
                libc::SYS_rt_tgsigqueueinfo,
                [process, own, signal, place.data, 0, 0],
            )
        };
        bare::demand(task, place.gadget, number, arguments)?;
    }
    Ok(())
}

pub(super) fn read(memory: &Memory, address: u64, bytes: &mut [u8]) -> Outcome<()> {
    let read = memory.read_raw(address, bytes);
    read.map_err(|_| nix::errno::Errno::EFAULT)
}

pub(super) fn write(memory: &Memory, address: u64, bytes: &[u8]) -> Outcome<()> {
    let written = memory.write_raw(address, bytes);
    written.map_err(|_| nix::errno::Errno::EFAULT)
}
