//! A processor for tests: the few instructions that stubs, twins and test
//! programs consist of, over memory of its own.
//!
//! An access to a page that is not mapped, an unknown instruction or a trap ends
//! the step without an effect.

mod alu;

use iced_x86::{Code, ConditionCode, Decoder, Instruction, Mnemonic, OpKind, Register};
use std::collections::BTreeMap;

/// The size of a page in bytes.
const PAGE: u64 = 4096;

/// Why a step had no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Memory that is not mapped.
    Fault(u64),
    /// An instruction that traps, or is unknown.
    Trap(u64),
}

/// The status flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags {
    pub carry: bool,
    pub parity: bool,
    pub adjust: bool,
    pub zero: bool,
    pub sign: bool,
    pub overflow: bool,
}

impl Flags {
    /// Returns one of the 64 combinations.
    pub fn combination(number: u8) -> Self {
        let bit = |at: u8| number >> at & 1 == 1;
        Self {
            carry: bit(0),
            parity: bit(1),
            adjust: bit(2),
            zero: bit(3),
            sign: bit(4),
            overflow: bit(5),
        }
    }

    /// Returns the flags as the flags register has them.
    pub fn to_bits(self) -> u64 {
        u64::from(self.to_byte()) | u64::from(self.overflow) << 11
    }

    /// Takes the flags from the flags register.
    pub fn from_bits(bits: u64) -> Self {
        let mut flags = Self {
            overflow: bits >> 11 & 1 == 1,
            ..Self::default()
        };
        flags.set_byte(bits as u8);
        flags
    }

    /// The byte that `lahf` stores.
    fn to_byte(self) -> u8 {
        u8::from(self.carry)
            | 2
            | u8::from(self.parity) << 2
            | u8::from(self.adjust) << 4
            | u8::from(self.zero) << 6
            | u8::from(self.sign) << 7
    }

    fn set_byte(&mut self, byte: u8) {
        self.carry = byte & 1 != 0;
        self.parity = byte & 4 != 0;
        self.adjust = byte & 0x10 != 0;
        self.zero = byte & 0x40 != 0;
        self.sign = byte & 0x80 != 0;
    }

    fn holds(self, condition: ConditionCode) -> bool {
        match condition {
            ConditionCode::o => self.overflow,
            ConditionCode::no => !self.overflow,
            ConditionCode::b => self.carry,
            ConditionCode::ae => !self.carry,
            ConditionCode::e => self.zero,
            ConditionCode::ne => !self.zero,
            ConditionCode::be => self.carry || self.zero,
            ConditionCode::a => !self.carry && !self.zero,
            ConditionCode::s => self.sign,
            ConditionCode::ns => !self.sign,
            ConditionCode::p => self.parity,
            ConditionCode::np => !self.parity,
            ConditionCode::l => self.sign != self.overflow,
            ConditionCode::ge => self.sign == self.overflow,
            ConditionCode::le => self.zero || self.sign != self.overflow,
            ConditionCode::g => !self.zero && self.sign == self.overflow,
            ConditionCode::None => true,
        }
    }
}

/// A thread and its memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Machine {
    /// The general registers by their number.
    pub registers: [u64; 16],
    /// The program counter.
    pub counter: u64,
    /// The status flags.
    pub flags: Flags,
    /// The base of `gs`.
    pub gs: u64,
    /// The mapped pages.
    pages: BTreeMap<u64, Vec<u8>>,
}

impl Machine {
    /// Maps zeroed pages that contain the range.
    pub fn map(&mut self, address: u64, size: u64) {
        let mut page = address / PAGE;
        while page * PAGE < address + size {
            self.pages
                .entry(page)
                .or_insert_with(|| vec![0; PAGE as usize]);
            page += 1;
        }
    }

    /// Maps and writes bytes.
    pub fn put(&mut self, address: u64, bytes: &[u8]) {
        self.map(address, bytes.len() as u64);
        if let Some(page) = self.pages.get_mut(&(address / PAGE)) {
            let start = (address % PAGE) as usize;
            if let Some(place) = page.get_mut(start..start + bytes.len()) {
                place.copy_from_slice(bytes);
                return;
            }
        }
        for (at, byte) in bytes.iter().enumerate() {
            let place = address + at as u64;
            self.pages.get_mut(&(place / PAGE)).unwrap()[(place % PAGE) as usize] = *byte;
        }
    }

