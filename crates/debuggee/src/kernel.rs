//! The ptrace interface of the kernel, one thin safe function per request.
//!
//! nix wraps most of these, but its signals and wait statuses leave out the
//! real-time signals, which a debuggee may use; so the requests are made here
//! with plain numbers. Invariant: nothing here interprets what it carries.
//!
//! `ptrace` is bound to the *thread* that attached: `__WNOTHREAD` makes a wait
//! see that thread's debuggees only, so that several can live in one process.

pub(crate) mod call_filter;
pub(crate) mod dispositions;
pub(crate) mod injected_call;
pub(crate) mod interrupted_calls;
pub(crate) mod mapping;
pub(crate) mod namespace;
pub(crate) mod pending_stops;
pub(crate) mod plain_files;
pub(crate) mod process_descriptors;
pub(crate) mod process_status;
pub(crate) mod put_back;
mod signal_frame;
mod signals;
pub(crate) mod traps;
mod waits;
pub(crate) mod waking;

use std::io;
use std::mem::{MaybeUninit, offset_of};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;

use juror_arch::{FLOAT_STATE_BYTES, Register, Registers};
use libc::{c_int, c_long, c_uint, c_ulong, pid_t, user_regs_struct};
use nix::errno::Errno;

pub(crate) use signals::{
    fault_address, has_fault_waiting, has_trap_waiting, own_signal, sender, set_fault_address,
    set_signal_information, set_signal_mask, signal_information, signal_mask, signal_process,
    signal_thread,
};
pub(crate) use waits::{abandon, is_dying, poll_for, wait_any, wait_for};

/// Standard result of a request.
pub(crate) type Outcome<T> = Result<T, Errno>;

/// `PTRACE_EVENT_STOP`, which libc does not name for this platform.
const EVENT_STOP: c_int = 128;

/// The signal by which `PTRACE_O_TRACESYSGOOD` marks the stops of system calls.
const SYSTEM_CALL_SIGNAL: c_int = libc::SIGTRAP | 0x80;

/// The events that a seized process reports beyond signals.
pub(crate) const EVENTS: c_int = libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACEVFORKDONE
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACEEXIT
    | libc::PTRACE_O_TRACESYSGOOD;

/// A wait status, decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Exited { code: i32 },
    Killed { signal: i32, core: bool },
    Stopped { signal: i32, event: Event },
}

/// The reason for a stop of a traced thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// A signal is about to be delivered.
    Signal,
    /// First stop of a new thread, a requested stop, or a group stop.
    Stop,
    Clone,
    Fork,
    Vfork,
    VforkDone,
    Exec,
    Exit,
    /// Entry into a system call, or exit from it.
    SystemCall,
    /// Entry into a system call that a filter names.
    FilteredCall,
    Other,
}

impl Status {
    fn decode(raw: c_int) -> Option<Status> {
        if libc::WIFEXITED(raw) {
            return Some(Status::Exited {
                code: libc::WEXITSTATUS(raw),
            });
        }
        if libc::WIFSIGNALED(raw) {
            return Some(Status::Killed {
                signal: libc::WTERMSIG(raw),
                core: libc::WCOREDUMP(raw),
            });
        }
        if !libc::WIFSTOPPED(raw) {
            return None;
        }
        let event = match raw >> 16 {
            0 if libc::WSTOPSIG(raw) == SYSTEM_CALL_SIGNAL => Event::SystemCall,
            0 => Event::Signal,
            EVENT_STOP => Event::Stop,
            libc::PTRACE_EVENT_CLONE => Event::Clone,
            libc::PTRACE_EVENT_FORK => Event::Fork,
            libc::PTRACE_EVENT_VFORK => Event::Vfork,
            libc::PTRACE_EVENT_VFORK_DONE => Event::VforkDone,
            libc::PTRACE_EVENT_EXEC => Event::Exec,
            libc::PTRACE_EVENT_EXIT => Event::Exit,
            libc::PTRACE_EVENT_SECCOMP => Event::FilteredCall,
            _ => Event::Other,
        };
        Some(Status::Stopped {
            signal: libc::WSTOPSIG(raw),
            event,
        })
    }
}

