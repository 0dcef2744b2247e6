//! A compiled expression, in which names are replaced by registers, addresses and constants.
//!
//! Invariant: evaluation allocates nothing, except for the message of an arithmetic error, after
//! which the program stays stopped.

use juror_language::BinaryOperator;
use juror_values::expression::arithmetic::{Overflow, floats, integers};
use juror_values::read_plan::{Machine, VirtualPart};
use std::sync::Arc;

/// The longest piece of text that a comparison reads at once, in bytes. Pieces end at multiples of
/// it, so none crosses a page.
const STRING_PIECE: usize = 64;

/// A number or boolean of the debuggee.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scalar {
    Int(i128),
    Float(f64),
    Bool(bool),
    Address(u64),
}

impl Scalar {
    pub(super) fn is_true(self) -> bool {
        match self {
            Scalar::Int(number) => number != 0,
            Scalar::Float(number) => number != 0.0,
            Scalar::Bool(truth) => truth,
            Scalar::Address(address) => address != 0,
        }
    }

    fn whole(self) -> Option<i128> {
        match self {
            Scalar::Int(number) => Some(number),
            Scalar::Bool(truth) => Some(i128::from(truth)),
            Scalar::Address(address) => Some(i128::from(address)),
            Scalar::Float(_) => None,
        }
    }

    fn float(self) -> Option<f64> {
        match self {
            Scalar::Float(number) => Some(number),
            Scalar::Int(number) => Some(number as f64),
            Scalar::Bool(truth) => Some(f64::from(u8::from(truth))),
            Scalar::Address(_) => None,
        }
    }
}

/// Eight bytes of a register or of memory.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Word {
    Constant(u64),
    /// A general register, by its DWARF number.
    Register(u8),
    /// The low half of a vector register; 0 is `xmm0`.
    Vector(u8),
    /// So many bytes of memory at an address.
    Load(Box<Word>, u8),
    /// An address at a constant distance from another one.
    Offset(Box<Word>, i64),
    /// The address of the element with an index; the number is the size of an element in bytes.
    Element(Box<Word>, Box<Node>, u64),
    /// The address of a virtual base class of the object at an address.
    Part(Box<Word>, VirtualPart),
    /// A computed number.
    Computed(Box<Node>),
    /// The value that an event has captured in a slot; a floating-point number is converted to so
    /// many bytes.
    Captured(u8, u8),
}

impl Word {
    /// Returns the address at a distance of `bytes` from this one.
    pub(super) fn offset(self, bytes: i64) -> Word {
        match self {
            _ if bytes == 0 => self,
            Word::Constant(address) => Word::Constant(address.wrapping_add_signed(bytes)),
            Word::Offset(base, before) => Word::Offset(base, before.wrapping_add(bytes)),
            base => Word::Offset(Box::new(base), bytes),
        }
    }

    fn evaluate(&self, machine: &impl Machine) -> Option<u64> {
        Some(match self {
            Word::Constant(bits) => *bits,
            Word::Register(number) => machine.register(*number),
            Word::Vector(number) => machine.vector(*number)?,
            Word::Load(address, size) => {
                let mut bytes = [0; 8];
                let wanted = bytes.get_mut(..usize::from(*size))?;
                if !machine.read(address.evaluate(machine)?, wanted) {
                    return None;
                }
                u64::from_le_bytes(bytes)
            }
            Word::Offset(base, bytes) => base.evaluate(machine)?.wrapping_add_signed(*bytes),
            Word::Element(base, index, size) => {
                let index = match index.evaluate(machine)? {
                    Scalar::Int(index) => index,
                    Scalar::Bool(truth) => i128::from(truth),
                    Scalar::Float(_) | Scalar::Address(_) => return None,
                };
                let distance = index.checked_mul(i128::from(*size))?;
                let address = i128::from(base.evaluate(machine)?).checked_add(distance)?;
                u64::try_from(address).ok()?
            }
            Word::Part(object, part) => part.find(machine, object.evaluate(machine)?).ok()?,
            Word::Captured(slot, bytes) => machine.captured(*slot, *bytes)?,
            Word::Computed(node) => u64::try_from(node.evaluate(machine)?.whole()?).ok()?,
        })
    }
}

