//! Core files: `core-file` opens one in place of a program, `gcore` writes one of the program.
//!
//! **Invariant**: a command that needs a process is refused by its name while a core file is open
//! ([`permit`]); what would need one deeper down (a call in an expression, an assignment) is
//! refused by the debuggee.

use crate::command_table::entry::Entry;
use crate::session::Session;
use crate::state::selection::Selection;
use juror_control::Modes;
use juror_debuggee::{CoreRemarks, Debuggee, OpenCore, ThreadId};
use juror_fault::CommandError;
use juror_points::signal_names::describe;
use juror_program::program::Program;
use juror_values::format::Names as _;
use juror_view::observer::Observer;
use juror_view::{Outcome, StackOverflowView, StopReason};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// The commands that need a process. Those that are not listed look at what there is, change what
/// belongs to juror, or start a program.
const NEED_PROCESS: [&str; 53] = [
    "abandon",
    "advance",
    "awatch",
    "break",
    "call",
    "catch",
    "change",
    "checkpoint",
    "clear",
    "commands",
    "condition",
    "continue",
    "delete",
    "detach",
    "disable",
    "dprintf",
    "enable",
    "finish",
    "generate-core-file",
    "goto",
    "group",
    "handle",
    "hbreak",
    "ignore",
    "jump",
    "last-write",
    "monitor",
    "next",
    "nexti",
    "property",
    "queue-signal",
    "rbreak",
    "record",
    "restart-frame",
    "restore",
    "return",
    "reverse-continue",
    "reverse-finish",
    "reverse-next",
    "reverse-nexti",
    "reverse-step",
    "reverse-stepi",
    "rwatch",
    "scenario",
    "signal",
    "step",
    "stepi",
    "tbreak",
    "tcatch",
    "thbreak",
    "until",
    "watch",
    "why",
];

/// Checks that a command is possible now. While a core file is open, the commands that need a
/// process are refused, and another core file may take its place.
pub(crate) fn permit(session: &Session, entry: &Entry) -> Result<(), CommandError> {
    let name = entry.name;
    match is_open(session) {
        true if NEED_PROCESS.contains(&name) => Err(CommandError::with_help(
            format!("`{name}` needs a running program: this is a core file"),
            "run starts the program anew",
        )),
        true if name == "core-file" => Ok(()),
        _ => session.permit(entry.modes),
    }
}

/// Returns whether the debuggee is a core file.
pub(crate) fn is_open(session: &Session) -> bool {
    let program = session.processes.program.as_ref();
    program.is_some_and(|program| program.debuggee.is_core_file())
}

/// Returns the program of the open core file.
pub(crate) fn program(session: &Session) -> Option<PathBuf> {
    let program = session.processes.program.as_ref();
    let program = program.filter(|program| program.debuggee.is_core_file())?;
    program.debuggee.program_file()
}

/// `core-file FILE`: debugs a core file. Without a file, the one of the command line is opened,
/// or the open one is closed.
pub(crate) fn core_file(
    session: &mut Session,
    rest: &str,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let given = session.options.core.take();
    let path = match (rest, given) {
        ("", Some(given)) => given,
        ("", None) if is_open(session) => return Ok(close(session)),
        ("", None) => {
            return Err(CommandError::with_help(
                "`core-file` needs the name of a core file",
                "core-file core.1234",
            ));
        }
        (rest, _) => PathBuf::from(rest),
    };
    if is_open(session) {
        close(session);
    }
    session.permit(Modes::Before)?;
    if !session.processes.monitors.shown().is_empty() {
        return Err(CommandError::with_help(
            "a core file has no events, and properties need events",
            "open it without properties and scenarios",
        ));
    }
    let (thread, remarks) = open(session, path)?;
    for remark in words(&remarks) {
        observer.notice(&remark);
    }
    let reason = reason(session, thread)?;
    let view = session.stop_view(reason, thread)?;
    if let Some(frame) = view.source_frame.as_ref().filter(|_| view.selects_caller()) {
        session.processes.selection.level = frame.level as usize;
    }
    Ok(Outcome::Stopped(Box::new(view)))
}

