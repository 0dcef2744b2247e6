//! Events before calls that were inlined.
//!
//! Invariant: an event is bound to all calls of its function that are in the program, or its
//! user has accepted that some are not seen, and is told of them.

use super::BindError;
use super::binding::BoundCall;
use crate::capture_plan::{InlinedSite, plan_inlined_capture};
use juror_event::{EventKind, Reach, SymbolicEvent};
use juror_program::modules::{Bound, Module};
use juror_program::program::Program;
use juror_symbols::{Beginning, Binding, InlinedCall, InlinedCopy, Order, scope_and_name};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// At which inlined calls events happen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AtInlined {
    /// At none.
    #[default]
    Never,
    /// Where the compiler has marked that a call begins.
    Marked,
    /// Also where the code of a call begins that the compiler has not marked.
    Likely,
}

/// What becomes of inlined calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InlinedPolicy {
    /// At which of them events happen.
    pub at: AtInlined,
    /// The others are not seen, and need not be.
    pub ignore: bool,
}

/// What became of the inlined calls of an event's function.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InlinedTotal {
    /// Those that are not seen.
    pub missed: usize,
    /// Those that are seen.
    pub seen: usize,
    /// Those that are seen where their code begins, which the compiler has not marked.
    pub likely: usize,
    /// Those in the dynamic linker, of a function that another module exports: they are calls
    /// of the linker's own.
    pub of_linker: usize,
}

/// An inlined call that cannot be seen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct InlinedCallSite {
    /// Where it is, in words.
    pub location: String,
    /// The function that is called there, by its whole name.
    pub function: Arc<str>,
    /// The file name of the module that has the call.
    pub module: String,
    /// Why not, where events at inlined calls are asked for.
    pub why: Option<String>,
    /// It is seen where less certain places are taken.
    pub is_likely: bool,
}

/// The beginning of an inlined call, as a probe knows it.
#[derive(Debug, Clone)]
pub struct InlinedEntry {
    /// Which of the calls at its address is made first.
    pub order: Order,
    /// The frame of the call: 0 is the innermost.
    pub level: usize,
    /// The function that makes the call.
    pub caller: Arc<str>,
}

/// The inlined calls of an event's function, bound.
#[derive(Debug, Default)]
pub(super) struct BoundInlined {
    pub calls: Vec<BoundCall>,
    pub refused: Vec<InlinedCallSite>,
    pub total: InlinedTotal,
    /// How many there are.
    pub count: usize,
}

/// Binds an event to the inlined calls of its function.
pub(super) fn bind_inlined(
    program: &mut Program,
    event: &SymbolicEvent,
    policy: InlinedPolicy,
) -> Result<BoundInlined, BindError> {
    let wanted = |module: &Module| module.is_reached(&event.reach);
    // The program's own function is meant, and not one of the name in a library.
    let own = program
        .modules
        .definitions(&event.subject, |module| module.is_main);
    let has_own = event.reach == Reach::Anywhere && !own.is_empty();
    let others = linker_has_its_own(program, event);
    let is_of_linker = |module: &Module| others.as_ref().is_some_and(|it| *it == module.path);
    let is_meant = |module: &Module, copy: &InlinedCopy| {
        (module.is_main || !has_own) && !is_of_same_object(copy)
    };
    let mut bound = BoundInlined::default();
    if policy.at == AtInlined::Never || event.kind != EventKind::BeforeCall {
        let mut copies = program.modules.inlined_copies(&event.subject, wanted);
        copies.retain(|(module, copy)| is_meant(module, copy));
        let all = copies.len();
        copies.retain(|(module, _)| !is_of_linker(module));
        bound.total.of_linker = all - copies.len();
        bound.count = copies.len();
        let site = |(module, copy): &(Rc<Module>, InlinedCopy)| InlinedCallSite {
            location: words(module, copy),
            function: Arc::clone(&copy.name),
            module: module.name(),
            why: None,
            is_likely: false,
        };
        bound.refused = copies.iter().map(site).collect();
    } else {
        for (module, call) in program.modules.inlined_calls(&event.subject, wanted) {
            if !is_meant(&module, &call.copy) {
                continue;
            }
            if is_of_linker(&module) {
                bound.total.of_linker += 1;
                continue;
            }
            bound.count += 1;
            bind_inlined_call(program, event, policy, (&module, call), &mut bound)?;
        }
    }
    bound.total.missed = bound.refused.len();
    bound.refused.sort();
    bound.refused.dedup();
    Ok(bound)
}

