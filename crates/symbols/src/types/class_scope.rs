//! The names of a C++ class that belong to no object: static members and the enumerators of
//! the class's enumerations, including those of base classes.

use super::{Source, TYPE_DEPTH_MAX, Type, TypeKind, read};
use crate::dwarf::{DebugInfo, DieRef};
use crate::variable::{Variable, variable_of_class};
use std::sync::Arc;

/// The maximum number of classes searched; damaged types may be derived from themselves.
const CLASSES_MAX: usize = 1_000;

/// A name of a class that belongs to no object.
#[derive(Debug, Clone)]
pub enum ClassName {
    /// A static member with its qualified name. Its location is known if the class has its
    /// value; otherwise the definition has the location.
    Variable(Variable),
    /// An enumerator: its enumeration and value.
    Enumerator(Type, i128),
}

impl Type {
    /// Returns the static members and enumerators with this name: those of the class
    /// itself, or else those of the nearest base classes that have any. More than one is
    /// ambiguous.
    pub fn class_names(&self, name: &str) -> Vec<ClassName> {
        let mut level = vec![self.strip()];
        let mut seen: Vec<(*const DebugInfo, DieRef)> = Vec::new();
        let mut budget = CLASSES_MAX;
        for _ in 0..TYPE_DEPTH_MAX {
            let mut found: Vec<ClassName> = Vec::new();
            let mut bases: Vec<Type> = Vec::new();
            for class in &level {
                let own = class.own_class_names(name);
                if own.is_empty() {
                    let composite = class.composite();
                    let of = composite.iter().flat_map(|it| &it.bases);
                    bases.extend(of.map(|base| base.r#type.strip()));
                } else {
                    found.extend(own)
                }
            }
            bases.retain(|base| match &base.source {
                Source::Die { info, die } => {
                    let key = (Arc::as_ptr(info), *die);
                    let is_new = !seen.contains(&key) && budget > 0;
                    budget = budget.saturating_sub(1);
                    seen.push(key);
                    is_new
                }
                _ => false,
            });
            if !found.is_empty() || bases.is_empty() {
                return found;
            }
            level = bases;
        }
        Vec::new()
    }

    fn own_class_names(&self, name: &str) -> Vec<ClassName> {
        let Source::Die { info, die } = &self.source else {
            return Vec::new();
        };
        if self.composite().is_none() {
            return Vec::new();
        }
        let entry = info.die(*die);
        let definition = entry.and_then(|entry| read::definition(info, *die, &entry));
        let home = definition.unwrap_or(*die);
        let mut found = Vec::new();
        for (at, child) in info.children(home) {
            match child.tag() {
                gimli::DW_TAG_variable | gimli::DW_TAG_member => {
                    let known = info.text(at.unit, child.attr_value(gimli::DW_AT_name));
                    let is_static =
                        child.tag() == gimli::DW_TAG_variable || read::is_static(&child);
                    if is_static && known.as_deref() == Some(name) {
                        let class = self.own_name().unwrap_or_default();
                        let qualified = format!("{class}::{name}");
                        let variable = variable_of_class(info, at, &child, &qualified);
                        found.push(ClassName::Variable(variable));
                    }
                }
                gimli::DW_TAG_enumeration_type
                    if !DebugInfo::is_set(&child, gimli::DW_AT_enum_class) =>
                {
                    let r#type = Type::from_die(info.clone(), at);
                    let TypeKind::Enumeration { enumerators, .. } = r#type.kind() else {
                        continue;
                    };
                    let value = enumerators.iter().find(|one| &*one.name == name);
                    if let Some(value) = value.map(|one| one.value) {
                        found.push(ClassName::Enumerator(r#type, value));
                    }
                }
                _ => {}
            }
        }
        found
    }
}
