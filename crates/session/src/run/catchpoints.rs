//! Events that catchpoints report.

use crate::run::pause::Pause;
use crate::run::scenarios::notifying;
use crate::session::Session;
use crate::state::values::of_thread;
use juror_debuggee::{ForkKind, SystemCallPhase, ThreadId};
use juror_fault::CommandError;
use juror_instrument::condition::{Check, Condition};
use juror_language::ContextValue;
use juror_monitoring::listeners::ContextValues;
use juror_points::catchpoints::{Catch, Catchpoint, Exception};
use juror_points::point::PointKind;
use juror_points::signal_names;
use juror_points::system_call_names::system_call_name;
use juror_view::{PANIC, StopReason};
use std::path::PathBuf;

/// The limit of bytes read of a type name.
pub(crate) const TYPE_NAME_MAX: usize = 1024;

/// Sets the events that the debuggee reports for the catchpoints and `handle`.
pub(crate) fn renew_catchpoints(session: &mut Session) {
    if let Some(program) = &mut session.processes.program {
        session.points.catchpoints.bind(program);
        session.user.signals.apply(&mut program.debuggee);
        session.points.catchpoints.apply(&mut program.debuggee);
    }
}

/// Counts the catchpoints for an event; returns the reason to stop, if any.
pub(crate) fn caught(
    session: &mut Session,
    thread: ThreadId,
    event: &str,
    description: String,
    is_meant: impl Fn(&Catchpoint) -> bool,
) -> Result<Option<StopReason>, CommandError> {
    caught_with(
        session,
        ContextValues::default(),
        thread,
        event,
        description,
        is_meant,
    )
}

/// Returns the same, with context values for scenarios besides the thread.
pub(crate) fn caught_with(
    session: &mut Session,
    context_values: ContextValues,
    thread: ThreadId,
    event: &str,
    description: String,
    is_meant: impl Fn(&Catchpoint) -> bool,
) -> Result<Option<StopReason>, CommandError> {
    let Some(program) = &session.processes.program else {
        return Ok(None);
    };
    let values = |name: &str| of_thread(&session.user.values, program, thread, name);
    let ask = |condition: &Condition| condition.holds(&Check::default(), program, thread, &values);
    let stopping = session.points.catchpoints.hit(is_meant, ask);
    let Some(stopping) =
        notifying::divert_with(session, context_values, thread, stopping, &mut Vec::new())?
    else {
        return Ok(None);
    };
    let errors = stopping.error_sentences(PointKind::Catchpoint);
    let silent = session.finish_stopping(&stopping)?;
    Ok(Some(StopReason::Caught {
        numbers: stopping.numbers.to_vec(),
        temporary: stopping.temporary,
        event: event.to_owned(),
        description,
        errors,
        silent,
    }))
}

/// Handles the entry to or exit from a system call. Returns what must be shown.
pub(crate) fn on_system_call(
    session: &mut Session,
    thread: ThreadId,
    number: u64,
    phase: SystemCallPhase,
) -> Result<Option<Pause>, CommandError> {
    let name = system_call_name(number);
    let (event, description) = match phase {
        SystemCallPhase::Entry { .. } => ("syscall_entry", format!("entry into {name}")),
        SystemCallPhase::Exit { result } => (
            "syscall_exit",
            format!("exit from {name}, {}", gave(result)),
        ),
    };
    let is_meant =
        |it: &Catchpoint| matches!(&it.catch, Catch::SystemCalls(calls) if calls.contains(number));
    let caught = caught(session, thread, event, description, is_meant)?;
    Ok(caught.map(|reason| Pause::Reason(reason, thread)))
}

/// Returns the reason to stop of the catchpoints for a signal.
pub(crate) fn catch_signal(
    session: &mut Session,
    thread: ThreadId,
    number: i32,
) -> Result<Option<StopReason>, CommandError> {
    let (name, meaning) = signal_names::describe(number);
    let is_meant =
        |it: &Catchpoint| matches!(&it.catch, Catch::Signals(numbers) if numbers.contains(&number));
    let mut context_values = ContextValues::default();
    context_values.note_text(ContextValue::Signal, &name);
    let description = format!("signal {name}: {meaning}");
    caught_with(
        session,
        context_values,
        thread,
        "signal",
        description,
        is_meant,
    )
}

/// Handles a fork.
pub(crate) fn on_forking(
    session: &mut Session,
    thread: ThreadId,
    child: u32,
    kind: ForkKind,
) -> Result<Option<Pause>, CommandError> {
    let (event, wanted) = match kind {
        ForkKind::Fork => ("fork", Catch::Fork),
        ForkKind::Vfork => ("vfork", Catch::Vfork),
    };
    let description = format!("{event} created process {child}");
    match caught(session, thread, event, description, |it| it.catch == wanted)? {
        Some(reason) => Ok(Some(Pause::Reason(reason, thread))),
        None => {
            session.running_mut()?.debuggee.resume(thread)?;
            Ok(None)
        }
    }
}

/// Handles an exec.
pub(crate) fn catch_exec(
    session: &mut Session,
    thread: ThreadId,
    path: &std::path::Path,
) -> Result<Option<StopReason>, CommandError> {
    let description = format!("the process now runs {}", path.display());
    caught(session, thread, "exec", description, |it| {
        it.catch == Catch::Exec
    })
}

