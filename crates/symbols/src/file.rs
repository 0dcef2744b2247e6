//! One program or shared library on disk, read on demand.

use crate::answers::Answers;
use crate::dwarf::DebugInfo;
use crate::dwarf::files::{FileIndex, FoundFile};
use crate::dwarf::names::Watch;
use crate::elf::{ElfFile, Header, LoneJumps, PltEntry, SymbolTable, read_lone_jumps, u64_at};
use crate::function::FunctionIndex;
use crate::names;
use crate::separate::{self, Search};
use crate::settings::{Cache, SymbolSettings};
use crate::source_files::Files;
use crate::unwind::FrameRules;
use crate::{Function, InlinedCopy, LineAddresses, SymbolError};
use std::ops::Range;
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
    /// The string tables of the symbols; `None` if they are large.
    strings: OnceLock<Option<Vec<Arc<[u8]>>>>,
    plt: OnceLock<Vec<PltEntry>>,
    debug_info: OnceLock<Option<Arc<DebugInfo>>>,
    files: Files,
    /// The paths that a written path means.
    pub meant_paths: Answers<Box<str>, Box<str>>,
    /// The addresses of lines; the key is the line and the file, `42 main.c`.
    pub found_lines: Answers<Box<str>, LineAddresses>,
    functions: OnceLock<FunctionIndex>,
    pub found_functions: Answers<Box<str>, Function>,
    pub found_copies: Answers<Box<str>, InlinedCopy>,
    lone_jumps: OnceLock<LoneJumps>,
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

    /// Opens a file like [`SymbolFile::open`], with settings of the user.
    ///
    /// # Errors
    /// As [`SymbolFile::open`].
    pub fn open_with(
        path: impl AsRef<Path>,
        settings: Arc<SymbolSettings>,
    ) -> Result<SymbolFile, SymbolError> {
        SymbolFile::open_at(path.as_ref(), path.as_ref(), settings)
    }

    /// Opens the file at `place` like [`SymbolFile::open_with`], under another path: a file that
    /// is mapped may have no name any more.
    ///
    /// # Errors
    /// As [`SymbolFile::open`].
    pub fn open_at(
        place: &Path,
        path: &Path,
        settings: Arc<SymbolSettings>,
    ) -> Result<SymbolFile, SymbolError> {
        let elf = ElfFile::open(place)?;
        Ok(SymbolFile::of(elf.named(path), settings))
    }

    /// Opens a file whose bytes are in memory, such as the kernel's vDSO. `name` replaces
    /// its path.
    ///
    /// # Errors
    /// The bytes are not a complete 64-bit x86-64 shared library.
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
                elf: Arc::new(elf.with_cache(settings.cache.clone())),
                settings,
                search: OnceLock::new(),
                symbols: OnceLock::new(),
                strings: OnceLock::new(),
                plt: OnceLock::new(),
                debug_info: OnceLock::new(),
                files: Files::default(),
                meant_paths: Answers::default(),
                found_lines: Answers::default(),
                functions: OnceLock::new(),
                found_functions: Answers::default(),
                found_copies: Answers::default(),
                lone_jumps: OnceLock::new(),
                frame_rules: OnceLock::new(),
            }),
        }
    }

    /// Returns whether both are clones that share what has been read.
    pub fn is_same(&self, other: &SymbolFile) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// Returns the path the file was opened with.
    pub fn path(&self) -> &Path {
        &self.inner.elf.path
    }

    /// Returns the ELF headers.
    pub fn header(&self) -> &Header {
        &self.inner.elf.header
    }

    /// Returns whether DWARF exists, in the file or in a separate debug file.
    pub fn has_debug_info(&self) -> bool {
        self.header().has_debug_info
            || self
                .inner
                .debug_file()
                .is_some_and(|f| f.header.has_debug_info)
    }

    /// Returns whether only the exported names are known: the file has no symbol table and
    /// no separate debug file exists.
    pub fn is_stripped(&self) -> bool {
        !self.header().has_symbol_table && self.inner.debug_file().is_none()
    }

    /// Returns the path of the separate debug file in use.
    pub fn debug_file_path(&self) -> Option<&Path> {
        self.inner.debug_file().map(|file| file.path.as_path())
    }

    /// Builds the index of all names if it does not exist. `progress` receives the work
    /// done and the total; setting `cancel` aborts. Returns false if aborted.
    pub fn prepare_names(&self, cancel: &AtomicBool, progress: &mut dyn FnMut(u64, u64)) -> bool {
        let watch = &mut Watch { cancel, progress };
        let info = self.inner.debug_info();
        info.is_none_or(|info| info.prepare_names(watch))
    }

    /// Searches for one name, and builds the index only if the name is not found without
    /// it; otherwise as [`SymbolFile::prepare_names`]. Without a name, builds the index
    /// only if no name at all can be searched. A session calls it before a command, so that
    /// progress can be shown and the work be cancelled.
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

    /// Returns a message for each missing piece of debug information that belongs to the
    /// file, with the paths that were searched. Reads the list of units.
    pub fn problems(&self) -> Vec<String> {
        let separate = self.inner.search().problem(&self.inner.elf);
        let info = self.inner.debug_info();
        let split = info.iter().flat_map(|info| info.problems.iter().cloned());
        separate.into_iter().chain(split).collect()
    }

    /// Returns the descriptions of damage that was found and repaired since the last call,
    /// without duplicates.
    pub fn take_warnings(&self) -> Vec<String> {
        let info = self.inner.debug_info.get().and_then(Option::as_ref);
        info.map_or_else(Vec::new, |info| info.take_warnings())
    }

    /// Returns whether a file address is in a procedure linkage table, whose stubs lead to
    /// functions of other modules.
    pub fn is_linkage_stub(&self, address: u64) -> bool {
        self.inner.elf.is_in_linkage_table(address)
    }

    /// Returns whether the dynamic linker writes to the text.
    pub fn has_text_relocations(&self) -> bool {
        const TEXTREL: u64 = 22;
        const FLAGS: u64 = 30;
        const FLAG_TEXTREL: u64 = 4;
        let dynamic = self.header().dynamic;
        let bytes = dynamic.and_then(|(address, size)| self.bytes_at(address, size));
        let bytes = bytes.unwrap_or_default();
        let mut entries = bytes
            .chunks_exact(16)
            .filter_map(|entry| Some((u64_at(entry, 0)?, u64_at(entry, 8)?)))
            .take_while(|(tag, _)| *tag != 0);
        entries.any(|(tag, value)| tag == TEXTREL || (tag == FLAGS && value & FLAG_TEXTREL != 0))
    }

    /// Returns the file addresses of the section with this name.
    pub fn section_range(&self, name: &str) -> Option<Range<u64>> {
        let section = self.inner.elf.section(name)?;
        Some(section.address..section.address.checked_add(section.size)?)
    }

    /// Returns whether the file still has the contents that its symbols were read from.
    pub fn is_unchanged(&self) -> bool {
        self.inner.elf.is_unchanged()
    }

    /// Returns whether the file, which was written to, has what was read of it before.
    pub fn is_as_read(&self) -> bool {
        self.inner.elf.is_as_read()
    }

    /// Notes that the file has the same contents as before, though it was written to.
    pub fn note_same(&self) {
        self.inner.elf.note_same();
    }

    /// Returns the original bytes of the file at a file address; fewer if the segment ends,
    /// `None` outside of segments.
    pub fn bytes_at(&self, address: u64, size: u64) -> Option<Vec<u8>> {
        self.inner.elf.bytes_at(address, size)
    }
}

