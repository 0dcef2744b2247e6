//! Lookup of member functions by name, including those of base classes.

use super::{Source, TYPE_DEPTH_MAX, Type, read};
use crate::dwarf::{DebugInfo, Die, DieRef};
use gimli::AttributeValue;
use std::sync::Arc;

/// A member function as declared in its class.
#[derive(Debug, Clone)]
pub struct Method {
    /// The class that declares it.
    pub class: Type,
    /// The offset of that class in the object in bytes; `None` for a virtual base class,
    /// whose offset depends on the object.
    pub offset: Option<u64>,
    /// The type of the function, with `this` as its first parameter.
    pub r#type: Type,
    /// The name.
    pub name: Box<str>,
    /// The name in the symbol table.
    pub linkage_name: Option<Box<str>>,
    /// The slot number in the vtable.
    pub slot: Option<u64>,
    /// Whether it is static.
    pub is_static: bool,
    die: DieRef,
}

impl Method {
    /// Returns whether it is an instance of a template.
    pub fn is_instance(&self) -> bool {
        is_instance(&self.name)
    }

    pub(crate) fn source(&self) -> Option<(&Arc<DebugInfo>, DieRef)> {
        match &self.class.source {
            Source::Die { info, .. } => Some((info, self.die)),
            _ => None,
        }
    }
}

/// Returns whether the last name of a function has template arguments.
pub fn is_instance(name: &str) -> bool {
    name.ends_with('>')
        && !["operator>", "operator->", "operator>>", "operator<=>"]
            .iter()
            .any(|it| name.ends_with(it))
}

impl Type {
    /// Returns the member functions with this name and the instances of the templates with
    /// it, which come last: those of the class itself, or else those of the nearest base
    /// classes that have any.
    pub fn methods_named(&self, name: &str) -> Vec<Method> {
        self.methods_within(name, Some(0), TYPE_DEPTH_MAX / 4)
    }

    fn methods_within(&self, name: &str, offset: Option<u64>, depth: usize) -> Vec<Method> {
        let Some(depth) = depth.checked_sub(1) else {
            return Vec::new();
        };
        let class = self.strip();
        let mut own = class.methods_where(offset, |info, at, child| {
            let known = info.text(at.unit, child.attr_value(gimli::DW_AT_name));
            known.is_some_and(|known| &*known == name || is_instance_of(&known, name))
        });
        own.sort_by_key(Method::is_instance);
        if !own.is_empty() {
            return own;
        }
        let Some(composite) = class.composite() else {
            return Vec::new();
        };
        let inherited = composite.bases.iter().flat_map(|base| {
            let inside = offset.zip(base.offset);
            let offset = inside.and_then(|(offset, base)| offset.checked_add(base));
            base.r#type.methods_within(name, offset, depth)
        });
        let mut found: Vec<Method> = Vec::new();
        for method in inherited {
            // A virtual base is shared by all classes derived from it.
            let is_known = |known: &Method| {
                known.offset.is_none() && method.offset.is_none() && known.r#type == method.r#type
            };
            if !found.iter().any(is_known) {
                found.push(method);
            }
        }
        found
    }

    /// Returns the member functions that the class itself declares.
    pub(super) fn own_methods(&self) -> Vec<Method> {
        self.strip().methods_where(Some(0), |_, _, _| true)
    }

    fn methods_where(
        &self,
        offset: Option<u64>,
        is_meant: impl Fn(&DebugInfo, DieRef, &Die) -> bool,
    ) -> Vec<Method> {
        let Source::Die { info, die } = &self.source else {
            return Vec::new();
        };
        let entry = info.die(*die);
        let definition = entry.and_then(|entry| read::definition(info, *die, &entry));
        let children = info.children(definition.unwrap_or(*die)).into_iter();
        let methods = children.filter(|(_, child)| child.tag() == gimli::DW_TAG_subprogram);
        methods
            .filter(|(at, child)| is_meant(info, *at, child))
            .map(|(at, child)| method(info, at, &child, self, offset))
            .collect()
    }
}

fn method(
    info: &Arc<DebugInfo>,
    at: DieRef,
    entry: &Die,
    class: &Type,
    offset: Option<u64>,
) -> Method {
    let slot = match entry.attr_value(gimli::DW_AT_vtable_elem_location) {
        Some(AttributeValue::Exprloc(expression)) => constant(expression),
        Some(value) => value.udata_value(),
        None => None,
    };
    let parameters = info.parameters(at);
    let takes_object = parameters
        .first()
        .is_some_and(|(_, child)| DebugInfo::is_set(child, gimli::DW_AT_artificial));
    Method {
        class: class.clone(),
        offset,
        r#type: Type::from_die(Arc::clone(info), at),
        name: info
            .text(at.unit, entry.attr_value(gimli::DW_AT_name))
            .unwrap_or_default(),
        linkage_name: info.text(at.unit, entry.attr_value(gimli::DW_AT_linkage_name)),
        slot,
        is_static: !takes_object,
        die: at,
    }
}

/// Returns whether a name is that of an instance of the template: `get<int>` of `get`.
fn is_instance_of(known: &str, template: &str) -> bool {
    let arguments = known.strip_prefix(template).map(str::trim_start);
    arguments.is_some_and(|it| it.starts_with('<')) && is_instance(known)
}

/// Returns the number that an expression consists of.
fn constant(expression: gimli::Expression<crate::dwarf::Reader>) -> Option<u64> {
    match read::only_operation(expression)? {
        gimli::Operation::UnsignedConstant { value } => Some(value),
        gimli::Operation::SignedConstant { value } => u64::try_from(value).ok(),
        _ => None,
    }
}
