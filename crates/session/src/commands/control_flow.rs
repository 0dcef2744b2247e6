//! The conditions of `if` and `while`.

use crate::commands::convenience;
use crate::commands::set_variable::may_call;
use crate::inspect::assignment::evaluate_assigning;
use crate::inspect::constants::Nothing;
use crate::inspect::expressions;
use crate::run::evaluations::conditions::ConditionError;
use crate::run::scenarios::permissions;
use crate::session::Session;
use juror_fault::CommandError;
use juror_values::typed::{Memory, Number, Typed};

/// Returns whether a condition is true in the selected frame. It may call functions of the program.
///
/// # Errors
/// It cannot be evaluated, or the program stops in a call.
pub(crate) fn holds(session: &mut Session, condition: &str) -> Result<bool, CommandError> {
    let expression = expressions::read(session, condition)?;
    convenience::check_kept(session, &expression)?;
    if !may_call(&expression) {
        let value = evaluate_assigning(session, &expression)?;
        return match &session.processes.program {
            Some(program) => truth(&value, program),
            None => truth(&value, &Nothing),
        };
    }
    permissions::permit_calls(session)?;
    let thread = session.thread()?;
    let level = session.processes.selection.level;
    let asked = session.condition_with_calls(thread, level, &expression);
    session.processes.selection.frames = None;
    asked.map_err(|error| match error {
        ConditionError::Message(message) => CommandError::new(message),
        ConditionError::Pause(_) => {
            CommandError::new("the program stopped in a call of the condition")
        }
    })
}

fn truth(value: &Typed, memory: &dyn Memory) -> Result<bool, CommandError> {
    let number = value.number(memory).map_err(|why| {
        let message: String = why.into();
        CommandError::new(message)
    })?;
    Ok(match number {
        Number::Int(number) => number != 0,
        Number::Float(number) => number != 0.0,
        Number::Wide(number) => !number.is_zero(),
        Number::Pointer(address, _) => address != 0,
        Number::Bool(truth) => truth,
    })
}
