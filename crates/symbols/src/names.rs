//! Names as users write them, matched against names as compilers write them.
//!
//! A user writes `method`, `Class::method` or `ns::Class::method`; the file has
//! `_ZN2ns5Class6methodIiEEvT_`. Both are split into components without template arguments,
//! parameters and anonymous scopes, and the user's components must be the end of the
//! compiler's. Template arguments that the user writes must match, and Rust's `<Type as
//! Trait>::method` matches by the type and by the trait. Parameter types are compared by
//! `function::signature`.

use crate::function::signature::{self, normal_arguments};

mod arithmetic;
mod demangling;
mod omitted;
mod operator;
mod words;

pub(crate) use arithmetic::ArithmeticWords;
use arithmetic::is_several_words;
pub use demangling::demangle;
pub(crate) use demangling::{CloneKind, clone_kind, demangle_whole, end_of_rust_hash, split_clone};
pub(crate) use omitted::matches_without_inline;
use words::is_part_of_standard;
pub(crate) use words::{Word, may_be_shortened};

/// Returns the scopes of a name that occur literally in its mangled form.
pub(crate) fn literal_scopes(written: &str) -> Vec<&str> {
    let mut found = components(written);
    found.pop();
    let is_letter = |it: u8| it.is_ascii_alphanumeric() || it == b'_';
    found.retain(|it| {
        it.bytes().all(is_letter) && !may_be_shortened(it) && !is_part_of_standard(it)
    });
    found
}

/// A component of a qualified name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part<'a> {
    name: &'a str,
    /// The template arguments with their brackets; empty if none.
    arguments: &'a str,
}

/// Splits a qualified name into the components that are compared.
pub(crate) fn components(name: &str) -> Vec<&str> {
    parts(name).into_iter().map(|part| part.name).collect()
}

fn parts(name: &str) -> Vec<Part<'_>> {
    let mut found = Vec::new();
    collect(name, &mut found, 0);
    found
}

/// Returns the components of a Rust trait method by its trait: `Shape::area` for `<Square
/// as Shape>::area`.
fn parts_by_trait(name: &str) -> Option<Vec<Part<'_>>> {
    let (component, rest) = split_component(name.trim());
    let inner = component.strip_prefix('<')?.strip_suffix('>')?;
    let at = find_at_depth_zero(inner, " as ")?;
    let mut found = parts(inner.get(at + " as ".len()..)?);
    collect(rest, &mut found, 0);
    Some(found)
}

fn collect<'a>(name: &'a str, found: &mut Vec<Part<'a>>, depth: u8) {
    let mut rest = name.trim();
    while !rest.is_empty() {
        let (component, after) = split_component(rest);
        let is_generic = !found.is_empty() && !component.starts_with("<impl ");
        if is_generic && component.starts_with('<') {
            // `max::<i32>` in Rust: arguments of the preceding component.
            if let Some(last) = found.last_mut() {
                last.arguments = component;
            }
        } else if let Some(inner) = component.strip_prefix('<') {
            // `<Type as Trait>` in Rust: users name the type.
            let inner = inner.strip_suffix('>').unwrap_or(inner);
            let subject = split_at_depth_zero(inner, " as ").unwrap_or(inner);
            if depth < 8 {
                collect(subject, found, depth + 1);
            }
        } else {
            let plain = plain_component(component);
            let invisible =
                plain.is_empty() || plain.starts_with("{impl#") || plain == "{anonymous}";
            if !invisible {
                found.push(Part {
                    name: plain,
                    arguments: arguments_of(component, plain),
                });
            }
        }
        rest = after;
    }
}

/// Returns the template arguments after the name of a component.
fn arguments_of<'a>(component: &'a str, plain: &str) -> &'a str {
    let behind = component.get(plain.len()..).unwrap_or("").trim();
    if !behind.starts_with('<') {
        return "";
    }
    let mut depth = 0;
    let end = behind.find(|c| {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    end.and_then(|end| behind.get(..=end)).unwrap_or(behind)
}

/// Splits off the first component of a name; returns it and the text after its `::`.
pub(crate) fn split_component(name: &str) -> (&str, &str) {
    let begin = match operator::sign_end(name) {
        Some(end) => end,
        // A conversion operator, whose type may be qualified.
        None if operator::is_operator(name) => return (name, ""),
        None => 0,
    };
    let behind = name.get(begin..).unwrap_or("");
    match find_at_depth_zero(behind, "::").map(|at| begin + at) {
        Some(at) => (
            name.get(..at).unwrap_or(name),
            name.get(at + 2..).unwrap_or(""),
        ),
        None => (name, ""),
    }
}

fn split_at_depth_zero<'a>(text: &'a str, separator: &str) -> Option<&'a str> {
    text.get(..find_at_depth_zero(text, separator)?)
}

fn find_at_depth_zero(text: &str, separator: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0i32;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            b'>' if at > 0 && bytes.get(at - 1) == Some(&b'-') => {}
            b'>' | b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0
            && bytes
                .get(at..)
                .is_some_and(|rest| rest.starts_with(separator.as_bytes()))
        {
            return Some(at);
        }
    }
    None
}

/// Returns a component without template arguments and parameters.
fn plain_component(component: &str) -> &str {
    if let Some(end) = operator::sign_end(component) {
        return component.get(..end).unwrap_or(component);
    }
    if operator::is_operator(component) {
        let end = component.find('(').unwrap_or(component.len());
        return component.get(..end).unwrap_or(component).trim_end();
    }
    // Of several lambdas of a function, the parameters and the number tell which it is.
    if component.starts_with("{lambda(") {
        return component
            .get(..=component.rfind('}').unwrap_or(0))
            .unwrap_or("");
    }
    // `long unsigned int` is one name, and not that of `long`.
    if is_several_words(component) {
        return component;
    }
    let end = component.find(['<', '(', ' ']).unwrap_or(component.len());
    component.get(..end).unwrap_or("")
}

