//! Where a thread keeps its copy of a variable that each thread has for itself.
//!
//! The copy of the program itself ends at the thread pointer (*ELF Handling For
//! Thread-Local Storage*, 3.4.6). Where that of a library is the thread's own table
//! tells, by a number that the dynamic linker gave the library; the GNU C library says
//! for debuggers where it keeps that number.
//!
//! Invariant: no address is guessed. A copy that the thread has not got yet is nowhere.

use crate::modules::Module;
use crate::program::Program;
use juror_debuggee::ThreadId;

/// Where the C library says where it keeps the number of a library.
const MODULE_NUMBER: &str = "_thread_db_link_map_l_tls_modid";
/// Where the thread's control block has the table of its copies.
const TABLE: u64 = 8;
/// The size of an entry of that table, in bytes.
const ENTRY_SIZE: u64 = 16;
/// An entry whose copy was not made yet.
const NOT_MADE: u64 = u64::MAX;

impl Program {
    /// The address of what lies at this offset in a thread's copy of a module's storage.
    pub(crate) fn thread_local(
        &self,
        module: &Module,
        thread: ThreadId,
        offset: u64,
    ) -> Option<u64> {
        let pointer = self.registers(thread).ok()?.fs_base;
        let storage = module.symbols.header().thread_local?;
        // Before the C library has set the thread up there is none.
        if pointer == 0 || offset >= storage.size.max(1) {
            return None;
        }
        let start = match module.is_main {
            true => pointer.checked_sub(storage.before_thread_pointer()?)?,
            false => self.copy_of_library(module, pointer)?,
        };
        start.checked_add(offset)
    }

    fn copy_of_library(&self, module: &Module, pointer: u64) -> Option<u64> {
        let mut listed = self.debuggee.modules().iter();
        let listed = listed.find(|it| it.bias == module.bias && it.path == module.path)?;
        if listed.link_map == 0 {
            return None;
        }
        let number = listed
            .link_map
            .checked_add(self.offset_of_module_number()?)?;
        let number = self.debuggee.read_u64(number).ok()?;
        let table = self.debuggee.read_u64(pointer.checked_add(TABLE)?).ok()?;
        let entry = table.checked_add(number.checked_mul(ENTRY_SIZE)?)?;
        let start = self.debuggee.read_u64(entry).ok()?;
        (number != 0 && start != 0 && start != NOT_MADE).then_some(start)
    }

    /// Where in a `link_map` the number of the library is.
    fn offset_of_module_number(&self) -> Option<u64> {
        let mut modules = self.modules.iter();
        let descriptor = modules.find_map(|module| {
            let (address, _) = module.symbols.data_symbol(MODULE_NUMBER)?;
            Some(module.to_process(address))
        })?;
        // Three words of four bytes: the bits of the field, how many there are, and
        // where the first is.
        let last_two = self.debuggee.read_u64(descriptor.checked_add(4)?).ok()?;
        Some(last_two >> 32)
    }
}
