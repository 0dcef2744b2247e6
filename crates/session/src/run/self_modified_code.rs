//! Self-modifying code: if the program has overwritten code with inserted breakpoints (as a JIT
//! compiler does), they are inserted in the new code whenever the program has run, and the user is
//! notified that they were missing for a while.

use crate::session::Session;
use juror_debuggee::Owners;
use juror_fault::CommandError;
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
    for &address in places.iter().take(PLACES_MAX) {
        observer.notice(&format!(
            "the program has changed its code at {address:#x}: {} inserted again, but executions \
             in between were missed",
            points_at(session, address)
        ));
    }
    if let Some(more) = places.len().checked_sub(PLACES_MAX).filter(|&it| it > 0) {
        observer.notice(&format!("the same holds for {more} other addresses"));
    }
    Ok(())
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
