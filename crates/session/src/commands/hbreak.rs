//! `hbreak` and `thbreak`.

use crate::commands::condition::in_condition;
use crate::commands::{breakpoint, condition};
use crate::inspect::locations;
use crate::session::Session;
use juror_debuggee::DebuggeeError;
use juror_fault::CommandError;
use juror_instrument::condition::Condition;
use juror_points::breakpoints::check;
use juror_points::hardware_breakpoints::{HardwareBreakpoint, sites_of};
use juror_points::location_spec::LocationSpec;
use juror_points::point::{Ability, Fate, Point, PointKind};
use juror_view::{CodePlaceView, Outcome, SetPointView};

fn too_many(place: &str, wanted: usize) -> CommandError {
    CommandError::with_help(
        format!(
            "`{place}` needs {wanted} debug registers, one for each address of its events, and too \
             few are free"
        ),
        "a software breakpoint (break) needs none; *ADDRESS needs one",
    )
}

/// `hbreak`, `thbreak`.
pub(crate) fn set_hardware_breakpoint(
    session: &mut Session,
    rest: &str,
    temporary: bool,
) -> Result<Outcome, CommandError> {
    let placed = locations::parsed(rest)?;
    let condition = placed.condition.as_deref();
    let condition = condition
        .map(|it| condition::condition(session, it))
        .transpose()?;
    if condition.as_ref().is_some_and(Condition::has_effects) {
        PointKind::HardwareBreakpoint.must_have(Ability::CallingConditions)?;
    }
    if let Some(thread) = placed.thread {
        breakpoint::check_thread(session, thread)?;
    }
    let place = locations::resolvable(session, &placed.place)?;
    let resolved = place.resolve(session.modules());
    let Some(&first) = resolved.addresses.first() else {
        return Err(CommandError::with_help(
            format!("no loaded module has code at `{rest}`"),
            "use break: it stays pending until a library with this location is loaded",
        ));
    };
    if let (LocationSpec::Address(_), [address]) = (&placed.place, &resolved.addresses[..]) {
        locations::check_address(session, *address)?;
    }
    if let (Some(condition), Some(program)) = (&condition, &session.processes.program) {
        let addresses = resolved.addresses.iter().copied();
        check(condition, program, &place, addresses).map_err(in_condition)?;
    }
    let fate = if temporary { Fate::Delete } else { Fate::Keep };
    let mut breakpoint = HardwareBreakpoint {
        point: Point {
            thread: placed.thread,
            ..Point::new(0, condition, fate)
        },
        text: match placed.text.as_str() {
            "" => "here".to_owned(),
            text => text.to_owned(),
        },
        place,
        sites: Vec::new(),
    };
    if let Some(program) = &mut session.processes.program
        && let Err(error) = breakpoint.settle(program)
    {
        breakpoint.lift(program)?;
        let wanted = sites_of(&breakpoint.place, &program.modules).len();
        return Err(match error {
            DebuggeeError::NoDebugRegister if wanted > 1 => too_many(rest, wanted),
            error => error.into(),
        });
    }
    let number = session.points.breakpoints.take_number();
    breakpoint.point.number = number;
    session.points.hardware.list.push(breakpoint);
    let function = session.modules().describe(first).function;
    let program = session.processes.program.as_ref();
    let views = session.points.hardware.views(program);
    let point = views.into_iter().find(|view| view.number == Some(number));
    Ok(Outcome::from(SetPointView {
        point: point.unwrap_or_default(),
        written: rest.to_owned(),
        place: Some(CodePlaceView {
            address: first,
            function,
            ..CodePlaceView::default()
        }),
        ..SetPointView::default()
    }))
}
