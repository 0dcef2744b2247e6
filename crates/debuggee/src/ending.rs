//! Killing the process, and detaching from it.
//!
//! Detaching is the reverse of attaching: halt, remove the traps, move every
//! thread back into the program, unmap the slots, detach. Whether a process is
//! killed or detached when juror is done is its [`Origin`], by `quit`, by an
//! error and by a panic alike.

mod forced_detach;
mod quiesce;
pub(crate) mod released;

use juror_stepping::ThreadId;
use libc::c_int;
use nix::errno::Errno;

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::kernel::pending_stops;
use crate::kernel::put_back;
use crate::kernel::traps::TRAP;
use crate::kernel::{self, Event, Outcome, Status};
use crate::state::life::{Origin, Phase};
use crate::state::thread::State;

#[cfg(test)]
mod tests;

impl Debuggee {
    /// Detaches from a stopped thread; `signal` 0 delivers none. One whose calls are filtered is
    /// handed to the keeper.
    pub(crate) fn let_go(&self, thread: u32, signal: c_int) -> Outcome<()> {
        if self.system_calls.filter().is_none() {
            return kernel::detach(thread, signal);
        }
        match self.forks.keeping.hand_over(thread, signal) {
            Err(errno) if errno != Errno::ESRCH => {
                // Its calls would fail.
                let _ = kernel::signal_process(thread as i32, libc::SIGKILL);
                let _ = kernel::detach(thread, 0);
                Err(errno)
            }
            handed => handed,
        }
    }

    /// Kills the process, and the rest of the process group if juror started
    /// it, and waits until it has ended.
    pub fn kill(&mut self) -> Result<(), DebuggeeError> {
        if self.core.is_some() {
            self.life.end();
            return Ok(());
        }
        let killed = self.kill_in(Phase::BeingKilled);
        self.forks.keeping.end_descendants();
        killed
    }

    /// Returns whether the program may have made other processes.
    pub fn has_made_processes(&self) -> bool {
        self.forks.has_made_processes
    }

    /// As [`Debuggee::kill`], in the phase that says whether all threads are
    /// stopped.
    pub(crate) fn kill_in(&mut self, phase: Phase) -> Result<(), DebuggeeError> {
        self.wait.control = None;
        self.kill_fork_children();
        if !self.life.begin_kill(phase) {
            return Ok(());
        }
        for id in self.vfork_children_and_pending_forks() {
            let _ = kernel::signal_process(id as i32, libc::SIGKILL);
        }
        let _ = kernel::signal_process(self.process as i32, libc::SIGKILL);
        if self.life.kills_group() {
            let _ = kernel::signal_process(-(self.process as i32), libc::SIGKILL);
        }
        while !self.life.has_ended() {
            let (thread, status) = self.next_status()?;
            match status {
                Status::Stopped {
                    event: Event::Fork | Event::Vfork | Event::Clone,
                    ..
                } => {
                    if let Ok(child) = kernel::event_message(thread) {
                        let _ = kernel::signal_process(child as i32, libc::SIGKILL);
                    }
                    let _ = kernel::resume(thread, 0);
                }
                Status::Stopped { .. } => drop(kernel::resume(thread, 0)),
                status => self.note_gone(thread, status)?,
            }
        }
        Ok(())
    }

    fn vfork_children_and_pending_forks(&self) -> Vec<u32> {
        let vfork_children = self.threads.values().filter(|thread| thread.is_vfork_child);
        vfork_children
            .map(|thread| thread.id.0)
            .chain(self.forks.pending.keys().copied())
            .collect()
    }

    /// Detaches: every instruction is as it was, each thread stands in the
    /// original program, pending signals are delivered, interrupted system
    /// calls continue. A process that job control has stopped stays stopped.
    pub fn detach(mut self) -> Result<(), DebuggeeError> {
        if self.core.is_some() {
            return self.kill();
        }
        self.release()
    }

    fn release(&mut self) -> Result<(), DebuggeeError> {
        self.wait.control = None;
        self.life.enter(Phase::BeingDetached);
        let halted = if self.driver.is_broken() {
            Ok(())
        } else {
            self.halt_everything()
        };
        if self.driver.is_broken() || halted.is_err() {
            self.stop_by_force();
        }
        if self.life.has_ended() {
            self.detach_fork_children();
            // Threads that could not be stopped are released by juror's end.
            let cleaned = self.memory.remove_all_traps();
            return halted.and(cleaned);
        }
        let left = self.detach_process();
        self.life.end();
        halted.and(left)
    }

    /// Detaches from the halted process. If a step fails, the others are still
    /// done.
    pub(crate) fn detach_process(&mut self) -> Result<(), DebuggeeError> {
        let mut done = self.end_all_calls();
        done = done.and(self.unwatch_all());
        done = done.and(self.unpatch_all());
        let have_left_stubs = self.leave_all_stubs();
        if have_left_stubs {
            done = done.and(self.disarm_threads());
        }
        done = done.and(self.memory.remove_all_traps());
        self.host.cpu.unshare();
        let ids: Vec<u32> = self.threads.keys().copied().collect();
        for &id in &ids {
            done = done.and(self.return_to_program(ThreadId(id)));
        }
        if have_left_stubs {
            done = done.and(self.unmap_patches());
            done = done.and(self.unmap_regions());
        }
        done = done.and(self.detach_threads(&ids));
        self.detach_fork_children();
        self.reap_departing();
        done
    }

