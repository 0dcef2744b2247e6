//! Processes that juror lets go although their calls stop for a tracer.
//!
//! Without a tracer the calls that the filter of a launched program names would fail with
//! `ENOSYS`, in the program and in all its descendants (`kernel::call_filter`). So what juror detaches
//! from gets another tracer: the keeper, a small process that resumes a thread from each of its
//! stops, and does nothing else. It outlives juror, and ends with the last process that it traces.
//!
//! A program whose descendants end with it has a keeper of its own, which ends with the program and
//! with juror: the kernel kills what it traces then.
//!
//! A thread has one tracer at a time, so it runs alone for a moment. Until the keeper has it, it
//! stands in a loop of one instruction, which juror writes to the entry point of its program for
//! that time, with all signals blocked: it makes no call, and needs none.
//!
//! Invariant: a thread goes on under the keeper with the registers and the signal mask of its last
//! stop; of its process, no instruction has been changed, and no call has failed for want of a
//! tracer. One that cannot be handed over is killed.

use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, PoisonError};

use juror_arch::instruction::{SYSTEM_CALL, SYSTEM_CALL_LENGTH};
use juror_arch::{NO_SYSTEM_CALL, Registers};
use libc::{c_int, siginfo_t};
use nix::errno::Errno;

use crate::image::modules::Auxiliary;
use crate::kernel::injected_call::call_registers;
use crate::kernel::process_status::{self, ProcessStatus};
use crate::kernel::{self, Event, Outcome, Status};
use crate::state::descendants::Descendants;

mod tracing;

/// `jmp` to itself.
const LOOP: [u8; 2] = [0xeb, 0xfe];

/// A thread for the keeper.
#[derive(Clone, Copy)]
#[repr(C)]
struct Handed {
    thread: u32,
    /// The signal that is sent to it again, with this information; 0 for none.
    signal: c_int,
    information: siginfo_t,
    registers: Registers,
    mask: u64,
    /// Where its loop is, and what was there.
    place: u64,
    original: u64,
}

/// A keeper.
#[derive(Debug)]
pub(crate) struct Keeper {
    process: u32,
    socket: OwnedFd,
}

/// The keeper of this process. It is started when it is first needed.
static KEEPER: Mutex<Option<Keeper>> = Mutex::new(None);

/// The keeper that gets what a debuggee lets go.
#[derive(Debug, Default)]
pub(crate) enum Keeping {
    /// The keeper of this process.
    #[default]
    Common,
    /// One of its own, once there is one, with which all that it has ends.
    Own(Mutex<Option<Keeper>>),
}

impl Keeping {
    pub(crate) fn new(descendants: Descendants) -> Keeping {
        match descendants {
            Descendants::RunOn => Keeping::Common,
            Descendants::EndWithProgram => Keeping::Own(Mutex::default()),
        }
    }

    /// Kills the processes that a keeper of its own has.
    pub(crate) fn end_descendants(&mut self) {
        let Keeping::Own(keeper) = self else {
            return;
        };
        let keeper = keeper.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(Keeper { process, socket }) = keeper.take() {
            // Processes that another thread is just starting may have it open, too.
            // SAFETY: a system call on an open descriptor.
            unsafe { libc::shutdown(socket.as_raw_fd(), libc::SHUT_RDWR) };
            while let Ok(Status::Stopped { .. }) = kernel::wait_for(process) {}
        }
    }
}

impl Drop for Keeping {
    fn drop(&mut self) {
        self.end_descendants();
    }
}

impl Keeping {
    /// Hands a stopped thread to the keeper.
    pub(crate) fn hand_over(&self, thread: u32, signal: c_int) -> Outcome<()> {
        let (keeper, ends_with_juror) = match self {
            Keeping::Common => (&KEEPER, false),
            Keeping::Own(keeper) => (keeper, true),
        };
        let mut present = keeper.lock().unwrap_or_else(PoisonError::into_inner);
        hand_over(&mut present, ends_with_juror, thread, signal)
    }
}

