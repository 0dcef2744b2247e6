//! Steps: from a state to a set of updates, and to the next state.
//!
//! The semantics of rules is that of E. Börger and R. Stärk, *Abstract State Machines*
//! (2003): a rule yields a set of updates; parallel rules yield the union, and it is an
//! error if two of them disagree about a location; sequential rules see the updates of
//! those before them. The state does not change before the whole step is known.
//!
//! Invariant: equal states and equal answers give equal steps, and each location of the
//! environment is queried at most once in a step.

mod ask;
mod rule;
mod step;
mod term;

use super::environment::{Environment, Stop};
use super::memo::ReadLog;
use super::program::{FunctionId, FunctionKind, Model, RuleId, Term};
use super::state::{Location, Objects, State};
use super::value::Value;
use crate::{Fault, Span};
use std::collections::BTreeMap;
use std::sync::Arc;
use term::length;

pub(super) use step::Changes;
pub(super) use term::undefined;

pub(super) type Outcome<T> = Result<T, Stop>;

/// An update, with the rule that makes it.
#[derive(Debug, Clone)]
pub(super) struct Update {
    pub value: Value,
    pub span: Span,
    pub rule: Option<RuleId>,
}

pub(super) type Updates = BTreeMap<Location, Update>;

/// Maximum nesting depth of calls and expressions in a step.
const DEPTH_MAX: u32 = 600;
/// Maximum number of parts of rules and expressions that a step evaluates.
const WORK_MAX: usize = 4_000_000;

/// The result of a step.
#[derive(Debug)]
pub struct StepResult {
    /// The next state.
    pub state: State,
    /// Values of functions of the environment.
    pub(super) answers: BTreeMap<Location, Value>,
    /// Choices, by the names of their variables.
    pub(super) choices: Vec<(Arc<str>, Value)>,
    pub(super) updates: Updates,
}

pub(super) struct Machine<'a> {
    model: &'a Model,
    state: &'a State,
    environment: Option<&'a mut dyn Environment>,
    /// Records reads of the state, if requested.
    log: Option<&'a mut ReadLog>,
    /// Updates of sequential rules so far, the innermost last.
    overlays: Vec<Updates>,
    answers: BTreeMap<Location, Value>,
    choices: Vec<(Arc<str>, Value)>,
    /// Number of decisions of the environment.
    decisions: usize,
    locals: Vec<Value>,
    base: usize,
    depth: u32,
    work: usize,
    /// The existing objects, computed when one is created.
    objects: Option<Objects>,
    /// The stack of active rules.
    rules: Vec<RuleId>,
    /// Name of the code outside rules: `main` or `initially`.
    root: &'static str,
}

