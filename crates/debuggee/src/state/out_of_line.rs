//! Pages in the debuggee for out-of-line slots.
//!
//! Invariant: a slot belongs to one site for the life of the process. A thread
//! may return to a slot long after its site was removed (from a signal
//! handler), so a slot is never used again for anything else.
//!
//! A slot must lie within ±2 GiB of its original, since its code refers to the
//! same addresses by 32-bit displacements; so there is a region near each
//! cluster of modules.

use juror_arch::INSTRUCTION_LENGTH_MAX;
use juror_arch::Register;
use std::collections::BTreeMap;
use std::ops::Range;

use juror_stepping::{OutOfLineCode, StepOver, map_counter};

/// Length of a region in bytes.
pub(crate) const REGION_LENGTH: u64 = 256 * 1024;
/// Length of a slot in bytes.
pub(crate) const SLOT_LENGTH: u64 = 64;
/// The code in a region's first slot: the gadget for injected system calls.
pub(crate) const GADGET: [u8; 3] = [0x0f, 0x05, 0xcc];
/// The distance from the gadget to the code after it. Between them is a second
/// trap: without juror, a thread that has just made a call ends by its signal.
pub(crate) const CALLS_OFFSET: u64 = GADGET.len() as u64 + 1;
/// The code after it: a routine that makes a table of system calls. `rbx` is
/// the address of the table, `rbp` the number of calls; each has seven words,
/// the number and the arguments, and its result replaces the number. See [`CALLS_TABLE`] and
/// [`CALLS_COUNT`].
#[rustfmt::skip]
pub(crate) const CALLS: [u8; 41] = [
    0x48, 0x8b, 0x03,       // next: mov rax, [rbx]
    0x48, 0x8b, 0x7b, 0x08, // mov rdi, [rbx + 8]
    0x48, 0x8b, 0x73, 0x10, // mov rsi, [rbx + 16]
    0x48, 0x8b, 0x53, 0x18, // mov rdx, [rbx + 24]
    0x4c, 0x8b, 0x53, 0x20, // mov r10, [rbx + 32]
    0x4c, 0x8b, 0x43, 0x28, // mov r8, [rbx + 40]
    0x4c, 0x8b, 0x4b, 0x30, // mov r9, [rbx + 48]
    0x0f, 0x05,             // syscall
    0x48, 0x89, 0x03,       // mov [rbx], rax
    0x48, 0x83, 0xc3, 0x38, // add rbx, 56
    0xff, 0xcd,             // dec ebp
    0x75, 0xd8,             // jnz next
    0xcc,                   // int3
];
/// The register in which [`CALLS`] takes the address of its table.
pub(crate) const CALLS_TABLE: Register = Register::Rbx;
/// The register in which [`CALLS`] takes the number of calls.
pub(crate) const CALLS_COUNT: Register = Register::Rbp;

/// Returns the code of a region's first slot.
pub(crate) fn first_slot() -> Vec<u8> {
    let [.., trap] = GADGET;
    let code = GADGET.into_iter().chain([trap]).chain(CALLS);
    code.chain([trap]).collect()
}

/// The code at the return address of calls into the debuggee: `exit_group(0)`,
/// for a process that was forked inside a call.
pub(crate) const RETURN_CODE: [u8; 10] = [
    0x31, 0xff, // xor edi, edi
    0xb8, 0xe7, 0, 0, 0, // mov eax, 231
    0x0f, 0x05, // syscall
    0xf4, // hlt
];
/// The maximum distance of a slot from its original, with room for
/// displacements.
const REACH: u64 = (1 << 31) - (1 << 24);
/// The distances at which regions are mapped, so that a heap or further
/// libraries find the same addresses as without juror.
const DISTANCES: [u64; 4] = [1 << 30, 1 << 29, 1 << 26, 1 << 20];
/// The kernel maps nothing below.
const LOWEST: u64 = 0x1_0000;

#[derive(Debug, Clone, Default)]
pub(crate) struct OutOfLineSlots {
    /// Whether a signal was delivered to a thread in a slot: it may return
    /// there.
    pub(crate) is_interrupted: bool,
    regions: Vec<Region>,
    /// By slot address.
    code: BTreeMap<u64, Slot>,
    /// The step-over method of each site that ever was, with the bytes for
    /// which it was planned.
    step_overs: BTreeMap<u64, KnownStepOver>,
    /// The code to which the program does not write, as of the last query.
    immutable_code: Vec<Range<u64>>,
    /// A writable page for the arguments and results of injected system calls,
    /// once it was needed.
    data: Option<u64>,
}

