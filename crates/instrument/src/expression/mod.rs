//! Expressions of the prompt, evaluated over the debuggee's typed values.
//!
//! Integers are exact: C's types say how bytes are read, and an overflow of exact
//! arithmetic is an error. C's types without a sign wrap, as they do in C. The expression's syntax is the
//! property language's; what a name means comes from the caller ([`Scope`]).

mod access;
mod alternative;
pub(crate) mod arithmetic;
pub(crate) mod call;
mod complex;
mod conditional;
mod length;
mod member;
mod member_of;
mod named_cast;
mod overload;
pub(crate) mod promotion;
mod slice;
mod static_type;
mod text;
mod unsigned;
mod vector;
mod viewed;

pub(crate) use access::element_type;
pub use access::{address_of, dereference, element};
pub use overload::Overload;
pub(crate) use overload::function_at;

use crate::upcast::{base_part, cast_address, referred_to};
use crate::value_error::ValueError;
use crate::views::Views;
use access::{field_of, indexed, pointed_to};
use alternative::compare_with_alternative;
pub(crate) use alternative::names_alternative;
pub(crate) use complex::is_complex;
pub(crate) use length::{REFERENCES_MAX, array_length, behind_reference, no_length};
pub(crate) use member_of::names_member;
use named_cast::{converted_type_named, named_cast};
use slice::elements;
use text::compare_with_text;
pub(crate) use text::{text_in_array, text_of, whole_text};
use viewed::{Key, Reach};

use crate::member_pointer;
use crate::typed::{Memory, Number, Place, Typed};
use crate::wide::{Wide, is_quad};
use crate::written_type::written_type;
use arithmetic::compute;
use call::{Request, call};
use conditional::conditional;
use juror_event::{Unavailability, Value};
use juror_language::{BinaryOperator, Expression, ExpressionKind, TypeName, UnaryOperator};
use juror_symbols::{Type, TypeKind};
use promotion::{
    common_type, literal_type, may_be_wider, of_bit_field, of_result, overflow_in, promoted,
};
pub(crate) use static_type::static_type;
use std::ops::Range;

/// The most elements that `p@n` and `a[i..j]` take.
const ELEMENTS_MAX: i128 = 1 << 16;

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExpressionError {
    /// What is wrong.
    pub message: String,
    /// Why, as monitors know it.
    pub why: Unavailability,
    /// Where, in bytes of the expression.
    pub span: Range<usize>,
}

impl ExpressionError {
    /// Of the part of the expression that is there.
    pub fn new(why: impl Into<ValueError>, span: &Range<usize>) -> ExpressionError {
        let error: ValueError = why.into();
        ExpressionError {
            message: error.to_string(),
            why: error.unavailability(),
            span: span.clone(),
        }
    }
}

