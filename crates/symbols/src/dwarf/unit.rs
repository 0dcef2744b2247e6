//! A compilation unit and its root DIE.
//!
//! **Invariant:** parsing a unit reads neither its line-number program nor its file list:
//! most uses need no lines, and a damaged line table hides no entries.
//!
//! Source: DWARF 5, section 3.1.1.

use super::texts::TextSource;
use super::{Reader, SectionSource, Value};
use crate::inline::CallLine;
use crate::line::LineTable;
use gimli::AttributeValue;
use std::sync::{Arc, OnceLock};

/// The source language, as far as it affects the reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    C,
    Cpp,
    Rust,
    /// Go: the stacks of functions move, and calls follow no convention of C.
    Go,
    /// Assembly: functions without types, parameters or results.
    Assembler,
    Other,
}

/// A parsed unit with its cached data.
#[derive(Debug)]
pub(crate) struct Unit {
    pub unit: gimli::Unit<Reader>,
    pub language: Language,
    /// Whether it is a partial unit, shared by several units, which may not state the
    /// language.
    pub is_partial: bool,
    /// Whether it was compiled by gcc with optimization: its line table then marks no end
    /// of the prologue, and its locations are valid from the entry on.
    pub optimized_by_gcc: bool,
    /// Whether it was compiled by an LLVM compiler (clang, rustc).
    pub by_llvm: bool,
    /// Whether it names the compiler that made it, as those of all compilers do.
    pub names_producer: bool,
    /// The lower bound of arrays whose debug information states none.
    pub array_base: i64,
    /// Whether it was compiled by a compiler of Go that returns results in registers.
    pub is_go_by_registers: bool,
    /// Whether arrays are stored by columns.
    pub is_by_columns: bool,
    /// Whether some variable of it is in a register: unoptimized code of LLVM keeps all in memory.
    pub has_registers: OnceLock<bool>,
    pub lines: OnceLock<LineTable>,
    /// The positions of the inlined calls.
    pub call_lines: OnceLock<Box<[CallLine]>>,
}

impl Unit {
    pub fn new(source: &SectionSource, unit: gimli::Unit<Reader>) -> Unit {
        let root = unit.entry(unit.header.root_offset()).ok();
        let value = |name| root.as_ref().and_then(|root| root.attr_value(name));
        let stated = match value(gimli::DW_AT_language) {
            Some(AttributeValue::Language(language)) => Some(language),
            _ => None,
        };
        let language = stated.map_or(Language::Other, Language::from_dwarf);
        let producer = value(gimli::DW_AT_producer)
            .and_then(|value: Value| source.text(&unit, value))
            .map(|text| String::from_utf8_lossy(text.bytes()).into_owned())
            .unwrap_or_default();
        Unit {
            optimized_by_gcc: is_optimized_by_gcc(&producer),
            by_llvm: ["clang", "LLVM"].iter().any(|it| producer.contains(it)),
            names_producer: !producer.is_empty(),
            is_go_by_registers: producer.starts_with("Go ") && producer.contains("regabi"),
            array_base: stated.map_or(0, array_base),
            is_by_columns: stated.is_some_and(is_fortran),
            is_partial: root.as_ref().map(|root| root.tag()) == Some(gimli::DW_TAG_partial_unit),
            language,
            unit,
            has_registers: OnceLock::new(),
            lines: OnceLock::new(),
            call_lines: OnceLock::new(),
        }
    }
}

