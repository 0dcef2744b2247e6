//! Registers other than the general-purpose ones: flags, vectors, the x87, and parts of registers,
//! by the names in the manuals of the processor.

use super::FrameScope;
use crate::stack::frames::Frame;
use juror_arch::dwarf;
use juror_arch::names::{SpecialRegister, register_part};
use juror_symbols::{Type, processor_flags, vector_control, vector_register};
use juror_values::error::ValueError;
use juror_values::typed::Typed;

/// Returns the type of the low bytes of a register, by their number.
fn part_type(size: usize) -> Option<Type> {
    Type::builtin(match size {
        1 => "char",
        2 => "short",
        _ => "int",
    })
}

impl FrameScope<'_> {
    /// Returns the flags, which only the innermost frame has.
    pub(super) fn flags(&self, frame: &Frame) -> Result<Typed, ValueError> {
        let thread = self.program.innermost_thread(frame);
        let thread = thread.ok_or("the flags are known in the innermost frame only")?;
        let registers = self.program.registers(thread);
        let registers = registers.map_err(|error| error.to_string())?;
        let bytes = (registers.flags() as u32).to_le_bytes().to_vec();
        Ok(Typed::of_bytes(processor_flags(), bytes))
    }

    /// Returns a register that only the innermost frame has: `$xmm0`, `$ymm0`, `$st0`, `$mxcsr`,
    /// `$fs_base`.
    pub(super) fn special(
        &self,
        frame: &Frame,
        special: SpecialRegister,
    ) -> Result<Typed, ValueError> {
        let no_type = "no type for registers";
        let thread = self.program.innermost_thread(frame);
        let thread = thread.ok_or("this register is known in the innermost frame only")?;
        let gone = |error: juror_debuggee::DebuggeeError| error.to_string();
        let vectors = || self.program.debuggee.vector_registers(thread).map_err(gone);
        let (r#type, bytes) = match special {
            SpecialRegister::Vector(index) => {
                let vector = vectors()?.vectors.get(index).copied();
                (vector_register(16), vector.unwrap_or_default().to_vec())
            }
            SpecialRegister::WideVector(index) => {
                let low = vectors()?.vectors.get(index).copied();
                let low = low.unwrap_or_default();
                let high = self.program.debuggee.upper_halves(thread).map_err(gone)?;
                let high = high.ok_or("this processor has no vectors of 32 bytes")?;
                let high = high.get(index).copied().unwrap_or_default();
                (vector_register(32), [low, high].concat())
            }
            SpecialRegister::X87(index) => {
                let extended = vectors()?.x87.get(index).copied();
                let mut extended = extended.unwrap_or_default().to_vec();
                // The bytes beyond the 80 bits are not part of the register.
                extended.truncate(10);
                extended.resize(16, 0);
                (Type::builtin("long double"), extended)
            }
            SpecialRegister::VectorControl => (
                Some(vector_control()),
                vectors()?.control.to_le_bytes().to_vec(),
            ),
            SpecialRegister::Kernel(which) => {
                let registers = self
                    .program
                    .registers(thread)
                    .map_err(|it| it.to_string())?;
                let word = registers.get(which);
                (Type::builtin("long"), word.to_le_bytes().to_vec())
            }
        };
        Ok(Typed::of_bytes(r#type.ok_or(no_type)?, bytes))
    }

    /// Returns a part of a register: `$eax`, `$ax`, `$al`, `$ah`, `$r8d`.
    pub(super) fn part_of_register(&self, frame: &Frame, name: &str) -> Result<Typed, ValueError> {
        let unknown = || format!("no register or convenience variable is named `${name}`");
        let (number, from, size) = register_part(name).ok_or_else(unknown)?;
        let word = frame.registers.get(number).ok_or_else(|| {
            format!(
                "the value of {} is not known in this frame",
                dwarf::name(number)
            )
        })?;
        let r#type = part_type(size).ok_or("no type for registers")?;
        let bytes = word.to_le_bytes();
        let bytes = bytes.get(from..from + size).ok_or_else(unknown)?;
        Ok(Typed::of_bytes(r#type, bytes.to_vec()))
    }
}
