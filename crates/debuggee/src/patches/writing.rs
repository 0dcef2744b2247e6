//! Writing patches, and replacing them by traps.

use std::ops::Range;
use std::sync::Arc;

use juror_stepping::{Input, Owner};

use super::{Patch, STRAYS_MAX, Stub};
use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;

impl Debuggee {
    /// Returns true if a patch is at a site.
    pub fn is_patched(&self, entry: u64) -> bool {
        self.driver.engine.is_patched(entry)
    }

    /// Returns true if nothing but so many inserts of one owner is at the site, and
    /// nothing in the other bytes that the patch takes, so that it may be written
    /// while all threads are stopped.
    pub fn may_be_patched(&self, patch: &Patch, owned: (Owner, u32)) -> bool {
        let engine = &self.driver.engine;
        let text = patch.entry..patch.end.max(patch.jump_end());
        !self.has_many_strays(patch.entry) && engine.has_room_for_patch(text, owned)
    }

    /// Writes a patch at a site of so many inserts of one owner, while all threads
    /// are stopped. Returns false, and changes nothing, if the engine does not
    /// grant it.
    pub fn patch(
        &mut self,
        patch: Patch,
        (owner, count): (Owner, u32),
    ) -> Result<bool, DebuggeeError> {
        let (entry, end, jump_end) = (patch.entry, patch.end, patch.jump_end());
        let Some(twin) = patch.stub.twin_of(entry) else {
            return Ok(false);
        };
        let is_granted = self
            .driver
            .engine
            .may_be_patched(entry..end, jump_end, (owner, count));
        if !is_granted || self.has_many_strays(entry) || !self.has_list_if_needed()? {
            return Ok(false);
        }
        if self.image.patches.has_threads || self.threads.len() > 1 {
            self.image.patches.has_threads = true;
            self.lock(&patch.stub)?;
        }
        let start = patch.stub.range().start;
        let patches = &mut self.image.patches;
        // Threads that stand in the head come in once each time the jump is written.
        patches.strays.remove(&entry);
        patches.stubs.insert(start, Arc::clone(&patch.stub));
        patches.entries.insert(start, entry);
        patches.list.insert(entry, patch);
        self.feed(Input::Patch {
            address: entry,
            end,
            jump_end,
            owner,
            count,
            twin,
        })?;
        Ok(self.is_patched(entry))
    }

    /// Returns true if so many branches have led into the jump that a trap at the entry
    /// costs less.
    pub fn has_many_strays(&self, entry: u64) -> bool {
        let strays = self.image.patches.strays.get(&entry);
        strays.is_some_and(|count| *count >= STRAYS_MAX)
    }

    /// Has the atomic instructions of all stubs lock the memory, before a second thread
    /// runs. No thread is in the middle of one: the first is making the second.
    pub(crate) fn lock_stubs(&mut self) -> Result<(), DebuggeeError> {
        if self.image.patches.has_threads || !self.image.patches.is_any() {
            return Ok(());
        }
        self.image.patches.has_threads = true;
        let stubs: Vec<Arc<dyn Stub>> = self.image.patches.stubs.values().cloned().collect();
        stubs.iter().try_for_each(|stub| self.lock(stub))
    }

    /// Writes the lock prefixes of a stub, with what is between them: each write is a system
    /// call.
    fn lock(&self, stub: &Arc<dyn Stub>) -> Result<(), DebuggeeError> {
        /// The prefix `lock`.
        const LOCK: u8 = 0xf0;
        let prefixes = stub.lock_prefixes();
        let (Some(&first), Some(&last)) = (prefixes.iter().min(), prefixes.iter().max()) else {
            return Ok(());
        };
        let mut code = vec![0; usize::try_from(last - first).unwrap_or(0) + 1];
        self.memory.read_raw(first, &mut code)?;
        for prefix in prefixes {
            let at = usize::try_from(prefix - first).unwrap_or(usize::MAX);
            if let Some(byte) = code.get_mut(at) {
                *byte = LOCK;
            }
        }
        self.memory.write_raw(first, &code)
    }

    /// Asks the engine to remove the patches whose jumps or replaced instructions are in a
    /// range, since other instructions are to be there.
    pub(crate) fn unpatch_in(&mut self, range: Range<u64>) -> Result<(), DebuggeeError> {
        let engine = &self.driver.engine;
        if !self.image.patches.is_any() || range.is_empty() {
            return Ok(());
        }
        let over = engine.patch_over(range.start);
        let inside = engine.patched_sites().filter(|it| range.contains(it));
        let entries: Vec<u64> = over.into_iter().chain(inside).collect();
        self.unpatch(entries)
    }

    /// Replaces all patches by traps, all threads being stopped.
    pub fn unpatch_all(&mut self) -> Result<(), DebuggeeError> {
        let entries = self.driver.engine.patched_sites().collect();
        self.unpatch(entries)
    }

    pub(crate) fn unpatch(&mut self, entries: Vec<u64>) -> Result<(), DebuggeeError> {
        let mut entries = entries.into_iter();
        entries.try_for_each(|address| self.feed(Input::Unpatch { address }))
    }
}
