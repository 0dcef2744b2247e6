//! The registers of a stopped thread, as upper layers see them.
//!
//! The program counter is always one of the original program: never inside an
//! out-of-line slot, and at the instruction (not after the trap byte) for a
//! thread that arrived at a site.

use libc::{user_fpregs_struct, user_regs_struct};

/// The general registers of a stopped thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the processor's own names")]
pub struct Registers {
    pub rax: u64,
    pub rbx: u64,
    pub rcx: u64,
    pub rdx: u64,
    pub rsi: u64,
    pub rdi: u64,
    pub rbp: u64,
    pub rsp: u64,
    pub r8: u64,
    pub r9: u64,
    pub r10: u64,
    pub r11: u64,
    pub r12: u64,
    pub r13: u64,
    pub r14: u64,
    pub r15: u64,
    /// The program counter.
    pub rip: u64,
    /// The flags.
    pub rflags: u64,
    pub fs_base: u64,
    pub gs_base: u64,
    pub cs: u64,
    pub ss: u64,
    pub ds: u64,
    pub es: u64,
    pub fs: u64,
    pub gs: u64,
    /// The number of the system call the thread is in, or all ones: with it
    /// the kernel restarts an interrupted call. Save and restore it with the
    /// rest; leave it alone otherwise.
    pub orig_rax: u64,
}

impl Registers {
    /// Returns the register with this DWARF number (System V ABI, x86-64: 0 to
    /// 15 are the general registers, 16 the program counter, 49 the flags, 58
    /// and 59 the bases of `fs` and `gs`).
    pub fn by_dwarf_number(&self, number: u16) -> Option<u64> {
        self.clone().slot(number).map(|slot| *slot)
    }

    /// Sets the register with this DWARF number; returns false if there is
    /// none.
    pub fn set_by_dwarf_number(&mut self, number: u16, value: u64) -> bool {
        match self.slot(number) {
            Some(slot) => {
                *slot = value;
                true
            }
            None => false,
        }
    }

    /// Returns the six arguments of the system call that the thread enters.
    pub(crate) fn system_call_arguments(&self) -> [u64; 6] {
        [self.rdi, self.rsi, self.rdx, self.r10, self.r8, self.r9]
    }

    fn slot(&mut self, number: u16) -> Option<&mut u64> {
        Some(match number {
            0 => &mut self.rax,
            1 => &mut self.rdx,
            2 => &mut self.rcx,
            3 => &mut self.rbx,
            4 => &mut self.rsi,
            5 => &mut self.rdi,
            6 => &mut self.rbp,
            7 => &mut self.rsp,
            8 => &mut self.r8,
            9 => &mut self.r9,
            10 => &mut self.r10,
            11 => &mut self.r11,
            12 => &mut self.r12,
            13 => &mut self.r13,
            14 => &mut self.r14,
            15 => &mut self.r15,
            16 => &mut self.rip,
            49 => &mut self.rflags,
            58 => &mut self.fs_base,
            59 => &mut self.gs_base,
            _ => return None,
        })
    }

    pub(crate) fn from_kernel(raw: &user_regs_struct) -> Registers {
        Registers {
            rax: raw.rax,
            rbx: raw.rbx,
            rcx: raw.rcx,
            rdx: raw.rdx,
            rsi: raw.rsi,
            rdi: raw.rdi,
            rbp: raw.rbp,
            rsp: raw.rsp,
            r8: raw.r8,
            r9: raw.r9,
            r10: raw.r10,
            r11: raw.r11,
            r12: raw.r12,
            r13: raw.r13,
            r14: raw.r14,
            r15: raw.r15,
            rip: raw.rip,
            rflags: raw.eflags,
            fs_base: raw.fs_base,
            gs_base: raw.gs_base,
            cs: raw.cs,
            ss: raw.ss,
            ds: raw.ds,
            es: raw.es,
            fs: raw.fs,
            gs: raw.gs,
            orig_rax: raw.orig_rax,
        }
    }

    pub(crate) fn to_kernel(self) -> user_regs_struct {
        user_regs_struct {
            rax: self.rax,
            rbx: self.rbx,
            rcx: self.rcx,
            rdx: self.rdx,
            rsi: self.rsi,
            rdi: self.rdi,
            rbp: self.rbp,
            rsp: self.rsp,
            r8: self.r8,
            r9: self.r9,
            r10: self.r10,
            r11: self.r11,
            r12: self.r12,
            r13: self.r13,
            r14: self.r14,
            r15: self.r15,
            rip: self.rip,
            eflags: self.rflags,
            fs_base: self.fs_base,
            gs_base: self.gs_base,
            cs: self.cs,
            ss: self.ss,
            ds: self.ds,
            es: self.es,
            fs: self.fs,
            gs: self.gs,
            orig_rax: self.orig_rax,
        }
    }
}