fn hand_over(
    present: &mut Option<Keeper>,
    ends_with_juror: bool,
    thread: u32,
    signal: c_int,
) -> Outcome<()> {
    let start = || Keeper::start(ends_with_juror);
    let keeper = match &mut *present {
        Some(keeper) => keeper,
        none => none.insert(start()?),
    };
    let process = ProcessStatus::of_process(thread)
        .ok_or(Errno::ESRCH)?
        .process;
    let registers = registers_outside_of_calls(thread)?;
    let mask = kernel::signal_mask(thread)?;
    // SAFETY: `siginfo_t` is plain data of integers, for which zero is a value.
    let mut information: siginfo_t = unsafe { std::mem::zeroed() };
    if signal != 0 {
        information = kernel::signal_information(thread)?;
    }
    kernel::set_signal_mask(thread, u64::MAX)?;
    if signal != 0 {
        kernel::signal_thread(process, thread, signal)?;
    }
    let memory = memory_of(process, thread)?;
    permit(keeper.process, process, thread, &memory, &registers)?;
    let place = place_for_loop(process, thread, &memory, registers.instruction_pointer());
    let mut original = [0; size_of::<u64>()];
    let input_output = |_| Errno::EIO;
    memory
        .read_exact_at(&mut original, place)
        .and_then(|()| memory.write_all_at(&LOOP, place))
        .map_err(input_output)?;
    let mut parked = registers;
    parked.set_instruction_pointer(place);
    parked.set_system_call(NO_SYSTEM_CALL);
    let handed = Handed {
        thread,
        signal,
        information,
        registers,
        mask,
        place,
        original: u64::from_ne_bytes(original),
    };
    kernel::set_registers(thread, &parked)?;
    // Before it has no tracer: then it ends with juror, or the keeper knows of it.
    let keeper = match keeper.announce(&handed) {
        // It has been killed.
        Err(Errno::EPIPE | Errno::ECONNRESET) => {
            let keeper = present.insert(start()?);
            keeper.announce(&handed)?;
            keeper
        }
        announced => announced.map(|()| keeper)?,
    };
    let detached = kernel::detach(thread, 0);
    let taken = keeper.take();
    detached?;
    let has_ended = || ProcessStatus::of_process(thread).is_none_or(|it| it.has_ended());
    match taken {
        Err(_) if has_ended() => Err(Errno::ESRCH),
        taken => taken,
    }
}

fn memory_of(process: u32, thread: u32) -> Outcome<File> {
    let path = process_status::file_of(process, thread, "mem");
    let opened = OpenOptions::new().read(true).write(true).open(path);
    opened.map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO)))
}

/// Returns where a thread waits: at the entry point of the program, which no thread executes any
/// more, or where it is.
fn place_for_loop(process: u32, thread: u32, memory: &File, counter: u64) -> u64 {
    let auxiliary = Auxiliary::read(&process_status::file_of(process, thread, "auxv"));
    let entry = auxiliary.map_or(0, |it| it.entry);
    match memory.read_exact_at(&mut [0; size_of::<u64>()], entry) {
        Ok(()) if entry != 0 => entry,
        _ => counter,
    }
}

/// Returns the registers with which a stopped thread goes on outside of the kernel: a call at
/// whose entry it stands is made again.
fn registers_outside_of_calls(thread: u32) -> Outcome<Registers> {
    if let Ok(stop) = kernel::call_stop(thread)
        && stop.is_entry
    {
        let mut registers = kernel::registers(thread)?;
        registers.repeat_system_call();
        return Ok(registers);
    }
    if is_inside_call(thread)? {
        kernel::interrupt(thread)?;
        kernel::resume(thread, 0)?;
        match kernel::wait_for(thread)? {
            Status::Stopped {
                event: Event::Stop, ..
            } => {}
            Status::Stopped { .. } => {
                // On its way to its end.
                let _ = kernel::resume(thread, 0);
                return Err(Errno::ESRCH);
            }
            _ => return Err(Errno::ESRCH),
        }
    }
    kernel::registers(thread)
}

