//! Names of PLT stubs, through which a module calls other modules.
//!
//! Every stub, in any linker's layout (`.plt`, `.plt.sec`, `.plt.got`), ends with a jump
//! through one slot of the global offset table, and the relocation of that slot names the
//! function. So stubs are found by their jumps, not by their size.

use super::{ElfFile, Section, u32_at, u64_at};
use juror_arch::instruction::BRANCH_TARGET;
use rustc_hash::FxHashMap;

/// A PLT stub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PltEntry {
    pub address: u64,
    pub size: u64,
    /// The imported function, without `@plt`.
    pub name: Box<str>,
}

const STUB_SIZE: u64 = 16;

/// Returns all stubs of a file, by ascending address.
pub(crate) fn entries(
    elf: &ElfFile,
    name_of_function: &dyn Fn(u64) -> Option<String>,
) -> Vec<PltEntry> {
    let slots = slots(elf, name_of_function);
    if slots.is_empty() {
        return Vec::new();
    }
    let mut entries: Vec<PltEntry> = Vec::new();
    for section in elf.sections.iter().filter(|section| is_table(section)) {
        let Some(code) = elf.contents(section) else {
            continue;
        };
        let stub_size = if &*section.name == ".plt.got" && !code.starts_with(&BRANCH_TARGET) {
            8
        } else {
            STUB_SIZE
        };
        for (index, stub) in code.chunks_exact(stub_size as usize).enumerate() {
            let address = section.address.wrapping_add(index as u64 * stub_size);
            let Some(slot) = jump_slot(stub, address) else {
                continue;
            };
            if let Some(name) = slots.get(&slot) {
                entries.push(PltEntry {
                    address,
                    size: stub_size,
                    name: name.clone(),
                });
            }
        }
    }
    entries.sort_by_key(|entry| entry.address);
    entries.dedup_by_key(|entry| entry.address);
    entries
}

/// Returns whether a section holds stubs: `.plt`, `.plt.sec`, `.plt.got`, `.iplt`.
pub(crate) fn is_table(section: &Section) -> bool {
    section.executable && section.name.contains("plt")
}

/// Returns the slot that a stub jumps through (`jmp *offset(%rip)`).
fn jump_slot(stub: &[u8], address: u64) -> Option<u64> {
    let start = stub.windows(2).position(|bytes| bytes == [0xff, 0x25])?;
    // Only prefixes may precede it; the first entry of `.plt` pushes.
    let before = stub.get(..start)?;
    let prefixes = before.strip_prefix(&BRANCH_TARGET).unwrap_or(before);
    if !matches!(prefixes, [] | [0xf2]) {
        return None;
    }
    let offset = u32_at(stub, start + 2)? as i32;
    let next = address.wrapping_add(start as u64 + 6);
    Some(next.wrapping_add_signed(i64::from(offset)))
}

/// Returns the function of each slot of the global offset table.
fn slots(
    elf: &ElfFile,
    name_of_function: &dyn Fn(u64) -> Option<String>,
) -> FxHashMap<u64, Box<str>> {
    const R_X86_64_IRELATIVE: u32 = 37;
    let mut slots = FxHashMap::default();
    for section in elf.sections.iter().filter(|s| s.name.starts_with(".rela.")) {
        if !matches!(&*section.name, ".rela.plt" | ".rela.dyn" | ".rela.iplt") {
            continue;
        }
        let Some(relocations) = elf.contents(section) else {
            continue;
        };
        let symbols = elf.sections.get(section.link as usize);
        let symbol_data = symbols.and_then(|s| elf.contents(s)).unwrap_or_default();
        let strings = symbols
            .and_then(|s| elf.sections.get(s.link as usize))
            .and_then(|s| elf.contents(s))
            .unwrap_or_default();
        for entry in relocations.chunks_exact(24) {
            let (Some(slot), Some(info), Some(addend)) =
                (u64_at(entry, 0), u64_at(entry, 8), u64_at(entry, 16))
            else {
                continue;
            };
            let name = if info as u32 == R_X86_64_IRELATIVE {
                name_of_function(addend)
            } else {
                let at = ((info >> 32) as usize).saturating_mul(24);
                u32_at(&symbol_data, at)
                    .and_then(|offset| super::text_at(&strings, offset as usize))
                    .filter(|name| !name.is_empty())
                    .map(str::to_owned)
            };
            if let Some(name) = name {
                slots.insert(slot, name.into_boxed_str());
            }
        }
    }
    slots
}
