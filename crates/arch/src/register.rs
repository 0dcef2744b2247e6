//! The table of the general registers.

/// The number of words of general registers that the kernel keeps for a thread.
pub const WORD_COUNT: usize = 27;

/// A general register, or a word that the kernel keeps beside them.
///
/// The order is that of `user_regs_struct`: the discriminant is the index of the word there, and in
/// the notes of core files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs, reason = "the processor's own names")]
pub enum Register {
    R15,
    R14,
    R13,
    R12,
    Rbp,
    Rbx,
    R11,
    R10,
    R9,
    R8,
    Rax,
    Rcx,
    Rdx,
    Rsi,
    Rdi,
    /// The number of the system call that the thread is in, or [`crate::NO_SYSTEM_CALL`].
    OrigRax,
    /// The program counter.
    Rip,
    Cs,
    /// The flags; see [`crate::flags`].
    Flags,
    Rsp,
    Ss,
    FsBase,
    GsBase,
    Ds,
    Es,
    Fs,
    Gs,
}

/// The names, numbers and size of a register.
struct Row {
    register: Register,
    /// The name, as gdb and the manuals of the processor spell it.
    name: &'static str,
    /// The number in debug information (AMD64 supplement, figure 3.36).
    dwarf: Option<u16>,
    /// The number in instructions, of the registers that operands name.
    encoding: Option<u8>,
}

const fn row(
    register: Register,
    name: &'static str,
    dwarf: Option<u16>,
    encoding: Option<u8>,
) -> Row {
    Row {
        register,
        name,
        dwarf,
        encoding,
    }
}

/// The registers, in the order of [`Register`].
const ROWS: [Row; WORD_COUNT] = [
    row(Register::R15, "r15", Some(15), Some(15)),
    row(Register::R14, "r14", Some(14), Some(14)),
    row(Register::R13, "r13", Some(13), Some(13)),
    row(Register::R12, "r12", Some(12), Some(12)),
    row(Register::Rbp, "rbp", Some(6), Some(5)),
    row(Register::Rbx, "rbx", Some(3), Some(3)),
    row(Register::R11, "r11", Some(11), Some(11)),
    row(Register::R10, "r10", Some(10), Some(10)),
    row(Register::R9, "r9", Some(9), Some(9)),
    row(Register::R8, "r8", Some(8), Some(8)),
    row(Register::Rax, "rax", Some(0), Some(0)),
    row(Register::Rcx, "rcx", Some(2), Some(1)),
    row(Register::Rdx, "rdx", Some(1), Some(2)),
    row(Register::Rsi, "rsi", Some(4), Some(6)),
    row(Register::Rdi, "rdi", Some(5), Some(7)),
    row(Register::OrigRax, "orig_rax", None, None),
    row(Register::Rip, "rip", Some(16), None),
    row(Register::Cs, "cs", Some(51), None),
    row(Register::Flags, "eflags", Some(49), None),
    row(Register::Rsp, "rsp", Some(7), Some(4)),
    row(Register::Ss, "ss", Some(52), None),
    row(Register::FsBase, "fs_base", Some(58), None),
    row(Register::GsBase, "gs_base", Some(59), None),
    row(Register::Ds, "ds", Some(53), None),
    row(Register::Es, "es", Some(50), None),
    row(Register::Fs, "fs", Some(54), None),
    row(Register::Gs, "gs", Some(55), None),
];

/// The end of the DWARF numbers of the table.
const DWARF_END: usize = 60;

/// The registers by DWARF number.
const BY_DWARF_NUMBER: [Option<Register>; DWARF_END] = {
    let mut found = [None; DWARF_END];
    let mut index = 0;
    while index < WORD_COUNT {
        if let Some(number) = ROWS[index].dwarf {
            found[number as usize] = Some(ROWS[index].register);
        }
        index += 1;
    }
    found
};

impl Register {
    /// The registers that the operands of instructions name, by their number there.
    pub const ENCODED: [Register; 16] = {
        let mut found = [Register::Rax; 16];
        let mut index = 0;
        while index < WORD_COUNT {
            if let Some(number) = ROWS[index].encoding {
                found[number as usize] = ROWS[index].register;
            }
            index += 1;
        }
        found
    };

    /// All registers, in the order of the kernel.
    pub const ALL: [Register; WORD_COUNT] = {
        let mut found = [Register::R15; WORD_COUNT];
        let mut index = 0;
        while index < WORD_COUNT {
            found[index] = ROWS[index].register;
            index += 1;
        }
        found
    };

    /// Returns the name.
    pub const fn name(self) -> &'static str {
        ROWS[self as usize].name
    }

    /// Returns the DWARF number, if it has one.
    pub const fn dwarf_number(self) -> Option<u16> {
        ROWS[self as usize].dwarf
    }

    /// Returns the register with a DWARF number.
    pub fn from_dwarf_number(number: u16) -> Option<Register> {
        *BY_DWARF_NUMBER.get(usize::from(number))?
    }

    /// Returns the register with a name.
    pub fn named(name: &str) -> Option<Register> {
        let mut rows = ROWS.iter();
        rows.find(|row| row.name == name).map(|row| row.register)
    }

    /// Returns the offset in bytes in the kernel's `user_regs_struct`.
    pub const fn kernel_offset(self) -> usize {
        self as usize * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_the_kernel() {
        for (index, row) in ROWS.iter().enumerate() {
            assert_eq!(row.register as usize, index, "{}", row.name);
            assert_eq!(Register::named(row.name), Some(row.register));
        }
        assert_eq!(Register::Rip.kernel_offset(), 128);
    }

    #[test]
    fn numbers_are_given_once() {
        let numbers: Vec<u16> = ROWS.iter().filter_map(|row| row.dwarf).collect();
        let found = (0..100).filter(|&it| Register::from_dwarf_number(it).is_some());
        assert_eq!(found.count(), numbers.len());
        for number in numbers {
            let register = Register::from_dwarf_number(number).unwrap();
            assert_eq!(register.dwarf_number(), Some(number));
        }
        let encoded = ROWS.iter().filter(|row| row.encoding.is_some());
        assert_eq!(encoded.count(), Register::ENCODED.len());
        for (number, register) in Register::ENCODED.iter().enumerate() {
            assert_eq!(ROWS[*register as usize].encoding, Some(number as u8));
        }
    }
}
