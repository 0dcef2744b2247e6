//! A debuggee that is a core file: a process that is no more, of which the
//! threads, their registers and the memory can be read.
//!
//! It is a [`Debuggee`](crate::Debuggee) whose threads stand still, with the registers of the
//! file, and whose memory is that of the file (`memory::core_file`). What a core file
//! leaves out is read from the mapped files if these are the files of the
//! process (`builds`). Everything else of a debuggee needs a process: the
//! engine is disconnected, so nothing is ever asked of the kernel, and the
//! methods that change something return [`DebuggeeError::NeedsProcess`].
//!
//! `write` makes the core file of a stopped process.

mod builds;
mod error;
mod inspect;
mod maps;
mod open;
mod process_info;
mod raw;
mod sparse;
mod stored_memory;
mod write;

pub use error::{OpenCoreError, WriteCoreError};
pub use open::{CoreRemarks, OpenCore};
pub use write::WrittenCore;

use std::path::PathBuf;
use std::sync::Arc;

use juror_corefile::{CoreFile, CoreThread};
use juror_stepping::ThreadId;

use crate::error::DebuggeeError;
use crate::kernel::ExtendedState;
use juror_arch::VectorRegisters;

/// What a debuggee keeps of its core file.
#[derive(Debug)]
pub(crate) struct CoreState {
    core: Arc<CoreFile>,
    path: PathBuf,
    program: PathBuf,
    /// The mappings, as `/proc/PID/maps` would list them.
    maps: String,
}

impl CoreState {
    pub(crate) fn maps(&self) -> &str {
        &self.maps
    }

    fn thread(&self, thread: ThreadId) -> Result<&CoreThread, DebuggeeError> {
        let mut threads = self.core.threads.iter();
        let found = threads.find(|it| it.id == thread.0);
        found.ok_or(DebuggeeError::ThreadGone(thread))
    }

    pub(crate) fn vector_registers(
        &self,
        thread: ThreadId,
    ) -> Result<VectorRegisters, DebuggeeError> {
        let bytes = self.thread(thread)?.float_registers.as_deref();
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        bytes
            .map(VectorRegisters::from_bytes)
            .ok_or(DebuggeeError::NotInCore("the vector registers"))
    }

    pub(crate) fn upper_halves(
        &self,
        thread: ThreadId,
    ) -> Result<Option<[[u8; 16]; 16]>, DebuggeeError> {
        let bytes = self.thread(thread)?.extended_state.clone();
        Ok(bytes.and_then(|bytes| ExtendedState::of_bytes(bytes).upper_halves()))
    }

    /// Returns the name of a thread: the core file has that of the first one.
    pub(crate) fn thread_name(&self, thread: ThreadId) -> String {
        let process = self.core.process.as_ref();
        let name = process.filter(|process| process.id == thread.0);
        name.map_or_else(String::new, |process| {
            String::from_utf8_lossy(&process.name).into_owned()
        })
    }
}
