//! Properties whose events are taken in the program.

use crate::options::AutomaticCheckpoints;
use crate::session::Session;
use juror_fault::{CommandError, SessionError};
use juror_monitoring::in_process::{Circumstances, Tier};
use juror_view::observer::Observer;

/// Checkpoints after fewer events than this are made exactly there, unless the native tier is asked for.
const EXACT_EVENTS_MAX: u32 = 10_000;

fn has_exact_checkpoints(session: &Session) -> bool {
    let when = session.options.checkpoints;
    matches!(when, Some(AutomaticCheckpoints::Every(count)) if count < EXACT_EVENTS_MAX)
}

/// Makes properties native, or returns them to traps, before the program continues. Returns
/// the error of a property that must be native and cannot be.
pub(crate) fn arrange(
    session: &mut Session,
    observer: &dyn Observer,
) -> Result<Option<SessionError>, CommandError> {
    // A check of the engine has more to check by traps, unless the other is asked for.
    let is_checked = session.options.self_check.is_some() && session.options.tier != Tier::Native;
    let circumstances = Circumstances {
        tier: session.options.tier,
        watched: if is_checked {
            Some("is taken by traps, which --self-check checks")
        } else if session.options.tier != Tier::Native && has_exact_checkpoints(session) {
            Some("has checkpoints made at its events")
        } else if session.options.tier != Tier::Trap && observer.wants_state_changes() {
            Some("has each change of its state reported")
        } else {
            None
        },
    };
    let process = &mut *session.processes;
    let Some(program) = &mut process.program else {
        return Ok(None);
    };
    if !program.modules.have_started() {
        return Ok(None);
    }
    process.monitors.arrange_native(program, circumstances)?;
    Ok(match session.options.tier {
        Tier::Native => process.monitors.native_error(),
        Tier::Auto | Tier::Trap => None,
    })
}
