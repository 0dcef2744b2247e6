//! Values that are read from the debuggee when an event occurs.
//!
//! The forms are those of Jakse, Falcone and Méhaut, figure 5 (`v`, `*p`, `&p`, `arg
//! i`, `^p`, `ret`), extended with fields, constant indices, conversions and the
//! context values of an event (its thread, time, caller, …).

use std::fmt;
use std::ops::Range;

/// A value that an event carries, and its source.
#[derive(Debug, Clone, PartialEq)]
pub struct Capture {
    /// The name used in guards, updates and reports.
    pub name: Box<str>,
    /// The source of the value.
    pub read: Read,
    /// True if the user did not declare the capture: it stands for a location that a
    /// guard or update reads (`queue->count`), and is read only in states that need it.
    pub hoisted: bool,
    /// The position in the property source, in bytes.
    pub span: Range<usize>,
}

/// A value of the debuggee, as seen from the event.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Read {
    /// A parameter of the function or a variable visible in it, by name.
    Name(Box<str>),
    /// The argument at this position, counted from 1, according to the calling
    /// convention.
    Argument(u8),
    /// The return value; only in events after a call.
    Return,
    /// The same read, in the frame of the caller: `^p`.
    Caller(Box<Read>),
    /// The target of a pointer: `*p`.
    Dereference(Box<Read>),
    /// The address of a location: `&p`.
    AddressOf(Box<Read>),
    /// A field: `p.field`. `p->field` is a field of a dereference.
    Field(Box<Read>, Box<str>),
    /// An element: `p[3]`.
    Index(Box<Read>, i64),
    /// The elements from the first index up to but excluding the second, as a sequence:
    /// `p[0..81]`.
    Elements(Box<Read>, i64, i64),
    /// A source expression that is more than a location, evaluated by the prompt's
    /// evaluator in the scope of the event (`(struct node *)p`, `ages["ann"]`).
    Expression(Box<str>),
    /// An operation on other values of the same event, computed in their types in the
    /// program. It is not captured if these types are unknown or if unbounded integers
    /// give the same result; it has no value if the operation is undefined for the
    /// types.
    Arithmetic(Arithmetic),
    /// The bytes read as this type, whatever the debug information says.
    Convert(Box<Read>, Conversion),
    /// The number of the thread in which the event occurred.
    Thread,
    /// The time of the event, in nanoseconds since the start of the run.
    Time,
    /// The name of the calling function, or of its module if the function has no name.
    CallerName,
    /// The return address of the call.
    ReturnAddress,
    /// The value that is read from or written to the watched location.
    Value,
    /// The value of the watched location before the write.
    Old,
    /// The address of the watched location.
    WatchedAddress,
    /// The number of the signal.
    Number,
    /// The exit status of the program.
    Status,
    /// The file name of the module.
    ModuleName,
    /// The index of the accessed element in a watched range.
    Position,
    /// The process that sent the signal; 0 for the kernel.
    Sender,
    /// The reason for the signal: `si_code`.
    Code,
    /// The difference between run-time addresses and addresses in the module's file.
    Base,
    /// The address of the function that the thread was started to run.
    StartRoutine,
    /// The name of that function.
    StartFunction,
}

/// An operation on values of an event.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Arithmetic {
    /// The operation as an expression in which `$0` stands for the first operand.
    pub text: Box<str>,
    /// The operands: other captures of the same event.
    pub operands: Box<[Read]>,
}

impl fmt::Display for Arithmetic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pieces = self.text.split('$');
        f.write_str(pieces.next().unwrap_or_default())?;
        for piece in pieces {
            let end = piece.find(|it: char| !it.is_ascii_digit());
            let (number, rest) = piece.split_at(end.unwrap_or(piece.len()));
            let number = number.parse::<usize>().ok();
            match number.and_then(|number| self.operands.get(number)) {
                Some(Read::Convert(inner, to)) => write!(f, "({to}){}", Operand(inner))?,
                Some(read) => Operand(read).fmt(f)?,
                None => f.write_str("?")?,
            }
            f.write_str(rest)?;
        }
        Ok(())
    }
}

