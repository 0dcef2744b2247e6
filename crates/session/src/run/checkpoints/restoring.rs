//! Restores a checkpoint.

use crate::run::catchpoints;
use crate::run::scenarios::effects;
use crate::session::Session;
use crate::state::checkpoints::{CheckpointId, Saved};
use crate::state::selection::Selection;
use juror_checkpoint::Restored;
use juror_debuggee::{Owner, ThreadId};
use juror_fault::CommandError;
use juror_monitoring::monitors::Monitors;
use juror_program::program::Program;
use std::mem;

/// The report of a restore.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct RestoreReport {
    /// The state that was not restored, each in words.
    pub losses: Vec<String>,
    /// The side effects, each in a sentence.
    pub remarks: Vec<String>,
}

/// Restores the program and its monitors from a checkpoint, which stays. The present program ends,
/// if it has not ended before. All threads are stopped.
///
/// # Errors
/// There is none of this number, or it cannot be restored.
pub fn restore(session: &mut Session, id: CheckpointId) -> Result<RestoreReport, CommandError> {
    session.check_for_checkpoint("a restore replaces one process")?;
    session.saved(id)?;
    // Taken out of the table, since the whole session changes.
    let Some(saved) = session.checkpoints.saved.remove(&id.0) else {
        return Ok(RestoreReport::default());
    };
    let report = go_back_to(session, &saved);
    session.checkpoints.saved.insert(id.0, saved);
    let report = report?;
    effects::forget_points_after(session, id.0)?;
    Ok(report)
}

fn go_back_to(session: &mut Session, saved: &Saved) -> Result<RestoreReport, CommandError> {
    let points = points_after(session, saved);
    let present = session
        .processes
        .program
        .as_mut()
        .map(|program| &mut program.debuggee);
    let was_alive = present.is_some();
    let restored = saved.state.restore(present, &points);
    let Restored { thawed, losses } = restored.map_err(|error| {
        CommandError::with_help(
            format!(
                "checkpoint {} cannot be restored: {error}",
                saved.view.number
            ),
            "info checkpoints lists the checkpoints",
        )
    })?;
    let threads = thawed.threads;
    let number = |thread: ThreadId| {
        let found = threads.iter().find(|(then, _)| *then == thread);
        found.map_or(thread, |(_, now)| *now)
    };
    let mut report = RestoreReport {
        losses: losses.iter().map(ToString::to_string).collect(),
        remarks: Vec::new(),
    };
    let mut program = Program::restored(&saved.program, thawed.debuggee, number);
    session.user.pretty_printers.apply(&mut program);
    let before = session.processes.program.replace(program);
    // It has ended.
    drop(before);
    let mark = saved.trace.as_ref();
    report.remarks.extend(
        session
            .processes
            .monitors
            .go_back(&saved.monitors, mark, number),
    );
    session
        .processes
        .exit_violations
        .clone_from(&saved.exit_violations);
    session.processes.stop.announced = saved.announced.map(|(thread, at)| (number(thread), at));
    session.points.breakpoints.passes = saved.passes.renumbered(number);
    session.points.hardware.passes = saved.hardware_passes.renumbered(number);
    session.processes.stop.asked = None;
    session.processes.stop.ended_call = None;
    session.points.commands.clear();
    session.control.state.restore(saved.is_fresh);
    session.processes.nodes.clear();
    session.processes.selection = Selection {
        thread: Some(number(saved.thread)),
        ..Selection::default()
    };
    adjust_developers_points(session, was_alive, &mut report)?;
    if let Some(program) = session.processes.program.as_mut().filter(|_| !was_alive) {
        for (address, owner, count) in developers_points_of(saved) {
            for _ in 0..count {
                // Points that could not be inserted are absent.
                let _ = program.debuggee.remove(address, owner);
            }
        }
    }
    Ok(report)
}

/// Returns the monitors' points of the checkpoint and the user's present points.
fn points_after(session: &Session, saved: &Saved) -> Vec<(u64, Owner, u32)> {
    let internal = |monitors: &Monitors| -> Vec<u64> { monitors.internal_points().collect() };
    let then = saved.state.process().points().iter().copied();
    let monitors = then.filter(|(_, owner, _)| matches!(owner, Owner::Monitor | Owner::Return));
    let mut points: Vec<(u64, Owner, u32)> = monitors.collect();
    points.extend(
        internal(&saved.monitors)
            .into_iter()
            .map(|at| (at, Owner::Internal, 1)),
    );
    let Some(program) = &session.processes.program else {
        points.extend(developers_points_of(saved));
        return points;
    };
    // The present internal points are the user's, except those of the monitors.
    let own = internal(&session.processes.monitors);
    let now = program.debuggee.points().into_iter();
    points.extend(now.filter_map(|(address, owner, count)| match owner {
        Owner::Developer | Owner::Scenario => Some((address, owner, count)),
        Owner::Internal => {
            let count = count - u32::from(own.contains(&address)).min(count);
            (count > 0).then_some((address, owner, count))
        }
        _ => None,
    }));
    points
}

/// Binds the user's points to the modules of the restored program, and reads the watched values.
fn adjust_developers_points(
    session: &mut Session,
    was_alive: bool,
    report: &mut RestoreReport,
) -> Result<(), CommandError> {
    let mut program = session.processes.program.take();
    if let Some(program) = &mut program {
        session.control.share_interrupter(&mut program.debuggee)?;
        program.debuggee.set_follow(session.options.follow);
        session.points.breakpoints.bind(program);
        session.points.catchpoints.bind(program);
    }
    session.processes.program = program;
    catchpoints::renew_catchpoints(session);
    if was_alive {
        end_foreign_watchpoints(session, report)?;
    }
    let process = &mut *session.processes;
    if let Some(program) = &mut process.program {
        session.points.hardware.settle(program)?;
        process.watchpoints.look_again(program)?;
        process.watchpoints.settle(program)?;
    }
    Ok(())
}

/// Ends watchpoints on variables of calls that had not begun at the checkpoint.
fn end_foreign_watchpoints(
    session: &mut Session,
    report: &mut RestoreReport,
) -> Result<(), CommandError> {
    let program = session.running()?;
    let standing: Vec<(ThreadId, u64)> = program
        .debuggee
        .thread_ids()
        .filter_map(|thread| Some((thread, program.registers(thread).ok()?.stack_pointer())))
        .collect();
    let mut gone = session.processes.watchpoints.of_other_threads(&standing);
    for (thread, stack) in standing {
        gone.extend(session.processes.watchpoints.ended(thread, stack));
    }
    gone.sort_unstable();
    for &number in &gone {
        report.remarks.push(format!(
            "watchpoint {number} is deleted: the call whose variable it watched has not begun"
        ));
    }
    let mut watchpoints = mem::take(&mut session.processes.watchpoints);
    let deleted = watchpoints.delete(session.processes.program.as_mut(), &gone);
    session.processes.watchpoints = watchpoints;
    Ok(deleted?)
}

/// Returns the user's points at the checkpoint. While the program is dead, its breakpoints are not
/// inserted; but a thread restored to a breakpoint where it was stopped has been reported there,
/// and only a point that is inserted when it arrives records that. They are removed when the
/// present points are inserted.
fn developers_points_of(saved: &Saved) -> Vec<(u64, Owner, u32)> {
    let then = saved.state.process().points().iter().copied();
    let is_own = |owner: &Owner| matches!(owner, Owner::Developer | Owner::Scenario);
    then.filter(|(_, owner, _)| is_own(owner)).collect()
}
