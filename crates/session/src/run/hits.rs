//! Hits of sites: determines the owners, and asks them in order.
//!
//! The order, and the combination of their answers, is `juror_control::decision`: DEVBREAK, SCNBREAK,
//! EVTBREAK of Jakse, Falcone and Méhaut, section 6. The temporary points of commands come last.

use crate::run::checkpoints::automatic;
use crate::run::pause::{Goal, Pause, Temporary};
use crate::run::scenarios::{carrying, notifying};
use crate::run::{
    catchpoints, dynamic_print, hardware_breakpoints, points, software_watchpoints, watchpoints,
};
use crate::session::Session;
use crate::state::evaluations::CallEnd;
use crate::state::inline_frames::SkippedFrames;
use crate::state::values::of_thread;
use juror_control::decision::{Meaning, Moment, Owner};
use juror_debuggee::{DebuggeeError, Owners, ThreadId};
use juror_fault::CommandError;
use juror_monitoring::monitors::EventOutcome;
use juror_monitoring::monitors::handlers::Scene;
use juror_monitoring::report;
use juror_points::point::{Fate, PointKind, Stopping};
use juror_view::StopReason;
use juror_view::observer::Observer;

impl Session {
    /// Handles a thread that is about to execute the instruction at a site.
    pub(super) fn on_hit(
        &mut self,
        thread: ThreadId,
        address: u64,
        owners: Owners,
        observer: &mut dyn Observer,
        temporaries: &[Temporary],
    ) -> Result<Option<Pause>, CommandError> {
        if owners.contains(Owners::INTERNAL)
            && let Some(end) = self.call_end_at(thread, address)?
        {
            return Ok(Some(Pause::CallEnded(thread, end)));
        }
        // Calls that juror makes for the user are not the program's behaviour.
        let mut calls = self.running()?.debuggee.open_calls();
        let is_called = calls.any(|call| call.thread == thread);
        drop(calls);
        if is_called && self.processes.stop.is_asking {
            return Ok(None);
        }
        if let Some(program) = &self.processes.program {
            self.points.breakpoints.arrive(program, thread, address);
        }
        let mut moment = Moment::default();
        for owner in Owner::IN_ORDER {
            let said = match owner {
                Owner::Developer if owners.contains(Owners::DEVELOPER) => {
                    self.ask_developer(thread, address)?
                }
                // Functions that juror has called do not trigger scenarios.
                Owner::Scenario
                    if owners.contains(Owners::SCENARIO)
                        && !is_called
                        && !self.scenarios.is_performing =>
                {
                    self.on_breakpoint(thread, address, Owners::SCENARIO)?
                }
                Owner::Monitor if !is_called => {
                    self.ask_monitors(thread, address, owners, observer)?
                }
                _ => None,
            };
            say(&mut moment, owner, said);
        }
        if !moment.has_stop() && owners.contains(Owners::INTERNAL) {
            let ended = watchpoints::on_call_end(self, thread, address)?;
            say(&mut moment, Owner::Developer, ended);
        }
        if !moment.has_stop() && owners.contains(Owners::INTERNAL) {
            let back = software_watchpoints::on_way_back(self, thread, address)?;
            say(&mut moment, Owner::Developer, back);
        }
        if !moment.has_stop() && owners.contains(Owners::STEP) {
            let stack = self.running()?.registers(thread)?.stack_pointer();
            let as_parent = self.processes.stop.followed;
            let as_parent = as_parent.and_then(|(it, parent)| (it == thread).then_some(parent));
            let is_meant = temporaries.iter().any(|temporary| {
                temporary.address == address
                    && temporary
                        .thread
                        .is_none_or(|wanted| wanted == thread || Some(wanted) == as_parent)
                    && stack > temporary.above
                    && stack <= temporary.up_to
            });
            if is_meant {
                moment.reach(Pause::Temporary(thread));
            }
        }
        // The program may also write, as soon as it resumes.
        dynamic_print::report_printed(self, observer);
        Ok(self.pause_of(moment, thread))
    }

