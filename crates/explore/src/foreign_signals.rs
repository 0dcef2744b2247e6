//! Signals of other programs, which have nothing to do with the program.

use crate::error::ExploreError;
use juror_debuggee::{Debuggee, SignalPolicy, SignalReport, ThreadId};

/// `SIGSTOP`, `SIGTSTP`, `SIGTTIN`, `SIGTTOU`.
const STOPPING: std::ops::RangeInclusive<i32> = 19..=22;

/// Has the signals reported by which other programs stop this one.
pub(crate) fn report_stops(debuggee: &mut Debuggee) {
    for signal in STOPPING {
        let policy = SignalPolicy {
            report: SignalReport::Always,
            deliver: true,
        };
        debuggee.set_signal_policy(signal, policy);
    }
}

/// Returns whether a signal that ends or stops the program comes from another one, which it has not
/// made.
pub(crate) fn is_from_outside(
    debuggee: &Debuggee,
    (signal, is_fatal): (i32, bool),
    sender: u32,
) -> bool {
    let is_own = sender == debuggee.pid() || debuggee.has_made_processes();
    !is_own && (is_fatal || STOPPING.contains(&signal))
}

/// Lets a thread go on without such a signal; one that would end the program ends the search.
pub(crate) fn leave_out(
    debuggee: &mut Debuggee,
    thread: ThreadId,
    (signal, is_fatal): (i32, bool),
    sender: u32,
) -> Result<(), ExploreError> {
    if is_fatal {
        return Err(ExploreError::Outside { signal, sender });
    }
    debuggee.set_delivery(thread, false)?;
    Ok(debuggee.resume(thread)?)
}