#[derive(Debug, Clone)]
struct Region {
    start: u64,
    next: u64,
}

#[derive(Debug, Clone)]
struct Slot {
    code: OutOfLineCode,
}

#[derive(Debug, Clone)]
struct KnownStepOver {
    bytes: [u8; INSTRUCTION_LENGTH_MAX],
    step_over: StepOver,
}

/// The position in the original program of a thread in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OriginalLocation {
    /// The original address.
    pub(crate) address: u64,
    /// Whether the displaced instruction has been executed.
    pub(crate) executed: bool,
}

impl Region {
    fn range(&self) -> Range<u64> {
        self.start..self.start + REGION_LENGTH
    }

    fn reaches(&self, address: u64) -> bool {
        self.start.abs_diff(address) < REACH
    }
}

impl OutOfLineSlots {
    /// Returns the address of the gadget for injected system calls, once there
    /// is a region.
    pub(crate) fn gadget(&self) -> Option<u64> {
        self.regions.first().map(|region| region.start)
    }

    /// Returns the page for the arguments of injected system calls, if there is
    /// one.
    pub(crate) fn data(&self) -> Option<u64> {
        self.data
    }

    pub(crate) fn set_data(&mut self, page: u64) {
        self.data = Some(page);
    }

    pub(crate) fn has_region_near(&self, address: u64) -> bool {
        self.regions
            .iter()
            .any(|region| region.reaches(address) && region.next < region.range().end)
    }

    pub(crate) fn add_region(&mut self, start: u64) {
        self.regions.push(Region {
            start,
            next: start + SLOT_LENGTH,
        });
    }

    /// Returns the start addresses of the regions.
    pub(crate) fn region_starts(&self) -> Vec<u64> {
        self.regions.iter().map(|region| region.start).collect()
    }

    /// Returns a free slot within reach; it stays free until
    /// [`OutOfLineSlots::fill`].
    pub(crate) fn free_slot_near(&self, address: u64) -> Option<u64> {
        self.regions
            .iter()
            .find(|region| region.reaches(address) && region.next < region.range().end)
            .map(|region| region.next)
    }

    /// Takes a slot anywhere, for other code.
    pub(crate) fn take_slot(&mut self) -> Option<u64> {
        let region = self
            .regions
            .iter_mut()
            .find(|region| region.next < region.range().end)?;
        let slot = region.next;
        region.next += SLOT_LENGTH;
        Some(slot)
    }

    /// Takes a slot within reach of an address, for other code.
    pub(crate) fn take_slot_near(&mut self, address: u64) -> Option<u64> {
        let region = self
            .regions
            .iter_mut()
            .find(|region| region.reaches(address) && region.next < region.range().end)?;
        let slot = region.next;
        region.next += SLOT_LENGTH;
        Some(slot)
    }

    /// Takes slots that follow each other, in the region of the first one.
    pub(crate) fn take_slots(&mut self, count: u64) -> Option<u64> {
        let length = count * SLOT_LENGTH;
        let region = self.regions.first_mut()?;
        let slot = region.next;
        if slot + length > region.range().end {
            return None;
        }
        region.next += length;
        Some(slot)
    }

    /// Records that a slot now holds this code.
    pub(crate) fn fill(&mut self, slot: u64, code: OutOfLineCode) {
        if let Some(region) = self.regions.iter_mut().find(|region| region.next == slot) {
            region.next += SLOT_LENGTH;
        }
        self.code.insert(slot, Slot { code });
    }

    /// Returns the step-over method that was planned before, if the code is the
    /// same.
    pub(crate) fn known_step_over(&self, address: u64, bytes: &[u8]) -> Option<StepOver> {
        self.step_overs
            .get(&address)
            .filter(|known| known.bytes == bytes)
            .map(|known| known.step_over)
    }

    /// Returns true if an address is known to be that of code to which the
    /// program does not write.
    pub(crate) fn is_immutable_code(&self, address: u64) -> bool {
        self.immutable_code.iter().any(|it| it.contains(&address))
    }

    /// Sets the ranges of such code; none if they may have changed.
    pub(crate) fn set_immutable_code(&mut self, ranges: Vec<Range<u64>>) {
        self.immutable_code = ranges;
    }

    /// Returns true if the step-over method of a site was planned for other
    /// bytes than `present`, as far as these go.
    pub(crate) fn is_other_code(&self, address: u64, present: &[u8]) -> bool {
        let Some(known) = self.step_overs.get(&address) else {
            return false;
        };
        let mut pairs = present.iter().zip(&known.bytes);
        pairs.any(|(present, known)| present != known)
    }

