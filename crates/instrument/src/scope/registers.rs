//! Registers that have no number of their own in debug information: the flags, and
//! parts of others, by the names of the manuals of the processor.

use super::FrameScope;
use crate::frames::Frame;
use crate::typed::Typed;
use crate::value_error::ValueError;
use juror_symbols::{Type, register, register_name};

/// The type of the low bytes of a register, by their count.
fn part_type(size: usize) -> Option<Type> {
    Type::builtin(match size {
        1 => "char",
        2 => "short",
        _ => "int",
    })
}

impl FrameScope<'_> {
    /// The flags, which only the innermost frame has.
    pub(super) fn flags(&self, frame: &Frame) -> Result<Typed, ValueError> {
        let thread = frame.thread.filter(|_| self.level == 0);
        let thread = thread.ok_or("the flags are known in the innermost frame only")?;
        let registers = self.program.registers(thread);
        let registers = registers.map_err(|error| error.to_string())?;
        let r#type = Type::builtin("unsigned int").ok_or("no type for registers")?;
        let bytes = (registers.rflags as u32).to_le_bytes().to_vec();
        Ok(Typed::of_bytes(r#type, bytes))
    }

    /// `$eax`, `$ax`, `$al`, `$ah`, `$r8d`: a part of a register.
    pub(super) fn part_of_register(&self, frame: &Frame, name: &str) -> Result<Typed, ValueError> {
        let unknown = || format!("there is no register or value `${name}`");
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

/// The number of a register, by its name or what it is used as.
pub(crate) fn whole_register(name: &str) -> Option<u16> {
    match name {
        "pc" => Some(register::RIP),
        "sp" => Some(register::RSP),
        "fp" => Some(register::RBP),
        _ => (0..=16).find(|&number| register_name(number) == name),
    }
}

/// Whether an expression can speak of a register by this name.
pub fn is_register(name: &str) -> bool {
    name == "eflags" || whole_register(name).is_some() || register_part(name).is_some()
}

/// The register that a part belongs to, its first byte there, and how many it has.
fn register_part(name: &str) -> Option<(u16, usize, usize)> {
    let whole = |name: &str| (0..16).find(|&number| register_name(number) == name);
    // Those with letters: `ax`, `al` and `ah` of `rax`; `si` and `sil` of `rsi`.
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
    // Those with numbers: `r8d`, `r8w`, `r8b`, `r8l`.
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
