//! Separate debug files: where they are searched for, and how a file is matched with its
//! program.
//!
//! A separate debug file is found by the program's build id below a debug directory
//! (`.build-id/ab/cdef.debug`), or by the file name in `.gnu_debuglink`, beside the
//! program, in its `.debug`, and below the debug directories. A file with another build id
//! or checksum is from another build and is not used.

use crate::elf::{ElfFile, text_at, u32_at};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The contents of `.gnu_debugaltlink`.
pub(crate) struct SupplementaryLink {
    path: PathBuf,
    build_id: Vec<u8>,
}

/// Reads `.gnu_debugaltlink`: the path and the build id of the supplementary file.
pub(crate) fn supplementary_link(data: &[u8]) -> Option<SupplementaryLink> {
    let path = text_at(data, 0).filter(|path| !path.is_empty())?;
    let build_id = data.get(path.len() + 1..)?.to_vec();
    Some(SupplementaryLink {
        path: path.into(),
        build_id,
    })
}

/// Opens the supplementary file that a file links to; the error lists the paths that were
/// tried.
pub(crate) fn find_supplementary(
    from: &ElfFile,
    link: &SupplementaryLink,
    directories: &[PathBuf],
) -> Result<ElfFile, String> {
    let mut looked_at = Vec::new();
    let own = from.path.canonicalize();
    if let Some(parent) = own.ok().as_deref().and_then(Path::parent) {
        looked_at.push(parent.join(&link.path));
    }
    for directory in directories {
        looked_at.extend(by_build_id(directory, &link.build_id));
    }
    let opened = looked_at.iter().find_map(|path| {
        let elf = ElfFile::open_any(path).ok()?;
        let same = elf.header.build_id.as_ref();
        let same = same.is_some_and(|id| *id == link.build_id);
        same.then(|| elf.with_cache(from.cache.clone()))
    });
    opened.ok_or_else(|| {
        format!(
            "{} shares debug information with other programs in a supplementary file, which is \
             missing or from another build ({})",
            from.path.display(),
            list_of(&looked_at)
        )
    })
}

/// Returns the path of a file below a debug directory by its build id.
fn by_build_id(directory: &Path, build_id: &[u8]) -> Option<PathBuf> {
    let (first, rest) = build_id.split_first()?;
    let rest: String = rest.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    let below = directory.join(".build-id").join(format!("{first:02x}"));
    Some(below.join(format!("{rest}.debug")))
}

/// The result of the search for a separate debug file.
#[derive(Debug, Default)]
pub(crate) struct Search {
    /// The paths that were tried, in order.
    pub looked_at: Vec<PathBuf>,
    /// Existing files from another build.
    pub of_another_build: Vec<PathBuf>,
    /// The matching file.
    pub found: Option<std::sync::Arc<ElfFile>>,
}

impl Search {
    /// Returns the message for the user if nothing was found; `None` if the program names
    /// no separate file.
    pub fn problem(&self, program: &ElfFile) -> Option<String> {
        let link = program.section_data(".gnu_debuglink");
        if self.found.is_some() || link_name(&link).is_none() {
            return None;
        }
        let program = program.path.display();
        Some(match self.of_another_build.as_slice() {
            [] => format!(
                "the debug information of {program} is in a separate file, which was not found ({})",
                list_of(&self.looked_at)
            ),
            others => format!(
                "the separate debug file of {program} is from another build and is not used ({})",
                list_of(others)
            ),
        })
    }
}

/// Searches for the separate debug file of a program.
pub(crate) fn search(program: &ElfFile, directories: &[PathBuf]) -> Search {
    let mut search = Search::default();
    let link = program.section_data(".gnu_debuglink");
    let checksum = link_checksum(&link);
    let build_id = program.header.build_id.as_deref();
    let by_id = directories.iter();
    let by_id = by_id.filter_map(|directory| by_build_id(directory, build_id?));
    search.looked_at.extend(by_id);
    // The link is a plain file name; a path in it could lead anywhere.
    let name = link_name(&link).filter(|name| !name.contains('/'));
    let own = program.path.canonicalize().ok();
    if let (Some(name), Some(parent)) = (name, own.as_deref().and_then(Path::parent)) {
        search.looked_at.push(parent.join(name));
        search.looked_at.push(parent.join(".debug").join(name));
        let below = parent.strip_prefix("/").unwrap_or(parent);
        let everywhere = directories.iter();
        let everywhere = everywhere.map(|directory| directory.join(below).join(name));
        search.looked_at.extend(everywhere);
    }
    search
        .looked_at
        .retain(|path| *path != program.path && Some(path) != own.as_ref());
    for path in &search.looked_at {
        let Ok(file) = ElfFile::open(path) else {
            continue;
        };
        let same = match (&file.header.build_id, build_id) {
            (Some(debug), Some(program)) => debug == program,
            // If one side has no build id, the checksum decides.
            _ => checksum.is_some_and(|wanted| file.checksum() == Some(wanted)),
        };
        if same {
            let file = file.with_cache(program.cache.clone());
            search.found = Some(std::sync::Arc::new(file));
            break;
        }
        search.of_another_build.push(path.clone());
    }
    search
}

/// Returns the file name in `.gnu_debuglink`.
fn link_name(data: &[u8]) -> Option<&str> {
    text_at(data, 0).filter(|name| !name.is_empty())
}

/// Returns the checksum after the name, at the next multiple of four.
fn link_checksum(data: &[u8]) -> Option<u32> {
    let name = link_name(data)?;
    u32_at(data, (name.len() + 1).next_multiple_of(4))
}

/// Formats a list of tried paths for a message.
pub(crate) fn list_of(paths: &[PathBuf]) -> String {
    if paths.is_empty() {
        return "no directory to search".to_owned();
    }
    let mut text = "tried ".to_owned();
    for (at, path) in paths.iter().enumerate() {
        let comma = if at == 0 { "" } else { ", " };
        let _ = write!(text, "{comma}{}", path.display());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read() {
        let link = b"program.debug\0\0\0\x78\x56\x34\x12";
        assert_eq!(link_name(link), Some("program.debug"));
        assert_eq!(link_checksum(link), Some(0x1234_5678));
        assert_eq!(link_checksum(b"program.debug\0\0\0"), None);
        assert_eq!(link_name(b""), None);
        let shared = supplementary_link(b"/x/y\0\x01\x02").unwrap();
        assert_eq!(shared.path, PathBuf::from("/x/y"));
        assert_eq!(shared.build_id, [1, 2]);
        assert!(supplementary_link(b"/x/y").is_none());
    }

    #[test]
    fn files_by_identity_have_their_place() {
        let found = by_build_id(Path::new("/d"), &[0xab, 0xcd, 0x01]);
        assert_eq!(found, Some(PathBuf::from("/d/.build-id/ab/cd01.debug")));
        assert_eq!(by_build_id(Path::new("/d"), &[]), None);
    }
}
