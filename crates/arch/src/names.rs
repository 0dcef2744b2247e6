//! The names that a user writes for registers and for their parts, and the groups in which they
//! are shown.

use crate::Register;
use crate::dwarf;

/// The names of the general registers, in gdb's order.
pub const GENERAL: [&str; 18] = names_of([
    Register::Rax,
    Register::Rbx,
    Register::Rcx,
    Register::Rdx,
    Register::Rsi,
    Register::Rdi,
    Register::Rbp,
    Register::Rsp,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
    Register::R12,
    Register::R13,
    Register::R14,
    Register::R15,
    Register::Rip,
    Register::Flags,
]);

/// The registers that only the innermost frame has, and what the kernel keeps with them.
pub const SEGMENTS: [&str; 9] = names_of([
    Register::Cs,
    Register::Ss,
    Register::Ds,
    Register::Es,
    Register::Fs,
    Register::Gs,
    Register::FsBase,
    Register::GsBase,
    Register::OrigRax,
]);

/// The x87 registers, from the top of their stack.
pub const X87: [&str; 8] = ["st0", "st1", "st2", "st3", "st4", "st5", "st6", "st7"];

/// The vector registers of SSE.
pub const VECTORS: [&str; 16] = [
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
    "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
];

/// The vector registers of AVX, whose lower halves are those of SSE.
pub const WIDE_VECTORS: [&str; 16] = [
    "ymm0", "ymm1", "ymm2", "ymm3", "ymm4", "ymm5", "ymm6", "ymm7", "ymm8", "ymm9", "ymm10",
    "ymm11", "ymm12", "ymm13", "ymm14", "ymm15",
];

/// The control and status register of vector instructions.
pub const VECTOR_CONTROL: &str = "mxcsr";

/// The name of the program counter.
pub const INSTRUCTION_POINTER: &str = Register::Rip.name();

/// The name of the flags register.
pub const FLAGS: &str = Register::Flags.name();

/// The other names of registers, by use.
pub const ALIASES: [(&str, Register); 3] = [
    ("pc", Register::Rip),
    ("sp", Register::Rsp),
    ("fp", Register::Rbp),
];

/// The names of the vector registers and of their control and status register.
const VECTOR_GROUP: [&str; 17] = {
    let mut names = [VECTOR_CONTROL; 17];
    let mut index = 0;
    while index < VECTORS.len() {
        names[index] = VECTORS[index];
        index += 1;
    }
    names
};

/// The groups of registers that only the innermost frame has, by the name of the group.
pub const GROUPS: &[(&str, &[&str])] = &[
    ("segments", &SEGMENTS),
    ("x87", &X87),
    ("xmm", &VECTOR_GROUP),
    ("ymm", &WIDE_VECTORS),
];

const fn names_of<const COUNT: usize>(registers: [Register; COUNT]) -> [&'static str; COUNT] {
    let mut names = [""; COUNT];
    let mut index = 0;
    while index < COUNT {
        names[index] = registers[index].name();
        index += 1;
    }
    names
}

/// A register that only the innermost frame has, or that is no number of eight bytes in general
/// use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpecialRegister {
    /// A vector register of 16 bytes, by index.
    Vector(usize),
    /// The same with 16 bytes more.
    WideVector(usize),
    /// A register of the x87, by its position from the top of the stack.
    X87(usize),
    /// The control and status register of vector instructions.
    VectorControl,
    /// A segment, its base, or the number of the interrupted system call.
    Kernel(Register),
}

impl SpecialRegister {
    /// Returns the register with a name.
    pub fn named(name: &str) -> Option<SpecialRegister> {
        let index_in = |names: &[&str]| names.iter().position(|it| *it == name);
        if let Some(index) = index_in(&VECTORS) {
            Some(SpecialRegister::Vector(index))
        } else if let Some(index) = index_in(&WIDE_VECTORS) {
            Some(SpecialRegister::WideVector(index))
        } else if let Some(index) = index_in(&X87) {
            Some(SpecialRegister::X87(index))
        } else if name == VECTOR_CONTROL {
            Some(SpecialRegister::VectorControl)
        } else {
            index_in(&SEGMENTS)?;
            Register::named(name).map(SpecialRegister::Kernel)
        }
    }
}

/// Returns the DWARF number of a register that every frame has, by its name or its use.
pub fn whole_register(name: &str) -> Option<u16> {
    let number = aliased(name)
        .or_else(|| Register::named(name))?
        .dwarf_number()?;
    dwarf::is_unwound(number).then_some(number)
}

/// Returns the register that has another name by its use: `pc`, `sp`, `fp`.
pub fn aliased(name: &str) -> Option<Register> {
    let mut aliases = ALIASES.iter();
    aliases
        .find(|(alias, _)| *alias == name)
        .map(|(_, register)| *register)
}

/// Returns whether an expression can speak of a register by this name.
pub fn is_register(name: &str) -> bool {
    name == FLAGS
        || whole_register(name).is_some()
        || register_part(name).is_some()
        || SpecialRegister::named(name).is_some()
}

/// Returns the register that a part belongs to (its DWARF number), the offset of the part there,
/// and its size, in bytes: `eax`, `ax`, `al`, `ah`, `r8d`.
pub fn register_part(name: &str) -> Option<(u16, usize, usize)> {
    let whole = |name: &str| {
        let number = Register::named(name)?.dwarf_number()?;
        (usize::from(number) < dwarf::GENERAL_COUNT).then_some(number)
    };
    // The registers with letters: `ax`, `al` and `ah` of `rax`; `si` and `sil` of `rsi`.
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
        let of_index = if from == 0 {
            whole(&format!("r{short}"))
        } else {
            None
        };
        if let Some(number) = of_letter.or(of_index) {
            return Some((number, from, 1));
        }
    }
    // The registers with numbers: `r8d`, `r8w`, `r8b`, `r8l`.
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
            ("orig_rax", true),
            ("eflags", true),
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
            ("eip", None),
            ("count", None),
            ("", None),
        ] {
            assert_eq!(register_part(name), expected, "{name}");
        }
    }

    #[test]
    fn whole_registers_have_names_by_use() {
        for (name, expected) in [
            ("rax", Some(0)),
            ("rip", Some(16)),
            ("pc", Some(16)),
            ("sp", Some(7)),
            ("fp", Some(6)),
            ("eflags", None),
            ("fs_base", None),
            ("xmm0", None),
        ] {
            assert_eq!(whole_register(name), expected, "{name}");
        }
    }

    #[test]
    fn every_shown_name_is_a_register() {
        let groups = GROUPS.iter().flat_map(|(_, names)| names.iter());
        for name in GENERAL.iter().chain(groups) {
            assert!(is_register(name), "{name}");
        }
    }
}
