//! The points as the agent takes them, and the instructions that they are in place of.

use crate::access::{changed, memory_operand};
use crate::points::{LockUse, Site, Sites};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};
use juror_agent::protocol::{self, NO_REGISTER};
use juror_arch::instruction::SYSTEM_CALL;
use juror_program::modules::Module;
use juror_program::program::Program;

/// The longest instruction.
const INSTRUCTION_MAX: usize = 15;

/// The largest function in which system calls are looked for.
const FUNCTION_SIZE_MAX: usize = 1 << 20;

/// A site that is given to the agent.
pub(super) struct Row {
    pub(super) address: u64,
    /// The instruction there.
    instruction: Instruction,
    /// Where the instructions begin that a jump may replace.
    window_start: u64,
    kind: u64,
    operands: [u8; 8],
    displacement: u64,
    immediate: u64,
}

impl Row {
    /// Returns its words, if its instruction has been moved.
    pub(super) fn words(&self, moved: u64) -> [u64; protocol::SITE_WORDS as usize] {
        [
            self.address,
            moved,
            self.kind,
            u64::from_le_bytes(self.operands),
            self.displacement,
            self.immediate,
        ]
    }

    /// Returns the words of an instruction that is no site, and is executed at a copy.
    pub(super) fn copied(address: u64, copy: u64) -> [u64; protocol::SITE_WORDS as usize] {
        [address, copy, protocol::SITE_COPIED, 0, 0, 0]
    }

    /// Returns the instruction.
    pub(super) fn instruction(&self) -> &Instruction {
        &self.instruction
    }

    /// Returns where the instructions begin that a jump may replace.
    pub(super) fn window_start(&self) -> u64 {
        self.window_start
    }

    /// Returns whether it is a system call.
    pub(super) fn is_call(&self) -> bool {
        self.kind == protocol::SITE_SYSTEM_CALL
    }
}

/// Returns the system calls of a module that have an instruction before them which can be moved.
pub(super) fn system_calls(module: &Module, program: &Program) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut ends = 0;
    for range in module.symbols.unwind_ranges() {
        let start = module.to_process(range.start);
        let size = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or_default();
        // Ranges may be listed twice.
        if size > FUNCTION_SIZE_MAX || start < ends {
            continue;
        }
        ends = start + size as u64;
        let mut code = vec![0; size];
        let is_read = program.debuggee.read(start, &mut code).is_ok();
        if is_read && code.windows(2).any(|pair| pair == SYSTEM_CALL) {
            rows.extend(calls_in(&code, start));
        }
    }
    rows
}

fn calls_in(code: &[u8], start: u64) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut before: Option<Instruction> = None;
    for instruction in Decoder::with_ip(64, code, start, DecoderOptions::NONE) {
        if instruction.is_invalid() {
            break;
        }
        let is_call = instruction.mnemonic() == Mnemonic::Syscall;
        let movable = before.filter(|it| it.flow_control() == FlowControl::Next && it.len() >= 3);
        if let Some(before) = movable.filter(|_| is_call) {
            rows.push(Row {
                address: instruction.ip(),
                instruction,
                window_start: before.ip(),
                kind: protocol::SITE_SYSTEM_CALL,
                operands: [0; 8],
                displacement: 0,
                immediate: 0,
            });
        }
        before = Some(instruction);
    }
    rows
}

/// Returns the sites by address; none if one of them cannot be moved.
pub(super) fn rows(sites: &Sites, program: &Program) -> Option<Vec<Row>> {
    let mut addresses: Vec<u64> = sites.by_address.keys().copied().collect();
    addresses.sort_unstable();
    addresses
        .into_iter()
        .map(|address| row(*sites.by_address.get(&address)?, address, program))
        .collect()
}

fn row(site: Site, address: u64, program: &Program) -> Option<Row> {
    let mut code = [0; INSTRUCTION_MAX];
    let length = program.debuggee.read_up_to(address, &mut code);
    let code = code.get(..length)?;
    let instruction = Decoder::with_ip(64, code, address, DecoderOptions::NONE).decode();
    let stays = matches!(
        instruction.flow_control(),
        FlowControl::Call | FlowControl::IndirectCall | FlowControl::Exception
    ) && !instruction.is_call_near();
    if instruction.is_invalid() || stays || instruction.mnemonic() == Mnemonic::Syscall {
        return None;
    }
    let mut row = Row {
        address,
        instruction,
        window_start: address,
        kind: 0,
        operands: [0; 8],
        displacement: 0,
        immediate: 0,
    };
    match site {
        Site::Call(lock) => row.kind = protocol::SITE_CALL | lock_use(lock) << 8,
        Site::Makes => row.kind = protocol::SITE_MAKES,
        Site::Loop => row.kind = protocol::SITE_LOOP,
        Site::Access(instruction) => {
            row.kind = protocol::SITE_ACCESS;
            row.set_access(&instruction);
        }
    }
    Some(row)
}

