//! The debuggee's memory, with juror's traps hidden.
//!
//! Invariant: a byte under an inserted trap is read and written through
//! [`Memory::read`] and [`Memory::write`] as the program's own byte, while the
//! trap stays; text is changed by [`Memory::insert_trap`] and
//! [`Memory::remove_trap`] only.
//!
//! Everything goes through `/proc/PID/mem`, which writes read-only text and
//! works while threads run; opened once, a transfer is one system call.

pub(crate) mod core_file;
pub(crate) mod listed;
pub(crate) mod text;
pub(crate) mod watchdog;

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use nix::errno::Errno;

use crate::error::DebuggeeError;
use crate::kernel::traps::TRAP;
use crate::kernel::{self, process_status, put_back};
use crate::memory::core_file::CoreMemory;
use crate::memory::listed::JumpList;
use crate::memory::text::TextPatches;
use crate::memory::watchdog::Watchdog;

/// The way to the memory.
#[derive(Debug)]
enum Access {
    File(File),
    /// By requests about a stopped thread: juror has no descriptor left.
    Stopped(u32),
}

impl Access {
    fn read_at(&self, bytes: &mut [u8], address: u64) -> io::Result<usize> {
        match self {
            Access::File(file) => file.read_at(bytes, address),
            Access::Stopped(thread) => kernel::read_memory(*thread, address, bytes),
        }
    }

    fn read_exact_at(&self, bytes: &mut [u8], address: u64) -> io::Result<()> {
        match self {
            Access::File(file) => file.read_exact_at(bytes, address),
            Access::Stopped(thread) => {
                let count = kernel::read_memory(*thread, address, bytes)?;
                let is_whole = count == bytes.len();
                is_whole
                    .then_some(())
                    .ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
            }
        }
    }

