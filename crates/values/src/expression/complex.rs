//! Complex numbers of C: their operators and their parts (`__real__ z`, `__imag__ z`).
//!
//! They are computed part by part in the format of the parts, by the rules of ISO C (annex G.5) for
//! finite numbers.
//!
//! Invariant: an infinite part, or a part too large to be multiplied, whose result would differ
//! from the program's, gives an error.

use super::arithmetic::{Overflow, compute};
use super::promotion::{fits, is_float, of_result};
use crate::error::ValueError;
use crate::typed::{Number, Typed, complex_part, is_complex_integer};
use juror_language::BinaryOperator;
use juror_symbols::{Encoding, Memory, Type, TypeKind};

/// The operators of gcc and clang for the parts.
const REAL: &str = "__real__";
const IMAGINARY: &str = "__imag__";

/// Within these powers of two no part of a quotient overflows or underflows on the way.
const QUOTIENT_EXPONENT_MAX: f64 = 400.0;

/// Returns whether a type is complex.
pub fn is_complex(r#type: &Type) -> bool {
    let stripped = r#type.strip();
    match stripped.kind() {
        TypeKind::Base(Encoding::ComplexFloat) => true,
        TypeKind::Base(Encoding::Other) => is_complex_integer(&stripped),
        _ => false,
    }
}

/// Returns the type of the two parts.
fn part_type(r#type: &Type) -> Result<Type, ValueError> {
    let stripped = r#type.strip();
    let name = stripped.name();
    let part = match stripped.kind() {
        TypeKind::Base(Encoding::ComplexFloat) => complex_part(&stripped),
        _ => name.strip_prefix("complex ").and_then(Type::builtin),
    };
    let half = stripped.size().map(|size| size / 2);
    part.filter(|part| part.size() == half)
        .ok_or_else(|| format!("the parts of a `{name}` are shown, and not computed with").into())
}

/// Returns the part of a complex number by the operator's name, or `None` for any other name.
pub(super) fn part_named(value: &Typed, name: &str) -> Option<Result<Typed, ValueError>> {
    let is_second = match name {
        REAL => false,
        IMAGINARY => true,
        _ => return None,
    };
    if !is_complex(&value.r#type) {
        let why = format!("`{}` is no complex number", value.r#type.name());
        return Some(Err(why.into()));
    }
    Some(part_type(&value.r#type).map(|part| {
        let offset = part.size().unwrap_or(0) * u64::from(is_second);
        value.part(offset, part, None)
    }))
}

/// A complex number.
struct Complex {
    real: Number,
    imaginary: Number,
}

/// The type of a result, and of its parts.
struct Format {
    whole: Type,
    part: Type,
}

