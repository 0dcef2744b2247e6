//! Functions whose calls are not what arrives at their first instruction.
//!
//! Invariant: an event is bound to exactly the calls of its function, or the user has accepted
//! that others are counted or some are missed, and is told so.

use super::source_calls::{called_as, calls_made_loops, merged_with};
use juror_debuggee::ThreadId;
use juror_event::{EventKind, SymbolicEvent};
use juror_program::modules::{Bound, Modules};
use juror_program::program::Program;
use juror_symbols::{FunctionEntry, is_name_of, without_parameters};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

/// The limit of named functions.
const NAMES_MAX: usize = 3;

/// Why the calls of a function cannot be counted where its code begins.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallDoubt {
    /// The name of the function.
    pub function: Arc<str>,
    /// The reason.
    pub reason: DoubtReason,
}

/// The reasons to doubt the calls of a function.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum DoubtReason {
    /// It has the same body as others.
    SharedBody(Vec<Arc<str>>),
    /// Its implementation is that of others, too, which are chosen when the program starts.
    SharedImplementation(Vec<Arc<str>>),
    /// A jump of a loop to its first instruction cannot be told from a call.
    JumpToEntry,
    /// It calls itself at these places of the source, where its code has no call.
    CallsMadeLoops {
        /// `FILE:LINE`.
        places: Vec<Arc<str>>,
        /// Whether no other function can be meant there.
        is_certain: bool,
    },
    /// The source calls functions of other names where it is called.
    CalledAs(Vec<Arc<str>>),
    /// These thunks have the body in them.
    BodyInThunk(Vec<Arc<str>>),
    /// It returns where the coroutine that it makes first waits.
    Coroutine,
    /// It only makes the future, and this function is the body.
    AsyncBody(String),
    /// Its stack may be moved while it runs, so that its return is not seen.
    MovingStack,
}

impl CallDoubt {
    /// Returns whether the event is bound nevertheless, and the user told.
    pub fn is_only_told(&self) -> bool {
        matches!(
            self.reason,
            DoubtReason::SharedImplementation(_)
                | DoubtReason::CalledAs(_)
                | DoubtReason::CallsMadeLoops {
                    is_certain: false,
                    ..
                }
        )
    }

    /// Returns what may be done.
    pub fn help(&self) -> String {
        match &self.reason {
            DoubtReason::SharedBody(_) => {
                "build without this (gcc: -fno-ipa-icf, rustc: -Z merge-functions=disabled or \
                 debug, linkers: --icf=none)"
                    .to_owned()
            }
            DoubtReason::SharedImplementation(_) => {
                "name the implementation that the program chooses".to_owned()
            }
            DoubtReason::JumpToEntry => "build it without optimization".to_owned(),
            DoubtReason::CallsMadeLoops { .. } => {
                "build without this (-fno-optimize-sibling-calls, or without optimization)"
                    .to_owned()
            }
            DoubtReason::CalledAs(_) => "build without optimization".to_owned(),
            DoubtReason::BodyInThunk(_) => "build it with -O1".to_owned(),
            DoubtReason::Coroutine => "name the functions that its body calls".to_owned(),
            DoubtReason::AsyncBody(body) => format!(
                "write `before \"{body}\"` for each time that it goes on, and `after \"{body}\"` \
                 with `ret == Ready` for its end"
            ),
            DoubtReason::MovingStack => {
                "use events before calls, or at lines of the function".to_owned()
            }
        }
    }
}

impl fmt::Display for CallDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let function = &self.function;
        match &self.reason {
            DoubtReason::SharedBody(others) => write!(
                f,
                "`{function}` has one body with {}: their calls cannot be told apart",
                listed(others)
            ),
            DoubtReason::SharedImplementation(others) => write!(
                f,
                "`{function}` is also {} here: calls of either are counted",
                listed(others)
            ),
            DoubtReason::JumpToEntry => write!(
                f,
                "`{function}` jumps back to its first instruction, and such a jump cannot be \
                 told from a call"
            ),
            DoubtReason::CallsMadeLoops { places, .. } => write!(
                f,
                "`{function}` calls itself at {}, where its code has no call: the compiler made a \
                 loop or a formula of it, whose rounds are not counted",
                listed(places)
            ),
            DoubtReason::CalledAs(names) => write!(
                f,
                "calls of `{function}` are also those of {}: the compiler keeps one of several \
                 functions with the same code",
                listed(names)
            ),
            DoubtReason::BodyInThunk(thunks) => write!(
                f,
                "calls of `{function}` through a base class end in {}, where the compiler has \
                 repeated the body",
                listed(thunks)
            ),
            DoubtReason::Coroutine => write!(
                f,
                "`{function}` is a coroutine: it returns where its body first waits, not at the \
                 end of the body"
            ),
            DoubtReason::AsyncBody(body) => write!(
                f,
                "`{function}` is an async function: a call of it only makes the future; its body \
                 is `{body}`"
            ),
            DoubtReason::MovingStack => write!(
                f,
                "`{function}` is a function of Go: its stack may be moved, so that its return is \
                 not seen"
            ),
        }
    }
}

