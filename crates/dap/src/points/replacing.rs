//! Sets, changes and deletes points, and tells the client of changes.

use super::formats::{Hits, hits};
use super::{Key, Origin, Point, Wanted};
use crate::adapter::{Adapter, changes};
use crate::protocol::bodies::{Breakpoint, Source};
use crate::protocol::message::{Failure, words_of};
use juror_fault::CommandError;
use juror_view::changes::{PointChange, PointRequest};
use juror_view::driver::Driver;
use juror_view::{PointView, SetPointView};
use serde_json::json;
use std::collections::{HashMap, VecDeque};

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
    let (before, mut kept): (Vec<Point>, Vec<Point>) =
        all.into_iter().partition(|point| point.origin == *origin);
    let mut known: HashMap<Key, VecDeque<Point>> = HashMap::new();
    for point in before {
        known
            .entry(point.wanted.key())
            .or_default()
            .push_back(point);
    }
    let mut points = Vec::with_capacity(wanted.len());
    let mut fresh = Vec::new();
    for wanted in wanted {
        let same = known.get_mut(&wanted.key());
        match same.and_then(VecDeque::pop_front) {
            Some(mut point) => {
                if point.wanted != wanted {
                    let was = std::mem::replace(&mut point.wanted, wanted);
                    fresh.push((points.len(), Some(was)));
                }
                points.push(point);
            }
            None => {
                fresh.push((points.len(), None));
                points.push(Point {
                    id: adapter.points.next(),
                    origin: origin.clone(),
                    wanted,
                    number: None,
                    failure: None,
                    told: Breakpoint::default(),
                    every: None,
                });
            }
        }
    }
    if let Some(session) = session.as_deref_mut() {
        let gone: Vec<u32> = known
            .values()
            .flatten()
            .filter_map(|it| it.number)
            .collect();
        // They may have been deleted by a command.
        let _ = deleted(session, &gone);
        set(adapter, session, &mut points, &fresh);
    }
    let views = match session {
        Some(session) => views(session),
        None => None,
    };
    let views = views.as_deref().map(by_number);
    for point in &mut points {
        if is_gone(point, views.as_ref()) {
            point.number = None;
            point.failure = Some("the point is no longer there".to_owned());
        }
        point.told = described(adapter, point, views.as_ref());
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
    let fresh: Vec<_> = (0..all.len()).map(|position| (position, None)).collect();
    set(adapter, session, &mut all, &fresh);
    adapter.points.all = all;
    renew(adapter, session);
}

/// Tells the client of points that are not what they were, and of those that commands have set
/// or deleted.
pub(crate) fn renew(adapter: &mut Adapter, session: &mut dyn Driver) {
    let Some(views) = views(session) else {
        return;
    };
    let numbered = by_number(&views);
    let mut all = std::mem::take(&mut adapter.points.all);
    for gone in all.extract_if(.., |it| is_gone(it, Some(&numbered))) {
        tell_removed(adapter, gone.id);
    }
    for point in &mut all {
        let told = described(adapter, point, Some(&numbered));
        if told != point.told {
            point.told = told;
            tell(adapter, "changed", &point.told);
        }
    }
    adapter.points.all = all;
    let mut known = adapter.points.numbers();
    let is_there = |number: u32| numbered.contains_key(&number);
    let mut typed = std::mem::take(&mut adapter.points.typed);
    for (id, _) in typed.iter().filter(|(_, number)| !is_there(*number)) {
        tell_removed(adapter, *id);
    }
    typed.retain(|(_, number)| is_there(*number));
    known.extend(typed.iter().map(|(_, number)| *number));
    for view in &views {
        let Some(number) = view.number else { continue };
        if !known.contains(&number)
            && view.owner == DEVELOPER
            && view.kind == "breakpoint"
            && !view.temporary
        {
            let id = adapter.points.next();
            typed.push((id, number));
            let told = placed(adapter, id, view);
            tell(adapter, "new", &told);
        }
    }
    adapter.points.typed = typed;
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
fn is_gone(point: &Point, views: Option<&Numbered<'_>>) -> bool {
    let is_there = |number: &u32| views.is_none_or(|views| views.contains_key(number));
    !point.number.iter().all(is_there)
}

/// The points of the session by their numbers.
type Numbered<'v> = HashMap<u32, &'v PointView>;

fn by_number(views: &[PointView]) -> Numbered<'_> {
    let numbered = views.iter().filter_map(|view| Some((view.number?, view)));
    numbered.collect()
}

/// Returns the points of the session, if they can be told.
fn views(session: &mut dyn Driver) -> Option<Vec<PointView>> {
    Some(session.queries()?.points())
}

fn deleted(session: &mut dyn Driver, numbers: &[u32]) -> Result<(), Failure> {
    if numbers.is_empty() {
        return Ok(());
    }
    Ok(changes(session)?.delete_points(numbers)?)
}

