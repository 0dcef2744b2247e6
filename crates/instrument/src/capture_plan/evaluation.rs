//! Captures that are not at a fixed offset: casts, elements of library types, variables of the
//! caller. They are expressions of the prompt, checked when the point is inserted. If possible they
//! are compiled to registers and addresses; the others are evaluated at the stop, which takes some
//! microseconds.
//!
//! Invariant: a name has its meaning at the event. After a call, parameters have their values at
//! entry, and the variables of the function that it returns to are not visible. An event that is
//! neither a call nor at a line sees only globals.

use super::returned::ReturnScope;
use super::value::{range_value, value_of};
use super::{CaptureError, CapturePlan};
use crate::condition::{Condition, NameContext, NoValue};
use juror_arch::abi;
use juror_debuggee::ThreadId;
use juror_event::{Capture, Conversion, Read, SymbolicEvent, Value};
use juror_language::{Expression, ExpressionKind};
use juror_monitor::lowering::WordCapture;
use juror_program::modules::Bound;
use juror_program::program::Program;
use juror_program::scope::FrameScope;
use juror_program::stack::frames::Frame;
use juror_symbols::{EntryPiece, EntryPieceLocation, EntryValue, Parameter, Type, Variable};
use juror_values::expression::{self, Scope};
use juror_values::typed::{Number, Typed};
use std::rc::Rc;

/// The largest parameter in memory that is kept from the entry, in bytes.
const KEPT_SIZE_MAX: u64 = 4_096;