    fn write_all_at(&self, bytes: &[u8], address: u64) -> io::Result<()> {
        match self {
            Access::File(file) => file.write_all_at(bytes, address),
            Access::Stopped(thread) => kernel::poke_memory(*thread, address, bytes),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Memory {
    access: Access,
    /// The memory of a core file, which is read in place of `access`.
    core: Option<Box<CoreMemory>>,
    /// The bytes under the inserted traps.
    originals: BTreeMap<u64, u8>,
    /// The bytes under all traps that were ever inserted: a forked child has
    /// those of the moment when it was made, and is only seen later.
    ever_inserted: BTreeMap<u64, u8>,
    /// A byte that has just been read, for the insertion that follows.
    noted: Option<(u64, u8)>,
    /// Notified of every trap, for a process that outlives juror.
    watchdog: Option<Watchdog>,
    /// Whether the traps are out of the text while nothing runs.
    is_quiescent: bool,
    /// The jumps that replace traps, and the instructions behind them.
    pub(crate) patches: TextPatches,
    /// The list of the jumps, for a process that outlives juror.
    pub(crate) list: Option<JumpList>,
}

impl Memory {
    /// Opens the memory; `path` is the file `mem` of a process or of one of its
    /// threads.
    pub(crate) fn open(path: &Path) -> io::Result<Memory> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        Ok(Memory::of_file(file))
    }

    /// Opens the memory of a stopped process that has just been made, also if juror has no
    /// descriptor left: its copy of juror's traps and jumps must not stay.
    pub(crate) fn open_stopped(process: u32) -> io::Result<Memory> {
        let path = process_status::file_of(process, process, "mem");
        match Memory::open(&path) {
            Err(error) if is_lack_of_descriptors(&error) => {
                Ok(Memory::of(Access::Stopped(process)))
            }
            opened => opened,
        }
    }

    /// Returns the memory of a core file, which cannot be written: `file` is
    /// opened for reading.
    pub(crate) fn of_core(file: File, core: CoreMemory) -> Memory {
        let mut memory = Memory::of_file(file);
        memory.core = Some(Box::new(core));
        memory
    }

    fn of_file(file: File) -> Memory {
        Memory::of(Access::File(file))
    }

    fn of(access: Access) -> Memory {
        Memory {
            access,
            core: None,
            originals: BTreeMap::new(),
            ever_inserted: BTreeMap::new(),
            noted: None,
            watchdog: None,
            is_quiescent: false,
            patches: TextPatches::default(),
            list: None,
        }
    }

    /// Starts the watchdog, which restores the text of the process if juror is killed.
    /// No trap may be inserted yet.
    pub(crate) fn start_watchdog(&mut self, process: u32) -> Result<(), Errno> {
        let Access::File(file) = &self.access else {
            return Err(Errno::EMFILE);
        };
        self.watchdog = Some(Watchdog::new(file, process)?);
        Ok(())
    }

    /// Returns the watchdog, if there is one.
    pub(crate) fn watchdog_mut(&mut self) -> Option<&mut Watchdog> {
        self.watchdog.as_mut()
    }

    /// Removes the traps and jumps from the text while nothing runs: they count as
    /// inserted, and [`Memory::end_quiescence`] puts them back.
    pub(crate) fn quiesce(&mut self) -> Result<(), DebuggeeError> {
        if !self.is_quiescent {
            self.is_quiescent = true;
            for (&address, &original) in &self.originals {
                self.restore_original(address, original)?;
            }
            self.take_out_jumps()?;
        }
        Ok(())
    }

    /// Puts the traps and jumps back: something is about to run.
    #[inline]
    pub(crate) fn end_quiescence(&mut self) -> Result<(), DebuggeeError> {
        if self.is_quiescent {
            self.reinsert_traps()?;
        }
        Ok(())
    }

    #[cold]
    fn reinsert_traps(&mut self) -> Result<(), DebuggeeError> {
        self.is_quiescent = false;
        self.put_back_jumps()?;
        for (&address, &original) in &self.originals {
            if self.has_patch(address) {
                continue;
            }
            let mut present = [0];
            // Code that has been unmapped or replaced meanwhile is left alone.
            if self.read_raw(address, &mut present).is_ok() && present == [original] {
                let written = self.write_raw(address, &[TRAP]);
                // Code may be unmapped at this moment, too.
                if written.is_err() && self.read_raw(address, &mut present).is_ok() {
                    return written;
                }
            }
        }
        Ok(())
    }

    /// Fills `bytes` from `address`, traps hidden.
    pub(crate) fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), DebuggeeError> {
        self.read_raw(address, bytes)?;
        self.hide_traps(address, bytes);
        Ok(())
    }

    /// Fills as many leading bytes as are mapped, traps hidden; returns their
    /// number.
    pub(crate) fn read_up_to(&self, address: u64, bytes: &mut [u8]) -> usize {
        let filled = self.read_raw_up_to(address, bytes);
        self.hide_traps(address, &mut bytes[..filled]);
        filled
    }

    /// As [`Memory::read_up_to`], but with the traps.
    pub(crate) fn read_raw_up_to(&self, address: u64, bytes: &mut [u8]) -> usize {
        if let Some(core) = &self.core {
            return core.read_up_to(address, bytes);
        }
        let mut filled = 0;
        while filled < bytes.len() {
            let rest = &mut bytes[filled..];
            match self
                .access
                .read_at(rest, address.wrapping_add(filled as u64))
            {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        filled
    }

    /// Fills `bytes` with the real contents of the memory, including traps.
    pub(crate) fn read_raw(&self, address: u64, bytes: &mut [u8]) -> Result<(), DebuggeeError> {
        if let Some(core) = &self.core {
            return core.read(address, bytes);
        }
        self.access
            .read_exact_at(bytes, address)
            .map_err(|error| failed_at(address, bytes.len(), &error))
    }

    /// Writes the real contents of the memory; no trap may be in the range.
    pub(crate) fn write_raw(&self, address: u64, bytes: &[u8]) -> Result<(), DebuggeeError> {
        if self.core.is_some() {
            return Err(DebuggeeError::NeedsProcess);
        }
        #[cfg(test)]
        if crate::failures::strike_write() {
            let length = bytes.len();
            return Err(DebuggeeError::Memory { address, length });
        }
        self.access
            .write_all_at(bytes, address)
            .map_err(|error| failed_at(address, bytes.len(), &error))
    }

    /// Writes `bytes` from `address` on; inserted traps stay.
    pub(crate) fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), DebuggeeError> {
        let end = address.saturating_add(bytes.len() as u64);
        let kept = self.keep_jumps(address, bytes)?;
        let kept = kept.as_deref().unwrap_or(bytes);
        let mut from = address;
        let mut rest = kept;
        // The pieces between the traps go to memory, the bytes at the traps
        // become their originals.
        while let Some((&trap, _)) = self.originals.range(from..end).next() {
            let (piece, tail) = rest.split_at((trap - from) as usize);
            if !piece.is_empty() {
                self.write_raw(from, piece)?;
            }
            let written = bytes.get((trap - address) as usize);
            let (Some(&byte), Some((_, tail))) = (written, tail.split_first()) else {
                return Ok(());
            };
            self.originals.insert(trap, byte);
            self.ever_inserted.insert(trap, byte);
            if let Some(watchdog) = &mut self.watchdog {
                watchdog.note(trap, byte);
                put_back::note_trap(trap, byte);
            }
            if self.is_quiescent {
                self.write_raw(trap, &[byte])?;
            }
            from = trap + 1;
            rest = tail;
        }
        if rest.is_empty() {
            return Ok(());
        }
        self.write_raw(from, rest)
    }

    pub(crate) fn hide_traps(&self, address: u64, bytes: &mut [u8]) {
        if self.originals.is_empty() {
            return;
        }
        self.patches.hide(address, bytes);
        let end = address.saturating_add(bytes.len() as u64);
        if address >= end {
            return;
        }
        for (trap, original) in self.originals.range(address..end) {
            // Bytes that the program has written over a trap are its own.
            if let Some(byte) = bytes.get_mut((trap - address) as usize)
                && *byte == TRAP
            {
                *byte = *original;
            }
        }
    }

    /// Returns true if a trap of juror's is inserted in a range.
    pub(crate) fn inserted_in(&self, range: std::ops::Range<u64>) -> bool {
        !range.is_empty() && self.originals.range(range).next().is_some()
    }

    /// Returns true if a trap of juror's is inserted here.
    pub(crate) fn is_inserted(&self, address: u64) -> bool {
        self.originals.contains_key(&address)
    }

    /// Returns true if a trap of juror's is or was inserted here.
    pub(crate) fn was_inserted(&self, address: u64) -> bool {
        self.is_inserted(address) || self.ever_inserted.contains_key(&address)
    }

    /// Returns true if the traps are out of the text.
    pub(crate) fn is_quiescent(&self) -> bool {
        self.is_quiescent
    }

    /// Returns true if the program has written over the trap that was inserted
    /// at `address`; `present` are the bytes from there on.
    pub(crate) fn is_overwritten(&self, address: u64, present: &[u8]) -> bool {
        present.first().is_some_and(|&byte| byte != TRAP)
            && self.is_inserted(address)
            && !self.has_patch(address)
    }

    /// Inserts a trap again over what the program has written there.
    pub(crate) fn reinsert_trap(&mut self, address: u64) -> Result<(), DebuggeeError> {
        self.originals.remove(&address);
        self.insert_trap(address)
    }

    /// Inserts a trap, keeping the original byte.
    pub(crate) fn insert_trap(&mut self, address: u64) -> Result<(), DebuggeeError> {
        if self.is_inserted(address) {
            return Ok(());
        }
        let original = match self.noted {
            Some((noted, byte)) if noted == address => byte,
            _ => {
                let mut byte = [0];
                self.read_raw(address, &mut byte)?;
                byte[0]
            }
        };
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.note(address, original);
            put_back::note_trap(address, original);
        }
        if !self.is_quiescent {
            self.write_raw(address, &[TRAP])?;
        }
        self.originals.insert(address, original);
        self.ever_inserted.insert(address, original);
        Ok(())
    }

    /// Passes a byte that the caller has read to [`Memory::insert_trap`], which
    /// then need not read it. Valid until the next call, so it is cleared at
    /// once.
    pub(crate) fn note(&mut self, byte: Option<(u64, u8)>) {
        self.noted = byte;
    }

    /// Removes a trap. If the trap is no longer in memory, the code under it
    /// was unmapped or replaced, and the present contents are left alone.
    pub(crate) fn remove_trap(&mut self, address: u64) -> Result<(), DebuggeeError> {
        let Some(&original) = self.originals.get(&address) else {
            return Ok(());
        };
        // A trap that could not be removed is still known.
        self.restore_original(address, original)?;
        self.originals.remove(&address);
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.forget(address);
        }
        Ok(())
    }

