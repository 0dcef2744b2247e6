//! Watchpoints.
//!
//! The identifier of watched memory is the argument of the command that watches it, after the
//! client's number of the frame where it was asked for.

use super::breakpoints::{filled, replaced};
use super::{Answer, MaybeSession, address, body, parse};
use crate::adapter::{Adapter, queries};
use crate::identifiers::Container;
use crate::points::{Origin, Wanted};
use crate::protocol::message::Failure;
use crate::protocol::point_arguments::{DataBreakpointInfo, SetDataBreakpoints};
use juror_view::Outcome;
use juror_view::driver::Driver;
use juror_view::nodes::{NodeId, NodeKind, PartFilter};
use juror_view::queries::SelectionView;
use serde_json::{Value, json};

/// The kinds of accesses.
const ACCESSES: [&str; 3] = ["read", "write", "readWrite"];

/// The most parts among which a name is looked for.
const PARTS_MAX: u64 = 1 << 16;

/// The text after the number of a frame.
const FRAME: &str = "@";

/// `dataBreakpointInfo`
pub(super) fn info(adapter: &mut Adapter, session: &mut dyn Driver, arguments: Value) -> Answer {
    let given: DataBreakpointInfo = parse(arguments)?;
    let size = given.bytes.filter(|&bytes| bytes > 0);
    if given.as_address == Some(true) {
        let at = address(given.name.trim(), None)?;
        return watchable(&of_bytes(at, size.unwrap_or(8)), &format!("{at:#x}"));
    }
    let frame = match given.frame_id {
        Some(frame) => Some(adapter.identifiers.frame_of(frame)?),
        None => None,
    };
    let container = match given.variables_reference.filter(|&number| number > 0) {
        Some(number) => Some(adapter.identifiers.container_of(number)?),
        None => None,
    };
    let frame = match &container {
        Some(Container::Scope(frame, _)) => Some(*frame),
        Some(Container::Node(node, frame)) => {
            return of_part(adapter, session, (*node, *frame), &given.name, size);
        }
        Some(_) => return unwatchable("this is not in the memory of the program"),
        None => frame,
    };
    let number = frame.map(|frame| adapter.identifiers.frame(frame));
    match place_of(adapter, session, frame, &given.name, size) {
        Ok(place) => {
            let number = number.map(|number| format!("{number}{FRAME}"));
            let place = format!("{}{place}", number.unwrap_or_default());
            watchable(&place, &given.name)
        }
        Err(failure) => unwatchable(&failure.message),
    }
}

/// Answers for a part of a value, which is watched by its address.
fn of_part(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    (node, frame): (NodeId, SelectionView),
    name: &str,
    size: Option<i64>,
) -> Answer {
    let parts = queries(session)?.part_nodes(node, PartFilter::All, 0, PARTS_MAX)?;
    let part = parts.into_iter().find(|part| part.name == name);
    let Some(part) = part else {
        return unwatchable("the value has no such part");
    };
    let size = size.or(part.size.and_then(|size| i64::try_from(size).ok()));
    match (part.address, size, part.evaluate_name) {
        (Some(at), Some(size), None) => watchable(&of_bytes(at, size), name),
        (Some(_), _, Some(place)) => {
            let number = adapter.identifiers.frame(frame);
            watchable(&format!("{number}{FRAME}-location {place}"), &place)
        }
        _ => unwatchable("this is not in the memory of the program"),
    }
}

/// Returns what to watch for an expression.
fn place_of(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    frame: Option<SelectionView>,
    name: &str,
    size: Option<i64>,
) -> Result<String, Failure> {
    adapter.at(session, frame, |adapter, session| {
        let found = adapter.execute(session, &format!("output/x (unsigned long)&({name})"));
        let number = match found {
            Ok(Outcome::PlainValue(value)) => address(value.value.trim(), None),
            Ok(_) => Err(Failure::quiet("this has no address")),
            Err(error) => Err(Failure::from(error)),
        };
        match (number, size) {
            (Ok(at), Some(size)) => Ok(of_bytes(at, size)),
            (Ok(_), None) => Ok(format!("-location {name}")),
            // In a register: it is followed through its function.
            (Err(failure), None) => match has_value(session, name)? {
                true => Ok(name.to_owned()),
                false => Err(failure),
            },
            (Err(failure), Some(_)) => Err(failure),
        }
    })
}

/// Returns whether an expression has a value in the selected frame.
fn has_value(session: &mut dyn Driver, expression: &str) -> Result<bool, Failure> {
    let questions = queries(session)?;
    let Some(frame) = questions.selection() else {
        return Ok(false);
    };
    let node = questions.evaluate_node(frame, expression, false);
    Ok(node.is_ok_and(|node| node.kind != NodeKind::Error))
}

/// Returns the expression of a range of memory.
fn of_bytes(at: u64, size: i64) -> String {
    format!("-location *(unsigned char (*)[{size}]){at:#x}")
}

fn watchable(place: &str, name: &str) -> Answer {
    body(json!({
        "dataId": place,
        "description": name,
        "accessTypes": ACCESSES,
        "canPersist": false,
    }))
}

fn unwatchable(why: &str) -> Answer {
    body(json!({ "dataId": null, "description": why }))
}

/// `setDataBreakpoints`
pub(super) fn set(
    adapter: &mut Adapter,
    session: MaybeSession<'_, '_>,
    arguments: Value,
) -> Answer {
    let given: SetDataBreakpoints = parse(arguments)?;
    let asked = given.breakpoints.unwrap_or_default().into_iter();
    let wanted = asked.map(|it| {
        let word = match it.access_type.as_deref() {
            Some("read") => "rwatch",
            Some("readWrite") => "awatch",
            _ => "watch",
        };
        let (frame, place) = match it.data_id.split_once(FRAME) {
            Some((frame, place)) => (frame.parse().ok(), place),
            None => (None, it.data_id.as_str()),
        };
        Wanted {
            frame,
            condition: filled(it.condition),
            hits: filled(it.hit_condition),
            ..Wanted::of(format!("{word} {place}"))
        }
    });
    replaced(adapter, session, &Origin::Data, wanted.collect())
}