/// Parses a unit without its line-number program, which is at [`line_offset`].
pub(super) fn parse<R: gimli::Reader<Offset = usize>>(
    dwarf: &gimli::Dwarf<R>,
    texts: &impl TextSource<R>,
    header: gimli::UnitHeader<R>,
    abbreviations: Arc<gimli::Abbreviations>,
) -> gimli::Result<gimli::Unit<R>> {
    let (encoding, file_type) = (header.encoding(), dwarf.file_type);
    let dwo_id = match header.type_() {
        gimli::UnitType::Skeleton(id) | gimli::UnitType::SplitCompilation(id) => Some(id),
        _ => None,
    };
    let mut unit = gimli::Unit {
        header,
        abbreviations,
        name: None,
        comp_dir: None,
        low_pc: 0,
        str_offsets_base: gimli::DebugStrOffsetsBase::default_for_encoding_and_file(
            encoding, file_type,
        ),
        addr_base: gimli::DebugAddrBase(0),
        loclists_base: gimli::DebugLocListsBase::default_for_encoding_and_file(encoding, file_type),
        rnglists_base: gimli::DebugRngListsBase::default_for_encoding_and_file(encoding, file_type),
        line_program: None,
        dwo_id,
    };
    let root = unit.entry(unit.header.root_offset())?;
    // The bases come first; other attributes are relative to them.
    for attribute in root.attrs() {
        match (attribute.name(), attribute.value()) {
            (_, AttributeValue::DebugStrOffsetsBase(base)) => unit.str_offsets_base = base,
            (_, AttributeValue::DebugAddrBase(base)) => unit.addr_base = base,
            (_, AttributeValue::DebugLocListsBase(base)) => unit.loclists_base = base,
            (_, AttributeValue::DebugRngListsBase(base)) => unit.rnglists_base = base,
            (gimli::DW_AT_GNU_dwo_id, AttributeValue::DwoId(id)) => {
                unit.dwo_id = unit.dwo_id.or(Some(id));
            }
            _ => {}
        }
    }
    let text = |name| texts.text(&unit, root.attr_value(name)?);
    let (name, comp_dir) = (text(gimli::DW_AT_name), text(gimli::DW_AT_comp_dir));
    let low_pc = root.attr_value(gimli::DW_AT_low_pc);
    let low_pc = low_pc.map(|value| dwarf.attr_address(&unit, value));
    unit.low_pc = low_pc.transpose()?.flatten().unwrap_or(0);
    (unit.name, unit.comp_dir) = (name, comp_dir);
    Ok(unit)
}

/// Returns the offset of the line-number program of a unit, if any.
pub(super) fn line_offset<R: gimli::Reader<Offset = usize>>(
    unit: &gimli::Unit<R>,
) -> Option<usize> {
    let root = unit.entry(unit.header.root_offset()).ok()?;
    match root.attr_value(gimli::DW_AT_stmt_list)? {
        AttributeValue::DebugLineRef(offset) => Some(offset.0),
        _ => None,
    }
}

/// Returns the line-number program of a unit, given its bytes.
pub(super) fn line_program<R: gimli::Reader<Offset = usize>>(
    unit: &gimli::Unit<R>,
    part: R,
) -> Option<gimli::IncompleteLineProgram<R>> {
    let start = gimli::DebugLineOffset(0);
    let (directory, name) = (unit.comp_dir.clone(), unit.name.clone());
    gimli::DebugLine::from(part)
        .program(start, unit.header.address_size(), directory, name)
        .ok()
}

fn is_optimized_by_gcc(producer: &str) -> bool {
    let level = producer
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("-O"))
        .next_back();
    producer.starts_with("GNU ") && level.is_some_and(|level| level != "0")
}

/// Returns the lower bound of arrays whose debug information states none (DWARF 5, table 7.17).
fn array_base(language: gimli::DwLang) -> i64 {
    match language {
        gimli::DW_LANG_Ada2005 | gimli::DW_LANG_Ada2012 => 1,
        _ if is_fortran(language) => 1,
        _ => language.default_lower_bound().map_or(0, |base| base as i64),
    }
}

fn is_fortran(language: gimli::DwLang) -> bool {
    matches!(
        language,
        gimli::DW_LANG_Fortran77
            | gimli::DW_LANG_Fortran90
            | gimli::DW_LANG_Fortran95
            | gimli::DW_LANG_Fortran03
            | gimli::DW_LANG_Fortran08
            | gimli::DW_LANG_Fortran18
    )
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
            gimli::DW_LANG_Go => Language::Go,
            gimli::DW_LANG_Mips_Assembler => Language::Assembler,
            _ => Language::Other,
        }
    }
}
