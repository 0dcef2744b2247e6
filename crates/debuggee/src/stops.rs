//! Handling what the kernel reports, one status at a time.
//!
//! Most stops are not reported: they are handled here, and the thread continues
//! as before ([`Debuggee::continue_internally`]). Invariant: a stop of a thread
//! that was asked to stop is always passed to the engine, because the kernel
//! takes any stop for the requested one.

mod control;
mod fair_selection;
mod handlers;
mod run_control;
pub(crate) mod wait;

use juror_arch::instruction::SYSTEM_CALL_LENGTH;
use juror_stepping::{Input, ThreadId};
use libc::SI_KERNEL;
use nix::errno::Errno;

use crate::debuggee::Debuggee;
use crate::error::{DebuggeeError, gone_or, ignore_gone};
use crate::kernel::dispositions;
use crate::kernel::pending_stops;
use crate::kernel::put_back;
use crate::kernel::traps::{LONG_TRAP, TRAP};
use crate::kernel::{self, Event, Status};
use crate::state::life::Leader;
use crate::state::stop_event::StopEvent;
use crate::state::thread::{Motion, State, Thread};

/// `si_code` of a step that has entered a signal handler: the kernel stops the
/// thread by itself there.
const ENTERS_HANDLER: i32 = libc::SIGTRAP;

impl Debuggee {
    /// Waits for one status and handles it.
    pub(crate) fn wait_and_handle(&mut self) -> Result<(), DebuggeeError> {
        let (thread, status) = self.next_status()?;
        self.handle_status_tolerantly(thread, status)
    }

    /// Handles a status; its thread may have ended meanwhile.
    pub(crate) fn handle_status_tolerantly(
        &mut self,
        thread: u32,
        status: Status,
    ) -> Result<(), DebuggeeError> {
        match self.handle_status(thread, status) {
            // Killed meanwhile: its last status follows.
            Err(error) if error.is_end() => {
                if let Status::Stopped {
                    event: Event::Exit, ..
                } = status
                {
                    self.let_end(thread);
                }
                Ok(())
            }
            result => result,
        }
    }

    /// Lets a thread end that has stopped for it, whatever has failed: who has killed it waits
    /// for that.
    fn let_end(&mut self, thread: u32) {
        self.wait.departing.insert(thread);
        let _ = kernel::resume(thread, 0);
        // What fails about others is known by their own statuses.
        let _ = self.forget_thread(ThreadId(thread));
    }

    /// Returns the next status of a thread of this debuggee.
    pub(crate) fn next_status(&mut self) -> Result<(u32, Status), DebuggeeError> {
        #[cfg(test)]
        if crate::failures::strike_wait() {
            return Err(DebuggeeError::system("wait for the program")(Errno::EINVAL));
        }
        if let Some(status) = pending_stops::take(|thread| self.knows(thread)) {
            return Ok(status);
        }
        if let Some(status) = self.poll_fairly() {
            return Ok(status);
        }
        loop {
            match kernel::wait_any() {
                Ok((thread, status)) if self.knows(thread) || self.adopts(thread) => {
                    return Ok((thread, status));
                }
                Ok((thread, status)) => pending_stops::put(thread, status),
                Err(Errno::ECHILD) => {
                    self.life.end();
                    return Err(DebuggeeError::Gone);
                }
                Err(Errno::EINTR) => return Err(DebuggeeError::Unstoppable),
                Err(errno) => return Err(DebuggeeError::system("wait for the program")(errno)),
            }
        }
    }

    pub(crate) fn knows(&self, thread: u32) -> bool {
        thread == self.process
            || self.threads.contains_key(&thread)
            || self.wait.departing.contains(&thread)
            || self.forks.pending.contains_key(&thread)
            || self.forks.children.contains(thread)
            || self.is_stop_helper(thread)
    }

    /// Registers a new thread of the process that reports before its parent
    /// does; returns false for another process's. A parent that is killed in
    /// between would never report it.
    pub(crate) fn adopts(&mut self, id: u32) -> bool {
        let is_own = self.is_own_thread(id);
        if is_own {
            let thread = Thread::new(ThreadId(id), State::Starting);
            self.threads.insert(id, thread);
        }
        is_own
    }

