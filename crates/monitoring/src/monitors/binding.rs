//! Binds events to the loaded modules, and reports where each event is monitored.

use crate::monitors::local_variables::LocalVariables;
use crate::monitors::memory_locations::PlaceWatch;
use crate::monitors::without_location::{Occasion, Subject, is_system_call};
use crate::monitors::{Monitors, internal, is_needed_by};
use crate::options::BindOptions;
use crate::{recording, report};
use juror_debuggee::{ThreadId, WatchTier};
use juror_event::{EventId, EventKind, Reach, SymbolicEvent};
use juror_fault::{SessionError, wrong};
use juror_instrument::memory_locations::LocationExpression;
use juror_instrument::non_call_events::{bind_captures, bind_line, bind_memory_location};
use juror_instrument::probes::{BindError, InlinedPolicy, InlinedTotal, Probe, bind_event};
use juror_language::Diagnostic;
use juror_program::program::Program;
use std::sync::Arc;

/// Where an event of a monitor is monitored.
pub struct Planted {
    /// The addresses in the debuggee; empty for events that the kernel reports.
    pub addresses: Vec<u64>,
    /// The tier, if not a breakpoint.
    pub tier: Option<String>,
    /// By address: how the event is taken there, if that is not by a trap as a matter of
    /// course: "native", or "trap: " and the reason.
    pub ways: Vec<Option<String>>,
    /// The present states need it, and it has a location.
    pub is_watched: bool,
}

/// Where an event of a monitor is bound, whether or not a state needs it now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventLocations {
    /// The addresses in the debuggee of its points or variables; the functions' first
    /// instructions for a local variable.
    pub addresses: Vec<u64>,
    /// It is about a local variable or parameter.
    pub is_local: bool,
    /// It is about memory.
    pub is_memory: bool,
    /// The kernel reports it.
    pub is_kernel: bool,
    /// The inlined calls of its function.
    pub inlined: InlinedTotal,
}

impl Monitors {
    /// Binds every event to the loaded modules, and inserts the needed points. `thread` is stopped
    /// where the dynamic linker announces modules. If `is_start`, a function that is not found is
    /// an error.
    pub fn bind(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        options: &BindOptions<'_>,
        is_start: bool,
    ) -> Result<(), SessionError> {
        self.bind_events(program, thread, options, is_start)?;
        // No code of the newly loaded modules has run, so no call of them is active.
        self.newly_awaited.clear();
        Ok(())
    }

    /// Binds events in the middle of a run, all threads stopped: the returns of active calls are
    /// monitored too.
    pub fn bind_running(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        options: &BindOptions<'_>,
    ) -> Result<(), SessionError> {
        self.bind_events(program, thread, options, true)?;
        self.await_calls_on_stacks(program, thread, None)
            .map_err(internal)
    }

    fn bind_events(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        options: &BindOptions<'_>,
        is_start: bool,
    ) -> Result<(), SessionError> {
        self.probes.forget_unloaded(program).map_err(internal)?;
        self.forget_unloaded_sites(program).map_err(internal)?;
        self.search_ahead(program);
        for monitor in 0..self.properties.len() {
            let bound = self.bind_monitor(program, thread, monitor, options, is_start);
            self.check_bound(monitor, bound)?;
            self.apply_needs(program, monitor).map_err(internal)?;
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.begin(program, options)?;
        }
        let awaits_return = |probe: &Probe| probe.kind.is_end_of_call() || probe.is_loop_head;
        if self.probes.iter().any(awaits_return) {
            self.unwind_points.insert(program).map_err(internal)?;
        }
        Ok(())
    }

    /// Searches all modules for the functions that any of them may define.
    fn search_ahead(&self, program: &Program) {
        let properties = self.properties.iter();
        let mut events: Vec<_> = properties.flat_map(|it| &it.property.events).collect();
        events.retain(|it| it.kind.is_call() && !matches!(it.reach, Reach::Module(_)));
        let names: Vec<&str> = events.iter().map(|event| &*event.subject).collect();
        program.modules.search_ahead(&names);
    }

