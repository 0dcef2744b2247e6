//! Events about parameters and local variables: each call of the function has its own.
//!
//! While such an event is needed, a point after the function's prologue announces its calls. From
//! there on the variable is watched as a global one is. An access counts if the call is on the
//! stack of its thread and the variable is in scope there, so neither a returned call nor another
//! variable at the same address is taken for it.
//!
//! **Invariant**: a variable is accepted only if it is in memory in its whole scope.

use crate::monitors::memory_locations::{PlaceWatch, PlaceWatches, while_halted};
use juror_debuggee::{DebuggeeError, Owner, ThreadId};
use juror_event::{EventKind, Reach, SymbolicEvent};
use juror_instrument::memory_locations::{LocalRoot, LocationExpression};
use juror_instrument::probes::{BindError, InlinedPolicy, bind_inlined_calls};
use juror_language::Property;
use juror_program::modules::{Bound, Module};
use juror_program::program::Program;
use juror_program::stack::frames::Frame;
use juror_symbols::{FixedLocation, Variable};
use std::rc::Rc;

/// The variables of a function with one name.
#[derive(Debug, Clone)]
pub(crate) struct LocalVariables {
    /// The name, without that of the function.
    name: Rc<str>,
    /// The definitions of the function.
    functions: Vec<LocalFunction>,
    /// The points after the prologues are inserted.
    pub(super) is_inserted: bool,
}

/// A definition of a function with such a variable.
#[derive(Debug, Clone)]
struct LocalFunction {
    /// The address of its first instruction.
    start: u64,
    /// The address after its prologue.
    body: u64,
    variables: Rc<[Variable]>,
}

/// The call that a watched variable belongs to.
#[derive(Debug, Clone)]
pub(crate) struct LocalCall {
    thread: ThreadId,
    /// The canonical frame address of the call.
    cfa: u64,
    start: u64,
    body: u64,
    name: Rc<str>,
    /// The variable, in its call.
    pub(super) root: LocalRoot,
}

impl LocalVariables {
    /// Iterates over the first instructions of the functions that have such a variable.
    pub(super) fn functions(&self) -> impl Iterator<Item = u64> + '_ {
        self.functions.iter().map(|function| function.start)
    }

    /// Finds the local variables that an event is about; `None` if it is about a global variable,
    /// or about none that is known.
    ///
    /// # Errors
    /// Such a variable cannot be watched, or it is unclear which one is meant.
    pub(crate) fn find(
        program: &mut Program,
        property: &Property,
        event: &SymbolicEvent,
        place: &LocationExpression,
        policy: InlinedPolicy,
    ) -> Result<Option<LocalVariables>, BindError> {
        let Some(root) = place.root() else {
            return Ok(None);
        };
        if is_global_of_program(program, event, root) {
            return Ok(None);
        }
        let mut found: Vec<(String, Vec<LocalFunction>)> = Vec::new();
        let name = match root.rsplit_once("::") {
            Some((function, name)) => {
                let functions = functions_with(program, event, function, name)?;
                found.push((function.to_owned(), functions));
                name
            }
            None => {
                let calls = property.events.iter().filter(|it| it.kind.is_call());
                for call in calls {
                    if found.iter().all(|(known, _)| **known != *call.subject) {
                        let functions = functions_with(program, event, &call.subject, root)?;
                        found.push((call.subject.to_string(), functions));
                    }
                }
                root
            }
        };
        found.retain(|(_, functions)| !functions.is_empty());
        let (function, functions) = match found.as_slice() {
            [] => return Ok(None),
            [one] => one.clone(),
            several => {
                let names: Vec<String> = several
                    .iter()
                    .map(|(function, _)| format!("`{function}::{name}`"))
                    .collect();
                return Err(BindError::Subject {
                    message: format!("`{name}` is a variable of several functions"),
                    help: Some(format!("write {}", names.join(" or "))),
                    is_absent: false,
                });
            }
        };
        let call = SymbolicEvent {
            kind: EventKind::BeforeCall,
            subject: function.into(),
            ..event.clone()
        };
        bind_inlined_calls(program, &call, policy)?;
        Ok(Some(LocalVariables {
            name: name.into(),
            functions,
            is_inserted: false,
        }))
    }

    /// Returns whether it has the same functions as another one.
    pub(super) fn is_same(&self, other: &LocalVariables) -> bool {
        let bodies =
            |of: &LocalVariables| of.functions.iter().map(|it| it.body).collect::<Vec<_>>();
        bodies(self) == bodies(other)
    }

    /// Inserts or removes the points after the prologues.
    pub(super) fn insert(
        &mut self,
        program: &mut Program,
        is_wanted: bool,
    ) -> Result<(), DebuggeeError> {
        if std::mem::replace(&mut self.is_inserted, is_wanted) == is_wanted {
            return Ok(());
        }
        for function in &self.functions {
            if is_wanted {
                program.insert(function.body, Owner::Monitor)?
            } else {
                // The code may be unloaded.
                program.debuggee.remove(function.body, Owner::Monitor)?
            }
        }
        Ok(())
    }

    /// Returns the variables of the call in a frame, if it is one of these functions behind its
    /// prologue.
    fn calls_in(&self, program: &Program, thread: ThreadId, frame: &Frame) -> Vec<LocalCall> {
        if frame.is_inlined() || frame.called_by_juror.is_some() {
            return Vec::new();
        }
        let known = frame.function.as_ref().zip(frame.module.as_ref());
        let Some(((function, module), cfa)) = known.zip(frame.cfa) else {
            return Vec::new();
        };
        let start = module.to_process(function.low_pc);
        let Some(own) = self.functions.iter().find(|it| it.start == start) else {
            return Vec::new();
        };
        if (own.start..own.body).contains(&frame.lookup) {
            return Vec::new();
        }
        let of_variable = |variable: &Variable| {
            Some(LocalCall {
                thread,
                cfa,
                start,
                body: own.body,
                name: Rc::clone(&self.name),
                root: LocalRoot::of(program, frame, variable)?,
            })
        };
        own.variables.iter().filter_map(of_variable).collect()
    }
}

