//! The ELF header and the program headers.

use super::image::{Image, Source};
use super::{Section, text_at, u64_at};
use crate::SymbolError;
use object::elf;
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use object::read::{ReadCache, ReadRef, SectionIndex};
use std::path::Path;

const ENDIAN: object::LittleEndian = object::LittleEndian;
type Elf = elf::FileHeader64<object::LittleEndian>;

/// The kind of a loadable file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// Loaded at its link address; uses no shared libraries.
    StaticExecutable,
    /// Loaded at any address; uses no shared libraries.
    StaticPie,
    /// Loaded at its link address, by the dynamic linker.
    DynamicExecutable,
    /// Loaded at any address, by the dynamic linker.
    DynamicPie,
    /// A shared library.
    SharedLibrary,
}

/// A loadable segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// The file address (svma) of the first byte.
    pub address: u64,
    /// The size in memory, in bytes.
    pub memory_size: u64,
    /// The offset in the file.
    pub file_offset: u64,
    /// The number of its bytes in the file.
    pub file_size: u64,
    /// Whether it is readable.
    pub readable: bool,
    /// Whether it is writable.
    pub writable: bool,
    /// Whether it is executable.
    pub executable: bool,
}

/// The thread-local storage segment, of which each thread has a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadLocalStorage {
    /// The file address of the initial image.
    pub address: u64,
    /// The size in memory, in bytes.
    pub size: u64,
    /// The alignment of the copies, in bytes.
    pub alignment: u64,
}

impl ThreadLocalStorage {
    /// Returns the distance in bytes from the start of the main program's copy to the
    /// thread pointer (*ELF Handling For Thread-Local Storage*, 3.4.6, variant II).
    pub fn before_thread_pointer(&self) -> Option<u64> {
        self.size.checked_next_multiple_of(self.alignment.max(1))
    }
}

impl Segment {
    /// Returns whether the segment contains a file address.
    pub fn contains(&self, address: u64) -> bool {
        address
            .checked_sub(self.address)
            .is_some_and(|offset| offset < self.memory_size)
    }

    pub(crate) fn contains_in_file(&self, address: u64) -> bool {
        address
            .checked_sub(self.address)
            .is_some_and(|offset| offset < self.file_size)
    }
}

/// The headers of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The kind of the file.
    pub kind: FileKind,
    /// The file address of the entry point; 0 in most libraries.
    pub entry: u64,
    /// The requested dynamic linker.
    pub interpreter: Option<String>,
    /// The loadable segments in file order.
    pub segments: Vec<Segment>,
    /// The file address and size of the dynamic section.
    pub dynamic: Option<(u64, u64)>,
    /// The thread-local storage segment.
    pub thread_local: Option<ThreadLocalStorage>,
    /// The build id.
    pub build_id: Option<Vec<u8>>,
    /// The needed libraries, in search order.
    pub needed: Vec<String>,
    /// The soname.
    pub soname: Option<String>,
    /// Whether its own definitions are found before those of all other modules
    /// (`-Bsymbolic`).
    pub is_symbolic: bool,
    /// Whether the file itself contains DWARF (`.debug_info`).
    pub has_debug_info: bool,
    /// Whether the file itself has a full symbol table (`.symtab`).
    pub has_symbol_table: bool,
}

impl Header {
    /// Returns whether it can be loaded at another address than its link address.
    pub fn is_position_independent(&self) -> bool {
        !matches!(
            self.kind,
            FileKind::StaticExecutable | FileKind::DynamicExecutable
        )
    }

    /// Returns whether a file address is in an executable segment.
    pub fn is_code(&self, address: u64) -> bool {
        self.segments
            .iter()
            .any(|segment| segment.executable && segment.contains(address))
    }
}

