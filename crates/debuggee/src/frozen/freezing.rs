//! Keeping the state of a process.

use juror_stepping::{Engine, ThreadId};
use nix::errno::Errno;

use super::batch::{self, Batch};
use super::memory_holder::leave_group;
use super::threads::{FrozenThread, Place, Question, waiting_signals};
use super::timers::Timers;
use super::{FreezeError, FrozenProcess, Settings, Template, bare, uncopied};
use crate::debuggee::Debuggee;
use crate::error::{DebuggeeError, gone_or};
use crate::kernel::pending_stops;
use crate::kernel::process_status;
use crate::memory::Memory;
use crate::state::stop_event::StopEvent;
use crate::state::thread::State;

/// The numbers of the processes and threads that are made of what is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numbers {
    /// The numbers that they had, if that is possible.
    Old,
    New,
}

impl Debuggee {
    /// Keeps the state of the process. All threads are stopped for it, and wait
    /// as they did before; the caller resumes those that ran.
    ///
    /// # Errors
    /// The reason why it cannot be kept; the process is then as before.
    pub fn freeze(&mut self) -> Result<FrozenProcess, FreezeError> {
        self.freeze_with(Numbers::Old)
    }

    /// As [`Debuggee::freeze`], for copies that get other numbers.
    pub(super) fn freeze_for_copies(&mut self) -> Result<FrozenProcess, FreezeError> {
        self.freeze_with(Numbers::New)
    }

    fn freeze_with(&mut self, numbers: Numbers) -> Result<FrozenProcess, FreezeError> {
        if self.life.is_attached() {
            return Err(FreezeError::Attached);
        }
        pending_stops::reap_ended();
        self.halt_everything()?;
        if self.life.has_ended() {
            return Err(DebuggeeError::Gone.into());
        }
        let leader = ThreadId(self.process);
        // Other programs have their calls made, and go on in them.
        let entries = match numbers {
            Numbers::Old => Vec::new(),
            Numbers::New => self.entries(),
        };
        let checked = self.check_for_freezing(leader, numbers);
        let (place, keeps_pids) = match checked {
            Ok(checked) => checked,
            Err(error) => {
                self.enter_again(&entries)?;
                return Err(error);
            }
        };
        self.host.cpu.unshare();
        let protected = !self.watches.pages.is_empty() && !self.watches.pages.are_open();
        if protected {
            self.open_pages(leader)?;
        }
        let frozen = self.copy_standing(leader, place, keeps_pids);
        self.host.cpu.share_again();
        if protected {
            self.close_pages(leader)?;
        }
        self.enter_again(&entries)?;
        Ok(FrozenProcess { entries, ..frozen? })
    }

    /// Checks the conditions; returns where system calls are made, and whether
    /// the process may choose its number.
    fn check_for_freezing(
        &mut self,
        leader: ThreadId,
        numbers: Numbers,
    ) -> Result<(Place, bool), FreezeError> {
        if !self.calls.is_empty() {
            return Err(FreezeError::InCall);
        }
        if self.image.is_seccomp_filtered {
            return Err(FreezeError::NoGadget);
        }
        if !self.life.is_attached() && !self.is_own_child() {
            return Err(FreezeError::ForeignParent);
        }
        let waiting = |known: &&crate::state::thread::Thread| known.state == State::InVfork;
        if let Some(known) = self.threads.values().find(waiting) {
            return Err(FreezeError::InVfork(known.id.0));
        }
        if let Some(known) = self.threads.values().find(|known| known.is_vfork_child) {
            return Err(FreezeError::InVfork(known.id.0));
        }
        if !self.threads.contains_key(&leader.0) {
            return Err(FreezeError::NoFirstThread);
        }
        let threads = self.threads.len();
        let keeps_pids = process_status::may_choose_pids(self.process, leader.0);
        if threads > 1 && !keeps_pids && numbers == Numbers::Old {
            let refusal = self.namespace_refusal().map(str::to_owned);
            return Err(FreezeError::NotPermitted { threads, refusal });
        }
        let gadget = self
            .image
            .out_of_line
            .gadget()
            .ok_or(FreezeError::NoGadget)?;
        self.leave_kernel(leader)?;
        let data = self.data_page(leader, gadget)?;
        let data = data.ok_or(FreezeError::NoGadget)?;
        Ok((Place { gadget, data }, keeps_pids))
    }