/// Returns the type that implements a Rust trait method: `Square` for `<Square as
/// Shape>::area`.
pub(crate) fn subject(name: &str) -> Option<&str> {
    let (component, _) = split_component(name.trim());
    let inner = component.strip_prefix('<')?.strip_suffix('>')?;
    split_at_depth_zero(inner, " as ")
}

/// Returns the last component: the name without its scopes.
pub(crate) fn tail(name: &str) -> &str {
    // Most names are plain, and this function is called for every name of a file.
    if !name.contains(['<', '(', '[', '{', ' ']) && !name.contains("operator") {
        return name.rsplit("::").next().unwrap_or(name);
    }
    components(name).last().copied().unwrap_or(name)
}

/// Splits a name into its scope and its last component; `None` for a name without scopes.
pub fn scope_and_name(name: &str) -> Option<(&str, &str)> {
    let last = tail(name);
    let scope = name.strip_suffix(last)?.strip_suffix("::")?;
    (!scope.is_empty()).then_some((scope, last))
}

/// Returns the scopes around a function, innermost first, each with its `::`: `n::C::` and
/// `n::` for `n::C::f`. Those of a method of a Rust trait are those of the type.
pub fn enclosing_scopes(name: &str) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(of) = subject(name) {
        found.extend(enclosing_scopes(of).into_iter().rev());
        found.push(format!("{of}::"));
    }
    let mut rest = name;
    let mut end = 0;
    loop {
        let (component, behind) = split_component(rest);
        if behind.is_empty() {
            break;
        }
        end += component.len() + 2;
        found.push(name.get(..end).unwrap_or("").to_owned());
        rest = behind;
    }
    found.reverse();
    found
}

/// Returns whether `written` matches the function called `name`: by its last components,
/// with or without template arguments.
pub fn is_name_of(written: &str, name: &str) -> bool {
    matches(name, written)
}

/// Returns a name without the parameter types that follow it.
pub fn without_parameters(written: &str) -> &str {
    signature::split(written).map_or(written, |(name, _)| name)
}

/// Returns whether `written` is a complete name: with all scopes except anonymous
/// namespaces. Template arguments, if written, must match.
pub fn is_whole_name_of(written: &str, name: &str) -> bool {
    parts(written).len() == parts(name).len() && matches(name, written)
}

/// Returns whether a name is that of a template instance, and `written` omits its
/// arguments.
pub fn omits_template_arguments(written: &str, name: &str) -> bool {
    let has_arguments = |name| {
        parts(name)
            .last()
            .is_some_and(|it| !it.arguments.is_empty())
    };
    has_arguments(name) && !has_arguments(written)
}

/// Returns whether the query of a user matches `name`.
pub(crate) fn matches(name: &str, query: &str) -> bool {
    if name == query {
        return true;
    }
    let by_trait = |query: &[Part<'_>]| {
        let parts = parts_by_trait(name);
        parts.is_some_and(|parts| ends_with(&parts, query))
    };
    match parts_by_trait(query) {
        // `<Square as Shape>::area` names both.
        Some(wanted) => by_trait(&wanted) && ends_with(&parts(name), &parts(query)),
        None => {
            let wanted = parts(query);
            ends_with(&parts(name), &wanted) || by_trait(&wanted)
        }
    }
}

fn ends_with(name: &[Part<'_>], query: &[Part<'_>]) -> bool {
    let end = name.len().checked_sub(query.len());
    let end = end.and_then(|start| name.get(start..)).unwrap_or(&[]);
    let mut both = end.iter().zip(query);
    !query.is_empty()
        && end.len() == query.len()
        && both.all(|(known, asked)| is_same_part(known, asked))
}

fn is_same_part(known: &Part<'_>, asked: &Part<'_>) -> bool {
    let is_named = known.name == asked.name
        // As frames show them; the debug information numbers them.
        || asked.name == CLOSURE && is_closure(known.name)
        || is_same_lambda(known.name, asked.name);
    is_named && has_arguments(known.arguments, asked.arguments)
}

/// A closure, or the body of an `async fn`, in names of Rust without numbers.
pub(crate) const CLOSURE: &str = "{{closure}}";

fn is_closure(name: &str) -> bool {
    [
        "{closure#",
        "{async_fn#",
        "{async_block#",
        "{async_closure#",
    ]
    .iter()
    .any(|start| name.starts_with(start))
}

/// Returns whether both name the same lambda, whatever the spaces in its parameters.
fn is_same_lambda(known: &str, asked: &str) -> bool {
    let is_lambda = |name: &str| name.starts_with("{lambda(");
    let letters = |name: &str| -> String { name.split_whitespace().collect() };
    is_lambda(known) && is_lambda(asked) && letters(known) == letters(asked)
}

/// Returns whether template arguments written by a user match. Trailing ones may be
/// omitted, as defaults are.
fn has_arguments(known: &str, asked: &str) -> bool {
    if asked.is_empty() {
        return true;
    }
    let (known, asked) = (normal_arguments(known), normal_arguments(asked));
    let is_beginning = |asked: &str| {
        let rest = known.strip_prefix(asked);
        rest.is_some_and(|rest| rest.starts_with(','))
    };
    known == asked || asked.strip_suffix('>').is_some_and(is_beginning)
}

#[cfg(test)]
mod tests;
