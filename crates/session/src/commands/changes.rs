//! The calls by which front ends change a session.
//!
//! **Invariant**: a call is carried out under the row of the command that does the same
//! ([`Session::call`]), so that it is possible when the command is, and at no other time.

use crate::command_table::words::find;
use crate::commands::{
    breakpoint, catch, condition, dprintf, monitor, points_edit, restart_frame, set_variable, watch,
};
use crate::inspect::{locations, queries};
use crate::run::points::{delete_points, point};
use crate::run::step::calls;
use crate::session::Session;
use juror_fault::CommandError;
use juror_points::catchpoints::{Catch, Exception};
use juror_points::location_spec::{self, LocationSpec, Placed};
use juror_points::point::{Fate, PointKind};
use juror_points::watchpoints::WatchKind;
use juror_view::changes::{
    Access, ExceptionEvent, MonitorPlace, PointChange, PointPlace, PointRequest, Resume,
};
use juror_view::observer::{Observer, SilentObserver};
use juror_view::queries::SelectionView;
use juror_view::{Outcome, SetPointView};

/// Sets points. Returns the result of each.
pub(crate) fn set_points(
    session: &mut Session,
    wanted: &[PointRequest],
    observer: &mut dyn Observer,
) -> Vec<Result<SetPointView, CommandError>> {
    let mut set = Vec::with_capacity(wanted.len());
    for request in wanted {
        set.push(set_point(session, request, observer));
    }
    // Once for all: it is about every point of every process.
    if let Err(error) = session.conclude_call("break", Ok(Outcome::Done), observer) {
        set.fill(Err(error));
    }
    set
}

/// Changes a point.
pub(crate) fn change_point(
    session: &mut Session,
    number: u32,
    change: &PointChange,
) -> Result<(), CommandError> {
    let name = match change {
        PointChange::Condition(_) => "condition",
        PointChange::Ignore(_) => "ignore",
        PointChange::Enable | PointChange::EnableOnce => "enable",
    };
    done(session, name, &mut SilentObserver, |session, _| {
        match change {
            PointChange::Condition(text) => {
                condition::change_condition(session, number, text.as_deref())?;
            }
            PointChange::Ignore(count) => point(session, number)?.ignore = *count,
            PointChange::Enable => points_edit::enable_point(session, number, None)?,
            PointChange::EnableOnce => {
                points_edit::enable_point(session, number, Some(Fate::Disable(1)))?;
            }
        }
        Ok(())
    })
}

/// Deletes points.
pub(crate) fn delete(session: &mut Session, numbers: &[u32]) -> Result<(), CommandError> {
    done(session, "delete", &mut SilentObserver, |session, _| {
        delete_points(session, numbers)
    })
}

/// Resumes the program.
pub(crate) fn resume(
    session: &mut Session,
    how: Resume,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let name = command_of(how)?;
    session.call(name, "", observer, |session, observer| match how {
        Resume::StepIntoCall(address) => {
            let calls = calls::calls_of_selected(session)?;
            let written = format!("*{address:#x}");
            let call = calls::chosen_call(&calls, &written, Some(address))?;
            let pause = calls::step_into_call(session, call, observer)?;
            session.settle(pause)
        }
        _ => (find(name)?.run)(session, "", observer),
    })
}

/// Moves a thread to an instruction.
pub(crate) fn move_to(
    session: &mut Session,
    thread: u32,
    address: u64,
    observer: &mut dyn Observer,
) -> Result<(), CommandError> {
    let innermost = SelectionView { thread, level: 0 };
    done(session, "set", observer, |session, observer| {
        let assignment = format!("$pc = {address:#x}");
        in_frame(session, Some(innermost), |session| {
            set_variable::assign_result(session, &assignment, observer).map(|_| ())
        })
    })
}

/// Moves a thread to the beginning of the call of a frame.
pub(crate) fn restart(
    session: &mut Session,
    frame: SelectionView,
    observer: &mut dyn Observer,
) -> Result<(), CommandError> {
    let innermost = SelectionView { level: 0, ..frame };
    let level = frame.level as usize;
    done(session, "restart-frame", observer, |session, observer| {
        in_frame(session, Some(innermost), |session| {
            restart_frame::restart_at(session, level, observer).map(|_| ())
        })
    })
}

/// Sets the state or a variable of a monitor.
pub(crate) fn set_monitor(
    session: &mut Session,
    place: &MonitorPlace,
    value: &str,
) -> Result<(), CommandError> {
    let slice = (!place.slice.is_empty()).then_some(&place.slice[..]);
    let (property, variable) = (&place.property, &place.variable);
    done(session, "monitor", &mut SilentObserver, |session, _| {
        monitor::set_value(session, property, slice, variable, value.trim())
    })
}