    /// Reports the errors in the events of a monitor in its property file.
    pub(super) fn check_bound(
        &self,
        monitor: usize,
        diagnostics: Vec<Diagnostic>,
    ) -> Result<(), SessionError> {
        let is_recorder = monitor == self.shown().len();
        match (diagnostics.is_empty(), self.properties.get(monitor)) {
            (true, _) | (_, None) => Ok(()),
            (false, Some(monitored)) => Err(match &self.recorder {
                Some(recorder) if is_recorder => {
                    recording::wrong(recorder.recording(), diagnostics)
                }
                _ => wrong(monitored.file(), &monitored.text, diagnostics),
            }),
        }
    }

    /// Binds the events of one monitor; returns their errors.
    pub(super) fn bind_monitor(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        monitor: usize,
        options: &BindOptions<'_>,
        is_start: bool,
    ) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        let Some(monitored) = self.properties.get(monitor) else {
            return diagnostics;
        };
        let property = Arc::clone(&monitored.property);
        for (index, event) in property.events.iter().enumerate() {
            let id = EventId(index as u16);
            let bound = if event.kind.is_call() {
                self.bind_call(program, thread, monitor as u16, id, event, options)
            } else {
                self.bind_other(program, monitor as u16, id, event, options.inlined)
            };
            let has_module = |name: &str| program.modules.iter().any(|it| it.is_named(name));
            let was_bound = self.is_bound(monitor, index);
            let is_awaited = may_come_later(&event.reach, is_start, was_bound, has_module);
            match bound {
                Ok(()) => self.note_bound(monitor, index),
                Err(
                    BindError::UnknownFunction { .. }
                    | BindError::Subject {
                        is_absent: true, ..
                    },
                ) if is_awaited => {}
                Err(error) => diagnostics.push(report::bind_diagnostic(event, &error)),
            }
        }
        diagnostics
    }

    /// Returns whether a definition of an event's function was found.
    fn is_bound(&self, monitor: usize, index: usize) -> bool {
        let monitored = self.properties.get(monitor);
        monitored.is_some_and(|it| it.bound.get(index) == Some(&true))
    }

    /// Notes that a definition of an event's function was found.
    fn note_bound(&mut self, monitor: usize, index: usize) {
        let monitored = self.properties.get_mut(monitor);
        if let Some(bound) = monitored.and_then(|it| it.bound.get_mut(index)) {
            *bound = true;
        }
    }

    fn bind_call(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        monitor: u16,
        event: EventId,
        symbolic: &SymbolicEvent,
        options: &BindOptions<'_>,
    ) -> Result<(), BindError> {
        let bound = bind_event(program, symbolic, thread, options.inlined)?;
        let monitored = self.properties.get_mut(usize::from(monitor));
        if let Some(monitored) = monitored {
            let event = usize::from(event.0);
            if let Some(total) = monitored.inlined.get_mut(event) {
                *total = bound.inlined;
            }
            if let Some(doubts) = monitored.doubts.get_mut(event) {
                doubts.extend(bound.doubts);
                doubts.sort();
                doubts.dedup();
            }
        }
        let monitored = self.properties.get_mut(usize::from(monitor));
        let names = monitored.and_then(|it| it.namesakes.get_mut(usize::from(event.0)));
        if let (Some(names), Reach::Anywhere) = (names, &symbolic.reach) {
            *names = program.modules.namesakes(&symbolic.subject);
        }
        for call in bound.calls {
            let moment = call.inlined.as_ref().map(|entry| entry.order);
            if !self
                .probes
                .has_with_order(monitor, event, call.address, moment)
            {
                self.probes.add(Probe {
                    monitor,
                    event,
                    kind: symbolic.kind,
                    address: call.address,
                    function: call.function,
                    captures: call.captures,
                    inlined: call.inlined,
                    is_loop_head: call.is_loop_head,
                    is_inserted: false,
                });
            }
        }
        Ok(())
    }

    /// Binds an event that is not a call. An existing binding stays unless its location has moved.
    pub(super) fn bind_other(
        &mut self,
        program: &mut Program,
        monitor: u16,
        event: EventId,
        symbolic: &SymbolicEvent,
        inlined: InlinedPolicy,
    ) -> Result<(), BindError> {
        if symbolic.kind == EventKind::Line {
            for site in bind_line(program, symbolic)? {
                if let Some(why) = program.difference_at(site.address) {
                    return Err(BindError::Subject {
                        message: format!("`{}` cannot be watched: {why}", symbolic.subject),
                        help: None,
                        is_absent: false,
                    });
                }
                if !self.probes.has(monitor, event, site.address) {
                    self.probes.add(Probe {
                        monitor,
                        event,
                        kind: symbolic.kind,
                        address: site.address,
                        function: site.function.into(),
                        captures: site.captures,
                        inlined: None,
                        is_loop_head: false,
                        is_inserted: false,
                    });
                }
            }
            return Ok(());
        }
        if symbolic.kind.is_about_memory() {
            return self.bind_place(program, monitor, event, symbolic, inlined);
        }
        if !self.occasions.has(monitor, event) {
            self.occasions.add(Occasion {
                monitor,
                event,
                kind: symbolic.kind,
                subject: Subject::of(symbolic)?,
                captures: bind_captures(program, symbolic)?.into(),
            });
        }
        Ok(())
    }

    fn bind_place(
        &mut self,
        program: &mut Program,
        monitor: u16,
        event: EventId,
        symbolic: &SymbolicEvent,
        inlined: InlinedPolicy,
    ) -> Result<(), BindError> {
        let place = LocationExpression::parse(&symbolic.subject, symbolic.reach.clone())?;
        let property = self.properties.get(usize::from(monitor));
        let local = match property.map(|monitored| Arc::clone(&monitored.property)) {
            Some(property) => LocalVariables::find(program, &property, symbolic, &place, inlined)?,
            None => None,
        };
        if let Some(local) = local {
            let captures = bind_captures(program, symbolic)?.into();
            self.places
                .of(monitor, event, || {
                    PlaceWatch::new(monitor, event, symbolic.kind, place)
                })
                .captures = captures;
            let set = self.places.set_local(program, monitor, event, local);
            return set.map_err(|error| BindError::Subject {
                message: format!("it cannot be monitored: {error}"),
                help: None,
                is_absent: false,
            });
        }
        let known = self.places.of(monitor, event, || {
            PlaceWatch::new(monitor, event, symbolic.kind, place)
        });
        let sight = bind_memory_location(program, symbolic, &known.place);
        let sight = match sight {
            Ok(sight) => {
                known.captures = bind_captures(program, symbolic)?.into();
                Ok(Some(sight))
            }
            // Its module was unloaded, or is not loaded yet.
            Err(error @ BindError::Subject { .. }) => Err(error),
            Err(error) => return Err(error),
        };
        let (sight, result) = match sight {
            Ok(sight) => (sight, Ok(())),
            Err(error) => (None, Err(error)),
        };
        let moved = self.places.rebind(program, monitor, event, sight);
        moved.map_err(|error| BindError::Subject {
            message: format!("it cannot be monitored: {error}"),
            help: None,
            is_absent: false,
        })?;
        result
    }

    /// Returns where an event is bound; `None` if no loaded module has its subject.
    pub fn locations(&self, monitor: usize, event: usize) -> Option<EventLocations> {
        let monitored = self.properties.get(monitor)?;
        let (number, id) = (monitor as u16, EventId(event as u16));
        let is_meant = |owner: u16, of: EventId| owner == number && of == id;
        let mut found = EventLocations {
            is_kernel: self.occasions.has(number, id),
            inlined: monitored.inlined.get(event).copied().unwrap_or_default(),
            ..EventLocations::default()
        };
        let probes = self.probes.iter();
        let probes = probes.filter(|it| is_meant(it.monitor, it.event));
        found.addresses.extend(probes.map(|probe| probe.address));
        let places = self.places.iter();
        for place in places.filter(|it| is_meant(it.monitor, it.event)) {
            found.is_memory = true;
            match &place.local {
                Some(local) => {
                    found.is_local = true;
                    found.addresses.extend(local.functions());
                }
                None if place.call.is_none() => found.addresses.extend(place.address()),
                None => {}
            }
        }
        (found.is_kernel || self.is_bound(monitor, event)).then_some(found)
    }

    /// Returns where an event is monitored now, and how.
    pub fn planted(&self, program: Option<&Program>, monitor: usize, event: usize) -> Planted {
        let is_meant =
            |owner: u16, id: EventId| usize::from(owner) == monitor && usize::from(id.0) == event;
        let probes = self.probes.iter().filter(|it| it.is_inserted);
        let probes = probes.filter(|it| is_meant(it.monitor, it.event));
        let mut addresses: Vec<u64> = probes.map(|probe| probe.address).collect();
        let ways = program.map_or(Vec::new(), |it| self.ways(it, monitor, event));
        let places = self.places.iter();
        let places: Vec<&PlaceWatch> = places.filter(|it| is_meant(it.monitor, it.event)).collect();
        if let Some(place) = places.first() {
            addresses = places.iter().flat_map(|it| it.addresses()).collect();
            let tiers = |program| places.iter().filter_map(move |it| it.tier(program)).max();
            let tier = program.and_then(tiers);
            let local = place.local.as_ref();
            return Planted {
                is_watched: tier.is_some() || local.is_some_and(|it| it.is_inserted),
                addresses,
                tier: tier.map(tier_name).map(str::to_owned),
                ways: Vec::new(),
            };
        }
        let is_occasion = self.occasions.has(monitor as u16, EventId(event as u16));
        let is_needed = is_needed_by(&self.properties, monitor as u16, EventId(event as u16));
        Planted {
            is_watched: !addresses.is_empty() || program.is_some() && is_occasion && is_needed,
            addresses,
            tier: is_occasion.then(|| {
                let stops = program.and_then(|it| self.call_stops(it, monitor, event));
                stops.unwrap_or_else(|| "kernel".to_owned())
            }),
            ways,
        }
    }
}