impl LocalCall {
    /// Returns whether it is a call of this thread.
    pub(super) fn is_of(&self, thread: ThreadId) -> bool {
        self.thread == thread
    }

    /// Gives its thread another number.
    pub(super) fn renumber(&mut self, number: impl Fn(ThreadId) -> ThreadId) {
        self.thread = number(self.thread);
    }

    /// Returns whether it is the same variable of a call at the same place. A call that has
    /// returned is taken for the next one there.
    fn is_same(&self, other: &LocalCall) -> bool {
        (self.thread, self.cfa, self.start) == (other.thread, other.cfa, other.start)
            && self.root.address() == other.root.address()
    }

    /// Returns whether an access to the variable is one of the program to it: `None` if the call
    /// has returned. `accessing` is the instruction of the access and its thread.
    pub(super) fn is_in_scope(
        &self,
        program: &Program,
        accessing: (ThreadId, Option<u64>),
    ) -> Option<bool> {
        let registers = program.registers(self.thread).ok()?;
        let address = self.root.address()?;
        let stack = program.mapping_of(registers.stack_pointer());
        if stack.is_some_and(|stack| !stack.contains(&address)) {
            // The thread is on another stack, and comes back to this one.
            return Some(true);
        }
        let mut found = None;
        let mut is_innermost = true;
        program.walk(self.thread, |mut frame| {
            let is_first = std::mem::take(&mut is_innermost);
            let start = frame.function.as_ref().zip(frame.module.as_ref());
            let start = start.map(|(function, module)| module.to_process(function.low_pc));
            if frame.is_inlined() || frame.cfa != Some(self.cfa) || start != Some(self.start) {
                return frame.cfa.is_none_or(|cfa| cfa <= self.cfa);
            }
            if let (true, (thread, Some(instruction))) = (is_first, accessing)
                && thread == self.thread
            {
                frame.lookup = instruction;
            }
            let is_visible = || {
                let variables = program.variables(&frame);
                let own = variables.iter().find(|(it, _)| *it.name == *self.name);
                own.is_some_and(|(it, _)| {
                    let root = LocalRoot::of(program, &frame, it);
                    root.and_then(|root| root.address()) == Some(address)
                })
            };
            found = Some(!(self.start..self.body).contains(&frame.lookup) && is_visible());
            false
        });
        found
    }
}

impl PlaceWatches {
    /// Returns whether a point announces calls with watched variables at an address.
    #[inline]
    pub(crate) fn announces(&self, address: u64) -> bool {
        self.iter().any(|it| {
            let local = it.local.as_ref().filter(|local| local.is_inserted);
            local.is_some_and(|local| local.functions.iter().any(|it| it.body == address))
        })
    }

    /// Watches the variables of a call that a thread has begun.
    pub(crate) fn enter(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        address: u64,
    ) -> Result<(), DebuggeeError> {
        let mut innermost: Option<Frame> = None;
        program.walk(thread, |frame| {
            let is_own = !frame.is_inlined();
            if is_own {
                innermost = Some(frame);
            }
            !is_own
        });
        let Some(frame) = innermost else {
            return Ok(());
        };
        let mut begun = Vec::new();
        for (number, place) in self.iter().enumerate() {
            let local = place.local.as_ref().filter(|local| local.is_inserted);
            let local = local.filter(|it| it.functions.iter().any(|it| it.body == address));
            if let Some(local) = local {
                let calls = local.calls_in(program, thread, &frame);
                begun.extend(calls.into_iter().map(|call| (number, call)));
            }
        }
        if begun.is_empty() {
            return Ok(());
        }
        self.begin(program, begun)
    }

