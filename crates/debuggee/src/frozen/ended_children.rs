//! Children of a process that are killed with it.
//!
//! A child that has ended keeps the number of its process group in use until it
//! has been waited for, and that number is needed for the restored process. Its
//! parent is killed before it could wait, and the process that inherits orphans
//! may take its time. So juror waits for them while the parent ends.
//!
//! Invariant: only ended children come to juror; their own children have been
//! inherited by others before.

use std::os::fd::OwnedFd;

use nix::sys::prctl::set_child_subreaper;

use super::kernel as tasks;
use crate::kernel;
use crate::kernel::process_descriptors::await_end;

/// The time that a child may take to end, in milliseconds.
const ENDING_MAX_MILLISECONDS: u16 = 1000;

/// Children of a stopped process; they have ended, and have not been waited
/// for.
pub(super) struct EndedChildren(Vec<u32>);

impl EndedChildren {
    /// Kills children of a stopped process.
    pub(super) fn end(children: impl Iterator<Item = u32>) -> EndedChildren {
        let children: Vec<u32> = children.collect();
        let open = |&child: &u32| tasks::open_process(child).ok();
        let handles: Vec<OwnedFd> = children.iter().filter_map(open).collect();
        for &child in &children {
            let _ = kernel::signal_process(child as i32, libc::SIGKILL);
        }
        for handle in &handles {
            await_end(handle, ENDING_MAX_MILLISECONDS);
        }
        EndedChildren(children)
    }

    /// Kills the process, and then waits for them.
    pub(super) fn inherit<T>(self, end_parent: impl FnOnce() -> T) -> T {
        let inherits = !self.0.is_empty() && set_child_subreaper(true).is_ok();
        let ended = end_parent();
        if inherits {
            for child in self.0 {
                // The number is another process's, if the process has a
                // namespace of its own.
                let _ = kernel::poll_for(child);
            }
            let _ = set_child_subreaper(false);
        }
        ended
    }
}
