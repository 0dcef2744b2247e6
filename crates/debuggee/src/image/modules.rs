//! The mapped ELF files, according to the dynamic linker.
//!
//! The System V dynamic linkers keep a list of what they have mapped (`struct
//! r_debug` and its `link_map`s) and call an empty function after each change,
//! the rendezvous; a trap of juror's is there. It is inserted before the
//! linker's first instruction, found by its name in the linker's own symbol
//! table, so the initial libraries are reported before any of their code runs.
//! Invariant: all data read here is the debuggee's, so every list is cut off at
//! a limit or where it comes back to itself, and every failure means "nothing known".

mod padding;

use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::memory::Memory;

pub(crate) use padding::padding_of_code;

/// An ELF file in the debuggee's memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// The file; for a module without one, its name.
    pub path: PathBuf,
    /// The difference between its addresses in memory and those of the file.
    pub bias: u64,
    /// The address of its dynamic section; 0 if it has none.
    pub dynamic_address: u64,
    /// The address of the dynamic linker's entry for it (its `link_map`); 0 if
    /// that is not known yet.
    pub link_map: u64,
    /// Whether it is the program itself.
    pub is_main: bool,
    /// Whether there is no file: the kernel's vdso. `bias` is the address of
    /// its header.
    pub in_memory: bool,
}

/// The auxiliary vector that the kernel passed to the program
/// (`/proc/PID/auxv`).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Auxiliary {
    pub(crate) program_headers: u64,
    pub(crate) program_header_count: u64,
    pub(crate) entry: u64,
    /// The address of the dynamic linker; 0 without one.
    pub(crate) linker: u64,
    /// The address of the vdso; 0 without one.
    pub(crate) vdso: u64,
}

impl Auxiliary {
    /// Reads the vector; `path` is the file `auxv` of a process or of one of
    /// its threads.
    pub(crate) fn read(path: &Path) -> std::io::Result<Auxiliary> {
        std::fs::read(path).map(|bytes| Auxiliary::parse(&bytes))
    }

    /// Takes the vector from its bytes.
    pub(crate) fn parse(bytes: &[u8]) -> Auxiliary {
        let mut auxiliary = Auxiliary::default();
        for pair in bytes.chunks_exact(16) {
            let (key, value) = pair.split_at(8);
            let value = word(value);
            match word(key) {
                libc::AT_PHDR => auxiliary.program_headers = value,
                libc::AT_PHNUM => auxiliary.program_header_count = value,
                libc::AT_ENTRY => auxiliary.entry = value,
                libc::AT_BASE => auxiliary.linker = value,
                libc::AT_SYSINFO_EHDR => auxiliary.vdso = value,
                _ => {}
            }
        }
        auxiliary
    }
}

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PT_INTERP: u32 = 3;
const PT_PHDR: u32 = 6;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const DT_DEBUG: u64 = 21;
const DT_GNU_HASH: u64 = 0x6fff_fef5;

/// Limits on how much of the debuggee's lists is read.
const PROGRAM_HEADER_COUNT_MAX: u64 = 256;
const DYNAMIC_COUNT_MAX: u64 = 1024;
const MODULE_COUNT_MAX: usize = 65_536;
const NAMESPACE_COUNT_MAX: usize = 64;
const CHAIN_LENGTH_MAX: u32 = 65_536;
const PATH_LENGTH_MAX: usize = 4096;

fn word(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |value, byte| (value << 8) | u64::from(*byte))
}

/// Reads numbers and strings; `None` for unmapped memory.
struct Reader<'a>(&'a Memory);

impl Reader<'_> {
    fn u64(&self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.0.read(address, &mut bytes).ok()?;
        Some(u64::from_le_bytes(bytes))
    }

    /// Reads words by one system call.
    fn words<const COUNT: usize>(&self, address: u64) -> Option<[u64; COUNT]> {
        let mut bytes = [[0; 8]; COUNT];
        self.0.read(address, bytes.as_flattened_mut()).ok()?;
        Some(bytes.map(u64::from_le_bytes))
    }

    fn u32(&self, address: u64) -> Option<u32> {
        let mut bytes = [0; 4];
        self.0.read(address, &mut bytes).ok()?;
        Some(u32::from_le_bytes(bytes))
    }

    fn path(&self, address: u64) -> PathBuf {
        PathBuf::from(OsString::from_vec(read_text(
            self.0,
            address,
            PATH_LENGTH_MAX,
        )))
    }

    /// Returns true if the string at `address` is `name`.
    fn is_text(&self, address: u64, name: &[u8]) -> bool {
        let mut bytes = [0; 32];
        let Some(bytes) = bytes.get_mut(..=name.len()) else {
            return false;
        };
        self.0.read(address, bytes).is_ok() && bytes.split_last() == Some((&0, name))
    }
}

