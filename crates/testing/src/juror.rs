//! Runs the debugger as a user or a script does.

use crate::{Output, RunError, Terminal, repository_directory, run_with_deadline};
use cargo_metadata::Message;
use std::ffi::OsStr;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A prepared run of juror.
///
/// Its directories (`XDG_STATE_HOME`, `XDG_CACHE_HOME`, `XDG_CONFIG_HOME`) are empty and its
/// own, so that runs are independent of each other and of the user.
#[derive(Debug)]
pub struct Juror {
    command: Command,
    input: Vec<u8>,
    deadline: Duration,
    /// Removed when the run is over.
    _state: TempDir,
}

impl Juror {
    /// Prepares a run of the debugger at this path. Tests of the crate that has the binary
    /// pass `env!("CARGO_BIN_EXE_juror")`; others use [`Juror::find`].
    ///
    /// # Panics
    ///
    /// The temporary directory cannot be created.
    #[track_caller]
    pub fn new(path: impl AsRef<Path>) -> Juror {
        let state = match TempDir::with_prefix("juror-state-") {
            Ok(state) => state,
            Err(error) => panic!("no temporary directory: {error}"),
        };
        let mut command = Command::new(path.as_ref());
        command
            .env("XDG_STATE_HOME", state.path())
            .env("XDG_CACHE_HOME", state.path().join("cache"))
            .env("XDG_CONFIG_HOME", state.path().join("config"))
            .env("TERM", "xterm")
            // Long output is not paged, unless a test sets a pager.
            .env("JUROR_PAGER", "cat")
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR_FORCE");
        Juror {
            command,
            input: Vec::new(),
            deadline: Duration::from_secs(60),
            _state: state,
        }
    }

    /// Returns the debugger of this workspace, built in the caller's profile: release for
    /// measurements.
    ///
    /// # Errors
    ///
    /// The messages of cargo.
    pub fn find_as_built() -> Result<PathBuf, String> {
        Juror::find(if cfg!(debug_assertions) {
            "dev"
        } else {
            "release"
        })
    }

    /// Returns the debugger of this workspace in a profile (`dev`, `release`), built by
    /// cargo if necessary; or the one that the environment names as `JUROR_EXECUTABLE`, by
    /// which a benchmark measures another version.
    ///
    /// # Errors
    ///
    /// The messages of cargo.
    pub fn find(profile: &str) -> Result<PathBuf, String> {
        if let Some(executable) = std::env::var_os("JUROR_EXECUTABLE") {
            return Ok(PathBuf::from(executable));
        }
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut child = Command::new(cargo)
            .args(["build", "--quiet", "--workspace", "--bin", "juror"])
            .args(["--profile", profile])
            .arg("--message-format=json-render-diagnostics")
            .current_dir(repository_directory())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cargo does not start: {error}"))?;
        let mut executable = None;
        if let Some(stdout) = child.stdout.take() {
            for message in Message::parse_stream(BufReader::new(stdout)).flatten() {
                if let Message::CompilerArtifact(artifact) = message
                    && artifact.target.name == "juror"
                {
                    executable = artifact.executable.or(executable);
                }
            }
        }
        let status = child
            .wait()
            .map_err(|error| format!("cargo cannot be waited for: {error}"))?;
        match executable {
            Some(path) if status.success() => Ok(path.into_std_path_buf()),
            _ => Err(format!("cargo does not build juror: {status}")),
        }
    }

    /// Adds arguments.
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Juror {
        self.command.args(arguments);
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Juror {
        self.command.env(name, value);
        self
    }

    /// Runs in this directory.
    pub fn directory(mut self, directory: impl AsRef<Path>) -> Juror {
        self.command.current_dir(directory);
        self
    }

    /// Sets the standard input, which is empty by default.
    pub fn input(mut self, input: impl Into<Vec<u8>>) -> Juror {
        self.input = input.into();
        self
    }

    /// Sets the time after which it is killed, one minute by default.
    pub fn deadline(mut self, deadline: Duration) -> Juror {
        self.deadline = deadline;
        self
    }

    /// Runs it to its end, without a terminal.
    ///
    /// # Panics
    ///
    /// See [`RunError`]; the message includes the output so far.
    #[track_caller]
    pub fn run(self) -> Output {
        match self.try_run() {
            Ok(output) => output,
            Err(error) => panic!("{error}"),
        }
    }

    /// Runs it to its end, without a terminal.
    ///
    /// # Errors
    ///
    /// See [`RunError`].
    pub fn try_run(mut self) -> Result<Output, RunError> {
        run_with_deadline(&mut self.command, &self.input, self.deadline)
    }

    /// Starts it in a new terminal. The debugger asks for no confirmation there.
    ///
    /// # Panics
    ///
    /// No terminal is available, or the file of settings cannot be written.
    #[track_caller]
    pub fn terminal(self) -> Terminal {
        self.terminal_with("set confirm off\n")
    }

    /// Starts it in a new terminal, where the debugger executes these lines first.
    ///
    /// # Panics
    ///
    /// As [`Juror::terminal`].
    #[track_caller]
    pub fn terminal_with(self, settings: &str) -> Terminal {
        let directory = self._state.path().join("config/juror");
        let made = std::fs::create_dir_all(&directory);
        let written = made.and_then(|()| std::fs::write(directory.join("init"), settings));
        if let Err(error) = written {
            panic!("no settings: {error}");
        }
        Terminal::start(self.command, self.deadline, Some(self._state))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A shell replaces the debugger: these tests are about the runner.
    fn shell(script: &str) -> Juror {
        Juror::new("/bin/sh").args(["-c", script])
    }

    #[test]
    fn a_run_gets_arguments_environment_directory_and_input() {
        let script = "pwd; echo $COLOUR; cat";
        let output = shell(script)
            .env("COLOUR", "green")
            .directory("/")
            .input("typed\n")
            .run();
        output.assert_code(0);
        assert_eq!(output.stdout, "/\ngreen\ntyped\n");
    }

    #[test]
    fn each_run_has_an_empty_state_directory() {
        let script = "ls -A \"$XDG_STATE_HOME\"; touch \"$XDG_STATE_HOME/history\"";
        for _ in 0..2 {
            let output = shell(script).run();
            output.assert_code(0);
            assert_eq!(output.stdout, "");
        }
    }
}
