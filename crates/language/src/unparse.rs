//! Conversion of expressions to text, with some names replaced.
//!
//! **Invariant:** the text parses as the same expression. Operands of operators that
//! are operations themselves are parenthesized.

use crate::syntax::{Expression, ExpressionKind, UnaryOperator};
use std::fmt::Write as _;

/// Replaces names. A method returns true if it has written a replacement.
pub(crate) trait Names {
    /// Writes a replacement for a name to `before`, which contains the preceding text.
    fn replace(&mut self, name: &str, expression: &Expression, before: &mut String) -> bool;

    /// Writes a replacement for `{expression}`, which cannot be a set: the program has
    /// none.
    fn insert(&mut self, _expression: &Expression, _before: &mut String) -> bool {
        false
    }
}

/// Replaces nothing.
pub(crate) struct Unchanged;

impl Names for Unchanged {
    fn replace(&mut self, _: &str, _: &Expression, _: &mut String) -> bool {
        false
    }
}

/// Appends an expression to `text`; expressions without syntax are omitted.
pub(crate) fn write(expression: &Expression, names: &mut impl Names, text: &mut String) {
    match &expression.kind {
        ExpressionKind::Integer(number) => push(text, number),
        ExpressionKind::Float(number) => push(text, format_args!("{number:?}")),
        ExpressionKind::Text(literal) => text.push_str(&quoted(literal)),
        ExpressionKind::Bool(truth) => push(text, truth),
        ExpressionKind::Null => text.push_str("null"),
        ExpressionKind::Name(name) => {
            if !names.replace(name, expression, text) {
                text.push_str(name);
            }
        }
        ExpressionKind::Register(name) => push(text, format_args!("${name}")),
        ExpressionKind::Argument(number) => push(text, format_args!("arg {number}")),
        ExpressionKind::Return => text.push_str("ret"),
        ExpressionKind::Unary { operator, operand } => {
            push(text, operator);
            if *operator == UnaryOperator::Not {
                text.push(' ');
            }
            enclosed(operand, names, text);
        }
        ExpressionKind::Binary {
            operator,
            left,
            right,
        } => {
            enclosed(left, names, text);
            push(text, format_args!(" {operator} "));
            enclosed(right, names, text);
        }
        ExpressionKind::Conditional {
            condition,
            then,
            otherwise,
        } => {
            enclosed(condition, names, text);
            text.push_str(" ? ");
            enclosed(then, names, text);
            text.push_str(" : ");
            enclosed(otherwise, names, text);
        }
        ExpressionKind::Assign {
            place,
            operator,
            value,
        } => {
            match place.kind {
                // Prefix operators precede an assignment everywhere: `*p = 3`.
                ExpressionKind::Unary { .. } => write(place, names, text),
                _ => enclosed(place, names, text),
            }
            text.push(' ');
            if let Some(operator) = operator {
                push(text, operator);
            }
            text.push_str("= ");
            enclosed(value, names, text);
        }
        ExpressionKind::Step {
            place,
            operator,
            is_postfix,
        } => {
            let sign = format_args!("{operator}{operator}").to_string();
            if !is_postfix {
                text.push_str(&sign);
            }
            enclosed(place, names, text);
            if *is_postfix {
                text.push_str(&sign);
            }
        }
        ExpressionKind::Comma { first, second } => {
            enclosed(first, names, text);
            text.push_str(", ");
            enclosed(second, names, text);
        }
        ExpressionKind::Field {
            object,
            field,
            arrow,
        } => {
            enclosed(object, names, text);
            text.push_str(if *arrow { "->" } else { "." });
            text.push_str(&field.text);
        }
        ExpressionKind::Member {
            object,
            member,
            arrow,
        } => {
            enclosed(object, names, text);
            text.push_str(if *arrow { "->*" } else { ".*" });
            enclosed(member, names, text);
        }
        ExpressionKind::Index { object, index } => {
            enclosed(object, names, text);
            list('[', [&**index], ']', names, text);
        }
        ExpressionKind::Slice { object, start, end } => {
            enclosed(object, names, text);
            text.push('[');
            write(start, names, text);
            text.push_str("..");
            write(end, names, text);
            text.push(']');
        }
        ExpressionKind::Cast { type_name, operand } => {
            push(text, format_args!("({type_name})"));
            enclosed(operand, names, text);
        }
        ExpressionKind::Call {
            function,
            arguments,
        } => {
            enclosed(function, names, text);
            list('(', arguments, ')', names, text);
        }
        ExpressionKind::SizeOf(operand) => {
            text.push_str("sizeof ");
            enclosed(operand, names, text);
        }
        ExpressionKind::SizeOfType(type_name) => push(text, format_args!("sizeof({type_name})")),
        ExpressionKind::SizeOfCharacter => text.push_str("sizeof('a')"),
        ExpressionKind::Set(elements) if matches!(&**elements, [one] if names.insert(one, text)) => {
        }
        ExpressionKind::Set(elements) => list('{', elements, '}', names, text),
        ExpressionKind::Sequence(elements) => list('[', elements, ']', names, text),
        ExpressionKind::Map(entries) if entries.is_empty() => text.push_str("{:}"),
        ExpressionKind::Map(entries) => {
            text.push('{');
            for (position, (key, value)) in entries.iter().enumerate() {
                text.push_str(if position > 0 { ", " } else { "" });
                write(key, names, text);
                text.push_str(": ");
                write(value, names, text);
            }
            text.push('}');
        }
        ExpressionKind::Error => {}
    }
}

