//! Plans how the reads of a property (`queue->count`, `*arg 1`) are done at a stop. It is decided
//! once for each function.
//!
//! Calls have parameters and results; system calls have them in registers of their own; a line sees
//! the variables of its place. All other events see globals and their own context values
//! ([`crate::context_values`]).

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

/// The placeholder of a value that is computed after the reads.
pub(crate) const NOT_YET: Value = Value::Unavailable(Unavailability::NotCaptured);

/// The way in which a capture is read.
#[derive(Debug, Clone)]
pub enum CapturePlan {
    /// A plan that begins at the entry of the call.
    Entry(ReadPlan),
    /// A plan that begins at the return: the result, or a global variable in an event after the
    /// call.
    Return(ReadPlan),
    /// An evaluation at the stop, for the caller's frame, for a variable without a fixed location,
    /// and for a location that depends on the contents of memory.
    Evaluate(Evaluation),
    /// A value of the event itself.
    Context(ContextValue, Option<Conversion>),
    /// A sequence of values, each with its own plan.
    Elements {
        /// The plans, in order.
        plans: Box<[ReadPlan]>,
        /// Whether the plans begin at the return, like those of [`CapturePlan::Return`].
        is_late: bool,
    },
    /// An expression compiled for its place. If it gives no result, the expression is evaluated.
    Compiled(Check, Evaluation),
    /// An operation on other captures, computed after these have been read.
    Arithmetic(Operation),
    /// No capture: exact numbers give the same result.
    Exact,
}

/// The reason for which a capture cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureError {
    /// The message.
    pub message: String,
    /// A suggestion.
    pub help: Option<String>,
    /// Whether no other way of reading can succeed, for instance since the compiler kept no copy.
    pub(crate) is_final: bool,
    /// Whether the function has no such parameter, or no result, in its debug information.
    pub(crate) lacks_parameter: bool,
}

impl CapturePlan {
    /// Returns whether it uses values at the call's entry, which are lost later.
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
    /// Creates an error without advice.
    pub fn new(message: impl Into<String>) -> CaptureError {
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

/// Plans a capture of an event without a function: globals, or the registers of a system call.
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
        // In a guard a cast converts the value, as everywhere; the type that an event gives
        // determines how the bytes are decoded.
        Ok(Planned { is_other: true, .. }) if capture.hoisted => {
            let capture = Capture {
                read: cast(&capture.read),
                ..capture.clone()
            };
            evaluation::plan(event, &capture, site, program)
        }
        Ok(planned) => Ok(planned.plan),
        // The evaluation may succeed where no fixed location exists, for instance for an element of
        // a library type.
        Err(error) if error.is_final => Err(error),
        Err(error) => evaluated().map_err(|found| if found.is_final { found } else { error }),
    }
}

/// Returns the cast in a guard as an expression.
fn cast(read: &Read) -> Read {
    match read {
        Read::Convert(inner, conversion) => match type_word(*conversion) {
            Some(word) => Read::Expression(format!("({word})({inner})").into()),
            None => read.clone(),
        },
        read => read.clone(),
    }
}

/// A plan, and whether it takes an integer for a floating-point number or the other way round.
struct Planned {
    plan: CapturePlan,
    is_other: bool,
}

/// Returns the plan of a location at fixed offsets.
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

/// Returns the plans of a range of elements, or `None` if the read is not a range.
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
        // The rows are sequences themselves.
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

/// Plans a capture of an event at a line, for one of its addresses and the level of the frame in
/// that line.
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

/// Plans a capture of an event before an inlined call.
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

/// Returns the plan of a value that is not read from the program, or `None` for others.
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

/// Returns the plan of a context value, or `None` for other reads.
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
    /// Reads a capture of an event that is not a call, in a stopped thread. If the thread has
    /// ended, only memory and context values can be read.
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

/// The debuggee's memory, for an event whose thread has ended.
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

/// Returns whether a read cannot be planned as a location at fixed offsets.
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

#[cfg(test)]
mod tests {
    use super::*;
    use juror_event::{EventKind, Reach};
    use juror_values::read_plan::Decode;
    use smallvec::SmallVec;

    fn argument() -> Box<Read> {
        Box::new(Read::Argument(1))
    }

