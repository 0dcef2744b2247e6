//! The return address of the current call, and the name of its caller.
//!
//! Invariant: the name of a caller is computed once for each return address.

use crate::program::Program;
use juror_debuggee::ThreadId;
use std::sync::Arc;

impl Program {
    /// Returns the return address of the call that a stopped thread is in.
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

    /// Returns the name of the function that contains a return address's call, or the module with
    /// an offset if it has no name.
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

    /// Returns the name of a caller, computed once for each address.
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
