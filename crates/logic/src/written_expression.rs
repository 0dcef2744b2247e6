//! Conversion of expressions between abstract syntax and normal form.

use crate::expression::{EMPTY, Expression, ExpressionId, Expressions, NOTHING};
use crate::normal::{DEPTH_MAX, SIZE_MAX};
use crate::{LogicError, Regex};
use std::sync::Arc;

impl Expressions {
    /// Returns the normal form of an expression.
    pub fn of(&mut self, regex: &Regex) -> Result<ExpressionId, LogicError> {
        check_size(regex, DEPTH_MAX, &mut 0)?;
        self.add(regex)
    }

    fn add(&mut self, regex: &Regex) -> Result<ExpressionId, LogicError> {
        match regex {
            Regex::Nothing => Ok(NOTHING),
            Regex::Empty => Ok(EMPTY),
            Regex::Letter(guard) if guard.is_contradictory() => Ok(NOTHING),
            Regex::Letter(guard) => self.intern(Expression::Letter(*guard)),
            Regex::Sequence(first, second) => {
                let parts = [self.add(first)?, self.add(second)?];
                self.sequence(&parts)
            }
            Regex::Choice(first, second) => {
                let parts = [self.add(first)?, self.add(second)?];
                self.choice(&parts)
            }
            Regex::Both(first, second) => {
                let parts = [self.add(first)?, self.add(second)?];
                self.both(&parts)
            }
            Regex::Complement(part) => {
                let part = self.add(part)?;
                self.complement(part)
            }
            Regex::Repeat {
                expression,
                from,
                to,
            } => {
                let part = self.add(expression)?;
                self.repeat(part, *from, *to)
            }
        }
    }

    /// Returns an expression in normal form as abstract syntax.
    pub fn regex(&self, expression: ExpressionId) -> Regex {
        let join = |parts: &[ExpressionId], make: fn(Arc<Regex>, Arc<Regex>) -> Regex| {
            let mut parts = parts.iter().rev().map(|part| self.regex(*part));
            let last = parts.next().unwrap_or(Regex::Empty);
            parts.fold(last, |rest, part| make(Arc::new(part), Arc::new(rest)))
        };
        match self.expression(expression) {
            Expression::Nothing => Regex::Nothing,
            Expression::Empty => Regex::Empty,
            Expression::Letter(guard) => Regex::Letter(*guard),
            Expression::Sequence(parts) => join(parts, Regex::Sequence),
            Expression::Choice(parts) => join(parts, Regex::Choice),
            Expression::Both(parts) => join(parts, Regex::Both),
            Expression::Complement(part) => Regex::Complement(Arc::new(self.regex(*part))),
            Expression::Repeat {
                expression,
                from,
                to,
            } => Regex::Repeat {
                expression: Arc::new(self.regex(*expression)),
                from: *from,
                to: *to,
            },
        }
    }
}

fn check_size(regex: &Regex, depth: usize, size: &mut usize) -> Result<(), LogicError> {
    *size += 1;
    if *size > SIZE_MAX {
        return Err(LogicError::TooLarge { limit: SIZE_MAX });
    }
    let Some(depth) = depth.checked_sub(1) else {
        return Err(LogicError::TooDeep { limit: DEPTH_MAX });
    };
    match regex {
        Regex::Nothing | Regex::Empty | Regex::Letter(_) => Ok(()),
        Regex::Sequence(first, second)
        | Regex::Choice(first, second)
        | Regex::Both(first, second) => {
            check_size(first, depth, size)?;
            check_size(second, depth, size)
        }
        Regex::Complement(part) => check_size(part, depth, size),
        Regex::Repeat { expression, .. } => check_size(expression, depth, size),
    }
}
