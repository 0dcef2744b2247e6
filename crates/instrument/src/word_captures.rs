//! The captures of an event of a call as machine words.
//!
//! A capture is a word if it is a chain of loads from a register, the stack or a constant address
//! to an integer, a boolean or an address. Before a call, all of it is read at the entry. At the
//! end of a call, results and globals are read at the return; the first word of an argument is kept
//! from the entry ([`CallWords::kept`]), and its target is read at the return. An unwound call has
//! the same words; its end has no address, so no emitted code handles that event.
//!
//! **Invariant**: a [`WordCapture`] gives the value of [`ReadPlan::read`], of the kind that
//! [`WordKind::value_of`] makes; if a plan gives none, the capture cannot be read either.
//!
//! Memory is read as the program sees it. A capture that reads code sees patches there, which
//! [`ReadPlan::read`] does not.

#[cfg(test)]
mod tests;

use crate::capture_plan::CapturePlan;
use crate::context_values::ContextValue;
use crate::probes::Probe;
use crate::word_chain::{Chain, TOO_FAR};
use juror_event::{Capture, Conversion, Read, SymbolicEvent};
use juror_monitor::lowering::{EventWords, NotNative, Origin, Place, WordCapture, WordKind};
use juror_stub::emit::PENDING_VALUES;
use juror_values::read_plan::{Decode, ReadPlan, Source, Step};
use std::ops::Range;

/// The captures of an event at one definition of its function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallWords {
    /// The words that are read at the event, by slot: at the entry, or at the return. Those in
    /// `begun` have the origin [`Origin::Begun`].
    pub words: EventWords,
    /// A bit mask of the slots of an event at the end of a call that begin at its entry. It is 0
    /// for an event before the call.
    pub begun: u64,
    /// The words that the entry keeps for the slots in `begun`, by slot.
    pub kept: EventWords,
}

/// The number of slots that an entry may keep.
const BEGUN_SLOTS: u64 = 31;

/// Returns the captures of an event as machine words.
///
/// # Errors
/// A capture is not a machine word, or the event is not one of a call.
pub fn of_event(event: &SymbolicEvent, captures: &[CapturePlan]) -> Result<CallWords, NotNative> {
    if !event.kind.is_call() {
        return Err(of_whole(event, "is not one of a call"));
    }
    let mut words = Vec::with_capacity(captures.len());
    let mut kept = Vec::with_capacity(captures.len());
    let mut begun = 0;
    for (slot, (plan, capture)) in (0..64).zip(captures.iter().zip(&event.captures)) {
        let found = word_of(event, capture, plan);
        let found = found.map_err(|why| not_native(event, &capture.span, why))?;
        if found.kept.is_some() {
            begun |= 1u64 << slot;
        }
        words.push(found.word);
        kept.push(found.kept);
    }
    if words.len() != event.captures.len() || words.len() != captures.len() {
        return Err(of_whole(event, "has more than 64 values"));
    }
    if begun >> BEGUN_SLOTS != 0 || begun.count_ones() > PENDING_VALUES {
        return Err(of_whole(event, "keeps too many arguments until the return"));
    }
    Ok(CallWords {
        words: EventWords { captures: words },
        begun,
        kept: EventWords { captures: kept },
    })
}

/// Returns the captures of a probe as machine words.
///
/// # Errors
/// As [`of_event`], and if the probe is at an inlined call.
pub fn of_probe(event: &SymbolicEvent, probe: &Probe) -> Result<CallWords, NotNative> {
    match probe.inlined {
        Some(_) => Err(of_whole(event, "is at a call that was inlined")),
        None => of_event(event, &probe.captures),
    }
}

/// Checks that the definitions of an event have values of the same kinds, so that one program of
/// operations fits all of them.
///
/// # Errors
/// Two of them have values of different kinds.
pub fn compatible(event: &SymbolicEvent, definitions: &[EventWords]) -> Result<(), NotNative> {
    let kind = |capture: &Option<WordCapture>| capture.as_ref().map(|it| it.kind);
    let kinds = |words: &EventWords| words.captures.iter().map(kind).collect::<Vec<_>>();
    let mut all = definitions.iter().map(kinds);
    let first = all.next();
    if all.all(|other| Some(other) == first) {
        Ok(())
    } else {
        Err(of_whole(
            event,
            "has values of different types in its functions",
        ))
    }
}

