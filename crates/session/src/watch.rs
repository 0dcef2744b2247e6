//! The monitors of a run and the probes that feed them.
//!
//! After Jakse, Falcone and Méhaut, *Interactive Runtime Verification* (2019),
//! section 6.6: an event is instantiated, every monitor that asked for it
//! takes its step, and the points follow what the new states need (rules
//! EXECEVENT and INIT).

pub(crate) mod binding;
mod captures;
pub(crate) mod happenings;
pub(crate) mod occasions;
pub(crate) mod places;

use crate::options::{Observer, Options, PropertySource, Recording, SessionError};
use crate::recording::{self, Recorder};
use crate::report;
use crate::totals::slice_total;
use crate::view::Ending;
use juror_debuggee::{DebuggeeError, ThreadId};
use juror_event::{EventId, EventKind, Reach, Value, Verdict};
use juror_instrument::probes::{ActiveCall, BindError, Probe, Probes};
use juror_instrument::program::Program;
use juror_instrument::unwinding::UnwindPoints;
use juror_language::{Diagnostic, EvaluationError, Property, Severity};
use juror_monitor::{HISTORY_RECORDS, Monitor, SliceId};
use occasions::Occasions;
use places::PlaceWatches;
use std::path::PathBuf;
use std::sync::Arc;

/// A property that is watched.
pub struct Watched {
    /// The property.
    pub property: Arc<Property>,
    /// Its monitor.
    pub monitor: Monitor,
    /// Which of the property files it is from.
    pub source: usize,
    /// By event: how often it happened.
    pub occurrences: Vec<u64>,
    /// By event: how often the debuggee was stopped for it.
    pub stops: Vec<u64>,
    /// How many violations have been reported.
    pub violations: u64,
    /// By event: some definition of its function was found.
    pub bound: Vec<bool>,
    /// By event: how many calls were inlined, which the user accepts.
    pub inlined: Vec<usize>,
    /// How many events were left out because they could not be evaluated.
    pub errors: u64,
    /// What the process that this one was forked from had seen till then.
    pub inherited: Inherited,
}

/// What is counted in the process where it happened, and not in its children.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Inherited {
    /// Events.
    pub events: u64,
    /// Objects that the property was evaluated for.
    pub slices: u64,
}

impl Watched {
    /// The same for a forked copy of the process: the monitor has its past, and
    /// what is counted is counted anew.
    fn forked(&self) -> Watched {
        let events = self.property.events.len();
        Watched {
            property: Arc::clone(&self.property),
            monitor: self.monitor.clone(),
            source: self.source,
            occurrences: vec![0; events],
            stops: vec![0; events],
            violations: 0,
            bound: self.bound.clone(),
            inlined: self.inlined.clone(),
            errors: 0,
            inherited: Inherited {
                events: self.sequence(),
                slices: slice_total(self),
            },
        }
    }

    /// How many events there have been, those of the processes before it
    /// included.
    pub fn sequence(&self) -> u64 {
        self.inherited.events + self.occurrences.iter().sum::<u64>()
    }
}

/// What an event brought that somebody must hear of.
#[derive(Debug, Default)]
pub struct Reaction {
    /// Slices that are violated now, by monitor.
    pub violations: Vec<(usize, SliceId)>,
    /// A guard or update that could not be evaluated, by monitor.
    pub error: Option<(usize, EvaluationError)>,
}

impl Reaction {
    /// Nobody must hear of it.
    pub fn is_empty(&self) -> bool {
        self.violations.is_empty() && self.error.is_none()
    }
}

