//! Convenience variables that are read from the program: `$_siginfo` and the like.

use crate::session::Session;
use juror_fault::CommandError;
use juror_language::{Expression, ExpressionKind};
use juror_values::typed::Typed;

/// Reads the kernel's information on the signal, if an expression uses it.
pub(crate) fn note_signal(
    session: &mut Session,
    expression: &Expression,
) -> Result<(), CommandError> {
    let is_meant = |part: &&Expression| matches!(&part.kind, ExpressionKind::Register(name) if &**name == SIGNAL);
    let parts = expression.all_parts();
    if !parts.into_iter().any(|part| is_meant(&part)) {
        return Ok(());
    }
    let thread = session.thread()?;
    let bytes = session.running()?.debuggee.signal_information(thread);
    let bytes = bytes.ok_or_else(|| {
        CommandError::with_help(
            "no signal has stopped this thread",
            "$_siginfo describes the signal that stopped a thread",
        )
    })?;
    if let Some(of) = juror_symbols::signal_information() {
        session.user.values.set(SIGNAL, Typed::of_bytes(of, bytes));
    }
    Ok(())
}

/// Forgets the signal: the next stop has another, or none.
pub(crate) fn forget_signal(session: &mut Session) {
    session.user.values.forget(SIGNAL);
}

/// The variable of the kernel's information on a signal.
pub(crate) const SIGNAL: &str = "_siginfo";
