//! Debug information outside of the program's file: split units in `.dwo` files or a `.dwp`
//! package (`-gsplit-dwarf`), and the supplementary file into which `dwz` moves what
//! several programs share.
//!
//! A missing file hides only its own contents, and is reported with the paths that were
//! tried.

use super::entries::{EntrySection, Header, UnitKind};
use super::source::{SectionSource, load_all, reader};
use super::texts::TextSource as _;
use super::{DebugInfo, Reader};
use crate::elf::ElfFile;
use crate::separate;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Copies the attributes that only the skeleton unit has.
pub(super) fn complete(unit: &mut gimli::Unit<Reader>, skeleton: &gimli::Unit<Reader>) {
    unit.copy_relocated_attributes(skeleton);
    if unit.comp_dir.is_none() {
        unit.comp_dir.clone_from(&skeleton.comp_dir);
    }
}

/// A split unit: its sections, its header, and the type units beside it.
struct SplitUnit {
    source: SectionSource,
    header: Header,
    others: Vec<Header>,
}

impl DebugInfo {
    /// Loads the supplementary file that `.gnu_debugaltlink` names.
    pub(super) fn add_supplementary(&mut self, from: &ElfFile, directories: &[PathBuf]) {
        let link = from.section_data(".gnu_debugaltlink");
        let Some(link) = separate::supplementary_link(&link) else {
            return;
        };
        let found = separate::find_supplementary(from, &link, directories);
        let elf = match found {
            Ok(elf) => elf,
            Err(problem) => return self.problems.push(problem),
        };
        let shared = Arc::new(load_all(&elf, |id| id.name().to_owned()));
        let Some(own) = self.sources.first_mut() else {
            return;
        };
        own.set_supplement(1, Arc::clone(&shared));
        self.sources.push(SectionSource::complete(shared));
        self.list_units(1);
    }

    /// Replaces skeleton units by their split units.
    pub(super) fn add_split(&mut self, from: &ElfFile, program: &ElfFile) {
        let skeletons = self.skeletons();
        if skeletons.is_empty() {
            return;
        }
        let package = Package::beside(&[program.path.as_path(), from.path.as_path()]);
        for (number, skeleton, id) in skeletons {
            let Some(parent) = self.sources.first() else {
                return;
            };
            let packed = package.as_ref().and_then(|it| it.unit(id, parent.dwarf()));
            let found = match packed {
                Some(packed) => Ok(packed),
                None => split_file(&skeleton, id, parent, &program.path),
            };
            match found {
                Ok(split) => self.replace_skeleton(number, skeleton, split),
                Err(problem) => self.problems.push(problem),
            }
        }
    }

    /// Returns the skeleton units and the ids of their split units.
    fn skeletons(&self) -> Vec<(u32, gimli::Unit<Reader>, gimli::DwoId)> {
        let mut found = Vec::new();
        let Some(source) = self.sources.first() else {
            return found;
        };
        // The older form is distinguished only by an attribute of the unit, but always
        // comes with this section.
        let has_addresses = source.has_section(gimli::SectionId::DebugAddr);
        for (number, slot) in self.slots.iter().enumerate() {
            let is_candidate = match slot.header.kind {
                UnitKind::Skeleton => true,
                UnitKind::Compilation => slot.header.version < 5 && has_addresses,
                _ => false,
            };
            if slot.source != 0 || !is_candidate {
                continue;
            }
            let Some(unit) = source.unit(&slot.header) else {
                continue;
            };
            if let (Some(id), Ok(Some(_))) = (unit.dwo_id, unit.dwo_name()) {
                found.push((number as u32, unit, id));
            }
        }
        found
    }

