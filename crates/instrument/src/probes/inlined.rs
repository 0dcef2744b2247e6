//! Binds events before inlined calls.
//!
//! Invariant: an event is bound to all calls of its function in the program, or the user has
//! accepted that some are missed, and their number is reported.

use super::BindError;
use super::binding::BoundCall;
use crate::capture_plan::{InlinedSite, plan_inlined_capture};
use juror_event::{EventKind, Reach, SymbolicEvent};
use juror_program::modules::{Bound, Module};
use juror_program::program::Program;
use juror_symbols::{Beginning, Binding, InlinedCall, InlinedCopy, Order};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// The inlined calls at which events happen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AtInlined {
    /// None.
    #[default]
    Never,
    /// Those whose start the compiler has marked.
    Marked,
    /// Also those whose code begins at an unmarked address.
    Likely,
}

/// The treatment of inlined calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InlinedPolicy {
    /// The inlined calls at which events happen.
    pub at: AtInlined,
    /// Whether the others may be missed.
    pub ignore: bool,
}

/// The number of inlined calls of an event's function, by their treatment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InlinedTotal {
    /// Missed calls.
    pub missed: usize,
    /// Observed calls.
    pub seen: usize,
    /// Observed calls whose start is not marked by the compiler, and assumed where their code
    /// begins.
    pub likely: usize,
    /// Calls in the dynamic linker of a function that another module exports: they are the linker's
    /// own.
    pub of_linker: usize,
}

/// An inlined call that cannot be observed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct InlinedCallSite {
    /// Its source location, or its address.
    pub location: String,
    /// The full name of the called function.
    pub function: Arc<str>,
    /// The file name of the module that contains the call.
    pub module: String,
    /// The reason, if events at inlined calls are asked for.
    pub why: Option<String>,
    /// Whether it can be observed if unmarked starts are allowed.
    pub is_likely: bool,
}

/// The start of an inlined call.
#[derive(Debug, Clone)]
pub struct InlinedEntry {
    /// The order of the call among those that begin at its address.
    pub order: Order,
    /// The level of the frame of the call; 0 is the innermost.
    pub level: usize,
    /// The name of the function that makes the call.
    pub caller: Arc<str>,
}

/// The inlined calls of an event's function, bound.
#[derive(Debug, Default)]
pub(super) struct BoundInlined {
    pub calls: Vec<BoundCall>,
    pub refused: Vec<InlinedCallSite>,
    pub total: InlinedTotal,
    /// The number of all of them.
    pub count: usize,
}

/// Binds an event to the inlined calls of its function.
pub(super) fn bind_inlined(
    program: &mut Program,
    event: &SymbolicEvent,
    policy: InlinedPolicy,
) -> Result<BoundInlined, BindError> {
    let wanted = |module: &Module| module.is_reached(&event.reach);
    // The program's own function takes precedence over those of libraries.
    let own = program
        .modules
        .definitions(&event.subject, |module| module.is_main);
    let has_own = event.reach == Reach::Anywhere && !own.is_empty();
    let others = linker_has_its_own(program, event);
    let is_of_linker = |module: &Module| others.as_ref().is_some_and(|it| *it == module.path);
    let is_meant =
        |module: &Module, copy: &InlinedCopy| (module.is_main || !has_own) && !copy.is_own_body;
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

/// Returns the path of the dynamic linker if another module exports the event's function. The
/// linker's inlined copies of that name are its own: it calls functions of other modules only
/// through pointers, like `malloc` once libc is loaded, and those calls are observed.
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
        is_loop_head: false,
    })
}

/// Returns the source location of an inlined call, or its address.
fn words(module: &Module, copy: &InlinedCopy) -> String {
    match (&copy.call_file, copy.call_line) {
        (Some(file), Some(line)) => format!("{}:{line} (in {})", file.display(), copy.caller),
        _ => format!("{:#x} (in {})", module.to_process(copy.entry), copy.caller),
    }
}
