//! Setting and removing watches, and the choice of their tiers.

use std::ops::Range;

use juror_stepping::{AccessKinds, Owner, ThreadId, WatchRequest, aligned_parts, allocate};

use super::{AccessKind, MemoryAccess, Watch, WatchId, WatchTier, Watches, joined_bytes};
use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::state::thread::State;

impl Debuggee {
    /// Reports [`StopEvent::Accessed`](crate::StopEvent::Accessed) after
    /// accesses to these bytes from now on. `least` is the cheapest tier that
    /// may be chosen. Stops every thread; the caller resumes them.
    pub fn watch(
        &mut self,
        ranges: &[Range<u64>],
        kinds: AccessKinds,
        owner: Owner,
        least: WatchTier,
    ) -> Result<WatchId, DebuggeeError> {
        self.halt_all()?;
        let mut snapshot = Vec::with_capacity(ranges.len());
        for range in ranges {
            let mut bytes = vec![0; (range.end - range.start) as usize];
            self.memory.read(range.start, &mut bytes)?;
            snapshot.push(bytes);
        }
        self.watches.last_id += 1;
        let id = WatchId(self.watches.last_id);
        self.watches.list.push(Watch {
            id,
            owner,
            ranges: ranges.to_vec(),
            kinds,
            least,
            tier: WatchTier::Stepping,
            snapshot,
        });
        let arranged = self.arrange_tiers();
        if arranged.is_err() {
            let _ = self.unwatch(id);
        }
        arranged.map(|()| id)
    }

    /// Removes a watch. Stops every thread; the caller resumes them.
    pub fn unwatch(&mut self, id: WatchId) -> Result<(), DebuggeeError> {
        self.halt_all()?;
        self.watches.list.retain(|watch| watch.id != id);
        self.arrange_tiers()
    }

    /// Removes all watches and debug registers from the process, whose threads
    /// are stopped.
    pub(crate) fn unwatch_all(&mut self) -> Result<(), DebuggeeError> {
        if !self.watches.is_any() {
            return Ok(());
        }
        self.watches.list.clear();
        self.watches.execute.clear();
        self.arrange_tiers()
    }

    /// Returns the present tier of a watch; none for one that was removed.
    pub fn watch_tier(&self, id: WatchId) -> Option<WatchTier> {
        let watch = self.watches.list.iter().find(|watch| watch.id == id)?;
        Some(watch.tier)
    }

    /// Reports [`StopEvent::HardwareHit`](crate::StopEvent::HardwareHit) before
    /// the instruction at `address` is executed, without a change of the
    /// program's text. Counted: two inserts need two removes. Stops every
    /// thread; the caller resumes them.
    pub fn insert_hardware(&mut self, address: u64) -> Result<(), DebuggeeError> {
        self.halt_all()?;
        let execute = &mut self.watches.execute;
        match execute.iter_mut().find(|(at, _)| *at == address) {
            Some((_, count)) => *count += 1,
            None => execute.push((address, 1)),
        }
        let arranged = self.arrange_tiers();
        if arranged.is_err() {
            let _ = self.remove_hardware(address);
        }
        arranged
    }

    /// Removes one [`Debuggee::insert_hardware`]. Stops every thread; the
    /// caller resumes them.
    pub fn remove_hardware(&mut self, address: u64) -> Result<(), DebuggeeError> {
        self.halt_all()?;
        self.watches.execute.retain_mut(|(at, count)| {
            *count -= u32::from(*at == address);
            *count > 0
        });
        self.arrange_tiers()
    }

    /// Returns true if an execute breakpoint of a debug register is here.
    pub fn is_hardware_site(&self, address: u64) -> bool {
        self.watches.execute.iter().any(|(at, _)| *at == address)
    }

    /// Chooses each watch's tier anew, and applies it. Every thread is stopped.
    pub(crate) fn arrange_tiers(&mut self) -> Result<(), DebuggeeError> {
        if self.life.has_ended() {
            return Ok(());
        }
        let granted = match self.arrange_hardware() {
            Err(DebuggeeError::System { .. }) if !self.watches.hardware.is_refused => {
                self.watches.hardware.is_refused = true;
                self.arrange_hardware()?
            }
            granted => granted?,
        };
        let unprotectable = self.unprotectable_ranges();
        for (watch, granted) in self.watches.list.iter_mut().zip(granted) {
            let is_unprotectable = unprotectable
                .iter()
                .any(|unprotectable| watch.ranges.iter().any(|it| pages_meet(it, unprotectable)));
            watch.tier = if granted {
                WatchTier::Hardware
            } else if is_unprotectable || watch.least == WatchTier::Stepping {
                WatchTier::Stepping
            } else {
                WatchTier::Page
            };
        }
        self.arrange_pages()
    }

