//! Where the call that a thread is in returns to, and the name of its caller.
//!
//! Invariant: the name of a caller is made once for each return address.

use crate::program::Program;
use juror_debuggee::ThreadId;
use std::sync::Arc;

impl Program {
    /// Where the call that a stopped thread is in returns to.
    pub fn return_address(&self, thread: ThreadId) -> Option<u64> {
        let mut is_left = false;
        let mut found = None;
        self.walk(thread, |frame| {
            if is_left {
                found = Some(frame.pc);
                return false;
            }
            is_left = !frame.is_inlined();
            true
        });
        found
    }

    /// The name of the function that a call at this return address was made
    /// in; the module with an offset where it has no name.
    pub(crate) fn named_caller(&self, address: u64) -> String {
        let described = self.describe(address.wrapping_sub(1));
        match (described.function, self.modules.find(address)) {
            (Some(function), _) => function,
            (None, Some(module)) => {
                format!("{}+{:#x}", module.name(), module.to_file(address))
            }
            (None, None) => format!("{address:#x}"),
        }
    }

    /// The same, made once for each address.
    pub fn caller_name(&self, address: u64) -> Arc<str> {
        if let Some(known) = self.caller_names.borrow().get(&address) {
            return Arc::clone(known);
        }
        let name: Arc<str> = self.named_caller(address).into();
        let mut names = self.caller_names.borrow_mut();
        names.insert(address, Arc::clone(&name));
        name
    }
}
