//! Watchpoints.
//!
//! The identifier of watched memory is its expression, after the client's number of the frame where
//! it was asked for and a word that says how long it is watched.

use super::breakpoints::{filled, replaced};
use super::{Answer, MaybeSession, address, body, parse};
use crate::adapter::{Adapter, queries};
use crate::identifiers::Container;
use crate::points::{Origin, Wanted};
use crate::protocol::message::Failure;
use crate::protocol::point_arguments::{DataBreakpointInfo, SetDataBreakpoints};
use juror_view::changes::{Access, PointPlace, WatchExtent};
use juror_view::driver::Driver;
use juror_view::nodes::{Node, NodeId, NodeKind, PartFilter};
use juror_view::queries::SelectionView;
use serde_json::{Value, json};

/// The kinds of accesses.
const ACCESSES: [&str; 3] = ["read", "write", "readWrite"];

/// The most parts among which a name is looked for.
const PARTS_MAX: u64 = 1 << 16;

/// The word before memory that is watched.
const LOCATION: &str = "-location ";

/// The words before memory that is watched until the call returns that it belongs to.
const CALL: &str = "-location -call ";

/// The text after the number of a frame.
const FRAME: &str = "@";

/// `dataBreakpointInfo`
pub(super) fn info(adapter: &mut Adapter, session: &mut dyn Driver, arguments: Value) -> Answer {
    let given: DataBreakpointInfo = parse(arguments)?;
    let size = given.bytes.filter(|&bytes| bytes > 0);
    if given.as_address == Some(true) {
        let at = address(given.name.trim(), None)?;
        let place = format!("{LOCATION}{}", bytes(at, size.unwrap_or(8)));
        return watchable(&place, &format!("{at:#x}"));
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
    match place_of(session, frame, given.name.trim(), size) {
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
    let parts = queries(session)?.part_nodes(node, PartFilter::All, 0, PARTS_MAX, false)?;
    let part = parts.into_iter().find(|part| part.name == name);
    let Some(part) = part else {
        return unwatchable("the value has no such part");
    };
    let size = size.or(part.size.and_then(|size| i64::try_from(size).ok()));
    let number = adapter.identifiers.frame(frame);
    let of_frame = |place: &str| format!("{number}{FRAME}{CALL}{place}");
    match (part.address, size, part.evaluate_name) {
        (Some(at), Some(size), None) => watchable(&of_frame(&bytes(at, size)), name),
        (Some(_), _, Some(place)) => watchable(&of_frame(&place), &place),
        _ => unwatchable("this is not in the memory of the program"),
    }
}

/// Returns what to watch for an expression; or why it cannot be watched.
fn place_of(
    session: &mut dyn Driver,
    frame: Option<SelectionView>,
    name: &str,
    size: Option<i64>,
) -> Result<String, Failure> {
    let questions = queries(session)?;
    let frame = frame.or_else(|| questions.selection());
    let frame = frame.ok_or_else(|| Failure::quiet("there is no frame"))?;
    let node = questions.evaluate_node(frame, name, false)?;
    match (node.address, size) {
        _ if node.kind == NodeKind::Error => Err(Failure::quiet(node.summary)),
        (Some(at), Some(size)) => Ok(format!("{CALL}{}", bytes(at, size))),
        (Some(_), None) => Ok(format!("{CALL}{name}")),
        // In a register, or a bit field: it is followed through its function.
        (None, None) if is_variable(name, &node) => Ok(name.to_owned()),
        (None, _) if node.kind == NodeKind::Register => Err(Failure::quiet(format!(
            "`{name}` is a register, which holds different values all the time"
        ))),
        (None, _) => Err(Failure::quiet(format!(
            "`{name}` is not a place in memory: nothing can be stored there"
        ))),
    }
}

/// Returns whether a value without an address is one that the program can store.
fn is_variable(name: &str, node: &Node) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
    let begins = |c: char| c.is_alphabetic() || c == '_';
    let is_name = name.starts_with(begins) && name.chars().all(is_plain);
    node.kind != NodeKind::Register && (node.writable || is_name)
}

/// Returns the expression of a range of memory.
fn bytes(at: u64, size: i64) -> String {
    format!("*(unsigned char (*)[{size}]){at:#x}")
}

fn watchable(place: &str, name: &str) -> Answer {
    body(json!({
        "dataId": place,
        "description": name,
        "accessTypes": ACCESSES,
        "canPersist": false,
    }))
}

/// Splits what is watched into its extent and its expression.
fn extent_of(place: &str) -> (WatchExtent, &str) {
    if let Some(expression) = place.strip_prefix(CALL) {
        (WatchExtent::LocationOfCall, expression)
    } else if let Some(expression) = place.strip_prefix(LOCATION) {
        (WatchExtent::Location, expression)
    } else {
        (WatchExtent::Expression, place)
    }
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
        let access = match it.access_type.as_deref() {
            Some("read") => Access::Read,
            Some("readWrite") => Access::ReadWrite,
            _ => Access::Write,
        };
        let (frame, place) = match it.data_id.split_once(FRAME) {
            Some((frame, place)) => (frame.parse().ok(), place),
            None => (None, it.data_id.as_str()),
        };
        let (extent, expression) = extent_of(place);
        Wanted {
            frame,
            condition: filled(it.condition),
            hits: filled(it.hit_condition),
            ..Wanted::at(PointPlace::Watched {
                expression: expression.to_owned(),
                access,
                extent,
            })
        }
    });
    replaced(adapter, session, &Origin::Data, wanted.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_says_how_long_its_memory_is_watched() {
        for (place, expected) in [
            ("count", (WatchExtent::Expression, "count")),
            ("-location *p", (WatchExtent::Location, "*p")),
            ("-location -call n", (WatchExtent::LocationOfCall, "n")),
        ] {
            assert_eq!(extent_of(place), expected);
        }
    }

    #[test]
    fn a_variable_is_what_the_program_can_store() {
        let node = |kind, writable| Node {
            id: NodeId(0),
            name: String::new(),
            type_name: None,
            summary: String::new(),
            named: 0,
            indexed: 0,
            evaluate_name: None,
            address: None,
            memory: None,
            size: None,
            writable,
            kind,
        };
        for (name, kind, writable, expected) in [
            ("count", NodeKind::Data, false, true),
            ("ns::count", NodeKind::Data, false, true),
            ("a + b", NodeKind::Data, false, false),
            ("s.flag", NodeKind::Data, true, true),
            ("3", NodeKind::Data, false, false),
            ("rax", NodeKind::Register, true, false),
        ] {
            assert_eq!(is_variable(name, &node(kind, writable)), expected, "{name}");
        }
    }
}