/// Returns true if a thread is stopped in the middle of a call, whose result the kernel has not
/// written yet: for a new process, or another program.
fn is_inside_call(thread: u32) -> Outcome<bool> {
    let events = [
        libc::PTRACE_EVENT_FORK,
        libc::PTRACE_EVENT_VFORK,
        libc::PTRACE_EVENT_CLONE,
        libc::PTRACE_EVENT_VFORK_DONE,
        libc::PTRACE_EVENT_EXEC,
    ];
    match kernel::signal_information(thread) {
        Ok(information) => Ok(events.contains(&(information.si_code >> 8))),
        // A stop of job control has none.
        Err(Errno::EINVAL) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// Makes a thread permit the keeper to trace its process, where only ancestors may.
fn permit(
    keeper: u32,
    process: u32,
    thread: u32,
    memory: &File,
    registers: &Registers,
) -> Outcome<()> {
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
    if scope.unwrap_or_default().trim() != "1" || nix::unistd::geteuid().is_root() {
        return Ok(());
    }
    let Some(instruction) =
        system_call_of(process, thread, memory, registers.instruction_pointer())
    else {
        return Ok(());
    };
    let arguments = [libc::PR_SET_PTRACER as u64, u64::from(keeper), 0, 0, 0, 0];
    let call = call_registers(*registers, instruction, libc::SYS_prctl, arguments);
    kernel::set_registers(thread, &call)?;
    while kernel::counter(thread)? != instruction + SYSTEM_CALL_LENGTH {
        kernel::single_step(thread, 0)?;
        let Status::Stopped { .. } = kernel::wait_for(thread)? else {
            return Err(Errno::ESRCH);
        };
    }
    Ok(())
}

/// Returns the address of a `syscall` instruction: behind which a thread stands, or in the vdso.
fn system_call_of(process: u32, thread: u32, memory: &File, counter: u64) -> Option<u64> {
    /// More than any vdso has.
    const LENGTH_MAX: usize = 16 * 1024;
    let before = counter.wrapping_sub(SYSTEM_CALL_LENGTH);
    let mut bytes = [0; SYSTEM_CALL.len()];
    if memory.read_exact_at(&mut bytes, before).is_ok() && bytes == SYSTEM_CALL {
        return Some(before);
    }
    let auxiliary = Auxiliary::read(&process_status::file_of(process, thread, "auxv")).ok()?;
    let mut code = vec![0; LENGTH_MAX];
    let count = memory.read_at(&mut code, auxiliary.vdso).ok()?;
    let mut pairs = code.get(..count)?.windows(SYSTEM_CALL.len());
    let offset = pairs.position(|pair| pair == SYSTEM_CALL)?;
    Some(auxiliary.vdso + offset as u64)
}

impl Keeper {
    /// Starts the process; it is a child of this one if it ends with it.
    fn start(ends_with_juror: bool) -> Outcome<Keeper> {
        let mut ends = [0; 2];
        let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
        // SAFETY: two live integers for the kernel to fill in.
        Errno::result(unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) })?;
        // SAFETY: two new descriptors, which nothing else owns.
        let [own, other] = ends.map(|end| unsafe { OwnedFd::from_raw_fd(end) });
        // SAFETY: the child makes system calls only, on its own stack, and never returns.
        let maker = match unsafe { libc::fork() } {
            -1 => return Err(Errno::last()),
            0 => tracing::begin(other.as_raw_fd(), ends_with_juror),
            maker => maker as u32,
        };
        if !ends_with_juror {
            while let Ok(Status::Stopped { .. }) = kernel::wait_for(maker) {}
        }
        drop(other);
        let mut process = 0_u32;
        receive(&own, &mut process)?;
        Ok(Keeper {
            process,
            socket: own,
        })
    }

    /// Tells the keeper of a thread, which it is to trace once it may.
    fn announce(&self, handed: &Handed) -> Outcome<()> {
        self.send(handed)
    }

    /// Waits until the keeper traces the thread, of which juror has let go, and which has gone on
    /// then.
    fn take(&self) -> Outcome<()> {
        self.send(&0_u32)?;
        let mut refusal = 0_u32;
        receive(&self.socket, &mut refusal)?;
        match refusal {
            0 => Ok(()),
            refusal => Err(Errno::from_raw(refusal as i32)),
        }
    }

    fn send<T>(&self, message: &T) -> Outcome<()> {
        // SAFETY: a live structure, which the call reads, and its size.
        let sent = unsafe {
            libc::send(
                self.socket.as_raw_fd(),
                std::ptr::from_ref(message).cast(),
                size_of::<T>(),
                libc::MSG_NOSIGNAL,
            )
        };
        Errno::result(sent).map(drop)
    }
}

/// Receives one number of the keeper's.
fn receive(socket: &OwnedFd, number: &mut u32) -> Outcome<()> {
    loop {
        // SAFETY: a live integer for the kernel to fill in, and its size.
        let received = unsafe {
            libc::recv(
                socket.as_raw_fd(),
                std::ptr::from_mut(number).cast(),
                size_of::<u32>(),
                0,
            )
        };
        match Errno::result(received) {
            Ok(0) => return Err(Errno::EPIPE),
            Ok(_) => return Ok(()),
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno),
        }
    }
}
