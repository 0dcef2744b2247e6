//! From what a property wants to read (`queue->count`, `*arg 1`) to how it is
//! read at the stop, decided once per function.
//!
//! Calls have parameters and results; system calls have them in registers of
//! their own; a line sees the variables of its place. All other events see
//! globals, and what they bring themselves ([`crate::context_values`]).

mod arithmetic;
mod conversion;
mod draft;
mod evaluation;
mod planner;
mod returned;
mod value;

use crate::condition::{Check, Operation};
use crate::context_values::{ContextValue, EventContext};
use conversion::type_word;
use evaluation::Site;
use juror_debuggee::ThreadId;
use juror_event::{Capture, Conversion, Read, SymbolicEvent, Unavailability, Value};
use juror_program::modules::Bound;
use juror_program::program::Program;
use juror_values::read_plan::{ClassNumber, Machine, ReadPlan, Source};
use planner::Planner;

pub use arithmetic::compute_captures;
pub use evaluation::{Evaluation, InlinedSite};

pub(crate) use draft::decode_type;

/// What is computed, before that is done.
pub(crate) const NOT_YET: Value = Value::Unavailable(Unavailability::NotCaptured);

/// How one capture is read.
#[derive(Debug, Clone)]
pub enum CapturePlan {
    /// By a plan that begins at the call's entry.
    Entry(ReadPlan),
    /// By a plan that begins at the return: the result, or a global variable
    /// in an event after the call.
    Return(ReadPlan),
    /// By evaluating it at the stop, because it needs the caller's frame, or a
    /// variable that moves, or is found by what memory holds then.
    Evaluate(Evaluation),
    /// It comes with the event.
    Context(ContextValue, Option<Conversion>),
    /// A sequence of values, each by a plan of its own; `is_late` as those of
    /// [`CapturePlan::Return`].
    Elements {
        /// The plans, in order.
        plans: Box<[ReadPlan]>,
        /// They begin at the return.
        is_late: bool,
    },
    /// By an expression that was compiled for its place; it is evaluated where that
    /// comes to no result.
    Compiled(Check, Evaluation),
    /// Computed from other captures, when these have been read.
    Arithmetic(Operation),
    /// Nothing is captured: exact numbers come to the same.
    Exact,
}

/// Why a capture cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureError {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// No other way of reading finds more: the compiler kept no copy.
    pub(crate) is_final: bool,
    /// The function has no parameter of this name, as far as its debug information tells.
    pub(crate) lacks_parameter: bool,
}

impl CapturePlan {
    /// Returns whether it takes something of the call's entry, which is not known later.
    pub(crate) fn is_of_entry(&self) -> bool {
        match self {
            CapturePlan::Entry(_) => true,
            CapturePlan::Elements { is_late, .. } => !is_late,
            CapturePlan::Evaluate(evaluation) => evaluation.entry_count() > 0,
            _ => false,
        }
    }
}

impl CaptureError {
    pub(crate) fn new(message: impl Into<String>) -> CaptureError {
        CaptureError {
            message: message.into(),
            help: None,
            is_final: false,
            lacks_parameter: false,
        }
    }
}

/// Plans a capture of an event at one definition of its function.
pub fn plan_capture(
    event: &SymbolicEvent,
    capture: &Capture,
    bound: &Bound,
    program: &Program,
) -> Result<CapturePlan, CaptureError> {
    plan_at(event, capture, Site::Call(bound), program)
}

/// Plans a capture of an event that has no function: it reads globals, or the
/// registers of a system call.
pub fn plan_free_capture(
    event: &SymbolicEvent,
    capture: &Capture,
    program: &Program,
) -> Result<CapturePlan, CaptureError> {
    plan_at(event, capture, Site::Free, program)
}

