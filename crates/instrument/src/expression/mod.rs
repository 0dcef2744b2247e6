//! Expressions of the prompt, evaluated over the debuggee's typed values.
//!
//! Integers are exact: C's types say how bytes are read, and an overflow of exact
//! arithmetic is an error. C's types without a sign wrap, as they do in C. The expression's syntax is the
//! property language's; what a name means comes from the caller ([`Scope`]).

mod access;
mod alternative;
pub(crate) mod arithmetic;
pub(crate) mod call;
mod cast;
mod complex;
mod conditional;
mod length;
mod member;
mod member_of;
mod named_cast;
mod operators;
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
pub(crate) use cast::cast;
use cast::referring;
use operators::{binary, unary};
pub use overload::Overload;
pub(crate) use overload::function_at;

use crate::classes::upcast::referred_to;
use crate::error::ValueError;
use crate::pretty_printers::Views;
use access::{field_of, indexed, pointed_to};
pub(crate) use alternative::names_alternative;
pub(crate) use complex::is_complex;
pub(crate) use length::{REFERENCES_MAX, array_length, behind_reference, no_length};
pub(crate) use member_of::names_member;
use named_cast::converted_type_named;
use slice::elements;
pub(crate) use text::{text_in_array, text_of, whole_text};
use viewed::{Key, Reach};

use crate::classes::member_pointer;
use crate::typed::{Memory, Number, Typed};
use crate::types::written::written_type;
use call::{Request, call};
use conditional::conditional;
use juror_event::{Unavailability, Value};
use juror_language::{Expression, ExpressionKind, TypeName, UnaryOperator};
use juror_symbols::{Type, TypeKind};
use promotion::{literal_type, of_result};
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
