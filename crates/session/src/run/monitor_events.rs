//! Sends events other than hits to the monitors, and acts on the results.
//!
//! **Invariant**: calls that juror has made in the program are not its behaviour, and monitors do
//! not receive their events.

use crate::run::checkpoints::{automatic, numbers};
use crate::run::pause::{Goal, Pause};
use crate::run::self_modified_code;
use crate::session::Session;
use crate::state::control::refused;
use juror_control::decision::{GoOn, go_on};
use juror_debuggee::{DebuggeeError, MemoryAccess, Owner, SignalReport, ThreadId};
use juror_event::EventKind;
use juror_fault::CommandError;
use juror_monitoring::monitors::binding::Planted;
use juror_monitoring::monitors::handlers::Scene;
use juror_monitoring::monitors::{EventOutcome, Monitors};
use juror_monitoring::report;
use juror_points::point::passage;
use juror_program::locations;
use juror_program::program::Program;
use juror_view::observer::Observer;
use juror_view::{PointLocation, PointView, location};

impl Session {
    /// Begins the run: sends the start event to the monitors before the program's first
    /// instruction.
    pub(crate) fn begin(
        &mut self,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        numbers::report_missing_namespace(self, observer);
        automatic::checkpoint_at_start(self, observer)?;
        if !self.control.state.begin().map_err(refused)? {
            return Ok(None);
        }
        let thread = self.thread()?;
        let pause =
            self.notify_monitors(thread, observer, |monitors, scene| monitors.on_start(scene))?;
        let mut pause = self.react_to_start(pause, thread, observer)?;
        if pause.is_none()
            && let Some(signal) = self.launch.early_signal.take()
        {
            pause = self.take(signal, observer, Goal::default())?;
        }
        if pause.is_some() {
            self.control.state.owe_stop().map_err(refused)?;
        }
        Ok(pause)
    }