/// Returns the bytes from `address` to the first zero, `limit`, or the end of
/// memory.
pub(crate) fn read_text(memory: &Memory, address: u64, limit: usize) -> Vec<u8> {
    /// Pages end at multiples of this, so no read crosses them needlessly.
    const PIECE: usize = 256;
    let mut text = Vec::new();
    while text.len() < limit {
        let from = address.wrapping_add(text.len() as u64);
        let mut piece = [0; PIECE];
        let wanted = (PIECE - (from as usize % PIECE)).min(limit - text.len());
        let Some(piece) = piece.get_mut(..wanted) else {
            break;
        };
        let count = memory.read_up_to(from, piece);
        let piece = piece.get(..count).unwrap_or_default();
        match piece.iter().position(|&byte| byte == 0) {
            Some(end) => {
                text.extend_from_slice(piece.get(..end).unwrap_or_default());
                break;
            }
            None => text.extend_from_slice(piece),
        }
        if count < wanted {
            break;
        }
    }
    text
}

/// The contents of the program headers of a mapped file.
#[derive(Debug, Default)]
struct Headers {
    bias: u64,
    dynamic: u64,
    linker_path: Option<u64>,
}

/// Reads program headers at `table`. `base` is the address of the file's first
/// byte, if that is known; otherwise it follows from the table's own header, or
/// from the file's header before the table (a `-static-pie` program has none
/// for the table).
fn headers(reader: &Reader<'_>, table: u64, count: u64, base: Option<u64>) -> Option<Headers> {
    let base = base.or_else(|| file_start(reader, table));
    let mut bias = None;
    let mut dynamic = None;
    let mut linker_path = None;
    for index in 0..count.min(PROGRAM_HEADER_COUNT_MAX) {
        let entry = table.checked_add(index * 56)?;
        let address = reader.u64(entry + 16)?;
        match reader.u32(entry)? {
            PT_LOAD if bias.is_none() => {
                let offset = reader.u64(entry + 8)?;
                bias = base.map(|base| base.wrapping_add(offset).wrapping_sub(address));
            }
            PT_PHDR => bias = Some(table.wrapping_sub(address)),
            PT_DYNAMIC => dynamic = Some(address),
            PT_INTERP => linker_path = Some(address),
            _ => {}
        }
    }
    // Without any evidence the file is at its own addresses.
    let bias = bias.unwrap_or(0);
    Some(Headers {
        bias,
        dynamic: dynamic.map_or(0, |address| address.wrapping_add(bias)),
        linker_path: linker_path.map(|address| address.wrapping_add(bias)),
    })
}

/// Returns the address of the file's header, if it is where linkers put it: at
/// the start of the page that holds the table, and referring to it.
fn file_start(reader: &Reader<'_>, table: u64) -> Option<u64> {
    const MAGIC: u32 = u32::from_le_bytes(*b"\x7fELF");
    let start = table & !0xfff;
    let points_there = start.checked_add(reader.u64(start + 32)?)? == table;
    (points_there && reader.u32(start)? == MAGIC).then_some(start)
}

/// Returns the headers of the file whose first byte is mapped at `base`.
fn headers_at(reader: &Reader<'_>, base: u64) -> Option<Headers> {
    let (table, count) = table_at(reader, base)?;
    headers(reader, table, count, Some(base))
}

/// Returns the address and the number of entries of the table of program headers of such a file.
fn table_at(reader: &Reader<'_>, base: u64) -> Option<(u64, u64)> {
    let table = base.checked_add(reader.u64(base.checked_add(32)?)?)?;
    let counts = reader.u32(base.checked_add(56)?)?;
    Some((table, u64::from(counts & 0xffff)))
}

fn dynamic_entry(reader: &Reader<'_>, dynamic: u64, tag: u64) -> Option<u64> {
    if dynamic == 0 {
        return None;
    }
    for index in 0..DYNAMIC_COUNT_MAX {
        let entry = dynamic.checked_add(index * 16)?;
        match reader.u64(entry)? {
            0 => return None,
            present if present == tag => return reader.u64(entry + 8),
            _ => {}
        }
    }
    None
}

/// Returns the modules that exist before the dynamic linker runs.
pub(crate) fn at_start(memory: &Memory, auxiliary: &Auxiliary, program: PathBuf) -> Vec<Module> {
    let reader = Reader(memory);
    let main = headers(
        &reader,
        auxiliary.program_headers,
        auxiliary.program_header_count,
        None,
    )
    .unwrap_or_default();
    let mut modules = vec![Module {
        path: program,
        bias: main.bias,
        dynamic_address: main.dynamic,
        link_map: 0,
        is_main: true,
        in_memory: false,
    }];
    if auxiliary.linker != 0
        && let Some(linker) = headers_at(&reader, auxiliary.linker)
    {
        modules.push(Module {
            path: main
                .linker_path
                .map(|address| reader.path(address))
                .unwrap_or_default(),
            bias: linker.bias,
            dynamic_address: linker.dynamic,
            link_map: 0,
            is_main: false,
            in_memory: false,
        });
    }
    if auxiliary.vdso != 0
        && let Some(vdso) = headers_at(&reader, auxiliary.vdso)
    {
        modules.push(Module {
            path: "[vdso]".into(),
            bias: vdso.bias,
            dynamic_address: vdso.dynamic,
            link_map: 0,
            is_main: false,
            in_memory: true,
        });
    }
    modules
}

