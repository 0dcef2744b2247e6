//! The handling of signals, as the upper layers want it.

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
    /// Whether each signal but a fault is reported to the control of the threads.
    pub(crate) are_kept: bool,
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
