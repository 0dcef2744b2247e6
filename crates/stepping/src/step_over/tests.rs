//! Encodings of real programs against the disassembler.

use super::*;
use crate::{OUT_OF_LINE_LENGTH_MAX, map_counter};
use iced_x86::{OpKind, Register};
use proptest::prelude::*;

const ADDRESS: u64 = 0x5555_5555_4000;
const NEAR: u64 = 0x5555_4444_0000;
const FAR: u64 = 0x7fff_0000_0000;

/// Instructions that functions, loops and returns begin with, including odd
/// ones.
const COPIED: &[(&[u8], &str)] = &[
    (&[0x55], "push rbp"),
    (&[0x41, 0x57], "push r15"),
    (&[0x48, 0x89, 0xe5], "mov rbp,rsp"),
    (&[0x48, 0x83, 0xec, 0x28], "sub rsp,28h"),
    (&[0x8b, 0x47, 0x10], "mov eax,[rdi+10h]"),
    (&[0x48, 0x85, 0xc0], "test rax,rax"),
    (&[0x31, 0xc0], "xor eax,eax"),
    (&[0x48, 0x8d, 0x44, 0x24, 0x08], "lea rax,[rsp+8]"),
    (
        &[0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0],
        "mov rax,fs:[28h]",
    ),
    (&[0xf3, 0xaa], "rep stosb"),
    (&[0xf3, 0x48, 0xa5], "rep movsq"),
    (&[0xf0, 0x0f, 0xb1, 0x0f], "lock cmpxchg [rdi],ecx"),
    (&[0xc5, 0xf9, 0x6e, 0xc7], "vmovd xmm0,edi"),
    (&[0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8], "mov rax,imm64"),
    (&[0xc9], "leave"),
    (&[0x9c], "pushfq"),
    (&[0xc3], "ret"),
    (&[0xf3, 0xc3], "rep ret"),
    (&[0xc2, 0x10, 0x00], "ret 10h"),
    (&[0xff, 0xe0], "jmp rax"),
    (&[0x3e, 0xff, 0xe0], "notrack jmp rax"),
    (&[0xff, 0x24, 0xc5, 0, 0x10, 0, 0], "jmp [rax*8+1000h]"),
    (&[0xcd, 0x80], "int 80h"),
    (&[0x0f, 0x05], "syscall"),
];

/// Instructions with an operand relative to themselves.
const RELATIVE: &[(&[u8], &str)] = &[
    (&[0x48, 0x8d, 0x3d, 0x00, 0x20, 0, 0], "lea rdi,[rip+2000h]"),
    (
        &[0x48, 0x8b, 0x05, 0xf0, 0xff, 0xff, 0xff],
        "mov rax,[rip-10h]",
    ),
    (
        &[0x80, 0x3d, 0x11, 0x22, 0, 0, 0x05],
        "cmp byte [rip+2211h],5",
    ),
    (
        &[0xc7, 0x05, 0x11, 0x22, 0, 0, 1, 2, 3, 4],
        "mov dword [rip+2211h],imm32",
    ),
    (
        &[0x66, 0x0f, 0x6f, 0x05, 0x00, 0x01, 0, 0],
        "movdqa xmm0,[rip+100h]",
    ),
    (&[0xff, 0x25, 0x00, 0x30, 0, 0], "jmp [rip+3000h]"),
    (&[0xff, 0x35, 0x00, 0x30, 0, 0], "push [rip+3000h]"),
];

/// Conditional branches.
const BRANCHES: &[(&[u8], &str)] = &[
    (&[0x74, 0x10], "je short"),
    (&[0x75, 0xfe], "jne to itself"),
    (&[0x0f, 0x8f, 0x00, 0x01, 0, 0], "jg near"),
    (
        &[0x3e, 0x0f, 0x82, 0x00, 0x01, 0, 0],
        "jb near, with a hint",
    ),
    (&[0xf2, 0x0f, 0x84, 0x00, 0x01, 0, 0], "bnd je near"),
    (&[0xe2, 0xfe], "loop to itself"),
    (&[0xe1, 0x40], "loope"),
    (&[0xe0, 0x40], "loopne"),
    (&[0xe3, 0x80], "jrcxz"),
    (&[0x67, 0xe3, 0x80], "jecxz"),
];

