//! Handles events of threads that are not at a site: signals, accesses to watched memory, system
//! calls.

use crate::run::hits::say;
use crate::run::pause::{Goal, Pause};
use crate::run::{catchpoints, software_watchpoints, watchpoints};
use crate::session::Session;
use juror_control::decision::{Moment, Owner};
use juror_debuggee::{SystemCallPhase, ThreadId};
use juror_fault::CommandError;
use juror_view::observer::Observer;
use juror_view::{StackOverflowView, StopReason};

/// The number of the signal of a trap.
const SIGTRAP: i32 = 5;
/// The `si_code` of a signal that an instruction has caused (`asm-generic/siginfo.h`).
const SI_KERNEL: i32 = 0x80;

/// A signal that arrives at a thread.
pub(super) struct Arrival {
    pub signal: i32,
    pub code: i32,
    pub sender: Option<u32>,
    pub fault_address: Option<u64>,
    pub fatal: bool,
}

impl Session {
    /// Handles a signal according to the table of `handle`.
    pub(super) fn on_signal(
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
        let decision = self.user.signals.decide(signal, fatal);
        if let Some(reason) = catchpoints::catch_signal(self, thread, signal)? {
            self.running_mut()?
                .debuggee
                .set_delivery(thread, decision.pass)?;
            return Ok(Some(Pause::Reason(reason, thread)));
        }
        let (name, description) = juror_points::signal_names::describe(signal);
        let program = self.running_mut()?;
        program.debuggee.set_delivery(thread, decision.pass)?;
        if !decision.stop {
            if !decision.print && self.scenarios.has_queued() {
                return Ok(None);
            }
            let program = self.running()?;
            let number = program.thread_number(thread);
            observer.notice(&format!("thread {number} received {name}: {description}"));
            return Ok(None);
        }
        let overflow = fault_address
            .filter(|_| matches!(&*name, "SIGSEGV" | "SIGBUS"))
            .and_then(|address| self.running().ok()?.stack_overflow(thread, address));
        let reason = StopReason::Signal {
            signal: name,
            description,
            fault_address,
            stack_overflow: overflow.map(|it| StackOverflowView {
                frame_count: it.frame_count,
                cycle: it.cycle,
            }),
            fatal: fatal && decision.pass,
        };
        Ok(Some(Pause::Reason(reason, thread)))
    }

    /// Handles an access to watched memory.
    pub(super) fn take_access(
        &mut self,
        thread: ThreadId,
        accesses: &[juror_debuggee::MemoryAccess],
        goal: Goal<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        // Changing the watched bytes stops every thread.
        let runs = |session: &Session| {
            let debuggee = &session.running()?.debuggee;
            let mut threads = debuggee.threads();
            Ok::<_, CommandError>(
                threads.any(|it| it.state == juror_debuggee::ThreadState::Running),
            )
        };
        let others_run = runs(self)?;
        let mut moment = Moment::default();
        for owner in Owner::IN_ORDER {
            let said = match owner {
                Owner::Developer => watchpoints::on_access(self, thread, accesses)?,
                // In one table with the user's, which are distinguished there.
                Owner::Scenario => None,
                Owner::Monitor => self.notify_of_accesses(thread, accesses, observer)?,
            };
            say(&mut moment, owner, said);
        }
        let pause = self.pause_of(moment, thread);
        if pause.is_some() {
            return Ok(pause);
        }
        let followed = software_watchpoints::compare_followed(self, thread)?;
        if let Some(pause) = self.or_notified(followed, thread) {
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

    /// Handles a signal that is about to be delivered.
    pub(super) fn take_signal(
        &mut self,
        thread: ThreadId,
        arrival: &Arrival,
        goal: Goal<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        let &Arrival {
            signal,
            code,
            sender,
            fault_address,
            fatal,
        } = arrival;
        let is_passed = self.is_passed(signal, fatal)?;
        let pause = if self.is_reported_trap(thread, arrival)? {
            let decision = self.user.signals.decide(signal, fatal);
            let debuggee = &mut self.running_mut()?.debuggee;
            debuggee.set_delivery(thread, decision.pass)?;
            // The instruction has been executed.
            (goal.stepping == Some(thread)).then_some(Pause::Stepped(thread))
        } else {
            self.on_signal(thread, signal, fault_address, fatal, observer)?
        };
        // A signal that the program does not receive is no event.
        let told = if is_passed {
            self.notify_monitors(thread, observer, |monitors, scene| {
                monitors.on_signal(scene, signal, sender, code)
            })?
        } else {
            None
        };
        let mut moment = Moment::default();
        say(&mut moment, Owner::Developer, pause);
        say(&mut moment, Owner::Monitor, told);
        let pause = self.pause_of(moment, thread);
        self.or_go_on(pause, thread, goal)
    }

    /// Returns whether a signal is that of a trap of the program's own at which a breakpoint has
    /// just stopped the thread: one instruction is one stop. Forgets the breakpoint's stop.
    fn is_reported_trap(
        &mut self,
        thread: ThreadId,
        arrival: &Arrival,
    ) -> Result<bool, CommandError> {
        let is_trap = (arrival.signal, arrival.code) == (SIGTRAP, SI_KERNEL);
        let Some((of, address)) = self.processes.last_hit.filter(|_| is_trap) else {
            return Ok(false);
        };
        // `int3`, or `int 3` in two bytes.
        let behind = self
            .running()?
            .debuggee
            .registers(thread)?
            .instruction_pointer()
            .wrapping_sub(address);
        let is_reported = of == thread && (behind == 1 || behind == 2);
        if is_reported {
            self.processes.last_hit = None;
        }
        Ok(is_reported)
    }

    /// Handles a thread that enters or leaves a system call that was requested.
    pub(super) fn take_system_call(
        &mut self,
        thread: ThreadId,
        number: u64,
        phase: SystemCallPhase,
        goal: Goal<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        let caught = catchpoints::on_system_call(self, thread, number, phase)?;
        let told = self.notify_monitors(thread, observer, |monitors, scene| {
            monitors.on_system_call(scene, number, phase)
        })?;
        let mut moment = Moment::default();
        say(&mut moment, Owner::Developer, caught);
        say(&mut moment, Owner::Monitor, told);
        let is_over = matches!(phase, SystemCallPhase::Exit { .. });
        let is_stepped = is_over && goal.stepping == Some(thread);
        let pause = self
            .pause_of(moment, thread)
            .or(is_stepped.then_some(Pause::Stepped(thread)));
        self.or_go_on(pause, thread, goal)
    }
}
