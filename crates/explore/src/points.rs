//! Schedule points: where a thread gives the baton back.
//!
//! No set is best. With calls of the synchronisation library alone a run has few points, so that
//! its orders are soon tried; a language whose locks are inlined has none of them, and a race is
//! between two plain accesses.

mod functions;

use crate::access::{Kind, accesses, loop_heads};
use crate::modules::ModuleId;
use functions::{Users, functions_of};
use iced_x86::Instruction;
use juror_program::modules::Module;
use juror_program::program::Program;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::rc::Rc;

/// The most points of a set: each is inserted anew for each run.
const POINTS_MAX: usize = 4_000;

/// The most bytes of a function that are looked at.
const FUNCTION_SIZE_MAX: usize = 1 << 20;

/// A set of schedule points; each contains the sets before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PointSet {
    /// System calls alone, and threads that begin and end.
    Calls,
    /// And calls of the synchronisation library.
    Sync,
    /// And locked instructions of the program itself.
    Atomic,
    /// And accesses of the program's own functions to memory that is not on their stack.
    Memory,
    /// And the beginnings of the loops of the program's own functions.
    BackEdges,
}

impl PointSet {
    /// Returns its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            PointSet::Calls => "calls",
            PointSet::Sync => "sync",
            PointSet::Atomic => "atomic",
            PointSet::Memory => "memory",
            PointSet::BackEdges => "back-edges",
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
    Access(Instruction),
    /// The first instruction of the function that makes a thread; no point.
    Makes,
    /// The beginning of a loop that was seen to spin without a point, of any loop, or of a function.
    Loop,
}

/// A place in a module that a run has: its number, and the address in its file.
pub(crate) type Learned = (usize, u64);

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

/// Returns whether a name is that of a function of the C library whose calls are points.
pub(crate) fn is_thread_function(name: &str) -> bool {
    FUNCTIONS.iter().any(|(function, _)| *function == name)
}

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
    /// The memory of the program itself, without its libraries.
    pub(crate) program: Range<u64>,
}

/// The modules of a run, with the biases at which they lay.
type Placed = Vec<(ModuleId, u64)>;

/// The points that were found, for the runs that follow: by set, where the modules lay and what is
/// there.
#[derive(Debug, Default)]
pub struct KnownSites {
    known: RefCell<FxHashMap<PointSet, (Placed, Rc<Sites>)>>,
    /// The loops that spin without a point.
    learned: RefCell<Vec<Learned>>,
    /// The loops that were known before the run.
    before: RefCell<Vec<Learned>>,
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
                let mut sites = Sites::find(program, set);
                sites.add_loops(program, &self.learned.borrow());
                let sites = Rc::new(sites);
                known.insert(set, (at, Rc::clone(&sites)));
                sites
            }
        }
    }
}

impl KnownSites {
    /// Returns the loops with which a run begins.
    pub(crate) fn before(&self) -> Vec<Learned> {
        self.before.borrow().clone()
    }

    /// Sets the loops with which runs begin: what one of them learns is of no use to the others, so
    /// that it does not matter which were made before.
    pub(crate) fn begin_with(&self, loops: &[Learned]) {
        *self.before.borrow_mut() = loops.to_vec();
        if *self.learned.borrow() != loops {
            self.learn(loops.to_vec());
        }
    }

    /// Sets the loops that have a point.
    pub(crate) fn learn(&self, loops: Vec<Learned>) {
        *self.learned.borrow_mut() = loops;
        self.known.borrow_mut().clear();
    }
}

impl Sites {
    fn add_loops(&mut self, program: &Program, loops: &[Learned]) {
        for (module, at) in loops {
            let Some(module) = program.modules.iter().nth(*module) else {
                continue;
            };
            let address = module.to_process(*at);
            if let Entry::Vacant(place) = self.by_address.entry(address) {
                place.insert(Site::Loop);
                self.accesses.push(address);
            }
        }
    }

