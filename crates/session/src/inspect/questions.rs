//! Questions of the user that can be interrupted: reads of values fail then, and walks through
//! containers end.
//!
//! **Invariant**: what was read in part is not shown: the answer is that it was interrupted.

use crate::session::Session;
use juror_fault::CommandError;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Answers a question. If the program runs for it, what is read from then on is not interrupted.
///
/// # Errors
/// Those of the answer; or it was interrupted.
pub(crate) fn asked<T>(
    session: &mut Session,
    answer: impl FnOnce(&mut Session) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let interruption = Arc::clone(&session.control.cancel);
    if let Some(program) = &mut session.processes.program {
        program.begin_question(&interruption);
    }
    let answered = answer(session);
    let mut is_interrupted = false;
    for program in session.processes.programs_mut() {
        is_interrupted |= program.end_question();
    }
    if !is_interrupted {
        return answered;
    }
    // It has been followed. Stacks and containers may have been read in part.
    interruption.store(false, Ordering::Relaxed);
    session.processes.nodes.walks.clear();
    session.processes.selection.frames = None;
    Err(CommandError::new(
        "interrupted: the values were not read to the end",
    ))
}

/// As [`asked`], for a front end: an interruption of an earlier request is not meant.
pub(crate) fn asked_by_front_end<T>(
    session: &mut Session,
    answer: impl FnOnce(&mut Session) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    if session.control.serves {
        return answer(session);
    }
    asked(session, answer)
}
