//! The jumps in the debuggee's text.

mod at_rest;

use std::collections::BTreeMap;

use crate::error::DebuggeeError;
use crate::kernel::traps::TRAP;
use crate::memory::Memory;

/// The length of the longest jump of a patch, in bytes.
pub(crate) const LONGEST_JUMP: usize = 7;

/// A jump that replaces instructions at a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextPatch {
    /// Its address.
    pub(crate) jump: u64,
    /// Its bytes.
    pub(crate) code: Vec<u8>,
    /// How many of them, at the end, are those of the program.
    pub(crate) shared: usize,
}

impl TextPatch {
    /// Returns the first address behind the jump.
    fn end(&self) -> u64 {
        self.jump.saturating_add(self.code.len() as u64)
    }
}

/// The jumps that were ever written, by the entries of their patches.
#[derive(Debug, Clone, Default)]
pub(crate) struct TextPatches(BTreeMap<u64, Known>);

#[derive(Debug, Clone)]
struct Known {
    patch: TextPatch,
    original: Vec<u8>,
    /// The bytes at the jump when it was first written: its stub is made from them.
    replaced: Vec<u8>,
    is_written: bool,
}

impl TextPatches {
    fn written(&self, entry: u64) -> Option<&Known> {
        self.0.get(&entry).filter(|known| known.is_written)
    }

    /// Returns the written jump that overlaps a range, or one of them.
    fn overlapping(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, &Known)> {
        // Behind an `endbr64` of four bytes at most.
        let from = start.saturating_sub(LONGEST_JUMP as u64 + 4);
        let near = self
            .0
            .range(from..end)
            .map(|(entry, known)| (*entry, known));
        near.filter(move |(_, known)| {
            let patch = &known.patch;
            known.is_written && patch.jump < end && start < patch.end()
        })
    }

    /// Puts the original bytes into what was read from memory.
    pub(crate) fn hide(&self, address: u64, bytes: &mut [u8]) {
        let end = address.saturating_add(bytes.len() as u64);
        for (_, known) in self.overlapping(address, end) {
            let pairs = known.patch.code.iter().zip(&known.original);
            for (at, (code, original)) in (known.patch.jump..).zip(pairs) {
                let place = offset(address, at).and_then(|offset| bytes.get_mut(offset));
                // Bytes that the program has written over the jump are its own.
                if let Some(place) = place.filter(|place| **place == *code) {
                    *place = *original;
                }
            }
        }
    }

    /// Notes that bytes are written to memory: where a jump is, they become its
    /// original bytes. Returns what to write in their place, if that differs.
    fn keep(&mut self, address: u64, bytes: &[u8]) -> Option<Vec<u8>> {
        let end = address.saturating_add(bytes.len() as u64);
        let entries: Vec<u64> = self.overlapping(address, end).map(|it| it.0).collect();
        let mut kept: Option<Vec<u8>> = None;
        for entry in entries {
            let Some(known) = self.0.get_mut(&entry) else {
                continue;
            };
            let kept = kept.get_or_insert_with(|| bytes.to_vec());
            let pairs = known.patch.code.iter().zip(&mut known.original);
            for (at, (code, original)) in (known.patch.jump..).zip(pairs) {
                let place = offset(address, at).and_then(|offset| kept.get_mut(offset));
                if let Some(place) = place {
                    *original = std::mem::replace(place, *code);
                }
            }
        }
        kept
    }
}

/// Returns the offset of `at` in bytes that begin at `start`.
fn offset(start: u64, at: u64) -> Option<usize> {
    usize::try_from(at.checked_sub(start)?).ok()
}

impl Memory {
    /// Returns true if a jump is written at a site.
    #[inline]
    pub(crate) fn has_patch(&self, entry: u64) -> bool {
        self.patches.written(entry).is_some()
    }

    /// Returns true if the program has changed a byte of the jump of a site.
    pub(crate) fn is_jump_overwritten(&self, entry: u64) -> bool {
        let Some(known) = self.patches.written(entry) else {
            return false;
        };
        let mut present = vec![0; known.patch.code.len()];
        // Code that is unmapped was not written over.
        self.read_raw(known.patch.jump, &mut present).is_ok() && present != known.patch.code
    }

