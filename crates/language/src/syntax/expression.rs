//! The syntax of expressions and types.

use super::{Name, TypeName};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    /// The kind.
    pub kind: ExpressionKind,
    /// The position in the source, in bytes, including surrounding parentheses.
    pub span: Range<usize>,
}

/// The kinds of expressions.
#[derive(Debug, Clone, PartialEq)]
pub enum ExpressionKind {
    /// `12`, `0xff`, `0b1_0`, `'a'`
    Integer(i128),
    /// `1.5`
    Float(f64),
    /// `"text"`, with escapes resolved.
    Text(Arc<str>),
    /// `true`, `false`
    Bool(bool),
    /// `null`
    Null,
    /// `x`, `module::x`, `file.c::x`, joined as written without spaces.
    Name(Box<str>),
    /// `$rip`: the name after the dollar, which may be empty.
    Register(Box<str>),
    /// `arg 2`: the argument at a position counted from 1; in captures only.
    Argument(u8),
    /// `ret`: the return value; in captures only.
    Return,
    /// A unary operation.
    Unary {
        /// The operator.
        operator: UnaryOperator,
        /// The operand.
        operand: Box<Expression>,
    },
    /// A binary operation.
    Binary {
        /// The operator.
        operator: BinaryOperator,
        /// The left operand.
        left: Box<Expression>,
        /// The right operand.
        right: Box<Expression>,
    },
    /// `a ? b : c`: of `b` and `c` one is evaluated.
    Conditional {
        /// The condition.
        condition: Box<Expression>,
        /// The value if the condition is true.
        then: Box<Expression>,
        /// The value if the condition is false.
        otherwise: Box<Expression>,
    },
    /// `x = 3`, `x += 3`: at the prompt only.
    Assign {
        /// The place that is changed.
        place: Box<Expression>,
        /// The operator before the `=`.
        operator: Option<BinaryOperator>,
        /// The value, or the right operand of the operator.
        value: Box<Expression>,
    },
    /// `++x`, `x++`, `--x`, `x--`: at the prompt only.
    Step {
        /// The place that is changed.
        place: Box<Expression>,
        /// The operator between the place and 1: a sum or a difference.
        operator: BinaryOperator,
        /// True if the value is that before the change.
        is_postfix: bool,
    },
    /// `a, b`: `a` is evaluated, and the value is that of `b`; at the prompt only.
    Comma {
        /// The expression that is evaluated first.
        first: Box<Expression>,
        /// The expression that has the value.
        second: Box<Expression>,
    },
    /// `p.field`, `p->field`
    Field {
        /// The object.
        object: Box<Expression>,
        /// The field; digits for a field of a tuple.
        field: Name,
        /// True for `->`.
        arrow: bool,
    },
    /// `o.*m`, `p->*m`: the member that a C++ pointer to member denotes.
    Member {
        /// The object.
        object: Box<Expression>,
        /// The pointer to a member.
        member: Box<Expression>,
        /// True for `->*`.
        arrow: bool,
    },
    /// `p[i]`
    Index {
        /// The collection, array or pointer.
        object: Box<Expression>,
        /// The index.
        index: Box<Expression>,
    },
    /// `p[a..b]`: elements from `a` up to but excluding `b`.
    Slice {
        /// The array or pointer.
        object: Box<Expression>,
        /// The first element.
        start: Box<Expression>,
        /// The index after the last element.
        end: Box<Expression>,
    },
    /// `(type *)x`
    Cast {
        /// The type.
        type_name: TypeName,
        /// The operand.
        operand: Box<Expression>,
    },
    /// `f(a, b)`: at the prompt a call of a function of the debuggee, in a property a
    /// call of a function of the language or of the property.
    Call {
        /// The function: a name, or a pointer to code.
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
    /// Text with a syntax error, for which there is a diagnostic.
    Error,
}

impl Expression {
    /// Returns the direct subexpressions, in the order of the text.
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
            ExpressionKind::Assign { place, value, .. } => vec![place, value],
            ExpressionKind::Step { place, .. } => vec![place],
            ExpressionKind::Comma { first, second } => vec![first, second],
            ExpressionKind::Field { object, .. } => vec![object],
            ExpressionKind::Member { object, member, .. } => vec![object, member],
            ExpressionKind::Index { object, index } => vec![object, index],
            ExpressionKind::Slice { object, start, end } => vec![object, start, end],
            // The `len` of `len(x)` is not a name of the program.
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

