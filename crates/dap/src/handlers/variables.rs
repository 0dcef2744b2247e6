//! Scopes and variables.

use super::{Answer, body, memory, monitors, parse};
use crate::adapter::{Adapter, queries};
use crate::identifiers::Container;
use crate::protocol::arguments::{Scopes, SetExpression, SetVariable, ValueFormat, Variables};
use crate::protocol::bodies::{Assigned, PresentationHint, Scope, Variable};
use crate::protocol::message::Failure;
use juror_view::driver::Driver;
use juror_view::live::SampleWanted;
use juror_view::nodes::{Group, Node, NodeKind, PartFilter};
use juror_view::queries::SelectionView;
use serde_json::{Value, json};

/// The most parts of one answer, if the client does not say how many it wants.
const PARTS_MAX: u64 = 1_000;

/// The name of the row that says how many parts are left out.
const REST: &str = "...";

/// The groups of a frame's values: name, the client's word, and whether they are shown on demand.
const GROUPS: [(Group, &str, Option<&str>, bool); 4] = [
    (Group::Arguments, "Arguments", Some("arguments"), false),
    (Group::Locals, "Locals", Some("locals"), false),
    (Group::Statics, "Statics", None, true),
    (Group::Registers, "Registers", Some("registers"), true),
];

/// The group of a recorded run: the values of the event.
const RECORDED_GROUPS: [(Group, &str, Option<&str>, bool); 1] =
    [(Group::Arguments, "Values", Some("arguments"), false)];

/// `scopes`
pub(super) fn scopes(adapter: &mut Adapter, session: &mut dyn Driver, arguments: Value) -> Answer {
    let given: Scopes = parse(arguments)?;
    let frame = adapter.identifiers.frame_of(given.frame_id)?;
    let mut scopes = Vec::new();
    if adapter.has_returned && frame.level == 0 {
        let container = Container::Scope(frame, Group::ReturnValue);
        let hint = Some("returnValue");
        scopes.push(scope(adapter, "Return value", hint, container, false));
    }
    // The user may have added properties, or removed them.
    let sample = session.sample(&SampleWanted::default());
    let has_monitors = !sample.properties.is_empty();
    // The monitors come after what is the frame's own.
    let (groups, last) = if session.is_recorded() {
        (&RECORDED_GROUPS[..], Group::Arguments)
    } else {
        (&GROUPS[..], Group::Locals)
    };
    for &(group, name, hint, is_expensive) in groups {
        let container = Container::Scope(frame, group);
        scopes.push(scope(adapter, name, hint, container, is_expensive));
        if group == last && has_monitors {
            scopes.push(scope(adapter, "Monitors", None, Container::Monitors, false));
        }
    }
    body(json!({ "scopes": scopes }))
}

fn scope(
    adapter: &mut Adapter,
    name: &str,
    hint: Option<&'static str>,
    container: Container,
    expensive: bool,
) -> Scope {
    Scope {
        name: name.to_owned(),
        presentation_hint: hint,
        variables_reference: adapter.identifiers.container(container),
        expensive,
        ..Scope::default()
    }
}

/// `variables`
pub(super) fn variables(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    arguments: Value,
) -> Answer {
    let given: Variables = parse(arguments)?;
    let container = adapter
        .identifiers
        .container_of(given.variables_reference)?;
    let is_hex = asks_hex(given.format.as_ref());
    let filter = match given.filter.as_deref() {
        Some("indexed") => PartFilter::Indexed,
        Some("named") => PartFilter::Named,
        _ => PartFilter::All,
    };
    let first = u64::try_from(given.start.unwrap_or(0)).unwrap_or(0);
    let asked = given.count.and_then(|count| u64::try_from(count).ok());
    let asked = asked.filter(|&count| count > 0);
    // One more tells whether there are others.
    let count = asked.unwrap_or(PARTS_MAX + 1);
    let mut page = match container {
        // The session pages its own values.
        Container::Node(node, frame) => {
            let nodes = queries(session)?.part_nodes(node, filter, first, count, is_hex)?;
            shown(adapter, frame, nodes)
        }
        Container::Scope(frame, group) => {
            let nodes = queries(session)?.scope_nodes(frame, group, is_hex)?;
            within(shown(adapter, frame, nodes), filter, first, count)
        }
        Container::Monitors => within(
            monitors::properties(adapter, session)?,
            filter,
            first,
            count,
        ),
        Container::Monitor(_) if filter == PartFilter::Named => Vec::new(),
        Container::Monitor(property) => {
            monitors::slices(adapter, session, &property, first, count)?
        }
        Container::Slice(slice) => within(
            monitors::parts(adapter, session, &slice)?,
            filter,
            first,
            count,
        ),
        Container::Path(slice) => within(monitors::path(session, &slice)?, filter, first, count),
    };
    if asked.is_none() && page.len() as u64 > PARTS_MAX {
        page.truncate(usize::try_from(PARTS_MAX).unwrap_or(usize::MAX));
        page.push(rest(adapter, given.variables_reference, first + PARTS_MAX));
    }
    body(json!({ "variables": page }))
}

/// Returns a page of variables that all have names.
fn within(all: Vec<Variable>, filter: PartFilter, first: u64, count: u64) -> Vec<Variable> {
    all.into_iter()
        .filter(|_| filter != PartFilter::Indexed)
        .skip(usize::try_from(first).unwrap_or(usize::MAX))
        .take(usize::try_from(count).unwrap_or(usize::MAX))
        .collect()
}