/// What names mean.
pub trait Scope {
    /// A variable, parameter, global or function.
    fn name(&self, name: &str) -> Result<Typed, ValueError>;
    /// `$rip`, `$1`, `$`: what stands after the dollar.
    fn register(&self, name: &str) -> Result<Typed, ValueError>;
    /// The argument at a position, from 1, of the function that is being
    /// entered.
    fn argument(&self, position: u8) -> Result<Typed, ValueError>;
    /// The value that has just been returned.
    fn returned(&self) -> Result<Typed, ValueError>;
    /// The scope of the caller.
    fn caller(&self) -> Result<Box<dyn Scope + '_>, ValueError>;
    /// A type by name.
    fn type_named(&self, name: &str) -> Option<Type>;
    /// The debuggee's memory.
    fn memory(&self) -> &dyn Memory;
    /// How library types are shown, and gone through; nothing where they are
    /// as they are.
    fn views(&self) -> Option<&Views> {
        Some(Views::standard())
    }
    /// The type of Rust's trait objects whose table of methods is there.
    fn type_of_table(&self, address: u64) -> Option<Type> {
        let _ = address;
        None
    }
    /// Where the function of this name in the symbol table begins.
    fn function_linked(&self, linkage_name: &str) -> Option<u64> {
        let _ = linkage_name;
        None
    }
    /// Where the function `name` of a type begins, and the types of its
    /// parameters, `self` included.
    fn function_of(&self, type_name: &str, name: &str) -> Option<(u64, Vec<Type>)> {
        let _ = (type_name, name);
        None
    }
    /// All functions that a name means where it is no variable; also the instances of
    /// a template whose arguments it leaves out.
    fn overloads(&self, name: &str) -> Vec<Overload> {
        let _ = name;
        Vec::new()
    }
    /// The result of a call that has not been made. Most scopes make none.
    fn call(&self, request: Request) -> Result<Typed, ValueError> {
        let _ = request;
        Err("functions of the program cannot be called here".into())
    }
    /// What the call that stands there has returned, when it has.
    fn returned_from(&self, span: &Range<usize>) -> Option<Typed> {
        let _ = span;
        None
    }
    /// Whether the code at hand is of C++.
    fn is_cpp(&self) -> bool {
        false
    }
    /// What was found of the condition that stands there, before a call.
    fn decided(&self, span: &Range<usize>) -> Option<bool> {
        let _ = span;
        None
    }
    /// Takes note of that.
    fn decide(&self, span: &Range<usize>, truth: bool) {
        let _ = (span, truth);
    }
}

