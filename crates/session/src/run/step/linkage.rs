//! The way of a call to another module: through a stub of the linkage table and, at the
//! first call, through the dynamic linker, which binds the function; and that of a virtual
//! or indirect call through a thunk of the compiler.
//!
//! The way is stepped instead of being guessed from the name of the function, since the
//! linker alone knows which of several definitions it binds (interposed ones, versions,
//! indirect functions, namespaces of `dlmopen`).

use crate::run::pause::Pause;
use crate::session::Session;
use juror_debuggee::ThreadId;
use juror_fault::CommandError;
use juror_view::observer::Observer;

/// The number of instructions on the way, with the calls of the linker counted as one each:
/// `_dl_runtime_resolve` has fewer than a hundred.
const INSTRUCTIONS_MAX: usize = 400;

/// Runs a thread that is at a stub of the linkage table or at a thunk up to the first
/// instruction of the function that it leads to, or to `back`, where its call returns. Does
/// nothing elsewhere. Returns a pause if something else ended the run.
pub(super) fn pass_linkage(
    session: &mut Session,
    thread: ThreadId,
    back: u64,
    observer: &mut dyn Observer,
) -> Result<Option<Pause>, CommandError> {
    let start = session.running()?.registers(thread)?.instruction_pointer();
    let modules = session.modules();
    if !modules.is_linkage_stub(start) && !modules.is_in_thunk(start) {
        return Ok(None);
    }
    for _ in 0..INSTRUCTIONS_MAX {
        let registers = *session.running()?.registers(thread)?;
        let now = registers.instruction_pointer();
        let modules = session.modules();
        let is_thunk = modules.is_in_thunk(now);
        if now == back || !is_thunk && !modules.is_linkage(now) {
            break;
        }
        // A thunk may lead on by a call, the linker calls functions of its own.
        let mut pause = if is_thunk {
            session.step_instruction(thread, observer)?
        } else {
            session.next_instruction(thread, observer)?
        };
        if matches!(pause, Pause::Stepped(_))
            && session.has_entered_handler(thread, registers.instruction_pointer())?
        {
            pause = session.run_over_call(
                registers.instruction_pointer(),
                thread,
                registers.stack_pointer(),
                observer,
            )?;
        }
        if !matches!(pause, Pause::Stepped(_) | Pause::Temporary(_)) {
            return Ok(Some(pause));
        }
    }
    Ok(None)
}
