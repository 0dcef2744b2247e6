//! Random instructions, and an interpreter that carries the labels of the bytes they use.

use crate::location::{Location, Storage};
use crate::{Executed, INSTRUCTION_SIZE_MAX};
use iced_x86::{Code, Encoder, Instruction, MemoryOperand, Register as Name};
use juror_arch::{Register, Registers};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A byte before the first instruction: its storage, the register or address, the byte.
pub(super) type Label = (u8, u64, u64);
pub(super) type Labels = BTreeSet<Label>;

/// The memory that operands name, and the stack.
const BASE: u64 = 0x1_0000;
const STACK: u64 = 0x2_0000;

/// The registers that operands name, by size.
const NAMES: [[Name; 4]; 6] = [
    [Name::AL, Name::AX, Name::EAX, Name::RAX],
    [Name::CL, Name::CX, Name::ECX, Name::RCX],
    [Name::DL, Name::DX, Name::EDX, Name::RDX],
    [Name::BL, Name::BX, Name::EBX, Name::RBX],
    [Name::SIL, Name::SI, Name::ESI, Name::RSI],
    [Name::DIL, Name::DI, Name::EDI, Name::RDI],
];
const NUMBERS: [u8; 6] = [0, 1, 2, 3, 6, 7];
const HIGH: [Name; 4] = [Name::AH, Name::CH, Name::DH, Name::BH];
const VECTORS: [Name; 4] = [Name::XMM0, Name::XMM1, Name::XMM2, Name::XMM3];

/// An instruction. Registers are indices of the tables, sizes are powers of two.
#[derive(Debug, Clone, Copy)]
pub(super) enum Operation {
    Move {
        size: usize,
        to: usize,
        from: usize,
    },
    MoveToHigh {
        to: usize,
        from: usize,
    },
    MoveConstant {
        to: usize,
    },
    Clear {
        to: usize,
    },
    Load {
        size: usize,
        to: usize,
        at: u64,
    },
    Store {
        size: usize,
        at: u64,
        from: usize,
    },
    ZeroExtend {
        to: usize,
        from: usize,
    },
    SignExtend {
        to: usize,
        at: u64,
    },
    SignOfAccumulator,
    Add {
        size: usize,
        to: usize,
        from: usize,
    },
    AddFromMemory {
        to: usize,
        at: u64,
    },
    AddToMemory {
        at: u64,
        from: usize,
    },
    AddWithCarry {
        to: usize,
        from: usize,
    },
    Compare {
        one: usize,
        other: usize,
    },
    SetIfEqual {
        to: usize,
    },
    Exchange {
        one: usize,
        other: usize,
    },
    ExchangeAndAdd {
        at: u64,
        from: usize,
    },
    Push {
        from: usize,
    },
    Pop {
        to: usize,
    },
    MoveIfEqual {
        is_equal: bool,
        to: usize,
        from: usize,
    },
    Address {
        to: usize,
        base: usize,
        index: usize,
    },
    Multiply {
        by: usize,
    },
    CopyString {
        to: u64,
        from: u64,
        count: u64,
    },
    FillString {
        at: u64,
    },
    LoadVector {
        to: usize,
        at: u64,
    },
    StoreVector {
        at: u64,
        from: usize,
    },
    ToVector {
        to: usize,
        from: usize,
    },
    FromVector {
        to: usize,
        from: usize,
    },
    Combine {
        to: usize,
        from: usize,
    },
    AddVectors {
        to: usize,
        from: usize,
    },
    AddNumbers {
        to: usize,
        from: usize,
    },
}