/// Returns a string literal of the language.
pub(crate) fn quoted(literal: &str) -> String {
    let mut text = String::from("\"");
    for character in literal.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            '\0' => text.push_str("\\0"),
            other => text.push(other),
        }
    }
    text.push('"');
    text
}

fn push(text: &mut String, what: impl std::fmt::Display) {
    // Writing to a string never fails.
    let _ = write!(text, "{what}");
}

fn list<'e>(
    open: char,
    elements: impl IntoIterator<Item = &'e Expression>,
    close: char,
    names: &mut impl Names,
    text: &mut String,
) {
    text.push(open);
    for (position, element) in elements.into_iter().enumerate() {
        text.push_str(if position > 0 { ", " } else { "" });
        // A comma would separate two elements.
        let is_comma = matches!(element.kind, ExpressionKind::Comma { .. });
        write_in(is_comma, element, names, text);
    }
    text.push(close);
}

fn enclosed(operand: &Expression, names: &mut impl Names, text: &mut String) {
    let is_operation = matches!(
        operand.kind,
        ExpressionKind::Unary { .. }
            | ExpressionKind::Binary { .. }
            | ExpressionKind::Conditional { .. }
            | ExpressionKind::Cast { .. }
            | ExpressionKind::Member { .. }
            | ExpressionKind::SizeOf(_)
            | ExpressionKind::Assign { .. }
            | ExpressionKind::Step { .. }
            | ExpressionKind::Comma { .. }
    );
    write_in(is_operation, operand, names, text);
}

