//! Parser of expressions and formulas, by operator precedence.

use super::{Kind, Parsed, Parser};
use crate::promela::syntax::{
    Binary, Expression, ExpressionKind, Pattern, Probe, Receive, Reference, Run, Temporal, Unary,
};

/// Binary operators with their precedence; a greater number binds more tightly.
const OPERATORS: &[(&str, u8, Binary)] = &[
    ("||", 2, Binary::Or),
    ("&&", 3, Binary::And),
    ("|", 5, Binary::BitOr),
    ("^", 6, Binary::BitXor),
    ("&", 7, Binary::BitAnd),
    ("==", 8, Binary::Equal),
    ("!=", 8, Binary::NotEqual),
    (">=", 9, Binary::GreaterEqual),
    ("<=", 9, Binary::LessEqual),
    (">", 9, Binary::Greater),
    ("<", 9, Binary::Less),
    ("<<", 10, Binary::ShiftLeft),
    (">>", 10, Binary::ShiftRight),
    ("+", 11, Binary::Add),
    ("-", 11, Binary::Subtract),
    ("*", 12, Binary::Multiply),
    ("/", 12, Binary::Divide),
    ("%", 12, Binary::Remainder),
];

/// Temporal operators.
const TEMPORAL: &[(&str, u8, Temporal)] = &[
    ("->", 1, Temporal::Implies),
    ("implies", 1, Temporal::Implies),
    ("<->", 1, Temporal::Equivalent),
    ("equivalent", 1, Temporal::Equivalent),
    ("U", 4, Temporal::Until),
    ("until", 4, Temporal::Until),
    ("stronguntil", 4, Temporal::Until),
    ("W", 4, Temporal::WeakUntil),
    ("weakuntil", 4, Temporal::WeakUntil),
    ("V", 4, Temporal::Release),
    ("release", 4, Temporal::Release),
];

/// Maximum number of operators of an expression, since functions over it are recursive.
const OPERATORS_MAX: usize = 1000;

enum Operator {
    Plain(Binary),
    Temporal(Temporal),
}

