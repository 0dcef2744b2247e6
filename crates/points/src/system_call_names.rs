//! Names and numbers of system calls.

use syscalls::x86_64::Sysno;

/// Returns the name of a system call, or its number.
pub fn system_call_name(number: u64) -> String {
    match usize::try_from(number).ok().and_then(Sysno::new) {
        Some(known) => known.name().to_owned(),
        None => number.to_string(),
    }
}

/// Parses a system call: its name or its number.
pub fn system_call_number(word: &str) -> Option<u64> {
    match word.parse::<Sysno>() {
        Ok(known) => u64::try_from(known.id()).ok(),
        Err(_) => word.parse().ok(),
    }
}

/// Returns the names of all system calls.
pub fn system_call_names() -> impl Iterator<Item = &'static str> {
    Sysno::iter().map(|known| known.name())
}