    pub(crate) fn remember_step_over(
        &mut self,
        address: u64,
        bytes: [u8; INSTRUCTION_LENGTH_MAX],
        step_over: StepOver,
    ) {
        self.step_overs
            .insert(address, KnownStepOver { bytes, step_over });
    }

    /// Returns the slots of a forked copy of the process, without the regions
    /// that it does not have: they were mapped after it was made.
    pub(crate) fn for_fork(&self, has_region: impl Fn(u64) -> bool) -> OutOfLineSlots {
        let mut forked = self.clone();
        forked.regions.retain(|region| has_region(region.start));
        forked.data = forked.data.filter(|&page| has_region(page));
        let regions = &forked.regions;
        let stays = |at: u64| regions.iter().any(|region| region.range().contains(&at));
        forked.code.retain(|&slot, _| stays(slot));
        forked.step_overs.retain(|_, known| match known.step_over {
            StepOver::OutOfLine { at } => stays(at),
            _ => true,
        });
        forked
    }

    /// Returns the code of every slot, with its address.
    pub(crate) fn all_code(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.code
            .iter()
            .map(|(&slot, held)| (slot, held.code.bytes.as_slice()))
    }

    /// Returns the position in the program of a counter in a slot.
    pub(crate) fn original_of(&self, counter: u64) -> Option<OriginalLocation> {
        map_counter(self.code_at(counter)?, counter)
            .map(|(address, executed)| OriginalLocation { address, executed })
    }

    /// Returns true if a few steps lead a thread at this counter out of a slot.
    pub(crate) fn is_left_soon(&self, counter: u64) -> bool {
        let executed = self.original_of(counter).map(|place| place.executed);
        let is_lasting = self.code_at(counter).is_some_and(|code| code.is_lasting);
        executed.is_some_and(|executed| executed || !is_lasting)
    }

    /// Returns the code of the slot that contains this counter.
    fn code_at(&self, counter: u64) -> Option<&OutOfLineCode> {
        let mut regions = self.regions.iter();
        if !regions.any(|region| region.range().contains(&counter)) {
            return None;
        }
        let (&start, slot) = self.code.range(..=counter).next_back()?;
        (counter - start < SLOT_LENGTH).then_some(&slot.code)
    }
}

/// Returns the addresses at which a region for code at `address` may be mapped:
/// in a gap of the memory map below the code, as far from it as the reach
/// allows.
pub(crate) fn region_candidates_near(address: u64, mappings: &[Range<u64>]) -> Vec<u64> {
    let lowest = cluster_start(address, mappings);
    DISTANCES
        .iter()
        .filter_map(|distance| lowest.checked_sub(*distance))
        .chain(lowest.checked_sub(REGION_LENGTH + LOWEST))
        .map(|start| start & !0xffff)
        .filter(|&start| {
            let end = start + REGION_LENGTH;
            start >= LOWEST
                && start.abs_diff(address) < REACH
                && !mappings
                    .iter()
                    .any(|mapping| mapping.start < end && start < mapping.end)
        })
        .collect()
}

