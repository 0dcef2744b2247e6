//! Restoring a process.
//!
//! The present process is killed, which frees its number; the template makes a
//! copy of itself with that number, the copy makes the other threads with
//! theirs, and each gets the kernel state that was kept. What may be refused is
//! checked before the present process is killed.

use std::io;
use std::time::Duration;

use juror_stepping::{Input, Owner, ThreadId};
use nix::errno::Errno;
use nix::unistd::{Pid, setpgid};

use super::batch::{self, Batch};
use super::ended_children::EndedChildren;
use super::entries::Entry;
use super::memory_holder::{MemoryHolder, QUIET};
use super::threads::{CloneArguments, FrozenThread, send_again};
use super::{FrozenProcess, ThawError, bare};
use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::host::Pids;
use crate::host::cpu::Cpu;
use crate::host::terminal::Terminal;
use crate::kernel::pending_stops;
use crate::kernel::process_status;
use crate::kernel::{self, Outcome, Status};
use crate::memory::Memory;
use crate::state::life::{Phase, ProcessGroup};
use crate::state::thread::State;

/// How often, and how far apart, juror checks whether the number of a killed
/// process is free: its children may be just ending.
const LOOKS: u32 = 200;
const LOOK_INTERVAL: Duration = Duration::from_millis(5);

/// A process that has been restored.
#[derive(Debug)]
pub struct Thawed {
    /// The process; every thread waits.
    pub debuggee: Debuggee,
    /// Each thread's number then and now; they differ if the process has a PID
    /// namespace of its own, or could not get the old ones.
    pub threads: Vec<(ThreadId, ThreadId)>,
    /// State of threads that could not be restored: what, of which thread, and
    /// why.
    pub refused: Vec<(&'static str, ThreadId, io::Error)>,
}

/// A process that has been made.
struct Made {
    tasks: Vec<u32>,
    memory: Memory,
    refused: Vec<(&'static str, ThreadId, io::Error)>,
}

/// The tasks of a process that is being made; dropping them ends it.
struct Making {
    tasks: Vec<u32>,
}

impl Making {
    fn leader(&self) -> u32 {
        self.tasks.first().copied().unwrap_or(0)
    }

    /// Returns the tasks of the complete process.
    fn finish(mut self) -> Vec<u32> {
        std::mem::take(&mut self.tasks)
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        let Some((&leader, others)) = self.tasks.split_first() else {
            return;
        };
        let _ = kernel::signal_process(leader as i32, libc::SIGKILL);
        // The first one's end is reported last.
        for &task in others {
            while let Ok(Status::Stopped { .. }) = kernel::wait_for(task) {
                let _ = kernel::resume(task, 0);
            }
        }
        kernel::abandon(leader);
    }
}

impl FrozenProcess {
    /// Returns the points that upper layers had inserted, with their owners and
    /// counts.
    pub fn points(&self) -> &[(u64, Owner, u32)] {
        &self.points
    }

    /// Restores the process in place of the present one, which is killed; it
    /// may have ended before. The new one has these points, the memory that
    /// monitors watched then, and the memory that the user watches now. Nothing
    /// of it has run.
    ///
    /// # Errors
    /// The reason why that is impossible. If it was known beforehand, the
    /// present process is as it was.
    pub fn thaw(
        &self,
        present: Option<&mut Debuggee>,
        points: &[(u64, Owner, u32)],
    ) -> Result<Thawed, ThawError> {
        if !self.is_alive() {
            return Err(ThawError::TemplateGone(self.template.0));
        }
        self.check_pid(present.as_deref())?;
        let mut present = present;
        let memory_holder = match &mut present {
            Some(present) => self.end_present(present)?,
            None => None,
        };
        let made = self.make(self.keeps_pids);
        drop(memory_holder);
        let mut thawed = self.with_threads(made, points)?;
        let debuggee = &mut thawed.debuggee;
        self.arrange_watches(debuggee, present.as_deref())?;
        self.take_over(debuggee, present);
        Ok(thawed)
    }

    /// Makes a process with other numbers, beside the one that was kept.
    pub(super) fn copy(&self, points: &[(u64, Owner, u32)]) -> Result<Thawed, ThawError> {
        if !self.is_alive() {
            return Err(ThawError::TemplateGone(self.template.0));
        }
        let mut thawed = self.with_threads(self.make(false), points)?;
        self.arrange_watches(&mut thawed.debuggee, None)?;
        Ok(thawed)
    }

