//! Labels of functions, the targets of `goto`: `FUNCTION:LABEL`.

use crate::dwarf::Visit;
use crate::{Function, SymbolFile};
use std::sync::Arc;

/// A label in a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The name.
    pub name: Arc<str>,
    /// The file address of the labelled code.
    pub address: u64,
    /// The source line that declares it.
    pub line: Option<u32>,
}

impl SymbolFile {
    /// Returns the labels of a function that have code, in source order. Labels of calls
    /// inlined into it are excluded.
    pub fn labels(&self, function: &Function) -> Vec<Label> {
        let (Some(info), Some(home)) = (self.inner.debug_info(), function.die) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        info.walk(home, |depth, die, entry| match entry.tag() {
            _ if depth == 0 => Visit::Descend,
            gimli::DW_TAG_subprogram | gimli::DW_TAG_inlined_subroutine => Visit::Skip,
            gimli::DW_TAG_label => {
                let name = info.inherited_text(die, gimli::DW_AT_name);
                let address = info.address(die.unit, entry.attr_value(gimli::DW_AT_low_pc));
                let line = info.inherited_unsigned(die, gimli::DW_AT_decl_line);
                if let (Some(name), Some(address)) = (name, address) {
                    found.push(Label {
                        name: name.as_ref().into(),
                        address,
                        line: line.and_then(|line| u32::try_from(line).ok()),
                    });
                }
                Visit::Skip
            }
            _ => Visit::Descend,
        });
        found
    }
}