pub(super) fn operations() -> impl Strategy<Value = Operation> {
    use Operation::*;
    let (to, from) = (0..6_usize, 0..6_usize);
    let r = (to, from, 0..4_usize, 0..24_u64);
    let v = (0..4_usize, 0..4_usize, 0..24_u64);
    prop_oneof![
        (r.clone(), 0..20).prop_map(|((to, from, size, at), kind)| match kind {
            0 => Move { size, to, from },
            1 => MoveToHigh { to: to % 4, from },
            2 => MoveConstant { to },
            3 => Clear { to },
            4 => Load { size, to, at },
            5 => Store { size, at, from },
            6 => ZeroExtend { to, from },
            7 => SignExtend { to, at },
            8 => SignOfAccumulator,
            9 => Add { size, to, from },
            10 => AddFromMemory { to, at },
            11 => AddToMemory { at, from },
            12 => AddWithCarry { to, from },
            13 => Compare {
                one: to,
                other: from
            },
            14 => SetIfEqual { to },
            15 => Exchange {
                one: to,
                other: from
            },
            16 => ExchangeAndAdd { at, from },
            17 => Push { from },
            18 => Pop { to },
            _ => Multiply { by: to },
        }),
        (r, any::<bool>(), 0..6_usize, 1..5_u64).prop_map(
            |((to, from, size, at), is_equal, index, count)| {
                match size {
                    0 => MoveIfEqual { is_equal, to, from },
                    1 => Address {
                        to,
                        base: from,
                        index,
                    },
                    2 => CopyString {
                        to: at,
                        from: at + 5 + count,
                        count,
                    },
                    _ => FillString { at },
                }
            }
        ),
        (v, 0..6_usize, 0..7).prop_map(|((to, from, at), general, kind)| match kind {
            0 => LoadVector { to, at },
            1 => StoreVector { at, from },
            2 => ToVector { to, from: general },
            3 => FromVector { to: general, from },
            4 => Combine { to, from },
            5 => AddVectors { to, from },
            _ => AddNumbers { to, from },
        }),
    ]
}

/// Returns a part of the memory that operands name.
pub(super) fn memory(offset: u64, size: u64) -> Location {
    Location::memory(BASE + offset..BASE + offset + size)
}

/// Returns the labels of the bytes of a location before the first instruction.
pub(super) fn initial(location: &Location) -> Labels {
    location
        .range
        .clone()
        .map(|byte| label(location.storage, byte))
        .collect()
}

fn label(storage: Storage, byte: u64) -> Label {
    match storage {
        Storage::General(number) => (0, number.into(), byte),
        Storage::Vector(number) => (1, number.into(), byte),
        Storage::Memory => (2, 0, byte),
        Storage::Flags => (3, 0, 0),
        Storage::Other => (4, 0, 0),
    }
}

/// A program that has been interpreted.
pub(super) struct Program {
    pub steps: Vec<Executed>,
    pub end: Registers,
    bytes: BTreeMap<Label, Labels>,
    stack: u64,
    /// The address of the next instruction.
    address: u64,
}

impl Program {
    pub(super) fn run(operations: &[Operation]) -> Program {
        let mut program = Program {
            steps: Vec::new(),
            end: Registers::default(),
            bytes: BTreeMap::new(),
            stack: STACK,
            address: 0,
        };
        for operation in operations {
            program.step(*operation);
        }
        program.end = program.registers();
        program
    }

    fn registers(&self) -> Registers {
        let mut registers = Registers::default();
        registers.set(Register::R15, BASE);
        registers.set(Register::Rsp, self.stack);
        registers.set_instruction_pointer(self.address);
        registers
    }

    /// Returns the labels that the bytes of a location have now.
    pub(super) fn labels(&self, location: &Location) -> Labels {
        let bytes = location.range.clone();
        bytes
            .flat_map(|byte| self.byte(location.storage, byte))
            .collect()
    }

    fn byte(&self, storage: Storage, byte: u64) -> Labels {
        let label = label(storage, byte);
        self.bytes
            .get(&label)
            .cloned()
            .unwrap_or_else(|| Labels::from([label]))
    }

    fn set(&mut self, to: &Location, labels: &Labels) {
        for byte in to.range.clone() {
            self.bytes.insert(label(to.storage, byte), labels.clone());
        }
        // The upper half is cleared with the lower one.
        if matches!(to.storage, Storage::General(_)) && to.range == (0..4) {
            self.set(
                &Location {
                    range: 4..8,
                    ..to.clone()
                },
                &Labels::new(),
            );
        }
    }

