//! Arithmetic of the toy processor, with its flags.

use super::{Flags, Machine, Stop, extend, mask};
use iced_x86::{Instruction, Mnemonic, Register};

impl Machine {
    pub(super) fn arithmetic(&mut self, i: &Instruction) -> Result<(), Stop> {
        match i.mnemonic() {
            Mnemonic::Add | Mnemonic::Sub | Mnemonic::And | Mnemonic::Or | Mnemonic::Xor => {
                let value = self.combine(i)?;
                self.set(i, 0, value)
            }
            Mnemonic::Cmp | Mnemonic::Test => self.combine(i).map(drop),
            Mnemonic::Xadd => {
                let (first, second) = (self.operand(i, 0)?, self.operand(i, 1)?);
                let size = self.size(i, 0);
                let sum = self.add(first, second, size);
                self.set(i, 0, sum)?;
                self.set(i, 1, first)
            }
            Mnemonic::Cmpxchg => self.exchange(i),
            Mnemonic::Inc | Mnemonic::Dec => {
                let (carry, size) = (self.flags.carry, self.size(i, 0));
                let value = self.operand(i, 0)?;
                let new = match i.mnemonic() {
                    Mnemonic::Inc => self.add(value, 1, size),
                    _ => self.subtract(value, 1, size),
                };
                self.flags.carry = carry;
                self.set(i, 0, new)
            }
            Mnemonic::Neg => {
                let (value, size) = (self.operand(i, 0)?, self.size(i, 0));
                let new = self.subtract(0, value, size);
                self.set(i, 0, new)
            }
            Mnemonic::Not => {
                let value = self.operand(i, 0)?;
                self.set(i, 0, !value)
            }
            Mnemonic::Shl | Mnemonic::Shr | Mnemonic::Sar | Mnemonic::Rol | Mnemonic::Ror => {
                self.shift(i)
            }
            Mnemonic::Mul => {
                let product = u128::from(self.registers[0]) * u128::from(self.operand(i, 0)?);
                self.registers[0] = product as u64;
                self.registers[2] = (product >> 64) as u64;
                Ok(())
            }
            Mnemonic::Imul => self.multiply(i),
            Mnemonic::Idiv => self.divide(i),
            _ => Err(Stop::Trap(i.ip())),
        }
    }

    fn combine(&mut self, i: &Instruction) -> Result<u64, Stop> {
        let size = self.size(i, 0);
        let (first, second) = (self.operand(i, 0)?, self.operand(i, 1)? & mask(size));
        Ok(match i.mnemonic() {
            Mnemonic::Add => self.add(first, second, size),
            Mnemonic::Sub | Mnemonic::Cmp => self.subtract(first, second, size),
            Mnemonic::And | Mnemonic::Test => self.logic(first & second, size),
            Mnemonic::Or => self.logic(first | second, size),
            _ => self.logic(first ^ second, size),
        })
    }

    /// Sets the flags that depend on the result alone.
    fn set_result(&mut self, value: u64, size: usize) {
        self.flags.zero = value & mask(size) == 0;
        self.flags.sign = extend(value, size) >> 63 == 1;
        self.flags.parity = (value as u8).count_ones().is_multiple_of(2);
    }

    fn add(&mut self, first: u64, second: u64, size: usize) -> u64 {
        let sum = first.wrapping_add(second) & mask(size);
        self.set_result(sum, size);
        self.flags.carry = sum < first & mask(size);
        self.flags.adjust = (first ^ second ^ sum) & 0x10 != 0;
        self.flags.overflow = extend((first ^ sum) & (second ^ sum), size) >> 63 == 1;
        sum
    }

    fn subtract(&mut self, first: u64, second: u64, size: usize) -> u64 {
        let difference = first.wrapping_sub(second) & mask(size);
        self.set_result(difference, size);
        self.flags.carry = (first & mask(size)) < second & mask(size);
        self.flags.adjust = (first ^ second ^ difference) & 0x10 != 0;
        self.flags.overflow = extend((first ^ second) & (first ^ difference), size) >> 63 == 1;
        difference
    }

    fn logic(&mut self, value: u64, size: usize) -> u64 {
        self.set_result(value, size);
        self.flags = Flags {
            carry: false,
            overflow: false,
            adjust: false,
            ..self.flags
        };
        value & mask(size)
    }

    fn exchange(&mut self, i: &Instruction) -> Result<(), Stop> {
        let size = self.size(i, 0);
        let (old, new) = (self.operand(i, 0)?, self.operand(i, 1)?);
        self.subtract(self.registers[0] & mask(size), old, size);
        if self.flags.zero {
            return self.set(i, 0, new);
        }
        // The processor writes the operand back in this case, too.
        self.set(i, 0, old)?;
        let accumulator = if size == 8 {
            Register::RAX
        } else {
            Register::EAX
        };
        self.set_register(accumulator, old)
    }

    fn shift(&mut self, i: &Instruction) -> Result<(), Stop> {
        let size = self.size(i, 0);
        let bits = 8 * size as u32;
        let (value, count) = (
            self.operand(i, 0)?,
            self.operand(i, 1)? as u32 & (bits.max(32) - 1),
        );
        if count == 0 {
            // A write of the low half clears the high half all the same.
            return self.set(i, 0, value);
        }
        let (new, carry) = match i.mnemonic() {
            Mnemonic::Shl => (value << count, value >> (bits - count) & 1),
            Mnemonic::Shr => (value >> count, value >> (count - 1) & 1),
            Mnemonic::Sar => {
                let signed = extend(value, size) as i64;
                ((signed >> count) as u64, (signed >> (count - 1)) as u64 & 1)
            }
            Mnemonic::Rol => return self.set(i, 0, value << count | value >> (bits - count)),
            _ => return self.set(i, 0, value >> count | value << (bits - count)),
        };
        self.set_result(new, size);
        self.flags.carry = carry == 1;
        self.set(i, 0, new)
    }

    fn multiply(&mut self, i: &Instruction) -> Result<(), Stop> {
        let size = self.size(i, 0);
        let (first, second) = match i.op_count() {
            2 => (self.operand(i, 0)?, self.operand(i, 1)?),
            3 => (self.operand(i, 1)?, self.operand(i, 2)?),
            _ => return Err(Stop::Trap(i.ip())),
        };
        let product =
            i128::from(extend(first, size) as i64) * i128::from(extend(second, size) as i64);
        let value = product as u64 & mask(size);
        self.flags.overflow = i128::from(extend(value, size) as i64) != product;
        self.flags.carry = self.flags.overflow;
        self.set(i, 0, value)
    }

    /// Divides `rdx:rax`; of such dividends only those that `cqo` makes are
    /// known.
    fn divide(&mut self, i: &Instruction) -> Result<(), Stop> {
        let (dividend, divisor) = (self.registers[0] as i64, self.operand(i, 0)? as i64);
        match (dividend.checked_div(divisor), dividend.checked_rem(divisor)) {
            (Some(quotient), Some(remainder)) => {
                self.registers[0] = quotient as u64;
                self.registers[2] = remainder as u64;
                Ok(())
            }
            _ => Err(Stop::Trap(i.ip())),
        }
    }
}
