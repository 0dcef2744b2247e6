//! A thread as it was, and the same thread again in another process.
//!
//! What the kernel keeps for a thread is read by requests, where there are
//! some, and otherwise asked for by system calls of the thread itself.
//! Invariant: a thread that has been kept stands as it stood; one that has
//! been made again will go on as the kept one would have: the system call in
//! which it was interrupted is started again.

use libc::{siginfo_t, user_regs_struct};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use super::bare;
use super::kernel::{self as tasks, RestartableSequences};
use crate::kernel::{self, ExtendedState, Outcome};
use crate::memory::Memory;
use crate::process_status;
use crate::registers::Registers;
use crate::thread::{PendingSignal, PutOff, StopRegisters, Thread};

/// `struct clone_args` of the kernel, as far as it is used here.
const CLONE_ARGUMENTS: usize = 10;
/// Where in the data page the numbers of a new task are.
const NUMBERS: u64 = 512;
/// Length of the kernel's `stack_t`.
const STACK_LENGTH: usize = 24;
/// Where in that the flags are, and the one that says that the thread is on
/// that stack, which cannot be asked for.
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

/// A thread as it was.
#[derive(Debug, Clone)]
pub(super) struct FrozenThread {
    /// Its number for juror.
    pub(super) id: u32,
    /// Its number for itself.
    pub(super) own_id: u32,
    pub(super) registers: user_regs_struct,
    state: ExtendedState,
    mask: u64,
    sequences: Option<RestartableSequences>,
    robust_list: u64,
    /// The word that is cleared at its end.
    end_word: u64,
    signal_stack: [u8; STACK_LENGTH],
    name: Vec<u8>,
    processors: Option<CpuSet>,
    /// Signals that the kernel holds for it.
    waiting: Vec<siginfo_t>,
    /// Signals that juror holds for it.
    pending: Option<PendingSignal>,
    put_off: Vec<PutOff>,
    enters_again: bool,
    is_stepped: bool,
    /// It has been reported at the site where it stands.
    pub(super) is_reported: bool,
}

impl FrozenThread {
    /// Keeps a thread that stands outside of the kernel. `known` is what juror
    /// knows of it, `stop` its registers.
    pub(super) fn of(
        process: u32,
        known: &Thread,
        stop: &StopRegisters,
        memory: &Memory,
        place: Place,
    ) -> Outcome<FrozenThread> {
        let id = known.id.0;
        let mut registers = kernel::registers(id)?;
        // One that has executed a trap stands before the instruction.
        if registers.rip == stop.shown.rip.wrapping_add(1) && memory.is_planted(stop.shown.rip) {
            registers.rip = stop.shown.rip;
        }
        let mut end_word = [0; 8];
        let word = [libc::PR_GET_TID_ADDRESS as u64, place.data, 0, 0, 0, 0];
        bare::demand(id, place.gadget, libc::SYS_prctl, word)?;
        read(memory, place.data, &mut end_word)?;
        let mut signal_stack = [0; STACK_LENGTH];
        let stack = [0, place.data, 0, 0, 0, 0];
        bare::demand(id, place.gadget, libc::SYS_sigaltstack, stack)?;
        read(memory, place.data, &mut signal_stack)?;
        let name = std::fs::read(process_status::file_of(process, id, "comm"));
        Ok(FrozenThread {
            id,
            own_id: process_status::own_number(process, id).unwrap_or(id),
            registers,
            state: kernel::extended_state(id)?,
            mask: kernel::signal_mask(id)?,
            sequences: tasks::restartable_sequences(id),
            robust_list: tasks::robust_list(id),
            end_word: u64::from_le_bytes(end_word),
            signal_stack,
            name: name.unwrap_or_default(),
            processors: sched_getaffinity(Pid::from_raw(id as i32)).ok(),
            waiting: waiting_signals(id, false),
            pending: known.pending.clone(),
            put_off: known.put_off.clone(),
            enters_again: known.enters_again,
            is_stepped: known.is_stepped,
            is_reported: false,
        })
    }

    /// Has `leader` make this thread in its process; the new one's number for
    /// juror.
    pub(super) fn make(
        &self,
        leader: u32,
        memory: &Memory,
        place: Place,
        keeps_number: bool,
    ) -> Outcome<u32> {
        let flags = libc::CLONE_VM
            | libc::CLONE_FS
            | libc::CLONE_FILES
            | libc::CLONE_SIGHAND
            | libc::CLONE_THREAD
            | libc::CLONE_SYSVSEM
            | libc::CLONE_SETTLS
            | libc::CLONE_CHILD_CLEARTID;
        let arguments = CloneArguments {
            flags: flags as u64,
            end_word: self.end_word,
            thread_storage: self.registers.fs_base,
            number: keeps_number.then_some(self.own_id),
        };
        arguments.make(leader, memory, place)
    }

