//! What an instruction does to the memory that it accesses.

use crate::memory;
use crate::protocol::*;
use crate::settings::Site;
use crate::threads::{self, Frame, RAX};
use juror_schedule::{Access, AccessKind, Footprint};

/// Adds a value to a hash.
pub fn hash(state: u64, value: u64) -> u64 {
    let wide = u128::from(state.rotate_left(23) ^ value) * u128::from(0x9E37_79B9_7F4A_7C15_u64);
    (wide as u64 ^ (wide >> 64) as u64).wrapping_add(0x2545_F491_4F6C_DD1D)
}

/// Returns what an access does, as the memory is now.
pub fn footprint(site: &Site, frame: &Frame) -> Footprint {
    let [base, index, scale, size, class, source, register, flags] = site.operands;
    if class == CLASS_UNKNOWN {
        return Footprint::UNKNOWN;
    }
    let value = |register: u8| {
        frame
            .general
            .get(usize::from(register))
            .copied()
            .unwrap_or(0)
    };
    let mut address = value(base)
        .wrapping_add(value(index).wrapping_mul(u64::from(scale)))
        .wrapping_add(site.displacement);
    if flags & FLAG_SHORT_ADDRESS != 0 {
        address &= 0xffff_ffff;
    }
    if flags & FLAG_THREAD_LOCAL != 0 {
        address = address.wrapping_add(threads::base());
    }
    let source = match source {
        SOURCE_REGISTER => Some(value(register)),
        SOURCE_HIGH_BYTE => Some(value(register) >> 8),
        SOURCE_IMMEDIATE => Some(site.immediate),
        _ => None,
    };
    let kind = match class {
        CLASS_READ | CLASS_CHANGE => AccessKind::Read,
        _ if leaves_same(class, size, address, source, frame) => AccessKind::WriteSame,
        _ => AccessKind::Write,
    };
    Footprint::of(Access {
        address,
        length: u32::from(size),
        kind,
    })
}

fn leaves_same(class: u8, size: u8, address: u64, source: Option<u64>, frame: &Frame) -> bool {
    let mask = match size {
        1..8 => (1_u64 << (size * 8)) - 1,
        8 => u64::MAX,
        _ => return false,
    };
    if class == CLASS_WRITE {
        return false;
    }
    let Some(present) = memory::read_sized(address, size) else {
        return false;
    };
    let is_present = |other: u64| other & mask == present & mask;
    match class {
        CLASS_COMPARE_EXCHANGE => !is_present(frame.general[RAX]) || source.is_some_and(is_present),
        _ => source.is_some_and(is_present),
    }
}