/// Reads the headers; sections are only listed.
///
/// A part of the debug information (`is_part`) may be an object file; any other file must
/// be loadable.
pub(super) fn read(
    path: &Path,
    image: &Image,
    is_part: bool,
) -> Result<(Header, Vec<Section>), SymbolError> {
    let source = image.source().map_err(|source| SymbolError::Unreadable {
        path: path.into(),
        source,
    })?;
    let cache = ReadCache::new(source);
    check_identity(path, &cache, is_part)?;
    let damaged = |error: object::read::Error| SymbolError::Damaged {
        path: path.into(),
        what: error.to_string(),
    };
    let elf = Elf::parse(&cache).map_err(damaged)?;
    let programs = elf.program_headers(ENDIAN, &cache).map_err(damaged)?;
    let segments: Vec<Segment> = programs
        .iter()
        .filter(|program| program.p_type(ENDIAN) == elf::PT_LOAD)
        .map(segment)
        .collect();
    let size = (&cache).len().unwrap_or(0);
    if let Some(short) = segments.iter().find(|s| {
        s.file_offset
            .checked_add(s.file_size)
            .is_none_or(|end| end > size)
    }) {
        // A separate debug file has the program headers but not the contents; it is never
        // loaded, so only a program must be complete.
        if short.executable && !is_debug_only(elf, &cache) {
            return Err(SymbolError::Damaged {
                path: path.into(),
                what: "it ends before the end of its code".into(),
            });
        }
    }
    let sections = sections(elf, &cache).map_err(damaged)?;
    let mut header = Header {
        kind: FileKind::SharedLibrary,
        entry: elf.e_entry(ENDIAN),
        interpreter: None,
        dynamic: None,
        thread_local: None,
        build_id: None,
        needed: Vec::new(),
        soname: None,
        is_symbolic: false,
        has_debug_info: sections
            .iter()
            .any(|s| &*s.name == ".debug_info" && !s.empty && s.size > 0),
        has_symbol_table: sections
            .iter()
            .any(|s| &*s.name == ".symtab" && !s.empty && s.size > 0),
        segments,
    };
    for program in programs {
        match program.p_type(ENDIAN) {
            elf::PT_INTERP => {
                if let Ok(Some(name)) = program.interpreter(ENDIAN, &cache) {
                    header.interpreter = Some(String::from_utf8_lossy(name).into_owned());
                }
            }
            elf::PT_DYNAMIC => {
                header.dynamic = Some((program.p_vaddr(ENDIAN), program.p_filesz(ENDIAN)))
            }
            elf::PT_TLS => {
                header.thread_local = Some(ThreadLocalStorage {
                    address: program.p_vaddr(ENDIAN),
                    size: program.p_memsz(ENDIAN),
                    alignment: program.p_align(ENDIAN),
                });
            }
            elf::PT_NOTE if header.build_id.is_none() => {
                header.build_id = build_id(program, &cache);
            }
            _ => {}
        }
    }
    if header.build_id.is_none() {
        header.build_id = build_id_of_section(elf, &cache);
    }
    let pie_flag = read_dynamic(&mut header, &cache);
    header.kind = kind(elf, &header, pie_flag);
    Ok((header, sections))
}

fn check_identity(
    path: &Path,
    cache: &ReadCache<Box<dyn Source>>,
    is_part: bool,
) -> Result<(), SymbolError> {
    let size = cache.len().unwrap_or(0);
    let start = cache.read_bytes_at(0, size.min(64)).unwrap_or(&[]);
    if let Some(line) = start.strip_prefix(b"#!") {
        let line = line.split(|byte| *byte == b'\n').next().unwrap_or(&[]);
        let interpreter = String::from_utf8_lossy(line).trim().to_owned();
        return Err(SymbolError::Script {
            path: path.into(),
            interpreter,
        });
    }
    if !start.starts_with(b"\x7fELF") {
        return Err(SymbolError::NotElf { path: path.into() });
    }
    if start.len() < 52 {
        return Err(SymbolError::Damaged {
            path: path.into(),
            what: "it ends inside its header".into(),
        });
    }
    let (class, data) = (start.get(4).copied(), start.get(5).copied());
    let half = |offset: usize| {
        let bytes = [
            start.get(offset).copied().unwrap_or(0),
            start.get(offset + 1).copied().unwrap_or(0),
        ];
        if data == Some(2) {
            u16::from_be_bytes(bytes)
        } else {
            u16::from_le_bytes(bytes)
        }
    };
    let machine = half(18);
    match class {
        Some(1) if machine == elf::EM_386.0 => {
            return Err(SymbolError::ThirtyTwoBit { path: path.into() });
        }
        Some(1 | 2) => {}
        _ => {
            return Err(SymbolError::Damaged {
                path: path.into(),
                what: "its class is unknown".into(),
            });
        }
    }
    if machine != elf::EM_X86_64.0 {
        return Err(SymbolError::OtherMachine {
            path: path.into(),
            machine: machine_name(machine),
        });
    }
    if class == Some(1) {
        return Err(SymbolError::ThirtyTwoBit { path: path.into() });
    }
    if start.len() < 64 {
        return Err(SymbolError::Damaged {
            path: path.into(),
            what: "it ends inside its header".into(),
        });
    }
    let kind = match half(16) {
        2 | 3 => return Ok(()),
        1 if is_part => return Ok(()),
        1 => "an object file (link it first)".to_owned(),
        4 => "a core dump".to_owned(),
        other => format!("an ELF file of unknown kind {other}"),
    };
    Err(SymbolError::NotLoadable {
        path: path.into(),
        kind,
    })
}

