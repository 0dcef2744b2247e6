//! Parser of statements.

use super::{Kind, Parsed, Parser};
use crate::Span;
use crate::promela::preprocess::substitute;
use crate::promela::print;
use crate::promela::syntax::{
    Binary, Expression, ExpressionKind, Range, Receive, Reference, Statement, StatementKind,
    Variable,
};

/// Maximum number of inline expansions in a model; a recursive inline would have no end.
const INSTANCES_MAX: u32 = 20_000;

/// Maximum number of tokens of one expansion.
const INLINED_MAX: usize = 200_000;

impl Parser {
    /// Parses statements up to one of the ends, which is not consumed.
    pub(super) fn sequence(&mut self, ends: &[&str]) -> Parsed<Vec<Statement>> {
        let mut statements = Vec::new();
        loop {
            while self.take(";") || self.take("->") {}
            if self.peek().is_none() || ends.iter().any(|end| self.next_is(end)) {
                break;
            }
            statements.push(self.statement()?);
            if !self.is_separated(ends) {
                return self.unexpected("`;`");
            }
        }
        if statements.is_empty() {
            return self.unexpected("a statement");
        }
        Ok(statements)
    }

    /// Returns whether a statement may end here: at a mark, at the end of a line, after a
    /// brace or after `else`.
    fn is_separated(&self, ends: &[&str]) -> bool {
        let Some(token) = self.peek() else {
            return true;
        };
        let before = self
            .position
            .checked_sub(1)
            .and_then(|it| self.tokens.get(it));
        let ends_itself = ["}", "else", "fi", "od"];
        token.begins_line
            || token.is(";")
            || token.is("->")
            || ends.iter().any(|end| token.is(end))
            || before.is_some_and(|before| ends_itself.iter().any(|end| before.is(end)))
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let from = self.position;
        let statement = self.nested(Parser::simple)?;
        if !self.take("unless") {
            return Ok(statement);
        }
        let escape = self.nested(Parser::simple)?;
        let kind = StatementKind::Unless(Box::new(statement), Box::new(escape));
        Ok(self.made(kind, from))
    }

    fn made(&self, kind: StatementKind, from: usize) -> Statement {
        Statement {
            kind,
            span: self.since(from),
            text: self.text(from, self.position),
        }
    }

    fn simple(&mut self) -> Parsed<Statement> {
        let (start, from) = (self.span(), self.position);
        if let Some(variables) = self.declaration()? {
            self.check_captured(&variables)?;
            return Ok(self.made(StatementKind::Declare(variables), from));
        }
        let word = self.peek().map_or(String::new(), ToString::to_string);
        let kind = match &*word {
            "if" => StatementKind::If(self.options("fi")?),
            "do" => StatementKind::Do(self.options("od")?),
            "for" => self.for_loop()?,
            "select" => self.select()?,
            "atomic" => {
                self.position += 1;
                StatementKind::Atomic(self.braces()?)
            }
            "d_step" => {
                self.position += 1;
                StatementKind::DStep(self.braces()?)
            }
            "{" => StatementKind::Block {
                body: self.braces()?,
                instance: None,
            },
            "break" => self.word_statement(StatementKind::Break),
            "else" => self.word_statement(StatementKind::Else),
            "goto" => {
                self.position += 1;
                StatementKind::Goto(self.name()?)
            }
            "assert" => {
                self.position += 1;
                StatementKind::Assert(self.expression()?)
            }
            "printf" => self.print()?,
            "printm" => {
                self.position += 1;
                StatementKind::PrintName(self.in_parentheses(Parser::expression)?)
            }
            "xr" | "xs" => {
                self.position += 1;
                self.list(&[";"])?;
                StatementKind::Exclusive
            }
            "set_priority" => {
                self.position += 1;
                let (process, value) = self.in_parentheses(|parser| {
                    let process = parser.expression()?;
                    parser.expect(",")?;
                    Ok((process, parser.expression()?))
                })?;
                StatementKind::SetPriority(process, value)
            }
            "c_code" | "c_decl" | "c_expr" | "c_state" | "c_track" => return self.refuse_c(start),
            "return" => self.return_value(start)?,
            _ if self.is_at(1, ":") && !self.is_process() => return self.label(start, from),
            _ if self.is_inline() => self.use_inline(None)?,
            _ => self.expression_or_assignment()?,
        };
        Ok(self.made(kind, from))
    }

    fn word_statement(&mut self, kind: StatementKind) -> StatementKind {
        self.position += 1;
        kind
    }

    fn is_process(&self) -> bool {
        let name = self.peek().and_then(|token| token.name());
        name.is_some_and(|name| self.processes.contains(name))
    }

    fn is_inline(&self) -> bool {
        let name = self.peek().and_then(|token| token.name());
        name.is_some_and(|name| self.inlines.contains_key(name)) && self.is_at(1, "(")
    }