impl Read {
    /// Returns true for context values, which belong to the event and not to a
    /// location.
    pub fn is_context_value(&self) -> bool {
        matches!(
            self,
            Read::Thread
                | Read::Time
                | Read::CallerName
                | Read::ReturnAddress
                | Read::Value
                | Read::Old
                | Read::WatchedAddress
                | Read::Number
                | Read::Status
                | Read::ModuleName
                | Read::Position
                | Read::Sender
                | Read::Code
                | Read::Base
                | Read::StartRoutine
                | Read::StartFunction
        )
    }
}

/// A type that a property assigns to a value (`size: u64 = arg 1`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Conversion {
    /// A signed integer of 1, 2, 4 or 8 bytes.
    Signed {
        /// The width in bytes.
        bytes: u8,
    },
    /// An unsigned integer of 1, 2, 4 or 8 bytes.
    Unsigned {
        /// The width in bytes.
        bytes: u8,
    },
    /// A truth value: false if all its bytes are zero.
    Bool,
    /// A `float`; as an argument it is passed in a vector register.
    Float32,
    /// A `double`; as an argument it is passed in a vector register.
    Float64,
    /// A pointer, shown in hexadecimal.
    Address,
    /// A pointer to a string that ends in a zero byte; the string is read.
    String,
}

impl fmt::Display for Conversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Conversion::Signed { bytes } => write!(f, "i{}", u32::from(*bytes) * 8),
            Conversion::Unsigned { bytes } => write!(f, "u{}", u32::from(*bytes) * 8),
            Conversion::Bool => f.write_str("bool"),
            Conversion::Float32 => f.write_str("f32"),
            Conversion::Float64 => f.write_str("f64"),
            Conversion::Address => f.write_str("address"),
            Conversion::String => f.write_str("text"),
        }
    }
}

impl fmt::Display for Read {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Read::Name(name) => f.write_str(name),
            Read::Argument(position) => write!(f, "arg {position}"),
            Read::Return => f.write_str("ret"),
            Read::Caller(inner) => write!(f, "^{inner}"),
            Read::Dereference(inner) => write!(f, "*{inner}"),
            Read::AddressOf(inner) => write!(f, "&{inner}"),
            Read::Field(inner, field) => match &**inner {
                Read::Dereference(pointer) => write!(f, "{}->{field}", Operand(pointer)),
                _ => write!(f, "{}.{field}", Operand(inner)),
            },
            Read::Index(inner, index) => write!(f, "{}[{index}]", Operand(inner)),
            Read::Elements(inner, start, end) => {
                write!(f, "{}[{start}..{end}]", Operand(inner))
            }
            Read::Expression(text) => f.write_str(text),
            Read::Arithmetic(arithmetic) => arithmetic.fmt(f),
            Read::Convert(inner, _) => write!(f, "{inner}"),
            Read::Thread => f.write_str("thread"),
            Read::Time => f.write_str("time"),
            Read::CallerName => f.write_str("caller"),
            Read::ReturnAddress => f.write_str("return_address"),
            Read::Value => f.write_str("value"),
            Read::Old => f.write_str("old"),
            Read::WatchedAddress => f.write_str("address"),
            Read::Number => f.write_str("number"),
            Read::Status => f.write_str("status"),
            Read::ModuleName => f.write_str("name"),
            Read::Position => f.write_str("index"),
            Read::Sender => f.write_str("sender"),
            Read::Code => f.write_str("code"),
            Read::Base => f.write_str("base"),
            Read::StartRoutine => f.write_str("start_routine"),
            Read::StartFunction => f.write_str("start_function"),
        }
    }
}

