//! What a compiler says of the unit that an address lies in.

use crate::SymbolFile;
use crate::dwarf::{DieRef, Language};
use gimli::AttributeValue;
use std::path::PathBuf;

/// What is known of a unit; nothing where the compiler has not said it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitDescription {
    /// The file that was compiled, as the compiler was told.
    pub name: Option<Box<str>>,
    /// Where the compiler ran.
    pub directory: Option<PathBuf>,
    /// The language, with its version: `C++14`.
    pub language: Option<String>,
    /// The compiler, with its options where it tells them.
    pub producer: Option<Box<str>>,
    /// The version of DWARF.
    pub dwarf_version: u16,
}

impl SymbolFile {
    /// Whether the unit that a file address lies in is of C++.
    pub fn is_cpp_at(&self, address: u64) -> bool {
        let info = self.inner.debug_info();
        let unit = info.and_then(|info| info.unit(info.unit_at(address)?));
        unit.is_some_and(|unit| unit.language == Language::Cpp)
    }

    /// What is known of the unit that a file address lies in.
    pub fn unit_description(&self, address: u64) -> Option<UnitDescription> {
        let info = self.inner.debug_info()?;
        let number = info.unit_at(address)?;
        let header = &info.unit(number)?.unit.header;
        let root = DieRef {
            unit: number,
            offset: header.root_offset().0,
        };
        let entry = info.die(root)?;
        let text = |name| info.text(number, entry.attr_value(name));
        let language = match entry.attr_value(gimli::DW_AT_language) {
            Some(AttributeValue::Language(language)) => language.static_string().map(readable),
            _ => None,
        };
        let directory = text(gimli::DW_AT_comp_dir);
        Some(UnitDescription {
            name: text(gimli::DW_AT_name),
            directory: directory.map(|it| PathBuf::from(String::from(it))),
            language,
            producer: text(gimli::DW_AT_producer),
            dwarf_version: header.version(),
        })
    }
}

/// A language as people write it: `C++14` for `DW_LANG_C_plus_plus_14`.
fn readable(constant: &str) -> String {
    let name = constant.strip_prefix("DW_LANG_").unwrap_or(constant);
    let name = name.replace("C_plus_plus_", "C++");
    name.replace("C_plus_plus", "C++").replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn languages_are_written_as_people_do() {
        for (language, expected) in [
            (gimli::DW_LANG_C11, "C11"),
            (gimli::DW_LANG_C_plus_plus, "C++"),
            (gimli::DW_LANG_C_plus_plus_14, "C++14"),
            (gimli::DW_LANG_Rust, "Rust"),
            (gimli::DW_LANG_Mips_Assembler, "Mips Assembler"),
        ] {
            let constant = language.static_string().unwrap();
            assert_eq!(readable(constant), expected);
        }
    }
}
