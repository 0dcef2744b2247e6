//! Finds the heads of patch sites in the code of loaded modules.
//!
//! A head is searched in the text of the file, and returned only if the process has the same bytes.
//! The branches considered are those around the site, decoded, and those anywhere in the module
//! whose displacement is large enough to reach it, found by their bytes. A branch from another
//! function to the start of a head is a tail call, an event like any other; one from the same
//! function is an obstacle. A module may be patched before its initializers have run: they do not
//! change its text, since modules with text relocations are refused.
//!
//! A return site may have several heads. The short ones (`juror_stub::head`) come first if the
//! usual one would be costly because a branch leads into it or it contains another call.
//!
//! **Invariant**: no head is returned in code that the program itself reads or interrupts
//! (`denied`, restartable sequences, the dynamic linker, modules with text relocations), and no two
//! heads of one call overlap.

mod code;
mod denied;
mod elf;
mod segment;
#[cfg(test)]
mod shipped;
#[cfg(test)]
mod tests;

use code::{ModuleCode, Wanted};
use juror_program::modules::Module;
use juror_program::program::Program;
use juror_stub::head::{Head, Obstacle, Place};
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

/// The reason for which an address has no head that may be patched. The messages follow the name of
/// a place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoHead {
    /// The address is in no module that is loaded from a file, or not in its code.
    #[error("no code of a file is there")]
    NotOfFile,
    /// The code is of the dynamic linker, or leads to it.
    #[error("it is code of the dynamic linker, or leads to it")]
    Linker,
    /// The function reads its own frame or return address, or returns twice.
    #[error("the function `{0}` keeps its instructions")]
    Function(Arc<str>),
    /// The module unwinds stacks.
    #[error("its module unwinds stacks")]
    Unwinder,
    /// Unwinders recognize the code by its bytes.
    #[error("unwinders know it by its bytes")]
    SignalReturn,
    /// The runtime of Go knows the code by its addresses.
    #[error("the runtime of Go knows its code by the addresses")]
    Go,
    /// The kernel restarts the code from its beginning.
    #[error("it is in a restartable sequence")]
    RestartableSequence,
    /// The dynamic linker writes to the text of the module.
    #[error("its module has relocations in its text")]
    RelocatedText,
    /// The process has other bytes than the file.
    #[error("its code differs from that of its file")]
    Differs,
    /// Another site is in the bytes of the head.
    #[error("the site at {0:#x} is in its first bytes")]
    NextSite(u64),
    /// The instructions cannot be replaced by a jump.
    #[error(transparent)]
    Obstacle(#[from] Obstacle),
}

/// The heads of a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heads {
    /// The possible heads, the best first.
    pub possible: Vec<Head>,
    /// The reason for which the usual head is not among them.
    pub refused: Option<NoHead>,
}

/// The code of the modules in which heads have been searched.
#[derive(Debug, Clone, Default)]
pub struct Texts {
    known: Vec<(Rc<Module>, Rc<ModuleCode>)>,
}

impl Texts {
    /// Returns the heads of sites, in the order of the sites. The jump of each head ends before the
    /// next site, which is among `sites` or is returned by `next_other`, the first other site of
    /// the process after an address. The analysis of a module is kept while it is loaded.
    pub fn heads(
        &mut self,
        program: &Program,
        sites: &[(u64, Place)],
        next_other: impl Fn(u64) -> Option<u64>,
    ) -> Vec<Result<Heads, NoHead>> {
        self.forget_unloaded(program);
        let mut starts: Vec<u64> = sites.iter().map(|(address, _)| *address).collect();
        starts.sort_unstable();
        let shadow_stack = has_shadow_stack(program);
        let head = |&(address, place): &(u64, Place)| {
            let next = starts.partition_point(|start| *start <= address);
            let next = starts.get(next).copied().unwrap_or(u64::MAX);
            let wanted = Wanted {
                address,
                place,
                next: next_other(address).map_or(next, |other| other.min(next)),
                shadow_stack,
            };
            self.heads_at(program, wanted)
        };
        sites.iter().map(head).collect()
    }

    /// Returns whether the search for the heads of a return site should be deferred to a later
    /// return, since the module is large and few calls have returned to it. Each call counts as a
    /// return.
    pub fn puts_off_return(&mut self, program: &Program, address: u64) -> bool {
        let code = self.code_of(program, address);
        code.is_ok_and(|code| code.puts_off(address))
    }

    fn heads_at(&mut self, program: &Program, wanted: Wanted) -> Result<Heads, NoHead> {
        if program.modules.is_linkage(wanted.address) {
            return Err(NoHead::Linker);
        }
        let code = self.code_of(program, wanted.address)?;
        let heads = code.heads(wanted)?;
        let read = |address: u64, bytes: &mut [u8]| program.debuggee.read(address, bytes).is_ok();
        for head in &heads.possible {
            code.check_process(head, read)?;
        }
        Ok(heads)
    }

    /// Returns the code of the module that contains an address.
    fn code_of(&mut self, program: &Program, address: u64) -> Result<Rc<ModuleCode>, NoHead> {
        let known = self.known.iter().find(|(of, _)| of.contains(address));
        if let Some((_, code)) = known {
            return Ok(Rc::clone(code));
        }
        // The vDSO is not among the modules.
        let mut modules = program.modules.iter();
        let module = modules.find(|it| it.contains(address));
        let module = module.ok_or(NoHead::NotOfFile)?;
        let code = ModuleCode::new(&module.symbols, module.bias);
        let code = Rc::new(code);
        self.known.push((Rc::clone(module), Rc::clone(&code)));
        Ok(code)
    }

    fn forget_unloaded(&mut self, program: &Program) {
        let is_loaded = |of: &Rc<Module>| program.modules.iter().any(|it| Rc::ptr_eq(it, of));
        self.known.retain(|(of, _)| is_loaded(of));
    }
}

/// Returns whether the kernel reports shadow stacks for the threads.
fn has_shadow_stack(program: &Program) -> bool {
    static IS_POSSIBLE: LazyLock<bool> = LazyLock::new(|| {
        let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let flags = processors.lines().find(|line| line.starts_with("flags"));
        flags.is_none_or(|flags| flags.split(' ').any(|flag| flag == "user_shstk"))
    });
    if !*IS_POSSIBLE {
        return false;
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", program.debuggee.pid()));
    let status = status.unwrap_or_default();
    let mut lines = status.lines();
    lines.any(|line| line.starts_with("x86_Thread_features:") && line.contains("shstk"))
}
