//! The values of displayed expressions at a stop.

use crate::inspect::assembly;
use crate::session::Session;
use crate::state::displays::Display;
use crate::state::values::convenience;
use juror_arch::INSTRUCTION_LENGTH_MAX;
use juror_program::scope::FrameScope;
use juror_program::stack::frames::Frame;
use juror_values::expression::evaluate;
use juror_values::format::{format, pretty};
use juror_values::typed::{Number, Typed};
use juror_view::DisplayView;

/// Returns the displays in a frame.
pub(crate) fn displayed(session: &Session, frames: &[Frame], level: usize) -> Vec<DisplayView> {
    let shown = |display: &Display| -> Result<String, String> {
        let program = session
            .processes
            .program
            .as_ref()
            .ok_or("the program is not running")?;
        let values = |name: &str| convenience(&session.user.values, name);
        let scope = FrameScope {
            program,
            frames,
            level,
            convenience: &values,
        };
        let value = evaluate(&display.expression, &scope).map_err(|error| error.message)?;
        if let Some(count) = display.instructions {
            return instructions_at(session, &value, count, frames.get(level));
        }
        let shown = format(&value, program, program, display.radix);
        Ok(if session.user.settings.is_pretty {
            pretty(&shown)
        } else {
            shown
        })
    };
    let views = session.user.displays.displays.iter().map(|display| {
        let (value, error) = match shown(display) {
            Ok(value) => (Some(value), None),
            Err(error) => (None, Some(error)),
        };
        DisplayView {
            number: display.number,
            expression: display.text.clone(),
            value,
            error,
        }
    });
    views.collect()
}

/// Formats instructions as lines; the frame's present one is marked.
pub(crate) fn instructions_at(
    session: &Session,
    value: &Typed,
    count: u64,
    frame: Option<&Frame>,
) -> Result<String, String> {
    let program = session
        .processes
        .program
        .as_ref()
        .ok_or("the program is not running")?;
    let address = match value.number(program)? {
        Number::Pointer(address, _) => address,
        Number::Int(number) => u64::try_from(number).map_err(|_| "this is not an address")?,
        _ => return Err("this is not an address".to_owned()),
    };
    let end = address.saturating_add(count * INSTRUCTION_LENGTH_MAX as u64);
    let view = assembly::assembly(session, address..end).map_err(|error| error.message)?;
    let lines = view.lines.iter().take(count as usize).map(|line| {
        let is_here = frame.is_some_and(|frame| frame.pc == line.address);
        let mark = if is_here { "→" } else { " " };
        let name = line.name.as_deref().map(|name| format!("  <{name}>"));
        let name = name.unwrap_or_default();
        format!("{mark} {:#x}{name}  {}", line.address, line.text)
    });
    let lines: Vec<String> = lines.collect();
    match lines.as_slice() {
        [] => Err(format!("the memory at {address:#x} cannot be read")),
        [only] => Ok(only.trim_start().to_owned()),
        several => Ok(format!("\n{}", several.join("\n"))),
    }
}
