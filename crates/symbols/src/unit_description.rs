//! The description of a compilation unit: file, directory, language, compiler.

use crate::SymbolFile;
use crate::dwarf::{DieRef, Language};
use gimli::AttributeValue;
use std::path::PathBuf;

/// The description of a compilation unit; `None` for what the compiler did not record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitDescription {
    /// The primary source file, as given to the compiler.
    pub name: Option<Box<str>>,
    /// The compiler's working directory.
    pub directory: Option<PathBuf>,
    /// The language with its version, such as `C++14`.
    pub language: Option<String>,
    /// The compiler, with its options if recorded.
    pub producer: Option<Box<str>>,
    /// The DWARF version.
    pub dwarf_version: u16,
}

impl SymbolFile {
    /// Returns whether the compilation unit at a file address is C++.
    pub fn is_cpp_at(&self, address: u64) -> bool {
        self.is_language_at(address, Language::Cpp)
    }

    /// Returns whether a compiler of LLVM has made the compilation unit at a file address.
    pub fn is_of_llvm_at(&self, address: u64) -> bool {
        let info = self.inner.debug_info();
        let unit = info.and_then(|info| info.unit(info.unit_at(address)?));
        unit.is_some_and(|unit| unit.by_llvm)
    }

    /// Returns whether the compilation unit at a file address is Rust.
    pub fn is_rust_at(&self, address: u64) -> bool {
        self.is_language_at(address, Language::Rust)
    }

    fn is_language_at(&self, address: u64, language: Language) -> bool {
        let info = self.inner.debug_info();
        let unit = info.and_then(|info| info.unit(info.unit_at(address)?));
        unit.is_some_and(|unit| unit.language == language)
    }

    /// Returns the description of the compilation unit at a file address.
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

/// Returns the usual name of a language: `C++14` for `DW_LANG_C_plus_plus_14`.
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
