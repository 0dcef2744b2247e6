//! ELF files with given sections, on disk where the reader needs them.

use juror_symbols::{SymbolError, SymbolFile};
use std::path::PathBuf;

/// The start of the only code segment of a built file.
pub const CODE: u64 = 0x1000;
/// The size of the code segment in bytes.
pub const CODE_SIZE: u64 = 0x1000;

/// A section of a file to build.
#[derive(Debug, Clone, Copy)]
pub struct Section<'a> {
    /// The name.
    pub name: &'a str,
    /// The load address; 0 for sections that are not loaded.
    pub address: u64,
    /// The contents.
    pub contents: &'a [u8],
}

/// Builds a shared library with these sections and a page of code without a symbol.
pub fn build(sections: &[Section]) -> Vec<u8> {
    let mut names = vec![0_u8];
    let mut body = vec![0_u8; 64 + 56];
    // The type, the flags, and the rest of each row of the section table.
    let mut rows = vec![[0_u64; 6]];
    for section in sections {
        let flags = if section.address == 0 { 0 } else { 2 };
        rows.push([
            names.len() as u64,
            1 | flags << 32,
            section.address,
            body.len() as u64,
            section.contents.len() as u64,
            0,
        ]);
        names.extend_from_slice(section.name.as_bytes());
        names.push(0);
        body.extend_from_slice(section.contents);
    }
    let name_of_names = names.len() as u64;
    names.extend_from_slice(b".shstrtab\0");
    rows.push([
        name_of_names,
        3,
        0,
        body.len() as u64,
        names.len() as u64,
        0,
    ]);
    body.extend_from_slice(&names);
    let table = body.len() as u64;
    for [name, kind_and_flags, address, offset, size, link] in &rows {
        body.extend_from_slice(&(*name as u32).to_le_bytes());
        body.extend_from_slice(&(*kind_and_flags as u32).to_le_bytes());
        for word in [kind_and_flags >> 32, *address, *offset, *size, *link, 1, 0] {
            body.extend_from_slice(&word.to_le_bytes());
        }
    }
    let header = header(table, rows.len() as u16);
    body[..header.len()].copy_from_slice(&header);
    body
}

fn header(table: u64, count: u16) -> Vec<u8> {
    let mut header = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    header.extend_from_slice(&[3, 0, 62, 0, 1, 0, 0, 0]);
    for word in [CODE, 64, table] {
        header.extend_from_slice(&word.to_le_bytes());
    }
    header.extend_from_slice(&[0; 4]);
    for half in [64, 56, 1, 64, count, count - 1] {
        header.extend_from_slice(&half.to_le_bytes());
    }
    // The page of code: readable, executable, and without bytes in the file.
    header.extend_from_slice(&[1, 0, 0, 0, 5, 0, 0, 0]);
    for word in [0, CODE, CODE, 0, CODE_SIZE, 0x1000] {
        header.extend_from_slice(&u64::to_le_bytes(word));
    }
    header
}

/// Opens bytes as a temporary file of this process.
pub fn open(bytes: &[u8]) -> Result<SymbolFile, SymbolError> {
    let path = path();
    std::fs::write(&path, bytes).expect("the scratch directory takes a file");
    let file = SymbolFile::open(&path);
    // The open file stays readable after its removal.
    std::fs::remove_file(&path).expect("the file was just written");
    file
}

fn path() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    let directory = if memory.is_dir() {
        memory
    } else {
        std::env::temp_dir()
    };
    directory.join(format!("juror-fuzz-{}", std::process::id()))
}
