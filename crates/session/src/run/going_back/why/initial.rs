//! Memory that has not been written since the start of the run.

use super::naming::raw_value;
use super::search::Wanted;
use juror_debuggee::mappings;
use juror_program::program::Program;
use juror_view::OriginKind;
use std::ops::Range;

/// The contents at the start.
pub(super) struct Initial {
    pub kind: OriginKind,
    pub value: Option<String>,
    pub remark: String,
}

/// Returns what memory was from the start, or from where it was mapped.
pub(super) fn initial(program: &Program, wanted: &Wanted) -> Initial {
    let (kind, remark) = kind_of(program, &wanted.range);
    Initial {
        kind,
        value: raw_value(program, &wanted.range),
        remark,
    }
}

fn kind_of(program: &Program, range: &Range<u64>) -> (OriginKind, String) {
    if let Some(remark) = argument(program, range) {
        return (OriginKind::Argument, remark);
    }
    let address = range.start;
    if let Some(module) = program.modules.find(address) {
        let is_in = |name: &&&str| {
            let section = module.symbols.section_range(name);
            section.is_some_and(|it| it.contains(&module.to_file(address)))
        };
        let sections = [
            ".bss",
            ".data",
            ".rodata",
            ".data.rel.ro",
            ".tbss",
            ".tdata",
            ".got",
        ];
        let section = sections.iter().find(is_in);
        let of = section.map_or_else(String::new, |it| format!(" ({it})"));
        return (
            OriginKind::Initial,
            format!("initial data of {}{of}", module.name()),
        );
    }
    let maps = program.debuggee.memory_map().unwrap_or_default();
    let mapping = mappings(&maps).find(|it| it.range.contains(&address));
    match mapping {
        None => (
            OriginKind::Unknown,
            format!("memory at {address:#x}, which is not mapped there"),
        ),
        Some(mapping) if mapping.name.starts_with('/') => {
            let offset = address - mapping.range.start + mapping.offset;
            let words = format!("mapped from {} at byte {offset}", mapping.name);
            (OriginKind::Initial, words)
        }
        Some(mapping) if mapping.name == "[stack]" => (
            OriginKind::Unknown,
            "the stack as it was at the start of the run".to_owned(),
        ),
        Some(_) => (
            OriginKind::Initial,
            "memory as it was mapped, never written".to_owned(),
        ),
    }
}

/// Returns the argument or the variable of the environment that memory belongs to, in words.
fn argument(program: &Program, range: &Range<u64>) -> Option<String> {
    let (arguments, environment) = program.debuggee.argument_ranges()?;
    let read = |range: &Range<u64>| {
        let mut bytes = vec![0; usize::try_from(range.end - range.start).ok()?];
        program.debuggee.read(range.start, &mut bytes).ok()?;
        Some(bytes)
    };
    let index = |of: &Range<u64>, address| {
        let bytes = read(&(of.start..address))?;
        Some(bytes.iter().filter(|it| **it == 0).count())
    };
    if arguments.contains(&range.start) {
        return Some(format!(
            "argument {} of the program",
            index(&arguments, range.start)?
        ));
    }
    if environment.contains(&range.start) {
        let number = index(&environment, range.start)?;
        let all = read(&environment)?;
        let variable = all.split(|it| *it == 0).nth(number)?;
        let name = variable.split(|it| *it == b'=').next()?;
        return Some(format!(
            "the environment: {}",
            String::from_utf8_lossy(name)
        ));
    }
    // The vector of pointers to them.
    let is_word = range.end - range.start == 8;
    let pointer = is_word
        .then(|| program.debuggee.read_u64(range.start).ok())
        .flatten()?;
    let is_on_stack = range.start < arguments.start && arguments.start - range.start < 1 << 20;
    let is_argument = is_on_stack && arguments.contains(&pointer);
    is_argument.then(|| {
        let number = index(&arguments, pointer).unwrap_or_default();
        format!("the address of argument {number} of the program")
    })
}
