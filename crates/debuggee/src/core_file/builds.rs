//! Whether the files on disk are those that the process had mapped.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use juror_corefile::{CoreFile, Identity, identity};

use crate::memory::core_file::{self, CoreMemory, SameFile};

/// What is known of a file that was mapped, as the file on disk compares.
#[derive(Debug)]
pub(super) enum Build {
    /// It is the same build.
    Same {
        file: Arc<File>,
        unchanged: Arc<[Range<u64>]>,
    },
    /// Both have a build id, or one of them, and they differ.
    Differs { own: Vec<u8>, wanted: Vec<u8> },
    /// Neither has a build id, or the core file left its place out; the headers do not differ.
    Unknown,
    /// Neither has a build id, and the headers differ.
    OtherHeaders,
    /// It cannot be opened.
    Missing(io::Error),
    /// It is no ELF file.
    NoElf,
}

/// The mapped ELF files.
#[derive(Debug, Default)]
pub(super) struct Builds {
    by_path: BTreeMap<Vec<u8>, Build>,
}

impl Builds {
    /// Compares every mapped ELF file. `program` stands for the file of `main`
    /// in the process.
    pub(super) fn compare(
        core: &CoreFile,
        memory: &CoreMemory,
        main: &[u8],
        program: &Path,
    ) -> Builds {
        let mut builds = Builds::default();
        for mapped in core.files.iter().filter(|mapped| mapped.offset == 0) {
            if builds.by_path.contains_key(&mapped.path) {
                continue;
            }
            let path = if mapped.path == main {
                program.to_owned()
            } else {
                PathBuf::from(std::ffi::OsStr::from_bytes(&mapped.path))
            };
            let stored = |at: u64, bytes: &mut [u8]| memory.read_stored(at, bytes);
            let wanted = identity(&stored, mapped.range.start);
            let build = compare(&path, wanted);
            builds.by_path.insert(mapped.path.clone(), build);
        }
        builds
    }

    pub(super) fn of(&self, path: &[u8]) -> Option<&Build> {
        self.by_path.get(path)
    }

    /// Lets the memory be read from the files that are the same.
    pub(super) fn allow(&self, core: &CoreFile, memory: &mut CoreMemory) {
        for mapped in &core.files {
            if let Some(Build::Same { file, unchanged }) = self.of(&mapped.path) {
                memory.add(SameFile {
                    range: mapped.range.clone(),
                    offset: mapped.offset,
                    file: Arc::clone(file),
                    unchanged: Arc::clone(unchanged),
                });
            }
        }
    }
}

/// Compares a file with the identity that memory has of it.
pub(super) fn compare(path: &Path, wanted: Option<Identity>) -> Build {
    let file = match open(path) {
        Ok(file) => file,
        Err(error) => return Build::Missing(error),
    };
    let read = |offset: u64, bytes: &mut [u8]| core_file::read(&file, offset, bytes);
    let Some(own) = identity(&read, 0) else {
        return Build::NoElf;
    };
    let is_other = wanted.as_ref().is_some_and(|wanted| {
        (&wanted.unchanged, wanted.first_address) != (&own.unchanged, own.first_address)
    });
    let unknown = match is_other {
        true => Build::OtherHeaders,
        false => Build::Unknown,
    };
    let wanted = wanted.and_then(|wanted| wanted.build_id);
    let (Some(own_id), Some(wanted)) = (own.build_id, wanted) else {
        return unknown;
    };
    match (&*own_id, &*wanted) {
        ([], []) => unknown,
        (own, wanted) if own != wanted => Build::Differs {
            own: own.to_vec(),
            wanted: wanted.to_vec(),
        },
        _ => Build::Same {
            unchanged: own.unchanged.into(),
            file: Arc::new(file),
        },
    }
}

/// Opens a regular file: opening a device or a pipe may have an effect.
fn open(path: &Path) -> io::Result<File> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    File::open(path)
}

/// Returns a build id in hexadecimal digits.
pub(super) fn digits(id: &[u8]) -> String {
    match id {
        [] => "none".to_owned(),
        id => id.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}
