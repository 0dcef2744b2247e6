//! Runs the program until something must be shown to the user.
//!
//! Each stop event of the debuggee is one rule: a point of the user (DEVBREAK), an event of a
//! monitor (EXECEVENT), the end (STOP), as in Jakse, Falcone and Méhaut, section 6. Owners at one
//! address are processed in that order: user, then monitors. Other threads are stopped only if a
//! verdict changes.

pub(crate) mod attach;
mod call_stops;
pub(crate) mod catchpoints;
mod changes;
pub(crate) mod checkpoints;
pub(crate) mod control;
pub(crate) mod core_file;
pub(crate) mod dynamic_print;
pub(crate) mod evaluations;
pub(crate) mod follow_fork;
pub(crate) mod going_back;
mod happenings;
pub(crate) mod hardware_breakpoints;
mod hits;
pub(crate) mod launch;
mod line_run;
pub(crate) mod monitor_events;
pub(crate) mod patching;
pub(crate) mod pause;
pub(crate) mod points;
pub(crate) mod processes;
pub(crate) mod recording;
pub(crate) mod scenarios;
pub(crate) mod scheduling;
pub(crate) mod self_modified_code;
pub(crate) mod serving;
pub(crate) mod software_watchpoints;
pub(crate) mod step;
mod stopping;
pub(crate) mod symbol_reading;
pub(crate) mod watchpoints;

pub(crate) use crate::run::changes::late_error;
use crate::run::checkpoints::automatic;
use crate::run::happenings::Arrival;
use crate::run::pause::{Goal, KILLED_STATUS, Pause};
use crate::run::processes::{joining, leaving, watching};
use crate::session::Session;
use crate::state::control::refused;
use juror_debuggee::StopEvent;
use juror_fault::CommandError;
use juror_view::observer::Observer;
use juror_view::{Ending, Outcome, StopReason};

impl Session {
    /// `continue`: resumes all threads until something happens.
    pub(crate) fn continue_run(
        &mut self,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let pause = self.continue_until_pause(observer)?;
        let outcome = self.settle(pause)?;
        if let Outcome::Stopped(stop) = &outcome
            && let Some(offer) = recording::offer(self, &stop.reason)
        {
            observer.notice(offer);
        }
        Ok(outcome)
    }

    /// Resumes all threads until something happens, which is still to be shown.
    pub(crate) fn continue_until_pause(
        &mut self,
        observer: &mut dyn Observer,
    ) -> Result<Pause, CommandError> {
        self.control.permit_run()?;
        observer.resumes();
        if let Some(pause) = self.begin(observer)? {
            return Ok(pause);
        }
        watching::prepare_all_followed(self)?;
        if let Some(error) = patching::arrange(self, observer)? {
            return Err(CommandError::from(error));
        }
        self.resume_processes()?;
        self.pump(observer, Goal::default())
    }

    /// Processes stop events until one must be shown. Threads have been resumed.
    pub(crate) fn pump(
        &mut self,
        observer: &mut dyn Observer,
        goal: Goal<'_>,
    ) -> Result<Pause, CommandError> {
        for program in self.processes.programs_mut() {
            // What runs now is read to the end.
            program.end_question();
        }
        self.processes.selection.frames = None;
        self.processes.nodes.clear();
        self.points.commands.clear();
        self.processes.stop.asked = None;
        self.processes.stop.followed = None;
        self.processes.stop.at_signal = None;
        self.processes.stop.at_write = None;
        self.scenarios.accessed = None;
        observer.resumes();
        loop {
            self.control.permit_run()?;
            self.control.state.run().map_err(refused)?;
            let stop_event = self.next_stop_event();
            self.control.state.notify();
            self.follow_control();
            let pause = self.take_tolerantly(stop_event?, observer, goal)?;
            self.report_ends(observer);
            let pause = match pause {
                Some(pause) => self.react(pause, goal, observer)?,
                None => None,
            };
            if let Some(pause) = pause {
                if pause.is_owed() {
                    self.control.state.owe_stop().map_err(refused)?;
                }
                if let Pause::Reason(StopReason::Violation { .. }, _) = pause {
                    automatic::report_last_checkpoint(self, observer);
                }
                return Ok(pause);
            }
        }
    }

