//! What a class of C++ declares, and who may use it: fields, static members, and functions
//! (DWARF 5, sections 5.7.3, 5.7.6 and 5.7.8). Names of types are left out: clang does not
//! tell who may use them.
//!
//! It is read when somebody looks at the class itself; values and calls need less.

use super::{CompositeKind, Field, Source, TYPE_DEPTH_MAX, Type, TypeKind, read, target};
use crate::dwarf::{DebugInfo, Die, DieRef};
use gimli::AttributeValue;
use std::sync::Arc;

/// Who may use a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everybody.
    Public,
    /// The class, and those that are derived from it.
    Protected,
    /// The class.
    Private,
}

impl Access {
    /// What is meant where nothing is written.
    pub fn of_kind(kind: CompositeKind) -> Access {
        match kind {
            CompositeKind::Class => Access::Private,
            CompositeKind::Struct | CompositeKind::Union => Access::Public,
        }
    }

    /// As the language writes it.
    pub fn word(self) -> &'static str {
        match self {
            Access::Public => "public",
            Access::Protected => "protected",
            Access::Private => "private",
        }
    }

    pub(super) fn of_die(entry: &Die, kind: CompositeKind) -> Access {
        match entry.attr_value(gimli::DW_AT_accessibility) {
            Some(AttributeValue::Accessibility(gimli::DW_ACCESS_public)) => Access::Public,
            Some(AttributeValue::Accessibility(gimli::DW_ACCESS_protected)) => Access::Protected,
            Some(AttributeValue::Accessibility(gimli::DW_ACCESS_private)) => Access::Private,
            _ => Access::of_kind(kind),
        }
    }
}

/// One member of a class.
#[derive(Debug, Clone)]
pub struct ClassMember {
    /// Who may use it.
    pub access: Access,
    /// What it is.
    pub kind: ClassMemberKind,
}

/// What a member of a class is; what no object holds is as it is declared.
#[derive(Debug, Clone)]
pub enum ClassMemberKind {
    /// A part of each object.
    Field(Field),
    /// A variable of the class: `static int count`.
    Static(String),
    /// A function: `virtual int area() const`.
    Function(String),
}

impl ClassMember {
    /// Whether no structure of C has it.
    pub fn is_of_class(&self) -> bool {
        self.access != Access::Public || !matches!(self.kind, ClassMemberKind::Field(_))
    }
}

impl Type {
    /// The members that a class declares, as they stand there; nothing for other types.
    /// What the compiler made by itself is left out.
    pub fn class_members(&self) -> Vec<ClassMember> {
        let class = self.strip();
        let (Source::Die { info, die }, Some(composite)) = (&class.source, class.composite())
        else {
            return Vec::new();
        };
        let entry = info.die(*die);
        let die = entry
            .and_then(|entry| read::definition(info, *die, &entry))
            .unwrap_or(*die);
        let own = info.die(die).and_then(|entry| text(info, die, &entry));
        let own = without_arguments(own.as_deref().unwrap_or_default()).to_owned();
        let children = info.children(die).into_iter();
        let children =
            children.filter(|(_, child)| !DebugInfo::is_set(child, gimli::DW_AT_artificial));
        children
            .filter_map(|(at, child)| {
                Some(ClassMember {
                    access: Access::of_die(&child, composite.kind),
                    kind: member(info, at, &child, &own)?,
                })
            })
            .collect()
    }
}

fn member(info: &Arc<DebugInfo>, at: DieRef, entry: &Die, own: &str) -> Option<ClassMemberKind> {
    let shared = || {
        let declaration = target(info, at, entry).declaration(&text(info, at, entry)?);
        Some(ClassMemberKind::Static(format!("static {declaration}")))
    };
    match entry.tag() {
        gimli::DW_TAG_member => match read::field(info, at, entry) {
            Some(field) => Some(ClassMemberKind::Field(field)),
            None => shared(),
        },
        gimli::DW_TAG_variable => shared(),
        gimli::DW_TAG_subprogram => function(info, at, entry, own).map(ClassMemberKind::Function),
        _ => None,
    }
}

/// A function as its class declares it. `own` is the name of the class.
fn function(info: &Arc<DebugInfo>, at: DieRef, entry: &Die, own: &str) -> Option<String> {
    let name = text(info, at, entry)?;
    let mut object = None;
    let mut parameters = Vec::new();
    for (at, child) in info.children(at) {
        match child.tag() {
            gimli::DW_TAG_formal_parameter
                if DebugInfo::is_set(&child, gimli::DW_AT_artificial) =>
            {
                object = object.or_else(|| target(info, at, &child).target());
            }
            gimli::DW_TAG_formal_parameter => parameters.push(target(info, at, &child).name()),
            gimli::DW_TAG_unspecified_parameters => parameters.push("...".to_owned()),
            _ => {}
        }
    }
    let declarator = format!("{name}({})", parameters.join(", "));
    // What makes and ends objects has no result, and a conversion has it in its name.
    let has_result = without_arguments(&name) != own && !name.starts_with('~') && !converts(&name);
    let mut declaration = match has_result {
        true => target(info, at, entry).declaration(&declarator),
        false => declarator,
    };
    let virtuality = match entry.attr_value(gimli::DW_AT_virtuality) {
        Some(AttributeValue::Virtuality(virtuality)) => virtuality,
        _ => gimli::DW_VIRTUALITY_none,
    };
    if virtuality != gimli::DW_VIRTUALITY_none {
        declaration.insert_str(0, "virtual ");
    } else if object.is_none() {
        declaration.insert_str(0, "static ");
    } else if DebugInfo::is_set(entry, gimli::DW_AT_explicit) {
        declaration.insert_str(0, "explicit ");
    }
    let (is_const, is_volatile) = object.as_ref().map_or((false, false), qualifiers);
    let is_set = |attribute| DebugInfo::is_set(entry, attribute);
    for (is_said, words) in [
        (is_const, " const"),
        (is_volatile, " volatile"),
        (is_set(gimli::DW_AT_reference), " &"),
        (is_set(gimli::DW_AT_rvalue_reference), " &&"),
        (virtuality == gimli::DW_VIRTUALITY_pure_virtual, " = 0"),
        (is_set(gimli::DW_AT_deleted), " = delete"),
    ] {
        if is_said {
            declaration.push_str(words);
        }
    }
    Some(declaration)
}

/// Whether a type is constant, and whether it is volatile.
pub(super) fn qualifiers(r#type: &Type) -> (bool, bool) {
    let (mut is_const, mut is_volatile) = (false, false);
    let mut inner = r#type.clone();
    for _ in 0..TYPE_DEPTH_MAX {
        inner = match inner.kind() {
            TypeKind::Const(to) => {
                is_const = true;
                to
            }
            TypeKind::Volatile(to) => {
                is_volatile = true;
                to
            }
            _ => break,
        };
    }
    (is_const, is_volatile)
}

/// `operator bool`, but neither `operator new` nor `operator+`.
fn converts(name: &str) -> bool {
    let to = name.strip_prefix("operator ").unwrap_or_default();
    let is_type = to.starts_with(|first: char| first.is_alphabetic() || first == '_');
    is_type
        && !["new", "delete", "co_await"]
            .iter()
            .any(|word| to.starts_with(word))
}

fn without_arguments(name: &str) -> &str {
    name.split('<').next().unwrap_or(name)
}

fn text(info: &DebugInfo, at: DieRef, entry: &Die) -> Option<String> {
    let name = info.text(at.unit, entry.attr_value(gimli::DW_AT_name));
    name.map(String::from)
}
