//! Schedule points: where a thread gives the baton back.
//!
//! No set is best. With calls of the synchronisation library alone a run has few points, so that
//! its orders are soon tried; a language whose locks are inlined has none of them, and a race is
//! between two plain accesses.

use crate::modules::ModuleId;
use crate::report;
use iced_x86::{Code, Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};
use juror_program::modules::Module;
use juror_program::program::Program;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// The most points of a set: each is inserted anew for each run.
const POINTS_MAX: usize = 4_000;

/// The most bytes of a function that are looked at.
const FUNCTION_SIZE_MAX: usize = 1 << 20;

/// The longest instruction.
const INSTRUCTION_MAX: usize = 15;

/// A set of schedule points; each contains the sets before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PointSet {
    /// Calls of the synchronisation library, system calls that wait, threads that begin and end.
    Sync,
    /// And locked instructions of the program itself.
    Atomic,
    /// And accesses of the program's own functions to memory that is not on their stack.
    Memory,
}

impl PointSet {
    /// Returns its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            PointSet::Sync => "sync",
            PointSet::Atomic => "atomic",
            PointSet::Memory => "memory",
        }
    }
}

/// The use of a lock by a call of the library, whose first argument it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LockUse {
    /// It takes the lock, after it has waited for it.
    Takes,
    /// It takes the lock if nobody has it.
    Tries,
    /// It takes the lock, unless a moment comes first.
    TakesInTime,
    Drops,
    /// It drops the lock that is its second argument, and takes it again at the end.
    WaitsWithout,
    /// The same, and it gives up at no moment.
    WaitsWithoutEnd,
}

/// The kind of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Site {
    /// The first instruction of a library's function, with what it does with a lock.
    Call(Option<LockUse>),
    /// An instruction that accesses memory.
    Access,
}

/// The functions of libc; those of old versions have the same names.
const FUNCTIONS: [(&str, Option<LockUse>); 31] = [
    ("pthread_mutex_lock", Some(LockUse::Takes)),
    ("pthread_mutex_trylock", Some(LockUse::Tries)),
    ("pthread_mutex_timedlock", Some(LockUse::TakesInTime)),
    ("pthread_mutex_clocklock", Some(LockUse::TakesInTime)),
    ("pthread_mutex_unlock", Some(LockUse::Drops)),
    ("pthread_cond_wait", Some(LockUse::WaitsWithoutEnd)),
    ("pthread_cond_timedwait", Some(LockUse::WaitsWithout)),
    ("pthread_cond_clockwait", Some(LockUse::WaitsWithout)),
    ("pthread_cond_signal", None),
    ("pthread_cond_broadcast", None),
    ("pthread_rwlock_rdlock", None),
    ("pthread_rwlock_tryrdlock", None),
    ("pthread_rwlock_timedrdlock", None),
    ("pthread_rwlock_wrlock", None),
    ("pthread_rwlock_trywrlock", None),
    ("pthread_rwlock_timedwrlock", None),
    ("pthread_rwlock_unlock", None),
    ("pthread_spin_lock", None),
    ("pthread_spin_trylock", None),
    ("pthread_spin_unlock", None),
    ("pthread_barrier_wait", None),
    ("pthread_once", None),
    ("pthread_join", None),
    ("pthread_kill", None),
    ("sem_wait", None),
    ("sem_trywait", None),
    ("sem_timedwait", None),
    ("sem_clockwait", None),
    ("sem_post", None),
    ("mtx_lock", None),
    ("mtx_unlock", None),
];

/// The points of a program, by address in the process.
#[derive(Debug, Default)]
pub(crate) struct Sites {
    pub(crate) by_address: FxHashMap<u64, Site>,
    /// The calls of the library, which are inserted at the start.
    pub(crate) calls: Vec<u64>,
    /// The others, which are inserted with the second thread.
    pub(crate) accesses: Vec<u64>,
    /// The number of points that were left out.
    pub(crate) left_out: usize,
}

/// The modules of a run, with the biases at which they lay.
type Placed = Vec<(ModuleId, u64)>;

/// The points that were found, for the runs that follow: by set, where the modules lay and what is
/// there.
#[derive(Debug, Default)]
pub struct KnownSites {
    known: RefCell<FxHashMap<PointSet, (Placed, Rc<Sites>)>>,
}

impl KnownSites {
    /// Returns the points of a set in a program whose libraries are loaded. They are looked for if
    /// its modules are others than before, or lie elsewhere.
    pub(crate) fn find(&self, program: &Program, modules: &[ModuleId], set: PointSet) -> Rc<Sites> {
        let biases = program.modules.iter().map(|module| module.bias);
        let at: Placed = modules.iter().cloned().zip(biases).collect();
        let mut known = self.known.borrow_mut();
        match known.get(&set) {
            Some((then, sites)) if *then == at => Rc::clone(sites),
            _ => {
                let sites = Rc::new(Sites::find(program, set));
                known.insert(set, (at, Rc::clone(&sites)));
                sites
            }
        }
    }
}

