//! Copies of monitors for other runs and processes, and the recorder that belongs to them.
//!
//! **Invariant**: if a run is recorded, the monitor that stands for the recorder is the last of
//! [`Monitors::monitored`].

use crate::monitors::loading::records;
use crate::monitors::{MonitoredProperty, Monitors};
use crate::recording;
use crate::recording::{Mark, Recorder, Recording};
use juror_debuggee::{DebuggeeError, ThreadId};
use juror_fault::SessionError;
use juror_monitor::Monitor;
use juror_program::program::Program;
use juror_view::Ending;
use std::sync::Arc;

impl Monitors {
    /// Starts recording the events of all properties and the events that are named.
    pub fn record(&mut self, recording: &Recording) -> Result<(), SessionError> {
        let properties = self.properties.iter().map(|monitored| &*monitored.property);
        let property = Arc::new(recording::property(properties, recording)?);
        let monitor = Monitor::with_history(Arc::clone(&property), 0)
            .map_err(|error| SessionError::Internal(error.to_string()))?;
        self.add_recorder(Recorder::new(property, recording.clone()), monitor);
        Ok(())
    }

    /// Adds a recorder, and the monitor that stands for it.
    pub fn add_recorder(&mut self, recorder: Recorder, monitor: Monitor) {
        self.recorder = Some(recorder);
        self.properties
            .push(MonitoredProperty::new(monitor, "".into()));
    }

    /// Ends the trace with the run.
    pub fn end_recording(&mut self, ending: Option<Ending>) {
        if let Some(recorder) = &mut self.recorder {
            // The last monitor stands for the recorder.
            let bound = self.properties.last().map_or(&[][..], |it| &it.bound);
            recorder.end_with(ending, bound);
        }
    }

    /// Returns why the trace of this run, or of the last one, is not whole.
    pub fn trace_failure(&self) -> Option<&str> {
        self.recorder.as_ref().and_then(Recorder::failure)
    }

    /// Returns the monitors of a forked copy of the process, `program`, with the number `process`;
    /// `thread` continues as `parent`, which forked. The copy is not recorded.
    pub fn forked(
        &self,
        process: u32,
        program: &mut Program,
        thread: ThreadId,
        parent: ThreadId,
    ) -> Result<Monitors, DebuggeeError> {
        let mut forked = Monitors {
            properties: self.shown().iter().map(MonitoredProperty::forked).collect(),
            probes: self.probes.clone(),
            unwind_points: self.unwind_points.clone(),
            places: self.places.forked(),
            occasions: self.occasions.forked(),
            loaded: self.loaded.clone(),
            process: Some(process),
            subscriptions: self.subscriptions.forked(),
            ..Monitors::default()
        };
        if self.recorder.is_some() {
            let recorder = forked.properties.len() as u16;
            let probes = &mut forked.probes;
            probes.set_needed(program, recorder, |_| false, &mut forked.newly_awaited)?;
        }
        forked.follow(program, thread, parent)?;
        // Memory and signals are watched in each process separately.
        for monitor in 0..forked.properties.len() {
            forked.apply_needs(program, monitor)?;
        }
        Ok(forked)
    }

    /// Returns a snapshot of the monitors for a checkpoint of this process, with their history,
    /// insertions and counts, and without the recorder, of which there is only one.
    pub fn kept(&self) -> Monitors {
        Monitors {
            properties: self.properties.clone(),
            probes: self.probes.clone(),
            unwind_points: self.unwind_points.clone(),
            places: self.places.clone(),
            occasions: self.occasions.clone(),
            loaded: self.loaded.clone(),
            has_exited: self.has_exited,
            process: self.process,
            ..Monitors::default()
        }
    }

    /// Returns the addresses of the internal points that the monitors need.
    pub fn internal_points(&self) -> impl Iterator<Item = u64> {
        self.unwind_points.addresses()
    }

    /// Returns the present position in the trace, if the run is recorded.
    pub fn trace_mark(&self) -> Option<Mark> {
        self.recorder.as_ref()?.mark()
    }

    /// Restores a snapshot of [`Monitors::kept`], and truncates the trace to it. `number` gives the
    /// new numbers of threads. Returns the error of the trace, if any.
    pub fn go_back(
        &mut self,
        kept: &Monitors,
        mark: Option<&Mark>,
        number: impl Fn(ThreadId) -> ThreadId,
    ) -> Option<String> {
        let recorder = self.recorder.take();
        // The present listeners apply to the restored monitors.
        let subscriptions = std::mem::take(&mut self.subscriptions);
        *self = kept.kept();
        self.subscriptions = subscriptions;
        self.places.renumber_threads(&number);
        self.probes.renumber_threads(number);
        let mut recorder = recorder?;
        let failure = recorder.cut(mark);
        self.recorder = Some(recorder);
        failure
    }