fn machine_name(machine: u16) -> String {
    let name = match machine {
        3 => "Intel 386",
        8 => "MIPS",
        20 => "PowerPC",
        21 => "64-bit PowerPC",
        22 => "IBM S/390",
        40 => "32-bit ARM",
        183 => "64-bit ARM (aarch64)",
        243 => "RISC-V",
        258 => "LoongArch",
        _ => return format!("machine number {machine}"),
    };
    name.to_owned()
}

fn segment(program: &elf::ProgramHeader64<object::LittleEndian>) -> Segment {
    let flags = program.p_flags(ENDIAN);
    Segment {
        address: program.p_vaddr(ENDIAN),
        memory_size: program.p_memsz(ENDIAN),
        file_offset: program.p_offset(ENDIAN),
        file_size: program.p_filesz(ENDIAN),
        readable: flags.contains(elf::PF_R),
        writable: flags.contains(elf::PF_W),
        executable: flags.contains(elf::PF_X),
    }
}

fn is_debug_only(elf: &Elf, cache: &ReadCache<Box<dyn Source>>) -> bool {
    let Ok(table) = elf.sections(ENDIAN, cache) else {
        return false;
    };
    table.iter().any(|section| {
        section.sh_type(ENDIAN) == elf::SHT_NOBITS
            && section.sh_flags(ENDIAN).contains(elf::SHF_EXECINSTR)
    })
}

fn sections(elf: &Elf, cache: &ReadCache<Box<dyn Source>>) -> object::read::Result<Vec<Section>> {
    let table = elf.sections(ENDIAN, cache)?;
    // All names at once: each read is two system calls.
    let names = match elf.shstrndx(ENDIAN, cache) {
        Ok(number) => table.section(SectionIndex(number as usize)),
        Err(error) => Err(error),
    };
    let names = names.and_then(|section| section.data(ENDIAN, cache));
    let names = names.unwrap_or(&[]);
    let name_at = |offset: u32| {
        let rest = names.get(offset as usize..).unwrap_or(&[]);
        let end = memchr::memchr(0, rest);
        rest.get(..end.unwrap_or(0)).unwrap_or(&[])
    };
    Ok(table
        .iter()
        .map(|section| {
            let name = name_at(section.sh_name(ENDIAN));
            let flags = section.sh_flags(ENDIAN);
            Section {
                name: String::from_utf8_lossy(name).into(),
                address: section.sh_addr(ENDIAN),
                file_offset: section.sh_offset(ENDIAN),
                size: section.sh_size(ENDIAN),
                link: section.sh_link(ENDIAN),
                executable: flags.contains(elf::SHF_EXECINSTR),
                compressed: flags.contains(elf::SHF_COMPRESSED),
                empty: section.sh_type(ENDIAN) == elf::SHT_NOBITS,
            }
        })
        .collect())
}

