//! The meaning of a signal for the process that is about to receive it.

mod delivery;
mod fault_address;
mod injected;

use std::fs;

use juror_stepping::ThreadId;
use libc::siginfo_t;

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;

/// The program's disposition of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Disposition {
    Default,
    Ignored,
    Caught,
}

/// When a signal is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SignalReport {
    /// Never: it is delivered at once, also a Ctrl-C.
    Never,
    /// If it will end the process.
    #[default]
    WhenFatal,
    /// Always.
    Always,
}

/// The handling of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignalPolicy {
    /// When it is reported.
    pub report: SignalReport,
    /// Whether the program gets it. A reported key of the terminal is never
    /// delivered.
    pub deliver: bool,
}

impl Default for SignalPolicy {
    fn default() -> SignalPolicy {
        SignalPolicy {
            report: SignalReport::default(),
            deliver: true,
        }
    }
}

/// The policies of all signals, by number less one.
#[derive(Debug, Clone, Default)]
pub(crate) struct SignalPolicies(Vec<SignalPolicy>);

impl SignalPolicies {
    pub(crate) fn of(&self, signal: i32) -> SignalPolicy {
        let index = usize::try_from(signal.wrapping_sub(1)).ok();
        index
            .and_then(|index| self.0.get(index).copied())
            .unwrap_or_default()
    }

    pub(crate) fn set(&mut self, signal: i32, policy: SignalPolicy) {
        /// The number of signals of this system.
        const COUNT: usize = 64;
        self.0.resize(COUNT, SignalPolicy::default());
        let index = usize::try_from(signal.wrapping_sub(1)).ok();
        if let Some(slot) = index.and_then(|index| self.0.get_mut(index)) {
            *slot = policy;
        }
    }
}

/// The handling of the signals of a debuggee.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    pub(crate) policies: SignalPolicies,
    /// The signals that monitors need: bit n is signal n + 1.
    pub(crate) monitored: u64,
    pub(crate) interrupt_key: InterruptKey,
}

/// The effect of the next Ctrl-C of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum InterruptKey {
    /// It stops the program and is reported.
    #[default]
    Reported,
    /// It has been reported by another debuggee, which received it, too.
    Ignored,
}

impl Signals {
    /// Returns true if monitors need a signal.
    pub(crate) fn is_monitored(&self, number: i32) -> bool {
        let bit = u32::try_from(number).ok().and_then(|it| it.checked_sub(1));
        bit.is_some_and(|bit| self.monitored.checked_shr(bit).unwrap_or(0) & 1 == 1)
    }

    /// Returns true if the interrupt key that has just come is to be ignored;
    /// the next one is not.
    pub(crate) fn take_ignored_key(&mut self) -> bool {
        std::mem::take(&mut self.interrupt_key) == InterruptKey::Ignored
    }
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

impl Debuggee {
    /// Returns the handling of a signal.
    pub fn signal_policy(&self, signal: i32) -> SignalPolicy {
        self.signals.policies.of(signal)
    }

    /// Sets the handling of a signal.
    pub fn set_signal_policy(&mut self, signal: i32, policy: SignalPolicy) {
        self.signals.policies.set(signal, policy);
    }

    /// Sets the signals for which [`crate::StopEvent::Signal`] is reported
    /// whatever their policies say, since monitors need them: bit n is signal n
    /// + 1.
    pub fn monitor_signals(&mut self, signals: u64) {
        self.signals.monitored = signals;
    }

    /// Sets whether a thread that was stopped by a [`crate::StopEvent::Signal`]
    /// or a Ctrl-C receives the signal when it runs.
    pub fn set_delivery(&mut self, thread: ThreadId, deliver: bool) -> Result<(), DebuggeeError> {
        if let Some(pending) = &mut self.stopped_mut(thread)?.pending {
            pending.deliver = deliver;
        }
        Ok(())
    }
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