    fn copy(&mut self, to: &Location, from: &Location) {
        let bytes: Vec<Labels> = from
            .range
            .clone()
            .map(|it| self.byte(from.storage, it))
            .collect();
        if matches!(to.storage, Storage::General(_)) && to.range == (0..4) {
            self.set(
                &Location {
                    range: 4..8,
                    ..to.clone()
                },
                &Labels::new(),
            );
        }
        for (byte, labels) in to.range.clone().zip(bytes) {
            self.bytes.insert(label(to.storage, byte), labels);
        }
    }

    /// All of these depend on all of those.
    fn compute(&mut self, outputs: &[Location], inputs: &[Location]) {
        let labels: Labels = inputs.iter().flat_map(|it| self.labels(it)).collect();
        for output in outputs {
            self.set(output, &labels);
        }
    }

    fn emit(&mut self, mut instruction: Instruction, change: impl Fn(&mut Registers)) {
        let mut encoder = Encoder::new(64);
        instruction.set_ip(0);
        encoder.encode(&instruction, 0).expect("an instruction");
        let code = encoder.take_buffer();
        let mut bytes = [0x90; INSTRUCTION_SIZE_MAX];
        bytes[..code.len()].copy_from_slice(&code);
        let mut registers = self.registers();
        change(&mut registers);
        registers.set_instruction_pointer(self.address);
        self.address += code.len() as u64;
        self.steps.push(Executed {
            bytes,
            registers,
            stretch: 0,
        });
    }

    fn plain(&mut self, instruction: Result<Instruction, iced_x86::IcedError>) {
        self.emit(instruction.expect("an instruction"), |_| {});
    }

