//! One native property.

use super::memory::TableMemory;
use crate::monitors::MonitoredProperty;
use juror_debuggee::SharedMemory;
use juror_event::{EventId, EventKind};
use juror_instrument::probes::Probes;
use juror_instrument::word_captures::{self, CallWords};
use juror_monitor::lowering::{
    EventWords, Lowered, MonitorProgram, NotNative, Options, Place, WordMonitor, lower,
};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The maximum number of states. Which states are occupied is one word then, which a stub
/// reads at once.
const STATES_MAX: u32 = 64;

/// A property whose slices are in a table that the program shares.
#[derive(Debug)]
pub(crate) struct NativeProperty {
    pub word: WordMonitor<TableMemory>,
    pub program: Arc<MonitorProgram>,
    pub table: SharedMemory,
    /// Its number among the native properties of the process.
    pub index: usize,
    /// The number of all probes when it was lowered.
    pub probes: usize,
    /// By probe: the words of its event there. Other probes stay traps.
    pub words: FxHashMap<u32, CallWords>,
    /// By event: why none of its probes is native.
    pub refusals: Vec<Option<NotNative>>,
    /// By event: the occurrences before it was native.
    pub occurrences: Vec<u64>,
}

/// The table of a property, if it is native. A clone of the property is not.
#[derive(Debug, Default)]
pub(crate) struct NativeSlot(Option<Box<NativeProperty>>);

impl Clone for NativeSlot {
    fn clone(&self) -> NativeSlot {
        NativeSlot::default()
    }
}

impl NativeSlot {
    pub fn get(&self) -> Option<&NativeProperty> {
        self.0.as_deref()
    }

    pub fn get_mut(&mut self) -> Option<&mut NativeProperty> {
        self.0.as_deref_mut()
    }

    pub fn set(&mut self, native: NativeProperty) {
        self.0 = Some(Box::new(native));
    }

    pub fn is_some(&self) -> bool {
        self.0.is_some()
    }

    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }

    pub fn take(&mut self) -> Option<Box<NativeProperty>> {
        self.0.take()
    }
}

/// A property that could become native.
pub(crate) struct Candidate {
    pub lowered: Lowered,
    pub refusals: Vec<Option<NotNative>>,
    pub words: FxHashMap<u32, CallWords>,
}

impl Candidate {
    /// Lowers a property with its probes.
    ///
    /// # Errors
    /// No event of it can be taken in the program.
    pub fn of(
        monitored: &MonitoredProperty,
        number: usize,
        probes: &Probes,
    ) -> Result<Candidate, NotNative> {
        let property = &monitored.property;
        if let Some(event) = property.events.iter().find(|event| !is_rare(event.kind)) {
            return Err(NotNative {
                place: Place::Event(event.name.clone()),
                span: event.span.clone(),
                why: "is not one of a call, and would be watched in every state".into(),
            });
        }
        let mut of_probes = FxHashMap::default();
        let mut events = Vec::with_capacity(property.events.len());
        for (event, symbolic) in (0..).map(EventId).zip(&property.events) {
            let mut definitions: Vec<EventWords> = Vec::new();
            let mut result = Err(unbound(symbolic));
            for (probe_number, probe) in (0u32..).zip(probes.iter()) {
                if usize::from(probe.monitor) != number || probe.event != event {
                    continue;
                }
                match word_captures::of_probe(symbolic, probe) {
                    Ok(found) => {
                        definitions.push(found.words.clone());
                        if result.is_err() {
                            result = Ok(found.words.clone());
                        }
                        of_probes.insert(probe_number, found);
                    }
                    // Other definitions may be native all the same.
                    Err(why) if definitions.is_empty() => result = Err(why),
                    Err(_) => {}
                }
            }
            if let Err(why) = word_captures::compatible(symbolic, &definitions) {
                result = Err(why);
            }
            events.push(result);
        }
        let lowered = lower(&monitored.monitor, &events, &options())?;
        let program = Arc::clone(lowered.program());
        if program.layout.sizes.states > STATES_MAX {
            return Err(whole(monitored, "has more than 64 states"));
        }
        of_probes.retain(|probe, _| {
            let event = probes.get(*probe).map(|probe| usize::from(probe.event.0));
            let step = event.and_then(|event| program.steps.get(event));
            step.is_some_and(|step| step.why.is_none())
        });
        if of_probes.is_empty() {
            let why = events.iter().find_map(|it| it.as_ref().err().cloned());
            return Err(why.unwrap_or_else(|| whole(monitored, "has no event of a call")));
        }
        let steps = program.steps.iter();
        let refusals = steps.zip(events).map(|(step, words)| match words {
            Err(why) => Some(why),
            Ok(_) => step.why.clone(),
        });
        Ok(Candidate {
            refusals: refusals.collect(),
            lowered,
            words: of_probes,
        })
    }
}

/// Returns whether an event is one of a call, or so rare that it costs nothing to watch it
/// in states that do not need it.
fn is_rare(kind: EventKind) -> bool {
    kind.is_call()
        || matches!(
            kind,
            EventKind::ThreadStart
                | EventKind::ThreadEnd
                | EventKind::ModuleLoad
                | EventKind::ModuleUnload
                | EventKind::ProgramStart
                | EventKind::ProgramExit
        )
}

fn options() -> Options {
    Options {
        journals: super::records::RECORDS,
        ..Options::default()
    }
}

fn unbound(event: &juror_event::SymbolicEvent) -> NotNative {
    NotNative {
        place: Place::Event(event.name.clone()),
        span: event.span.clone(),
        why: "has no function in the program yet".into(),
    }
}

/// Returns a reason that concerns the property as a whole.
pub(crate) fn whole(monitored: &MonitoredProperty, why: &str) -> NotNative {
    NotNative {
        place: Place::Property,
        span: monitored.property.span.clone(),
        why: why.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{event, monitored};

    #[test]
    fn events_that_cost_stops_in_every_state_are_not_rare() {
        for (text, expected) in [
            ("before f()", true),
            ("after f()", true),
            ("thread start", true),
            ("module load", true),
            ("program exit", true),
            ("entry write", false),
            ("signal", false),
            ("write total", false),
            ("line \"a.c:3\"", false),
        ] {
            assert_eq!(is_rare(event(text).kind), expected, "{text}");
        }
    }

    #[test]
    fn a_property_without_functions_in_the_program_stays_with_traps() {
        let refused = |text: &str| match Candidate::of(&monitored(text), 0, &Probes::default()) {
            Ok(_) => panic!("it has no probes"),
            Err(why) => why.to_string(),
        };
        let bound = "property p event a = before a() state s accepting { on a -> s }";
        assert!(refused(bound).contains("has no function in the program yet"));
        let watched = "property p event a = before a() event w = write total
            state s accepting { on a -> s on w -> s }";
        assert!(refused(watched).contains("would be watched in every state"));
    }
}