    /// Checks the user's points at a site: breakpoints, then exceptions.
    fn ask_developer(
        &mut self,
        thread: ThreadId,
        address: u64,
    ) -> Result<Option<Pause>, CommandError> {
        let is_own = |&mut (announced, _): &mut (ThreadId, u64)| announced == thread;
        let announced = self.processes.stop.announced.take_if(is_own) == Some((thread, address));
        self.processes.stop.asked = Some((thread, address));
        if announced {
            return Ok(None);
        }
        let pause = self.on_breakpoint(thread, address, Owners::DEVELOPER)?;
        if pause.is_some() {
            return Ok(pause);
        }
        let caught = catchpoints::catch_exception(self, thread, address)?;
        Ok(caught.map(|reason| Pause::Reason(reason, thread)))
    }

    /// Sends the events at a site to the monitors: unwound calls, returns, then calls.
    fn ask_monitors(
        &mut self,
        thread: ThreadId,
        address: u64,
        owners: Owners,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        if !owners.intersects(Owners::RETURN | Owners::MONITOR | Owners::INTERNAL) {
            return Ok(None);
        }
        let process = &mut *self.processes;
        let Some(program) = &mut process.program else {
            return Ok(None);
        };
        let mut outcome = EventOutcome::default();
        let mut scene = Scene {
            program,
            thread,
            observer,
            outcome: &mut outcome,
        };
        unless_ended(process.monitors.on_hit(&mut scene, address, owners))?;
        self.scenarios.queued.extend(outcome.queued.drain(..));
        if outcome.is_empty() {
            return Ok(None);
        }
        process.stop.begun = outcome.level.map(|count| SkippedFrames {
            thread,
            pc: address,
            count,
        });
        let reason = report::reason(&process.monitors, &outcome, process.program.as_ref());
        Ok(Some(Pause::Reason(reason, thread)))
    }

    /// Returns the pause of a moment, including queued triggers of scenarios.
    pub(crate) fn pause_of(&self, mut moment: Moment<Pause>, thread: ThreadId) -> Option<Pause> {
        if self.scenarios.has_queued() {
            moment.notify_scenarios();
        }
        match moment.meaning() {
            Meaning::Stop(pause) | Meaning::Goal(pause) => Some(pause),
            Meaning::ScenariosOnly => Some(Pause::ScenariosNotified(thread)),
            Meaning::Nothing => None,
        }
    }

    /// Handles a point of the user or of a scenario: evaluates its condition, counts, and stops.
    pub(super) fn on_breakpoint(
        &mut self,
        thread: ThreadId,
        address: u64,
        owners: Owners,
    ) -> Result<Option<Pause>, CommandError> {
        let answers = match self.answers_of_calls(thread, address)? {
            Ok(answers) => answers,
            Err(pause) => return Ok(Some(pause)),
        };
        let Some(program) = &self.processes.program else {
            return Ok(None);
        };
        let values = |name: &str| of_thread(&self.user.values, program, thread, name);
        let mut hit = self
            .points
            .breakpoints
            .hit(program, thread, address, &values, &answers, owners);
        if let Some(hit) = hit.as_mut().filter(|hit| !hit.printing.is_empty()) {
            dynamic_print::print_at_hit(self, thread, address, hit);
        }
        let Some(stopping) = notifying::divert(self, thread, hit, &mut Vec::new())? else {
            return Ok(None);
        };
        let chain = self.running()?.inlined_chain(thread);
        let level = self
            .points
            .breakpoints
            .level_of(address, &stopping.numbers, &chain);
        self.stand_at_level(thread, level, &chain);
        let reason = self.breakpoint_reason(stopping)?;
        self.processes.last_hit = Some((thread, address));
        Ok(Some(Pause::Reason(reason, thread)))
    }

