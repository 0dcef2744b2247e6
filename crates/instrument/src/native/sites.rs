//! Where a patch may be: the heads of sites in the code of loaded modules.
//!
//! A head is looked for in the text of the file, and given only if the process has the
//! same bytes. Branches are those around the site, decoded, and those from anywhere in the
//! module whose displacement is large enough to lead there, found by their bytes. A branch
//! from another function to the start of a head
//! is a call in tail position, an event as any; one from the same function is an
//! obstacle. A module may be patched before its initialisers have run: its text does
//! not change by them, since modules with relocations in their text are refused.
//!
//! A return site may have several heads. The short ones (`juror_native::head`) come first
//! where the usual one would be costly: a branch leads into it, or it holds another call.
//!
//! **Invariant**: no head is given in code that its own program reads or interrupts
//! (`denied`, restartable sequences, the dynamic linker, modules with relocations in
//! their text), and no two heads of one call overlap.

mod code;
mod denied;
mod elf;
mod segment;
#[cfg(test)]
mod tests;

use code::{ModuleCode, Wanted};
use juror_native::head::{Head, Obstacle, Place};
use juror_program::modules::Module;
use juror_program::program::Program;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

/// The reason why an address has no head that may be patched. The words follow the
/// name of a place.
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
    /// Unwinders know the code by its bytes.
    #[error("unwinders know it by its bytes")]
    SignalReturn,
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
    /// Those that are possible, the best first.
    pub possible: Vec<Head>,
    /// The reason why the usual head is not among them.
    pub refused: Option<NoHead>,
}

/// The code of the modules in which heads have been looked for.
#[derive(Debug, Clone, Default)]
pub struct Texts {
    known: Vec<(Rc<Module>, Rc<ModuleCode>)>,
}

impl Texts {
    /// Returns the heads of sites, in the order of the sites. Each ends with its jump
    /// before the next site: among them, or among the others of the process, patched or
    /// not, of which `next_other` returns the first behind an address. What was read of a
    /// module is kept while it is loaded.
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

    /// Returns whether the heads of a return site are better looked for at a later return:
    /// the module is large, and few calls have returned to it yet. Each answer counts as a
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

    /// Returns the code of the module that holds an address.
    fn code_of(&mut self, program: &Program, address: u64) -> Result<Rc<ModuleCode>, NoHead> {
        let known = self.known.iter().find(|(of, _)| of.contains(address));
        if let Some((_, code)) = known {
            return Ok(Rc::clone(code));
        }
        // The kernel's library is not among them.
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

/// Returns whether the kernel says that threads have shadow stacks.
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
