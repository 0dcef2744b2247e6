//! Values that a function can return without doing anything.

use syn::{GenericArgument, PathArguments, ReturnType, Type};

/// Returns expressions of a return type that do nothing: as many as differ in kind.
pub fn values(output: &ReturnType) -> Vec<String> {
    match output {
        ReturnType::Default => vec!["()".into()],
        ReturnType::Type(_, kind) => of_type(kind),
    }
}

fn of_type(kind: &Type) -> Vec<String> {
    match kind {
        Type::Path(path) => of_path(path),
        Type::Tuple(tuple) if tuple.elems.is_empty() => vec!["()".into()],
        Type::Tuple(tuple) => of_tuple(&tuple.elems.iter().map(of_type).collect::<Vec<_>>()),
        Type::Reference(reference) => of_reference(&reference.elem, reference.mutability.is_some()),
        Type::Paren(inner) => of_type(&inner.elem),
        Type::Group(inner) => of_type(&inner.elem),
        Type::Array(_) | Type::Macro(_) => vec!["::std::default::Default::default()".into()],
        // A function has one hidden type; an iterator of another type is none of it.
        _ => Vec::new(),
    }
}

/// Returns as many tuples as the element with the most values has.
fn of_tuple(elements: &[Vec<String>]) -> Vec<String> {
    if elements.iter().any(Vec::is_empty) {
        return Vec::new();
    }
    let most = elements.iter().map(Vec::len).max().unwrap_or(0);
    (0..most)
        .map(|number| {
            let values: Vec<&str> = elements
                .iter()
                .map(|values| values[number.min(values.len() - 1)].as_str())
                .collect();
            format!("({},)", values.join(", "))
        })
        .collect()
}

fn of_reference(target: &Type, is_mutable: bool) -> Vec<String> {
    match target {
        Type::Path(path) if path.path.is_ident("str") && !is_mutable => {
            vec!["\"\"".into(), "\"xyzzy\"".into()]
        }
        Type::Slice(_) if is_mutable => vec!["&mut []".into()],
        Type::Slice(_) => vec!["&[]".into()],
        _ => Vec::new(),
    }
}

fn of_path(kind: &syn::TypePath) -> Vec<String> {
    let Some(last) = kind.path.segments.last() else {
        return Vec::new();
    };
    let arguments: Vec<&Type> = match &last.arguments {
        PathArguments::AngleBracketed(list) => list
            .args
            .iter()
            .filter_map(|argument| match argument {
                GenericArgument::Type(kind) => Some(kind),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    let inner = |wrap: fn(&str) -> String| -> Vec<String> {
        let Some(first) = arguments.first() else {
            return Vec::new();
        };
        of_type(first).iter().map(|value| wrap(value)).collect()
    };
    match last.ident.to_string().as_str() {
        "bool" => vec!["true".into(), "false".into()],
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => vec!["0".into(), "1".into()],
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => {
            vec!["0".into(), "1".into(), "-1".into()]
        }
        "f32" | "f64" => vec!["0.0".into(), "1.0".into()],
        "char" => vec!["'\\0'".into()],
        "String" => vec!["String::new()".into(), "String::from(\"xyzzy\")".into()],
        "Option" => {
            let mut values = vec!["None".into()];
            values.extend(inner(|value| format!("Some({value})")));
            values
        }
        "Result" if arguments.is_empty() => {
            vec!["Ok(::std::default::Default::default())".into()]
        }
        "Result" => inner(|value| format!("Ok({value})")),
        "Vec" => {
            let mut values = vec!["Vec::new()".into()];
            values.extend(inner(|value| format!("vec![{value}]")));
            values
        }
        "Box" => inner(|value| format!("Box::new({value})")),
        "Cow" => vec!["\"\".into()".into(), "\"xyzzy\".into()".into()],
        _ => vec!["::std::default::Default::default()".into()],
    }
}
