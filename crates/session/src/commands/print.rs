//! `print`: expressions in the selected frame, and the value history.

use crate::commands::set::shown;
use crate::commands::set_variable::may_call;
use crate::inspect::assignment::evaluate_assigning;
use crate::inspect::expressions::{keep, names_elsewhere, read};
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
        if may_call(&expression) {
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
        match evaluate_assigning(session, &expression) {
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

/// `output/x EXPRESSION`: the value alone, without the value history.
pub(crate) fn output(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let (radix, text) = split_format(text)?;
    if text.is_empty() {
        return Err(CommandError::with_help(
            "`output` needs an expression",
            "for example: output count",
        ));
    }
    let expression = read(session, text)?;
    let value = evaluate_assigning(session, &expression)?;
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
