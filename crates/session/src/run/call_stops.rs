//! Decides whether a program is launched with a filter by which only the needed system calls stop.
//!
//! The filter names the calls of all events of the properties, in any state, and those of the
//! catchpoints at the time of the launch. What is needed beyond these later makes every call stop.

use crate::options::SystemCallStops;
use crate::session::Session;
use juror_debuggee::{CallStops, SystemCalls};
use juror_fault::SessionError;
use std::collections::BTreeSet;

/// Returns which calls of the next program stop.
///
/// # Errors
/// A filter is demanded, and cannot name the calls.
pub(crate) fn call_stops(session: &Session) -> Result<CallStops, SessionError> {
    let named = session.processes.monitors.named_system_calls();
    let caught = session.points.catchpoints.system_calls();
    if named == SystemCalls::None && caught == SystemCalls::None {
        return Ok(CallStops::Unfiltered);
    }
    let numbers = match session.options.system_calls {
        SystemCallStops::All => return Ok(CallStops::Every("--system-calls all".to_owned())),
        SystemCallStops::Auto | SystemCallStops::Filter => numbers(named, caught),
    };
    match (numbers, session.options.system_calls) {
        (Ok(numbers), SystemCallStops::Filter) => Ok(CallStops::FilterOnly(numbers)),
        (Ok(numbers), _) => Ok(CallStops::Filter(numbers)),
        (Err(reason), SystemCallStops::Filter) => Err(SessionError::Launch(format!(
            "the system calls cannot be filtered: {reason} (--system-calls auto does without a \
             filter)"
        ))),
        (Err(reason), _) => Ok(CallStops::Every(reason.to_owned())),
    }
}

/// Returns the numbers of the named and the caught calls.
fn numbers(named: SystemCalls, caught: SystemCalls) -> Result<BTreeSet<u64>, &'static str> {
    let of = |calls| match calls {
        SystemCalls::None => Some(BTreeSet::new()),
        SystemCalls::Only(numbers) => Some(numbers),
        SystemCalls::All => None,
    };
    let named = of(named).ok_or("an event is of every call")?;
    let caught = of(caught).ok_or("a catchpoint is at every call")?;
    Ok(named.union(&caught).copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_properties_and_catchpoints_are_named() {
        let only = |numbers: &[u64]| SystemCalls::Only(numbers.iter().copied().collect());
        let both = numbers(only(&[0, 1]), only(&[1, 39]));
        assert_eq!(both, Ok([0, 1, 39].into()));
        assert_eq!(numbers(SystemCalls::None, only(&[1])), Ok([1].into()));
        assert!(numbers(SystemCalls::All, only(&[1])).is_err());
        assert!(numbers(only(&[1]), SystemCalls::All).is_err());
    }
}