    /// Writes a jump in place of the trap at `entry`. Nothing runs. Returns false
    /// if no trap, or another one, is there.
    pub(crate) fn write_patch(
        &mut self,
        entry: u64,
        patch: TextPatch,
    ) -> Result<bool, DebuggeeError> {
        let has_other = self.inserted_in(entry + 1..patch.end());
        if has_other || !self.is_inserted(entry) {
            return Ok(false);
        }
        let mut original = vec![0; patch.code.len()];
        self.read(patch.jump, &mut original)?;
        let replaced = patch.code.len().saturating_sub(patch.shared);
        if original.get(replaced..) != patch.code.get(replaced..) {
            // The instruction there was replaced.
            return Ok(false);
        }
        // Its stub would execute code that the program has replaced since.
        let former = self.patches.0.get(&entry);
        if former.is_some_and(|it| it.patch == patch && it.replaced != original) {
            return Ok(false);
        }
        let mut first = [0];
        self.read(entry, &mut first)?;
        if !self.list_jump(&patch, &original)? {
            return Ok(false);
        }
        if !self.is_quiescent() {
            self.change_jump(patch.jump, |memory| {
                memory.write_raw(patch.jump, &patch.code)?;
                if entry == patch.jump {
                    Ok(())
                } else {
                    memory.write_raw(entry, &first)
                }
            })?;
        }
        let known = Known {
            patch,
            replaced: original.clone(),
            original,
            is_written: true,
        };
        self.patches.0.insert(entry, known);
        Ok(true)
    }

    /// Writes the original bytes in place of a jump, with the trap at its entry.
    /// The trap comes first: a thread that runs there meets the jump or the
    /// trap.
    pub(crate) fn remove_patch(&mut self, entry: u64) -> Result<(), DebuggeeError> {
        let Some(known) = self.patches.written(entry).cloned() else {
            return Ok(());
        };
        if let Some(known) = self.patches.0.get_mut(&entry) {
            known.is_written = false;
        }
        if self.is_quiescent() {
            return Ok(());
        }
        let mut present = vec![0; known.original.len()];
        let is_ours =
            self.read_raw(known.patch.jump, &mut present).is_ok() && present == known.patch.code;
        if !is_ours {
            // The code was unmapped, or the program has replaced it.
            return Ok(());
        }
        self.change_jump(known.patch.jump, |memory| {
            memory.write_raw(entry, &[TRAP])?;
            let skipped = usize::from(entry == known.patch.jump);
            let rest = known.original.get(skipped..).unwrap_or(&[]);
            memory.write_raw(known.patch.jump + skipped as u64, rest)
        })?;
        self.read(known.patch.jump, &mut present)?;
        if present == known.original {
            Ok(())
        } else {
            Err(DebuggeeError::TextDiffers { address: entry })
        }
    }

    /// Writes the original bytes of the patch at a site in a copy of this process,
    /// if it has the jump.
    pub(crate) fn restore_patch_in(&self, other: &Memory, entry: u64) {
        let Some(known) = self.patches.0.get(&entry) else {
            return;
        };
        let mut present = vec![0; known.original.len()];
        let jump = known.patch.jump;
        if other.read_raw(jump, &mut present).is_ok() && present == known.patch.code {
            let _ = other.write_raw(jump, &known.original);
        }
    }

