//! Expressions and types as they were written.

use super::{Name, TypeName};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// An expression as it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    /// What it is.
    pub kind: ExpressionKind,
    /// Where it stands, in bytes, with the parentheses around it.
    pub span: Range<usize>,
}

/// The forms of an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum ExpressionKind {
    /// `12`, `0xff`, `0b1_0`, `'a'`
    Integer(i128),
    /// `1.5`
    Float(f64),
    /// `"text"`, escapes read.
    Text(Arc<str>),
    /// `true`, `false`
    Bool(bool),
    /// `null`
    Null,
    /// `x`, `module::x`, `file.c::x`, joined as written without spaces.
    Name(Box<str>),
    /// `$rip`: what stands after the dollar, which may be nothing.
    Register(Box<str>),
    /// `arg 2`: the argument at a position counted from 1; in captures only.
    Argument(u8),
    /// `ret`: the value that the call returned; in captures only.
    Return,
    /// An operator before its operand.
    Unary {
        /// The operator.
        operator: UnaryOperator,
        /// The operand.
        operand: Box<Expression>,
    },
    /// An operator between its operands.
    Binary {
        /// The operator.
        operator: BinaryOperator,
        /// What stands before it.
        left: Box<Expression>,
        /// What stands after it.
        right: Box<Expression>,
    },
    /// `a ? b : c`: of `b` and `c` one is evaluated.
    Conditional {
        /// What decides.
        condition: Box<Expression>,
        /// What it is where that is true.
        then: Box<Expression>,
        /// What it is where that is false.
        otherwise: Box<Expression>,
    },
    /// `p.field`, `p->field`
    Field {
        /// What stands before the dot or arrow.
        object: Box<Expression>,
        /// The field; digits for a field of a tuple.
        field: Name,
        /// True for `->`.
        arrow: bool,
    },
    /// `o.*m`, `p->*m`: the member that a pointer to members of C++ leads to.
    Member {
        /// What stands before the sign.
        object: Box<Expression>,
        /// The pointer to a member.
        member: Box<Expression>,
        /// True for `->*`.
        arrow: bool,
    },
    /// `p[i]`
    Index {
        /// What stands before the bracket.
        object: Box<Expression>,
        /// What stands in it.
        index: Box<Expression>,
    },
    /// `p[a..b]`: elements from `a` up to, not including, `b`.
    Slice {
        /// What stands before the bracket.
        object: Box<Expression>,
        /// The first element.
        start: Box<Expression>,
        /// The element after the last.
        end: Box<Expression>,
    },
    /// `(type *)x`
    Cast {
        /// The type.
        type_name: TypeName,
        /// What is converted.
        operand: Box<Expression>,
    },
    /// `f(a, b)`: at the prompt a call of the debuggee's function, in a
    /// property one of the language's or its own functions.
    Call {
        /// What stands before the parenthesis: a name, or a pointer to code.
        function: Box<Expression>,
        /// The arguments, in order.
        arguments: Vec<Expression>,
    },
    /// `sizeof x`
    SizeOf(Box<Expression>),
    /// `sizeof(unsigned long)`
    SizeOfType(TypeName),
    /// `sizeof('a')`, which depends on the language of the program.
    SizeOfCharacter,
    /// `{1, 2}`, `{}`
    Set(Vec<Expression>),
    /// `{a: 1, b: 2}`, `{:}`
    Map(Vec<(Expression, Expression)>),
    /// `[1, 2]`
    Sequence(Vec<Expression>),
    /// What could not be read; a diagnostic says why.
    Error,
}

impl Expression {
    /// The expressions that it consists of directly, in the order in which they stand.
    pub fn parts(&self) -> Vec<&Expression> {
        match &self.kind {
            ExpressionKind::Unary { operand, .. }
            | ExpressionKind::Cast { operand, .. }
            | ExpressionKind::SizeOf(operand) => vec![operand],
            ExpressionKind::Binary { left, right, .. } => vec![left, right],
            ExpressionKind::Conditional {
                condition,
                then,
                otherwise,
            } => vec![condition, then, otherwise],
            ExpressionKind::Field { object, .. } => vec![object],
            ExpressionKind::Member { object, member, .. } => vec![object, member],
            ExpressionKind::Index { object, index } => vec![object, index],
            ExpressionKind::Slice { object, start, end } => vec![object, start, end],
            // The `len` of `len(x)` is no name of the program.
            ExpressionKind::Call { arguments, .. } if self.counted().is_some() => {
                arguments.iter().collect()
            }
            ExpressionKind::Call {
                function,
                arguments,
            } => std::iter::once(&**function).chain(arguments).collect(),
            ExpressionKind::Set(elements) | ExpressionKind::Sequence(elements) => {
                elements.iter().collect()
            }
            ExpressionKind::Map(entries) => entries
                .iter()
                .flat_map(|(key, value)| [key, value])
                .collect(),
            _ => Vec::new(),
        }
    }

