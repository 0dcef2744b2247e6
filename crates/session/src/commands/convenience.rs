//! Convenience variables and the value history: `$1` and `$`, the user's own variables, and those
//! that juror sets: `$_exitcode`, `$bpnum`, `$_thread`.
//!
//! The names are gdb's.
//!
//! **Invariant**: the name of a register means the register.

use crate::session::Session;
use crate::state::values::convenience;
use juror_arch::names::is_register;
use juror_fault::CommandError;
use juror_language::{Expression, ExpressionKind};
use juror_symbols::Type;
use juror_values::expression::BUILT_IN_NAMES;
use juror_values::typed::Typed;

/// Sets the convenience variables of the present state, for a command.
pub(crate) fn note_conveniences(session: &mut Session) {
    match session.points.breakpoints.last_number() {
        0 => {}
        number => session.user.values.set_number("bpnum", number),
    }
    let process = session.process_name().map_or(1, |it| it.number);
    session.user.values.set_number("_inferior", process);
    if let (Some(program), Some(thread)) = (
        &session.processes.program,
        session.processes.selection.thread,
    ) {
        let number = program.thread_number(thread);
        session.user.values.set_number("_thread", number);
    }
}

/// Refuses an unknown name after `$`, which could only fail later.
pub(crate) fn check_kept(session: &Session, expression: &Expression) -> Result<(), CommandError> {
    check_functions(expression)?;
    for part in expression.all_parts() {
        if let ExpressionKind::Register(name) = &part.kind
            && !is_register(name)
            && !name.starts_with('_')
            && convenience(&session.user.values, name).is_none()
        {
            let message = format!("no register or convenience variable is named `${name}`");
            return Err(CommandError::with_help(
                message,
                "set $n = 3 creates a variable; show convenience lists them",
            ));
        }
    }
    Ok(())
}

/// Refuses a function of juror that does not exist.
pub(crate) fn check_functions(expression: &Expression) -> Result<(), CommandError> {
    for part in expression.all_parts() {
        if let Some((name, _)) = part.built_in()
            && !BUILT_IN_NAMES.contains(&name)
        {
            let names = BUILT_IN_NAMES.map(|name| format!("${name}"));
            let message = format!("there is no function `${name}`");
            let help = format!("the functions are {}", names.join(", "));
            return Err(CommandError::with_help(message, help));
        }
    }
    Ok(())
}

/// Notes the address that was examined last, and its value, if known.
pub(crate) fn note_examined(session: &mut Session, address: u64, value: Option<Typed>) {
    let pointer = Type::void().pointer_to();
    let bytes = address.to_le_bytes().to_vec();
    session
        .user
        .values
        .set("_", Typed::of_bytes(pointer, bytes));
    match value {
        Some(value) => session.user.values.set("__", value),
        None => session.user.values.forget("__"),
    }
}
