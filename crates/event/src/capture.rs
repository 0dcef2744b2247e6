//! What is read from the debuggee when an event happens.
//!
//! The forms are those of Jakse, Falcone and Méhaut, figure 5 (`v`, `*p`,
//! `&p`, `arg i`, `^p`, `ret`), with fields, constant indices, conversions and
//! what belongs to the moment itself added.

use std::fmt;
use std::ops::Range;

/// One value that an event carries, and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Capture {
    /// The name by which guards, updates and reports know it.
    pub name: Box<str>,
    /// How it is read.
    pub read: Read,
    /// True when the user did not declare it: it stands for a place that a
    /// guard or update reads (`queue->count`), and is read only in states
    /// that need it.
    pub hoisted: bool,
    /// Where in the property source it stands, in bytes.
    pub span: Range<usize>,
}

/// A place in the debuggee, as seen from the event.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Read {
    /// A parameter of the function or a variable visible in it, by name.
    Name(Box<str>),
    /// The argument at this position, counted from 1, by the calling convention.
    Argument(u8),
    /// The value that the call returned; in events after a call only.
    Return,
    /// The same read, in the frame of the caller: `^p`.
    Caller(Box<Read>),
    /// What the pointer points to: `*p`.
    Dereference(Box<Read>),
    /// The address of a place: `&p`.
    AddressOf(Box<Read>),
    /// A field: `p.field`. `p->field` is a field of a dereference.
    Field(Box<Read>, Box<str>),
    /// An element: `p[3]`.
    Index(Box<Read>, i64),
    /// The elements from one up to, not including, another, as a sequence:
    /// `p[0..81]`.
    Elements(Box<Read>, i64, i64),
    /// More than a place: an expression of the prompt over what the event sees, as it
    /// is written (`(struct node *)p`, `ages["ann"]`).
    Expression(Box<str>),
    /// What is computed with other values of the event alone, in the types that these
    /// have in the program. It is not captured where they have none, or where whole
    /// numbers without bounds come to the same; it has no value where the types have none.
    Arithmetic(Arithmetic),
    /// The bytes read as this type, whatever the debug information says.
    Convert(Box<Read>, Conversion),
    /// The number of the thread in which it happened.
    Thread,
    /// When it happened, in nanoseconds since the start of the run.
    Time,
    /// The name of the function that made the call, or of its module.
    CallerName,
    /// Where the call returns to.
    ReturnAddress,
    /// The value that was read or is stored at the place that is watched.
    Value,
    /// The value that was stored there before.
    Old,
    /// The address of the place that is watched.
    Place,
    /// The number of the signal.
    Number,
    /// The exit status of the program.
    Status,
    /// The file name of the module.
    ModuleName,
    /// Which element of the range that is watched: its index.
    Position,
    /// The process that sent the signal; 0 where the kernel did.
    Sender,
    /// Why the signal was sent: `si_code`.
    Code,
    /// What is added to the addresses in the module's file.
    Base,
    /// The function that a thread was started to run.
    StartRoutine,
    /// Its name.
    StartFunction,
}

/// An operation on values of an event.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Arithmetic {
    /// The operation as an expression, in which `$0` stands for the first operand.
    pub text: Box<str>,
    /// What the operands read: other captures of the same event.
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
    /// True for what belongs to the moment, not to a place of the debuggee.
    pub fn is_of_moment(&self) -> bool {
        matches!(
            self,
            Read::Thread
                | Read::Time
                | Read::CallerName
                | Read::ReturnAddress
                | Read::Value
                | Read::Old
                | Read::Place
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

/// A type that a property gives to a value (`size: u64 = arg 1`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Conversion {
    /// A signed integer of 1, 2, 4 or 8 bytes.
    Signed {
        /// Its width in bytes.
        bytes: u8,
    },
    /// An unsigned integer of 1, 2, 4 or 8 bytes.
    Unsigned {
        /// Its width in bytes.
        bytes: u8,
    },
    /// A truth value: false when all its bytes are zero.
    Bool,
    /// A `float`; as an argument it is passed in a vector register.
    Float32,
    /// A `double`; as an argument it is passed in a vector register.
    Float64,
    /// A pointer, shown in hexadecimal.
    Address,
    /// A pointer to text that ends in a zero byte; the text is read.
    Text,
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
            Conversion::Text => f.write_str("text"),
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
            Read::Place => f.write_str("address"),
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

/// What stands before a field or an index: these bind more tightly than the signs before
/// an operand.
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
}