impl Monitors {
    /// Returns how the system calls stop of which an event is, in words for the user.
    pub(crate) fn call_stops(
        &self,
        program: &Program,
        monitor: usize,
        event: usize,
    ) -> Option<String> {
        let monitored = self.properties.get(monitor)?;
        let kind = monitored.property.events.get(event)?.kind;
        is_system_call(kind).then(|| program.debuggee.call_stops())?
    }
}

fn tier_name(tier: WatchTier) -> &'static str {
    match tier {
        WatchTier::Hardware => "hardware",
        WatchTier::Page => "page",
        WatchTier::Stepping => "stepping",
    }
}

/// Returns whether a module that is loaded later may define an event's subject, so that it is no
/// error if no module has it now. `has_module` says whether a module with such a name is loaded.
fn may_come_later(
    reach: &Reach,
    is_start: bool,
    was_bound: bool,
    has_module: impl Fn(&str) -> bool,
) -> bool {
    match reach {
        Reach::Anywhere => !is_start,
        Reach::Library => true,
        // If it was bound, another module of that name had it.
        Reach::Module(name) => was_bound || !has_module(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::monitors;

    #[test]
    fn a_subject_is_awaited_unless_its_modules_are_there() {
        let is_awaited = |reach: &Reach, is_start, was_bound, is_loaded| {
            may_come_later(reach, is_start, was_bound, |name| {
                is_loaded && name == "libq.so"
            })
        };
        // Without a module, the subject must be there at the start.
        assert!(!is_awaited(&Reach::Anywhere, true, false, false));
        assert!(is_awaited(&Reach::Anywhere, false, false, false));
        assert!(is_awaited(&Reach::Library, true, false, true));
        let module = Reach::Module("libq.so".into());
        for is_start in [true, false] {
            assert!(is_awaited(&module, is_start, false, false));
            assert!(!is_awaited(&module, is_start, false, true));
            assert!(is_awaited(&module, is_start, true, true));
        }
    }

    #[test]
    fn an_error_of_binding_is_one_of_the_property_file() {
        let monitors = monitors("property p event a = before a() state s accepting { on a -> s }");
        assert!(monitors.check_bound(0, Vec::new()).is_ok());
        let wrong = || {
            vec![Diagnostic::error(
                "unknown-function",
                0..1,
                "no such function",
            )]
        };
        let Err(SessionError::Property { file, .. }) = monitors.check_bound(0, wrong()) else {
            panic!("it is wrong");
        };
        assert_eq!(file, "p.prop");
        // There is no such monitor.
        assert!(monitors.check_bound(7, wrong()).is_ok());
    }

    #[test]
    fn an_event_without_a_program_is_bound_nowhere() {
        let mut monitors =
            monitors("property p event a = before a() state s accepting { on a -> s }");
        assert_eq!(monitors.locations(0, 0), None);
        monitors.note_bound(0, 0);
        assert_eq!(monitors.locations(0, 0), Some(EventLocations::default()));
        let planted = monitors.planted(None, 0, 0);
        assert!(!planted.is_watched && planted.addresses.is_empty());
        assert_eq!((planted.tier, planted.ways), (None, Vec::new()));
    }
}
