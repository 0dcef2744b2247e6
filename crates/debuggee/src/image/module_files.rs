//! The files that the modules are mapped from.
//!
//! A path is not the file: it may have been replaced since, and the process may have another root
//! or other mounts. What is mapped is known by device and inode (proc_pid_maps(5)); file systems
//! that report other numbers there than to stat(2) are known by the build id, or by the bytes of
//! the code. A file that has lost its name is opened by way of `/proc/PID/map_files`, which the
//! kernel allows to privileged users.
//!
//! **Invariant**: a file is returned only if it is the one that is mapped.

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use juror_corefile::identity;

use crate::debuggee::Debuggee;
use crate::image::modules::Module;
use crate::kernel::mapping::{Mapping, mappings};
use crate::memory::core_file;

/// The largest code that is compared byte by byte, in bytes.
const CODE_LENGTH_MAX: u64 = 64 << 20;
/// The number of bytes that are compared at once.
const PIECE_LENGTH: usize = 1 << 16;

/// A module, and the file that it is mapped from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleFile {
    /// The module.
    pub module: Module,
    /// The device and the inode of what is mapped; nothing if they are not known.
    pub mapped: Option<(String, u64)>,
    /// Where the file can be opened; or why it cannot, as a sentence.
    pub opened: Result<PathBuf, String>,
}

impl Debuggee {
    /// Returns the modules that have files.
    pub fn module_files(&self) -> Vec<ModuleFile> {
        // The files of a core file have been compared when it was opened.
        let maps = self.core.is_none().then(|| self.memory_map()).flatten();
        let maps: Vec<Mapping<'_>> = mappings(maps.as_deref().unwrap_or_default())
            .filter(|mapping| mapping.inode != 0)
            .collect();
        let files = self.modules().iter().filter(|module| !module.in_memory);
        files
            .map(|module| self.module_file(module, &maps))
            .collect()
    }

