//! Letting the program run until something happens that the person at the
//! prompt must see.
//!
//! Each notice of the debuggee is one rule: a point of the developer
//! (DEVBREAK), an event of a monitor (EXECEVENT), the end (STOP), as in
//! Jakse, Falcone and Méhaut, section 6. Owners at one place are served in
//! that order: developer, then monitors. Only what changes a verdict stops
//! other threads.

mod happenings;
mod hits;
mod stopping;

use crate::evaluations::CallEnd;
use crate::monitoring::KILLED_STATUS;
use crate::options::{CommandError, Observer};
use crate::session::Session;
use crate::view::{Ending, Outcome, StopReason};
use crate::watch::Watch;
use crate::watch::happenings::Scene;
use juror_debuggee::{Follow, ForkKind, Notice, Owners, SystemCallPhase, ThreadId};
use juror_instrument::program::Program;
use std::sync::Arc;

/// What ended a run, before it is made into a view.
#[derive(Debug)]
pub(crate) enum Pause {
    /// Show this.
    Reason(StopReason, ThreadId),
    /// A temporary point of a command was reached.
    Temporary(ThreadId),
    /// A step of one instruction is done.
    Stepped(ThreadId),
    /// Nothing for the user: scenarios have heard of something.
    Heard(ThreadId),
    /// A call of an evaluation is over.
    CallEnded(ThreadId, CallEnd),
    /// The program is gone.
    Ended(Option<Ending>),
}

impl Pause {
    /// The thread that it is about.
    pub(crate) fn thread(&self) -> Option<ThreadId> {
        match self {
            Pause::Reason(_, thread)
            | Pause::Temporary(thread)
            | Pause::Stepped(thread)
            | Pause::Heard(thread)
            | Pause::CallEnded(thread, _) => Some(*thread),
            Pause::Ended(_) => None,
        }
    }
}

/// What a command waits for besides what always stops the program.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Goal<'a> {
    /// Its temporary points.
    pub temporaries: &'a [Temporary],
    /// A thread that executes one instruction.
    pub stepping: Option<ThreadId>,
}

/// A temporary point of a command: only this thread counts, and only when its
/// stack pointer is above `frame` (so that recursion does not count).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Temporary {
    /// Where it is.
    pub address: u64,
    /// Whose it is; any thread's without one.
    pub thread: Option<ThreadId>,
    /// The stack pointer must be greater.
    pub above: u64,
}

impl Session {
    /// `continue`: lets all threads run until something happens.
    pub(crate) fn continue_run(
        &mut self,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let pause = self.continue_until_pause(observer)?;
        self.settle(pause)
    }

    /// Lets all threads run until something happens, which is still to be
    /// shown.
    pub(crate) fn continue_until_pause(
        &mut self,
        observer: &mut dyn Observer,
    ) -> Result<Pause, CommandError> {
        if let Some(pause) = self.begin(observer)? {
            return Ok(pause);
        }
        self.prepare_all_followed()?;
        self.resume_processes()?;
        self.pump(observer, Goal::default())
    }

    /// Takes notices until one must be seen. Threads have been resumed.
    pub(crate) fn pump(
        &mut self,
        observer: &mut dyn Observer,
        goal: Goal<'_>,
    ) -> Result<Pause, CommandError> {
        self.selection.frames = None;
        self.attached.clear();
        self.asked = None;
        loop {
            self.control.run()?;
            let notice = self.next_notice();
            self.control.told();
            let pause = self.take(notice?, observer, goal)?;
            self.tell_ends(observer);
            let pause = match pause {
                Some(pause) => self.react(pause, goal, observer)?,
                None => None,
            };
            if let Some(pause) = pause {
                if pause.is_owed() {
                    self.control.owe()?;
                }
                if let Pause::Reason(StopReason::Violation { .. }, _) = pause {
                    self.tell_of_checkpoint(observer);
                }
                return Ok(pause);
            }
        }
    }

