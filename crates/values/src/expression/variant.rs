//! Compares a Rust enumeration with the name of a variant: `shape == Shape::Circle`, whatever the
//! variant's data.
//!
//! An enumeration with data can be compared with nothing else, so a name on the right denotes a
//! variant.

use super::access::dereference;
use crate::error::ValueError;
use crate::typed::{Memory, Typed};
use juror_language::{BinaryOperator, Expression, ExpressionKind};
use juror_symbols::Type;

/// The most nested references that are followed.
const REFERENCES_MAX: usize = 8;

/// Evaluates the comparison of an enumeration, or of a reference to one, with the name of a
/// variant. Returns `None` for other comparisons.
pub(super) fn compare_with_variant(
    operator: BinaryOperator,
    value: &Typed,
    right: &Expression,
    memory: &dyn Memory,
) -> Result<Option<bool>, ValueError> {
    let Some(name) = named_variant(operator, &value.r#type, right) else {
        return Ok(None);
    };
    let mut value = value.clone();
    while value.r#type.is_pointer() {
        value = dereference(&value, memory)?;
    }
    let chosen = value.variant(memory)?;
    let is_this = chosen.is_some_and(|field| field.name.as_deref() == Some(name));
    Ok(Some(is_this == (operator == BinaryOperator::Equal)))
}

/// Returns whether a comparison with a value of this type names a variant.
pub fn names_variant(operator: BinaryOperator, r#type: &Type, right: &Expression) -> bool {
    named_variant(operator, r#type, right).is_some()
}

fn named_variant<'a>(
    operator: BinaryOperator,
    r#type: &Type,
    right: &'a Expression,
) -> Option<&'a str> {
    let is_comparison = matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual);
    let ExpressionKind::Name(path) = &right.kind else {
        return None;
    };
    let mut of = r#type.clone();
    for _ in 0..REFERENCES_MAX {
        match of.target().filter(|_| of.is_pointer()) {
            Some(target) => of = target,
            None => break,
        }
    }
    let composite = of.composite().filter(|_| is_comparison)?;
    let variants = &composite.variants.as_ref()?.variants;
    let (scopes, name) = match path.rsplit_once("::") {
        Some((scopes, name)) => (Some(scopes), name),
        None => (None, &**path),
    };
    let is_one = variants
        .iter()
        .any(|it| it.field.name.as_deref() == Some(name));
    let is_of_type = scopes.is_none_or(|scopes| is_end_of(scopes, &of.strip().name()));
    (is_one && is_of_type).then_some(name)
}

/// Returns whether a type's name, without generic arguments, ends with these scopes.
fn is_end_of(scopes: &str, type_name: &str) -> bool {
    let bare = |name: &str| name.split('<').next().unwrap_or_default().to_owned();
    let (scopes, type_name) = (bare(scopes), bare(type_name));
    let rest = type_name.strip_suffix(scopes.trim_end_matches(':'));
    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with("::"))
}

#[cfg(test)]
mod tests {
    use super::is_end_of;

    #[test]
    fn scopes_are_the_end_of_the_types_name() {
        for (scopes, name, expected) in [
            ("Shape", "r::Shape", true),
            ("r::Shape", "r::Shape", true),
            (
                "Option",
                "core::option::Option<alloc::string::String>",
                true,
            ),
            ("Option::<i32>", "core::option::Option<i32>", true),
            ("hape", "r::Shape", false),
            ("s::Shape", "r::Shape", false),
            ("x::r::Shape", "r::Shape", false),
        ] {
            assert_eq!(is_end_of(scopes, name), expected, "{scopes} {name}");
        }
    }
}