    /// Returns the monitors for a process that was forked and has executed another program.
    pub fn executed(&self, process: u32) -> Monitors {
        Monitors {
            properties: self.shown().iter().map(MonitoredProperty::forked).collect(),
            process: Some(process),
            ..Monitors::default()
        }
    }

    /// Takes the recorder of a process that has ended, for another run, and ends its trace.
    pub fn take_recorder(&mut self, ending: Option<Ending>) -> Option<(Recorder, Monitor)> {
        self.end_recording(ending);
        let recorder = self.recorder.take()?;
        // The monitor that stands for the recorder is the last.
        let monitored = self.properties.pop()?;
        Some((recorder, monitored.monitor.into_monitor()))
    }

    /// Resets the monitors to their state before any event, for another run.
    pub fn restart(&mut self, history: usize) {
        let before = std::mem::take(self);
        let count = before.shown().len();
        let mut monitors = before.properties.into_iter();
        for monitored in monitors.by_ref().take(count) {
            let monitor = monitored.monitor.restarted(records(history));
            self.properties.push(MonitoredProperty {
                is_enabled: monitored.is_enabled,
                ..MonitoredProperty::new(monitor, monitored.text)
            });
        }
        if let (Some(recorder), Some(monitored)) = (before.recorder, monitors.next()) {
            // Properties may have been added since.
            if self.record(recorder.recording()).is_err() {
                self.add_recorder(recorder.restarted(), monitored.monitor.restarted(0));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{TWICE, monitors, take};

    fn recording() -> Recording {
        Recording {
            file: "trace".into(),
            binary: false,
            events: vec!["before c()".to_owned()],
        }
    }

    #[test]
    fn another_run_begins_anew_with_the_same_properties_and_recorder() {
        let mut monitors = monitors(TWICE);
        monitors.record(&recording()).expect("it can be recorded");
        monitors.properties[0].is_enabled = false;
        monitors.properties[0].occurrences[0] = 3;
        monitors.properties[0].violations = 1;
        monitors.restart(0);
        assert_eq!((monitors.properties.len(), monitors.shown().len()), (2, 1));
        let property = &monitors.shown()[0];
        assert!(!property.is_enabled);
        assert_eq!((property.occurrences[0], property.violations), (0, 0));
        // Its events and the named one.
        assert_eq!(monitors.properties[1].property.events.len(), 3);
    }

    #[test]
    fn a_checkpoint_has_the_state_without_the_recorder() {
        let mut monitors = monitors(TWICE);
        take(&mut monitors.properties[0], "a", &[1], 0);
        let kept = monitors.kept();
        take(&mut monitors.properties[0], "a", &[1], 0);
        assert_eq!(monitors.properties[0].violations, 1);
        assert_eq!(monitors.go_back(&kept, None, |thread| thread), None);
        let property = &monitors.properties[0];
        assert_eq!((property.occurrences[0], property.violations), (1, 0));
        // The path goes on from there.
        let outcome = take(&mut monitors.properties[0], "a", &[1], 0);
        assert_eq!(outcome.violations.len(), 1);
    }

    #[test]
    fn a_process_that_executes_another_program_counts_anew() {
        let mut monitors = monitors(TWICE);
        take(&mut monitors.properties[0], "a", &[1], 0);
        monitors.record(&recording()).expect("it can be recorded");
        let executed = monitors.executed(2);
        assert_eq!((executed.process, executed.properties.len()), (Some(2), 1));
        let property = &executed.properties[0];
        assert_eq!((property.occurrences[0], property.sequence()), (0, 1));
        assert!(!executed.is_recorded());
    }

    #[test]
    fn a_recorder_that_is_taken_leaves_the_properties() {
        let mut monitors = monitors(TWICE);
        assert!(monitors.take_recorder(None).is_none());
        monitors.record(&recording()).expect("it can be recorded");
        let (recorder, monitor) = monitors.take_recorder(None).expect("it is there");
        assert_eq!(
            (monitors.properties.len(), monitors.is_recorded()),
            (1, false)
        );
        monitors.add_recorder(recorder, monitor);
        assert_eq!((monitors.properties.len(), monitors.shown().len()), (2, 1));
    }
}
