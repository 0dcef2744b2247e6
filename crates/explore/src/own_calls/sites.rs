//! The places of system calls to which a jump can lead.
//!
//! The jump replaces the one instruction before the `syscall`, its *head*, which is executed in the stub.
//! The `syscall` stays: who jumps to it comes to it, and a call that is not made in the stub is made
//! there. A head that is shorter than a jump gets a short one, to *padding* nearby that gets the long one:
//! the bytes between a jump or a return and the next instruction that somebody comes to.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind};

/// The bytes of a jump, and of a short one.
pub(super) const JUMP_LENGTH: u64 = 5;
const SHORT_JUMP_LENGTH: u64 = 2;

/// A place of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Site {
    /// The instruction that is moved.
    pub(super) head: Instruction,
    /// The address of the `syscall`.
    pub(super) call: u64,
    /// The address of the jump to the stub; that of the head, or of padding to which a short jump leads.
    pub(super) jump: u64,
}

impl Site {
    /// Returns the bytes in the place of the head, if a short jump is there.
    pub(super) fn short_jump(&self) -> Option<Vec<u8>> {
        let from = self.head.ip();
        if self.jump == from {
            return None;
        }
        let distance = self.jump.wrapping_sub(from + SHORT_JUMP_LENGTH) as i64;
        let mut bytes = vec![0xeb, i8::try_from(distance).ok()? as u8];
        // They are never executed.
        bytes.resize(self.head.len(), 0xcc);
        Some(bytes)
    }
}

/// Returns the places of calls in a function: its code, as far as `size`, and padding behind it.
pub(super) fn sites_in(code: &[u8], size: u64, start: u64) -> Vec<Site> {
    let instructions = decoded(code, start);
    let mut padding = padding(&instructions);
    let mut sites = Vec::new();
    for pair in instructions.windows(2) {
        let [head, call] = pair else { continue };
        let is_call = call.mnemonic() == Mnemonic::Syscall && call.ip() < start + size;
        if !is_call || head.flow_control() != FlowControl::Next {
            continue;
        }
        let jump = if head.len() as u64 >= JUMP_LENGTH {
            Some(head.ip())
        } else {
            take_padding(&mut padding, head)
        };
        if let Some(jump) = jump {
            sites.push(Site {
                head: *head,
                call: call.ip(),
                jump,
            });
        }
    }
    sites
}

/// Returns the instructions up to the first bytes that are none.
fn decoded(code: &[u8], start: u64) -> Vec<Instruction> {
    let decoder = Decoder::with_ip(64, code, start, DecoderOptions::NONE);
    decoder
        .into_iter()
        .take_while(|it| !it.is_invalid())
        .collect()
}

/// Returns the start of each piece of padding that has room for a jump.
fn padding(instructions: &[Instruction]) -> Vec<u64> {
    let is_branch = |it: &&Instruction| it.op0_kind() == OpKind::NearBranch64;
    let targets = instructions.iter().filter(is_branch);
    let targets: Vec<u64> = targets.map(Instruction::near_branch_target).collect();
    let mut padding = Vec::new();
    let mut rest = instructions;
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        let ends = matches!(
            first.flow_control(),
            FlowControl::Return | FlowControl::UnconditionalBranch | FlowControl::IndirectBranch
        );
        if !ends {
            continue;
        }
        let begin = first.next_ip();
        let is_padding =
            |it: &&Instruction| it.mnemonic() == Mnemonic::Nop && !targets.contains(&it.ip());
        let end = behind.iter().take_while(is_padding).last();
        let end = end.map_or(begin, Instruction::next_ip);
        let pieces = (begin..end.saturating_sub(JUMP_LENGTH - 1)).step_by(JUMP_LENGTH as usize);
        padding.extend(pieces);
    }
    padding
}

/// Takes a piece of padding to which a short jump in the place of a head leads.
fn take_padding(padding: &mut Vec<u64>, head: &Instruction) -> Option<u64> {
    if (head.len() as u64) < SHORT_JUMP_LENGTH {
        return None;
    }
    let from = head.ip() + SHORT_JUMP_LENGTH;
    let is_near = |it: &u64| i8::try_from(it.wrapping_sub(from) as i64).is_ok();
    let place = padding.iter().position(is_near)?;
    Some(padding.remove(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `mov eax, 39; syscall; ret`.
    const PROCESS_ID: [u8; 8] = [0xb8, 39, 0, 0, 0, 0x0f, 0x05, 0xc3];
    /// `xor eax, eax; syscall; ret`.
    const READ: [u8; 5] = [0x31, 0xc0, 0x0f, 0x05, 0xc3];

    fn places(code: &[u8], size: usize) -> Vec<(u64, u64, u64)> {
        let sites = sites_in(code, size as u64, 0x1000);
        let place = |site: &Site| (site.head.ip(), site.call, site.jump);
        sites.iter().map(place).collect()
    }

    #[test]
    fn a_long_head_is_replaced_where_it_is() {
        assert_eq!(places(&PROCESS_ID, 8), [(0x1000, 0x1005, 0x1000)]);
        let sites = sites_in(&PROCESS_ID, 8, 0x1000);
        assert_eq!(sites[0].short_jump(), None);
    }

    #[test]
    fn a_short_head_leads_to_padding() {
        // nopw cs:0(rax,rax), 10 bytes: room for two.
        let nop = [0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0];
        let code = [&READ[..], &nop, &READ, &READ].concat();
        let expected = [(0x1000, 0x1002, 0x1005), (0x100f, 0x1011, 0x100a)];
        assert_eq!(places(&code, code.len()), expected);
        let sites = sites_in(&code, code.len() as u64, 0x1000);
        assert_eq!(sites[0].short_jump(), Some(vec![0xeb, 3]));
        assert_eq!(sites[1].short_jump(), Some(vec![0xeb, 0xf9]));
        // Behind the function there is padding, but no place of it.
        let code = [&READ[..], &nop, &READ].concat();
        assert_eq!(places(&code, 5), [(0x1000, 0x1002, 0x1005)]);
    }

    #[test]
    fn no_jump_replaces_what_somebody_comes_to() {
        // Too little padding; none that is far; none to which a branch leads.
        let little = [&READ[..], &[0x0f, 0x1f, 0x40, 0]].concat();
        assert_eq!(places(&little, little.len()), []);
        let far = [0xc3, 0x0f, 0x1f, 0x44, 0, 0]
            .into_iter()
            .chain([0x90; 130])
            .chain(READ)
            .collect::<Vec<u8>>();
        // The nops behind the first one are padding, too.
        assert_eq!(places(&far, far.len()).len(), 1);
        let jumps_there = [&READ[..], &[0x0f, 0x1f, 0x44, 0, 0], &[0xeb, 0xf9]].concat();
        assert_eq!(places(&jumps_there, jumps_there.len()), []);
        // A branch is no head; a call behind a label of its own is as good as any.
        let branch = [0x74, 0, 0x0f, 0x05, 0xc3];
        assert_eq!(places(&branch, branch.len()), []);
    }
}
