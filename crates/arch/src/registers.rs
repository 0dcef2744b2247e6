//! The contents of the general registers.

use crate::instruction::SYSTEM_CALL_LENGTH;
use crate::{Register, WORD_COUNT, abi};
use std::fmt;

/// The number of no system call: a thread that has it is in none, and the kernel restarts none.
pub const NO_SYSTEM_CALL: u64 = u64::MAX;

/// The general registers of a thread.
///
/// The layout is that of the kernel's `user_regs_struct`.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
#[repr(transparent)]
pub struct Registers {
    /// The words, in the order of [`Register`].
    words: [u64; WORD_COUNT],
}

impl Registers {
    /// Returns the registers with these words, which are in the order of the kernel.
    pub const fn from_words(words: [u64; WORD_COUNT]) -> Registers {
        Registers { words }
    }

    /// Returns the words, in the order of the kernel.
    pub const fn words(&self) -> &[u64; WORD_COUNT] {
        &self.words
    }

    /// Returns the value of a register.
    pub const fn get(&self, register: Register) -> u64 {
        self.words[register as usize]
    }

    /// Sets a register.
    pub const fn set(&mut self, register: Register, value: u64) {
        self.words[register as usize] = value;
    }

    /// Returns the register with this DWARF number.
    pub fn by_dwarf_number(&self, number: u16) -> Option<u64> {
        Register::from_dwarf_number(number).map(|register| self.get(register))
    }

    /// Sets the register with this DWARF number; returns false if there is none.
    pub fn set_by_dwarf_number(&mut self, number: u16, value: u64) -> bool {
        match Register::from_dwarf_number(number) {
            Some(register) => {
                self.set(register, value);
                true
            }
            None => false,
        }
    }

    /// Returns the program counter.
    pub const fn instruction_pointer(&self) -> u64 {
        self.get(Register::Rip)
    }

    /// Sets the program counter.
    pub const fn set_instruction_pointer(&mut self, address: u64) {
        self.set(Register::Rip, address);
    }

    /// Returns the stack pointer.
    pub const fn stack_pointer(&self) -> u64 {
        self.get(Register::Rsp)
    }

    /// Sets the stack pointer.
    pub const fn set_stack_pointer(&mut self, address: u64) {
        self.set(Register::Rsp, address);
    }

    /// Returns the flags; see [`crate::flags`].
    pub const fn flags(&self) -> u64 {
        self.get(Register::Flags)
    }

    /// Sets the flags.
    pub const fn set_flags(&mut self, flags: u64) {
        self.set(Register::Flags, flags);
    }

    /// Returns the base of the thread's own storage.
    pub const fn thread_base(&self) -> u64 {
        self.get(Register::FsBase)
    }

    /// Returns the first word of the result of a function, or the result of a system call, just
    /// after the return.
    pub const fn result(&self) -> u64 {
        self.get(Register::Rax)
    }

    /// Sets the register of results.
    pub const fn set_result(&mut self, value: u64) {
        self.set(Register::Rax, value);
    }

    /// Returns the integer arguments of a function that passes all in registers, at its first
    /// instruction.
    pub fn arguments(&self) -> [u64; 6] {
        self.by_dwarf_numbers(abi::INTEGER_ARGUMENTS)
    }

    /// Sets the integer arguments of a function.
    pub fn set_arguments(&mut self, arguments: [u64; 6]) {
        self.set_by_dwarf_numbers(abi::INTEGER_ARGUMENTS, arguments);
    }

    /// Returns the number of the system call that the thread is in, or [`NO_SYSTEM_CALL`].
    pub const fn system_call(&self) -> u64 {
        self.get(Register::OrigRax)
    }

    /// Sets the number of the system call that the thread is in: with it the kernel restarts an
    /// interrupted one.
    pub const fn set_system_call(&mut self, number: u64) {
        self.set(Register::OrigRax, number);
    }

    /// Returns whether the thread is in a system call, or was interrupted in one.
    pub const fn is_in_system_call(&self) -> bool {
        self.system_call().cast_signed() >= 0
    }

    /// Returns the arguments of the system call that the thread is in.
    pub fn system_call_arguments(&self) -> [u64; 6] {
        self.by_dwarf_numbers(abi::SYSTEM_CALL_ARGUMENTS)
    }

    /// Sets the arguments of the system call that the thread is in.
    pub fn set_system_call_arguments(&mut self, arguments: [u64; 6]) {
        self.set_by_dwarf_numbers(abi::SYSTEM_CALL_ARGUMENTS, arguments);
    }

    /// Sets what a `syscall` instruction at the program counter is going to do.
    pub fn prepare_system_call(&mut self, number: u64, arguments: [u64; 6]) {
        self.set_result(number);
        self.set_by_dwarf_numbers(abi::SYSTEM_CALL_ARGUMENTS, arguments);
        self.set_system_call(NO_SYSTEM_CALL);
    }

