//! The stubs of a module: they lead from the places of its calls to the image.

use super::sites::{JUMP_LENGTH, Site};
use crate::moving::copy;
use std::ops::Range;

/// The room for a stub: the moved instruction, `mov rcx, behind`, `jmp [entry]`.
const ROOM: u64 = 32;

/// The room for the address of the image's entry.
const ENTRY_ROOM: u64 = 16;

/// The code that is written for the stubs of a module.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Stubs {
    /// Their code.
    pub(super) code: Vec<u8>,
    /// The jumps to them, with their addresses.
    pub(super) jumps: Vec<(u64, Vec<u8>)>,
}

/// Returns the bytes that so many stubs take.
pub(super) fn size_of(count: usize) -> u64 {
    ENTRY_ROOM + count as u64 * ROOM
}

/// Returns the stubs that are mapped at an address. A place is left out if its head cannot be moved
/// there, or they are too far apart.
pub(super) fn stubs(sites: &[Site], start: u64, entry: u64) -> Stubs {
    let mut stubs = Stubs::default();
    stubs.code.extend(entry.to_le_bytes());
    stubs.code.resize(ENTRY_ROOM as usize, 0);
    for site in sites {
        let here = start + stubs.code.len() as u64;
        let Some(code) = stub(site, here, start) else {
            continue;
        };
        let Some(jump) = jump(site.jump, here) else {
            continue;
        };
        let length = site.head.len().max(JUMP_LENGTH as usize);
        let is_at_head = site.jump == site.head.ip();
        let mut jump = jump;
        if is_at_head {
            // They are never executed.
            jump.resize(length, 0xcc);
        }
        stubs.jumps.push((site.jump, jump));
        stubs
            .jumps
            .extend(site.short_jump().map(|it| (site.head.ip(), it)));
        stubs.code.extend(code);
    }
    stubs
}

fn stub(site: &Site, here: u64, start: u64) -> Option<Vec<u8>> {
    let mut code = copy(&site.head, here)?;
    code.extend([0x48, 0xb9]);
    code.extend((site.call + 2).to_le_bytes());
    code.extend([0xff, 0x25]);
    let next = here + code.len() as u64 + 4;
    let distance = i32::try_from(start.wrapping_sub(next) as i64).ok()?;
    code.extend(distance.to_le_bytes());
    let is_short = code.len() as u64 <= ROOM;
    code.resize(ROOM as usize, 0xcc);
    is_short.then_some(code)
}

fn jump(from: u64, to: u64) -> Option<Vec<u8>> {
    let distance = i32::try_from(to.wrapping_sub(from + JUMP_LENGTH) as i64).ok()?;
    let mut bytes = vec![0xe9];
    bytes.extend(distance.to_le_bytes());
    Some(bytes)
}

/// Returns the addresses that all jumps of some places reach.
pub(super) fn reach(sites: &[Site]) -> Option<Range<u64>> {
    let first = sites.iter().map(|site| site.jump).min()?;
    let last = sites.iter().map(|site| site.jump).max()?;
    Some(first..last)
}

#[cfg(test)]
mod tests {
    use super::super::sites::sites_in;
    use super::*;
    use iced_x86::{Decoder, DecoderOptions, Mnemonic};

    #[test]
    fn a_stub_moves_the_head_and_gives_the_place() {
        let code = [0xb8, 39, 0, 0, 0, 0x0f, 0x05, 0xc3];
        let sites = sites_in(&code, 8, 0x10_0000);
        let stubs = stubs(&sites, 0x20_0000, 0x2100_0000_1000);
        let jump = vec![0xe9, 0x0b, 0, 0x10, 0];
        assert_eq!(stubs.jumps, [(0x10_0000, jump)]);
        let start = 0x20_0000 + ENTRY_ROOM;
        let code = &stubs.code[ENTRY_ROOM as usize..];
        let decoder = Decoder::with_ip(64, code, start, DecoderOptions::NONE);
        let instructions: Vec<_> = decoder.into_iter().take(3).collect();
        let mnemonics: Vec<_> = instructions.iter().map(|it| it.mnemonic()).collect();
        assert_eq!(mnemonics, [Mnemonic::Mov, Mnemonic::Mov, Mnemonic::Jmp]);
        assert_eq!(instructions[0].immediate32(), 39);
        assert_eq!(instructions[1].immediate64(), 0x10_0007);
        assert_eq!(instructions[2].ip_rel_memory_address(), 0x20_0000);
        assert_eq!(stubs.code[..8], 0x2100_0000_1000_u64.to_le_bytes());
    }

    #[test]
    fn a_place_out_of_reach_is_left_out() {
        let code = [0xb8, 39, 0, 0, 0, 0x0f, 0x05, 0xc3];
        let sites = sites_in(&code, 8, 0x10_0000);
        let far = stubs(&sites, 0x7000_0000_0000, 0x2100_0000_1000);
        assert_eq!(far.jumps, []);
    }
}