    /// Removes every trap, for good, and checks that the program's bytes are
    /// back; returns the first failure after all were tried. Checked in every
    /// build: afterwards juror may be unable to repair the process.
    pub(crate) fn remove_all_traps(&mut self) -> Result<(), DebuggeeError> {
        let inserted: Vec<(u64, u8)> = self.originals.iter().map(|(&a, &b)| (a, b)).collect();
        inserted
            .into_iter()
            .map(|(address, original)| {
                self.remove_patch(address)?;
                let is_ours = self.holds_trap(address);
                self.remove_trap(address)?;
                let mut present = [0];
                match self.read_raw(address, &mut present) {
                    Ok(()) if is_ours && present != [original] => {
                        Err(DebuggeeError::TextDiffers { address })
                    }
                    _ => Ok(()),
                }
            })
            .fold(Ok(()), Result::and)
    }

    /// Removes the trap that the forked copy `other` of this process may have
    /// at an address, also if this process no longer has it.
    pub(crate) fn restore_in(&self, other: &Memory, address: u64) {
        // A page that the copy does not have needs no repair.
        if !other.holds_trap(address) {
            return;
        }
        let original = match self.originals.get(&address) {
            Some(&original) => Some(original),
            // A trap that is not juror's is the program's own.
            None if self.holds_trap(address) => None,
            None => self.ever_inserted.get(&address).copied(),
        };
        if let Some(original) = original {
            let _ = other.write_raw(address, &[original]);
        }
    }

