//! Base classes and their offsets in an object.
//!
//! A non-virtual base class is at a fixed offset. The offset of a virtual one depends on
//! the object: DWARF gives an expression over the object's address (DWARF 5, section
//! 5.7.3), which reads the object's vtable. For memory that is not such an object, the
//! expression yields an arbitrary address, so the caller checks the vtable first
//! ([`Memory::vtable_owner`]).

use super::member::Access;
use super::{CompositeKind, TYPE_DEPTH_MAX, Type, read, target};
use crate::dwarf::{DebugInfo, Die, DieRef};
use crate::location::{Location, LocationError, LocationSource, Memory};
use gimli::AttributeValue;
use std::sync::Arc;

/// A base class of a class.
#[derive(Debug, Clone)]
pub struct Base {
    /// The offset in the derived class in bytes; `None` for a virtual base, whose offset is
    /// known at run time only.
    pub offset: Option<u64>,
    /// The base class.
    pub r#type: Type,
    /// The accessibility of the inheritance.
    pub access: Access,
    /// The location of a virtual base, relative to the object's address.
    location: Option<Location>,
}

/// The C++ class that a vtable belongs to.
#[derive(Debug, Clone)]
pub struct VtableOwner {
    /// The name of the class in the symbol of the vtable.
    pub name: Box<str>,
    /// The class, if it has debug information.
    pub r#type: Option<Type>,
}

/// A step from an object, or a subobject, to its virtual base class.
#[derive(Debug, Clone)]
pub struct VirtualStep {
    /// The offset in bytes of the class that has the virtual base.
    pub offset: u64,
    /// The class that has the virtual base.
    pub class: Type,
    /// The virtual base.
    pub base: Base,
}

impl Base {
    /// Reads a `DW_TAG_inheritance` entry of a class of the given kind.
    pub(super) fn of_die(
        info: &Arc<DebugInfo>,
        die: DieRef,
        entry: &Die,
        kind: CompositeKind,
    ) -> Base {
        let location = entry.attr_value(gimli::DW_AT_data_member_location);
        let expression = match &location {
            Some(AttributeValue::Exprloc(expression)) => Some(expression.clone()),
            Some(AttributeValue::Block(block)) => Some(gimli::Expression(block.clone())),
            _ => None,
        };
        let is_virtual = matches!(
            entry.attr_value(gimli::DW_AT_virtuality),
            Some(AttributeValue::Virtuality(virtuality)) if virtuality != gimli::DW_VIRTUALITY_none
        );
        let constant = match (&expression, &location) {
            (Some(expression), _) => read::constant_offset(expression.clone()),
            (None, Some(value)) => value.udata_value(),
            (None, None) => Some(0),
        };
        let offset = constant.filter(|_| !is_virtual);
        let virtual_location = expression.filter(|_| offset.is_none());
        Base {
            offset,
            r#type: target(info, die, entry),
            access: Access::of_die(entry, kind),
            location: virtual_location.map(|expression| Location {
                info: info.clone(),
                unit: die.unit,
                function: None,
                source: LocationSource::Everywhere(expression),
            }),
        }
    }

    /// Returns whether the base class is virtual.
    pub fn is_virtual(&self) -> bool {
        self.offset.is_none()
    }

    /// Returns the offset in bytes, relative to the vtable address in the object, of the
    /// vtable entry that holds the offset of a virtual base. `None` for other bases, and if
    /// the DWARF expression has another form.
    pub fn vtable_entry(&self) -> Option<i64> {
        let location = self.location.as_ref()?;
        let LocationSource::Everywhere(expression) = &location.source else {
            return None;
        };
        read::vtable_entry(expression.clone())
    }

    /// Returns the address of the base class in the object at `object`, an object of the
    /// derived class.
    ///
    /// # Errors
    /// Memory cannot be read, or the debug information has no location.
    pub fn address_in(&self, object: u64, memory: &dyn Memory) -> Result<u64, LocationError> {
        match (self.offset, &self.location) {
            (Some(offset), _) => Ok(object.wrapping_add(offset)),
            (None, Some(location)) => location.address_from(object, memory),
            (None, None) => Err(LocationError::Unusable(
                "no location of a virtual base class".to_owned(),
            )),
        }
    }
}

impl Type {
    /// Returns whether objects of this C++ class begin with a vtable pointer: the class has
    /// virtual functions or virtual base classes, or a base class with a vtable pointer.
    pub fn has_vtable(&self) -> bool {
        self.has_table_within(TYPE_DEPTH_MAX / 4)
    }

    fn has_table_within(&self, depth: usize) -> bool {
        let (Some(depth), Some(composite)) = (depth.checked_sub(1), self.composite()) else {
            return false;
        };
        let is_pointer = |name: &str| name.starts_with("_vptr");
        let mut own = composite.fields.iter();
        own.any(|field| field.offset == 0 && field.name.as_deref().is_some_and(is_pointer))
            || composite
                .bases
                .iter()
                .any(|base| base.is_virtual() || base.r#type.has_table_within(depth))
    }
}
