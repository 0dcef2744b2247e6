//! The ELF container: headers, sections read on demand, symbols, PLT.
//!
//! Opening a file reads its headers only. Sections are read with `pread` on demand and
//! never mapped: a program that is rebuilt while it is debugged must not kill the debugger
//! with a bus error.

mod header;
mod image;
mod lone_jumps;
mod plt;
mod symbols;

pub use header::{FileKind, Header, Segment, ThreadLocalStorage};
pub(crate) use lone_jumps::{LoneJumps, read_lone_jumps};
pub(crate) use plt::PltEntry;
pub use symbols::Binding;
pub(crate) use symbols::{Symbol, SymbolKind, SymbolTable};

use crate::SymbolError;
use crate::cache::CompressedSection;
use crate::settings::Cache;
use image::Image;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// An entry of the section table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Section {
    pub name: Box<str>,
    pub address: u64,
    pub file_offset: u64,
    pub size: u64,
    pub link: u32,
    pub executable: bool,
    pub compressed: bool,
    /// Whether it has no bytes in the file (`.bss`, or a section emptied by `objcopy
    /// --only-keep-debug`).
    pub empty: bool,
}

/// An open ELF file.
#[derive(Debug)]
pub(crate) struct ElfFile {
    pub path: PathBuf,
    pub header: Header,
    pub sections: Vec<Section>,
    image: Image,
    size: u64,
    /// When the file was last written to before it was opened, or found to be the same.
    written: Mutex<Option<SystemTime>>,
    /// The checksums of the sections that were read, by their places in the file.
    read: Mutex<BTreeMap<(u64, u64), u32>>,
    /// Whether it is an object file.
    is_part: bool,
    /// The cache of large sections, decompressed.
    pub cache: Option<Cache>,
}

/// The size of the header of a compressed section in bytes (`Elf64_Chdr`).
const COMPRESSION_HEADER_SIZE: u64 = 24;
/// Compression by zlib in this header (`ELFCOMPRESS_ZLIB`).
const ZLIB: u32 = 1;
/// The maximum credible compression ratio; a larger claim is damage.
const COMPRESSION_RATIO_MAX: u64 = 2000;
/// The compression ratio that most sections do not exceed.
const COMPRESSION_RATIO_USUAL_MAX: u64 = 32;

impl ElfFile {
    /// Opens a program, a shared library, or a separate debug file.
    pub fn open(path: &Path) -> Result<ElfFile, SymbolError> {
        ElfFile::open_as(path, false)
    }

    /// Opens a file that may also be an object file: a part of a program's debug
    /// information.
    pub fn open_any(path: &Path) -> Result<ElfFile, SymbolError> {
        ElfFile::open_as(path, true)
    }

