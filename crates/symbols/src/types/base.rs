//! Base classes, and where their parts of an object lie.
//!
//! The part of a plain base class is at a fixed distance. Where that of a virtual one
//! is the object alone knows: DWARF has an expression over the object's address (DWARF
//! 5, section 5.7.3), which goes through the object's table of virtual functions. Memory
//! that is no such object gives any place at all; whoever asks checks the table first
//! ([`Memory::table_owner`]).

use super::member::Access;
use super::{CompositeKind, TYPE_DEPTH_MAX, Type, read, target};
use crate::dwarf::{DebugInfo, Die, DieRef};
use crate::location::{Location, LocationError, LocationSource, Memory};
use gimli::AttributeValue;
use std::sync::Arc;

/// A class that a class is derived from.
#[derive(Debug, Clone)]
pub struct Base {
    /// Where its part begins, in bytes; `None` for a virtual base, whose
    /// place is known at run time only.
    pub offset: Option<u64>,
    /// The base class.
    pub r#type: Type,
    /// Who may use it as such.
    pub access: Access,
    /// Where the part of a virtual base is, from the object's address on.
    place: Option<Location>,
}

/// The class of C++ that a table of virtual functions is for.
#[derive(Debug, Clone)]
pub struct TableOwner {
    /// Its name, as the symbol of the table has it.
    pub name: Box<str>,
    /// The class, where it is described.
    pub r#type: Option<Type>,
}

/// The step from an object, or a part of one, to the part of a virtual base class.
#[derive(Debug, Clone)]
pub struct VirtualStep {
    /// How far behind the start the class begins that has the base.
    pub offset: u64,
    /// That class.
    pub class: Type,
    /// The virtual base.
    pub base: Base,
}

impl Base {
    /// The base class that an entry of inheritance in a class of some kind names.
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
        let place = expression.filter(|_| offset.is_none());
        Base {
            offset,
            r#type: target(info, die, entry),
            access: Access::of_die(entry, kind),
            place: place.map(|expression| Location {
                info: info.clone(),
                unit: die.unit,
                function: None,
                source: LocationSource::Everywhere(expression),
            }),
        }
    }

    /// Whether all parts of an object that are derived from it share one.
    pub fn is_virtual(&self) -> bool {
        self.offset.is_none()
    }

    /// Which word of the object's table tells where the part of a virtual base is, in
    /// bytes from where the object points to: that word is the distance from the object.
    /// Nothing for other bases, and where the debug information says it in another way.
    pub fn table_entry(&self) -> Option<i64> {
        let place = self.place.as_ref()?;
        let LocationSource::Everywhere(expression) = &place.source else {
            return None;
        };
        read::table_entry(expression.clone())
    }

    /// Where the part begins in the object at `object`, whose class is the derived one.
    ///
    /// # Errors
    /// Memory on the way cannot be read, or the debug information does not say it.
    pub fn address_in(&self, object: u64, memory: &dyn Memory) -> Result<u64, LocationError> {
        match (self.offset, &self.place) {
            (Some(offset), _) => Ok(object.wrapping_add(offset)),
            (None, Some(place)) => place.address_from(object, memory),
            (None, None) => Err(LocationError::Unusable(
                "it does not say where a virtual base class is".to_owned(),
            )),
        }
    }
}

impl Type {
    /// Whether objects of this class of C++ begin with a pointer to a table of virtual
    /// functions: it has virtual functions or base classes, or the first of its bases
    /// with such a pointer lies at its start.
    pub fn has_table(&self) -> bool {
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
