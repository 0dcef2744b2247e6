//! A compilation unit and what its root entry says.

use super::{Reader, Value};
use crate::line::LineTable;
use gimli::AttributeValue;
use std::sync::OnceLock;

/// The source language, as far as it changes how things are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    C,
    Cpp,
    Rust,
    /// Hand-written: functions without types, parameters or results.
    Assembler,
    Other,
}

/// One unit with what is cached about it.
#[derive(Debug)]
pub(crate) struct Unit {
    pub unit: gimli::Unit<Reader>,
    pub language: Language,
    /// It holds what several units share, and may not say the language.
    pub is_partial: bool,
    /// Whether the compiler was gcc and told to optimize: its line table then
    /// marks no end of the prologue, and its locations hold from the entry.
    pub optimized_by_gcc: bool,
    pub lines: OnceLock<LineTable>,
}

impl Unit {
    pub fn new(dwarf: &gimli::Dwarf<Reader>, unit: gimli::Unit<Reader>) -> Unit {
        let root = unit.entry(unit.header.root_offset()).ok();
        let value = |name| root.as_ref().and_then(|root| root.attr_value(name));
        let language = match value(gimli::DW_AT_language) {
            Some(AttributeValue::Language(language)) => Language::from_dwarf(language),
            _ => Language::Other,
        };
        let producer = value(gimli::DW_AT_producer)
            .and_then(|value: Value| dwarf.attr_string(&unit, value).ok())
            .map(|text| String::from_utf8_lossy(text.bytes()).into_owned())
            .unwrap_or_default();
        Unit {
            optimized_by_gcc: is_optimized_by_gcc(&producer),
            is_partial: root.as_ref().map(|root| root.tag()) == Some(gimli::DW_TAG_partial_unit),
            language,
            unit,
            lines: OnceLock::new(),
        }
    }
}

fn is_optimized_by_gcc(producer: &str) -> bool {
    let level = producer
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("-O"))
        .next_back();
    producer.starts_with("GNU ") && level.is_some_and(|level| level != "0")
}

impl Language {
    fn from_dwarf(language: gimli::DwLang) -> Language {
        match language {
            gimli::DW_LANG_C
            | gimli::DW_LANG_C89
            | gimli::DW_LANG_C99
            | gimli::DW_LANG_C11
            | gimli::DW_LANG_C17 => Language::C,
            gimli::DW_LANG_C_plus_plus
            | gimli::DW_LANG_C_plus_plus_03
            | gimli::DW_LANG_C_plus_plus_11
            | gimli::DW_LANG_C_plus_plus_14
            | gimli::DW_LANG_C_plus_plus_17
            | gimli::DW_LANG_C_plus_plus_20 => Language::Cpp,
            gimli::DW_LANG_Rust => Language::Rust,
            gimli::DW_LANG_Mips_Assembler => Language::Assembler,
            _ => Language::Other,
        }
    }
}
