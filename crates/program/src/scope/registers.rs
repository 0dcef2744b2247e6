//! Registers other than the general-purpose ones: flags, vectors, the x87, and parts of registers,
//! by the names in the manuals of the processor.

use super::FrameScope;
use crate::stack::frames::Frame;
use juror_symbols::{
    Type, processor_flags, register, register_name, vector_control, vector_register,
};
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
        let bytes = (registers.rflags as u32).to_le_bytes().to_vec();
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
            SpecialRegister::Xmm(number) => {
                let xmm = vectors()?.xmm.get(usize::from(number)).copied();
                (vector_register(16), xmm.unwrap_or_default().to_vec())
            }
            SpecialRegister::Ymm(number) => {
                let number = usize::from(number);
                let low = vectors()?.xmm.get(number).copied().unwrap_or_default();
                let high = self.program.debuggee.upper_halves(thread).map_err(gone)?;
                let high = high.ok_or("this processor has no vectors of 32 bytes")?;
                let high = high.get(number).copied().unwrap_or_default();
                (vector_register(32), [low, high].concat())
            }
            SpecialRegister::St(number) => {
                let st = vectors()?.st.get(usize::from(number)).copied();
                let mut st = st.unwrap_or_default().to_vec();
                // The bytes beyond the 80 bits are not part of the register.
                st.truncate(10);
                st.resize(16, 0);
                (Type::builtin("long double"), st)
            }
            SpecialRegister::VectorControl => (
                Some(vector_control()),
                vectors()?.mxcsr.to_le_bytes().to_vec(),
            ),
            SpecialRegister::Kernel(which) => {
                let registers = self
                    .program
                    .registers(thread)
                    .map_err(|it| it.to_string())?;
                let word = which(registers);
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
                register_name(number)
            )
        })?;
        let r#type = part_type(size).ok_or("no type for registers")?;
        let bytes = word.to_le_bytes();
        let bytes = bytes.get(from..from + size).ok_or_else(unknown)?;
        Ok(Typed::of_bytes(r#type, bytes.to_vec()))
    }
}

/// A register that only the innermost frame has, and that is not general-purpose.
#[derive(Clone, Copy)]
pub(super) enum SpecialRegister {
    /// A vector register of 16 bytes.
    Xmm(u8),
    /// A vector register of 32 bytes.
    Ymm(u8),
    /// An x87 register, counted from the top of the stack.
    St(u8),
    /// The control and status register of vectors.
    VectorControl,
    /// A segment register or base, or a word that the kernel saves with the registers.
    Kernel(fn(&juror_debuggee::Registers) -> u64),
}

impl SpecialRegister {
    pub(super) fn named(name: &str) -> Option<SpecialRegister> {
        let numbered = |prefix: &str, count: u8| {
            let digits = name.strip_prefix(prefix)?;
            let is_plain = digits == "0" || !digits.starts_with('0');
            let number = digits.parse::<u8>().ok().filter(|_| is_plain)?;
            (number < count && digits.bytes().all(|it| it.is_ascii_digit())).then_some(number)
        };
        if let Some(number) = numbered("xmm", 16) {
            return Some(SpecialRegister::Xmm(number));
        }
        if let Some(number) = numbered("ymm", 16) {
            return Some(SpecialRegister::Ymm(number));
        }
        if let Some(number) = numbered("st", 8) {
            return Some(SpecialRegister::St(number));
        }
        Some(SpecialRegister::Kernel(match name {
            "mxcsr" => return Some(SpecialRegister::VectorControl),
            "fs_base" => |registers| registers.fs_base,
            "gs_base" => |registers| registers.gs_base,
            "orig_rax" => |registers| registers.orig_rax,
            "cs" => |registers| registers.cs,
            "ss" => |registers| registers.ss,
            "ds" => |registers| registers.ds,
            "es" => |registers| registers.es,
            "fs" => |registers| registers.fs,
            "gs" => |registers| registers.gs,
            _ => return None,
        }))
    }
}

/// Returns the DWARF number of a register, by its name or alias.
pub fn whole_register(name: &str) -> Option<u16> {
    match name {
        "pc" => Some(register::RIP),
        "sp" => Some(register::RSP),
        "fp" => Some(register::RBP),
        _ => (0..=16).find(|&number| register_name(number) == name),
    }
}

/// Returns whether an expression can name this register.
pub fn is_register(name: &str) -> bool {
    name == "eflags"
        || whole_register(name).is_some()
        || register_part(name).is_some()
        || SpecialRegister::named(name).is_some()
}

/// Returns the DWARF number of the register that a part belongs to, the part's first byte, and its
/// size.
pub fn register_part(name: &str) -> Option<(u16, usize, usize)> {
    let whole = |name: &str| (0..16).find(|&number| register_name(number) == name);
    // Names with letters: `ax`, `al` and `ah` of `rax`; `si` and `sil` of `rsi`.
    if let Some(short) = name.strip_prefix('e') {
        return Some((whole(&format!("r{short}"))?, 0, 4));
    }
    if let Some(number) = whole(&format!("r{name}")) {
        return Some((number, 0, 2));
    }
    for (end, from) in [("l", 0), ("h", 1)] {
        let Some(short) = name.strip_suffix(end) else {
            continue;
        };
        let of_letter = whole(&format!("r{short}x"));
        let of_index = (from == 0).then(|| whole(&format!("r{short}"))).flatten();
        if let Some(number) = of_letter.or(of_index) {
            return Some((number, from, 1));
        }
    }
    // Names with numbers: `r8d`, `r8w`, `r8b`, `r8l`.
    let (numbered, end) = name.split_at_checked(name.len().checked_sub(1)?)?;
    let size = match end {
        "d" => 4,
        "w" => 2,
        "b" | "l" => 1,
        _ => return None,
    };
    let is_numbered = numbered.strip_prefix('r')?.parse::<u8>().is_ok();
    let number = whole(numbered).filter(|_| is_numbered)?;
    Some((number, 0, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_registers_have_names() {
        for (name, is_one) in [
            ("xmm0", true),
            ("xmm15", true),
            ("xmm16", false),
            ("xmm01", false),
            ("xmm", false),
            ("ymm3", true),
            ("st7", true),
            ("st8", false),
            ("st+1", false),
            ("mxcsr", true),
            ("fs_base", true),
            ("count", false),
        ] {
            assert_eq!(is_register(name), is_one, "{name}");
        }
    }

    #[test]
    fn parts_of_registers_have_names() {
        for (name, expected) in [
            ("eax", Some((0, 0, 4))),
            ("ax", Some((0, 0, 2))),
            ("al", Some((0, 0, 1))),
            ("ah", Some((0, 1, 1))),
            ("bl", Some((3, 0, 1))),
            ("esp", Some((7, 0, 4))),
            ("sil", Some((4, 0, 1))),
            ("si", Some((4, 0, 2))),
            ("r8d", Some((8, 0, 4))),
            ("r15w", Some((15, 0, 2))),
            ("r9b", Some((9, 0, 1))),
            ("r16d", None),
            ("rax", None),
            ("sih", None),
            ("count", None),
            ("", None),
        ] {
            assert_eq!(register_part(name), expected, "{name}");
        }
    }
}