fn of_whole(event: &SymbolicEvent, why: &str) -> NotNative {
    not_native(event, &event.span, why)
}

fn not_native(event: &SymbolicEvent, span: &Range<usize>, why: &str) -> NotNative {
    NotNative {
        place: Place::Event(event.name.clone()),
        span: span.clone(),
        why: why.into(),
    }
}

/// The moment at which a word is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// At the entry of the call.
    Entry,
    /// At the end of the call.
    End,
}

/// The words of a capture.
struct Found {
    /// The word that is read at the event; `None` if it is not captured.
    word: Option<WordCapture>,
    /// The word that the entry of the call keeps for it.
    kept: Option<WordCapture>,
}

impl Found {
    /// Returns a capture that is only read at the event.
    fn at_event(word: WordCapture) -> Found {
        Found {
            word: Some(word),
            kept: None,
        }
    }
}

fn word_of(
    event: &SymbolicEvent,
    capture: &Capture,
    plan: &CapturePlan,
) -> Result<Found, &'static str> {
    let is_end = event.kind.is_end_of_call();
    let at_event = if is_end { Moment::End } else { Moment::Entry };
    match plan {
        // A constant is the same at the end.
        CapturePlan::Entry(plan) if is_end && !matches!(plan.source, Source::Constant { .. }) => {
            of_argument(plan)
        }
        CapturePlan::Entry(plan) | CapturePlan::Return(plan) => {
            of_plan(plan, at_event).map(Found::at_event)
        }
        CapturePlan::Context(value, conversion) => {
            of_context(*value, *conversion).map(Found::at_event)
        }
        CapturePlan::Compiled(..) | CapturePlan::Evaluate(_) if is_end => {
            Err(of_expression(&capture.read))
        }
        CapturePlan::Compiled(_, evaluation) | CapturePlan::Evaluate(evaluation) => {
            match evaluation.word() {
                Some(word) => Ok(Found::at_event(word.clone())),
                None => Err(of_expression(&capture.read)),
            }
        }
        CapturePlan::Elements { .. } => Err("reads a sequence"),
        CapturePlan::Arithmetic(_) => Err("computes in the types of the program"),
        CapturePlan::Exact => Ok(Found {
            word: None,
            kept: None,
        }),
    }
}

/// Returns the reason for an expression that is evaluated with the thread's frames.
fn of_expression(read: &Read) -> &'static str {
    let is_caller = |read: &Read| match read {
        Read::Caller(_) => true,
        Read::Expression(text) => text.contains('^'),
        _ => false,
    };
    let mut part = read;
    loop {
        if is_caller(part) {
            return "reads the caller's variables";
        }
        part = match part {
            Read::Dereference(inner)
            | Read::AddressOf(inner)
            | Read::Field(inner, _)
            | Read::Index(inner, _)
            | Read::Elements(inner, ..)
            | Read::Convert(inner, _) => inner,
            _ => return "evaluates an expression",
        };
    }
}

/// Returns the capture of a context value.
fn of_context(
    value: ContextValue,
    conversion: Option<Conversion>,
) -> Result<WordCapture, &'static str> {
    let (origin, kind) = match value {
        ContextValue::Thread => (Origin::Thread, WordKind::Signed),
        ContextValue::ReturnAddress => (Origin::ReturnAddress, WordKind::Address),
        ContextValue::Time => return Err("reads the time"),
        ContextValue::CallerName => return Err("reads the caller's name"),
        _ => return Err("reads what only a stop knows"),
    };
    // A context value is truncated to the type; its bytes are not reinterpreted.
    let (bytes, kind) = match conversion {
        None => (8, kind),
        Some(Conversion::Signed { bytes }) => (bytes, WordKind::Signed),
        Some(Conversion::Unsigned { bytes }) => (bytes, WordKind::Unsigned),
        Some(Conversion::Bool) => (8, WordKind::Boolean),
        Some(Conversion::Address | Conversion::String) => (8, WordKind::Address),
        Some(Conversion::Float32 | Conversion::Float64) => return Err(FRACTION),
    };
    Chain::new(origin).value(bytes, kind)
}

