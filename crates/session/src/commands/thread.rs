//! `thread`: selects, names and finds threads.

use crate::command_table::arguments::split_line;
use crate::commands::{backtrace, info_views};
use crate::inspect::frames;
use crate::session::Session;
use juror_debuggee::ThreadId;
use juror_fault::CommandError;
use juror_view::{EmptyView, Listed, Outcome, ThreadName, ThreadView};
use regex::Regex;

/// The help of syntax errors.
const HELP: &str = "for example: thread 2, thread name reader, thread find read, \
                    thread apply all backtrace";

/// `thread`, `thread N`, `thread name NAME`, `thread find REGEX`, `thread apply …`
pub(crate) fn choose_thread(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    match split_line(text) {
        ("", "") => {
            let thread = session.thread()?;
            let number = session.running()?.thread_number(thread);
            let name = session.running()?.debuggee.threads();
            let name = name.filter(|it| it.id == thread).map(|it| it.name).next();
            Ok(Outcome::Thread(ThreadName {
                number,
                id: thread.0,
                name: session
                    .user
                    .thread_names
                    .of(thread, name.unwrap_or_default()),
            }))
        }
        ("apply", rest) => backtrace::apply_to_threads(session, rest),
        ("name", name) => name_thread(session, name),
        ("find", pattern) => find_thread(session, pattern),
        ("line", number) => thread_line(session, number),
        ("back", rest) => back_to_thread(session, rest),
        (number, rest) => {
            if !rest.is_empty() {
                return Err(CommandError::unexpected(rest, &format!("thread {number}")));
            }
            let thread = thread_numbered(session, number)?;
            session.select_thread(thread);
            frames::select_frame(session, 0)
        }
    }
}

fn thread_numbered(session: &Session, text: &str) -> Result<ThreadId, CommandError> {
    let number: u32 = text.trim().parse().map_err(|_| {
        CommandError::with_help(format!("`{text}` is not the number of a thread"), HELP)
    })?;
    let program = session.running()?;
    let known = program.thread_of_number(number);
    let is_alive = |thread: &ThreadId| program.debuggee.thread_ids().any(|it| it == *thread);
    known.filter(is_alive).ok_or_else(|| {
        CommandError::with_help(format!("there is no thread {number}"), "see: info threads")
    })
}

/// `thread name NAME`: names the selected thread; without a name, restores its own.
fn name_thread(session: &mut Session, name: &str) -> Result<Outcome, CommandError> {
    let thread = session.thread()?;
    match name.trim() {
        "" => session.user.thread_names.0.remove(&thread),
        name => session.user.thread_names.0.insert(thread, name.to_owned()),
    };
    Ok(Outcome::Done)
}

/// `thread find REGEX`: finds the threads whose names or kernel IDs match.
fn find_thread(session: &mut Session, pattern: &str) -> Result<Outcome, CommandError> {
    if pattern.is_empty() {
        return Err(CommandError::with_help(
            "`thread find` needs a regular expression",
            HELP,
        ));
    }
    let pattern = Regex::new(pattern)
        .map_err(|error| CommandError::new(format!("not a regular expression: {error}")))?;
    let Outcome::Threads(threads) = info_views::threads(session, "")? else {
        return Err(CommandError::new("there are no threads"));
    };
    let is_meant = |thread: &ThreadView| {
        pattern.is_match(&thread.name) || pattern.is_match(&thread.id.to_string())
    };
    let found: Vec<ThreadView> = threads.into_iter().filter(is_meant).collect();
    if found.is_empty() {
        Ok(Outcome::Empty(EmptyView {
            listed: Listed::Threads,
            pattern: Some(pattern.to_string()),
            has_debug_info: None,
        }))
    } else {
        Ok(Outcome::Threads(found))
    }
}

/// Shows the line of `thread apply` before the outcome of each thread.
fn thread_line(session: &mut Session, number: &str) -> Result<Outcome, CommandError> {
    let thread = thread_numbered(session, number)?;
    session.select_thread(thread);
    let Outcome::Threads(threads) = info_views::threads(session, "")? else {
        return Ok(Outcome::Done);
    };
    let view = threads.into_iter().find(|view| view.current);
    Ok(view.map_or(Outcome::Done, |view| {
        Outcome::ThreadHeading(ThreadName {
            number: view.number,
            id: view.id,
            name: view.name,
        })
    }))
}

/// Ends `thread apply`: selects a thread and a frame level again.
fn back_to_thread(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let (number, level) = split_line(text);
    let Ok(thread) = thread_numbered(session, number) else {
        // It has ended meanwhile.
        return Ok(Outcome::Done);
    };
    if session.thread()? != thread {
        session.select_thread(thread);
    }
    session.processes.selection.level = level.trim().parse().unwrap_or(0);
    Ok(Outcome::Done)
}