    fn take(
        &mut self,
        notice: Notice,
        observer: &mut dyn Observer,
        goal: Goal<'_>,
    ) -> Result<Option<Pause>, CommandError> {
        match notice {
            Notice::Hit {
                thread,
                address,
                owners,
            } => {
                let pause = self.on_hit(thread, address, owners, observer, goal.temporaries)?;
                if pause.is_none() {
                    if goal.stepping.is_none()
                        && owners.intersects(Owners::MONITOR | Owners::RETURN)
                    {
                        self.count_for_checkpoint(observer)?;
                    }
                    let debuggee = &mut self.running_mut()?.debuggee;
                    // The report came instead of the step, which is asked for
                    // again.
                    if goal.stepping == Some(thread) {
                        debuggee.step(thread)?;
                    } else {
                        debuggee.resume(thread)?;
                    }
                }
                return Ok(pause);
            }
            Notice::Stepped { thread, .. } => {
                if self.running()?.debuggee.has_returned(thread) {
                    return Ok(Some(Pause::CallEnded(thread, CallEnd::Returned)));
                }
                if let Some(pause) = self.compare_followed(thread)? {
                    return Ok(Some(pause));
                }
                if goal.stepping != Some(thread) && self.scenarios.has_heard() {
                    return Ok(Some(Pause::Heard(thread)));
                }
                if goal.stepping == Some(thread) {
                    return Ok(Some(Pause::Stepped(thread)));
                }
                // What it has in registers is watched.
                self.running_mut()?.debuggee.resume(thread)?;
            }
            Notice::ThreadStarted { thread } => {
                let program = self.running_mut()?;
                program.number_thread(thread);
                let tell = |watch: &mut Watch, scene: &mut Scene<'_>| watch.on_thread_start(scene);
                if let Some(pause) = self.tell_monitors(thread, observer, tell)? {
                    return Ok(Some(pause));
                }
                self.running_mut()?.debuggee.resume(thread)?;
            }
            Notice::ThreadEnded { thread } => {
                self.lose_evaluations(thread)?;
                for number in self.watchpoints.of_thread(thread) {
                    observer.notice(&format!("watchpoint {number} is gone with its thread"));
                    self.watchpoints.delete(self.program.as_mut(), &[number])?;
                }
                let pause = self
                    .tell_monitors(thread, observer, |watch, scene| watch.on_thread_end(scene))?;
                if let Some(program) = &mut self.program {
                    let number = program.thread_number(thread);
                    program.forget_thread(thread);
                    let has_number = |it: &Program| it.thread_of_number(number).is_some();
                    if !self.processes.other_programs().any(has_number) {
                        for gone in self.end_points_of_thread(number)? {
                            observer.notice(&gone);
                        }
                    }
                    // The thread itself can be shown no more.
                    let other = self.running()?.debuggee.thread_ids().next();
                    if let (Some(Pause::Reason(reason, _)), Some(other)) = (pause, other) {
                        return Ok(Some(Pause::Reason(reason, other)));
                    }
                }
            }
            Notice::ModulesChanged { thread } => {
                // A property that does not fit a late library must be seen:
                // its events would be missed.
                let before = self.loaded_paths();
                let bound = self.bind(thread, false);
                let program = self.running_mut()?;
                program.modules.note_started();
                if let Err(error) = bound {
                    return Ok(Some(Pause::Reason(late_error(&error), thread)));
                }
                let caught = self.catch_libraries(thread, &before)?;
                let told =
                    self.tell_monitors(thread, observer, |watch, scene| watch.on_modules(scene))?;
                if told.is_some() {
                    return Ok(told);
                }
                if let Some(reason) = caught {
                    return Ok(Some(Pause::Reason(reason, thread)));
                }
                self.running_mut()?.debuggee.resume(thread)?;
            }
            Notice::Signal {
                thread,
                signal,
                code,
                sender,
                fault_address,
                fatal,
            } => {
                let is_passed = self.is_passed(signal, fatal)?;
                let pause = self.on_signal(thread, signal, fault_address, fatal, observer)?;
                // One that the program does not get does not happen to it.
                let told = match is_passed {
                    true => self.tell_monitors(thread, observer, |watch, scene| {
                        watch.on_signal(scene, signal, sender, code)
                    })?,
                    false => None,
                };
                let pause = self.or_heard(told.or(pause), thread);
                if pause.is_none() {
                    self.go_on(thread, goal)?;
                }
                return Ok(pause);
            }
            Notice::HardwareHit { thread, address } => {
                let announced = self.announced.take() == Some((thread, address));
                let pause = match announced {
                    true => None,
                    false => self.on_hardware_hit(thread, address)?,
                };
                if pause.is_none() {
                    let debuggee = &mut self.running_mut()?.debuggee;
                    // It came before the instruction that was to be stepped.
                    if goal.stepping == Some(thread) {
                        debuggee.step(thread)?;
                    } else {
                        debuggee.resume(thread)?;
                    }
                }
                return Ok(pause);
            }
            Notice::Accessed { thread, accesses } => {
                return self.take_access(thread, &accesses, goal, observer);
            }
            Notice::SystemCall {
                thread,
                number,
                phase,
            } => {
                let caught = self.on_system_call(thread, number, phase)?;
                let told = self.tell_monitors(thread, observer, |watch, scene| {
                    watch.on_system_call(scene, number, phase)
                })?;
                let pause = self.or_heard(told.or(caught), thread);
                if pause.is_some() {
                    return Ok(pause);
                }
                let is_over = matches!(phase, SystemCallPhase::Exit { .. });
                if is_over && goal.stepping == Some(thread) {
                    return Ok(Some(Pause::Stepped(thread)));
                }
                self.go_on(thread, goal)?;
                return Ok(None);
            }
            Notice::Forking {
                thread,
                child,
                kind,
            } => {
                let pause = self.on_forking(thread, child, kind)?;
                if pause.is_some() {
                    self.tell_birth(child, observer)?;
                }
                return Ok(pause);
            }
            Notice::Executed { thread, path } => {
                observer.notice(&self.runs_now(&path));
                self.watch.on_exec();
                self.evaluations.clear();
                self.breakpoints.forget_process();
                self.catchpoints.forget_locations();
                self.hardware_breakpoints.forget_locations();
                for gone in self.watchpoints.forget_program(true) {
                    let (number, text) = (gone.point.number, gone.text);
                    observer.notice(&format!(
                        "watchpoint {number} on {text} is gone: its memory is another program's now"
                    ));
                }
                self.running_mut()?.restart(thread);
                self.running_mut()?.debuggee.run_by_steps(thread, false);
                self.selection.thread = Some(thread);
                if let Err(error) = self.bind(thread, false) {
                    return Ok(Some(Pause::Reason(late_error(&error), thread)));
                }
                if let Some(reason) = self.catch_exec(thread, &path)? {
                    return Ok(Some(Pause::Reason(reason, thread)));
                }
                self.running_mut()?.debuggee.resume(thread)?;
            }
            Notice::Forked { child, kind } => self.tell_forked(child, kind, observer),
            Notice::Joined {
                process,
                parent,
                kind,
            } => return self.on_joined(process, parent, kind, observer),
            Notice::Left { process } => {
                observer.notice(&format!("process {process} goes on without juror"));
            }
            Notice::Followed { thread, parent } => {
                return self.on_followed(thread, parent, observer, goal);
            }
            Notice::Interrupted { thread } => {
                return Ok(Some(Pause::Reason(StopReason::Interrupted, thread)));
            }
            Notice::Exited { status } => {
                self.tell_of_exit(status, observer)?;
                return Ok(self.on_process_end(Ending::Exited { status }));
            }
            Notice::Killed { signal, .. } => {
                self.tell_of_exit(KILLED_STATUS.saturating_add(signal), observer)?;
                return Ok(self.on_process_end(Ending::Killed { signal }));
            }
        }
        Ok(None)
    }

