//! The code of a source line, analysed once: the places at which a thread that
//! runs through it must be stopped to step by line.
//!
//! Between these places (calls, returns, indirect jumps, system calls, moves of
//! the stack pointer) every instruction goes on to the next or jumps within the
//! line, so running there is the same as stepping there, at a fraction of the
//! cost. A thread runs alone to the next of these places or to where the line
//! is left; if the line may loop, all other threads run with it.

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, OpAccess, Register,
};
use std::ops::Range;

/// With more stops, inserting them costs more than stepping.
const STOP_COUNT_MAX: usize = 12;

/// The places at which to stop a thread that runs through a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineStops {
    /// Instructions that must be examined before they are executed (calls,
    /// returns, indirect jumps, system calls, moves of the stack pointer), and
    /// the places where the line is left.
    pub addresses: Vec<u64>,
    /// Whether the line may loop without being left: waiting for another
    /// thread, for example.
    pub has_loop: bool,
}

/// Analyses the code of a line: ranges of addresses with their bytes. Returns
/// none if it cannot be decoded, or if there are too many stops.
pub fn line_stops(code: &[(Range<u64>, Vec<u8>)]) -> Option<LineStops> {
    let is_inside = |address: u64| code.iter().any(|(range, _)| range.contains(&address));
    let mut stops = LineStops {
        addresses: Vec::new(),
        has_loop: false,
    };
    let mut information = InstructionInfoFactory::new();
    for (range, bytes) in code {
        let mut decoder = Decoder::with_ip(64, bytes, range.start, DecoderOptions::NONE);
        let mut goes_on = true;
        while decoder.can_decode() {
            let instruction = decoder.decode();
            if instruction.is_invalid() {
                return None;
            }
            let flow = instruction.flow_control();
            goes_on = !matches!(
                flow,
                FlowControl::UnconditionalBranch
                    | FlowControl::IndirectBranch
                    | FlowControl::Return
            );
            match flow {
                FlowControl::Next if !moves_stack(&mut information, &instruction) => {}
                FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                    let target = instruction.near_branch_target();
                    if !is_inside(target) {
                        stops.addresses.push(target);
                    } else if target <= instruction.ip() {
                        stops.has_loop = true;
                    }
                }
                _ => stops.addresses.push(instruction.ip()),
            }
        }
        if goes_on && !is_inside(range.end) {
            stops.addresses.push(range.end);
        }
    }
    stops.addresses.sort_unstable();
    stops.addresses.dedup();
    (stops.addresses.len() <= STOP_COUNT_MAX).then_some(stops)
}

fn moves_stack(information: &mut InstructionInfoFactory, instruction: &Instruction) -> bool {
    let used = information.info(instruction).used_registers();
    used.iter().any(|it| {
        let is_write = !matches!(it.access(), OpAccess::Read | OpAccess::CondRead);
        it.register().full_register() == Register::RSP && is_write
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: &[(u64, &[u8])], expected: Option<(&[u64], bool)>) {
        let code: Vec<_> = code
            .iter()
            .map(|(start, bytes)| (*start..*start + bytes.len() as u64, bytes.to_vec()))
            .collect();
        let expected = expected.map(|(addresses, has_loop)| LineStops {
            addresses: addresses.to_vec(),
            has_loop,
        });
        assert_eq!(line_stops(&code), expected, "{code:x?}");
    }

    #[test]
    fn a_line_is_left_at_its_end_and_by_its_jumps() {
        // nop; nop
        check(&[(0x10, &[0x90, 0x90])], Some((&[0x12], false)));
        // jne 0x20; nop
        check(&[(0x10, &[0x75, 0x0e, 0x90])], Some((&[0x13, 0x20], false)));
        // jmp 0x20
        check(&[(0x10, &[0xeb, 0x0e])], Some((&[0x20], false)));
        // Two ranges; the first runs into the second.
        check(&[(0x10, &[0x90]), (0x11, &[0x90])], Some((&[0x12], false)));
        // The first jumps to the second.
        check(
            &[(0x10, &[0xeb, 0x0e]), (0x20, &[0x90])],
            Some((&[0x21], false)),
        );
    }

    #[test]
    fn what_must_be_looked_at_is_stopped_before() {
        // call; nop
        check(
            &[(0x10, &[0xe8, 0, 0, 0, 0, 0x90])],
            Some((&[0x10, 0x16], false)),
        );
        // nop; ret
        check(&[(0x10, &[0x90, 0xc3])], Some((&[0x11], false)));
        // push rax; syscall
        check(
            &[(0x10, &[0x50, 0x0f, 0x05])],
            Some((&[0x10, 0x11, 0x13], false)),
        );
        // sub rsp, 8; leave
        check(
            &[(0x10, &[0x48, 0x83, 0xec, 8, 0xc9])],
            Some((&[0x10, 0x14, 0x15], false)),
        );
        // mov [rsp+8], rax only uses the stack pointer.
        check(
            &[(0x10, &[0x48, 0x89, 0x44, 0x24, 8])],
            Some((&[0x15], false)),
        );
        // jmp rax
        check(&[(0x10, &[0xff, 0xe0])], Some((&[0x10], false)));
    }

    #[test]
    fn loops_are_seen() {
        // dec eax; jne back; nop
        check(
            &[(0x10, &[0xff, 0xc8, 0x75, 0xfc, 0x90])],
            Some((&[0x15], true)),
        );
        check(&[(0x10, &[0xeb, 0xfe])], Some((&[], true)));
    }

    #[test]
    fn a_line_with_too_many_stops_is_refused() {
        // Calls, and the end of the line.
        let calls = |count: usize| [0xe8, 0, 0, 0, 0].repeat(count);
        for (count, expected) in [(STOP_COUNT_MAX - 1, true), (STOP_COUNT_MAX, false)] {
            let bytes = calls(count);
            let code = [(0x10..0x10 + bytes.len() as u64, bytes)];
            assert_eq!(line_stops(&code).is_some(), expected, "{count}");
        }
    }

    #[test]
    fn what_is_no_code_is_refused() {
        check(&[(0x10, &[0x06])], None);
        check(&[(0x10, &[0x48])], None);
        check(&[(0x10, &[0xe8; 100])], None);
    }
}
