//! The template arguments (C++) or generic parameters (Rust) of a type.

use super::{Source, TYPE_DEPTH_MAX, Type, read};
use crate::dwarf::{DebugInfo, DieRef, Language};
use gimli::AttributeValue;
use std::sync::Arc;

/// A template argument.
#[derive(Debug, Clone, PartialEq)]
pub enum TemplateArgument {
    /// A type.
    Type(Type),
    /// A number.
    Number(i128),
}

impl Type {
    /// Returns the template arguments of the type in order; those of a parameter pack are
    /// inserted at its position. Empty for a type that is not a template instance, or if
    /// the compiler did not record them.
    pub fn template_arguments(&self) -> Vec<TemplateArgument> {
        match &self.source {
            Source::Die { info, die } => info.kinds.arguments(*die, || self.arguments_read()),
            _ => self.arguments_read(),
        }
    }

    fn arguments_read(&self) -> Vec<TemplateArgument> {
        let mut found = Vec::new();
        if let Source::Die { info, die } = &self.strip().source {
            let entry = info.die(*die);
            let die = entry
                .and_then(|entry| read::definition(info, *die, &entry))
                .unwrap_or(*die);
            collect(info, die, &mut found, TYPE_DEPTH_MAX);
        }
        // For a Rust enumeration the arguments are recorded at its variants.
        if found.is_empty()
            && let Some(composite) = self.composite()
            && let Some(part) = &composite.variants
            && let Some(variant) = part.variants.first()
            && let Source::Die { info, die } = &variant.field.r#type.source
        {
            collect(info, *die, &mut found, TYPE_DEPTH_MAX);
        }
        found
    }

    /// Returns whether the type is from a Rust unit.
    pub fn is_rust(&self) -> bool {
        self.language() == Language::Rust
    }

    /// Returns whether values are Rust references, by the name of the type.
    pub fn is_rust_reference(&self) -> bool {
        self.is_rust() && self.strip().name().starts_with('&')
    }

    /// Returns whether the type is a base type that is made without debug information, for a
    /// literal or a computed value.
    pub fn is_of_debugger(&self) -> bool {
        matches!(self.source, Source::Builtin { .. })
    }

    /// Returns whether the type is from a C++ unit.
    pub fn is_cpp(&self) -> bool {
        self.language() == Language::Cpp
    }
}

fn collect(info: &Arc<DebugInfo>, die: DieRef, found: &mut Vec<TemplateArgument>, depth: usize) {
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    for (at, child) in info.children(die) {
        match child.tag() {
            gimli::DW_TAG_template_type_parameter => {
                found.push(TemplateArgument::Type(read::target(info, at, &child)));
            }
            gimli::DW_TAG_template_value_parameter => {
                let value = child.attr_value(gimli::DW_AT_const_value);
                let number = value.and_then(|value| match value {
                    AttributeValue::Sdata(number) => Some(i128::from(number)),
                    value => value.udata_value().map(i128::from),
                });
                // An argument that is not a number keeps its position.
                found.push(number.map_or_else(
                    || TemplateArgument::Type(Type::void()),
                    TemplateArgument::Number,
                ));
            }
            gimli::DW_TAG_GNU_template_parameter_pack => collect(info, at, found, depth),
            _ => {}
        }
    }
}
