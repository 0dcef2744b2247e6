//! `shell`: runs other programs, for the user at the prompt.

use crate::session::Session;
use juror_debuggee::{run_captured, run_in_foreground};
use juror_fault::CommandError;
use juror_view::observer::Observer;
use juror_view::{Outcome, ShellEndView};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::sync::atomic::Ordering;

/// `shell COMMAND`; without a command an interactive shell.
pub(crate) fn shell(
    session: &mut Session,
    command: &str,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let program = std::env::var_os("SHELL").filter(|it| !it.is_empty());
    let program = program.unwrap_or_else(|| "/bin/sh".into());
    let mut process = Command::new(&program);
    if !command.is_empty() {
        process.arg("-c").arg(command);
    }
    let status = run(session, process, observer).map_err(|error| {
        let name = program.to_string_lossy();
        CommandError::new(format!("{name} cannot be run: {error}"))
    })?;
    Ok(match (status.code(), status.signal()) {
        (Some(0), _) => Outcome::Done,
        (Some(status), _) => Outcome::ShellEnded(ShellEndView {
            status: Some(status),
            signal: None,
        }),
        (None, signal) => {
            let (name, _) = juror_points::signal_names::describe(signal.unwrap_or(0));
            Outcome::ShellEnded(ShellEndView {
                status: None,
                signal: Some(name.to_string()),
            })
        }
    })
}

/// Runs a program with the terminal, or without any stream of juror's.
fn run(
    session: &Session,
    mut process: Command,
    observer: &mut dyn Observer,
) -> io::Result<ExitStatus> {
    if observer.takes_output() {
        let cancel = &session.control.cancel;
        return run_captured(process, &mut |text| observer.output(text), &|| {
            cancel.load(Ordering::Relaxed)
        });
    }
    if observer.owns_standard_output() {
        // Queued input must not be mixed with the program's input.
        process.stdout(io::stderr());
    }
    observer.gives_terminal();
    run_in_foreground(&mut process)
}
