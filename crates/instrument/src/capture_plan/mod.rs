//! From what a property wants to read (`queue->count`, `*arg 1`) to how it is
//! read at the stop, decided once per function.

mod draft;
mod planner;

use crate::modules::{Bound, Modules};
use crate::read_plan::{ReadPlan, Source};
use juror_event::{Capture, EventKind, Read, SymbolicEvent};
use planner::Planner;

/// How one capture is read.
#[derive(Debug, Clone, PartialEq)]
pub enum CapturePlan {
    /// By a plan that begins at the call's entry.
    Entry(ReadPlan),
    /// By a plan that begins at the return: the result, or a global variable
    /// in an event after the call.
    Return(ReadPlan),
    /// By evaluating it at the stop, because it needs the caller's frame.
    Evaluate(Read),
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
    fn new(message: impl Into<String>) -> CaptureError {
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
    if needs_caller(&capture.read) {
        return Ok(CapturePlan::Evaluate(capture.read.clone()));
    }
    let planner = Planner {
        event,
        bound,
        modules,
    };
    let draft = planner.draft(&capture.read)?;
    let plan = draft.finish()?;
    let is_late = event.kind == EventKind::AfterCall
        && (root_is_return(&capture.read) || matches!(plan.source, Source::Absolute { .. }));
    Ok(if is_late {
        CapturePlan::Return(plan)
    } else {
        CapturePlan::Entry(plan)
    })
}

fn needs_caller(read: &Read) -> bool {
    match read {
        Read::Caller(_) => true,
        Read::Dereference(inner)
        | Read::AddressOf(inner)
        | Read::Field(inner, _)
        | Read::Index(inner, _)
        | Read::Convert(inner, _) => needs_caller(inner),
        Read::Name(_) | Read::Argument(_) | Read::Return => false,
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
        | Read::Convert(inner, _) => root_is_return(inner),
        Read::Name(_) | Read::Argument(_) => false,
    }
}