fn plan_at(
    event: &SymbolicEvent,
    capture: &Capture,
    site: Site<'_>,
    program: &Program,
) -> Result<CapturePlan, CaptureError> {
    if let Some(plan) = plan_by_itself(event, capture, site, program)? {
        return Ok(plan);
    }
    let bound = match site {
        Site::Call(bound) => Some(bound),
        Site::Line(..) | Site::Inlined(_) | Site::Free => None,
    };
    let evaluated = || evaluation::plan(event, capture, site, program);
    if is_expression(&capture.read) {
        if bound.is_none() && has_caller(&capture.read) {
            return Err(CaptureError::new(format!(
                "`{}` needs a call, and this event has none",
                capture.read
            )));
        }
        return evaluated();
    }
    let planner = Planner {
        event,
        bound,
        modules: &program.modules,
    };
    match location_plan(&planner, capture) {
        // What a guard casts is converted, as everywhere; a type that an event gives
        // says how the bytes are read.
        Ok(Planned { is_other: true, .. }) if capture.hoisted => {
            let capture = Capture {
                read: cast(&capture.read),
                ..capture.clone()
            };
            evaluation::plan(event, &capture, site, program)
        }
        Ok(planned) => Ok(planned.plan),
        // It may be more than a place all the same: an element of a library type, say.
        Err(error) if error.is_final => Err(error),
        Err(error) => evaluated().map_err(|found| if found.is_final { found } else { error }),
    }
}

/// The cast that a guard writes, as an expression.
fn cast(read: &Read) -> Read {
    match read {
        Read::Convert(inner, conversion) => match type_word(*conversion) {
            Some(word) => Read::Expression(format!("({word})({inner})").into()),
            None => read.clone(),
        },
        read => read.clone(),
    }
}

/// A plan, and whether it takes a number for one of another kind: a whole one for a
/// fraction, or the other way round.
struct Planned {
    plan: CapturePlan,
    is_other: bool,
}

/// The plan of a place by fixed offsets.
fn location_plan(planner: &Planner<'_>, capture: &Capture) -> Result<Planned, CaptureError> {
    let is_late = |plan: &ReadPlan| {
        planner.event.kind.is_end_of_call()
            && (root_is_return(&capture.read) || matches!(plan.source, Source::Absolute { .. }))
    };
    if let Some(plans) = element_plans(planner, &capture.read)? {
        let is_late = plans.first().is_some_and(is_late);
        return Ok(Planned {
            plan: CapturePlan::Elements { plans, is_late },
            is_other: false,
        });
    }
    let draft = planner.draft(&capture.read)?;
    let is_other = draft.is_of_other_kind();
    let plan = draft.finish()?;
    let plan = if is_late(&plan) {
        CapturePlan::Return(plan)
    } else {
        CapturePlan::Entry(plan)
    };
    Ok(Planned { plan, is_other })
}

/// The plans of a range of elements; nothing for what is no range.
fn element_plans(
    planner: &Planner<'_>,
    read: &Read,
) -> Result<Option<Box<[ReadPlan]>>, CaptureError> {
    let (range, conversion) = match read {
        Read::Convert(inner, conversion) => (&**inner, Some(*conversion)),
        read => (read, None),
    };
    let Read::Elements(inner, start, end) = range else {
        return Ok(None);
    };
    let first = planner.draft(&Read::Index(inner.clone(), *start))?;
    if conversion.is_none() && first.is_array() {
        // Its rows are sequences themselves.
        return Err(CaptureError::new(format!(
            "the elements of `{range}` are no single values"
        )));
    }
    let plan = |index| {
        let element = Read::Index(inner.clone(), index);
        planner
            .draft(&match conversion {
                Some(conversion) => Read::Convert(Box::new(element), conversion),
                None => element,
            })?
            .finish()
    };
    (*start..*end).map(plan).collect::<Result<_, _>>().map(Some)
}

/// Plans a capture of an event at a line, for one of its addresses and the frame that
/// stands in the line there.
pub fn plan_line_capture(
    event: &SymbolicEvent,
    capture: &Capture,
    program: &Program,
    address: u64,
    level: usize,
) -> Result<CapturePlan, CaptureError> {
    let site = Site::Line(address, level);
    match plan_by_itself(event, capture, site, program)? {
        Some(plan) => Ok(plan),
        None => evaluation::plan(event, capture, site, program),
    }
}

/// Plans a capture of an event before a call that was inlined.
pub fn plan_inlined_capture(
    event: &SymbolicEvent,
    capture: &Capture,
    program: &Program,
    site: &InlinedSite,
) -> Result<CapturePlan, CaptureError> {
    let site = Site::Inlined(site);
    match plan_by_itself(event, capture, site, program)? {
        Some(plan) => Ok(plan),
        None => evaluation::plan(event, capture, site, program),
    }
}

