//! Assignment to values that front ends show.

use crate::inspect::nodes::framed::{frame_of, in_frame};
use crate::inspect::nodes::made::Writer;
use crate::inspect::nodes::{draft, known, node_of, opened, shown_values};
use crate::inspect::{assignment, expressions};
use crate::session::Session;
use crate::state::nodes::{Content, FrameOf, Value};
use juror_fault::CommandError;
use juror_language::ExpressionKind;
use juror_values::format::Radix;
use juror_values::parts::{Opened, Part, Reader, Role};
use juror_values::typed::Location;
use juror_view::nodes::{Node, NodeId};
use std::ops::Range;

/// The number of entries that are looked at together for a key.
const PAGE: u64 = 256;

/// Assigns to the value of an expression; returns the node of its new value.
pub(crate) fn assign_expression(
    session: &mut Session,
    thread: u32,
    level: usize,
    place: &str,
    value: &str,
    radix: Option<Radix>,
) -> Result<Node, CommandError> {
    let frame = frame_of(session, thread, level)?;
    let node = in_frame(session, frame, |session| {
        assign_in_frame(session, frame, place.trim(), value.trim(), radix)
    });
    // The frames have cached old values of registers.
    session.processes.selection.frames = None;
    node
}

fn assign_in_frame(
    session: &mut Session,
    frame: FrameOf,
    place: &str,
    value: &str,
    radix: Option<Radix>,
) -> Result<Node, CommandError> {
    session.begun()?;
    let expression = expressions::read(session, place)?;
    let target = expressions::evaluate_expression(session, &expression);
    if expression.has_effects() {
        // It could not be evaluated again, for its new value.
        target?;
        return Err(CommandError::new(
            "the place of an assignment changes nothing",
        ));
    }
    let target = target.ok().map(|target| target.r#type);
    let value = shown_values::meant(session, target, value);
    assignment::assign_text(session, &expression, &value)?;
    let typed = expressions::evaluate_expression(session, &expression)?.without_snapshot();
    // As the scope of registers shows it.
    let is_word =
        matches!(&expression.kind, ExpressionKind::Register(_)) && typed.r#type.name() == "long";
    let radix = radix.or_else(|| is_word.then_some(Radix::Hexadecimal));
    node_of(session, frame, &expression, typed, place, radix)
}

/// Assigns to a part of a value, by its name; returns the node of its new value.
pub(crate) fn assign_node(
    session: &mut Session,
    parent: NodeId,
    name: &str,
    value: &str,
    radix: Option<Radix>,
) -> Result<Node, CommandError> {
    let known = known(session, parent)?;
    let frame = known.frame;
    let node = in_frame(session, frame, |session| match &known.content {
        Content::Registers(_) => assign_in_frame(session, frame, &format!("${name}"), value, radix),
        Content::Value(parent) => assign_part(session, frame, parent, name, value, radix),
    });
    session.processes.selection.frames = None;
    node
}

fn assign_part(
    session: &mut Session,
    frame: FrameOf,
    parent: &Value,
    name: &str,
    value: &str,
    radix: Option<Radix>,
) -> Result<Node, CommandError> {
    session.begun()?;
    let part = part_named(session, frame, parent, name)?;
    let target = part.value.r#type.clone();
    let value = &*shown_values::meant(session, Some(target), value);
    let is_in_memory = matches!(part.value.location, Location::Memory(_));
    match part.path.text().filter(|_| !is_in_memory) {
        Some(place) => {
            let expression = expressions::read(session, place)?;
            assignment::assign_text(session, &expression, value)?;
        }
        None => assignment::assign_in_memory(session, &part.value, value)?,
    }
    // A part of a register is read anew.
    let part = match part.path.text().filter(|_| !is_in_memory) {
        Some(place) => Part {
            value: expressions::evaluate(session, place)?,
            ..part
        },
        None => part,
    };
    let writer = Writer::new(session, frame, radix.unwrap_or(parent.radix))?;
    let nodes = writer.nodes([draft(part, parent)])?;
    let mut nodes = nodes.into_iter();
    nodes.next().ok_or_else(|| no_part(name))
}

fn no_part(name: &str) -> CommandError {
    CommandError::new(format!("the value has no part `{name}`"))
}

/// Returns the part of a value that its node calls so.
fn part_named(
    session: &mut Session,
    frame: FrameOf,
    parent: &Value,
    name: &str,
) -> Result<Part, CommandError> {
    let (opened, reader) = opened(session, parent)?;
    let number = name
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    if let Some(index) = number.and_then(|digits| digits.parse::<i128>().ok())
        && let Some(position) = opened.position_of(index)
        && let [part] = opened
            .parts(position..position.saturating_add(1), reader)
            .as_slice()
        && part.role == Role::Element(index)
    {
        return Ok(part.clone());
    }
    let writer = Writer::new(session, frame, parent.radix)?;
    let mut start = 0;
    loop {
        let parts = page(&opened, start..start + PAGE, &writer.reader()?);
        if parts.is_empty() {
            return Err(no_part(name));
        }
        for part in parts {
            if writer.name_of(&part.role, &part.path, &part.value)? == name {
                return Ok(part);
            }
        }
        start += PAGE;
    }
}

fn page(opened: &Opened, range: Range<u64>, reader: &Reader<'_>) -> Vec<Part> {
    // Elements are found by their numbers.
    let parts = opened.parts(range, *reader);
    let is_array = parts
        .iter()
        .all(|part| matches!(part.role, Role::Element(_)));
    if is_array { Vec::new() } else { parts }
}
