//! What juror has written into the shared words.

use crate::protocol::*;

static mut SHARED: u64 = 0;
static mut SITES_BY_HASH: [u32; TABLE] = [0; TABLE];

/// The size of the table of sites, a power of two.
const TABLE: usize = 1 << 15;

/// A site.
#[derive(Clone, Copy)]
pub struct Site {
    pub address: u64,
    /// The address of its moved instruction.
    pub moved: u64,
    pub kind: u64,
    pub lock: u64,
    pub operands: [u8; 8],
    pub displacement: u64,
    pub immediate: u64,
}

/// Takes the address of the shared words, and puts the sites in order.
pub fn begin(shared: u64) {
    // SAFETY: one thread runs the agent.
    unsafe { SHARED = shared };
    for number in 0..word(SITE_COUNT) {
        let mut slot = slot_of(site(number).address);
        // SAFETY: one thread runs the agent; the index is within the table.
        unsafe {
            while SITES_BY_HASH[slot] != 0 {
                slot = (slot + 1) % TABLE;
            }
            SITES_BY_HASH[slot] = number as u32 + 1;
        }
    }
}

fn slot_of(address: u64) -> usize {
    (address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize % TABLE
}

/// Returns the number of the site at an address.
pub fn site_at(address: u64) -> Option<u64> {
    let mut slot = slot_of(address);
    loop {
        // SAFETY: one thread runs the agent; the index is within the table, which has free slots.
        let number = u64::from(unsafe { SITES_BY_HASH[slot] }).checked_sub(1)?;
        if site_word(number, 0) == address {
            return Some(number);
        }
        slot = (slot + 1) % TABLE;
    }
}

fn site_word(number: u64, index: u64) -> u64 {
    word(SITES + (number * SITE_WORDS + index) * 8)
}

/// Returns a site by its number.
pub fn site(number: u64) -> Site {
    let kind = site_word(number, 2);
    Site {
        address: site_word(number, 0),
        moved: site_word(number, 1),
        kind: kind & 0xff,
        lock: kind >> 8,
        operands: site_word(number, 3).to_le_bytes(),
        displacement: site_word(number, 4),
        immediate: site_word(number, 5),
    }
}

/// Returns the word at an offset.
pub fn word(offset: u64) -> u64 {
    // SAFETY: the shared words are mapped, and the offset is one of the protocol.
    unsafe { ((SHARED + offset) as *const u64).read_volatile() }
}

/// Sets the word at an offset.
pub fn set_word(offset: u64, value: u64) {
    // SAFETY: as above.
    unsafe { ((SHARED + offset) as *mut u64).write_volatile(value) }
}

/// Returns the address of the word at an offset.
pub fn address_of(offset: u64) -> u64 {
    // SAFETY: one thread runs the agent.
    unsafe { SHARED + offset }
}
