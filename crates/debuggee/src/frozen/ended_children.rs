//! What a process has made, ended with it.
//!
//! A child that has ended keeps the number of its process group in use until somebody
//! has waited for it, and that number is needed for the process that comes back. Its
//! parent is ended before it could wait, and who looks after orphans may take its time.
//! So juror does that while the parent ends.
//!
//! Invariant: only ended children come to juror; what these have made has been given to
//! others before.

use std::time::Duration;

use nix::sys::prctl::set_child_subreaper;

use crate::kernel;
use crate::process_status::ProcessStatus;

/// How often, and how far apart, it is looked whether a child has ended.
const LOOKS: u32 = 200;
const LOOK_INTERVAL: Duration = Duration::from_millis(5);

/// Children of a process that stands; they have ended, and nobody has waited for them.
pub(super) struct EndedChildren(Vec<u32>);

impl EndedChildren {
    /// Ends children of a process that stands.
    pub(super) fn end(children: impl Iterator<Item = u32>) -> EndedChildren {
        let children: Vec<u32> = children.collect();
        for &child in &children {
            let _ = kernel::signal_process(child as i32, libc::SIGKILL);
        }
        for &child in &children {
            let has_ended =
                || ProcessStatus::of_process(child).is_none_or(|status| status.has_ended());
            look_until(has_ended);
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
                look_until(|| !matches!(kernel::poll_for(child), Ok(None)));
            }
            let _ = set_child_subreaper(false);
        }
        ended
    }
}

fn look_until(mut is_so: impl FnMut() -> bool) {
    let mut looks = 0;
    while !is_so() && looks < LOOKS {
        looks += 1;
        std::thread::sleep(LOOK_INTERVAL);
    }
}