    /// Finds the points of a set in a program whose libraries are loaded.
    fn find(program: &Program, set: PointSet) -> Sites {
        let mut sites = Sites::default();
        if set == PointSet::Calls {
            return sites;
        }
        for (name, lock) in FUNCTIONS {
            // In a static program the library is in its own module.
            for bound in program.modules.definitions(name, |_| true) {
                sites.add_call(bound.address(), lock);
            }
        }
        for bound in program.modules.definitions("pthread_create", |_| true) {
            if sites
                .by_address
                .insert(bound.address(), Site::Makes)
                .is_none()
            {
                sites.calls.push(bound.address());
            }
        }
        if let Some(main) = program.modules.main() {
            sites.program = range_of(program, main);
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
        let is_library = |address| {
            let site = self.by_address.get(&address);
            matches!(site, Some(Site::Call(_) | Site::Makes))
        };
        let functions = functions_of(module, program, is_library);
        let writable = writable(program);
        let mut users = Users::default();
        for function in functions {
            if function.is_of_c_library && !function.is_own {
                continue;
            }
            let Range { start, end } = function.range;
            let code = module.to_process(start)..module.to_process(end);
            if function.is_rust_sync {
                self.add(code.start, Site::Loop);
            }
            let is_own = |address: u64| {
                function.is_own
                    || function.may_have_own && {
                        let line = module.symbols.line_at(module.to_file(address));
                        line.is_some_and(|line| users.have(line.file))
                    }
            };
            self.add_function(program, code, (is_own, set), &writable);
        }
    }

    /// Adds the points in the code of a function.
    fn add_function(
        &mut self,
        program: &Program,
        range: Range<u64>,
        (mut is_own, set): (impl FnMut(u64) -> bool, PointSet),
        writable: &[Range<u64>],
    ) {
        let is_constant = |address| !writable.iter().any(|range| range.contains(&address));
        let size = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or_default();
        let mut code = vec![0; size.min(FUNCTION_SIZE_MAX)];
        if program.debuggee.read(range.start, &mut code).is_err() {
            return;
        }
        for (instruction, kind) in accesses(&code, range.start, is_constant) {
            let is_wanted = kind == Kind::Locked || set >= PointSet::Memory;
            if is_wanted && (kind == Kind::Locked || is_own(instruction.ip())) {
                self.add_access(instruction);
            }
        }
        if set == PointSet::BackEdges {
            let heads = loop_heads(&code, range.start);
            for head in heads.into_iter().filter(|head| is_own(*head)) {
                self.add(head, Site::Loop);
            }
        }
    }

    fn add_access(&mut self, instruction: Instruction) {
        self.add(instruction.ip(), Site::Access(instruction));
    }

    fn add(&mut self, at: u64, site: Site) {
        if self.by_address.contains_key(&at) {
            return;
        }
        if self.accesses.len() == POINTS_MAX {
            self.left_out += 1;
            return;
        }
        self.by_address.insert(at, site);
        self.accesses.push(at);
    }
}

/// Returns the memory of a module.
fn range_of(program: &Program, module: &Module) -> Range<u64> {
    let maps = program.debuggee.memory_map().unwrap_or_default();
    let path = module.path.to_string_lossy();
    let mut ranges = maps
        .lines()
        .filter(|line| line.ends_with(&*path))
        .filter_map(range);
    match ranges.next() {
        Some(first) => first.start..ranges.next_back().map_or(first.end, |last| last.end),
        None => 0..0,
    }
}

/// Returns the range of a line of `/proc/PID/maps`.
fn range(line: &str) -> Option<Range<u64>> {
    let (range, _) = line.split_once(' ')?;
    let (begin, end) = range.split_once('-')?;
    let at = |text| u64::from_str_radix(text, 16).ok();
    Some(at(begin)?..at(end)?)
}

/// Returns the memory that can be written.
fn writable(program: &Program) -> Vec<Range<u64>> {
    let maps = program.debuggee.memory_map().unwrap_or_default();
    let writable = maps.lines().filter(|line| line.contains(" rw"));
    writable.filter_map(range).collect()
}