/// The decoding of a word as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    Signed { shift: u8, bits: u8 },
    Unsigned { shift: u8, bits: u8 },
    Bool { shift: u8, bits: u8 },
    Float32,
    Float64,
    Address,
}

impl Reading {
    fn read(self, word: u64) -> Scalar {
        let cut = |shift: u8, bits: u8| {
            let unused = 64 - u32::from(bits.clamp(1, 64));
            ((word >> shift.min(63)) << unused, unused)
        };
        match self {
            Reading::Signed { shift, bits } => {
                let (high, unused) = cut(shift, bits);
                Scalar::Int(i128::from((high as i64) >> unused))
            }
            Reading::Unsigned { shift, bits } => {
                let (high, unused) = cut(shift, bits);
                Scalar::Int(i128::from(high >> unused))
            }
            Reading::Bool { shift, bits } => Scalar::Bool(cut(shift, bits).0 != 0),
            Reading::Float32 => Scalar::Float(f64::from(f32::from_bits(word as u32))),
            Reading::Float64 => Scalar::Float(f64::from_bits(word)),
            Reading::Address => Scalar::Address(word),
        }
    }
}

/// A number that is computed at a hit.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Constant(Scalar),
    Read(Word, Reading),
    Not(Box<Node>),
    Negate(Overflow, Box<Node>),
    /// The bitwise complement, limited to so many bits for an unsigned operand.
    Complement(Box<Node>, Option<u8>),
    Both(Box<Node>, Box<Node>),
    /// The second node if the first is true, and the third otherwise.
    Conditional(Box<[Node; 3]>),
    Either(Box<Node>, Box<Node>),
    /// An operator, with its treatment of overflow.
    Binary(BinaryOperator, Overflow, Box<Node>, Box<Node>),
    /// A number rounded to `float`.
    Rounded(Box<Node>),
    /// The number of elements of so many bytes between two addresses.
    Distance(Box<Node>, Box<Node>, u64),
    /// A number truncated to a type.
    Wrapped(Box<Node>, Reading),
    /// Whether the bytes at an address equal the text, which ends with its terminator; negated if
    /// the flag is false.
    IsString(Word, Arc<[u8]>, bool),
}

/// The kind of number that a node results in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberClass {
    Whole,
    Float,
    Truth,
    Address,
}

impl Node {
    /// Returns the kind of its number.
    pub(super) fn class(&self) -> NumberClass {
        let computed = |parts: &[&Node]| {
            let is_float = |part: &&Node| part.class() == NumberClass::Float;
            if parts.iter().any(is_float) {
                NumberClass::Float
            } else {
                NumberClass::Whole
            }
        };
        match self {
            Node::Constant(scalar) => match scalar {
                Scalar::Int(_) => NumberClass::Whole,
                Scalar::Float(_) => NumberClass::Float,
                Scalar::Bool(_) => NumberClass::Truth,
                Scalar::Address(_) => NumberClass::Address,
            },
            Node::Read(_, reading) | Node::Wrapped(_, reading) => match reading {
                Reading::Signed { .. } | Reading::Unsigned { .. } => NumberClass::Whole,
                Reading::Bool { .. } => NumberClass::Truth,
                Reading::Float32 | Reading::Float64 => NumberClass::Float,
                Reading::Address => NumberClass::Address,
            },
            Node::Not(_) | Node::Both(..) | Node::Either(..) | Node::IsString(..) => {
                NumberClass::Truth
            }
            Node::Binary(operator, ..) if operator.is_comparison() => NumberClass::Truth,
            Node::Binary(_, _, left, right) => computed(&[left, right]),
            Node::Negate(_, operand) => computed(&[operand]),
            Node::Rounded(_) => NumberClass::Float,
            Node::Complement(..) | Node::Distance(..) => NumberClass::Whole,
            Node::Conditional(parts) => parts[1].class(),
        }
    }

