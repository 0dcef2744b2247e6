//! The list of the jumps in the text of an attached process, kept in the process itself.
//!
//! If juror is killed, its watchdog finds the jumps there and takes them out of the
//! text. If it cannot, they stay, and lead to stubs that do nothing; a juror that
//! attaches later takes them out. A forked child has the list, too.
//!
//! ```text
//! MAGIC | number of entries | 0 ...
//! entries: address of the jump | length | the jump | the original bytes
//! ```
//!
//! The memory is readable for the process, and has a length that is unlikely otherwise;
//! juror writes to it as to text.
//!
//! Invariant: a jump is in the list before it is in the text. An entry is written at once
//! and never leaves, since the stubs stay, too.

use std::collections::BTreeMap;

use super::text::{LONGEST_JUMP, TextPatch};
use crate::error::DebuggeeError;
use crate::kernel::traps::TRAP;
use crate::memory::Memory;

/// The first word of a list.
const MAGIC: u64 = u64::from_le_bytes(*b"jrpatch1");
/// The length of the header in bytes.
pub(crate) const HEADER_LENGTH: u64 = 64;
/// The length of an entry in bytes.
pub(crate) const ENTRY_LENGTH: usize = 32;
/// The maximum number of jumps.
const ENTRY_COUNT: u32 = 1 << 16;
/// The length of the memory of a list, in whole pages.
pub(crate) const LIST_LENGTH: u64 = (ENTRY_COUNT as u64 * ENTRY_LENGTH as u64) + (3 << 12);

/// A jump of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Its address.
    pub(crate) jump: u64,
    length: usize,
    code: [u8; Listed::LONGEST],
    original: [u8; Listed::LONGEST],
}

/// The state of the text at a jump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextState {
    /// The jump.
    Jump,
    /// The original bytes, perhaps with the trap before them.
    Original,
    /// Some bytes of each.
    Mixed,
    /// Something that is not juror's.
    Other,
}

impl Listed {
    /// The length of the longest jump, in bytes, and one more: a word.
    pub(crate) const LONGEST: usize = LONGEST_JUMP + 1;

    /// Returns the entry of a jump; none if it is too long.
    fn new(jump: u64, code: &[u8], original: &[u8]) -> Option<Listed> {
        let mut listed = Listed {
            jump,
            length: code.len(),
            code: [0; Listed::LONGEST],
            original: [0; Listed::LONGEST],
        };
        if code.len() != original.len() {
            return None;
        }
        listed.code.get_mut(..code.len())?.copy_from_slice(code);
        let room = listed.original.get_mut(..code.len())?;
        room.copy_from_slice(original);
        Some(listed)
    }

    fn encode(&self) -> [u8; ENTRY_LENGTH] {
        let mut bytes = [0; ENTRY_LENGTH];
        let words = [
            self.jump.to_le_bytes(),
            (self.length as u64).to_le_bytes(),
            self.code,
            self.original,
        ];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word);
        }
        bytes
    }

    /// Returns what an entry says; none for one that is none.
    pub(crate) fn decode(bytes: &[u8; ENTRY_LENGTH]) -> Option<Listed> {
        let word = |at: usize| bytes.get(8 * at..)?.first_chunk::<8>().copied();
        let length = usize::try_from(u64::from_le_bytes(word(1)?)).ok()?;
        (1..=Listed::LONGEST).contains(&length).then_some(Listed {
            jump: u64::from_le_bytes(word(0)?),
            length,
            code: word(2)?,
            original: word(3)?,
        })
    }

    /// Returns the length of the jump in bytes.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Returns the original bytes.
    pub(crate) fn original(&self) -> &[u8] {
        self.original.get(..self.length).unwrap_or_default()
    }

    /// Returns what these bytes of the text are.
    pub(crate) fn state_of(&self, present: &[u8]) -> TextState {
        let code = self.code.get(..self.length).unwrap_or_default();
        let original = self.original();
        if present == code {
            return TextState::Jump;
        }
        if present == original {
            return TextState::Original;
        }
        let is_ours = |(at, byte): (usize, &u8)| {
            Some(byte) == code.get(at) || Some(byte) == original.get(at) || at == 0 && *byte == TRAP
        };
        let is_trap = present.first() == Some(&TRAP) && present.get(1..) == original.get(1..);
        match present.len() == self.length && present.iter().enumerate().all(is_ours) {
            true if is_trap => TextState::Original,
            true => TextState::Mixed,
            false => TextState::Other,
        }
    }
}

/// Returns the number of entries that a header says; none if it is no header.
pub(crate) fn count_in(header: &[u8; HEADER_LENGTH as usize]) -> Option<u32> {
    let word = |at: usize| {
        let bytes = header.get(8 * at..)?.first_chunk::<8>()?;
        Some(u64::from_le_bytes(*bytes))
    };
    let count = u32::try_from(word(1)?).ok()?;
    (word(0)? == MAGIC).then_some(count.min(ENTRY_COUNT))
}

