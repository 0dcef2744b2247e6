//! Automatic checkpoints, so that there is one from before a violation.
//!
//! Events that the program takes itself do not stop it: now and then it is looked how many there were.
//!
//! **Invariant**: of the periodic ones the last two are kept; counting an event costs a
//! subtraction.

use crate::run::checkpoints::losses;
use crate::run::patching;
use crate::session::Session;
use crate::state::checkpoints::{CheckpointId, Checkpoints, interval};
use juror_fault::CommandError;
use juror_view::observer::Observer;
use std::time::{Duration, Instant};

/// The number of periodic checkpoints that are kept.
const KEPT: usize = 2;

/// The time after which it is looked how many events the program has taken itself.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

impl Checkpoints {
    /// Resets the count at the start of the program.
    pub(crate) fn begin_run(&mut self) {
        self.automatic.has_begun = false;
        self.automatic.left = interval(self.automatic.when);
        self.automatic.look_at = None;
        self.automatic.counted = 0;
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

/// Returns the moment at which it is looked how many events the program has taken itself; none if it
/// takes none, or none of them makes a checkpoint due.
#[inline]
pub(crate) fn next_look(session: &mut Session) -> Option<Instant> {
    let automatic = &mut session.checkpoints.automatic;
    if automatic.left == 0 || !session.processes.monitors.has_native() {
        return None;
    }
    let at = automatic.look_at;
    Some(
        *automatic
            .look_at
            .insert(at.unwrap_or_else(|| Instant::now() + LOOK_INTERVAL)),
    )
}

/// Makes a checkpoint if the program has taken enough events itself since the last one.
pub(crate) fn look(session: &mut Session, observer: &mut dyn Observer) -> Result<(), CommandError> {
    let automatic = &mut session.checkpoints.automatic;
    if automatic
        .look_at
        .take_if(|at| *at <= Instant::now())
        .is_none()
    {
        return Ok(());
    }
    let process = &mut *session.processes;
    let Some(program) = &mut process.program else {
        return Ok(());
    };
    let count = process.monitors.count_events(program)?;
    let automatic = &mut session.checkpoints.automatic;
    let since = count.saturating_sub(automatic.counted);
    if since < u64::from(interval(automatic.when)) {
        return Ok(());
    }
    automatic.counted = count;
    checkpoint_again(session, observer)
}

#[cold]
fn checkpoint_again(
    session: &mut Session,
    observer: &mut dyn Observer,
) -> Result<(), CommandError> {
    session.checkpoints.automatic.left = interval(session.checkpoints.automatic.when);
    let is_native = session.processes.monitors.has_native();
    let id = match session.take_checkpoint(true) {
        Ok(id) => id,
        Err(error) => return give_automatic_up(session, &error, observer),
    };
    if is_native && let Some(error) = patching::arrange(session, observer)? {
        return Err(CommandError::from(error));
    }
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
