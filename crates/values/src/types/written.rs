//! Types as they are written in expressions, `int (*)[4]`, `char *(*)(int)`, and those of
//! the program that they mean.

use juror_language::{Derivation, Parameters, TypeName};
use juror_symbols::{Type, TypeKind};

/// Resolves a type as the user wrote it. `named` finds a type of the program by its name.
///
/// # Errors
/// No type has the name, or such a type cannot be formed; a sentence for the user.
pub fn written_type(name: &TypeName, named: &dyn Fn(&str) -> Option<Type>) -> Result<Type, String> {
    let missing = |name: &str| format!("there is no type `{name}` in the program");
    let (plain, qualifiers) = split_qualifiers(&name.name);
    let mut r#type = named(plain).ok_or_else(|| missing(&name.name))?;
    // A value has no qualifiers; what a pointer leads to has.
    if !name.derivations.is_empty() {
        r#type = qualified(r#type, qualifiers);
    }
    for (position, derivation) in name.derivations.iter().enumerate() {
        r#type = match derivation {
            Derivation::Pointer => r#type.pointer_to(),
            Derivation::Reference => r#type.reference_to(),
            Derivation::RvalueReference => r#type.rvalue_reference_to(),
            Derivation::Array(count) if r#type.size().is_some() => r#type.array_of(*count),
            Derivation::Array(_) => {
                return Err(format!("there are no arrays of `{}`", r#type.name()));
            }
            Derivation::Function(parameters) => {
                let object = match name.derivations.get(position + 1) {
                    Some(Derivation::MemberPointer(class)) => {
                        let class = class_named(class, named)?;
                        Some(if parameters.is_const {
                            class.constant().pointer_to()
                        } else {
                            class.pointer_to()
                        })
                    }
                    _ => None,
                };
                function(&r#type, object, parameters, named)?
            }
            Derivation::MemberPointer(class) => {
                r#type.member_pointer_of(&class_named(class, named)?)
            }
        };
    }
    Ok(r#type)
}

/// Whether a type is `const`, and whether it is `volatile`.
type Qualifiers = (bool, bool);

/// Splits the qualifiers before and after a name off.
fn split_qualifiers(name: &str) -> (&str, Qualifiers) {
    let (mut rest, mut qualifiers) = (name.trim(), (false, false));
    loop {
        let without = |word: &str| {
            let before = rest.strip_prefix(word).filter(|it| it.starts_with(' '));
            let behind = || rest.strip_suffix(word).filter(|it| it.ends_with(' '));
            before.or_else(behind).map(str::trim)
        };
        if let Some(inner) = without("const") {
            (rest, qualifiers.0) = (inner, true);
        } else if let Some(inner) = without("volatile") {
            (rest, qualifiers.1) = (inner, true);
        } else {
            return (rest, qualifiers);
        }
    }
}

fn qualified(r#type: Type, (is_const, is_volatile): Qualifiers) -> Type {
    let r#type = if is_volatile {
        r#type.volatile()
    } else {
        r#type
    };
    if is_const { r#type.constant() } else { r#type }
}

fn class_named(name: &str, named: &dyn Fn(&str) -> Option<Type>) -> Result<Type, String> {
    let found = named(name).filter(|it| it.composite().is_some() && !it.is_rust());
    found.ok_or_else(|| format!("there is no class `{name}` of C++ in the program"))
}

/// Returns the type of a function. `object` becomes the first parameter.
fn function(
    returns: &Type,
    object: Option<Type>,
    parameters: &Parameters,
    named: &dyn Fn(&str) -> Option<Type>,
) -> Result<Type, String> {
    let mut types: Vec<Type> = object.into_iter().collect();
    for parameter in &parameters.types {
        let of = written_type(parameter, named)?;
        // A parameter of array type is passed as a pointer to the first element.
        types.push(match (of.kind(), of.target()) {
            (TypeKind::Array { .. }, Some(element)) => element.pointer_to(),
            _ => of,
        });
    }
    Ok(returns.function(types, parameters.is_variadic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, &str>) {
        let written = juror_language::parse_type(text).expect("a type");
        let found = written_type(&written, &|name| match name {
            "void" => Some(Type::void()),
            name => Type::builtin(name),
        });
        let found = found.map(|it| it.name());
        let found = found.as_deref().map_err(String::as_str);
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn types_are_made_as_they_are_written() {
        check("int", Ok("int"));
        check("unsigned long**", Ok("unsigned long **"));
        check("int&", Ok("int &"));
        check("int[3][4]", Ok("int [3][4]"));
        check("int(*)[4]", Ok("int (*)[4]"));
        check(
            "char*(*)(int,char[4],...)",
            Ok("char *(*)(int, char *, ...)"),
        );
        check("int (*(*)[3])(void)", Ok("int (*(*)[3])(void)"));
        check("int(int)", Ok("int (int)"));
        check("const int*", Ok("const int *"));
        check("int const volatile*", Ok("const volatile int *"));
        check("volatile long", Ok("long"));
        check("node*", Err("there is no type `node` in the program"));
        check("void[3]", Err("there are no arrays of `void`"));
        check(
            "int char::*",
            Err("there is no class `char` of C++ in the program"),
        );
        check(
            "int (*)(node)",
            Err("there is no type `node` in the program"),
        );
    }
}