    /// Returns the reason for a stop at breakpoints.
    pub(crate) fn breakpoint_reason(
        &mut self,
        stopping: Stopping,
    ) -> Result<StopReason, CommandError> {
        let errors = stopping.error_sentences(PointKind::Breakpoint);
        let wrong = carrying::wrong_condition_of_scenario(self, &stopping, &errors);
        let silent = self.finish_stopping(&stopping)?;
        if let Some(reason) = wrong {
            return Ok(reason);
        }
        Ok(StopReason::Breakpoint {
            errors,
            numbers: stopping.numbers.to_vec(),
            temporary: stopping.temporary,
            silent,
        })
    }

    /// Queues the commands of the points that stop the program, and deletes or disables those that
    /// are used up. Returns whether the stop is not shown.
    pub(crate) fn finish_stopping(&mut self, stopping: &Stopping) -> Result<bool, CommandError> {
        let silent = self.points.commands.prepare(stopping);
        let mut gone = Vec::new();
        for &number in &stopping.spent {
            if points::point(self, number)?.fate == Fate::Delete {
                gone.push(number);
            }
        }
        if !stopping.spent.is_empty() {
            points::delete_points(self, &gone)?;
            points::settle_points(self)?;
        }
        Ok(silent)
    }

    /// Handles a thread at a site.
    pub(super) fn take_hit(
        &mut self,
        thread: ThreadId,
        address: u64,
        owners: Owners,
        goal: Goal<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        let pause = self.on_hit(thread, address, owners, observer, goal.temporaries)?;
        let is_event = owners.intersects(Owners::MONITOR | Owners::RETURN);
        if pause.is_none() && goal.stepping.is_none() && is_event {
            automatic::count_for_checkpoint(self, observer)?;
        }
        self.or_go_on(pause, thread, goal)
    }

    /// Handles a thread at a hardware breakpoint.
    pub(super) fn take_hardware_hit(
        &mut self,
        thread: ThreadId,
        address: u64,
        goal: Goal<'_>,
    ) -> Result<Option<Pause>, CommandError> {
        let announced = self.processes.stop.announced.take() == Some((thread, address));
        let pause = if announced {
            None
        } else {
            hardware_breakpoints::on_hardware_hit(self, thread, address)?
        };
        self.or_go_on(pause, thread, goal)
    }

    /// Handles a thread that has executed one instruction.
    pub(super) fn take_step(
        &mut self,
        thread: ThreadId,
        goal: Goal<'_>,
    ) -> Result<Option<Pause>, CommandError> {
        if self.running()?.debuggee.has_returned(thread) {
            return Ok(Some(Pause::CallEnded(thread, CallEnd::Returned)));
        }
        if let Some(pause) = software_watchpoints::compare_followed(self, thread)? {
            return Ok(Some(pause));
        }
        if goal.stepping != Some(thread) && self.scenarios.has_queued() {
            return Ok(Some(Pause::ScenariosNotified(thread)));
        }
        if goal.stepping == Some(thread) {
            return Ok(Some(Pause::Stepped(thread)));
        }
        // Its registers are watched.
        self.running_mut()?.debuggee.resume(thread)?;
        Ok(None)
    }

    /// Resumes the thread if a stop event did not cause a pause.
    pub(super) fn or_go_on(
        &mut self,
        pause: Option<Pause>,
        thread: ThreadId,
        goal: Goal<'_>,
    ) -> Result<Option<Pause>, CommandError> {
        if pause.is_none() {
            self.go_on(thread, goal)?;
        }
        Ok(pause)
    }
}

/// Takes the end of a thread, or of the program, for no failure: it can be killed at any moment, and
/// its last status is still to come.
pub(super) fn unless_ended(told: Result<(), DebuggeeError>) -> Result<(), DebuggeeError> {
    told.or_else(|error| if error.is_end() { Ok(()) } else { Err(error) })
}

/// Adds an owner's answer to a moment.
pub(super) fn say(moment: &mut Moment<Pause>, owner: Owner, said: Option<Pause>) {
    match said {
        None => {}
        Some(Pause::ScenariosNotified(_)) => moment.notify_scenarios(),
        Some(goal @ (Pause::Temporary(_) | Pause::Stepped(_))) => moment.reach(goal),
        Some(pause) => moment.stop(owner, pause),
    }
}