/// Returns the address of the linker's rendezvous function, before the linker
/// has run: `_dl_debug_state` in its symbol table (glibc and musl have it).
pub(crate) fn find_rendezvous_at_start(memory: &Memory, auxiliary: &Auxiliary) -> Option<u64> {
    let reader = Reader(memory);
    if auxiliary.linker == 0 {
        return None;
    }
    let linker = headers_at(&reader, auxiliary.linker)?;
    let table = |tag| {
        let value = dynamic_entry(&reader, linker.dynamic, tag)?;
        // The file's address, until the linker has relocated itself.
        Some(if value < linker.bias {
            value.wrapping_add(linker.bias)
        } else {
            value
        })
    };
    let symbol = find_symbol(
        &reader,
        table(DT_GNU_HASH)?,
        table(DT_SYMTAB)?,
        table(DT_STRTAB)?,
        b"_dl_debug_state",
    )?;
    Some(symbol.wrapping_add(linker.bias))
}

/// Looks a name up in a GNU hash table; returns the symbol's value.
fn find_symbol(
    reader: &Reader<'_>,
    hash_table: u64,
    symbols: u64,
    strings: u64,
    name: &[u8],
) -> Option<u64> {
    let bucket_count = reader.u32(hash_table)?;
    let first_symbol = reader.u32(hash_table + 4)?;
    let bloom_count = reader.u32(hash_table + 8)?;
    let buckets = hash_table + 16 + u64::from(bloom_count) * 8;
    let chains = buckets + u64::from(bucket_count) * 4;
    let hash = name.iter().fold(5381_u32, |hash, byte| {
        hash.wrapping_mul(33).wrapping_add(u32::from(*byte))
    });
    let bucket = hash.checked_rem(bucket_count)?;
    let start = reader.u32(buckets + u64::from(bucket) * 4)?;
    for index in start..start.saturating_add(CHAIN_LENGTH_MAX) {
        let chain = u64::from(index.checked_sub(first_symbol)?);
        let present = reader.u32(chains + chain * 4)?;
        let symbol = symbols + u64::from(index) * 24;
        if present | 1 == hash | 1 && reader.is_text(strings + u64::from(reader.u32(symbol)?), name)
        {
            return reader.u64(symbol + 8);
        }
        if present & 1 == 1 {
            return None;
        }
    }
    None
}

/// The state of the dynamic linker's list at a rendezvous.
#[derive(Debug)]
pub(crate) struct Rendezvous {
    /// Whether the list is complete; otherwise it is being changed.
    pub(crate) is_consistent: bool,
    /// The address of the rendezvous function.
    pub(crate) address: u64,
    pub(crate) modules: Vec<Module>,
}

/// Reads the dynamic linker's list by way of the program's dynamic section.
pub(crate) fn read_rendezvous(memory: &Memory, start: &[Module]) -> Option<Rendezvous> {
    let reader = Reader(memory);
    let main = start.iter().find(|module| module.is_main)?;
    let debug = dynamic_entry(&reader, main.dynamic_address, DT_DEBUG).filter(|&it| it != 0)?;
    let mut modules = Vec::new();
    let mut known = Known::default();
    let mut is_consistent = true;
    let mut namespace = debug;
    for _ in 0..NAMESPACE_COUNT_MAX {
        is_consistent &= reader.u32(namespace + 24)? == 0;
        let first = reader.u64(namespace + 8)?;
        list(&reader, first, main, &mut known, &mut modules);
        // From version 2 on the structure has a link to further namespaces.
        if reader.u32(namespace)? < 2 {
            break;
        }
        match reader.u64(namespace + 40) {
            Some(next) if next != 0 => namespace = next,
            _ => break,
        }
    }
    Some(Rendezvous {
        is_consistent,
        address: reader.u64(debug + 16)?,
        modules,
    })
}

/// What has been seen of the linker's lists.
#[derive(Default)]
struct Known {
    /// The addresses of the entries: one that comes again begins a cycle.
    entries: HashSet<u64>,
    /// The dynamic sections and biases of the modules.
    modules: HashSet<(u64, u64)>,
}

fn list(
    reader: &Reader<'_>,
    first: u64,
    main: &Module,
    known: &mut Known,
    modules: &mut Vec<Module>,
) {
    let mut entry = first;
    while entry != 0 && known.entries.len() < MODULE_COUNT_MAX && known.entries.insert(entry) {
        let Some([bias, name, dynamic_address, next]) = reader.words(entry) else {
            return;
        };
        let link_map = std::mem::replace(&mut entry, next);
        let is_main = dynamic_address == main.dynamic_address;
        let identity = if is_main {
            (main.dynamic_address, main.bias)
        } else {
            (dynamic_address, bias)
        };
        // Other namespaces list the shared dynamic linker again.
        if !known.modules.insert(identity) {
            continue;
        }
        if is_main {
            modules.push(main.clone());
            continue;
        }
        let path = reader.path(name);
        let in_memory = !path.as_os_str().as_encoded_bytes().contains(&b'/');
        modules.push(Module {
            path,
            bias,
            dynamic_address,
            link_map,
            is_main: false,
            in_memory,
        });
    }
}
