//! The function that a thread was started to run.

use crate::program::Program;
use juror_debuggee::ThreadId;

/// Where the C library says where it keeps what a thread was started to run.
const START_ROUTINE: &str = "_thread_db_pthread_start_routine";

impl Program {
    /// The function that a thread was started to run, as it was given to
    /// `pthread_create`. The C library says for debuggers where it keeps that;
    /// nothing for threads that were made without it.
    pub fn start_routine(&self, thread: ThreadId) -> Option<u64> {
        let mut modules = self.modules.iter();
        let descriptor = modules.find_map(|module| {
            let (address, _) = module.symbols.data_symbol(START_ROUTINE)?;
            Some(module.to_process(address))
        })?;
        // Three words of four bytes: the bits of the field, how many there are,
        // and where the first is in the thread's own block.
        let last_two = self.debuggee.read_u64(descriptor.wrapping_add(4)).ok()?;
        let block = self.registers(thread).ok()?.fs_base;
        let field = block.checked_add(last_two >> 32)?;
        let routine = self.debuggee.read_u64(field).ok()?;
        (routine != 0).then_some(routine)
    }

    /// The name of the function that begins at an address; the module with an
    /// offset where it has no name.
    pub fn named_function(&self, address: u64) -> String {
        let described = self.describe(address);
        match described.function.filter(|_| described.offset == 0) {
            Some(function) => function,
            None => self.named_caller(address.wrapping_add(1)),
        }
    }
}