    /// Returns a process that has been made, with its threads and points.
    fn with_threads(
        &self,
        made: Result<Made, Errno>,
        points: &[(u64, Owner, u32)],
    ) -> Result<Thawed, ThawError> {
        let Made {
            tasks,
            memory,
            refused,
        } = made.map_err(gone)?;
        let threads: Vec<(ThreadId, ThreadId)> = self
            .threads
            .iter()
            .zip(&tasks)
            .map(|(thread, &task)| (ThreadId(thread.id), ThreadId(task)))
            .collect();
        let process = tasks.first().copied().unwrap_or(self.process);
        let mut debuggee = self.new_debuggee(process, memory);
        self.place_threads(&mut debuggee, &tasks, points)?;
        let renumbered = |event: &crate::StopEvent| event.renumbered(&threads);
        debuggee.wait.events = self.pending_events.iter().map(renumbered).collect();
        Ok(Thawed {
            debuggee,
            threads,
            refused,
        })
    }

    /// Checks that only the present process uses the number.
    fn check_pid(&self, present: Option<&Debuggee>) -> Result<(), ThawError> {
        if !self.keeps_pids {
            return Ok(());
        }
        if present.is_none() {
            self.check_former()?;
        }
        // Members of its group or session are its children, or made by those.
        let is_alone = |present: &Debuggee| !present.forks.has_made_processes;
        if !self.has_made_processes && present.is_some_and(is_alone) {
            return Ok(());
        }
        let present = present.map(|present| present.process);
        // In a namespace of its own it has another number for juror each time.
        let number = if self.own_pid == self.process {
            Some(self.process)
        } else {
            present
        };
        let Some(number) = number else {
            return Ok(());
        };
        let kept = self.children.as_slice();
        let is_excepted = |id| {
            let is_ended = present.is_some_and(|present| {
                process_status::ProcessStatus::of_process(id)
                    .is_some_and(|status| status.parent == present)
            });
            pending_stops::is_template(id) || is_ended && !kept.contains(&id)
        };
        match process_status::user_of_pid(number, is_excepted) {
            Some(by) => Err(ThawError::PidTaken { number, by }),
            None => Ok(()),
        }
    }

    /// Checks that a process from which juror detached does not run under the
    /// number.
    fn check_former(&self) -> Result<(), ThawError> {
        let status = || process_status::ProcessStatus::of_process(self.process);
        if status().is_some_and(|status| status.has_ended()) {
            // It has not been waited for yet.
            let _ = kernel::poll_for(self.process);
        }
        match status() {
            Some(_) if self.own_pid == self.process => Err(ThawError::PidRuns(self.process)),
            _ => Ok(()),
        }
    }

    /// Kills the present process and the children that it has made since; may
    /// return the holder of its memory.
    fn end_present(&self, present: &mut Debuggee) -> Result<Option<MemoryHolder>, DebuggeeError> {
        pending_stops::reap_ended();
        present.take_terminal();
        present.halt_everything()?;
        let memory_holder = present.spawn_memory_holder();
        let is_kept =
            |child: &u32| self.children.contains(child) || pending_stops::is_template(*child);
        let made_since = present.children().into_iter();
        let made_since = EndedChildren::end(made_since.filter(|child| !is_kept(child)));
        for &thread in present.threads.keys() {
            let _ = kernel::set_options(thread, QUIET);
        }
        let mut threads = present.threads.values();
        let are_stopped = threads.all(|it| it.state == State::Stopped && !it.is_vfork_child);
        let phase = if are_stopped {
            Phase::BeingKilledStopped
        } else {
            Phase::BeingKilled
        };
        let group = std::mem::replace(&mut present.life.group, ProcessGroup::KeptFork);
        let ended = made_since.inherit(|| present.kill_in(phase));
        present.life.group = group;
        ended.map(|()| memory_holder)
    }

