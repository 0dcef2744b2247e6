//! Binds a symbolic event of a call to the loaded definitions of its function, with a plan for each
//! capture.

use super::doubts::{
    CallDoubt, async_body_named, bodies_of_merged, entry_point, shared_implementation,
    without_coroutine_parts,
};
use super::inlined::{
    AtInlined, InlinedCallSite, InlinedEntry, InlinedPolicy, InlinedTotal, bind_inlined,
};
use crate::capture_plan::{CaptureError, CapturePlan, plan_capture};
use juror_debuggee::ThreadId;
use juror_event::{Reach, SymbolicEvent};
use juror_program::modules::{Bound, Module};
use juror_program::program::Program;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;

/// The most definitions of one event whose callers are searched in the code of their modules.
const CALLERS_SEARCHED_MAX: usize = 8;

/// The reason for which an event cannot be bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BindError {
    /// No module has the function.
    UnknownFunction {
        /// A similar name.
        near: Option<String>,
        /// Whether the program has no symbol table, so that the function may exist.
        is_stripped: bool,
    },
    /// Some calls were inlined, and their events would be missed.
    Inlined {
        /// The inlined calls.
        sites: Vec<InlinedCallSite>,
        /// Whether the function has no other definition.
        only: bool,
        /// A module that has the function, and none of these calls.
        elsewhere: Option<String>,
    },
    /// What arrives at the function's first instruction is not certain to be its calls.
    Doubtful {
        /// The reasons.
        doubts: Vec<CallDoubt>,
    },
    /// The line, location, system call or signal does not exist.
    Subject {
        /// The message.
        message: String,
        /// A suggestion.
        help: Option<String>,
        /// Whether a module that is loaded later may have it.
        is_absent: bool,
    },
    /// The function is resolved at load time (`ifunc`), and its code is unknown.
    Indirect,
    /// A capture cannot be read.
    Capture {
        /// The slot.
        slot: usize,
        /// The reason.
        error: CaptureError,
        /// The name of the function.
        function: String,
    },
}

/// An address at which an event of a call happens, with the plans of its captures.
#[derive(Debug)]
pub struct BoundCall {
    /// The address in the process.
    pub address: u64,
    /// The function's name.
    pub function: Arc<str>,
    /// The plans, by capture slot.
    pub captures: Vec<CapturePlan>,
    /// The start of the inlined call, if it is one.
    pub inlined: Option<InlinedEntry>,
    /// Whether a loop of the function also jumps to the address.
    pub is_loop_head: bool,
}

/// All addresses at which an event of a call happens.
#[derive(Debug)]
pub struct BoundCalls {
    /// The addresses.
    pub calls: Vec<BoundCall>,
    /// The number of inlined calls, by their treatment.
    pub inlined: InlinedTotal,
    /// What the user has to know of the calls.
    pub doubts: Vec<CallDoubt>,
}

