//! Evaluates the built-in functions of the prompt: `$_streq(name, "x")`, `$_caller_is("f")`.
//!
//! Names and semantics are gdb's. They read the program and call none of its functions.

use super::error::ExpressionError;
use super::evaluate::{integer, part};
use super::length::array_length;
use super::library_access::string_of;
use super::scope::Scope;
use crate::error::ValueError;
use crate::read_plan::STRING_LENGTH_MAX;
use crate::typed::{Memory, Number, Typed};
use juror_language::{Expression, ExpressionKind};
use regex::Regex;

/// The names, without the dollar.
pub const NAMES: [&str; 8] = [
    "_any_caller_is",
    "_any_caller_matches",
    "_caller_is",
    "_caller_matches",
    "_memeq",
    "_regex",
    "_streq",
    "_strlen",
];

/// The largest number of bytes that `$_memeq` compares.
const BYTES_MAX: i128 = 1 << 20;

/// The limit of callers that a condition examines if the level is computed.
pub const CALLERS_MAX: usize = 1 << 16;

/// Evaluates a call of a built-in function.
pub(super) fn built_in(
    expression: &Expression,
    name: &str,
    arguments: &[Expression],
    scope: &dyn Scope,
) -> Result<Typed, ExpressionError> {
    let wrong = |message: String| ExpressionError::new(message, &expression.span);
    let number = match (name, arguments) {
        ("_streq", [first, second]) => {
            Number::Int(i128::from(text(first, scope)? == text(second, scope)?))
        }
        ("_strlen", [value]) => Number::Int(text(value, scope)?.len() as i128),
        ("_regex", [value, pattern]) => {
            let pattern = regex(pattern, scope)?;
            Number::Int(i128::from(pattern.is_match(&lossy(&text(value, scope)?))))
        }
        ("_memeq", [first, second, count]) => {
            Number::Int(i128::from(is_same_memory(first, second, count, scope)?))
        }
        ("_caller_is" | "_any_caller_is", [wanted] | [wanted, _]) => {
            let wanted = lossy(&text(wanted, scope)?).into_owned();
            let is_meant = |name: &str| is_named(name, &wanted);
            Number::Int(i128::from(is_caller(name, arguments, &is_meant, scope)?))
        }
        ("_caller_matches" | "_any_caller_matches", [wanted] | [wanted, _]) => {
            let wanted = regex(wanted, scope)?;
            let is_meant = |name: &str| wanted.is_match(name);
            Number::Int(i128::from(is_caller(name, arguments, &is_meant, scope)?))
        }
        _ if NAMES.contains(&name) => {
            let form = form_of(name);
            return Err(wrong(format!("`${name}` takes other arguments: {form}")));
        }
        _ => return Err(wrong(format!("there is no function `${name}`"))),
    };
    let value = Typed::of_number(&number);
    value.ok_or_else(|| wrong("no C type holds this number".to_owned()))
}

/// Returns the syntax of a function.
fn form_of(name: &str) -> &'static str {
    match name {
        "_streq" => "$_streq(TEXT, TEXT)",
        "_strlen" => "$_strlen(TEXT)",
        "_regex" => "$_regex(TEXT, PATTERN)",
        "_memeq" => "$_memeq(ADDRESS, ADDRESS, COUNT)",
        "_caller_is" => "$_caller_is(NAME), $_caller_is(NAME, LEVEL)",
        "_any_caller_is" => "$_any_caller_is(NAME), $_any_caller_is(NAME, LEVELS)",
        "_caller_matches" => "$_caller_matches(PATTERN), $_caller_matches(PATTERN, LEVEL)",
        _ => "$_any_caller_matches(PATTERN), $_any_caller_matches(PATTERN, LEVELS)",
    }
}

/// Returns the number of callers that a call of a built-in function examines, or `None` for other
/// expressions.
pub fn callers_asked(expression: &Expression) -> Option<usize> {
    let (name, arguments) = expression.built_in()?;
    match (name.contains("caller"), arguments.get(1)) {
        (false, _) => None,
        (true, None) => Some(1),
        (true, Some(level)) => Some(match level.kind {
            ExpressionKind::Integer(level) => usize::try_from(level)
                .unwrap_or(CALLERS_MAX)
                .min(CALLERS_MAX),
            _ => CALLERS_MAX,
        }),
    }
}

/// Returns whether the caller at a level, or any caller up to it, satisfies `is_meant`.
fn is_caller(
    name: &str,
    arguments: &[Expression],
    is_meant: &dyn Fn(&str) -> bool,
    scope: &dyn Scope,
) -> Result<bool, ExpressionError> {
    let level = match arguments.get(1) {
        None => 1,
        Some(level) => {
            let number = integer(level, scope)?;
            usize::try_from(number).map_err(|_| {
                ExpressionError::new("a number of callers is needed here", &level.span)
            })?
        }
    };
    let first = if name.starts_with("_any") { 0 } else { level };
    let names = (first..=level).map_while(|level| scope.function_name(level));
    let mut names = names.collect::<Vec<_>>().into_iter();
    Ok(names.any(|name| is_meant(&name)))
}