/// The x87 and SSE registers of a stopped thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VectorRegisters {
    /// `xmm0` to `xmm15`, low byte first.
    pub xmm: [[u8; 16]; 16],
    /// `st(0)` to `st(7)`: 80-bit values, low byte first, in 16 bytes each.
    pub st: [[u8; 16]; 8],
    /// The SSE control and status word.
    pub mxcsr: u32,
    /// The x87 status word; bits 11 to 13 say which register is `st(0)`.
    x87_status: u16,
    /// A bit for each x87 register, by its own number, that holds a value.
    x87_used: u16,
}

impl VectorRegisters {
    /// Sets the x87 stack to these 80-bit values, the first of them on top: the
    /// state after a function that returns them.
    pub fn leave_on_x87(&mut self, values: &[[u8; 16]]) {
        let count = values.len().min(8) as u16;
        for (st, value) in self.st.iter_mut().zip(values) {
            *st = *value;
        }
        // The stack grows downwards, and an empty one begins again at 0.
        let top = (8 - count) % 8;
        self.x87_status = self.x87_status & !(7 << 11) | top << 11;
        self.x87_used = !(0xff >> count) & 0xff;
    }

    pub(crate) fn from_kernel(raw: &user_fpregs_struct) -> VectorRegisters {
        VectorRegisters {
            xmm: std::array::from_fn(|index| unpack(&raw.xmm_space, index)),
            st: std::array::from_fn(|index| unpack(&raw.st_space, index)),
            mxcsr: raw.mxcsr,
            x87_status: raw.swd,
            x87_used: raw.ftw,
        }
    }

    pub(crate) fn store(&self, raw: &mut user_fpregs_struct) {
        for (index, value) in self.xmm.iter().enumerate() {
            pack(&mut raw.xmm_space, index, value);
        }
        for (index, value) in self.st.iter().enumerate() {
            pack(&mut raw.st_space, index, value);
        }
        raw.mxcsr = self.mxcsr;
        raw.swd = self.x87_status;
        raw.ftw = self.x87_used;
    }
}

fn unpack(words: &[u32], index: usize) -> [u8; 16] {
    let mut bytes = [0; 16];
    let words = words.iter().skip(index * 4);
    for (chunk, word) in bytes.chunks_exact_mut(4).zip(words) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

fn pack(words: &mut [u32], index: usize, bytes: &[u8; 16]) {
    let words = words.iter_mut().skip(index * 4);
    for (word, chunk) in words.zip(bytes.chunks_exact(4)) {
        *word = chunk
            .iter()
            .rev()
            .fold(0, |value, byte| (value << 8) | u32::from(*byte));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dwarf_numbers_reach_each_register_once() {
        let mut registers = Registers::default();
        let numbers: Vec<u16> = (0..=16).chain([49, 58, 59]).collect();
        for &number in &numbers {
            assert!(registers.set_by_dwarf_number(number, u64::from(number) + 100));
        }
        for &number in &numbers {
            assert_eq!(
                registers.by_dwarf_number(number),
                Some(u64::from(number) + 100)
            );
        }
        assert_eq!(registers.by_dwarf_number(17), None);
        assert!(!registers.set_by_dwarf_number(60, 0));
        assert_eq!(registers.rdx, 101);
    }

    #[test]
    fn kernel_form_round_trips() {
        let mut registers = Registers::default();
        for number in (0..=16).chain([49, 58, 59]) {
            registers.set_by_dwarf_number(number, u64::from(number) * 7 + 1);
        }
        assert_eq!(Registers::from_kernel(&registers.to_kernel()), registers);
    }

    #[test]
    fn vectors_pack_as_they_unpack() {
        let mut words = [0; 64];
        let value: [u8; 16] = std::array::from_fn(|index| index as u8 + 1);
        pack(&mut words, 3, &value);
        assert_eq!(unpack(&words, 3), value);
        assert_eq!(unpack(&words, 2), [0; 16]);
        assert_eq!(words[12], 0x0403_0201);
    }
}
