//! Type names in C notation: `char *(*)[4]`.

use super::member::qualifiers;
use super::{CompositeKind, Source, TYPE_DEPTH_MAX, Type, TypeKind};
use crate::dwarf::facts::{Facts, TypeRecord};
use crate::dwarf::{DebugInfo, Language};

/// The maximum length of a type name; damaged files can describe endless ones.
const NAME_LENGTH_MAX: usize = 4096;

/// The compilers' names of integer types and their shorter spellings, longest first.
const SPELLINGS: &[(&str, &str)] = &[
    ("long long unsigned int", "unsigned long long"),
    ("long unsigned int", "unsigned long"),
    ("short unsigned int", "unsigned short"),
    ("long long int", "long long"),
    ("long int", "long"),
    ("short int", "short"),
];

impl Type {
    /// Returns the name of the type in C notation.
    pub fn name(&self) -> String {
        declare(self, String::new(), TYPE_DEPTH_MAX)
    }

    /// Returns a declaration of a variable of this type: `int (*compare)(void *)`.
    pub fn declaration(&self, variable: &str) -> String {
        declare(self, variable.to_owned(), TYPE_DEPTH_MAX)
    }

    /// Returns the normalized name, for comparisons: integer types have one spelling
    /// (`long` for `long int`).
    pub fn normalized_name(&self) -> String {
        let mut name = self.strip().name();
        for (words, plain) in SPELLINGS {
            if name.contains(words) {
                name = name.replace(words, plain);
            }
        }
        name
    }

    /// Returns whether it is a class without a name, as that of a lambda.
    pub fn is_unnamed_class(&self) -> bool {
        let class = self.strip();
        class.composite().is_some() && class.own_name().is_none()
    }

    /// Returns the qualified name that the program gives the type itself.
    pub(super) fn own_name(&self) -> Option<String> {
        match &self.source {
            Source::Void => Some("void".to_owned()),
            Source::Builtin { name, .. }
            | Source::System { name, .. }
            | Source::Flags { name, .. } => Some((*name).to_owned()),
            Source::Symbol { .. } => Some("<data variable, no debug info>".to_owned()),
            Source::Pointer(_)
            | Source::Reference { .. }
            | Source::Const(_)
            | Source::Volatile(_)
            | Source::Array { .. }
            | Source::Function(_)
            | Source::MemberPointer { .. } => None,
            Source::Die { info, die } => {
                if let Some(facts) = info.facts(die.unit)
                    && let Some(record) = facts.type_at(*die)
                {
                    let name = || record.name.to_string();
                    return Some(whole_name(info, facts, record).unwrap_or_else(name));
                }
                let entry = info.die(*die)?;
                if let Some(name) = info.text(die.unit, entry.attr_value(gimli::DW_AT_name)) {
                    return Some(name.into());
                }
                // A type in a type unit has its name there.
                let signature = entry.attr_value(gimli::DW_AT_signature);
                let defined = info.reference(die.unit, signature)?;
                let record = info.facts(defined.unit)?.type_at(defined)?;
                Some(record.name.to_string())
            }
        }
    }

    pub(super) fn language(&self) -> Language {
        match &self.source {
            Source::Die { info, die } => info
                .unit(die.unit)
                .map_or(Language::Other, |unit| unit.language),
            Source::Builtin { name, .. } if super::words::is_of_rust(name) => Language::Rust,
            _ => Language::C,
        }
    }
}

/// Returns the name of a type that is, or is in, a declaration without scopes of a type that a
/// type unit defines, as g++ writes it outside of the type's namespace.
fn whole_name(info: &DebugInfo, facts: &Facts, record: &TypeRecord) -> Option<String> {
    let (name, of) = facts.skeleton_around(record)?;
    let defined = info.facts(of.unit)?.type_at(of)?;
    let behind = record.name.get(name.len()..)?;
    Some(format!("{}{behind}", defined.name))
}