    /// All expressions in it, itself first.
    pub fn all_parts(&self) -> Vec<&Expression> {
        let (mut found, mut rest) = (Vec::new(), vec![self]);
        while let Some(part) = rest.pop() {
            found.push(part);
            rest.extend(part.parts().into_iter().rev());
        }
        found
    }

    /// Whether evaluating it may run code of the debuggee.
    pub fn calls_functions(&self) -> bool {
        let mut parts = self.all_parts().into_iter();
        let is_call = |kind: &ExpressionKind| matches!(kind, ExpressionKind::Call { .. });
        parts.any(|part| is_call(&part.kind) && part.counted().is_none())
    }

    /// Whether something in it is `len(x)`.
    pub fn counts(&self) -> bool {
        let mut parts = self.all_parts().into_iter();
        parts.any(|part| part.counted().is_some())
    }

    /// What `len(x)` counts the elements of. It is no call: nothing of the debuggee runs.
    pub fn counted(&self) -> Option<&Expression> {
        let ExpressionKind::Call {
            function,
            arguments,
        } = &self.kind
        else {
            return None;
        };
        match (&function.kind, &**arguments) {
            (ExpressionKind::Name(name), [counted]) if &**name == "len" => Some(counted),
            _ => None,
        }
    }
}

/// An operator before its operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOperator {
    /// `not x`, `!x`
    Not,
    /// `-x`
    Negate,
    /// `+x`: the number that it is.
    Plus,
    /// `~x`
    Complement,
    /// `*x`
    Dereference,
    /// `&x`
    AddressOf,
    /// `^x`: the same in the frame of the caller.
    Caller,
}

impl fmt::Display for UnaryOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            UnaryOperator::Not => "not",
            UnaryOperator::Negate => "-",
            UnaryOperator::Plus => "+",
            UnaryOperator::Complement => "~",
            UnaryOperator::Dereference => "*",
            UnaryOperator::AddressOf => "&",
            UnaryOperator::Caller => "^",
        })
    }
}

/// An operator between its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOperator {
    /// `or`, `||`
    Or,
    /// `and`, `&&`
    And,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `x in s`: an element of a set or sequence, a key of a map.
    In,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `&`
    BitAnd,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `p@n`: `n` elements from `p` on.
    Repeat,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
}

impl BinaryOperator {
    /// True for `and` and `or`.
    pub fn is_logical(self) -> bool {
        matches!(self, BinaryOperator::And | BinaryOperator::Or)
    }

    /// True for the six comparisons.
    pub fn is_comparison(self) -> bool {
        use BinaryOperator::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        matches!(
            self,
            Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual
        )
    }

    /// True for `&`, `|`, `^`.
    pub fn is_bitwise(self) -> bool {
        use BinaryOperator::{BitAnd, BitOr, BitXor};
        matches!(self, BitAnd | BitOr | BitXor)
    }
}

impl fmt::Display for BinaryOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BinaryOperator::Or => "or",
            BinaryOperator::And => "and",
            BinaryOperator::Equal => "==",
            BinaryOperator::NotEqual => "!=",
            BinaryOperator::Less => "<",
            BinaryOperator::LessEqual => "<=",
            BinaryOperator::Greater => ">",
            BinaryOperator::GreaterEqual => ">=",
            BinaryOperator::In => "in",
            BinaryOperator::BitOr => "|",
            BinaryOperator::BitXor => "^",
            BinaryOperator::BitAnd => "&",
            BinaryOperator::ShiftLeft => "<<",
            BinaryOperator::ShiftRight => ">>",
            BinaryOperator::Repeat => "@",
            BinaryOperator::Add => "+",
            BinaryOperator::Subtract => "-",
            BinaryOperator::Multiply => "*",
            BinaryOperator::Divide => "/",
            BinaryOperator::Remainder => "%",
        })
    }
}