/// Carries out a call without a result under the row of a command.
fn done(
    session: &mut Session,
    name: &str,
    observer: &mut dyn Observer,
    act: impl FnOnce(&mut Session, &mut dyn Observer) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let called = session.call(name, "", observer, |session, observer| {
        act(session, observer).map(|()| Outcome::Done)
    });
    called.map(|_| ())
}

/// Returns the command that resumes in a way.
fn command_of(how: Resume) -> Result<&'static str, CommandError> {
    Ok(match how {
        Resume::Run => "run",
        Resume::Start => "start",
        Resume::Continue => "continue",
        Resume::Step | Resume::StepIntoCall(_) => "step",
        Resume::Next => "next",
        Resume::StepInstruction => "stepi",
        Resume::NextInstruction => "nexti",
        Resume::Finish => "finish",
        Resume::ReverseNext => "reverse-next",
        Resume::ReverseNextInstruction => "reverse-nexti",
        Resume::ReverseContinue => "reverse-continue",
    })
}

/// Sets one point.
fn set_point(
    session: &mut Session,
    request: &PointRequest,
    observer: &mut dyn Observer,
) -> Result<SetPointView, CommandError> {
    let (name, spec) = match (&request.place, &request.prints) {
        (PointPlace::Exception(_), _) => ("catch", ""),
        (PointPlace::Watched { .. }, _) => ("watch", ""),
        (PointPlace::Written(text), Some(_)) => ("dprintf", &**text),
        (PointPlace::Written(text), None) => ("break", &**text),
        (_, Some(_)) => ("dprintf", ""),
        (_, None) => ("break", ""),
    };
    session.prepare_call(name, spec, observer)?;
    in_frame(session, request.frame, |session| match &request.place {
        PointPlace::Exception(event) => catch_exception(session, *event, request),
        PointPlace::Watched {
            expression,
            access,
            extent,
        } => {
            let access = match access {
                Access::Write => WatchKind::Write,
                Access::Read => WatchKind::Read,
                Access::ReadWrite => WatchKind::Access,
            };
            let condition = request.condition.as_deref();
            watch::watch_expression(session, expression, access, *extent, condition)
        }
        place => {
            let placed = placed(place, request.condition.as_deref())?;
            let written = placed.text.clone();
            match &request.prints {
                Some(text) => dprintf::print_at(session, &written, placed, text),
                None => breakpoint::set_breakpoint_at(session, &written, placed, Fate::Keep),
            }
        }
    })
}

/// Returns the place of a breakpoint with its text.
fn placed(place: &PointPlace, condition: Option<&str>) -> Result<Placed, CommandError> {
    let (place, text) = match place {
        PointPlace::Line { file, line, column } => {
            let text = location_spec::written_line(file, *line, *column);
            let place = LocationSpec::Line {
                file: Some(file.clone()),
                line: *line,
                column: *column,
            };
            (place, text)
        }
        PointPlace::Address(address) => {
            let address = format!("{address:#x}");
            let text = format!("*{address}");
            (LocationSpec::Address(address), text)
        }
        PointPlace::Written(text) => {
            let mut placed = locations::parsed(text)?;
            if let Some(condition) = condition {
                placed.condition = Some(condition.to_owned());
            }
            return Ok(placed);
        }
        PointPlace::Exception(_) | PointPlace::Watched { .. } => {
            return Err(CommandError::new("this point has no location"));
        }
    };
    Ok(Placed {
        place,
        text,
        thread: None,
        condition: condition.map(str::to_owned),
    })
}

fn catch_exception(
    session: &mut Session,
    event: ExceptionEvent,
    request: &PointRequest,
) -> Result<SetPointView, CommandError> {
    let (text, exception) = match event {
        ExceptionEvent::Throw => ("throw", Exception::Throw),
        ExceptionEvent::Catch => ("catch", Exception::Catch),
    };
    let condition = request.condition.as_deref();
    let condition = condition.map(|it| condition::condition(session, it));
    let condition = condition.transpose()?;
    if let Some(condition) = &condition {
        condition::check_condition(session, PointKind::Catchpoint, condition)?;
    }
    let catch = Catch::Exception(exception);
    Ok(catch::set_catchpoint(
        session,
        text,
        catch,
        condition,
        Fate::Keep,
    ))
}

/// Selects a frame, does something there, and selects what was selected before.
fn in_frame<T>(
    session: &mut Session,
    frame: Option<SelectionView>,
    act: impl FnOnce(&mut Session) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let before = queries::selection(session);
    let Some(frame) = frame.filter(|frame| before != Some(*frame)) else {
        return act(session);
    };
    queries::select(session, frame)?;
    let done = act(session);
    if let Some(before) = before {
        // The call may have ended the thread.
        let _ = queries::select(session, before);
    }
    done
}
