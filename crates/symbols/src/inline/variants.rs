//! Variants of constructors and destructors (*Itanium C++ ABI*, section 5.1.4.3).
//!
//! The variant for a whole object executes the body of the variant for a base, by a call or
//! inlined. That is no call of the source. The other copies of the same constructor or
//! destructor in it are: those for the children of a tree, and those in the body itself.

use super::Copy;
use crate::dwarf::{DebugInfo, DieRef, REFERENCE_DEPTH_MAX};
use crate::{Function, SymbolFile};

impl SymbolFile {
    /// Returns whether a function is the variant of a constructor or destructor for a whole
    /// object, and has the body of the variant for a base inlined.
    pub fn has_own_body(&self, function: &Function) -> bool {
        let copies = self.inlined_copies(&function.name).into_iter();
        let mut own = copies.filter(|copy| copy.is_own_body);
        own.any(|copy| Some(copy.holder) == function.die)
    }
}

/// Returns the copy that is the body of the function that contains it; `None` if there is none.
pub(super) fn own_body(
    file: &SymbolFile,
    info: &DebugInfo,
    holder: DieRef,
    copies: &[Copy],
) -> Option<DieRef> {
    let linkage_name = info.inherited_text(holder, gimli::DW_AT_linkage_name)?;
    if !is_of_whole_object(&linkage_name) {
        return None;
    }
    // Without virtual bases one function is both variants.
    let entry = info
        .code_ranges(holder.unit, &info.die(holder)?)
        .first()?
        .start;
    let symbols = file.inner.symbols();
    let mut names = symbols
        .functions_at(entry)
        .iter()
        .map(|it| symbols.text(it));
    if names.any(|name| ["D2", "C2"].iter().any(|it| has_variant(name, it))) {
        return None;
    }
    let declared = declared(info, holder);
    let mut own = copies
        .iter()
        .filter(|copy| copy.is_outermost && self::declared(info, copy.origin) == declared);
    let found = own.next()?.die;
    own.next().is_none().then_some(found)
}

/// Returns the declaration of a function, or the DIE of its definition if it has none.
fn declared(info: &DebugInfo, function: DieRef) -> DieRef {
    let mut at = function;
    for _ in 0..REFERENCE_DEPTH_MAX {
        let origin = info.die(at).and_then(|entry| info.origin(at.unit, &entry));
        match origin {
            Some(origin) => at = origin,
            None => break,
        }
    }
    at
}

/// Returns whether a mangled name is that of a complete constructor, or of a complete or
/// deleting destructor.
fn is_of_whole_object(linkage_name: &str) -> bool {
    let is_destructor = || ["D0", "D1"].iter().any(|it| has_variant(linkage_name, it));
    let is_member = ["_ZN", "_ZZ"].iter().any(|it| linkage_name.starts_with(it));
    is_member && (is_destructor() || has_variant(linkage_name, "C1"))
}

/// Returns whether a mangled name has a variant after a name: before the end of the scopes
/// (`E`), or before template arguments (`I`) or a tag (`B`).
fn has_variant(linkage_name: &str, variant: &str) -> bool {
    let mut found = linkage_name.match_indices(variant);
    found.any(|(at, _)| {
        let behind = linkage_name.as_bytes().get(at + variant.len());
        matches!(behind, Some(b'E' | b'I' | b'B'))
    })
}

#[cfg(test)]
mod tests {
    use super::is_of_whole_object;

    #[test]
    fn variants_for_whole_objects_are_told_by_their_names() {
        for (name, expected) in [
            ("_ZN4NodeD0Ev", true),
            ("_ZN4NodeD1Ev", true),
            ("_ZN4NodeD2Ev", false),
            ("_ZN4NodeC1EPS_S0_", true),
            ("_ZN4NodeC2EPS_S0_", false),
            ("_ZN3BoxIiEC1IlEET_", true),
            ("_Z3D0Ev", false),
            ("D0E", false),
        ] {
            assert_eq!(is_of_whole_object(name), expected, "{name}");
        }
    }
}