impl Inner {
    pub fn symbols(&self) -> &SymbolTable {
        self.symbols
            .get_or_init(|| SymbolTable::load(&self.elf, self.debug_file().map(|file| &**file)))
    }

    /// Returns whether the name of a symbol may contain one of these parts. A program has a
    /// hundred libraries, and most names are in none of them: to look at the bytes costs less
    /// than to sort the symbols.
    pub fn may_have_symbol(&self, parts: &[&str]) -> bool {
        if self.symbols.get().is_some() {
            return true;
        }
        let strings = self.strings.get_or_init(|| {
            let debug = self.debug_file().map(|file| &**file);
            SymbolTable::strings(&self.elf, debug)
        });
        let Some(strings) = strings else {
            return true;
        };
        let is_in = |part: &&str| {
            let part = memchr::memmem::Finder::new(*part);
            strings.iter().any(|table| part.find(table).is_some())
        };
        parts.iter().any(is_in)
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
        let load = || {
            let from = self.with_debug_info()?;
            let info = DebugInfo::load(from, &self.elf, &self.settings);
            if let Some(files) = self.files.kept(self) {
                info.take_ranges(files);
            }
            Some(info.shared())
        };
        self.debug_info.get_or_init(load).as_ref()
    }

    /// Returns the file with the debug information: the program, or its separate debug file.
    pub fn with_debug_info(&self) -> Option<&Arc<ElfFile>> {
        if self.elf.header.has_debug_info {
            return Some(&self.elf);
        }
        let file = self.debug_file();
        file.filter(|file| file.header.has_debug_info)
    }

    /// Returns the index of source files, built on first use; `None` without debug information.
    pub fn files(&self) -> Option<&FileIndex> {
        self.files.get(self)
    }

    /// Returns the source files that are named by a path or the end of a path, with the debug
    /// information; `None` if there are none. Debug information without such a file is not read.
    pub fn files_named(&self, written: &str) -> Option<(&Arc<DebugInfo>, Vec<FoundFile<'_>>)> {
        let paths = self.paths_meant(written);
        if paths.is_empty() {
            return None;
        }
        let info = self.debug_info()?;
        // With the debug information, the index may turn out to be one of other units.
        Some((info, self.files()?.files_at(&paths)))
    }

    /// Returns the debug information if it was loaded.
    pub fn loaded_debug_info(&self) -> Option<&Arc<DebugInfo>> {
        self.debug_info.get()?.as_ref()
    }

    /// Returns the settings that it was opened with.
    pub fn settings(&self) -> &SymbolSettings {
        &self.settings
    }

    /// Returns the cache.
    pub fn cache(&self) -> Option<&Cache> {
        self.settings.cache.as_ref()
    }

    pub fn functions(&self) -> &FunctionIndex {
        self.functions.get_or_init(|| FunctionIndex::build(self))
    }

    /// Returns the functions that consist of one jump, by its target.
    pub fn lone_jumps(&self) -> &LoneJumps {
        self.lone_jumps
            .get_or_init(|| read_lone_jumps(&self.elf, self.symbols().functions()))
    }

    pub fn frame_rules(&self) -> &FrameRules {
        self.frame_rules
            .get_or_init(|| FrameRules::load(&self.elf, self.debug_file().map(|file| &**file)))
    }

    /// Returns the result of the search for a separate debug file.
    fn search(&self) -> &Search {
        self.search.get_or_init(|| {
            if self.elf.header.has_debug_info {
                return Search::default();
            }
            separate::search(&self.elf, &self.settings.debug_file_directories)
        })
    }

    /// Returns the separate debug file.
    pub fn debug_file(&self) -> Option<&Arc<ElfFile>> {
        self.search().found.as_ref()
    }
}
