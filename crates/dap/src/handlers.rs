//! The requests, and when each is possible.

mod breakpoints;
mod code;
mod data_breakpoints;
mod evaluating;
mod exceptions;
mod memory;
mod monitors;
mod moving;
mod stack;
mod variables;

pub(crate) use exceptions::{PROPERTY, VIOLATIONS, choose_signals};
pub(crate) use memory::ShownMemory;

use crate::adapter::{Adapter, Motion, Resume, has_run};
use crate::protocol::message::{Failure, Request, refusal};
use crate::transport::inbox::{Bells, Inbox, Incoming, ends_run};
use juror_view::driver::Driver;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

type Answer = Result<Value, Failure>;

/// The session, if there is one.
type MaybeSession<'a, 's> = Option<&'a mut (dyn Driver + 's)>;

/// The function that carries a request out.
#[derive(Clone, Copy)]
enum Handler {
    /// Needs no program.
    Alone(fn(&mut Adapter, Value) -> Answer),
    /// Sets points, in the program or for the one to come.
    Points(fn(&mut Adapter, MaybeSession<'_, '_>, Value) -> Answer),
    /// Needs a program, be it running.
    Always(fn(&mut Adapter, &mut dyn Driver, Value) -> Answer),
    /// Needs a stopped program.
    Stopped(fn(&mut Adapter, &mut dyn Driver, Value) -> Answer),
    /// Lets the program run.
    Resumes(fn(&mut Adapter, &mut dyn Driver, Value) -> Result<Resume, Failure>),
    /// Executes a command line, which may let the program run; answers itself.
    Evaluates,
}

/// Returns what carries a request out.
fn handler_of(command: &str) -> Option<Handler> {
    Some(match command {
        "setBreakpoints" => Handler::Points(breakpoints::of_source),
        "setFunctionBreakpoints" => Handler::Points(breakpoints::of_functions),
        "setInstructionBreakpoints" => Handler::Points(breakpoints::of_instructions),
        "setDataBreakpoints" => Handler::Points(data_breakpoints::set),
        "setExceptionBreakpoints" => Handler::Points(exceptions::set),
        "dataBreakpointInfo" => Handler::Always(data_breakpoints::info),
        "breakpointLocations" => Handler::Always(breakpoints::locations),
        "exceptionInfo" => Handler::Stopped(exceptions::info),
        "threads" => Handler::Always(stack::threads),
        "stackTrace" => Handler::Stopped(stack::stack_trace),
        "scopes" => Handler::Stopped(variables::scopes),
        "variables" => Handler::Stopped(variables::variables),
        "setVariable" => Handler::Stopped(variables::set_variable),
        "setExpression" => Handler::Stopped(variables::set_expression),
        "evaluate" => Handler::Evaluates,
        "completions" => Handler::Always(evaluating::completions),
        "source" => Handler::Always(code::source),
        "loadedSources" => Handler::Always(code::loaded_sources),
        "modules" => Handler::Always(code::modules),
        "disassemble" => Handler::Always(code::disassemble),
        "readMemory" => Handler::Always(memory::read),
        "writeMemory" => Handler::Stopped(memory::write),
        "continue" => Handler::Resumes(moving::go_on),
        "next" => Handler::Resumes(moving::next),
        "stepIn" => Handler::Resumes(moving::step_in),
        "stepInTargets" => Handler::Stopped(moving::step_in_targets),
        "stepOut" => Handler::Resumes(moving::step_out),
        "stepBack" => Handler::Resumes(moving::step_back),
        "reverseContinue" => Handler::Resumes(moving::go_back),
        "gotoTargets" => Handler::Stopped(moving::goto_targets),
        "goto" => Handler::Stopped(moving::goto),
        "pause" => Handler::Alone(moving::pause),
        "restartFrame" => Handler::Stopped(moving::restart_frame),
        _ => return None,
    })
}

