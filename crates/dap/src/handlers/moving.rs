//! Requests that resume or pause the program, and that move where it continues.

use super::breakpoints::path_of;
use super::stack::thread_number;
use super::{Answer, body, parse};
use crate::adapter::{Adapter, Resume, changes, queries};
use crate::protocol::arguments::{self, Goto, GotoTargets, RestartFrame, StepInTargets};
use crate::protocol::bodies::{GotoTarget, StepInTarget, Stopped};
use crate::protocol::message::Failure;
use juror_fault::CommandError;
use juror_view::changes::Resume as How;
use juror_view::driver::Driver;
use juror_view::queries::{LineCallView, SelectionView};
use serde_json::{Value, json};

/// `continue`
pub(super) fn go_on(
    _: &mut Adapter,
    _: &mut dyn Driver,
    arguments: Value,
) -> Result<Resume, Failure> {
    let given: arguments::Resume = parse(arguments)?;
    let is_alone = given.single_thread == Some(true);
    let thread = given.thread_id.filter(|_| is_alone);
    Ok(Resume {
        thread: thread.map(thread_number).transpose()?,
        is_alone,
        how: How::Continue,
        body: json!({ "allThreadsContinued": !is_alone }),
    })
}

/// `next`
pub(super) fn next(
    _: &mut Adapter,
    _: &mut dyn Driver,
    arguments: Value,
) -> Result<Resume, Failure> {
    step(arguments, How::Next, How::NextInstruction)
}

/// `stepIn`
pub(super) fn step_in(
    adapter: &mut Adapter,
    _: &mut dyn Driver,
    arguments: Value,
) -> Result<Resume, Failure> {
    let given: arguments::Resume = parse(arguments.clone())?;
    let resume = step(arguments, How::Step, How::StepInstruction)?;
    let Some(target) = given.target_id else {
        return Ok(resume);
    };
    let known = adapter.calls.iter().find(|(id, _)| *id == target);
    let (_, at) = known.ok_or_else(|| Failure::quiet("the call is no longer there"))?;
    Ok(Resume {
        how: How::StepIntoCall(*at),
        ..resume
    })
}

/// `stepInTargets`
pub(super) fn step_in_targets(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    arguments: Value,
) -> Answer {
    let given: StepInTargets = parse(arguments)?;
    let frame = adapter.identifiers.frame_of(given.frame_id)?;
    let calls = queries(session)?.calls_of_line(frame)?;
    let labels = labels(&calls);
    let mut targets = Vec::new();
    for (call, label) in calls.iter().zip(labels) {
        let id = adapter.identifiers.next();
        adapter.calls.push((id, call.address));
        targets.push(StepInTarget {
            id,
            label,
            line: call.line.map(|line| adapter.line_out(line)),
            column: call.column.map(|column| adapter.column_out(column.unit)),
        });
    }
    body(json!({ "targets": targets }))
}

/// Returns what the calls of a line are called: several of one function are counted.
fn labels(calls: &[LineCallView]) -> Vec<String> {
    let label = |(at, call): (usize, &LineCallView)| {
        let count = |calls: &[LineCallView]| {
            let same = calls.iter().filter(|it| it.function == call.function);
            same.count()
        };
        let total = count(calls);
        let number = count(calls.get(..=at).unwrap_or_default());
        match total {
            1 => call.function.clone(),
            _ => format!("{} (call {number} of {total})", call.function),
        }
    };
    calls.iter().enumerate().map(label).collect()
}

/// `stepOut`
pub(super) fn step_out(
    _: &mut Adapter,
    _: &mut dyn Driver,
    arguments: Value,
) -> Result<Resume, Failure> {
    step(arguments, How::Finish, How::Finish)
}

/// `stepBack`
pub(super) fn step_back(
    _: &mut Adapter,
    session: &mut dyn Driver,
    arguments: Value,
) -> Result<Resume, Failure> {
    goes_back(session)?;
    step(arguments, How::ReverseNext, How::ReverseNextInstruction)
}

/// `reverseContinue`
pub(super) fn go_back(
    _: &mut Adapter,
    session: &mut dyn Driver,
    arguments: Value,
) -> Result<Resume, Failure> {
    goes_back(session)?;
    step(arguments, How::ReverseContinue, How::ReverseContinue)
}

/// Checks that the run can go back.
fn goes_back(session: &dyn Driver) -> Result<(), Failure> {
    if session.goes_back() {
        Ok(())
    } else {
        Err(Failure::shown(
            "a program does not go back; a run that was recorded does (by juror record, or with \
             --trace; `recording` of `launch`), and a checkpoint can be restored",
        ))
    }
}

