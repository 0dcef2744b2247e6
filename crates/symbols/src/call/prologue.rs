//! The stores by which the first instructions of a function move its arguments to where its
//! debug information says that they are from then on.
//!
//! Unoptimized code has one location for each parameter, a slot of the frame, which has its
//! value after the prologue. The argument that is stored there is the parameter, whatever
//! hidden arguments precede it (the environment of a closure, the table of virtual bases).
//! The instructions are followed from the entry to the first jump or call.
//!
//! **Invariant:** where the analysis does not understand the code, nothing is known.

use super::{EntryLocation, EntryPiece, EntryPieceLocation};
use crate::{Function, SymbolFile};
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    OpKind, Register, UsedMemory,
};
use juror_arch::abi::RETURN_ADDRESS_BYTES;
use juror_arch::dwarf::{self, FRAME_POINTER, STACK_POINTER};
use std::collections::BTreeMap;

/// The maximum number of instructions that are followed.
const INSTRUCTIONS_MAX: usize = 400;
/// The maximum number of bytes of code that are decoded.
const CODE_SIZE_MAX: u64 = 4096;
/// The largest parameter whose stores are searched, in bytes.
const SIZE_MAX: u64 = 64;

/// What is known of the contents of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    /// In the low bytes, what a register had at the entry.
    Entry { register: u16, bytes: u32 },
    /// The address at this offset from the canonical frame address.
    Frame(i64),
    /// In the low bytes, what the stack of the caller had at this offset from the canonical
    /// frame address.
    Stack { offset: i64, bytes: u32 },
}

/// A store to the frame.
#[derive(Debug, Clone, Copy)]
struct Store {
    /// The offset from the canonical frame address.
    offset: i64,
    size: u32,
    /// What was stored; `None` if it is unknown.
    held: Option<Held>,
    /// The stack pointer and the frame pointer at the store, as offsets from the canonical
    /// frame address.
    bases: [Option<i64>; 2],
}

/// The base of a slot's offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SlotBase {
    /// The canonical frame address.
    Frame,
    /// The stack pointer after the prologue.
    StackPointer,
    /// The frame pointer after the prologue.
    FramePointer,
}

/// A slot of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    pub base: SlotBase,
    /// The distance from the base in bytes.
    pub offset: i64,
}

/// The stores of a function's first instructions to its frame, in their order.
#[derive(Debug, Default)]
pub(super) struct Prologue {
    stores: Vec<Store>,
    /// The stack pointer and the frame pointer when the frame has been made.
    bases: [Option<i64>; 2],
}

impl Prologue {
    /// Follows the first instructions of a function.
    pub fn of(file: &SymbolFile, function: &Function) -> Option<Prologue> {
        let size = function.size().min(CODE_SIZE_MAX);
        let code = file.bytes_at(function.low_pc, size)?;
        let mut machine = Machine::at_entry();
        let mut decoder = Decoder::with_ip(64, &code, function.low_pc, DecoderOptions::NONE);
        let mut count = 0;
        let mut bases = None;
        while decoder.can_decode() && count < INSTRUCTIONS_MAX {
            let instruction = decoder.decode();
            if instruction.is_invalid() || instruction.flow_control() != FlowControl::Next {
                break;
            }
            if bases.is_none() && !makes_frame(&instruction) {
                bases = Some(machine.bases());
            }
            machine.execute(&instruction);
            count += 1;
        }
        Some(Prologue {
            bases: bases.unwrap_or_else(|| machine.bases()),
            stores: machine.stores,
        })
    }

    /// Returns what of the arguments is stored in a slot of `size` bytes; `None` if that is
    /// not certain.
    pub fn stored_in(&self, slot: Slot, size: u64) -> Option<EntryLocation> {
        if size == 0 || size > SIZE_MAX {
            return None;
        }
        let mut pieces = EntryLocation::new();
        let mut at: u64 = 0;
        while at < size {
            let found = self.first_store(slot, at.cast_signed(), (size - at).cast_signed())?;
            let wanted = u64::from(found.size).min(size - at);
            let (location, bytes) = match found.held? {
                Held::Entry { register, bytes } => (EntryPieceLocation::Register(register), bytes),
                Held::Stack { offset, bytes } => (EntryPieceLocation::Stack(offset), bytes),
                Held::Frame(_) => return None,
            };
            if u64::from(bytes) < wanted || !is_argument(&location) {
                return None;
            }
            pieces.push(EntryPiece {
                offset: u32::try_from(at).ok()?,
                size: u32::try_from(wanted).ok()?,
                location,
            });
            at += wanted;
        }
        Some(pieces)
    }

    /// Returns the offset of a slot from the canonical frame address, behind the prologue.
    pub fn offset_of(&self, slot: Slot) -> Option<i64> {
        based(slot, self.bases)
    }

