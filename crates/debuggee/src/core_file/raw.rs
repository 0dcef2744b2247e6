//! The kernel's structures as bytes, as core files have them.

use std::ptr;

use libc::siginfo_t;

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

// SAFETY: the kernel's structure of integers; its pointers are addresses in
// another process, and are never followed.
unsafe impl PlainIntegers for siginfo_t {}

pub(super) fn signal_information(bytes: &[u8]) -> Option<siginfo_t> {
    of_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_lengths_are_refused() {
        assert!(signal_information(&[0; 129]).is_none());
        let mut bytes = [0; 128];
        bytes[0] = 11;
        assert_eq!(signal_information(&bytes).unwrap().si_signo, 11);
    }
}