/// Returns a step by a line, or by an instruction if the client asks for that.
fn step(arguments: Value, line: How, instruction: How) -> Result<Resume, Failure> {
    let given: arguments::Resume = parse(arguments)?;
    let thread = given.thread_id.map(thread_number).transpose()?;
    let how = match given.granularity.as_deref() {
        Some("instruction") => instruction,
        _ => line,
    };
    Ok(Resume {
        thread,
        is_alone: given.single_thread == Some(true),
        how,
        body: Value::Null,
    })
}

/// `pause`: the reader has interrupted the program already, if it runs.
pub(super) fn pause(_: &mut Adapter, _: Value) -> Answer {
    Ok(Value::Null)
}

/// `restartFrame`: the thread stands at the beginning of the frame's call, and nothing has run.
pub(super) fn restart_frame(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    arguments: Value,
) -> Answer {
    let given: RestartFrame = parse(arguments)?;
    let SelectionView { thread, level } = adapter.identifiers.frame_of(given.frame_id)?;
    let innermost = SelectionView { thread, level: 0 };
    let frame = SelectionView { thread, level };
    let restarted = changes(session)?.restart_frame(frame, adapter);
    restarted.map_err(refused)?;
    queries(session)?.select(innermost)?;
    tell_elsewhere(adapter, "restart", thread);
    Ok(Value::Null)
}

/// `gotoTargets`
pub(super) fn goto_targets(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    arguments: Value,
) -> Answer {
    let given: GotoTargets = parse(arguments)?;
    let path = path_of(given.source.path)?;
    let line = adapter.line_in(given.line);
    let views = queries(session)?.addresses_of_line(&path, line)?;
    if views.is_empty() {
        return Err(Failure::quiet(format!(
            "there is no code for `{path}:{line}`"
        )));
    }
    let thread = queries(session)?.selection().map_or(1, |it| it.thread);
    let mut targets = Vec::new();
    let mut elsewhere = None;
    for view in views.into_iter().filter(|view| view.line.is_some()) {
        if let Err(error) = queries(session)?.check_target(thread, view.address) {
            elsewhere = Some(refused(error));
            continue;
        }
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
    match elsewhere.filter(|_| targets.is_empty()) {
        Some(failure) => Err(failure),
        None => body(json!({ "targets": targets })),
    }
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
    queries(session)?
        .check_target(thread, at)
        .map_err(refused)?;
    changes(session)?.move_to(thread, at, adapter)?;
    tell_elsewhere(adapter, "goto", thread);
    Ok(Value::Null)
}

/// Returns a refusal that the user is to see.
fn refused(error: CommandError) -> Failure {
    Failure {
        is_shown: true,
        ..Failure::from(error)
    }
}

/// Tells after the answer that a thread stands elsewhere, although nothing has run.
fn tell_elsewhere(adapter: &mut Adapter, reason: &'static str, thread: u32) {
    adapter.forget_stop();
    let stopped = Stopped {
        reason,
        thread_id: Some(i64::from(thread)),
        all_threads_stopped: true,
        ..Stopped::default()
    };
    let stopped = serde_json::to_value(&stopped).unwrap_or_default();
    adapter.later.push(("stopped", stopped));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_by_a_line_unless_an_instruction_is_asked_for() {
        for (arguments, how, thread, is_alone) in [
            (json!({}), How::Next, None, false),
            (json!({ "threadId": 2 }), How::Next, Some(2), false),
            (
                json!({ "granularity": "statement" }),
                How::Next,
                None,
                false,
            ),
            (
                json!({ "granularity": "instruction", "threadId": 1, "singleThread": true }),
                How::NextInstruction,
                Some(1),
                true,
            ),
        ] {
            let resume = step(arguments.clone(), How::Next, How::NextInstruction);
            let resume = resume.expect("a step");
            assert_eq!(resume.how, how, "{arguments}");
            assert_eq!((resume.thread, resume.is_alone), (thread, is_alone));
        }
        assert!(step(json!({ "threadId": -1 }), How::Next, How::Next).is_err());
    }

    #[test]
    fn calls_of_one_function_are_counted() {
        let call = |function: &str| LineCallView {
            address: 0,
            function: function.to_owned(),
            line: None,
            column: None,
        };
        let found = labels(&[call("f"), call("g"), call("f")]);
        assert_eq!(found, ["f (call 1 of 2)", "g", "f (call 2 of 2)"]);
    }
}