    /// Returns whether integers without bounds, and floating-point numbers of 8 bytes, give the
    /// same result.
    pub(super) fn is_exact(&self) -> bool {
        use NumberClass::{Address, Float, Truth, Whole};
        let are_truths = |parts: &[&Node]| {
            let mut parts = parts.iter();
            parts.all(|part| part.class() == Truth && part.is_exact())
        };
        match self {
            Node::Constant(_) | Node::Read(Word::Captured(..) | Word::Constant(_), _) => true,
            Node::Read(Word::Computed(node), Reading::Address) => node.is_exact(),
            Node::Read(..) => false,
            Node::Not(operand) => are_truths(&[operand]),
            Node::Both(left, right) | Node::Either(left, right) => are_truths(&[left, right]),
            Node::Negate(overflow, operand) => {
                let is_number = matches!(operand.class(), Whole | Float);
                is_number && *overflow == Overflow::Error && operand.is_exact()
            }
            Node::Complement(operand, unsigned) => {
                unsigned.is_none() && operand.class() == Whole && operand.is_exact()
            }
            Node::Conditional(parts) => {
                let [condition, then, otherwise] = &**parts;
                are_truths(&[condition]) && then.is_exact() && otherwise.is_exact()
            }
            Node::Binary(operator, overflow, left, right) => {
                let are_alike = match (left.class(), right.class()) {
                    (Whole, Whole) if *overflow == Overflow::Error => true,
                    (Whole, Whole) => {
                        operator.is_comparison()
                            && left.is_never_negative()
                            && right.is_never_negative()
                    }
                    (Float, Float) if operator.is_comparison() => true,
                    (Float, Float | Whole) | (Whole, Float) => {
                        is_computed_in_floats(*operator, right)
                    }
                    (Address, Address) => operator.is_comparison(),
                    _ => false,
                };
                are_alike && left.is_exact() && right.is_exact()
            }
            Node::Rounded(_) | Node::Distance(..) | Node::Wrapped(..) | Node::IsString(..) => false,
        }
    }

    fn is_never_negative(&self) -> bool {
        match self {
            Node::Constant(Scalar::Int(number)) => *number >= 0,
            Node::Read(_, reading) => matches!(reading, Reading::Unsigned { .. }),
            _ => false,
        }
    }

    /// Returns its number, or `None` if a read or operation fails.
    pub(super) fn evaluate(&self, machine: &impl Machine) -> Option<Scalar> {
        let truth = |node: &Node| node.evaluate(machine).map(Scalar::is_true);
        Some(match self {
            Node::Constant(scalar) => *scalar,
            Node::Read(word, reading) => reading.read(word.evaluate(machine)?),
            Node::Not(operand) => Scalar::Bool(!truth(operand)?),
            Node::Negate(overflow, operand) => match operand.evaluate(machine)? {
                Scalar::Int(number) => fitting(overflow.applied_to(number.checked_neg()?))?,
                Scalar::Bool(truth) => Scalar::Int(-i128::from(truth)),
                Scalar::Float(number) => Scalar::Float(-number),
                Scalar::Address(_) => return None,
            },
            Node::Complement(operand, unsigned) => {
                let number = match operand.evaluate(machine)? {
                    Scalar::Int(number) => number,
                    Scalar::Bool(truth) => i128::from(truth),
                    Scalar::Float(_) | Scalar::Address(_) => return None,
                };
                fitting(match unsigned {
                    Some(bits) if (0..1 << bits).contains(&number) => !number & ((1 << bits) - 1),
                    _ => !number,
                })?
            }
            Node::Both(left, right) => Scalar::Bool(truth(left)? && truth(right)?),
            Node::Either(left, right) => Scalar::Bool(truth(left)? || truth(right)?),
            Node::Rounded(operand) => match operand.evaluate(machine)? {
                Scalar::Float(number) => Scalar::Float(f64::from(number as f32)),
                Scalar::Int(number) => Scalar::Float(f64::from(number as f32)),
                Scalar::Bool(truth) => Scalar::Float(f64::from(u8::from(truth))),
                Scalar::Address(_) => return None,
            },
            Node::Conditional(parts) => {
                let [condition, then, otherwise] = &**parts;
                if truth(condition)? {
                    then.evaluate(machine)?
                } else {
                    otherwise.evaluate(machine)?
                }
            }
            Node::Binary(operator, overflow, left, right) => {
                let (left, right) = (left.evaluate(machine)?, right.evaluate(machine)?);
                compute(*operator, *overflow, left, right)?
            }
            Node::Distance(left, right, size) => {
                let (left, right) = (left.evaluate(machine)?, right.evaluate(machine)?);
                let bytes = left.whole()?.checked_sub(right.whole()?)?;
                fitting(bytes / i128::from((*size).max(1)))?
            }
            Node::Wrapped(operand, reading) => {
                reading.read(operand.evaluate(machine)?.whole()? as u64)
            }
            Node::IsString(address, text, equal) => {
                let address = address.evaluate(machine)?;
                Scalar::Bool(is_string(machine, address, text)? == *equal)
            }
        })
    }
}

