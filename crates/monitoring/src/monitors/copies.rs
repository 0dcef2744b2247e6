//! The monitors of other runs and other processes: copies, beginnings, and who
//! records them.
//!
//! Invariant: where a run is recorded, the monitor that stands for the recorder
//! is the last of [`Monitors::monitored`].

use crate::monitors::loading::records;
use crate::monitors::{MonitoredProperty, Monitors};
use crate::recording;
use crate::recording::{Mark, Recorder, Recording};
use juror_debuggee::{DebuggeeError, ThreadId};
use juror_monitor::Monitor;
use juror_program::program::Program;
use juror_view::Ending;
use juror_view::error::SessionError;
use std::sync::Arc;

impl Monitors {
    /// Records the events of all properties, and those that are named.
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

    /// The run is over: so is its trace.
    pub fn end_recording(&mut self, ending: Option<Ending>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.end(ending);
        }
    }

    /// Returns why the trace of this run, or of the last one, is not whole.
    pub fn trace_failure(&self) -> Option<&str> {
        self.recorder.as_ref().and_then(Recorder::failure)
    }

    /// The same for a forked copy of the process, `program`, whose number is
    /// `process`; `thread` goes on as `parent`, which made it. It is not
    /// recorded.
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
            told: self.told.forked(),
            ..Monitors::default()
        };
        if self.recorder.is_some() {
            let recorder = forked.properties.len() as u16;
            let probes = &mut forked.probes;
            probes.set_needed(program, recorder, |_| false, &mut forked.newly_awaited)?;
        }
        forked.follow(program, thread, parent)?;
        // Memory and signals are watched for each process by itself.
        for monitor in 0..forked.properties.len() {
            forked.apply_needs(program, monitor)?;
        }
        Ok(forked)
    }

    /// The same at another moment of this very process: with its past, with all
    /// that it had planted and counted, and without the recorder, of which there
    /// is one.
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

    /// juror's own points that the monitors need.
    pub fn internal_points(&self) -> impl Iterator<Item = u64> {
        self.unwind_points.addresses()
    }

    /// Where the trace is, when the run is recorded.
    pub fn trace_mark(&self) -> Option<Mark> {
        self.recorder.as_ref()?.mark()
    }

    /// Becomes what [`Monitors::kept`] gave, the trace with it. Threads have the
    /// numbers that `number` gives. What is wrong with the trace, if anything.
    pub fn go_back(
        &mut self,
        kept: &Monitors,
        mark: Option<&Mark>,
        number: impl Fn(ThreadId) -> ThreadId,
    ) -> Option<String> {
        let recorder = self.recorder.take();
        // Who listens now listens to what has come back.
        let told = std::mem::take(&mut self.told);
        *self = kept.kept();
        self.told = told;
        self.probes.renumber_threads(number);
        let mut recorder = recorder?;
        let failure = recorder.cut(mark);
        self.recorder = Some(recorder);
        failure
    }

    /// The same for a process that was made, but has a program of its own.
    pub fn executed(&self, process: u32) -> Monitors {
        Monitors {
            properties: self.shown().iter().map(MonitoredProperty::forked).collect(),
            process: Some(process),
            ..Monitors::default()
        }
    }

    /// The process is gone: so is its trace, and its recorder is free for
    /// another run.
    pub fn take_recorder(&mut self, ending: Option<Ending>) -> Option<(Recorder, Monitor)> {
        self.end_recording(ending);
        let recorder = self.recorder.take()?;
        // The monitor that stands for it is the last.
        let monitored = self.properties.pop()?;
        Some((recorder, monitored.monitor))
    }

    /// The monitors as they were before any event, for another run.
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
            // Properties may have come since.
            if self.record(recorder.recording()).is_err() {
                self.add_recorder(recorder.restarted(), monitored.monitor.restarted(0));
            }
        }
    }
}