    /// Removes the traps from a copy of this process that has just been made.
    pub(crate) fn restore_all_in(&self, other: &Memory) {
        for (&address, &original) in &self.originals {
            if other.holds_trap(address) {
                let _ = other.write_raw(address, &[original]);
            }
        }
    }

    /// Restores every byte at which a trap was ever inserted, in a copy that
    /// was made some time ago.
    pub(crate) fn restore_every_trap_in(&self, other: &Memory) {
        for &address in self.ever_inserted.keys() {
            self.restore_in(other, address);
        }
    }

    /// Writes the program's byte in place of a trap, if it is still there. The
    /// process may be killed between the read and the write, and its memory be
    /// gone with it: then no trap is left, which is sufficient.
    fn restore_original(&self, address: u64, original: u8) -> Result<(), DebuggeeError> {
        if !self.holds_trap(address) {
            return Ok(());
        }
        let written = self.write_raw(address, &[original]);
        if self.holds_trap(address) {
            written
        } else {
            Ok(())
        }
    }

    fn holds_trap(&self, address: u64) -> bool {
        let mut present = [0];
        self.read_raw(address, &mut present).is_ok() && present[0] == TRAP
    }
}

/// Returns whether something cannot be opened since there is no descriptor left.
fn is_lack_of_descriptors(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

/// Returns the error of a failed transfer. The kernel transfers nothing,
/// without an error, once no thread uses that memory any more.
fn failed_at(address: u64, length: usize, error: &io::Error) -> DebuggeeError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::WriteZero => DebuggeeError::Gone,
        _ => DebuggeeError::Memory { address, length },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process can open its own memory: traps in a buffer of this test.
    fn own() -> Memory {
        Memory::open(Path::new("/proc/self/mem")).unwrap()
    }

    #[test]
    fn traps_are_hidden_and_survive_writes() {
        let buffer: Box<[u8]> = (0..64).collect();
        let base = buffer.as_ptr() as u64;
        let mut memory = own();
        for offset in [0, 7, 8, 63] {
            memory.insert_trap(base + offset).unwrap();
        }
        let mut seen = [0; 64];
        memory.read(base, &mut seen).unwrap();
        assert_eq!(
            seen,
            *std::array::from_fn::<u8, 64, _>(|i| i as u8).as_slice()
        );
        memory.read_raw(base, &mut seen).unwrap();
        assert_eq!([seen[0], seen[7], seen[8], seen[63]], [TRAP; 4]);

        memory.write(base + 5, &[100, 101, 102, 103, 104]).unwrap();
        memory.write(base + 63, &[200]).unwrap();
        memory.read(base, &mut seen).unwrap();
        assert_eq!(seen[4..11], [4, 100, 101, 102, 103, 104, 10]);
        memory.read_raw(base + 7, &mut seen[..2]).unwrap();
        assert_eq!(seen[..2], [TRAP; 2]);

        memory.remove_all_traps().unwrap();
        memory.read_raw(base, &mut seen).unwrap();
        assert_eq!(seen[4..11], [4, 100, 101, 102, 103, 104, 10]);
        assert_eq!([seen[0], seen[63]], [0, 200]);
    }

    #[test]
    fn replaced_code_is_left_alone() {
        let buffer: Box<[u8]> = vec![1, 2, 3].into();
        let base = buffer.as_ptr() as u64;
        let mut memory = own();
        memory.insert_trap(base + 1).unwrap();
        memory.write_raw(base + 1, &[9]).unwrap();
        memory.remove_trap(base + 1).unwrap();
        let mut seen = [0; 3];
        memory.read(base, &mut seen).unwrap();
        assert_eq!(seen, [1, 9, 3]);
    }

    #[test]
    fn a_trap_that_was_written_over_is_planted_over_what_is_there() {
        let buffer: Box<[u8]> = vec![1, 2, 3].into();
        let base = buffer.as_ptr() as u64;
        let mut memory = own();
        memory.insert_trap(base + 1).unwrap();
        memory.write_raw(base + 1, &[9]).unwrap();
        let mut seen = [0; 3];
        memory.read(base, &mut seen).unwrap();
        assert_eq!(seen, [1, 9, 3]);
        assert!(memory.is_overwritten(base + 1, &seen[1..]));
        memory.reinsert_trap(base + 1).unwrap();
        memory.read_raw(base, &mut seen).unwrap();
        assert_eq!(seen, [1, TRAP, 3]);
        memory.read(base, &mut seen).unwrap();
        assert_eq!(seen, [1, 9, 3]);
        memory.remove_trap(base + 1).unwrap();
        memory.read_raw(base, &mut seen).unwrap();
        assert_eq!(seen, [1, 9, 3]);
    }

    #[test]
    fn memory_that_is_gone_has_no_traps() {
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let name = format!("/proc/{}", child.id());
        let maps = std::fs::read_to_string(Path::new(&name).join("maps")).unwrap();
        let (start, _) = maps.split_once('-').unwrap();
        let start = u64::from_str_radix(start, 16).unwrap();
        let mut memory = Memory::open(&Path::new(&name).join("mem")).unwrap();
        memory.insert_trap(start).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(matches!(
            memory.write_raw(start, &[0]),
            Err(DebuggeeError::Gone)
        ));
        assert!(matches!(
            memory.insert_trap(start + 1),
            Err(DebuggeeError::Gone)
        ));
        memory.quiesce().unwrap();
        memory.end_quiescence().unwrap();
        memory.remove_all_traps().unwrap();
    }

    #[test]
    fn unmapped_memory_is_an_error() {
        let mut memory = own();
        let mut bytes = [0; 8];
        assert!(matches!(
            memory.read(8, &mut bytes),
            Err(DebuggeeError::Memory {
                address: 8,
                length: 8
            })
        ));
        assert!(memory.write(u64::MAX - 3, &[0; 8]).is_err());
        assert!(memory.insert_trap(0).is_err());
        assert_eq!(memory.read_up_to(8, &mut bytes), 0);
    }
}