pub(crate) fn request(kind: c_uint, thread: u32, address: usize, data: usize) -> Outcome<c_long> {
    // SAFETY: the callers below pass, for each request, addresses that are
    // null, offsets, or pointers to live values of the type the kernel wants.
    let result = unsafe {
        libc::ptrace(
            kind,
            thread as pid_t,
            ptr::with_exposed_provenance_mut::<u8>(address),
            ptr::with_exposed_provenance_mut::<u8>(data),
        )
    };
    Errno::result(result)
}

/// Makes this thread the tracer of a thread, which continues to run.
pub(crate) fn seize(thread: u32, options: c_int) -> Outcome<()> {
    request(libc::PTRACE_SEIZE, thread, 0, options as usize).map(drop)
}

/// Sets the events that a stopped thread reports from now on.
pub(crate) fn set_options(thread: u32, options: c_int) -> Outcome<()> {
    request(libc::PTRACE_SETOPTIONS, thread, 0, options as usize).map(drop)
}

/// Resumes a stopped thread; `signal` 0 delivers none.
pub(crate) fn resume(thread: u32, signal: i32) -> Outcome<()> {
    request(libc::PTRACE_CONT, thread, 0, signal as usize).map(drop)
}

/// Resumes a stopped thread up to its next entry or exit of a system call;
/// `signal` 0 delivers none.
pub(crate) fn resume_to_system_call(thread: u32, signal: i32) -> Outcome<()> {
    request(libc::PTRACE_SYSCALL, thread, 0, signal as usize).map(drop)
}

/// Executes one instruction; `signal` 0 delivers none.
pub(crate) fn single_step(thread: u32, signal: i32) -> Outcome<()> {
    request(libc::PTRACE_SINGLESTEP, thread, 0, signal as usize).map(drop)
}

/// Reads a debug register, 0 to 7.
pub(crate) fn debug_register(thread: u32, number: usize) -> Outcome<u64> {
    fetch_word(thread, debug_register_offset(number))
}

/// Sets a debug register, 0 to 7.
pub(crate) fn set_debug_register(thread: u32, number: usize, value: u64) -> Outcome<()> {
    let offset = debug_register_offset(number);
    request(libc::PTRACE_POKEUSER, thread, offset, value as usize).map(drop)
}

fn debug_register_offset(number: usize) -> usize {
    offset_of!(libc::user, u_debugreg) + number * size_of::<u64>()
}

/// Reads a word of the thread's user area.
fn fetch_word(thread: u32, offset: usize) -> Outcome<u64> {
    let mut word = 0_u64;
    // SAFETY: the raw system call stores the word at its data pointer, which
    // is that of a live integer (libc's function would return it instead).
    let result = unsafe {
        libc::syscall(
            libc::SYS_ptrace,
            libc::PTRACE_PEEKUSER as c_long,
            c_long::from(thread),
            offset,
            &raw mut word,
        )
    };
    Errno::result(result).map(|_| word)
}

/// Leaves a thread in its group stop, but able to report the next event.
pub(crate) fn listen(thread: u32) -> Outcome<()> {
    request(libc::PTRACE_LISTEN, thread, 0, 0).map(drop)
}

/// Asks a running thread to stop.
pub(crate) fn interrupt(thread: u32) -> Outcome<()> {
    request(libc::PTRACE_INTERRUPT, thread, 0, 0).map(drop)
}

/// Detaches a stopped thread; `signal` 0 delivers none.
pub(crate) fn detach(thread: u32, signal: i32) -> Outcome<()> {
    request(libc::PTRACE_DETACH, thread, 0, signal as usize).map(drop)
}

/// Reads a value of type `T` that the request stores through its data pointer.
pub(crate) fn fetch<T>(kind: c_uint, thread: u32, address: usize) -> Outcome<T> {
    let mut value = MaybeUninit::<T>::zeroed();
    request(
        kind,
        thread,
        address,
        value.as_mut_ptr().expose_provenance(),
    )?;
    // SAFETY: only called with plain C structures, integers and arrays of them
    // (`Registers` is one), for which all zeroes is a value; the kernel has
    // filled it in.
    Ok(unsafe { value.assume_init() })
}

