//! Parser of types: `Mode`, `1..3`, `optional T`, `{T}`, `[T]`, `{K -> V}`, `(A, B)`.

use super::{Outcome, Parser};
use crate::asm::lexer::Kind;
use crate::asm::syntax::Written;

impl Parser {
    pub(super) fn written_type(&mut self) -> Outcome<Written> {
        self.nested(Parser::one_type)
    }

    fn one_type(&mut self) -> Outcome<Written> {
        if self.take("optional") {
            return Ok(Written::Optional(Box::new(self.written_type()?)));
        }
        if self.take("{") {
            let first = self.written_type()?;
            let written = if self.take("->") {
                Written::Map(Box::new(first), Box::new(self.written_type()?))
            } else {
                Written::Set(Box::new(first))
            };
            self.expect("}")?;
            return Ok(written);
        }
        if self.take("[") {
            let of = self.written_type()?;
            self.expect("]")?;
            return Ok(Written::Sequence(Box::new(of)));
        }
        if self.take("(") {
            let mut parts = self.list(")", Parser::written_type)?;
            return Ok(match parts.len() {
                1 => parts.remove(0),
                _ => Written::Tuple(parts),
            });
        }
        let is_number = matches!(self.token().kind, Kind::Number(_));
        if is_number || self.at("-") || self.at_after(1, "..") {
            let least = self.sum()?;
            self.expect("..")?;
            return Ok(Written::Range(least, self.sum()?));
        }
        Ok(Written::Name(self.name("a type")?))
    }
}
