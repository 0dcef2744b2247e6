//! Values as trees: the values of a frame, their parts by range, expressions, assignment.
//!
//! **Invariant**: a question changes nothing but what it says: the selected thread and frame are
//! the same afterwards.

mod assign;
mod framed;
mod made;
mod scopes;
mod shown_values;

pub(crate) use assign::{assign_expression, assign_node};
use juror_arch::names::{SpecialRegister, is_register};
pub(crate) use scopes::scope_nodes;

use crate::inspect::expressions;
use crate::inspect::nodes::framed::{frame_of, in_frame};
use crate::inspect::nodes::made::{Draft, Origin, Writer};
use crate::session::Session;
use crate::state::nodes::{Content, FrameOf, Known, Value};
use juror_fault::CommandError;
use juror_language::{Expression, ExpressionKind};
use juror_symbols::Type;
use juror_values::format::{Radix, whole};
use juror_values::parts::{Opened, Part, Path, Reader, open};
use juror_values::typed::Typed;
use juror_view::nodes::{Node, NodeId, PartFilter};
use juror_view::observer::SilentObserver;
use juror_view::{Outcome, ValueView};
use std::ops::Range;

/// The most parts that one question gets.
const PARTS_MAX: u64 = 1 << 16;

/// Returns a range of the parts of a value.
pub(crate) fn part_nodes(
    session: &mut Session,
    id: NodeId,
    filter: PartFilter,
    range: Range<u64>,
    radix: Option<Radix>,
) -> Result<Vec<Node>, CommandError> {
    let known = known(session, id)?;
    let value = match &known.content {
        Content::Registers(_) if filter == PartFilter::Indexed => return Ok(Vec::new()),
        Content::Registers(names) => {
            let radix = radix.unwrap_or_default();
            return scopes::register_nodes(session, known.frame, within(names, &range), radix);
        }
        Content::Value(value) => value,
    };
    let radix = radix.unwrap_or(value.radix);
    in_frame(session, known.frame, |session| {
        let (opened, reader) = opened(session, value)?;
        let is_meant = match filter {
            PartFilter::Named => opened.named() > 0,
            PartFilter::Indexed => opened.indexed() > 0,
            PartFilter::All => true,
        };
        let end = range.end.min(opened.named().max(opened.indexed()));
        if !is_meant || end <= range.start {
            return Ok(Vec::new());
        }
        if end - range.start > PARTS_MAX {
            return Err(CommandError::new(format!(
                "at most {PARTS_MAX} parts are shown at once"
            )));
        }
        let parts = opened.parts(range.start..end, reader);
        // Several entries may have one key: an expression gives the first of them.
        let is_checked = opened.named() > 0 || value.typed.r#type.name().contains("multimap");
        let writer = Writer::new(session, known.frame, radix)?;
        writer.nodes(parts.into_iter().map(|part| Draft {
            is_checked,
            ..draft(part, value)
        }))
    })
}

/// Returns the value of a number, which must be of the present stop and process.
fn known(session: &Session, id: NodeId) -> Result<Known, CommandError> {
    let known = session.processes.nodes.get(id)?.clone();
    if known.process == session.processes.number {
        Ok(known)
    } else {
        Err(CommandError::with_help(
            format!("that value is of process {}", known.process),
            format!("process {} selects it", known.process),
        ))
    }
}

/// Opens a value; returns what reads its parts, too.
fn opened<'a>(session: &'a Session, value: &Value) -> Result<(Opened, Reader<'a>), CommandError> {
    let program = session.running()?;
    let reader = Reader {
        memory: program,
        names: program,
        is_raw: value.radix == Radix::Raw,
        walks: Some(&session.processes.nodes.walks),
    };
    let opened = open(&value.typed, &value.path, value.is_of_object, reader);
    Ok((opened, reader))
}

