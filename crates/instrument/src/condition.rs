//! Conditions of points: written once, prepared for each place, asked at each
//! hit.
//!
//! A condition is compiled for the address of a point: names become registers,
//! frame slots and addresses, types become sizes. Asking it then costs its
//! reads; nothing allocates and nothing is looked up. What cannot be compiled
//! (the caller's variables, values that move within a line's code, `$1`) is
//! evaluated as at the prompt, with the thread's frames.
//!
//! Invariant: a compiled condition says what the evaluation would say; where
//! it comes to no result, the evaluation is asked, so that its words are shown.

mod captured;
mod compile;
mod machine_word;
mod node;
mod operand;
mod point_names;
mod read_type;

pub use captured::Operation;
pub(crate) use captured::{CapturedOperand, NameContext};
use juror_debuggee::ThreadId;
use juror_event::Value;
use juror_language::{
    Diagnostic, Expression, ExpressionKind, UnaryOperator, parse_expression_with_types, parse_read,
};
use juror_program::program::Program;
use juror_program::scope::{FrameScope, is_register};
use juror_values::expression::{self, ExpressionError};
use juror_values::read_plan::Machine;
use juror_values::typed::Typed;
use node::{Node, Scalar};
use operand::NotCompiled;
use point_names::PointNames;
pub(crate) use read_type::NoValue;
use std::rc::Rc;

/// How far up the stack the call of a local variable is looked for.
const CALLS_MAX: usize = 256;

/// A condition as it was written.
#[derive(Debug, Clone)]
pub struct Condition {
    /// Its words.
    pub text: String,
    expression: Rc<Expression>,
    calls_functions: bool,
    /// Frames that its evaluation needs.
    frame_count: usize,
    /// Names in it that are those of types where it was written.
    types: Rc<[String]>,
}

/// A condition that is ready for one place.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Check {
    node: Option<Node>,
    level: usize,
}

impl Check {
    /// One that could not be prepared: it is evaluated in the frame at a level.
    pub fn unprepared(level: usize) -> Check {
        Check { node: None, level }
    }

    /// Asking it allocates nothing.
    pub fn is_compiled(&self) -> bool {
        self.node.is_some()
    }

    /// The frame that it speaks of: 0 is the innermost, the others are those that inlined
    /// calls lie in.
    pub fn level(&self) -> usize {
        self.level
    }

    /// The number that it comes to, in a stopped thread.
    pub(crate) fn value(&self, machine: &impl Machine) -> Option<Value> {
        self.node.as_ref()?.evaluate(machine).map(value_of)
    }
}

fn value_of(scalar: Scalar) -> Value {
    match scalar {
        Scalar::Int(number) => Value::Int(number),
        Scalar::Float(number) => Value::Float(number),
        Scalar::Bool(truth) => Value::Bool(truth),
        Scalar::Address(address) => Value::Address(address),
    }
}

impl Condition {
    /// Reads a condition; the names of `types` are types of the program.
    ///
    /// # Errors
    /// It is no expression; what is wrong.
    pub fn parse(text: &str, types: &[String]) -> Result<Condition, Option<Diagnostic>> {
        let condition = Condition::of(text, parse_expression_with_types(text, types))?;
        Ok(Condition {
            types: types.into(),
            ..condition
        })
    }

    fn of(
        text: &str,
        (expression, diagnostics): (Option<Expression>, Vec<Diagnostic>),
    ) -> Result<Condition, Option<Diagnostic>> {
        if let Some(error) = diagnostics.into_iter().find(Diagnostic::is_error) {
            return Err(Some(error));
        }
        let expression = expression.ok_or(None)?;
        Ok(Condition {
            text: text.trim().to_owned(),
            calls_functions: expression.calls_functions(),
            frame_count: 1 + callers_named(&expression),
            types: Rc::default(),
            expression: Rc::new(expression),
        })
    }

    /// Reads what an event reads: `arg 1` and `ret` have their meaning.
    ///
    /// # Errors
    /// It is no expression; what is wrong.
    pub(crate) fn of_capture(text: &str) -> Result<Condition, Option<Diagnostic>> {
        Condition::of(text, parse_read(text))
    }

    /// Frames that its evaluation needs.
    pub(crate) fn frame_count(&self) -> usize {
        self.frame_count
    }

    /// Prepares it for its value where its names have their meaning.
    ///
    /// # Errors
    /// As [`Condition::at`].
    pub(crate) fn value_at(
        &self,
        program: &Program,
        context: NameContext<'_>,
    ) -> Result<Check, ExpressionError> {
        let parts = self.expression.all_parts().into_iter();
        for part in parts {
            // An event has no values of the prompt.
            if let ExpressionKind::Register(name) = &part.kind
                && !is_register(name)
            {
                let message = format!("no register or convenience variable is named `${name}`");
                return Err(ExpressionError::new(message, &part.span));
            }
        }
        let names = context.names(program);
        prepared(compile::value(&self.expression, &names), context.level)
    }

    /// What it reads, where that is never a value of an event: a container, a structure.
    /// Asked as [`Condition::value_at`].
    pub(crate) fn no_value_at(
        &self,
        program: &Program,
        context: NameContext<'_>,
    ) -> Option<NoValue> {
        read_type::no_value(&self.expression, &self.text, &context.names(program))
    }

    /// Whether asking it runs functions of the program.
    pub fn calls_functions(&self) -> bool {
        self.calls_functions
    }

    /// The expression itself.
    pub fn expression(&self) -> Rc<Expression> {
        Rc::clone(&self.expression)
    }

