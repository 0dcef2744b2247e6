//! Whether the code in memory is that of the module's file.
//!
//! A module's file is the one that is mapped (`juror_debuggee::ModuleFile`), and may differ from memory
//! nevertheless: it was overwritten in place, or the program has changed its own code.
//!
//! **Invariant**: [`Program::insert`] writes nothing into code of a file that is not as in the file.

use crate::modules::Module;
use crate::program::Program;
use juror_arch::INSTRUCTION_LENGTH_MAX;
use juror_debuggee::{Debuggee, DebuggeeError, Owner};
use juror_stepping::instruction_length;
use juror_symbols::SymbolFile;

/// The tag of the end of a dynamic section, and that of the entry that the linker fills.
const DT_NULL: u64 = 0;
const DT_DEBUG: u64 = 21;
/// The largest dynamic section that is compared, in bytes.
const DYNAMIC_SIZE_MAX: u64 = 1 << 16;

impl Program {
    /// Inserts a point like [`Debuggee::insert`], if the instruction is that of the module's file.
    /// Code outside of modules is taken as it is.
    ///
    /// # Errors
    /// The code differs, or the trap cannot be written.
    pub fn insert(&mut self, address: u64, owner: Owner) -> Result<(), DebuggeeError> {
        match self.difference_at(address) {
            None => self.debuggee.insert(address, owner),
            Some(reason) => Err(DebuggeeError::OtherCode { address, reason }),
        }
    }

    /// Returns why the instruction at an address is not known to be that of the module's file;
    /// nothing if it is, or if there is no file.
    pub fn difference_at(&self, address: u64) -> Option<String> {
        if self.known_code.borrow().contains(&address) {
            return None;
        }
        let module = self.modules.iter().find(|it| it.contains(address))?;
        let name = module.path.display();
        if !module.symbols.is_unchanged() && !self.is_same_file(module) {
            return Some(format!(
                "{name} was overwritten after its symbols were read"
            ));
        }
        let file_address = module.to_file(address);
        let own = module
            .symbols
            .bytes_at(file_address, INSTRUCTION_LENGTH_MAX as u64)?;
        let mut mapped = vec![0; own.len()];
        // What is not mapped cannot be written either.
        self.debuggee.read(address, &mut mapped).ok()?;
        let length = instruction_length(&own).unwrap_or(1);
        if own.get(..length) != mapped.get(..length) && !module.symbols.has_text_relocations() {
            return Some(format!("the program has other code there than {name}"));
        }
        self.known_code.borrow_mut().insert(address);
        None
    }
}

impl Program {
    /// Returns whether a file that was written to is the same nevertheless, as after `touch` or a
    /// copy of the same bytes: it has what was read of it, and the code in memory.
    fn is_same_file(&self, module: &Module) -> bool {
        let symbols = &module.symbols;
        let segments = symbols.header().segments.iter();
        let mut code = segments.filter(|it| it.executable && it.file_size > 0);
        let is_same = symbols.is_as_read()
            && code.all(|segment| {
                let own = symbols.bytes_at(segment.address, segment.file_size);
                own.is_some_and(|own| {
                    let mut mapped = vec![0; own.len()];
                    let start = segment.address.wrapping_add(module.bias);
                    self.debuggee.read(start, &mut mapped).is_ok() && mapped == own
                })
            });
        if is_same {
            symbols.note_same();
        }
        is_same
    }
}

/// Returns whether the dynamic section of a file is the one in memory, as far as the dynamic linker
/// does not write to it. A file that was overwritten in place has another one as a rule, while the
/// program keeps the relocated old one.
pub(crate) fn is_linked(debuggee: &Debuggee, symbols: &SymbolFile, bias: u64) -> bool {
    let Some((address, size)) = symbols.header().dynamic else {
        return true;
    };
    let size = size.min(DYNAMIC_SIZE_MAX);
    let Some(own) = symbols.bytes_at(address, size) else {
        return true;
    };
    let mut mapped = vec![0; own.len()];
    // A core file may have left it out.
    if debuggee
        .read(address.wrapping_add(bias), &mut mapped)
        .is_err()
    {
        return true;
    }
    let entries = own.chunks_exact(16).zip(mapped.chunks_exact(16));
    let entries = entries.map(|(own, mapped)| (entry(own), entry(mapped)));
    let mut entries = entries.take_while(|((tag, _), _)| *tag != DT_NULL);
    entries.all(|((tag, value), (mapped_tag, mapped))| {
        let is_value = mapped == value || mapped == value.wrapping_add(bias);
        tag == mapped_tag && (is_value || tag == DT_DEBUG)
    })
}

/// Returns the tag and the value of an entry.
fn entry(bytes: &[u8]) -> (u64, u64) {
    let word = |bytes: &[u8]| {
        let bytes = bytes.iter().rev();
        bytes.fold(0, |it, byte| (it << 8) | u64::from(*byte))
    };
    let (tag, value) = bytes.split_at(8);
    (word(tag), word(value))
}