fn lock_use(lock: Option<LockUse>) -> u64 {
    match lock {
        None => protocol::LOCK_NONE,
        Some(LockUse::Takes) => protocol::LOCK_TAKES,
        Some(LockUse::Tries) => protocol::LOCK_TRIES,
        Some(LockUse::TakesInTime) => protocol::LOCK_TAKES_IN_TIME,
        Some(LockUse::Drops) => protocol::LOCK_DROPS,
        Some(LockUse::WaitsWithout) => protocol::LOCK_WAITS,
        Some(LockUse::WaitsWithoutEnd) => protocol::LOCK_WAITS_WITHOUT_END,
    }
}

impl Row {
    /// Sets what the instruction accesses, as [`crate::access::footprint`] computes it.
    fn set_access(&mut self, instruction: &Instruction) {
        let (base, index) = (instruction.memory_base(), instruction.memory_index());
        let is_relative = instruction.is_ip_rel_memory_operand();
        let general = |register: Register| match register {
            Register::None => Some(NO_REGISTER),
            register if register.is_gpr32() || register.is_gpr64() => number_of(register),
            _ => None,
        };
        let base_number = if is_relative {
            Some(NO_REGISTER)
        } else {
            general(base)
        };
        let places = base_number.zip(general(index));
        let (Some((base_number, index_number)), Some(operand)) =
            (places, memory_operand(instruction))
        else {
            self.operands = [0, 0, 0, 0, protocol::CLASS_UNKNOWN, 0, 0, 0];
            return;
        };
        let only_reads = operand != 0
            || matches!(
                instruction.mnemonic(),
                Mnemonic::Cmp
                    | Mnemonic::Test
                    | Mnemonic::Bt
                    | Mnemonic::Comiss
                    | Mnemonic::Ucomiss
            );
        let class = match instruction.mnemonic() {
            Mnemonic::Xchg => protocol::CLASS_MOVE,
            _ if only_reads => protocol::CLASS_READ,
            Mnemonic::Cmpxchg => protocol::CLASS_COMPARE_EXCHANGE,
            Mnemonic::Mov => protocol::CLASS_MOVE,
            _ if changed(instruction).is_some() => protocol::CLASS_CHANGE,
            _ => protocol::CLASS_WRITE,
        };
        let source_operand = match instruction.mnemonic() {
            Mnemonic::Xchg if instruction.op_kind(0) == OpKind::Register => 0,
            _ => 1,
        };
        let (source, register) = self.source(instruction, source_operand);
        let is_short = base.is_gpr32() || index.is_gpr32();
        let is_local = instruction.memory_segment() == Register::FS;
        let short = if is_short {
            protocol::FLAG_SHORT_ADDRESS
        } else {
            0
        };
        let local = if is_local {
            protocol::FLAG_THREAD_LOCAL
        } else {
            0
        };
        let size = u8::try_from(instruction.memory_size().size()).unwrap_or(u8::MAX);
        let scale = u8::try_from(instruction.memory_index_scale()).unwrap_or(1);
        self.displacement = instruction.memory_displacement64();
        self.operands = [
            base_number,
            index_number,
            scale,
            size,
            class,
            source,
            register,
            short | local,
        ];
    }

    /// Returns the kind of a source and its register; an immediate is kept.
    fn source(&mut self, instruction: &Instruction, operand: u32) -> (u8, u8) {
        if operand >= instruction.op_count() {
            return (protocol::SOURCE_NONE, 0);
        }
        match instruction.op_kind(operand) {
            OpKind::Register => {
                let register = instruction.op_register(operand);
                let is_high = matches!(
                    register,
                    Register::AH | Register::BH | Register::CH | Register::DH
                );
                match number_of(register).filter(|_| register.is_gpr()) {
                    Some(number) if is_high => (protocol::SOURCE_HIGH_BYTE, number),
                    Some(number) => (protocol::SOURCE_REGISTER, number),
                    None => (protocol::SOURCE_NONE, 0),
                }
            }
            OpKind::Memory => (protocol::SOURCE_NONE, 0),
            _ => match instruction.try_immediate(operand) {
                Ok(immediate) => {
                    self.immediate = immediate;
                    (protocol::SOURCE_IMMEDIATE, 0)
                }
                Err(_) => (protocol::SOURCE_NONE, 0),
            },
        }
    }
}

fn number_of(register: Register) -> Option<u8> {
    u8::try_from(register.full_register().number()).ok()
}