impl Sites {
    /// Finds the points of a set in a program whose libraries are loaded.
    fn find(program: &Program, set: PointSet) -> Sites {
        let mut sites = Sites::default();
        for (name, lock) in FUNCTIONS {
            // In a static program the library is in its own module.
            for bound in program.modules.definitions(name, |_| true) {
                sites.add_call(bound.address(), lock);
            }
        }
        if set > PointSet::Sync
            && let Some(main) = program.modules.main()
        {
            sites.add_accesses(main, program, set);
        }
        sites
    }

    fn add_call(&mut self, address: u64, lock: Option<LockUse>) {
        let known = self.by_address.insert(address, Site::Call(lock));
        if known.is_none() {
            self.calls.push(address);
        }
    }

    fn add_accesses(&mut self, module: &Module, program: &Program, set: PointSet) {
        let mut known: FxHashMap<Arc<Path>, bool> = FxHashMap::default();
        let mut is_own = |file: Arc<Path>| match known.get(&file) {
            Some(is_own) => *is_own,
            None => {
                let is_own = report::is_users(&file);
                known.insert(file, is_own);
                is_own
            }
        };
        for function in module.symbols.functions() {
            let address = module.to_process(function.low_pc);
            let line = module.symbols.line_at(function.low_pc);
            let is_own = line.is_some_and(|line| is_own(line.file));
            let is_library = matches!(self.by_address.get(&address), Some(Site::Call(_)));
            if is_library || function.plt || program.modules.is_linkage(address) {
                continue;
            }
            let Some(range) = function.ranges.first() else {
                continue;
            };
            let size = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or_default();
            let mut code = vec![0; size.min(FUNCTION_SIZE_MAX)];
            if program.debuggee.read(address, &mut code).is_err() {
                continue;
            }
            for (at, kind) in accesses(&code, address) {
                let is_wanted = kind == AccessKind::Locked || is_own && set == PointSet::Memory;
                if !is_wanted || self.by_address.contains_key(&at) {
                    continue;
                }
                if self.accesses.len() == POINTS_MAX {
                    self.left_out += 1;
                    continue;
                }
                self.by_address.insert(at, Site::Access);
                self.accesses.push(at);
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AccessKind {
    /// With a `lock` prefix, or an exchange with memory.
    Locked,
    Plain,
}

/// Returns the instructions of a function that access memory that other threads may access, too.
fn accesses(code: &[u8], address: u64) -> Vec<(u64, AccessKind)> {
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let mut found = Vec::new();
    let mut instruction = Instruction::default();
    let mut keeps_frame_pointer = false;
    while decoder.can_decode() && found.len() < code.len() / 2 + INSTRUCTION_MAX {
        decoder.decode_out(&mut instruction);
        if instruction.is_invalid() {
            // What follows is data, or no instruction that is known.
            break;
        }
        keeps_frame_pointer |= instruction.code() == Code::Mov_r64_rm64
            && instruction.op0_register() == Register::RBP
            && instruction.op1_register() == Register::RSP
            || instruction.code() == Code::Mov_rm64_r64
                && instruction.op0_register() == Register::RBP
                && instruction.op1_register() == Register::RSP;
        if let Some(kind) = access_of(&instruction, keeps_frame_pointer) {
            found.push((instruction.ip(), kind));
        }
    }
    found
}

fn access_of(instruction: &Instruction, keeps_frame_pointer: bool) -> Option<AccessKind> {
    let mut operands = 0..instruction.op_count();
    if !operands.any(|index| instruction.op_kind(index) == OpKind::Memory) {
        return None;
    }
    let mnemonic = instruction.mnemonic();
    if instruction.has_lock_prefix() || mnemonic == Mnemonic::Xchg {
        return Some(AccessKind::Locked);
    }
    let is_none = matches!(
        mnemonic,
        Mnemonic::Lea | Mnemonic::Nop | Mnemonic::Push | Mnemonic::Pop
    );
    let is_flow = instruction.flow_control() != iced_x86::FlowControl::Next;
    let is_thread_local = matches!(instruction.memory_segment(), Register::FS | Register::GS);
    let base = instruction.memory_base();
    let is_stack = base == Register::RSP || base == Register::RBP && keeps_frame_pointer;
    (!(is_none || is_flow || is_thread_local || is_stack)).then_some(AccessKind::Plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_beyond_the_stack_are_found() {
        // push rbp; mov rbp, rsp; mov eax, [rip+4]; mov [rbp-4], eax; lock inc [rax]; mov fs:[0], eax;
        // lea rax, [rip]; mov [rax], ecx; ret
        let code = [
            0x55, 0x48, 0x89, 0xe5, 0x8b, 0x05, 4, 0, 0, 0, 0x89, 0x45, 0xfc, 0xf0, 0xff, 0x00,
            0x64, 0x89, 0x04, 0x25, 0, 0, 0, 0, 0x48, 0x8d, 0x05, 0, 0, 0, 0, 0x89, 0x08, 0xc3,
        ];
        let found = accesses(&code, 0x1000);
        let expected = [
            (0x1004, AccessKind::Plain),
            (0x100d, AccessKind::Locked),
            (0x101f, AccessKind::Plain),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_no_code_ends_the_search() {
        assert_eq!(accesses(&[0x06, 0x8b, 0x08], 0), []);
        assert_eq!(accesses(&[], 0), []);
    }
}
