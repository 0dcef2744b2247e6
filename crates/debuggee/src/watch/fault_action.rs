//! The program's handling of `SIGSEGV`, while pages are protected.
//!
//! If a fault comes while its signal is blocked or ignored, the kernel resets
//! the handler and unblocks the signal: such a fault ends a program. A fault at
//! a page that juror has protected must not. So juror knows the action, and
//! whether a thread that it resumes blocks the signal; after the fault both are
//! restored.
//!
//! Invariant: except for its own faults, the program's action and masks are as
//! it set them.

mod restoring;

/// The length of the kernel's `struct sigaction`, in bytes: handler, flags,
/// restorer and mask.
const ACTION_LENGTH: usize = 32;

/// The program's action for `SIGSEGV`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FaultAction {
    bytes: [u8; ACTION_LENGTH],
    /// The kernel has reset it.
    is_lost: bool,
}

impl FaultAction {
    fn handler(&self) -> usize {
        self.word(0) as usize
    }

    /// Returns true if its handler is used once (`SA_RESETHAND`).
    fn is_for_once(&self) -> bool {
        const ONCE: u64 = libc::SA_RESETHAND as u32 as u64;
        const FLAGS: usize = 8;
        self.word(FLAGS) & ONCE != 0
    }

    fn word(&self, offset: usize) -> u64 {
        let bytes = self.bytes.get(offset..).and_then(<[u8]>::first_chunk::<8>);
        bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    fn set_default(&mut self) {
        if let Some(handler) = self.bytes.first_chunk_mut::<8>() {
            *handler = (libc::SIG_DFL as u64).to_le_bytes();
        }
    }
}