    pub(crate) fn handle_status(&mut self, id: u32, status: Status) -> Result<(), DebuggeeError> {
        let (signal, event) = match status {
            Status::Stopped { signal, event } => (signal, event),
            status if self.is_stop_helper(id) => return self.handle_stop_helper(status),
            status => return self.note_gone(id, status),
        };
        if self.forks.pending.contains_key(&id) {
            return self.handle_fork_start(id);
        }
        let thread = ThreadId(id);
        let Some(known) = self.threads.get_mut(&id) else {
            if self.is_stop_helper(id) {
                return self.handle_stop_helper(status);
            }
            return self.handle_departing_stop(id, event);
        };
        let is_first = known.state == State::Starting;
        let interrupt_requested = known.interrupt_requested;
        known.note_stop(event == Event::Signal);
        known.inside_kernel = !matches!(event, Event::Signal | Event::Stop);
        if event == Event::Signal && signal != libc::SIGTRAP {
            known.group_stopped = false;
        }
        if event == Event::Stop || event == Event::Signal && signal != libc::SIGTRAP {
            self.restart_interrupted_call(thread, signal)?;
        }
        if self.image.patches.is_any() && self.handle_stop_in_patch(thread, signal, event)? {
            return Ok(());
        }
        match event {
            Event::Signal if signal == libc::SIGTRAP => self.handle_trap(thread),
            Event::Signal => self.handle_signal(thread, signal),
            Event::Stop if is_first => self.handle_start(thread),
            Event::Stop => self.handle_requested_stop(thread, signal, interrupt_requested),
            Event::Clone | Event::Fork | Event::Vfork => self.handle_new_child(thread, event),
            Event::VforkDone => self.handle_vfork_done(thread),
            Event::Exec => self.handle_exec(thread),
            Event::Exit => self.handle_exit(thread),
            Event::SystemCall => self.handle_system_call(thread),
            Event::FilteredCall => self.handle_filtered_call(thread),
            Event::Other => self.continue_internally(thread),
        }
    }

    /// Continues a thread after a stop that is not reported: as before, or as
    /// the engine orders if it had requested a stop.
    pub(crate) fn continue_internally(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let Some(known) = self.threads.get_mut(&thread.0) else {
            return Ok(());
        };
        if !known.hold_requested {
            let motion = known.motion;
            return self.set_in_motion(thread, motion);
        }
        known.hold_requested = false;
        let address = self.engine_address(thread)?;
        self.pass_counted(thread)?;
        self.feed(Input::Stopped { thread, address })
    }