    /// Returns the first store to a part of a slot, if it begins where the part does.
    fn first_store(&self, slot: Slot, at: i64, size: i64) -> Option<&Store> {
        let overlaps = |store: &&Store| {
            let start = based(slot, store.bases).and_then(|start| start.checked_add(at));
            start.is_some_and(|start| {
                store.offset < start.saturating_add(size)
                    && start < store.offset.saturating_add(i64::from(store.size))
            })
        };
        // Several parts are stored in any order.
        let mut found = self.stores.iter().filter(overlaps);
        let begins = |store: &Store| {
            let start = based(slot, store.bases);
            start.and_then(|start| start.checked_add(at)) == Some(store.offset)
        };
        let first = found.clone().find(|store| begins(store))?;
        // An earlier store to the same bytes is another value's.
        let end = first.offset.saturating_add(i64::from(first.size));
        let is_before = |store: &&Store| {
            store.offset < end && first.offset < store.offset.saturating_add(i64::from(store.size))
        };
        std::ptr::eq(found.find(is_before)?, first).then_some(first)
    }
}

/// Returns whether an argument may be in these registers at the entry: whether the first
/// instructions do not overwrite one before they read it. LLVM describes an argument as being
/// everywhere in the register to which the first instruction moves it.
pub(super) fn may_begin_with(
    file: &SymbolFile,
    function: &Function,
    location: &EntryLocation,
) -> bool {
    let mut unread: Vec<u16> = Vec::new();
    for piece in location {
        match piece.location {
            EntryPieceLocation::Register(register)
            | EntryPieceLocation::RegisterPart { register, .. }
            | EntryPieceLocation::PointedByRegister(register) => unread.push(register),
            _ => {}
        }
    }
    if unread.is_empty() {
        return true;
    }
    let size = function.size().min(CODE_SIZE_MAX);
    let Some(code) = file.bytes_at(function.low_pc, size) else {
        return true;
    };
    let mut factory = InstructionInfoFactory::new();
    let mut decoder = Decoder::with_ip(64, &code, function.low_pc, DecoderOptions::NONE);
    while decoder.can_decode() {
        let instruction = decoder.decode();
        if instruction.is_invalid() || instruction.flow_control() != FlowControl::Next {
            break;
        }
        let used = factory.info(&instruction).used_registers();
        let number = |register: Register| number_of(register.full_register());
        for it in used.iter().filter(|it| !is_only_write(it.access())) {
            unread.retain(|register| number(it.register()) != Some(*register));
        }
        let mut written = used.iter().filter(|it| is_only_write(it.access()));
        if written.any(|it| number(it.register()).is_some_and(|it| unread.contains(&it))) {
            return false;
        }
    }
    true
}

/// Returns the offset of a slot from the canonical frame address.
fn based(slot: Slot, [stack, frame]: [Option<i64>; 2]) -> Option<i64> {
    let base = match slot.base {
        SlotBase::Frame => Some(0),
        SlotBase::StackPointer => stack,
        SlotBase::FramePointer => frame,
    };
    base?.checked_add(slot.offset)
}

/// Returns whether an instruction is one of those that make the frame: the first other one shows
/// that it has been made.
fn makes_frame(instruction: &Instruction) -> bool {
    match instruction.mnemonic() {
        Mnemonic::Push | Mnemonic::Endbr64 | Mnemonic::Nop => true,
        Mnemonic::Sub | Mnemonic::And | Mnemonic::Lea => {
            instruction.op0_kind() == OpKind::Register
                && instruction.op0_register() == Register::RSP
        }
        Mnemonic::Mov => {
            instruction.op0_kind() == OpKind::Register && instruction.op1_kind() == OpKind::Register
        }
        _ => false,
    }
}

/// Returns whether an argument may be there.
fn is_argument(location: &EntryPieceLocation) -> bool {
    match location {
        EntryPieceLocation::Register(register) => juror_arch::abi::is_argument(*register),
        EntryPieceLocation::Stack(offset) => *offset >= 0,
        _ => false,
    }
}

/// The registers and the frame while the instructions are followed.
struct Machine {
    /// By DWARF number; what is not there is unknown.
    registers: BTreeMap<u16, Held>,
    stores: Vec<Store>,
    factory: InstructionInfoFactory,
}

impl Machine {
    fn at_entry() -> Machine {
        let mut registers = BTreeMap::new();
        for number in 0..dwarf::GENERAL_COUNT as u16 {
            let bytes = 8;
            registers.insert(
                number,
                Held::Entry {
                    register: number,
                    bytes,
                },
            );
        }
        for index in 0..16 {
            let register = dwarf::vector(index);
            registers.insert(
                register,
                Held::Entry {
                    register,
                    bytes: 16,
                },
            );
        }
        let stack = -RETURN_ADDRESS_BYTES.cast_signed();
        registers.insert(STACK_POINTER, Held::Frame(stack));
        Machine {
            registers,
            stores: Vec::new(),
            factory: InstructionInfoFactory::new(),
        }
    }