impl Watched {
    /// The property takes an event. Tells whether its needs may have changed;
    /// nothing when no slice took it.
    pub fn step(
        &mut self,
        number: usize,
        event: EventId,
        happened: &juror_monitor::Occurrence<'_>,
        reaction: &mut Reaction,
    ) -> Option<bool> {
        if let Some(count) = self.occurrences.get_mut(usize::from(event.0)) {
            *count += 1;
        }
        let needs_changed = match self.monitor.step(event, happened) {
            Ok(step) if !step.taken => return None,
            Ok(step) => step.needs_changed,
            // The slices without the error have taken the event all the same.
            Err(error) => {
                self.errors += 1;
                reaction.error.get_or_insert((number, error));
                true
            }
        };
        let changes = self.monitor.changes().iter();
        for change in changes.filter(|change| change.violates()) {
            self.violations += 1;
            reaction.violations.push((number, change.slice));
        }
        Some(needs_changed)
    }
}

/// All monitors of a run.
#[derive(Default)]
pub struct Watch {
    /// The monitors, in the order of their files.
    pub watched: Vec<Watched>,
    /// Their probes.
    pub probes: Probes,
    /// The places in memory that they watch.
    pub(crate) places: PlaceWatches,
    /// Their events that have no place.
    pub(crate) occasions: Occasions,
    /// The modules that events have told of, with what is added to their
    /// addresses.
    loaded: Vec<(PathBuf, u64)>,
    /// The program has ended, and its events with it.
    has_exited: bool,
    unwind_points: UnwindPoints,
    /// The process, when there are others.
    pub process: Option<u32>,
    /// Buffers that are used again at every stop.
    hit: Vec<u32>,
    values: Vec<Value>,
    /// Probes of events after calls that have just become needed.
    newly_awaited: Vec<u32>,
    /// Who writes the trace; its events are those of the last of `watched`.
    recorder: Option<Recorder>,
}

/// Reads and checks the property files. Gives what there is to say about them,
/// with how bad it is and where it stands.
pub fn load(
    sources: &[PropertySource],
    history: usize,
) -> Result<(Watch, Vec<String>), SessionError> {
    let mut watch = Watch::default();
    let mut remarks = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        let (properties, diagnostics) = juror_language::load(&source.text);
        if diagnostics
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error)
        {
            return Err(property_error(source, diagnostics));
        }
        remarks.extend(diagnostics.iter().map(|diagnostic| {
            let line = line_of(&source.text, diagnostic.span.start);
            let (severity, message) = (diagnostic.severity, &diagnostic.message);
            format!("{severity}: {}:{line}: {message}", source.file)
        }));
        for mut property in properties {
            property.source_name = Some(source.file.as_str().into());
            property.events.iter_mut().for_each(captures::add);
            match Monitor::with_history(Arc::new(property), records(history)) {
                Ok(monitor) => watch.add(monitor, number),
                Err(error) => {
                    let diagnostic = Diagnostic::error("monitor", error.span, error.message);
                    return Err(property_error(source, vec![diagnostic]));
                }
            }
        }
    }
    Ok((watch, remarks))
}

/// The line of a position in a text, from 1.
fn line_of(text: &str, position: usize) -> usize {
    let before = text.bytes().take(position);
    before.filter(|byte| *byte == b'\n').count() + 1
}

/// How many transitions are remembered by this option.
fn records(history: usize) -> usize {
    match history {
        0 => HISTORY_RECORDS,
        records => records,
    }
}

fn property_error(source: &PropertySource, diagnostics: Vec<Diagnostic>) -> SessionError {
    SessionError::Property {
        file: source.file.clone(),
        text: source.text.clone(),
        diagnostics,
    }
}

impl Watch {
    /// Records the events of all properties, and those that are named.
    pub fn record(&mut self, recording: &Recording) -> Result<(), SessionError> {
        let properties = self.watched.iter().map(|watched| &*watched.property);
        let property = Arc::new(recording::property(properties, recording)?);
        let monitor = Monitor::with_history(Arc::clone(&property), 0)
            .map_err(|error| SessionError::Internal(error.to_string()))?;
        self.add_recorder(Recorder::new(property, recording.clone()), monitor);
        Ok(())
    }

    /// Adds a recorder, and the monitor that stands for it.
    pub fn add_recorder(&mut self, recorder: Recorder, monitor: Monitor) {
        self.recorder = Some(recorder);
        self.add(monitor, usize::MAX);
    }