fn decode(bytes: &[u8], ip: u64) -> Instruction {
    Decoder::with_ip(64, bytes, ip, DecoderOptions::NONE).decode()
}

/// Returns the instruction of a copy at `rip`.
fn decode_at(code: &OutOfLineCode, rip: u64) -> Instruction {
    decode(&code.bytes[(rip - code.at) as usize..], rip)
}

/// Returns the target of an unconditional jump of a copy.
fn follow_jump(code: &OutOfLineCode, rip: u64) -> u64 {
    let jump = decode_at(code, rip);
    if jump.is_jmp_short_or_near() {
        return jump.near_branch_target();
    }
    assert!(jump.is_jmp_near_indirect(), "{jump:?} is no jump");
    let pointer = (jump.ip_rel_memory_address() - code.at) as usize;
    u64::from_le_bytes(code.bytes[pointer..pointer + 8].try_into().unwrap())
}

fn slot_of(bytes: &[u8], address: u64, slot: u64) -> OutOfLineCode {
    let planned = plan_step_over(bytes, address, Some(slot));
    assert_eq!(planned.length, bytes.len());
    let is_call = matches!(bytes, [0x0f, 0x05] | [0xcd, 0x80]);
    let last = address + bytes.len() as u64 - 1;
    let code = if address >> 12 != last >> 12 && !is_call {
        assert!(planned.step_over.is_in_place(), "{bytes:x?}");
        // The copy would still be right.
        let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
        let instruction = decoder.decode();
        let offsets = decoder.get_constant_offsets(&instruction);
        relocate(&instruction, bytes, &offsets, slot).unwrap()
    } else {
        assert_eq!(
            planned.step_over,
            StepOver::OutOfLine { at: slot },
            "{bytes:x?}"
        );
        planned.code.unwrap()
    };
    assert!(code.bytes.len() <= OUT_OF_LINE_LENGTH_MAX);
    assert_eq!(map_counter(&code, slot), Some((address, false)));
    assert_eq!(map_counter(&code, address), None);
    code
}

/// Asserts that two instructions do the same, wherever they are.
fn assert_same(copied: &Instruction, original: &Instruction) {
    assert_eq!(copied.code(), original.code());
    assert_eq!(copied.len(), original.len());
    assert_eq!(copied.op_count(), original.op_count());
    for operand in 0..original.op_count() {
        assert_eq!(copied.op_kind(operand), original.op_kind(operand));
        match original.op_kind(operand) {
            OpKind::Register => {
                assert_eq!(copied.op_register(operand), original.op_register(operand))
            }
            OpKind::Memory => {
                let place = |i: &Instruction| {
                    (
                        i.memory_segment(),
                        i.memory_base(),
                        i.memory_index(),
                        i.memory_index_scale(),
                    )
                };
                assert_eq!(place(copied), place(original));
                assert_eq!(
                    copied.memory_displacement64(),
                    original.memory_displacement64()
                );
            }
            OpKind::NearBranch64 => unreachable!("a relative branch is never copied as it is"),
            _ => assert_eq!(
                copied.try_immediate(operand).ok(),
                original.try_immediate(operand).ok()
            ),
        }
    }
}

fn check_out_of_line(bytes: &[u8], address: u64, slot: u64) {
    let original = decode(bytes, address);
    let next = address + bytes.len() as u64;
    let code = slot_of(bytes, address, slot);
    assert_same(&decode_at(&code, slot), &original);
    let mut after = slot + bytes.len() as u64;
    if matches!(
        original.flow_control(),
        FlowControl::Return | FlowControl::IndirectBranch
    ) {
        assert_eq!(code.bytes.len(), bytes.len());
        return;
    }
    assert_eq!(map_counter(&code, after), Some((next, true)));
    if original.code() == Code::Syscall {
        let restore = decode_at(&code, after);
        assert_eq!(
            (restore.code(), restore.op0_register()),
            (Code::Mov_r64_imm64, Register::RCX)
        );
        assert_eq!(restore.immediate64(), next);
        after = restore.next_ip();
        assert_eq!(map_counter(&code, after), Some((next, true)));
    }
    assert_eq!(follow_jump(&code, after), next);
}

