//! The start routine of a thread.

use crate::program::Program;
use juror_debuggee::ThreadId;

/// The symbol of the descriptor of the start routine in a thread's block.
const START_ROUTINE: &str = "_thread_db_pthread_start_routine";

impl Program {
    /// Returns the start routine of a thread, as it was passed to `pthread_create`. The C library
    /// describes for debuggers where it stores it. Returns `None` for a thread created in another
    /// way.
    pub fn start_routine(&self, thread: ThreadId) -> Option<u64> {
        let mut modules = self.modules.iter();
        let descriptor = modules.find_map(|module| {
            let (address, _) = module.symbols.data_symbol(START_ROUTINE)?;
            Some(module.to_process(address))
        })?;
        // A descriptor is three words of four bytes: the size of the field in bits, the number of
        // elements, and the offset in the thread's block.
        let last_two = self.debuggee.read_u64(descriptor.wrapping_add(4)).ok()?;
        let block = self.registers(thread).ok()?.thread_base();
        let field = block.checked_add(last_two >> 32)?;
        let routine = self.debuggee.read_u64(field).ok()?;
        (routine != 0).then_some(routine)
    }

    /// Returns the name of the function that begins at an address, or the module with an offset if
    /// it has no name.
    pub fn named_function(&self, address: u64) -> String {
        let described = self.describe(address);
        match described.function.filter(|_| described.offset == 0) {
            Some(function) => function,
            None => self.named_caller(address.wrapping_add(1)),
        }
    }
}
