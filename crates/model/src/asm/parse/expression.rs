//! Parser of expressions, by operator precedence.
//!
//! Quantifiers, conditionals and temporal prefixes extend as far as possible.

use super::{DEPTH_MAX, Outcome, Parser};
use crate::asm::lexer::Kind;
use crate::asm::syntax::{
    Binary, Each, Expression, ExpressionKind as E, Name, Quantifier, Temporal,
};
use crate::{Fault, Span};

/// The binary operators by precedence, weakest first.
const LEVELS: &[&[(&str, Binary)]] = &[
    &[("implies", Binary::Implies)],
    &[("or", Binary::Or)],
    &[("and", Binary::And)],
    &[
        ("=", Binary::Equal),
        ("!=", Binary::NotEqual),
        ("<", Binary::Less),
        ("<=", Binary::LessOrEqual),
        (">", Binary::Greater),
        (">=", Binary::GreaterOrEqual),
        ("in", Binary::In),
    ],
    &[("..", Binary::Range)],
    &[
        ("union", Binary::Union),
        ("except", Binary::Except),
        ("++", Binary::Join),
    ],
    &[("+", Binary::Add), ("-", Binary::Subtract)],
    &[
        ("intersect", Binary::Intersect),
        ("*", Binary::Multiply),
        ("/", Binary::Divide),
        ("%", Binary::Remainder),
    ],
];
/// The level of comparisons, which do not chain.
const COMPARISON: usize = 3;
/// The level of sums.
const SUM: usize = 6;

const PREFIXES: &[(&str, Temporal)] = &[
    ("always", Temporal::Always),
    ("eventually", Temporal::Eventually),
    ("next", Temporal::Next),
    ("once", Temporal::Once),
    ("historically", Temporal::Historically),
    ("yesterday", Temporal::Yesterday),
];
const INFIXES: &[(&str, Temporal)] = &[
    ("until", Temporal::Until),
    ("release", Temporal::Release),
    ("since", Temporal::Since),
];

/// Returns the maximum depth of the parts of an expression.
fn deepest<'a>(parts: impl IntoIterator<Item = &'a Expression>) -> u32 {
    let depths = parts.into_iter().map(|part| part.depth);
    depths.max().unwrap_or(0)
}

fn depth_of(kind: &E) -> u32 {
    let each = |each: &Each| each.among.depth.max(deepest(each.with.as_deref()));
    match kind {
        E::Number(_) | E::Text(_) | E::Boolean(_) | E::Undefined | E::Name(_) => 0,
        E::Call(_, parts)
        | E::Set(parts)
        | E::Sequence(parts)
        | E::Tuple(parts)
        | E::Temporal(_, parts) => deepest(parts),
        E::Field(part, _) | E::Part(part, _) | E::Negate(part) | E::Not(part) => part.depth,
        E::Index(left, right) | E::Binary(_, left, right) => left.depth.max(right.depth),
        E::If(first, second, third) => first.depth.max(second.depth).max(third.depth),
        E::Quantified(_, among, part) | E::SetOf(part, among) | E::SequenceOf(part, among) => {
            part.depth.max(each(among))
        }
        E::Map(pairs) => pairs
            .iter()
            .map(|(key, value)| key.depth.max(value.depth))
            .max()
            .unwrap_or(0),
        E::New(_, fields) => deepest(fields.iter().map(|(_, value)| value)),
    }
}

impl Parser {
    pub(super) fn make(&self, start: Span, kind: E) -> Outcome<Expression> {
        let span = self.since(start);
        let depth = depth_of(&kind) + 1;
        if depth > DEPTH_MAX {
            Err(Fault::new(
                "too-deep",
                format!("this expression is more than {DEPTH_MAX} operators deep"),
                Some(span),
            )
            .help("give a part of it a name, as a derived function"))
        } else {
            Ok(Expression { kind, span, depth })
        }
    }

    /// Parses any expression.
    pub fn expression(&mut self) -> Outcome<Expression> {
        self.nested(|parser| parser.temporal())
    }

    /// Parses an expression that ends before a comparison operator, as before `= value`.
    pub(super) fn operand(&mut self) -> Outcome<Expression> {
        self.nested(|parser| parser.level(COMPARISON + 1))
    }

