//! Expressions in the selected frame, and the value history.

use crate::inspect::{constants, expressions, siginfo};
use crate::session::Session;
use crate::state::values::convenience;
use juror_fault::CommandError;
use juror_language::{Expression, ExpressionKind};
use juror_points::expressions::read_with_types;
use juror_program::scope::FrameScope;
use juror_symbols::Type;
use juror_values::expression::{Scope as _, static_type};
use juror_values::typed::Typed;

/// Adds a value to the value history; returns its number.
pub(crate) fn keep(session: &mut Session, value: Typed) -> u32 {
    let value = as_it_is(session, value);
    session.user.values.push(value)
}

/// Returns a snapshot of a value: the entry stays when the program changes the variable. A value
/// with parts keeps its location, so that expressions can continue from it.
pub(crate) fn as_it_is(session: &Session, value: Typed) -> Typed {
    match &session.processes.program {
        Some(program) => value.captured(program),
        None => value,
    }
}

/// Evaluates an expression in the selected frame.
pub(crate) fn evaluate(session: &mut Session, text: &str) -> Result<Typed, CommandError> {
    let expression = read(session, text)?;
    evaluate_expression(session, &expression)
}

/// Parses an expression, with the types of the program in its casts.
pub(crate) fn read(session: &mut Session, text: &str) -> Result<Expression, CommandError> {
    read_with_types(text, &types_in(session, text))
}

/// Returns the names in parentheses that are types here, and not values; `not` if it is a variable
/// here.
pub(crate) fn types_in(session: &mut Session, text: &str) -> Vec<String> {
    if !text.contains('(') && !text.contains("not") {
        return Vec::new();
    }
    let mut names = juror_language::possible_types(text);
    names.retain(|name| {
        let is_word = name == juror_values::expression::NOT;
        let expression = read_with_types(name, &[]);
        let is_here = |session: &mut Session, expression: &Expression| {
            let elsewhere = names_elsewhere(session, expression);
            // A variable of another library does not hide a type of the program.
            evaluate_expression(session, expression).is_ok()
                && elsewhere.is_ok_and(|elsewhere| elsewhere.is_empty())
        };
        match expression.is_ok_and(|it| is_here(session, &it)) {
            true => is_word,
            false => !is_word && expressions::type_named(session, name).is_some(),
        }
    });
    names
}

pub(crate) fn evaluate_expression(
    session: &mut Session,
    expression: &Expression,
) -> Result<Typed, CommandError> {
    if session.processes.program.is_none() {
        let types = |name: &str| of_modules(session, name);
        return constants::evaluate_constant(session, expression, &types);
    }
    siginfo::note_signal(session, expression)?;
    let frames = session.frames()?.to_vec();
    let program = session.running()?;
    let values = |name: &str| convenience(&session.user.values, name);
    let scope = FrameScope {
        program,
        frames: &frames,
        level: session.processes.selection.level,
        convenience: &values,
    };
    let value = juror_values::expression::evaluate(expression, &scope);
    siginfo::forget_signal(session);
    value.map_err(|error| CommandError::new(error.message))
}

/// Returns the type of an expression that is not evaluated; `None` if only its value has one.
///
/// # Errors
/// No program runs, or it has no stack.
pub(crate) fn static_type_of(
    session: &mut Session,
    expression: &Expression,
) -> Result<Option<Type>, CommandError> {
    let frames = session.frames()?.to_vec();
    let values = |name: &str| convenience(&session.user.values, name);
    let scope = FrameScope {
        program: session.running()?,
        frames: &frames,
        level: session.processes.selection.level,
        convenience: &values,
    };
    Ok(static_type(expression, &scope))
}

/// The names of an expression that mean a variable of a module that is neither the frame's
/// own nor the program, with that module.
pub(crate) fn names_elsewhere(
    session: &mut Session,
    expression: &Expression,
) -> Result<Vec<(String, String)>, CommandError> {
    if session.processes.program.is_none() {
        return Ok(Vec::new());
    }
    let frames = session.frames()?.to_vec();
    let scope = FrameScope {
        program: session.running()?,
        frames: &frames,
        level: session.processes.selection.level,
        convenience: &|_| None,
    };
    let parts = expression.all_parts().into_iter();
    let names = parts.filter_map(|part| match &part.kind {
        ExpressionKind::Name(name) => Some(name.to_string()),
        _ => None,
    });
    let elsewhere = names.filter_map(|name| {
        let module = scope.elsewhere(&name)?;
        Some((name, module))
    });
    Ok(elsewhere.collect())
}

/// Returns the type with this name in the selected frame, or in any module.
pub(crate) fn type_named(session: &mut Session, name: &str) -> Option<Type> {
    types_here(session)(name)
}

/// Returns the lookup of types in the selected frame: its blocks, its file and its module come
/// first.
pub(crate) fn types_here(session: &mut Session) -> impl Fn(&str) -> Option<Type> + '_ {
    let frames = session.frames().map(<[_]>::to_vec).unwrap_or_default();
    let session = &*session;
    move |name: &str| {
        let program = session.processes.program.as_ref();
        let scope = program
            .filter(|_| !frames.is_empty())
            .map(|program| FrameScope {
                program,
                frames: &frames,
                level: session.processes.selection.level,
                convenience: &|_| None,
            });
        match scope {
            Some(scope) => scope.type_named(name),
            None => of_modules(session, name),
        }
    }
}

/// Returns the type with this name in any module.
pub(crate) fn of_modules(session: &Session, name: &str) -> Option<Type> {
    let plain = KINDS.iter().find_map(|kind| name.strip_prefix(kind));
    let plain = plain.unwrap_or(name).trim();
    let modules = session.modules();
    let mut with_types = modules
        .iter()
        .filter(|module| module.symbols.has_debug_info());
    let found = with_types.find_map(|module| module.symbols.type_named(plain));
    found.or_else(|| Type::builtin(plain))
}

/// Keywords of C before a type's name.
pub(crate) const KINDS: [&str; 4] = ["struct ", "class ", "union ", "enum "];
