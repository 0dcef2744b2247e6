//! A recorded run at a prompt: its events one after the other, forwards and
//! backwards, under the properties, with the person's own stops.
//!
//! The debuggee is the recording; who has the control and what a moment means are
//! decided as for a process ([`juror_rules::control`], [`juror_rules::decision`]),
//! and monitors take events as in [`crate::offline`]. What goes back is the
//! monitors: one of the moments that were kept is put back, and they take the
//! events from there again ([`moves`]).
//!
//! Invariant: at event *n* the monitors are as if all events up to the *n*th, and
//! no more, had just happened, however one came there.

mod commands;
mod moves;
mod shown;
mod stops;
mod table;
mod tape;
#[cfg(test)]
mod tests;

use crate::replay::stops::Stops;
use crate::replay::tape::Tape;
use crate::state::source::Sources;
use juror_monitoring::monitors::MonitoredProperty;
use juror_monitoring::offline::Offline;
use juror_monitoring::property_files::PropertySource;
use juror_rules::control::Control;
use juror_trace::Form;
use juror_view::error::{CommandError, SessionError};
use juror_view::observer::Observer;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a recorded run is opened with.
#[derive(Debug, Default)]
pub struct RecordedRunOptions {
    /// The recording.
    pub file: PathBuf,
    /// Its form, where its first bytes are not to tell.
    pub form: Option<Form>,
    /// The names of an event's values in CSV, `EVENT=NAME,NAME`.
    pub columns: Vec<String>,
    /// The properties.
    pub properties: Vec<PropertySource>,
    /// How many transitions each monitor remembers; 0 for the usual number.
    pub history: usize,
}

/// A recorded run, and where one stands in it.
pub struct RecordedRun {
    name: String,
    tape: Tape,
    offline: Offline,
    /// How many events have been taken.
    position: u64,
    control: Control,
    stops: Stops,
    /// The monitors at some moments before, in order; the first is the beginning.
    kept: Vec<Moment>,
    /// So many events are between two moments that are kept.
    stride: u64,
    /// Events that one wants to come back to, by number.
    checkpoints: Vec<(u32, u64)>,
    checkpoint_count: u32,
    sources: Sources,
    /// Where the next `list` goes on.
    list_from: Option<(PathBuf, u32)>,
    is_interrupted: Arc<AtomicBool>,
}

/// The monitors after so many events.
#[derive(Debug, Clone)]
struct Moment {
    position: u64,
    properties: Vec<MonitoredProperty>,
}

impl RecordedRun {
    /// Reads the recording and the properties; one stands before the first event.
    ///
    /// # Errors
    /// The recording cannot be read, a property is wrong, or is about events that
    /// were not recorded.
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
            kept: Vec::new(),
            offline,
            position: 0,
            control: Control::default(),
            stops: Stops::default(),
            checkpoints: Vec::new(),
            checkpoint_count: 0,
            sources: Sources::default(),
            list_from: None,
            is_interrupted: Arc::default(),
        };
        run.kept.push(run.moment());
        run.control.load().map_err(SessionError::from)?;
        Ok(run)
    }

    /// Makes a command that goes over many events return.
    pub fn interrupter(&self) -> impl Fn() + Send + use<> {
        let flag = Arc::clone(&self.is_interrupted);
        move || flag.store(true, Ordering::Relaxed)
    }

    /// The monitors as they are now.
    fn moment(&self) -> Moment {
        Moment {
            position: self.position,
            properties: self.offline.monitors.properties.clone(),
        }
    }

    fn shown_properties(&self) -> &[MonitoredProperty] {
        &self.offline.monitors.properties
    }
}

/// Takes all that the recording defines: what happens later is known by name.
fn learn(offline: &mut Offline, tape: &Tape) {
    offline.begin(1);
    for batch in tape.batches() {
        offline.learn(0, batch);
    }
}

fn name_of(file: &Path) -> String {
    file.display().to_string()
}
