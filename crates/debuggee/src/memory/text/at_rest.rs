//! The text while nothing runs, and the list of the jumps in it.
//!
//! A process that outlives juror has no jump in its text at rest (`quiesce`), though each
//! counts as written.

use super::{Known, Memory};
use crate::error::DebuggeeError;

impl Memory {
    /// Writes the original bytes in place of the jumps, which count as written.
    pub(crate) fn take_out_jumps(&mut self) -> Result<(), DebuggeeError> {
        self.exchange_jumps(|known| (known.patch.code.clone(), known.original.clone()))
    }

    /// Writes the jumps again that [`Memory::take_out_jumps`] has taken out.
    pub(crate) fn put_back_jumps(&mut self) -> Result<(), DebuggeeError> {
        self.exchange_jumps(|known| (known.original.clone(), known.patch.code.clone()))
    }

    /// Replaces, for each jump that counts as written, the first bytes by the second. Code
    /// that has been unmapped or replaced meanwhile is left alone.
    fn exchange_jumps(
        &mut self,
        bytes: impl Fn(&Known) -> (Vec<u8>, Vec<u8>),
    ) -> Result<(), DebuggeeError> {
        let written = self.patches.0.values().filter(|known| known.is_written);
        let exchanged: Vec<_> = written
            .map(|known| (known.patch.jump, bytes(known)))
            .collect();
        for (jump, (before, after)) in exchanged {
            let mut present = vec![0; before.len()];
            if self.read_raw(jump, &mut present).is_err() || present != before {
                continue;
            }
            let written = self.change_jump(jump, |memory| memory.write_raw(jump, &after));
            // Code may be unmapped at this moment, too.
            if written.is_err() && self.read_raw(jump, &mut present).is_ok() {
                return written;
            }
        }
        Ok(())
    }

    /// Notes that bytes are written to memory: where a jump is, they become its original
    /// bytes. Returns what to write in their place, if that differs.
    pub(crate) fn keep_jumps(
        &mut self,
        address: u64,
        bytes: &[u8],
    ) -> Result<Option<Vec<u8>>, DebuggeeError> {
        let kept = self.patches.keep(address, bytes);
        if kept.is_none() {
            return Ok(None);
        }
        let end = address.saturating_add(bytes.len() as u64);
        let changed = self.patches.overlapping(address, end);
        let changed: Vec<Known> = changed.map(|(_, known)| known.clone()).collect();
        for known in changed {
            self.list_jump(&known.patch, &known.original)?;
        }
        Ok(kept.filter(|_| !self.is_quiescent()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::TextPatch;
    use super::super::tests::{CODE, patched, present, shown, with_trap};
    use super::*;
    use crate::kernel::traps::TRAP;
    use crate::memory::listed::{ENTRY_LENGTH, Listed, TextState};

    /// At rest the text is the program's own, and jumps come and go all the same.
    #[test]
    fn a_jump_is_out_of_the_text_while_nothing_runs() {
        for (entry, jump) in [(2, 2), (2, 6)] {
            let buffer: Box<[u8]> = (0..16).collect();
            let original = buffer.to_vec();
            let base = buffer.as_ptr() as u64;
            let mut memory = patched(&buffer, entry, jump);
            let with_jump = present(&memory, &buffer);
            memory.quiesce().unwrap();
            assert_eq!(present(&memory, &buffer), original);
            assert!(memory.has_patch(base + entry));
            assert_eq!(shown(&memory, &buffer), original);
            memory.end_quiescence().unwrap();
            assert_eq!(present(&memory, &buffer), with_jump);

            memory.quiesce().unwrap();
            memory.remove_patch(base + entry).unwrap();
            assert_eq!(present(&memory, &buffer), original);
            memory.end_quiescence().unwrap();
            let mut with_trap = original.clone();
            with_trap[entry as usize] = TRAP;
            assert_eq!(present(&memory, &buffer), with_trap);

            memory.quiesce().unwrap();
            let patch = TextPatch {
                jump: base + jump,
                code: CODE.to_vec(),
                shared: 0,
            };
            assert!(memory.write_patch(base + entry, patch).unwrap());
            assert_eq!(present(&memory, &buffer), original);
            memory.end_quiescence().unwrap();
            assert_eq!(present(&memory, &buffer), with_jump);
        }
    }

    #[test]
    fn what_is_written_at_rest_is_there_at_once_and_stays() {
        let buffer: Box<[u8]> = (0..16).collect();
        let base = buffer.as_ptr() as u64;
        let mut memory = patched(&buffer, 2, 2);
        memory.quiesce().unwrap();
        memory.write(base + 1, &[101, 102, 103]).unwrap();
        let mut expected: Vec<u8> = (0..16).collect();
        expected[1..4].copy_from_slice(&[101, 102, 103]);
        assert_eq!(present(&memory, &buffer), expected);
        memory.end_quiescence().unwrap();
        assert_eq!(present(&memory, &buffer)[2..7], CODE);
        assert_eq!(shown(&memory, &buffer), expected);
        memory.remove_patch(base + 2).unwrap();
        memory.remove_all_traps().unwrap();
        assert_eq!(present(&memory, &buffer), expected);
    }

    /// The list says what was there, also of bytes that were written since.
    #[test]
    fn a_jump_is_in_the_list_of_a_process_that_outlives_juror() {
        let list: Box<[u8]> = vec![0; 256].into();
        let buffer: Box<[u8]> = (0..16).collect();
        let base = buffer.as_ptr() as u64;
        let mut memory = with_trap(&buffer, 2);
        memory.begin_list(list.as_ptr() as u64).unwrap();
        let patch = TextPatch {
            jump: base + 2,
            code: CODE.to_vec(),
            shared: 0,
        };
        assert!(memory.write_patch(base + 2, patch).unwrap());
        let entry = |memory: &Memory| {
            let mut bytes = [0; ENTRY_LENGTH];
            memory
                .read_raw(list.as_ptr() as u64 + 64, &mut bytes)
                .unwrap();
            Listed::decode(&bytes).unwrap()
        };
        assert_eq!(entry(&memory).jump, base + 2);
        assert_eq!(entry(&memory).original(), [2, 3, 4, 5, 6]);
        memory.write(base + 4, &[104]).unwrap();
        assert_eq!(entry(&memory).original(), [2, 3, 104, 5, 6]);
        let now = present(&memory, &buffer);
        assert_eq!(entry(&memory).state_of(&now[2..7]), TextState::Jump);
    }
}
