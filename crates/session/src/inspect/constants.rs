//! Expressions without a program: numbers and texts, convenience variables, and types.

use crate::session::Session;
use crate::state::control::not_running;
use crate::state::values::convenience;
use juror_arch::names::is_register;
use juror_fault::CommandError;
use juror_language::{Expression, ExpressionKind};
use juror_program::calls::{Attempt, EffectResults, attempt_in};
use juror_symbols::Type;
use juror_values::error::ValueError;
use juror_values::expression::{Assignment, Scope, evaluate};
use juror_values::format::Names;
use juror_values::standard_types::LibraryTypes;
use juror_values::typed::{Memory, Typed};
use std::cell::RefCell;
use std::ops::Range;

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
    /// The assignments that were made, if the expression may assign.
    results: Option<&'s RefCell<EffectResults>>,
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

    fn assign(&self, assignment: Assignment) -> Result<Typed, ValueError> {
        match self.results {
            Some(results) => results.borrow_mut().ask(assignment),
            None => Err("this changes a variable, which this expression cannot do".into()),
        }
    }

    fn returned_from(&self, span: &Range<usize>) -> Option<Typed> {
        self.results?.borrow().returned_from(span)
    }

    fn decided(&self, span: &Range<usize>) -> Option<bool> {
        self.results?.borrow().decided(span)
    }

    fn decide(&self, span: &Range<usize>, truth: bool) {
        if let Some(results) = self.results {
            results.borrow_mut().decide(span, truth);
        }
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
    check_needs(expression)?;
    let constants = Constants {
        session,
        type_named,
        results: None,
    };
    let value = evaluate(expression, &constants);
    value.map_err(|error| CommandError::new(error.message))
}

/// Evaluates an expression that may assign convenience variables without a program, as far as
/// the assignments that were made lead.
///
/// # Errors
/// It needs a program, or has no value.
pub(crate) fn constant_attempt(
    session: &Session,
    expression: &Expression,
    type_named: &dyn Fn(&str) -> Option<Type>,
    results: &RefCell<EffectResults>,
) -> Result<Attempt, CommandError> {
    check_needs(expression)?;
    let constants = Constants {
        session,
        type_named,
        results: Some(results),
    };
    let attempted = attempt_in(expression, &constants, results);
    attempted.map_err(|error| CommandError::new(error.message))
}

/// Refuses an expression that needs a program.
fn check_needs(expression: &Expression) -> Result<(), CommandError> {
    let needs_program = |part: &Expression| match &part.kind {
        ExpressionKind::Name(_) => true,
        ExpressionKind::Register(name) => is_register(name),
        _ => false,
    };
    if expression.all_parts().into_iter().any(needs_program) {
        return Err(not_running());
    }
    Ok(())
}