    /// Returns all subexpressions, beginning with the expression itself.
    pub fn all_parts(&self) -> Vec<&Expression> {
        let (mut found, mut rest) = (Vec::new(), vec![self]);
        while let Some(part) = rest.pop() {
            found.push(part);
            rest.extend(part.parts().into_iter().rev());
        }
        found
    }

    /// Returns true if it begins with a sign that is also a binary operator, as `-x + 1` does.
    pub fn begins_with_sign(&self) -> bool {
        let mut part = self;
        loop {
            part = match &part.kind {
                ExpressionKind::Unary { operator, .. } => {
                    return !matches!(
                        operator,
                        UnaryOperator::Not
                            | UnaryOperator::NotOrComplement
                            | UnaryOperator::Complement
                    );
                }
                ExpressionKind::Binary { left, .. } => left,
                ExpressionKind::Conditional { condition, .. } => condition,
                _ => return false,
            };
        }
    }

    /// Returns true if evaluating it may run code of the debuggee.
    pub fn calls_functions(&self) -> bool {
        let mut parts = self.all_parts().into_iter();
        let is_call = |kind: &ExpressionKind| matches!(kind, ExpressionKind::Call { .. });
        parts.any(|part| {
            is_call(&part.kind) && part.counted().is_none() && part.built_in().is_none()
        })
    }

    /// Returns true if evaluating it changes a variable, memory or a register.
    pub fn assigns(&self) -> bool {
        let mut parts = self.all_parts().into_iter();
        parts.any(|part| {
            matches!(
                part.kind,
                ExpressionKind::Assign { .. } | ExpressionKind::Step { .. }
            )
        })
    }

    /// Returns true if evaluating it may do more than read: it calls a function of the
    /// debuggee, or assigns.
    pub fn has_effects(&self) -> bool {
        self.calls_functions() || self.assigns()
    }

    /// Returns the name, without its dollar, and the arguments if this is `$_streq(a, b)`: a
    /// function of the debugger. No code of the debuggee runs.
    pub fn built_in(&self) -> Option<(&str, &[Expression])> {
        let ExpressionKind::Call {
            function,
            arguments,
        } = &self.kind
        else {
            return None;
        };
        match &function.kind {
            ExpressionKind::Register(name) if name.starts_with('_') => Some((name, arguments)),
            _ => None,
        }
    }

    /// Returns true if it contains `len(x)`.
    pub fn counts(&self) -> bool {
        let mut parts = self.all_parts().into_iter();
        parts.any(|part| part.counted().is_some())
    }

    /// Returns `x` if this is `len(x)`, which is not a call: no code of the debuggee
    /// runs.
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

/// A unary operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOperator {
    /// `not x`; in a property also `!x`.
    Not,
    /// `!x` of the program: `not x`, or the complement of an integer of Rust.
    NotOrComplement,
    /// `-x`
    Negate,
    /// `+x`: the operand as a number.
    Plus,
    /// `~x`
    Complement,
    /// `*x`
    Dereference,
    /// `&x`
    AddressOf,
    /// `^x`: the operand in the frame of the caller.
    Caller,
}

impl fmt::Display for UnaryOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            UnaryOperator::Not => "not",
            UnaryOperator::NotOrComplement => "!",
            UnaryOperator::Negate => "-",
            UnaryOperator::Plus => "+",
            UnaryOperator::Complement => "~",
            UnaryOperator::Dereference => "*",
            UnaryOperator::AddressOf => "&",
            UnaryOperator::Caller => "^",
        })
    }
}

/// A binary operator.
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
    /// `p@n`: `n` elements starting at `p`.
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
    /// Returns true for `and` and `or`.
    pub fn is_logical(self) -> bool {
        matches!(self, BinaryOperator::And | BinaryOperator::Or)
    }

    /// Returns true for the six comparisons.
    pub fn is_comparison(self) -> bool {
        use BinaryOperator::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        matches!(
            self,
            Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual
        )
    }

    /// Returns true for `&`, `|`, `^`.
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