    /// Allocates the debug registers and sets them in every stopped thread;
    /// returns, by watch, whether it got what it needs.
    fn arrange_hardware(&mut self) -> Result<Vec<bool>, DebuggeeError> {
        let watches = &mut self.watches;
        let execute: Vec<u64> = watches.execute.iter().map(|&(at, _)| at).collect();
        let may_use = |watch: &Watch| watch.least == WatchTier::Hardware;
        let nothing = AccessKinds::empty();
        let wanted: Vec<WatchRequest<'_>> = watches
            .list
            .iter()
            .map(|watch| WatchRequest {
                ranges: if may_use(watch) { &watch.ranges } else { &[] },
                kinds: if may_use(watch) { watch.kinds } else { nothing },
            })
            .collect();
        let is_refused = watches.hardware.is_refused;
        let allocation = match is_refused {
            true if execute.is_empty() => Some(juror_stepping::Allocation::default()),
            true => None,
            false => allocate(&execute, &wanted),
        };
        let Some(allocation) = allocation else {
            return Err(DebuggeeError::NoDebugRegister);
        };
        let mut granted = allocation.granted;
        granted.resize(watches.list.len(), false);
        for (granted, watch) in granted.iter_mut().zip(&watches.list) {
            *granted &= may_use(watch);
        }
        watches.hardware.want(allocation.registers);
        let stopped: Vec<ThreadId> = self
            .threads
            .values()
            .filter(|known| known.state == State::Stopped)
            .map(|known| known.id)
            .collect();
        for thread in stopped {
            self.refresh_hardware(thread)?;
        }
        Ok(granted)
    }

    /// Returns the memory whose pages must not be protected, since the kernel
    /// writes there on its own: stacks (signal frames) and thread control
    /// blocks (restartable sequences, the word that is cleared at a thread's
    /// end).
    fn unprotectable_ranges(&self) -> Vec<Range<u64>> {
        /// More than any C library keeps above and below the base.
        const CONTROL_BLOCK: u64 = 0x1000;
        let mappings = self.mappings();
        let mut unprotectable = Vec::new();
        for thread in self.threads.keys() {
            let Ok(registers) = self.stop_registers(ThreadId(*thread)) else {
                continue;
            };
            let (stack, base) = (
                registers.shown.stack_pointer(),
                registers.shown.thread_base(),
            );
            unprotectable.extend(mappings.iter().find(|it| it.contains(&stack)).cloned());
            unprotectable
                .push(base.saturating_sub(CONTROL_BLOCK)..base.saturating_add(CONTROL_BLOCK));
        }
        unprotectable
    }

    /// Appends the accesses that hits of these debug registers mean.
    pub(crate) fn hardware_accesses(
        &self,
        hits: &[juror_stepping::DebugRegister],
        accesses: &mut Vec<MemoryAccess>,
    ) {
        use juror_stepping::HardwareKind;
        let hit_by = |part: (u64, u8), kind| {
            hits.iter()
                .any(|hit| (hit.address, hit.length) == part && hit.kind == kind)
        };
        let watches = self.watches.list.iter();
        for watch in watches.filter(|watch| watch.tier == WatchTier::Hardware) {
            let parts = watch
                .ranges
                .iter()
                .filter_map(|range| aligned_parts(range, juror_stepping::DEBUG_REGISTERS));
            let (mut kind, mut bytes) = (None, None);
            for part in parts.flatten() {
                let written = hit_by(part, HardwareKind::Write);
                let accessed = hit_by(part, HardwareKind::Access);
                let found = if watch.kinds == AccessKinds::WRITE {
                    written.then_some(AccessKind::Write)
                } else if watch.kinds == AccessKinds::READ {
                    (accessed && !written).then_some(AccessKind::Read)
                } else if written && accessed {
                    Some(AccessKind::Write)
                } else {
                    accessed.then_some(AccessKind::Either)
                };
                if found.is_some() {
                    let part = part.0..part.0.saturating_add(u64::from(part.1));
                    bytes = joined_bytes(bytes, watch.part_of(&part));
                }
                kind = kind.or(found);
            }
            if let Some(kind) = kind {
                accesses.push(MemoryAccess {
                    bytes,
                    ..watch.access(kind)
                });
            }
        }
    }

    /// Takes over the watches of the process of which this one is a forked copy. Its only
    /// thread is stopped; it has no debug registers yet, and the pages of the copied memory are
    /// open, since a system call has copied them.
    pub(crate) fn rewatch(
        &mut self,
        watches: Watches,
        thread: ThreadId,
    ) -> Result<(), DebuggeeError> {
        let generation = self.watches.hardware.generation;
        self.watches = watches;
        self.watches.hardware.generation = generation + 1;
        if !self.watches.pages.is_empty() {
            self.close_pages(thread)?;
        }
        self.arrange_tiers()
    }

    /// Forgets all watches: the process has another memory.
    pub(crate) fn forget_watches(&mut self) {
        let generation = self.watches.hardware.generation;
        let last_id = self.watches.last_id;
        self.watches = Watches::default();
        self.watches.last_id = last_id;
        // Threads that still have registers are updated.
        self.watches.hardware.generation = generation + 1;
    }
}

/// Returns true if two ranges overlap a common page.
fn pages_meet(first: &Range<u64>, second: &Range<u64>) -> bool {
    use crate::kernel::mapping::{page_end, page_of};
    page_of(first.start) < page_end(second.end) && page_of(second.start) < page_end(first.end)
}
