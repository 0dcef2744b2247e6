//! What a core file says of the process, beside its threads and its memory.

use std::path::{Path, PathBuf};

use juror_stepping::ThreadId;

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;

impl Debuggee {
    /// Returns whether it is a core file: it can be read, and nothing else.
    pub fn is_core_file(&self) -> bool {
        self.core.is_some()
    }

    /// Returns the core file.
    pub fn core_file(&self) -> Option<&Path> {
        self.core.as_ref().map(|core| &*core.path)
    }

    /// Returns the file of the program; none if it is not known.
    pub fn program_file(&self) -> Option<PathBuf> {
        match &self.core {
            Some(core) => Some(core.program.clone()),
            None => std::fs::read_link(self.file_of("exe")).ok(),
        }
    }

    /// Returns the begin of the command line that a core file has.
    pub fn core_arguments(&self) -> Option<String> {
        let process = self.core.as_ref()?.core.process.as_ref()?;
        Some(String::from_utf8_lossy(&process.arguments).into_owned())
    }

    /// Returns the auxiliary vector, as `/proc/PID/auxv` has it.
    pub fn auxiliary_vector(&self) -> Option<Vec<u8>> {
        match &self.core {
            Some(core) if core.core.auxiliary.is_empty() => None,
            Some(core) => Some(core.core.auxiliary.clone()),
            None => std::fs::read(self.file_of("auxv")).ok(),
        }
    }

    /// Returns the thread that a core file is about, and its signal: the one
    /// that ended the process, or 0.
    pub fn core_thread(&self) -> Option<(ThreadId, i32)> {
        let first = self.core.as_ref()?.core.threads.first()?;
        Some((ThreadId(first.id), first.signal as i32))
    }

    /// Returns the address at which a thread has faulted; none if the signal
    /// that it gets is no fault.
    pub fn fault_address_of(&self, thread: ThreadId) -> Option<u64> {
        let pending = self.threads.get(&thread.0)?.pending.as_ref()?;
        self.fault_address(thread, pending)
    }

    /// Requires a process.
    pub(crate) fn needs_process(&self) -> Result<(), DebuggeeError> {
        match self.core {
            Some(_) => Err(DebuggeeError::NeedsProcess),
            None => Ok(()),
        }
    }
}
