//! What the keeper does: system calls on plain numbers and its own stack only, since it is a copy
//! of one thread of juror, and another may have held any lock.

use std::mem::MaybeUninit;
use std::ptr;

use libc::{c_int, c_uint, c_void, pid_t, siginfo_t};

use super::Handed;

/// `PTRACE_EVENT_STOP`.
const EVENT_STOP: c_int = 128;

/// The keeper's events are those by which it follows new threads and processes, and the filter's.
const OPTIONS: c_int = libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACESECCOMP
    | libc::PTRACE_O_EXITKILL;

/// How many signals can wait for their information at once; a further one has the keeper's.
const SIGNALS_MAX: usize = 64;

/// The signals that were sent again, until they are delivered.
type Waiting = [Option<(pid_t, c_int, siginfo_t)>; SIGNALS_MAX];

/// In a child of juror's: makes the keeper, and ends, or becomes it. The keeper writes its number to the socket.
pub(super) fn begin(socket: c_int, ends_with_juror: bool) -> ! {
    // SAFETY: system calls on plain numbers and on what lives on this stack, in a process of one
    // thread.
    unsafe {
        if !ends_with_juror && libc::fork() != 0 {
            libc::_exit(0);
        }
        prepare(socket);
        let own = libc::getpid() as u32;
        answer(socket, own);
        keep(socket, ends_with_juror)
    }
}

/// # Safety
/// Only in the keeper.
unsafe fn prepare(socket: c_int) {
    // SAFETY: as in `begin`.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, c"juror-keeper".as_ptr());
        // No key, no hang-up of a terminal and no end of juror's group ends it.
        libc::setsid();
        libc::chdir(c"/".as_ptr());
        for signal in [
            libc::SIGHUP,
            libc::SIGINT,
            libc::SIGQUIT,
            libc::SIGTERM,
            libc::SIGPIPE,
        ] {
            libc::signal(signal, libc::SIG_IGN);
        }
        // A stop of a thread ends the wait of `keep`.
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = ignore as extern "C" fn(c_int) as libc::sighandler_t;
        libc::sigaction(libc::SIGCHLD, &raw const action, ptr::null_mut());
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigaddset(&raw mut none, libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
        let socket = socket as c_uint;
        libc::syscall(libc::SYS_close_range, socket + 1, c_uint::MAX, 0);
        if socket > 0 {
            libc::syscall(libc::SYS_close_range, 0, socket - 1, 0);
        }
    }
}

extern "C" fn ignore(_signal: c_int) {}

/// Serves juror and the traced threads, until both are gone, or until juror is.
///
/// # Safety
/// Only in the keeper.
unsafe fn keep(socket: c_int, ends_with_juror: bool) -> ! {
    let mut waiting: Waiting = [None; SIGNALS_MAX];
    let mut socket = Some(socket);
    // SAFETY: as in `begin`; each value is alive while the kernel uses it.
    unsafe {
        let mut open: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut open);
        loop {
            let has_threads = go_on_from_stops(&mut waiting);
            if socket.is_none() && !has_threads {
                libc::_exit(0);
            }
            let mut from_juror = libc::pollfd {
                fd: socket.unwrap_or(-1),
                events: libc::POLLIN,
                revents: 0,
            };
            let found = libc::ppoll(&raw mut from_juror, 1, ptr::null(), &raw const open);
            if let Some(open) = socket
                && found > 0
                && !serve(open, &mut waiting)
            {
                if ends_with_juror {
                    // Its tracees end with it.
                    libc::_exit(0);
                }
                libc::close(open);
                socket = None;
            }
        }
    }
}

/// Takes one thread from juror. Returns false if juror is gone.
///
/// # Safety
/// Only in the keeper.
unsafe fn serve(socket: c_int, waiting: &mut Waiting) -> bool {
    let mut handed = MaybeUninit::<Handed>::zeroed();
    // SAFETY: a live structure for the kernel to fill in, of integers only.
    unsafe {
        let length = size_of::<Handed>();
        let received = libc::recv(socket, handed.as_mut_ptr().cast(), length, 0);
        if received == -1 && *libc::__errno_location() == libc::EINTR {
            return true;
        }
        if received != length as isize {
            return false;
        }
        let refusal = take(socket, handed.assume_init_ref(), waiting);
        answer(socket, refusal as u32);
    }
    true
}

/// # Safety
/// Only in the keeper.
unsafe fn answer(socket: c_int, number: u32) {
    // SAFETY: a live integer, which the call reads.
    unsafe {
        let length = size_of::<u32>();
        libc::send(
            socket,
            (&raw const number).cast(),
            length,
            libc::MSG_NOSIGNAL,
        );
    }
}

