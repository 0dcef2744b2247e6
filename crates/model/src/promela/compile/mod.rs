//! Compiler from the syntax tree to a [`Program`].
//!
//! All names are resolved here. All errors of a model are collected, except those that
//! are consequences of others.

mod block;
pub(super) mod declaration;
mod expression;
mod formula;
mod hidden;
mod local;
mod process;
mod repetition;
mod run;
mod statement;
mod trace;

use self::declaration::BYTE;
use super::graph::Graph;
use super::program::{
    Active, Code, GLOBALS_START, Instruction, Node, Operation, Program, Variable, VariableKind,
};
use super::syntax::{self, Name, ProcessKind, Written};
use crate::{Fault, Span};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Default priority of a process.
pub(super) const PRIORITY: u8 = 1;

/// Maximum number of process types.
const KINDS_MAX: usize = 255;

/// An error was found and recorded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reported;

type Compiled<T> = Result<T, Reported>;

/// A remote reference to a label, resolved when all labels are known.
struct AskedLabel {
    kind: u16,
    name: Name,
}

/// A remote reference to a variable.
struct AskedVariable {
    node: Code,
    kind: u16,
    reference: syntax::Reference,
}

/// A symbolic name.
#[derive(Debug, Clone, Copy)]
struct MtypeName {
    number: i32,
    /// The number of the set that it belongs to.
    set: u16,
}

/// The state of the compiler.
#[derive(Default)]
pub(super) struct Compiler {
    pub program: Program,
    pub faults: Vec<Fault>,
    globals: FxHashMap<Arc<str>, Variable>,
    records: FxHashMap<Arc<str>, u16>,
    kinds: FxHashMap<Arc<str>, u16>,
    /// By process type: number of values that it takes; a record has one for each field.
    parameter_counts: Vec<usize>,
    mtypes: FxHashMap<Arc<str>, MtypeName>,
    /// By name of a set of values, as in `mtype:name`: its number. `mtype` is number 0.
    mtype_sets: FxHashMap<Arc<str>, u16>,
    asked_labels: Vec<AskedLabel>,
    asked_variables: Vec<AskedVariable>,
    /// The process being compiled.
    frame: Option<Frame>,
    /// Whether `run` is allowed in the current expression.
    may_run: bool,
    /// Number of `run`s so far.
    runs: u32,
    /// Values of constant global variables, which may be array lengths.
    constants: FxHashMap<Arc<str>, i32>,
}

/// The process being compiled.
#[derive(Default)]
struct Frame {
    kind: u16,
    /// By block, innermost last.
    scopes: Vec<FxHashMap<Arc<str>, Variable>>,
    size: u32,
    graph: Graph,
    /// The enclosing inline expansions.
    instances: Vec<u32>,
    /// Numbers of the enclosing blocks, and the number of blocks so far: two blocks may
    /// have labels of the same name.
    blocks: Vec<u32>,
    block_count: u32,
    /// Whether declarations still initialize the process, before its first statement.
    at_beginning: bool,
    /// Whether inside a `d_step`.
    in_step: bool,
    /// Whether it is a trace, not a process.
    is_trace: bool,
}

/// Compiles a model. The program is complete if there are no faults.
pub(super) fn compile(written: &Written, asked: &[(Arc<str>, syntax::Expression)]) -> Compiler {
    let mut compiler = Compiler::default();
    compiler.model(written, asked);
    compiler
}

impl Compiler {
    fn model(&mut self, written: &Written, asked: &[(Arc<str>, syntax::Expression)]) {
        self.program.globals_end = GLOBALS_START;
        self.number_mtypes(written);
        for record in &written.records {
            let _ = self.record(record);
        }
        self.number_kinds(written);
        if written.processes.len() > KINDS_MAX {
            // Their numbers would not be unique.
            return;
        }
        for variable in &written.variables {
            let _ = self.global(variable);
        }
        let mut graphs = Vec::new();
        for (number, process) in written.processes.iter().enumerate() {
            let number = number as u16;
            if let Ok(graph) = self.process(number, process) {
                graphs.push((number, process, graph));
            }
            self.frame = None;
        }
        self.requirements(written, asked);
        self.answer_variables();
        for (number, process, (graph, body)) in graphs {
            self.finish_process(number, process, graph, body);
        }
        self.activate(written);
        if self.faults.is_empty() {
            self.check_claim();
        }
        if self.program.active.is_empty() && self.faults.is_empty() {
            let message = "there is no process: write `init` or `active proctype`";
            self.faults.push(Fault::new("no-process", message, None));
        }
        self.make_last();
        self.make_questions();
        self.mark_priorities(written);
        self.mark_local();
        self.mark_hidden();
    }