    /// Parses a sum, for example an end of a range.
    pub(super) fn sum(&mut self) -> Outcome<Expression> {
        self.nested(|parser| parser.level(SUM))
    }

    fn temporal(&mut self) -> Outcome<Expression> {
        let start = self.span();
        let mut left = self.level(0)?;
        while self.formula
            && let Some((_, operator)) = INFIXES.iter().find(|(text, _)| self.at(text))
        {
            self.advance();
            let right = self.level(0)?;
            left = self.make(start, E::Temporal(*operator, vec![left, right]))?;
        }
        Ok(left)
    }

    fn level(&mut self, level: usize) -> Outcome<Expression> {
        let Some(operators) = LEVELS.get(level) else {
            return self.prefix();
        };
        let start = self.span();
        let mut left = self.level(level + 1)?;
        let mut taken = 0;
        while let Some((operator, tokens)) = self.operator(operators) {
            if level == COMPARISON && taken > 0 {
                return Err(self
                    .wrong("the end of a comparison")
                    .help("comparisons do not chain; write `a < b and b < c`"));
            }
            self.position += tokens;
            taken += 1;
            // `a implies b implies c` is `a implies (b implies c)`.
            let right = match operator {
                Binary::Implies => self.nested(|parser| parser.level(level))?,
                _ => self.level(level + 1)?,
            };
            left = self.make(start, E::Binary(operator, Box::new(left), Box::new(right)))?;
        }
        Ok(left)
    }

    /// Returns the operator of a level at the current position, and its number of tokens.
    fn operator(&self, operators: &[(&str, Binary)]) -> Option<(Binary, usize)> {
        let comparisons = operators.iter().any(|(text, _)| *text == "in");
        if comparisons && self.at("not") && self.at_after(1, "in") {
            return Some((Binary::NotIn, 2));
        }
        let (_, operator) = operators.iter().find(|(text, _)| self.at(text))?;
        Some((*operator, 1))
    }

    fn prefix(&mut self) -> Outcome<Expression> {
        let start = self.span();
        if self.formula
            && let Some((_, operator)) = PREFIXES.iter().find(|(text, _)| self.at(text))
        {
            self.advance();
            let part = self.nested(Parser::prefix)?;
            return self.make(start, E::Temporal(*operator, vec![part]));
        }
        if self.take("not") {
            // `not x in s` negates the whole comparison.
            let part = self.nested(|parser| parser.level(COMPARISON))?;
            return self.make(start, E::Not(Box::new(part)));
        }
        if self.take("-") {
            // The magnitude of the least integer is valid only with a minus sign.
            if self.token().kind == Kind::Number(i64::MIN.unsigned_abs()) {
                self.advance();
                return self.make(start, E::Number(i64::MIN));
            }
            let part = self.nested(Parser::prefix)?;
            return self.make(start, E::Negate(Box::new(part)));
        }
        if self.take("if") {
            let condition = Box::new(self.expression()?);
            self.expect("then")?;
            let yes = Box::new(self.expression()?);
            self.expect("else")?;
            let no = Box::new(self.expression()?);
            return self.make(start, E::If(condition, yes, no));
        }
        for (word, quantifier) in [
            ("forall", Quantifier::Forall),
            ("exists", Quantifier::Exists),
        ] {
            if self.take(word) {
                let each = self.each()?;
                self.expect("|")?;
                let holds = Box::new(self.expression()?);
                return self.make(start, E::Quantified(quantifier, each, holds));
            }
        }
        self.postfix()
    }

    /// Parses `x in S with C`, after the keyword before it.
    pub(super) fn each(&mut self) -> Outcome<Each> {
        let name = self.name("a name for the values")?;
        self.expect("in")?;
        let among = Box::new(self.expression()?);
        let with = if self.take("with") {
            Some(Box::new(self.expression()?))
        } else {
            None
        };
        Ok(Each { name, among, with })
    }

    fn postfix(&mut self) -> Outcome<Expression> {
        let start = self.span();
        let mut value = self.primary()?;
        loop {
            if self.take(".") {
                value = self.member(start, value)?;
            } else if self.take("[") {
                let index = self.expression()?;
                self.expect("]")?;
                value = self.make(start, E::Index(Box::new(value), Box::new(index)))?;
            } else {
                return Ok(value);
            }
        }
    }

