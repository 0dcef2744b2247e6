//! The headers of a core file.

use crate::bytes::{u16_at, u32_at, u64_at};
use crate::{CoreError, CoreFile, ReadAt, Segment, notes};

const HEADER_LENGTH: usize = 64;
pub(crate) const PROGRAM_HEADER_LENGTH: u64 = 56;
const PT_LOAD: u32 = 1;
const PT_NOTE: u32 = 4;
/// The count of program headers that is too large for its field: the first section header has it.
pub(crate) const PN_XNUM: u16 = 0xffff;
/// The limit of program headers: as many mappings as a process may have, and more.
const PROGRAM_HEADERS_MAX: u64 = 1 << 20;
const ET_CORE: u16 = 4;
const MACHINE_X86_64: u16 = 62;

/// A program header.
struct ProgramHeader {
    kind: u32,
    flags: u32,
    offset: u64,
    address: u64,
    file_size: u64,
    memory_size: u64,
}

impl CoreFile {
    /// Reads the headers and notes of a core file of this length.
    ///
    /// # Errors
    /// It is no core file of a 64-bit program on x86-64, or no thread is left of it.
    pub fn parse(length: u64, read: ReadAt<'_>) -> Result<CoreFile, CoreError> {
        let header = bytes_at(read, length, 0, HEADER_LENGTH as u64);
        check_header(&header)?;
        let mut core = CoreFile::default();
        let mut whole = length;
        let table = program_headers(&header, length, read)?;
        for header in &table {
            let end = header.offset.checked_add(header.file_size);
            let end = end.ok_or(CoreError::Damaged("a segment ends behind any file"))?;
            whole = whole.max(end);
            match header.kind {
                PT_NOTE => {
                    let bytes = bytes_at(read, length, header.offset, header.file_size);
                    notes::read(&bytes, &mut core);
                }
                PT_LOAD if header.memory_size > 0 => core.segments.push(segment(header)?),
                _ => {}
            }
        }
        core.segments.sort_by_key(|segment| segment.range.start);
        let mut pairs = core.segments.iter().zip(core.segments.iter().skip(1));
        if pairs.any(|(one, next)| one.range.end > next.range.start) {
            return Err(CoreError::Damaged("two segments overlap"));
        }
        core.files.sort_by_key(|file| file.range.start);
        core.whole_length = (whole > length).then_some(whole);
        match (core.threads.is_empty(), core.whole_length) {
            (true, Some(_)) => Err(CoreError::Truncated("the note of its threads")),
            (true, None) => Err(CoreError::Damaged("it has no note of a thread")),
            (false, _) => Ok(core),
        }
    }
}

/// Checks that a file with this header is a core file of a 64-bit program on x86-64.
fn check_header(header: &[u8]) -> Result<(), CoreError> {
    let Some([0x7f, b'E', b'L', b'F', class, order, ..]) = header.get(..20) else {
        return Err(CoreError::NotElf);
    };
    let half =
        |at| u16_at(header, at).map_or(0, |it| if *order == 2 { it.swap_bytes() } else { it });
    match half(16) {
        ET_CORE => {}
        1 => return Err(CoreError::NotCore("an object file")),
        2 | 3 => return Err(CoreError::NotCore("a program or library")),
        _ => return Err(CoreError::NotCore("an ELF file of an unknown kind")),
    }
    match half(18) {
        3 => Err(CoreError::Narrow),
        MACHINE_X86_64 if *class == 1 => Err(CoreError::Narrow),
        MACHINE_X86_64 if (*class, *order) == (2, 1) => Ok(()),
        MACHINE_X86_64 => Err(CoreError::Damaged("its header says no word size")),
        machine => Err(CoreError::ForeignMachine(machine_name(machine))),
    }
}

/// Returns the name of a machine, by its number in ELF headers.
fn machine_name(machine: u16) -> String {
    match machine {
        8 => "MIPS".to_owned(),
        20 | 21 => "PowerPC".to_owned(),
        22 => "S/390".to_owned(),
        40 => "32-bit ARM".to_owned(),
        183 => "64-bit ARM".to_owned(),
        243 => "RISC-V".to_owned(),
        258 => "LoongArch".to_owned(),
        other => format!("another machine (ELF machine number {other})"),
    }
}

fn program_headers(
    header: &[u8],
    length: u64,
    read: ReadAt<'_>,
) -> Result<Vec<ProgramHeader>, CoreError> {
    let missing = CoreError::Truncated("its header");
    let (Some(table), Some(entry), Some(count)) =
        (u64_at(header, 32), u16_at(header, 54), u16_at(header, 56))
    else {
        return Err(missing);
    };
    if u64::from(entry) != PROGRAM_HEADER_LENGTH {
        return Err(CoreError::Damaged("its program headers have another size"));
    }
    let count = match count {
        PN_XNUM => {
            let sections = u64_at(header, 40).ok_or(missing)?;
            // `sh_info` of the first section.
            let section = bytes_at(read, length, sections, 64);
            let count = u32_at(&section, 44);
            u64::from(count.ok_or(CoreError::Truncated("its section header"))?)
        }
        count => u64::from(count),
    };
    if count > PROGRAM_HEADERS_MAX {
        return Err(CoreError::Damaged("it has too many program headers"));
    }
    let size = count * PROGRAM_HEADER_LENGTH;
    let bytes = bytes_at(read, length, table, size);
    if (bytes.len() as u64) < size {
        return Err(CoreError::Truncated("the table of its segments"));
    }
    let entries = bytes.chunks_exact(PROGRAM_HEADER_LENGTH as usize);
    Ok(entries.filter_map(program_header).collect())
}

fn program_header(bytes: &[u8]) -> Option<ProgramHeader> {
    Some(ProgramHeader {
        kind: u32_at(bytes, 0)?,
        flags: u32_at(bytes, 4)?,
        offset: u64_at(bytes, 8)?,
        address: u64_at(bytes, 16)?,
        file_size: u64_at(bytes, 32)?,
        memory_size: u64_at(bytes, 40)?,
    })
}

fn segment(header: &ProgramHeader) -> Result<Segment, CoreError> {
    let end = header.address.checked_add(header.memory_size);
    let end = end.ok_or(CoreError::Damaged("a segment ends behind all addresses"))?;
    Ok(Segment {
        range: header.address..end,
        access: [4, 2, 1].map(|flag| header.flags & flag != 0),
        offset: header.offset,
        stored: header.file_size.min(header.memory_size),
    })
}

/// Returns the bytes of a range of the file, without those behind its end.
fn bytes_at(read: ReadAt<'_>, length: u64, offset: u64, size: u64) -> Vec<u8> {
    let present = size.min(length.saturating_sub(offset));
    let mut bytes = vec![0; usize::try_from(present).unwrap_or(0)];
    let filled = read(offset, &mut bytes);
    bytes.truncate(filled);
    bytes
}