/// The plan of what is not read from the program.
fn plan_by_itself(
    event: &SymbolicEvent,
    capture: &Capture,
    site: Site<'_>,
    program: &Program,
) -> Result<Option<CapturePlan>, CaptureError> {
    match &capture.read {
        Read::Arithmetic(read) => Ok(Some(arithmetic::plan(event, read, site, program))),
        _ => context_value_of(event, capture),
    }
}

/// What the event itself brings, when that is what is captured.
fn context_value_of(
    event: &SymbolicEvent,
    capture: &Capture,
) -> Result<Option<CapturePlan>, CaptureError> {
    let (read, conversion) = match &capture.read {
        Read::Convert(inner, conversion) => (&**inner, Some(*conversion)),
        read => (read, None),
    };
    match ContextValue::of(read) {
        Some(value) if !value.belongs_to(event.kind) => Err(CaptureError::new(format!(
            "a `{}` event has no `{}`",
            event.kind, capture.read
        ))),
        value => Ok(value.map(|value| CapturePlan::Context(value, conversion))),
    }
}

impl CapturePlan {
    /// Reads a capture of an event that is no call, in a stopped thread; or
    /// in one that is gone, of which only memory and facts are left.
    pub fn read(&self, program: &Program, thread: ThreadId, context: &EventContext<'_>) -> Value {
        match self {
            CapturePlan::Context(value, conversion) => {
                value.value_as(*conversion, program, thread, context)
            }
            CapturePlan::Entry(plan) | CapturePlan::Return(plan) => match program.machine(thread) {
                Ok(machine) => plan.read(&machine, 0),
                Err(_) => plan.read(&OnlyMemory(program), 0),
            },
            CapturePlan::Elements { plans, .. } => {
                let read = |plan: &ReadPlan| match program.machine(thread) {
                    Ok(machine) => plan.read(&machine, 0),
                    Err(_) => plan.read(&OnlyMemory(program), 0),
                };
                Value::Sequence(plans.iter().map(read).collect())
            }
            CapturePlan::Compiled(check, evaluation) => program
                .machine(thread)
                .ok()
                .and_then(|machine| check.value(&machine))
                .unwrap_or_else(|| evaluation.value(program, thread, &[])),
            CapturePlan::Evaluate(evaluation) => evaluation.value(program, thread, &[]),
            CapturePlan::Arithmetic(_) | CapturePlan::Exact => NOT_YET,
        }
    }
}

/// The debuggee's memory, for an event whose thread is gone.
struct OnlyMemory<'a>(&'a Program);

impl Machine for OnlyMemory<'_> {
    fn register(&self, _number: u8) -> u64 {
        0
    }

    fn vector(&self, _number: u8) -> Option<u64> {
        None
    }

    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        self.0.debuggee.read(address, buffer).is_ok()
    }

    fn has_class(&self, table: u64, class: ClassNumber) -> bool {
        self.0.has_class(table, class)
    }
}

fn has_caller(read: &Read) -> bool {
    match read {
        Read::Caller(_) => true,
        Read::Dereference(inner)
        | Read::AddressOf(inner)
        | Read::Field(inner, _)
        | Read::Index(inner, _)
        | Read::Elements(inner, ..)
        | Read::Convert(inner, _) => has_caller(inner),
        _ => false,
    }
}

/// Whether a read is no place by fixed offsets.
fn is_expression(read: &Read) -> bool {
    match read {
        Read::Caller(_) | Read::Expression(_) => true,
        Read::Dereference(inner)
        | Read::AddressOf(inner)
        | Read::Field(inner, _)
        | Read::Index(inner, _)
        | Read::Elements(inner, ..)
        | Read::Convert(inner, _) => is_expression(inner),
        _ => false,
    }
}

fn root_is_return(read: &Read) -> bool {
    match read {
        Read::Return => true,
        Read::Caller(inner)
        | Read::Dereference(inner)
        | Read::AddressOf(inner)
        | Read::Field(inner, _)
        | Read::Index(inner, _)
        | Read::Elements(inner, ..)
        | Read::Convert(inner, _) => root_is_return(inner),
        _ => false,
    }
}
