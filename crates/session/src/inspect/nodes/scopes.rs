//! The values of a frame by group: arguments, local variables, registers, what was returned, and
//! the static variables of its file.

use crate::inspect::frames::selected_frame;
use crate::inspect::nodes::framed::{frame_of, in_frame};
use crate::inspect::nodes::made::{Draft, Origin, Writer};
use crate::inspect::{assignment, expressions};
use crate::session::Session;
use crate::state::nodes::{Content, FrameOf, Known};
use juror_arch::names;
use juror_fault::CommandError;
use juror_values::format::Radix;
use juror_values::parts::Path;
use juror_values::typed::Typed;
use juror_view::nodes::{Group, Node, NodeKind};

/// Returns the values of a group in a frame.
pub(crate) fn scope_nodes(
    session: &mut Session,
    thread: u32,
    level: usize,
    group: Group,
    radix: Radix,
) -> Result<Vec<Node>, CommandError> {
    let frame = frame_of(session, thread, level)?;
    in_frame(session, frame, |session| match group {
        Group::Arguments => variables(session, frame, true, radix),
        Group::Locals => variables(session, frame, false, radix),
        Group::ReturnValue => returned(session, frame, radix),
        Group::Registers => registers(session, frame, radix),
        Group::Statics => statics(session, frame, radix),
    })
}

fn variables(
    session: &mut Session,
    frame: FrameOf,
    parameters: bool,
    radix: Radix,
) -> Result<Vec<Node>, CommandError> {
    let selected = selected_frame(session)?;
    let program = session.running()?;
    let mut seen = Vec::new();
    let mut drafts = Vec::new();
    for (variable, parameter) in program.variables(&selected) {
        // An inner variable hides an outer one of its name.
        if seen.contains(&variable.name) {
            continue;
        }
        seen.push(variable.name.clone());
        if parameter == parameters {
            drafts.push(Draft {
                typed: program.value_of(&selected, &variable),
                ..named(&variable.name, Origin::Variable)
            });
        }
    }
    Writer::new(session, frame, radix)?.nodes(drafts)
}

/// Returns a draft whose name is its expression.
fn named(name: &str, origin: Origin) -> Draft {
    Draft {
        name: Some(name.to_owned()),
        role: None,
        typed: Typed::missing(juror_symbols::Type::void(), "it is not read"),
        path: Path::new(name, true),
        is_checked: true,
        origin,
    }
}

fn returned(
    session: &mut Session,
    frame: FrameOf,
    radix: Radix,
) -> Result<Vec<Node>, CommandError> {
    let returned = session.processes.nodes.returned.clone();
    let returned = returned.filter(|it| it.thread == frame.thread && frame.level == 0);
    let Some(returned) = returned else {
        return Ok(Vec::new());
    };
    let name = format!("${}", returned.number);
    let typed = expressions::evaluate(session, &name)?;
    let draft = Draft {
        typed,
        ..named(&name, Origin::Returned)
    };
    Writer::new(session, frame, radix)?.nodes([draft])
}

fn statics(session: &mut Session, frame: FrameOf, radix: Radix) -> Result<Vec<Node>, CommandError> {
    let selected = selected_frame(session)?;
    let found = session.running()?.statics_of(&selected);
    let drafts = found.into_iter().map(|(name, typed)| Draft {
        typed,
        ..named(&name, Origin::Static)
    });
    let drafts: Vec<Draft> = drafts.collect();
    Writer::new(session, frame, radix)?.nodes(drafts)
}

/// Returns the general registers, and groups of the others.
fn registers(
    session: &mut Session,
    frame: FrameOf,
    radix: Radix,
) -> Result<Vec<Node>, CommandError> {
    let mut nodes = register_drafts(session, frame, &names::GENERAL, radix)?;
    for (name, members) in names::GROUPS {
        let first = members.first().copied().unwrap_or_default();
        if expressions::evaluate(session, &format!("${first}")).is_err() {
            continue;
        }
        let id = session.processes.add_node(Known {
            process: session.processes.number,
            frame,
            content: Content::Registers(members),
        });
        nodes.push(Node {
            id,
            name: (*name).to_owned(),
            type_name: None,
            summary: String::new(),
            named: members.len() as u64,
            indexed: 0,
            evaluate_name: None,
            address: None,
            memory: None,
            size: None,
            writable: false,
            kind: NodeKind::Group,
        });
    }
    Ok(nodes)
}

/// Returns registers of a frame by their names.
pub(super) fn register_nodes(
    session: &mut Session,
    frame: FrameOf,
    names: &[&str],
    radix: Radix,
) -> Result<Vec<Node>, CommandError> {
    in_frame(session, frame, |session| {
        register_drafts(session, frame, names, radix)
    })
}

fn register_drafts(
    session: &mut Session,
    frame: FrameOf,
    names: &[&str],
    asked: Radix,
) -> Result<Vec<Node>, CommandError> {
    let mut nodes = Vec::with_capacity(names.len());
    for name in names {
        let expression = format!("${name}");
        let typed = expressions::evaluate(session, &expression);
        let typed = typed.unwrap_or_else(|error| {
            Typed::missing(juror_symbols::Type::void(), error.message.as_str())
        });
        // Whole registers are addresses as often as numbers.
        let is_word = typed.r#type.name() == "long";
        let radix = if is_word { Radix::Hexadecimal } else { asked };
        let draft = Draft {
            name: Some((*name).to_owned()),
            typed,
            path: Path::new(&expression, true),
            is_checked: false,
            ..named("", Origin::Register)
        };
        let mut made = Writer::new(session, frame, radix)?.nodes([draft])?;
        for node in &mut made {
            node.writable &= assignment::refusal(name).is_none();
        }
        nodes.extend(made);
    }
    Ok(nodes)
}
