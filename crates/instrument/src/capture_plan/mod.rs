//! From what a property wants to read (`queue->count`, `*arg 1`) to how it is
//! read at the stop, decided once per function.
//!
//! Calls have parameters and results; system calls have them in registers of
//! their own; a line sees the variables of its place. All other events see
//! globals, and what they bring themselves ([`crate::facts`]).

mod draft;
mod planner;

use crate::condition::{Check, Condition};
use crate::facts::{Fact, Moment};
use crate::modules::{Bound, Modules};
use crate::program::Program;
use crate::read_plan::{Decode, Machine, ReadPlan, Source};
use juror_debuggee::ThreadId;
use juror_event::{Capture, Conversion, EventKind, Read, SymbolicEvent, Value};
use planner::Planner;

pub(crate) use draft::decode_type;

/// How one capture is read.
#[derive(Debug, Clone, PartialEq)]
pub enum CapturePlan {
    /// By a plan that begins at the call's entry.
    Entry(ReadPlan),
    /// By a plan that begins at the return: the result, or a global variable
    /// in an event after the call.
    Return(ReadPlan),
    /// By evaluating it at the stop, because it needs the caller's frame, or a
    /// variable that moves; in the frame at this level, where 0 is the innermost.
    Evaluate(Read, usize),
    /// It comes with the event.
    Fact(Fact, Option<Conversion>),
    /// A sequence of values, each by a plan of its own; `is_late` as those of
    /// [`CapturePlan::Return`].
    Elements {
        /// The plans, in order.
        plans: Box<[ReadPlan]>,
        /// They begin at the return.
        is_late: bool,
    },
    /// By an expression that was compiled for its line.
    Compiled(Check, Read),
}

/// Why a capture cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureError {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl CaptureError {
    pub(crate) fn new(message: impl Into<String>) -> CaptureError {
        CaptureError {
            message: message.into(),
            help: None,
        }
    }
}

/// Plans a capture of an event at one definition of its function.
pub fn plan_capture(
    event: &SymbolicEvent,
    capture: &Capture,
    bound: &Bound,
    modules: &Modules,
) -> Result<CapturePlan, CaptureError> {
    if let Some(plan) = fact_of(event, capture)? {
        return Ok(plan);
    }
    if needs_caller(&capture.read) {
        return Ok(CapturePlan::Evaluate(capture.read.clone(), 0));
    }
    let planner = Planner {
        event,
        bound: Some(bound),
        modules,
    };
    let is_late = |plan: &ReadPlan| {
        event.kind == EventKind::AfterCall
            && (root_is_return(&capture.read) || matches!(plan.source, Source::Absolute { .. }))
    };
    if let Some(plans) = element_plans(&planner, &capture.read)? {
        let is_late = plans.first().is_some_and(is_late);
        return Ok(CapturePlan::Elements { plans, is_late });
    }
    let plan = planner.draft(&capture.read)?.finish()?;
    Ok(if is_late(&plan) {
        CapturePlan::Return(plan)
    } else {
        CapturePlan::Entry(plan)
    })
}

/// Plans a capture of an event that has no function: it reads globals, or the
/// registers of a system call.
pub fn plan_free_capture(
    event: &SymbolicEvent,
    capture: &Capture,
    modules: &Modules,
) -> Result<CapturePlan, CaptureError> {
    if let Some(plan) = fact_of(event, capture)? {
        return Ok(plan);
    }
    if needs_caller(&capture.read) {
        return Err(CaptureError::new(format!(
            "`{}` needs a call, and this event has none",
            capture.read
        )));
    }
    let planner = Planner {
        event,
        bound: None,
        modules,
    };
    if let Some(plans) = element_plans(&planner, &capture.read)? {
        let is_late = false;
        return Ok(CapturePlan::Elements { plans, is_late });
    }
    let plan = planner.draft(&capture.read)?.finish()?;
    Ok(CapturePlan::Entry(plan))
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
    if let Some(plan) = fact_of(event, capture)? {
        return Ok(plan);
    }
    let (read, is_converted) = match &capture.read {
        Read::Convert(inner, _) => (&**inner, true),
        read => (read, false),
    };
    let condition = Condition::parse(&read.to_string()).map_err(|diagnostic| match diagnostic {
        Some(diagnostic) => CaptureError::new(diagnostic.message),
        None => CaptureError::new("a value is missing"),
    })?;
    let check = condition
        .at(program, address, level)
        .map_err(|error| CaptureError {
            message: error.message,
            help: None,
        })?;
    Ok(match check.is_compiled() && !is_converted {
        true => CapturePlan::Compiled(check, capture.read.clone()),
        false => CapturePlan::Evaluate(capture.read.clone(), level),
    })
}

/// What the event itself brings, when that is what is captured.
fn fact_of(event: &SymbolicEvent, capture: &Capture) -> Result<Option<CapturePlan>, CaptureError> {
    let (read, conversion) = match &capture.read {
        Read::Convert(inner, conversion) => (&**inner, Some(*conversion)),
        read => (read, None),
    };
    match Fact::of(read) {
        Some(fact) if !fact.belongs_to(event.kind) => Err(CaptureError::new(format!(
            "a `{}` event has no `{}`",
            event.kind, capture.read
        ))),
        fact => Ok(fact.map(|fact| CapturePlan::Fact(fact, conversion))),
    }
}

impl Program {
    /// Reads a capture of an event that is no call, in a stopped thread; or
    /// in one that is gone, of which only memory and facts are left.
    pub fn capture(&self, thread: ThreadId, plan: &CapturePlan, moment: &Moment<'_>) -> Value {
        match plan {
            CapturePlan::Fact(fact, conversion) => fact.value_as(*conversion, self, thread, moment),
            CapturePlan::Entry(plan) | CapturePlan::Return(plan) => match self.machine(thread) {
                Ok(machine) => plan.read(&machine, 0),
                Err(_) => plan.read(&OnlyMemory(self), 0),
            },
            CapturePlan::Elements { plans, .. } => {
                let read = |plan: &ReadPlan| match self.machine(thread) {
                    Ok(machine) => plan.read(&machine, 0),
                    Err(_) => plan.read(&OnlyMemory(self), 0),
                };
                Value::Sequence(plans.iter().map(read).collect())
            }
            CapturePlan::Compiled(check, read) => self
                .machine(thread)
                .ok()
                .and_then(|machine| check.value(&machine))
                .unwrap_or_else(|| self.evaluate_read(thread, read, check.level())),
            CapturePlan::Evaluate(Read::Convert(inner, Conversion::Text), level) => {
                match (
                    self.evaluate_read(thread, inner, *level),
                    self.machine(thread),
                ) {
                    (Value::Address(bits), Ok(machine)) => ReadPlan {
                        source: Source::Constant { bits },
                        follow: smallvec::SmallVec::new(),
                        decode: Decode::TextPointer,
                    }
                    .read(&machine, 0),
                    (value, _) => value,
                }
            }
            CapturePlan::Evaluate(read, level) => self.evaluate_read(thread, read, *level),
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
}

fn needs_caller(read: &Read) -> bool {
    match read {
        Read::Caller(_) => true,
        Read::Dereference(inner)
        | Read::AddressOf(inner)
        | Read::Field(inner, _)
        | Read::Index(inner, _)
        | Read::Elements(inner, ..)
        | Read::Convert(inner, _) => needs_caller(inner),
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
