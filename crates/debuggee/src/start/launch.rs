//! The settings of a launch.

use std::ffi::{CString, OsString};
use std::fs::OpenOptions;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use juror_stepping::StepBy;

use crate::error::LaunchError;
use crate::host::cpu::CpuPolicy;
use crate::kernel::call_filter::CallStops;
use crate::kernel::namespace::PidNamespace;
use crate::start::world::World;
use crate::state::descendants::Descendants;
use crate::state::self_check::SelfCheck;

/// A program to start, with all its settings. The default is: no arguments,
/// juror's own environment, directory and standard streams, no address space
/// randomization, [`CpuPolicy::Auto`].
#[derive(Debug, Clone, Default)]
pub struct Launch {
    /// The program; searched in `PATH` only if it has no slash.
    pub program: PathBuf,
    /// The arguments after the program's name.
    pub arguments: Vec<OsString>,
    /// Changes to juror's own environment, in order.
    pub environment: Vec<EnvironmentChange>,
    /// The working directory; juror's own if none.
    pub directory: Option<PathBuf>,
    /// Standard input.
    pub input: Redirection,
    /// Standard output.
    pub output: Redirection,
    /// Standard error.
    pub error: Redirection,
    /// Whether the kernel may place the program at random addresses.
    pub randomize: bool,
    /// Whether the program gets the same random bytes from the kernel each time, and asks it for the
    /// time by system calls.
    pub is_repeatable: bool,
    /// The CPUs that juror and the program use.
    pub cpu: CpuPolicy,
    /// The world of the program; juror's own if none.
    pub world: Option<Arc<World>>,
    /// Whether processes that the program makes outlive it.
    pub descendants: Descendants,
    /// The PID namespace of the program.
    pub pid_namespace: PidNamespace,
    /// Which system calls stop if some are requested.
    pub call_stops: CallStops,
    /// Whether every site is stepped over in place, whatever its instruction
    /// allows. Slow: for tests of that method.
    pub in_place: bool,
    /// How threads execute one instruction.
    pub step_by: StepBy,
    /// Checks the inputs and operations of the breakpoint engine, if given.
    pub self_check: Option<SelfCheck>,
}

impl Launch {
    /// Returns a launch of `program` with all defaults.
    pub fn new(program: impl Into<PathBuf>) -> Launch {
        Launch {
            program: program.into(),
            ..Launch::default()
        }
    }
}

/// One change to the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvironmentChange {
    /// Sets a variable.
    Set(OsString, OsString),
    /// Removes a variable.
    Unset(OsString),
    /// Removes all variables.
    Clear,
}

/// The source or destination of a standard stream. Relative paths start at
/// juror's own directory, as in a shell.
#[derive(Debug, Clone, Default)]
pub enum Redirection {
    /// juror's own stream.
    #[default]
    Inherit,
    /// A file: read for standard input, otherwise created or emptied.
    File(PathBuf),
    /// A file that is appended to, and created if it does not exist.
    Append(PathBuf),
    /// An open file, for example one end of a pipe.
    Descriptor(Arc<OwnedFd>),
}

impl Redirection {
    /// Opens the file if there is one; `None` means inherited.
    pub(crate) fn open(&self, stream: &'static str) -> Result<Option<Arc<OwnedFd>>, LaunchError> {
        let mut options = OpenOptions::new();
        // A terminal must not become juror's: with its other end juror would be hung up.
        options.custom_flags(libc::O_NOCTTY);
        let path = match self {
            Redirection::Inherit => return Ok(None),
            Redirection::Descriptor(descriptor) => return Ok(Some(Arc::clone(descriptor))),
            Redirection::File(path) if stream == "input" => {
                options.read(true);
                path
            }
            Redirection::File(path) => {
                options.write(true).create(true).truncate(true);
                path
            }
            Redirection::Append(path) => {
                options.append(true).create(true);
                path
            }
        };
        match options.open(path) {
            Ok(file) => Ok(Some(Arc::new(file.into()))),
            Err(source) => Err(LaunchError::Redirection {
                stream,
                path: path.clone(),
                source,
            }),
        }
    }
}

/// Returns the environment of the debuggee as the kernel requires it.
pub(crate) fn environment(changes: &[EnvironmentChange]) -> Result<Vec<CString>, LaunchError> {
    let mut variables: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    for change in changes {
        match change {
            EnvironmentChange::Clear => variables.clear(),
            EnvironmentChange::Unset(name) => variables.retain(|(present, _)| present != name),
            EnvironmentChange::Set(name, value) => {
                match variables.iter_mut().find(|(present, _)| present == name) {
                    Some((_, present)) => value.clone_into(present),
                    None => variables.push((name.clone(), value.clone())),
                }
            }
        }
    }
    let joined = variables.into_iter().map(|(mut name, value)| {
        name.push("=");
        name.push(value);
        name
    });
    strings(joined, "an environment variable")
}

/// Returns zero-terminated copies of `items`.
pub(crate) fn strings(
    items: impl IntoIterator<Item = OsString>,
    what: &'static str,
) -> Result<Vec<CString>, LaunchError> {
    items.into_iter().map(|item| string(&item, what)).collect()
}

/// Returns a zero-terminated copy of `item`.
pub(crate) fn string(item: &OsString, what: &'static str) -> Result<CString, LaunchError> {
    CString::new(item.as_bytes().to_vec()).map_err(|_| LaunchError::ZeroByte { what })
}

/// Returns the program's name and arguments as the kernel requires them.
pub(crate) fn arguments(launch: &Launch) -> Result<Vec<CString>, LaunchError> {
    let name = OsString::from_vec(launch.program.as_os_str().as_bytes().to_vec());
    strings(
        std::iter::once(name).chain(launch.arguments.iter().cloned()),
        "an argument",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_changes_apply_in_order() {
        let set = |name: &str, value: &str| EnvironmentChange::Set(name.into(), value.into());
        let lines = environment(&[
            set("GONE", "1"),
            EnvironmentChange::Clear,
            set("A", "1"),
            set("B", "2"),
            set("A", "3"),
            EnvironmentChange::Unset("B".into()),
        ])
        .unwrap();
        assert_eq!(lines, [c"A=3".to_owned()]);
        assert!(matches!(
            environment(&[set("A", "x\0y")]),
            Err(LaunchError::ZeroByte { .. })
        ));
    }
}