/// Returns the paths of the loaded modules.
pub(crate) fn loaded_paths(session: &Session) -> Vec<PathBuf> {
    match session.points.catchpoints.iter().next() {
        Some(_) => session.modules().iter().map(|it| it.path.clone()).collect(),
        // No catchpoint needs them.
        None => Vec::new(),
    }
}

/// Handles libraries that were loaded or unloaded since `before`.
pub(crate) fn catch_libraries(
    session: &mut Session,
    thread: ThreadId,
    before: &[PathBuf],
) -> Result<Option<StopReason>, CommandError> {
    let after = loaded_paths(session);
    let differ = |some: &[PathBuf], others: &[PathBuf]| -> Vec<String> {
        let missing = some.iter().filter(|path| !others.contains(path));
        missing.map(|path| path.display().to_string()).collect()
    };
    let came = differ(&after, before);
    let went = differ(before, &after);
    let holds = |paths: &[String], text: &Option<String>| match text {
        Some(text) => paths.iter().any(|path| path.contains(text)),
        None => !paths.is_empty(),
    };
    let loaded = |it: &Catchpoint| matches!(&it.catch, Catch::Load(text) if holds(&came, text));
    let unloaded = |it: &Catchpoint| matches!(&it.catch, Catch::Unload(text) if holds(&went, text));
    let description = format!("loaded {}", came.join(", "));
    if let Some(reason) = caught(session, thread, "load", description, loaded)? {
        return Ok(Some(reason));
    }
    let description = format!("unloaded {}", went.join(", "));
    caught(session, thread, "unload", description, unloaded)
}

/// Handles a thread that enters the C++ runtime at an address of a catchpoint.
pub(crate) fn catch_exception(
    session: &mut Session,
    thread: ThreadId,
    address: u64,
) -> Result<Option<StopReason>, CommandError> {
    let at_address = |it: &Catchpoint| match it.catch {
        Catch::Exception(exception) if it.addresses.contains(&address) => Some(exception),
        _ => None,
    };
    let Some(exception) = session.points.catchpoints.iter().find_map(at_address) else {
        return Ok(None);
    };
    let type_name = exception_type(session, thread, exception)?;
    let of_type = match &type_name {
        Some(name) => format!(" of type {name}"),
        None => String::new(),
    };
    let (event, word) = match exception {
        Exception::Throw => ("throw", "thrown"),
        Exception::Rethrow => ("rethrow", "thrown again"),
        Exception::Catch => ("catch", "caught"),
        Exception::Panic => (PANIC, ""),
    };
    let description = match exception {
        Exception::Panic => "a panic".to_owned(),
        _ => format!("exception{of_type} {word}"),
    };
    caught(session, thread, event, description, |it| {
        at_address(it).is_some() && it.means_type(type_name.as_deref())
    })
}

/// Returns the type name of an exception, from the runtime's arguments (Itanium C++ ABI, *Exception
/// Handling*, section 2.2).
pub(crate) fn exception_type(
    session: &Session,
    thread: ThreadId,
    exception: Exception,
) -> Result<Option<String>, CommandError> {
    /// `GNUCC++` and a zero: marks an exception that g++ or clang threw itself, at the beginning of
    /// its unwind header.
    const PRIMARY: u64 = u64::from_be_bytes(*b"GNUCC++\0");
    /// The distance of the type from the following unwind header, in bytes.
    const TYPE_BEFORE_HEADER: u64 = 0x50;
    let program = session.running()?;
    let [first, second, ..] = program.registers(thread)?.arguments();
    let read = |address: u64| program.debuggee.read_u64(address).ok();
    let type_information = match exception {
        Exception::Throw => Some(second),
        Exception::Rethrow | Exception::Panic => None,
        Exception::Catch if read(first) == Some(PRIMARY) => {
            read(first.wrapping_sub(TYPE_BEFORE_HEADER))
        }
        Exception::Catch => None,
    };
    let name = type_information.and_then(|at| read(at.wrapping_add(8)));
    let bytes = name.and_then(|at| program.debuggee.read_text(at, TYPE_NAME_MAX).ok());
    let Some(bytes) = bytes else { return Ok(None) };
    let mangled = String::from_utf8_lossy(&bytes);
    // An asterisk means that equal names in different libraries are different types.
    let mangled = mangled.trim_start_matches('*');
    Ok(Some(
        juror_symbols::demangle(&format!("_ZTI{mangled}"))
            .and_then(|text| Some(text.strip_prefix("typeinfo for ")?.to_owned()))
            .unwrap_or_else(|| mangled.to_owned()),
    ))
}

/// Returns the result of a system call, in words.
pub(crate) fn gave(result: i64) -> String {
    /// The kernel's codes for a system call that was interrupted by a signal and is restarted:
    /// `ERESTARTSYS`, `ERESTARTNOINTR`, `ERESTARTNOHAND`, `ERESTART_RESTARTBLOCK`.
    const RESTARTS: [i64; 4] = [-512, -513, -514, -516];
    if RESTARTS.contains(&result) {
        return "interrupted by a signal".to_owned();
    }
    let error = i32::try_from(-result)
        .ok()
        .filter(|code| (1..4096).contains(code))
        .map(syscalls::Errno::new);
    match error.and_then(|error| Some((error.name()?, error.description()?))) {
        Some((name, description)) => format!("which failed: {name}, {description}"),
        None => format!("which gave {result}"),
    }
}
