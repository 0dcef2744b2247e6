//! `print`: expressions in the selected frame, and the values that are kept.

use crate::commands::convenience;
use crate::commands::ptype;
use crate::commands::set::shown;
use crate::commands::set_variable;
use crate::session::Session;
use crate::state::evaluations::Purpose;
use crate::state::format_options::{is_formatted, split_format, split_options};
use crate::state::settings::Settings;
use crate::state::values::convenience;
use juror_language::Expression;
use juror_points::expressions::read_with_types;
use juror_program::scope::FrameScope;
use juror_symbols::TypeKind;
use juror_values::format::{Radix, format, pretty};
use juror_values::typed::{Place, Typed};
use juror_view::error::CommandError;
use juror_view::observer::Observer;
use juror_view::{Outcome, ValueView};

/// Keeps a value for `$N`; gives its number.
pub(crate) fn keep(session: &mut Session, value: Typed) -> u32 {
    let value = as_it_is(session, value);
    session.user.values.push(value)
}

/// A value as it is now: what is kept stays when the program changes the variable.
/// What consists of parts has its place, too, so that one may go on from it.
pub(crate) fn as_it_is(session: &Session, value: Typed) -> Typed {
    let is_number = matches!(
        value.r#type.strip().kind(),
        TypeKind::Base(_) | TypeKind::Pointer(_) | TypeKind::Enumeration { .. }
    );
    let (Some(program), Some(_)) = (&session.processes.program, value.address()) else {
        return value;
    };
    if !is_number {
        return value.kept(program);
    }
    let size = match value.bits {
        Some(bits) => (bits.offset_bits + bits.size_bits).div_ceil(8),
        None => value.r#type.size().unwrap_or(0),
    };
    match value.bytes(program, size) {
        Ok(bytes) => Typed {
            place: Place::Bytes(bytes),
            ..value
        },
        Err(_) => value,
    }
}

/// Evaluates an expression in the selected frame.
pub(crate) fn evaluate(session: &mut Session, text: &str) -> Result<Typed, CommandError> {
    let expression = read(session, text)?;
    evaluate_expression(session, &expression)
}

/// An expression as it was typed, with the types of the program in its casts.
pub(crate) fn read(session: &mut Session, text: &str) -> Result<Expression, CommandError> {
    read_with_types(text, &types_in(session, text))
}

/// The names in parentheses that are types here, and no values.
pub(crate) fn types_in(session: &mut Session, text: &str) -> Vec<String> {
    if !text.contains('(') {
        return Vec::new();
    }
    let mut names = juror_language::possible_types(text);
    names.retain(|name| {
        let value = read_with_types(name, &[]).and_then(|it| evaluate_expression(session, &it));
        value.is_err() && ptype::type_named(session, name).is_some()
    });
    names
}

pub(crate) fn evaluate_expression(
    session: &mut Session,
    expression: &Expression,
) -> Result<Typed, CommandError> {
    convenience::note_signal(session, expression)?;
    // Without a program only numbers can be computed with.
    let frames = if session.processes.program.is_some() {
        session.frames()?.to_vec()
    } else {
        Vec::new()
    };
    let program = session.running()?;
    let values = |name: &str| convenience(&session.user.values, name);
    let scope = FrameScope {
        program,
        frames: &frames,
        level: session.processes.selection.level,
        convenience: &values,
    };
    let value = juror_values::expression::evaluate(expression, &scope);
    convenience::forget_signal(session);
    value.map_err(|error| CommandError::new(error.message))
}

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
    let place = assign_first(session, text)?;
    let text = place.as_deref().unwrap_or(text);
    let value = if text.is_empty() && is_call {
        return Err(CommandError::with_help(
            "call what?",
            "for example: call f(1)",
        ));
    } else if text.is_empty() {
        session
            .user
            .values
            .last()
            .cloned()
            .ok_or_else(|| CommandError::with_help("print what?", "for example: print count"))?
    } else {
        let expression = read(session, text)?;
        if expression.calls_functions() {
            if shape.is_pretty == Some(true) {
                return Err(CommandError::with_help(
                    "what a function returns is printed on one line first",
                    "then: print -pretty $",
                ));
            }
            let purpose = match is_call && radix == Radix::Natural {
                true => Purpose::Call,
                false => Purpose::Print(radix),
            };
            return session.evaluate_with_calls(text, expression, purpose, observer);
        }
        match evaluate_expression(session, &expression) {
            // It may be a function of the program that is called `len`.
            Err(_) if expression.counts() => {
                let purpose = Purpose::Print(radix);
                return session.evaluate_with_calls(text, expression, purpose, observer);
            }
            found => found?,
        }
    };
    let settings = Settings {
        elements_max: shape
            .elements_max
            .unwrap_or(session.user.settings.elements_max),
        ..session.user.settings
    };
    let own = session.user.settings;
    let program = session.running_mut()?;
    settings.apply(program);
    let shown = format(&value, &*program, &*program, radix);
    own.apply(program);
    let shown = match is_pretty {
        true => pretty(&shown),
        false => shown,
    };
    let type_name = value.r#type.name();
    let number = keep(session, value);
    Ok(Outcome::Value(ValueView {
        number,
        type_name,
        value: shown,
        is_formatted: is_formatted(radix),
    }))
}

/// `x = 3`, `x += 1`, `x++`: does that, and gives the expression that has its value
/// then.
fn assign_first(session: &mut Session, text: &str) -> Result<Option<String>, CommandError> {
    let Some((place, _)) = crate::commands::set_variable::split_any(text) else {
        return Ok(None);
    };
    set_variable::assign(session, text)?;
    // The value of `x++` is the one before.
    let undone = match text.trim_end() {
        text if text.ends_with("++") => '-',
        text if text.ends_with("--") => '+',
        _ => return Ok(Some(place)),
    };
    let of = set_variable::evaluate_meant(session, &place)?.r#type.name();
    Ok(Some(format!("({of})(({place}) {undone} 1)")))
}

/// A value with a name, where there is no program to ask: `$_exitcode` is of most
/// use then.
pub(crate) fn kept_without_program(session: &Session, text: &str) -> Option<Typed> {
    if session.processes.program.is_some() {
        return None;
    }
    convenience(&session.user.values, text.strip_prefix('$')?)
}

pub(crate) fn shown_kept(session: &mut Session, value: Typed) -> Outcome {
    let view = ValueView {
        number: 0,
        type_name: value.r#type.name(),
        value: shown::value_text(session, &value),
        is_formatted: false,
    };
    Outcome::Value(ValueView {
        number: keep(session, value),
        ..view
    })
}

/// `output/x EXPRESSION`: the value alone, which is not kept.
pub(crate) fn output(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let (radix, text) = split_format(text)?;
    if text.is_empty() {
        return Err(CommandError::with_help(
            "output what?",
            "for example: output count",
        ));
    }
    let value = evaluate(session, text)?;
    let program = session.running()?;
    let shown = format(&value, program, program, radix);
    let is_pretty = session.user.settings.is_pretty;
    let shown = if is_pretty { pretty(&shown) } else { shown };
    Ok(Outcome::Message(shown))
}
