//! Records the events of a run in a trace.
//!
//! The record does not depend on the states of properties: it holds every event that a property
//! names, needed or not, with every value that a property reads there. For points and probes the
//! recorder is one more monitor, which needs everything; its events are in [`property`].
//!
//! **Invariant**: an event is in the file before the program resumes, so a trace is complete up to
//! the last event even if juror is killed.

#[cfg(test)]
mod tests;

use crate::options::BindOptions;
use juror_event::{Capture, EventId, EventKind, Reach, Read, SymbolicEvent};
use juror_fault::SessionError;
use juror_instrument::probes::parameter_names;
use juror_language::{
    Behaviour, Branch, Diagnostic, Property, Severity, State, StateId, Transition,
};
use juror_program::program::Program;
use juror_trace::{
    Declaration, Encoder, Header, How, LayoutId, Moment, Place, event_words, read_words,
};
use juror_view::Ending;
use juror_view::location::event_location;
use rustc_hash::FxHashMap;
use std::fs::File;
use std::io;
use std::io::{Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The limit of values of an event, as in a property.
const VALUES_MAX: usize = 64;
/// The source name in diagnostics of [`Recording::events`].
const SOURCE: &str = "--record";

/// Writes the trace of a run, and of the next one when it is restarted.
#[derive(Debug)]
pub struct Recorder {
    recording: Recording,
    property: Arc<Property>,
    /// The run that is being recorded.
    open: Option<Open>,
    /// Distinguishes this or the last run from others that are recorded in the same file.
    run: Arc<()>,
    /// Why the trace of this run, or of the last one, is not whole.
    failure: Option<String>,
}

/// A trace that is being written.
#[derive(Debug)]
struct Open {
    file: File,
    encoder: Encoder,
    /// By event.
    layouts: Vec<LayoutId>,
    /// By return address (or instruction, if the event is not a call), valid while the modules stay
    /// where they are.
    places: FxHashMap<(u64, About), u32>,
    sequence: u64,
    /// Reused for every record.
    buffer: Vec<u8>,
}

/// A position in a trace, to which it can be truncated.
#[derive(Debug, Clone)]
pub struct Mark {
    encoder: Encoder,
    layouts: Vec<LayoutId>,
    sequence: u64,
    length: u64,
    run: Arc<()>,
}

impl Recorder {
    /// Creates a recorder of these events; see [`property`].
    pub fn new(property: Arc<Property>, recording: Recording) -> Recorder {
        Recorder {
            recording,
            property,
            open: None,
            run: Arc::default(),
            failure: None,
        }
    }

    /// Returns why the trace of this run, or of the last one, is not whole.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Returns the recorder for another run.
    pub fn restarted(mut self) -> Recorder {
        self.end(None);
        Recorder::new(Arc::clone(&self.property), self.recording.clone())
    }

    /// Returns the file while it is being written.
    pub fn file(&self) -> Option<&Path> {
        self.open.as_ref().map(|_| self.recording.file.as_path())
    }

    /// Returns the options of the recording.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Begins the file, unless it exists; notes that the modules have changed.
    pub fn begin(
        &mut self,
        program: &Program,
        options: &BindOptions<'_>,
    ) -> Result<(), SessionError> {
        if let Some(open) = &mut self.open {
            // Other code may be at known addresses.
            open.places.clear();
            return Ok(());
        }
        let file = &self.recording.file;
        let opened = File::create(file);
        let begun = opened.and_then(|file| self.write_beginning(file, program, options));
        let begun = begun.map_err(|error| {
            let file = file.display();
            SessionError::Launch(format!("the trace {file} cannot be written: {error}"))
        })?;
        self.open = Some(begun);
        self.run = Arc::default();
        self.failure = None;
        Ok(())
    }

    fn write_beginning(
        &self,
        mut file: File,
        program: &Program,
        options: &BindOptions<'_>,
    ) -> io::Result<Open> {
        let mut encoder = if self.recording.binary {
            Encoder::binary()
        } else {
            Encoder::json()
        };
        let mut buffer = Vec::new();
        encoder.header(&header(program, options), &mut buffer);
        for event in &self.property.events {
            let declaration = Declaration {
                event: event_words(event),
                parameters: parameter_names(program, event),
            };
            encoder.declare(&declaration, &mut buffer);
        }
        let mut layouts = Vec::new();
        for event in &self.property.events {
            let captures = event.captures.iter();
            let keys: Vec<String> = captures.map(|capture| read_words(&capture.read)).collect();
            layouts.push(encoder.layout(&event_words(event), &keys, &mut buffer));
        }
        file.write_all(&buffer)?;
        Ok(Open {
            file,
            encoder,
            layouts,
            places: FxHashMap::default(),
            sequence: 0,
            buffer,
        })
    }

    /// Records an event. Returns the reason if it could not be written; nothing is recorded after
    /// that.
    pub fn record(
        &mut self,
        program: &Program,
        event: EventId,
        happened: &juror_monitor::Occurrence<'_>,
    ) -> Option<String> {
        let open = self.open.as_mut()?;
        let symbolic = self.property.event(event);
        let error = open.record(program, event, symbolic, happened).err()?;
        self.open = None;
        Some(self.note_failure(&error))
    }

    fn note_failure(&mut self, error: &io::Error) -> String {
        let file = self.recording.file.display();
        let failure = format!("the trace {file} cannot be continued, and ends here: {error}");
        self.failure = Some(failure.clone());
        failure
    }

    /// Returns the present position; `None` if no trace is written, or not to a file.
    pub fn mark(&self) -> Option<Mark> {
        let open = self.open.as_ref()?;
        let metadata = open.file.metadata().ok()?;
        metadata.is_file().then(|| Mark {
            encoder: open.encoder.clone(),
            layouts: open.layouts.clone(),
            sequence: open.sequence,
            length: metadata.len(),
            run: Arc::clone(&self.run),
        })
    }

    /// Truncates the trace to a mark, after the program was restored to that moment, so that the
    /// trace is that of the continued run. Returns the reason if this is impossible; nothing is
    /// recorded after that.
    pub fn cut(&mut self, mark: Option<&Mark>) -> Option<String> {
        let (error, is_recorded) = match self.cut_to(mark) {
            Ok(open) => {
                self.open = Some(open);
                self.failure = None;
                return None;
            }
            Err(error) => (error, self.open.take().is_some()),
        };
        if !is_recorded && mark.is_none() {
            return None;
        }
        let file = self.recording.file.display();
        let failure = format!(
            "the trace {file} cannot be truncated to the checkpoint, and ends here: {error}"
        );
        self.failure = Some(failure.clone());
        Some(failure)
    }

    fn cut_to(&mut self, mark: Option<&Mark>) -> io::Result<Open> {
        let mark = mark.filter(|mark| Arc::ptr_eq(&mark.run, &self.run));
        let mark = mark.ok_or_else(|| {
            io::Error::other(
                "it belongs to another run, or is not a \
                                                        file",
            )
        })?;
        // A trace that has ended is continued.
        let mut file = match self.open.take() {
            Some(open) => open.file,
            None => File::options().write(true).open(&self.recording.file)?,
        };
        file.set_len(mark.length)?;
        file.seek(io::SeekFrom::Start(mark.length))?;
        Ok(Open {
            file,
            encoder: mark.encoder.clone(),
            layouts: mark.layouts.clone(),
            // Defining places twice does no harm.
            places: FxHashMap::default(),
            sequence: mark.sequence,
            buffer: Vec::new(),
        })
    }

    /// Writes which events were never bound; `bound` is by event.
    fn note_unbound(&mut self, bound: &[bool]) {
        let Some(open) = &mut self.open else {
            return;
        };
        open.buffer.clear();
        let events = self.property.events.iter().zip(bound);
        for (event, _) in events.filter(|(_, bound)| !**bound) {
            open.encoder.unbound(&event_words(event), &mut open.buffer);
        }
        if let Err(error) = open.file.write_all(&open.buffer) {
            self.open = None;
            self.note_failure(&error);
        }
    }

    /// Ends the trace of a run in which these events were `bound`; without an ending, juror
    /// ended the run.
    pub fn end_with(&mut self, ending: Option<Ending>, bound: &[bool]) {
        self.note_unbound(bound);
        self.end(ending);
    }

    /// Ends the trace; without an ending, juror ended the run.
    fn end(&mut self, ending: Option<Ending>) {
        let how = match ending {
            Some(Ending::Exited { status }) => How::Exited(status),
            Some(Ending::Killed { signal }) => How::Killed(signal),
            Some(Ending::Detached { .. }) => How::Detached,
            None => How::Stopped,
        };
        if let Some(mut open) = self.open.take() {
            open.buffer.clear();
            open.encoder.end(how, &mut open.buffer);
            if let Err(error) = open.file.write_all(&open.buffer) {
                self.note_failure(&error);
            }
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.end(None);
    }
}

impl Open {
    fn record(
        &mut self,
        program: &Program,
        event: EventId,
        symbolic: Option<&SymbolicEvent>,
        happened: &juror_monitor::Occurrence<'_>,
    ) -> io::Result<()> {
        let Some(&layout) = self.layouts.get(usize::from(event.0)) else {
            return Ok(());
        };
        let time_ns = program.elapsed_ns();
        self.buffer.clear();
        let about = match symbolic {
            Some(symbolic) if symbolic.kind == EventKind::Line => About::Line(event),
            Some(symbolic) if !symbolic.kind.is_call() => About::Instruction,
            _ => About::Call,
        };
        let key = (happened.address, about);
        let place = match self.places.get(&key) {
            Some(&place) => place,
            None => {
                let place = place(program, happened.address, symbolic, about);
                let number = self.encoder.place(&place, &mut self.buffer);
                self.places.insert(key, number);
                number
            }
        };
        self.sequence += 1;
        let moment = Moment {
            sequence: Some(self.sequence),
            time_ns: Some(time_ns),
            thread: happened.thread,
            place: Some(place),
            values: happened.values,
        };
        self.encoder.event(layout, &moment, &mut self.buffer);
        self.file.write_all(&self.buffer)
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn header(program: &Program, options: &BindOptions<'_>) -> Header {
    let main = program.modules.main();
    let build_id = main.and_then(|module| module.symbols.header().build_id.clone());
    program.begin_moment();
    let elapsed_ns = program.elapsed_ns();
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let arguments = options.arguments.iter();
    let path = Some(options.program).filter(|path| !path.as_os_str().is_empty());
    Header {
        recorder: Some(concat!("juror ", env!("CARGO_PKG_VERSION")).to_owned()),
        program: match path {
            Some(path) => Some(path.display().to_string()),
            None => main.map(|module| module.name()),
        },
        arguments: arguments.map(|word| word.display().to_string()).collect(),
        build_id: build_id.map(|bytes| bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
        started_ns: since_1970
            .ok()
            .map(|now| nanoseconds(now).saturating_sub(elapsed_ns)),
    }
}

/// The kind of a place's address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum About {
    /// A call that returns there.
    Call,
    /// An instruction.
    Instruction,
    /// The line of an event: several may begin at one instruction.
    Line(EventId),
}

/// Returns a place as reports show it.
fn place(program: &Program, address: u64, symbolic: Option<&SymbolicEvent>, about: About) -> Place {
    let location = event_location(symbolic, Some(program), address);
    let module = program
        .modules
        .find(address.wrapping_sub(u64::from(about == About::Call)));
    Place {
        address: location.address,
        module: location.module,
        module_address: module.map(|module| module.to_file(address)),
        function: location.function,
        offset: location.offset,
        file: location.file,
        line: location.line,
    }
}

/// Returns the events of the properties and of the recording's options, each event of a subject
/// once, as a property that always needs all of them.
///
/// # Errors
/// An event of the options is wrong.
pub fn property<'a>(
    properties: impl Iterator<Item = &'a Property>,
    recording: &Recording,
) -> Result<Property, SessionError> {
    let mut events: Vec<SymbolicEvent> = Vec::new();
    for property in properties {
        for event in &property.events {
            add_event(&mut events, event, true);
        }
    }
    for event in named_events(recording)? {
        add_event(&mut events, &event, false);
    }
    if let Some(event) = events
        .iter()
        .find(|event| event.captures.len() > VALUES_MAX)
    {
        let event = event_words(event);
        return Err(SessionError::Launch(format!(
            "the properties read more than {VALUES_MAX} values at `{event}`, the limit of a \
             trace\nhelp: record with fewer properties"
        )));
    }
    let transition = |number: usize, event: &SymbolicEvent| Transition {
        event: EventId(number as u16),
        guard: None,
        success: Branch {
            updates: Vec::new(),
            target: StateId(0),
            action: None,
            span: 0..0,
        },
        failure: None,
        ignored: None,
        captures: (0..event.captures.len()).fold(0, |mask, slot| mask | 1 << slot),
        span: 0..0,
    };
    let transitions = events.iter().enumerate();
    let state = State {
        name: "recording".into(),
        accepting: true,
        is_final: false,
        action: None,
        transitions: transitions.map(|(n, event)| transition(n, event)).collect(),
        span: 0..0,
    };
    Ok(Property {
        name: "recording".into(),
        description: None,
        source_name: None,
        slice: Vec::new(),
        constraint: None,
        bindings: vec![Vec::new(); events.len()],
        events,
        variables: Vec::new(),
        functions: Arc::default(),
        behaviour: Behaviour::Automaton {
            states: vec![state],
            initial: StateId(0),
        },
        span: 0..0,
    })
}

/// Merges the captures of an event into the event with the same words. If `is_bound`, the property
/// of the event reports a function that is not found.
fn add_event(events: &mut Vec<SymbolicEvent>, event: &SymbolicEvent, is_bound: bool) {
    let words = event_words(event);
    let known = events.iter().position(|known| event_words(known) == words);
    let position = known.unwrap_or(events.len());
    if known.is_none() {
        let captures = Vec::new();
        events.push(SymbolicEvent {
            captures,
            ..event.clone()
        });
    }
    let Some(known) = events.get_mut(position) else {
        return;
    };
    if is_bound && known.reach == Reach::Anywhere {
        known.reach = Reach::Library;
    }
    // Each record has its thread and its time. Among the values, `thread` is a parameter.
    let is_of_record = |read: &Read| match read {
        Read::Convert(inner, _) => matches!(**inner, Read::Thread | Read::Time),
        read => matches!(read, Read::Thread | Read::Time),
    };
    for capture in &event.captures {
        if is_of_record(&capture.read) {
            continue;
        }
        let words = read_words(&capture.read);
        let mut reads = known.captures.iter().map(|known| read_words(&known.read));
        if !reads.any(|known| known == words) {
            known.captures.push(Capture {
                hoisted: false,
                ..capture.clone()
            });
        }
    }
}

/// Parses the events of the recording's options.
fn named_events(recording: &Recording) -> Result<Vec<SymbolicEvent>, SessionError> {
    if recording.events.is_empty() {
        return Ok(Vec::new());
    }
    let text = source(recording);
    let (properties, mut diagnostics) = juror_language::load(&text);
    diagnostics.retain(|diagnostic| diagnostic.severity == Severity::Error);
    if !diagnostics.is_empty() {
        return Err(wrong(recording, diagnostics));
    }
    let events = properties.into_iter().flat_map(|property| property.events);
    Ok(events.collect())
}

/// Writes the events as a property, which the language parses.
fn source(recording: &Recording) -> String {
    let mut text = "property recorded\n".to_owned();
    let mut transitions = String::new();
    for (event, number) in recording.events.iter().zip(1..) {
        text.push_str(&format!("event recorded{number} = {event}\n"));
        transitions.push_str(&format!("on recorded{number} "));
    }
    text + &format!("state recording accepting {{ {transitions}}}\n")
}

/// Returns the error for a wrong event of the options, be it in itself or for this program.
pub fn wrong(recording: &Recording, diagnostics: Vec<Diagnostic>) -> SessionError {
    juror_fault::wrong(SOURCE, &source(recording).into(), diagnostics)
}

/// The options of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// The file; an existing one is overwritten.
    pub file: PathBuf,
    /// The binary format instead of JSON lines.
    pub binary: bool,
    /// Events besides those of the properties, each written as in a property: `before f(x)`.
    pub events: Vec<String>,
}