    /// Returns the bytes of a mapped range.
    pub fn bytes(&self, address: u64, size: u64) -> Vec<u8> {
        let at = |place: u64| self.pages[&(place / PAGE)][(place % PAGE) as usize];
        (address..address + size).map(at).collect()
    }

    /// Reads `size` bytes as a little-endian number.
    pub fn load(&self, address: u64, size: usize) -> Result<u64, Stop> {
        if let Some(page) = self.pages.get(&(address / PAGE)) {
            let start = (address % PAGE) as usize;
            if let Some(bytes) = page.get(start..start + size) {
                let bytes = bytes.iter().rev();
                return Ok(bytes.fold(0, |value, byte| value << 8 | u64::from(*byte)));
            }
        }
        let mut value = 0;
        for at in (0..size as u64).rev() {
            let place = address.wrapping_add(at);
            let page = self.pages.get(&(place / PAGE)).ok_or(Stop::Fault(place))?;
            value = value << 8 | u64::from(page[(place % PAGE) as usize]);
        }
        Ok(value)
    }

    /// Writes `size` bytes of a number.
    pub fn store(&mut self, address: u64, size: usize, value: u64) -> Result<(), Stop> {
        self.load(address, size)?;
        self.put(address, &value.to_le_bytes()[..size]);
        Ok(())
    }

    /// Returns the instruction at the program counter.
    pub fn fetch(&self) -> Instruction {
        let mut bytes = Vec::new();
        for at in 0..15 {
            match self.load(self.counter.wrapping_add(at), 1) {
                Ok(byte) => bytes.push(byte as u8),
                Err(_) => break,
            }
        }
        Decoder::with_ip(64, &bytes, self.counter, 0).decode()
    }

    /// Runs one instruction; after an error nothing has changed.
    pub fn step(&mut self) -> Result<(), Stop> {
        let before = (self.registers, self.flags, self.counter);
        let instruction = self.fetch();
        self.counter = instruction.next_ip();
        let result = self.run(&instruction);
        if result.is_err() {
            (self.registers, self.flags, self.counter) = before;
        }
        result
    }

    fn run(&mut self, i: &Instruction) -> Result<(), Stop> {
        match i.mnemonic() {
            Mnemonic::Nop | Mnemonic::Endbr64 | Mnemonic::Pause => Ok(()),
            Mnemonic::Mov => self.operand(i, 1).and_then(|value| self.set(i, 0, value)),
            Mnemonic::Movzx => self.operand(i, 1).and_then(|value| self.set(i, 0, value)),
            Mnemonic::Movsx | Mnemonic::Movsxd => {
                let value = extend(self.operand(i, 1)?, self.size(i, 1));
                self.set(i, 0, value)
            }
            Mnemonic::Lea => self.set(i, 0, self.effective(i)),
            Mnemonic::Push => {
                let value = extend(self.operand(i, 0)?, self.size(i, 0));
                self.push(value)
            }
            Mnemonic::Pop => {
                let value = self.pop()?;
                self.set(i, 0, value)
            }
            Mnemonic::Lahf => self.set_register(Register::AH, self.flags.to_byte().into()),
            Mnemonic::Sahf => {
                self.flags.set_byte(self.register(Register::AH) as u8);
                Ok(())
            }
            Mnemonic::Xchg => {
                let (first, second) = (self.operand(i, 0)?, self.operand(i, 1)?);
                self.set(i, 0, second)?;
                self.set(i, 1, first)
            }
            Mnemonic::Cqo => {
                let sign = (self.registers[0] as i64 >> 63) as u64;
                self.set_register(Register::RDX, sign)
            }
            Mnemonic::Jmp | Mnemonic::Call | Mnemonic::Ret | Mnemonic::Jrcxz => self.transfer(i),
            Mnemonic::Loop => self.transfer(i),
            _ if i.is_jcc_short_or_near() => self.transfer(i),
            _ if i.condition_code() != ConditionCode::None => self.conditional(i),
            _ => self.arithmetic(i),
        }
    }

