//! One program or library on disk, read on demand.

use crate::SymbolError;
use crate::dwarf::DebugInfo;
use crate::dwarf::names::Watch;
use crate::elf::{ElfFile, Header, PltEntry, SymbolTable};
use crate::function::FunctionIndex;
use crate::names;
use crate::separate::{self, Search};
use crate::settings::SymbolSettings;
use crate::unwind::FrameRules;
use std::path::Path;
use std::sync::atomic::AtomicBool;
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
    pub elf: Arc<ElfFile>,
    settings: Arc<SymbolSettings>,
    search: OnceLock<Search>,
    symbols: OnceLock<SymbolTable>,
    plt: OnceLock<Vec<PltEntry>>,
    debug_info: OnceLock<Option<Arc<DebugInfo>>>,
    functions: OnceLock<FunctionIndex>,
    frame_rules: OnceLock<FrameRules>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(Some(info)) = self.debug_info.get() {
            info.kinds.close();
        }
    }
}

impl SymbolFile {
    /// Opens a file and reads its headers.
    ///
    /// # Errors
    /// The file does not exist, cannot be read, or is not a complete 64-bit
    /// x86-64 program or shared library.
    pub fn open(path: impl AsRef<Path>) -> Result<SymbolFile, SymbolError> {
        SymbolFile::open_with(path, Arc::default())
    }

    /// The same, where a person has set something.
    ///
    /// # Errors
    /// As [`SymbolFile::open`].
    pub fn open_with(
        path: impl AsRef<Path>,
        settings: Arc<SymbolSettings>,
    ) -> Result<SymbolFile, SymbolError> {
        Ok(SymbolFile::of(ElfFile::open(path.as_ref())?, settings))
    }

    /// One whose bytes are in memory, as those of the kernel's vDSO; what stands for its
    /// path is a name.
    ///
    /// # Errors
    /// The bytes are no complete 64-bit x86-64 library.
    pub fn in_memory(
        name: impl AsRef<Path>,
        bytes: Arc<[u8]>,
        settings: Arc<SymbolSettings>,
    ) -> Result<SymbolFile, SymbolError> {
        let elf = ElfFile::in_memory(name.as_ref(), bytes)?;
        Ok(SymbolFile::of(elf, settings))
    }

    fn of(elf: ElfFile, settings: Arc<SymbolSettings>) -> SymbolFile {
        SymbolFile {
            inner: Arc::new(Inner {
                elf: Arc::new(elf),
                settings,
                search: OnceLock::new(),
                symbols: OnceLock::new(),
                plt: OnceLock::new(),
                debug_info: OnceLock::new(),
                functions: OnceLock::new(),
                frame_rules: OnceLock::new(),
            }),
        }
    }

    /// Whether both share what has been read.
    pub fn is_same(&self, other: &SymbolFile) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
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

    /// Makes the index of names, unless it is there: all names are listed by it.
    /// `progress` is told how much is done, and of how much; setting `cancel` gives
    /// it up. False when it was given up.
    pub fn prepare_names(&self, cancel: &AtomicBool, progress: &mut dyn FnMut(u64, u64)) -> bool {
        let watch = &mut Watch { cancel, progress };
        let info = self.inner.debug_info();
        info.is_none_or(|info| info.prepare_names(watch))
    }

    /// Looks for one name, and makes the index only where it is not found without;
    /// otherwise as [`SymbolFile::prepare_names`]. Without a name it is any: the
    /// index is made where nothing at all is found without.
    pub fn prepare_name(
        &self,
        name: Option<&str>,
        cancel: &AtomicBool,
        progress: &mut dyn FnMut(u64, u64),
    ) -> bool {
        let watch = &mut Watch { cancel, progress };
        let info = self.inner.debug_info();
        info.is_none_or(|info| {
            let is_ready = match name {
                Some(name) => info.finds_function(names::without_parameters(name)),
                None => info.finds_any(),
            };
            is_ready || info.prepare_names(watch)
        })
    }

    /// Debug information that belongs to the file and is not there, in words,
    /// with where it was looked for. Reads the lists of what there is.
    pub fn problems(&self) -> Vec<String> {
        let separate = self.inner.search().problem(&self.inner.elf);
        let info = self.inner.debug_info();
        let split = info.iter().flat_map(|info| info.problems.iter().cloned());
        separate.into_iter().chain(split).collect()
    }

    /// What was found damaged and has been put right, in words; each once.
    pub fn take_remarks(&self) -> Vec<String> {
        let info = self.inner.debug_info.get().and_then(Option::as_ref);
        info.map_or_else(Vec::new, |info| info.take_remarks())
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
            .get_or_init(|| SymbolTable::load(&self.elf, self.debug_file().map(|file| &**file)))
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
                    return Some(Arc::new(DebugInfo::load(
                        &self.elf,
                        &self.elf,
                        &self.settings,
                    )));
                }
                let file = self
                    .debug_file()
                    .filter(|file| file.header.has_debug_info)?;
                Some(Arc::new(DebugInfo::load(file, &self.elf, &self.settings)))
            })
            .as_ref()
    }

    pub fn functions(&self) -> &FunctionIndex {
        self.functions.get_or_init(|| FunctionIndex::build(self))
    }

    pub fn frame_rules(&self) -> &FrameRules {
        self.frame_rules
            .get_or_init(|| FrameRules::load(&self.elf, self.debug_file().map(|file| &**file)))
    }

    /// What came of the search for a separate debug file.
    fn search(&self) -> &Search {
        self.search.get_or_init(|| {
            if self.elf.header.has_debug_info {
                return Search::default();
            }
            separate::search(&self.elf, &self.settings.debug_file_directories)
        })
    }

    /// The separate debug file, where distributions put them.
    pub fn debug_file(&self) -> Option<&Arc<ElfFile>> {
        self.search().found.as_ref()
    }
}