    fn member(&mut self, start: Span, value: Expression) -> Outcome<Expression> {
        if let Some(number) = self.number() {
            return self.make(start, E::Part(Box::new(value), number?));
        }
        let name = self.name("a field")?;
        if !self.take("(") {
            return self.make(start, E::Field(Box::new(value), name));
        }
        let mut arguments = vec![value];
        arguments.extend(self.list(")", Parser::expression)?);
        self.make(start, E::Call(name, arguments))
    }

    fn primary(&mut self) -> Outcome<Expression> {
        let start = self.span();
        if let Some(number) = self.number() {
            return self.make(start, E::Number(number?));
        }
        let kind = match &self.token().kind {
            Kind::Text(text) => E::Text(text.clone()),
            Kind::Name(word) => match &**word {
                "true" => E::Boolean(true),
                "false" => E::Boolean(false),
                "undef" => E::Undefined,
                "new" => return self.object(start),
                _ => return self.named(start),
            },
            Kind::Mark("(") => return self.parentheses(start),
            Kind::Mark("{") => return self.braces(start),
            Kind::Mark("[") => return self.brackets(start),
            Kind::Mark(_) | Kind::Number(_) | Kind::End => {
                return Err(self.wrong("an expression"));
            }
        };
        self.advance();
        self.make(start, kind)
    }

    fn named(&mut self, start: Span) -> Outcome<Expression> {
        let name = self.name("an expression")?;
        if self.take("(") {
            let arguments = self.list(")", Parser::expression)?;
            self.make(start, E::Call(name, arguments))
        } else {
            self.make(start, E::Name(name))
        }
    }

    fn object(&mut self, start: Span) -> Outcome<Expression> {
        self.advance();
        let class = self.name("a class")?;
        let mut fields = Vec::new();
        if self.take("(") {
            fields = self.list(")", Parser::field_value)?;
        }
        self.make(start, E::New(class, fields))
    }

    fn field_value(&mut self) -> Outcome<(Name, Expression)> {
        let name = self.name("a field")?;
        self.expect("=")?;
        Ok((name, self.expression()?))
    }

    fn parentheses(&mut self, start: Span) -> Outcome<Expression> {
        self.advance();
        let mut parts = self.list(")", Parser::expression)?;
        match (parts.len(), parts.pop()) {
            (1, Some(only)) => Ok(only),
            (_, Some(last)) => {
                parts.push(last);
                self.make(start, E::Tuple(parts))
            }
            (_, None) => self.make(start, E::Tuple(Vec::new())),
        }
    }

    fn braces(&mut self, start: Span) -> Outcome<Expression> {
        self.advance();
        if self.take("->") {
            self.expect("}")?;
            return self.make(start, E::Map(Vec::new()));
        }
        if self.take("}") {
            return self.make(start, E::Set(Vec::new()));
        }
        let first = self.expression()?;
        if self.take("|") {
            let each = self.each()?;
            self.expect("}")?;
            return self.make(start, E::SetOf(Box::new(first), each));
        }
        if self.take("->") {
            let mut pairs = vec![(first, self.expression()?)];
            if self.take(",") {
                pairs.extend(self.list("}", |parser| {
                    let key = parser.expression()?;
                    parser.expect("->")?;
                    Ok((key, parser.expression()?))
                })?);
            } else {
                self.expect("}")?;
            }
            return self.make(start, E::Map(pairs));
        }
        let parts = self.more(first, "}")?;
        self.make(start, E::Set(parts))
    }

    fn brackets(&mut self, start: Span) -> Outcome<Expression> {
        self.advance();
        if self.take("]") {
            return self.make(start, E::Sequence(Vec::new()));
        }
        let first = self.expression()?;
        if self.take("|") {
            let each = self.each()?;
            self.expect("]")?;
            return self.make(start, E::SequenceOf(Box::new(first), each));
        }
        let parts = self.more(first, "]")?;
        self.make(start, E::Sequence(parts))
    }

    /// Parses the rest of a list whose first element was parsed.
    fn more(&mut self, first: Expression, close: &str) -> Outcome<Vec<Expression>> {
        let mut parts = vec![first];
        if self.take(",") {
            parts.extend(self.list(close, Parser::expression)?);
        } else {
            self.expect(close)?;
        }
        Ok(parts)
    }
}
