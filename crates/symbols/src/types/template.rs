//! What a type was made from: the arguments of its template (C++), or its
//! generic parameters (Rust).

use super::{Source, TYPE_DEPTH_MAX, Type, read};
use crate::dwarf::{DebugInfo, DieRef, Language};
use gimli::AttributeValue;
use std::sync::Arc;

/// One argument of a template.
#[derive(Debug, Clone, PartialEq)]
pub enum TemplateArgument {
    /// A type.
    Type(Type),
    /// A number.
    Number(i128),
}

impl Type {
    /// What the type was made from, in the order of its parameters; those of
    /// a parameter pack stand where the pack stands. Nothing for a type that
    /// is no template's, or where the compiler did not say.
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
        // What an enumeration of Rust was made from stands at its
        // alternatives.
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

    /// Whether the type was written in Rust.
    pub fn is_rust(&self) -> bool {
        self.language() == Language::Rust
    }

    /// Whether the type was written in C++.
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
                // One that is no number keeps the places of the others.
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
