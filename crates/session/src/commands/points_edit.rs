//! `condition`, `ignore`, `clear`, `delete`, `enable`, `disable`: change points by number, of any
//! kind.

use crate::command_table::arguments::number;
use crate::commands::{checkpoint, display};
use crate::inspect::{frames, locations};
use crate::run::points::{
    all_points, delete_points, every_point, kind_and_point, point, settle_points,
};
use crate::run::processes::watching;
use crate::session::Session;
use juror_fault::CommandError;
use juror_points::breakpoints::{Resolvable, Target, targets};
use juror_points::catchpoints::INITIAL;
use juror_points::point::{Ability, Fate, PointKind, PointOwner, whole_points};
use juror_view::Outcome;

/// Replaces `$bpnum` by the number of the last point, as gdb writes it in breakpoint files; in a
/// condition only the first word is replaced.
pub(crate) fn with_last_number(session: &Session, rest: &str) -> String {
    let number = session.points.breakpoints.last_number();
    match rest.strip_prefix("$bpnum") {
        Some(after) => format!("{number}{after}"),
        None => match rest.split_once(" $bpnum") {
            Some((word @ ("once" | "delete" | "breakpoints"), after)) => {
                format!("{word} {number}{after}")
            }
            Some((word, after)) if word.starts_with("count ") => {
                format!("{word} {number}{after}")
            }
            _ => rest.to_owned(),
        },
    }
}

/// `ignore N COUNT`
pub(crate) fn ignore(session: &mut Session, rest: &str) -> Result<Outcome, CommandError> {
    let rest = &with_last_number(session, rest);
    let (which, text) = numbered(rest, "ignore 1 100")?;
    let count = number(text)?.ok_or_else(|| {
        CommandError::with_help(
            "the number of hits to ignore is missing",
            "for example: ignore 1 100",
        )
    })?;
    let (kind, point) = kind_and_point(session, which)?;
    point.ignore = count;
    let word = kind.word();
    Ok(Outcome::Message(match count {
        0 => format!("the next hit of {word} {which} stops the program"),
        1 => format!("the next hit of {word} {which} is ignored"),
        _ => format!("the next {count} hits of {word} {which} are ignored"),
    }))
}

/// `clear`, `clear PLACE`: deletes the breakpoints at a location, including hardware breakpoints.
/// Other points have no location.
pub(crate) fn clear(session: &mut Session, rest: &str) -> Result<Outcome, CommandError> {
    let places = match rest {
        // The breakpoint that the program is stopped at, or others of its line.
        "" => {
            let frame = frames::selected_frame(session)?;
            let here = Resolvable::at_address(frame.pc, session.modules());
            let mut places = here.find_all(session.modules());
            if let (Some(file), Some(line)) = (&frame.file, frame.line) {
                let line = Resolvable::Line(file.display().to_string(), line, None);
                places.extend(line.find_all(session.modules()));
            }
            places
        }
        _ => {
            let placed = locations::parsed_alone(rest)?;
            locations::resolvable(session, &placed.place)?.find_all(session.modules())
        }
    };
    let mut numbers = session.points.breakpoints.numbers_at(&places);
    numbers.extend(session.points.hardware.numbers_at(&places));
    if numbers.is_empty() && !rest.is_empty() {
        // A pending breakpoint is found by its text alone, and so is a hardware breakpoint while
        // there is no process.
        let waiting = session
            .points
            .breakpoints
            .iter()
            .filter(|it| it.text == rest);
        let hardware = session.points.hardware.iter();
        let hardware = hardware.filter(|it| it.text == rest);
        numbers.extend(waiting.map(|it| it.point.number));
        numbers.extend(hardware.map(|it| it.point.number));
    }
    if numbers.is_empty() {
        let place = if rest.is_empty() { "this line" } else { rest };
        return Err(CommandError::with_help(
            format!("there is no breakpoint at {place}"),
            "see: info breakpoints; points without a location, such as watchpoints, are deleted by \
             number: delete 3",
        ));
    }
    numbers.sort_unstable();
    delete_points(session, &numbers)?;
    let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
    let many = if numbers.len() > 1 { "s" } else { "" };
    Ok(Outcome::Message(format!(
        "deleted breakpoint{many} {}",
        words.join(", ")
    )))
}

/// `delete`, `delete N...`
pub(crate) fn delete(session: &mut Session, rest: &str) -> Result<Outcome, CommandError> {
    let rest = match rest.split_once(char::is_whitespace).unwrap_or((rest, "")) {
        // gdb's subcommand.
        (word, numbers) if word.len() > 1 && "breakpoints".starts_with(word) => numbers.trim(),
        _ => rest,
    };
    let rest = &with_last_number(session, rest);
    if checkpoint::delete_checkpoints(session, rest)? {
        return Ok(Outcome::Done);
    }
    if let Some(numbers) = rest.strip_prefix("display")
        && numbers.chars().next().is_none_or(char::is_whitespace)
    {
        return display::undisplay(session, numbers.trim());
    }
    let targets = known_targets(session, rest)?;
    if targets.iter().any(|target| target.location.is_some()) {
        return Err(CommandError::with_help(
            "a location cannot be deleted alone",
            format!("disable it: disable {rest}"),
        ));
    }
    let numbers: Vec<u32> = targets.iter().map(|target| target.number).collect();
    delete_points(session, &numbers)?;
    Ok(Outcome::Done)
}

