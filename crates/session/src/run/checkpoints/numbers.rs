//! Decides whether the program gets its own PID namespace, so that a user who may not choose
//! process numbers can have checkpoints of threads.
//!
//! **Invariant**: if no checkpoints are wanted, programs are started as usual.

use crate::command_table;
use crate::session::Session;
use crate::state::checkpoints::Checkpoints;
use juror_debuggee::{Origin, PidNamespace};
use juror_fault::CommandError;
use juror_language::{ActionKind, Piece};
use juror_view::Outcome;
use juror_view::observer::Observer;

/// Returns whether an action of a scenario makes a checkpoint, with its own keyword or with a
/// command of the prompt. A command that begins with a value is unknown.
fn makes_checkpoint(action: &ActionKind) -> bool {
    let line = match action {
        ActionKind::Checkpoint(_) => return true,
        ActionKind::Command(line) => line.pieces.first(),
        _ => None,
    };
    let Some(Piece::Text(text)) = line else {
        return false;
    };
    let word = text.split_whitespace().next();
    let entry = word.and_then(|word| command_table::find(word).ok());
    entry.is_some_and(|entry| entry.name == "checkpoint")
}

/// Returns the PID namespace for the next program.
pub(crate) fn wanted_numbers(session: &Session) -> PidNamespace {
    let mut scenarios = session.scenarios.list.iter();
    let is_wanted = session.checkpoints.namespace.unwrap_or_else(|| {
        session.options.checkpoints.is_some()
            || scenarios.any(|loaded| loaded.scenario.has_action(makes_checkpoint))
    });
    if is_wanted {
        PidNamespace::NewIfNeeded
    } else {
        PidNamespace::Shared
    }
}

/// Returns whether a program that has not begun was started with the wanted namespace.
pub(crate) fn has_wanted_numbers(session: &Session) -> bool {
    let program = session.processes.program.as_ref();
    let is_started = program.is_some_and(|it| it.debuggee.origin() == Origin::Launched);
    !is_started || session.checkpoints.numbers == wanted_numbers(session)
}

/// Reports, when the program is about to begin, that it lacks the namespace it should have.
pub(crate) fn report_missing_namespace(session: &mut Session, observer: &mut dyn Observer) {
    let program = session.processes.program.as_ref();
    let refusal = program.and_then(|program| program.debuggee.namespace_refusal());
    let Some(refusal) = refusal else {
        return;
    };
    observer.notice(&format!(
        "the program has no PID namespace: {refusal}. If it has one thread, it is restored with \
         another process number; if it has several, checkpoints are not possible"
    ));
}

/// `set checkpoint-namespace on`
pub(crate) fn set_checkpoint_namespace(
    session: &mut Session,
    value: &str,
) -> Result<Outcome, CommandError> {
    session.checkpoints.namespace = match value {
        "on" => Some(true),
        "off" => Some(false),
        "auto" => None,
        _ => {
            return Err(CommandError::with_help(
                "`set checkpoint-namespace` needs on, off or auto",
                "set checkpoint-namespace on or off; auto, the default: if checkpoints are made by \
                 --checkpoint or a scenario. It takes effect at the next run",
            ));
        }
    };
    Ok(Outcome::Done)
}

impl Checkpoints {
    /// Notes the namespace that the program was started with.
    pub(crate) fn note_numbers(&mut self, numbers: PidNamespace) {
        self.numbers = numbers;
    }
}
