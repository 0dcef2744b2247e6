//! The jumps in the debuggee's text.

use std::collections::BTreeMap;
use std::ops::Range;

use super::JUMP_LENGTH;
use crate::error::DebuggeeError;
use crate::memory::{Memory, TRAP};

/// A jump that replaces instructions at a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextPatch {
    /// Its address.
    pub(crate) jump: u64,
    /// Its bytes.
    pub(crate) code: [u8; JUMP_LENGTH],
}

/// The jumps that were ever written, by the entries of their patches.
#[derive(Debug, Clone, Default)]
pub(crate) struct TextPatches(BTreeMap<u64, Known>);

#[derive(Debug, Clone, Copy)]
struct Known {
    patch: TextPatch,
    original: [u8; JUMP_LENGTH],
    is_written: bool,
}

impl TextPatches {
    fn written(&self, entry: u64) -> Option<&Known> {
        self.0.get(&entry).filter(|known| known.is_written)
    }

    /// Returns the written jump that overlaps a range, or one of them.
    fn overlapping(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, &Known)> {
        // Behind an `endbr64` of four bytes at most.
        let from = start.saturating_sub(JUMP_LENGTH as u64 + 4);
        let near = self
            .0
            .range(from..end)
            .map(|(entry, known)| (*entry, known));
        near.filter(move |(_, known)| {
            let jump = known.patch.jump;
            known.is_written && jump < end && start < jump + JUMP_LENGTH as u64
        })
    }

    /// Puts the original bytes into what was read from memory.
    pub(crate) fn hide(&self, address: u64, bytes: &mut [u8]) {
        let end = address.saturating_add(bytes.len() as u64);
        for (_, known) in self.overlapping(address, end) {
            let pairs = known.patch.code.iter().zip(&known.original);
            for (at, (code, original)) in (known.patch.jump..).zip(pairs) {
                let place = at
                    .checked_sub(address)
                    .and_then(|offset| bytes.get_mut(usize::try_from(offset).ok()?));
                // Bytes that the program has written over the jump are its own.
                if let Some(place) = place.filter(|place| **place == *code) {
                    *place = *original;
                }
            }
        }
    }
}

impl Memory {
    /// Returns true if a jump is written at a site.
    #[inline]
    pub(crate) fn has_patch(&self, entry: u64) -> bool {
        self.patches.written(entry).is_some()
    }

    /// Returns the entry of the written jump to whose bytes an address belongs.
    pub(crate) fn patch_over(&self, address: u64) -> Option<u64> {
        self.patch_in(address..address.saturating_add(1))
    }

    /// Returns the entry of a written jump that overlaps a range.
    pub(crate) fn patch_in(&self, range: Range<u64>) -> Option<u64> {
        let mut found = self.patches.overlapping(range.start, range.end);
        found.next().map(|(entry, _)| entry)
    }

    /// Writes a jump in place of the trap at `entry`. Nothing runs. Returns false
    /// if no trap, or another one, is there.
    pub(crate) fn write_patch(
        &mut self,
        entry: u64,
        patch: TextPatch,
    ) -> Result<bool, DebuggeeError> {
        let end = patch.jump + JUMP_LENGTH as u64;
        let has_other = self.inserted_in(entry + 1..end);
        if has_other || !self.is_inserted(entry) || self.is_quiescent() {
            return Ok(false);
        }
        let mut original = [0; JUMP_LENGTH];
        self.read(patch.jump, &mut original)?;
        let mut first = [0];
        self.read(entry, &mut first)?;
        let known = Known {
            patch,
            original,
            is_written: true,
        };
        self.write_raw(patch.jump, &patch.code)?;
        if entry != patch.jump {
            self.write_raw(entry, &first)?;
        }
        self.patches.0.insert(entry, known);
        Ok(true)
    }

    /// Writes the original bytes in place of a jump, with the trap at its entry.
    /// The trap comes first: a thread that runs there meets the jump or the
    /// trap.
    pub(crate) fn remove_patch(&mut self, entry: u64) -> Result<(), DebuggeeError> {
        let Some(known) = self.patches.written(entry).copied() else {
            return Ok(());
        };
        if let Some(known) = self.patches.0.get_mut(&entry) {
            known.is_written = false;
        }
        let mut present = [0; JUMP_LENGTH];
        let is_ours =
            self.read_raw(known.patch.jump, &mut present).is_ok() && present == known.patch.code;
        if !is_ours {
            // The code was unmapped, or the program has replaced it.
            return Ok(());
        }
        self.write_raw(entry, &[TRAP])?;
        let skipped = usize::from(entry == known.patch.jump);
        let rest = known.original.get(skipped..).unwrap_or(&[]);
        self.write_raw(known.patch.jump + skipped as u64, rest)?;
        let mut present = [0; JUMP_LENGTH];
        self.read(known.patch.jump, &mut present)?;
        match present == known.original {
            true => Ok(()),
            false => Err(DebuggeeError::TextDiffers { address: entry }),
        }
    }

    /// Writes the original bytes in a copy of this process that may have been
    /// made while a jump was written.
    pub(crate) fn restore_patches_in(&self, other: &Memory) {
        for known in self.patches.0.values() {
            let mut present = [0; JUMP_LENGTH];
            let jump = known.patch.jump;
            if other.read_raw(jump, &mut present).is_ok() && present == known.patch.code {
                let _ = other.write_raw(jump, &known.original);
            }
        }
    }
}