    /// Watches the variables of the calls that are active now: the event of a local variable has
    /// become needed.
    pub(super) fn enter_active(
        &mut self,
        program: &mut Program,
        number: usize,
    ) -> Result<(), DebuggeeError> {
        while_halted(program, |program| {
            let Some(local) = self.get(number).and_then(|it| it.local.clone()) else {
                return Ok(());
            };
            let threads: Vec<ThreadId> = program.debuggee.thread_ids().collect();
            let mut begun = Vec::new();
            for thread in threads {
                program.walk(thread, |frame| {
                    let calls = local.calls_in(program, thread, &frame);
                    begun.extend(calls.into_iter().map(|call| (number, call)));
                    true
                });
            }
            self.begin(program, begun)
        })
    }

    /// Watches these variables, and drops those of calls that have returned.
    fn begin(
        &mut self,
        program: &mut Program,
        begun: Vec<(usize, LocalCall)>,
    ) -> Result<(), DebuggeeError> {
        while_halted(program, |program| {
            for (number, call) in begun {
                let Some(of) = self.get(number) else { continue };
                let (monitor, event) = (of.monitor, of.event);
                let is_known = self.iter().any(|it| {
                    let own = it.call.as_ref().is_some_and(|own| own.is_same(&call));
                    own && it.is_live() && (it.monitor, it.event) == (monitor, event)
                });
                if is_known {
                    continue;
                }
                let Some(of) = self.get(number) else { continue };
                let sight = of.place.resolve_from(program, Some(&call.root)).ok();
                let watch = PlaceWatch::of_call(of, call, sight);
                self.add(program, watch)?;
            }
            self.drop_returned(program)
        })
    }

    /// Drops the variables of calls that have returned. All threads are stopped.
    fn drop_returned(&mut self, program: &mut Program) -> Result<(), DebuggeeError> {
        let mut gone: Vec<usize> = Vec::new();
        for (number, place) in self.iter().enumerate() {
            let is_gone = |call: &LocalCall| {
                let is_in_scope = call.is_in_scope(program, (call.thread, None));
                is_in_scope.is_none()
            };
            let call = place.call.as_ref();
            if call.is_some_and(|call| !place.is_live() || is_gone(call)) {
                gone.push(number);
            }
        }
        for number in gone.into_iter().rev() {
            self.remove(program, number)?;
        }
        Ok(())
    }
}

/// Returns whether the program, or the module that the event names, has a global variable of this
/// name.
fn is_global_of_program(program: &Program, event: &SymbolicEvent, root: &str) -> bool {
    let is_meant = |module: &Module| match &event.reach {
        Reach::Module(_) => module.is_reached(&event.reach),
        _ => module.is_main,
    };
    let modules = program.modules.iter().filter(|module| is_meant(module));
    modules
        .filter(|module| module.symbols.has_debug_info())
        .any(|module| !module.symbols.globals_named(root).is_empty())
}

/// Returns the definitions of a function that have local variables of this name.
fn functions_with(
    program: &Program,
    event: &SymbolicEvent,
    function: &str,
    name: &str,
) -> Result<Vec<LocalFunction>, BindError> {
    let wanted = |module: &Module| module.is_reached(&event.reach);
    let definitions = program.modules.reached_definitions(function, wanted);
    let mut functions = Vec::new();
    for definition in definitions {
        functions.extend(function_with(&definition, name)?);
    }
    Ok(functions)
}

/// Returns a definition of a function with its local variables of this name, if it has any.
fn function_with(definition: &Bound, name: &str) -> Result<Option<LocalFunction>, BindError> {
    let Bound { module, function } = definition;
    let body = module.symbols.prologue_end(function);
    let mut variables = module.symbols.locals_named(function, name);
    let fixed = |variable: &Variable| variable.location.fixed_at(body);
    // Static variables are global ones of another name.
    variables.retain(|it| !matches!(fixed(it), Some(FixedLocation::AtAddress(_))));
    let is_in_memory = |variable: &Variable| {
        !variable.location.moves()
            && matches!(
                fixed(variable),
                Some(FixedLocation::AtFrame(_) | FixedLocation::AtRegister { .. })
            )
    };
    if let Some(variable) = variables.iter().find(|it| !is_in_memory(it)) {
        let what = if variable.parameter {
            "parameter"
        } else {
            "variable"
        };
        return Err(BindError::Subject {
            message: format!(
                "the {what} `{name}` of `{}` is not in memory in its whole scope, so not every \
                 access to it can be seen",
                function.name
            ),
            help: Some("build without optimization, or declare it `volatile`".to_owned()),
            is_absent: false,
        });
    }
    if variables.is_empty() {
        return Ok(None);
    }
    Ok(Some(LocalFunction {
        start: definition.address(),
        body: module.to_process(body),
        variables: variables.into(),
    }))
}
