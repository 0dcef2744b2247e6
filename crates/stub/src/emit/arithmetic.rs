//! Arithmetic that may have no result, and the hash.

use super::assembler::{Binary, If, Physical, RAX, RDX, Target};
use super::operations::SectionEmitter;
use super::registers::{SCRATCH, virtual_register};
use juror_monitor::lowering::{Checked, Operand, Register, Why};

/// The numbers of `neg`, `mul` and `idiv` in their group.
const NEGATE: u8 = 3;
const MULTIPLY_WIDE: u8 = 4;
const DIVIDE: u8 = 7;
/// The constants of the hash.
const HASH_SALT: u64 = 0x2545_f491_4f6c_dd1d;
const HASH_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl SectionEmitter<'_, '_> {
    pub(super) fn checked(
        &mut self,
        operation: Checked,
        to: Register,
        right: Operand,
    ) -> Option<()> {
        let to = virtual_register(to)?;
        match operation {
            Checked::Add => self.binary(Binary::Add, to, right)?,
            Checked::Subtract => self.binary(Binary::Subtract, to, right)?,
            Checked::Multiply => {
                let (mark, right) = (self.mark(), self.in_register(right)?);
                self.emitter.code.multiply(mark, to, right);
            }
            Checked::Divide | Checked::Remainder => {
                let right = self.in_register(right)?;
                return self.divide(operation == Checked::Divide, to, right);
            }
        }
        let (mark, gate) = (self.mark(), self.gate(Why::Value));
        self.emitter.code.jump_if(mark, If::Overflow, gate);
        Some(())
    }

    /// Divides; −1 is apart, because the processor traps on the smallest number
    /// divided by it.
    fn divide(&mut self, is_quotient: bool, to: Physical, divisor: Physical) -> Option<()> {
        let (mark, gate) = (self.mark(), self.gate(Why::Value));
        let code = &mut self.emitter.code;
        let (plain, done) = (code.label(), code.label());
        code.copy(mark, RAX, to);
        code.test(mark, divisor, divisor);
        code.jump_if(mark, If::Equal, gate);
        code.binary_constant(mark, Binary::Compare, divisor, -1);
        code.jump_if(mark, If::NotEqual, Target::Label(plain));
        code.unary(mark, NEGATE, RAX);
        code.jump_if(mark, If::Overflow, gate);
        code.set(mark, RDX, 0);
        code.jump(mark, Target::Label(done));
        code.bind(plain);
        code.raw(mark, &[0x48, 0x99]);
        code.unary(mark, DIVIDE, divisor);
        code.bind(done);
        code.copy(mark, to, if is_quotient { RAX } else { RDX });
        Some(())
    }

    /// Returns the register of an operand; a constant is put into the scratch
    /// register.
    fn in_register(&mut self, operand: Operand) -> Option<Physical> {
        match operand {
            Operand::Register(register) => virtual_register(register),
            Operand::Constant(constant) => {
                let mark = self.mark();
                self.emitter
                    .code
                    .set(mark, SCRATCH, i64::from(constant) as u64);
                Some(SCRATCH)
            }
        }
    }

    pub(super) fn hash(&mut self, to: Physical, word: Physical) -> Option<()> {
        let mark = self.mark();
        let code = &mut self.emitter.code;
        code.set(mark, RAX, HASH_SALT);
        code.binary(mark, Binary::Xor, RAX, to);
        code.binary(mark, Binary::Xor, RAX, word);
        code.set(mark, RDX, HASH_FACTOR);
        code.unary(mark, MULTIPLY_WIDE, RDX);
        code.binary(mark, Binary::Xor, RAX, RDX);
        code.copy(mark, to, RAX);
        Some(())
    }
}