    fn label(&mut self, start: Span, from: usize) -> Parsed<Statement> {
        let name = self.name()?;
        self.expect(":")?;
        let ends = ["}", "::", "fi", "od", ";"];
        let is_bare = self.peek().is_none() || ends.iter().any(|end| self.next_is(end));
        let labelled = if is_bare {
            let kind = StatementKind::Condition(Expression {
                kind: ExpressionKind::Number(1),
                span: start,
            });
            Statement {
                kind,
                span: start,
                text: "skip".into(),
            }
        } else {
            self.nested(Parser::simple)?
        };
        let kind = StatementKind::Label(name, Box::new(labelled));
        Ok(self.made(kind, from))
    }

    fn options(&mut self, end: &'static str) -> Parsed<Vec<Vec<Statement>>> {
        self.position += 1;
        let outside = std::mem::take(&mut self.parentheses);
        let mut options = Vec::new();
        while self.take("::") {
            options.push(self.nested(|parser| parser.sequence(&["::", end]))?);
        }
        self.parentheses = outside;
        if options.is_empty() {
            return self.unexpected("`::`");
        }
        self.expect(end)?;
        Ok(options)
    }

    fn for_loop(&mut self) -> Parsed<StatementKind> {
        self.expect("for")?;
        let (variable, range) = self.in_parentheses(|parser| {
            let variable = parser.reference()?;
            if parser.take("in") {
                return Ok((variable, Range::In(parser.reference()?)));
            }
            parser.expect(":")?;
            let from = parser.expression()?;
            parser.expect("..")?;
            let to = parser.expression()?;
            Ok((variable, Range::Between(from, to)))
        })?;
        while self.take(";") || self.take("->") {}
        let body = self.braces()?;
        Ok(StatementKind::For {
            variable,
            range,
            body,
        })
    }

    fn select(&mut self) -> Parsed<StatementKind> {
        self.expect("select")?;
        self.in_parentheses(|parser| {
            let variable = parser.reference()?;
            parser.expect(":")?;
            let from = parser.expression()?;
            parser.expect("..")?;
            let to = parser.expression()?;
            Ok(StatementKind::Select { variable, from, to })
        })
    }

    fn print(&mut self) -> Parsed<StatementKind> {
        self.expect("printf")?;
        self.in_parentheses(|parser| {
            let (format, span) = match parser.peek().map(|token| (&token.kind, token.span)) {
                Some((Kind::Text(text), span)) => (text.clone(), span),
                _ => return parser.unexpected("a string"),
            };
            parser.position += 1;
            let values = if parser.take(",") {
                parser.list(&[")"])?
            } else {
                Vec::new()
            };
            if let Some(message) = print::wrong(&format, values.len()) {
                return parser.refuse("format", message, span);
            }
            Ok(StatementKind::Print { format, values })
        })
    }

    /// Parses the body of an inline with its arguments substituted.
    fn use_inline(&mut self, into: Option<Reference>) -> Parsed<StatementKind> {
        let name = self.name()?;
        let Some(inline) = self.inlines.get(&name.text).cloned() else {
            return self.unexpected("an inline");
        };
        let arguments = self.inline_arguments()?;
        let (wanted, given) = (inline.parameters.len(), arguments.len());
        if wanted != given {
            let message = format!(
                "`{}` takes {wanted} arguments, but is given {given}",
                name.text
            );
            return self.refuse("inline", message, name.span);
        }
        self.instances += 1;
        if self.instances > INSTANCES_MAX {
            let message = format!("`{}` is expanded endlessly", name.text);
            return self.refuse("inline", message, name.span);
        }
        let instance = Some(self.instances);
        let body = substitute(&inline.body, &inline.parameters, &arguments, &arguments);
        if body.len() > INLINED_MAX {
            let message = format!("the expansion of `{}` is too long here", name.text);
            return self.refuse("inline", message, name.span);
        }
        let outside = std::mem::replace(&mut self.tokens, body);
        let position = std::mem::take(&mut self.position);
        self.returns.push(into);
        let parsed = self.nested(Parser::braces);
        self.returns.pop();
        self.tokens = outside;
        self.position = position;
        Ok(StatementKind::Block {
            body: parsed?,
            instance,
        })
    }

    /// Parses `return`: assigns its value to the variable of the call; the inline
    /// continues.
    fn return_value(&mut self, start: Span) -> Parsed<StatementKind> {
        let Some(Some(variable)) = self.returns.last().cloned() else {
            let message = "`return` is allowed only in an inline whose value is assigned: `x = \
                 name(...)`";
            return self.refuse("return", message, start);
        };
        self.position += 1;
        Ok(StatementKind::Assign(variable, self.expression()?))
    }

    /// Rejects variables of an inline that would shadow the variable that receives its
    /// value.
    fn check_captured(&mut self, variables: &[Variable]) -> Parsed<()> {
        let mut assigned = self.returns.iter().flatten().flat_map(|it| &it.parts);
        let is_assigned =
            |variable: &&Variable| assigned.any(|(name, _)| name.text == variable.name.text);
        match variables.iter().find(is_assigned).map(|it| it.name.clone()) {
            None => Ok(()),
            Some(name) => {
                let message = format!(
                    "this would shadow the variable `{}` that the value of this inline is assigned \
                     to",
                    name.text
                );
                self.refuse("return", message, name.span)
            }
        }
    }