    /// Makes the template make the process, with all its threads.
    fn make(&self, keeps_pids: bool) -> Result<Made, Errno> {
        let first = self.make_first(keeps_pids)?;
        let mut making = Making { tasks: vec![first] };
        let path = process_status::file_of(first, first, "mem");
        let memory = Memory::open(&path).map_err(|_| Errno::ESRCH)?;
        self.make_others(&mut making, &memory, keeps_pids)?;
        self.install_in_process(making.leader(), &memory)?;
        let is_leader = |task| task == first;
        let parts = || self.threads.iter().zip(&making.tasks);
        let calls: Vec<(u32, Batch)> = parts()
            .map(|(thread, &task)| (task, thread.calls_to_install(is_leader(task))))
            .collect();
        let calls: Vec<(u32, &Batch)> = calls.iter().map(|(task, it)| (*task, it)).collect();
        for answers in batch::run_together(&calls, &memory, self.place)? {
            answers.all()?;
        }
        let mut refused = Vec::new();
        for (thread, &task) in parts() {
            let of_thread = thread.install(task, &memory, self.place)?.into_iter();
            refused.extend(of_thread.map(|(what, why)| (what, ThreadId(task), why)));
        }
        Ok(Made {
            tasks: making.finish(),
            memory,
            refused,
        })
    }

    /// Makes the first thread make the others.
    fn make_others(&self, making: &mut Making, memory: &Memory, keeps_pids: bool) -> Outcome<()> {
        let mut others = self.threads.iter().skip(1).peekable();
        while others.peek().is_some() {
            let mut batch = Batch::default();
            while batch.room() >= CloneArguments::LENGTH_MAX
                && let Some(thread) = others.next()
            {
                thread.clone_arguments(keeps_pids).add_to(&mut batch);
            }
            let answers = batch.run(making.leader(), memory, self.place)?;
            making.tasks.extend_from_slice(&answers.made);
            answers.all()?;
        }
        if making.tasks.len() == self.threads.len() {
            Ok(())
        } else {
            Err(Errno::ESRCH)
        }
    }

    fn make_first(&self, keeps_pids: bool) -> Result<u32, Errno> {
        let arguments = CloneArguments {
            flags: libc::CLONE_PARENT as u64,
            end_word: 0,
            thread_storage: 0,
            number: keeps_pids.then_some(self.own_pid),
        };
        let make = || arguments.make(self.template.0, &self.memory, self.place);
        let mut looks = 0;
        loop {
            match make() {
                Err(Errno::EEXIST) if looks < LOOKS => {
                    looks += 1;
                    std::thread::sleep(LOOK_INTERVAL);
                }
                made => return made,
            }
        }
    }

    /// Restores the state of the process as a whole.
    fn install_in_process(&self, leader: u32, memory: &Memory) -> Result<(), Errno> {
        let gadget = self.place.gadget;
        if self.leads_session {
            bare::demand(leader, gadget, libc::SYS_setsid, [0; 6])?;
        } else if self.leads_group {
            let process = Pid::from_raw(leader as i32);
            if setpgid(process, process).is_err() {
                bare::demand(leader, gadget, libc::SYS_setpgid, [0; 6])?;
            }
        }
        send_again(&self.waiting, leader, true, memory, self.place)?;
        self.timers.install(leader, memory, self.place)
    }

    /// Returns the new process as a debuggee, without threads.
    fn new_debuggee(&self, process: u32, memory: Memory) -> Debuggee {
        let settings = &self.settings;
        let cpu = Cpu::new(settings.cpu, process);
        let mut debuggee = Debuggee::new(process, memory, cpu, settings.origin);
        debuggee.driver.configure(
            settings.step_by,
            settings.in_place,
            settings.self_check.as_ref(),
        );
        debuggee.forks.policy = settings.follow;
        debuggee.signals.policies = settings.signal_policies.clone();
        debuggee.forks.are_caught = settings.catches_forks;
        debuggee.life.group = settings.group;
        debuggee.signals.monitored = self.monitored_signals;
        debuggee.image = self.image.clone();
        debuggee.image.patches.forget_gates();
        debuggee.forks.has_made_processes = self.has_made_processes;
        debuggee.host.pids = Pids::new(self.namespace.clone());
        debuggee
    }

