//! Evaluates expressions.

use super::access::{address_of, field_of, indexed};
use super::assignment::{assign, comma, step};
use super::call::{call, is_function};
use super::cast::{cast, referring};
use super::conditional::conditional;
use super::error::ExpressionError;
use super::length::size_value;
use super::library_access::{Key, LibraryAccess};
use super::member_of;
use super::named_cast::converted_type_named;
use super::number::{number, truth};
use super::operators::{binary, unary};
use super::promotion::{literal_type, of_result};
use super::scope::Scope;
use super::slice::elements;
use super::static_type::static_type;
use super::type_name::named_type;
use super::untyped::{untyped, with_type};
use crate::classes::upcast::referred_to;
use crate::error::ValueError;
use crate::typed::{Number, Typed};
use crate::types::untyped::unknown_type;
use juror_language::{Expression, ExpressionKind, UnaryOperator};
use juror_symbols::{Type, TypeKind};

/// The word of the language for the address 0, unless the program has a variable of this name.
pub const NULL: &str = "null";
/// The word of the language for the negation, which may be a variable of the program.
pub const NOT: &str = "not";
/// The message that a text has two meanings.
pub const NOT_IS_VARIABLE: &str =
    "`not` is a variable here: write `(not)` for its value, and `!` for the negation";

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
        ExpressionKind::Name(name) if &**name == NULL && !scope.has_variable(NULL) => {
            at(Typed::of_number(&Number::Pointer(0, Type::void())).ok_or_else(missing))
        }
        ExpressionKind::Unary {
            operator: UnaryOperator::Not,
            operand,
        } if operand.begins_with_sign() && scope.has_variable(NOT) => {
            at(Err(NOT_IS_VARIABLE.into()))
        }
        ExpressionKind::Name(name) => at(scope
            .name(name)
            .or_else(|why| member_of_class(name, scope).unwrap_or(Err(why)))
            .and_then(|value| match unknown_type(&value.r#type) {
                Some(why) => Err(why.into()),
                None => Ok(value),
            })),
        ExpressionKind::Register(name) => at(scope.register(name)),
        ExpressionKind::Argument(position) => at(scope.argument(*position)),
        ExpressionKind::Return => at(scope.returned()),
        ExpressionKind::Unary {
            operator: UnaryOperator::Caller,
            operand,
        } if operand.assigns() => at(Err(
            "`^` stands before the place alone: ^x = 5, and not ^(x = 5)".into(),
        )),
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
        ExpressionKind::Unary {
            operator: UnaryOperator::AddressOf,
            operand,
        } if let Some(variable) = untyped(operand, scope) => at(address_of(&variable)),
        ExpressionKind::Unary { operator, operand } => {
            let value = match operator {
                UnaryOperator::Dereference => pointer(operand, scope)?,
                _ => part(operand, scope)?,
            };
            // The name of a function already denotes its address, as in C.
            if *operator == UnaryOperator::AddressOf && is_function(operand, &value, scope) {
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
        ExpressionKind::Assign {
            place,
            operator,
            value,
        } => assign(expression, place, *operator, value, scope),
        ExpressionKind::Step {
            place,
            operator,
            is_postfix,
        } => step(expression, place, *operator, *is_postfix, scope),
        ExpressionKind::Comma { first, second } => comma(first, second, scope),
        ExpressionKind::Field {
            object,
            field,
            arrow,
        } => {
            let value = evaluate(object, scope)?;
            let object = at_referent(&value, object, scope)?;
            let found = field_of(&object, &field.text, *arrow, scope);
            // `->` on a C++ reference is accepted, too.
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
                ExpressionKind::Text(text) => Key::String(text),
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
            if let Some(variable) = untyped(operand, scope) {
                return at(with_type(variable, r#type));
            }
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
                if let Some(variable) = untyped(operand, scope) {
                    return at(with_type(variable, r#type));
                }
                let value = part(operand, scope)?;
                at(cast(&value, r#type, scope.memory()))
            }
            None => call(expression, function, arguments, None, scope),
        },
        ExpressionKind::SizeOf(operand) if operand.calls_functions() => at(Err(
            "`sizeof` calls no function: name the type, as in `sizeof(int)`".into(),
        )),
        ExpressionKind::SizeOf(operand) if operand.assigns() => {
            // As in C, the operand is not evaluated.
            at(size_value(
                static_type(operand, scope).and_then(|it| it.size()),
            ))
        }
        ExpressionKind::SizeOf(operand) => {
            let is_computed = matches!(
                operand.kind,
                ExpressionKind::Binary { .. } | ExpressionKind::Conditional { .. }
            );
            let computed = is_computed.then(|| static_type(operand, scope)).flatten();
            let named = match &operand.kind {
                ExpressionKind::Name(name) => scope.type_before_elsewhere(name),
                _ => None,
            };
            let size = match (part(operand, scope), &operand.kind) {
                _ if computed.is_some() => computed.and_then(|it| it.size()),
                _ if named.is_some() => named.and_then(|it| it.size()),
                (Ok(value), _) if is_function(operand, &value, scope) => None,
                (Ok(value), _) => value.r#type.size(),
                // The operand of `sizeof(Shape)` may be the name of a type.
                (Err(error), ExpressionKind::Name(name)) => {
                    scope.type_named(name).ok_or(error)?.size()
                }
                (Err(error), _) => return Err(error),
            };
            at(size_value(size))
        }
        ExpressionKind::SizeOfType(type_name) => {
            // The size of a reference is the size of its referent.
            let named = named_type(type_name, scope)?;
            let size = match named.strip().kind() {
                TypeKind::Reference(target) if !named.is_rust() => target.size(),
                _ => named.size(),
            };
            at(size_value(size))
        }
        ExpressionKind::SizeOfCharacter => at(size_value(Some(if scope.is_cpp() { 1 } else { 4 }))),
        ExpressionKind::Set(_) | ExpressionKind::Map(_) | ExpressionKind::Sequence(_) => {
            at(Err("collections belong to properties".into()))
        }
        ExpressionKind::Error => at(Err("this could not be read".into())),
    }
}

/// Evaluates an operand. A C++ reference is replaced by its referent; only at the top level is a
/// reference shown as one.
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

/// Evaluates `object.part.Class::name`, whose syntax is that of a name in a source file. Returns
/// `None` if there is no such object.
fn member_of_class(name: &str, scope: &dyn Scope) -> Option<Result<Typed, ValueError>> {
    let (before_class, _) = name.split_once("::")?;
    let (objects, _) = before_class.rsplit_once('.')?;
    let member = name.get(objects.len() + 1..)?;
    let mut parts = objects.split('.').chain([member]);
    let object = scope.name(parts.next()?).ok()?;
    Some(parts.try_fold(object, |object, part| {
        let object = referred_to(&object, scope.memory())?;
        field_of(&object, part, false, scope)
    }))
}

/// Evaluates the operand of `*`. A C++ reference is replaced by its referent if that can be
/// dereferenced; otherwise the reference itself is.
pub(super) fn pointer(
    expression: &Expression,
    scope: &dyn Scope,
) -> Result<Typed, ExpressionError> {
    let value = evaluate(expression, scope)?;
    let referent = at_referent(&value, expression, scope)?;
    let leads_on = referent.r#type.is_pointer()
        || matches!(referent.r#type.strip().kind(), TypeKind::Array { .. })
        || LibraryAccess::of(scope).is_some_and(|library| library.has(&referent.r#type));
    Ok(if leads_on { referent } else { value })
}

fn is_to_reference(r#type: &Type) -> bool {
    matches!(r#type.strip().kind(), TypeKind::Reference(_))
}

/// Evaluates a condition.
pub fn is_true(expression: &Expression, scope: &dyn Scope) -> Result<bool, ExpressionError> {
    let value = part(expression, scope)?;
    truth(&value, scope).map_err(|why| ExpressionError::new(why, &expression.span))
}

fn is_reference(value: &Typed) -> bool {
    let r#type = &value.r#type;
    matches!(r#type.strip().kind(), TypeKind::Reference(_)) && !r#type.is_rust()
}

pub(super) fn integer(expression: &Expression, scope: &dyn Scope) -> Result<i128, ExpressionError> {
    let value = part(expression, scope)?;
    let number = match number(&value, scope) {
        Ok(Number::Int(number)) => Ok(number),
        Ok(Number::Bool(truth)) => Ok(i128::from(truth)),
        Ok(_) => Err("a whole number is needed here".into()),
        Err(why) => Err(why),
    };
    number.map_err(|why| ExpressionError::new(why, &expression.span))
}