/// Returns the loaded calls that an event means: those of the function's definitions, and inlined
/// ones as far as the policy includes them; none if all were inlined and the policy ignores that.
/// The stopped thread `thread` may run the resolvers of indirect functions.
pub fn bind_event(
    program: &mut Program,
    event: &SymbolicEvent,
    thread: ThreadId,
    policy: InlinedPolicy,
) -> Result<BoundCalls, BindError> {
    let wanted = |module: &Module| module.is_reached(&event.reach);
    let definitions = program.modules.reached_definitions(&event.subject, wanted);
    let mut definitions = one_for_each_object(definitions);
    let mut doubts = Vec::new();
    without_coroutine_parts(event, &mut definitions, &mut doubts);
    let inlined = bind_inlined(program, event, policy)?;
    if !inlined.refused.is_empty() && !policy.ignore {
        let mut homes = definitions.iter().map(|it| it.module.name());
        let has_calls = |home: &String| inlined.refused.iter().any(|it| it.module == *home);
        return Err(BindError::Inlined {
            only: definitions.is_empty(),
            elsewhere: homes.find(|home| !has_calls(home)),
            sites: inlined.refused,
        });
    }
    if definitions.is_empty() && inlined.count == 0 {
        definitions = bodies_of_merged(event, &program.modules);
    }
    if definitions.is_empty() && inlined.count == 0 {
        return Err(BindError::UnknownFunction {
            near: near_function(program, event),
            is_stripped: match event.reach {
                Reach::Module(_) => false,
                _ => program
                    .modules
                    .main()
                    .is_some_and(|module| module.symbols.is_stripped()),
            },
        });
    }
    let mut calls = inlined.calls;
    let is_own = !calls.is_empty() || definitions.iter().any(|it| it.module.is_main);
    let is_few = definitions.len() <= CALLERS_SEARCHED_MAX;
    'definitions: for mut definition in definitions {
        if definition.function.indirect {
            let asked = definition;
            definition = program
                .resolve_indirect(&asked, thread, false)
                .ok_or(BindError::Indirect)?;
            doubts.extend(shared_implementation(program, &asked, &definition, thread));
        }
        let mut captures = Vec::with_capacity(event.captures.len());
        for (slot, capture) in event.captures.iter().enumerate() {
            let plan = match plan_capture(event, capture, &definition, program) {
                Ok(plan) => plan,
                // If the program has a function of its own, a library's function with other
                // parameters only has the same name.
                Err(error) if error.lacks_parameter && is_own && !definition.module.is_main => {
                    continue 'definitions;
                }
                Err(error) => {
                    return Err(BindError::Capture {
                        slot,
                        error,
                        function: definition.function.name.to_string(),
                    });
                }
            };
            captures.push(plan);
        }
        let entry = entry_point(event, &definition, is_few, &mut doubts);
        calls.push(BoundCall {
            address: entry.address,
            function: definition.function.name.clone(),
            captures,
            inlined: None,
            is_loop_head: entry.is_loop_head,
        });
    }
    doubts.sort();
    doubts.dedup();
    if !policy.ignore && !doubts.iter().all(CallDoubt::is_only_told) {
        doubts.retain(|doubt| !doubt.is_only_told());
        return Err(BindError::Doubtful { doubts });
    }
    let mut differing = calls.iter();
    if let Some(why) = differing.find_map(|call| program.difference_at(call.address)) {
        return Err(BindError::Subject {
            message: format!("the calls of `{}` cannot be watched: {why}", event.subject),
            help: None,
            is_absent: false,
        });
    }
    Ok(BoundCalls {
        calls,
        inlined: inlined.total,
        doubts,
    })
}

/// Keeps of the variants of a constructor or destructor (*Itanium C++ ABI*, section 5.1.4.3) those
/// that call no other variant, so that one object has one event: a deleting destructor calls the
/// complete one, which may call the base one. A variant with the body of its own may call another
/// one for another object.
fn one_for_each_object(definitions: Vec<Bound>) -> Vec<Bound> {
    // Few names have variants, and a name may have thousands of definitions.
    let mut variants: FxHashMap<Vec<u8>, Vec<&Bound>> = FxHashMap::default();
    let form = |of: &Bound| of.function.linkage_name.as_deref().and_then(variant_form);
    for one in &definitions {
        if let Some(form) = form(one) {
            variants.entry(form).or_default().push(one);
        }
    }
    let goes_on = |one: &Bound| {
        let of_form = form(one).and_then(|form| variants.get(&form));
        of_form.into_iter().flatten().any(|other| {
            Rc::ptr_eq(&one.module, &other.module)
                && one.function.low_pc != other.function.low_pc
                && are_variants(one, other)
                && one
                    .module
                    .symbols
                    .calls_directly(&one.function, &other.function)
                && !one.module.symbols.has_own_body(&one.function)
        })
    };
    let kept: Vec<bool> = definitions.iter().map(|it| !goes_on(it)).collect();
    let mut kept = kept.into_iter();
    let mut definitions = definitions;
    definitions.retain(|_| kept.next().unwrap_or(true));
    definitions
}

/// Returns a mangled name with `0` in place of each digit after a `C` or `D`, which makes the
/// variants of a constructor or destructor equal, or `None` if the name has no such digit.
fn variant_form(name: &str) -> Option<Vec<u8>> {
    let mut form = name.as_bytes().to_vec();
    let mut has_number = false;
    let mut is_behind = false;
    for byte in &mut form {
        let is_number = is_behind && byte.is_ascii_digit();
        is_behind = matches!(*byte, b'C' | b'D');
        if is_number {
            *byte = b'0';
            has_number = true;
        }
    }
    has_number.then_some(form)
}