/// Passes a value of type `T` that the request reads through its data pointer.
fn pass<T>(kind: c_uint, thread: u32, address: usize, value: &T) -> Outcome<()> {
    request(
        kind,
        thread,
        address,
        ptr::from_ref(value).expose_provenance(),
    )
    .map(drop)
}

/// Reads the general registers as the kernel has them: the program counter may be in an
/// out-of-line slot.
pub(crate) fn registers(thread: u32) -> Outcome<Registers> {
    fetch(libc::PTRACE_GETREGS, thread, 0)
}

pub(crate) fn set_registers(thread: u32, registers: &Registers) -> Outcome<()> {
    pass(libc::PTRACE_SETREGS, thread, 0, registers)
}

/// Sets the program counter only, which is cheaper than all registers.
pub(crate) fn set_counter(thread: u32, address: u64) -> Outcome<()> {
    let offset = user_offset(Register::Rip);
    request(libc::PTRACE_POKEUSER, thread, offset, address as usize).map(drop)
}

/// Sets the base of `gs` only.
pub(crate) fn set_gs_base(thread: u32, base: u64) -> Outcome<()> {
    let offset = user_offset(Register::GsBase);
    request(libc::PTRACE_POKEUSER, thread, offset, base as usize).map(drop)
}

/// Reads the program counter only.
pub(crate) fn counter(thread: u32) -> Outcome<u64> {
    fetch_word(thread, user_offset(Register::Rip))
}

/// Returns the offset of a register in the kernel's `struct user`.
const fn user_offset(register: Register) -> usize {
    offset_of!(libc::user, regs) + register.kernel_offset()
}

const _: () = {
    assert!(size_of::<Registers>() == size_of::<user_regs_struct>());
    assert!(Register::Rip.kernel_offset() == offset_of!(user_regs_struct, rip));
    assert!(Register::GsBase.kernel_offset() == offset_of!(user_regs_struct, gs_base));
    assert!(FLOAT_STATE_BYTES == size_of::<libc::user_fpregs_struct>());
};

/// The x87 and SSE registers of a thread, as the kernel passes them.
pub(crate) type FloatState = [u8; FLOAT_STATE_BYTES];

pub(crate) fn float_registers(thread: u32) -> Outcome<FloatState> {
    fetch(libc::PTRACE_GETFPREGS, thread, 0)
}

pub(crate) fn set_float_registers(thread: u32, registers: &FloatState) -> Outcome<()> {
    pass(libc::PTRACE_SETFPREGS, thread, 0, registers)
}

/// Every register except the general ones, as far as the machine has them.
#[derive(Debug, Clone)]
pub(crate) struct ExtendedState(Vec<u8>);

impl ExtendedState {
    /// Returns the state that a core file has.
    pub(crate) fn of_bytes(bytes: Vec<u8>) -> ExtendedState {
        ExtendedState(bytes)
    }

    /// Returns the bytes as the kernel has written them.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the upper halves of the 32-byte vector registers; none if the
    /// machine has none. (*Intel 64 and IA-32 Architectures Software
    /// Developer's Manual*, volume 1, section 13.4; the kernel provides the
    /// standard form, and the present features in those of its first legacy
    /// bytes that software may use.)
    pub(crate) fn upper_halves(&self) -> Option<[[u8; 16]; 16]> {
        /// The offset of the machine's features, as the kernel provides them.
        const FEATURES: usize = 464;
        /// The offset of the features that differ from their initial state.
        const PRESENT: usize = 512;
        const UPPER_HALVES: usize = 576;
        /// The bit of the feature.
        const AVX: u64 = 1 << 2;
        let word = |at: usize| Some(u64::from_le_bytes(self.0.get(at..at + 8)?.try_into().ok()?));
        if word(FEATURES)? & AVX == 0 {
            return None;
        }
        let mut halves = [[0; 16]; 16];
        if word(PRESENT)? & AVX != 0 {
            let bytes = self.0.get(UPPER_HALVES..UPPER_HALVES + 16 * 16)?;
            for (half, bytes) in halves.iter_mut().zip(bytes.chunks_exact(16)) {
                half.copy_from_slice(bytes);
            }
        }
        Some(halves)
    }