    /// Registers the threads and the points with the engine. A thread that had
    /// been reported where it stands is not reported there again.
    fn place_threads(
        &self,
        debuggee: &mut Debuggee,
        tasks: &[u32],
        points: &[(u64, Owner, u32)],
    ) -> Result<(), DebuggeeError> {
        for (frozen, &task) in self.threads.iter().zip(tasks) {
            debuggee.threads.insert(task, frozen.known(task));
        }
        debuggee.enter_again(&self.entries_of(tasks))?;
        debuggee.insert_own_points()?;
        for &(address, owner, count) in points {
            for _ in 0..count {
                match debuggee.insert(address, owner) {
                    // The module that was loaded there is not now.
                    Ok(()) | Err(DebuggeeError::Memory { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        debuggee.life.enter(Phase::Restoring);
        let mut placed = Ok(());
        for (frozen, &task) in self.threads.iter().zip(tasks) {
            placed = placed.and(place_thread(debuggee, ThreadId(task), frozen));
        }
        debuggee.life.enter(Phase::Alive);
        placed
    }

    /// Returns the new threads that are to stand at the entry of a call.
    fn entries_of(&self, tasks: &[u32]) -> Vec<Entry> {
        let number = |entry: &Entry| {
            let mut threads = self.threads.iter().zip(tasks);
            let (_, &task) = threads.find(|(thread, _)| thread.id == entry.thread.0)?;
            Some(Entry {
                thread: ThreadId(task),
                ..*entry
            })
        };
        self.entries.iter().filter_map(number).collect()
    }

    /// Arranges the memory that monitors watched then, and that the user
    /// watches now.
    fn arrange_watches(
        &self,
        debuggee: &mut Debuggee,
        present: Option<&Debuggee>,
    ) -> Result<(), DebuggeeError> {
        let is_monitors = |watch: &&crate::watch::Watch| watch.owner == Owner::Monitor;
        let kept = self.watches.iter().filter(is_monitors).cloned();
        let watches = &mut debuggee.watches;
        watches.list.extend(kept);
        if let Some(present) = present {
            let now = present.watches.list.iter().filter(|it| !is_monitors(it));
            watches.list.extend(now.cloned());
            watches.execute.clone_from(&present.watches.execute);
            watches.last_id = present.watches.last_id;
        }
        let last = self.watches.iter().map(|watch| watch.id.0).max();
        watches.last_id = watches.last_id.max(last.unwrap_or(0));
        for watch in &mut debuggee.watches.list {
            watch.look(&debuggee.memory);
        }
        if debuggee.watches.is_any() {
            debuggee.arrange_tiers()
        } else {
            Ok(())
        }
    }

    /// Takes over the single resources and the user's settings.
    fn take_over(&self, debuggee: &mut Debuggee, present: Option<&mut Debuggee>) {
        debuggee.system_calls = self.system_calls.clone();
        match present {
            Some(present) => {
                present.transfer_to(debuggee);
                debuggee.forks.policy = present.forks.policy;
                debuggee.signals.policies = present.signals.policies.clone();
                debuggee.forks.are_caught = present.forks.are_caught;
                debuggee.system_calls.take_developers(&present.system_calls);
            }
            None if self.had_terminal => {
                debuggee.host.terminal = Terminal::hand_over(debuggee.process);
                debuggee.take_terminal();
            }
            None => {}
        }
        if let Some(terminal) = &mut debuggee.host.terminal {
            terminal.belongs_to(debuggee.process);
            if let Some(modes) = &self.terminal_modes {
                terminal.set_modes_of_debuggee(modes.clone());
            }
        }
    }
}

/// Registers a stopped thread with the engine; if it had been reported, as
/// arrived and reported.
fn place_thread(
    debuggee: &mut Debuggee,
    thread: ThreadId,
    frozen: &FrozenThread,
) -> Result<(), DebuggeeError> {
    let (address, stack) = (
        frozen.registers.instruction_pointer(),
        frozen.registers.stack_pointer(),
    );
    if frozen.is_reported && debuggee.driver.engine.is_site(address) {
        debuggee.feed(Input::Attached { thread })?;
        inherit_arrivals(debuggee, thread, frozen)?;
        return debuggee.feed(Input::Trapped {
            thread,
            address,
            stack,
        });
    }
    debuggee.feed(Input::Started { thread })?;
    inherit_arrivals(debuggee, thread, frozen)?;
    let address = debuggee.engine_address(thread)?;
    debuggee.feed(Input::Interrupted { thread, address })
}

/// Passes the arrivals to which the handlers of a thread return to the engine.
fn inherit_arrivals(
    debuggee: &mut Debuggee,
    thread: ThreadId,
    frozen: &FrozenThread,
) -> Result<(), DebuggeeError> {
    for &arrival in &frozen.arrivals {
        let mut inherited = arrival;
        if let Input::Inherited { thread: of, .. } = &mut inherited {
            *of = thread;
        }
        debuggee.feed(inherited)?;
    }
    Ok(())
}

fn gone(errno: Errno) -> ThawError {
    DebuggeeError::system("restore the program")(errno).into()
}