/// Returns whether two functions are variants of one constructor or destructor: whether their
/// mangled names differ only in the digit after a `C` or `D`.
fn are_variants(one: &Bound, other: &Bound) -> bool {
    let name = |of: &Bound| of.function.linkage_name.clone().unwrap_or_default();
    is_variant_name(&name(one), &name(other))
}

fn is_variant_name(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() || !one.starts_with(b"_Z") {
        return false;
    }
    let mut differing = (0..one.len()).filter(|at| one.get(*at) != other.get(*at));
    let (Some(at), None) = (differing.next(), differing.next()) else {
        return false;
    };
    let is_number = |name: &[u8]| name.get(at).is_some_and(u8::is_ascii_digit);
    let before = at.checked_sub(1).and_then(|at| one.get(at));
    matches!(before, Some(b'C' | b'D')) && is_number(one) && is_number(other)
}

/// Refuses inlined calls of a function, unless the policy ignores them.
///
/// # Errors
/// Some calls were inlined.
pub fn bind_inlined_calls(
    program: &mut Program,
    event: &SymbolicEvent,
    policy: InlinedPolicy,
) -> Result<(), BindError> {
    // An inlined call has no frame of its own, whatever marks its start.
    let policy = InlinedPolicy {
        at: AtInlined::Never,
        ..policy
    };
    let inlined = bind_inlined(program, event, policy)?;
    if inlined.refused.is_empty() || policy.ignore {
        Ok(())
    } else {
        Err(BindError::Inlined {
            sites: inlined.refused,
            only: false,
            elsewhere: None,
        })
    }
}

/// Returns the names of the parameters of an event's function, in order, from the debug information
/// of its first definition.
pub fn parameter_names(program: &Program, event: &SymbolicEvent) -> Vec<String> {
    let wanted = |module: &Module| module.is_reached(&event.reach);
    let definitions = program.modules.reached_definitions(&event.subject, wanted);
    let names = definitions.first().map(|bound| {
        let values = bound.module.symbols.entry_value_plans(&bound.function);
        values.iter().map(|value| value.name.to_string()).collect()
    });
    names.unwrap_or_default()
}

fn near_function(program: &Program, event: &SymbolicEvent) -> Option<String> {
    if let Some(body) = async_body_named(&program.modules, &event.subject) {
        return Some(body);
    }
    let mut names: Vec<String> = Vec::new();
    let modules = program.modules.iter();
    for module in modules.filter(|module| module.is_reached(&event.reach)) {
        names.extend(module.symbols.function_names());
    }
    juror_language::suggest_qualified(&event.subject, names.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_of_destructors_differ_in_a_number() {
        for (one, other, expected) in [
            ("_ZN4DiskD0Ev", "_ZN4DiskD1Ev", true),
            ("_ZN4DiskC2Ei", "_ZN4DiskC1Ei", true),
            ("_ZN4DiskD0Ev", "_ZN4DiskD0Ev", false),
            ("_ZN4DiskD0Ev", "_ZN4DisaD1Ev", false),
            ("_ZN1A1fEi", "_ZN1B1fEi", false),
            ("_ZN4DiskC1Ei", "_ZN4DiskC1El", false),
            ("", "", false),
        ] {
            assert_eq!(is_variant_name(one, other), expected, "{one} {other}");
            // Variants are searched among the names of one form.
            let forms = (variant_form(one), variant_form(other));
            assert!(!expected || forms.0.is_some() && forms.0 == forms.1);
        }
    }

    #[test]
    fn names_without_variants_have_no_form() {
        for name in ["_Z4workILi1EEiii", "", "D", "_ZN4DiskEC"] {
            assert_eq!(variant_form(name), None, "{name}");
        }
        let form = |name| variant_form(name).unwrap();
        assert_eq!(form("_ZN4DiskC2Ei"), b"_ZN4DiskC0Ei");
        assert_ne!(form("_ZN4DiskC2Ei"), form("_ZN4DiskD2Ei"));
    }
}
