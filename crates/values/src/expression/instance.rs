//! Selects instances of templates and of generic functions for a call without template arguments.
//!
//! The compiler instantiates a template for the argument's own type and converts no argument to fit
//! an existing instance, so a call can only mean that instance. A literal has the type `int` or
//! `double` in C++; in Rust any type of its kind, preferably `i32` or `f64`.

use super::overload::{CONVERSION, Fit, Kind, Overload, bare, best, complaint, distance};
use super::overload::{identity, kind, of_several_traits, plain_name, signature};
use super::request::Argument;
use crate::error::ValueError;
use juror_symbols::{Encoding, Type, TypeKind, is_instance};

/// Returns whether the compiler would call this instance for these arguments. Any function that is
/// not an instance may be called.
pub(super) fn is_meant(name: &str, parameters: &[Type], arguments: &[Argument]) -> bool {
    if !is_instance(name) {
        return true;
    }
    let deduced = template_arguments(name);
    let mut pairs = arguments.iter().zip(parameters);
    pairs.all(|(argument, parameter)| {
        let is_deduced = |of: &Type| of.is_rust() || deduced.contains(&identity(of));
        let is_convertible = || distance(argument, parameter).is_some_and(|it| it < CONVERSION);
        if is_number(parameter) && is_deduced(parameter) {
            is_of_type(argument, parameter)
        } else {
            is_convertible()
        }
    })
}

/// Returns whether `wanted` is the type that Rust gives a literal of the kind of `given` by
/// default.
pub(super) fn is_default(given: &Type, wanted: &Type) -> bool {
    match (kind(given), kind(wanted)) {
        (Kind::Integer, Kind::Integer) => wanted.name() == "i32",
        (Kind::Float, Kind::Float) => wanted.name() == "f64",
        _ => false,
    }
}

/// Returns the overload of a Rust method that the arguments after the object select.
///
/// # Errors
/// No overload takes the arguments, or several do.
pub(super) fn chosen<'a>(
    named: &'a [Overload],
    arguments: &[Argument],
) -> Result<&'a Overload, ValueError> {
    let is_of_count = |it: &&Overload| it.parameters.len() == arguments.len() + 1;
    let counted: Vec<&'a Overload> = named.iter().filter(is_of_count).collect();
    if let ([], Some(first)) = (counted.as_slice(), named.first()) {
        // The caller reports the number of arguments that it takes.
        return Ok(first);
    }
    let is_called = |it: &&&Overload| is_meant(&it.name, behind_object(it), arguments);
    let mut meant: Vec<&'a Overload> = counted.iter().filter(is_called).copied().collect();
    if !is_one(&meant) {
        let parameters = meant.iter().map(|it| (behind_object(it), false));
        if let Fit::Best(group) = best(parameters, arguments) {
            let of_group = group.iter().filter_map(|(index, _)| meant.get(*index));
            meant = of_group.copied().collect();
        }
    }
    match meant.first() {
        Some(only) if is_one(&meant) => Ok(only),
        _ => {
            let listed = if meant.is_empty() { &counted } else { &meant };
            let listed = listed.iter();
            let listed = listed.map(|it| signature(&it.name, behind_object(it)));
            let listed: Vec<String> = listed.collect();
            let is_of_trait = meant.first().is_some_and(|it| it.name.starts_with('<'));
            Err(if is_of_trait {
                of_several_traits(&listed).into()
            } else {
                complaint(&listed, meant.is_empty()).into()
            })
        }
    }
}

/// Returns the types of a method's parameters after the object.
fn behind_object(method: &Overload) -> &[Type] {
    method.parameters.get(1..).unwrap_or(&[])
}

/// Returns whether these are one function, of which several units may have code.
fn is_one(functions: &[&Overload]) -> bool {
    let mut names = functions.iter().map(|it| &it.name);
    let first = names.next();
    names.all(|name| Some(name) == first)
}

