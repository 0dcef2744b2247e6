//! Parser of the bounds of temporal operators: `within 5 ms`, `for 3 steps`.

use super::Parser;
use crate::syntax::BoundExpression;
use crate::token::TokenKind;
use juror_fault::Diagnostic;

impl Parser<'_> {
    /// `within 5 ms`, `for 3 steps`, `from 1 to 2 s`
    pub(super) fn bound(&mut self) -> Option<BoundExpression> {
        let numbered = matches!(self.kind_ahead(1), TokenKind::Integer | TokenKind::Float);
        if self.kind() != TokenKind::Word || !numbered {
            return None;
        }
        let start = self.start();
        let ranged = match self.text() {
            "within" | "for" => false,
            "from" => true,
            _ => return None,
        };
        self.advance();
        let first = self.amount()?;
        let (from, to) = if ranged {
            if !self.take_word("to") {
                let error = self.expected("`to`");
                self.report(error);
                return None;
            }
            (first, self.amount()?)
        } else {
            (Amount::default(), first)
        };
        // `from 1 to 2 s`: the unit of the second is that of both.
        let unit = to.unit.or(from.unit);
        let bound = self.bound_of(&from, &to, unit, start);
        if bound.is_none() {
            let span = self.span_from(start);
            let error =
                Diagnostic::error("bad-bound", span, "this is neither a duration nor a count");
            self.report(error.help("write `within 5 ms` or `within 10 steps`"));
        }
        bound
    }

    fn bound_of(
        &self,
        from: &Amount,
        to: &Amount,
        unit: Option<Unit>,
        start: usize,
    ) -> Option<BoundExpression> {
        let unit = unit?;
        let from_unit = from.unit.unwrap_or(unit);
        if (unit == Unit::Steps) != (from_unit == Unit::Steps) {
            return None;
        }
        let (from, to) = (from_unit.of(from.number)?, unit.of(to.number)?);
        (from <= to).then(|| BoundExpression {
            from,
            to: Some(to),
            is_time: unit != Unit::Steps,
            span: self.span_from(start),
        })
    }

    /// Parses a number and its unit, which may be joined: `5 ms`, `5ms`.
    fn amount(&mut self) -> Option<Amount> {
        if !matches!(self.kind(), TokenKind::Integer | TokenKind::Float) {
            let error = self.expected("a number");
            self.report(error);
            return None;
        }
        let text = self.text();
        self.advance();
        let end = text.find(|c: char| c.is_alphabetic());
        let (digits, suffix) = text.split_at(end.unwrap_or(text.len()));
        let digits: String = digits.chars().filter(|&c| c != '_').collect();
        let mut unit = Unit::named(suffix);
        if suffix.is_empty() && self.kind() == TokenKind::Word {
            unit = Unit::named(self.text());
            if unit.is_some() {
                self.advance();
            }
        }
        Some(Amount {
            // An invalid number makes the bound invalid.
            number: digits.parse().unwrap_or(f64::NAN),
            unit,
        })
    }
}

/// A number with its unit.
#[derive(Debug, Clone, Copy, Default)]
struct Amount {
    number: f64,
    unit: Option<Unit>,
}

/// The unit of a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Steps,
    Nanoseconds(u64),
}

impl Unit {
    fn named(word: &str) -> Option<Unit> {
        Some(match word {
            "step" | "steps" | "event" | "events" => Unit::Steps,
            "ns" => Unit::Nanoseconds(1),
            "us" => Unit::Nanoseconds(1_000),
            "ms" => Unit::Nanoseconds(1_000_000),
            "s" => Unit::Nanoseconds(1_000_000_000),
            "min" => Unit::Nanoseconds(60_000_000_000),
            _ => return None,
        })
    }

    /// Converts a number of units to steps or nanoseconds, if the result is exact.
    fn of(self, number: f64) -> Option<u64> {
        let (product, limit) = match self {
            Unit::Steps => (number, f64::from(u32::MAX)),
            // 2^53: integers up to here are exact.
            Unit::Nanoseconds(each) => (number * each as f64, 9_007_199_254_740_992.0),
        };
        let whole = product >= 0.0 && product <= limit && product.fract() == 0.0;
        whole.then_some(product as u64)
    }
}