impl Complex {
    fn read(value: &Typed, memory: &dyn Memory) -> Result<Complex, ValueError> {
        if !is_complex(&value.r#type) {
            return Ok(Complex {
                real: value.number(memory)?,
                imaginary: Number::Int(0),
            });
        }
        let part = part_type(&value.r#type)?;
        let size = part.size().unwrap_or(0);
        Ok(Complex {
            real: value.part(0, part.clone(), None).number(memory)?,
            imaginary: value.part(size, part, None).number(memory)?,
        })
    }
}

/// Evaluates an operator if at least one operand is complex. Returns `None` otherwise.
pub(super) fn compute_complex(
    operator: BinaryOperator,
    first: &Typed,
    second: &Typed,
    memory: &dyn Memory,
) -> Option<Result<Typed, ValueError>> {
    (is_complex(&first.r#type) || is_complex(&second.r#type))
        .then(|| computed(operator, first, second, memory))
}

/// Evaluates `-z`.
pub(super) fn negated(value: &Typed, memory: &dyn Memory) -> Result<Typed, ValueError> {
    let format = Format {
        whole: value.r#type.clone(),
        part: part_type(&value.r#type)?,
    };
    let of = Complex::read(value, memory)?;
    let steps = Steps {
        format: &format,
        memory,
    };
    format.value(&Complex {
        real: steps.negative(of.real)?,
        imaginary: steps.negative(of.imaginary)?,
    })
}

fn computed(
    operator: BinaryOperator,
    first: &Typed,
    second: &Typed,
    memory: &dyn Memory,
) -> Result<Typed, ValueError> {
    use BinaryOperator::{Add, Divide, Equal, Multiply, NotEqual, Subtract};
    let format = Format::of(first, second)?;
    let (a, b) = (
        Complex::read(first, memory)?,
        Complex::read(second, memory)?,
    );
    let steps = Steps {
        format: &format,
        memory,
    };
    let is_real = !is_complex(&second.r#type);
    let result = match operator {
        Equal | NotEqual => {
            let same =
                |a, b| Ok(compute(Equal, Overflow::Error, a, b, memory)? == Number::Bool(true));
            let both: Result<bool, ValueError> =
                same(a.real, b.real).and_then(|real| Ok(real && same(a.imaginary, b.imaginary)?));
            let truth = Number::Bool(both? == (operator == Equal));
            return Typed::of_number(&truth).ok_or_else(|| "no C type holds the result".into());
        }
        Add | Subtract => Complex {
            real: steps.step(operator, a.real, b.real)?,
            imaginary: steps.step(operator, a.imaginary, b.imaginary)?,
        },
        Multiply | Divide if is_real => Complex {
            real: steps.step(operator, a.real, b.real.clone())?,
            imaginary: steps.step(operator, a.imaginary, b.real)?,
        },
        Multiply if !is_complex(&first.r#type) => Complex {
            real: steps.step(operator, a.real.clone(), b.real)?,
            imaginary: steps.step(operator, a.real, b.imaginary)?,
        },
        Multiply => steps.product(&a, &b)?,
        Divide => steps.quotient(&a, &b)?,
        _ => return Err(format!("`{operator}` does not apply to complex numbers").into()),
    };
    format.value(&result)
}

impl Format {
    /// Returns the format of the wider operand, as in C.
    fn of(first: &Typed, second: &Typed) -> Result<Format, ValueError> {
        let sides = [first, second].map(|side| {
            if is_complex(&side.r#type) {
                part_type(&side.r#type).map(|part| (Some(side.r#type.clone()), part))
            } else {
                Ok((None, side.r#type.strip()))
            }
        });
        let [first, second] = sides;
        let (first, second) = (first?, second?);
        let rank = |part: &Type| (is_float(part), part.size().unwrap_or(0));
        let (wider, other) = if rank(&first.1) >= rank(&second.1) {
            (first, second)
        } else {
            (second, first)
        };
        match (wider, other) {
            ((Some(whole), part), _) => Ok(Format { whole, part }),
            // An integer operand is converted to the parts' type if it fits.
            ((None, real), (Some(whole), part)) if !is_float(&real) => Ok(Format { whole, part }),
            ((None, real), (Some(_), part)) => Err(format!(
                "the result has parts of type `{}`; cast the real number: `({})x`",
                real.name(),
                part.name()
            )
            .into()),
            ((None, _), (None, _)) => Err("none of the two is a complex number".into()),
        }
    }

    fn value(&self, of: &Complex) -> Result<Typed, ValueError> {
        let size = self.part.size().unwrap_or(0) as usize;
        let mut bytes = Vec::with_capacity(2 * size);
        for number in [&of.real, &of.imaginary] {
            let number = match number {
                Number::Int(whole) if is_float(&self.part) => Number::Float(*whole as f64),
                number => number.clone(),
            };
            if let Number::Int(number) = number
                && !fits(number, &self.part)
            {
                return Err(
                    format!("a part of a `{}` does not hold {number}", self.whole.name()).into(),
                );
            }
            let part = of_result(&number, Some(self.part.clone()));
            let part = match part.map(|part| part.location) {
                Some(crate::typed::Location::Bytes(part)) if part.len() == size => part,
                _ => return Err("no C type holds the result".into()),
            };
            bytes.extend(part);
        }
        Ok(Typed::of_bytes(self.whole.clone(), bytes))
    }
}

/// Evaluates operators between parts, rounding each result to the format of a part.
struct Steps<'a> {
    format: &'a Format,
    memory: &'a dyn Memory,
}

impl Steps<'_> {
    fn step(&self, operator: BinaryOperator, a: Number, b: Number) -> Result<Number, ValueError> {
        let result = compute(operator, Overflow::Error, a, b, self.memory)?;
        Ok(match result {
            Number::Float(number) if self.format.part.size() == Some(4) => {
                Number::Float(f64::from(number as f32))
            }
            result => result,
        })
    }

    fn negative(&self, number: Number) -> Result<Number, ValueError> {
        Ok(match number {
            Number::Float(number) => Number::Float(-number),
            Number::Wide(number) => Number::Wide(number.negated()),
            number => self.step(BinaryOperator::Subtract, Number::Int(0), number)?,
        })
    }

    fn product(&self, a: &Complex, b: &Complex) -> Result<Complex, ValueError> {
        use BinaryOperator::{Add, Multiply, Subtract};
        let times = |a: &Number, b: &Number| self.step(Multiply, a.clone(), b.clone());
        let product = Complex {
            real: self.step(
                Subtract,
                times(&a.real, &b.real)?,
                times(&a.imaginary, &b.imaginary)?,
            )?,
            imaginary: self.step(
                Add,
                times(&a.real, &b.imaginary)?,
                times(&a.imaginary, &b.real)?,
            )?,
        };
        finite(product, [a, b])
    }

    /// Divides two complex numbers. Parts of type `float` are divided as doubles and rounded once.
    /// Larger ones are scaled by the larger part of the divisor (R. L. Smith, *Algorithm 116*), as
    /// the compilers' library does.
    fn quotient(&self, a: &Complex, b: &Complex) -> Result<Complex, ValueError> {
        use BinaryOperator::{Add, Divide, Multiply, Subtract};
        let step =
            |operator, a: Number, b: Number| compute(operator, Overflow::Error, a, b, self.memory);
        let times = |a: &Number, b: &Number| step(Multiply, a.clone(), b.clone());
        let parts = [&a.real, &a.imaginary, &b.real, &b.imaginary];
        if !parts.into_iter().all(is_moderate) {
            return Err("a part is too large or too small for this division".into());
        }
        let is_narrow = self.format.part.size() == Some(4) || !is_float(&self.format.part);
        let is_first_larger = double(&b.real).abs() >= double(&b.imaginary).abs();
        let (below, real, imaginary) = if is_narrow {
            (
                step(
                    Add,
                    times(&b.real, &b.real)?,
                    times(&b.imaginary, &b.imaginary)?,
                )?,
                step(
                    Add,
                    times(&a.real, &b.real)?,
                    times(&a.imaginary, &b.imaginary)?,
                )?,
                step(
                    Subtract,
                    times(&a.imaginary, &b.real)?,
                    times(&a.real, &b.imaginary)?,
                )?,
            )
        } else if is_first_larger {
            let ratio = step(Divide, b.imaginary.clone(), b.real.clone())?;
            (
                step(Add, times(&b.imaginary, &ratio)?, b.real.clone())?,
                step(Add, times(&a.imaginary, &ratio)?, a.real.clone())?,
                step(Subtract, a.imaginary.clone(), times(&a.real, &ratio)?)?,
            )
        } else {
            let ratio = step(Divide, b.real.clone(), b.imaginary.clone())?;
            (
                step(Add, times(&b.real, &ratio)?, b.imaginary.clone())?,
                step(Add, times(&a.real, &ratio)?, a.imaginary.clone())?,
                step(Subtract, times(&a.imaginary, &ratio)?, a.real.clone())?,
            )
        };
        let quotient = Complex {
            real: step(Divide, real, below.clone())?,
            imaginary: step(Divide, imaginary, below)?,
        };
        finite(quotient, [a, b])
    }
}

/// Returns the result if it is no NaN in either part, or if an operand already was.
fn finite(result: Complex, sides: [&Complex; 2]) -> Result<Complex, ValueError> {
    let is_none = |of: &Complex| !is_number(&of.real) || !is_number(&of.imaginary);
    if is_none(&result) && !sides.into_iter().any(is_none) {
        Err("the result is infinite, or one side is".into())
    } else {
        Ok(result)
    }
}

fn double(number: &Number) -> f64 {
    match number {
        Number::Float(number) => *number,
        Number::Wide(number) => number.double(),
        Number::Int(number) => *number as f64,
        Number::Bool(truth) => f64::from(u8::from(*truth)),
        Number::Pointer(..) => f64::NAN,
    }
}

fn is_number(number: &Number) -> bool {
    !double(number).is_nan()
}

fn is_moderate(number: &Number) -> bool {
    let number = double(number).abs();
    number == 0.0 || !number.is_nan() && number.log2().abs() <= QUOTIENT_EXPONENT_MAX
}