    fn inline_arguments(&mut self) -> Parsed<Vec<Vec<super::Token>>> {
        self.expect("(")?;
        let mut arguments = vec![Vec::new()];
        let mut depth = 1;
        loop {
            let Some(token) = self.peek().cloned() else {
                return self.unexpected("`)`");
            };
            self.position += 1;
            depth += i32::from(token.is("(") || token.is("[") || token.is("{"));
            depth -= i32::from(token.is(")") || token.is("]") || token.is("}"));
            if depth == 0 {
                break;
            }
            match (depth, arguments.last_mut()) {
                (1, _) if token.is(",") => arguments.push(Vec::new()),
                (_, Some(last)) => last.push(token),
                (_, None) => {}
            }
        }
        if arguments == [Vec::new()] {
            arguments.clear();
        }
        Ok(arguments)
    }

    /// Parses a statement that starts with a variable: an assignment, a message, a
    /// condition.
    fn expression_or_assignment(&mut self) -> Parsed<StatementKind> {
        let from = self.position;
        let is_name = self.peek().is_some_and(|token| token.name().is_some());
        if is_name && let Some(kind) = self.after_reference()? {
            return Ok(kind);
        }
        self.position = from;
        let called = self.peek().and_then(|token| token.name().cloned());
        let condition = self.expression()?;
        if let (Some(name), true) = (
            called,
            self.position == from + 1 && self.continues_with("("),
        ) {
            let message = format!("there is no inline `{name}`");
            return self.refuse("unknown-inline", message, condition.span);
        }
        Ok(StatementKind::Condition(condition))
    }

    /// Parses the rest of a statement after a variable; `None` for expressions.
    fn after_reference(&mut self) -> Parsed<Option<StatementKind>> {
        let mark = self.mark_after_reference();
        let is_poll = |parser: &Parser, ahead| parser.is_at(ahead, "[");
        let Some((mark, ahead)) = mark else {
            return Ok(None);
        };
        if (mark == "?" || mark == "??") && is_poll(self, ahead + 1) {
            return Ok(None);
        }
        let variable = self.reference()?;
        self.position += 1;
        Ok(Some(match mark {
            "=" if self.is_inline() => self.use_inline(Some(variable))?,
            "=" => StatementKind::Assign(variable, self.expression()?),
            "++" => counted(variable, Binary::Add),
            "--" => counted(variable, Binary::Subtract),
            "!" | "!!" => StatementKind::Send {
                channel: variable,
                sorted: mark == "!!",
                values: self.message()?,
            },
            _ => {
                let keeps = self.take("<");
                let patterns = self.patterns(">")?;
                if keeps {
                    self.expect(">")?;
                }
                StatementKind::Receive(Receive {
                    channel: variable,
                    anywhere: mark == "??",
                    keeps,
                    patterns,
                })
            }
        }))
    }

    /// Returns the mark after the variable reference at the current position, and its
    /// distance, if it makes a statement.
    fn mark_after_reference(&self) -> Option<(&'static str, usize)> {
        let mut ahead = 0;
        loop {
            self.peek_at(ahead)?.name()?;
            ahead += 1;
            if self.is_at(ahead, "[") {
                let mut depth = 0;
                loop {
                    let token = self.peek_at(ahead)?;
                    depth += i32::from(token.is("["));
                    depth -= i32::from(token.is("]"));
                    ahead += 1;
                    if depth == 0 {
                        break;
                    }
                }
            }
            if !self.is_at(ahead, ".") {
                break;
            }
            ahead += 1;
        }
        let marks = ["=", "++", "--", "!", "!!", "?", "??"];
        let mark = marks.iter().find(|mark| self.is_at(ahead, mark));
        // After the end of a line, `!` negates the next condition.
        let mark = mark.filter(|mark| **mark != "!" || self.is_continued(ahead));
        mark.map(|mark| (*mark, ahead))
    }

    /// Parses the fields of a send statement: `a, b`, `a(b, c)`.
    fn message(&mut self) -> Parsed<Vec<Expression>> {
        let mut values = Vec::new();
        loop {
            values.push(self.expression()?);
            if self.continues_with("(") {
                values.extend(self.in_parentheses(|parser| parser.list(&[")"]))?);
            }
            if !self.take(",") {
                return Ok(values);
            }
        }
    }
}

/// Returns the statement `variable = variable + 1` (or `- 1`).
fn counted(variable: Reference, operator: Binary) -> StatementKind {
    let span = variable.span;
    let expression = |kind| Box::new(Expression { kind, span });
    let value = ExpressionKind::Binary(
        operator,
        expression(ExpressionKind::Reference(variable.clone())),
        expression(ExpressionKind::Number(1)),
    );
    StatementKind::Assign(variable, Expression { kind: value, span })
}
