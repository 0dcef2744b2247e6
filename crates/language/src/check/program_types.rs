//! Operations on values of the event in the types of the program, as at the prompt:
//! `count - 1` wraps if `count` is unsigned, and `p + 1` is the next element.
//!
//! The types are known when the event is bound to the program. So the operation becomes
//! a capture of the event; the exact operation is kept for values without types, which
//! are those of a recorded run.
//!
//! **Invariant:** operations that involve variables of the property or context values
//! are exact.

use super::Checker;
use super::scope::{Names, Scope};
use crate::syntax::{BinaryOperator, UnaryOperator};
use crate::term::{Kind, Term, TermKind};
use juror_event::{Arithmetic, Read, Value};
use std::fmt::Write as _;

impl Checker<'_> {
    /// Replaces the largest subterms that depend on values of the event only by
    /// operations in the types of the program.
    pub(super) fn in_program_types(&mut self, mut term: Term, scope: &mut Scope) -> Term {
        let Names::Event(event) = scope.names else {
            return term;
        };
        let arithmetic = if is_typed(&term) {
            self.arithmetic(&term, event)
        } else {
            None
        };
        if let Some(arithmetic) = arithmetic {
            let read = Read::Arithmetic(arithmetic);
            let name = read.to_string();
            let span = term.span.clone();
            return match self.capture_slot(&span, scope, read, name, Kind::Unknown) {
                Some(slot) => {
                    let exact = Box::new(term);
                    let kind = TermKind::Arithmetic { slot, exact };
                    Term { kind, span }
                }
                None => term,
            };
        }
        for part in term.parts_mut() {
            let nothing = Term {
                kind: TermKind::Constant(Value::Bool(false)),
                span: part.span.clone(),
            };
            *part = self.in_program_types(std::mem::replace(part, nothing), scope);
        }
        term
    }

    /// Converts an operation to one over captures; returns `None` if it has other
    /// operands.
    fn arithmetic(&self, term: &Term, event: u16) -> Option<Arithmetic> {
        let mut writer = Writer {
            checker: self,
            event: usize::from(event),
            operands: Vec::new(),
            text: String::new(),
        };
        writer.operation(term)?;
        let is_exact = match *writer.operands {
            [] => true,
            // The old and the new value of a location have the same type.
            [Read::Value, Read::Old] | [Read::Old, Read::Value] => compares_values(term),
            _ => false,
        };
        (!is_exact).then(|| Arithmetic {
            text: writer.text.into(),
            operands: writer.operands.into(),
        })
    }
}

fn compares_values(term: &Term) -> bool {
    let is_value = |side: &Term| matches!(side.kind, TermKind::Capture(_));
    match &term.kind {
        TermKind::Binary {
            operator,
            left,
            right,
        } => operator.is_comparison() && is_value(left) && is_value(right),
        _ => false,
    }
}

/// Returns true if the result of an operation may depend on the types of its operands.
fn is_typed(term: &Term) -> bool {
    let is_plain = |side: &Term| match &side.kind {
        TermKind::Constant(Value::Int(number)) => *number >= 0,
        TermKind::Constant(_) => true,
        _ => false,
    };
    match &term.kind {
        TermKind::Unary { operator, .. } => {
            matches!(operator, UnaryOperator::Negate | UnaryOperator::Complement)
        }
        TermKind::Conditional { .. } => true,
        TermKind::Binary { operator, .. } if operator.is_logical() => false,
        TermKind::Binary {
            operator: BinaryOperator::In,
            ..
        } => false,
        // A value and a number that all types can represent.
        TermKind::Binary {
            operator,
            left,
            right,
        } if operator.is_comparison() => {
            let sides = [left, right];
            let is_value = |side: &Term| matches!(side.kind, TermKind::Capture(_));
            let has_number = sides.iter().any(|side| is_plain(side));
            !(has_number && sides.iter().any(|side| is_value(side)))
        }
        TermKind::Binary { .. } => true,
        _ => false,
    }
}

/// Writes an operation with numbered operands.
struct Writer<'c, 'd> {
    checker: &'c Checker<'d>,
    event: usize,
    operands: Vec<Read>,
    text: String,
}

impl Writer<'_, '_> {
    fn operation(&mut self, term: &Term) -> Option<()> {
        match &term.kind {
            TermKind::Constant(value) => self.constant(value),
            TermKind::Capture(slot) => self.operand(*slot),
            TermKind::Unary { operator, operand } => {
                let space = match operator {
                    UnaryOperator::Not => " ",
                    _ => "",
                };
                write!(self.text, "{operator}{space}").ok()?;
                self.enclosed(operand)
            }
            TermKind::Binary { operator, .. } if *operator == BinaryOperator::In => None,
            TermKind::Binary {
                operator,
                left,
                right,
            } => {
                self.enclosed(left)?;
                write!(self.text, " {operator} ").ok()?;
                self.enclosed(right)
            }
            TermKind::Conditional {
                condition,
                then,
                otherwise,
            } => {
                self.enclosed(condition)?;
                self.text.push_str(" ? ");
                self.enclosed(then)?;
                self.text.push_str(" : ");
                self.enclosed(otherwise)
            }
            _ => None,
        }
    }

    fn enclosed(&mut self, term: &Term) -> Option<()> {
        if matches!(term.kind, TermKind::Constant(_) | TermKind::Capture(_)) {
            return self.operation(term);
        }
        self.text.push('(');
        self.operation(term)?;
        self.text.push(')');
        Some(())
    }

    fn constant(&mut self, value: &Value) -> Option<()> {
        match value {
            Value::Int(number @ 0..) => write!(self.text, "{number}").ok(),
            Value::Int(number) => write!(self.text, "({number})").ok(),
            Value::Bool(truth) => write!(self.text, "{truth}").ok(),
            Value::Float(number) if number.is_finite() => write!(self.text, "{number:?}").ok(),
            Value::Address(0) => {
                self.text.push_str("null");
                Some(())
            }
            _ => None,
        }
    }

    fn operand(&mut self, slot: u8) -> Option<()> {
        let slot = usize::from(slot);
        let kind = self.checker.capture_kinds.get(self.event)?.get(slot)?;
        if !kind.is_number() && !matches!(kind, Kind::Boolean | Kind::Unknown) {
            return None;
        }
        let event = self.checker.events.get(self.event)?;
        let read = &event.captures.get(slot)?.read;
        let inner = match read {
            Read::Convert(inner, _) => inner,
            read => read,
        };
        if inner.is_context_value() && !matches!(inner, Read::Value | Read::Old) {
            return None;
        }
        let known = self.operands.iter().position(|known| known == read);
        let number = known.unwrap_or(self.operands.len());
        if known.is_none() {
            self.operands.push(read.clone());
        }
        write!(self.text, "${number}").ok()
    }
}