    /// Sends an event to the monitors; returns a reason to stop if a verdict changes. Calls that
    /// juror has made are not the program's behaviour.
    pub(crate) fn notify_monitors(
        &mut self,
        thread: ThreadId,
        observer: &mut dyn Observer,
        tell: impl FnOnce(&mut Monitors, &mut Scene<'_>) -> Result<(), DebuggeeError>,
    ) -> Result<Option<Pause>, CommandError> {
        if self.is_called(thread)? {
            return Ok(None);
        }
        let process = &mut *self.processes;
        let Some(program) = &mut process.program else {
            return Ok(None);
        };
        let mut outcome = EventOutcome::default();
        program.begin_moment();
        let mut scene = Scene {
            program,
            thread,
            observer,
            outcome: &mut outcome,
        };
        tell(&mut process.monitors, &mut scene)?;
        // It may happen in the call whose end is awaited now.
        process
            .monitors
            .await_those_needed_now(scene.program, thread)?;
        self.scenarios.queued.extend(outcome.queued.drain(..));
        if outcome.is_empty() {
            return Ok(self.or_notified(None, thread));
        }
        let reason = report::reason(&process.monitors, &outcome, process.program.as_ref());
        Ok(Some(Pause::Reason(reason, thread)))
    }

    /// Decides what is due without an event; `thread` was stopped for it.
    pub(crate) fn take_time(
        &mut self,
        thread: ThreadId,
        goal: Goal<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        let pause = self.notify_monitors(thread, observer, |monitors, scene| {
            monitors.on_time(scene.program, scene.observer, scene.outcome)
        })?;
        if pause.is_none() {
            automatic::look(self, observer)?;
            self.go_on(thread, goal)?;
        }
        Ok(pause)
    }

    /// Returns whether a thread is in a function that juror has called.
    fn is_called(&self, thread: ThreadId) -> Result<bool, CommandError> {
        let mut calls = self.running()?.debuggee.open_calls();
        Ok(calls.any(|call| call.thread == thread))
    }

    /// Sends accesses to watched memory to the monitors.
    pub(crate) fn notify_of_accesses(
        &mut self,
        thread: ThreadId,
        accesses: &[MemoryAccess],
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        let is_meant = |it: &&MemoryAccess| it.owner == Owner::Monitor;
        let mut accesses = accesses.iter().filter(is_meant);
        if self.is_called(thread)?
            && let process = &mut *self.processes
            && let Some(program) = &mut process.program
        {
            // The values of the locations are updated all the same.
            accesses.try_for_each(|access| process.monitors.overlook(program, thread, access))?;
            return Ok(None);
        }
        self.notify_monitors(thread, observer, |monitors, scene| {
            monitors.on_accesses(scene, accesses)
        })
    }

    /// Resumes a thread that was stopped before its instruction or event took effect.
    pub(crate) fn go_on(&mut self, thread: ThreadId, goal: Goal<'_>) -> Result<(), CommandError> {
        let debuggee = &mut self.running_mut()?.debuggee;
        match go_on(thread, goal.stepping) {
            GoOn::StepAgain => debuggee.step(thread)?,
            GoOn::Run => debuggee.resume(thread)?,
        }
        Ok(())
    }

    /// Returns whether a signal was requested by something other than a monitor.
    pub(crate) fn is_shown(&self, signal: i32, fatal: bool) -> Result<bool, CommandError> {
        let signal_policy = self.running()?.debuggee.signal_policy(signal);
        Ok(match signal_policy.report {
            SignalReport::Always => true,
            SignalReport::WhenFatal => fatal,
            SignalReport::Never => false,
        })
    }

    /// Returns whether the program receives a signal.
    pub(crate) fn is_passed(&self, signal: i32, fatal: bool) -> Result<bool, CommandError> {
        Ok(if self.is_shown(signal, fatal)? {
            self.user.signals.decide(signal, fatal).pass
        } else {
            self.running()?.debuggee.signal_policy(signal).deliver
        })
    }

    /// Sends the exit event to the monitors. Its violations are shown with the end.
    pub(crate) fn notify_of_exit(
        &mut self,
        status: i32,
        observer: &mut dyn Observer,
    ) -> Result<(), CommandError> {
        self_modified_code::report_overwritten_at_end(self, observer);
        // It was ended by a function that juror called.
        if self.processes.evaluations.running_function().is_some() {
            return Ok(());
        }
        let process = &mut *self.processes;
        let Some(program) = &mut process.program else {
            return Ok(());
        };
        if status != 0 && has_leak_sanitizer(program) {
            observer.notice(&format!(
                "the program contains LeakSanitizer, which fails under a debugger: the status \
                 {status} may be its own, and no leak is reported; ASAN_OPTIONS=detect_leaks=0 \
                 leaves it out"
            ));
        }
        let mut outcome = EventOutcome::default();
        let thread = ThreadId(program.debuggee.pid());
        program.begin_moment();
        let mut scene = Scene {
            program,
            thread,
            observer,
            outcome: &mut outcome,
        };
        process.monitors.on_exit(&mut scene, status)?;
        self.scenarios.queued.extend(outcome.queued.drain(..));
        process.exit_violations = outcome.violations;
        Ok(())
    }

    /// Returns the events of the properties, of some kinds, for `info breakpoints`.
    pub(crate) fn monitor_points(&self, is_meant: impl Fn(EventKind) -> bool) -> Vec<PointView> {
        let program = self.processes.program.as_ref();
        let mut views = Vec::new();
        for (number, monitored) in self.processes.monitors.shown().iter().enumerate() {
            for (event, symbolic) in monitored.property.events.iter().enumerate() {
                if !is_meant(symbolic.kind) {
                    continue;
                }
                let Planted {
                    addresses,
                    tier,
                    ways,
                    is_watched,
                } = self.processes.monitors.planted(program, number, event);
                views.push(PointView {
                    number: None,
                    owner: "monitor".to_owned(),
                    kind: "event",
                    for_what: format!(
                        "{}: {} = {}",
                        monitored.property.name,
                        symbolic.name,
                        location::event_words(symbolic)
                    ),
                    enabled: is_watched,
                    locations: match program {
                        Some(program) => addresses
                            .iter()
                            .zip(1..)
                            .map(|(&at, number)| PointLocation {
                                place: locations::location(program, at),
                                number,
                                enabled: true,
                                passage: tier
                                    .clone()
                                    .or_else(|| ways.get(number as usize - 1).cloned().flatten())
                                    .or_else(|| passage(program, at)),
                                ..PointLocation::default()
                            })
                            .collect(),
                        None => Vec::new(),
                    },
                    hits: monitored.occurrences.get(event).copied().unwrap_or(0),
                    passage: tier
                        .or_else(|| ways.first().cloned().flatten())
                        .or_else(|| passage(program?, *addresses.first()?)),
                    ..PointView::default()
                });
            }
        }
        views
    }
}

/// Returns whether the program looks for leaks at its end by stopping its own threads, which
/// the kernel refuses to a process that is traced.
fn has_leak_sanitizer(program: &Program) -> bool {
    let found = program
        .modules
        .definitions("__lsan_do_leak_check", |_| true);
    !found.is_empty()
}