/// Sets the points at these positions, or changes those that are set: only their conditions
/// differ from what they were.
fn set(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    points: &mut [Point],
    fresh: &[(usize, Option<Wanted>)],
) {
    let mut new = Vec::new();
    let mut changed = Vec::new();
    for (position, was) in fresh {
        let Some(point) = points.get_mut(*position) else {
            continue;
        };
        match prepared(adapter, session, point, was.as_ref()) {
            Ok(Some(request)) => new.push((*position, request)),
            Ok(None) if point.failure.is_none() && point.number.is_some() => {
                changed.push((*position, was.as_ref()))
            }
            Ok(None) => {}
            Err(failure) => point.failure = Some(failure.message),
        }
    }
    let (positions, requests): (Vec<usize>, Vec<PointRequest>) = new.into_iter().unzip();
    let results = answers(adapter, session, &requests);
    for (position, result) in positions.into_iter().zip(results) {
        let Some(point) = points.get_mut(position) else {
            continue;
        };
        match result {
            Ok(view) => {
                point.number = view.point.number;
                changed.push((position, None));
            }
            Err(error) => point.failure = Some(words_of(&error)),
        }
    }
    for (position, was) in changed {
        let Some(point) = points.get_mut(position) else {
            continue;
        };
        if let Err(failure) = change(session, point, was) {
            let number = point.number.take();
            let _ = deleted(session, number.as_slice());
            point.failure = Some(failure.message);
        }
    }
}

/// Returns what to ask the session for; nothing for a point that is set and only changes, or that
/// cannot be set.
fn prepared(
    adapter: &Adapter,
    session: &mut dyn Driver,
    point: &mut Point,
    was: Option<&Wanted>,
) -> Result<Option<PointRequest>, Failure> {
    point.failure.clone_from(&point.wanted.error);
    if point.failure.is_some() || point.wanted.place.is_none() {
        return Ok(None);
    }
    // That it stops only once cannot be taken back.
    let is_spent = |was: &&Wanted| was.hits != point.wanted.hits && stops_once(was);
    if was.filter(is_spent).is_some()
        && let Some(number) = point.number.take()
    {
        let _ = deleted(session, &[number]);
    }
    if point.number.is_some() {
        return Ok(None);
    }
    request(adapter, &point.wanted).map(Some)
}

/// Returns a point as the session is asked for it.
fn request(adapter: &Adapter, wanted: &Wanted) -> Result<PointRequest, Failure> {
    let missing = || Failure::quiet("there is nothing to stop at");
    let frame = wanted.frame;
    let frame = frame.map(|frame| adapter.identifiers.frame_of(frame));
    Ok(PointRequest {
        place: wanted.place.clone().ok_or_else(missing)?,
        condition: wanted.condition.clone(),
        prints: wanted.prints.clone(),
        frame: frame.transpose()?,
    })
}

/// Sets points, all in one call. Returns the result of each.
fn answers(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    requests: &[PointRequest],
) -> Vec<Result<SetPointView, CommandError>> {
    if requests.is_empty() {
        return Vec::new();
    }
    match changes(session) {
        Ok(changes) => changes.set_points(requests, adapter),
        Err(failure) => vec![Err(CommandError::new(failure.message)); requests.len()],
    }
}

/// Gives a point that is set the hits that it is to stop at; and its condition, if it was set
/// with another one.
fn change(
    session: &mut dyn Driver,
    point: &mut Point,
    was: Option<&Wanted>,
) -> Result<(), Failure> {
    let Some(number) = point.number else {
        return Ok(());
    };
    let changes = changes(session)?;
    let wanted = &point.wanted;
    if was.is_some_and(|was| was.condition != wanted.condition) {
        let condition = PointChange::Condition(wanted.condition.clone());
        changes.change_point(number, &condition)?;
    }
    let had = was.and_then(|was| was.hits.as_deref());
    if wanted.hits.as_deref() == had {
        return Ok(());
    }
    point.every = None;
    let all = match wanted.hits.as_deref() {
        None => vec![PointChange::Ignore(0), PointChange::Enable],
        Some(text) => match hits(text) {
            Some(Hits::After(count)) => vec![PointChange::Ignore(count)],
            Some(Hits::Only(hit)) => {
                vec![PointChange::Ignore(hit - 1), PointChange::EnableOnce]
            }
            Some(Hits::Every(count)) => {
                point.every = Some(count);
                vec![PointChange::Ignore(count - 1)]
            }
            None => {
                return Err(Failure::quiet(format!(
                    "`{text}` is not a number of hits; for example: 3, > 3, == 3, % 3"
                )));
            }
        },
    };
    for change in &all {
        changes.change_point(number, change)?;
    }
    Ok(())
}

/// Returns whether only one hit of a point stops.
fn stops_once(wanted: &Wanted) -> bool {
    let parsed = wanted.hits.as_deref().and_then(hits);
    matches!(parsed, Some(Hits::Only(_)))
}

/// Returns a point as the client is told of it.
fn described(adapter: &Adapter, point: &Point, views: Option<&Numbered<'_>>) -> Breakpoint {
    let number = point.number.as_ref();
    let view = number.and_then(|number| views?.get(number));
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
    } else if point.wanted.place.is_none() {
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
