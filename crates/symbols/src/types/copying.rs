//! Whether a C++ class is non-trivial to copy, so that it is passed by address (*Itanium
//! C++ ABI*, 1.1, "non-trivial for the purposes of calls").
//!
//! gcc does not mark the class, but its user-declared members.

use super::read::definition;
use crate::dwarf::{DebugInfo, Die, DieRef};
use std::sync::Arc;

/// The findings about the destructor and the copy and move constructors of a class.
#[derive(Debug, Default)]
pub(super) struct Copying {
    /// One of them is user-provided.
    is_written: bool,
    /// A copy or move constructor exists that is not deleted.
    has_constructor: bool,
    /// A copy or move constructor is deleted.
    has_deleted: bool,
}

impl Copying {
    /// Records a member function of the class at `class`.
    pub fn note(&mut self, info: &Arc<DebugInfo>, class: DieRef, member: DieRef, entry: &Die) {
        if DebugInfo::is_set(entry, gimli::DW_AT_artificial) {
            return;
        }
        let Some(name) = info.text(member.unit, entry.attr_value(gimli::DW_AT_name)) else {
            return;
        };
        // A constructor that is defaulted outside the class counts as user-provided.
        let defaulted = entry.attr_value(gimli::DW_AT_defaulted);
        let defaulted = defaulted.and_then(|value| value.udata_value());
        let is_defaulted = defaulted == Some(u64::from(gimli::DW_DEFAULTED_in_class.0));
        if name.starts_with('~') {
            self.is_written |= !is_defaulted;
            return;
        }
        if !is_constructor(info, class, &name) || !copies(info, class, member) {
            return;
        }
        if DebugInfo::is_set(entry, gimli::DW_AT_deleted) {
            self.has_deleted = true;
        } else {
            self.has_constructor = true;
            self.is_written |= !is_defaulted;
        }
    }

    /// Returns whether copying runs code or is impossible.
    pub fn runs_code(&self) -> bool {
        self.is_written || self.has_deleted && !self.has_constructor
    }
}

/// Returns whether a member function has the name of its class.
fn is_constructor(info: &Arc<DebugInfo>, class: DieRef, name: &str) -> bool {
    let entry = info.die(class);
    let class = entry.and_then(|it| info.text(class.unit, it.attr_value(gimli::DW_AT_name)));
    class.is_some_and(|class| class.split('<').next() == name.split('<').next())
}

/// Returns whether a constructor takes exactly one argument, a reference to an object of
/// the class.
fn copies(info: &Arc<DebugInfo>, class: DieRef, constructor: DieRef) -> bool {
    let mut parameters = info.parameters(constructor).into_iter();
    let (Some(_), Some((at, parameter)), None) =
        (parameters.next(), parameters.next(), parameters.next())
    else {
        return false;
    };
    let target = |at: DieRef, entry: &Die| {
        let to = info.reference(at.unit, entry.attr_value(gimli::DW_AT_type))?;
        Some((to, info.die(to)?))
    };
    let Some((mut to, mut entry)) = target(at, &parameter) else {
        return false;
    };
    let is_reference = matches!(
        entry.tag(),
        gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type
    );
    // Skips the reference, `const` and `volatile`.
    for _ in 0..3 {
        let passes = matches!(
            entry.tag(),
            gimli::DW_TAG_reference_type
                | gimli::DW_TAG_rvalue_reference_type
                | gimli::DW_TAG_const_type
                | gimli::DW_TAG_volatile_type
        );
        match target(to, &entry).filter(|_| passes) {
            Some(next) => (to, entry) = next,
            None => break,
        }
    }
    is_reference && (to == class || definition(info, to, &entry) == Some(class))
}