/// The place of an event, which determines the meaning of names.
#[derive(Debug, Clone, Copy)]
pub(super) enum Site<'a> {
    /// A call of a function.
    Call(&'a Bound),
    /// The start of an inlined call.
    Line(u64, usize),
    /// No place in the program.
    Inlined(&'a InlinedSite),
    /// None of the program's.
    Free,
}

/// The start of an inlined call.
#[derive(Debug, Clone)]
pub struct InlinedSite {
    /// Its address in the process.
    pub address: u64,
    /// The level of the frame of the call; 0 is the innermost.
    pub level: usize,
    /// The parameters of the function, each with its location at that address.
    pub arguments: Rc<[Variable]>,
}

/// An expression that is evaluated at the stop.
#[derive(Debug, Clone)]
pub struct Evaluation {
    expression: Rc<Expression>,
    level: usize,
    frame_count: usize,
    conversion: Option<Conversion>,
    sees: Sees,
    /// The same value as a machine word, if it can be read from registers and memory alone.
    word: Option<WordCapture>,
}

#[derive(Debug, Clone)]
enum Sees {
    /// The frames of the thread.
    Frames,
    /// The frames of the thread; in the frame of the event only these parameters.
    Arguments(Rc<[Variable]>),
    /// Globals.
    Globals,
    /// The globals visible to the function that has returned, its values at entry, and its result.
    Returned {
        function: u64,
        entry: Box<[EntryName]>,
        result: Option<EntryValue>,
        /// The index of the value at entry that is the address of the result.
        address: Option<usize>,
    },
}

/// A parameter whose value at entry is kept.
#[derive(Debug, Clone)]
pub(super) struct EntryName {
    /// The name; `None` if the expression refers to it by position.
    pub(super) name: Option<Box<str>>,
    pub(super) position: u8,
    value: EntryValue,
}

/// Plans a capture as an expression.
pub(super) fn plan(
    event: &SymbolicEvent,
    capture: &Capture,
    site: Site<'_>,
    program: &Program,
) -> Result<CapturePlan, CaptureError> {
    let (read, conversion) = match &capture.read {
        Read::Convert(inner, conversion) => (&**inner, Some(*conversion)),
        read => (read, None),
    };
    let condition =
        Condition::of_capture(&read.to_string()).map_err(|diagnostic| match diagnostic {
            Some(diagnostic) => CaptureError::new(diagnostic.message),
            None => CaptureError::new("a value is missing"),
        })?;
    let expression = condition.expression();
    let sees = match site {
        Site::Call(bound) if event.kind.is_end_of_call() => returned_names(&expression, bound)?,
        Site::Call(_) | Site::Line(..) => Sees::Frames,
        Site::Inlined(site) => Sees::Arguments(Rc::clone(&site.arguments)),
        Site::Free => Sees::Globals,
    };
    let (address, level) = location_of(site, program);
    let result = match &sees {
        Sees::Returned { result, .. } => result.as_ref().map(|result| &result.r#type),
        _ => None,
    };
    let wrong = |error: expression::ExpressionError| CaptureError::new(error.message);
    let arguments = match &sees {
        Sees::Arguments(arguments) => Some(arguments),
        _ => None,
    };
    let context = NameContext {
        address,
        level,
        result,
        arguments,
    };
    if conversion.is_none()
        && let Some(found) = condition.no_value_at(program, context)
    {
        return Err(no_value_of_events(&found, &read.to_string()));
    }
    let check = condition.value_at(program, context);
    let check = check.map_err(wrong)?;
    // The elements of a range are numbers, even if the array is text.
    let is_range = matches!(expression.kind, ExpressionKind::Slice { .. });
    let is_compiled = !is_range
        && check.is_compiled()
        && conversion.is_none()
        && !matches!(sees, Sees::Returned { .. });
    let word = match sees {
        Sees::Frames if !is_range => check.word(conversion),
        _ => None,
    };
    let evaluation = Evaluation {
        expression,
        level,
        frame_count: condition.frame_count(),
        conversion,
        sees,
        word,
    };
    if matches!(evaluation.sees, Sees::Globals) && !is_compiled {
        only_globals(&evaluation.expression)?;
    }
    Ok(if is_compiled {
        CapturePlan::Compiled(check, evaluation)
    } else {
        CapturePlan::Evaluate(evaluation)
    })
}

/// Returns the address and the frame level at which the names of an event are looked up.
pub(super) fn location_of(site: Site<'_>, program: &Program) -> (u64, usize) {
    match site {
        Site::Call(bound) => {
            let address = bound.address();
            (address, program.modules.level_at(address))
        }
        Site::Line(address, level) => (address, level),
        Site::Inlined(site) => (site.address, site.level),
        Site::Free => (0, 0),
    }
}

/// Returns the error for a container or structure, which monitors cannot represent.
fn no_value_of_events(found: &NoValue, read: &str) -> CaptureError {
    let help = match found.instead.as_slice() {
        [] => "read a field or an element of it".to_owned(),
        [only] => format!("read {only}"),
        [first @ .., last] => format!("read {}, or {last}", first.join(", ")),
    };
    CaptureError {
        message: format!(
            "`{read}` is a `{}`: an event reads numbers, addresses, texts, and sequences of them",
            found.r#type.name()
        ),
        help: Some(help),
        is_final: true,
        lacks_parameter: false,
    }
}

/// Returns an error if the expression contains an argument or result, since the event is not a
/// call.
fn only_globals(expression: &Expression) -> Result<(), CaptureError> {
    let is_of_call = |part: &&Expression| {
        matches!(
            part.kind,
            ExpressionKind::Argument(_) | ExpressionKind::Return
        )
    };
    if expression.all_parts().iter().any(is_of_call) {
        Err(CaptureError {
            message: "an expression of arguments needs a call of a function".to_owned(),
            help: Some("read the argument by itself, and compute with it in guards".to_owned()),
            is_final: false,
            lacks_parameter: false,
        })
    } else {
        Ok(())
    }
}

/// Returns the names that an expression sees after the call of a function.
fn returned_names(expression: &Expression, bound: &Bound) -> Result<Sees, CaptureError> {
    let symbols = &bound.module.symbols;
    let mut entry: Vec<EntryName> = Vec::new();
    let mut has_result = false;
    for part in expression.all_parts() {
        let (name, found) = match &part.kind {
            ExpressionKind::Name(name) => {
                let parameter = Parameter::Name(name);
                let found = symbols.entry_value_plan(&bound.function, parameter);
                (Some(name.clone()), found.ok())
            }
            ExpressionKind::Argument(position) => {
                let parameter = Parameter::Position(usize::from(*position));
                let found = symbols.entry_value_plan(&bound.function, parameter);
                let value = found.map_err(|error| CaptureError::new(error.to_string()))?;
                (None, Some(value))
            }
            ExpressionKind::Return => {
                has_result = true;
                continue;
            }
            _ => continue,
        };
        let Some(value) = found else { continue };
        for piece in &value.location {
            if let EntryPieceLocation::Unavailable(reason) = &piece.location {
                return Err(CaptureError::new(reason.to_string()));
            }
        }
        let position = match part.kind {
            ExpressionKind::Argument(position) => position,
            _ => 0,
        };
        entry.push(EntryName {
            name,
            position,
            value,
        });
    }
    let mut address = None;
    let result = if has_result {
        Some(
            symbols
                .return_value_plan(&bound.function)
                .ok_or_else(|| CaptureError {
                    message: "the type of what the function returns is not known".to_owned(),
                    help: Some("build it with -g, or read `ret` by itself".to_owned()),
                    is_final: false,
                    lacks_parameter: false,
                })?,
        )
    } else {
        None
    };
    if let Some(register) = result.as_ref().and_then(|result| result.address_at_entry)
        && let Some(word) = Type::builtin("unsigned long")
    {
        address = Some(entry.len());
        let piece = EntryPiece {
            offset: 0,
            size: 8,
            location: EntryPieceLocation::Register(register),
        };
        entry.push(EntryName {
            name: None,
            position: 0,
            value: EntryValue {
                name: "".into(),
                r#type: word,
                location: std::iter::once(piece).collect(),
            },
        });
    }
    Ok(Sees::Returned {
        function: bound.address(),
        address,
        entry: entry.into(),
        result: result.map(|result| EntryValue {
            name: "ret".into(),
            r#type: result.r#type,
            location: result.location,
        }),
    })
}

impl Evaluation {
    /// Returns the value as a machine word of registers and memory, if it is one.
    pub(crate) fn word(&self) -> Option<&WordCapture> {
        self.word.as_ref()
    }

    /// Reads the values at entry that the evaluation uses after the call, in a thread at the
    /// function's first instruction.
    pub(crate) fn at_entry(&self, program: &Program, thread: ThreadId) -> Vec<Typed> {
        let Sees::Returned { entry, .. } = &self.sees else {
            return Vec::new();
        };
        if entry.is_empty() {
            return Vec::new();
        }
        let (frames, _) = program.backtrace(thread, 1);
        let stack = program.registers(thread).ok();
        let stack = stack.map(|registers| abi::frame_at_entry(registers.stack_pointer()));
        let kept = |name: &EntryName| match frames.first() {
            Some(frame) => kept(program, frame, &name.value, stack),
            None => Typed::missing(name.value.r#type.clone(), "the thread is gone"),
        };
        entry.iter().map(kept).collect()
    }

    /// Returns the number of values at entry that the evaluation uses.
    pub(crate) fn entry_count(&self) -> usize {
        match &self.sees {
            Sees::Returned { entry, .. } => entry.len(),
            _ => 0,
        }
    }

    /// Evaluates the expression in a stopped thread. `entry` has the values at entry.
    pub(crate) fn value(&self, program: &Program, thread: ThreadId, entry: &[Typed]) -> Value {
        let (mut frames, _) = match &self.sees {
            Sees::Globals => (Vec::new(), None),
            _ => {
                let (frames, end) = program.backtrace(thread, self.level + self.frame_count);
                (frames, Some(end))
            }
        };
        if let (Sees::Arguments(arguments), Some(frame)) = (&self.sees, frames.get_mut(self.level))
        {
            frame.arguments = Some(Rc::clone(arguments));
        }
        let scope = FrameScope {
            program,
            frames: &frames,
            level: self.level,
            convenience: &|_| None,
        };
        match &self.sees {
            Sees::Frames | Sees::Arguments(_) | Sees::Globals => {
                self.value_in(&scope, program, thread)
            }
            Sees::Returned {
                function,
                entry: names,
                result,
                address,
            } => {
                let home = program.frame_at(*function);
                let result = result.as_ref().zip(frames.first()).map(|(result, now)| {
                    let r#type = result.r#type.clone();
                    let kept = address.and_then(|at| entry.get(at));
                    match kept.map(|kept| kept.number(program)) {
                        Some(Ok(Number::Int(address)))
                            if let Ok(address) = u64::try_from(address) =>
                        {
                            Typed::in_memory(r#type, address)
                        }
                        _ => program.at_entry(now, r#type, &result.location, None),
                    }
                });
                let scope = ReturnScope {
                    home: FrameScope {
                        frames: home.as_slice(),
                        ..scope
                    },
                    caller: scope,
                    names,
                    entry,
                    result,
                };
                self.value_in(&scope, program, thread)
            }
        }
    }

    fn value_in(&self, scope: &dyn Scope, program: &Program, thread: ThreadId) -> Value {
        match expression::evaluate(&self.expression, scope) {
            Ok(value) if matches!(self.expression.kind, ExpressionKind::Slice { .. }) => {
                range_value(&value, scope, program, thread)
            }
            Ok(value) => value_of(&value, self.conversion, scope, program, thread),
            Err(error) => Value::Unavailable(error.why),
        }
    }
}

/// Returns the value of a parameter in a form that stays valid after the call's first instruction.
fn kept(program: &Program, frame: &Frame, value: &EntryValue, stack: Option<u64>) -> Typed {
    let found = program.at_entry(frame, value.r#type.clone(), &value.location, stack);
    // The function may reuse the stack slot of an argument.
    let is_own = matches!(
        value.location.first().map(|piece| &piece.location),
        Some(EntryPieceLocation::Stack(_))
    );
    let size = value.r#type.size().filter(|size| *size <= KEPT_SIZE_MAX);
    match size.filter(|_| is_own) {
        Some(size) => match found.bytes(program, size) {
            Ok(bytes) => Typed::of_bytes(found.r#type, bytes),
            Err(why) => Typed::missing(found.r#type, why),
        },
        None => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_no_event_has_is_refused_with_all_alternatives() {
        let help = |instead: &[&str]| {
            let found = NoValue {
                r#type: Type::void(),
                instead: instead.iter().map(|&it| it.to_owned()).collect(),
            };
            let error = no_value_of_events(&found, "queue");
            assert!(error.is_final && error.message.starts_with("`queue` is a `void`"));
            error.help.unwrap_or_default()
        };
        assert_eq!(help(&[]), "read a field or an element of it");
        assert_eq!(help(&["its address"]), "read its address");
        assert_eq!(help(&["a", "b", "c"]), "read a, b, or c");
    }

    #[test]
    fn an_expression_of_arguments_needs_a_call() {
        for (text, expected) in [
            ("count + 1", true),
            ("arg 1 + 1", false),
            ("table[arg 2]", false),
            ("ret * 2", false),
        ] {
            let condition = Condition::of_capture(text).expect("an expression");
            let found = only_globals(&condition.expression());
            assert_eq!(found.is_ok(), expected, "{text}");
        }
    }
}
