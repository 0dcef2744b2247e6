//! Detaching after a failure of juror's own, in the middle of operations.
//!
//! The engine's assumptions may then not hold: an operation was not carried
//! out, or the remaining ones of a list were not. So it is not asked any more.
//! The kernel's state of each thread, and the memory's record of the traps,
//! suffice to stop all threads, to remove the traps, and to move each thread
//! back into the program.
//!
//! Invariant: after [`Debuggee::stop_by_force`] no thread runs and nothing is
//! waited for; inputs of the engine are ignored.

use juror_stepping::ThreadId;

use crate::debuggee::Debuggee;
use crate::kernel::dispositions;
use crate::kernel::pending_stops;
use crate::kernel::put_back;
use crate::kernel::{self, Event, Status};
use crate::memory::Memory;
use crate::state::life::RunState;
use crate::state::thread::{PendingSignal, State};

impl Debuggee {
    /// Stops every thread that runs.
    pub(crate) fn stop_by_force(&mut self) {
        self.driver.disconnect();
        self.life.run_state = RunState::Free;
        let running = self.threads.values().filter(|known| {
            let waits_for_vfork_child = known.state == State::InVfork;
            known.state != State::Stopped && !waits_for_vfork_child
        });
        let running: Vec<u32> = running.map(|known| known.id.0).collect();
        for &id in &running {
            let _ = kernel::interrupt(id);
        }
        for id in running {
            self.await_stop(id);
        }
        self.detach_forks();
        for known in self.threads.values_mut() {
            known.awaits_resume = true;
        }
        let others_remain = self.threads.values().any(|known| !known.is_vfork_child);
        if !others_remain {
            self.life.end();
        }
    }

    fn await_stop(&mut self, id: u32) {
        let status = match pending_stops::take(|thread| thread == id) {
            Some((_, status)) => Ok(status),
            None => kernel::wait_for(id),
        };
        match status {
            Ok(Status::Stopped {
                event: Event::Exit, ..
            }) => {
                self.wait.departing.insert(id);
                self.threads.remove(&id);
                let _ = kernel::resume(id, 0);
            }
            Ok(Status::Stopped { signal, event }) => {
                self.note_forced_stop(ThreadId(id), signal, event);
            }
            Ok(Status::Exited { .. } | Status::Killed { .. }) | Err(_) => {
                self.threads.remove(&id);
            }
        }
    }

    /// Records what must be known of a stopped thread before it is detached.
    fn note_forced_stop(&mut self, thread: ThreadId, signal: i32, event: Event) {
        let Some(known) = self.threads.get_mut(&thread.0) else {
            return;
        };
        known.note_stop(event == Event::Signal);
        known.group_stopped = event == Event::Stop && dispositions::stops_by_default(signal);
        if let Event::Fork | Event::Vfork = event
            && let Ok(child) = kernel::event_message(thread.0)
        {
            self.add_unreported_fork(child, thread);
        }
        if event != Event::Signal {
            return;
        }
        if signal == libc::SIGTRAP && self.is_own_trap(thread) {
            return;
        }
        if let Ok(information) = kernel::signal_information(thread.0)
            && let Some(known) = self.threads.get_mut(&thread.0)
        {
            known.pending = Some(PendingSignal {
                number: signal,
                information,
                deliver: true,
                fresh: true,
                synchronous: dispositions::is_fault(signal, &information),
                is_injected: false,
            });
        }
    }

    /// Returns true if a `SIGTRAP` is that of a trap of juror's, at which the
    /// thread is put back, or of a step.
    fn is_own_trap(&mut self, thread: ThreadId) -> bool {
        if put_back::take_moved(thread.0) {
            return true;
        }
        let Ok(registers) = kernel::registers(thread.0) else {
            return true;
        };
        let address = registers.instruction_pointer().wrapping_sub(1);
        if self.memory.is_inserted(address) {
            let _ = kernel::set_counter(thread.0, address);
            return true;
        }
        let code = kernel::signal_information(thread.0).map_or(0, |it| it.si_code);
        code > 0 && code != libc::SI_KERNEL
    }

    /// Releases copies of the memory that are stopped, or about to be.
    fn detach_forks(&mut self) {
        let pending_forks: Vec<u32> = std::mem::take(&mut self.forks.pending)
            .into_keys()
            .collect();
        for child in pending_forks {
            let stopped = match pending_stops::take(|thread| thread == child) {
                Some((_, status)) => Ok(status),
                None => kernel::wait_for(child),
            };
            if let Ok(Status::Stopped { .. }) = stopped {
                self.detach_fork(child);
            }
        }
        for child in std::mem::take(&mut self.forks.copies).into_keys() {
            self.detach_fork(child);
        }
    }

    fn detach_fork(&self, child: u32) {
        self.restore_fork(child);
        let _ = self.let_go(child, 0);
    }

    /// Restores the text of a copy of the memory, which is stopped, or about to be.
    pub(crate) fn restore_fork(&self, child: u32) {
        if let Ok(memory) = Memory::open_stopped(child) {
            self.memory.restore_every_patch_in(&memory);
            self.memory.restore_every_trap_in(&memory);
        }
    }
}
