//! Self-modifying code: if the program has overwritten code with inserted breakpoints (as a JIT
//! compiler does), they are inserted in the new code whenever the program has run, and the user is
//! notified that they were missing for a while. A property whose event was there does not hold.

use crate::session::Session;
use juror_debuggee::Owners;
use juror_fault::CommandError;
use juror_values::format::Names;
use juror_view::observer::Observer;

/// The limit of addresses that are reported one by one.
const PLACES_MAX: usize = 3;

/// Inserts overwritten breakpoints again, in stopped programs, before a stop is complete.
pub(crate) fn reinsert_overwritten(
    session: &mut Session,
    observer: &mut dyn Observer,
) -> Result<(), CommandError> {
    session.in_every_process(|session| renew_overwritten_here(session, observer))
}

fn renew_overwritten_here(
    session: &mut Session,
    observer: &mut dyn Observer,
) -> Result<(), CommandError> {
    let Some(program) = &mut session.processes.program else {
        return Ok(());
    };
    let places = program.debuggee.reinsert_overwritten()?;
    note_overwritten(session, &places);
    for &address in places.iter().take(PLACES_MAX) {
        observer.notice(&format!(
            "the program has changed its code at {address:#x}: {} inserted again, but executions \
             in between were missed",
            points_at(session, address)
        ));
    }
    report_more(&places, observer);
    Ok(())
}

/// Notes, when the program has ended, the points that it had written over: nothing has said so
/// before.
pub(crate) fn report_overwritten_at_end(session: &mut Session, observer: &mut dyn Observer) {
    let Some(program) = &mut session.processes.program else {
        return;
    };
    let places = program.debuggee.take_overwritten_at_end();
    note_overwritten(session, &places);
    for &address in places.iter().take(PLACES_MAX) {
        let place = match program_place(session, address) {
            Some(place) => format!("{address:#x} ({place})"),
            None => format!("{address:#x}"),
        };
        observer.notice(&format!(
            "the program had changed its code at {place}: {} not there any more, and executions \
             were missed",
            points_at(session, address)
        ));
    }
    report_more(&places, observer);
}

/// Returns the function that an address is in, as far as it is known.
fn program_place(session: &Session, address: u64) -> Option<String> {
    let program = session.processes.program.as_ref()?;
    program.name_of(address)
}

fn note_overwritten(session: &mut Session, places: &[u64]) {
    let process = &mut *session.processes;
    let Some(program) = &process.program else {
        return;
    };
    for &address in places {
        let owners = program.debuggee.engine().owners_at(address);
        if owners.intersects(Owners::MONITOR) {
            process.monitors.note_overwritten(address);
        }
    }
}

fn report_more(places: &[u64], observer: &mut dyn Observer) {
    let more = places.len().checked_sub(PLACES_MAX);
    if let Some(more) = more.filter(|&it| it > 0) {
        observer.notice(&format!("the same holds for {more} other addresses"));
    }
}

/// Returns the points at an address, with their verb.
fn points_at(session: &Session, address: u64) -> String {
    let numbers = session.points.breakpoints.planted_at(address);
    let owners = session.processes.program.as_ref();
    let owners = owners.map(|it| it.debuggee.engine().owners_at(address));
    let is_watched = owners.is_some_and(|it| it.intersects(Owners::MONITOR));
    let listed: Vec<String> = numbers.iter().map(u32::to_string).collect();
    match (listed.as_slice(), is_watched) {
        ([], true) => "an event of a property is".to_owned(),
        ([], false) => "an internal breakpoint is".to_owned(),
        ([number], false) => format!("breakpoint {number} is"),
        (_, false) => format!("breakpoints {} are", listed.join(", ")),
        (_, true) => format!(
            "breakpoint {} and an event of a property are",
            listed.join(", ")
        ),
    }
}
