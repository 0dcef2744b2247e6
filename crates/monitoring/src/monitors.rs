//! The monitors of a run and the probes that feed them.
//!
//! After Jakse, Falcone and Méhaut, *Interactive Runtime Verification* (2019),
//! section 6.6: an event is instantiated, every monitor that asked for it
//! takes its step, and the points follow what the new states need (rules
//! EXECEVENT and INIT).

mod accesses;
pub mod binding;
mod calls;
pub(crate) mod captures;
pub mod changing;
mod copies;
pub mod handlers;
pub mod loading;
mod local_variables;
pub(crate) mod memory_locations;
pub(crate) mod monitored_property;
mod overwritten;
pub(crate) mod without_location;

use crate::in_process::NativeTier;
use crate::listeners::{Subscriptions, Taken};
use crate::monitors::memory_locations::PlaceWatches;
pub use crate::monitors::monitored_property::{
    EventOutcome, MonitoredProperty, Since, ViolatedSlice,
};
use crate::monitors::without_location::Occasions;
use crate::recording::Recorder;
use crate::report;
use juror_debuggee::{DebuggeeError, SystemCalls, ThreadId};
use juror_event::{EventId, Value};
use juror_fault::SessionError;
use juror_instrument::probes::Probes;
use juror_program::program::Program;
use juror_program::stack::unwinding::UnwindPoints;
use juror_view::observer::Observer;
use std::path::{Path, PathBuf};

/// The number of no event: time has passed.
const NO_EVENT: EventId = EventId(u16::MAX);

/// All monitors of a run.
#[derive(Default)]
pub struct Monitors {
    /// The monitors, in the order of their files.
    pub properties: Vec<MonitoredProperty>,
    /// Their probes.
    pub probes: Probes,
    /// The memory locations that they watch.
    pub(crate) places: PlaceWatches,
    /// Their events without a location.
    pub(crate) occasions: Occasions,
    /// The modules that events have reported, with their load bias.
    loaded: Vec<(PathBuf, u64)>,
    /// The program has ended, so its events have ended too.
    has_exited: bool,
    unwind_points: UnwindPoints,
    /// The number of stops at them.
    pub(crate) unwinding_stops: u64,
    /// The reactions and points that depend on monitors.
    pub subscriptions: Subscriptions,
    /// The number of the process, if several are debugged.
    pub process: Option<u32>,
    /// Buffer reused at every stop.
    hit: Vec<u32>,
    values: Vec<Value>,
    /// Probes of after-call events that have just become needed.
    pub(crate) newly_awaited: Vec<u32>,
    /// Their code and tables in the program.
    pub(crate) native: NativeTier,
    /// The recorder of the trace; its events are those of the last of `monitored`.
    recorder: Option<Recorder>,
}

impl Monitors {
    /// Returns the properties of the user: all but the monitor that stands for the recorder.
    pub fn shown(&self) -> &[MonitoredProperty] {
        let hidden = usize::from(self.recorder.is_some());
        let count = self.properties.len().saturating_sub(hidden);
        self.properties.get(..count).unwrap_or(&[])
    }

    /// Returns the file in which the run is recorded, complete up to the last event.
    pub fn trace(&self) -> Option<&Path> {
        self.recorder.as_ref()?.file()
    }

    /// Returns whether the run is recorded.
    pub fn is_recorded(&self) -> bool {
        self.recorder.is_some()
    }

    /// Returns the system calls of which the properties have events, in any state.
    pub fn named_system_calls(&self) -> SystemCalls {
        let properties = self.properties.iter();
        without_location::named_calls(properties.flat_map(|it| it.property.events.iter()))
    }

    /// Inserts and removes points so that they match what the monitor needs now.
    pub(crate) fn apply_needs(
        &mut self,
        program: &mut Program,
        monitor: usize,
    ) -> Result<(), DebuggeeError> {
        let Some(monitored) = self.properties.get(monitor) else {
            return Ok(());
        };
        let is_needed = |event: EventId| monitored.watches(event);
        let awaited = &mut self.newly_awaited;
        self.probes
            .set_needed(program, monitor as u16, is_needed, awaited)?;
        if !self.places.is_empty() {
            self.places.set_needed(program, monitor as u16, is_needed)?;
        }
        if !self.occasions.is_empty() {
            let monitored = &self.properties;
            self.occasions.apply(program, |monitor, event| {
                is_needed_by(monitored, monitor, event)
            })?;
        }
        Ok(())
    }

    /// Follows the forked child: `thread`, its only thread, is in the calls that `parent` was in.
    pub fn follow(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        parent: ThreadId,
    ) -> Result<(), DebuggeeError> {
        // Its stack is that of the parent, with the variables of the same calls.
        self.places
            .renumber_threads(|known| if known == parent { thread } else { known });
        self.probes.follow(program, thread, parent)
    }

