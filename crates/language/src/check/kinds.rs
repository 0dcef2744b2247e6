//! The kind of an operator's result, from the kinds of its operands.

use crate::syntax::BinaryOperator;
use crate::term::Kind;

/// Returns the kind of the result if the operator is defined for these kinds.
pub(super) fn result_kind(operator: BinaryOperator, left: Kind, right: Kind) -> Option<Kind> {
    use BinaryOperator as Op;
    let unknown = left == Kind::Unknown || right == Kind::Unknown;
    if operator == Op::In {
        let collection = right == Kind::Unknown || right.is_collection();
        return collection.then_some(Kind::Boolean);
    }
    if left.is_collection() || right.is_collection() {
        return collection_kind(operator, left, right);
    }
    let numbers = left.is_number() && right.is_number();
    let known = if left == Kind::Unknown { right } else { left };
    match operator {
        Op::And | Op::Or => {
            let boolean = |kind| matches!(kind, Kind::Boolean | Kind::Unknown);
            (boolean(left) && boolean(right)).then_some(Kind::Boolean)
        }
        Op::Equal | Op::NotEqual => (unknown || numbers || left == right).then_some(Kind::Boolean),
        _ if operator.is_comparison() => {
            let ordered = known != Kind::Boolean;
            (ordered && (unknown || numbers || left == right)).then_some(Kind::Boolean)
        }
        _ if unknown => (known == Kind::Unknown || known.is_number()).then_some(Kind::Unknown),
        _ if !numbers => None,
        Op::Add | Op::Subtract | Op::Multiply | Op::Divide
            if left == Kind::Float || right == Kind::Float =>
        {
            let address = left == Kind::Address || right == Kind::Address;
            (!address).then_some(Kind::Float)
        }
        _ if left == Kind::Float || right == Kind::Float => None,
        Op::Add if left == Kind::Address && right == Kind::Address => None,
        Op::Add if left == Kind::Address || right == Kind::Address => Some(Kind::Address),
        Op::Subtract if left == Kind::Address && right == Kind::Integer => Some(Kind::Address),
        _ => Some(Kind::Integer),
    }
}

/// Returns the common kind of both values of a conditional. If one is an integer and
/// the other a floating-point number, both are floating-point numbers, as in C.
pub(super) fn either_kind(then: Kind, otherwise: Kind) -> Option<Kind> {
    match (then, otherwise) {
        _ if then == otherwise => Some(then),
        (Kind::Unknown, _) | (_, Kind::Unknown) => Some(Kind::Unknown),
        (Kind::Integer, Kind::Address) | (Kind::Address, Kind::Integer) => Some(Kind::Address),
        (Kind::Integer, Kind::Float) | (Kind::Float, Kind::Integer) => Some(Kind::Float),
        _ => None,
    }
}

/// Returns the kind of the result of an operator on collections, if it is defined.
fn collection_kind(operator: BinaryOperator, left: Kind, right: Kind) -> Option<Kind> {
    use BinaryOperator as Op;
    let either = |kind: Kind| {
        let fits = |side| side == kind || side == Kind::Unknown;
        fits(left) && fits(right)
    };
    let same = [Kind::Set, Kind::Map, Kind::Sequence]
        .into_iter()
        .find(|&kind| either(kind));
    match operator {
        Op::Equal | Op::NotEqual => same.map(|_| Kind::Boolean),
        Op::Add => same,
        Op::BitOr => same.filter(|&kind| kind != Kind::Sequence),
        Op::BitAnd => either(Kind::Set).then_some(Kind::Set),
        Op::Subtract if matches!(left, Kind::Set | Kind::Map) => {
            matches!(right, Kind::Set | Kind::Unknown).then_some(left)
        }
        Op::Subtract => either(Kind::Set).then_some(Kind::Unknown),
        _ => None,
    }
}