    fn transfer(&mut self, i: &Instruction) -> Result<(), Stop> {
        let taken = match i.mnemonic() {
            Mnemonic::Jrcxz => self.registers[1] == 0,
            Mnemonic::Loop => {
                self.registers[1] = self.registers[1].wrapping_sub(1);
                self.registers[1] != 0
            }
            Mnemonic::Ret => {
                self.counter = self.pop()?;
                return Ok(());
            }
            _ => self.flags.holds(i.condition_code()),
        };
        if !taken {
            return Ok(());
        }
        let target = match i.op0_kind() {
            OpKind::NearBranch64 => i.near_branch_target(),
            _ => self.operand(i, 0)?,
        };
        if i.mnemonic() == Mnemonic::Call {
            self.push(i.next_ip())?;
        }
        self.counter = target;
        Ok(())
    }

    /// Runs `setcc` and `cmovcc`.
    fn conditional(&mut self, i: &Instruction) -> Result<(), Stop> {
        let holds = self.flags.holds(i.condition_code());
        if i.op_count() == 1 {
            return self.set(i, 0, holds.into());
        }
        let value = if holds {
            self.operand(i, 1)?
        } else {
            self.operand(i, 0)?
        };
        self.set(i, 0, value)
    }

    fn push(&mut self, value: u64) -> Result<(), Stop> {
        let top = self.registers[4].wrapping_sub(8);
        self.store(top, 8, value)?;
        self.registers[4] = top;
        Ok(())
    }

    fn pop(&mut self) -> Result<u64, Stop> {
        let value = self.load(self.registers[4], 8)?;
        self.registers[4] = self.registers[4].wrapping_add(8);
        Ok(value)
    }

    /// Returns the size of an operand in bytes.
    fn size(&self, i: &Instruction, at: u32) -> usize {
        match i.op_kind(at) {
            OpKind::Register => i.op_register(at).size(),
            OpKind::Memory => i.memory_size().size(),
            _ => 8,
        }
    }

    fn operand(&self, i: &Instruction, at: u32) -> Result<u64, Stop> {
        match i.op_kind(at) {
            OpKind::Register => Ok(self.register(i.op_register(at))),
            OpKind::Memory => self.load(self.effective(i), self.size(i, at)),
            OpKind::NearBranch64 => Ok(i.near_branch_target()),
            _ => i.try_immediate(at).map_err(|_| Stop::Trap(i.ip())),
        }
    }

    fn set(&mut self, i: &Instruction, at: u32, value: u64) -> Result<(), Stop> {
        match i.op_kind(at) {
            OpKind::Register => self.set_register(i.op_register(at), value),
            OpKind::Memory => self.store(self.effective(i), self.size(i, at), value),
            _ => Err(Stop::Trap(i.ip())),
        }
    }

    /// Returns the address of the memory operand.
    fn effective(&self, i: &Instruction) -> u64 {
        let mut address = match i.memory_base() {
            Register::None => i.memory_displacement64(),
            Register::RIP => return i.ip_rel_memory_address(),
            base => self.register(base).wrapping_add(i.memory_displacement64()),
        };
        if i.memory_index() != Register::None {
            let scaled = self
                .register(i.memory_index())
                .wrapping_mul(i.memory_index_scale().into());
            address = address.wrapping_add(scaled);
        }
        let segment = if i.memory_segment() == Register::GS {
            self.gs
        } else {
            0
        };
        let is_address = i.code() != Code::Lea_r64_m;
        address.wrapping_add(if is_address { segment } else { 0 })
    }

    fn register(&self, register: Register) -> u64 {
        let value = self.registers[register.full_register().number()];
        match register {
            Register::AH | Register::CH | Register::DH | Register::BH => value >> 8 & 0xff,
            _ => value & mask(register.size()),
        }
    }

    fn set_register(&mut self, register: Register, value: u64) -> Result<(), Stop> {
        let place = &mut self.registers[register.full_register().number()];
        *place = match register {
            Register::AH | Register::CH | Register::DH | Register::BH => {
                *place & !0xff00 | (value & 0xff) << 8
            }
            // A write of the low half clears the high half.
            _ if register.size() == 4 => value & mask(4),
            _ => *place & !mask(register.size()) | value & mask(register.size()),
        };
        Ok(())
    }
}

/// Returns the mask of a size in bytes.
fn mask(size: usize) -> u64 {
    if size >= 8 {
        u64::MAX
    } else {
        (1 << (8 * size)) - 1
    }
}

/// Extends the sign of a value of `size` bytes.
fn extend(value: u64, size: usize) -> u64 {
    let unused = 64 - 8 * size.min(8) as u32;
    ((value << unused) as i64 >> unused) as u64
}