fn is_number(of: &Type) -> bool {
    matches!(kind(of), Kind::Integer | Kind::Float)
}

/// Returns whether an argument is a number of exactly this type, or a literal that can have it.
fn is_of_type(argument: &Argument, parameter: &Type) -> bool {
    match argument {
        Argument::Number(number) if parameter.is_rust() => {
            let is_integer = matches!(
                bare(parameter).kind(),
                TypeKind::Base(Encoding::Signed | Encoding::Unsigned)
            );
            match kind(&number.r#type) {
                Kind::Integer => is_integer,
                other => other == kind(parameter),
            }
        }
        Argument::Value(value) | Argument::Number(value) => {
            identity(&value.r#type) == identity(parameter)
        }
        Argument::Copy(_) | Argument::String(_) => false,
    }
}

/// Returns the template arguments in the name of an instance, with canonical names of numbers,
/// without references and `const`.
fn template_arguments(name: &str) -> Vec<String> {
    let mut depth = 0_u32;
    let mut arguments = Vec::new();
    let mut end = name.len().saturating_sub(1);
    // The scan runs from the end, since enclosing names may have arguments as well.
    for (at, character) in name.char_indices().rev() {
        match character {
            '>' if name.get(..at).is_some_and(|it| it.ends_with('-')) => continue,
            '>' => depth += 1,
            '<' => depth = depth.saturating_sub(1),
            ',' if depth == 1 => {}
            _ => continue,
        }
        let is_begin = depth == 0;
        if is_begin || character == ',' && depth == 1 {
            let written = name.get(at + 1..end).unwrap_or("");
            arguments.push(type_name(written));
            end = at;
        }
        if is_begin {
            break;
        }
    }
    arguments
}

fn type_name(written: &str) -> String {
    let mut plain = written.trim();
    loop {
        let shorter = plain.trim_end_matches('&').trim_end();
        let shorter = shorter.strip_suffix(" const").unwrap_or(shorter);
        let shorter = shorter.strip_prefix("const ").unwrap_or(shorter).trim();
        if shorter == plain {
            break;
        }
        plain = shorter;
    }
    Type::builtin(plain).map_or_else(|| plain.to_owned(), |known| plain_name(&known))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::typed::Typed;

    #[test]
    fn template_arguments_are_read_from_the_name() {
        let check = |name: &str, expected: &[&str]| {
            let mut found = template_arguments(name);
            found.reverse();
            assert_eq!(found, expected, "{name}");
        };
        check("f<int>", &["int"]);
        check("a<char>::f<long, 3>", &["long", "3"]);
        check(
            "f<unsigned int const&, b<int, c<d> > >",
            &["unsigned int", "b<int, c<d> >"],
        );
        check("f<long int>", &["long"]);
        check("f<>", &[""]);
    }

    fn value(name: &str) -> Argument {
        Argument::Value(Typed::in_memory(Type::builtin(name).expect("a type"), 16))
    }

    #[test]
    fn a_deduced_parameter_has_the_type_of_the_argument() {
        let types = |names: &[&str]| -> Vec<Type> {
            names
                .iter()
                .map(|it| Type::builtin(it).expect("a type"))
                .collect()
        };
        let of_int = types(&["int", "long"]);
        // The second parameter is not deduced, so it converts.
        assert!(is_meant("f<int>", &of_int, &[value("int"), value("short")]));
        assert!(!is_meant(
            "f<int>",
            &of_int,
            &[value("short"), value("long")]
        ));
        assert!(!is_meant(
            "f<int>",
            &of_int,
            &[value("unsigned int"), value("long")]
        ));
        assert!(!is_meant(
            "f<int>",
            &of_int,
            &[value("int"), value("double")]
        ));
        assert!(is_meant("f", &of_int, &[value("short"), value("double")]));
        assert!(is_meant("f<3>", &of_int, &[value("short"), value("int")]));
    }
}
