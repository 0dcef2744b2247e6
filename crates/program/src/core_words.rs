//! Rewords errors about memory that a core file does not contain.

use juror_debuggee::{Debuggee, DebuggeeError};

/// The text around the address in an error.
const BEFORE: &str = "memory at 0x";
const AFTER: &str = " cannot be read";

/// Replaces "cannot be read" by "is not in the core file" for memory that the core file leaves out.
pub(crate) fn worded(debuggee: &Debuggee, why: String) -> String {
    if !debuggee.is_core_file() {
        return why;
    }
    let is_left_out = |address: u64| {
        let read = debuggee.read(address, &mut [0]);
        matches!(read, Err(DebuggeeError::NotStored { .. }))
    };
    match left_out(&why, is_left_out) {
        Some(words) => words,
        None => why,
    }
}

fn left_out(why: &str, is_left_out: impl Fn(u64) -> bool) -> Option<String> {
    let (lead, rest) = why.split_once(BEFORE)?;
    let (digits, rest) = rest.split_once(AFTER)?;
    let address = u64::from_str_radix(digits, 16).ok()?;
    is_left_out(address).then(|| format!("{lead}{BEFORE}{digits} is not in the core file{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_left_out_is_named() {
        let is_left_out = |address| address == 0x1f;
        assert_eq!(
            left_out("`x`: memory at 0x1f cannot be read!", is_left_out).as_deref(),
            Some("`x`: memory at 0x1f is not in the core file!")
        );
        for other in [
            "memory at 0x20 cannot be read",
            "memory at 0xzz cannot be read",
            "x",
        ] {
            assert_eq!(left_out(other, is_left_out), None);
        }
    }
}