    fn bases(&self) -> [Option<i64>; 2] {
        [STACK_POINTER, FRAME_POINTER].map(|number| match self.registers.get(&number) {
            Some(Held::Frame(offset)) => Some(*offset),
            _ => None,
        })
    }

    fn execute(&mut self, instruction: &Instruction) {
        match instruction.mnemonic() {
            Mnemonic::Push | Mnemonic::Pop => return self.move_stack(instruction),
            Mnemonic::Sub | Mnemonic::Add if self.adjusts_stack(instruction) => return,
            Mnemonic::Lea => {
                if let Some(number) = number_of(instruction.op0_register())
                    && let Some(offset) = self.operand_offset(instruction)
                {
                    self.registers.insert(number, Held::Frame(offset));
                    return;
                }
            }
            mnemonic if is_move(mnemonic) && instruction.op_count() == 2 => {
                return self.copy(instruction);
            }
            // A truth value is stored as one bit of the argument.
            Mnemonic::And if keeps_truth(instruction) => {
                if let Some(number) = number_of(instruction.op0_register())
                    && let Some(held) = self.registers.get(&number).copied()
                {
                    self.forget_written(instruction);
                    if let Some(held) = narrowed(held, 1) {
                        self.registers.insert(number, held);
                    }
                    return;
                }
            }
            _ => {}
        }
        self.forget_written(instruction);
    }

    /// Moves the stack pointer; what is pushed is no parameter.
    fn move_stack(&mut self, instruction: &Instruction) {
        let stack = self.bases()[0];
        self.forget_registers(instruction);
        let moved = stack
            .and_then(|stack| stack.checked_add(i64::from(instruction.stack_pointer_increment())));
        self.set(STACK_POINTER, moved.map(Held::Frame));
    }

    /// Follows `sub $SIZE, %rsp`; returns whether the instruction is such a one.
    fn adjusts_stack(&mut self, instruction: &Instruction) -> bool {
        let is_stack = instruction.op0_kind() == OpKind::Register
            && instruction.op0_register() == Register::RSP;
        let Ok(amount) = instruction.try_immediate(1) else {
            return false;
        };
        if !is_stack {
            return false;
        }
        let amount = amount.cast_signed();
        let moved = self.bases()[0].and_then(|stack| match instruction.mnemonic() {
            Mnemonic::Sub => stack.checked_sub(amount),
            _ => stack.checked_add(amount),
        });
        self.set(STACK_POINTER, moved.map(Held::Frame));
        true
    }

    /// Follows an instruction that copies its second operand to its first.
    fn copy(&mut self, instruction: &Instruction) {
        let bytes = match (instruction.op0_kind(), instruction.op1_kind()) {
            (OpKind::Memory, _) | (_, OpKind::Memory) => instruction.memory_size().size(),
            (_, OpKind::Register) => instruction
                .op1_register()
                .size()
                .min(instruction.op0_register().size()),
            _ => 0,
        };
        let bytes = moved_bytes(instruction.mnemonic(), bytes);
        let held = self.source(instruction, bytes);
        match instruction.op0_kind() {
            OpKind::Register => {
                let number = number_of(instruction.op0_register());
                self.forget_written(instruction);
                if let Some(number) = number {
                    self.set(number, held);
                }
            }
            OpKind::Memory => {
                if let Some(offset) = self.operand_offset(instruction) {
                    self.store(offset, bytes, held);
                }
            }
            _ => self.forget_written(instruction),
        }
    }

    fn source(&self, instruction: &Instruction, bytes: u32) -> Option<Held> {
        match instruction.op1_kind() {
            OpKind::Register => {
                let held = *self
                    .registers
                    .get(&number_of(instruction.op1_register())?)?;
                match held {
                    Held::Frame(_) if bytes == 8 => Some(held),
                    held => narrowed(held, bytes),
                }
            }
            OpKind::Memory => {
                let offset = self.operand_offset(instruction)?;
                if offset >= 0 {
                    return Some(Held::Stack { offset, bytes });
                }
                let is_same = |store: &&Store| store.offset == offset && store.size >= bytes;
                let overlaps = |store: &&Store| {
                    store.offset < offset.saturating_add(i64::from(bytes))
                        && offset < store.offset.saturating_add(i64::from(store.size))
                };
                let last = self.stores.iter().rev().find(overlaps).filter(is_same)?;
                narrowed(last.held?, bytes)
            }
            _ => None,
        }
    }

