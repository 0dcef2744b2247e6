//! Threads and frames.

use super::{Answer, body, parse};
use crate::adapter::{Adapter, queries};
use crate::protocol::arguments::{StackFrameFormat, StackTrace};
use crate::protocol::bodies::{Source, StackFrame, Thread};
use crate::protocol::message::Failure;
use juror_view::ThreadView;
use juror_view::driver::Driver;
use juror_view::nodes::{Group, Node};
use juror_view::queries::{PlacedFrameView, SelectionView};
use serde_json::{Value, json};

/// The limit of frames of one answer.
const FRAMES_MAX: u64 = 1000;

/// `threads`
pub(super) fn threads(_: &mut Adapter, session: &mut dyn Driver, _: Value) -> Answer {
    let views = queries(session)?.threads()?;
    let threads: Vec<Thread> = views.into_iter().map(thread).collect();
    body(json!({ "threads": threads }))
}

fn thread(view: ThreadView) -> Thread {
    Thread {
        id: i64::from(view.number),
        name: match view.id {
            0 => format!("thread {}", view.number),
            id => format!("{} {} ({id})", view.number, view.name),
        },
    }
}

/// Returns juror's number of a thread.
pub(super) fn thread_number(number: i64) -> Result<u32, Failure> {
    let given = u32::try_from(number).ok();
    given.ok_or_else(|| Failure::quiet(format!("there is no thread {number}")))
}

/// `stackTrace`
pub(super) fn stack_trace(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    arguments: Value,
) -> Answer {
    let given: StackTrace = parse(arguments)?;
    let thread = thread_number(given.thread_id)?;
    let first = u64::try_from(given.start_frame.unwrap_or(0)).unwrap_or(0);
    let levels = u64::try_from(given.levels.unwrap_or(0)).unwrap_or(0);
    let count = match levels {
        0 => FRAMES_MAX,
        levels => levels.min(FRAMES_MAX),
    };
    let found = queries(session)?.frames(thread, first, count)?;
    // Without the number of all frames, a client asks for more as long as it gets some.
    let end = first + found.frames.len() as u64;
    let total = found.total.unwrap_or(end + FRAMES_MAX);
    let format = given.format.unwrap_or_default();
    let parameters = parameters_of(adapter, session, thread, &found.frames, &format)?;
    let mut frames = Vec::with_capacity(found.frames.len());
    for (placed, parameters) in found.frames.into_iter().zip(parameters) {
        let module = placed.module.clone();
        let mut shown = stack_frame(adapter, thread, placed);
        name_as_asked(&mut shown, &format, parameters, module.as_deref());
        frames.push(shown);
    }
    body(json!({ "stackFrames": frames, "totalFrames": total }))
}

/// Returns the parameters of frames as they are asked for; nothing for each if they are not.
fn parameters_of(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    thread: u32,
    frames: &[PlacedFrameView],
    format: &StackFrameFormat,
) -> Result<Vec<Option<String>>, Failure> {
    if format.parameters != Some(true) {
        return Ok(vec![None; frames.len()]);
    }
    // The stack of the selected thread is unwound only once.
    let innermost = SelectionView { thread, level: 0 };
    adapter.at(session, Some(innermost), |_, session| {
        let frames = frames.iter();
        Ok(frames
            .map(|placed| parameters(session, thread, placed, format))
            .collect())
    })
}

/// Returns the parameters of a frame; nothing if it is not one of a function.
fn parameters(
    session: &mut dyn Driver,
    thread: u32,
    placed: &PlacedFrameView,
    format: &StackFrameFormat,
) -> Option<String> {
    let level = placed.frame.level;
    let frame = SelectionView { thread, level };
    let questions = session.queries().filter(|_| has_function(placed))?;
    let is_hex = format.hex == Some(true);
    let nodes = questions
        .scope_nodes(frame, Group::Arguments, is_hex)
        .ok()?;
    let nodes = nodes.into_iter().map(|node| parameter(node, format));
    Some(nodes.collect::<Vec<_>>().join(", "))
}

/// Returns whether a frame is one of a function, and no label.
fn has_function(placed: &PlacedFrameView) -> bool {
    let frame = &placed.frame;
    frame.evaluation.is_none() && !frame.signal && frame.location.function.is_some()
}

/// Returns a parameter in the form `int n = 3`: all three are shown if none is asked for.
fn parameter(node: Node, format: &StackFrameFormat) -> String {
    let asked = [
        format.parameter_types,
        format.parameter_names,
        format.parameter_values,
    ];
    let is_any = asked.contains(&Some(true));
    let is_shown = |asked: Option<bool>| asked == Some(true) || !is_any && asked.is_none();
    let mut words = Vec::new();
    if is_shown(format.parameter_types) {
        words.extend(node.type_name.filter(|name| !name.is_empty()));
    }
    if is_shown(format.parameter_names) {
        words.push(node.name);
    }
    if is_shown(format.parameter_values) {
        if !words.is_empty() {
            words.push("=".to_owned());
        }
        words.push(node.summary);
    }
    words.join(" ")
}

/// Adds to a frame's name what the client asks for: `lib.so!f(int n = 3) line 12`.
fn name_as_asked(
    frame: &mut StackFrame,
    format: &StackFrameFormat,
    parameters: Option<String>,
    module: Option<&str>,
) {
    if let Some(parameters) = parameters {
        frame.name.push_str(&format!("({parameters})"));
    }
    if let Some(module) = module.filter(|_| format.module == Some(true)) {
        frame.name = format!("{}!{}", Source::of(module).name, frame.name);
    }
    if format.line == Some(true) && frame.line > 0 {
        frame.name.push_str(&format!(" line {}", frame.line));
    }
}

fn stack_frame(adapter: &mut Adapter, thread: u32, placed: PlacedFrameView) -> StackFrame {
    let frame = placed.frame;
    let id = adapter.identifiers.frame(SelectionView {
        thread,
        level: frame.level,
    });
    let at = &frame.location;
    let near = at.near.as_ref();
    let path = placed.source.as_deref().or(at.file.as_deref());
    let line = at.line.or(near.map(|near| near.line));
    let name = at.function.clone();
    let name = name.unwrap_or_else(|| format!("{:#x}", at.address));
    StackFrame {
        id,
        name: match (frame.evaluation, frame.inlined, frame.signal) {
            (Some(number), _, _) => format!("<called by juror, evaluation {number}>"),
            (_, true, _) => format!("{name} [inlined]"),
            (_, _, true) => "<signal handler called>".to_owned(),
            _ => name,
        },
        source: path.map(Source::of),
        line: line.map_or(0, |line| adapter.line_out(line)),
        column: placed.column.map_or(0, |it| adapter.column_out(it.unit)),
        instruction_pointer_reference: Some(at.address)
            .filter(|address| *address != 0 || !adapter.is_recorded)
            .map(|address| format!("{address:#x}")),
        can_restart: Some(placed.may_restart),
        module_id: placed.module,
        presentation_hint: match (frame.evaluation, frame.signal, placed.is_users) {
            (Some(_), _, _) | (_, true, _) => Some("label"),
            (_, _, false) => Some("subtle"),
            _ => None,
        },
    }
}