/// Returns the lowest address of the mappings that lie close together around
/// `address`.
fn cluster_start(address: u64, mappings: &[Range<u64>]) -> u64 {
    /// Mappings farther apart than this are different clusters.
    const CLOSE: u64 = 1 << 24;
    let mut start = address;
    for mapping in mappings.iter().rev() {
        if mapping.start < start && mapping.end.saturating_add(CLOSE) >= start {
            start = mapping.start;
        }
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::mapping::PAGE_LENGTH;
    use juror_stepping::plan_step_over;
    use proptest::collection::vec;
    use proptest::prelude::*;

    #[track_caller]
    fn check_candidate(address: u64, mapping: Range<u64>, expected: Option<u64>) {
        let candidates = region_candidates_near(address, std::slice::from_ref(&mapping));
        assert_eq!(candidates.first().copied(), expected);
    }

    #[test]
    fn regions_go_into_gaps_below_the_code() {
        let program = 0x5555_5555_4000..0x5555_5555_9000;
        check_candidate(0x5555_5555_6000, program, Some(0x5555_1555_0000));
        // A fixed-address program has only 4 MiB below it.
        check_candidate(0x40_1000, 0x40_0000..0x40_5000, Some(0x30_0000));
        let libraries = 0x7fff_f7c0_0000..0x7fff_f7fc_0000;
        check_candidate(0x7fff_f7d0_0000, libraries, Some(0x7fff_b7c0_0000));
        // Nothing below: no room, the site is stepped over in place.
        check_candidate(0x2_0000, 0x1_0000..0x3_0000, None);
    }

    #[test]
    fn a_fork_has_the_regions_that_it_was_made_with() {
        let mut out_of_line = OutOfLineSlots::default();
        let code = |at| OutOfLineCode {
            at,
            bytes: vec![0x90],
            map: Vec::new(),
            is_lasting: false,
        };
        for (start, address) in [(0x10_0000, 0x1000), (0x80_0000, 0x2000)] {
            out_of_line.add_region(start);
            let slot = start + SLOT_LENGTH;
            out_of_line.fill(slot, code(slot));
            let step_over = StepOver::OutOfLine { at: slot };
            out_of_line.remember_step_over(address, [0x90; INSTRUCTION_LENGTH_MAX], step_over);
        }
        let forked = out_of_line.for_fork(|start| start == 0x10_0000);
        let bytes = [0x90; INSTRUCTION_LENGTH_MAX];
        assert!(forked.known_step_over(0x1000, &bytes).is_some());
        assert!(forked.known_step_over(0x2000, &bytes).is_none());
        let all_code: Vec<_> = forked.all_code().map(|(slot, _)| slot).collect();
        assert_eq!(all_code, [0x10_0000 + SLOT_LENGTH]);
        assert_eq!(forked.region_starts(), [0x10_0000]);
    }

    proptest! {
        /// A thread in a slot fetches nothing from beyond the page on which the
        /// slot begins, even in a region that is almost full.
        #[test]
        fn copies_stay_on_their_pages_in_the_region(
            instructions in vec((any::<[u8; INSTRUCTION_LENGTH_MAX]>(), 0..1_u64 << 24), 1..300),
            taken in prop_oneof![0..64_usize, 3800..4096_usize],
        ) {
            const CODE: u64 = 0x5555_5555_4000;
            let mut out_of_line = OutOfLineSlots::default();
            let mapping = CODE..CODE + (1 << 24);
            let region = region_candidates_near(CODE, std::slice::from_ref(&mapping))[0];
            out_of_line.add_region(region);
            for _ in 0..taken {
                out_of_line.take_slot();
            }
            let gadget = region..region + CALLS_OFFSET + CALLS.len() as u64 + 1;
            let mut used: Vec<Range<u64>> = std::iter::once(gadget).collect();
            for (bytes, offset) in instructions {
                let address = CODE + offset;
                let slot = out_of_line.free_slot_near(address);
                let code = plan_step_over(&bytes, address, slot).code;
                let (Some(slot), Some(code)) = (slot, code) else {
                    continue;
                };
                prop_assert_eq!(code.at, slot);
                let range = slot..slot + code.bytes.len() as u64;
                prop_assert_eq!(range.start / PAGE_LENGTH, (range.end - 1) / PAGE_LENGTH);
                prop_assert!(region <= range.start && range.end <= region + REGION_LENGTH);
                let meets = |other: &Range<u64>| other.start < range.end && range.start < other.end;
                prop_assert!(!used.iter().any(meets));
                prop_assert!(code.map.iter().all(|it| u64::from(it.offset) < range.end - slot));
                used.push(range);
                out_of_line.fill(slot, code);
                let executed = false;
                prop_assert_eq!(out_of_line.original_of(slot), Some(OriginalLocation { address, executed }));
            }
        }
    }

    #[test]
    fn what_is_no_copy_fits_into_a_slot() {
        assert!(CALLS_OFFSET + (CALLS.len() as u64) < SLOT_LENGTH);
        assert!(RETURN_CODE.len() as u64 <= SLOT_LENGTH);
        assert!(PAGE_LENGTH.is_multiple_of(SLOT_LENGTH));
        assert!(REGION_LENGTH.is_multiple_of(PAGE_LENGTH));
    }

    #[test]
    fn a_taken_gap_is_not_offered() {
        let mappings = [0x1000_0000..0x4000_0000, 0x5000_0000..0x5100_0000];
        let candidates = region_candidates_near(0x5000_0000, &mappings);
        assert!(!candidates.is_empty());
        for start in candidates {
            assert!(
                mappings
                    .iter()
                    .all(|mapping| mapping.end <= start || start + REGION_LENGTH <= mapping.start)
            );
        }
    }
}
