//! Expressions without a program: numbers and texts, convenience variables, and types.

use crate::session::Session;
use crate::state::control::not_running;
use crate::state::values::convenience;
use juror_fault::CommandError;
use juror_language::{Expression, ExpressionKind};
use juror_program::scope::is_register;
use juror_symbols::Type;
use juror_values::error::ValueError;
use juror_values::expression::{Scope, evaluate};
use juror_values::format::Names;
use juror_values::standard_types::LibraryTypes;
use juror_values::typed::{Memory, Typed};

/// The memory and the names of a session without a program.
pub(crate) struct Nothing;

impl Memory for Nothing {
    fn read(&self, _: u64, _: &mut [u8]) -> bool {
        false
    }
}

impl Names for Nothing {
    fn name_of(&self, _: u64) -> Option<String> {
        None
    }
}

/// The names that mean something without a program.
struct Constants<'s> {
    session: &'s Session,
    type_named: &'s dyn Fn(&str) -> Option<Type>,
}

impl Scope for Constants<'_> {
    fn name(&self, name: &str) -> Result<Typed, ValueError> {
        Err(format!("`{name}` has no value: no program is running").into())
    }

    fn register(&self, name: &str) -> Result<Typed, ValueError> {
        let kept = convenience(&self.session.user.values, name);
        kept.ok_or_else(|| format!("no convenience variable is named `${name}`").into())
    }

    fn argument(&self, _: u8) -> Result<Typed, ValueError> {
        Err("there is no call".into())
    }

    fn returned(&self) -> Result<Typed, ValueError> {
        Err("nothing has returned".into())
    }

    fn caller(&self) -> Result<Box<dyn Scope + '_>, ValueError> {
        Err("there is no call".into())
    }

    fn type_named(&self, name: &str) -> Option<Type> {
        (self.type_named)(name)
    }

    fn memory(&self) -> &dyn Memory {
        &Nothing
    }

    fn standard_types(&self) -> Option<&dyn LibraryTypes> {
        None
    }
}

/// Evaluates an expression without a program. `type_named` finds types.
///
/// # Errors
/// It needs a program, or has no value.
pub(crate) fn evaluate_constant(
    session: &Session,
    expression: &Expression,
    type_named: &dyn Fn(&str) -> Option<Type>,
) -> Result<Typed, CommandError> {
    let needs_program = |part: &Expression| match &part.kind {
        ExpressionKind::Name(_) => true,
        ExpressionKind::Register(name) => is_register(name),
        _ => false,
    };
    if expression.all_parts().into_iter().any(needs_program) {
        return Err(not_running());
    }
    let constants = Constants {
        session,
        type_named,
    };
    let value = evaluate(expression, &constants);
    value.map_err(|error| CommandError::new(error.message))
}
