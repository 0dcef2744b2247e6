//! Determines the type of an expression without evaluating it: the other branch of `a ? b : c`.
//!
//! Invariant: nothing is read that only evaluation depends on, so `p->next->size` has a type even
//! if `p` is null. An expression whose type depends on a value (elements of library types, calls)
//! has none.

use super::arithmetic::takes_floats;
use super::evaluate::evaluate;
use super::library_access::LibraryAccess;
use super::promotion::{common_type, is_float, is_inverted, of_bit_field, promoted};
use super::scope::Scope;
use super::type_name::named_type;
use crate::classes::member_pointer;
use juror_language::{BinaryOperator, Expression, ExpressionKind, UnaryOperator};
use juror_symbols::{Type, TypeKind};

/// Returns the type of an expression, or `None` if it depends on the value.
pub fn static_type(expression: &Expression, scope: &dyn Scope) -> Option<Type> {
    let found = match &expression.kind {
        ExpressionKind::Unary { operator, operand } => of_unary(*operator, operand, scope),
        ExpressionKind::Binary {
            operator,
            left,
            right,
        } => of_binary(*operator, left, right, scope),
        ExpressionKind::Conditional {
            then, otherwise, ..
        } => match branch_types(then, otherwise, scope)? {
            (then, otherwise) if then.name() == otherwise.name() => Some(then),
            (then, _) if then.is_pointer() => Some(then),
            (then, otherwise) => common_type(&then, &otherwise),
        },
        ExpressionKind::Field { object, field, .. } => {
            let object = static_type(object, scope)?;
            let class = if object.is_pointer() {
                object.target()?
            } else {
                object
            };
            let field = class.field(&field.text)?;
            Some(of_bit_field(field.r#type, field.bits))
        }
        ExpressionKind::Member { member, .. } => {
            let (_, member) = member_pointer::parts(&static_type(member, scope)?)?;
            Some(member)
        }
        ExpressionKind::Index { object, .. } => element(static_type(object, scope)?, scope),
        ExpressionKind::Cast { type_name, .. } => named_type(type_name, scope).ok(),
        ExpressionKind::Call { .. } => None,
        ExpressionKind::Assign { place, .. } | ExpressionKind::Step { place, .. } => {
            static_type(place, scope)
        }
        ExpressionKind::Comma { second, .. } => static_type(second, scope),
        // The other expressions have a location before anything is read.
        _ => evaluated(expression, scope),
    };
    let found = found.or_else(|| evaluated(expression, scope))?;
    // A C++ reference has the type of its referent.
    match found.strip().kind() {
        TypeKind::Reference(target) if !found.is_rust() => Some(target),
        _ => Some(found),
    }
}

/// Returns the types of the branches of `a ? b : c`, of which one is a bit field, if it has the type of
/// its declaration there, and is not promoted.
///
/// In C++ two bit fields of one type are an object of this type. In that of g++ a bit field beside
/// another value has its declared type, too.
pub(super) fn declared_types(
    then: &Expression,
    otherwise: &Expression,
    scope: &dyn Scope,
) -> Option<(Type, Type)> {
    if !scope.is_cpp() {
        return None;
    }
    match (
        bit_field_type(then, scope),
        bit_field_type(otherwise, scope),
    ) {
        (None, None) => None,
        (Some(then), Some(otherwise)) if then.name() == otherwise.name() => Some((then, otherwise)),
        (first, second) if scope.has_branches_as_declared() => Some((
            first.or_else(|| static_type(then, scope))?,
            second.or_else(|| static_type(otherwise, scope))?,
        )),
        _ => None,
    }
}

fn branch_types(
    then: &Expression,
    otherwise: &Expression,
    scope: &dyn Scope,
) -> Option<(Type, Type)> {
    let promoted = || Some((static_type(then, scope)?, static_type(otherwise, scope)?));
    declared_types(then, otherwise, scope).or_else(promoted)
}

/// Returns the declared type of a bit field.
fn bit_field_type(expression: &Expression, scope: &dyn Scope) -> Option<Type> {
    match &expression.kind {
        ExpressionKind::Field { object, field, .. } => {
            let object = static_type(object, scope)?;
            let class = if object.is_pointer() {
                object.target()?
            } else {
                object
            };
            let field = class.field(&field.text)?;
            field.bits.map(|_| field.r#type.strip())
        }
        ExpressionKind::Comma { second, .. } => bit_field_type(second, scope),
        ExpressionKind::Name(_) if !expression.has_effects() => {
            let value = evaluate(expression, scope).ok()?;
            value.bits.map(|_| value.r#type.strip())
        }
        _ => None,
    }
}

fn evaluated(expression: &Expression, scope: &dyn Scope) -> Option<Type> {
    if expression.has_effects() {
        return None;
    }
    let value = evaluate(expression, scope).ok()?;
    Some(of_bit_field(value.r#type, value.bits))
}

/// Returns the type of an element or of `*`, unless a pretty-printer determines it.
fn element(r#type: Type, scope: &dyn Scope) -> Option<Type> {
    let has_pretty_printer =
        |it: &Type| LibraryAccess::of(scope).is_some_and(|library| library.has(it));
    let target = r#type.target()?;
    (!has_pretty_printer(&r#type) && !has_pretty_printer(&target)).then_some(target)
}

fn of_unary(operator: UnaryOperator, operand: &Expression, scope: &dyn Scope) -> Option<Type> {
    match operator {
        UnaryOperator::NotOrComplement => {
            let of_operand = static_type(operand, scope)?;
            if is_inverted(&of_operand, scope.is_rust()) {
                return promoted(&of_operand);
            }
            // What is behind a reference or in a library type is known with the value.
            let may_hold =
                of_operand.is_rust() && !matches!(of_operand.strip().kind(), TypeKind::Base(_));
            Type::builtin("bool").filter(|_| !may_hold)
        }
        UnaryOperator::Not => Type::builtin("bool"),
        UnaryOperator::Caller => static_type(operand, &*scope.caller().ok()?),
        UnaryOperator::Dereference => {
            let pointer = static_type(operand, scope)?;
            // An integer is the address of a `long`.
            if matches!(pointer.strip().kind(), TypeKind::Base(_)) && !is_float(&pointer) {
                return Type::builtin("long");
            }
            pointer.target().filter(|target| {
                !LibraryAccess::of(scope).is_some_and(|library| library.has(&pointer))
                    && target.size().is_some()
            })
        }
        // The address of a function, or of a member of a class, has no location.
        UnaryOperator::AddressOf if matches!(operand.kind, ExpressionKind::Name(_)) => None,
        UnaryOperator::AddressOf => Some(static_type(operand, scope)?.pointer_to()),
        UnaryOperator::Negate | UnaryOperator::Plus => promoted(&static_type(operand, scope)?),
        // A floating-point number has no complement.
        UnaryOperator::Complement => {
            let of_operand = static_type(operand, scope)?;
            promoted(&of_operand).filter(|it| !is_float(it))
        }
    }
}

fn of_binary(
    operator: BinaryOperator,
    left: &Expression,
    right: &Expression,
    scope: &dyn Scope,
) -> Option<Type> {
    if operator.is_comparison() || operator.is_logical() {
        return Type::builtin("bool");
    }
    if operator == BinaryOperator::Repeat {
        return None;
    }
    let (left, right) = (static_type(left, scope)?, static_type(right, scope)?);
    if !takes_floats(operator) && (is_float(&left) || is_float(&right)) {
        return None;
    }
    if matches!(
        operator,
        BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight
    ) {
        return promoted(&left);
    }
    let leads = |it: &Type| it.target().is_some();
    match (leads(&left), leads(&right)) {
        (true, true) => Type::builtin("long"),
        (true, false) => Some(left.target()?.pointer_to()),
        (false, true) => Some(right.target()?.pointer_to()),
        (false, false) => common_type(&left, &right),
    }
}
