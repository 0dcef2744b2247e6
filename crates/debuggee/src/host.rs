//! Resources of the process that juror shares or arranges: the terminal, the
//! CPUs, the process numbers.

pub(crate) mod captured;
pub(crate) mod cpu;
pub(crate) mod foreground;
pub(crate) mod terminal;

use crate::host::cpu::Cpu;
use crate::host::terminal::Terminal;
use crate::kernel::namespace::Namespace;

use nix::sys::signal::{SigHandler, Signal, signal};

/// Has a file of juror's that would exceed the limit of its size (`ulimit -f`) end in an error.
/// By default the signal for it ends the process.
pub(crate) fn outlive_the_file_size_limit() {
    // SAFETY: ignoring a signal installs no handler. No number of a signal is refused that
    // exists.
    let _ = unsafe { signal(Signal::SIGXFSZ, SigHandler::SigIgn) };
}

/// The terminal, the CPUs and the process numbers of a debuggee.
#[derive(Debug)]
pub(crate) struct Host {
    /// The terminal, if juror shares it with the debuggee.
    pub(crate) terminal: Option<Terminal>,
    pub(crate) cpu: Cpu,
    pub(crate) pids: Pids,
}

/// The process numbers of a debuggee.
#[derive(Debug, Clone)]
pub(crate) enum Pids {
    /// The numbers of juror's own PID namespace.
    Shared,
    /// The numbers of a PID namespace made for the process.
    Own(Namespace),
    /// The numbers of juror's namespace, since the kernel refused a new one;
    /// with the reason, as a sentence for the user.
    Refused(String),
}

impl Pids {
    pub(crate) fn new(own: Option<Namespace>) -> Pids {
        own.map_or(Pids::Shared, Pids::Own)
    }

    /// Returns the namespace made for the process.
    pub(crate) fn own(&self) -> Option<&Namespace> {
        match self {
            Pids::Own(namespace) => Some(namespace),
            Pids::Shared | Pids::Refused(_) => None,
        }
    }

    /// Returns why the process has no namespace of its own although it was
    /// asked for.
    pub(crate) fn refusal(&self) -> Option<&str> {
        match self {
            Pids::Refused(refusal) => Some(refusal),
            Pids::Shared | Pids::Own(_) => None,
        }
    }
}

impl Host {
    pub(crate) fn new(cpu: Cpu) -> Host {
        Host {
            terminal: None,
            cpu,
            pids: Pids::Shared,
        }
    }
}