    fn open_as(path: &Path, is_part: bool) -> Result<ElfFile, SymbolError> {
        let file = File::open(path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => SymbolError::NotFound { path: path.into() },
            _ => SymbolError::Unreadable {
                path: path.into(),
                source,
            },
        })?;
        let metadata = file.metadata().map_err(|source| SymbolError::Unreadable {
            path: path.into(),
            source,
        })?;
        if !metadata.is_file() {
            return Err(SymbolError::NotAFile { path: path.into() });
        }
        ElfFile::of_image(path, Image::OnDisk(file), metadata.len(), is_part)
    }

    /// Opens a file in memory; `name` replaces its path.
    pub fn in_memory(name: &Path, bytes: Arc<[u8]>) -> Result<ElfFile, SymbolError> {
        let size = bytes.len() as u64;
        ElfFile::of_image(name, Image::InMemory(bytes), size, false)
    }

    fn of_image(
        path: &Path,
        image: Image,
        size: u64,
        is_part: bool,
    ) -> Result<ElfFile, SymbolError> {
        let (header, sections) = header::read(path, &image, is_part)?;
        Ok(ElfFile {
            path: path.into(),
            header,
            sections,
            written: Mutex::new(image.written()),
            read: Mutex::default(),
            is_part,
            image,
            size,
            cache: None,
        })
    }

    /// Sets the path by which the user knows the file.
    pub fn named(self, path: &Path) -> ElfFile {
        let path = path.to_owned();
        ElfFile { path, ..self }
    }

    /// Returns whether nothing was written to the file since it was opened.
    pub fn is_unchanged(&self) -> bool {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        self.image.written() == *written
    }

    /// Returns whether the file has the same headers and the same sections as before, as far as
    /// sections were read, though it was written to.
    pub fn is_as_read(&self) -> bool {
        let Ok((header, sections)) = header::read(&self.path, &self.image, self.is_part) else {
            return false;
        };
        if (header, sections) != (self.header.clone(), self.sections.clone()) {
            return false;
        }
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.iter().all(|((offset, size), checksum)| {
            let bytes = self.read(*offset, *size);
            bytes.is_some_and(|bytes| crc32fast::hash(&bytes) == *checksum)
        })
    }

    /// Notes that the file is the same as before, though it was written to.
    pub fn note_same(&self) {
        let now = self.image.written();
        *self.written.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    fn note_read(&self, section: &Section, bytes: &[u8]) {
        let place = (section.file_offset, section.size);
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.entry(place).or_insert_with(|| crc32fast::hash(bytes));
    }

    /// Keeps large sections decompressed in a cache.
    pub fn with_cache(self, cache: Option<Cache>) -> ElfFile {
        ElfFile { cache, ..self }
    }

    /// Returns the section with this name.
    pub fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| &*section.name == name)
    }

    /// Returns whether the file has at least `end` bytes.
    pub fn is_complete(&self, end: u64) -> bool {
        end <= self.size
    }

    /// Reads bytes of the file; `None` if it ends before.
    pub fn read(&self, offset: u64, size: u64) -> Option<Vec<u8>> {
        if offset.checked_add(size)? > self.size {
            return None;
        }
        let mut bytes = vec![0; usize::try_from(size).ok()?];
        self.read_into(offset, &mut bytes)?;
        Some(bytes)
    }

    /// Returns the contents of a section, decompressed; empty if absent or damaged, because
    /// a damaged part must not hide the sound ones.
    pub fn section_data(&self, name: &str) -> Arc<[u8]> {
        self.section(name)
            .and_then(|section| self.shared_contents(section))
            .unwrap_or_else(|| Arc::from([]))
    }

    /// Returns the concatenated contents of all sections with this name: in an object file
    /// each type unit has a section of its own.
    pub fn joined_section_data(&self, name: &str) -> Arc<[u8]> {
        let all = self.sections.iter();
        let mut all = all.filter(|section| &*section.name == name);
        match (all.next(), all.next()) {
            (Some(first), Some(second)) => {
                let several = [first, second].into_iter().chain(all);
                let contents = several.filter_map(|section| self.contents(section));
                contents.collect::<Vec<_>>().concat().into()
            }
            _ => self.section_data(name),
        }
    }

    /// Returns the contents of a compressed section, from the cache if it is there.
    fn decompressed(&self, section: &Section) -> Option<Arc<[u8]>> {
        let known = self.known_section(section);
        let place = self.cache.as_ref().zip(known);
        let place =
            place.and_then(|(cache, known)| Some((cache, known, cache.section_path(known)?)));
        let kept = place
            .as_ref()
            .and_then(|(cache, known, path)| cache.load_section(path, *known));
        if let Some(bytes) = kept {
            return Some(bytes);
        }
        let bytes = Compressed::of(&self.read(section.file_offset, section.size)?)?.shared()?;
        if let Some((cache, _, path)) = &place {
            cache.keep(path, &[&bytes]);
        }
        Some(bytes)
    }

    /// Returns what a decompressed section is known by; `None` without a build id, and if it is
    /// not compressed by zlib.
    fn known_section<'a>(&'a self, section: &'a Section) -> Option<CompressedSection<'a>> {
        let header = self.read(section.file_offset, COMPRESSION_HEADER_SIZE)?;
        let end = section.file_offset.checked_add(section.size)?;
        let checksum = self.read(end.checked_sub(4)?, 4)?;
        let build_id = self.header.build_id.as_deref()?;
        // The claim of a damaged file is not believed.
        let size = Compressed::size_of(&header, section.size)?;
        (u32_at(&header, 0)? == ZLIB).then_some(CompressedSection {
            build_id,
            name: &section.name,
            size,
            checksum: u32::from_be_bytes(checksum.try_into().ok()?),
        })
    }

    /// Returns the contents of a section without a second copy, which may be large.
    fn shared_contents(&self, section: &Section) -> Option<Arc<[u8]>> {
        if section.empty {
            return None;
        }
        if section.compressed {
            return self.decompressed(section);
        }
        let end = section.file_offset.checked_add(section.size)?;
        if end > self.size {
            return None;
        }
        let mut bytes = zeros(usize::try_from(section.size).ok()?);
        let unshared = Arc::get_mut(&mut bytes)?;
        self.image
            .read_exact_at(unshared, section.file_offset)
            .ok()?;
        self.note_read(section, &bytes);
        Some(bytes)
    }

    /// Fills the buffer from the file; `None` if it ends before.
    pub fn read_into(&self, offset: u64, buffer: &mut [u8]) -> Option<()> {
        if offset.checked_add(buffer.len() as u64)? > self.size {
            return None;
        }
        self.image.read_exact_at(buffer, offset).ok()
    }

    /// Returns the checksum of the whole file as in `.gnu_debuglink`.
    pub fn checksum(&self) -> Option<u32> {
        const PART_SIZE: u64 = 1 << 20;
        let mut checksum = crc32fast::Hasher::new();
        let mut offset = 0;
        while offset < self.size {
            let size = PART_SIZE.min(self.size - offset);
            checksum.update(&self.read(offset, size)?);
            offset += size;
        }
        Some(checksum.finalize())
    }

    pub fn contents(&self, section: &Section) -> Option<Vec<u8>> {
        if section.empty {
            return None;
        }
        let bytes = self.read(section.file_offset, section.size)?;
        self.note_read(section, &bytes);
        if !section.compressed {
            return Some(bytes);
        }
        Compressed::of(&bytes)?.vector()
    }

    /// Returns the PLT stubs of the file. `name_of_function` names the target of an
    /// indirect stub without a symbol.
    pub fn is_in_linkage_table(&self, address: u64) -> bool {
        let mut tables = self.sections.iter().filter(|it| plt::is_table(it));
        tables.any(|it| address.wrapping_sub(it.address) < it.size)
    }

    pub fn plt_entries(&self, name_of_function: &dyn Fn(u64) -> Option<String>) -> Vec<PltEntry> {
        plt::entries(self, name_of_function)
    }

    /// Returns bytes at a file address (svma) from the load segments.
    pub fn bytes_at(&self, address: u64, size: u64) -> Option<Vec<u8>> {
        let segment = self
            .header
            .segments
            .iter()
            .find(|s| s.contains_in_file(address))?;
        let within = address - segment.address;
        let available = segment.file_size.checked_sub(within)?;
        self.read(
            segment.file_offset.checked_add(within)?,
            size.min(available),
        )
    }
}