fn build_id(
    program: &elf::ProgramHeader64<object::LittleEndian>,
    cache: &ReadCache<Box<dyn Source>>,
) -> Option<Vec<u8>> {
    let mut notes = program.notes(ENDIAN, cache).ok()??;
    while let Ok(Some(note)) = notes.next() {
        if note.name() == b"GNU" && note.n_type(ENDIAN) == elf::NT_GNU_BUILD_ID {
            return Some(note.desc().to_vec());
        }
    }
    None
}

/// Returns the build id from its section: a supplementary file has no segment for the note.
fn build_id_of_section(elf: &Elf, cache: &ReadCache<Box<dyn Source>>) -> Option<Vec<u8>> {
    let table = elf.sections(ENDIAN, cache).ok()?;
    table.iter().find_map(|section| {
        let mut notes = section.notes(ENDIAN, cache).ok()??;
        while let Ok(Some(note)) = notes.next() {
            if note.name() == b"GNU" && note.n_type(ENDIAN) == elf::NT_GNU_BUILD_ID {
                return Some(note.desc().to_vec());
            }
        }
        None
    })
}

/// Reads the needed libraries and the soname; returns whether the file is flagged as a
/// position-independent executable.
fn read_dynamic(header: &mut Header, cache: &ReadCache<Box<dyn Source>>) -> bool {
    const DT_NEEDED: u64 = 1;
    const DT_STRTAB: u64 = 5;
    const DT_STRSZ: u64 = 10;
    const DT_SONAME: u64 = 14;
    const DT_SYMBOLIC: u64 = 16;
    const DT_FLAGS: u64 = 30;
    const DF_SYMBOLIC: u64 = 2;
    const DT_FLAGS_1: u64 = 0x6fff_fffb;
    const DF_1_PIE: u64 = 0x0800_0000;
    let at = |address: u64, size: u64| -> Option<&[u8]> {
        let segment = header
            .segments
            .iter()
            .find(|s| s.contains_in_file(address))?;
        let within = address - segment.address;
        let size = size.min(segment.file_size - within);
        cache
            .read_bytes_at(segment.file_offset.checked_add(within)?, size)
            .ok()
    };
    let Some(table) = header.dynamic.and_then(|(address, size)| at(address, size)) else {
        return false;
    };
    let entries = || {
        table
            .chunks_exact(16)
            .filter_map(|entry| Some((u64_at(entry, 0)?, u64_at(entry, 8)?)))
            .take_while(|(tag, _)| *tag != 0)
    };
    let value = |wanted| {
        entries()
            .find(|(tag, _)| *tag == wanted)
            .map(|(_, value)| value)
    };
    let pie = value(DT_FLAGS_1).is_some_and(|flags| flags & DF_1_PIE != 0);
    let is_symbolic = value(DT_SYMBOLIC).is_some()
        || value(DT_FLAGS).is_some_and(|flags| flags & DF_SYMBOLIC != 0);
    let strings = value(DT_STRTAB)
        .zip(value(DT_STRSZ))
        .and_then(|(address, size)| at(address, size))
        .unwrap_or(&[]);
    let text = |offset: u64| Some(text_at(strings, usize::try_from(offset).ok()?)?.to_owned());
    let needed = entries()
        .filter(|(tag, _)| *tag == DT_NEEDED)
        .filter_map(|(_, offset)| text(offset))
        .collect();
    let soname = value(DT_SONAME).and_then(text);
    header.needed = needed;
    header.soname = soname;
    header.is_symbolic = is_symbolic;
    pie
}

fn kind(elf: &Elf, header: &Header, pie_flag: bool) -> FileKind {
    let fixed = elf.e_type(ENDIAN) == elf::ET_EXEC;
    match (fixed, header.interpreter.is_some()) {
        (true, true) => FileKind::DynamicExecutable,
        (true, false) => FileKind::StaticExecutable,
        // libc.so.6 can be executed and therefore names an interpreter.
        (false, true) if header.soname.is_some() && !pie_flag => FileKind::SharedLibrary,
        (false, true) => FileKind::DynamicPie,
        (false, false) if pie_flag => FileKind::StaticPie,
        (false, false) => FileKind::SharedLibrary,
    }
}
