//! The kind of file that a word after the program names: a core file, another program, or any other.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// The kind of a file that a word names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// There is no file of this name.
    Absent,
    /// A core file.
    Core,
    /// A program that can be run.
    Program,
    /// Another file, a library among them.
    Other,
    /// A directory or a device, or a file that cannot be looked at.
    Unknown,
}

/// Types of ELF files: a program at fixed addresses, and a core file.
const EXECUTABLE: u16 = 2;
const CORE: u16 = 4;

/// The type of the entry of a program header that names the dynamic linker: libraries have none.
const INTERPRETER: u64 = 3;

/// The bytes that are read of a file: its program header follows the ELF header.
const START: u64 = 4096;

/// Returns whether a word is the name of a core file: an ELF file of that kind.
pub fn is_core_file(word: &OsStr) -> bool {
    file_kind(word) == FileKind::Core
}

/// Returns whether a word is what a core file is called: `core`, `core.1234`, `prog.core`.
pub fn is_named_as_core(word: &OsStr) -> bool {
    let name = Path::new(word).file_name();
    let name = name.map_or_else(Default::default, |name| name.to_string_lossy());
    name == "core" || name.starts_with("core.") || name.ends_with(".core")
}

/// Returns the kind of the file that a word names.
pub fn file_kind(word: &OsStr) -> FileKind {
    // Opening what is not a file may wait, or have an effect.
    match std::fs::metadata(word) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return FileKind::Absent,
        Ok(data) if data.is_file() => {}
        _ => return FileKind::Unknown,
    }
    let mut start = Vec::new();
    let read = File::open(word).and_then(|file| file.take(START).read_to_end(&mut start));
    match read {
        Ok(_) => kind_of(&start),
        Err(_) => FileKind::Unknown,
    }
}

/// Returns the kind of a file that begins with these bytes.
fn kind_of(start: &[u8]) -> FileKind {
    if !start.starts_with(b"\x7fELF") {
        return FileKind::Other;
    }
    let is_wide = start.get(4) == Some(&2);
    let is_big_endian = start.get(5) == Some(&2);
    let number = |at: usize, size: usize| {
        let bytes = start.get(at..at.checked_add(size)?)?;
        let add = |number: u64, byte: &u8| (number << 8) | u64::from(*byte);
        Some(if is_big_endian {
            bytes.iter().fold(0, add)
        } else {
            bytes.iter().rev().fold(0, add)
        })
    };
    let (table, entry_size, count) = if is_wide {
        (number(32, 8), number(54, 2), number(56, 2))
    } else {
        (number(28, 4), number(42, 2), number(44, 2))
    };
    let has_interpreter = || {
        let (table, entry_size) = (
            usize::try_from(table?).ok()?,
            usize::try_from(entry_size?).ok()?,
        );
        let mut entries = (0..usize::try_from(count?).ok()?).map_while(|index| {
            let at = table.checked_add(index.checked_mul(entry_size)?)?;
            number(at, 4)
        });
        Some(entries.any(|entry| entry == INTERPRETER))
    };
    match number(16, 2).and_then(|kind| u16::try_from(kind).ok()) {
        Some(CORE) => FileKind::Core,
        Some(EXECUTABLE) => FileKind::Program,
        Some(_) if has_interpreter() == Some(true) => FileKind::Program,
        _ => FileKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the beginning of an ELF file of 64 bits with entries of its program header.
    fn elf(kind: u8, entries: &[u8]) -> Vec<u8> {
        let mut start = vec![0; 64];
        start[..6].copy_from_slice(b"\x7fELF\x02\x01");
        start[16] = kind;
        start[32] = 64;
        start[54] = 56;
        start[56] = u8::try_from(entries.len()).expect("a few");
        for &entry in entries {
            start.push(entry);
            start.extend([0; 55]);
        }
        start
    }

    #[test]
    fn programs_have_a_dynamic_linker_or_fixed_addresses() {
        assert_eq!(kind_of(&elf(2, &[1])), FileKind::Program);
        assert_eq!(kind_of(&elf(3, &[6, 3, 1])), FileKind::Program);
        assert_eq!(kind_of(&elf(3, &[1, 1, 2])), FileKind::Other);
        assert_eq!(kind_of(&elf(4, &[4])), FileKind::Core);
        assert_eq!(kind_of(b"words"), FileKind::Other);
        assert_eq!(kind_of(b"\x7fELF"), FileKind::Other);
        let mut damaged = elf(3, &[]);
        damaged[32..40].fill(0xff);
        damaged[56..58].fill(0xff);
        assert_eq!(kind_of(&damaged), FileKind::Other);
        let mut other = elf(0, &[]);
        other[5] = 2;
        other[17] = 4;
        assert_eq!(kind_of(&other), FileKind::Core);
    }

    #[test]
    fn core_files_have_usual_names() {
        for (word, expected) in [
            ("core", true),
            ("/tmp/core.17", true),
            ("prog.core", true),
            ("coreutils", false),
            ("core_count", false),
            ("..", false),
        ] {
            assert_eq!(is_named_as_core(OsStr::new(word)), expected, "{word}");
        }
    }
}