/// Writes a read as the operand of a field access or an index, with parentheses around
/// prefix operators, which bind less tightly.
struct Operand<'a>(&'a Read);

impl fmt::Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Read::Dereference(_)
            | Read::AddressOf(_)
            | Read::Expression(_)
            | Read::Arithmetic(_) => {
                write!(f, "({})", self.0)
            }
            read => read.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_written_as_they_are_read() {
        let p = || Box::new(Read::Name("p".into()));
        let pointee = || Box::new(Read::Dereference(p()));
        for (read, expected) in [
            (Read::Index(pointee(), 2), "(*p)[2]"),
            (Read::Dereference(Box::new(Read::Index(p(), 2))), "*p[2]"),
            (Read::Field(pointee(), "x".into()), "p->x"),
            (
                Read::Field(Box::new(Read::Dereference(pointee())), "x".into()),
                "(*p)->x",
            ),
            (Read::Elements(pointee(), 0, 4), "(*p)[0..4]"),
            (
                Read::Field(Box::new(Read::Expression("(node *)p".into())), "x".into()),
                "((node *)p).x",
            ),
            (
                Read::Arithmetic(Arithmetic {
                    text: "($0 - 1) > $1".into(),
                    operands: [
                        *pointee(),
                        Read::Convert(
                            Box::new(Read::Argument(2)),
                            Conversion::Unsigned { bytes: 4 },
                        ),
                    ]
                    .into(),
                }),
                "((*p) - 1) > (u32)arg 2",
            ),
        ] {
            assert_eq!(read.to_string(), expected);
        }
    }

    #[test]
    fn context_values_have_a_word() {
        for (read, word) in [
            (Read::Thread, "thread"),
            (Read::Time, "time"),
            (Read::CallerName, "caller"),
            (Read::ReturnAddress, "return_address"),
            (Read::Value, "value"),
            (Read::Old, "old"),
            (Read::WatchedAddress, "address"),
            (Read::Number, "number"),
            (Read::Status, "status"),
            (Read::ModuleName, "name"),
            (Read::Position, "index"),
            (Read::Sender, "sender"),
            (Read::Code, "code"),
            (Read::Base, "base"),
            (Read::StartRoutine, "start_routine"),
            (Read::StartFunction, "start_function"),
        ] {
            assert!(read.is_context_value(), "{word}");
            assert_eq!(read.to_string(), word);
        }
    }

    #[test]
    fn locations_are_no_context_values() {
        let p = || Box::new(Read::Name("p".into()));
        for (read, text) in [
            (*p(), "p"),
            (Read::Argument(2), "arg 2"),
            (Read::Return, "ret"),
            (Read::Caller(p()), "^p"),
            (Read::AddressOf(p()), "&p"),
            (Read::Field(p(), "x".into()), "p.x"),
            (
                Read::Field(Box::new(Read::AddressOf(p())), "x".into()),
                "(&p).x",
            ),
            (Read::Expression("ages[3]".into()), "ages[3]"),
            (Read::Convert(p(), Conversion::Bool), "p"),
        ] {
            assert!(!read.is_context_value(), "{text}");
            assert_eq!(read.to_string(), text);
        }
    }

    #[test]
    fn conversions_are_written_as_types() {
        for (conversion, word) in [
            (Conversion::Signed { bytes: 2 }, "i16"),
            (Conversion::Unsigned { bytes: 8 }, "u64"),
            (Conversion::Bool, "bool"),
            (Conversion::Float32, "f32"),
            (Conversion::Float64, "f64"),
            (Conversion::Address, "address"),
            (Conversion::String, "text"),
        ] {
            assert_eq!(conversion.to_string(), word);
        }
    }

    #[test]
    fn an_operand_that_is_not_there_is_marked() {
        let arithmetic = Arithmetic {
            text: "$0 + $1".into(),
            operands: [Read::Value].into(),
        };
        assert_eq!(arithmetic.to_string(), "value + ?");
    }
}