    /// Returns the offset of a memory operand from the canonical frame address.
    fn operand_offset(&self, instruction: &Instruction) -> Option<i64> {
        if instruction.memory_index() != Register::None
            || instruction.segment_prefix() != Register::None
        {
            return None;
        }
        let base = number_of(instruction.memory_base())?;
        self.offset(base, instruction.memory_displacement64())
    }

    fn offset(&self, base: u16, displacement: u64) -> Option<i64> {
        match self.registers.get(&base)? {
            Held::Frame(offset) => offset.checked_add(displacement.cast_signed()),
            _ => None,
        }
    }

    fn store(&mut self, offset: i64, size: u32, held: Option<Held>) {
        let bases = self.bases();
        self.stores.push(Store {
            offset,
            size,
            held,
            bases,
        });
    }

    fn set(&mut self, number: u16, held: Option<Held>) {
        match held {
            Some(held) => self.registers.insert(number, held),
            None => self.registers.remove(&number),
        };
    }

    fn forget_written(&mut self, instruction: &Instruction) {
        let written: Vec<UsedMemory> = {
            let info = self.factory.info(instruction);
            let memory = info.used_memory().iter();
            memory.filter(|it| is_write(it.access())).copied().collect()
        };
        for it in written {
            let base = number_of(it.base()).filter(|_| it.index() == Register::None);
            if let Some(offset) = base.and_then(|base| self.offset(base, it.displacement())) {
                self.store(offset, it.memory_size().size() as u32, None);
            }
        }
        self.forget_registers(instruction);
    }

    fn forget_registers(&mut self, instruction: &Instruction) {
        let info = self.factory.info(instruction);
        let registers = info.used_registers().iter();
        for used in registers.filter(|it| is_write(it.access())) {
            if let Some(number) = number_of(used.register().full_register()) {
                self.registers.remove(&number);
            }
        }
    }
}

/// Returns the low bytes of what is held.
fn narrowed(held: Held, to: u32) -> Option<Held> {
    match held {
        Held::Entry { register, bytes } => Some(Held::Entry {
            register,
            bytes: bytes.min(to),
        }),
        Held::Stack { offset, bytes } => Some(Held::Stack {
            offset,
            bytes: bytes.min(to),
        }),
        Held::Frame(_) => None,
    }
}

/// Returns whether an instruction copies the low bytes of its second operand to its first.
fn is_move(mnemonic: Mnemonic) -> bool {
    use Mnemonic::{
        Mov, Movapd, Movaps, Movd, Movdqa, Movdqu, Movlps, Movq, Movsd, Movss, Movsx, Movsxd,
        Movupd, Movups, Movzx, Vmovapd, Vmovaps, Vmovd, Vmovdqa, Vmovdqu, Vmovlps, Vmovq, Vmovsd,
        Vmovss, Vmovupd, Vmovups,
    };
    matches!(
        mnemonic,
        Mov | Movapd
            | Movaps
            | Movd
            | Movdqa
            | Movdqu
            | Movlps
            | Movq
            | Movsd
            | Movss
            | Movsx
            | Movsxd
            | Movupd
            | Movups
            | Movzx
            | Vmovapd
            | Vmovaps
            | Vmovd
            | Vmovdqa
            | Vmovdqu
            | Vmovlps
            | Vmovq
            | Vmovsd
            | Vmovss
            | Vmovupd
            | Vmovups
    )
}

/// Returns the number of bytes that a move copies, of the size of its operands.
fn moved_bytes(mnemonic: Mnemonic, operands: usize) -> u32 {
    use Mnemonic::{Movd, Movlps, Movq, Movsd, Movss, Vmovd, Vmovlps, Vmovq, Vmovsd, Vmovss};
    let most = match mnemonic {
        Movss | Vmovss | Movd | Vmovd => 4,
        Movsd | Vmovsd | Movq | Vmovq | Movlps | Vmovlps => 8,
        _ => 64,
    };
    operands.min(most) as u32
}

/// Returns whether an instruction keeps only the lowest bit of a register.
fn keeps_truth(instruction: &Instruction) -> bool {
    instruction.op0_kind() == OpKind::Register && matches!(instruction.try_immediate(1), Ok(1))
}

fn is_only_write(access: OpAccess) -> bool {
    matches!(access, OpAccess::Write | OpAccess::CondWrite)
}

fn is_write(access: OpAccess) -> bool {
    matches!(
        access,
        OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
    )
}

/// Returns the DWARF number of a register of which an operand has the low bytes.
fn number_of(register: Register) -> Option<u16> {
    let has_high_byte = matches!(
        register,
        Register::AH | Register::BH | Register::CH | Register::DH
    );
    let whole = register.full_register();
    if whole.is_gpr() && !has_high_byte {
        dwarf::from_encoding(whole.number())
    } else if whole.is_vector_register() {
        let index = u16::try_from(whole.number()).ok()?;
        (index < 16).then(|| dwarf::vector(index))
    } else {
        None
    }
}
