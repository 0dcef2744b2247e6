//! The functions of a program, and which of them are the user's own.

use crate::access::first_argument;
use crate::report;
use juror_program::modules::Module;
use juror_program::program::Program;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The bytes at the entry point that are looked at, and those behind it that may be the user's code.
const ENTRY_CODE_SIZE: usize = 64;
const OWN_CODE_SIZE: u64 = 0x3000;

/// The module of Rust's library with its mutexes, conditions, and read-write locks.
const RUST_SYNC: &str = "std::sys::sync::";

/// The source files that are known, and whether they are the user's.
#[derive(Default)]
pub(super) struct Users(FxHashMap<Arc<Path>, bool>);

impl Users {
    /// Returns whether a source file is the user's.
    pub(super) fn have(&mut self, file: Arc<Path>) -> bool {
        let known = self.0.entry(file);
        *known.or_insert_with_key(|file| report::is_users(file))
    }
}

/// A function of the program's file.
pub(super) struct Found {
    /// Its file addresses.
    pub(super) range: Range<u64>,
    /// Whether it is the user's own.
    pub(super) is_own: bool,
    /// Whether parts of it may be the user's own: functions that were inlined into those of a library.
    pub(super) may_have_own: bool,
    /// Whether it is one of the C library's in a static program, of which its calls are points: no
    /// source is known of it, but of others.
    pub(super) is_of_c_library: bool,
    /// Whether it is one of Rust's library that waits for other threads or wakes them.
    pub(super) is_rust_sync: bool,
}

/// Returns the functions of the program's file, without those of the synchronisation library of C in a
/// static program.
pub(super) fn functions_of(
    module: &Module,
    program: &Program,
    is_library: impl Fn(u64) -> bool,
) -> Vec<Found> {
    let mut users = Users::default();
    let mut own_units: FxHashSet<u32> = FxHashSet::default();
    let unknown = Unknown::of(program, module);
    let may_be_own = |unknown: &Unknown, low_pc: u64| unknown.may_be_own(module.to_process(low_pc));
    let mut found = Vec::new();
    let mut named: Vec<Range<u64>> = Vec::new();
    for function in module.symbols.functions() {
        named.extend_from_slice(&function.ranges);
        let address = module.to_process(function.low_pc);
        if is_library(address) || function.plt || program.modules.is_linkage(address) {
            continue;
        }
        let Some(range) = function.ranges.first() else {
            continue;
        };
        let line = module.symbols.line_at(function.low_pc);
        let is_of_c_library = unknown.is_none() && line.is_none();
        let has_line = line.is_some();
        let is_users = line.is_some_and(|line| users.have(line.file));
        if is_users {
            own_units.extend(module.symbols.unit_number_at(function.low_pc));
        }
        let is_own = is_users
            || is_atomic(&function.name)
            || unknown
                .as_ref()
                .is_some_and(|it| may_be_own(it, function.low_pc));
        found.push(Found {
            range: range.clone(),
            is_own,
            may_have_own: has_line && !is_own,
            is_of_c_library,
            is_rust_sync: function.name.starts_with(RUST_SYNC),
        });
    }
    if let Some(unknown) = &unknown {
        // The symbols may have been stripped.
        named.sort_unstable_by_key(|range| range.start);
        let is_named = |range: &&Range<u64>| {
            let before = named.partition_point(|it| it.start < range.end);
            let last = named.get(..before).and_then(<[_]>::last);
            last.is_some_and(|it| range.start < it.end)
        };
        let unnamed = module.symbols.unwind_ranges().filter(|it| !is_named(it));
        found.extend(unnamed.map(|range| Found {
            range: range.clone(),
            is_own: may_be_own(unknown, range.start),
            may_have_own: false,
            is_of_c_library: false,
            is_rust_sync: false,
        }));
    }
    for function in found.iter_mut().filter(|it| it.may_have_own) {
        let unit = module.symbols.unit_number_at(function.range.start);
        function.may_have_own = unit.is_some_and(|unit| own_units.contains(&unit));
    }
    found
}

/// Returns whether a function of a language's library loads or stores an atomic object, by its name: code
/// that is not optimised calls it for an access of its own (`std::atomic` of C++ and of Rust).
fn is_atomic(name: &str) -> bool {
    name.contains("sync::atomic::")
        || name.contains("std::atomic")
        || name.contains("std::__atomic")
}

/// A program in which nothing tells which code is the user's.
struct Unknown {
    /// The user's code, but for the function that is called first: in a static program the linker puts
    /// it behind the entry point and before the library.
    own: Range<u64>,
    main: Option<u64>,
}

impl Unknown {
    fn of(program: &Program, module: &Module) -> Option<Unknown> {
        let mut functions = module.symbols.functions();
        if functions.any(|function| module.symbols.line_at(function.low_pc).is_some()) {
            return None;
        }
        let header = module.symbols.header();
        if header.interpreter.is_some() {
            return Some(Unknown {
                own: 0..u64::MAX,
                main: None,
            });
        }
        let entry = module.to_process(header.entry);
        let mut code = [0; ENTRY_CODE_SIZE];
        let _ = program.debuggee.read(entry, &mut code);
        Some(Unknown {
            own: entry..entry.saturating_add(OWN_CODE_SIZE),
            main: first_argument(&code, entry),
        })
    }

    fn may_be_own(&self, address: u64) -> bool {
        self.own.contains(&address) || self.main == Some(address)
    }
}
