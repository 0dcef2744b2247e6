//! The effects of an instruction: which bytes it writes, and from what.

use crate::copies;
use crate::location::{Location, Storage};
use crate::operands::{Operand, memory, operand, zeroed_behind};
use crate::{Executed, INSTRUCTION_SIZE_MAX};
use iced_x86::{
    Decoder, DecoderOptions, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind,
    Register, RflagsBits,
};
use juror_arch::Registers;

/// Bytes that an instruction writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Write {
    pub to: Location,
    pub from: From,
}

/// A source of bytes that are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum From {
    /// As many bytes from somewhere else.
    Copy(Location),
    /// Each byte repeats the sign of this one.
    Sign(Location),
    /// A constant of the instruction.
    Constant,
    /// The zeros that extend a shorter value.
    Zeros,
    /// Computed from all of these.
    Computed(Vec<Location>),
    /// A change of the stack pointer.
    StackPointer,
    /// The result of a system call.
    Kernel,
    /// Something that the processor tells: the time, a random number.
    Processor,
    /// It is not modelled.
    Unknown,
}

/// The effects of an instruction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    pub writes: Vec<Write>,
    /// Whether it may write to other memory, too.
    pub is_barrier: bool,
}

impl Effects {
    pub(crate) fn push(&mut self, to: Location, from: From) {
        if to.size() > 0 {
            self.writes.push(Write { to, from });
        }
    }
}

/// Decodes an instruction.
pub(crate) fn decode(executed: &Executed) -> Instruction {
    let address = executed.registers.instruction_pointer();
    let bytes: &[u8; INSTRUCTION_SIZE_MAX] = &executed.bytes;
    Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).decode()
}

/// Returns the effects of an instruction. `after` has the registers after it.
pub(crate) fn effects(executed: &Executed, after: &Registers) -> Effects {
    let instruction = decode(executed);
    if instruction.is_invalid() {
        return unknown(&[]);
    }
    let context = Context {
        instruction,
        before: &executed.registers,
        after,
    };
    copies::special(&context).unwrap_or_else(|| computed(&context))
}

/// An instruction, and the registers before and after it.
pub(crate) struct Context<'a> {
    pub instruction: Instruction,
    pub before: &'a Registers,
    pub after: &'a Registers,
}

impl Context<'_> {
    /// Returns whether the instruction sets the end of a vector register to zero.
    pub(crate) fn is_vex(&self) -> bool {
        !matches!(
            self.instruction.encoding(),
            iced_x86::EncodingKind::Legacy | iced_x86::EncodingKind::D3NOW
        )
    }
}

/// Returns the effects of an instruction that may have changed everything: these locations, and memory.
pub(crate) fn unknown(locations: &[Location]) -> Effects {
    let mut effects = Effects {
        is_barrier: true,
        ..Effects::default()
    };
    for location in locations {
        effects.push(location.clone(), From::Unknown);
    }
    if locations.is_empty() {
        for number in 0..16 {
            effects.push(Location::general(number, 8), From::Unknown);
        }
        for number in 0..32 {
            effects.push(Location::vector(number, 64), From::Unknown);
        }
        effects.push(Location::flags(), From::Unknown);
    }
    effects
}

/// Returns the effects of an instruction that computes: all that it writes depends on all that
/// it reads, but for the registers of addresses.
fn computed(context: &Context<'_>) -> Effects {
    let instruction = &context.instruction;
    let mut factory = InstructionInfoFactory::new();
    let info = factory.info(instruction);
    let mut inputs = Vec::new();
    let mut outputs = Vec::new();
    let mut is_known = true;
    let mut is_barrier = false;
    for used in info.used_memory() {
        let (reads, writes) = reads_and_writes(used.access());
        match memory(used, context.before) {
            _ if !reads && !writes => {}
            Some(location) => {
                inputs.extend(reads.then(|| location.clone()));
                outputs.extend(writes.then_some(location));
            }
            None => {
                is_known = false;
                is_barrier |= writes;
            }
        }
    }
    let explicit = explicit_registers(instruction);
    for used in info.used_registers() {
        let register = used.register();
        let (reads, writes) = reads_and_writes(used.access());
        if register.is_segment_register() || register.is_ip() {
            continue;
        }
        let location = Location::of(as_operand(instruction, register));
        if location.storage == Storage::Other && (reads || writes) {
            is_known = false;
            continue;
        }
        let is_value = explicit.contains(&register.full_register())
            || is_implicit(instruction, register)
            || !is_in_address(instruction, register);
        let is_stack = register.full_register() == Register::RSP;
        if reads && is_value && !(is_stack && instruction.is_stack_instruction()) {
            inputs.push(location.clone());
        }
        if writes {
            outputs.push(location);
        }
    }
    if instruction.rflags_read() != 0 {
        inputs.push(Location::flags());
    }
    if instruction.rflags_modified() != 0 {
        outputs.push(Location::flags());
    }
    narrow(instruction, context.before, &mut inputs, &mut outputs);
    let is_zeroing = copies::is_constant(instruction);
    let mut effects = Effects {
        is_barrier,
        ..Effects::default()
    };
    for output in outputs {
        let is_stack = output.storage == Storage::General(4) && instruction.is_stack_instruction();
        let from = match () {
            () if is_stack => From::StackPointer,
            () if is_zeroing => From::Constant,
            () if !is_known => From::Unknown,
            // The other flags stay.
            () if output.storage == Storage::Flags && !sets_all_flags(instruction) => {
                let kept = [Location::flags()];
                From::Computed([&*inputs, &kept].concat())
            }
            () => From::Computed(inputs.clone()),
        };
        if let Some(rest) = zeroed_behind(&output, context.is_vex()) {
            effects.push(rest, From::Zeros);
        }
        effects.push(output, from);
    }
    effects
}

