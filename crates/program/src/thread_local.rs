//! Locates thread-local variables.
//!
//! The block of the executable ends at the thread pointer (*ELF Handling For Thread-Local Storage*,
//! 3.4.6). The block of a library is in the thread's dynamic vector, indexed by the module id that
//! the dynamic linker assigned; the GNU C library describes for debuggers where it stores that id.
//!
//! Invariant: no address is guessed. A block that the thread has not allocated yet has no address.

use crate::modules::Module;
use crate::program::Program;
use juror_debuggee::ThreadId;

/// The symbol of the descriptor of the module id in a link map.
const MODULE_NUMBER: &str = "link_map_l_tls_modid";
/// The offset of the dynamic vector in the thread's control block.
const TABLE: u64 = 8;
/// The size of an entry of that table, in bytes.
const ENTRY_SIZE: u64 = 16;
/// The most slot lists that are followed; each has dozens of entries.
const SLOT_LISTS_MAX: usize = 1_024;
/// An entry whose block has not been allocated yet.
const NOT_MADE: u64 = u64::MAX;

impl Program {
    /// Returns the address at an offset in a thread's block of a module.
    pub(crate) fn thread_local(
        &self,
        module: &Module,
        thread: ThreadId,
        offset: u64,
    ) -> Option<u64> {
        let pointer = self.registers(thread).ok()?.thread_base();
        let storage = module.symbols.header().thread_local?;
        // A thread has no blocks before the C library has set it up.
        if pointer == 0 || offset >= storage.size.max(1) {
            return None;
        }
        let start = if module.is_main {
            pointer.checked_sub(storage.before_thread_pointer()?)?
        } else {
            self.copy_of_library(module, pointer)?
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
            .checked_add(self.field_described(MODULE_NUMBER)?)?;
        let number = self.debuggee.read_u64(number).ok()?;
        let table = self.debuggee.read_u64(pointer.checked_add(TABLE)?).ok()?;
        let entry = table.checked_add(number.checked_mul(ENTRY_SIZE)?)?;
        let start = self.debuggee.read_u64(entry).ok()?;
        let is_made = number != 0 && start != 0 && start != NOT_MADE;
        // The id may have belonged to a library that was unloaded and whose block is still there.
        let generation = self.debuggee.read_u64(table).ok()?;
        let is_current = || {
            let since = self.generation_of(number, listed.link_map);
            since.is_none_or(|since| since <= generation)
        };
        (is_made && is_current()).then_some(start)
    }

    /// Returns the generation in which a library got its module id, or `None` if the C library does
    /// not describe where it stores that.
    fn generation_of(&self, number: u64, link_map: u64) -> Option<u64> {
        let globals = self.symbol_address("_rtld_global")?;
        let field = |name: &str| self.field_described(name);
        let mut list = globals.checked_add(field("rtld_global__dl_tls_dtv_slotinfo_list")?)?;
        list = self.debuggee.read_u64(list).ok()?;
        let size = self.symbol_address("_thread_db_sizeof_dtv_slotinfo")?;
        let size = self.debuggee.read_u64(size).ok()? & 0xffff_ffff;
        let (length, next) = (
            field("dtv_slotinfo_list_len")?,
            field("dtv_slotinfo_list_next")?,
        );
        let mut index = number;
        for _ in 0..SLOT_LISTS_MAX {
            let count = self.debuggee.read_u64(list.checked_add(length)?).ok()?;
            if index < count {
                let slots = list.checked_add(field("dtv_slotinfo_list_slotinfo")?)?;
                let slot = slots.checked_add(index.checked_mul(size)?)?;
                let map = slot.checked_add(field("dtv_slotinfo_map")?)?;
                let generation = slot.checked_add(field("dtv_slotinfo_gen")?)?;
                let is_same = self.debuggee.read_u64(map).ok()? == link_map;
                let generation = self.debuggee.read_u64(generation).ok()?;
                return is_same.then_some(generation);
            }
            index = index.checked_sub(count)?;
            list = self.debuggee.read_u64(list.checked_add(next)?).ok()?;
            if list == 0 {
                return None;
            }
        }
        None
    }

    fn symbol_address(&self, name: &str) -> Option<u64> {
        let mut modules = self.modules.iter();
        modules.find_map(|module| {
            let (address, _) = module.symbols.data_symbol(name)?;
            Some(module.to_process(address))
        })
    }

    /// Returns the offset of a field in its structure, in bytes, from the C library's descriptor
    /// for debuggers.
    fn field_described(&self, name: &str) -> Option<u64> {
        let descriptor = self.symbol_address(&format!("_thread_db_{name}"))?;
        // A descriptor is three words of four bytes: the size of the field in bits, the number of
        // elements, and the offset.
        let last_two = self.debuggee.read_u64(descriptor.checked_add(4)?).ok()?;
        Some(last_two >> 32)
    }
}
