//! Questions about a frame that is not the selected one.

use crate::session::Session;
use crate::state::nodes::FrameOf;
use crate::state::selection::Selection;
use juror_fault::CommandError;
use std::mem;

/// Returns a frame by the number of its thread and its level.
pub(crate) fn frame_of(
    session: &Session,
    thread: u32,
    level: usize,
) -> Result<FrameOf, CommandError> {
    let program = session.running()?;
    let known = program.thread_of_number(thread);
    let is_alive = |id: &_| program.debuggee.thread_ids().any(|it| it == *id);
    let thread = known.filter(is_alive).ok_or_else(|| {
        CommandError::with_help(format!("there is no thread {thread}"), "see: info threads")
    })?;
    Ok(FrameOf { thread, level })
}

/// Does something with a frame selected, and selects what was selected before.
pub(crate) fn in_frame<T>(
    session: &mut Session,
    frame: FrameOf,
    act: impl FnOnce(&mut Session) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let resumes = session.processes.nodes.resumes;
    let is_selected = session.processes.selection.thread == Some(frame.thread);
    let before = &mut session.processes.selection;
    let level = mem::replace(&mut before.level, frame.level);
    let other = (!is_selected).then(|| {
        let selection = Selection {
            level: frame.level,
            ..Selection::of_thread(frame.thread)
        };
        mem::replace(before, selection)
    });
    let result = there_is(session, frame).and_then(|()| act(session));
    let has_run = session.processes.nodes.resumes != resumes;
    if has_run && result.is_err() {
        // The program has stopped in a call: that stop is the present one.
        return result;
    }
    match other {
        Some(other) => {
            session.processes.selection = Selection {
                level,
                frames: other.frames.filter(|_| !has_run),
                ..other
            };
        }
        None => session.processes.selection.level = level,
    }
    result
}

fn there_is(session: &mut Session, frame: FrameOf) -> Result<(), CommandError> {
    let count = session.frames_to(frame.level.saturating_add(1))?.len();
    if frame.level < count {
        Ok(())
    } else {
        Err(CommandError::new(format!(
            "there is no frame {}: the outermost frame is number {}",
            frame.level,
            count.saturating_sub(1)
        )))
    }
}
