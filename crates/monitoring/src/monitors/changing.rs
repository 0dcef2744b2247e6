//! Adding, removing, enabling and disabling properties while the program runs.
//!
//! **Invariant**: the points follow the properties. Locations that only a removed property needed
//! are no longer monitored, and an added property receives every event from then on.

use crate::in_process::CurrentMonitor;
use crate::monitors::{MonitoredProperty, Monitors, internal};
use crate::options::BindOptions;
use juror_debuggee::{DebuggeeError, ThreadId};
use juror_fault::SessionError;
use juror_monitor::Monitor;
use juror_program::program::Program;

/// A program whose threads are all stopped, and the current thread.
pub struct Standing<'a> {
    /// The program.
    pub program: &'a mut Program,
    /// The current thread.
    pub thread: ThreadId,
}

impl Monitors {
    /// Adds a property after all others.
    ///
    /// # Errors
    /// It does not fit the program, and is not added.
    pub fn insert(
        &mut self,
        monitored: MonitoredProperty,
        standing: Option<Standing<'_>>,
        options: &BindOptions<'_>,
    ) -> Result<(), SessionError> {
        let mut standing = standing;
        if let Some(standing) = &mut standing {
            self.leave_native(standing.program).map_err(internal)?;
        }
        let monitor = self.shown().len();
        // The recorder stays the last.
        self.renumber(|known| Some(known + u16::from(usize::from(known) >= monitor)));
        self.properties.insert(monitor, monitored);
        let Some(Standing { program, thread }) = standing else {
            return Ok(());
        };
        let wrong = self.bind_monitor(program, thread, monitor, options, true);
        let bound = self.check_bound(monitor, wrong).and_then(|()| {
            self.begin_watching(program, thread, monitor)
                .map_err(internal)
        });
        if bound.is_err() {
            self.take_out(program, monitor).map_err(internal)?;
        }
        bound
    }

    /// Inserts the points that a monitor needs in the middle of a run: the returns of active calls
    /// are monitored too.
    fn begin_watching(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        monitor: usize,
    ) -> Result<(), DebuggeeError> {
        self.apply_needs(program, monitor)?;
        if self.probes.iter().any(|probe| probe.kind.is_end_of_call()) {
            self.unwind_points.insert(program)?;
        }
        self.await_calls_on_stacks(program, thread, None)
    }

    fn take_out(&mut self, program: &mut Program, monitor: usize) -> Result<(), DebuggeeError> {
        if let Some(monitored) = self.properties.get_mut(monitor) {
            monitored.is_enabled = false;
        }
        self.apply_needs(program, monitor)?;
        self.forget(monitor);
        Ok(())
    }

    /// Forgets a property that has no inserted points.
    fn forget(&mut self, monitor: usize) {
        self.renumber(|known| match usize::from(known) {
            number if number == monitor => None,
            number => Some(known - u16::from(number > monitor)),
        });
        self.properties.remove(monitor);
    }

    /// Replaces the monitor of a property.
    pub fn replace_monitor(
        &mut self,
        position: usize,
        monitor: Monitor,
        standing: Option<(&mut Program, ThreadId)>,
    ) -> Result<(), DebuggeeError> {
        let mut standing = standing;
        if let Some((program, _)) = &mut standing {
            self.leave_native(program)?;
        }
        if let Some(monitored) = self.properties.get_mut(position) {
            monitored.monitor = CurrentMonitor::new(monitor);
        }
        match standing {
            Some((program, thread)) => self.begin_watching(program, thread, position),
            None => Ok(()),
        }
    }

    fn renumber(&mut self, number: impl Fn(u16) -> Option<u16> + Copy) {
        self.probes.renumber(number);
        self.places.renumber(number);
        self.occasions.renumber(number);
    }

    /// Removes a property of the user.
    pub fn remove(
        &mut self,
        monitor: usize,
        standing: Option<Standing<'_>>,
    ) -> Result<(), DebuggeeError> {
        match standing {
            Some(standing) => {
                self.leave_native(standing.program)?;
                self.take_out(standing.program, monitor)
            }
            None => {
                self.forget(monitor);
                Ok(())
            }
        }
    }

    /// Enables or disables a property of the user. While it is disabled, it receives no events and
    /// keeps its state.
    pub fn enable(
        &mut self,
        monitor: usize,
        is_enabled: bool,
        standing: Option<Standing<'_>>,
    ) -> Result<(), DebuggeeError> {
        let mut standing = standing;
        if let Some(standing) = &mut standing {
            self.leave_native(standing.program)?;
        }
        if let Some(monitored) = self.properties.get_mut(monitor) {
            monitored.is_enabled = is_enabled;
        }
        match standing {
            Some(standing) => self.begin_watching(standing.program, standing.thread, monitor),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Recording;
    use crate::samples::{monitored, monitors, take};
    use juror_event::EventId;

    /// A property with this name.
    fn property(name: &str) -> String {
        format!("property {name} event a = before a() state s accepting {{ on a -> s }}\n")
    }

    fn names(monitors: &Monitors) -> Vec<&str> {
        let properties = monitors.properties.iter();
        properties.map(|it| &*it.property.name).collect()
    }

    fn options() -> BindOptions<'static> {
        BindOptions {
            inlined: Default::default(),
            program: std::path::Path::new(""),
            arguments: &[],
        }
    }

    #[test]
    fn the_recorder_stays_behind_an_added_property() {
        let mut monitors = monitors(&[property("x"), property("y")].concat());
        let recording = Recording {
            file: "trace".into(),
            binary: false,
            events: Vec::new(),
        };
        monitors.record(&recording).expect("it can be recorded");
        let added = monitors.insert(monitored(&property("z")), None, &options());
        added.expect("there is no program");
        assert_eq!(names(&monitors), ["x", "y", "z", "recording"]);
        assert_eq!(monitors.shown().len(), 3);
    }

    #[test]
    fn events_follow_the_numbers_of_their_properties() {
        let mut monitors = monitors(&["x", "y", "z"].map(property).concat());
        let expression = juror_instrument::memory_locations::LocationExpression::parse(
            "total",
            juror_event::Reach::Anywhere,
        );
        let expression = expression.expect("a name");
        for monitor in 0..3 {
            let kind = juror_event::EventKind::Write;
            monitors.places.of(monitor, EventId(monitor), || {
                crate::monitors::memory_locations::PlaceWatch::new(
                    monitor,
                    EventId(monitor),
                    kind,
                    expression.clone(),
                )
            });
        }
        monitors.remove(1, None).expect("there is no program");
        assert_eq!(names(&monitors), ["x", "z"]);
        let places = monitors.places.iter();
        let places: Vec<(u16, u16)> = places.map(|it| (it.monitor, it.event.0)).collect();
        assert_eq!(places, [(0, 0), (1, 2)]);
    }

    #[test]
    fn a_disabled_property_keeps_its_state() {
        let text = "property p event a = before a()
            state s accepting { on a -> t } state t accepting { on a -> s }";
        let mut monitors = monitors(text);
        take(&mut monitors.properties[0], "a", &[], 0);
        monitors
            .enable(0, false, None)
            .expect("there is no program");
        take(&mut monitors.properties[0], "a", &[], 0);
        monitors.enable(0, true, None).expect("there is no program");
        let property = &monitors.properties[0];
        assert_eq!(property.occurrences, [1]);
        let slice = property.monitor.slices().next().expect("there is one");
        assert_eq!(property.monitor.state_name(slice.state), "t");
    }
}