    /// Adds `_last` to the state if the model uses it.
    fn make_last(&mut self) {
        if self.program.nodes.contains(&Node::Last) {
            let scalar = BYTE;
            let offset = self.program.globals_end;
            self.program.last = Some(super::program::Cell { offset, scalar });
            self.program.globals_end += 1;
            self.program.global_ranges.push(offset..offset + 1);
        }
        self.program.uses_timeout = self.program.nodes.contains(&Node::Timeout);
    }

    /// Adds priorities to the state if a process has a non-default priority or the model
    /// reads one.
    fn mark_priorities(&mut self, written: &Written) {
        let mut processes = written.processes.iter();
        let mut nodes = self.program.nodes.iter();
        let mut instructions = self.program.instructions.iter();
        self.program.priorities = processes.any(|process| process.priority.is_some())
            || nodes.any(|node| match node {
                Node::OwnPriority | Node::PriorityOf(_) => true,
                Node::Run { priority, .. } => *priority != PRIORITY,
                _ => false,
            })
            || instructions.any(|instruction| match &instruction.operation {
                Operation::SetPriority(..) => true,
                Operation::Run { priority, .. } => *priority != PRIORITY,
                _ => false,
            });
    }

    fn number_mtypes(&mut self, written: &Written) {
        self.program.mtypes = vec![Vec::new()];
        for (set, name) in &written.mtypes {
            let set = self.mtype_set(set.as_ref());
            let Some(names) = self.program.mtypes.get_mut(usize::from(set)) else {
                continue;
            };
            names.push(name.text.clone());
            let number = names.len() as i32;
            let made = MtypeName { number, set };
            if self.mtypes.insert(name.text.clone(), made).is_some() {
                let message = format!("`{}` is declared twice", name.text);
                self.fault("redeclared", message, name.span);
            }
        }
        let mut sets = self.program.mtypes.iter();
        if sets.any(|names| names.len() > 255) {
            self.faults.push(Fault::new(
                "mtype",
                "there are more than 255 message names",
                None,
            ));
        }
    }

    /// Returns the number of a set of symbolic names. One without any names may be new.
    fn mtype_set(&mut self, name: Option<&Arc<str>>) -> u16 {
        let Some(name) = name else {
            return 0;
        };
        if let Some(number) = self.mtype_sets.get(name) {
            return *number;
        }
        // More than these share a number that has no names.
        let number = u16::try_from(self.program.mtypes.len()).unwrap_or(u16::MAX);
        if number < u16::MAX {
            self.program.mtypes.push(Vec::new());
        }
        self.mtype_sets.insert(name.clone(), number);
        number
    }

    fn number_kinds(&mut self, written: &Written) {
        for (number, process) in written.processes.iter().enumerate() {
            let parameters = process.parameters.iter();
            let counts = parameters.map(|parameter| self.values_in(&parameter.type_name));
            self.parameter_counts.push(counts.sum());
            let is_new = self
                .kinds
                .insert(process.name.text.clone(), number as u16)
                .is_none();
            if !is_new {
                let message = match process.kind {
                    ProcessKind::Never => "there is more than one never claim".to_owned(),
                    _ => format!("`{}` is declared twice", process.name.text),
                };
                self.fault("redeclared", message, process.name.span);
            }
        }
        if written.processes.len() > KINDS_MAX {
            self.faults.push(Fault::new(
                "too-large",
                format!("there are more than {KINDS_MAX} process types"),
                None,
            ));
        }
    }

    /// Returns the number of scalar values of a type.
    fn values_in(&self, type_name: &syntax::TypeName) -> usize {
        let syntax::TypeName::Record(name) = type_name else {
            return 1;
        };
        // An unknown type is reported where the parameter is declared.
        self.records.get(&name.text).map_or(1, |record| {
            let variable = Variable {
                kind: VariableKind::Record(*record),
                length: None,
                offset: 0,
            };
            self.program.leaves_of("", &variable).len()
        })
    }

    fn activate(&mut self, written: &Written) {
        for (number, process) in written.processes.iter().enumerate() {
            let kind = number as u16;
            let priority = process.priority.map_or(PRIORITY, |priority| priority as u8);
            let count = match (process.kind, &process.active) {
                (ProcessKind::Never, _) => {
                    self.program.claim = Some(kind);
                    0
                }
                (ProcessKind::Trace | ProcessKind::NoTrace, _) => {
                    self.make_trace(kind, process);
                    0
                }
                (ProcessKind::Initial, _) => 1,
                (ProcessKind::Ordinary | ProcessKind::External, None) => 0,
                (ProcessKind::Ordinary | ProcessKind::External, Some(count)) => {
                    match self.constant(count) {
                        Ok(count) if (0..=255).contains(&count) => count,
                        Ok(_) => {
                            self.fault(
                                "too-large",
                                "there are more than 255 processes",
                                count.span,
                            );
                            0
                        }
                        Err(Reported) => 0,
                    }
                }
            };
            for _ in 0..count {
                self.program.active.push(Active { kind, priority });
            }
        }
        if self.program.active.len() > 255 {
            self.faults.push(Fault::new(
                "too-large",
                "there are more than 255 processes",
                None,
            ));
        }
    }

