//! `checkpoint`, `restore`, `info checkpoints` and `delete checkpoint`.

use crate::run::checkpoints::restoring;
use crate::session::Session;
use crate::state::checkpoints::CheckpointId;
use juror_fault::CommandError;
use juror_view::observer::Observer;
use juror_view::{CheckpointView, Outcome, StopReason};

/// `checkpoint`
pub(crate) fn checkpoint_command(
    session: &mut Session,
    rest: &str,
) -> Result<Outcome, CommandError> {
    if !rest.is_empty() {
        return Err(CommandError::with_help(
            format!("checkpoint takes no argument, such as `{rest}`"),
            "restore N goes back to one, info checkpoints lists them",
        ));
    }
    session.running()?;
    let id = session.checkpoint()?;
    Ok(Outcome::Checkpoint(Box::new(session.checkpoint_view(id)?)))
}

/// `restore 2`
pub(crate) fn restore_command(
    session: &mut Session,
    rest: &str,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let id = match checkpoint_of(session, rest)? {
        Some(id) => id,
        None => session.checkpoints().next_back().ok_or_else(|| {
            CommandError::with_help(
                "there is no checkpoint to restore",
                "checkpoint creates one",
            )
        })?,
    };
    let report = restoring::restore(session, id)?;
    session.tell(report.remarks, observer);
    session.checkpoints.note_losses(&report.losses);
    let thread = session.thread()?;
    if session.is_fresh() {
        let back = format!(
            "The program is back at checkpoint {}, before its start.",
            id.0
        );
        return Ok(Outcome::Message(with_losses(back, &report.losses)));
    }
    let reason = StopReason::Restored {
        checkpoint: id.0,
        losses: report.losses,
    };
    session.stop(reason, thread)
}

/// `info checkpoints`
pub(crate) fn checkpoint_views(session: &Session) -> Result<Outcome, CommandError> {
    views(session).map(Outcome::Checkpoints)
}

/// Returns the views of the checkpoints.
pub(crate) fn views(session: &Session) -> Result<Vec<CheckpointView>, CommandError> {
    let all = session.checkpoints();
    all.map(|id| session.checkpoint_view(id)).collect()
}

/// `delete checkpoint 2 3`, without numbers all; returns false if `rest` is another command.
pub(crate) fn delete_checkpoints(session: &mut Session, rest: &str) -> Result<bool, CommandError> {
    let mut words = rest.split_whitespace();
    let is_meant = words
        .next()
        .is_some_and(|word| word.len() > 2 && "checkpoints".starts_with(word));
    if !is_meant {
        return Ok(false);
    }
    let mut ids = Vec::new();
    for word in words {
        let id = checkpoint_of(session, word)?;
        ids.extend(id);
    }
    if ids.is_empty() {
        ids = session.checkpoints().collect();
    }
    for &id in &ids {
        session.saved(id)?;
    }
    for id in ids {
        session.checkpoints.saved.remove(&id.0);
    }
    Ok(true)
}

/// `set checkpoint-files off`
pub(crate) fn set_checkpoint_files(
    session: &mut Session,
    value: &str,
) -> Result<Outcome, CommandError> {
    session.checkpoints.settings.keeps_contents = match value {
        "on" => true,
        "off" => false,
        _ => {
            return Err(CommandError::with_help(
                "`set checkpoint-files` needs on or off",
                "set checkpoint-files on, or set checkpoint-files off",
            ));
        }
    };
    Ok(Outcome::Done)
}

fn checkpoint_of(_session: &Session, word: &str) -> Result<Option<CheckpointId>, CommandError> {
    let word = word.trim();
    if word.is_empty() {
        return Ok(None);
    }
    match word.parse() {
        Ok(number) => Ok(Some(CheckpointId(number))),
        Err(_) => Err(CommandError::with_help(
            format!("`{word}` is not the number of a checkpoint"),
            "info checkpoints lists them",
        )),
    }
}

/// Appends the losses to a sentence.
fn with_losses(mut sentence: String, losses: &[String]) -> String {
    if !losses.is_empty() {
        sentence.push_str("\nnot restored:");
    }
    for loss in losses {
        sentence.push_str("\n  ");
        sentence.push_str(loss);
    }
    sentence
}
