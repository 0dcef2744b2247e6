//! Requests that resume or pause the program, and that move where it continues.

use super::breakpoints::{path_of, quoted};
use super::stack::thread_number;
use super::{Answer, body, parse};
use crate::adapter::{Adapter, Resume};
use crate::protocol::arguments::{self, Goto, GotoTargets};
use crate::protocol::bodies::{GotoTarget, Stopped};
use crate::protocol::message::Failure;
use juror_view::Outcome;
use juror_view::driver::Driver;
use juror_view::queries::SelectionView;
use serde_json::{Value, json};

/// `continue`
pub(super) fn go_on(
    _: &mut Adapter,
    _: &mut dyn Driver,
    arguments: Value,
) -> Result<Resume, Failure> {
    let given: arguments::Resume = parse(arguments)?;
    all_threads(&given)?;
    Ok(Resume {
        thread: None,
        line: "continue".to_owned(),
        body: json!({ "allThreadsContinued": true }),
    })
}

/// `next`
pub(super) fn next(
    _: &mut Adapter,
    _: &mut dyn Driver,
    arguments: Value,
) -> Result<Resume, Failure> {
    step(arguments, "next", "nexti")
}

/// `stepIn`
pub(super) fn step_in(
    _: &mut Adapter,
    _: &mut dyn Driver,
    arguments: Value,
) -> Result<Resume, Failure> {
    step(arguments, "step", "stepi")
}

/// `stepOut`
pub(super) fn step_out(
    _: &mut Adapter,
    _: &mut dyn Driver,
    arguments: Value,
) -> Result<Resume, Failure> {
    step(arguments, "finish", "finish")
}

fn step(arguments: Value, line: &str, instruction: &str) -> Result<Resume, Failure> {
    let given: arguments::Resume = parse(arguments)?;
    all_threads(&given)?;
    if given.target_id.is_some() {
        return Err(Failure::quiet("a call to step into cannot be chosen"));
    }
    let thread = given.thread_id.map(thread_number).transpose()?;
    let line = match given.granularity.as_deref() {
        Some("instruction") => instruction,
        _ => line,
    };
    Ok(Resume {
        thread,
        line: line.to_owned(),
        body: Value::Null,
    })
}

fn all_threads(given: &arguments::Resume) -> Result<(), Failure> {
    match given.single_thread {
        Some(true) => Err(Failure::shown(
            "all threads run: one alone cannot be resumed",
        )),
        _ => Ok(()),
    }
}

/// `pause`: the reader has interrupted the program already, if it runs.
pub(super) fn pause(_: &mut Adapter, _: Value) -> Answer {
    Ok(Value::Null)
}

/// `cancel`: the reader has noted what is cancelled.
pub(super) fn cancel(_: &mut Adapter, _: Value) -> Answer {
    Ok(Value::Null)
}

/// `restartFrame`
pub(super) fn restart_frame(_: &mut Adapter, _: Value) -> Answer {
    Err(Failure::shown(
        "a call cannot be made again, since what it has done stays done; a checkpoint before it \
         can be restored",
    ))
}

/// `gotoTargets`
pub(super) fn goto_targets(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    arguments: Value,
) -> Answer {
    let given: GotoTargets = parse(arguments)?;
    let path = quoted(&path_of(given.source.path)?);
    let line = adapter.line_in(given.line);
    let views = match adapter.execute(session, &format!("info line {path}:{line}"))? {
        Outcome::Lines(views) => views,
        _ => Vec::new(),
    };
    let mut targets = Vec::new();
    for view in views.into_iter().filter(|view| view.line.is_some()) {
        let id = adapter.identifiers.next();
        adapter.targets.push((id, view.address));
        let at = format!("{:#x}", view.address);
        targets.push(GotoTarget {
            id,
            label: view.name.unwrap_or_else(|| at.clone()),
            line: view.line.map_or(0, |line| adapter.line_out(line)),
            instruction_pointer_reference: at,
        });
    }
    body(json!({ "targets": targets }))
}

/// `goto`: the thread stands elsewhere, and nothing has run.
pub(super) fn goto(adapter: &mut Adapter, session: &mut dyn Driver, arguments: Value) -> Answer {
    let given: Goto = parse(arguments)?;
    let thread = thread_number(given.thread_id)?;
    let known = adapter
        .targets
        .iter()
        .find(|(id, _)| *id == given.target_id);
    let at = known.map(|(_, at)| *at);
    let at = at.ok_or_else(|| Failure::quiet("the target is no longer there"))?;
    let innermost = SelectionView { thread, level: 0 };
    adapter.at(session, Some(innermost), |adapter, session| {
        Ok(adapter.execute(session, &format!("set var $pc = {at:#x}"))?)
    })?;
    adapter.forget_stop();
    let stopped = Stopped {
        reason: "goto",
        thread_id: Some(given.thread_id),
        all_threads_stopped: true,
        ..Stopped::default()
    };
    let stopped = serde_json::to_value(&stopped).unwrap_or_default();
    adapter.later.push(("stopped", stopped));
    Ok(Value::Null)
}
