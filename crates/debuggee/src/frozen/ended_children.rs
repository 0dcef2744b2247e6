//! What a process has made, ended with it.
//!
//! A child that has ended keeps the number of its process group in use until somebody
//! has waited for it, and that number is needed for the process that comes back. Its
//! parent is ended before it could wait, and who looks after orphans may take its time.
//! So juror does that while the parent ends.
//!
//! Invariant: only ended children come to juror; what these have made has been given to
//! others before.

use std::os::fd::{AsFd, OwnedFd};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl::set_child_subreaper;

use super::kernel as tasks;
use crate::kernel;

/// How long a child may take to end, in milliseconds.
const ENDING_MAX_MILLISECONDS: u16 = 1000;

/// Children of a process that stands; they have ended, and nobody has waited for them.
pub(super) struct EndedChildren(Vec<u32>);

impl EndedChildren {
    /// Ends children of a process that stands.
    pub(super) fn end(children: impl Iterator<Item = u32>) -> EndedChildren {
        let children: Vec<u32> = children.collect();
        let open = |&child: &u32| tasks::open_process(child).ok();
        let handles: Vec<OwnedFd> = children.iter().filter_map(open).collect();
        for &child in &children {
            let _ = kernel::signal_process(child as i32, libc::SIGKILL);
        }
        for handle in &handles {
            await_end(handle);
        }
        EndedChildren(children)
    }

    /// Ends the process, and waits for them then.
    pub(super) fn inherit<T>(self, end_parent: impl FnOnce() -> T) -> T {
        let inherits = !self.0.is_empty() && set_child_subreaper(true).is_ok();
        let ended = end_parent();
        if inherits {
            for child in self.0 {
                // Somebody else's, where the process has numbers of its own.
                let _ = kernel::poll_for(child);
            }
            let _ = set_child_subreaper(false);
        }
        ended
    }
}

/// A handle on a process can be read from once that has ended.
fn await_end(process: &OwnedFd) {
    let mut waited_for = [PollFd::new(process.as_fd(), PollFlags::POLLIN)];
    let timeout = PollTimeout::from(ENDING_MAX_MILLISECONDS);
    while poll(&mut waited_for, timeout) == Err(nix::errno::Errno::EINTR) {}
}