/// Returns whether an instruction sets all flags that tell of results.
fn sets_all_flags(instruction: &Instruction) -> bool {
    let all = RflagsBits::OF
        | RflagsBits::SF
        | RflagsBits::ZF
        | RflagsBits::AF
        | RflagsBits::CF
        | RflagsBits::PF;
    instruction.rflags_modified() & all == all
}

fn reads_and_writes(access: OpAccess) -> (bool, bool) {
    match access {
        OpAccess::Read | OpAccess::CondRead => (true, false),
        OpAccess::Write => (false, true),
        // It may stay as it was.
        OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite => (true, true),
        _ => (false, false),
    }
}

/// Returns the half of a register that the instruction names: iced says of a write to it that it writes
/// the whole.
fn as_operand(instruction: &Instruction, register: Register) -> Register {
    let mut all = (0..instruction.op_count())
        .filter(|index| instruction.op_kind(*index) == OpKind::Register)
        .map(|index| instruction.op_register(index));
    let half = all.find(|it| it.is_gpr32() && it.full_register() == register);
    half.unwrap_or(register)
}

/// Returns the registers that are operands themselves.
fn explicit_registers(instruction: &Instruction) -> Vec<Register> {
    let all = 0..instruction.op_count();
    all.filter(|index| instruction.op_kind(*index) == OpKind::Register)
        .map(|index| instruction.op_register(index).full_register())
        .collect()
}

/// Returns whether a register is an operand that is not written.
fn is_implicit(instruction: &Instruction, register: Register) -> bool {
    let is_product = match instruction.mnemonic() {
        Mnemonic::Mul | Mnemonic::Div | Mnemonic::Idiv => true,
        Mnemonic::Imul => instruction.op_count() == 1,
        _ => false,
    };
    is_product && matches!(register.full_register(), Register::RAX | Register::RDX)
}

fn is_in_address(instruction: &Instruction, register: Register) -> bool {
    let full = register.full_register();
    let is_base = |it: Register| it != Register::None && it.full_register() == full;
    is_base(instruction.memory_base()) || is_base(instruction.memory_index())
}

/// Narrows the vector registers of an operation on one number to its bytes.
fn narrow(
    instruction: &Instruction,
    before: &Registers,
    inputs: &mut Vec<Location>,
    outputs: &mut [Location],
) {
    let Some((to, from)) = scalar(instruction.mnemonic()) else {
        return;
    };
    let limit = |location: &mut Location, size: u64| {
        if matches!(location.storage, Storage::Vector(_)) {
            location.range.end = location.range.end.min(size);
        }
    };
    for output in outputs.iter_mut() {
        limit(output, to);
    }
    // A conversion reads the rest of its result only to keep it.
    if !is_arithmetic(instruction.mnemonic()) {
        let source = operand(instruction, before, 1);
        inputs.retain(|it| matches!(&source, Operand::At(at) if at.storage == it.storage));
    }
    for input in inputs {
        limit(input, from);
    }
}

/// Returns the sizes of the result and of the operands of an operation on one floating-point number.
fn scalar(mnemonic: Mnemonic) -> Option<(u64, u64)> {
    use Mnemonic::{
        Addsd, Addss, Comisd, Comiss, Cvtsd2si, Cvtsd2ss, Cvtsi2sd, Cvtsi2ss, Cvtss2sd, Cvtss2si,
        Cvttsd2si, Cvttss2si, Divsd, Divss, Maxsd, Maxss, Minsd, Minss, Mulsd, Mulss, Sqrtsd,
        Sqrtss, Subsd, Subss, Ucomisd, Ucomiss,
    };
    Some(match mnemonic {
        Addsd | Subsd | Mulsd | Divsd | Minsd | Maxsd | Sqrtsd | Comisd | Ucomisd | Cvtsd2si
        | Cvttsd2si | Cvtsi2sd => (8, 8),
        Addss | Subss | Mulss | Divss | Minss | Maxss | Sqrtss | Comiss | Ucomiss | Cvtss2si
        | Cvttss2si | Cvtsi2ss => (4, 4),
        Cvtss2sd => (8, 4),
        Cvtsd2ss => (4, 8),
        _ => return None,
    })
}

fn is_arithmetic(mnemonic: Mnemonic) -> bool {
    use Mnemonic::{
        Addsd, Addss, Comisd, Comiss, Divsd, Divss, Maxsd, Maxss, Minsd, Minss, Mulsd, Mulss,
        Subsd, Subss, Ucomisd, Ucomiss,
    };
    matches!(
        mnemonic,
        Addsd
            | Subsd
            | Mulsd
            | Divsd
            | Minsd
            | Maxsd
            | Addss
            | Subss
            | Mulss
            | Divss
            | Minss
            | Maxss
            | Comisd
            | Ucomisd
            | Comiss
            | Ucomiss
    )
}
