//! Evaluation of the conditions of `#if`.

use super::lexer::{Kind, Token};

/// The binary operators by precedence, weakest first.
const LEVELS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

/// Returns the value of a condition; names that are not macros are 0.
pub(super) fn evaluate(tokens: &[Token]) -> Option<i64> {
    let mut rest = tokens;
    let value = binary(&mut rest, 0, 0)?;
    rest.is_empty().then_some(value)
}

const DEPTH_MAX: usize = 200;

fn binary(rest: &mut &[Token], level: usize, depth: usize) -> Option<i64> {
    let Some(operators) = LEVELS.get(level) else {
        return unary(rest, depth);
    };
    let mut left = binary(rest, level + 1, depth)?;
    while let Some((token, after)) = rest.split_first()
        && let Some(operator) = operators.iter().find(|operator| token.is(operator))
    {
        *rest = after;
        let right = binary(rest, level + 1, depth)?;
        left = apply(operator, left, right)?;
    }
    Some(left)
}

fn apply(operator: &str, left: i64, right: i64) -> Option<i64> {
    let (yes, no) = (left != 0, right != 0);
    Some(match operator {
        "||" => i64::from(yes || no),
        "&&" => i64::from(yes && no),
        "|" => left | right,
        "^" => left ^ right,
        "&" => left & right,
        "==" => i64::from(left == right),
        "!=" => i64::from(left != right),
        "<" => i64::from(left < right),
        ">" => i64::from(left > right),
        "<=" => i64::from(left <= right),
        ">=" => i64::from(left >= right),
        "<<" => left.checked_shl(u32::try_from(right).ok()?)?,
        ">>" => left.checked_shr(u32::try_from(right).ok()?)?,
        "+" => left.checked_add(right)?,
        "-" => left.checked_sub(right)?,
        "*" => left.checked_mul(right)?,
        "/" => left.checked_div(right)?,
        _ => left.checked_rem(right)?,
    })
}

fn unary(rest: &mut &[Token], depth: usize) -> Option<i64> {
    if depth > DEPTH_MAX {
        return None;
    }
    let (token, after) = rest.split_first()?;
    *rest = after;
    match &token.kind {
        Kind::Number(number) => Some(i64::from(*number)),
        Kind::Name(_) => Some(0),
        Kind::Punctuation("!") => Some(i64::from(unary(rest, depth + 1)? == 0)),
        Kind::Punctuation("-") => unary(rest, depth + 1)?.checked_neg(),
        Kind::Punctuation("+") => unary(rest, depth + 1),
        Kind::Punctuation("~") => Some(!unary(rest, depth + 1)?),
        Kind::Punctuation("(") => {
            let value = binary(rest, 0, depth + 1)?;
            let (close, after) = rest.split_first()?;
            *rest = after;
            close.is(")").then_some(value)
        }
        _ => None,
    }
}