/// Returns the capture of an argument at the end of its call: the entry keeps the first word of the
/// plan, and the rest is read at the event.
fn of_argument(plan: &ReadPlan) -> Result<Found, &'static str> {
    let (bytes, kind) = kind_of(plan.decode)?;
    let is_whole = plan.follow.is_empty();
    let first = ReadPlan {
        source: plan.source,
        follow: Default::default(),
        decode: if is_whole {
            plan.decode
        } else {
            Decode::Address
        },
    };
    let begun = Chain::new(Origin::Begun);
    let word = if is_whole {
        begun.value(bytes, kind)?
    } else {
        follow(begun, plan)?.value(bytes, kind)?
    };
    Ok(Found {
        word: Some(word),
        kept: Some(of_plan(&first, Moment::Entry)?),
    })
}

const FRACTION: &str = "reads a fraction";

/// Returns the capture of a plan that is read completely at one moment.
fn of_plan(plan: &ReadPlan, moment: Moment) -> Result<WordCapture, &'static str> {
    let (bytes, kind) = kind_of(plan.decode)?;
    let (mut chain, in_memory) = begin(plan.source, moment)?;
    let is_address = plan.decode == Decode::AddressOf;
    let is_followed = !plan.follow.is_empty();
    if in_memory && (is_followed || !is_address) {
        chain = chain.load(if is_followed { 8 } else { bytes })?;
    } else if !in_memory && !is_followed && is_address {
        return Err("takes the address of a register");
    }
    follow(chain, plan)?.value(bytes, kind)
}

/// Follows the pointers of a plan from its first word.
fn follow(mut chain: Chain, plan: &ReadPlan) -> Result<Chain, &'static str> {
    let Some((last, pointers)) = plan.follow.split_last() else {
        return Ok(chain);
    };
    for step in pointers {
        chain = chain.behind(offset_of(*step)?)?.load(8)?;
    }
    chain = chain.behind(offset_of(*last)?)?;
    match plan.decode {
        Decode::AddressOf => Ok(chain),
        decode => chain.load(kind_of(decode)?.0),
    }
}

/// Returns the size of a value in bytes and its kind.
fn kind_of(decode: Decode) -> Result<(u8, WordKind), &'static str> {
    Ok(match decode {
        Decode::Signed(bytes) => (bytes, WordKind::Signed),
        Decode::Unsigned(bytes) => (bytes, WordKind::Unsigned),
        Decode::Bool(bytes) => (bytes, WordKind::Boolean),
        Decode::Address | Decode::AddressOf => (8, WordKind::Address),
        Decode::SignedBits { .. } | Decode::UnsignedBits { .. } | Decode::BoolBits { .. } => {
            return Err("reads a bit field");
        }
        Decode::Float32 | Decode::Float64 => return Err(FRACTION),
        Decode::StringPointer(_) | Decode::StringInPlace { .. } => return Err("reads text"),
    })
}

fn offset_of(step: Step) -> Result<i64, &'static str> {
    match step {
        Step::Behind(offset) => Ok(offset),
        Step::Part(..) => Err("goes to a virtual base class"),
    }
}

/// Returns the first word of a plan, and whether it is the address of the location.
fn begin(source: Source, moment: Moment) -> Result<(Chain, bool), &'static str> {
    // At the entry the return address is between the stack pointer and the frame.
    let above_stack = match moment {
        Moment::Entry => 8,
        Moment::End => 0,
    };
    Ok(match source {
        Source::Register { number, shift: 0 } => (Chain::register(number)?, false),
        Source::Register { .. } => return Err("reads a part of a register"),
        Source::Vector { .. } => return Err("reads a vector register"),
        Source::Frame { offset } => {
            let offset = offset.checked_add(above_stack).ok_or(TOO_FAR)?;
            (Chain::stack(offset)?, true)
        }
        Source::Absolute { address } => (Chain::new(Origin::Constant(address)), true),
        Source::Constant { bits } => (Chain::new(Origin::Constant(bits)), false),
        Source::OptimizedOut => return Err("reads what the compiler has left out"),
    })
}