/// Returns whether a function has this name, which may be given without its scopes.
fn is_named(name: &str, wanted: &str) -> bool {
    let name = name.split('(').next().unwrap_or(name);
    name == wanted
        || name
            .strip_suffix(wanted)
            .is_some_and(|scopes| scopes.ends_with("::"))
}

fn regex(pattern: &Expression, scope: &dyn Scope) -> Result<Regex, ExpressionError> {
    let text = text(pattern, scope)?;
    // A match is anchored at the start, as in gdb.
    let anchored = format!("^(?:{})", lossy(&text));
    Regex::new(&anchored).map_err(|error| {
        let said = error.to_string();
        let last = said.lines().last().unwrap_or("it cannot be read");
        let message = format!("this is not a regular expression: {}", last.trim());
        ExpressionError::new(message, &pattern.span)
    })
}

fn lossy(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// Returns the text of a literal, or of a value of the program.
fn text(expression: &Expression, scope: &dyn Scope) -> Result<Vec<u8>, ExpressionError> {
    if let ExpressionKind::Text(text) = &expression.kind {
        return Ok(text.as_bytes().to_vec());
    }
    let value = part(expression, scope)?;
    if let Some(text) = string_of(&value, scope) {
        return Ok(text.into_bytes());
    }
    c_text(&value, scope.memory()).map_err(|why| ExpressionError::new(why, &expression.span))
}

/// Returns the text that a `char *` points to, or that an array contains.
fn c_text(value: &Typed, memory: &dyn Memory) -> Result<Vec<u8>, ValueError> {
    let is_text = value.r#type.target().and_then(|it| it.character());
    if is_text.is_none_or(|character| character.size() != 1) {
        return Err("this is not text".into());
    }
    if let Some(count) = array_length(&value.r#type).filter(|&count| count > 0) {
        let mut bytes = value.bytes(memory, count)?;
        let end = bytes.iter().position(|&byte| byte == 0);
        bytes.truncate(end.unwrap_or(bytes.len()));
        return Ok(bytes);
    }
    let Ok(Number::Pointer(address, _)) = value.number(memory) else {
        return Err("this is not text".into());
    };
    let mut bytes = Vec::new();
    let mut byte = [0];
    while bytes.len() < STRING_LENGTH_MAX {
        if !memory.read(address.wrapping_add(bytes.len() as u64), &mut byte) {
            return Err("the text cannot be read".into());
        }
        if byte[0] == 0 {
            return Ok(bytes);
        }
        bytes.push(byte[0]);
    }
    Err(format!("the text is longer than {STRING_LENGTH_MAX} bytes").into())
}

fn is_same_memory(
    first: &Expression,
    second: &Expression,
    count: &Expression,
    scope: &dyn Scope,
) -> Result<bool, ExpressionError> {
    let wanted = integer(count, scope)?;
    if !(0..=BYTES_MAX).contains(&wanted) {
        let message = format!("from 0 to {BYTES_MAX} bytes can be compared");
        return Err(ExpressionError::new(message, &count.span));
    }
    let read = |expression: &Expression| {
        let value = part(expression, scope)?;
        let mut bytes = vec![0; wanted as usize];
        let address = address_in(&value, scope.memory())
            .map_err(|why| ExpressionError::new(why, &expression.span))?;
        if bytes.is_empty() || scope.memory().read(address, &mut bytes) {
            Ok(bytes)
        } else {
            Err(ExpressionError::new(
                "the memory cannot be read",
                &expression.span,
            ))
        }
    };
    Ok(read(first)? == read(second)?)
}

/// Returns the address that a value denotes: a pointer, an array, or an integer.
fn address_in(value: &Typed, memory: &dyn Memory) -> Result<u64, ValueError> {
    if array_length(&value.r#type).is_some() {
        return value
            .address()
            .ok_or_else(|| "this is not in memory".into());
    }
    match value.number(memory)? {
        Number::Pointer(address, _) => Ok(address),
        Number::Int(number) => u64::try_from(number).map_err(|_| "this is no address".into()),
        _ => Err("this is no address".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_may_be_named_without_its_scopes() {
        for (name, wanted, expected) in [
            ("push", "push", true),
            ("queue::push", "push", true),
            ("queue::push(int)", "push", true),
            ("ns::queue::push", "queue::push", true),
            ("repush", "push", false),
            ("push_all", "push", false),
        ] {
            assert_eq!(is_named(name, wanted), expected, "{name} {wanted}");
        }
    }
}