    /// Passes a stop that is reported to the engine.
    pub(crate) fn interrupt_engine(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let address = self.engine_address(thread)?;
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.hold_requested = false;
        }
        self.pass_counted(thread)?;
        self.feed(Input::Interrupted { thread, address })
    }

    /// Returns the engine's address of a stopped thread: in a system call that
    /// will be restarted it has not passed the instruction.
    pub(crate) fn engine_address(&self, thread: ThreadId) -> Result<u64, DebuggeeError> {
        let registers = self.stop_registers(thread)?;
        if !registers.restarts_system_call() {
            return Ok(registers.shown.instruction_pointer());
        }
        let call = registers.kernel_counter.wrapping_sub(SYSTEM_CALL_LENGTH);
        Ok(match self.image.original_of(call) {
            Some(place) => place.address,
            None => call,
        })
    }

    /// Handles a `SIGTRAP`: a trap instruction, the end of a step, or a sent
    /// signal.
    ///
    /// The hot path: a running thread, one byte after a site. (A `SIGTRAP` that
    /// another process sends exactly there is taken for the trap:
    /// distinguishing them would cost every event a further system call.)
    fn handle_trap(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        if put_back::take_moved(thread.0) {
            return self.handle_returned_trap(thread);
        }
        if self.is_watching(thread) {
            let code = signal_code(thread)?;
            if code == ENTERS_HANDLER && !self.makes_step(thread) {
                self.note_handler(thread)?;
            }
            if self.handle_watched_trap(thread, code)?.is_some() {
                return Ok(());
            }
        }
        let counter = self.stop_registers(thread)?.kernel_counter;
        let address = counter.wrapping_sub(1);
        let Some(known) = self.threads.get(&thread.0) else {
            return Ok(());
        };
        let is_site = self.driver.engine.expects_trap(address);
        let leaves_copies = known.leaves_copies;
        if is_site && known.motion != Motion::Step && !leaves_copies {
            return self.handle_hit(thread, address);
        }
        let code = signal_code(thread)?;
        if code == SI_KERNEL {
            if is_site {
                return self.handle_hit(thread, address);
            }
            let mut byte = [0];
            let is_compiled_in = self.memory.read(address, &mut byte).is_ok() && byte == [TRAP];
            if is_compiled_in || self.is_behind_long_trap(counter) {
                // Its signal is the program's.
                return self.handle_signal(thread, libc::SIGTRAP);
            }
            // juror's, removed since: continue as if it had never been there.
            self.set_counter(thread, address)?;
            return self.continue_internally(thread);
        }
        if code <= 0 {
            return self.handle_signal(thread, libc::SIGTRAP);
        }
        if code == ENTERS_HANDLER && self.makes_step(thread) {
            self.note_handler(thread)?;
        }
        if leaves_copies {
            return self.continue_internally(thread);
        }
        let address = self.stop_registers(thread)?.shown.instruction_pointer();
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.hold_requested = false;
        }
        self.pass_counted(thread)?;
        self.feed(Input::Stepped { thread, address })
    }

    /// Returns true if a thread at `counter` has executed the trap of two bytes (`int 3`), which
    /// juror never inserts: the byte before is no place of one of its own.
    fn is_behind_long_trap(&self, counter: u64) -> bool {
        let mut bytes = [0; 2];
        let start = counter.wrapping_sub(2);
        !self.memory.was_inserted(counter.wrapping_sub(1))
            && self.memory.read(start, &mut bytes).is_ok()
            && bytes == LONG_TRAP
    }

    /// Handles a trap of juror's whose thread stands at the instruction again
    /// (`kernel::put_back`).
    fn handle_returned_trap(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        if self.is_watching(thread) {
            self.handle_watched_trap(thread, SI_KERNEL)?;
        }
        let address = self.stop_registers(thread)?.kernel_counter;
        if self.driver.engine.expects_trap(address) {
            return self.handle_hit(thread, address);
        }
        let mut byte = [0];
        if self.memory.read(address, &mut byte).is_ok() && byte == [TRAP] {
            // The program has its own there by now: another program, or code
            // that it has written.
            self.set_counter(thread, address.wrapping_add(1))?;
            return self.handle_signal(thread, libc::SIGTRAP);
        }
        // juror's, removed since: continue as if it had never been there.
        self.continue_internally(thread)
    }

    /// Returns true if a thread has been resumed for a step of the engine's.
    fn makes_step(&self, thread: ThreadId) -> bool {
        let known = self.threads.get(&thread.0);
        known.is_some_and(|known| known.motion == Motion::Step)
    }

    /// Returns true if a trap may be one of watched memory.
    #[inline]
    fn is_watching(&self, thread: ThreadId) -> bool {
        self.threads
            .get(&thread.0)
            .is_some_and(|known| known.steps_internally || known.hardware.is_armed())
            || self.watches.is_live()
    }

    fn handle_hit(&mut self, thread: ThreadId, address: u64) -> Result<(), DebuggeeError> {
        let Some(known) = self.threads.get_mut(&thread.0) else {
            return Ok(());
        };
        known.hold_requested = false;
        let Some(registers) = known.registers.get_mut() else {
            return Ok(());
        };
        registers.shown.set_instruction_pointer(address);
        let stack = registers.shown.stack_pointer();
        self.feed(Input::Trapped {
            thread,
            address,
            stack,
        })
    }

    /// Handles a requested stop, or one of job control.
    fn handle_requested_stop(
        &mut self,
        thread: ThreadId,
        signal: i32,
        interrupt_requested: bool,
    ) -> Result<(), DebuggeeError> {
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.group_stopped = dispositions::stops_by_default(signal);
        }
        if interrupt_requested && self.wait.interruption.is_asked() {
            return self.handle_interruption(thread);
        }
        if self.stopped_after_trap(thread)? {
            if let Some(known) = self.threads.get_mut(&thread.0) {
                known.state = State::Running;
                known.registers.take();
            }
            // It runs only up to the stop of its trap.
            return ignore_gone(kernel::resume(thread.0, 0));
        }
        self.continue_internally(thread)
    }

    /// Returns true if a thread that was asked to stop has executed a trap, an
    /// access that a debug register watches or a step, whose signal is still to
    /// come: the kernel reports the request first. If juror ended before it
    /// comes, the signal would reach the program; and only the signal shows
    /// whether a step of an instruction that branches to itself has been made.
    fn stopped_after_trap(&self, thread: ThreadId) -> Result<bool, DebuggeeError> {
        let asked = |known: &&Thread| known.hold_requested && !known.group_stopped;
        let Some(known) = self.threads.get(&thread.0).filter(asked) else {
            return Ok(false);
        };
        if known.motion == Motion::Step || known.leaves_copies {
            return Ok(kernel::has_trap_waiting(thread.0));
        }
        let counter = self.stop_registers(thread)?.kernel_counter;
        let may_trap = self.memory.is_inserted(counter.wrapping_sub(1)) || self.watches.is_any();
        Ok(may_trap && kernel::has_trap_waiting(thread.0))
    }

    fn handle_start(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        self.host.cpu.note_second_thread(thread.0);
        self.arm(thread)?;
        self.lock_stubs()?;
        self.note_birth_in_call(thread);
        self.feed(Input::Started { thread })?;
        self.queue_event(StopEvent::ThreadStarted { thread });
        Ok(())
    }

    /// Handles the exit event of a thread: it executes no further instruction.
    fn handle_exit(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        self.find_unreported_forks_of(thread)?;
        self.note_overwritten_at_end(thread);
        self.wait.departing.insert(thread.0);
        self.forget_thread(thread)?;
        ignore_gone(kernel::resume(thread.0, 0))
    }

    fn forget_thread(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        self.forget_page_caller(thread);
        self.free_record(thread);
        let Some(known) = self.threads.remove(&thread.0) else {
            return Ok(());
        };
        self.forks.has_lost_threads |= !known.is_vfork_child;
        let others_remain = self.threads.values().any(|other| !other.is_vfork_child);
        if !known.is_vfork_child && others_remain {
            self.queue_event(StopEvent::ThreadEnded { thread });
        }
        self.forget_calls_of(thread)?;
        self.feed(Input::Ended { thread })?;
        match known.vfork_parent {
            Some(parent) => self.resume_parent(parent),
            None => Ok(()),
        }
    }

    /// Continues the parent of a child that has ended or has been reported, if
    /// it is stopped for that.
    pub(crate) fn resume_parent(&mut self, parent: ThreadId) -> Result<(), DebuggeeError> {
        match self.threads.get(&parent.0) {
            Some(known) if known.state == State::Stopped => {
                self.feed(Input::Unparked { thread: parent })
            }
            _ => Ok(()),
        }
    }

    /// Handles the last status of a thread or of the process.
    pub(crate) fn note_gone(&mut self, id: u32, status: Status) -> Result<(), DebuggeeError> {
        self.wait.departing.remove(&id);
        if self.forks.children.remove(id) {
            return Ok(());
        }
        if let Some(pending_fork) = self.forks.pending.remove(&id) {
            self.forget_pending_fork(id, pending_fork)?;
        }
        if id != self.process {
            self.forget_thread(ThreadId(id))?;
            let is_last = self.threads.is_empty() && self.wait.departing.is_empty();
            if !(self.life.leader == Leader::EndedBefore && is_last) {
                return Ok(());
            }
        }
        let left = self.leave_at_end();
        if let Ok(true) = left {
            return Ok(());
        }
        self.life.end();
        self.threads.clear();
        self.forget_calls();
        self.host.cpu.unshare();
        self.wait.drop_thread_events();
        match status {
            Status::Exited { code } => self.queue_event(StopEvent::Exited { status: code }),
            Status::Killed { signal, core } => self.queue_event(StopEvent::Killed { signal, core }),
            Status::Stopped { .. } => {}
        }
        left.map(drop)
    }

    /// Handles a stop of a thread that is known to be ending, or that no longer
    /// belongs to this debuggee.
    fn handle_departing_stop(&mut self, id: u32, event: Event) -> Result<(), DebuggeeError> {
        match event {
            // The last thread alive can take the first one's number.
            Event::Exec if id == self.process => self.handle_exec(ThreadId(id)),
            Event::Exec => ignore_gone(self.let_go(id, 0)),
            _ => ignore_gone(kernel::resume(id, 0)),
        }
    }
}

/// Returns the code of the signal for which a thread has stopped.
pub(crate) fn signal_code(thread: ThreadId) -> Result<i32, DebuggeeError> {
    kernel::signal_information(thread.0)
        .map(|information| information.si_code)
        .map_err(gone_or("read a signal", thread))
}
