//! What blocks declare besides variables: enumerators, and names that `using` takes from elsewhere.

use crate::dwarf::{DebugInfo, Die, DieRef};
use crate::location::Location;
use crate::names;
use crate::types::{Type, TypeKind};
use crate::variable::{Scope, Variable};
use std::sync::Arc;

/// Adds what an entry other than a variable declares to its scope: enumerators, and names that
/// `using` takes from another scope. What is behind the position is not declared yet.
pub(super) fn add_declared(
    info: &Arc<DebugInfo>,
    die: DieRef,
    entry: &Die,
    is_behind: bool,
    scope: &mut Scope,
) {
    match entry.tag() {
        gimli::DW_TAG_imported_declaration
            if entry.attr_value(gimli::DW_AT_name).is_none()
                && !(is_behind && has_lines_of_imports(info, die)) =>
        {
            let of = info.reference(die.unit, entry.attr_value(gimli::DW_AT_import));
            let name = of.and_then(|of| info.entity_name(of));
            scope
                .declared
                .extend(name.map(|name| names::tail(&name).into()));
        }
        gimli::DW_TAG_enumeration_type
            if !is_behind && !DebugInfo::is_set(entry, gimli::DW_AT_enum_class) =>
        {
            scope.enumerators.extend(enumerators(info, die));
        }
        _ => {}
    }
}

/// Returns whether the line of a `using` is the one in which it stands: g++ writes another.
pub(crate) fn has_lines_of_imports(info: &DebugInfo, die: DieRef) -> bool {
    info.unit(die.unit).is_some_and(|unit| unit.by_llvm)
}

/// Returns the enumerators of an enumeration as constants.
fn enumerators(info: &Arc<DebugInfo>, die: DieRef) -> Vec<Variable> {
    let r#type = Type::from_die(info.clone(), die);
    let TypeKind::Enumeration { enumerators, .. } = r#type.kind() else {
        return Vec::new();
    };
    let size = r#type.size().unwrap_or(4).min(16) as usize;
    let constant = enumerators.iter().map(|one| Variable {
        name: one.name.as_ref().into(),
        r#type: r#type.clone(),
        location: Location::of_bytes(
            info,
            die.unit,
            one.value
                .to_le_bytes()
                .get(..size)
                .unwrap_or_default()
                .to_vec(),
        ),
        parameter: false,
        artificial: false,
        line: None,
        is_later: false,
        is_of_some_block: false,
    });
    constant.collect()
}