/// Returns whether monitors compute an operator on floating-point numbers as the program does.
/// Division by zero is an error of the monitor, and gives infinity or NaN in the program.
fn is_computed_in_floats(operator: BinaryOperator, right: &Node) -> bool {
    use BinaryOperator::{Add, Divide, Multiply, Subtract};
    match operator {
        Add | Subtract | Multiply => true,
        Divide => matches!(right, Node::Constant(divisor) if divisor.is_true()),
        _ => false,
    }
}

fn compute(
    operator: BinaryOperator,
    overflow: Overflow,
    left: Scalar,
    right: Scalar,
) -> Option<Scalar> {
    let is_float = |scalar| matches!(scalar, Scalar::Float(_));
    let number = if is_float(left) || is_float(right) {
        floats(operator, left.float()?, right.float()?)
    } else {
        integers(operator, overflow, left.whole()?, right.whole()?)
    };
    use juror_values::typed::Number;
    match number.ok()? {
        Number::Int(number) => fitting(number),
        Number::Float(number) => Some(Scalar::Float(number)),
        Number::Wide(_) => None,
        Number::Bool(truth) => Some(Scalar::Bool(truth)),
        Number::Pointer(address, _) => Some(Scalar::Address(address)),
    }
}

/// Returns a number, or `None` if no C type represents it, which is an error at the prompt.
fn fitting(number: i128) -> Option<Scalar> {
    let fits = i64::try_from(number).is_ok() || u64::try_from(number).is_ok();
    fits.then_some(Scalar::Int(number))
}

/// Returns whether the bytes at an address equal `text`, including its terminator, or `None` if
/// they cannot be read.
fn is_string(machine: &impl Machine, address: u64, text: &[u8]) -> Option<bool> {
    let mut done = 0;
    let mut buffer = [0; STRING_PIECE];
    loop {
        let at = address.wrapping_add(done as u64);
        let rest = text.get(done..)?;
        let room = STRING_PIECE - (at as usize % STRING_PIECE);
        if rest.is_empty() {
            return Some(true);
        }
        let piece = buffer.get_mut(..room.min(rest.len()))?;
        // The text may end just before unmapped memory: the rest is read byte by byte.
        let count = if machine.read(at, piece) {
            piece.len()
        } else {
            1
        };
        let piece = piece.get_mut(..count)?;
        if count == 1 && !machine.read(at, piece) {
            return None;
        }
        if rest.get(..count)? != piece {
            return Some(false);
        }
        done += count;
    }
}

#[cfg(test)]
mod tests;
