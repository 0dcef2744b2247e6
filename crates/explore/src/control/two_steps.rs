//! Instructions that read and write memory in two steps: optimised code adds to a variable by one
//! instruction, and on several processors another thread may write between its two accesses.
//!
//! The thread has a point before each of them. What others write between the two is taken back
//! before the instruction is executed, which is as if it had read before.

use super::{Control, scheduled};
use crate::blocking;
use crate::error::ExploreError;
use crate::threads::Standing;
use juror_debuggee::{Debuggee, ThreadId};
use juror_schedule::{Access, Footprint, Input, Point, PointKind};

impl Control {
    /// A thread that has the baton reads what its instruction changes, and is about to write. Returns
    /// false if it can do neither: the instruction itself fails.
    pub(super) fn reach_write(
        &mut self,
        debuggee: &Debuggee,
        thread: ThreadId,
        (address, size): (u64, usize),
    ) -> Result<bool, ExploreError> {
        let Some(value) = read(debuggee, address, size) else {
            self.threads.stands(thread, Standing::Ready);
            return Ok(false);
        };
        let site = debuggee.registers(thread)?.instruction_pointer();
        let standing = Standing::Writes(address, size, value);
        self.threads.stands(thread, standing);
        self.forget_states(thread);
        let point = Point {
            kind: PointKind::Access,
            site,
            object: 0,
            state: 0,
            footprint: Footprint::of(Access::write(address, size as u32)),
        };
        self.input(Input::Reached {
            thread: scheduled(thread),
            point,
        })?;
        Ok(true)
    }
}

/// Takes back what others have written since a thread has read it. A handler that runs first sees
/// the memory as it is.
pub(super) fn lose_writes(
    debuggee: &mut Debuggee,
    thread: ThreadId,
    (address, size): (u64, usize),
    value: u64,
) -> Result<(), ExploreError> {
    let is_changed = read(debuggee, address, size).is_some_and(|now| now != value);
    if is_changed && blocking::pending_signal(debuggee.pid(), thread.0).is_none() {
        let bytes = value.to_le_bytes();
        debuggee.write(address, bytes.get(..size).unwrap_or_default())?;
    }
    Ok(())
}

fn read(debuggee: &Debuggee, address: u64, size: usize) -> Option<u64> {
    let mut bytes = [0; 8];
    debuggee.read(address, bytes.get_mut(..size)?).ok()?;
    Some(u64::from_le_bytes(bytes))
}