    /// As [`Memory::restore_patch_in`], for every patch that there ever was.
    pub(crate) fn restore_every_patch_in(&self, other: &Memory) {
        for entry in self.patches.0.keys() {
            self.restore_patch_in(other, *entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    pub(crate) const CODE: [u8; 5] = [0xe9, 0xf4, 0xcc, 3, 4];

    /// A process can open its own memory: a trap in a buffer.
    pub(crate) fn with_trap(buffer: &[u8], entry: u64) -> Memory {
        let mut memory = Memory::open(Path::new("/proc/self/mem")).unwrap();
        memory.insert_trap(buffer.as_ptr() as u64 + entry).unwrap();
        memory
    }

    /// A jump at an offset of a buffer.
    pub(crate) fn patched(buffer: &[u8], entry: u64, jump: u64) -> Memory {
        let base = buffer.as_ptr() as u64;
        let mut memory = with_trap(buffer, entry);
        let patch = TextPatch {
            jump: base + jump,
            code: CODE.to_vec(),
            shared: 0,
        };
        assert!(memory.write_patch(base + entry, patch).unwrap());
        memory
    }

    pub(crate) fn shown(memory: &Memory, buffer: &[u8]) -> Vec<u8> {
        let mut seen = vec![0; buffer.len()];
        memory.read(buffer.as_ptr() as u64, &mut seen).unwrap();
        seen
    }

    pub(crate) fn present(memory: &Memory, buffer: &[u8]) -> Vec<u8> {
        let mut seen = vec![0; buffer.len()];
        memory.read_raw(buffer.as_ptr() as u64, &mut seen).unwrap();
        seen
    }

    #[test]
    fn a_jump_is_hidden_and_leaves_the_trap() {
        for (entry, jump) in [(2, 2), (2, 6)] {
            let buffer: Box<[u8]> = (0..16).collect();
            let original = buffer.to_vec();
            let mut memory = patched(&buffer, entry, jump);
            assert_eq!(shown(&memory, &buffer), original);
            let mut expected = original.clone();
            expected[jump as usize..][..CODE.len()].copy_from_slice(&CODE);
            assert_eq!(present(&memory, &buffer), expected);
            memory.remove_patch(buffer.as_ptr() as u64 + entry).unwrap();
            let mut expected = original.clone();
            expected[entry as usize] = TRAP;
            assert_eq!(present(&memory, &buffer), expected);
        }
    }

    /// A jump with a prefix, whose last three bytes are the program's.
    #[test]
    fn a_jump_shares_the_bytes_behind_its_head() {
        let buffer: Box<[u8]> = (0..16).collect();
        let original = buffer.to_vec();
        let base = buffer.as_ptr() as u64;
        let patch = |code: [u8; 6]| TextPatch {
            jump: base + 2,
            code: code.to_vec(),
            shared: 3,
        };
        let mut memory = with_trap(&buffer, 2);
        // Other bytes are there.
        let other = patch([0x2e, 0xe9, 99, 5, 6, 77]);
        assert!(!memory.write_patch(base + 2, other).unwrap());
        assert_eq!(present(&memory, &buffer)[2], TRAP);
        let jump = patch([0x2e, 0xe9, 99, 5, 6, 7]);
        assert!(memory.write_patch(base + 2, jump).unwrap());
        let mut expected = original.clone();
        expected[2..5].copy_from_slice(&[0x2e, 0xe9, 99]);
        assert_eq!(present(&memory, &buffer), expected);
        assert_eq!(shown(&memory, &buffer), original);
        // What is written behind the head does not change the jump.
        memory.write(base + 6, &[106, 107, 108]).unwrap();
        expected[8] = 108;
        assert_eq!(present(&memory, &buffer), expected);
        assert_eq!(shown(&memory, &buffer)[6..9], [106, 107, 108]);
        memory.remove_patch(base + 2).unwrap();
        assert_eq!(present(&memory, &buffer)[6..9], [106, 107, 108]);
        memory.remove_all_traps().unwrap();
        assert_eq!(present(&memory, &buffer)[..6], original[..6]);
    }

    #[test]
    fn what_is_written_over_a_jump_comes_when_the_jump_goes() {
        let buffer: Box<[u8]> = (0..16).collect();
        let base = buffer.as_ptr() as u64;
        let mut memory = patched(&buffer, 2, 2);
        memory.write(base + 1, &[101, 102, 103]).unwrap();
        memory.write(base + 5, &[105, 106, 107, 108]).unwrap();
        let mut expected: Vec<u8> = (0..16).collect();
        expected[1..4].copy_from_slice(&[101, 102, 103]);
        expected[5..9].copy_from_slice(&[105, 106, 107, 108]);
        assert_eq!(shown(&memory, &buffer), expected);
        assert_eq!(present(&memory, &buffer)[2..7], CODE);
        memory.remove_patch(base + 2).unwrap();
        assert_eq!(shown(&memory, &buffer), expected);
        memory.remove_all_traps().unwrap();
        assert_eq!(present(&memory, &buffer), expected);
    }
}
