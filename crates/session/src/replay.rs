//! Replays a recorded run at a prompt: its events, forwards and backwards, with the properties and
//! the user's breakpoints.
//!
//! The debuggee is the recording; control and decisions are those of a live process
//! ([`juror_control`], [`juror_control::decision`]), and monitors take events as in
//! [`crate::offline`]. To go back, a snapshot of the monitors is restored, and they take the events
//! from there again ([`moves`]).
//!
//! **Invariant**: at event *n* the monitors are as if exactly the events up to the *n*th had just
//! happened, however the position was reached.

mod changes;
mod commands;
mod lookup;
mod moves;
mod queries;
pub(crate) mod rows;
mod settings;
mod shown;
mod stops;
mod tape;
#[cfg(test)]
mod tests;

use crate::commands::info_graph;
use crate::replay::stops::Stops;
use crate::replay::tape::Tape;
use crate::state::control::refused_start;
use crate::state::presentation::Presentation;
use crate::state::source::Sources;
use juror_control::Control;
use juror_fault::{CommandError, SessionError};
use juror_monitoring::live::{self, Pictures};
use juror_monitoring::monitors::MonitoredProperty;
use juror_monitoring::offline::Offline;
use juror_monitoring::property_files::PropertySource;
use juror_trace::Form;
use juror_view::changes::Changes;
use juror_view::driver::Driver;
use juror_view::live::{PictureView, SampleView, SampleWanted, SlicesView, SlicesWanted};
use juror_view::observer::Observer;
use juror_view::queries::Queries;
use juror_view::{Outcome, TerminalSettings};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The options of a recorded run.
#[derive(Debug, Default)]
pub struct RecordedRunOptions {
    /// The recording.
    pub file: PathBuf,
    /// Its format; detected from its first bytes if absent.
    pub form: Option<Form>,
    /// The names of an event's values in CSV, `EVENT=NAME,NAME`.
    pub columns: Vec<String>,
    /// The properties.
    pub properties: Vec<PropertySource>,
    /// The number of transitions that each monitor remembers; 0 for the default.
    pub history: usize,
}

/// A recorded run and the present position in it.
pub struct RecordedRun {
    name: String,
    tape: Tape,
    offline: Offline,
    /// The number of events taken.
    position: u64,
    /// The recorded number of the thread that a front end has selected at this event.
    selected: Option<u32>,
    control: Control,
    stops: Stops,
    /// Snapshots of the monitors at earlier positions, in order; the first is the beginning.
    snapshots: Vec<Snapshot>,
    /// The number of events between two snapshots.
    stride: u64,
    /// The checkpoints: number and event.
    checkpoints: Vec<(u32, u64)>,
    checkpoint_count: u32,
    sources: Sources,
    presentation: Presentation,
    /// The file and line at which the next `list` continues.
    list_from: Option<(PathBuf, u32)>,
    is_interrupted: Arc<AtomicBool>,
    /// The graphs of the properties, for front ends that show them.
    pictures: Pictures,
}

/// A snapshot of the monitors after a number of events.
#[derive(Debug, Clone)]
struct Snapshot {
    position: u64,
    properties: Vec<MonitoredProperty>,
}

impl RecordedRun {
    /// Reads the recording and the properties; the position is before the first event.
    ///
    /// # Errors
    /// The recording cannot be read, or a property is wrong or about events that were not recorded.
    pub fn open(
        options: &RecordedRunOptions,
        observer: &mut dyn Observer,
    ) -> Result<RecordedRun, SessionError> {
        let internal = |error: CommandError| SessionError::Launch(error.message);
        let (mut offline, remarks) = Offline::load(&options.properties, options.history)?;
        let tape = Tape::read(&options.file, options.form, &options.columns, observer)
            .map_err(internal)?;
        learn(&mut offline, &tape);
        if let Some(error) = offline.not_recorded() {
            return Err(error);
        }
        for remark in remarks {
            observer.notice(&remark);
        }
        let mut run = RecordedRun {
            name: name_of(&options.file),
            stride: moves::stride(tape.count),
            tape,
            snapshots: Vec::new(),
            offline,
            position: 0,
            selected: None,
            control: Control::default(),
            stops: Stops::default(),
            checkpoints: Vec::new(),
            checkpoint_count: 0,
            sources: Sources::default(),
            presentation: Presentation::default(),
            list_from: None,
            is_interrupted: Arc::default(),
            pictures: Pictures::default(),
        };
        run.snapshots.push(run.snapshot());
        run.control.load().map_err(refused_start)?;
        Ok(run)
    }

    /// Returns a function that interrupts a running command.
    pub fn interrupter(&self) -> impl Fn() + Send + use<> {
        let flag = Arc::clone(&self.is_interrupted);
        move || flag.store(true, Ordering::Relaxed)
    }

    /// Returns a snapshot of the monitors.
    fn snapshot(&self) -> Snapshot {
        Snapshot {
            position: self.position,
            properties: self.offline.monitors.properties.clone(),
        }
    }

    /// Returns the properties at this event.
    fn sample_properties(&mut self, wanted: &SampleWanted) -> SampleView {
        let shown = &self.offline.monitors.properties;
        let places = Some(&self.offline.recorded.places);
        self.pictures.sample(shown, wanted, places)
    }

    fn shown_properties(&self) -> &[MonitoredProperty] {
        &self.offline.monitors.properties
    }
}

impl Driver for RecordedRun {
    fn execute(
        &mut self,
        line: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        RecordedRun::execute(self, line, observer)
    }
    fn complete(&mut self, line: &str, position: usize) -> (usize, Vec<String>) {
        RecordedRun::complete(self, line, position)
    }
    fn repetition(&self, line: &str) -> Option<String> {
        RecordedRun::repetition(self, line)
    }
    fn is_alive(&self) -> bool {
        false
    }
    fn is_recorded(&self) -> bool {
        true
    }
    fn terminal_settings(&self) -> TerminalSettings {
        self.presentation.terminal
    }
    fn pictures(&mut self) -> Vec<PictureView> {
        self.shown_properties().iter().map(live::picture).collect()
    }
    fn sample(&mut self, wanted: &SampleWanted) -> SampleView {
        self.sample_properties(wanted)
    }
    fn slices(&mut self, wanted: &SlicesWanted) -> Result<SlicesView, CommandError> {
        let monitored = info_graph::named(self.shown_properties(), &wanted.property)?;
        Ok(live::slices(monitored, wanted))
    }
    fn queries(&mut self) -> Option<&mut dyn Queries> {
        Some(self)
    }
    fn changes(&mut self) -> Option<&mut dyn Changes> {
        Some(self)
    }
    fn interrupter(&self) -> Box<dyn Fn() + Send> {
        Box::new(RecordedRun::interrupter(self))
    }
}

/// Adds all definitions of the recording: later events are known by name.
fn learn(offline: &mut Offline, tape: &Tape) {
    offline.begin(1);
    for batch in tape.batches() {
        offline.learn(0, batch);
    }
}

fn name_of(file: &Path) -> String {
    file.display().to_string()
}