    /// Gives a new task of this thread's what the kernel kept for it. `is_leader`:
    /// it was made by a copy of the process, and has kept some of that.
    pub(super) fn install(
        &self,
        task: u32,
        is_leader: bool,
        memory: &Memory,
        place: Place,
    ) -> Outcome<()> {
        let gadget = place.gadget;
        let call = |number, arguments| bare::demand(task, gadget, number, arguments).map(drop);
        if self.robust_list != 0 {
            let list = [self.robust_list, ROBUST_LENGTH, 0, 0, 0, 0];
            call(libc::SYS_set_robust_list, list)?;
        }
        if is_leader {
            call(libc::SYS_set_tid_address, [self.end_word, 0, 0, 0, 0, 0])?;
        } else {
            self.install_in_new(task, memory, place)?;
        }
        send_again(&self.waiting, task, false, memory, place)?;
        if let Some(processors) = &self.processors {
            let id = Pid::from_raw(task as i32);
            if sched_getaffinity(id).is_ok_and(|present| present != *processors) {
                let _ = sched_setaffinity(id, processors);
            }
        }
        kernel::set_extended_state(task, &self.state)?;
        kernel::set_registers(task, &self.registers_to_go_on())?;
        kernel::set_signal_mask(task, self.mask)
    }

    fn install_in_new(&self, task: u32, memory: &Memory, place: Place) -> Outcome<()> {
        let Place { gadget, data } = place;
        let call = |number, arguments| bare::demand(task, gadget, number, arguments).map(drop);
        if let Some(sequences) = self.sequences {
            let length = u64::from(sequences.length);
            let signature = u64::from(sequences.signature);
            let arguments = [sequences.area, length, 0, signature, 0, 0];
            call(libc::SYS_rseq, arguments)?;
        }
        let mut stack = self.signal_stack;
        if let Some(flags) = stack.get_mut(STACK_FLAGS) {
            *flags &= !(ON_STACK as u8);
        }
        write(memory, data, &stack)?;
        call(libc::SYS_sigaltstack, [data, 0, 0, 0, 0, 0])?;
        let mut name = [0; NAME_LENGTH];
        let text = self.name.strip_suffix(b"\n").unwrap_or(&self.name);
        for (to, from) in name.iter_mut().take(NAME_LENGTH - 1).zip(text) {
            *to = *from;
        }
        write(memory, data, &name)?;
        call(
            libc::SYS_prctl,
            [libc::PR_SET_NAME as u64, data, 0, 0, 0, 0],
        )
    }

    /// The registers with which a new task goes on as the old one would have.
    fn registers_to_go_on(&self) -> user_regs_struct {
        /// Length of the `syscall` instruction.
        const LENGTH: u64 = 2;
        let registers = self.registers;
        let stop = StopRegisters {
            kernel_counter: registers.rip,
            shown: Registers::from_kernel(&registers),
        };
        if !stop.restarts_system_call() || stop.restarted_call() == registers.orig_rax {
            return registers;
        }
        // How far it had come the kernel keeps in the task that is gone: the
        // call is made anew.
        user_regs_struct {
            rip: registers.rip.wrapping_sub(LENGTH),
            rax: registers.orig_rax,
            orig_rax: u64::MAX,
            ..registers
        }
    }

    /// What juror knows of the thread that has been made again.
    pub(super) fn known(&self, id: u32) -> Thread {
        let id = juror_stepping::ThreadId(id);
        let mut thread = Thread::new(id, crate::thread::State::Stopped);
        thread.awaiting = true;
        thread.at_signal = true;
        thread.pending.clone_from(&self.pending);
        if let Some(pending) = &mut thread.pending {
            pending.fresh = false;
        }
        thread.put_off.clone_from(&self.put_off);
        thread.enters_again = self.enters_again;
        thread.is_stepped = self.is_stepped;
        thread
    }
}

/// What `clone3` is given.
pub(super) struct CloneArguments {
    pub(super) flags: u64,
    pub(super) end_word: u64,
    pub(super) thread_storage: u64,
    /// The number that the new task is to have.
    pub(super) number: Option<u32>,
}

impl CloneArguments {
    /// Has a task make another; its number for juror.
    pub(super) fn make(&self, task: u32, memory: &Memory, place: Place) -> Outcome<u32> {
        let numbers = place.data + NUMBERS;
        let (set, count) = match self.number {
            Some(number) => {
                write(memory, numbers, &number.to_le_bytes())?;
                (numbers, 1)
            }
            None => (0, 0),
        };
        let storage = self.thread_storage;
        let words: [u64; CLONE_ARGUMENTS] = [
            self.flags,
            0,
            self.end_word,
            0,
            0,
            0,
            0,
            storage,
            set,
            count,
        ];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        write(memory, place.data, &bytes)?;
        let call = [place.data, bytes.len() as u64, 0, 0, 0, 0];
        let answer = bare::demand(task, place.gadget, libc::SYS_clone3, call)?;
        answer.made.ok_or(nix::errno::Errno::ESRCH)
    }
}

/// The signals that the kernel holds for a stopped thread, or for its process,
/// as far as they are the program's.
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

/// Has a task, whose signals are blocked, send itself signals, or its process.
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
        let (number, arguments) = match to_process {
            true => (
                libc::SYS_rt_sigqueueinfo,
                [process, signal, place.data, 0, 0, 0],
            ),
            false => (
                libc::SYS_rt_tgsigqueueinfo,
                [process, own, signal, place.data, 0, 0],
            ),
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