    fn replace_skeleton(&mut self, number: u32, skeleton: gimli::Unit<Reader>, split: SplitUnit) {
        let number_of_source = self.sources.len() as u32;
        let SplitUnit {
            mut source,
            header,
            others,
        } = split;
        source.supplementary = self.sources.first().and_then(|own| own.supplementary);
        self.sources.push(source);
        if let Some(slot) = self.slots.get_mut(number as usize) {
            if header.section == EntrySection::Info {
                self.by_offset
                    .push((number_of_source, header.offset, number));
            }
            slot.source = number_of_source;
            slot.header = header;
            slot.skeleton = Some(Box::new(skeleton));
        }
        for other in others {
            self.add_unit(number_of_source, other);
        }
    }
}

/// A `.dwp` file: the split units of a whole program.
struct Package(gimli::DwarfPackage<Reader>);

impl Package {
    /// Opens the package beside a program.
    fn beside(programs: &[&Path]) -> Option<Package> {
        programs.iter().find_map(|program| {
            let mut name = program.as_os_str().to_owned();
            name.push(".dwp");
            let elf = ElfFile::open_any(Path::new(&name)).ok()?;
            let section = |id: gimli::SectionId| -> Result<Reader, gimli::Error> {
                Ok(reader(elf.section_data(id.dwo_name().unwrap_or_default())))
            };
            let package = gimli::DwarfPackage::load(section, reader(Arc::from([]))).ok()?;
            Some(Package(package))
        })
    }

    fn unit(&self, id: gimli::DwoId, parent: &gimli::Dwarf<Reader>) -> Option<SplitUnit> {
        let dwarf = self.0.find_cu(id, parent).ok()??;
        choose(dwarf, id)
    }
}

/// Returns the unit with this id from the units of a file.
fn choose(dwarf: gimli::Dwarf<Reader>, id: gimli::DwoId) -> Option<SplitUnit> {
    let source = SectionSource::complete(Arc::new(dwarf));
    let mut headers = source.entries(EntrySection::Info).list(EntrySection::Info);
    headers.extend(
        source
            .entries(EntrySection::Types)
            .list(EntrySection::Types),
    );
    let identity = |header: &Header| match header.kind {
        UnitKind::SplitCompilation(id) => Some(id),
        UnitKind::Compilation => source.unit(header)?.dwo_id,
        _ => None,
    };
    let at = headers.iter().position(|it| identity(it) == Some(id))?;
    let header = headers.swap_remove(at);
    Some(SplitUnit {
        source,
        header,
        others: headers,
    })
}

/// Opens the `.dwo` file that a skeleton unit names.
fn split_file(
    skeleton: &gimli::Unit<Reader>,
    id: gimli::DwoId,
    parent: &SectionSource,
    program: &Path,
) -> Result<SplitUnit, String> {
    let text = |reader: &Reader| String::from_utf8_lossy(reader.bytes()).into_owned();
    let name = skeleton.dwo_name().ok().flatten();
    let name = name.and_then(|name| parent.text(skeleton, name));
    let name = PathBuf::from(name.as_ref().map(text).unwrap_or_default());
    let mut looked_at = Vec::new();
    let compiled_in = skeleton.comp_dir.as_ref().map(text).map(PathBuf::from);
    if let Some(compiled_in) = compiled_in {
        looked_at.push(compiled_in.join(&name));
    }
    if let Some(beside) = program.parent() {
        looked_at.push(beside.join(&name));
        looked_at.extend(name.file_name().map(|file| beside.join(file)));
    }
    looked_at.dedup();
    let mut is_another_build = false;
    for path in &looked_at {
        let Ok(elf) = ElfFile::open_any(path) else {
            continue;
        };
        let section_name = |id: gimli::SectionId| id.dwo_name().unwrap_or_default().to_owned();
        let mut dwarf = load_all(&elf, section_name);
        dwarf.make_dwo(parent.dwarf());
        match choose(dwarf, id) {
            Some(found) => return Ok(found),
            None => is_another_build = true,
        }
    }
    let of = skeleton.name.as_ref().map(text).unwrap_or_default();
    let why = if is_another_build {
        "the file is from another build"
    } else {
        "no such file"
    };
    Err(format!(
        "the split debug information of {of} is missing: {why} ({})",
        separate::list_of(&looked_at)
    ))
}
