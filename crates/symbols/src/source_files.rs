//! The index of source files of a program: from the cache without any debug information, or
//! built.

use crate::dwarf::files::FileIndex;
use crate::dwarf::index::{CachedIndex, Identity};
use crate::elf::ElfFile;
use crate::file::Inner;
use std::sync::OnceLock;

/// The index of source files.
#[derive(Debug, Default)]
pub(crate) struct Files {
    kept: OnceLock<Kept>,
    built: OnceLock<Option<FileIndex>>,
}

/// The result of a search in the cache.
#[derive(Debug, Default)]
struct Kept {
    identity: Option<Identity>,
    index: Option<FileIndex>,
    /// A message about damage.
    damage: Option<String>,
}

impl Files {
    /// Returns the index; `None` without debug information.
    pub fn get(&self, of: &Inner) -> Option<&FileIndex> {
        // The supplementary file may have disappeared since the index was built.
        let is_usable = |index: &&FileIndex| {
            let units = of.loaded_debug_info().map(|info| info.unit_count());
            units.is_none_or(|count| index.unit_count() == Some(count))
        };
        if let Some(index) = self.kept(of).filter(is_usable) {
            return Some(index);
        }
        let build = || {
            let info = of.debug_info()?;
            let kept = self.kept.get();
            if let Some(damage) = kept.and_then(|kept| kept.damage.clone()) {
                info.warn(damage);
            }
            Some(info.built_files(kept.and_then(|kept| kept.identity.as_ref())))
        };
        self.built.get_or_init(build).as_ref()
    }

    /// Returns the index from the cache.
    pub fn kept(&self, of: &Inner) -> Option<&FileIndex> {
        let load = || {
            let mut found = Kept::default();
            let (Some(cache), Some(identity)) = (of.cache(), identity(of)) else {
                return found;
            };
            match identity.load(cache) {
                CachedIndex::Valid(index) => found.index = Some(*index),
                CachedIndex::Damaged(message) => found.damage = Some(message),
                CachedIndex::Absent => {}
            }
            found.identity = Some(identity);
            found
        };
        self.kept.get_or_init(load).index.as_ref()
    }
}

/// The length of the parts of a section that its checksum is of, in bytes.
const SAMPLE_LENGTH: u64 = 16 << 10;

/// Returns the identity of the index: the build id, and the sizes and parts of the sections with
/// debug information. A tool that rewrites them keeps the build id, and a user may choose one for
/// several programs.
fn identity(of: &Inner) -> Option<Identity> {
    let from = of.with_debug_info()?;
    Some(Identity {
        build_id: of.elf.header.build_id.clone()?,
        fingerprint: fingerprint(from),
        unit_count: 0,
    })
}

/// Returns a checksum of the names, sizes and parts of the sections with debug information, and of
/// the link to the file that has more of it.
fn fingerprint(from: &ElfFile) -> u64 {
    let mut text = String::new();
    let sections = from.sections.iter();
    for section in sections.filter(|section| section.name.starts_with(".debug_")) {
        let length = SAMPLE_LENGTH.min(section.size);
        let rest = section.size - length;
        let mut sum = crc32fast::Hasher::new();
        for start in [0, rest / 2, rest] {
            let part = section.file_offset.checked_add(start);
            let part = part.and_then(|start| from.read(start, length));
            sum.update(&part.unwrap_or_default());
        }
        let (name, size) = (&section.name, section.size);
        text.push_str(&format!("{name} {size} {}\n", sum.finalize()));
    }
    let link = from.section_data(".gnu_debugaltlink");
    let link = u64::from(crc32fast::hash(&link));
    (link << 32) | u64::from(crc32fast::hash(text.as_bytes()))
}
