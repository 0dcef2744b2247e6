//! Labels of functions, where `goto` leads to: `FUNCTION:LABEL`.

use crate::dwarf::Visit;
use crate::{Function, SymbolFile};
use std::sync::Arc;

/// A label in a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Its name.
    pub name: Arc<str>,
    /// The file address of its code.
    pub address: u64,
    /// The source line that declares it.
    pub line: Option<u32>,
}

impl SymbolFile {
    /// The labels of a function that have code, in the order of the source. Those of
    /// calls that were inlined into it are not its own.
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