/// Closes the core file.
pub(crate) fn close(session: &mut Session) -> Outcome {
    session.forget_program();
    session.processes.monitors.restart(session.options.history);
    Outcome::Message("the core file is closed".to_owned())
}

/// Opens a core file. Returns the thread that it is about.
fn open(session: &mut Session, path: PathBuf) -> Result<(ThreadId, CoreRemarks), CommandError> {
    let program = Some(session.options.program.clone());
    let asked = OpenCore {
        core: path,
        program: program.filter(|program| !program.as_os_str().is_empty()),
    };
    let opened = Debuggee::open_core(&asked);
    let (debuggee, remarks) = opened.map_err(|error| CommandError::new(error.to_string()))?;
    let first = debuggee.core_thread().map(|(thread, _)| thread);
    let thread = first.unwrap_or(ThreadId(debuggee.pid()));
    // A program that was only loaded is replaced.
    session.forget_program();
    let mut program = Program::new(debuggee, &session.symbols.store);
    session.user.apply(&mut program);
    program.modules.note_started();
    session.processes.selection = Selection::of_thread(thread);
    session.processes.program = Some(program);
    let attached = session.control.state.attach();
    attached.map_err(|refusal| CommandError::new(refusal.to_string()))?;
    Ok((thread, remarks))
}

/// Says of memory that the core file has left out that it is not there, instead of that it cannot
/// be read.
pub(crate) fn worded(
    session: &Session,
    result: Result<Outcome, CommandError>,
) -> Result<Outcome, CommandError> {
    let program = session.processes.program.as_ref();
    let Some(program) = program.filter(|program| program.debuggee.is_core_file()) else {
        return result;
    };
    match result {
        Err(error) => Err(CommandError {
            message: program.worded(error.message),
            ..error
        }),
        Ok(Outcome::Memory(mut view)) => {
            view.unreadable = view.unreadable.map(|why| program.worded(why));
            Ok(Outcome::Memory(view))
        }
        Ok(Outcome::Assembly(mut view)) => {
            view.unreadable = view.unreadable.map(|why| program.worded(why));
            Ok(Outcome::Assembly(view))
        }
        Ok(outcome) => Ok(outcome),
    }
}

/// Returns what the user should know of a core file, each in a sentence.
fn words(remarks: &CoreRemarks) -> Vec<String> {
    let mut words = Vec::new();
    if let Some((length, whole)) = remarks.truncated {
        words.push(format!(
            "the core file is truncated: it has {length} of {whole} bytes; the rest of the memory \
             is missing"
        ));
    }
    if remarks.is_program_unknown {
        words.push(
            "the program has no build id in the core file: nothing tells whether it is the same \
             build, and memory that was left out is not read from it"
                .to_owned(),
        );
    }
    for file in &remarks.unknown_builds {
        words.push(format!(
            "{} has no build id: nothing tells whether it is the same build as in the core file",
            file.display()
        ));
    }
    for (files, what) in [
        (&remarks.other_builds, "another build than in the core file"),
        (&remarks.missing, "not on this machine"),
    ] {
        for file in files {
            let file = file.display();
            words.push(format!("{file} is {what}: its symbols are not used"));
        }
    }
    words
}

/// Returns why the process of the core file stopped.
fn reason(session: &Session, thread: ThreadId) -> Result<StopReason, CommandError> {
    let program = session.running()?;
    let debuggee = &program.debuggee;
    let signal = debuggee.core_thread().map_or(0, |(_, signal)| signal);
    let fault_address = debuggee.fault_address_of(thread);
    let overflow = fault_address
        .filter(|_| matches!(signal, libc_signals::SEGV | libc_signals::BUS))
        .and_then(|address| program.stack_overflow(thread, address));
    let described = (signal != 0).then(|| describe(signal));
    let (signal, description) = described.unzip();
    let file = debuggee.program_file().unwrap_or_default();
    Ok(StopReason::CoreFile {
        program: file.display().to_string(),
        pid: debuggee.pid(),
        signal,
        description,
        fault_address,
        stack_overflow: overflow.map(|it| StackOverflowView {
            frame_count: it.frame_count,
            cycle: it.cycle,
        }),
    })
}

