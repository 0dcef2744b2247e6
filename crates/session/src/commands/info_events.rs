//! `info events`: where the events of the properties are bound.

use crate::commands::info_graph::{named, no_property};
use crate::session::Session;
use juror_event::SymbolicEvent;
use juror_fault::CommandError;
use juror_monitoring::monitors::binding::EventLocations;
use juror_monitoring::totals::absent_words;
use juror_program::locations;
use juror_program::program::Program;
use juror_view::{EventBinding, EventView, Outcome, location};

/// `info events`, `info events PROPERTY`
pub(crate) fn events(session: &mut Session, argument: &str) -> Result<Outcome, CommandError> {
    let monitors = &session.processes.monitors;
    if monitors.shown().is_empty() {
        return Err(no_property());
    }
    if !argument.is_empty() {
        named(monitors.shown(), argument)?;
    }
    let program = session.processes.program.as_ref();
    let mut views = Vec::new();
    for (number, monitored) in monitors.shown().iter().enumerate() {
        if !argument.is_empty() && *monitored.property.name != *argument {
            continue;
        }
        for (event, symbolic) in monitored.property.events.iter().enumerate() {
            let locations = monitors.locations(number, event);
            views.push(view(program, &monitored.property.name, symbolic, locations));
        }
    }
    Ok(Outcome::Events(views))
}

fn view(
    program: Option<&Program>,
    property: &str,
    symbolic: &SymbolicEvent,
    found: Option<EventLocations>,
) -> EventView {
    let is_bound = found.is_some();
    let found = found.unwrap_or_default();
    let locations = found.addresses.iter();
    EventView {
        property: property.to_owned(),
        event: symbolic.name.to_string(),
        what: location::event_words(symbolic),
        bound_to: match &found {
            _ if !is_bound => EventBinding::Absent,
            found if found.is_kernel => EventBinding::Kernel,
            found if found.is_local => EventBinding::EachCall,
            found if found.is_memory => EventBinding::Memory,
            _ => EventBinding::Code,
        },
        locations: match program {
            Some(program) => locations
                .map(|&at| locations::location(program, at))
                .collect(),
            None => Vec::new(),
        },
        inlined_seen: found.inlined.seen + found.inlined.likely,
        inlined_missed: found.inlined.missed,
        absent: (!is_bound).then(|| absent_words(symbolic, "has")),
    }
}
