//! Sets, changes and deletes points, and tells the client of changes.

use super::commands::{Hits, hits};
use super::{Origin, Point, Wanted};
use crate::adapter::Adapter;
use crate::protocol::bodies::{Breakpoint, Source};
use crate::protocol::message::words_of;
use juror_fault::CommandError;
use juror_view::driver::Driver;
use juror_view::{Outcome, PointView};
use serde_json::json;

/// The owner of points that commands have set.
const DEVELOPER: &str = "developer";

/// Replaces a set of points. Returns them as the client asked for them.
pub(crate) fn replace(
    adapter: &mut Adapter,
    mut session: Option<&mut (dyn Driver + '_)>,
    origin: &Origin,
    wanted: Vec<Wanted>,
) -> Vec<Breakpoint> {
    let all = std::mem::take(&mut adapter.points.all);
    let (mut before, mut kept): (Vec<Point>, Vec<Point>) =
        all.into_iter().partition(|point| point.origin == *origin);
    let mut points = Vec::new();
    let mut fresh = Vec::new();
    for wanted in wanted {
        let same = before
            .iter()
            .position(|it| it.wanted.is_same_point(&wanted));
        points.push(match same {
            Some(position) => {
                let mut point = before.remove(position);
                if point.wanted != wanted {
                    let was = std::mem::replace(&mut point.wanted, wanted);
                    fresh.push((point.id, Some(was)));
                }
                point
            }
            None => {
                let id = adapter.points.next();
                fresh.push((id, None));
                Point {
                    id,
                    origin: origin.clone(),
                    wanted,
                    number: None,
                    failure: None,
                    told: Breakpoint::default(),
                    every: None,
                }
            }
        });
    }
    if let Some(session) = session.as_deref_mut() {
        for gone in before.iter().filter_map(|it| it.number) {
            // It may have been deleted by a command.
            let _ = adapter.execute(session, &format!("delete {gone}"));
        }
        for (id, was) in fresh {
            if let Some(point) = points.iter_mut().find(|it| it.id == id) {
                set(adapter, session, point, was.as_ref());
            }
        }
    }
    let views = session.and_then(|session| views(adapter, session));
    for point in &mut points {
        if is_gone(point, views.as_deref()) {
            point.number = None;
            point.failure = Some("the point is no longer there".to_owned());
        }
        point.told = described(adapter, point, views.as_deref());
    }
    let told = points.iter().map(|it| it.told.clone()).collect();
    kept.append(&mut points);
    adapter.points.all = kept;
    told
}

/// Sets all points in a session that has just begun, and tells what has become of them.
pub(crate) fn set_all(adapter: &mut Adapter, session: &mut dyn Driver) {
    adapter.points.forget_numbers();
    let mut all = std::mem::take(&mut adapter.points.all);
    for point in &mut all {
        set(adapter, session, point, None);
    }
    adapter.points.all = all;
    renew(adapter, session);
}

/// Tells the client of points that are not what they were, and of those that commands have set
/// or deleted.
pub(crate) fn renew(adapter: &mut Adapter, session: &mut dyn Driver) {
    let Some(views) = views(adapter, session) else {
        return;
    };
    let mut all = std::mem::take(&mut adapter.points.all);
    for gone in all.extract_if(.., |it| is_gone(it, Some(&views))) {
        tell_removed(adapter, gone.id);
    }
    for point in &mut all {
        let told = described(adapter, point, Some(&views));
        if told != point.told {
            point.told = told;
            tell(adapter, "changed", &point.told);
        }
    }
    let is_known = |number: u32| all.iter().any(|it| it.number == Some(number));
    let is_there = |number: u32| views.iter().any(|it| it.number == Some(number));
    let mut typed = std::mem::take(&mut adapter.points.typed);
    for (id, _) in typed.iter().filter(|(_, number)| !is_there(*number)) {
        tell_removed(adapter, *id);
    }
    typed.retain(|(_, number)| is_there(*number));
    for view in &views {
        let Some(number) = view.number else { continue };
        let is_new = !is_known(number) && !typed.iter().any(|(_, known)| *known == number);
        if is_new && view.owner == DEVELOPER && view.kind == "breakpoint" && !view.temporary {
            let id = adapter.points.next();
            typed.push((id, number));
            let told = placed(adapter, id, view);
            tell(adapter, "new", &told);
        }
    }
    adapter.points.typed = typed;
    adapter.points.all = all;
}

fn tell(adapter: &Adapter, reason: &str, breakpoint: &Breakpoint) {
    adapter.event(
        "breakpoint",
        json!({ "reason": reason, "breakpoint": breakpoint }),
    );
}

/// Tells that a point is no longer there.
fn tell_removed(adapter: &Adapter, id: i64) {
    let gone = Breakpoint {
        id: Some(id),
        ..Breakpoint::default()
    };
    tell(adapter, "removed", &gone);
}

/// Returns whether a point that was set is no longer there: a command has deleted it, or the call
/// has returned whose variable it watched.
fn is_gone(point: &Point, views: Option<&[PointView]>) -> bool {
    let is_there = |number: u32| {
        let mut views = views.into_iter().flatten();
        views.any(|it| it.number == Some(number))
    };
    views.is_some() && point.number.is_some_and(|number| !is_there(number))
}

/// Returns the points of the session, if they can be told.
fn views(adapter: &mut Adapter, session: &mut dyn Driver) -> Option<Vec<PointView>> {
    match adapter.execute(session, "info breakpoints") {
        Ok(Outcome::Points(views)) => Some(views),
        _ => None,
    }
}

/// Sets a point, or changes it if it is set: only its conditions differ from what it was.
fn set(adapter: &mut Adapter, session: &mut dyn Driver, point: &mut Point, was: Option<&Wanted>) {
    point.failure.clone_from(&point.wanted.error);
    if point.failure.is_some() || !point.wanted.has_point {
        return;
    }
    match try_to_set(adapter, session, point, was) {
        Ok(()) => {}
        Err(error) => {
            if let Some(number) = point.number.take() {
                let _ = adapter.execute(session, &format!("delete {number}"));
            }
            point.failure = Some(words_of(&error));
        }
    }
}

fn try_to_set(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    point: &mut Point,
    was: Option<&Wanted>,
) -> Result<(), CommandError> {
    // One that could not be set has no conditions yet.
    let was = match was.filter(|_| point.number.is_some()) {
        // That it stops only once cannot be taken back.
        Some(was) if was.hits != point.wanted.hits && stops_once(was) => {
            if let Some(number) = point.number.take() {
                adapter.execute(session, &format!("delete {number}"))?;
            }
            None
        }
        was => was,
    };
    let number = match point.number {
        Some(number) => number,
        None => {
            let frame = point.wanted.frame;
            let frame = frame.map(|frame| adapter.identifiers.frame_of(frame));
            let frame = frame.transpose();
            let frame = frame.map_err(|failure| CommandError::new(failure.message))?;
            let set = adapter.at(session, frame, |adapter, session| {
                Ok(adapter.execute(session, &point.wanted.command))
            });
            set.map_err(|failure| CommandError::new(failure.message))??;
            let all = views(adapter, session).unwrap_or_default();
            let newest = all.iter().filter_map(|it| it.number).max();
            newest.ok_or_else(|| CommandError::new("the point was not set"))?
        }
    };
    point.number = Some(number);
    let condition = point.wanted.condition.clone().unwrap_or_default();
    let had = was
        .and_then(|was| was.condition.as_deref())
        .unwrap_or_default();
    if condition != had {
        adapter.execute(session, &format!("condition {number} {condition}"))?;
    }
    let is_same = was.is_some_and(|was| was.hits == point.wanted.hits);
    if is_same || was.is_none() && point.wanted.hits.is_none() {
        return Ok(());
    }
    point.every = None;
    let lines = match point.wanted.hits.as_deref() {
        None => vec![format!("ignore {number} 0"), format!("enable {number}")],
        Some(text) => match hits(text) {
            Some(Hits::After(count)) => vec![format!("ignore {number} {count}")],
            Some(Hits::Only(hit)) => vec![
                format!("ignore {number} {}", hit - 1),
                format!("enable once {number}"),
            ],
            Some(Hits::Every(count)) => {
                point.every = Some(count);
                vec![format!("ignore {number} {}", count - 1)]
            }
            None => {
                return Err(CommandError::new(format!(
                    "`{text}` is not a number of hits; for example: 3, > 3, == 3, % 3"
                )));
            }
        },
    };
    for line in lines {
        adapter.execute(session, &line)?;
    }
    Ok(())
}

/// Returns whether only one hit of a point stops.
fn stops_once(wanted: &Wanted) -> bool {
    let parsed = wanted.hits.as_deref().and_then(hits);
    matches!(parsed, Some(Hits::Only(_)))
}

/// Returns a point as the client is told of it.
fn described(adapter: &Adapter, point: &Point, views: Option<&[PointView]>) -> Breakpoint {
    let view = views.and_then(|views| views.iter().find(|it| it.number == point.number));
    let view = view.filter(|_| point.number.is_some());
    let mut told = match view {
        Some(view) => placed(adapter, point.id, view),
        None => Breakpoint {
            id: Some(point.id),
            ..Breakpoint::default()
        },
    };
    let asked = point.wanted.line.map(|line| adapter.line_out(line));
    if !matches!(point.origin, Origin::Source(_)) && point.wanted.line.is_none() {
        told.line = told.line.or(asked);
    }
    if let Some(source) = point.source() {
        // As the client names it.
        told.source = Some(source);
        told.line = told.line.or(asked);
        let column = point.wanted.column.filter(|_| told.verified);
        told.column = column.map(|column| adapter.column_out(column));
    }
    let failure = point.failure.as_ref().or(point.wanted.error.as_ref());
    if let Some(failure) = failure {
        told.verified = false;
        told.reason = Some("failed");
        told.message = Some(failure.clone());
    } else if !point.wanted.has_point {
        told.verified = true;
    } else if !told.verified {
        told.reason = Some("pending");
        told.message = Some(match views {
            Some(_) => "no loaded module has this location".to_owned(),
            None => "the program is not loaded yet".to_owned(),
        });
    }
    told
}

/// Returns a point with its first location.
fn placed(adapter: &Adapter, id: i64, view: &PointView) -> Breakpoint {
    let first = view.locations.first();
    let place = first.map(|it| &it.place);
    // Watchpoints and catchpoints have no location.
    let has_none = !matches!(view.kind, "breakpoint" | "hardware breakpoint");
    Breakpoint {
        id: Some(id),
        verified: has_none || first.is_some(),
        source: place.and_then(|it| it.file.as_deref()).map(Source::of),
        line: place
            .and_then(|it| it.line)
            .map(|line| adapter.line_out(line)),
        instruction_reference: place.map(|it| format!("{:#x}", it.address)),
        ..Breakpoint::default()
    }
}
