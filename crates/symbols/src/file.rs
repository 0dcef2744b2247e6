//! One program or library on disk, read on demand.

use crate::SymbolError;
use crate::dwarf::DebugInfo;
use crate::elf::{ElfFile, Header, PltEntry, SymbolTable};
use crate::function::FunctionIndex;
use crate::unwind::FrameRules;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A program or shared library: its names, lines, types and unwind rules.
///
/// Cheap to clone; clones share what has been read.
#[derive(Debug, Clone)]
pub struct SymbolFile {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub elf: ElfFile,
    debug_file: OnceLock<Option<ElfFile>>,
    symbols: OnceLock<SymbolTable>,
    plt: OnceLock<Vec<PltEntry>>,
    debug_info: OnceLock<Option<Arc<DebugInfo>>>,
    functions: OnceLock<FunctionIndex>,
    frame_rules: OnceLock<FrameRules>,
}

impl SymbolFile {
    /// Opens a file and reads its headers.
    ///
    /// # Errors
    /// The file does not exist, cannot be read, or is not a complete 64-bit
    /// x86-64 program or shared library.
    pub fn open(path: impl AsRef<Path>) -> Result<SymbolFile, SymbolError> {
        let elf = ElfFile::open(path.as_ref())?;
        Ok(SymbolFile {
            inner: Arc::new(Inner {
                elf,
                debug_file: OnceLock::new(),
                symbols: OnceLock::new(),
                plt: OnceLock::new(),
                debug_info: OnceLock::new(),
                functions: OnceLock::new(),
                frame_rules: OnceLock::new(),
            }),
        })
    }

    /// The path that it was opened by.
    pub fn path(&self) -> &Path {
        &self.inner.elf.path
    }

    /// What the headers say.
    pub fn header(&self) -> &Header {
        &self.inner.elf.header
    }

    /// Whether DWARF was found, in the file or in a separate debug file.
    pub fn has_debug_info(&self) -> bool {
        self.header().has_debug_info
            || self
                .inner
                .debug_file()
                .is_some_and(|f| f.header.has_debug_info)
    }

    /// Whether nothing but the names that it exports is known: neither the
    /// file nor a separate debug file tells more.
    pub fn is_stripped(&self) -> bool {
        !self.header().has_symbol_table && self.inner.debug_file().is_none()
    }

    /// The separate debug file in use.
    pub fn debug_file_path(&self) -> Option<&Path> {
        self.inner.debug_file().map(|file| file.path.as_path())
    }

    /// The original bytes of the file at a file address; shorter where the
    /// segment ends, `None` outside.
    pub fn bytes_at(&self, address: u64, size: u64) -> Option<Vec<u8>> {
        self.inner.elf.bytes_at(address, size)
    }
}

impl Inner {
    pub fn symbols(&self) -> &SymbolTable {
        self.symbols
            .get_or_init(|| SymbolTable::load(&self.elf, self.debug_file()))
    }

    pub fn plt(&self) -> &[PltEntry] {
        self.plt.get_or_init(|| {
            self.elf.plt_entries(&|address| {
                let symbols = self.symbols();
                symbols
                    .preferred_at(address)
                    .map(|symbol| symbols.text(symbol).to_owned())
            })
        })
    }

    pub fn debug_info(&self) -> Option<&Arc<DebugInfo>> {
        self.debug_info
            .get_or_init(|| {
                if self.elf.header.has_debug_info {
                    return Some(Arc::new(DebugInfo::load(&self.elf, &self.elf)));
                }
                let file = self
                    .debug_file()
                    .filter(|file| file.header.has_debug_info)?;
                Some(Arc::new(DebugInfo::load(file, &self.elf)))
            })
            .as_ref()
    }

    pub fn functions(&self) -> &FunctionIndex {
        self.functions.get_or_init(|| FunctionIndex::build(self))
    }

    pub fn frame_rules(&self) -> &FrameRules {
        self.frame_rules
            .get_or_init(|| FrameRules::load(&self.elf, self.debug_file()))
    }

    /// The separate debug file, where distributions put them.
    pub fn debug_file(&self) -> Option<&ElfFile> {
        self.debug_file
            .get_or_init(|| {
                if self.elf.header.has_debug_info {
                    return None;
                }
                self.debug_file_candidates().into_iter().find_map(|path| {
                    let file = ElfFile::open(&path).ok()?;
                    let same = match (&file.header.build_id, &self.elf.header.build_id) {
                        (Some(debug), Some(program)) => debug == program,
                        // Without an identity on both sides the name decides.
                        _ => true,
                    };
                    same.then_some(file)
                })
            })
            .as_ref()
    }

    fn debug_file_candidates(&self) -> Vec<PathBuf> {
        let mut candidates = Vec::new();
        let root = Path::new("/usr/lib/debug");
        if let Some((first, rest)) = self
            .elf
            .header
            .build_id
            .as_deref()
            .and_then(<[u8]>::split_first)
        {
            let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
            candidates.push(
                root.join(".build-id")
                    .join(format!("{first:02x}"))
                    .join(format!("{rest}.debug")),
            );
        }
        let link = self.elf.section_data(".gnu_debuglink");
        let Some(name) = crate::elf::debug_link(&link) else {
            return candidates;
        };
        let directory = self.elf.path.canonicalize().ok();
        let Some(directory) = directory.as_deref().and_then(Path::parent) else {
            return candidates;
        };
        // The name is a file name; a path in it could lead anywhere.
        if name.contains('/') {
            return candidates;
        }
        candidates.push(directory.join(name));
        candidates.push(directory.join(".debug").join(name));
        candidates.push(
            root.join(directory.strip_prefix("/").unwrap_or(directory))
                .join(name),
        );
        candidates.retain(|candidate| candidate != &self.elf.path);
        candidates
    }
}
