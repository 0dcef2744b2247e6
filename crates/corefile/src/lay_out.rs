//! Writing a core file: its headers and notes as bytes, and the places of its segments.

use crate::notes::{self, FLOAT_LENGTH, SIGNAL_LENGTH, information, status};
use crate::parse::{PN_XNUM, PROGRAM_HEADER_LENGTH};
use crate::{CoreThread, MappedFile, PAGE, ProcessInfo};
use std::ops::Range;

const HEADER_LENGTH: u64 = 64;
const SECTION_HEADER_LENGTH: u64 = 64;

/// The contents of a core file, without its memory.
#[derive(Debug, Clone, Copy)]
pub struct Contents<'a> {
    /// The threads, the one that is to be shown first.
    pub threads: &'a [CoreThread],
    /// The process.
    pub process: &'a ProcessInfo,
    /// The auxiliary vector.
    pub auxiliary: &'a [u8],
    /// The mapped files.
    pub files: &'a [MappedFile],
    /// The mapped memory, in the order of addresses.
    pub segments: &'a [StoredSegment],
}

/// A range of memory to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSegment {
    /// Its addresses.
    pub range: Range<u64>,
    /// Whether the process could read, write and execute it.
    pub access: [bool; 3],
    /// The number of its leading bytes that are written.
    pub stored: u64,
}

/// Where everything of a core file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The file up to its first segment.
    pub head: Vec<u8>,
    /// The offset of each segment, on a page of the file.
    pub offsets: Vec<u64>,
    /// The length of the file.
    pub length: u64,
}

impl Layout {
    /// Notes that only this many leading bytes of a segment are written.
    pub fn cut(&mut self, segment: usize, stored: u64) {
        let is_many = self.offsets.len() as u64 + 1 >= u64::from(PN_XNUM);
        let table = HEADER_LENGTH + if is_many { SECTION_HEADER_LENGTH } else { 0 };
        let header = table + (segment as u64 + 1) * PROGRAM_HEADER_LENGTH;
        let at = usize::try_from(header + 32).unwrap_or(usize::MAX);
        put(&mut self.head, at, &stored.to_le_bytes());
    }
}

/// Lays a core file out.
pub fn lay_out(contents: &Contents<'_>) -> Layout {
    let notes = notes_of(contents);
    let header_count = contents.segments.len() as u64 + 1;
    let is_many = header_count >= u64::from(PN_XNUM);
    let table = HEADER_LENGTH + if is_many { SECTION_HEADER_LENGTH } else { 0 };
    let notes_at = table + header_count * PROGRAM_HEADER_LENGTH;
    let mut head = elf_header(table, header_count, is_many);
    let note_range = notes_at..notes_at + notes.len() as u64;
    push_program_header(&mut head, 4, 0, note_range, 0..0);
    let mut offset = round_up(notes_at + notes.len() as u64);
    let mut offsets = Vec::with_capacity(contents.segments.len());
    for segment in contents.segments {
        let flags = segment.access.iter().zip([4, 2, 1]);
        let flags = flags.map(|(&is, flag)| if is { flag } else { 0 }).sum();
        let stored = offset..offset.saturating_add(segment.stored);
        push_program_header(&mut head, 1, flags, stored, segment.range.clone());
        offsets.push(offset);
        offset = round_up(offset.saturating_add(segment.stored));
    }
    head.extend(notes);
    Layout {
        head,
        offsets,
        length: offset,
    }
}

fn round_up(offset: u64) -> u64 {
    offset.saturating_add(PAGE - 1) & !(PAGE - 1)
}

fn elf_header(table: u64, count: u64, is_many: bool) -> Vec<u8> {
    let mut header = b"\x7fELF\x02\x01\x01".to_vec();
    header.resize(16, 0);
    header.extend(4_u16.to_le_bytes());
    header.extend(62_u16.to_le_bytes());
    header.extend(1_u32.to_le_bytes());
    let sections = if is_many { HEADER_LENGTH } else { 0 };
    for word in [0, table, sections] {
        header.extend(word.to_le_bytes());
    }
    header.extend(0_u32.to_le_bytes());
    let given = u16::try_from(count).ok().filter(|_| !is_many);
    let section_size = if is_many {
        SECTION_HEADER_LENGTH as u16
    } else {
        0
    };
    for half in [
        HEADER_LENGTH as u16,
        PROGRAM_HEADER_LENGTH as u16,
        given.unwrap_or(PN_XNUM),
        section_size,
        u16::from(is_many),
        0,
    ] {
        header.extend(half.to_le_bytes());
    }
    if is_many {
        // The section header without a section has the number in `sh_info`.
        let mut section = [0; SECTION_HEADER_LENGTH as usize];
        let number = u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes();
        section[44..48].copy_from_slice(&number);
        header.extend(section);
    }
    header
}