fn listed(names: &[Arc<str>]) -> String {
    let shown: Vec<String> = names
        .iter()
        .take(NAMES_MAX)
        .map(|it| format!("`{it}`"))
        .collect();
    let more = match names.len().saturating_sub(NAMES_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", shown.join(", "))
}

/// Where the calls of a function are seen.
pub(super) struct EntryPoint {
    /// The address in the process.
    pub address: u64,
    /// Whether the function also jumps there.
    pub is_loop_head: bool,
}

/// Returns where the calls of a definition are seen, and adds the reasons to doubt that these
/// are the calls of the function. If `searches_callers`, all code of the module is searched for
/// calls.
pub(super) fn entry_point(
    event: &SymbolicEvent,
    definition: &Bound,
    searches_callers: bool,
    doubts: &mut Vec<CallDoubt>,
) -> EntryPoint {
    let Bound { module, function } = definition;
    let symbols = &module.symbols;
    let mut doubt = |reason| {
        doubts.push(CallDoubt {
            function: Arc::clone(&function.name),
            reason,
        });
    };
    let mut others = symbols.functions_sharing(function);
    let asked = without_parameters(&event.subject);
    others.retain(|other| !is_name_of(asked, other));
    if symbols.is_of_assembly(function) {
        // Names that begin with `_` are those of a library for itself.
        others.retain(|other| !other.starts_with('_'));
        if !others.is_empty() {
            doubt(DoubtReason::SharedImplementation(others));
        }
    } else if !others.is_empty() {
        doubt(DoubtReason::SharedBody(others));
    } else {
        let left_out = symbols.functions_left_out(function);
        let merged = if left_out.is_empty() {
            left_out
        } else {
            merged_with(definition, left_out)
        };
        if !merged.is_empty() {
            doubt(DoubtReason::SharedBody(merged));
        }
    }
    let is_cpp = symbols.is_cpp_at(function.low_pc);
    let places = calls_made_loops(definition);
    if !places.is_empty() {
        doubt(DoubtReason::CallsMadeLoops {
            places,
            is_certain: !is_cpp,
        });
    }
    if searches_callers && symbols.is_of_rust(function) {
        let names = called_as(definition);
        if !names.is_empty() {
            doubt(DoubtReason::CalledAs(names));
        }
    }
    let thunks = symbols.thunks_with_body(function);
    if !thunks.is_empty() {
        doubt(DoubtReason::BodyInThunk(thunks));
    }
    if let Some(body) = symbols.async_body(function) {
        doubt(DoubtReason::AsyncBody(body));
    }
    let mut entry = EntryPoint {
        address: definition.address(),
        is_loop_head: false,
    };
    if symbols.is_of_go(function) {
        if event.kind != EventKind::BeforeCall {
            doubt(DoubtReason::MovingStack);
        }
        match symbols.behind_stack_check(function) {
            Some(behind) => entry.address = module.to_process(behind),
            None => doubt(DoubtReason::JumpToEntry),
        }
        return entry;
    }
    match symbols.entry_kind(function) {
        FunctionEntry::Calls => {}
        FunctionEntry::Loop => entry.is_loop_head = true,
        FunctionEntry::Unclear => doubt(DoubtReason::JumpToEntry),
    }
    entry
}

/// Returns the functions with whose code the calls of a function are executed that has none of
/// its own, since the compiler has merged it with one of them.
pub(super) fn bodies_of_merged(event: &SymbolicEvent, modules: &Modules) -> Vec<Bound> {
    let asked = without_parameters(&event.subject);
    let mut bodies = Vec::new();
    for module in modules.iter().filter(|it| it.is_reached(&event.reach)) {
        for function in module.symbols.bodies_of_left_out(asked) {
            let body = Bound {
                module: Rc::clone(module),
                function,
            };
            let left_out = module.symbols.functions_left_out(&body.function);
            let merged = merged_with(&body, left_out);
            if merged.iter().any(|it| is_name_of(asked, it)) {
                bodies.push(body);
            }
        }
    }
    bodies
}

/// Returns that other indirect functions of a module have the same implementation as one
/// (`memcpy` and `memmove` of glibc). Names that begin with `_` are those of the library.
pub(super) fn shared_implementation(
    program: &mut Program,
    indirect: &Bound,
    chosen: &Bound,
    thread: ThreadId,
) -> Option<CallDoubt> {
    let module = &indirect.module;
    let mut others = module.symbols.indirect_functions();
    others.retain(|other| {
        other.low_pc != indirect.function.low_pc
            && !other.name.starts_with('_')
            && other.name != indirect.function.name
    });
    let mut names = Vec::new();
    for other in others {
        let name = Arc::clone(&other.name);
        let bound = Bound {
            module: Rc::clone(module),
            function: other,
        };
        let resolved = program.resolve_indirect(&bound, thread, false);
        if resolved.is_some_and(|it| it.address() == chosen.address()) {
            names.push(name);
        }
    }
    names.sort();
    names.dedup();
    (!names.is_empty()).then(|| CallDoubt {
        function: Arc::clone(&indirect.function.name),
        reason: DoubtReason::SharedImplementation(names),
    })
}

/// Leaves out the parts of coroutines that are run when they go on or are destroyed, unless
/// one is meant. Adds a doubt if the ends of calls are asked for.
pub(super) fn without_coroutine_parts(
    event: &SymbolicEvent,
    definitions: &mut Vec<Bound>,
    doubts: &mut Vec<CallDoubt>,
) {
    // `steps.resume` is a part.
    if event.subject.contains('.') {
        return;
    }
    let all = definitions.len();
    definitions.retain(|it| !it.function.is_coroutine_part());
    if definitions.len() < all && event.kind != EventKind::BeforeCall {
        doubts.push(CallDoubt {
            function: (&*event.subject).into(),
            reason: DoubtReason::Coroutine,
        });
    }
}

/// Returns the name of the body of an async function of Rust with this name, if a module has
/// one.
pub(super) fn async_body_named(modules: &Modules, function: &str) -> Option<String> {
    let mut all = modules.iter();
    all.find_map(|module| module.symbols.async_body_named(function))
}