    /// Handles a stop event. Its thread may be killed meanwhile, with the program or by `exec`: then
    /// there is nothing to do for it, and the next stop event says so.
    fn take_tolerantly(
        &mut self,
        stop_event: StopEvent,
        observer: &mut dyn Observer,
        goal: Goal<'_>,
    ) -> Result<Option<Pause>, CommandError> {
        let thread = stop_event.waiting_thread();
        let taken = self.take(stop_event, observer, goal);
        let program = self.processes.program.as_ref();
        let is_lost = || {
            let lost = program.zip(thread);
            lost.is_some_and(|(program, thread)| program.debuggee.is_lost(thread))
        };
        match taken {
            Err(_) if is_lost() => Ok(None),
            taken => taken,
        }
    }

    pub(crate) fn take(
        &mut self,
        stop_event: StopEvent,
        observer: &mut dyn Observer,
        goal: Goal<'_>,
    ) -> Result<Option<Pause>, CommandError> {
        match stop_event {
            StopEvent::Hit {
                thread,
                address,
                owners,
            } => return self.take_hit(thread, address, owners, goal, observer),
            StopEvent::Stepped { thread, .. } => return self.take_step(thread, goal),
            StopEvent::ThreadStarted { thread } => return self.take_thread_start(thread, observer),
            StopEvent::ThreadEnded { thread } => return self.take_thread_end(thread, observer),
            StopEvent::ModulesChanged { thread } => return self.take_modules(thread, observer),
            StopEvent::Signal {
                thread,
                signal,
                code,
                sender,
                fault_address,
                fatal,
            } => {
                let arrival = Arrival {
                    signal,
                    code,
                    sender,
                    fault_address,
                    fatal,
                };
                return self.take_signal(thread, &arrival, goal, observer);
            }
            StopEvent::HardwareHit { thread, address } => {
                return self.take_hardware_hit(thread, address, goal);
            }
            StopEvent::Accessed { thread, accesses } => {
                return self.take_access(thread, &accesses, goal, observer);
            }
            StopEvent::SystemCall {
                thread,
                number,
                phase,
            } => return self.take_system_call(thread, number, phase, goal, observer),
            StopEvent::Forking {
                thread,
                child,
                kind,
            } => {
                let pause = catchpoints::on_forking(self, thread, child, kind)?;
                let Some(Pause::Reason(reason, maker)) = pause else {
                    return Ok(pause);
                };
                let thread = self.report_fork(maker, child, observer)?;
                return Ok(Some(Pause::Reason(reason, thread)));
            }
            StopEvent::Executed { thread, path } => {
                return self.take_exec(thread, &path, observer);
            }
            StopEvent::Forked { child, kind } => self.report_forked(child, kind, observer),
            StopEvent::ChildAttached {
                process,
                parent,
                kind,
            } => return joining::on_joined(self, process, parent, kind, observer),
            StopEvent::ParentDetached { process } => changes::report_left(process, observer),
            StopEvent::ChildFollowed { thread, parent } => {
                return follow_fork::on_followed(self, thread, parent, observer, goal);
            }
            StopEvent::Interrupted { thread } => {
                return Ok(Some(Pause::Reason(StopReason::Interrupted, thread)));
            }
            StopEvent::Standstill { thread, kind } => {
                let reason = scheduling::standstill(self.running()?, kind);
                return Ok(Some(Pause::Reason(reason, thread)));
            }
            StopEvent::Called { thread } => serving::serve(self, thread, goal, observer)?,
            StopEvent::TimePassed { thread } => return self.take_time(thread, goal, observer),
            StopEvent::Exited { status } => {
                self.notify_of_exit(status, observer)?;
                return Ok(leaving::on_process_end(self, Ending::Exited { status }));
            }
            StopEvent::Killed { signal, .. } => {
                self.notify_of_exit(KILLED_STATUS.saturating_add(signal), observer)?;
                return Ok(leaving::on_process_end(self, Ending::Killed { signal }));
            }
        }
        Ok(None)
    }
}