    /// Moves a thread that is in a system call back to the instruction that makes it, as the kernel
    /// does to restart one.
    pub const fn repeat_system_call(&mut self) {
        self.set_instruction_pointer(self.call_instruction());
        self.set_result(self.system_call());
        self.set_system_call(NO_SYSTEM_CALL);
    }

    /// Returns the address of the instruction that made the system call, while the thread is in it
    /// or just behind it.
    pub const fn call_instruction(&self) -> u64 {
        self.instruction_pointer().wrapping_sub(SYSTEM_CALL_LENGTH)
    }

    /// Returns the registers that the operands of instructions name, in the order of
    /// [`Register::ENCODED`].
    pub fn encoded(&self) -> [u64; 16] {
        Register::ENCODED.map(|register| self.get(register))
    }

    /// Sets the registers that the operands of instructions name, in the order of
    /// [`Register::ENCODED`].
    pub fn set_encoded(&mut self, values: [u64; 16]) {
        for (register, value) in Register::ENCODED.into_iter().zip(values) {
            self.set(register, value);
        }
    }

    /// Returns the first words of the kernel's `struct sigcontext_64`, up to the flags.
    pub fn signal_context(&self) -> [u64; 18] {
        use Register::{Flags, R8, R9, R10, R11, R12, R13, R14, R15};
        use Register::{Rax, Rbp, Rbx, Rcx, Rdi, Rdx, Rip, Rsi, Rsp};
        let order = [
            R8, R9, R10, R11, R12, R13, R14, R15, Rdi, Rsi, Rbp, Rbx, Rdx, Rax, Rcx, Rsp, Rip,
            Flags,
        ];
        order.map(|register| self.get(register))
    }

    fn by_dwarf_numbers<const COUNT: usize>(&self, numbers: [u16; COUNT]) -> [u64; COUNT] {
        numbers.map(|number| self.by_dwarf_number(number).unwrap_or(0))
    }

    fn set_by_dwarf_numbers<const COUNT: usize>(
        &mut self,
        numbers: [u16; COUNT],
        values: [u64; COUNT],
    ) {
        for (number, value) in numbers.into_iter().zip(values) {
            self.set_by_dwarf_number(number, value);
        }
    }
}

impl fmt::Debug for Registers {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Register::ALL.map(|register| (register.name(), self.get(register)));
        out.debug_map().entries(named).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns registers each of which holds another number.
    fn distinct() -> Registers {
        Registers::from_words(std::array::from_fn(|index| index as u64 + 1))
    }

    #[test]
    fn words_are_in_the_order_of_the_kernel() {
        let registers = distinct();
        let found = [
            registers.get(Register::R15),
            registers.instruction_pointer(),
            registers.stack_pointer(),
            registers.get(Register::Gs),
        ];
        assert_eq!(found, [1, 17, 20, 27]);
        assert_eq!((registers.result(), registers.system_call()), (11, 16));
        assert_eq!((registers.flags(), registers.thread_base()), (19, 22));
    }

    #[test]
    fn dwarf_numbers_reach_each_register_once() {
        let mut registers = Registers::default();
        let numbers: Vec<u16> = (0..=16).chain(49..=55).chain([58, 59]).collect();
        for &number in &numbers {
            assert!(registers.set_by_dwarf_number(number, u64::from(number) + 100));
        }
        for &number in &numbers {
            let expected = Some(u64::from(number) + 100);
            assert_eq!(registers.by_dwarf_number(number), expected);
        }
        assert_eq!(registers.by_dwarf_number(17), None);
        assert!(!registers.set_by_dwarf_number(60, 0));
        assert_eq!(registers.get(Register::Rdx), 101);
    }

    #[test]
    fn a_call_is_prepared_and_repeated() {
        let mut registers = distinct();
        registers.prepare_system_call(7, [1, 2, 3, 4, 5, 6]);
        assert_eq!(registers.system_call_arguments(), [1, 2, 3, 4, 5, 6]);
        assert_eq!((registers.result(), registers.get(Register::R10)), (7, 4));
        assert!(!registers.is_in_system_call());
        // The kernel enters the call, and is interrupted there.
        registers.set_system_call(7);
        registers.set_instruction_pointer(0x1002);
        registers.set_result(-512_i64 as u64);
        registers.repeat_system_call();
        assert_eq!(
            (registers.instruction_pointer(), registers.result()),
            (0x1000, 7)
        );
        assert!(!registers.is_in_system_call());
    }

    #[test]
    fn encoded_registers_round_trip() {
        let mut registers = Registers::default();
        registers.set_encoded(std::array::from_fn(|number| number as u64 + 10));
        assert_eq!(registers.get(Register::Rcx), 11);
        assert_eq!(registers.stack_pointer(), 14);
        assert_eq!(registers.encoded()[15], 25);
    }

    #[test]
    fn a_signal_context_has_the_order_of_the_kernel() {
        let words = distinct().signal_context();
        // `r8` is the first, `rip` the seventeenth, the flags the eighteenth.
        assert_eq!(
            (words[0], words[13], words[16], words[17]),
            (10, 11, 17, 19)
        );
    }
}