/// Inserts and removes points in every process. All are stopped.
fn settle_all_points(session: &mut Session) -> Result<(), CommandError> {
    settle_points(session)?;
    Ok(watching::settle_other_watchpoints(session)?)
}

/// Resets the hit counts for a new run, so that `ignore` can take the count of the previous one.
pub(crate) fn forget_hits(session: &mut Session) {
    for (_, point) in all_points(session) {
        point.hits = 0;
    }
    session.points.breakpoints.forget_hits();
}

/// `disable`, `disable N...`
pub(crate) fn disable(session: &mut Session, rest: &str) -> Result<Outcome, CommandError> {
    let rest = with_last_number(session, rest);
    let targets = known_targets(session, rest.strip_prefix("breakpoints ").unwrap_or(&rest))?;
    switch(session, &targets, false)
}

/// `enable`, `enable once N`, `enable count K N`, `enable delete N`
pub(crate) fn enable(session: &mut Session, rest: &str) -> Result<Outcome, CommandError> {
    let rest = with_last_number(session, rest);
    let rest = rest.strip_prefix("breakpoints ").unwrap_or(&rest);
    let (word, others) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let (fate, which) = match word {
        "once" => (Fate::Disable(1), others),
        "delete" => (Fate::Delete, others),
        "count" => {
            let (count, which) = numbered(others, "enable count 3 1")?;
            (Fate::Disable(u64::from(count)), which)
        }
        _ => {
            let targets = known_targets(session, rest)?;
            return switch(session, &targets, true);
        }
    };
    if which.trim().is_empty() {
        return Err(CommandError::with_help(
            "the number of a breakpoint is missing",
            format!("for example: enable {} 1", rest.trim()),
        ));
    }
    let numbers = whole_points(which)?;
    let targets = known_targets(session, which)?;
    for number in numbers {
        point(session, number)?.fate = fate;
    }
    switch(session, &targets, true)
}

/// Enables a whole point; `fate` is what happens to it at its next stop, if that changes.
pub(crate) fn enable_point(
    session: &mut Session,
    number: u32,
    fate: Option<Fate>,
) -> Result<(), CommandError> {
    let known = point(session, number)?;
    known.fate = fate.unwrap_or(known.fate);
    let target = Target {
        number,
        location: None,
    };
    switch(session, &[target], true).map(|_| ())
}

fn switch(
    session: &mut Session,
    targets: &[Target],
    enabled: bool,
) -> Result<Outcome, CommandError> {
    for target in targets {
        let Some(number) = target.location else {
            point(session, target.number)?.enabled = enabled;
            continue;
        };
        let breakpoint = session.points.breakpoints.numbered(target.number);
        if let Some(location) = breakpoint.and_then(|it| it.locations.numbered(number)) {
            location.enabled = enabled;
        }
    }
    let settled = settle_all_points(session);
    if settled.is_err() && enabled {
        // A point that cannot be set is not shown as set.
        for target in targets.iter().filter(|target| target.location.is_none()) {
            let (kind, point) = kind_and_point(session, target.number)?;
            if let PointKind::HardwareBreakpoint | PointKind::Watchpoint = kind {
                point.enabled = false;
            }
        }
        // The first error is reported.
        let _ = settle_all_points(session);
    }
    settled.map(|()| Outcome::Done)
}

/// Parses points and locations; all points if there are none. Nothing is changed if one of them
/// does not exist.
fn known_targets(session: &mut Session, text: &str) -> Result<Vec<Target>, CommandError> {
    if text.trim() == "0" {
        kind_and_point(session, INITIAL)?;
        return Ok(vec![Target {
            number: INITIAL,
            location: None,
        }]);
    }
    let named = targets(text).map_err(CommandError::new)?;
    if named.is_empty() {
        // Points of scenarios were not set by a command.
        let own = every_point(session)
            .filter(|point| point.owner == PointOwner::Developer && point.number != INITIAL);
        let all = own.map(|point| Target {
            number: point.number,
            location: None,
        });
        return Ok(all.collect());
    }
    for target in &named {
        let (kind, _) = kind_and_point(session, target.number)?;
        let Some(location) = target.location else {
            continue;
        };
        kind.must_have(Ability::Locations)?;
        let breakpoint = session.points.breakpoints.numbered(target.number);
        if breakpoint.is_none_or(|it| it.locations.numbered(location).is_none()) {
            return Err(CommandError::with_help(
                format!("breakpoint {} has no location {location}", target.number),
                "see: info breakpoints",
            ));
        }
    }
    Ok(named)
}

/// Splits off the number of a point.
pub(crate) fn numbered<'a>(rest: &'a str, example: &str) -> Result<(u32, &'a str), CommandError> {
    let (word, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let number = word.parse().ok().filter(|&number| number > 0);
    let missing = || {
        let message = match word {
            "" => "the number of a breakpoint is missing".to_owned(),
            word => format!("`{word}` is not the number of a breakpoint"),
        };
        CommandError::with_help(message, format!("for example: {example}"))
    };
    Ok((number.ok_or_else(missing)?, rest.trim()))
}
