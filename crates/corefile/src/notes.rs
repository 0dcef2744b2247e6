//! The notes of a core file.

use crate::bytes::{aligned, text, u32_at, u64_at};
use crate::{CoreFile, CoreThread, MappedFile, ProcessInfo};
use juror_arch::WORD_COUNT;

pub(crate) const NT_PRSTATUS: u32 = 1;
pub(crate) const NT_FPREGSET: u32 = 2;
pub(crate) const NT_PRPSINFO: u32 = 3;
pub(crate) const NT_AUXV: u32 = 6;
pub(crate) const NT_X86_XSTATE: u32 = 0x202;
pub(crate) const NT_FILE: u32 = 0x4649_4c45;
pub(crate) const NT_SIGINFO: u32 = 0x5349_4749;

/// Offsets in `elf_prstatus`, and its length.
pub(crate) mod status {
    pub(crate) const SIGNAL: usize = 12;
    pub(crate) const ID: usize = 32;
    pub(crate) const PARENT: usize = 36;
    pub(crate) const GROUP: usize = 40;
    pub(crate) const SESSION: usize = 44;
    pub(crate) const REGISTERS: usize = 112;
    pub(crate) const FLOAT_VALID: usize = 328;
    pub(crate) const LENGTH: usize = 336;
}

/// Offsets in `elf_prpsinfo`, and its length.
pub(crate) mod information {
    pub(crate) const USER: usize = 16;
    pub(crate) const USER_GROUP: usize = 20;
    pub(crate) const ID: usize = 24;
    pub(crate) const PARENT: usize = 28;
    pub(crate) const GROUP: usize = 32;
    pub(crate) const SESSION: usize = 36;
    pub(crate) const NAME: usize = 40;
    pub(crate) const ARGUMENTS: usize = 56;
    pub(crate) const LENGTH: usize = 136;
}

/// The length of `user_fpregs_struct`.
pub(crate) const FLOAT_LENGTH: usize = 512;
/// The length of `siginfo_t`.
pub(crate) const SIGNAL_LENGTH: usize = 128;
/// The least length of the registers as `xsave` writes them: with its header.
const EXTENDED_LENGTH_MIN: usize = 576;
/// The page size that the note of files may name.
const PAGE_SIZES: std::ops::RangeInclusive<u64> = 1..=1 << 30;

/// Adds what notes say to a core file. Notes that are cut off or unknown are skipped.
pub(crate) fn read(bytes: &[u8], core: &mut CoreFile) {
    let mut rest = bytes;
    while let Some((note, after)) = split_note(rest) {
        // Notes of other owners have the same numbers.
        if matches!(text(note.name), b"CORE" | b"LINUX") {
            take(note.kind, note.contents, core);
        }
        rest = after;
    }
}

/// A note of an ELF file.
pub(crate) struct Note<'a> {
    /// What it is, among the notes of its owner.
    pub(crate) kind: u32,
    /// Its owner, with a byte 0 at the end.
    pub(crate) name: &'a [u8],
    pub(crate) contents: &'a [u8],
}

/// Splits the first note off; also returns the bytes that follow it.
pub(crate) fn split_note(bytes: &[u8]) -> Option<(Note<'_>, &[u8])> {
    let name_length = u32_at(bytes, 0)? as usize;
    let length = u32_at(bytes, 4)? as usize;
    let kind = u32_at(bytes, 8)?;
    let name = bytes.get(12..)?.get(..name_length)?;
    let start = 12_usize.checked_add(aligned(name_length)?)?;
    let contents = bytes.get(start..)?.get(..length)?;
    let end = start.checked_add(aligned(length)?)?;
    let note = Note {
        kind,
        name,
        contents,
    };
    Some((note, bytes.get(end..).unwrap_or_default()))
}

fn take(kind: u32, contents: &[u8], core: &mut CoreFile) {
    match kind {
        NT_PRSTATUS => {
            let known = |thread: &CoreThread| core.threads.iter().any(|it| it.id == thread.id);
            if let Some(thread) = thread(contents).filter(|thread| !known(thread)) {
                core.threads.push(thread);
            }
        }
        NT_PRPSINFO if core.process.is_none() => core.process = process(contents),
        NT_AUXV if core.auxiliary.is_empty() => core.auxiliary = contents.to_vec(),
        NT_FILE if core.files.is_empty() => core.files = files(contents).unwrap_or_default(),
        // The others are about the thread before.
        NT_FPREGSET | NT_X86_XSTATE | NT_SIGINFO => {
            let Some(thread) = core.threads.last_mut() else {
                return;
            };
            let (place, is_whole) = match kind {
                NT_FPREGSET => (&mut thread.float_registers, contents.len() == FLOAT_LENGTH),
                NT_SIGINFO => (
                    &mut thread.signal_information,
                    contents.len() == SIGNAL_LENGTH,
                ),
                _ => (
                    &mut thread.extended_state,
                    contents.len() >= EXTENDED_LENGTH_MIN,
                ),
            };
            if is_whole && place.is_none() {
                *place = Some(contents.to_vec());
            }
        }
        _ => {}
    }
}

fn thread(contents: &[u8]) -> Option<CoreThread> {
    if contents.len() != status::LENGTH {
        return None;
    }
    let mut registers = [0; WORD_COUNT];
    for (number, register) in registers.iter_mut().enumerate() {
        *register = u64_at(contents, status::REGISTERS + 8 * number)?;
    }
    let signal = u32_at(contents, status::SIGNAL)? & 0xffff;
    Some(CoreThread {
        id: u32_at(contents, status::ID)?,
        signal,
        registers,
        ..CoreThread::default()
    })
}

fn process(contents: &[u8]) -> Option<ProcessInfo> {
    let contents = contents.get(..information::LENGTH)?;
    let word = |at| u32_at(contents, at);
    Some(ProcessInfo {
        id: word(information::ID)?,
        parent: word(information::PARENT)?,
        group: word(information::GROUP)?,
        session: word(information::SESSION)?,
        user: word(information::USER)?,
        user_group: word(information::USER_GROUP)?,
        name: text(contents.get(information::NAME..information::ARGUMENTS)?).to_vec(),
        arguments: text(contents.get(information::ARGUMENTS..)?).to_vec(),
    })
}

/// Reads the note of mapped files: their number, the page size, a triple for each, their names.
/// Returns nothing if it is damaged.
fn files(contents: &[u8]) -> Option<Vec<MappedFile>> {
    let count = usize::try_from(u64_at(contents, 0)?).ok()?;
    let page = u64_at(contents, 8).filter(|page| PAGE_SIZES.contains(page))?;
    let names_at = count.checked_mul(24)?.checked_add(16)?;
    let mut names = contents.get(names_at..)?;
    let triples = contents.get(16..names_at)?.chunks_exact(24);
    let mut files = Vec::new();
    for triple in triples {
        let end = names.iter().position(|&byte| byte == 0)?;
        let (path, rest) = names.split_at(end);
        names = rest.get(1..)?;
        let range = u64_at(triple, 0)?..u64_at(triple, 8)?;
        let offset = u64_at(triple, 16)?.checked_mul(page)?;
        files.push(MappedFile {
            range,
            offset,
            path: path.to_vec(),
        });
    }
    Some(files)
}