    #[allow(clippy::too_many_lines, reason = "a table of instructions")]
    fn step(&mut self, operation: Operation) {
        use Operation::*;
        let at_base = |at: u64| MemoryOperand::with_base_displ(Name::R15, at.cast_signed());
        let general = |index: usize, size: usize| Location::general(NUMBERS[index], 1 << size);
        let vector = |index: usize, size: u64| Location::vector(index as u8, size);
        let flags = Location {
            storage: Storage::Flags,
            range: 0..1,
        };
        match operation {
            Move { size, to, from } => {
                let code = [
                    Code::Mov_r8_rm8,
                    Code::Mov_r16_rm16,
                    Code::Mov_r32_rm32,
                    Code::Mov_r64_rm64,
                ];
                self.plain(Instruction::with2(
                    code[size],
                    NAMES[to][size],
                    NAMES[from][size],
                ));
                self.copy(&general(to, size), &general(from, size));
            }
            MoveToHigh { to, from } => {
                let from = from % 4;
                self.plain(Instruction::with2(
                    Code::Mov_r8_rm8,
                    HIGH[to],
                    NAMES[from][0],
                ));
                self.copy(&general(to, 1).part(1..2), &general(from, 0));
            }
            MoveConstant { to } => {
                self.plain(Instruction::with2(Code::Mov_r32_imm32, NAMES[to][2], 7));
                self.set(&general(to, 2), &Labels::new());
            }
            Clear { to } => {
                self.plain(Instruction::with2(
                    Code::Xor_r32_rm32,
                    NAMES[to][2],
                    NAMES[to][2],
                ));
                self.set(&general(to, 2), &Labels::new());
                self.set(&flags, &Labels::new());
            }
            Load { size, to, at } => {
                let code = [
                    Code::Mov_r8_rm8,
                    Code::Mov_r16_rm16,
                    Code::Mov_r32_rm32,
                    Code::Mov_r64_rm64,
                ];
                self.plain(Instruction::with2(code[size], NAMES[to][size], at_base(at)));
                self.copy(&general(to, size), &memory(at, 1 << size));
            }
            Store { size, at, from } => {
                let code = [
                    Code::Mov_rm8_r8,
                    Code::Mov_rm16_r16,
                    Code::Mov_rm32_r32,
                    Code::Mov_rm64_r64,
                ];
                self.plain(Instruction::with2(
                    code[size],
                    at_base(at),
                    NAMES[from][size],
                ));
                self.copy(&memory(at, 1 << size), &general(from, size));
            }
            ZeroExtend { to, from } => {
                self.plain(Instruction::with2(
                    Code::Movzx_r64_rm16,
                    NAMES[to][3],
                    NAMES[from][1],
                ));
                self.copy(&general(to, 1), &general(from, 1));
                self.set(&general(to, 3).part(2..8), &Labels::new());
            }
            SignExtend { to, at } => {
                self.plain(Instruction::with2(
                    Code::Movsxd_r64_rm32,
                    NAMES[to][3],
                    at_base(at),
                ));
                self.copy(&general(to, 3).part(0..4), &memory(at, 4));
                let sign = self.labels(&memory(at + 3, 1));
                self.set(&general(to, 3).part(4..8), &sign);
            }
            SignOfAccumulator => {
                self.plain(Ok(Instruction::with(Code::Cqo)));
                let sign = self.labels(&general(0, 3).part(7..8));
                self.set(&general(2, 3), &sign);
            }
            Add { size, to, from } => {
                let code = [
                    Code::Add_r8_rm8,
                    Code::Add_r16_rm16,
                    Code::Add_r32_rm32,
                    Code::Add_r64_rm64,
                ];
                self.plain(Instruction::with2(
                    code[size],
                    NAMES[to][size],
                    NAMES[from][size],
                ));
                let inputs = [general(to, size), general(from, size)];
                self.compute(&[general(to, size), flags], &inputs);
            }
            AddFromMemory { to, at } => {
                self.plain(Instruction::with2(
                    Code::Add_r32_rm32,
                    NAMES[to][2],
                    at_base(at),
                ));
                let inputs = [general(to, 2), memory(at, 4)];
                self.compute(&[general(to, 2), flags], &inputs);
            }
            AddToMemory { at, from } => {
                self.plain(Instruction::with2(
                    Code::Add_rm64_r64,
                    at_base(at),
                    NAMES[from][3],
                ));
                let inputs = [memory(at, 8), general(from, 3)];
                self.compute(&[memory(at, 8), flags], &inputs);
            }
            AddWithCarry { to, from } => {
                self.plain(Instruction::with2(
                    Code::Adc_r64_rm64,
                    NAMES[to][3],
                    NAMES[from][3],
                ));
                let inputs = [general(to, 3), general(from, 3), flags.clone()];
                self.compute(&[general(to, 3), flags], &inputs);
            }
            Compare { one, other } => {
                self.plain(Instruction::with2(
                    Code::Cmp_r64_rm64,
                    NAMES[one][3],
                    NAMES[other][3],
                ));
                self.compute(&[flags], &[general(one, 3), general(other, 3)]);
            }
            SetIfEqual { to } => {
                self.plain(Instruction::with1(Code::Sete_rm8, NAMES[to][0]));
                self.compute(&[general(to, 0)], &[flags]);
            }
            Exchange { one, other } => {
                self.plain(Instruction::with2(
                    Code::Xchg_rm64_r64,
                    NAMES[one][3],
                    NAMES[other][3],
                ));
                let bytes: Vec<Labels> = (0..8)
                    .map(|it| self.byte(Storage::General(NUMBERS[one]), it))
                    .collect();
                self.copy(&general(one, 3), &general(other, 3));
                for (byte, labels) in (0..8).zip(bytes) {
                    self.bytes
                        .insert(label(Storage::General(NUMBERS[other]), byte), labels);
                }
            }
            ExchangeAndAdd { at, from } => {
                self.plain(Instruction::with2(
                    Code::Xadd_rm64_r64,
                    at_base(at),
                    NAMES[from][3],
                ));
                let before: Vec<Labels> = memory(at, 8)
                    .range
                    .map(|it| self.byte(Storage::Memory, it))
                    .collect();
                let inputs = [memory(at, 8), general(from, 3)];
                self.compute(&[memory(at, 8), flags], &inputs);
                for (byte, labels) in (0..8).zip(before) {
                    self.bytes
                        .insert(label(Storage::General(NUMBERS[from]), byte), labels);
                }
            }
            Push { from } => {
                self.plain(Instruction::with1(Code::Push_r64, NAMES[from][3]));
                self.stack -= 8;
                self.copy(
                    &Location::memory(self.stack..self.stack + 8),
                    &general(from, 3),
                );
            }
            Pop { to } => {
                self.plain(Instruction::with1(Code::Pop_r64, NAMES[to][3]));
                self.copy(
                    &general(to, 3),
                    &Location::memory(self.stack..self.stack + 8),
                );
                self.stack += 8;
            }
            MoveIfEqual { is_equal, to, from } => {
                let code = Instruction::with2(Code::Cmove_r32_rm32, NAMES[to][2], NAMES[from][2]);
                let zero = if is_equal { 0x40 } else { 0 };
                self.emit(code.expect("an instruction"), |it| it.set_flags(zero));
                if is_equal {
                    self.copy(&general(to, 2), &general(from, 2));
                }
                self.set(&general(to, 3).part(4..8), &Labels::new());
            }
            Address { to, base, index } => {
                let operand = MemoryOperand::with_base_index(NAMES[base][3], NAMES[index][3]);
                self.plain(Instruction::with2(Code::Lea_r64_m, NAMES[to][3], operand));
                self.compute(&[general(to, 3)], &[general(base, 3), general(index, 3)]);
            }
            Multiply { by } => {
                self.plain(Instruction::with1(Code::Mul_rm64, NAMES[by][3]));
                let outputs = [general(0, 3), general(2, 3), flags];
                self.compute(&outputs, &[general(0, 3), general(by, 3)]);
            }
            CopyString { to, from, count } => {
                let code = Instruction::with_rep_movsb(64).expect("an instruction");
                self.emit(code, |it| {
                    it.set(Register::Rsi, BASE + from);
                    it.set(Register::Rdi, BASE + to);
                    it.set(Register::Rcx, count);
                });
                // The counter is zero before the next instruction.
                self.plain(Ok(Instruction::with(Code::Nopd)));
                self.copy(&memory(to, count), &memory(from, count));
                let counter = general(1, 3);
                for index in [4, 5] {
                    self.compute(&[general(index, 3)], &[general(index, 3), counter.clone()]);
                }
                self.compute(
                    std::slice::from_ref(&counter),
                    std::slice::from_ref(&counter),
                );
            }
            FillString { at } => {
                let code = Instruction::with_stosq(64, iced_x86::RepPrefixKind::None);
                let code = code.expect("an instruction");
                self.emit(code, |it| it.set(Register::Rdi, BASE + at));
                self.copy(&memory(at, 8), &general(0, 3));
                self.compute(&[general(5, 3)], &[general(5, 3)]);
            }
            LoadVector { to, at } => {
                self.plain(Instruction::with2(
                    Code::Movups_xmm_xmmm128,
                    VECTORS[to],
                    at_base(at),
                ));
                self.copy(&vector(to, 16), &memory(at, 16));
            }
            StoreVector { at, from } => {
                self.plain(Instruction::with2(
                    Code::Movups_xmmm128_xmm,
                    at_base(at),
                    VECTORS[from],
                ));
                self.copy(&memory(at, 16), &vector(from, 16));
            }
            ToVector { to, from } => {
                self.plain(Instruction::with2(
                    Code::Movq_xmm_rm64,
                    VECTORS[to],
                    NAMES[from][3],
                ));
                self.copy(&vector(to, 8), &general(from, 3));
                self.set(&vector(to, 16).part(8..16), &Labels::new());
            }
            FromVector { to, from } => {
                self.plain(Instruction::with2(
                    Code::Movq_rm64_xmm,
                    NAMES[to][3],
                    VECTORS[from],
                ));
                self.copy(&general(to, 3), &vector(from, 8));
            }
            Combine { to, from } => {
                self.plain(Instruction::with2(
                    Code::Punpcklqdq_xmm_xmmm128,
                    VECTORS[to],
                    VECTORS[from],
                ));
                self.copy(&vector(to, 16).part(8..16), &vector(from, 8));
            }
            AddVectors { to, from } => {
                self.plain(Instruction::with2(
                    Code::Paddd_xmm_xmmm128,
                    VECTORS[to],
                    VECTORS[from],
                ));
                self.compute(&[vector(to, 16)], &[vector(to, 16), vector(from, 16)]);
            }
            AddNumbers { to, from } => {
                self.plain(Instruction::with2(
                    Code::Addsd_xmm_xmmm64,
                    VECTORS[to],
                    VECTORS[from],
                ));
                self.compute(&[vector(to, 8)], &[vector(to, 8), vector(from, 8)]);
            }
        }
    }
}