    /// Without the monitor that stands for the recorder: the properties of the
    /// user.
    pub fn shown(&self) -> &[Watched] {
        let hidden = usize::from(self.recorder.is_some());
        let count = self.watched.len().saturating_sub(hidden);
        self.watched.get(..count).unwrap_or(&[])
    }

    /// The run is over: so is its trace.
    pub fn end_recording(&mut self, ending: Option<Ending>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.end(ending);
        }
    }

    fn add(&mut self, monitor: Monitor, source: usize) {
        let property = Arc::clone(monitor.property());
        let events = property.events.len();
        self.watched.push(Watched {
            property,
            monitor,
            source,
            occurrences: vec![0; events],
            stops: vec![0; events],
            violations: 0,
            bound: vec![false; events],
            inlined: vec![0; events],
            errors: 0,
            inherited: Inherited::default(),
        });
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
    ) -> Result<Watch, DebuggeeError> {
        let mut forked = Watch {
            watched: self.shown().iter().map(Watched::forked).collect(),
            probes: self.probes.clone(),
            unwind_points: self.unwind_points.clone(),
            places: self.places.forked(),
            occasions: self.occasions.forked(),
            loaded: self.loaded.clone(),
            process: Some(process),
            ..Watch::default()
        };
        if self.recorder.is_some() {
            let recorder = forked.watched.len() as u16;
            let probes = &mut forked.probes;
            probes.set_needed(program, recorder, |_| false, &mut forked.newly_awaited)?;
        }
        forked.follow(program, thread, parent)?;
        // Memory and signals are watched for each process by itself.
        for monitor in 0..forked.watched.len() {
            forked.apply_needs(program, monitor)?;
        }
        Ok(forked)
    }

    /// The same for a process that was made, but has a program of its own.
    pub fn executed(&self, process: u32) -> Watch {
        Watch {
            watched: self.shown().iter().map(Watched::forked).collect(),
            process: Some(process),
            ..Watch::default()
        }
    }

    /// Whether the run is recorded.
    pub fn is_recorded(&self) -> bool {
        self.recorder.is_some()
    }

    /// The process is gone: so is its trace, and its recorder is free for
    /// another run.
    pub fn take_recorder(&mut self, ending: Option<Ending>) -> Option<(Recorder, Monitor)> {
        self.end_recording(ending);
        let recorder = self.recorder.take()?;
        // The monitor that stands for it is the last.
        let watched = self.watched.pop()?;
        Some((recorder, watched.monitor))
    }

    /// The monitors as they were before any event, for another run.
    pub fn restart(&mut self, history: usize) {
        let before = std::mem::take(self);
        let count = before.shown().len();
        let mut monitors = before.watched.into_iter();
        for watched in monitors.by_ref().take(count) {
            let monitor = watched.monitor.restarted(records(history));
            self.add(monitor, watched.source);
        }
        if let (Some(recorder), Some(watched)) = (before.recorder, monitors.next()) {
            self.add_recorder(recorder.restarted(), watched.monitor.restarted(0));
        }
    }

    /// Binds every event to what is loaded now, and plants what is needed.
    /// `thread` waits where modules are announced. `is_start`: a function that
    /// is nowhere is an error now.
    pub fn bind(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        options: &Options,
        is_start: bool,
    ) -> Result<(), SessionError> {
        self.bind_events(program, thread, options, is_start)?;
        // Nothing of what was just loaded has run, so no call is active.
        self.newly_awaited.clear();
        Ok(())
    }

    fn bind_events(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        options: &Options,
        is_start: bool,
    ) -> Result<(), SessionError> {
        self.probes.forget_unloaded(program).map_err(internal)?;
        for monitor in 0..self.watched.len() {
            let property = Arc::clone(&self.watched[monitor].property);
            let mut diagnostics = Vec::new();
            for (index, event) in property.events.iter().enumerate() {
                let id = EventId(index as u16);
                if !event.kind.is_call() {
                    match self.bind_other(program, monitor as u16, id, event) {
                        Ok(()) => self.watched[monitor].bound[index] = true,
                        Err(BindError::Subject {
                            is_absent: true, ..
                        }) if !is_start || event.reach != Reach::Anywhere => {}
                        Err(error) => diagnostics.push(report::bind_diagnostic(event, &error)),
                    }
                    continue;
                }
                match program.bind_event(event, thread, options.ignore_inlined) {
                    Ok(definitions) => {
                        self.watched[monitor].bound[index] = true;
                        if options.ignore_inlined {
                            self.watched[monitor].inlined[index] = program.inlined_calls(event);
                        }
                        for (bound, captures) in definitions {
                            let address = bound.address();
                            if self.probes.has(monitor as u16, id, address) {
                                continue;
                            }
                            self.probes.add(Probe {
                                monitor: monitor as u16,
                                event: id,
                                kind: event.kind,
                                address,
                                function: bound.function.name.clone(),
                                captures,
                                planted: false,
                            });
                        }
                    }
                    Err(BindError::UnknownFunction { .. })
                        if !is_start || event.reach != Reach::Anywhere => {}
                    Err(error) => diagnostics.push(report::bind_diagnostic(event, &error)),
                }
            }
            if !diagnostics.is_empty() {
                let source = options.properties.get(self.watched[monitor].source);
                return Err(match (source, &self.recorder) {
                    (Some(source), _) => property_error(source, diagnostics),
                    (None, Some(recorder)) => recording::wrong(recorder.recording(), diagnostics),
                    (None, None) => SessionError::Internal("a property has no source".to_owned()),
                });
            }
            self.apply_needs(program, monitor).map_err(internal)?;
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.begin(program, options)?;
        }
        if self
            .probes
            .iter()
            .any(|probe| probe.kind == EventKind::AfterCall)
        {
            self.unwind_points.plant(program).map_err(internal)?;
        }
        Ok(())
    }

    /// The same for a program in the middle of its run, all threads stopped:
    /// the returns of calls that are active are watched, too.
    pub fn bind_running(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        options: &Options,
    ) -> Result<(), SessionError> {
        self.bind_events(program, thread, options, true)?;
        self.await_calls_on_stacks(program, thread, None)
            .map_err(internal)
    }

    /// Plants and lifts the difference to what the monitor needs now.
    fn apply_needs(&mut self, program: &mut Program, monitor: usize) -> Result<(), DebuggeeError> {
        let needs = self.watched[monitor].monitor.needs();
        let is_needed = |event: EventId| {
            let need = needs.get(usize::from(event.0));
            need.is_some_and(|need| need.needed)
        };
        let awaited = &mut self.newly_awaited;
        self.probes
            .set_needed(program, monitor as u16, is_needed, awaited)?;
        if !self.places.is_empty() {
            self.places.set_needed(program, monitor as u16, is_needed)?;
        }
        if !self.occasions.is_empty() {
            let watched = &self.watched;
            self.occasions.apply(program, |monitor, event| {
                is_needed_by(watched, monitor, event)
            })?;
        }
        Ok(())
    }

    /// A thread is about to execute the first instruction of watched
    /// functions, or of a watched line.
    pub fn on_call(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        address: u64,
        observer: &mut dyn Observer,
        reaction: &mut Reaction,
    ) -> Result<(), DebuggeeError> {
        let mut hit = std::mem::take(&mut self.hit);
        let mut values = std::mem::take(&mut self.values);
        self.probes.hit(address, &mut hit);
        for &number in &hit {
            let Some(probe) = self.probes.get(number) else {
                continue;
            };
            count(&mut self.watched, probe);
            // An event before may have made this one unneeded.
            if probe.kind == EventKind::AfterCall || !probe.planted {
                continue;
            }
            let (monitor, event) = (usize::from(probe.monitor), probe.event);
            let mask = self.mask(monitor, event);
            let place = if probe.kind == EventKind::Line {
                let values = &mut values;
                self.probes.read_line(program, thread, number, mask, values);
                address
            } else {
                let values = &mut values;
                self.probes
                    .read_before(program, thread, number, mask, values)?
            };
            self.step(
                program, thread, monitor, event, place, &values, observer, reaction,
            )?;
        }
        // Those that became needed just now count: the call has not returned.
        self.probes.awaited_at(address, &mut hit);
        for &number in &hit {
            self.probes.await_return(program, thread, number)?;
        }
        self.hit = hit;
        self.values = values;
        self.newly_awaited
            .retain(|&number| !self.probes.is_quiet(number));
        self.probes.note_entry(address);
        if !self.newly_awaited.is_empty() {
            self.await_active_calls(program, thread, Some(address))?;
        }
        Ok(())
    }

    /// A thread stands at a return address that some event waits for.
    pub fn on_return(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        address: u64,
        observer: &mut dyn Observer,
        reaction: &mut Reaction,
    ) -> Result<(), DebuggeeError> {
        let mut values = std::mem::take(&mut self.values);
        while let Some(occurrence) =
            self.probes
                .take_returned(program, thread, address, &mut values)?
        {
            let Some(probe) = self.probes.get(occurrence.probe) else {
                continue;
            };
            count(&mut self.watched, probe);
            let (monitor, event) = (usize::from(probe.monitor), probe.event);
            let place = occurrence.caller;
            self.step(
                program, thread, monitor, event, place, &values, observer, reaction,
            )?;
        }
        self.values = values;
        self.newly_awaited
            .retain(|&number| !self.probes.is_quiet(number));
        if !self.newly_awaited.is_empty() {
            self.await_active_calls(program, thread, None)?;
        }
        Ok(())
    }

    /// A thread is at one of juror's own points.
    pub fn on_internal(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        address: u64,
    ) -> Result<(), DebuggeeError> {
        if !self.probes.is_waiting(thread) {
            return Ok(());
        }
        if let Some(stack) = self.unwind_points.future_stack(program, thread, address)?
            && let Some(mapping) = program.mapping_of(stack)
        {
            self.probes
                .unwind_to(program, thread, stack, |frame| mapping.contains(&frame))?;
        }
        Ok(())
    }

    /// The process is the forked child of the one before: `thread`, its only
    /// one, is in the calls that `parent` was in.
    pub fn follow(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        parent: ThreadId,
    ) -> Result<(), DebuggeeError> {
        self.probes.follow(program, thread, parent)
    }

    /// The process runs another program.
    pub fn on_exec(&mut self) {
        self.probes.clear();
        self.unwind_points.clear();
        self.places.forget_process();
        self.loaded.clear();
    }

    fn mask(&self, monitor: usize, event: EventId) -> u64 {
        let needs = self
            .watched
            .get(monitor)
            .map_or(&[][..], |watched| watched.monitor.needs());
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
        reaction: &mut Reaction,
    ) -> Result<(), DebuggeeError> {
        let is_recorder = monitor + 1 == self.watched.len();
        let Some(watched) = self.watched.get_mut(monitor) else {
            return Ok(());
        };
        let time = match watched.monitor.uses_time() {
            true => program.elapsed_ns(),
            false => 0,
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
        let Some(needs_changed) = watched.step(monitor, event, &happened, reaction) else {
            return Ok(());
        };
        if observer.wants_state_changes() {
            let happened = report::Happened {
                event,
                thread: program.thread_number(thread),
                address,
                time,
                values,
            };
            for change in watched.monitor.changes() {
                let mut view = report::state_change(watched, change, happened, program);
                view.process = self.process;
                observer.state_change(&view);
            }
        }
        // Nothing can be planted in a program that has ended.
        if needs_changed && !self.has_exited {
            self.apply_needs(program, monitor)?;
        }
        Ok(())
    }

    /// An event after a call has become needed while calls may be active:
    /// their returns are watched too (section 9.2.2 of the paper). `entered`:
    /// the function that the current thread is entering just now.
    fn await_active_calls(
        &mut self,
        program: &mut Program,
        current: ThreadId,
        entered: Option<u64>,
    ) -> Result<(), DebuggeeError> {
        let threads: Vec<ThreadId> = program.debuggee.thread_ids().collect();
        let alone = threads.len() == 1;
        if !alone {
            program.debuggee.halt_all()?;
        }
        self.await_calls_on_stacks(program, current, entered)?;
        if !alone {
            for thread in threads.into_iter().filter(|&thread| thread != current) {
                program.debuggee.resume(thread)?;
            }
        }
        Ok(())
    }

    /// The same, all threads being stopped.
    fn await_calls_on_stacks(
        &mut self,
        program: &mut Program,
        current: ThreadId,
        entered: Option<u64>,
    ) -> Result<(), DebuggeeError> {
        let numbers = std::mem::take(&mut self.newly_awaited);
        if numbers.is_empty() {
            return Ok(());
        }
        let threads: Vec<ThreadId> = program.debuggee.thread_ids().collect();
        for &thread in &threads {
            // Outermost first, so that inner calls return first.
            for (function, call) in active_calls(program, thread).into_iter().rev() {
                // The call that is being entered right now is awaited already.
                if call.at_entry && thread == current && Some(function) == entered {
                    continue;
                }
                for &number in &numbers {
                    let probe = self.probes.get(number);
                    if probe.is_some_and(|probe| probe.address == function) {
                        self.probes.await_active(program, thread, number, call)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The run is over: what is undecided becomes decided. Gives the slices
    /// that this violates.
    pub fn finish(&mut self) -> Vec<(usize, SliceId)> {
        let mut violations = Vec::new();
        for (number, watched) in self.watched.iter_mut().enumerate() {
            // The base slice of a sliced property stands for no object.
            let is_sliced = !watched.property.slice.is_empty();
            let open: Vec<SliceId> = watched
                .monitor
                .slices()
                .filter(|slice| slice.verdict == Verdict::PresumablyViolated)
                .filter(|slice| !(is_sliced && slice.binding.iter().all(Option::is_none)))
                .map(|slice| slice.id)
                .collect();
            watched.monitor.finish();
            watched.violations += open.len() as u64;
            violations.extend(open.into_iter().map(|slice| (number, slice)));
        }
        violations
    }
}

/// The calls on a stopped thread's stack, innermost first, each with the first
/// instruction of its function.
fn active_calls(program: &Program, thread: ThreadId) -> Vec<(u64, ActiveCall)> {
    let mut calls = Vec::new();
    let mut is_innermost = true;
    program.walk(thread, |frame| {
        // What juror has called is not the program's.
        if frame.called_by_juror.is_some() {
            calls.clear();
        }
        if frame.is_inlined() {
            return true;
        }
        let innermost = std::mem::take(&mut is_innermost);
        let known = frame.function.as_ref().zip(frame.module.as_ref());
        let Some(((function, module), cfa)) = known.zip(frame.cfa) else {
            return true;
        };
        let function = module.to_process(function.low_pc);
        if let Ok(address) = program.debuggee.read_u64(cfa.wrapping_sub(8)) {
            let call = ActiveCall {
                address,
                frame: cfa,
                at_entry: innermost && frame.pc == function,
            };
            calls.push((function, call));
        }
        true
    });
    calls
}

/// Whether a monitor needs an event in its present state.
fn is_needed_by(watched: &[Watched], monitor: u16, event: EventId) -> bool {
    let watched = watched.get(usize::from(monitor));
    let need = watched.and_then(|it| it.monitor.needs().get(usize::from(event.0)));
    need.is_some_and(|need| need.needed)
}

/// The debuggee was stopped for a probe.
fn count(watched: &mut [Watched], probe: &Probe) {
    let monitor = watched.get_mut(usize::from(probe.monitor));
    let stops = monitor.and_then(|watched| watched.stops.get_mut(usize::from(probe.event.0)));
    if let Some(stops) = stops {
        *stops += 1;
    }
}

fn internal(error: DebuggeeError) -> SessionError {
    SessionError::Internal(error.to_string())
}