fn check_branch(bytes: &[u8], address: u64, slot: u64) {
    let original = decode(bytes, address);
    let code = slot_of(bytes, address, slot);
    let test = decode_at(&code, slot);
    assert_eq!(test.mnemonic(), original.mnemonic());
    assert_eq!(test.condition_code(), original.condition_code());
    for (rip, target) in [
        (test.next_ip(), original.next_ip()),
        (test.near_branch_target(), original.near_branch_target()),
    ] {
        assert_eq!(map_counter(&code, rip), Some((target, true)));
        assert_eq!(follow_jump(&code, rip), target);
    }
}

#[test]
fn copies_do_the_same_and_come_back() {
    for slot in [NEAR, FAR] {
        COPIED
            .iter()
            .for_each(|(bytes, _)| check_out_of_line(bytes, ADDRESS, slot));
        BRANCHES
            .iter()
            .for_each(|(bytes, _)| check_branch(bytes, ADDRESS, slot));
    }
    RELATIVE
        .iter()
        .for_each(|(bytes, _)| check_out_of_line(bytes, ADDRESS, NEAR));
}

#[test]
fn emulated() {
    let skip = |to| StepOver::Skip {
        to: ADDRESS.wrapping_add_signed(to),
    };
    let call = |to, back| StepOver::Call {
        to: ADDRESS.wrapping_add_signed(to),
        back: ADDRESS + back,
    };
    for (bytes, step_over) in [
        (&[0xf3, 0x0f, 0x1e, 0xfa][..], skip(4)),
        (&[0x90], skip(1)),
        (&[0xf3, 0x90], skip(2)),
        (&[0x66, 0x0f, 0x1f, 0x44, 0, 0], skip(6)),
        (&[0xeb, 0xfe], skip(0)),
        (&[0xeb, 0x7e], skip(0x80)),
        (&[0xe9, 0xfb, 0xff, 0xff, 0xff], skip(0)),
        (&[0xf2, 0xe9, 0, 1, 0, 0], skip(0x106)),
        (&[0xe8, 0, 0, 0, 0], call(5, 5)),
        (&[0xe8, 0xfb, 0xef, 0xff, 0xff], call(-0x1000, 5)),
        (&[0xf2, 0xe8, 0, 1, 0, 0], call(0x106, 6)),
    ] {
        let planned = plan_step_over(bytes, ADDRESS, None);
        assert_eq!(
            planned,
            PlannedStepOver {
                step_over,
                code: None,
                length: bytes.len()
            },
            "{bytes:x?}"
        );
    }
}

#[test]
fn a_displacement_of_66_is_no_prefix() {
    let copied = StepOver::OutOfLine { at: NEAR };
    let skip = StepOver::Skip { to: ADDRESS + 0x68 };
    for (bytes, expected) in [
        (&[0x70, 0x66][..], copied),
        (&[0x74, 0x66], copied),
        (&[0xf2, 0x74, 0x66], copied),
        (&[0x0f, 0x84, 0x66, 0, 0, 0], copied),
        (&[0xeb, 0x66], skip),
    ] {
        let planned = plan_step_over(bytes, ADDRESS, Some(NEAR));
        assert_eq!(planned.step_over, expected, "{bytes:x?}");
    }
}