/// Evaluates an expression.
pub fn evaluate(expression: &Expression, scope: &dyn Scope) -> Result<Typed, ExpressionError> {
    let at = |result: Result<Typed, ValueError>| {
        result.map_err(|why| ExpressionError::new(why, &expression.span))
    };
    let missing = || ValueError::from("no C type holds this number");
    match &expression.kind {
        ExpressionKind::Integer(number) => {
            let r#type = Type::builtin(literal_type(*number));
            at(of_result(&Number::Int(*number), r#type).ok_or_else(missing))
        }
        ExpressionKind::Float(number) => {
            at(Typed::of_number(&Number::Float(*number)).ok_or_else(missing))
        }
        ExpressionKind::Bool(truth) => {
            at(Typed::of_number(&Number::Bool(*truth)).ok_or_else(missing))
        }
        ExpressionKind::Null => {
            at(Typed::of_number(&Number::Pointer(0, Type::void())).ok_or_else(missing))
        }
        ExpressionKind::Text(_) => at(Err(
            "text can only be compared with text of the program: name == \"x\"".into(),
        )),
        ExpressionKind::Name(name) => at(scope.name(name)),
        ExpressionKind::Register(name) => at(scope.register(name)),
        ExpressionKind::Argument(position) => at(scope.argument(*position)),
        ExpressionKind::Return => at(scope.returned()),
        ExpressionKind::Unary {
            operator: UnaryOperator::Caller,
            operand,
        } => {
            let caller = scope
                .caller()
                .map_err(|why| ExpressionError::new(why, &expression.span))?;
            evaluate(operand, &*caller)
        }
        ExpressionKind::Unary {
            operator: UnaryOperator::AddressOf,
            operand,
        } if let Some(found) = member_of::address_of_member(operand, None, scope) => at(found),
        ExpressionKind::Unary { operator, operand } => {
            let value = match operator {
                UnaryOperator::Dereference => pointer(operand, scope)?,
                _ => part(operand, scope)?,
            };
            // The name of a function is its address already, as in C.
            if *operator == UnaryOperator::AddressOf && call::is_function(operand, &value, scope) {
                return Ok(value);
            }
            at(unary(*operator, operand, &value, scope))
        }
        ExpressionKind::Binary {
            operator,
            left,
            right,
        } => binary(expression, *operator, left, right, scope),
        ExpressionKind::Conditional {
            condition,
            then,
            otherwise,
        } => conditional(condition, then, otherwise, scope),
        ExpressionKind::Field {
            object,
            field,
            arrow,
        } => {
            let value = evaluate(object, scope)?;
            let object = at_referent(&value, object, scope)?;
            let found = field_of(&object, &field.text, *arrow, scope);
            // A person may take a reference for a pointer.
            let value = match found {
                Err(_) if *arrow && is_reference(&value) => {
                    found.or_else(|_| field_of(&object, &field.text, false, scope))
                }
                found => found,
            };
            value.map_err(|why| ExpressionError::new(why, &field.span))
        }
        ExpressionKind::Member {
            object,
            member,
            arrow,
        } => {
            let bound = member_of::bound(object, member, *arrow, scope)?;
            at(bound.value(scope))
        }
        ExpressionKind::Index { object, index } => {
            let object = part(object, scope)?;
            let key = match &index.kind {
                ExpressionKind::Text(text) => Key::Text(text),
                _ => Key::Number(integer(index, scope)?),
            };
            at(indexed(&object, &key, scope))
        }
        ExpressionKind::Slice { object, start, end } => {
            let object = part(object, scope)?;
            let (start, end) = (integer(start, scope)?, integer(end, scope)?);
            at(elements(&object, start, end.saturating_sub(start), scope))
        }
        ExpressionKind::Cast { type_name, operand } => {
            let r#type = named_type(type_name, scope)?;
            let value = match &operand.kind {
                ExpressionKind::Unary {
                    operator: UnaryOperator::AddressOf,
                    operand,
                } if let Some(found) =
                    member_of::address_of_member(operand, Some(&r#type), scope) =>
                {
                    at(found)?
                }
                ExpressionKind::Call {
                    function,
                    arguments,
                } => call(operand, function, arguments, Some(r#type.clone()), scope)?,
                _ if is_to_reference(&r#type) => {
                    let value = evaluate(operand, scope)?;
                    return at(referring(&value, r#type, scope.memory()));
                }
                _ => part(operand, scope)?,
            };
            at(cast(&value, r#type, scope.memory()))
        }
        ExpressionKind::Call {
            function,
            arguments,
        } => match converted_type_named(function, arguments, scope) {
            Some((r#type, operand)) => {
                let value = part(operand, scope)?;
                at(cast(&value, r#type, scope.memory()))
            }
            None => call(expression, function, arguments, None, scope),
        },
        ExpressionKind::SizeOf(operand) if operand.calls_functions() => at(Err(
            "`sizeof` calls no function: name the type, as in `sizeof(int)`".into(),
        )),
        ExpressionKind::SizeOf(operand) => {
            let is_computed = matches!(
                operand.kind,
                ExpressionKind::Binary { .. } | ExpressionKind::Conditional { .. }
            );
            let computed = is_computed.then(|| static_type(operand, scope)).flatten();
            let size = match (part(operand, scope), &operand.kind) {
                _ if computed.is_some() => computed.and_then(|it| it.size()),
                (Ok(value), _) if call::is_function(operand, &value, scope) => None,
                (Ok(value), _) => value.r#type.size(),
                // `sizeof(Shape)`: a name alone may be one of a type.
                (Err(error), ExpressionKind::Name(name)) => {
                    scope.type_named(name).ok_or(error)?.size()
                }
                (Err(error), _) => return Err(error),
            };
            at(size_value(size))
        }
        ExpressionKind::SizeOfType(type_name) => {
            let size = named_type(type_name, scope)?.size();
            at(size_value(size))
        }
        ExpressionKind::SizeOfCharacter => at(size_value(Some(match scope.is_cpp() {
            true => 1,
            false => 4,
        }))),
        ExpressionKind::Set(_) | ExpressionKind::Map(_) | ExpressionKind::Sequence(_) => {
            at(Err("collections belong to properties".into()))
        }
        ExpressionKind::Error => at(Err("this could not be read".into())),
    }
}

/// Evaluates an expression that is a part of another: a reference of C++ is what it
/// refers to. A reference alone is shown as one.
pub(crate) fn part(expression: &Expression, scope: &dyn Scope) -> Result<Typed, ExpressionError> {
    let value = evaluate(expression, scope)?;
    at_referent(&value, expression, scope)
}

fn at_referent(
    value: &Typed,
    expression: &Expression,
    scope: &dyn Scope,
) -> Result<Typed, ExpressionError> {
    referred_to(value, scope.memory()).map_err(|why| ExpressionError::new(why, &expression.span))
}

/// What stands behind `*`: what a reference refers to, where that leads on. Otherwise a
/// person means the reference itself.
fn pointer(expression: &Expression, scope: &dyn Scope) -> Result<Typed, ExpressionError> {
    let value = evaluate(expression, scope)?;
    let referent = at_referent(&value, expression, scope)?;
    let leads_on = referent.r#type.is_pointer()
        || matches!(referent.r#type.strip().kind(), TypeKind::Array { .. })
        || Reach::of(scope).is_some_and(|reach| reach.has(&referent.r#type));
    Ok(if leads_on { referent } else { value })
}

fn is_to_reference(r#type: &Type) -> bool {
    matches!(r#type.strip().kind(), TypeKind::Reference(_))
}

/// Whether an expression is true, for conditions.
pub fn is_true(expression: &Expression, scope: &dyn Scope) -> Result<bool, ExpressionError> {
    let value = part(expression, scope)?;
    truth(&value, scope).map_err(|why| ExpressionError::new(why, &expression.span))
}

/// The number that a value is; that a library type holds, too.
fn number(value: &Typed, scope: &dyn Scope) -> Result<Number, ValueError> {
    match Reach::of(scope) {
        Some(reach) => reach.number(value),
        None => value.number(scope.memory()),
    }
}

/// The array that a value of a library type holds in its place; nothing where it is none
/// such.
pub(crate) fn held_array(value: &Typed, scope: &dyn Scope) -> Option<Typed> {
    Reach::of(scope)?.held_array(value)
}

/// A number as monitors know it; that a library type holds, too.
pub(crate) fn number_value(value: &Typed, scope: &dyn Scope) -> Result<Value, ValueError> {
    Ok(match number(value, scope)? {
        Number::Int(number) => Value::Int(number),
        Number::Float(number) => Value::Float(number),
        Number::Wide(number) => Value::Float(number.double()),
        Number::Pointer(address, _) => Value::Address(address),
        Number::Bool(truth) => Value::Bool(truth),
    })
}

fn truth(value: &Typed, scope: &dyn Scope) -> Result<bool, ValueError> {
    if let Some(is_null) = member_pointer::is_null(value, scope.memory()) {
        return is_null.map(|is_null| !is_null);
    }
    if unsigned::above(value, scope.memory()).is_some() {
        return Ok(true);
    }
    Ok(is_nonzero(&number(value, scope)?))
}

fn is_nonzero(number: &Number) -> bool {
    match number {
        Number::Int(number) => *number != 0,
        Number::Float(number) => *number != 0.0,
        Number::Wide(number) => !number.is_zero(),
        Number::Pointer(address, _) => *address != 0,
        Number::Bool(truth) => *truth,
    }
}

fn is_reference(value: &Typed) -> bool {
    let r#type = &value.r#type;
    matches!(r#type.strip().kind(), TypeKind::Reference(_)) && !r#type.is_rust()
}

fn size_value(size: Option<u64>) -> Result<Typed, ValueError> {
    let size = size.ok_or("its size is not known")?;
    let r#type = Type::builtin("unsigned long").ok_or("no type for sizes")?;
    Ok(Typed::of_bytes(r#type, size.to_le_bytes().to_vec()))
}

fn named_type(name: &TypeName, scope: &dyn Scope) -> Result<Type, ExpressionError> {
    let found = written_type(name, &|name| scope.type_named(name));
    found.map_err(|why| ExpressionError::new(why, &name.span))
}

fn integer(expression: &Expression, scope: &dyn Scope) -> Result<i128, ExpressionError> {
    let value = part(expression, scope)?;
    let number = match number(&value, scope) {
        Ok(Number::Int(number)) => Ok(number),
        Ok(Number::Bool(truth)) => Ok(i128::from(truth)),
        Ok(_) => Err("a whole number is needed here".into()),
        Err(why) => Err(why),
    };
    number.map_err(|why| ExpressionError::new(why, &expression.span))
}

/// `~`, within the width in which it is computed: that of the operand's type in C, also
/// where a result on the way to the operand had to have a wider one.
fn complement(value: &Typed, r#type: Option<Type>, scope: &dyn Scope) -> Result<Typed, ValueError> {
    let Number::Int(number) = number(value, scope)? else {
        return Err("`~` needs a whole number".into());
    };
    let own = r#type.filter(|it| promotion::fits(number, it));
    let own = own.unwrap_or_else(|| of_bit_field(value.r#type.clone(), value.bits));
    let within = promoted(&own);
    let bits = within.as_ref().and_then(promotion::unsigned_bits);
    let flipped = match bits.filter(|_| number >= 0) {
        Some(bits) => !number & ((1i128 << bits) - 1),
        None => !number,
    };
    of_result(&Number::Int(flipped), within).ok_or_else(|| "no C type holds the result".into())
}

fn unary(
    operator: UnaryOperator,
    operand: &Expression,
    value: &Typed,
    scope: &dyn Scope,
) -> Result<Typed, ValueError> {
    if let Some(computed) = unsigned::unary_unsigned(operator, value, scope.memory()) {
        return computed;
    }
    let mut r#type = promoted(&of_bit_field(value.r#type.clone(), value.bits));
    let computed = match operator {
        UnaryOperator::Dereference => return pointed_to(value, scope),
        UnaryOperator::AddressOf => return address_of(value),
        UnaryOperator::Not => {
            r#type = None;
            Number::Bool(!truth(value, scope)?)
        }
        UnaryOperator::Negate if is_complex(&value.r#type) => {
            return complex::negated(value, scope.memory());
        }
        UnaryOperator::Negate => match number(value, scope)? {
            Number::Int(number) => {
                let own = operand_type(operand, value, &Number::Int(number), scope);
                r#type = promoted(&own);
                let negative = number.checked_neg().ok_or("the result is too large")?;
                Number::Int(overflow_in(r#type.as_ref()).applied_to(negative))
            }
            Number::Bool(truth) => Number::Int(-i128::from(truth)),
            Number::Float(number) => Number::Float(-number),
            Number::Wide(number) => Number::Wide(number.negated()),
            Number::Pointer(..) => return Err("a pointer has no negative".into()),
        },
        UnaryOperator::Plus => match number(value, scope)? {
            Number::Bool(truth) => Number::Int(i128::from(truth)),
            Number::Pointer(..) => return Err("a pointer has no sign".into()),
            number => number,
        },
        UnaryOperator::Complement => {
            return complement(value, static_type::static_type(operand, scope), scope);
        }
        UnaryOperator::Caller => return Err("`^` stands before a name".into()),
    };
    of_result(&computed, r#type).ok_or("no C type holds the result".into())
}

/// The type that a number counts as where it is computed with: a result whose own type
/// does not hold it has a wider one only to be shown.
fn operand_type(
    expression: &Expression,
    value: &Typed,
    number: &Number,
    scope: &dyn Scope,
) -> Type {
    let is_computed = matches!(
        expression.kind,
        ExpressionKind::Unary { .. }
            | ExpressionKind::Binary { .. }
            | ExpressionKind::Conditional { .. }
    );
    let computed = (is_computed && may_be_wider(value, number))
        .then(|| static_type(expression, scope))
        .flatten();
    computed.unwrap_or_else(|| of_bit_field(value.r#type.clone(), value.bits))
}

/// Whether values of a type are numbers, where they can be read.
fn is_number(r#type: &Type) -> bool {
    matches!(
        r#type.strip().kind(),
        TypeKind::Base(_)
            | TypeKind::Pointer(_)
            | TypeKind::Reference(_)
            | TypeKind::Enumeration { .. }
    )
}

/// A reference to what a value is, or refers to.
fn referring(value: &Typed, r#type: Type, memory: &dyn Memory) -> Result<Typed, ValueError> {
    if r#type.is_rust() {
        return cast(value, r#type, memory);
    }
    let pointer = address_of(&referred_to(value, memory)?)?;
    let target = r#type.target().ok_or("it refers to nothing")?;
    let pointer = cast(&pointer, target.pointer_to(), memory)?;
    Ok(Typed { r#type, ..pointer })
}

/// What lies in memory, seen as an array that is not longer; nothing where none is meant.
fn seen_as_array(value: &Typed, r#type: &Type) -> Option<Result<Typed, ValueError>> {
    let TypeKind::Array { .. } = r#type.strip().kind() else {
        return None;
    };
    let fits = r#type.size().zip(value.r#type.size());
    let is_there = matches!(value.place, Place::Memory(_)) && value.bits.is_none();
    Some(match fits {
        Some((wanted, given)) if wanted <= given && is_there => Ok(Typed {
            r#type: r#type.clone(),
            ..value.clone()
        }),
        _ => Err(format!(
            "only what lies in memory, and is as large, can be seen as `{0}`; what lies at an \
             address is {{{0}}}address",
            r#type.name()
        )
        .into()),
    })
}

/// A value as one of another type, as C's casts have it.
pub(crate) fn cast(value: &Typed, r#type: Type, memory: &dyn Memory) -> Result<Typed, ValueError> {
    if let Some(converted) = member_pointer::cast(value, &r#type, memory) {
        return converted;
    }
    if let Some(seen) = seen_as_array(value, &r#type) {
        return seen;
    }
    let size = r#type.size().unwrap_or(0);
    let stripped = r#type.strip();
    if let TypeKind::Void = stripped.kind() {
        return Ok(Typed::of_bytes(r#type, Vec::new()));
    }
    if let Some(converted) = unsigned::cast_unsigned(value, &r#type, memory) {
        return Ok(converted);
    }
    let number = match value.number(memory) {
        Ok(number) => number,
        // A structure seen as another one. A number that cannot be read is none.
        Err(_) if matches!(value.place, Place::Memory(_)) && !is_number(&value.r#type) => {
            if let Some(part) = base_part(value, &r#type, memory)? {
                return Ok(part);
            }
            return Ok(Typed {
                r#type,
                ..value.clone()
            });
        }
        Err(why) => return Err(why),
    };
    let whole = match &number {
        Number::Int(number) => *number,
        Number::Bool(truth) => i128::from(*truth),
        Number::Pointer(address, target) => {
            let to = stripped.is_pointer().then(|| stripped.target()).flatten();
            i128::from(match to {
                Some(to) => cast_address(*address, target, &to, memory)?,
                None => *address,
            })
        }
        Number::Float(number) => *number as i128,
        Number::Wide(number) => number.whole(),
    };
    let bytes = match stripped.kind() {
        TypeKind::Base(juror_symbols::Encoding::Boolean) => vec![u8::from(is_nonzero(&number))],
        TypeKind::Base(juror_symbols::Encoding::Float) => {
            let float = match value.number(memory)? {
                Number::Float(number) => number,
                Number::Wide(number) => number.double(),
                _ => whole as f64,
            };
            match size {
                4 => (float as f32).to_le_bytes().to_vec(),
                8 => float.to_le_bytes().to_vec(),
                // No `double` in between where it is one already.
                16 if value.r#type.strip().name() == stripped.name() => value.bytes(memory, 16)?,
                16 => Wide::of(&number, is_quad(&stripped))
                    .ok_or("an address is no fraction")?
                    .bytes(),
                _ => return Err(format!("values cannot be made into `{}`", r#type.name()).into()),
            }
        }
        // C wraps here, because the user asked for the type.
        TypeKind::Base(_)
        | TypeKind::Pointer(_)
        | TypeKind::Reference(_)
        | TypeKind::Enumeration { .. } => whole
            .to_le_bytes()
            .get(..size.min(16) as usize)
            .unwrap_or(&[])
            .to_vec(),
        _ => return Err(format!("a number cannot be made into `{}`", r#type.name()).into()),
    };
    let mut bytes = bytes;
    if stripped.is_big_endian() {
        bytes.reverse();
    }
    Ok(Typed::of_bytes(r#type, bytes))
}

fn binary(
    expression: &Expression,
    operator: BinaryOperator,
    left: &Expression,
    right: &Expression,
    scope: &dyn Scope,
) -> Result<Typed, ExpressionError> {
    let error = |why: ValueError| ExpressionError::new(why, &expression.span);
    let of = |number: Number| {
        Typed::of_number(&number).ok_or_else(|| error("no C type holds the result".into()))
    };
    if let Some(cast) = named_cast(operator, left, right, scope) {
        return cast;
    }
    if let BinaryOperator::And | BinaryOperator::Or = operator {
        let first = match scope.decided(&left.span) {
            Some(truth) => truth,
            None => {
                let truth = is_true(left, scope)?;
                scope.decide(&left.span, truth);
                truth
            }
        };
        let decided = first == (operator == BinaryOperator::Or);
        return of(Number::Bool(if decided {
            first
        } else {
            is_true(right, scope)?
        }));
    }
    if let Some(equal) = compare_with_text(operator, left, right, scope)? {
        return of(Number::Bool(equal));
    }
    let first = part(left, scope)?;
    let compared = compare_with_alternative(operator, &first, right, scope.memory());
    if let Some(equal) = compared.map_err(|why| ExpressionError::new(why, &left.span))? {
        return of(Number::Bool(equal));
    }
    if operator == BinaryOperator::Repeat {
        let count = integer(right, scope)?;
        if !(1..=ELEMENTS_MAX).contains(&count) {
            let message = format!("between 1 and {ELEMENTS_MAX} elements can be taken");
            return Err(error(message.into()));
        }
        return match first.place {
            Place::Memory(_) => Ok(Typed {
                r#type: first.r#type.array_of(count as u64),
                ..first
            }),
            _ => Err(error(
                "`@` needs a value in memory, as in: *pointer@10".into(),
            )),
        };
    }
    let second = part(right, scope)?;
    if let Some(equal) = member_pointer::compare(operator, &first, &second, scope.memory()) {
        return equal
            .map_err(error)
            .and_then(|equal| of(Number::Bool(equal)));
    }
    let special = complex::compute_complex(operator, &first, &second, scope.memory());
    let unsigned = || unsigned::compute_unsigned(operator, &first, &second, scope.memory());
    if let Some(computed) = special.or_else(unsigned) {
        return computed.map_err(error);
    }
    if let Some(computed) = vector::compute_elements(operator, &first, &second, scope.memory()) {
        return computed.map_err(error);
    }
    let (a, b) = (
        number(&first, scope).map_err(|why| ExpressionError::new(why, &left.span))?,
        number(&second, scope).map_err(|why| ExpressionError::new(why, &right.span))?,
    );
    let first = operand_type(left, &first, &a, scope);
    let r#type = match operator {
        BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => promoted(&first),
        _ => common_type(&first, &operand_type(right, &second, &b, scope)),
    };
    let overflow = overflow_in(r#type.as_ref());
    compute(operator, overflow, a, b, scope.memory())
        .and_then(|number| of_result(&number, r#type).ok_or("no C type holds the result".into()))
        .map_err(error)
}
