//! Looks up, inserts and deletes points by number.

use crate::run::catchpoints;
use crate::session::Session;
use juror_fault::CommandError;
use juror_points::point::{Point, PointKind};

/// Returns the user's points with their kinds, in no order.
pub(crate) fn all_points(session: &mut Session) -> impl Iterator<Item = (PointKind, &mut Point)> {
    let breakpoints = session
        .points
        .breakpoints
        .iter_mut()
        .map(|it| &mut it.point);
    let hardware = session.points.hardware.iter_mut();
    let watchpoints = session.processes.all_watchpoints_mut();
    let watchpoints = watchpoints.map(|it| &mut it.point);
    let catchpoints = session
        .points
        .catchpoints
        .iter_mut()
        .map(|it| &mut it.point);
    breakpoints
        .map(|it| (PointKind::Breakpoint, it))
        .chain(hardware.map(|it| (PointKind::HardwareBreakpoint, &mut it.point)))
        .chain(watchpoints.map(|it| (PointKind::Watchpoint, it)))
        .chain(catchpoints.map(|it| (PointKind::Catchpoint, it)))
}

/// Returns the same without the kinds.
pub(crate) fn every_point(session: &mut Session) -> impl Iterator<Item = &mut Point> {
    all_points(session).map(|(_, point)| point)
}

/// Returns a point by its number, with its kind, or an error for the user.
pub(crate) fn kind_and_point(
    session: &mut Session,
    number: u32,
) -> Result<(PointKind, &mut Point), CommandError> {
    let is_breakpoint = session.points.breakpoints.numbered(number).is_some();
    let found = if is_breakpoint {
        // Breakpoints may be many.
        let known = session.points.breakpoints.numbered(number);
        known.map(|it| (PointKind::Breakpoint, &mut it.point))
    } else {
        let mut all = all_points(session);
        all.find(|(_, point)| point.number == number)
    };
    found.ok_or_else(|| {
        CommandError::with_help(
            format!("there is no breakpoint {number}"),
            "see: info breakpoints",
        )
    })
}

/// Returns a point by its number, or an error for the user.
pub(crate) fn point(session: &mut Session, number: u32) -> Result<&mut Point, CommandError> {
    kind_and_point(session, number).map(|(_, point)| point)
}

/// Deletes points of any kind by number.
pub(crate) fn delete_points(session: &mut Session, numbers: &[u32]) -> Result<(), CommandError> {
    if numbers.is_empty() {
        return Ok(());
    }
    session
        .points
        .breakpoints
        .delete(session.processes.program.as_mut(), numbers);
    session
        .points
        .catchpoints
        .delete(session.processes.program.as_mut(), numbers);
    catchpoints::renew_catchpoints(session);
    let points = &mut session.points.hardware;
    points.delete(session.processes.program.as_mut(), numbers)?;
    session.processes.delete_watchpoints(numbers)?;
    let process = &mut *session.processes;
    Ok(process
        .watchpoints
        .delete(process.program.as_mut(), numbers)?)
}

/// Deletes the points specific to a thread that has ended. Returns a sentence about each.
pub(crate) fn end_points_of_thread(
    session: &mut Session,
    thread: u32,
) -> Result<Vec<String>, CommandError> {
    let own = all_points(session).filter(|it| it.1.thread == Some(thread));
    let (numbers, words): (Vec<u32>, Vec<String>) = own
        .map(|(kind, it)| {
            let (kind, number, hits) = (kind.word(), it.number, it.hits);
            let words =
                format!("{kind} {number} is deleted: its thread {thread} has ended; hits: {hits}");
            (number, words)
        })
        .unzip();
    delete_points(session, &numbers)?;
    Ok(words)
}

/// Inserts the enabled points, and removes the others.
pub(crate) fn settle_points(session: &mut Session) -> Result<(), CommandError> {
    session
        .points
        .breakpoints
        .settle(session.processes.program.as_mut())?;
    catchpoints::renew_catchpoints(session);
    let process = &mut *session.processes;
    if let Some(program) = &mut process.program {
        session.points.hardware.settle(program)?;
        process.watchpoints.settle(program)?;
    }
    Ok(())
}
