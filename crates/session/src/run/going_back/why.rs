//! `why`: the origins of a value, from its last write back to constants, inputs and initial data.
//!
//! The last write of the bytes is found as by `last-write`. Its thread is led through the instructions
//! before it one by one, which are recorded; what the written bytes were computed from is their slice
//! (`juror_origin`). What the slice reads from memory that was not written meanwhile leads to the last
//! write of that. The present program is kept meanwhile, and stands where it stood.

mod calls;
mod entries;
mod initial;
mod naming;
mod recording;
mod search;
mod window_steps;

use crate::run::going_back::again::Kept;
use crate::run::going_back::here::Kind;
use crate::run::going_back::instructions::ended;
use crate::run::going_back::last_write::{Call, object};
use crate::run::going_back::{go_back, place_to_go_from, place_to_leave, walked};
use crate::session::Session;
use crate::state::values::convenience;
use juror_arch::Register;
use juror_fault::CommandError;
use juror_origin::Location;
use juror_points::watchpoints::views::value_text;
use juror_program::scope::FrameScope;
use juror_symbols::ValueLocation;
use juror_values::format::{Radix, format};
use juror_view::observer::Observer;
use juror_view::{OriginsView, Outcome};
use search::Search;

/// The largest object whose origins are looked for.
const SIZE_MAX: u64 = 64;

/// The DWARF numbers of the first vector registers.
const VECTORS: std::ops::Range<u16> = 17..33;

/// The value that is asked for.
struct Asked {
    text: String,
    value: String,
    location: Location,
    /// The call that it belongs to.
    call: Option<Call>,
}

/// `why EXPRESSION`, `why NUMBER`
pub(crate) fn why(
    session: &mut Session,
    rest: &str,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    if let Ok(number) = rest.parse::<usize>() {
        return go_to_step(session, number, observer);
    }
    let mut here = place_to_leave(session)?;
    if matches!(here.kind, Kind::End) {
        return Err(ended());
    }
    if rest.is_empty() {
        return Err(CommandError::with_help(
            "`why` needs an expression",
            "for example: why balance, why *(long *)0x4050; then why 2 goes to the second step",
        ));
    }
    let asked = Asked::read(session, rest)?;
    here.is_included = true;
    let found = look_back(session, |session, kept| {
        let mut search = Search::new(kept, &here, observer);
        search.root(session, &asked)?;
        Ok(search.found)
    })?;
    session.user.origins = found.places;
    Ok(Outcome::Origins(Box::new(OriginsView {
        expression: asked.text,
        value: asked.value,
        steps: found.steps,
        is_cut: found.is_cut,
    })))
}

/// Goes to a step of the origins that were listed last.
fn go_to_step(
    session: &mut Session,
    number: usize,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let places = &session.user.origins;
    let place = number
        .checked_sub(1)
        .and_then(|index| places.get(index))
        .copied();
    let place = place.ok_or_else(|| {
        CommandError::with_help(
            format!("there is no step {number} of origins"),
            "why EXPRESSION lists the origins of a value, with their numbers",
        )
    })?;
    let here = place_to_go_from(session)?;
    go_back(session, |session, kept| {
        place.arrive(session, kept, &here, observer)
    })
}

/// Looks at earlier places, and comes back.
fn look_back<T>(
    session: &mut Session,
    mut look: impl FnMut(&mut Session, &Kept) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    session.control.permit_run()?;
    let kept = Kept::take(session);
    let seen = walked(session, &kept, &mut look);
    kept.come_back(session)?;
    seen
}

impl Asked {
    fn read(session: &mut Session, text: &str) -> Result<Asked, CommandError> {
        if let Some(asked) = in_register(session, text)? {
            return Ok(asked);
        }
        let (watchpoint, call) = object(session, text)?;
        let ranges = &watchpoint.seen.ranges;
        let range = ranges.first().cloned().unwrap_or_default();
        if ranges.len() > 1 || range.end - range.start > SIZE_MAX {
            return Err(CommandError::with_help(
                format!("`{text}` is too large: its parts have origins of their own"),
                "ask for a part of it: why array[2], why account.balance",
            ));
        }
        Ok(Asked {
            text: text.to_owned(),
            value: value_text(session.running()?, &watchpoint.seen),
            location: Location::memory(range),
            call,
        })
    }
}

/// Reads a variable or a register of the innermost frame that is in a register of the processor.
fn in_register(session: &mut Session, text: &str) -> Result<Option<Asked>, CommandError> {
    let frames = session.frames()?.to_vec();
    let level = session.processes.selection.level;
    let asked = |value: String, location| {
        Some(Asked {
            text: text.to_owned(),
            value,
            location,
            call: None,
        })
    };
    let program = session.running()?;
    if let Some(register) = text.strip_prefix('$').and_then(Register::named) {
        let value = program.registers(session.thread()?)?.get(register);
        let location = number_of(register).map(|number| Location::general(number, 8));
        let located = location.filter(|_| level == 0);
        return Ok(located.and_then(|location| asked(format!("{value:#x}"), location)));
    }
    let values = |name: &str| convenience(&session.user.values, name);
    let scope = FrameScope {
        program,
        frames: &frames,
        level,
        convenience: &values,
    };
    let Some((variable, value)) = scope.local_variable(text) else {
        return Ok(None);
    };
    let Some(frame) = frames
        .get(level)
        .filter(|frame| frame.inline_depth == 0 || level == 0)
    else {
        return Ok(None);
    };
    let pieces = program.pieces_of(frame, &variable);
    let [piece] = &*pieces else { return Ok(None) };
    let size = value.r#type.size().unwrap_or_default();
    let location = match piece.location {
        ValueLocation::Register(number) if VECTORS.contains(&number) => {
            Location::vector((number - VECTORS.start) as u8, size.min(16))
        }
        ValueLocation::Register(number) => {
            let register = Register::from_dwarf_number(number).and_then(number_of);
            let Some(number) = register else {
                return Ok(None);
            };
            Location::general(number, size.min(8))
        }
        _ => return Ok(None),
    };
    if level != 0 {
        return Err(CommandError::with_help(
            format!("`{text}` is in a register of a caller, which is not followed"),
            "go to a place in that function first",
        ));
    }
    let text = format(&value, program, program, Radix::Natural);
    Ok(asked(text, location).filter(|_| size > 0))
}

/// Returns the number of a register in instructions.
fn number_of(register: Register) -> Option<u8> {
    let number = Register::ENCODED.iter().position(|it| *it == register)?;
    u8::try_from(number).ok()
}
