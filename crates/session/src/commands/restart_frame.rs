//! `restart-frame`: begins a call of the stack anew.
//!
//! What the call and those below it have done to memory, files and locks stays done; a checkpoint
//! takes that back.

use crate::command_table::arguments::number;
use crate::commands::jump_and_return::{RegisterValues, leave_to};
use crate::inspect::frames;
use crate::run::core_file;
use crate::run::step::nowhere_to_return;
use crate::run::watchpoints::end_watchpoints;
use crate::session::Session;
use juror_arch::abi;
use juror_fault::CommandError;
use juror_program::stack::frames::{Frame, returns_to};
use juror_program::stack::unwinding::JumpTarget;
use juror_view::observer::Observer;
use juror_view::{Outcome, StopReason};

/// The number of frames beyond one among which the frame is that it returns to: functions that have
/// ended in a jump lie between.
const CALLERS_MAX: usize = 64;

/// `restart-frame`, `restart-frame N`: the thread stands at the first instruction of the frame's
/// function, with the arguments of the call.
pub(crate) fn restart_frame(
    session: &mut Session,
    rest: &str,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let level = match number(rest)? {
        Some(level) => usize::try_from(level).unwrap_or(usize::MAX),
        None => session.processes.selection.level,
    };
    restart_at(session, level, observer)
}

/// Moves the selected thread to the beginning of the call of a frame.
pub(crate) fn restart_at(
    session: &mut Session,
    level: usize,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let frames = session
        .frames_to(level.saturating_add(CALLERS_MAX))?
        .to_vec();
    let Some(frame) = frames.get(level) else {
        // The error names the outermost frame.
        return frames::select_frame(session, level);
    };
    let program = session.running()?;
    let reentry = program.reentry(frame).map_err(refused)?;
    if let Some(why) = obstacle_below(&frames, level) {
        return Err(refused(why));
    }
    let caller = returns_to(&frames, level).ok_or_else(|| nowhere_to_return(frame))?;
    let kept = program.debuggee.read_u64(reentry.stack).ok();
    if caller.guess || kept != Some(caller.pc) {
        return Err(refused("the caller of this frame is not certain"));
    }
    let target = JumpTarget {
        pc: reentry.pc,
        stack: reentry.stack,
    };
    let now = *program.registers(session.thread()?)?;
    if (now.instruction_pointer(), now.stack_pointer()) == (target.pc, target.stack) {
        // Nothing of the call was executed: it has not ended either.
        return frames::select_frame(session, 0);
    }
    if !reentry.present.is_empty() {
        observer.notice(&format!(
            "the values that these arguments had at the call are not kept, and the call begins \
             with the present ones: {}",
            reentry.present.join(", ")
        ));
    }
    let arguments = RegisterValues {
        words: reentry.words,
        vectors: reentry.vectors,
        x87: Vec::new(),
    };
    let thread = session.thread()?;
    let caller = caller.clone();
    // The calls that end have no place where they would be told of.
    let ended = session
        .processes
        .watchpoints
        .ended(thread, abi::frame_at_entry(target.stack));
    if let Some(StopReason::WatchpointEnded {
        numbers, function, ..
    }) = end_watchpoints(session, &ended)?
    {
        let numbers = numbers.iter().map(u32::to_string).collect::<Vec<_>>();
        observer.notice(&format!(
            "the call of {function} is left, and with it what was watched: {} deleted",
            numbers.join(", ")
        ));
    }
    if now.instruction_pointer() == target.pc {
        // A thread at the entry of another call arrives at this one nevertheless.
        let mut back = now;
        back.set_instruction_pointer(caller.pc);
        session
            .running_mut()?
            .debuggee
            .set_registers(thread, &back)?;
    }
    leave_to(session, &caller, target, arguments)?;
    frames::select_frame(session, 0)
}

/// Returns whether a frame of the selected thread may begin anew, as far as that does not depend
/// on the values of its arguments.
pub(crate) fn may_restart(session: &Session, frames: &[Frame], level: usize) -> bool {
    if core_file::is_open(session) || obstacle_below(frames, level).is_some() {
        return false;
    }
    let found = session.running().ok().zip(frames.get(level));
    found.is_some_and(|(program, frame)| program.reentry_obstacle(frame).is_none())
}

/// Returns what is between a frame and the innermost one that cannot be left.
fn obstacle_below(frames: &[Frame], level: usize) -> Option<&'static str> {
    let mut below = frames.iter().take(level);
    below.find_map(|inner| match inner {
        Frame {
            called_by_juror: Some(_),
            ..
        } => Some("a call that juror made is between this frame and the innermost one"),
        Frame {
            is_of_signal: true, ..
        } => Some("a signal handler is between this frame and the innermost one"),
        _ => None,
    })
}

fn refused(why: impl Into<String>) -> CommandError {
    CommandError::with_help(
        why,
        "a checkpoint at the beginning of the call can be restored; run starts the program anew",
    )
}
