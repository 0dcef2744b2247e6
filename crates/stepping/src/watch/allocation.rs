//! The allocation of the four debug registers.
//!
//! Execute breakpoints come first, since nothing else can replace them; then
//! watchpoints in the order of their numbers, each with all registers that it
//! needs or with none. Equal registers are shared. A watchpoint without
//! registers is watched in another way: none is refused.
//!
//! A register cannot watch reads alone. Two registers on the same bytes, one
//! for writes and one for accesses, distinguish them: a write hits both.

use super::{AccessKinds, aligned_parts};
use std::ops::Range;

/// The number of debug registers of the processor.
pub const DEBUG_REGISTERS: usize = 4;

/// The event for which a debug register waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HardwareKind {
    /// The instruction at the address is about to be executed.
    Execute,
    /// A write.
    Write,
    /// A read or a write.
    Access,
}

/// The contents of one debug register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DebugRegister {
    /// The first byte.
    pub address: u64,
    /// The number of bytes: 1, 2, 4 or 8.
    pub length: u8,
    /// The event for which it waits.
    pub kind: HardwareKind,
}

/// A watchpoint that requests registers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchRequest<'a> {
    /// The bytes.
    pub ranges: &'a [Range<u64>],
    /// The kinds of access to them.
    pub kinds: AccessKinds,
}

/// The result of the allocation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allocation {
    /// The contents of each register, at most [`DEBUG_REGISTERS`].
    pub registers: Vec<DebugRegister>,
    /// Whether each watchpoint, in the order of the request, got all registers
    /// that it needs.
    pub granted: Vec<bool>,
}

/// Allocates the registers; returns none if the execute breakpoints alone are
/// too many.
pub fn allocate(execute: &[u64], wanted: &[WatchRequest<'_>]) -> Option<Allocation> {
    let mut allocation = Allocation::default();
    for &address in execute {
        let register = DebugRegister {
            address,
            length: 1,
            kind: HardwareKind::Execute,
        };
        if !allocation.take(&[register]) {
            return None;
        }
    }
    for wanted in wanted {
        let granted = match registers_for(wanted) {
            Some(registers) => allocation.take(&registers),
            None => false,
        };
        allocation.granted.push(granted);
    }
    Some(allocation)
}

impl Allocation {
    /// Adds the registers that are not there yet, if all of them fit.
    fn take(&mut self, registers: &[DebugRegister]) -> bool {
        let before = self.registers.len();
        for register in registers {
            if !self.registers.contains(register) {
                self.registers.push(*register);
            }
        }
        let fits = self.registers.len() <= DEBUG_REGISTERS;
        if !fits {
            self.registers.truncate(before);
        }
        fits
    }
}

/// Returns the registers that a watchpoint needs; none if too many.
fn registers_for(wanted: &WatchRequest<'_>) -> Option<Vec<DebugRegister>> {
    let kinds: &[HardwareKind] = if wanted.kinds == AccessKinds::WRITE {
        &[HardwareKind::Write]
    } else if wanted.kinds == AccessKinds::READ {
        &[HardwareKind::Write, HardwareKind::Access]
    } else {
        &[HardwareKind::Access]
    };
    let mut registers = Vec::new();
    for range in wanted.ranges {
        for (address, length) in aligned_parts(range, DEBUG_REGISTERS)? {
            registers.extend(kinds.iter().map(|&kind| DebugRegister {
                address,
                length,
                kind,
            }));
        }
    }
    Some(registers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WRITE: AccessKinds = AccessKinds::WRITE;

    fn granted(execute: &[u64], ranges: &[(Range<u64>, AccessKinds)]) -> Option<Vec<bool>> {
        let wanted: Vec<_> = ranges
            .iter()
            .map(|(range, kinds)| WatchRequest {
                ranges: std::slice::from_ref(range),
                kinds: *kinds,
            })
            .collect();
        Some(allocate(execute, &wanted)?.granted)
    }

    #[test]
    fn registers_go_to_execute_breakpoints_then_by_number() {
        let int = |at: u64| (at..at + 4, WRITE);
        let six: Vec<_> = (0..6).map(|index| int(index * 16)).collect();
        assert_eq!(
            granted(&[], &six),
            Some(vec![true, true, true, true, false, false])
        );
        assert_eq!(granted(&[1, 2, 3], &six[..2]), Some(vec![true, false]));
        assert_eq!(granted(&[1, 2, 3, 4, 5], &[]), None);
        // Too long for all four; the next one may still fit.
        assert_eq!(
            granted(&[], &[(0..64, WRITE), int(0)]),
            Some(vec![false, true])
        );
        // Unaligned: 1 + 2 + 1 bytes.
        assert_eq!(
            granted(&[], &[(1..5, WRITE), int(8)]),
            Some(vec![true, true])
        );
        // A read watch takes two registers, and the write's is shared.
        let read = (0..8, AccessKinds::READ);
        assert_eq!(
            granted(&[], &[read.clone(), (0..8, WRITE), int(16), int(32)]),
            Some(vec![true; 4])
        );
    }

    #[test]
    fn registers_are_of_the_kinds_that_are_watched() {
        use HardwareKind::{Access, Write};
        for (kinds, expected) in [
            (AccessKinds::WRITE, &[Write][..]),
            // The processor has no kind for reads: a register tells the writes from them.
            (AccessKinds::READ, &[Write, Access]),
            (AccessKinds::WRITE | AccessKinds::READ, &[Access]),
        ] {
            let range = 0..8;
            let request = WatchRequest {
                ranges: std::slice::from_ref(&range),
                kinds,
            };
            let allocation = allocate(&[], &[request]).unwrap();
            let found = allocation.registers.iter();
            let found: Vec<_> = found.map(|it| (it.address, it.length, it.kind)).collect();
            let expected: Vec<_> = expected.iter().map(|kind| (0, 8, *kind)).collect();
            assert_eq!(found, expected, "{kinds:?}");
        }
    }

    proptest! {
        /// Granted watchpoints are covered by the registers, and a watchpoint
        /// is refused only if it would not have fitted.
        #[test]
        fn grants_are_sound_and_not_withheld(
            execute in proptest::collection::vec(0_u64..8, 0..4),
            ranges in proptest::collection::vec((0_u64..40, 1_u64..20, 1_u8..4), 0..6),
        ) {
            let ranges: Vec<_> = ranges
                .into_iter()
                .map(|(at, length, kinds)| (at..at + length, AccessKinds::from_bits_truncate(kinds)))
                .collect();
            let wanted: Vec<_> = ranges
                .iter()
                .map(|(range, kinds)| WatchRequest { ranges: std::slice::from_ref(range), kinds: *kinds })
                .collect();
            let allocation = allocate(&execute, &wanted).unwrap();
            prop_assert!(allocation.registers.len() <= DEBUG_REGISTERS);
            for (wanted, granted) in wanted.iter().zip(&allocation.granted) {
                let needed = registers_for(wanted);
                let has_all = needed
                    .as_ref()
                    .is_some_and(|needed| needed.iter().all(|it| allocation.registers.contains(it)));
                prop_assert_eq!(*granted, has_all);
                if let (false, Some(needed)) = (granted, needed) {
                    let fresh = needed.iter().filter(|it| !allocation.registers.contains(it));
                    prop_assert!(fresh.count() + allocation.registers.len() > DEBUG_REGISTERS);
                }
            }
        }
    }
}