    fn copy_standing(
        &mut self,
        leader: ThreadId,
        place: Place,
        keeps_pids: bool,
    ) -> Result<FrozenProcess, FreezeError> {
        let threads = self.freeze_threads(leader, place)?;
        let timers = self.freeze_timers(leader, place)?;
        let groups = process_status::group_and_session(self.process);
        let leads = |number: Option<u32>| number == Some(self.process);
        let leads_group = leads(groups.map(|(group, _)| group));
        let leads_session = leads(groups.map(|(_, session)| session));
        let template = self.make_template(leader, place)?;
        let path = process_status::file_of(template.0, template.0, "mem");
        let memory = Memory::open(&path).map_err(|source| DebuggeeError::System {
            what: "open the memory of the program's copy",
            source,
        })?;
        self.memory.restore_all_in(&memory);
        let uncopied = uncopied::between(self.process, template.0);
        leave_group(template.0, leads_session, place.gadget).map_err(DebuggeeError::system(
            "take the copy out of its process group",
        ))?;
        Ok(FrozenProcess {
            template,
            memory,
            place,
            process: self.process,
            own_pid: process_status::own_pid(self.process, self.process).unwrap_or(self.process),
            keeps_pids,
            threads,
            entries: Vec::new(),
            waiting: waiting_signals(leader.0, true),
            timers,
            leads_group,
            leads_session,
            settings: self.settings_for_thawing(),
            image: self.image.clone(),
            points: self.points(),
            watches: self.watches.list.clone(),
            system_calls: self.system_calls.clone(),
            monitored_signals: self.signals.monitored,
            children: self.children(),
            has_made_processes: self.forks.has_made_processes,
            uncopied,
            threads_with_own_users: self.threads_with_own_users(),
            namespace: self.host.pids.own().cloned(),
            had_terminal: self.host.terminal.is_some(),
            terminal_modes: self
                .host
                .terminal
                .as_ref()
                .and_then(|terminal| terminal.modes_of_debuggee()),
            pending_events: self
                .wait
                .events
                .iter()
                .filter(|event| {
                    !matches!(
                        event,
                        StopEvent::Hit { .. } | StopEvent::ChildAttached { .. }
                    )
                })
                .cloned()
                .collect(),
        })
    }

    /// Reads the kernel's state of each thread; the first thread first.
    fn freeze_threads(
        &mut self,
        leader: ThreadId,
        place: Place,
    ) -> Result<Vec<FrozenThread>, DebuggeeError> {
        let others = self.threads.keys().copied().filter(|&id| id != leader.0);
        let ids: Vec<u32> = std::iter::once(leader.0).chain(others).collect();
        for &id in &ids {
            self.leave_kernel(ThreadId(id))?;
        }
        let question = Question::new();
        let asked: Vec<(u32, &Batch)> = ids.iter().map(|&id| (id, &question.batch)).collect();
        let answers = batch::run_together(&asked, &self.memory, place)
            .map_err(gone_or("save the state of the threads", leader))?;
        let mut threads = Vec::with_capacity(ids.len());
        for (id, answers) in ids.into_iter().zip(answers) {
            let thread = ThreadId(id);
            let stop = *self.stop_registers(thread)?;
            let known = self.stopped(thread)?;
            let answered = (&question, &answers);
            let mut frozen = FrozenThread::of(self.process, known, &stop, answered)
                .map_err(gone_or("save the state of a thread", thread))?;
            frozen.is_reported =
                is_reported(&self.driver.engine, thread) && !self.has_pending_hit(thread);
            frozen.arrivals = self.driver.engine.arrivals_further_out(thread).collect();
            threads.push(frozen);
            self.note_call_made(thread)?;
        }
        Ok(threads)
    }

    /// Returns true if a hit of the thread is queued: it comes to the site
    /// again.
    fn has_pending_hit(&self, thread: ThreadId) -> bool {
        let is_hit =
            |event: &StopEvent| matches!(event, StopEvent::Hit { thread: of, .. } if *of == thread);
        self.wait.events.iter().any(is_hit)
    }

    fn freeze_timers(&mut self, leader: ThreadId, place: Place) -> Result<Timers, DebuggeeError> {
        let timers = Timers::of(leader.0, &self.memory, place)
            .map_err(gone_or("read the program's timers", leader))?;
        self.note_call_made(leader)?;
        Ok(timers)
    }

    /// Makes the first thread copy the process.
    fn make_template(&mut self, leader: ThreadId, place: Place) -> Result<Template, FreezeError> {
        let flags = [libc::CLONE_PARENT as u64, 0, 0, 0, 0, 0];
        let answer = bare::call(leader.0, place.gadget, libc::SYS_clone, flags)
            .map_err(gone_or("copy the program", leader))?;
        self.note_call_made(leader)?;
        let made = answer.made.map(Template::new);
        answer.checked().map_err(FreezeError::of_copy)?;
        made.ok_or_else(|| FreezeError::of_copy(Errno::ESRCH))
    }

    /// Returns true if the process is a child of juror, which alone waits for
    /// its end.
    fn is_own_child(&self) -> bool {
        let status = process_status::ProcessStatus::of_process(self.process);
        status.is_some_and(|status| status.parent == std::process::id())
    }

    /// Returns the children of the process that have not been waited for.
    pub(super) fn children(&self) -> Vec<u32> {
        if self.forks.has_made_processes {
            process_status::children(self.process)
        } else {
            Vec::new()
        }
    }

    fn threads_with_own_users(&self) -> usize {
        let users = |thread: u32| process_status::users(self.process, thread);
        match self.threads.len() {
            0 | 1 => 0,
            _ => {
                let first = users(self.process);
                let others = self.threads.keys().filter(|&&id| id != self.process);
                others.filter(|&&id| users(id) != first).count()
            }
        }
    }

    fn settings_for_thawing(&self) -> Settings {
        Settings {
            origin: self.life.origin,
            cpu: self.cpu_policy(),
            step_by: self.driver.engine.step_by(),
            in_place: self.driver.in_place,
            self_check: self.driver.self_check().cloned(),
            follow: self.forks.policy,
            signal_policies: self.signals.policies.clone(),
            catches_forks: self.forks.are_caught,
            group: self.life.group,
        }
    }
}

/// Returns true if all owners at the site where a thread stands have been
/// notified.
fn is_reported(engine: &Engine, thread: ThreadId) -> bool {
    engine.reported_at(thread).is_some()
}
