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
const MODULE_NUMBER: &str = "link_map_l_tls_modid";
/// Where the thread's control block has the table of its copies.
const TABLE: u64 = 8;
/// The size of an entry of that table, in bytes.
const ENTRY_SIZE: u64 = 16;
/// So many lists of numbers are gone through; each has dozens.
const SLOT_LISTS_MAX: usize = 1_024;
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
        // The number may be one of a library that was unloaded, whose copy is still there.
        let generation = self.debuggee.read_u64(table).ok()?;
        let is_current = || {
            let since = self.generation_of(number, listed.link_map);
            since.is_none_or(|since| since <= generation)
        };
        (is_made && is_current()).then_some(start)
    }

    /// The generation of tables since which a library has its number; nothing where the C
    /// library does not say where it keeps that.
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

    /// Where a field is in its structure, in bytes, as the C library says for debuggers.
    fn field_described(&self, name: &str) -> Option<u64> {
        let descriptor = self.symbol_address(&format!("_thread_db_{name}"))?;
        // Three words of four bytes: the bits of the field, how many there are, and
        // where the first is.
        let last_two = self.debuggee.read_u64(descriptor.checked_add(4)?).ok()?;
        Some(last_two >> 32)
    }
}
