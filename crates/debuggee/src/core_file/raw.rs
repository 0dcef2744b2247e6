//! The kernel's structures as bytes, as core files have them.

use std::ptr;

use juror_corefile::REGISTER_COUNT;
use libc::{siginfo_t, user_fpregs_struct, user_regs_struct};

/// Returns a structure of plain integers from its bytes; none if their number
/// is another.
fn of_bytes<T: PlainIntegers>(bytes: &[u8]) -> Option<T> {
    if bytes.len() != size_of::<T>() {
        return None;
    }
    // SAFETY: the slice has the size of `T`, any bytes are a value of it, and
    // the read does not ask for alignment.
    Some(unsafe { ptr::read_unaligned(bytes.as_ptr().cast::<T>()) })
}

/// Marks structures for which any bytes are a value.
///
/// # Safety
/// The type has integers and arrays of integers only.
unsafe trait PlainIntegers {}

// SAFETY: the registers are integers.
unsafe impl PlainIntegers for user_fpregs_struct {}
// SAFETY: the registers are integers.
unsafe impl PlainIntegers for user_regs_struct {}
// SAFETY: the kernel's structure of integers; its pointers are addresses in
// another process, and are never followed.
unsafe impl PlainIntegers for siginfo_t {}

pub(super) fn float_registers(bytes: &[u8]) -> Option<user_fpregs_struct> {
    of_bytes(bytes)
}

pub(super) fn signal_information(bytes: &[u8]) -> Option<siginfo_t> {
    of_bytes(bytes)
}

pub(super) fn registers(words: &[u64; REGISTER_COUNT]) -> Option<user_regs_struct> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    of_bytes(&bytes)
}

/// Returns the general registers as the words of a core file.
pub(super) fn words(registers: &user_regs_struct) -> [u64; REGISTER_COUNT] {
    let start = ptr::from_ref(registers).cast::<[u64; REGISTER_COUNT]>();
    const { assert!(size_of::<user_regs_struct>() == 8 * REGISTER_COUNT) };
    // SAFETY: the structure is that many 64-bit integers, without padding.
    unsafe { *start }
}

/// Returns the bytes of vector registers that the kernel has filled in.
pub(super) fn bytes_of_float(registers: &user_fpregs_struct) -> Vec<u8> {
    let start = ptr::from_ref(registers).cast::<u8>();
    // SAFETY: a structure of integers without padding, every byte of which the
    // kernel has set.
    unsafe { std::slice::from_raw_parts(start, size_of::<user_fpregs_struct>()) }.to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::registers::Registers;

    #[test]
    fn registers_are_the_same_as_words() {
        let words_given: [u64; REGISTER_COUNT] = std::array::from_fn(|number| number as u64 + 1);
        let raw = registers(&words_given).unwrap();
        assert_eq!((raw.r15, raw.rip, raw.rsp, raw.gs), (1, 17, 20, 27));
        assert_eq!(words(&raw), words_given);
        let shown = Registers::from_kernel(&raw);
        assert_eq!(words(&shown.to_kernel()), words_given);
    }

    #[test]
    fn other_lengths_are_refused() {
        assert!(float_registers(&[0; 511]).is_none());
        assert!(signal_information(&[0; 129]).is_none());
        let bytes: Vec<u8> = (0..512).map(|at| (at % 251) as u8).collect();
        let raw = float_registers(&bytes).unwrap();
        assert_eq!(bytes_of_float(&raw), bytes);
        let mut bytes = [0; 128];
        bytes[0] = 11;
        assert_eq!(signal_information(&bytes).unwrap().si_signo, 11);
    }
}