/// The list of a process.
#[derive(Debug)]
pub(crate) struct JumpList {
    address: u64,
    /// Its entries and their numbers, by address of the jump.
    known: BTreeMap<u64, (u32, Listed)>,
}

impl JumpList {
    fn header(&self) -> Vec<u8> {
        let words = [MAGIC, self.known.len() as u64];
        words.into_iter().flat_map(u64::to_le_bytes).collect()
    }
}

impl Memory {
    /// Begins a list in memory that was mapped for it.
    pub(crate) fn begin_list(&mut self, address: u64) -> Result<(), DebuggeeError> {
        let list = JumpList {
            address,
            known: BTreeMap::new(),
        };
        self.write_raw(address, &list.header())?;
        self.list = Some(list);
        if let Some(watchdog) = self.watchdog_mut() {
            watchdog.note_list(address);
        }
        Ok(())
    }

    /// Forgets the list, whose memory is about to be unmapped, and returns its address.
    pub(crate) fn end_list(&mut self) -> Option<u64> {
        let list = self.list.take()?;
        if let Some(watchdog) = self.watchdog_mut() {
            watchdog.note_list(0);
        }
        Some(list.address)
    }

    /// Returns the address of the list, if there is one.
    pub(crate) fn list_address(&self) -> Option<u64> {
        Some(self.list.as_ref()?.address)
    }

    /// Adds a jump to the list, if there is one, or changes what it says of the original
    /// bytes. Returns false if it has no room.
    pub(crate) fn list_jump(
        &mut self,
        patch: &TextPatch,
        original: &[u8],
    ) -> Result<bool, DebuggeeError> {
        let Some(list) = &mut self.list else {
            return Ok(true);
        };
        let Some(listed) = Listed::new(patch.jump, &patch.code, original) else {
            return Ok(false);
        };
        let known = list.known.get(&patch.jump).copied();
        if known.is_some_and(|(_, known)| known == listed) {
            return Ok(true);
        }
        let number = known.map_or(list.known.len() as u32, |(number, _)| number);
        if number >= ENTRY_COUNT {
            return Ok(false);
        }
        list.known.insert(patch.jump, (number, listed));
        let (address, header) = (list.address, list.header());
        let at = address + HEADER_LENGTH + u64::from(number) * ENTRY_LENGTH as u64;
        self.write_raw(at, &listed.encode())?;
        if known.is_none() {
            self.write_raw(address, &header)?;
        }
        Ok(true)
    }

    /// Changes the text of a jump that is in the list, if there is one: the watchdog
    /// completes what is half done.
    pub(crate) fn change_jump(
        &mut self,
        jump: u64,
        change: impl FnOnce(&Memory) -> Result<(), DebuggeeError>,
    ) -> Result<(), DebuggeeError> {
        let list = self.list.as_ref();
        let number = list.and_then(|list| Some(list.known.get(&jump)?.0));
        if let Some(watchdog) = self.watchdog_mut() {
            watchdog.note_change(number);
        }
        let changed = change(self);
        if let Some(watchdog) = self.watchdog_mut() {
            watchdog.note_change(None);
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed() -> Listed {
        Listed::new(0x1234, &[0xe9, 1, 2, 3, 4], &[0x55, 6, 7, 3, 9]).unwrap()
    }

    #[test]
    fn an_entry_is_what_it_was_made_of() {
        assert_eq!(Listed::decode(&listed().encode()), Some(listed()));
        assert_eq!(Listed::decode(&[0; ENTRY_LENGTH]), None);
        assert_eq!(Listed::decode(&[0xff; ENTRY_LENGTH]), None);
        assert!(Listed::new(1, &[0; 9], &[0; 9]).is_none());
    }

    #[test]
    fn a_header_says_how_many_there_are() {
        let mut list = JumpList {
            address: 0,
            known: BTreeMap::new(),
        };
        list.known.insert(7, (0, listed()));
        let mut header = list.header();
        header.resize(HEADER_LENGTH as usize, 0);
        assert_eq!(count_in(header.first_chunk().unwrap()), Some(1));
        header[0] ^= 1;
        assert_eq!(count_in(header.first_chunk().unwrap()), None);
    }

    #[test]
    fn the_text_is_a_jump_or_original_or_half_written() {
        for (present, expected) in [
            ([0xe9, 1, 2, 3, 4], TextState::Jump),
            ([0x55, 6, 7, 3, 9], TextState::Original),
            ([0xcc, 6, 7, 3, 9], TextState::Original),
            ([0xcc, 1, 2, 3, 4], TextState::Mixed),
            ([0xe9, 1, 7, 3, 9], TextState::Mixed),
            ([0x55, 6, 0xcc, 3, 9], TextState::Other),
            ([0, 0, 0, 0, 0], TextState::Other),
        ] {
            assert_eq!(listed().state_of(&present), expected, "{present:x?}");
        }
        assert_eq!(listed().state_of(&[0xe9]), TextState::Other);
    }
}
