//! The memory of a core file.
//!
//! Invariant: a byte is given only if it is known: it is in the core file, or
//! in a mapped file of the same build, in a part that no program changes. What
//! is neither is not readable, and never zero.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use juror_corefile::{CoreFile, PAGE, Place};

use crate::error::DebuggeeError;

/// A mapped file whose contents are those that the process saw.
#[derive(Debug)]
pub(crate) struct SameFile {
    /// Where a part of it was mapped.
    pub(crate) range: Range<u64>,
    /// The offset of that part.
    pub(crate) offset: u64,
    pub(crate) file: Arc<File>,
    /// The offsets whose contents no program changes.
    pub(crate) unchanged: Arc<[Range<u64>]>,
}

/// The memory of a core file.
#[derive(Debug)]
pub(crate) struct CoreMemory {
    core: Arc<CoreFile>,
    file: File,
    same: Vec<SameFile>,
}

impl CoreMemory {
    pub(crate) fn new(core: Arc<CoreFile>, file: File) -> CoreMemory {
        CoreMemory {
            core,
            file,
            same: Vec::new(),
        }
    }

    /// Allows to read what was left out from a mapped file.
    pub(crate) fn add(&mut self, same: SameFile) {
        self.same.push(same);
    }

    /// Fills as many leading bytes as are known; returns their number.
    pub(crate) fn read_up_to(&self, address: u64, bytes: &mut [u8]) -> usize {
        self.fill(address, bytes, true)
    }

    /// Fills all bytes.
    ///
    /// # Errors
    /// Some are not known: mapped and left out, or not mapped at all.
    pub(crate) fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), DebuggeeError> {
        let length = bytes.len();
        let filled = self.read_up_to(address, bytes);
        if filled == length {
            return Ok(());
        }
        let missing = address.saturating_add(filled as u64);
        Err(match self.core.place_of(missing) {
            Place::Unmapped if self.core.file_at(missing).is_none() => {
                DebuggeeError::Memory { address, length }
            }
            Place::Stored { .. } | Place::LeftOut { .. } | Place::Unmapped => {
                DebuggeeError::NotStored { address, length }
            }
        })
    }

    /// As [`CoreMemory::read_up_to`], of what is in the core file itself.
    pub(crate) fn read_stored(&self, address: u64, bytes: &mut [u8]) -> usize {
        self.fill(address, bytes, false)
    }

    fn fill(&self, address: u64, bytes: &mut [u8], with_files: bool) -> usize {
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            let Some(at) = address.checked_add(filled as u64) else {
                break;
            };
            let count = match self.core.place_of(at) {
                Place::Stored { offset, count } => read(&self.file, offset, limited(rest, count)),
                Place::LeftOut { count } if with_files => self.of_file(at, limited(rest, count)),
                // gdb does not even list what it leaves out.
                Place::Unmapped if with_files => self.of_file(at, limited(rest, PAGE - at % PAGE)),
                Place::LeftOut { .. } | Place::Unmapped => 0,
            };
            if count == 0 {
                break;
            }
            filled += count;
        }
        filled
    }

    /// Reads what the core file leaves out from the mapped file.
    fn of_file(&self, address: u64, bytes: &mut [u8]) -> usize {
        let found = self.same.iter().find(|same| same.range.contains(&address));
        let Some(same) = found else {
            return 0;
        };
        let Some(offset) = same.offset.checked_add(address - same.range.start) else {
            return 0;
        };
        let mut unchanged = same.unchanged.iter();
        let Some(part) = unchanged.find(|part| part.contains(&offset)) else {
            return 0;
        };
        let count = (part.end - offset).min(same.range.end - address);
        read(&same.file, offset, limited(bytes, count))
    }
}

fn limited(bytes: &mut [u8], count: u64) -> &mut [u8] {
    let count = usize::try_from(count)
        .unwrap_or(usize::MAX)
        .min(bytes.len());
    bytes.get_mut(..count).unwrap_or_default()
}

/// Fills as many leading bytes as the file has at an offset.
pub(crate) fn read(file: &File, offset: u64, bytes: &mut [u8]) -> usize {
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, offset.saturating_add(filled as u64)) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    filled
}