/// Returns whether a client asks for hexadecimal numbers.
pub(super) fn asks_hex(format: Option<&ValueFormat>) -> bool {
    format.and_then(|format| format.hex) == Some(true)
}

/// Returns nodes as variables.
fn shown(adapter: &mut Adapter, frame: SelectionView, nodes: Vec<Node>) -> Vec<Variable> {
    let nodes = nodes.into_iter();
    nodes.map(|node| variable(adapter, frame, node)).collect()
}

/// Returns the row that stands for the parts which are left out.
fn rest(adapter: &Adapter, container: i64, shown: u64) -> Variable {
    let counts = adapter.identifiers.counts_of(container);
    let left = counts.saturating_sub(shown);
    Variable {
        name: REST.to_owned(),
        value: match left {
            0 => "there are more parts".to_owned(),
            left => format!("{left} more parts, from {shown} on, of {counts}"),
        },
        presentation_hint: Some(PresentationHint {
            kind: Some("virtual"),
            attributes: vec!["readOnly"],
            lazy: None,
        }),
        ..Variable::default()
    }
}

fn variable(adapter: &mut Adapter, frame: SelectionView, node: Node) -> Variable {
    let kind = match node.kind {
        NodeKind::Base => Some("baseClass"),
        NodeKind::Virtual => Some("virtual"),
        NodeKind::Data | NodeKind::Pointer | NodeKind::Static | NodeKind::Register => Some("data"),
        NodeKind::Group | NodeKind::Returned | NodeKind::Error => None,
    };
    let mut attributes = Vec::new();
    if !node.writable {
        attributes.push("readOnly");
    }
    if node.kind == NodeKind::Static {
        attributes.push("static");
    }
    Variable {
        variables_reference: container_of(adapter, frame, &node),
        named_variables: counted(node.named),
        indexed_variables: counted(node.indexed),
        name: node.name,
        value: node.summary,
        type_name: node.type_name.filter(|name| !name.is_empty()),
        evaluate_name: node.evaluate_name,
        memory_reference: node.memory.map(|at| format!("{at:#x}")),
        presentation_hint: Some(PresentationHint {
            kind,
            attributes,
            lazy: None,
        }),
    }
}

/// Returns the container of a value's parts; 0 if it has none.
pub(super) fn container_of(adapter: &mut Adapter, frame: SelectionView, node: &Node) -> i64 {
    match node.id.0 {
        0 => 0,
        _ => {
            let number = adapter
                .identifiers
                .container(Container::Node(node.id, frame));
            let parts = node.named.max(node.indexed);
            adapter.identifiers.note_count(number, parts);
            number
        }
    }
}

/// Returns a number of parts, if there are some.
pub(super) fn counted(count: u64) -> Option<i64> {
    i64::try_from(count).ok().filter(|count| *count > 0)
}

/// `setVariable`
pub(super) fn set_variable(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    arguments: Value,
) -> Answer {
    let given: SetVariable = parse(arguments)?;
    let container = adapter
        .identifiers
        .container_of(given.variables_reference)?;
    let (name, value) = (given.name.trim(), given.value.trim());
    let is_hex = asks_hex(given.format.as_ref());
    let (frame, node) = match container {
        Container::Scope(frame, group) => {
            let place = match group {
                Group::Registers => format!("${name}"),
                _ => name.to_owned(),
            };
            let node = queries(session)?.assign_expression(frame, &place, value, is_hex)?;
            (frame, node)
        }
        Container::Node(parent, frame) => {
            let node = queries(session)?.assign_node(parent, name, value, is_hex)?;
            (frame, node)
        }
        Container::Slice(slice) => {
            let value = monitors::assign(session, &slice, name, value)?;
            adapter.invalidate(&["variables"]);
            return body(Assigned {
                value,
                ..Assigned::default()
            });
        }
        Container::Monitors | Container::Monitor(_) | Container::Path(..) => {
            return Err(Failure::shown("this cannot be assigned to"));
        }
    };
    body(assigned(adapter, session, frame, node))
}

/// `setExpression`
pub(super) fn set_expression(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    arguments: Value,
) -> Answer {
    let given: SetExpression = parse(arguments)?;
    let frame = frame_or_selected(adapter, session, given.frame_id)?;
    let questions = queries(session)?;
    let is_hex = asks_hex(given.format.as_ref());
    let node = questions.assign_expression(frame, &given.expression, &given.value, is_hex)?;
    body(assigned(adapter, session, frame, node))
}

/// Returns the frame of the client's number, or the selected one.
pub(super) fn frame_or_selected(
    adapter: &Adapter,
    session: &mut dyn Driver,
    number: Option<i64>,
) -> Result<SelectionView, Failure> {
    match number.filter(|&number| number > 0) {
        Some(number) => adapter.identifiers.frame_of(number),
        None => {
            let selection = queries(session)?.selection();
            selection.ok_or_else(|| Failure::quiet("there is no frame"))
        }
    }
}

fn assigned(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    frame: SelectionView,
    node: Node,
) -> Assigned {
    // Others may be in the same memory.
    adapter.invalidate(&["variables"]);
    memory::tell_written(adapter, session);
    Assigned {
        variables_reference: container_of(adapter, frame, &node),
        named_variables: counted(node.named),
        indexed_variables: counted(node.indexed),
        memory_reference: node.memory.map(|at| format!("{at:#x}")),
        value: node.summary,
        type_name: node.type_name.filter(|name| !name.is_empty()),
    }
}
