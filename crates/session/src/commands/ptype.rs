//! `whatis` and `ptype`: the type of a value, and the definition of a type.

use crate::inspect::expressions;
use crate::inspect::expressions::{KINDS, type_named, types_here};
use crate::session::Session;
use juror_fault::CommandError;
use juror_language::{Derivation, TypeName};
use juror_program::modules::{Bound, Module};
use juror_symbols::{Signature, Type};
use juror_values::typed::{Location, Typed};
use juror_values::types::definition::definition;
use juror_values::types::written::written_type;
use juror_view::{Outcome, TypeView};

/// `whatis EXPRESSION`, `whatis TYPE`
pub(crate) fn name_type(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    if text.is_empty() {
        return Err(CommandError::with_help(
            "`whatis` needs an expression or type",
            "for example: whatis count",
        ));
    }
    if let Some(types) = function_types(session, text)? {
        return Ok(Outcome::Types(types));
    }
    let r#type = match type_of_value(session, text)? {
        Some(r#type) => r#type,
        None => of_standard_name(one_name_less(&type_written(session, text)?)),
    };
    Ok(Outcome::Types(vec![TypeView {
        function: None,
        name: r#type.name(),
        definition: None,
    }]))
}

/// `ptype EXPRESSION`, `ptype TYPE`, `ptype/o TYPE`
pub(crate) fn define_type(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let (with_offsets, text) = match text.strip_prefix('/') {
        None => (false, text),
        Some(rest) => match rest.split_once(char::is_whitespace) {
            Some(("o", rest)) => (true, rest.trim()),
            _ => {
                return Err(CommandError::with_help(
                    "ptype takes only the format /o",
                    "for example: ptype/o struct queue",
                ));
            }
        },
    };
    if text.is_empty() {
        return Err(CommandError::with_help(
            "`ptype` needs an expression or type",
            "for example: ptype struct queue",
        ));
    }
    if let Some(types) = function_types(session, text)? {
        return Ok(Outcome::Types(types));
    }
    let r#type = match type_of_value(session, text)? {
        Some(r#type) => r#type,
        None => of_standard_name(type_written(session, text)?),
    };
    Ok(Outcome::Types(vec![TypeView {
        function: None,
        name: r#type.name(),
        definition: Some(definition(&r#type, with_offsets)),
    }]))
}

/// Returns the type of a named function, `int (int, char *)`; of several with this name, the type
/// of each. `None` if the text names no function: variables and types take precedence.
fn function_types(
    session: &mut Session,
    text: &str,
) -> Result<Option<Vec<TypeView>>, CommandError> {
    let is_name = text.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '<'));
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '~');
    if !is_name {
        return Ok(None);
    }
    // A plain name may be a variable.
    if text.chars().all(is_plain) {
        let is_code = |value: &Typed| matches!(value.location, Location::Bytes(_));
        match expressions::evaluate(session, text) {
            Ok(value) if !is_code(&value) => return Ok(None),
            _ => {}
        }
    }
    let with_types = |module: &Module| module.symbols.has_debug_info();
    let mut found = session.modules().reached_definitions(text, with_types);
    // A class takes precedence over its constructors.
    if found.iter().any(is_constructor) && type_named(session, text).is_some() {
        found.retain(|bound| !is_constructor(bound));
    }
    // Libraries have types of every short name.
    let is_own = found.iter().any(|bound| bound.module.is_main);
    if !is_own && !text.contains('(') && type_named(session, text).is_some() {
        return Ok(None);
    }
    let mut types: Vec<(String, String)> = found
        .iter()
        .filter(|bound| bound.function.has_debug_info())
        .filter_map(|bound| {
            let symbols = &bound.module.symbols;
            let signature = symbols.signature(&bound.function).ok()??;
            let name = symbols.name_with_parameters(&bound.function);
            Some((name, type_of(&signature)))
        })
        .collect();
    types.sort();
    types.dedup();
    let views: Vec<TypeView> = types
        .into_iter()
        .map(|(function, name)| TypeView {
            function: Some(function),
            name,
            definition: None,
        })
        .collect();
    Ok(Some(views).filter(|views| !views.is_empty()))
}