    /// Prepares it for a point at an address, for the frame at a level there: 0 is the
    /// innermost, the others those that inlined calls lie in.
    ///
    /// # Errors
    /// It names something that there is not, or computes with what cannot be
    /// computed with: it could never be asked there.
    pub fn at(
        &self,
        program: &Program,
        address: u64,
        level: usize,
    ) -> Result<Check, ExpressionError> {
        let names = PointNames::new(program, address, level);
        self.have_one_meaning(&names)?;
        prepared(compile::truth(&self.expression, &names), level)
    }

    /// Where it is written, `(count)-1` may be a cast, and a difference where it is asked.
    fn have_one_meaning(&self, names: &PointNames<'_>) -> Result<(), ExpressionError> {
        let casts = self.expression.all_parts().into_iter();
        let mut written = casts.filter_map(|part| match &part.kind {
            ExpressionKind::Cast { type_name, .. } if type_name.derivations.is_empty() => {
                Some(type_name)
            }
            _ => None,
        });
        let both = written
            .find(|it| self.types.iter().any(|name| **name == *it.name) && !names.lacks(&it.name))
            .map(|it| (&it.name, &it.span));
        match both {
            Some((name, span)) => {
                let message = format!(
                    "`{name}` is a variable there, and a type here: write the variable \
                     without parentheses"
                );
                Err(ExpressionError::new(message, span))
            }
            None => Ok(()),
        }
    }

    /// Checks it for a point that has no place: asked wherever a thread is
    /// then, it may speak of the variables of any function. `here` is where it
    /// was written.
    ///
    /// # Errors
    /// It names something that there is nowhere, or computes with what cannot
    /// be computed with.
    pub fn somewhere(&self, program: &Program, here: u64) -> Result<(), ExpressionError> {
        let level = program.modules.level_at(here);
        let Err(error) = self.at(program, here, level) else {
            return Ok(());
        };
        let names = PointNames::new(program, here, level);
        let is_local = |name: &str| {
            let mut modules = program.modules.iter();
            modules.any(|module| module.symbols.has_local_named(name))
        };
        let is_elsewhere = |name: &str| names.lacks(name) && is_local(name);
        if names_in(&self.expression).any(is_elsewhere) {
            Ok(())
        } else {
            Err(error)
        }
    }

    /// Whether it is true for a stopped thread, in its call with the canonical
    /// frame address `cfa` that is its own or one of its callers'. `values` are
    /// those of `$1` and so on.
    ///
    /// # Errors
    /// It cannot be evaluated; why.
    pub fn holds_in_call(
        &self,
        program: &Program,
        thread: ThreadId,
        cfa: u64,
        values: &dyn Fn(&str) -> Option<Typed>,
    ) -> Result<bool, String> {
        let (frames, _) = program.backtrace(thread, CALLS_MAX);
        let level = frames.iter().position(|frame| frame.cfa == Some(cfa));
        let level = level.ok_or("the call of the variable is not found on the stack")?;
        let scope = FrameScope {
            program,
            frames: &frames,
            level,
            convenience: values,
        };
        expression::is_true(&self.expression, &scope).map_err(|error| error.message)
    }

    /// Whether it is true for a stopped thread, in the frame for which it was
    /// prepared. `values` are those of `$1` and so on.
    ///
    /// # Errors
    /// It cannot be evaluated; why.
    pub fn holds(
        &self,
        check: &Check,
        program: &Program,
        thread: ThreadId,
        values: &dyn Fn(&str) -> Option<Typed>,
    ) -> Result<bool, String> {
        if let Some(node) = &check.node
            && let Ok(machine) = program.machine(thread)
            && let Some(scalar) = node.evaluate(&machine)
        {
            return Ok(scalar.is_true());
        }
        let level = check.level;
        let (frames, _) = program.backtrace(thread, level + self.frame_count);
        let scope = FrameScope {
            program,
            frames: &frames,
            level,
            convenience: values,
        };
        expression::is_true(&self.expression, &scope).map_err(|error| error.message)
    }
}

/// The first name of an expression that nothing has in a frame of the function at an
/// address.
pub fn missing_name<'a>(
    expression: &'a Expression,
    program: &Program,
    address: u64,
    level: usize,
) -> Option<&'a str> {
    let names = PointNames::new(program, address, level);
    names_in(expression).find(|name| names.lacks(name))
}

/// The names that an expression has.
fn names_in(expression: &Expression) -> impl Iterator<Item = &str> {
    let parts = expression.all_parts().into_iter();
    parts.filter_map(|part| match &part.kind {
        ExpressionKind::Name(name) => Some(&**name),
        _ => None,
    })
}

/// What a compilation for the frame at a level has come to.
fn prepared(compiled: Result<Node, NotCompiled>, level: usize) -> Result<Check, ExpressionError> {
    match compiled {
        Ok(node) => Ok(Check {
            node: Some(node),
            level,
        }),
        Err(NotCompiled::Evaluate) => Ok(Check { node: None, level }),
        Err(NotCompiled::Wrong(error)) => Err(error),
    }
}

/// How many callers an expression goes up.
fn callers_named(expression: &Expression) -> usize {
    let is_caller = matches!(
        expression.kind,
        ExpressionKind::Unary {
            operator: UnaryOperator::Caller,
            ..
        }
    );
    let asked = expression::callers_asked(expression);
    let parts = expression.parts().into_iter();
    let inner = parts.map(callers_named).max().unwrap_or(0);
    asked.unwrap_or(usize::from(is_caller)) + inner
}

#[cfg(test)]
mod tests;
