//! Steps into one of the calls of a line.
//!
//! A call is named by the address of its instruction: it is that call which is entered, wherever it
//! leads by then.

use crate::inspect::queries::at_innermost;
use crate::inspect::statements::column_of;
use crate::run::pause::Pause;
use crate::run::step::{Leaving, Lines, shown_ranges};
use crate::session::Session;
use juror_fault::CommandError;
use juror_program::modules::Bound;
use juror_symbols::{CallInstruction, CallTarget, calls_ahead, is_name_of};
use juror_view::observer::Observer;
use juror_view::queries::{LineCallView, SelectionView};

/// The limit of bytes of a line's code that are searched.
const CODE_MAX: usize = 1 << 16;

/// Returns the calls of the line that a frame is in that can be stepped into. Only the innermost
/// frame makes calls.
pub(crate) fn calls_of_line(
    session: &mut Session,
    frame: SelectionView,
) -> Result<Vec<LineCallView>, CommandError> {
    match frame.level {
        0 => at_innermost(session, frame.thread, calls_of_selected),
        _ => Ok(Vec::new()),
    }
}

/// Returns the calls of the line of the selected thread that can be stepped into.
pub(crate) fn calls_of_selected(session: &mut Session) -> Result<Vec<LineCallView>, CommandError> {
    session.begun()?;
    let frame = session.innermost()?;
    let foreign = !session.is_users(&frame);
    let debuggee = &session.running()?.debuggee;
    let mut code = Vec::new();
    for range in shown_ranges(&frame) {
        let size = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(CODE_MAX);
        let mut bytes = vec![0; size.min(CODE_MAX)];
        let read = debuggee.read_up_to(range.start, &mut bytes);
        bytes.truncate(read);
        code.push((range.start, bytes));
    }
    let mut views = Vec::new();
    for call in calls_ahead(&code, frame.pc) {
        let Some(bound) = function_called(session, call) else {
            continue;
        };
        if session.body_of(&bound, foreign)?.is_none() {
            continue;
        }
        let module = session.modules().find(call.address);
        let line = module.and_then(|it| it.symbols.line_at(it.to_file(call.address)));
        let byte = line.as_ref().and_then(|line| line.column);
        views.push(LineCallView {
            address: call.address,
            function: bound.function.name.to_string(),
            line: line.as_ref().map(|line| line.line),
            column: line
                .zip(byte)
                .map(|(line, byte)| column_of(session, &line.file, line.line, byte)),
        });
    }
    Ok(views)
}

/// Returns the function that a call leads to, as far as that is known before it is made.
fn function_called(session: &Session, call: CallInstruction) -> Option<Bound> {
    let program = session.running().ok()?;
    let address = match call.target {
        CallTarget::Address(address) => address,
        CallTarget::Word(word) => program.debuggee.read_u64(word).ok()?,
        CallTarget::Computed => return None,
    };
    let bound = program.modules.function_at(address)?;
    if bound.function.plt {
        let name = &bound.function.name;
        let name = name.strip_suffix("@plt").unwrap_or(name);
        let reached = program.modules.reached_definitions(name, |_| true);
        return reached.into_iter().next();
    }
    (bound.address() == address).then_some(bound)
}

/// Returns the address of the call that `step CALL` is about: `*ADDRESS`, or the name of a
/// function, of which the first call counts.
pub(crate) fn chosen_call(
    calls: &[LineCallView],
    text: &str,
    address: Option<u64>,
) -> Result<u64, CommandError> {
    let is_meant = |call: &&LineCallView| match address {
        Some(address) => call.address == address,
        None => is_name_of(text, &call.function),
    };
    if let Some(call) = calls.iter().find(is_meant) {
        return Ok(call.address);
    }
    let names: Vec<&str> = calls.iter().map(|call| call.function.as_str()).collect();
    Err(CommandError::with_help(
        format!("the line makes no call of `{text}` that can be stepped into"),
        if names.is_empty() {
            "it makes no such call at all".to_owned()
        } else {
            format!("its calls: {}", names.join(", "))
        },
    ))
}

/// Steps into the call at an address, over the other calls of the line. Ends at the next line if
/// the call is not made, and says so.
pub(crate) fn step_into_call(
    session: &mut Session,
    call: u64,
    observer: &mut dyn Observer,
) -> Result<Pause, CommandError> {
    if let Some(pause) = session.begin(observer)? {
        return Ok(pause);
    }
    let thread = session.thread()?;
    let frame = session.innermost()?;
    let foreign = !session.is_users(&frame);
    let mut leaving = Leaving {
        call: Some(call),
        ..Leaving::from(&frame, thread, foreign)
    };
    loop {
        let moved = session.advance_within_line(&mut leaving, Lines::Over, observer)?;
        let Some(pause) = moved else { continue };
        let is_step = matches!(pause, Pause::Stepped(_) | Pause::Temporary(_));
        if is_step && !leaving.has_entered {
            observer.notice("the chosen call was not made, or has no lines to step into");
        }
        return Ok(pause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_chosen_by_its_name_or_its_address() {
        let call = |address, function: &str| LineCallView {
            address,
            function: function.to_owned(),
            line: None,
            column: None,
        };
        let calls = [call(1, "ns::f"), call(2, "g"), call(3, "ns::f")];
        for (text, address, expected) in [
            ("f", None, Ok(1)),
            ("ns::f", None, Ok(1)),
            ("g", None, Ok(2)),
            ("*3", Some(3), Ok(3)),
            ("h", None, Err("its calls: ns::f, g, ns::f")),
            ("*4", Some(4), Err("its calls: ns::f, g, ns::f")),
        ] {
            let chosen = chosen_call(&calls, text, address);
            let chosen = chosen.map_err(|error| error.help.unwrap_or_default());
            assert_eq!(chosen, expected.map_err(str::to_owned), "{text}");
        }
        let none = chosen_call(&[], "f", None).map_err(|error| error.help);
        assert_eq!(none, Err(Some("it makes no such call at all".to_owned())));
    }
}