/// The path of the dynamic linker if an event's function is one that another module exports.
/// What the linker has inlined of that name is its own: it calls the functions of other
/// modules only by pointers, as it does `malloc` once libc is there, and those calls are seen.
fn linker_has_its_own(program: &Program, event: &SymbolicEvent) -> Option<PathBuf> {
    if matches!(event.reach, Reach::Module(_)) {
        return None;
    }
    let modules = &program.modules;
    let is_other = |module: &Module| !modules.is_dynamic_linker(module);
    let exported = modules.definitions(&event.subject, is_other);
    let is_exported = |it: &Bound| it.function.binding == Binding::Exported;
    let linker = modules.iter().find(|module| !is_other(module))?;
    exported
        .iter()
        .any(is_exported)
        .then(|| linker.path.clone())
}

/// Whether a constructor or destructor was inlined into another variant of itself, which
/// has the event of the object.
fn is_of_same_object(copy: &InlinedCopy) -> bool {
    let Some((scope, last)) = scope_and_name(&copy.name) else {
        return false;
    };
    let class = scope_and_name(scope).map_or(scope, |(_, class)| class);
    let plain = |name: &str| name.split('<').next().unwrap_or(name).to_owned();
    let is_constructor = plain(last) == plain(class);
    (last.starts_with('~') || is_constructor) && copy.caller == copy.name
}

fn bind_inlined_call(
    program: &mut Program,
    event: &SymbolicEvent,
    policy: InlinedPolicy,
    (module, call): (&Rc<Module>, InlinedCall),
    bound: &mut BoundInlined,
) -> Result<(), BindError> {
    let location = words(module, &call.copy);
    let function = Arc::clone(&call.copy.name);
    let beginnings = match call.beginnings {
        Ok(_) if !call.is_marked && policy.at != AtInlined::Likely => {
            bound.refused.push(InlinedCallSite {
                location,
                function,
                module: module.name(),
                why: Some("the compiler has not marked where it begins".to_owned()),
                is_likely: true,
            });
            return Ok(());
        }
        Err(doubt) => {
            bound.refused.push(InlinedCallSite {
                location,
                function,
                module: module.name(),
                why: Some(doubt.to_string()),
                is_likely: false,
            });
            return Ok(());
        }
        Ok(beginnings) => beginnings,
    };
    bound.total.seen += 1;
    bound.total.likely += usize::from(!call.is_marked);
    for beginning in beginnings {
        let it = bind_beginning(program, event, module, &call.copy.name, beginning)?;
        program.modules.note_inlined_call_events(it.address);
        bound.calls.push(it);
    }
    Ok(())
}

fn bind_beginning(
    program: &Program,
    event: &SymbolicEvent,
    module: &Module,
    function: &Arc<str>,
    beginning: Beginning,
) -> Result<BoundCall, BindError> {
    let site = InlinedSite {
        address: module.to_process(beginning.address),
        level: beginning.level,
        arguments: beginning.arguments.into(),
    };
    let plan = |(slot, capture)| {
        plan_inlined_capture(event, capture, program, &site).map_err(|error| BindError::Capture {
            slot,
            error,
            function: function.to_string(),
        })
    };
    let captures = event.captures.iter().enumerate().map(plan);
    Ok(BoundCall {
        captures: captures.collect::<Result<_, _>>()?,
        address: site.address,
        function: function.as_ref().into(),
        inlined: Some(InlinedEntry {
            order: beginning.order,
            level: beginning.level,
            caller: beginning.caller,
        }),
    })
}

/// Where an inlined call is.
fn words(module: &Module, copy: &InlinedCopy) -> String {
    match (&copy.call_file, copy.call_line) {
        (Some(file), Some(line)) => format!("{}:{line} (in {})", file.display(), copy.caller),
        _ => format!("{:#x} (in {})", module.to_process(copy.entry), copy.caller),
    }
}