impl<'a> Machine<'a> {
    /// Returns a machine that executes a step.
    fn stepping(
        model: &'a Model,
        state: &'a State,
        environment: Option<&'a mut dyn Environment>,
    ) -> Machine<'a> {
        Machine {
            model,
            state,
            environment,
            log: None,
            overlays: Vec::new(),
            answers: BTreeMap::new(),
            choices: Vec::new(),
            decisions: 0,
            locals: Vec::new(),
            base: 0,
            depth: 0,
            work: 0,
            objects: None,
            rules: Vec::new(),
            root: "main",
        }
    }

    /// Evaluates a part one nesting level deeper.
    fn deeper<T>(
        &mut self,
        span: Span,
        part: impl FnOnce(&mut Machine<'a>) -> Outcome<T>,
    ) -> Outcome<T> {
        if self.depth >= DEPTH_MAX {
            return Err(too_deep(span));
        }
        self.charge(1, span)?;
        self.depth += 1;
        let result = part(self);
        self.depth -= 1;
        result
    }

    /// Charges work, so that every step ends.
    fn charge(&mut self, work: usize, span: Span) -> Outcome<()> {
        self.work = self.work.saturating_add(work);
        if self.work > WORK_MAX {
            Err(endless(span))
        } else {
            Ok(())
        }
    }

    /// Evaluates with these arguments as the only variables.
    fn framed<T>(
        &mut self,
        arguments: Vec<Value>,
        part: impl FnOnce(&mut Machine<'a>) -> Outcome<T>,
    ) -> Outcome<T> {
        let (length, base) = (self.locals.len(), self.base);
        self.locals.extend(arguments);
        self.base = length;
        let result = part(self);
        self.locals.truncate(length);
        self.base = base;
        result
    }

    /// Returns the value of a function.
    fn read(&mut self, id: FunctionId, arguments: Vec<Value>, span: Span) -> Outcome<Value> {
        let model = self.model;
        let Some(function) = model.function(id) else {
            return Err(Fault::new("unknown", "there is no such function", Some(span)).into());
        };
        self.check_arguments(id, &arguments, span)?;
        match function.kind {
            FunctionKind::Static | FunctionKind::Derived => self.fitting(id, arguments, span),
            FunctionKind::Controlled | FunctionKind::Shared | FunctionKind::Monitored => {
                self.look_up(id, arguments, span)
            }
        }
    }

    fn defined(
        &mut self,
        value: Option<&'a Term>,
        arguments: Vec<Value>,
        span: Span,
    ) -> Outcome<Value> {
        let Some(value) = value else {
            return Ok(Value::Undefined);
        };
        self.deeper(span, |machine| {
            machine.framed(arguments, |machine| machine.term(value))
        })
    }

    /// Returns the declared value of a function, checked against its type.
    fn fitting(&mut self, id: FunctionId, arguments: Vec<Value>, span: Span) -> Outcome<Value> {
        let model = self.model;
        let function = model.function(id);
        if let Some(known) = function.and_then(|it| it.known.get()) {
            return Ok(known.clone());
        }
        let declared = function.and_then(|it| it.value.as_ref());
        let value = self.defined(declared, arguments, span)?;
        if let Some(declared) = declared {
            self.charge(length(&value), span)?;
            model.takes(id, &value, declared.span)?;
        }
        match function.filter(|function| function.is_constant()) {
            Some(function) => Ok(function.known.get_or_init(|| value).clone()),
            None => Ok(value),
        }
    }

    fn check_arguments(&self, id: FunctionId, arguments: &[Value], span: Span) -> Outcome<()> {
        let Some(function) = self.model.function(id) else {
            return Ok(());
        };
        for (argument, of) in arguments.iter().zip(&function.parameters) {
            if !of.has(argument, &self.model.enumerations) {
                let shown = self.model.show(argument);
                let fault = if *argument == Value::Undefined {
                    let message = format!("`{}` is applied to `undef`", function.name);
                    Fault::new("undefined", message, Some(span))
                        .help("check first whether it is `undef`")
                } else {
                    let message = format!(
                        "`{}` takes {}, not {shown}",
                        function.name,
                        self.model.show_type(of)
                    );
                    Fault::new("range", message, Some(span))
                };
                return Err(fault.label(function.span, "declared here").into());
            }
        }
        Ok(())
    }

    fn look_up(&mut self, id: FunctionId, arguments: Vec<Value>, span: Span) -> Outcome<Value> {
        let kind = self.model.function(id).map(|function| function.kind);
        let location = (id, arguments);
        let overlay = self.overlays.iter().rev();
        if let Some(update) = overlay.filter_map(|overlay| overlay.get(&location)).next() {
            return Ok(update.value.clone());
        }
        // The environment is not queried for controlled functions.
        let is_asked = kind != Some(FunctionKind::Controlled);
        if let Some(answer) = self.answers.get(&location).filter(|_| is_asked) {
            return Ok(answer.clone());
        }
        let (id, arguments) = location;
        let before = match kind {
            Some(FunctionKind::Monitored) => None,
            _ => Some(self.stored((id, arguments.clone()), span)?),
        };
        match (kind, before) {
            (Some(FunctionKind::Controlled), Some(before)) => Ok(before),
            (_, Some(before)) if self.environment.is_none() => Ok(before),
            (_, before) => self.ask(id, arguments, before, span),
        }
    }

    /// Returns the value in the state.
    fn stored(&mut self, place: Location, span: Span) -> Outcome<Value> {
        let value = self.state.get(place.0, &place.1);
        if let Some(log) = &mut self.log {
            log.place(&place, value);
        }
        match value {
            Some(value) => Ok(value.clone()),
            None => self.fitting(place.0, place.1, span),
        }
    }
}

#[cold]
fn too_deep(span: Span) -> Stop {
    let message = format!("calls are nested more than {DEPTH_MAX} levels deep");
    Fault::new("too-deep", message, Some(span))
        .help("a recursive rule or function must end before that")
        .into()
}

#[cold]
fn endless(span: Span) -> Stop {
    let help = format!("a step may evaluate at most {WORK_MAX} parts of rules and expressions");
    Fault::new("endless", "this step does not terminate", Some(span))
        .help(help)
        .into()
}

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;