    fn module_file(&self, module: &Module, maps: &[Mapping<'_>]) -> ModuleFile {
        let address = match module.is_main {
            true => self.image.auxiliary.program_headers,
            false => module.dynamic_address.max(module.bias),
        };
        let after = maps.partition_point(|mapping| mapping.range.end <= address);
        let mapping = maps.get(after);
        let mapping = mapping.filter(|mapping| mapping.range.contains(&address));
        let opened = match mapping {
            // A process that is gone has no mappings, and nobody can say more of what was copied.
            None => Ok(module.path.clone()),
            Some(_) if module.is_main && self.is_of_program(&module.path) => {
                Ok(module.path.clone())
            }
            Some(_) if module.is_main => Ok(self.file_of("exe")),
            Some(mapping) => self.mapped_file(module, mapping, maps),
        };
        ModuleFile {
            module: module.clone(),
            mapped: mapping.map(|mapping| (mapping.device.to_owned(), mapping.inode)),
            opened,
        }
    }

    /// Returns whether a path leads to the program's file.
    fn is_of_program(&self, path: &Path) -> bool {
        let run = std::fs::metadata(self.file_of("exe"));
        // Without a link there is nothing to compare.
        run.map_or(true, |run| {
            let named = std::fs::metadata(path);
            named.is_ok_and(|named| (named.dev(), named.ino()) == (run.dev(), run.ino()))
        })
    }

    /// Returns where the file of a mapping can be opened.
    fn mapped_file(
        &self,
        module: &Module,
        mapping: &Mapping<'_>,
        maps: &[Mapping<'_>],
    ) -> Result<PathBuf, String> {
        let root = self.file_of("root");
        let inside = |path: &Path| {
            let below = path.strip_prefix("/").ok()?;
            Some(root.join(below))
        };
        let named = Path::new(mapping.path());
        // The directory belongs to processes; a thread has one under its own number.
        let thread = self.living_thread();
        let range = &mapping.range;
        let linked = format!("/proc/{thread}/map_files/{:x}-{:x}", range.start, range.end);
        let linked = PathBuf::from(linked);
        let own = module.path.is_absolute().then(|| module.path.clone());
        // The path of the module first: it is the one that the user knows.
        let places = [
            own.clone(),
            Some(named.to_owned()),
            inside(named),
            own.as_deref().and_then(inside),
        ];
        let files: Vec<(PathBuf, Metadata)> = places
            .into_iter()
            .flatten()
            .filter_map(|path| {
                let data = std::fs::metadata(&path).ok()?;
                data.is_file().then_some((path, data))
            })
            .collect();
        let mut same = files.iter();
        let same = same.find(|(_, data)| mapping.is_of_file(data.dev(), data.ino()));
        if let Some((path, _)) = same {
            return Ok(path.clone());
        }
        if File::open(&linked).is_ok() {
            return Ok(linked);
        }
        let start = module_start(mapping, maps);
        let mut files = files.iter();
        let equal = files.find(|(path, _)| self.has_contents_of(path, start, mapping, maps));
        equal.map(|(path, _)| path.clone()).ok_or_else(|| {
            let path = module.path.display();
            let what = match mapping.is_deleted() {
                true => "was replaced or deleted after the program had loaded it",
                false => "is another file for the program than for juror",
            };
            format!(
                "{path} {what}: its symbols are not used, and nothing is set in it; what is mapped \
                 can be read as root"
            )
        })
    }

    /// Returns whether a file has the build id that is mapped, or, if neither has one, the code.
    fn has_contents_of(
        &self,
        path: &Path,
        start: Option<u64>,
        mapping: &Mapping<'_>,
        maps: &[Mapping<'_>],
    ) -> bool {
        let Ok(file) = File::open(path) else {
            return false;
        };
        let read = |offset: u64, bytes: &mut [u8]| core_file::read(&file, offset, bytes);
        let stored = |at: u64, bytes: &mut [u8]| self.memory.read_up_to(at, bytes);
        let own = identity(&read, 0).and_then(|own| own.build_id);
        let wanted = start.and_then(|start| identity(&stored, start)?.build_id);
        match (own, wanted) {
            (Some(own), Some(wanted)) if !own.is_empty() || !wanted.is_empty() => own == wanted,
            _ => {
                let of_file = maps.iter().filter(|it| is_of_same_file(it, mapping));
                let mut code = of_file.filter(|it| it.is_executable()).peekable();
                code.peek().is_some() && code.all(|code| self.is_same_code(&file, code))
            }
        }
    }

    fn is_same_code(&self, file: &File, code: &Mapping<'_>) -> bool {
        let length = code.range.end - code.range.start;
        let mut done = 0;
        let mut own = vec![0; PIECE_LENGTH];
        let mut mapped = vec![0; PIECE_LENGTH];
        while done < length {
            let wanted = (length - done).min(PIECE_LENGTH as u64) as usize;
            let (own, mapped) = (&mut own[..wanted], &mut mapped[..wanted]);
            let count = core_file::read(file, code.offset.saturating_add(done), own);
            let present = self.memory.read_up_to(code.range.start + done, mapped);
            // The last page goes on behind the end of the file.
            if present < count || own[..count] != mapped[..count] {
                return false;
            }
            if count < wanted {
                break;
            }
            done += wanted as u64;
        }
        (1..=CODE_LENGTH_MAX).contains(&length)
    }
}

/// Returns the address of the first byte of a mapped file.
fn module_start(mapping: &Mapping<'_>, maps: &[Mapping<'_>]) -> Option<u64> {
    let before = maps.iter().filter(|it| {
        it.offset == 0 && it.range.start <= mapping.range.start && is_of_same_file(it, mapping)
    });
    before.map(|it| it.range.start).next_back()
}

fn is_of_same_file(one: &Mapping<'_>, other: &Mapping<'_>) -> bool {
    (one.device, one.inode) == (other.device, other.inode)
}
