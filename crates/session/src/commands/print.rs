//! `print`: expressions in the selected frame, and the value history.

use crate::command_table::assignments;
use crate::commands::set::shown;
use crate::commands::set_variable;
use crate::inspect::expressions::{evaluate, evaluate_expression, keep, names_elsewhere, read};
use crate::session::Session;
use crate::state::evaluations::Purpose;
use crate::state::format_options::{is_formatted, split_format, split_options};
use crate::state::settings::Settings;
use juror_fault::CommandError;
use juror_values::format::{Radix, pretty};
use juror_view::observer::Observer;
use juror_view::{Outcome, ValueView};

/// `print/x EXPRESSION`, `call EXPRESSION`
pub(crate) fn print(
    session: &mut Session,
    text: &str,
    is_call: bool,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let (shape, text) = split_options(text);
    let is_pretty = shape.is_pretty.unwrap_or(session.user.settings.is_pretty);
    let (radix, text) = split_format(text)?;
    let place = match assign_first(session, text, observer)? {
        Assigned::Nothing => None,
        Assigned::To(place) => Some(place),
        Assigned::Stopped(outcome) => return Ok(outcome),
    };
    let text = place.as_deref().unwrap_or(text);
    let value = if text.is_empty() && is_call {
        return Err(CommandError::with_help(
            "`call` needs an expression",
            "for example: call f(1)",
        ));
    } else if text.is_empty() {
        session.user.values.last().cloned().ok_or_else(|| {
            CommandError::with_help("`print` needs an expression", "for example: print count")
        })?
    } else {
        let expression = read(session, text)?;
        if expression.calls_functions() {
            if shape.is_pretty == Some(true) {
                return Err(CommandError::with_help(
                    "the result of a call is printed on one line first",
                    "then: print -pretty $",
                ));
            }
            let purpose = if is_call && radix == Radix::Natural {
                Purpose::Call
            } else {
                Purpose::Print(radix)
            };
            return session.evaluate_with_calls(text, expression, purpose, observer);
        }
        match evaluate_expression(session, &expression) {
            // It may be a function of the program that is named `len`.
            Err(_) if expression.counts() => {
                let purpose = Purpose::Print(radix);
                return session.evaluate_with_calls(text, expression, purpose, observer);
            }
            found => {
                let found = found?;
                for (name, module) in names_elsewhere(session, &expression)? {
                    observer.notice(&format!("`{name}` is a variable of {module}"));
                }
                found
            }
        }
    };
    let settings = Settings {
        elements_max: shape
            .elements_max
            .unwrap_or(session.user.settings.elements_max),
        ..session.user.settings
    };
    let own = session.user.settings;
    if let Some(program) = &mut session.processes.program {
        settings.apply(program);
    }
    let shown = shown::value_text_in(session, &value, radix);
    if let Some(program) = &mut session.processes.program {
        own.apply(program);
    }
    let shown = if is_pretty { pretty(&shown) } else { shown };
    let type_name = value.r#type.name();
    let number = keep(session, value);
    Ok(Outcome::Value(ValueView {
        number,
        type_name,
        value: shown,
        is_formatted: is_formatted(radix),
    }))
}

/// What became of an assignment that `print` was given.
enum Assigned {
    /// It was none.
    Nothing,
    /// It was made; the expression whose value is printed.
    To(String),
    /// The program stopped in a call of its value.
    Stopped(Outcome),
}

/// Executes `x = 3`, `x += 1` or `x++`, and returns the expression of the assigned variable.
fn assign_first(
    session: &mut Session,
    text: &str,
    observer: &mut dyn Observer,
) -> Result<Assigned, CommandError> {
    let Some((place, _)) = assignments::split_any(text) else {
        return Ok(Assigned::Nothing);
    };
    let outcome = set_variable::assign_result(session, text, observer)?;
    if !matches!(outcome, Outcome::Assigned(_) | Outcome::Done) {
        return Ok(Assigned::Stopped(outcome));
    }
    let Some(step) = assignments::split_step(text) else {
        return Ok(Assigned::To(place));
    };
    let before = step.before;
    if !step.is_postfix {
        return Ok(Assigned::To(match before {
            "" => place,
            _ => format!("{before}({place})"),
        }));
    }
    // The value of `x++` is the old one.
    let undone = match step.operator {
        '+' => '-',
        _ => '+',
    };
    let value = set_variable::evaluate_meant(session, &place)?;
    Ok(Assigned::To(if value.r#type.is_pointer() {
        format!("{before}(({place}) {undone} 1)")
    } else {
        format!("{before}(({})(({place}) {undone} 1))", value.r#type.name())
    }))
}

/// `output/x EXPRESSION`: the value alone, without the value history.
pub(crate) fn output(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let (radix, text) = split_format(text)?;
    if text.is_empty() {
        return Err(CommandError::with_help(
            "`output` needs an expression",
            "for example: output count",
        ));
    }
    let value = evaluate(session, text)?;
    let shown = shown::value_text_in(session, &value, radix);
    let is_pretty = session.user.settings.is_pretty;
    let shown = if is_pretty { pretty(&shown) } else { shown };
    Ok(Outcome::PlainValue(ValueView {
        number: 0,
        type_name: value.r#type.name(),
        value: shown,
        is_formatted: radix != Radix::Natural,
    }))
}
