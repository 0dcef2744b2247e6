//! `shell`: runs other programs, for the user at the prompt.

use juror_debuggee::run_in_foreground;
use juror_view::error::CommandError;
use juror_view::observer::Observer;
use juror_view::{Outcome, ShellEndView};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

/// `shell COMMAND`; without a command an interactive shell.
pub(crate) fn shell(command: &str, observer: &mut dyn Observer) -> Result<Outcome, CommandError> {
    let program = std::env::var_os("SHELL").filter(|it| !it.is_empty());
    let program = program.unwrap_or_else(|| "/bin/sh".into());
    let mut process = Command::new(&program);
    if !command.is_empty() {
        process.arg("-c").arg(command);
    }
    if observer.owns_standard_output() {
        // Queued input must not be mixed with the program's input.
        process.stdout(std::io::stderr());
    }
    observer.gives_terminal();
    let status = run_in_foreground(&mut process).map_err(|error| {
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