/// Returns whether a request is about the life of the session, which the server handles.
pub(crate) fn is_of_server(command: &str) -> bool {
    matches!(
        command,
        "initialize"
            | "launch"
            | "attach"
            | "configurationDone"
            | "restart"
            | "terminate"
            | "disconnect"
    )
}

/// Handles a request while no command runs.
pub(crate) fn handle(adapter: &mut Adapter, session: MaybeSession<'_, '_>, request: &Request) {
    guarded(adapter, request, |adapter| {
        let Some(handler) = handler_of(&request.command) else {
            return adapter.answer(request, Err(unknown(&request.command)));
        };
        let arguments = request.arguments.clone();
        let answer = match handler {
            Handler::Alone(run) => run(adapter, arguments),
            Handler::Points(run) => run(adapter, session, arguments),
            Handler::Always(run) => match session {
                Some(session) if has_run(session) => {
                    interruptible(adapter, session, request, |adapter, session| {
                        run(adapter, session, arguments)
                    })
                }
                _ => Err(no_program()),
            },
            Handler::Stopped(run) => match stopped(adapter, session) {
                Ok(session) => interruptible(adapter, session, request, |adapter, session| {
                    run(adapter, session, arguments)
                }),
                Err(failure) => Err(failure),
            },
            Handler::Resumes(run) => match stopped(adapter, session) {
                Ok(session) => match run(adapter, session, arguments) {
                    Ok(resume) => return adapter.resume(session, request, resume),
                    Err(failure) => Err(failure),
                },
                Err(failure) => Err(failure),
            },
            Handler::Evaluates => match session {
                Some(session) => return evaluating::evaluate(adapter, session, request),
                None => Err(no_program()),
            },
        };
        adapter.answer(request, answer);
    });
}

/// Answers a question about a program that stands still. The client may cancel it, or end the session
/// meanwhile.
pub(crate) fn interruptible(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    request: &Request,
    answer: impl FnOnce(&mut Adapter, &mut dyn Driver) -> Answer,
) -> Answer {
    // An interruption of an earlier request is not meant.
    session.forget_interruption();
    adapter.inbox.set_bells(Some(Bells {
        call: Box::new(|| {}),
        interrupt: session.interrupter(),
        is_still: true,
    }));
    let answered = answer(adapter, session);
    adapter.inbox.set_bells(None);
    session.forget_interruption();
    match answered {
        Err(_) if adapter.inbox.was_interrupted(request.seq) => Err(Failure::cancelled()),
        answered => answered,
    }
}

/// Handles a request in the middle of a command that lets the program run.
fn handle_running(adapter: &mut Adapter, session: &mut dyn Driver, request: &Request) {
    let inbox = Arc::clone(&adapter.inbox);
    let done = tried(&inbox, request, || {
        let arguments = request.arguments.clone();
        let answer = match handler_of(&request.command) {
            None => Err(unknown(&request.command)),
            Some(Handler::Alone(run)) => run(adapter, arguments),
            Some(Handler::Points(run)) => run(adapter, Some(session), arguments),
            Some(Handler::Always(run)) => run(adapter, session, arguments),
            Some(Handler::Evaluates) => evaluating::evaluate_running(adapter, session, arguments),
            Some(Handler::Stopped(_) | Handler::Resumes(_)) => Err(Failure::not_stopped()),
        };
        adapter.answer(request, answer);
    });
    // The command that lets the program run goes on.
    if let Err(failure) = done {
        adapter.answer_if_open(request, &failure);
    }
}

/// Serves the requests that have come while the program runs.
pub(crate) fn serve(adapter: &mut Adapter, session: &mut dyn Driver) {
    while adapter.deferred.is_none()
        && let Some(incoming) = adapter.inbox.take()
    {
        match incoming {
            Incoming::Request(request) if request.command == "pause" => {
                (session.interrupter())();
                adapter.answer(&request, Ok(Value::Null));
            }
            // The other requests wait for the stop.
            Incoming::Request(request) if ends_run(&request.command) => {
                adapter.deferred = Some(request);
                (session.interrupter())();
            }
            Incoming::Request(request) if is_of_server(&request.command) => {
                let failure = Failure::quiet("the program runs already");
                adapter.answer(&request, Err(failure));
            }
            Incoming::Request(request) => handle_running(adapter, session, &request),
            Incoming::End => {
                adapter.deferred = Some(disconnection());
                (session.interrupter())();
            }
            Incoming::Malformed { seq, error } => answer_malformed(adapter, seq, &error),
            Incoming::Response(_) => {}
        }
    }
}