pub(crate) fn zeros(size: usize) -> Arc<[u8]> {
    std::iter::repeat_n(0, size).collect()
}

/// The data of a compressed section, after the ELF compression header.
struct Compressed<'a> {
    format: object::CompressionFormat,
    data: &'a [u8],
    /// The decompressed size in bytes.
    size: u64,
}

impl<'a> Compressed<'a> {
    /// Returns `None` if the section is not compressed, or its size exceeds any credible
    /// compression ratio.
    fn of(bytes: &'a [u8]) -> Option<Compressed<'a>> {
        let format = match u32_at(bytes, 0)? {
            ZLIB => object::CompressionFormat::Zlib,
            2 => object::CompressionFormat::Zstandard,
            _ => return None,
        };
        let size = Compressed::size_of(bytes, bytes.len() as u64)?;
        let data = bytes.get(COMPRESSION_HEADER_SIZE as usize..)?;
        Some(Compressed { format, data, size })
    }

    /// Returns the decompressed size that a compression header claims, if it is credible for
    /// this size of the section.
    fn size_of(header: &[u8], section_size: u64) -> Option<u64> {
        let data_size = section_size.checked_sub(COMPRESSION_HEADER_SIZE)?;
        let size_max = data_size.saturating_mul(COMPRESSION_RATIO_MAX);
        u64_at(header, 8).filter(|size| *size <= size_max)
    }

    fn shared(&self) -> Option<Arc<[u8]>> {
        // The buffer is allocated and cleared before the claim is verified.
        let size_usual_max = (self.data.len() as u64).saturating_mul(COMPRESSION_RATIO_USUAL_MAX);
        if self.format != object::CompressionFormat::Zlib || self.size > size_usual_max {
            return self.vector().map(Arc::from);
        }
        let mut bytes = zeros(usize::try_from(self.size).ok()?);
        self.inflate(Arc::get_mut(&mut bytes)?)?;
        Some(bytes)
    }

    fn vector(&self) -> Option<Vec<u8>> {
        if self.format == object::CompressionFormat::Zlib {
            let mut bytes = vec![0; usize::try_from(self.size).ok()?];
            self.inflate(&mut bytes)?;
            return Some(bytes);
        }
        let data = object::CompressedData {
            format: self.format,
            data: self.data,
            uncompressed_size: self.size,
        };
        data.decompress().ok().map(|data| data.into_owned())
    }

    /// Fills all of `bytes`, or fails.
    fn inflate(&self, bytes: &mut [u8]) -> Option<()> {
        let size = bytes.len();
        let (filled, code) =
            zlib_rs::decompress_slice(bytes, self.data, zlib_rs::InflateConfig::default());
        (code == zlib_rs::ReturnCode::Ok && filled.len() == size).then_some(())
    }
}

pub(crate) fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    let field = bytes.get(offset..offset.checked_add(2)?)?;
    Some(u16::from_le_bytes(field.try_into().ok()?))
}

pub(crate) fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    let field = bytes.get(offset..offset.checked_add(4)?)?;
    Some(u32::from_le_bytes(field.try_into().ok()?))
}

pub(crate) fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    let field = bytes.get(offset..offset.checked_add(8)?)?;
    Some(u64::from_le_bytes(field.try_into().ok()?))
}

/// Returns the zero-terminated string at an offset of a string table.
pub(crate) fn text_at(strings: &[u8], offset: usize) -> Option<&str> {
    let rest = strings.get(offset..)?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    std::str::from_utf8(rest.get(..end)?).ok()
}
