//! Waiting for threads.

use super::{Outcome, Status, resume, signal_information, signal_process};
use crate::kernel::process_status;
use crate::kernel::put_back;
use crate::kernel::waking;
use libc::{c_int, pid_t, siginfo_t};
use nix::errno::Errno;

/// Returns true if a thread that was left stopped is ending.
pub(crate) fn is_dying(thread: u32) -> bool {
    match signal_information(thread) {
        Ok(information) => information.si_code == libc::SIGTRAP | libc::PTRACE_EVENT_EXIT << 8,
        Err(errno) => errno == Errno::ESRCH,
    }
}

/// Waits for the next status of any debuggee of this tracer thread.
pub(crate) fn wait_any() -> Outcome<(u32, Status)> {
    wait(-1, libc::__WALL | libc::__WNOTHREAD)
}

/// Waits for the next status of one thread.
pub(crate) fn wait_for(thread: u32) -> Outcome<Status> {
    wait(thread as pid_t, libc::__WALL).map(|(_, status)| status)
}

/// Returns the next status of one thread, if there is one already.
pub(crate) fn poll_for(thread: u32) -> Outcome<Option<Status>> {
    let found = look(thread as pid_t, libc::__WALL | libc::WNOHANG)?;
    Ok(found.map(|(_, status)| status))
}

/// Fails with `EINTR` if waits are abandoned (`waking`).
fn wait(id: pid_t, flags: c_int) -> Outcome<(u32, Status)> {
    loop {
        if waking::are_waits_abandoned() {
            return waking::wait_a_while(
                || look(id, flags | libc::WNOHANG),
                || u32::try_from(id).is_ok_and(process_status::is_runnable),
            );
        }
        if let Some(found) = look(id, flags)? {
            return Ok(found);
        }
    }
}

/// Returns none if there is no status and either `flags` say not to wait or
/// waits are abandoned.
fn look(id: pid_t, flags: c_int) -> Outcome<Option<(u32, Status)>> {
    if !put_back::is_needed() {
        return take(id, flags);
    }
    loop {
        let Some((thread, is_trap)) = peek(id, flags)? else {
            return Ok(None);
        };
        if is_trap {
            put_back::before_taking(thread);
        }
        // A thread that is killed meanwhile has another status soon.
        if let Some(taken) = take(thread as pid_t, libc::__WALL | libc::WNOHANG)? {
            return Ok(Some(taken));
        }
    }
}

/// Returns the thread that has a status, which is not taken, and whether that
/// is a stop with `SIGTRAP` as its signal.
fn peek(id: pid_t, flags: c_int) -> Outcome<Option<(u32, bool)>> {
    let (kind, id) = match id {
        -1 => (libc::P_ALL, 0),
        id => (libc::P_PID, id as libc::id_t),
    };
    let flags = flags | libc::WEXITED | libc::WSTOPPED | libc::WNOWAIT;
    loop {
        // SAFETY: `siginfo_t` is plain data of integers, for which zero is a
        // value.
        let mut information: siginfo_t = unsafe { std::mem::zeroed() };
        // SAFETY: the information is a live value for the kernel to fill in.
        let result = unsafe { libc::waitid(kind, id, &raw mut information, flags) };
        match Errno::result(result) {
            Ok(_) => {}
            Err(Errno::EINTR) if waking::are_waits_abandoned() => return Ok(None),
            Err(Errno::EINTR) => continue,
            Err(errno) => return Err(errno),
        }
        // SAFETY: reading the union members of a child's status, which this is.
        let (thread, status) = unsafe { (information.si_pid(), information.si_status()) };
        return Ok(match thread {
            0 => None,
            thread => {
                let is_stop = information.si_code == libc::CLD_TRAPPED;
                Some((thread as u32, is_stop && status == libc::SIGTRAP))
            }
        });
    }
}

fn take(id: pid_t, flags: c_int) -> Outcome<Option<(u32, Status)>> {
    loop {
        let mut raw: c_int = 0;
        // SAFETY: `raw` is a live integer for the kernel to fill in.
        let thread = unsafe { libc::waitpid(id, &raw mut raw, flags) };
        match Errno::result(thread) {
            Ok(0) => return Ok(None),
            Ok(thread) => match Status::decode(raw) {
                Some(status) => return Ok(Some((thread as u32, status))),
                None => continue,
            },
            Err(Errno::EINTR) if waking::are_waits_abandoned() => return Ok(None),
            Err(Errno::EINTR) => continue,
            Err(errno) => return Err(errno),
        }
    }
}

/// Ends a child that could not be made a debuggee, or that never runs.
pub(crate) fn abandon(child: u32) {
    let _ = signal_process(child as i32, libc::SIGKILL);
    // It may have been killed before, and be stopped on its way out: a wait for
    // others has seen that, and would not see it again.
    let _ = resume(child, 0);
    while let Ok(Status::Stopped { .. }) = wait_for(child) {
        let _ = resume(child, 0);
    }
}
