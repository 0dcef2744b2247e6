//! Ends of processes that need not be waited for.
//!
//! Most of the time at the end of a large process goes into freeing its pages;
//! and its number is not free before that. So before a process is killed that
//! is to be made again, a task is made that shares its memory, and holds it
//! until the process exists again; then it ends in the background.
//!
//! Invariant: such a task runs nothing of the program, has nothing open, is in
//! a process group of its own, and ends with juror.

use libc::c_int;
use nix::unistd::{Pid, setpgid};

use super::bare;
use crate::debuggee::Debuggee;
use crate::kernel::pending_stops;
use crate::kernel::process_status;
use crate::kernel::{self, Outcome};
use crate::state::thread::State;
use juror_stepping::ThreadId;

/// Ends of processes with less memory are waited for.
const LARGE_BYTES: u64 = 16 << 20;

/// Makes a process that juror copied from another leave the group of that one,
/// and its session if `leads_session`: their numbers must be free for the
/// restore.
pub(super) fn leave_group(process: u32, leads_session: bool, gadget: u64) -> Outcome<()> {
    let id = Pid::from_raw(process as i32);
    // A parent may do this for a child of its own session.
    if !leads_session && setpgid(id, id).is_ok() {
        return Ok(());
    }
    let leaving = if leads_session {
        libc::SYS_setsid
    } else {
        libc::SYS_setpgid
    };
    bare::demand(process, gadget, leaving, [0; 6]).map(drop)
}

/// A task that holds the memory of a process. Dropping it ends the task without
/// waiting.
#[derive(Debug)]
pub(super) struct MemoryHolder(u32);

impl Debuggee {
    /// Returns true if the session of the process has its number.
    pub(super) fn leads_session(&self) -> bool {
        let groups = process_status::group_and_session(self.process);
        groups.is_some_and(|(_, session)| session == self.process)
    }

    /// Makes a halted process that is large, and is about to be killed, leave
    /// its memory to a task. None if that is impossible: the end then takes its
    /// time.
    pub(super) fn spawn_memory_holder(&mut self) -> Option<MemoryHolder> {
        let first = self.threads.get(&self.process)?;
        // A task of another parent's would wait for that one.
        let is_possible = !self.life.is_attached()
            && !self.image.is_seccomp_filtered
            && first.state == State::Stopped
            && !first.is_vfork_child
            && is_large(self.process);
        let gadget = self.image.out_of_line.gadget().filter(|_| is_possible)?;
        self.leave_kernel(ThreadId(self.process)).ok()?;
        let flags = (libc::CLONE_VM | libc::CLONE_PARENT) as u64;
        let made = bare::call(
            self.process,
            gadget,
            libc::SYS_clone,
            [flags, 0, 0, 0, 0, 0],
        );
        let task = made.ok()?.made?;
        pending_stops::add_template(task);
        let memory_holder = MemoryHolder(task);
        leave_group(task, self.leads_session(), gadget).ok()?;
        let all = [0, u64::from(u32::MAX), 0, 0, 0, 0];
        bare::demand(task, gadget, libc::SYS_close_range, all).ok()?;
        Some(memory_holder)
    }
}

impl Drop for MemoryHolder {
    fn drop(&mut self) {
        end_in_background(self.0);
    }
}

/// Kills a process that never runs; waits for it if that takes no time.
pub(super) fn end(process: u32) {
    if is_large(process) {
        end_in_background(process)
    } else {
        kernel::abandon(process);
        pending_stops::remove_template(process);
    }
}

fn end_in_background(process: u32) {
    // It does not stop on its way.
    let _ = kernel::set_options(process, QUIET);
    let _ = kernel::signal_process(process as i32, libc::SIGKILL);
    // It stands there already if it was killed from outside.
    let _ = kernel::resume(process, 0);
    pending_stops::end_template(process);
}

/// The options of a thread that reports no events, and still ends with juror.
pub(super) const QUIET: c_int = libc::PTRACE_O_EXITKILL;

/// Returns true if the end of a process takes a while.
fn is_large(process: u32) -> bool {
    process_status::resident_bytes(process).is_some_and(|bytes| bytes >= LARGE_BYTES)
}