fn draft(part: Part, of: &Value) -> Draft {
    let is_of_register = of.path.text().is_some_and(|text| {
        let whole = text.split(['.', '[']).next().unwrap_or_default();
        let name = whole.strip_prefix('$').unwrap_or_default();
        matches!(
            SpecialRegister::named(name),
            Some(SpecialRegister::Vector(_) | SpecialRegister::X87(_))
        )
    });
    Draft {
        name: None,
        role: Some(part.role),
        typed: part.value,
        path: part.path,
        is_checked: true,
        origin: if is_of_register {
            Origin::Register
        } else {
            Origin::Part
        },
    }
}

fn within<'a, T>(all: &'a [T], range: &Range<u64>) -> &'a [T] {
    let end = range.end.min(all.len() as u64);
    let start = range.start.min(end);
    all.get(start as usize..end as usize).unwrap_or_default()
}

/// Evaluates an expression in a frame; `may_call` permits calls of functions of the program.
pub(crate) fn evaluate_node(
    session: &mut Session,
    thread: u32,
    level: usize,
    text: &str,
    radix: Option<Radix>,
    may_call: bool,
) -> Result<Node, CommandError> {
    let frame = frame_of(session, thread, level)?;
    let text = text.trim();
    in_frame(session, frame, |session| {
        let expression = expressions::read(session, text)?;
        let (typed, text) = match expressions::evaluate_expression(session, &expression) {
            Ok(typed) => (typed, text.to_owned()),
            Err(_) if may_call && (expression.has_effects() || expression.counts()) => {
                called(session, text)?
            }
            Err(error) => return Err(error),
        };
        node_of(session, frame, &expression, typed, &text, radix)
    })
}

/// Returns the whole value of an expression in a frame as text.
pub(crate) fn whole_value(
    session: &mut Session,
    thread: u32,
    level: usize,
    text: &str,
    radix: Radix,
) -> Result<String, CommandError> {
    let frame = frame_of(session, thread, level)?;
    in_frame(session, frame, |session| {
        let typed = expressions::evaluate(session, text.trim())?;
        let program = session.running()?;
        Ok(whole(&typed, program, program, radix))
    })
}

/// Evaluates an expression that calls functions; returns its value, and the name that it has in
/// the value history.
fn called(session: &mut Session, text: &str) -> Result<(Typed, String), CommandError> {
    // The command does what follows a run of the program, however it ends.
    let line = format!("print ({})", text.replace(['\n', '\r'], " "));
    match session.execute(&line, &mut SilentObserver)? {
        Outcome::Value(ValueView { number: 0, .. }) => {
            let nothing = Typed::of_bytes(Type::void(), Vec::new());
            Ok((nothing, text.to_owned()))
        }
        Outcome::Value(ValueView { number, .. }) => {
            let kept = session.user.values.last().cloned();
            let kept = kept.ok_or_else(|| CommandError::new("the value was not kept"))?;
            Ok((kept, format!("${number}")))
        }
        _ => Err(CommandError::with_help(
            format!("`{text}` has no value: the program stopped in the call"),
            "see: info evaluations",
        )),
    }
}

/// Returns the node of an expression's value.
fn node_of(
    session: &mut Session,
    frame: FrameOf,
    expression: &Expression,
    typed: Typed,
    text: &str,
    radix: Option<Radix>,
) -> Result<Node, CommandError> {
    let origin = match &expression.kind {
        ExpressionKind::Register(name) if is_register(name) => Origin::Register,
        ExpressionKind::Name(_) => Origin::Variable,
        _ => Origin::Part,
    };
    let is_postfix = matches!(
        expression.kind,
        ExpressionKind::Register(_)
            | ExpressionKind::Name(_)
            | ExpressionKind::Field { .. }
            | ExpressionKind::Index { .. }
    ) && !text.starts_with("__");
    let writer = Writer::new(session, frame, radix.unwrap_or_default())?;
    let nodes = writer.nodes([Draft {
        name: Some(text.to_owned()),
        role: None,
        typed,
        path: Path::new(text, is_postfix || text.starts_with('$')),
        is_checked: false,
        origin,
    }])?;
    let mut nodes = nodes.into_iter();
    nodes
        .next()
        .ok_or_else(|| CommandError::new("the expression has no value"))
}
