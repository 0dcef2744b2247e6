//! Threads and frames.

use super::{Answer, body, parse};
use crate::adapter::{Adapter, queries};
use crate::protocol::arguments::StackTrace;
use crate::protocol::bodies::{Source, StackFrame, Thread};
use crate::protocol::message::Failure;
use juror_view::driver::Driver;
use juror_view::queries::{PlacedFrameView, SelectionView};
use juror_view::{Outcome, ThreadView};
use serde_json::{Value, json};

/// The limit of frames of one answer.
const FRAMES_MAX: u64 = 1000;

/// `threads`
pub(super) fn threads(adapter: &mut Adapter, session: &mut dyn Driver, _: Value) -> Answer {
    let views = match adapter.execute(session, "info threads")? {
        Outcome::Threads(views) => views,
        _ => Vec::new(),
    };
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
    let frames = found.frames.into_iter();
    let frames: Vec<StackFrame> = frames
        .map(|frame| stack_frame(adapter, thread, frame))
        .collect();
    body(json!({ "stackFrames": frames, "totalFrames": total }))
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
