//! The operators that are edited, and those that replace them.

use syn::BinOp;

/// Returns whether an operator compares.
pub fn is_comparison(operator: &BinOp) -> bool {
    matches!(
        operator,
        BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_)
    )
}

/// Returns the comparison that differs for equal values only.
pub fn boundary(operator: &BinOp) -> Option<&'static str> {
    Some(match operator {
        BinOp::Lt(_) => "<=",
        BinOp::Le(_) => "<",
        BinOp::Gt(_) => ">=",
        BinOp::Ge(_) => ">",
        _ => return None,
    })
}

/// Returns the operator that replaces one of arithmetic or bits.
pub fn arithmetic(operator: &BinOp) -> Option<&'static str> {
    Some(match operator {
        BinOp::Add(_) => "-",
        BinOp::Sub(_) | BinOp::Mul(_) => "+",
        BinOp::Div(_) | BinOp::Rem(_) => "*",
        BinOp::BitAnd(_) | BinOp::BitXor(_) => "|",
        BinOp::BitOr(_) => "&",
        BinOp::Shl(_) => ">>",
        BinOp::Shr(_) => "<<",
        _ => return None,
    })
}

/// Returns the operator that replaces one of an assignment.
pub fn assigned(operator: &BinOp) -> Option<&'static str> {
    Some(match operator {
        BinOp::AddAssign(_) => "-=",
        BinOp::SubAssign(_) | BinOp::MulAssign(_) => "+=",
        BinOp::DivAssign(_) | BinOp::RemAssign(_) => "*=",
        BinOp::BitAndAssign(_) | BinOp::BitXorAssign(_) => "|=",
        BinOp::BitOrAssign(_) => "&=",
        BinOp::ShlAssign(_) => ">>=",
        BinOp::ShrAssign(_) => "<<=",
        _ => return None,
    })
}