impl Parser {
    /// Parses an expression.
    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        let outside = self.operators;
        self.expressions += 1;
        let parsed = self.binary(1);
        self.expressions -= 1;
        // Nested expressions count towards the outer one.
        if self.expressions == 0 {
            self.operators = outside;
        }
        parsed
    }

    /// Parses a temporal formula.
    pub(super) fn formula(&mut self) -> Parsed<Expression> {
        self.temporal = true;
        self.parentheses += 1;
        let formula = self.expression();
        self.parentheses = self.parentheses.saturating_sub(1);
        self.temporal = false;
        formula
    }

    fn binary(&mut self, weakest: u8) -> Parsed<Expression> {
        let start = self.position;
        let mut left = self.nested(Parser::prefix)?;
        while let Some((operator, strength)) = self.operator()
            && strength >= weakest
        {
            self.position += 1;
            self.operators += 1;
            if self.operators > OPERATORS_MAX {
                let span = self.span();
                return self.refuse("too-deep", "this expression is too long", span);
            }
            let right = self.nested(|parser| parser.binary(strength + 1))?;
            let span = if self.returns.is_empty() {
                left.span.to(right.span)
            } else {
                // Parentheses around an argument belong to the inline.
                self.since(start)
            };
            let (left_part, right_part) = (Box::new(left), Box::new(right));
            let kind = match operator {
                Operator::Plain(operator) => {
                    ExpressionKind::Binary(operator, left_part, right_part)
                }
                Operator::Temporal(operator) => {
                    ExpressionKind::Temporal(operator, left_part, Some(right_part))
                }
            };
            left = Expression { kind, span };
        }
        Ok(left)
    }

    fn operator(&self) -> Option<(Operator, u8)> {
        let token = self.peek()?;
        // The end of a line ends a statement, but not inside parentheses.
        if token.begins_line && self.parentheses == 0 {
            return None;
        }
        let plain = OPERATORS.iter().find(|(mark, ..)| token.is(mark));
        if let Some((_, strength, operator)) = plain {
            return Some((Operator::Plain(*operator), *strength));
        }
        if !self.temporal {
            return None;
        }
        let temporal = TEMPORAL.iter().find(|(mark, ..)| token.is(mark));
        temporal.map(|(_, strength, operator)| (Operator::Temporal(*operator), *strength))
    }

    fn prefix(&mut self) -> Parsed<Expression> {
        let start = self.position;
        if self.temporal
            && let Some((operator, length)) = self.temporal_prefix()
        {
            self.position += length;
            let part = Box::new(self.nested(Parser::prefix)?);
            let kind = ExpressionKind::Temporal(operator, part, None);
            return Ok(self.finished(kind, start));
        }
        let unary = [
            ("!", Unary::Not),
            ("~", Unary::Complement),
            ("-", Unary::Negate),
        ];
        for (mark, operator) in unary {
            if self.take(mark) {
                // The magnitude of the least number is out of range: it is parsed as its
                // bit pattern.
                if operator == Unary::Negate && self.takes_least() {
                    return Ok(self.finished(ExpressionKind::Number(i32::MIN), start));
                }
                let part = Box::new(self.nested(Parser::prefix)?);
                return Ok(self.finished(ExpressionKind::Unary(operator, part), start));
            }
        }
        if self.next_is("(") {
            return self.in_parentheses(Parser::inside_parentheses);
        }
        self.primary(start)
    }

    /// Consumes the magnitude of the least number, if it is next. Returns whether it was.
    fn takes_least(&mut self) -> bool {
        let next = self.peek().map(|token| &token.kind);
        let is_least = next == Some(&Kind::Number(i32::MIN));
        self.position += usize::from(is_least);
        is_least
    }

    fn temporal_prefix(&self) -> Option<(Temporal, usize)> {
        if self.next_is("[") && self.is_at(1, "]") {
            return Some((Temporal::Always, 2));
        }
        if self.next_is("<") && self.is_at(1, ">") {
            return Some((Temporal::Eventually, 2));
        }
        let words = [
            ("always", Temporal::Always),
            ("eventually", Temporal::Eventually),
            ("next", Temporal::Next),
            ("X", Temporal::Next),
        ];
        let found = words.iter().find(|(word, _)| self.next_is(word));
        found.map(|(_, operator)| (*operator, 1))
    }

    fn finished(&self, kind: ExpressionKind, start: usize) -> Expression {
        Expression {
            kind,
            span: self.since(start),
        }
    }

    /// Parses `a` or `a -> b : c`.
    fn inside_parentheses(&mut self) -> Parsed<Expression> {
        let start = self.position;
        let first = self.expression()?;
        if self.temporal || !self.take("->") {
            return Ok(first);
        }
        let second = self.expression()?;
        self.expect(":")?;
        let third = self.expression()?;
        let kind = ExpressionKind::Conditional(Box::new(first), Box::new(second), Box::new(third));
        Ok(self.finished(kind, start))
    }

    fn primary(&mut self, start: usize) -> Parsed<Expression> {
        let Some(token) = self.peek() else {
            return self.unexpected("an expression");
        };
        let name = match &token.kind {
            Kind::Number(number) => {
                let kind = ExpressionKind::Number(*number);
                self.position += 1;
                return Ok(self.finished(kind, start));
            }
            Kind::Name(name) => name.clone(),
            _ => return self.unexpected("an expression"),
        };
        let probe = match &*name {
            "len" => Some(Probe::Length),
            "full" => Some(Probe::Full),
            "nfull" => Some(Probe::NotFull),
            "empty" => Some(Probe::Empty),
            "nempty" => Some(Probe::NotEmpty),
            _ => None,
        };
        if let Some(probe) = probe {
            self.position += 1;
            let channel = self.in_parentheses(Parser::reference)?;
            return Ok(self.finished(ExpressionKind::Probe(probe, channel), start));
        }
        let kind = match &*name {
            "true" | "skip" => self.word(ExpressionKind::Number(1)),
            "false" => self.word(ExpressionKind::Number(0)),
            "timeout" => self.word(ExpressionKind::Timeout),
            "np_" => self.word(ExpressionKind::NonProgress),
            "run" => self.run()?,
            "enabled" => ExpressionKind::Enabled(self.question()?),
            "pc_value" => ExpressionKind::StateOf(self.question()?),
            "get_priority" => ExpressionKind::Priority(self.question()?),
            "c_expr" | "c_code" => return self.refuse_c(self.span()),
            _ if self.processes.contains(&name) => self.remote()?,
            _ => self.reference_or_poll()?,
        };
        Ok(self.finished(kind, start))
    }

    fn word(&mut self, kind: ExpressionKind) -> ExpressionKind {
        self.position += 1;
        kind
    }

    fn question(&mut self) -> Parsed<Box<Expression>> {
        self.position += 1;
        Ok(Box::new(self.in_parentheses(Parser::expression)?))
    }

    fn run(&mut self) -> Parsed<ExpressionKind> {
        self.expect("run")?;
        let process = self.name()?;
        let arguments = self.in_parentheses(|parser| parser.list(&[")"]))?;
        let priority = self.priority()?;
        Ok(ExpressionKind::Run(Run {
            process,
            arguments,
            priority,
        }))
    }

    /// Parses comma-separated expressions.
    pub(super) fn list(&mut self, ends: &[&str]) -> Parsed<Vec<Expression>> {
        let mut list = Vec::new();
        while !ends.iter().any(|end| self.next_is(end)) {
            list.push(self.expression()?);
            if !self.take(",") {
                break;
            }
        }
        Ok(list)
    }

    /// Parses `process[index]@label` or `process:variable`.
    fn remote(&mut self) -> Parsed<ExpressionKind> {
        let process = self.name()?;
        let index = if self.take("[") {
            let index = self.expression()?;
            self.expect("]")?;
            Some(Box::new(index))
        } else {
            None
        };
        if self.take("@") {
            let label = self.name()?;
            return Ok(ExpressionKind::AtLabel {
                process,
                index,
                label,
            });
        }
        self.expect(":")?;
        let variable = self.reference()?;
        Ok(ExpressionKind::Remote {
            process,
            index,
            variable,
        })
    }

    /// Parses a variable reference.
    pub(super) fn reference(&mut self) -> Parsed<Reference> {
        let start = self.position;
        let mut parts = Vec::new();
        loop {
            let name = self.name()?;
            let index = if self.next_is("[") && !(self.temporal && self.is_at(1, "]")) {
                self.expect("[")?;
                self.parentheses += 1;
                let index = self.nested(Parser::expression);
                self.parentheses -= 1;
                let index = index?;
                self.expect("]")?;
                Some(index)
            } else {
                None
            };
            parts.push((name, index));
            if !self.take(".") {
                let span = self.since(start);
                return Ok(Reference { parts, span });
            }
        }
    }

    fn reference_or_poll(&mut self) -> Parsed<ExpressionKind> {
        let channel = self.reference()?;
        let anywhere = self.next_is("??");
        if !(anywhere || self.next_is("?")) || !self.is_at(1, "[") {
            return Ok(ExpressionKind::Reference(channel));
        }
        self.position += 2;
        let patterns = self.patterns("]")?;
        self.expect("]")?;
        Ok(ExpressionKind::Poll(Receive {
            channel,
            anywhere,
            keeps: true,
            patterns,
        }))
    }

    /// Parses the fields of a receive statement: `a, b`, `a(b, c)`, `(a, b)`.
    pub(super) fn patterns(&mut self, end: &str) -> Parsed<Vec<Pattern>> {
        let mut patterns = Vec::new();
        if self.next_is("(") {
            return self.in_parentheses(|parser| parser.patterns(")"));
        }
        loop {
            patterns.push(self.pattern()?);
            if self.continues_with("(") {
                patterns.extend(self.in_parentheses(|parser| parser.patterns(")"))?);
            }
            if !self.take(",") {
                return Ok(patterns);
            }
            if self.next_is(end) {
                return Ok(patterns);
            }
        }
    }

    fn pattern(&mut self) -> Parsed<Pattern> {
        if self.take("eval") {
            return Ok(Pattern::Value(self.in_parentheses(Parser::expression)?));
        }
        let is_constant = self.peek().is_some_and(|token| {
            matches!(token.kind, Kind::Number(_) | Kind::Punctuation("-"))
                || token.is("true")
                || token.is("false")
                || token.is("skip")
        });
        if is_constant {
            return Ok(Pattern::Value(self.prefix()?));
        }
        Ok(Pattern::Variable(self.reference()?))
    }
}