/// Appends an expression, in parentheses if `is_enclosed`.
fn write_in(is_enclosed: bool, expression: &Expression, names: &mut impl Names, text: &mut String) {
    if is_enclosed {
        text.push('(');
    }
    write(expression, names, text);
    if is_enclosed {
        text.push(')');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_expression;

    fn written(text: &str) -> String {
        let (expression, diagnostics) = parse_expression(text);
        assert_eq!(diagnostics, [], "{text}");
        let mut result = String::new();
        write(
            &expression.expect("an expression"),
            &mut Unchanged,
            &mut result,
        );
        result
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(written(text), expected);
        // Writing it again changes nothing.
        assert_eq!(written(expected), expected);
    }

    #[test]
    fn expressions_are_written_as_they_are_read() {
        check("board -> cells[ i+1 ]", "board->cells[i + 1]");
        check("a+b*c", "a + (b * c)");
        check("(a+b)*-c", "(a + b) * (-c)");
        check("*p.q", "*p.q");
        check("(*p).q", "(*p).q");
        check("((struct queue*)x)->count", "((struct queue *)x)->count");
        check("not a && !b", "(not a) and (!b)");
        check(
            "sizeof(unsigned long) + sizeof x",
            "sizeof(unsigned long) + (sizeof x)",
        );
        check("table[2..5]", "table[2..5]");
        check("f(1, g(x))", "f(1, g(x))");
        check("o.*m", "o.*m");
        check("(p->*m)(1)", "(p->*m)(1)");
        check("-o.*m * 2", "((-o).*m) * 2");
        check("(int(*)[4])p", "(int (*)[4])p");
        check(
            "(int(*(*)[3])(char*,...))p",
            "(int (*(*)[3])(char *, ...))p",
        );
        check("(int S::*)p", "(int S::*)p");
        check(
            "(int (ns::S<int>::*)(void) const)p",
            "(int (ns::S<int>::*)() const)p",
        );
        check("(char *[3])p", "(char *[3])p");
        check("(node (*)(node*))p", "(node (*)(node *))p");
        check("(a[3])", "a[3]");
        check("(a(*b))", "a(*b)");
        check("sizeof(int(*)[4])", "sizeof(int (*)[4])");
        check("sizeof('x')", "sizeof('a')");
        check("$rip + $1", "$rip + $1");
        check("p@3", "p @ 3");
        check(r#"name == "a\"\n""#, r#"name == "a\"\n""#);
        check("file.c::x", "file.c::x");
        check("-(1)", "-1");
        check("null==true", "null == true");
        check("0.5+1", "0.5 + 1");
        check(r#""\t\r\0\\""#, r#""\t\r\0\\""#);
        check("^x", "^x");
        check("+x - +1", "(+x) - (+1)");
        check("a?b:c", "a ? b : c");
        check("a ? b : c ? d : e", "a ? b : (c ? d : e)");
        check("a ? b ? c : d : e", "a ? (b ? c : d) : e");
        check(
            "a or b == 1 ? c + 1 : -d",
            "(a or (b == 1)) ? (c + 1) : (-d)",
        );
        check("(a ? b : c).x", "(a ? b : c).x");
        check("f(a ? 1 : 2)[p ? 0 : 1]", "f(a ? 1 : 2)[p ? 0 : 1]");
    }

    #[test]
    fn assignments_are_written_as_they_are_read() {
        check("x=5", "x = 5");
        check("(x = 5)+1", "(x = 5) + 1");
        check("x<<=2", "x <<= 2");
        check("a=b+=c>>=1", "a = (b += (c >>= 1))");
        check("x/=2, y%=3, z&=1", "((x /= 2), (y %= 3)), (z &= 1)");
        check("x|=1, y^=3", "(x |= 1), (y ^= 3)");
        check("*p++=7", "*(p++) = 7");
        check("x+++n", "(x++) + n");
        check("++x*2", "(++x) * 2");
        check("- --x", "-(--x)");
        check("-x--", "-(x--)");
        check("(*p)++", "(*p)++");
        check("p++->x--", "(p++)->x--");
        check("n > 0 ? x = 4 : 3", "(n > 0) ? (x = 4) : 3");
        check("x = y ? 4 : 5", "x = (y ? 4 : 5)");
        check("a[i++, j] = f(x, (y, z))", "a[((i++), j)] = f(x, (y, z))");
        check("$x = 1", "$x = 1");
        check("c[1].d->e -= -1", "c[1].d->e -= (-1)");
    }

    #[test]
    fn collections_are_written_as_they_are_read() {
        let written = |text: &str| {
            let source = format!("property p event e = before f state s {{ on e when {text} }}");
            let parse = crate::parse::parse(&source);
            assert_eq!(parse.diagnostics, [], "{text}");
            let state = &parse.file.properties[0].states[0];
            let mut result = String::new();
            let guard = state.transitions[0].guard.as_ref().expect("a guard");
            write(guard, &mut Unchanged, &mut result);
            result
        };
        for (text, expected) in [
            ("{1,x}==y", "{1, x} == y"),
            ("{1}==y", "{1} == y"),
            ("[1,x,2]==y", "[1, x, 2] == y"),
            ("[]==y", "[] == y"),
            ("{:}==y", "{:} == y"),
            ("{1:2,x:y+1}==z", "{1: 2, x: y + 1} == z"),
        ] {
            assert_eq!(written(text), expected);
            assert_eq!(written(expected), expected);
        }
    }
}
