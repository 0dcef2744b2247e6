//! `break` and `tbreak`.

use crate::commands::condition;
use crate::commands::condition::in_condition;
use crate::inspect::locations::{check_address, place_words};
use crate::inspect::{location_messages, locations};
use crate::session::Session;
use juror_fault::CommandError;
use juror_instrument::condition::Condition;
use juror_points::breakpoints::{Resolvable, Resolved, Wanted, check};
use juror_points::location_spec;
use juror_points::location_spec::{LocationSpec, Placed};
use juror_points::point::Fate;
use juror_view::{Outcome, SetPointView};

/// `break`, `tbreak`: at a location, for a thread, with a condition.
pub(crate) fn set_breakpoint(
    session: &mut Session,
    rest: &str,
    fate: Fate,
) -> Result<Outcome, CommandError> {
    let placed = locations::parsed(rest)?;
    set_breakpoint_at(session, rest, placed, fate).map(Outcome::from)
}

/// `rbreak REGEX`, `rbreak FILE:REGEX`: at all functions whose names match.
pub(crate) fn break_at_matching(
    session: &mut Session,
    rest: &str,
) -> Result<Outcome, CommandError> {
    let placed = location_spec::matching(rest);
    let text = placed.text.clone();
    set_breakpoint_at(session, &text, placed, Fate::Keep).map(Outcome::from)
}

/// Sets a breakpoint at a location spec, which was written as `written`.
pub(crate) fn set_breakpoint_at(
    session: &mut Session,
    written: &str,
    placed: Placed,
    fate: Fate,
) -> Result<SetPointView, CommandError> {
    let condition = placed.condition.as_deref();
    let condition = condition
        .map(|it| condition::condition(session, it))
        .transpose()?;
    if let Some(thread) = placed.thread {
        check_thread(session, thread)?;
    }
    let place = locations::resolvable(session, &placed.place)?;
    let resolved = place.resolve(session.modules());
    if resolved.addresses.is_empty() {
        location_messages::check_names(session, &place)?;
    }
    if resolved.addresses.is_empty()
        && let Resolvable::Line(file, line, _) = &place
        && is_source_file(session, file)
    {
        return Err(CommandError::new(format!(
            "there is no code at line {line} of {}, nor after it",
            file.rsplit('/').next().unwrap_or(file)
        )));
    }
    if let (LocationSpec::Address(_), [address]) = (&placed.place, &resolved.addresses[..]) {
        check_address(session, *address)?;
    }
    let (functions, functions_left_out) =
        location_messages::several_functions(session, &place, &resolved.addresses);
    let mut remarks: Vec<String> = place
        .function()
        .and_then(|name| remark_on_choice(session, name))
        .into_iter()
        .collect();
    if let Some(condition) = &condition {
        remarks.extend(check_locations(session, &place, &resolved, condition)?);
    }
    let only_place = match resolved.addresses.as_slice() {
        [address] => Some(location_messages::place_of_one(session, &place, *address)),
        _ => None,
    };
    let text = match placed.text.as_str() {
        "" => "here",
        text => text,
    };
    let wanted = Wanted {
        text: text.to_owned(),
        place,
        condition,
        thread: placed.thread,
        fate,
        owner: session.points.owner,
    };
    let program = session.processes.program.as_mut();
    let number = session.points.breakpoints.add(program, wanted)?;
    let program = session.processes.program.as_ref();
    let point = session.points.breakpoints.view_of(number, program);
    let written = if written.is_empty() { "here" } else { written };
    Ok(SetPointView {
        point: point.unwrap_or_default(),
        written: written.to_owned(),
        prints: false,
        address_count: resolved.addresses.len(),
        place: only_place,
        moved_to_line: resolved.moved_to_line,
        functions,
        functions_left_out,
        value_error: None,
        remarks,
    })
}

/// Checks that a condition can be evaluated at one of the locations. Returns a remark if it
/// cannot be at others.
fn check_locations(
    session: &Session,
    place: &Resolvable,
    resolved: &Resolved,
    condition: &Condition,
) -> Result<Option<String>, CommandError> {
    let Some(program) = &session.processes.program else {
        return Ok(None);
    };
    let addresses = resolved.addresses.iter().copied();
    check(condition, program, place, addresses).map_err(in_condition)?;
    let wrong = |&&at: &&u64| {
        let level = place.level_at(&program.modules, at, resolved.moved_to_line);
        condition.at(program, at, level).is_err()
    };
    let lacking: Vec<String> = resolved
        .addresses
        .iter()
        .filter(wrong)
        .map(|&at| place_words(session, at))
        .collect();
    Ok((!lacking.is_empty()).then(|| {
        format!(
            "the condition cannot be evaluated at {}: disabled there",
            lacking.join(", ")
        )
    }))
}

/// Returns the remark on an indirect function whose implementation is not selected yet.
fn remark_on_choice(session: &Session, name: &str) -> Option<String> {
    let modules = &session.processes.program.as_ref()?.modules;
    let definitions = modules.definitions(name, |_| true);
    let mut indirect = definitions.iter().filter(|it| it.function.indirect);
    let is_open = indirect.any(|bound| modules.chosen(bound).is_none());
    is_open.then(|| {
        format!(
            "`{name}` is selected for the processor at run time (an ifunc), which has not happened \
             yet: this is its resolver; set the breakpoint again after the program has started"
        )
    })
}

fn is_source_file(session: &Session, file: &str) -> bool {
    let mut modules = session.modules().iter();
    modules.any(|module| module.symbols.source_file(file).is_some())
}

pub(crate) fn check_thread(session: &Session, thread: u32) -> Result<(), CommandError> {
    let program = session.running()?;
    match program.thread_of_number(thread) {
        Some(_) => Ok(()),
        None => Err(CommandError::with_help(
            format!("there is no thread {thread}"),
            "see: info threads",
        )),
    }
}
