//! Letting the program run until something happens that the person at the
//! prompt must see.
//!
//! Each notice of the debuggee is one rule: a point of the developer
//! (DEVBREAK), an event of a monitor (EXECEVENT), the end (STOP), as in
//! Jakse, Falcone and Méhaut, section 6. Owners at one place are served in
//! that order: developer, then monitors. Only what changes a verdict stops
//! other threads.

use crate::evaluations::CallEnd;
use crate::monitoring::KILLED_STATUS;
use crate::options::{CommandError, Observer};
use crate::points::{Fate, PointKind, Stopping};
use crate::print::convenience;
use crate::report;
use crate::session::Session;
use crate::view::{EndView, Ending, FrameView, Outcome, StopReason, StopView};
use crate::watch::happenings::Scene;
use crate::watch::{Reaction, Watch};
use juror_debuggee::{Follow, ForkKind, Notice, Owners, SystemCallPhase, ThreadId};
use juror_instrument::frames::users_frames;
use juror_instrument::program::Program;
use std::sync::Arc;

/// Frames that a stop shows.
const STOP_FRAMES_MAX: usize = 8;
/// Source lines that a stop shows.
const STOP_LINES: u32 = 7;

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
            self.follow_control();
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

    /// A signal that the table of `handle` has something to say about.
    fn on_signal(
        &mut self,
        thread: ThreadId,
        signal: i32,
        fault_address: Option<u64>,
        fatal: bool,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        if !self.is_shown(signal, fatal)? {
            return Ok(None);
        }
        let decision = self.handling.decide(signal, fatal);
        if let Some(reason) = self.catch_signal(thread, signal)? {
            self.running_mut()?
                .debuggee
                .set_delivery(thread, decision.pass)?;
            return Ok(Some(Pause::Reason(reason, thread)));
        }
        let (name, description) = crate::signal::describe(signal);
        let program = self.running_mut()?;
        program.debuggee.set_delivery(thread, decision.pass)?;
        if !decision.stop {
            if !decision.print && self.scenarios.has_heard() {
                return Ok(None);
            }
            let program = self.running()?;
            let number = program.thread_number(thread);
            observer.notice(&format!("thread {number} received {name}: {description}"));
            return Ok(None);
        }
        let reason = StopReason::Signal {
            signal: name,
            description,
            fault_address,
            fatal: fatal && decision.pass,
        };
        Ok(Some(Pause::Reason(reason, thread)))
    }

    /// A thread is about to execute the instruction at a site.
    fn on_hit(
        &mut self,
        thread: ThreadId,
        address: u64,
        owners: Owners,
        observer: &mut dyn Observer,
        temporaries: &[Temporary],
    ) -> Result<Option<Pause>, CommandError> {
        let mut pause = None;
        if owners.contains(Owners::INTERNAL)
            && let Some(end) = self.call_end_at(thread, address)?
        {
            return Ok(Some(Pause::CallEnded(thread, end)));
        }
        // What juror runs on the user's behalf is no behaviour of the program.
        let mut calls = self.running()?.debuggee.open_calls();
        let is_called = calls.any(|call| call.thread == thread);
        drop(calls);
        if is_called && self.is_asking {
            return Ok(None);
        }
        let is_own = |&mut (announced, _): &mut (ThreadId, u64)| announced == thread;
        let announced = self.announced.take_if(is_own) == Some((thread, address));
        if owners.contains(Owners::DEVELOPER) {
            self.asked = Some((thread, address));
        }
        if owners.contains(Owners::DEVELOPER) && !announced {
            pause = self.on_breakpoint(thread, address, Owners::DEVELOPER)?;
            if pause.is_none()
                && let Some(reason) = self.catch_exception(thread, address)?
            {
                pause = Some(Pause::Reason(reason, thread));
            }
        }
        // What a function does that juror has called is not for scenarios.
        if owners.contains(Owners::SCENARIO) && !is_called && !self.scenarios.is_performing {
            let at_scenarios = self.on_breakpoint(thread, address, Owners::SCENARIO)?;
            pause = pause.or(at_scenarios);
        }
        if !is_called
            && owners.intersects(Owners::RETURN | Owners::MONITOR | Owners::INTERNAL)
            && let Some(program) = &mut self.program
        {
            let mut reaction = Reaction::default();
            if owners.contains(Owners::INTERNAL) {
                self.watch.on_internal(program, thread, address)?;
            }
            if owners.contains(Owners::RETURN) {
                self.watch
                    .on_return(program, thread, address, observer, &mut reaction)?;
            }
            if owners.contains(Owners::MONITOR) {
                self.watch
                    .on_call(program, thread, address, observer, &mut reaction)?;
            }
            self.scenarios.heard.extend(reaction.heard.drain(..));
            if !reaction.is_empty() {
                let reason = report::reason(&self.watch, &reaction, self.program.as_ref());
                pause = Some(Pause::Reason(reason, thread));
            }
        }
        if pause.is_none() && owners.contains(Owners::INTERNAL) {
            pause = self.on_call_end(thread, address)?;
        }
        if pause.is_none() && owners.contains(Owners::INTERNAL) {
            pause = self.on_way_back(thread, address)?;
        }
        if pause.is_none() && owners.contains(Owners::STEP) {
            let stack = self.running()?.registers(thread)?.rsp;
            let is_meant = temporaries.iter().any(|temporary| {
                temporary.address == address
                    && temporary.thread.is_none_or(|wanted| wanted == thread)
                    && stack > temporary.above
            });
            if is_meant {
                pause = Some(Pause::Temporary(thread));
            }
        }
        Ok(self.or_heard(pause, thread))
    }

    /// Watched memory was accessed.
    fn take_access(
        &mut self,
        thread: ThreadId,
        accesses: &[juror_debuggee::MemoryAccess],
        goal: Goal<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        // Watching other bytes from now on stops every thread.
        let runs = |session: &Session| {
            let debuggee = &session.running()?.debuggee;
            let mut threads = debuggee.threads();
            Ok::<_, CommandError>(
                threads.any(|it| it.state == juror_debuggee::ThreadState::Running),
            )
        };
        let others_run = runs(self)?;
        let pause = self.on_access(thread, accesses)?;
        let told = self.tell_of_accesses(thread, accesses, observer)?;
        let pause = self.or_heard(told.or(pause), thread);
        if pause.is_some() {
            return Ok(pause);
        }
        let followed = self.compare_followed(thread)?;
        if let Some(pause) = self.or_heard(followed, thread) {
            return Ok(Some(pause));
        }
        if goal.stepping == Some(thread) {
            // The step is done.
            return Ok(Some(Pause::Stepped(thread)));
        }
        let is_halted = others_run && !runs(self)?;
        let debuggee = &mut self.running_mut()?.debuggee;
        if is_halted {
            debuggee.resume_all()?;
        } else {
            debuggee.resume(thread)?;
        }
        Ok(None)
    }

    /// A point of the developer, or of a scenario: asks its condition, counts,
    /// and stops.
    fn on_breakpoint(
        &mut self,
        thread: ThreadId,
        address: u64,
        owners: Owners,
    ) -> Result<Option<Pause>, CommandError> {
        let answers = match self.answers_of_calls(thread, address)? {
            Ok(answers) => answers,
            Err(pause) => return Ok(Some(pause)),
        };
        let Some(program) = &mut self.program else {
            return Ok(None);
        };
        let values = |name: &str| convenience(&self.values, name);
        let hit = self
            .breakpoints
            .hit(program, thread, address, &values, &answers, owners);
        let Some(stopping) = self.divert(thread, hit, &mut Vec::new())? else {
            return Ok(None);
        };
        let reason = self.breakpoint_reason(stopping)?;
        Ok(Some(Pause::Reason(reason, thread)))
    }

    /// Why the program stops at breakpoints.
    pub(crate) fn breakpoint_reason(
        &mut self,
        stopping: Stopping,
    ) -> Result<StopReason, CommandError> {
        let silent = self.finish_stopping(&stopping)?;
        Ok(StopReason::Breakpoint {
            errors: stopping.error_sentences(PointKind::Breakpoint),
            numbers: stopping.numbers.to_vec(),
            temporary: stopping.temporary,
            silent,
        })
    }

    /// The program stops at points: their commands are next, and those that it
    /// uses up go or are disabled. Tells whether the stop is not to be shown.
    pub(crate) fn finish_stopping(&mut self, stopping: &Stopping) -> Result<bool, CommandError> {
        let silent = self.attached.prepare(stopping);
        let mut gone = Vec::new();
        for &number in &stopping.spent {
            if self.point(number)?.fate == Fate::Delete {
                gone.push(number);
            }
        }
        if !stopping.spent.is_empty() {
            self.delete_points(&gone)?;
            self.settle_points()?;
        }
        Ok(silent)
    }

    /// Makes a pause into what the user sees: all threads stand, or the
    /// program is gone.
    pub(crate) fn settle(&mut self, pause: Pause) -> Result<Outcome, CommandError> {
        match pause {
            Pause::Ended(ending) => Ok(Outcome::Ended(Box::new(self.end(ending)))),
            Pause::Reason(reason, thread) => self.stop(reason, thread),
            // Reactions have been asked before.
            Pause::Heard(_) => Ok(Outcome::Done),
            Pause::CallEnded(thread, end) => {
                self.ended_call = Some((thread, end));
                Ok(Outcome::Done)
            }
            Pause::Temporary(thread) | Pause::Stepped(thread) => {
                match self.announce_breakpoint(thread)? {
                    Some(Pause::Reason(reason, thread)) => self.stop(reason, thread),
                    _ => self.stop(StopReason::Step, thread),
                }
            }
        }
    }

    /// A step ends where a breakpoint stands: that is what the user sees.
    pub(crate) fn announce_breakpoint(
        &mut self,
        thread: ThreadId,
    ) -> Result<Option<Pause>, CommandError> {
        let address = self.running()?.registers(thread)?.rip;
        let is_hardware = self.running()?.debuggee.is_hardware_site(address);
        let was_asked = self.asked == Some((thread, address));
        if was_asked || (!self.breakpoints.is_at(address) && !is_hardware) {
            return Ok(None);
        }
        let mut pause = self.on_breakpoint(thread, address, Owners::DEVELOPER)?;
        if pause.is_none() && is_hardware {
            pause = self.on_hardware_hit(thread, address)?;
        }
        self.announced = Some((thread, address));
        Ok(pause)
    }

    /// Stops all threads and shows where one of them stands.
    pub(crate) fn stop(
        &mut self,
        reason: StopReason,
        thread: ThreadId,
    ) -> Result<Outcome, CommandError> {
        self.control.owe()?;
        self.halt_processes()?;
        let program = self.running_mut()?;
        program.debuggee.forget_interruption();
        program.debuggee.take_terminal();
        let is_there = !self.processes.are_several() || self.settle_several(&reason)?;
        if !self.running()?.debuggee.is_alive() {
            return Ok(self.end_instead(reason));
        }
        if !is_there {
            return self.stop_elsewhere();
        }
        let Some(thread) = self.thread_to_show(thread)? else {
            return Ok(self.end_instead(reason));
        };
        self.select_thread(thread);
        self.control.settle()?;
        if reason.is_silent().is_none() {
            self.attached.clear();
        }
        let view = self.stop_view(reason, thread)?;
        Ok(Outcome::Stopped(Box::new(view)))
    }

    /// This thread, or another where it is gone; nothing where the process is
    /// about to end with all its threads.
    fn thread_to_show(&self, thread: ThreadId) -> Result<Option<ThreadId>, CommandError> {
        let program = self.running()?;
        let is_there = |thread: &ThreadId| program.registers(*thread).is_ok();
        let others = program.debuggee.thread_ids();
        Ok(std::iter::once(thread).chain(others).find(is_there))
    }

    /// The program has ended while it was being stopped. What it was to be
    /// stopped for is shown with its end.
    fn end_instead(&mut self, reason: StopReason) -> Outcome {
        let ending = self.ending_told();
        let mut end = self.end(ending);
        if let StopReason::Violation { mut violations } = reason {
            violations.append(&mut end.violations);
            end.violations = violations;
        }
        Outcome::Ended(Box::new(end))
    }

    pub(crate) fn stop_view(
        &mut self,
        reason: StopReason,
        thread: ThreadId,
    ) -> Result<StopView, CommandError> {
        let program = self.running()?;
        let thread_count = program.debuggee.threads().count();
        let number = program.thread_number(thread);
        let pc = program.registers(thread)?.rip;
        let mut location = report::location(program, pc);
        let (frames, mut more) = program.backtrace(thread, STOP_FRAMES_MAX);
        let mut frames = self.without_foreign_inlined(frames);
        if let Some(count) = users_frames(&frames) {
            frames.truncate(count);
            more = false;
        }
        let mut backtrace: Vec<FrameView> = frames
            .iter()
            .enumerate()
            .map(|(level, frame)| self.frame_view(level, frame))
            .collect();
        if let Some(first) = backtrace
            .first()
            .filter(|first| first.location.line.is_some() || first.location.near.is_some())
        {
            location.clone_from(&first.location);
        }
        if let StopReason::Watchpoint { accesses, .. } = &reason
            && let Some(place) = accesses.first().map(|access| &access.place)
            && place.line.is_some()
            && place.function == location.function
        {
            // The statement that did it, not what comes next.
            location.line = place.line;
            location.near = None;
            location.file.clone_from(&place.file);
            if let Some(first) = backtrace.first_mut() {
                first.location.line = place.line;
                first.location.near = None;
                first.location.file.clone_from(&place.file);
            }
        }
        let shown = frames
            .first()
            .and_then(|frame| Some((frame, self.line_of(frame)?)));
        let line_shown = location.line;
        let source = shown.and_then(|(frame, (file, line, _))| {
            let line = line_shown.unwrap_or(line);
            let built = frame.module.as_ref().and_then(|module| module.built);
            self.sources.around(&file, line, STOP_LINES, built)
        });
        Ok(StopView {
            evaluation: self.evaluations.innermost(thread),
            process: self.process_name(),
            reason,
            thread: number,
            thread_count,
            location,
            source,
            backtrace,
            more_frames: more,
        })
    }

    /// The run is over: verdicts are final.
    pub(crate) fn end(&mut self, ending: Option<Ending>) -> EndView {
        // When the user ended it, by a command or by a function that a command
        // called, nothing is decided by the end.
        let called = self.evaluations.running_function();
        let violations = self.final_violations(ending);
        self.watch.end_recording(ending);
        let summaries = {
            let gone = self.processes.gone();
            gone.summaries(&self.watch, self.program.as_ref())
        };
        let process = self.process_name();
        if let Some(program) = &mut self.program {
            program.debuggee.take_terminal();
        }
        self.forget_program();
        EndView {
            ending,
            process,
            called,
            violations,
            summaries,
        }
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