    /// Detaches stopped threads.
    fn detach_threads(&mut self, ids: &[u32]) -> Result<(), DebuggeeError> {
        // A parent waits in the kernel for the child that shares its memory.
        for is_parent in [false, true] {
            for &id in ids {
                let known = self.threads.get(&id);
                if known.is_some_and(|it| (it.state == State::InVfork) == is_parent) {
                    self.detach_thread(ThreadId(id))?;
                }
            }
        }
        Ok(())
    }

    /// Detaches all threads that there are, with no trap ahead of them.
    pub(crate) fn restore_and_detach_threads(&mut self) -> Result<(), DebuggeeError> {
        let ids: Vec<u32> = self.threads.keys().copied().collect();
        for &id in &ids {
            self.host.cpu.restore_affinity(id);
            self.return_to_program(ThreadId(id))?;
        }
        self.detach_threads(&ids)
    }

    /// Stops all threads, and handles every process that was just made: none
    /// may be left waiting for its tracer.
    pub(crate) fn halt_everything(&mut self) -> Result<(), DebuggeeError> {
        while !self.life.has_ended() {
            self.halt_all()?;
            if self.forks.pending.is_empty() {
                return Ok(());
            }
            self.wait_and_handle()?;
        }
        Ok(())
    }

    /// Moves a stopped thread to its place in the program, with no trap of
    /// juror's pending.
    fn return_to_program(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let is_stopped = |debuggee: &Debuggee| {
            let known = debuggee.threads.get(&thread.0);
            known.is_some_and(|known| known.state == State::Stopped)
        };
        while is_stopped(self) && kernel::has_trap_waiting(thread.0) {
            let failed = |errno| DebuggeeError::system("stop a thread")(errno);
            if kernel::resume(thread.0, 0).is_err() {
                break;
            }
            let status = kernel::wait_for(thread.0).map_err(failed)?;
            let Status::Stopped { event, .. } = status else {
                return self.note_gone(thread.0, status);
            };
            if let Some(known) = self.threads.get_mut(&thread.0) {
                known.note_stop(event == Event::Signal);
            }
            let address = self.stop_registers(thread)?.kernel_counter.wrapping_sub(1);
            let mut byte = [0];
            if event != Event::Signal || put_back::take_moved(thread.0) {
                continue;
            }
            if self.driver.engine.is_site(address) {
                kernel::set_counter(thread.0, address).map_err(failed)?;
                if let Some(known) = self.threads.get_mut(&thread.0) {
                    known.registers.take();
                }
            } else if self.memory.read(address, &mut byte).is_ok() && byte == [TRAP] {
                // Compiled into the program: its signal is the program's.
                self.handle_trap_signal(thread)?;
                break;
            }
        }
        if !is_stopped(self) {
            return Ok(());
        }
        let registers = *self.stop_registers(thread)?;
        if registers.kernel_counter != registers.shown.instruction_pointer() {
            let _ = kernel::set_counter(thread.0, registers.shown.instruction_pointer());
        }
        Ok(())
    }

    /// Detaches one stopped thread.
    fn detach_thread(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let Some(known) = self.threads.get(&thread.0) else {
            return Ok(());
        };
        if known.state == State::InVfork {
            // Its stop cannot be waited for: the end of juror's thread releases
            // it. Its child has been released, so it comes soon.
            return self.wait_out_vfork(thread);
        }
        self.clear_hardware(thread);
        let signal = self.signal_to_deliver(thread);
        match self.let_go(thread.0, signal) {
            Ok(()) => {}
            // A thread that was released before has killed it, by `exec` or at
            // the end.
            Err(Errno::ESRCH) => detach_dying(thread),
            Err(errno) => return Err(DebuggeeError::system("detach")(errno)),
        }
        self.threads.remove(&thread.0);
        Ok(())
    }

    /// Takes the last statuses of threads that are ending: until then the
    /// process's parent would not be notified of its end. The first thread's
    /// comes only with the end of all others.
    pub(crate) fn reap_departing(&mut self) {
        for id in std::mem::take(&mut self.wait.departing) {
            if id == self.process {
                continue;
            }
            while let Ok(Status::Stopped { .. }) = kernel::wait_for(id) {
                let _ = kernel::resume(id, 0);
            }
        }
    }

    fn wait_out_vfork(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        loop {
            match kernel::wait_for(thread.0).map_err(DebuggeeError::system("wait"))? {
                Status::Stopped {
                    event: Event::VforkDone,
                    ..
                } => break,
                Status::Stopped { .. } => drop(kernel::resume(thread.0, 0)),
                _ => return Ok(()),
            }
        }
        // It was in the kernel when the others lost theirs.
        self.clear_hardware(thread);
        let _ = self.let_go(thread.0, 0);
        self.threads.remove(&thread.0);
        Ok(())
    }
}

/// Detaches a thread that is being killed where it stops for the last time:
/// until then its end would not be reported, nor could an `exec` continue.
fn detach_dying(thread: ThreadId) {
    while let Ok(Status::Stopped { .. }) = kernel::wait_for(thread.0) {
        if kernel::detach(thread.0, 0).is_ok() {
            return;
        }
    }
}

impl Drop for Debuggee {
    fn drop(&mut self) {
        // A failure cannot be reported here; the kernel does the rest when
        // juror ends.
        match self.life.origin {
            Origin::Launched => drop(self.kill()),
            Origin::Attached => {
                if self.release().is_err() {
                    let _ = self.memory.remove_all_traps();
                }
            }
            Origin::CoreFile => {}
        }
        pending_stops::unregister(self.process);
    }
}