/// Begins to trace a thread, which stands in its loop, and lets it go on where it was. Returns the
/// number of an error, or 0.
///
/// # Safety
/// Only in the keeper.
unsafe fn take(socket: c_int, handed: &Handed, waiting: &mut Waiting) -> c_int {
    let thread = handed.thread as pid_t;
    // SAFETY: requests with the structures that each of them reads.
    unsafe {
        match seize(socket, thread) {
            0 => {}
            refusal => return refusal,
        }
        request(libc::PTRACE_INTERRUPT, thread, ptr::null_mut());
        let stop = loop {
            let mut status = 0;
            if libc::waitpid(thread, &raw mut status, libc::__WALL) != thread {
                return libc::ESRCH;
            }
            if !libc::WIFSTOPPED(status) {
                return libc::ESRCH;
            }
            if status >> 16 == EVENT_STOP {
                break libc::WSTOPSIG(status);
            }
            // It cannot be blocked, and begins a stop of job control.
            go_on(thread, libc::WSTOPSIG(status));
        };
        let mask = ptr::from_ref(&handed.mask).cast_mut().cast::<c_void>();
        let registers = ptr::from_ref(&handed.registers).cast_mut().cast::<c_void>();
        libc::ptrace(libc::PTRACE_POKEDATA, thread, handed.place, handed.original);
        request(libc::PTRACE_SETREGS, thread, registers);
        libc::ptrace(libc::PTRACE_SETSIGMASK, thread, size_of::<u64>(), mask);
        if handed.signal != 0
            && let Some(room) = waiting.iter_mut().find(|room| room.is_none())
        {
            *room = Some((thread, handed.signal, handed.information));
        }
        leave_stop(thread, stop);
    }
    0
}

/// Begins to trace a thread as soon as juror does no longer, which it says then. Returns the number of
/// an error, or 0.
///
/// # Safety
/// Only in the keeper.
unsafe fn seize(socket: c_int, thread: pid_t) -> c_int {
    let mut is_free = false;
    let mut message = 0_u32;
    let length = size_of::<u32>();
    // SAFETY: requests on plain numbers; a live integer for the kernel to fill in.
    unsafe {
        loop {
            let options = ptr::without_provenance_mut(OPTIONS as usize);
            let seized = request(libc::PTRACE_SEIZE, thread, options);
            let errno = *libc::__errno_location();
            let is_over = seized != -1 || errno != libc::EPERM;
            if is_free {
                return if seized == -1 { errno } else { 0 };
            }
            let flags = if is_over { 0 } else { libc::MSG_DONTWAIT };
            let received = libc::recv(socket, (&raw mut message).cast(), length, flags);
            if is_over {
                return if seized == -1 { errno } else { 0 };
            }
            // It has come, or juror has ended.
            is_free = received >= 0;
            libc::usleep(if received == 0 { 10_000 } else { 50 });
        }
    }
}

/// Lets every thread go on that has stopped. Returns false if there is none.
///
/// # Safety
/// Only in the keeper.
unsafe fn go_on_from_stops(waiting: &mut Waiting) -> bool {
    loop {
        let mut status = 0;
        // SAFETY: a live integer for the kernel to fill in.
        let thread = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL | libc::WNOHANG) };
        match thread {
            0 => return true,
            -1 => return false,
            _ if !libc::WIFSTOPPED(status) => forget(waiting, thread),
            _ => {
                let signal = libc::WSTOPSIG(status);
                // SAFETY: requests on plain numbers, and on a live structure.
                unsafe {
                    match status >> 16 {
                        0 => {
                            deliver(thread, signal, waiting);
                            go_on(thread, signal);
                        }
                        EVENT_STOP => leave_stop(thread, signal),
                        _ => go_on(thread, 0),
                    }
                }
            }
        }
    }
}

fn forget(waiting: &mut Waiting, thread: pid_t) {
    for room in waiting.iter_mut() {
        if room.is_some_and(|(of, ..)| of == thread) {
            *room = None;
        }
    }
}

/// Gives a signal that was sent again the information that it had.
///
/// # Safety
/// Only in the keeper.
unsafe fn deliver(thread: pid_t, signal: c_int, waiting: &mut Waiting) {
    for room in waiting.iter_mut() {
        if let Some((of, number, information)) = room
            && (*of, *number) == (thread, signal)
        {
            // SAFETY: a live structure, which the request reads.
            unsafe {
                request(
                    libc::PTRACE_SETSIGINFO,
                    thread,
                    ptr::from_mut(information).cast(),
                );
            }
            *room = None;
            return;
        }
    }
}

/// Leaves the first stop of a thread, or a requested one; one of job control goes on.
///
/// # Safety
/// Only in the keeper.
unsafe fn leave_stop(thread: pid_t, signal: c_int) {
    let stops = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];
    // SAFETY: requests on plain numbers.
    unsafe {
        if stops.contains(&signal) {
            request(libc::PTRACE_LISTEN, thread, ptr::null_mut());
        } else {
            go_on(thread, 0)
        }
    }
}

/// # Safety
/// Only in the keeper.
unsafe fn go_on(thread: pid_t, signal: c_int) {
    // SAFETY: a request on plain numbers.
    unsafe {
        let signal = ptr::without_provenance_mut(signal as usize);
        request(libc::PTRACE_CONT, thread, signal);
    }
}

/// # Safety
/// `data` must be what the request takes.
unsafe fn request(kind: c_uint, thread: pid_t, data: *mut c_void) -> libc::c_long {
    // SAFETY: as the caller promises.
    unsafe { libc::ptrace(kind, thread, ptr::null_mut::<c_void>(), data) }
}