/// Wraps a declarator, from the inside out, in the syntax of the type.
fn declare(this: &Type, declarator: String, depth: usize) -> String {
    let Some(depth) = depth.checked_sub(1) else {
        return join("...", &declarator);
    };
    if declarator.len() > NAME_LENGTH_MAX {
        return declarator;
    }
    match this.kind() {
        // Rust pointers have names (`&str`, `*const T`); those of C do not.
        TypeKind::Pointer(_) | TypeKind::Reference(_)
            if this.language() == Language::Rust && this.own_name().is_some() =>
        {
            join(&this.own_name().unwrap_or_default(), &declarator)
        }
        TypeKind::Pointer(to) => declare_pointer(&to, "*", declarator, depth),
        TypeKind::Reference(to) if this.is_rvalue_reference() => {
            declare_pointer(&to, "&&", declarator, depth)
        }
        TypeKind::Reference(to) => declare_pointer(&to, "&", declarator, depth),
        TypeKind::MemberPointer { class, member } => {
            declare_member_pointer(&class, &member, declarator, depth)
        }
        TypeKind::Const(inner) => declare_qualified(&inner, "const", declarator, depth),
        TypeKind::Volatile(inner) => declare_qualified(&inner, "volatile", declarator, depth),
        TypeKind::Qualified(inner) => declare(&inner, declarator, depth),
        TypeKind::Array {
            element,
            dimensions,
            ..
        } => {
            let mut declarator = declarator;
            for dimension in &dimensions {
                match dimension {
                    Some(count) => declarator.push_str(&format!("[{count}]")),
                    None => declarator.push_str("[]"),
                }
            }
            declare(&element, declarator, depth)
        }
        TypeKind::Function {
            returns,
            parameters,
            variadic,
        } => {
            let list = parameter_list(&parameters, variadic, depth);
            declare(&returns, format!("{declarator}({list})"), depth)
        }
        kind => join(&tagged_name(this, &kind), &declarator),
    }
}

fn declare_pointer(to: &Type, symbol: &str, declarator: String, depth: usize) -> String {
    let binds_looser = matches!(
        to.kind(),
        TypeKind::Array { .. } | TypeKind::Function { .. }
    );
    let pointer = format!("{symbol}{declarator}");
    declare(
        to,
        if binds_looser {
            format!("({pointer})")
        } else {
            pointer
        },
        depth,
    )
}

/// Formats a pointer to a member. The object of a member function is not written as a
/// parameter; its `const` follows the others.
fn declare_member_pointer(class: &Type, member: &Type, declarator: String, depth: usize) -> String {
    let pointer = format!("{}::*{declarator}", class.strip().name());
    let TypeKind::Function {
        returns,
        parameters,
        variadic,
    } = member.strip().kind()
    else {
        return match member.kind() {
            TypeKind::Array { .. } => declare(member, format!("({pointer})"), depth),
            _ => declare(member, pointer, depth),
        };
    };
    let object = parameters.first().and_then(Type::target);
    let (is_const, is_volatile) = object.as_ref().map_or((false, false), qualifiers);
    let list = parameter_list(parameters.get(1..).unwrap_or(&[]), variadic, depth);
    let mut declarator = format!("({pointer})({list})");
    for (is_said, word) in [(is_const, " const"), (is_volatile, " volatile")] {
        declarator.push_str(if is_said { word } else { "" });
    }
    declare(&returns, declarator, depth)
}

fn parameter_list(parameters: &[Type], variadic: bool, depth: usize) -> String {
    let parameters = parameters.iter();
    let mut list: Vec<String> = parameters
        .map(|parameter| declare(parameter, String::new(), depth))
        .collect();
    if variadic {
        list.push("...".to_owned());
    }
    if list.is_empty() {
        list.push("void".to_owned());
    }
    list.join(", ")
}

fn declare_qualified(inner: &Type, word: &str, declarator: String, depth: usize) -> String {
    match inner.kind() {
        // In `char *const` the qualifier belongs to the pointer.
        TypeKind::Pointer(_) | TypeKind::MemberPointer { .. } => {
            declare(inner, join(word, &declarator), depth)
        }
        _ => format!("{word} {}", declare(inner, declarator, depth)),
    }
}

fn tagged_name(this: &Type, kind: &TypeKind) -> String {
    let tag = match kind {
        TypeKind::Composite(composite) => match composite.kind {
            CompositeKind::Struct => "struct",
            CompositeKind::Class => "class",
            CompositeKind::Union => "union",
        },
        TypeKind::Enumeration { .. } => "enum",
        TypeKind::Void => "void",
        _ => "<unknown type>",
    };
    match (this.own_name(), this.language()) {
        (Some(name), _) if this.flag_names().is_some() => name,
        (Some(name), Language::C) if is_tagged(kind) => format!("{tag} {name}"),
        (Some(name), _) => name,
        (None, _) if is_tagged(kind) => format!("{tag} {{...}}"),
        (None, _) => tag.to_owned(),
    }
}

fn is_tagged(kind: &TypeKind) -> bool {
    matches!(kind, TypeKind::Composite(_) | TypeKind::Enumeration { .. })
}

/// Joins a type name and a declarator: `int` and `x` make `int x`; `char` and `*p` make
/// `char *p`; `int` and `[4]` make `int [4]`.
fn join(name: &str, declarator: &str) -> String {
    if declarator.is_empty() {
        name.to_owned()
    } else {
        format!("{name} {declarator}")
    }
}