#[test]
fn left_in_place() {
    for (bytes, length, why) in [
        (&[0xff, 0xd0][..], 2, "call rax"),
        (&[0xff, 0x15, 0, 1, 0, 0], 6, "call [rip+100h]"),
        (&[0xcc], 1, "int3"),
        (&[0xf1], 1, "int1"),
        (&[0xcd, 0x03], 2, "int 3"),
        (&[0x0f, 0x0b], 2, "ud2"),
        (&[0x0f, 0x34], 2, "sysenter"),
        (&[0xf4], 1, "hlt"),
        (&[0xc7, 0xf8, 0, 1, 0, 0], 6, "xbegin"),
        (&[0x67, 0x8b, 0x05, 0, 1, 0, 0], 7, "mov eax,[eip+100h]"),
        (&[0x66, 0xeb, 0x10], 3, "jmp with an operand size"),
        (&[0x66, 0xe9, 0, 1, 0, 0], 6, "jmp with an operand size"),
        (&[0xf2, 0x66, 0x74, 0x10], 4, "je with an operand size"),
        (
            &[0x66, 0x0f, 0x84, 0, 1, 0, 0],
            7,
            "je near with an operand size",
        ),
        (&[0x06], 0, "no instruction"),
        (&[0x48, 0x8d], 0, "half an instruction"),
        (&[], 0, "nothing"),
    ] {
        let planned = plan_step_over(bytes, ADDRESS, Some(NEAR));
        assert_eq!(
            planned,
            PlannedStepOver {
                step_over: StepOver::InPlace,
                code: None,
                length
            },
            "{why}"
        );
    }
    // The low half of the program counter is not its whole even where both are equal.
    let low = plan_step_over(&[0x67, 0x8b, 0x05, 0, 1, 0, 0], 0x40_0000, Some(0x50_0000));
    assert_eq!(low.step_over, StepOver::InPlace);
    for (bytes, expected, why) in [
        (&[0x48, 0x89, 0xe5][..], StepOver::InPlace, "mov rbp,rsp"),
        (&[0xe8, 0, 0, 0, 0], StepOver::InPlace, "call"),
        (&[0x66, 0x90], StepOver::InPlace, "nop"),
        (&[0xf3, 0xaa], StepOver::InPlaceRepeated, "rep stosb"),
        (&[0x0f, 0x05], StepOver::OutOfLine { at: NEAR }, "syscall"),
        (&[0xcd, 0x80], StepOver::OutOfLine { at: NEAR }, "int 80h"),
        (&[0x55], StepOver::OutOfLine { at: NEAR }, "push rbp"),
    ] {
        let step_over = plan_step_over(bytes, ADDRESS - 1, Some(NEAR)).step_over;
        assert_eq!(step_over, expected, "{why}, at the end of a page");
    }
    for (bytes, name) in RELATIVE {
        assert_eq!(
            plan_step_over(bytes, ADDRESS, Some(FAR)).step_over,
            StepOver::InPlace,
            "{name}, too far"
        );
    }
    for (bytes, name) in COPIED.iter().chain(RELATIVE).chain(BRANCHES) {
        let expected = match *name {
            "rep stosb" | "rep movsq" => StepOver::InPlaceRepeated,
            _ => StepOver::InPlace,
        };
        let planned = plan_step_over(bytes, ADDRESS, None);
        assert_eq!(planned.step_over, expected, "{name}, no slot");
    }
}

proptest! {
    #[test]
    fn copies_hold_wherever_they_are(
        pick in any::<prop::sample::Index>(),
        address in 0x1_0000u64..0x7fff_ffff_0000,
        page in -0x7_0000i64..0x7_0000,
        far in 0x1_0000u64..0x7fff_ffff_0000,
    ) {
        let near = address.wrapping_add_signed(page * 0x1000).clamp(0x1000, 0x7fff_ffff_f000);
        let index = pick.index(COPIED.len() + RELATIVE.len() + BRANCHES.len());
        if let Some((bytes, _)) = COPIED.get(index) {
            check_out_of_line(bytes, address, near);
            check_out_of_line(bytes, address, far);
        } else if let Some((bytes, _)) = RELATIVE.get(index - COPIED.len()) {
            check_out_of_line(bytes, address, near);
        } else {
            let (bytes, _) = BRANCHES[index - COPIED.len() - RELATIVE.len()];
            check_branch(bytes, address, near);
            check_branch(bytes, address, far);
        }
    }

    #[test]
    fn no_bytes_are_too_strange(
        bytes in prop::collection::vec(any::<u8>(), 0..16),
        address in any::<u64>(),
        slot in prop::option::of(any::<u64>()),
    ) {
        let planned = plan_step_over(&bytes, address, slot);
        prop_assert!(planned.length <= bytes.len());
        prop_assert_eq!(planned.code.is_some(), matches!(planned.step_over, StepOver::OutOfLine { .. }));
        if let Some(code) = planned.code {
            prop_assert!(code.bytes.len() <= OUT_OF_LINE_LENGTH_MAX);
            prop_assert_eq!(map_counter(&code, code.at), Some((address, false)));
        }
    }
}