fn push_program_header(
    head: &mut Vec<u8>,
    kind: u32,
    flags: u32,
    stored: Range<u64>,
    memory: Range<u64>,
) {
    head.extend(kind.to_le_bytes());
    head.extend(flags.to_le_bytes());
    let alignment = if kind == 1 { PAGE } else { 4 };
    for word in [
        stored.start,
        memory.start,
        0,
        stored.end - stored.start,
        memory.end.saturating_sub(memory.start),
        alignment,
    ] {
        head.extend(word.to_le_bytes());
    }
}

/// Returns all notes, in the kernel's order.
fn notes_of(contents: &Contents<'_>) -> Vec<u8> {
    let mut notes = Vec::new();
    for (number, thread) in contents.threads.iter().enumerate() {
        // The signal that ended the process is that of all threads, as readers expect.
        let signal = contents.threads.first().map_or(0, |first| first.signal);
        let status = status_of(thread, contents.process, signal);
        push_note(&mut notes, b"CORE", notes::NT_PRSTATUS, &status);
        if number == 0 {
            let process = information_of(contents.process);
            push_note(&mut notes, b"CORE", notes::NT_PRPSINFO, &process);
        }
        if let Some(signal) = &thread.signal_information {
            push_note(&mut notes, b"CORE", notes::NT_SIGINFO, signal);
        }
        if number == 0 {
            push_note(&mut notes, b"CORE", notes::NT_AUXV, contents.auxiliary);
            push_note(
                &mut notes,
                b"CORE",
                notes::NT_FILE,
                &files_of(contents.files),
            );
        }
        if let Some(registers) = &thread.float_registers {
            push_note(&mut notes, b"CORE", notes::NT_FPREGSET, registers);
        }
        if let Some(state) = &thread.extended_state {
            push_note(&mut notes, b"LINUX", notes::NT_X86_XSTATE, state);
        }
    }
    notes
}

fn push_note(notes: &mut Vec<u8>, owner: &[u8], kind: u32, contents: &[u8]) {
    let pad = |notes: &mut Vec<u8>| notes.resize(notes.len().next_multiple_of(4), 0);
    notes.extend((owner.len() as u32 + 1).to_le_bytes());
    notes.extend((contents.len() as u32).to_le_bytes());
    notes.extend(kind.to_le_bytes());
    notes.extend(owner);
    notes.push(0);
    pad(notes);
    notes.extend(contents);
    pad(notes);
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    let end = at.saturating_add(value.len());
    if let Some(place) = bytes.get_mut(at..end) {
        place.copy_from_slice(value);
    }
}

fn status_of(thread: &CoreThread, process: &ProcessInfo, signal: u32) -> Vec<u8> {
    let mut bytes = vec![0; status::LENGTH];
    // The three integers of the signal are the first of its `siginfo_t`, in another order.
    if let Some(information) = thread.signal_information.as_deref() {
        let word = |at: usize| information.get(at..at + 4).unwrap_or_default();
        put(&mut bytes, 0, word(0));
        put(&mut bytes, 4, word(8));
        put(&mut bytes, 8, word(4));
    }
    put(&mut bytes, status::SIGNAL, &(signal as u16).to_le_bytes());
    put(&mut bytes, status::ID, &thread.id.to_le_bytes());
    put(&mut bytes, status::PARENT, &process.parent.to_le_bytes());
    put(&mut bytes, status::GROUP, &process.group.to_le_bytes());
    put(&mut bytes, status::SESSION, &process.session.to_le_bytes());
    for (number, register) in thread.registers.iter().enumerate() {
        let at = status::REGISTERS + 8 * number;
        put(&mut bytes, at, &register.to_le_bytes());
    }
    let is_valid = u32::from(thread.float_registers.is_some());
    put(&mut bytes, status::FLOAT_VALID, &is_valid.to_le_bytes());
    debug_assert!(
        thread
            .float_registers
            .as_ref()
            .is_none_or(|it| it.len() == FLOAT_LENGTH)
    );
    debug_assert!(
        thread
            .signal_information
            .as_ref()
            .is_none_or(|it| it.len() == SIGNAL_LENGTH)
    );
    bytes
}

fn information_of(process: &ProcessInfo) -> Vec<u8> {
    let mut bytes = vec![0; information::LENGTH];
    for (at, number) in [
        (information::USER, process.user),
        (information::USER_GROUP, process.user_group),
        (information::ID, process.id),
        (information::PARENT, process.parent),
        (information::GROUP, process.group),
        (information::SESSION, process.session),
    ] {
        put(&mut bytes, at, &number.to_le_bytes());
    }
    // A zero follows each text.
    let first = |text: &[u8], count: usize| text.iter().take(count).copied().collect::<Vec<_>>();
    put(&mut bytes, information::NAME, &first(&process.name, 15));
    let arguments = first(&process.arguments, 79);
    put(&mut bytes, information::ARGUMENTS, &arguments);
    bytes
}

fn files_of(files: &[MappedFile]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [files.len() as u64, PAGE] {
        bytes.extend(word.to_le_bytes());
    }
    for file in files {
        for word in [file.range.start, file.range.end, file.offset / PAGE] {
            bytes.extend(word.to_le_bytes());
        }
    }
    for file in files {
        bytes.extend(&file.path);
        bytes.push(0);
    }
    bytes
}