    /// The program stops where it has made a process: what becomes of that is
    /// told before the stop.
    fn tell_birth(&mut self, child: u32, observer: &mut dyn Observer) -> Result<(), CommandError> {
        let debuggee = &mut self.running_mut()?.debuggee;
        debuggee.halt_all()?;
        if let Some(Notice::Forked { child, kind }) = debuggee.await_birth(child)? {
            self.tell_forked(child, kind, observer);
        }
        Ok(())
    }

    fn tell_forked(&self, child: u32, kind: ForkKind, observer: &mut dyn Observer) {
        let how = match kind {
            ForkKind::Fork => "forked; it runs without juror",
            ForkKind::Vfork if self.options.follow == Follow::Both => {
                "made by vfork; it is debugged when it runs its program"
            }
            ForkKind::Vfork => "made by vfork; it runs without juror",
        };
        observer.notice(&format!("process {child} {how}"));
    }
}

pub(crate) fn late_error(error: &crate::options::SessionError) -> StopReason {
    use crate::options::SessionError;
    match error {
        SessionError::Property { file, found } => {
            let told = found.first();
            let first = told.and_then(|told| told.diagnostics.first());
            StopReason::MonitorError {
                property: file.clone(),
                message: first.map_or_else(String::new, |diagnostic| diagnostic.message.clone()),
                start: first.map_or(0, |diagnostic| diagnostic.span.start),
                end: first.map_or(0, |diagnostic| diagnostic.span.end),
                file: told.map_or_else(|| file.clone(), |told| told.file.clone()),
                text: told.map_or_else(|| "".into(), |told| Arc::clone(&told.text)),
            }
        }
        other => StopReason::MonitorError {
            property: String::new(),
            message: other.to_string(),
            start: 0,
            end: 0,
            file: String::new(),
            text: "".into(),
        },
    }
}
