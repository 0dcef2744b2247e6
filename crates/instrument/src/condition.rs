//! Conditions of points: parsed once, compiled for each place, evaluated at each hit.
//!
//! A condition is compiled for the address of a point: names become registers, frame slots and
//! addresses, types become sizes. A hit then only costs the reads; nothing is allocated and no name
//! is looked up. An expression that cannot be compiled (the caller's variables, variables that move
//! within a line, `$1`) is evaluated as at the prompt, with the thread's frames.
//!
//! Invariant: a compiled condition has the result of the evaluation. If it has none, the expression
//! is evaluated, so that its error is reported.

mod captured;
mod compile;
mod machine_word;
mod node;
mod operand;
mod point_names;
mod read_type;

pub use captured::Operation;
pub(crate) use captured::{CapturedOperand, NameContext};
use juror_arch::names::is_register;
use juror_debuggee::ThreadId;
use juror_event::Value;
use juror_language::{
    Diagnostic, Expression, ExpressionKind, UnaryOperator, parse_expression_with_types, parse_read,
};
use juror_program::program::Program;
use juror_program::scope::FrameScope;
use juror_values::expression::{self, ExpressionError};
use juror_values::read_plan::Machine;
use juror_values::typed::Typed;
use node::{Node, Scalar};
use operand::NotCompiled;
use point_names::PointNames;
pub(crate) use read_type::NoValue;
use std::rc::Rc;

/// The most frames that are searched for the call of a local variable.
const CALLS_MAX: usize = 256;

/// A parsed condition.
#[derive(Debug, Clone)]
pub struct Condition {
    /// The text.
    pub text: String,
    expression: Rc<Expression>,
    has_effects: bool,
    /// The number of frames that the evaluation uses.
    frame_count: usize,
    /// The names in it that denoted types where it was written.
    types: Rc<[String]>,
}

/// A condition compiled for one place.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Check {
    node: Option<Node>,
    level: usize,
}

impl Check {
    /// Returns a check without a compiled form, for evaluation in the frame at a level.
    pub fn unprepared(level: usize) -> Check {
        Check { node: None, level }
    }

    /// Returns whether it is compiled, so that the check allocates nothing.
    pub fn is_compiled(&self) -> bool {
        self.node.is_some()
    }

    /// Returns the level of the frame that it refers to: 0 is the innermost, the others contain the
    /// inlined calls.
    pub fn level(&self) -> usize {
        self.level
    }

    /// Returns its number in a stopped thread, or `None` if it has no compiled result.
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
    /// Parses a condition. The names in `types` are types of the program.
    ///
    /// # Errors
    /// The text is not an expression; the diagnostic, if there is one.
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
            has_effects: expression.has_effects(),
            frame_count: 1 + callers_named(&expression),
            types: Rc::default(),
            expression: Rc::new(expression),
        })
    }

    /// Parses the read of an event, which may contain `arg 1` and `ret`.
    ///
    /// # Errors
    /// The text is not an expression; the diagnostic, if there is one.
    pub(crate) fn of_capture(text: &str) -> Result<Condition, Option<Diagnostic>> {
        Condition::of(text, parse_read(text))
    }

    /// Returns the number of frames that its evaluation uses.
    pub(crate) fn frame_count(&self) -> usize {
        self.frame_count
    }

    /// Compiles it for its value at the place of its names.
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
            // An event has no convenience variables.
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

    /// Returns the read if events can never represent its value: a container, a structure. The
    /// arguments are those of [`Condition::value_at`].
    pub(crate) fn no_value_at(
        &self,
        program: &Program,
        context: NameContext<'_>,
    ) -> Option<NoValue> {
        read_type::no_value(&self.expression, &self.text, &context.names(program))
    }

    /// Returns true if its evaluation runs functions of the program, or assigns.
    pub fn has_effects(&self) -> bool {
        self.has_effects
    }

    /// Returns the expression.
    pub fn expression(&self) -> Rc<Expression> {
        Rc::clone(&self.expression)
    }

    /// Compiles it for a point at an address, for the frame at a level: 0 is the innermost, the
    /// others contain the inlined calls.
    ///
    /// # Errors
    /// A name is unknown there, or an operator does not apply, so that it can never be evaluated.
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

    /// Returns an error if `(count)-1` is a cast where it was written, and a difference at the
    /// place.
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

    /// Checks it for a point without a place, which is evaluated in any function and may use its
    /// variables. `here` is where it was written.
    ///
    /// # Errors
    /// A name is unknown everywhere, or an operator does not apply.
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

    /// Evaluates it for a stopped thread, in the call with the canonical frame address `cfa` on its
    /// stack. `values` looks up convenience variables.
    ///
    /// # Errors
    /// It cannot be evaluated; the message.
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

    /// Evaluates it for a stopped thread, in the frame that it was compiled for. `values` looks up
    /// convenience variables.
    ///
    /// # Errors
    /// It cannot be evaluated; the message.
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

/// Returns the first name of an expression that is unknown in a frame of the function at an
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

/// Returns the names in an expression.
fn names_in(expression: &Expression) -> impl Iterator<Item = &str> {
    let parts = expression.all_parts().into_iter();
    parts.filter_map(|part| match &part.kind {
        ExpressionKind::Name(name) => Some(&**name),
        _ => None,
    })
}

/// Returns the outcome of a compilation as a check.
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

/// Returns the number of callers that an expression goes up.
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
