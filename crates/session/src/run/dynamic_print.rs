//! Prints the output of `dprintf` points when they are hit.

use crate::inspect::escapes::expanded;
use crate::run::points;
use crate::session::Session;
use crate::state::values::of_thread;
use juror_debuggee::ThreadId;
use juror_fault::CommandError;
use juror_points::dynamic_print::DynamicPrint;
use juror_points::point::Stopping;
use juror_program::scope::FrameScope;
use juror_program::stack::frames::usual_level;
use juror_values::expression::evaluate;
use juror_view::observer::Observer;

/// Prints for those of the points that do. Points that fail to print stop the program.
pub(crate) fn print_at_hit(
    session: &mut Session,
    thread: ThreadId,
    address: u64,
    hit: &mut Stopping,
) {
    for number in std::mem::take(&mut hit.printing) {
        let prints = points::point(session, number)
            .ok()
            .and_then(|it| it.prints.clone());
        let Some(prints) = prints else {
            continue;
        };
        match text_at(session, &prints, number, thread, address) {
            Ok(text) => session.points.printed.push((number, text)),
            Err(error) => {
                hit.numbers.push(number);
                hit.unprinted.push((number, error.message));
            }
        }
    }
}

pub(crate) fn text_at(
    session: &Session,
    prints: &DynamicPrint,
    number: u32,
    thread: ThreadId,
    address: u64,
) -> Result<String, CommandError> {
    let program = session.running()?;
    let chain = program.inlined_chain(thread);
    let level = session
        .points
        .breakpoints
        .level_of(address, &[number], &chain);
    let level = level.unwrap_or_else(|| usual_level(&chain));
    let (frames, _) = program.backtrace(thread, level + 1 + prints.caller_count);
    let values = |name: &str| of_thread(&session.user.values, program, thread, name);
    let scope = FrameScope {
        program,
        frames: &frames,
        level,
        convenience: &values,
    };
    let mut shown = Vec::new();
    for value in prints.format.values() {
        let value = evaluate(value, &scope);
        shown.push(value.map_err(|error| CommandError::new(error.message))?);
    }
    Ok(expanded(&prints.format.write(&shown, program, program)?))
}

/// Reports the output so far.
#[inline]
pub(crate) fn report_printed(session: &mut Session, observer: &mut dyn Observer) {
    if session.points.printed.is_empty() {
        return;
    }
    for (number, text) in session.points.printed.drain(..) {
        observer.printed(number, &text);
    }
}