/// Returns the request that stands for the end of the connection.
pub(crate) fn disconnection() -> Request {
    Request {
        seq: 0,
        command: "disconnect".to_owned(),
        arguments: Value::Null,
    }
}

/// Answers what is no message of the protocol.
pub(crate) fn answer_malformed(adapter: &Adapter, seq: Option<i64>, error: &str) {
    let failure = Failure::quiet(format!("the message is malformed: {error}"));
    match seq {
        Some(seq) => {
            adapter.outbox.send(refusal(seq, "", &failure));
        }
        None => adapter.say_as("stderr", &format!("{}\n", failure.message)),
    }
}

/// Handles a request so that a bug in it is an answer, and not the end of the debuggee.
fn guarded(adapter: &mut Adapter, request: &Request, handle: impl FnOnce(&mut Adapter)) {
    let inbox = Arc::clone(&adapter.inbox);
    if let Err(failure) = tried(&inbox, request, || handle(adapter)) {
        adapter.abandon(request, &failure);
    }
}

/// Handles a request, unless it was cancelled.
///
/// # Errors
/// It was cancelled, or the handler has failed by a bug.
pub(crate) fn tried(
    inbox: &Inbox,
    request: &Request,
    handle: impl FnOnce(),
) -> Result<(), Failure> {
    if inbox.begin(request.seq) {
        inbox.end();
        return Err(Failure::cancelled());
    }
    // A handler that panics leaves at worst a point that the client does not know.
    let done = catch_unwind(AssertUnwindSafe(handle));
    inbox.end();
    done.map_err(|_| {
        Failure::shown(format!(
            "this is a bug in juror: the request {} has failed",
            request.command
        ))
    })
}

/// Returns the session if its program has begun and is stopped.
fn stopped<'a, 's>(
    adapter: &Adapter,
    session: MaybeSession<'a, 's>,
) -> Result<&'a mut (dyn Driver + 's), Failure> {
    match session {
        Some(session) if has_run(session) => match adapter.motion {
            Motion::Stopped => Ok(session),
            Motion::Unbegun | Motion::Running => Err(Failure::not_stopped()),
            Motion::Ended => Err(no_program()),
        },
        _ => Err(no_program()),
    }
}

fn no_program() -> Failure {
    Failure::quiet("there is no program")
}

fn unknown(command: &str) -> Failure {
    Failure::quiet(format!("the request `{command}` is not supported"))
}

/// Parses the arguments of a request; without any they are empty.
pub(crate) fn parse<T: DeserializeOwned>(arguments: Value) -> Result<T, Failure> {
    let given = match arguments {
        Value::Null => Value::Object(serde_json::Map::new()),
        given => given,
    };
    serde_json::from_value(given)
        .map_err(|error| Failure::quiet(format!("the arguments are not valid: {error}")))
}

/// Returns a body as JSON.
fn body(value: impl serde::Serialize) -> Answer {
    serde_json::to_value(value).map_err(|error| Failure::quiet(error.to_string()))
}

/// Parses a reference to memory: a number, in hexadecimal after `0x`.
fn address(reference: &str, offset: Option<i64>) -> Result<u64, Failure> {
    let number = match reference.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => reference.parse(),
    };
    let number = number.map_err(|_| Failure::quiet(format!("`{reference}` is not an address")))?;
    Ok(number.wrapping_add_signed(offset.unwrap_or(0)))
}

#[cfg(test)]
mod tests;