    fn fault(&mut self, code: &'static str, message: impl Into<String>, span: Span) {
        self.faults.push(Fault::new(code, message, Some(span)));
    }

    fn refuse<T>(
        &mut self,
        code: &'static str,
        message: impl Into<String>,
        span: Span,
    ) -> Compiled<T> {
        self.fault(code, message, span);
        Err(Reported)
    }

    fn code(&mut self, node: Node, span: Span) -> Code {
        self.program.nodes.push(node);
        self.program.node_spans.push(span);
        Code(self.program.nodes.len() as u32 - 1)
    }

    /// Records the set of names that the values of an expression have, if they have any.
    fn name_values(&mut self, code: Code, set: Option<u16>) {
        if let Some(set) = set {
            self.program.named.insert(code, set);
        }
    }

    fn instruction(&mut self, operation: Operation, span: Span, text: &str) -> u32 {
        self.program.instructions.push(Instruction {
            operation,
            span,
            text: text.into(),
        });
        self.program.instructions.len() as u32 - 1
    }

    /// Returns a variable of the process or of the model.
    fn lookup(&self, name: &str) -> Option<(super::program::Scope, &Variable)> {
        use super::program::Scope;
        let scopes = self
            .frame
            .iter()
            .flat_map(|frame| frame.scopes.iter().rev());
        let mut locals = scopes.filter_map(|scope| scope.get(name));
        if let Some(variable) = locals.next() {
            return Some((Scope::Local, variable));
        }
        self.globals
            .get(name)
            .map(|variable| (Scope::Global, variable))
    }

    /// Returns a suggestion among all valid names ("did you mean").
    fn suggestion(&self, name: &str) -> Option<String> {
        let scopes = self.frame.iter().flat_map(|frame| &frame.scopes);
        let locals = scopes.flat_map(|scope| scope.keys());
        let names = locals.chain(self.globals.keys()).chain(self.mtypes.keys());
        let names: Vec<&str> = names.map(|name| &**name).collect();
        let suggested = juror_language::suggest(name, names);
        suggested.map(|name| format!("did you mean `{name}`?"))
    }

    fn kind_of(&mut self, name: &Name) -> Compiled<u16> {
        match self.kinds.get(&name.text) {
            Some(kind) => Ok(*kind),
            None => {
                let message = format!("there is no process `{}`", name.text);
                let names = self.kinds.keys().map(|kind| &**kind);
                let meant = juror_language::suggest(&name.text, names);
                let mut fault = Fault::new("unknown-process", message, Some(name.span));
                fault.help = meant.map(|meant| format!("did you mean `{meant}`?"));
                self.faults.push(fault);
                Err(Reported)
            }
        }
    }

    fn answer_variables(&mut self) {
        for asked in std::mem::take(&mut self.asked_variables) {
            let _ = self.answer_variable(&asked);
        }
    }

    fn answer_variable(&mut self, asked: &AskedVariable) -> Compiled<()> {
        let kind = self.program.kinds.get(asked.kind as usize);
        let Some((name, _)) = asked.reference.parts.first() else {
            return Err(Reported);
        };
        let found = kind.and_then(|kind| kind.variables.iter().find(|(it, _)| **it == *name.text));
        let Some((_, variable)) = found.cloned() else {
            let message = format!("this process has no variable `{}`", name.text);
            return self.refuse("unknown-name", message, name.span);
        };
        let scope = super::program::Scope::Local;
        let place = self.place_in(scope, &variable, &asked.reference)?;
        self.name_values(asked.node, place.cell.scalar.mtype);
        if let Some(Node::Remote { place: slot, .. }) =
            self.program.nodes.get_mut(asked.node.0 as usize)
        {
            **slot = place;
        }
        Ok(())
    }

    fn size_of(&self, variable: &Variable) -> u32 {
        self.program.size_of(variable.kind) * variable.length.unwrap_or(1)
    }
}

/// Returns whether a variable is a record, which is not a scalar.
fn is_record(variable: &Variable) -> bool {
    matches!(variable.kind, VariableKind::Record(_))
}
