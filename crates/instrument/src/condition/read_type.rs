//! Determines by types alone whether the value of a read can be represented in an event.
//!
//! Containers and structures are not numbers, addresses, text, or sequences of these. To report
//! that before the program runs, the types of elements are determined by the pretty-printers
//! ([`Contents`]); nothing is read.

use super::compile::{Compiler, Names};
use super::operand::NotCompiled;
use juror_language::{Expression, ExpressionKind, UnaryOperator};
use juror_symbols::{Type, TypeKind};
use juror_values::pretty_printers::Contents;

/// The greatest depth of types that is examined: damaged files have endless ones.
const DEPTH_MAX: usize = 8;
/// The greatest depth at which a part is suggested instead.
const PARTS_MAX: usize = 6;

/// A read whose value no event can represent.
#[derive(Debug, Clone)]
pub(crate) struct NoValue {
    /// The type of the read.
    pub(crate) r#type: Type,
    /// The suggested reads, each with its description.
    pub(crate) instead: Vec<String>,
}

/// Returns the read if no event can represent its value. `read` is its text. A reference counts as
/// an address.
pub(super) fn no_value(expression: &Expression, read: &str, names: &impl Names) -> Option<NoValue> {
    let found = type_of(expression, names)?;
    if !is_no_value(&found, names, 0) {
        return None;
    }
    let is_one_word = !read.contains(['*', '&', '^', '(', ' ']);
    let whole = if is_one_word {
        read.to_owned()
    } else {
        format!("({read})")
    };
    let mut instead = Vec::new();
    let is_range = matches!(expression.kind, ExpressionKind::Slice { .. });
    let part = if is_range {
        part_of_range(&found, read, names)
    } else {
        part_of(&found, &whole, names, 0)
    };
    instead.extend(part.map(|part| format!("a part, `{part}`")));
    if let TypeKind::MemberPointer { class, .. } = found.strip().kind() {
        let class = class.strip().name();
        instead.push(format!("which member it is, `{read} == &{class}::NAME`"));
    }
    if !is_range && may_have_length(&found, names) {
        instead.push(format!("how many there are, `len({read})`"));
    }
    if !is_range {
        instead.push(format!("its address, `&{whole}`"));
    }
    Some(NoValue {
        r#type: found,
        instead,
    })
}

/// Returns a part of the first element of a range: `order[0].id` for `order[0..2]`.
fn part_of_range(range: &Type, read: &str, names: &impl Names) -> Option<String> {
    let (start, _) = read.strip_suffix(']')?.rsplit_once("..")?;
    part_of(&range.target()?, &format!("{start}]"), names, 0)
}

/// Returns the type of the value that an event gets, if types determine it.
pub(super) fn value_type(expression: &Expression, names: &impl Names) -> Option<Type> {
    let mut found = referent(type_of(expression, names)?);
    for _ in 0..DEPTH_MAX {
        match names
            .contents(&found)
            .filter(|_| names.has_pretty_printer(&found))
        {
            Some(Contents::Instead(inner)) => found = referent(inner),
            _ => break,
        }
    }
    Some(found)
}