    #[test]
    fn a_cast_of_a_guard_is_an_expression_with_the_name_of_its_type() {
        let convert = |conversion| Read::Convert(Box::new(Read::Name("n".into())), conversion);
        let signed = convert(Conversion::Signed { bytes: 4 });
        assert_eq!(cast(&signed), Read::Expression("(i32)(n)".into()));
        for other in [convert(Conversion::Address), Read::Name("n".into())] {
            assert_eq!(cast(&other), other);
        }
    }

    #[test]
    fn the_caller_is_found_in_each_part_of_a_read() {
        let caller = || Box::new(Read::Caller(argument()));
        for (read, has_it, is_computed) in [
            (*caller(), true, true),
            (Read::Dereference(caller()), true, true),
            (Read::AddressOf(caller()), true, true),
            (Read::Field(caller(), "x".into()), true, true),
            (Read::Index(caller(), 1), true, true),
            (Read::Elements(caller(), 0, 2), true, true),
            (Read::Convert(caller(), Conversion::Bool), true, true),
            (Read::Expression("a + b".into()), false, true),
            (Read::Field(argument(), "x".into()), false, false),
            (Read::Return, false, false),
        ] {
            assert_eq!(has_caller(&read), has_it, "{read}");
            assert_eq!(is_expression(&read), is_computed, "{read}");
        }
    }

    #[test]
    fn a_read_of_the_result_begins_at_the_return() {
        let result = || Box::new(Read::Return);
        for (read, expected) in [
            (*result(), true),
            (Read::Dereference(result()), true),
            (Read::Field(result(), "x".into()), true),
            (Read::Index(result(), 1), true),
            (Read::Convert(result(), Conversion::Bool), true),
            (Read::Dereference(argument()), false),
            (Read::Name("ret".into()), false),
        ] {
            assert_eq!(root_is_return(&read), expected, "{read}");
        }
    }

    fn event(kind: EventKind) -> SymbolicEvent {
        SymbolicEvent {
            name: "use".into(),
            kind,
            subject: "f".into(),
            reach: Reach::Anywhere,
            captures: Vec::new(),
            span: 0..0,
            subject_span: 0..0,
        }
    }

    #[test]
    fn a_context_value_needs_an_event_that_has_it() {
        let plan = |kind, read| {
            let capture = Capture {
                name: "it".into(),
                read,
                hoisted: false,
                span: 0..0,
            };
            context_value_of(&event(kind), &capture)
        };
        let error = plan(EventKind::BeforeCall, Read::Status).expect_err("a refusal");
        assert!(error.message.contains("event has no"), "{}", error.message);
        let status = plan(EventKind::ProgramExit, Read::Status);
        let is_status = |it: &Option<CapturePlan>| {
            matches!(it, Some(CapturePlan::Context(ContextValue::Status, None)))
        };
        assert!(status.is_ok_and(|it| is_status(&it)));
        let typed = Read::Convert(Box::new(Read::Time), Conversion::Signed { bytes: 4 });
        let typed = plan(EventKind::BeforeCall, typed).expect("a plan");
        let expected = Some(Conversion::Signed { bytes: 4 });
        assert!(
            matches!(typed, Some(CapturePlan::Context(ContextValue::Time, it)) if it == expected)
        );
        let other = plan(EventKind::BeforeCall, Read::Argument(1));
        assert!(other.is_ok_and(|it| it.is_none()));
    }

    #[test]
    fn arguments_are_taken_at_the_entry_and_results_are_not() {
        let plan = || ReadPlan {
            source: Source::Constant { bits: 0 },
            follow: SmallVec::new(),
            decode: Decode::Address,
        };
        let elements = |is_late| CapturePlan::Elements {
            plans: Box::from([plan()]),
            is_late,
        };
        for (plan, expected) in [
            (CapturePlan::Entry(plan()), true),
            (CapturePlan::Return(plan()), false),
            (elements(false), true),
            (elements(true), false),
            (CapturePlan::Context(ContextValue::Time, None), false),
            (CapturePlan::Exact, false),
        ] {
            assert_eq!(plan.is_of_entry(), expected, "{plan:?}");
        }
    }
}
