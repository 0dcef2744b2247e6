//! Automatic checkpoints, so that there is one from before a violation.
//!
//! **Invariant**: of the periodic ones the last two are kept; counting an event costs a
//! subtraction.

use crate::run::checkpoints::losses;
use crate::session::Session;
use crate::state::checkpoints::{CheckpointId, Checkpoints, interval};
use juror_fault::CommandError;
use juror_view::observer::Observer;

/// The number of periodic checkpoints that are kept.
const KEPT: usize = 2;

impl Checkpoints {
    /// Resets the count at the start of the program.
    pub(crate) fn begin_run(&mut self) {
        self.automatic.has_begun = false;
        self.automatic.left = interval(self.automatic.when);
    }
}

/// Makes the first automatic checkpoint, when the program is about to begin.
pub(crate) fn checkpoint_at_start(
    session: &mut Session,
    observer: &mut dyn Observer,
) -> Result<(), CommandError> {
    let is_fresh = session.is_fresh();
    let automatic = &mut session.checkpoints.automatic;
    if automatic.when.is_none() || !is_fresh || automatic.has_begun {
        return Ok(());
    }
    automatic.has_begun = true;
    match session.take_checkpoint(true) {
        Ok(id) => report_automatic(session, id, observer),
        Err(error) => give_automatic_up(session, &error, observer),
    }
}

/// Counts an event whose thread is stopped, and makes a checkpoint if it is due.
#[inline]
pub(crate) fn count_for_checkpoint(
    session: &mut Session,
    observer: &mut dyn Observer,
) -> Result<(), CommandError> {
    let left = &mut session.checkpoints.automatic.left;
    if *left == 0 {
        return Ok(());
    }
    *left -= 1;
    match *left {
        0 => checkpoint_again(session, observer),
        _ => Ok(()),
    }
}

#[cold]
fn checkpoint_again(
    session: &mut Session,
    observer: &mut dyn Observer,
) -> Result<(), CommandError> {
    session.checkpoints.automatic.left = interval(session.checkpoints.automatic.when);
    let id = match session.take_checkpoint(true) {
        Ok(id) => id,
        Err(error) => return give_automatic_up(session, &error, observer),
    };
    report_automatic(session, id, observer)?;
    let kept = &mut session.checkpoints.automatic.kept;
    kept.push(id);
    while kept.len() > KEPT {
        let oldest = kept.remove(0);
        session.checkpoints.saved.remove(&oldest.0);
    }
    Ok(())
}

fn report_automatic(
    session: &mut Session,
    id: CheckpointId,
    observer: &mut dyn Observer,
) -> Result<(), CommandError> {
    let losses = session.saved(id)?.view.losses.clone();
    losses::report_losses_of_checkpoint(session, id.0, &losses, observer);
    Ok(())
}

/// Stops making automatic checkpoints: the next would fail too.
fn give_automatic_up(
    session: &mut Session,
    error: &CommandError,
    observer: &mut dyn Observer,
) -> Result<(), CommandError> {
    session.checkpoints.automatic.when = None;
    session.checkpoints.automatic.left = 0;
    observer.notice(&format!("no automatic checkpoints: {error}"));
    Ok(())
}

/// Reports the last checkpoint before a violation.
pub(crate) fn report_last_checkpoint(session: &Session, observer: &mut dyn Observer) {
    let last = session.checkpoints().next_back();
    if let Some(CheckpointId(number)) =
        last.filter(|_| session.checkpoints.automatic.when.is_some())
    {
        observer.notice(&format!(
            "checkpoint {number} is from before this: restore {number}"
        ));
    }
}
