//! Removing the jumps of a juror that was killed.

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::memory::listed::{
    ENTRY_LENGTH, HEADER_LENGTH, LIST_LENGTH, Listed, TextState, count_in,
};

impl Debuggee {
    /// Takes the jumps of a juror that was killed out of the text, all threads being
    /// stopped. What else it has mapped stays: a thread may be in it.
    pub(crate) fn remove_left_over(&mut self) -> Result<(), DebuggeeError> {
        let maps = self.memory_map().unwrap_or_default();
        let is_list = |mapping: &crate::kernel::mapping::Mapping<'_>| {
            let length = mapping.range.end - mapping.range.start;
            mapping.permissions == "r--p" && mapping.name.is_empty() && length == LIST_LENGTH
        };
        for mapping in crate::kernel::mapping::mappings(&maps).filter(is_list) {
            let list = mapping.range.start;
            let mut header = [0; HEADER_LENGTH as usize];
            self.memory.read_raw(list, &mut header)?;
            let Some(count) = count_in(&header) else {
                continue;
            };
            self.image.is_left_over = true;
            for number in 0..u64::from(count) {
                let mut entry = [0; ENTRY_LENGTH];
                let at = list + HEADER_LENGTH + number * ENTRY_LENGTH as u64;
                self.memory.read_raw(at, &mut entry)?;
                if let Some(listed) = Listed::decode(&entry) {
                    self.remove_listed(&listed)?;
                }
            }
        }
        Ok(())
    }

    fn remove_listed(&self, listed: &Listed) -> Result<(), DebuggeeError> {
        let mut present = vec![0; listed.length()];
        let is_read = self.memory.read_raw(listed.jump, &mut present).is_ok();
        if is_read && listed.state_of(&present) == TextState::Jump {
            self.memory.write_raw(listed.jump, listed.original())
        } else {
            Ok(())
        }
    }

    /// Returns true if a juror was killed that had patched the process.
    pub fn is_left_over(&self) -> bool {
        self.image.is_left_over
    }
}