/// Numbers of signals on Linux.
mod libc_signals {
    pub(super) const BUS: i32 = 7;
    pub(super) const SEGV: i32 = 11;
}

/// `gcore`, `gcore FILE`: writes a core file of the program, which is stopped.
pub(crate) fn write_core(session: &mut Session, rest: &str) -> Result<Outcome, CommandError> {
    let thread = session.thread()?;
    let cancel = std::sync::Arc::clone(&session.control.cancel);
    let program = session.running()?;
    let path = match rest {
        "" => PathBuf::from(format!("core.{}", program.debuggee.pid())),
        rest => PathBuf::from(rest),
    };
    let is_cancelled = || cancel.load(Ordering::Relaxed);
    let written = program.debuggee.write_core(&path, thread, &is_cancelled);
    if is_cancelled()
        && let Some(program) = &mut session.processes.program
    {
        session.control.forget_interruption(&mut program.debuggee);
    }
    let written = written.map_err(|error| CommandError::new(error.to_string()))?;
    let count = written.thread_count;
    let threads = if count == 1 { "thread" } else { "threads" };
    let mut text = format!("{} has been written: {count} {threads}", path.display());
    for thread in written.left_out {
        let number = session.running()?.thread_number(thread);
        text += &format!("; thread {number} is not in it, since it waits for a child");
    }
    Ok(Outcome::Message(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_table::{TABLE, find};

    /// What the commands that are possible do with a core file.
    const POSSIBLE: &[&str] = &[
        "apropos",
        "attach",
        "backtrace",
        "cd",
        "core-file",
        "disassemble",
        "display",
        "document",
        "down",
        "dump",
        "echo",
        "faas",
        "find",
        "frame",
        "help",
        "info",
        "kill",
        "list",
        "output",
        "print",
        "printf",
        "process",
        "ptype",
        "pwd",
        "quit",
        "run",
        "save",
        "schedule",
        "select-frame",
        "set",
        "shell",
        "show",
        "show-graph",
        "skip",
        "source",
        "start",
        "starti",
        "taas",
        "thread",
        "undisplay",
        "unset",
        "up",
        "views",
        "whatis",
        "x",
    ];

    /// A command that is added to the table is in neither list until it is decided.
    #[test]
    fn every_command_is_decided() {
        for entry in TABLE.iter() {
            let is_refused = NEED_PROCESS.contains(&entry.name);
            assert_ne!(is_refused, POSSIBLE.contains(&entry.name), "{}", entry.name);
        }
        for name in NEED_PROCESS.iter().chain(POSSIBLE) {
            assert!(find(name).is_ok_and(|entry| entry.name == *name), "{name}");
        }
    }

    #[test]
    fn remarks_are_sentences() {
        let remarks = CoreRemarks {
            truncated: Some((4096, 8192)),
            is_program_unknown: true,
            unknown_builds: Vec::new(),
            other_builds: vec!["/lib/a.so".into()],
            missing: vec!["/lib/b.so".into()],
        };
        let words = words(&remarks);
        assert_eq!(words.len(), 4);
        assert!(words[0].contains("4096 of 8192 bytes"), "{words:?}");
        assert!(
            words[2].starts_with("/lib/a.so is another build"),
            "{words:?}"
        );
        assert!(
            words[3].starts_with("/lib/b.so is not on this machine"),
            "{words:?}"
        );
        assert_eq!(super::words(&CoreRemarks::default()), Vec::<String>::new());
    }
}
