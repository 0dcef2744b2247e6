//! Hits of hardware breakpoints.

use crate::run::pause::Pause;
use crate::session::Session;
use crate::state::values::of_thread;
use juror_debuggee::ThreadId;
use juror_fault::CommandError;

/// Handles a thread that is about to execute an instruction at a debug register's address.
pub(crate) fn on_hardware_hit(
    session: &mut Session,
    thread: ThreadId,
    address: u64,
) -> Result<Option<Pause>, CommandError> {
    let Some(program) = &session.processes.program else {
        return Ok(None);
    };
    let values = |name: &str| of_thread(&session.user.values, program, thread, name);
    let points = &mut session.points.hardware;
    match points.hit(program, thread, address, &values) {
        Some(stopping) => {
            let chain = program.inlined_chain(thread);
            let level = points.level_of(program, &stopping.numbers, &chain);
            session.stand_at_level(thread, level, &chain);
            let reason = session.breakpoint_reason(stopping)?;
            Ok(Some(Pause::Reason(reason, thread)))
        }
        None => Ok(None),
    }
}