/// Returns the type of a read, without reading.
fn type_of<N: Names>(expression: &Expression, names: &N) -> Option<Type> {
    let compiler = Compiler { names };
    match compiler.operand_as_is(expression) {
        Ok(operand) => return Some(operand.r#type),
        Err(NotCompiled::Wrong(_)) => return None,
        // It goes through a library type.
        Err(NotCompiled::Evaluate) => {}
    }
    match &expression.kind {
        ExpressionKind::Name(name) => names.type_of_name(name),
        ExpressionKind::Argument(position) => names.type_of_argument(*position),
        ExpressionKind::Cast { type_name, .. } => compiler.type_of(type_name).ok(),
        ExpressionKind::Index { object, .. } => element_of(type_of(object, names)?, names, 0),
        ExpressionKind::Slice { object, .. } => {
            let element = element_of(type_of(object, names)?, names, 0)?;
            Some(element.array_of(1))
        }
        ExpressionKind::Field {
            object,
            field,
            arrow,
        } => {
            let object = referent(type_of(object, names)?);
            let class = if *arrow || object.is_pointer() {
                pointed_to(&object, names)?
            } else {
                object
            };
            class.field(&field.text).map(|field| field.r#type)
        }
        ExpressionKind::Unary {
            operator: UnaryOperator::Dereference,
            operand,
        } => pointed_to(&referent(type_of(operand, names)?), names),
        _ => None,
    }
}

/// Returns the referent type of a C++ reference. Other types are returned unchanged.
fn referent(r#type: Type) -> Type {
    match r#type.strip().kind() {
        TypeKind::Reference(target) if !r#type.is_rust() => target,
        _ => r#type,
    }
}

fn pointed_to(r#type: &Type, names: &impl Names) -> Option<Type> {
    if names.has_pretty_printer(r#type) {
        match names.contents(r#type)? {
            Contents::Instead(inner) | Contents::Target(inner) => Some(inner),
            _ => None,
        }
    } else {
        r#type.target()
    }
}

/// Returns the type that an index results in.
fn element_of(r#type: Type, names: &impl Names, depth: usize) -> Option<Type> {
    if depth > DEPTH_MAX {
        return None;
    }
    let object = referent(r#type);
    if !names.has_pretty_printer(&object) {
        let target = object.target()?;
        // A Rust reference to a container stands for the container.
        let leads_on = object.is_rust() && object.is_pointer() && names.has_pretty_printer(&target);
        return if leads_on {
            element_of(target, names, depth + 1)
        } else {
            Some(target)
        };
    }
    match names.contents(&object)? {
        Contents::Elements(element) => Some(element),
        Contents::Entries { value, .. } => Some(value),
        Contents::Instead(inner) | Contents::Target(inner) => element_of(inner, names, depth + 1),
        Contents::String => None,
    }
}

/// Returns whether no event can represent a value of this type.
fn is_no_value(r#type: &Type, names: &impl Names, depth: usize) -> bool {
    if depth > DEPTH_MAX {
        return false;
    }
    match r#type.strip().kind() {
        TypeKind::Array { element, .. } => is_no_value(&element, names, depth + 1),
        TypeKind::MemberPointer { .. } => true,
        _ if names.is_collection(r#type) => true,
        TypeKind::Composite(_) if !names.has_pretty_printer(r#type) => true,
        TypeKind::Composite(_) => match names.contents(r#type) {
            Some(Contents::Instead(inner)) => is_no_value(&inner, names, depth + 1),
            _ => false,
        },
        _ => false,
    }
}

/// Returns whether the number of elements of a type may be known at the stop.
pub(super) fn may_have_length(r#type: &Type, names: &impl Names) -> bool {
    let mut at = r#type.clone();
    for _ in 0..DEPTH_MAX {
        if matches!(at.strip().kind(), TypeKind::Array { .. }) {
            return true;
        }
        if !names.knows_length(&at) {
            return false;
        }
        at = match names.contents(&at) {
            Some(Contents::Instead(inner) | Contents::Target(inner)) => inner,
            // The value may determine it if the type does not.
            _ => return true,
        };
    }
    true
}

/// Returns the path of a part that an event can represent: `order[0].id` for a vector `order` of
/// structures.
fn part_of(r#type: &Type, whole: &str, names: &impl Names, depth: usize) -> Option<String> {
    if depth > PARTS_MAX {
        return None;
    }
    if !is_no_value(r#type, names, 0) {
        return (depth > 0).then(|| whole.to_owned());
    }
    if let TypeKind::Array { element, .. } = r#type.strip().kind() {
        return part_of(&element, &format!("{whole}[0]"), names, depth + 1);
    }
    if !names.has_pretty_printer(r#type) {
        return field_of(r#type, whole, ".", names, depth);
    }
    match names.contents(r#type) {
        Some(Contents::Elements(element)) => {
            part_of(&element, &format!("{whole}[0]"), names, depth + 1)
        }
        Some(Contents::Entries { key, value }) => {
            let key = key_of(&key, names)?;
            part_of(&value, &format!("{whole}[{key}]"), names, depth + 1)
        }
        // Its elements are reached as if they were its own, its fields by an arrow.
        Some(Contents::Instead(inner)) if names.has_pretty_printer(&inner) => {
            part_of(&inner, whole, names, depth + 1)
        }
        Some(Contents::Instead(inner)) => match inner.strip().kind() {
            TypeKind::Array { .. } => part_of(&inner, whole, names, depth + 1),
            _ => field_of(&inner, whole, "->", names, depth),
        },
        // A pair has fields; the fields of other library types are internal.
        _ if r#type.field("second").is_some() => field_of(r#type, whole, ".", names, depth),
        _ => None,
    }
}

fn field_of(
    r#type: &Type,
    whole: &str,
    point: &str,
    names: &impl Names,
    depth: usize,
) -> Option<String> {
    let composite = r#type.composite()?;
    composite.fields.iter().find_map(|field| {
        let name = field.name.as_deref().filter(|name| is_for_people(name))?;
        let name = name.strip_prefix("__").unwrap_or(name);
        part_of(
            &field.r#type,
            &format!("{whole}{point}{name}"),
            names,
            depth + 1,
        )
    })
}

/// Returns whether users name a field: the elements of a Rust tuple, but not the internals of a
/// library.
fn is_for_people(name: &str) -> bool {
    match name.strip_prefix("__") {
        Some(rest) => !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()),
        None => !name.starts_with('_'),
    }
}

/// Returns an example of a key.
fn key_of(key: &Type, names: &impl Names) -> Option<&'static str> {
    match key.strip().kind() {
        TypeKind::Base(_) => Some("7"),
        TypeKind::Composite(_) if matches!(names.contents(key), Some(Contents::String)) => {
            Some("\"key\"")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
