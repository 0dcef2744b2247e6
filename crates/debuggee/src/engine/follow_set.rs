//! The follow set of the instruction at which a thread stands: the engine asks
//! for it when it steps by traps.

use juror_arch::INSTRUCTION_LENGTH_MAX;
use juror_stepping::{Input, ThreadId, find_follow_set};

use crate::debuggee::Debuggee;

impl Debuggee {
    /// Passes the follow set to the engine. A pending fault comes before the
    /// instruction and enters a handler, where no trap would wait for it: that
    /// step is left to the trace flag.
    pub(crate) fn find_follow_set(&mut self, thread: ThreadId, address: u64) {
        let faults = self
            .threads
            .get(&thread.0)
            .and_then(|known| known.pending.as_ref())
            .is_some_and(|pending| pending.synchronous);
        let follow = self.registers(thread).ok().filter(|_| !faults);
        let follow = follow.and_then(|registers| {
            let mut bytes = [0; INSTRUCTION_LENGTH_MAX];
            let count = self.memory.read_up_to(address, &mut bytes);
            find_follow_set(
                bytes.get(..count)?,
                address,
                |number| registers.by_dwarf_number(number),
                |place| self.read_u64(place).ok(),
            )
        });
        self.driver.inputs.push_back(Input::FollowSet {
            thread,
            address,
            follow,
        });
    }
}
