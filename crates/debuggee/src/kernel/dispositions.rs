//! The meaning of a signal for the process that is about to receive it.

use std::fs;

use libc::siginfo_t;

/// The program's disposition of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Disposition {
    Default,
    Ignored,
    Caught,
}

/// Returns true if delivering the signal ends the process. The program's
/// handlers are read each time: it may change them at any moment.
pub(crate) fn is_fatal(process: u32, signal: i32) -> bool {
    kills_by_default(signal) && disposition(process, signal) == Disposition::Default
}

/// Returns true if the program has a handler for the signal.
pub(crate) fn is_caught(process: u32, signal: i32) -> bool {
    disposition(process, signal) == Disposition::Caught
}

fn kills_by_default(signal: i32) -> bool {
    !matches!(
        signal,
        libc::SIGCHLD | libc::SIGCONT | libc::SIGURG | libc::SIGWINCH
    ) && !stops_by_default(signal)
}

/// Returns true if the default of the signal is to stop the process (job
/// control).
pub(crate) fn stops_by_default(signal: i32) -> bool {
    matches!(
        signal,
        libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU
    )
}

/// Returns true if a signal is pending for the process or its first thread.
pub(crate) fn is_waiting(process: u32, signal: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    has_bit(&status, "ShdPnd:", signal) || has_bit(&status, "SigPnd:", signal)
}

fn disposition(process: u32, signal: i32) -> Disposition {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    parse_disposition(&status, signal)
}

/// Returns true if a set of signals of `/proc/PID/status` contains this one.
fn has_bit(status: &str, field: &str, signal: i32) -> bool {
    let bit = 1_u64
        .checked_shl(signal.wrapping_sub(1) as u32)
        .unwrap_or(0);
    status
        .lines()
        .find_map(|line| line.strip_prefix(field))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & bit != 0)
}

fn parse_disposition(status: &str, signal: i32) -> Disposition {
    let is_set = |field: &str| has_bit(status, field, signal);
    if is_set("SigCgt:") {
        Disposition::Caught
    } else if is_set("SigIgn:") {
        Disposition::Ignored
    } else {
        Disposition::Default
    }
}

/// Returns true if the kernel raised the signal because of the instruction at
/// the program counter, so that it comes again if the instruction is repeated.
pub(crate) fn is_fault(signal: i32, information: &siginfo_t) -> bool {
    information.si_code > 0
        && matches!(
            signal,
            libc::SIGSEGV | libc::SIGBUS | libc::SIGFPE | libc::SIGILL | libc::SIGTRAP
        )
}

/// Returns true if the information of this fault contains the address of the
/// instruction (and not of data).
pub(crate) fn names_instruction(signal: i32) -> bool {
    matches!(signal, libc::SIGFPE | libc::SIGILL | libc::SIGTRAP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dispositions_are_read_from_the_status_file() {
        let status = "Name:\tx\nSigIgn:\t0000000000001000\nSigCgt:\t8000000000000002\n";
        let cases = [
            (libc::SIGINT, Disposition::Caught),
            (64, Disposition::Caught),
            (libc::SIGPIPE, Disposition::Ignored),
            (libc::SIGSEGV, Disposition::Default),
            (0, Disposition::Default),
            (-5, Disposition::Default),
        ];
        for (signal, expected) in cases {
            assert_eq!(parse_disposition(status, signal), expected, "{signal}");
        }
        assert_eq!(parse_disposition("", 1), Disposition::Default);
    }

    #[test]
    fn only_some_signals_kill_by_default() {
        assert!(kills_by_default(libc::SIGTERM));
        assert!(kills_by_default(libc::SIGRTMIN()));
        assert!(!kills_by_default(libc::SIGCHLD));
        assert!(!kills_by_default(libc::SIGTSTP));
    }
}
