//! Operators and built-in functions: operand and result types.

use super::{Checker, Outcome};
use crate::asm::program::{Builtin, Term, TermKind};
use crate::asm::syntax::{Binary, Expression};
use crate::asm::types::Type;
use crate::{Fault, Span};
use std::sync::Arc;

impl Checker<'_> {
    pub(super) fn binary(
        &mut self,
        operator: Binary,
        left: &Expression,
        right: &Expression,
        span: Span,
    ) -> Outcome<(TermKind, Type)> {
        let (left, right) = (self.expression(left)?, self.expression(right)?);
        let of = match operator {
            Binary::Implies | Binary::Or | Binary::And => {
                self.both(&Type::Boolean, &left, &right)?;
                Type::Boolean
            }
            Binary::Equal | Binary::NotEqual => {
                self.comparable(&left, &right)?;
                Type::Boolean
            }
            Binary::Less | Binary::LessOrEqual | Binary::Greater | Binary::GreaterOrEqual => {
                self.both(&Type::Integer, &left, &right)?;
                Type::Boolean
            }
            Binary::In | Binary::NotIn => {
                self.membership(&left, &right)?;
                Type::Boolean
            }
            Binary::Range => {
                self.both(&Type::Integer, &left, &right)?;
                let of = match (left.of.present(), right.of.present()) {
                    (Type::Range(from, _), Type::Range(_, to)) => Type::Range(*from, *to),
                    _ => Type::Integer,
                };
                Type::Set(Arc::new(of))
            }
            Binary::Add
            | Binary::Subtract
            | Binary::Multiply
            | Binary::Divide
            | Binary::Remainder => {
                self.both(&Type::Integer, &left, &right)?;
                Type::Integer
            }
            Binary::Union | Binary::Except | Binary::Join | Binary::Intersect => {
                self.collections(operator, &left, &right, span)?
            }
        };
        let (left, right) = (Box::new(left), Box::new(right));
        Ok((TermKind::Binary(operator, left, right), of))
    }

    fn both(&self, wanted: &Type, left: &Term, right: &Term) -> Outcome<()> {
        for term in [left, right] {
            if !wanted.takes(&term.of) {
                return Err(self.mismatch(wanted, term));
            }
        }
        Ok(())
    }

    fn comparable(&self, left: &Term, right: &Term) -> Outcome<()> {
        let never_undefined = |of: &Type| !matches!(of, Type::Optional(_) | Type::Undefined);
        for (one, other) in [(left, right), (right, left)] {
            if one.of == Type::Undefined && never_undefined(&other.of) {
                let message = format!("a value of type {} is never `undef`", self.show(&other.of));
                return Err(Fault::new("type", message, Some(other.span)));
            }
        }
        if left.of.join(&right.of).is_some() {
            Ok(())
        } else {
            Err(self.mismatch(&left.of, right))
        }
    }

    fn membership(&self, left: &Term, right: &Term) -> Outcome<()> {
        let of = match right.of.present() {
            Type::Set(of) | Type::Sequence(of) | Type::Map(of, _) => of,
            _ => {
                let message = format!(
                    "expected a set, a sequence or a map, found {}",
                    self.show(&right.of)
                );
                return Err(Fault::new("type", message, Some(right.span)));
            }
        };
        if of.join(&left.of).is_some() {
            Ok(())
        } else {
            Err(self.mismatch(of, left))
        }
    }

    fn collections(
        &self,
        operator: Binary,
        left: &Term,
        right: &Term,
        span: Span,
    ) -> Outcome<Type> {
        let (one, other) = (left.of.present(), right.of.present());
        let fits = match (operator, one, other) {
            (Binary::Union | Binary::Intersect | Binary::Except, Type::Set(_), Type::Set(_))
            | (Binary::Join, Type::Sequence(_), Type::Sequence(_))
            | (Binary::Join, Type::Map(..), Type::Map(..)) => one.join(other),
            (Binary::Except, Type::Map(key, _), Type::Set(keys)) => {
                key.join(keys).map(|_| one.clone())
            }
            _ => {
                let message = format!(
                    "this operator cannot be applied to {} and {}",
                    self.show(one),
                    self.show(other)
                );
                return Err(Fault::new("type", message, Some(span)).help(
                    "`union`, `intersect` and `except` are for sets, `++` for sequences and maps",
                ));
            }
        };
        fits.ok_or_else(|| self.mismatch(one, right))
    }

    pub(super) fn part(
        &mut self,
        tuple: &Expression,
        number: i64,
        span: Span,
    ) -> Outcome<(TermKind, Type)> {
        let tuple = self.expression(tuple)?;
        let part = usize::try_from(number - 1).ok();
        let found = match (tuple.of.present(), part) {
            (Type::Tuple(types), Some(part)) => types.get(part).cloned().zip(Some(part)),
            _ => None,
        };
        match found {
            Some((of, part)) => Ok((TermKind::Part(Box::new(tuple), part), of)),
            None => {
                let message = format!("{} has no component {number}", self.show(&tuple.of));
                Err(Fault::new("type", message, Some(span)))
            }
        }
    }

    pub(super) fn index(
        &mut self,
        collection: &Expression,
        index: &Expression,
    ) -> Outcome<(TermKind, Type)> {
        let (collection, index) = (self.expression(collection)?, self.expression(index)?);
        let (key, of) = match collection.of.present() {
            Type::Map(key, of) => (Type::clone(key), Type::clone(of)),
            Type::Sequence(of) => (Type::Integer, Type::clone(of)),
            _ => {
                let message = format!(
                    "expected a map or a sequence, found {}",
                    self.show(&collection.of)
                );
                return Err(Fault::new("type", message, Some(collection.span)));
            }
        };
        if key.join(&index.of).is_none() {
            return Err(self.mismatch(&key, &index));
        }
        let kind = TermKind::Index(Box::new(collection), Box::new(index));
        Ok((kind, of))
    }

    pub(super) fn builtin(&self, builtin: Builtin, argument: &Term) -> Outcome<Type> {
        let of = argument.of.present();
        let integers = |of: &Type| Type::Integer.takes(of);
        match (builtin, of) {
            (Builtin::Size, Type::Set(_) | Type::Sequence(_) | Type::Map(..) | Type::Text) => {
                Ok(Type::Integer)
            }
            (Builtin::Head | Builtin::Last, Type::Sequence(of)) => Ok(Type::clone(of)),
            (Builtin::Tail, Type::Sequence(_)) => Ok(of.clone()),
            (Builtin::Elements, Type::Sequence(of)) => Ok(Type::Set(Arc::clone(of))),
            (Builtin::Ordered, Type::Set(of)) => Ok(Type::Sequence(Arc::clone(of))),
            (Builtin::Keys, Type::Map(key, _)) => Ok(Type::Set(Arc::clone(key))),
            (Builtin::Values, Type::Map(_, of)) => Ok(Type::Set(Arc::clone(of))),
            (Builtin::Least | Builtin::Greatest, Type::Set(of) | Type::Sequence(of))
                if integers(of) =>
            {
                Ok(Type::clone(of))
            }
            (Builtin::Sum, Type::Set(of) | Type::Sequence(of)) if integers(of) => Ok(Type::Integer),
            _ => {
                let wanted = match builtin {
                    Builtin::Size => "a collection",
                    Builtin::Head | Builtin::Last | Builtin::Tail | Builtin::Elements => {
                        "a sequence"
                    }
                    Builtin::Ordered => "a set",
                    Builtin::Keys | Builtin::Values => "a map",
                    Builtin::Least | Builtin::Greatest | Builtin::Sum => {
                        "a set or a sequence of numbers"
                    }
                };
                let message = format!("expected {wanted}, found {}", self.show(of));
                Err(Fault::new("type", message, Some(argument.span)))
            }
        }
    }
}
