//! The properties that are monitored in each run.

use crate::error::ExploreError;
use crate::outcome::ThreadPlace;
use crate::report;
use juror_debuggee::{DebuggeeError, StopEvent, SystemCalls, ThreadId};
use juror_instrument::probes::InlinedPolicy;
use juror_monitoring::monitors::handlers::Scene;
use juror_monitoring::monitors::{EventOutcome, Monitors, loading};
use juror_monitoring::options::BindOptions;
use juror_monitoring::property_files::PropertySource;
use juror_monitoring::report as reports;
use juror_program::program::Program;
use juror_view::observer::SilentObserver;
use juror_view::{StopReason, ViolationView};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

/// The number of events that a monitor remembers; 0 is the default.
const HISTORY: usize = 0;

/// Properties, and their monitors between two runs.
#[derive(Default)]
pub struct Properties {
    sources: Vec<PropertySource>,
    monitors: RefCell<Option<Monitors>>,
}

impl std::fmt::Debug for Properties {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_list().entries(&self.sources).finish()
    }
}

impl Properties {
    /// Loads the properties of files. Also returns remarks about them.
    ///
    /// # Errors
    /// A property is wrong in itself.
    pub fn load(sources: Vec<PropertySource>) -> Result<(Properties, Vec<String>), ExploreError> {
        let (monitors, remarks) = loading::load(&sources, HISTORY)?;
        let properties = Properties {
            monitors: RefCell::new((!sources.is_empty()).then_some(monitors)),
            sources,
        };
        Ok((properties, remarks))
    }

    /// Returns the files.
    pub fn sources(&self) -> &[PropertySource] {
        &self.sources
    }

    /// Returns the system calls that are events.
    pub(crate) fn system_calls(&self) -> SystemCalls {
        let monitors = self.monitors.borrow();
        let named = monitors.as_ref().map(Monitors::named_system_calls);
        named.unwrap_or_default()
    }

    /// Returns the monitors in their initial states, if there is a property.
    pub(crate) fn begin(&self) -> Option<Watch> {
        let mut monitors = self.monitors.take()?;
        monitors.restart(HISTORY);
        Some(Watch {
            monitors,
            outcome: EventOutcome::default(),
        })
    }

    /// Takes the monitors back after a run.
    pub(crate) fn end(&self, watch: Watch) {
        self.monitors.replace(Some(watch.monitors));
    }
}

/// The monitors of a run.
pub(crate) struct Watch {
    monitors: Monitors,
    outcome: EventOutcome,
}

/// A violated property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violated {
    pub(crate) property: String,
    pub(crate) description: Option<String>,
    pub(crate) place: Option<ThreadPlace>,
}

impl Watch {
    /// Binds the events to the loaded modules.
    pub(crate) fn bind(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        is_start: bool,
    ) -> Result<(), ExploreError> {
        let options = BindOptions {
            inlined: InlinedPolicy::default(),
            program: Path::new(""),
            arguments: &[],
        };
        self.monitors.bind(program, thread, &options, is_start)?;
        if self.monitors.next_deadline().is_some() {
            return Err(ExploreError::Deadline);
        }
        Ok(())
    }

    /// Tells the monitors that the program is about to run.
    pub(crate) fn start(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
    ) -> Result<Option<Violated>, ExploreError> {
        self.tell(program, thread, |monitors, scene| monitors.on_start(scene))
    }

    /// Tells the monitors of a stop event.
    pub(crate) fn take(
        &mut self,
        program: &mut Program,
        event: &StopEvent,
    ) -> Result<Option<Violated>, ExploreError> {
        match event {
            StopEvent::Hit {
                thread,
                address,
                owners,
            } => self.tell(program, *thread, |monitors, scene| {
                monitors.on_hit(scene, *address, *owners)
            }),
            StopEvent::Accessed { thread, accesses } => {
                self.tell(program, *thread, |monitors, scene| {
                    monitors.on_accesses(scene, accesses.iter())
                })
            }
            StopEvent::SystemCall {
                thread,
                number,
                phase,
            } => self.tell(program, *thread, |monitors, scene| {
                monitors.on_system_call(scene, *number, *phase)
            }),
            StopEvent::Signal {
                thread,
                signal,
                code,
                sender,
                ..
            } => self.tell(program, *thread, |monitors, scene| {
                monitors.on_signal(scene, *signal, *sender, *code)
            }),
            StopEvent::ThreadStarted { thread } => {
                self.tell(program, *thread, |monitors, scene| {
                    monitors.on_thread_start(scene)
                })
            }
            StopEvent::ThreadEnded { thread } => self.tell(program, *thread, |monitors, scene| {
                monitors.on_thread_end(scene)
            }),
            StopEvent::ModulesChanged { thread } => {
                self.bind(program, *thread, false)?;
                self.tell(program, *thread, |monitors, scene| {
                    monitors.on_modules(scene)
                })
            }
            _ => Ok(None),
        }
    }

    /// Ends the run with a status, which decides what is open.
    pub(crate) fn exit(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        status: i32,
    ) -> Result<Option<Violated>, ExploreError> {
        let exited = self.tell(program, thread, |monitors, scene| {
            monitors.on_exit(scene, status)
        })?;
        if exited.is_some() {
            return Ok(exited);
        }
        self.outcome.violations = self.monitors.finish();
        let place = None;
        Ok(self.violated(program, place))
    }

    fn tell(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        tell: impl FnOnce(&mut Monitors, &mut Scene<'_>) -> Result<(), DebuggeeError>,
    ) -> Result<Option<Violated>, ExploreError> {
        program.begin_moment();
        let mut scene = Scene {
            program,
            thread,
            observer: &mut SilentObserver,
            outcome: &mut self.outcome,
        };
        tell(&mut self.monitors, &mut scene)?;
        // It may happen in the call whose end is awaited now.
        self.monitors.await_those_needed_now(program, thread)?;
        self.outcome.queued.clear();
        if self.monitors.next_deadline().is_some() {
            return Err(ExploreError::Deadline);
        }
        if self.outcome.is_empty() {
            return Ok(None);
        }
        if self.outcome.violations.is_empty()
            && let StopReason::MonitorError {
                property, message, ..
            } = reports::reason(&self.monitors, &self.outcome, Some(&*program))
        {
            return Err(ExploreError::NotEvaluated { property, message });
        }
        let place = program.debuggee.is_waiting(thread);
        let place = place.then(|| report::place_of(program, thread));
        Ok(self.violated(program, place))
    }

    /// Returns the first property that is violated now.
    fn violated(&mut self, program: &Program, place: Option<ThreadPlace>) -> Option<Violated> {
        let reason = reports::reason(&self.monitors, &self.outcome, Some(program));
        self.outcome = EventOutcome::default();
        let StopReason::Violation { violations } = reason else {
            return None;
        };
        let ViolationView {
            property,
            description,
            ..
        } = violations.into_iter().next()?;
        Some(Violated {
            property,
            description,
            place,
        })
    }
}

/// Returns the calls of two sets, for a filter.
pub(crate) fn with(calls: BTreeSet<u64>, more: SystemCalls) -> BTreeSet<u64> {
    match more {
        SystemCalls::Only(more) => calls.union(&more).copied().collect(),
        SystemCalls::None | SystemCalls::All => calls,
    }
}