    /// Handles an exec: the process runs another program.
    pub fn on_exec(&mut self) {
        self.forget_tables();
        self.native = NativeTier::default();
        self.probes.clear();
        self.unwind_points.clear();
        self.places.forget_process();
        self.loaded.clear();
    }

    fn mask(&self, monitor: usize, event: EventId) -> u64 {
        let monitored = self.properties.get(monitor);
        if let Some(native) = monitored.and_then(|it| it.native.get()) {
            let needs = native.word.needs();
            return needs
                .get(usize::from(event.0))
                .map_or(0, |need| need.captures);
        }
        let needs = monitored.map_or(&[][..], |monitored| monitored.monitor.needs());
        needs
            .get(usize::from(event.0))
            .map_or(0, |need| need.captures)
    }

    #[allow(clippy::too_many_arguments)] // the one place where an event meets its monitor
    fn step(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        monitor: usize,
        event: EventId,
        address: u64,
        values: &[Value],
        observer: &mut dyn Observer,
        outcome: &mut EventOutcome,
    ) -> Result<(), DebuggeeError> {
        let is_recorder = monitor + 1 == self.properties.len();
        let Some(monitored) = self.properties.get_mut(monitor) else {
            return Ok(());
        };
        let time = if monitored.monitor.uses_time() {
            program.elapsed_ns()
        } else {
            0
        };
        let happened = juror_monitor::Occurrence {
            thread: program.thread_number(thread),
            address,
            time,
            values,
        };
        if let (Some(recorder), true) = (&mut self.recorder, is_recorder) {
            if let Some(failure) = recorder.record(program, event, &happened) {
                observer.notice(&failure);
            }
            return Ok(());
        }
        if monitored.native.get().is_some() {
            return self.step_in_table(program, monitor, event, &happened, outcome);
        }
        let Some(needs_changed) = monitored.step(monitor, event, &happened, outcome) else {
            return Ok(());
        };
        if !self.subscriptions.is_silent() {
            let taken = Taken {
                monitor,
                event,
                thread: happened.thread,
                values,
            };
            self.subscriptions
                .notify(monitored, &taken, &mut outcome.queued);
        }
        if observer.wants_state_changes() {
            let happened = report::EventOccurrence {
                event,
                thread: program.thread_number(thread),
                address,
                time,
                values,
            };
            for change in monitored.monitor.changes() {
                let mut view = report::state_change(monitored, change, happened, program);
                view.process = self.process;
                observer.state_change(&view);
            }
        }
        // Nothing can be inserted in a program that has ended.
        if needs_changed && !self.has_exited {
            self.apply_needs(program, monitor)?;
        }
        Ok(())
    }

    /// Returns the time at which something is decided without an event, in nanoseconds since the
    /// start of the program.
    #[inline]
    pub fn next_deadline(&self) -> Option<u64> {
        let deadlines = self.properties.iter();
        deadlines.filter_map(MonitoredProperty::next_deadline).min()
    }

    /// Decides what is due now, without an event.
    pub fn on_time(
        &mut self,
        program: &mut Program,
        observer: &mut dyn Observer,
        outcome: &mut EventOutcome,
    ) -> Result<(), DebuggeeError> {
        let time = program.elapsed_ns();
        for monitor in 0..self.properties.len() {
            let Some(monitored) = self.properties.get_mut(monitor) else {
                continue;
            };
            let Some(needs_changed) = monitored.pass_time(monitor, time, outcome) else {
                continue;
            };
            if !self.subscriptions.is_silent() {
                let taken = Taken {
                    monitor,
                    event: NO_EVENT,
                    thread: 0,
                    values: &[],
                };
                self.subscriptions
                    .notify(monitored, &taken, &mut outcome.queued);
            }
            if observer.wants_state_changes() {
                let passed = report::EventOccurrence {
                    event: NO_EVENT,
                    thread: 0,
                    address: 0,
                    time,
                    values: &[],
                };
                for change in monitored.monitor.changes() {
                    let mut view = report::state_change(monitored, change, passed, program);
                    view.process = self.process;
                    observer.state_change(&view);
                }
            }
            if needs_changed && !self.has_exited {
                self.apply_needs(program, monitor)?;
            }
        }
        Ok(())
    }

    /// Ends the run, which decides undecided verdicts. Returns the slices that this violates.
    pub fn finish(&mut self) -> Vec<ViolatedSlice> {
        let mut violations = Vec::new();
        for (monitor, monitored) in self.properties.iter_mut().enumerate() {
            let open = monitored.finish().into_iter();
            violations.extend(open.map(|slice| ViolatedSlice {
                monitor,
                slice,
                repeated: false,
            }));
        }
        violations
    }
}

/// Returns whether a monitor needs an event in its present state.
fn is_needed_by(monitored: &[MonitoredProperty], monitor: u16, event: EventId) -> bool {
    let monitored = monitored.get(usize::from(monitor));
    monitored.is_some_and(|it| it.watches(event))
}

fn internal(error: DebuggeeError) -> SessionError {
    SessionError::Internal(error.to_string())
}
