//! `record`: the next run is kept in a file, by which it can be made again and goes back.

use crate::session::Session;
use crate::state::launch::Unrecorded;
use juror_debuggee::Origin;
use juror_fault::CommandError;
use juror_view::{Outcome, StopReason};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most files of runs of one program in a directory.
const NUMBERS_MAX: u32 = 100_000;

/// The words of an offer to record, with what it costs.
const OFFER: &str = "a run that is recorded goes back from such a place: record, then run; its threads \
                     run one at a time, and a system call that may wait costs about 15 µs";

/// `record`, `record FILE`, `record stop`
pub(crate) fn record(session: &mut Session, rest: &str) -> Result<Outcome, CommandError> {
    if let Some((_, more)) = rest.split_once(char::is_whitespace) {
        return Err(CommandError::new("`record` takes one file").pointing_at(more.trim(), 0));
    }
    let options = &session.options;
    if options.schedule.is_some() {
        return Err(CommandError::with_help(
            "this run is in a file already: it can be made again, and goes back",
            "reverse-continue, reverse-step, last-write EXPRESSION",
        ));
    }
    if rest == "stop" {
        return match session.options.recorded_run.take() {
            Some(_) => Ok(Outcome::Message("The next run is not recorded.".to_owned())),
            None => Err(CommandError::new(
                "no run is to be recorded; one that has begun is recorded to its end",
            )),
        };
    }
    let program = session.processes.program.as_ref();
    let is_attached = program.is_some_and(|it| it.debuggee.origin() == Origin::Attached);
    if is_attached || options.program.as_os_str().is_empty() || options.core.is_some() {
        return Err(CommandError::with_help(
            "only a run that juror starts can be recorded",
            "juror record ./program, or juror run ./program and then record",
        ));
    }
    if options.recording.is_some() {
        return Err(CommandError::new(
            "this session writes a trace of its events: both cannot be recorded at once",
        ));
    }
    let path = match rest {
        "" => free_name(&options.program)?,
        _ => PathBuf::from(rest),
    };
    session.options.recorded_run = Some(path.clone());
    session.launch.is_outdated = true;
    let is_running = !session.is_fresh() && session.processes.program.is_some();
    let when = if is_running {
        "run starts it anew"
    } else {
        "run starts it"
    };
    Ok(Outcome::Message(format!(
        "The next run is recorded in {path}: {when}, and juror replay {path} makes it again and goes \
         back in it.\nIts threads run one at a time, and a system call that may wait costs about 15 µs.",
        path = path.display()
    )))
}

/// Returns the name of the next file of a run of a program, in this directory.
///
/// # Errors
/// Too many files of runs are in the directory.
pub fn free_name(program: &Path) -> Result<PathBuf, CommandError> {
    let name = program.file_name().unwrap_or(OsStr::new("program"));
    for number in 1..NUMBERS_MAX {
        let mut name: OsString = name.to_owned();
        name.push(format!(".{number}.run"));
        let path = PathBuf::from(name);
        if !path.exists() {
            return Ok(path);
        }
    }
    Err(CommandError::with_help(
        "too many files of runs are in this directory",
        "remove some, or name another file",
    ))
}

/// Sets the options for the run that is about to be launched: recorded, or as they were before.
pub(crate) fn prepare(session: &mut Session) {
    let options = &mut session.options;
    match options.recorded_run.clone() {
        Some(path) => {
            session.launch.unrecorded = Some(Unrecorded {
                path: path.clone(),
                tier: options.tier,
                randomize: options.randomize,
                checkpoints: options.checkpoints,
            });
            let (by_stops, tally) = (options.records_by_stops, Arc::clone(&options.recorded));
            *options = std::mem::take(options).recording_run(path, by_stops, tally);
        }
        None => {
            if let Some(before) = session.launch.unrecorded.take() {
                options.tier = before.tier;
                options.randomize = before.randomize;
                options.checkpoints = before.checkpoints;
            }
        }
    }
}

/// Returns the offer to record a run that has come to a crash or a violation, once in a session in
/// which somebody types.
pub(crate) fn offer(session: &mut Session, reason: &StopReason) -> Option<&'static str> {
    let is_meant = match reason {
        StopReason::Signal { fatal, .. } => *fatal,
        StopReason::Violation { .. } => true,
        _ => false,
    };
    let options = &session.options;
    let program = session.processes.program.as_ref();
    let is_launched = program.is_some_and(|it| it.debuggee.origin() == Origin::Launched);
    let may_be = options.is_interactive
        && !options.batch
        && is_launched
        && options.schedule.is_none()
        && options.recording.is_none()
        && session.launch.unrecorded.is_none();
    let is_first = is_meant && may_be && !session.launch.has_offered;
    session.launch.has_offered |= is_first;
    is_first.then_some(OFFER)
}