    /// Returns the bytes that a signal frame has for it.
    pub(crate) fn for_signal_frame(&self) -> Vec<u8> {
        signal_frame::signal_frame_state(&self.0)
    }
}

/// The maximum length in bytes of the extended state of this architecture.
const EXTENDED_STATE_MAX: usize = 16 << 10;

pub(crate) fn extended_state(thread: u32) -> Outcome<ExtendedState> {
    let mut bytes = vec![0; EXTENDED_STATE_MAX];
    let mut area = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    request(
        libc::PTRACE_GETREGSET,
        thread,
        NT_X86_XSTATE,
        ptr::from_mut(&mut area).expose_provenance(),
    )?;
    bytes.truncate(area.iov_len);
    Ok(ExtendedState(bytes))
}

pub(crate) fn set_extended_state(thread: u32, state: &ExtendedState) -> Outcome<()> {
    let area = libc::iovec {
        iov_base: state.0.as_ptr().cast_mut().cast(),
        iov_len: state.0.len(),
    };
    request(
        libc::PTRACE_SETREGSET,
        thread,
        NT_X86_XSTATE,
        ptr::from_ref(&area).expose_provenance(),
    )
    .map(drop)
}

/// The kernel's name of the extended state, of `elf.h`.
const NT_X86_XSTATE: usize = 0x202;

/// Returns the address of a thread's list of robust futexes (get_robust_list(2)); 0 for none.
pub(crate) fn robust_list(thread: u32) -> Outcome<u64> {
    let mut head = 0_u64;
    let mut length = 0_usize;
    // SAFETY: the kernel writes a word to each of two live values.
    let result = unsafe {
        libc::syscall(
            libc::SYS_get_robust_list,
            thread as libc::pid_t,
            &raw mut head,
            &raw mut length,
        )
    };
    Errno::result(result).map(|_| head)
}

/// Returns the number that comes with an event: a new thread's id, a former id.
pub(crate) fn event_message(thread: u32) -> Outcome<u32> {
    fetch::<c_ulong>(libc::PTRACE_GETEVENTMSG, thread, 0).map(|message| message as u32)
}

/// The stop of a thread at a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallStop {
    /// Whether it is at the entry, and not at the exit.
    pub(crate) is_entry: bool,
    /// Whether the call has the numbers of 64-bit programs.
    pub(crate) is_wide: bool,
}

/// Returns where a thread at the stop of a system call is.
pub(crate) fn call_stop(thread: u32) -> Outcome<CallStop> {
    /// The beginning of `struct ptrace_syscall_info`.
    #[repr(C)]
    struct Beginning {
        operation: u8,
        padding: [u8; 3],
        architecture: u32,
    }
    let mut beginning = Beginning {
        operation: 0,
        padding: [0; 3],
        architecture: 0,
    };
    request(
        libc::PTRACE_GET_SYSCALL_INFO,
        thread,
        size_of::<Beginning>(),
        (&raw mut beginning).expose_provenance(),
    )?;
    let entries = [
        libc::PTRACE_SYSCALL_INFO_ENTRY,
        libc::PTRACE_SYSCALL_INFO_SECCOMP,
    ];
    Ok(CallStop {
        is_entry: entries.contains(&beginning.operation),
        is_wide: beginning.architecture == AUDIT_ARCH_X86_64,
    })
}

/// The kernel's number of this architecture (`linux/audit.h`).
pub(crate) const AUDIT_ARCH_X86_64: u32 = 0xc000_003e;