/// Returns the type of a value; `None` if the text names a type. If a variable and a type have the
/// same name, the variable takes precedence.
fn type_of_value(session: &mut Session, text: &str) -> Result<Option<Type>, CommandError> {
    if KINDS.iter().any(|kind| text.starts_with(kind)) {
        return Ok(None);
    }
    let found = expressions::read(session, text).and_then(|expression| {
        if expression.assigns() {
            let found = expressions::static_type_of(session, &expression)?;
            return found
                .map(|it| Typed::missing(it, "it is not evaluated"))
                .ok_or_else(|| {
                    CommandError::with_help(
                        "this changes a variable, and its type is not known without",
                        "print its result first, then use the type of `$`",
                    )
                });
        }
        if expression.calls_functions() {
            Err(CommandError::with_help(
                "this calls a function of the program",
                "print its result first, then use the type of `$`",
            ))
        } else {
            expressions::evaluate(session, text)
        }
    });
    match found {
        // Libraries have variables of all short names.
        Ok(value) if is_of_library(session, &value) && program_has_type(session, text) => Ok(None),
        Ok(value) => Ok(Some(value.r#type)),
        Err(_) if is_made(text) || type_written(session, text).is_ok() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns whether a value is in the memory of a library.
fn is_of_library(session: &Session, value: &Typed) -> bool {
    match value.location {
        Location::Memory(address) => {
            let module = session.modules().find(address);
            module.is_some_and(|module| !module.is_main)
        }
        _ => false,
    }
}

fn program_has_type(session: &Session, name: &str) -> bool {
    let mut modules = session.modules().iter();
    modules.any(|module| module.is_main && module.symbols.type_named(name).is_some())
}

fn type_written(session: &mut Session, text: &str) -> Result<Type, CommandError> {
    // Names of other languages are not types of C.
    let written = juror_language::parse_type(text);
    if let Some(written) = written.filter(has_derivations) {
        return written_type(&written, &types_here(session)).map_err(CommandError::new);
    }
    let (base, pointers) = base_of(text);
    let mut r#type = type_named(session, base)
        .ok_or_else(|| CommandError::new(format!("there is no type `{base}` in the program")))?;
    for _ in 0..pointers {
        r#type = r#type.pointer_to();
    }
    Ok(r#type)
}

/// Returns whether a function has the name of its class: `geometry::Box<int>::Box(int)`.
fn is_constructor(bound: &Bound) -> bool {
    let name = bound.module.symbols.name_with_parameters(&bound.function);
    let name = name.split('(').next().unwrap_or_default();
    let Some((class, own)) = name.rsplit_once("::") else {
        return false;
    };
    let class = class.split('<').next().unwrap_or_default();
    class.rsplit("::").next() == Some(own)
}

/// Returns the type of a function as C declares it.
fn type_of(signature: &Signature) -> String {
    let parameters = signature.parameters.iter();
    let mut list: Vec<String> = parameters.map(|(_, of)| of.name()).collect();
    if signature.variadic {
        list.push("...".to_owned());
    }
    if list.is_empty() {
        list.push("void".to_owned());
    }
    signature
        .result
        .declaration(&format!("({})", list.join(", ")))
}

/// Returns whether a type is derived by anything other than pointers.
fn has_derivations(written: &TypeName) -> bool {
    let mut derivations = written.derivations.iter();
    derivations.any(|it| *it != Derivation::Pointer)
}

/// Returns whether a text is a type that cannot be a value: `int (*)[4]`.
fn is_made(text: &str) -> bool {
    let is_value = juror_language::parse_expression(text).1.is_empty();
    !is_value && juror_language::parse_type(text).is_some_and(|it| has_derivations(&it))
}

/// Returns the name before the stars of a type, and the number of stars.
fn base_of(text: &str) -> (&str, usize) {
    let base = text.trim_end_matches(|c: char| c == '*' || c.is_whitespace());
    let stars = text.get(base.len()..).unwrap_or("");
    (base.trim(), stars.matches('*').count())
}

/// Resolves `size_t` and the like; other types are returned as they are.
fn of_standard_name(r#type: Type) -> Type {
    let words = juror_symbols::standard_name(&r#type.name());
    words.and_then(Type::builtin).unwrap_or(r#type)
}

/// Resolves a typedef by one step, as gdb does.
fn one_name_less(r#type: &Type) -> Type {
    match r#type.kind() {
        juror_symbols::TypeKind::Typedef(to) => to,
        _ => r#type.clone(),
    }
}