/// Returns the user namespace to which a namespace belongs.
pub(crate) fn owner_of_namespace(namespace: &std::fs::File) -> Outcome<OwnedFd> {
    /// `NS_GET_USERNS`, which libc does not name.
    const GET_OWNER: c_ulong = 0xb701;
    // SAFETY: a request about an open descriptor; it returns a new descriptor
    // for us alone.
    unsafe {
        let descriptor = libc::ioctl(namespace.as_raw_fd(), GET_OWNER);
        Errno::result(descriptor).map(|descriptor| OwnedFd::from_raw_fd(descriptor))
    }
}

/// Returns the limit of the address space of a process, in bytes; none if there is none, or
/// it cannot be read.
pub(crate) fn address_space_limit(process: u32) -> Option<u64> {
    let mut limit = MaybeUninit::<libc::rlimit64>::uninit();
    // SAFETY: the kernel writes the limit, and is given no new one.
    let result = unsafe {
        libc::prlimit64(
            process as pid_t,
            libc::RLIMIT_AS,
            ptr::null(),
            limit.as_mut_ptr(),
        )
    };
    if result != 0 {
        return None;
    }
    // SAFETY: the call has written it.
    let limit = unsafe { limit.assume_init() };
    (limit.rlim_cur != libc::RLIM64_INFINITY).then_some(limit.rlim_cur)
}

/// Returns whether two processes share their memory; `None` if the kernel does
/// not say.
pub(crate) fn share_memory(first: u32, second: u32) -> Option<bool> {
    /// `KCMP_VM` of `linux/kcmp.h`.
    const KCMP_VM: c_long = 1;
    // SAFETY: a system call on plain numbers.
    let result = unsafe {
        libc::syscall(
            libc::SYS_kcmp,
            c_long::from(first),
            c_long::from(second),
            KCMP_VM,
            0 as c_long,
            0 as c_long,
        )
    };
    (result >= 0).then_some(result == 0)
}

/// Reads memory of a process without a descriptor; returns the number of bytes.
pub(crate) fn read_memory(process: u32, address: u64, bytes: &mut [u8]) -> io::Result<usize> {
    let local = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    let remote = libc::iovec {
        iov_base: ptr::without_provenance_mut(address as usize),
        iov_len: bytes.len(),
    };
    // SAFETY: `local` describes the slice `bytes`, which the call fills; `remote` is
    // interpreted in the other process.
    let count = unsafe { libc::process_vm_readv(process as pid_t, &local, 1, &remote, 1, 0) };
    usize::try_from(count).map_err(|_| io::Error::last_os_error())
}

/// Writes memory of a stopped thread without a descriptor, read-only text, too.
pub(crate) fn poke_memory(thread: u32, address: u64, bytes: &[u8]) -> io::Result<()> {
    const WORD: usize = size_of::<usize>();
    let mut done = 0;
    while let Some(rest) = bytes.get(done..).filter(|rest| !rest.is_empty()) {
        let at = address.wrapping_add(done as u64);
        // A word never crosses a page.
        let start = at & !(WORD as u64 - 1);
        let offset = (at - start) as usize;
        let count = rest.len().min(WORD - offset);
        let mut word = [0; WORD];
        if read_memory(thread, start, &mut word)? != WORD {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        word[offset..offset + count].copy_from_slice(&rest[..count]);
        let word = usize::from_ne_bytes(word);
        request(libc::PTRACE_POKEDATA, thread, start as usize, word)?;
        done += count;
    }
    Ok(())
}

/// Writes to the debuggee as its own instruction would: read-only pages stay
/// untouched (unlike a write through `/proc/PID/mem`).
pub(crate) fn write_as_debuggee(process: u32, address: u64, bytes: &[u8]) -> io::Result<()> {
    let local = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    let remote = libc::iovec {
        iov_base: ptr::without_provenance_mut(address as usize),
        iov_len: bytes.len(),
    };
    // SAFETY: `local` describes the slice `bytes`, which the call only reads;
    // `remote` is interpreted in the other process.
    let written = unsafe { libc::process_vm_writev(process as pid_t, &local, 1, &remote, 1, 0) };
    match written {
        -1 => Err(io::Error::last_os_error()),
        written if written as usize == bytes.len() => Ok(()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}
