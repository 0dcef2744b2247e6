//! Scripts: the actions of the environment, step by step, and the expected results.
//!
//! ```text
//! set command = Start          the environment sets a function
//! pick x = 2                   what the next step chooses for `x`
//! pick rule = 2                which rule of `choose { ... } or { ... }`
//! step                         one step; `step 3` is three of them
//! check mode = Break           a condition on the state
//! table mode | command         a run as a table
//! Init       | Start
//! Break      |
//! end
//! ```
//!
//! A row of a table describes the state after the step of its number, from 0. A cell in
//! the column of a function of the machine is checked; a cell of a function of the
//! environment is set for the next step; an empty cell is ignored. After M. Barnett et
//! al., *Using Abstract State Machines at Microsoft* (2000), table 1.

use super::check::Checking;
use super::environment::{Stop, Written};
use super::parse::Parser;
use super::program::{Binary, FunctionId, FunctionKind, Model, Term, TermKind};
use super::state::State;
use super::syntax::{Expression, Name};
use super::value::Value;
use crate::promela::Text;
use crate::{Fault, Span, Step};
use std::ops::Range;

/// Maximum number of steps of one line.
const STEPS_MAX: i64 = 1_000_000;

/// A command of a script.
#[derive(Debug)]
enum Command {
    Set(FunctionId, Vec<Term>, Term),
    Pick(String, Term),
    Step(i64),
    Check(Term),
}

/// A script for a model.
#[derive(Debug)]
pub struct Script {
    commands: Vec<(Command, Span)>,
}

/// The result of a line of a script.
#[derive(Debug)]
pub struct Done {
    /// Location of the line.
    pub span: Span,
    /// Descriptions of the steps.
    pub steps: Vec<Step>,
    /// The state after the line.
    pub state: State,
}

impl Script {
    /// Parses a script. The text is added to the model, so that spans can be shown.
    pub fn read(model: &mut Model, text: Text) -> Result<Script, Vec<Fault>> {
        let source = model.texts.len() as u32;
        model.texts.push(text);
        let texts = model.texts.clone();
        let mut reading = Reading {
            checking: Checking::of(model, &texts),
            source,
            text: texts.last().map_or("", |text| &text.text),
            commands: Vec::new(),
            faults: Vec::new(),
            columns: None,
        };
        reading.lines();
        let Reading {
            checking,
            commands,
            faults,
            ..
        } = reading;
        checking.give_back(model);
        if faults.is_empty() {
            Ok(Script { commands })
        } else {
            Err(faults)
        }
    }

    /// Runs the script to its end or to the first fault. Calls `report` after each line
    /// with steps.
    pub fn run(&self, model: &Model, report: &mut dyn FnMut(&Done)) -> Result<State, Fault> {
        let mut environment = Written::default();
        let mut state = model.begin(&mut environment).map_err(Stop::fault)?;
        if let Some(fault) = model.broken(&state) {
            return Err(fault);
        }
        for (command, span) in &self.commands {
            let steps = command.carry_out(model, &mut environment, &mut state, *span)?;
            if !steps.is_empty() {
                report(&Done {
                    span: *span,
                    steps,
                    state: state.clone(),
                });
            }
        }
        Ok(state)
    }
}

impl Command {
    fn carry_out(
        &self,
        model: &Model,
        environment: &mut Written,
        state: &mut State,
        span: Span,
    ) -> Result<Vec<Step>, Fault> {
        let evaluate = |term: &Term| model.evaluate(state, term).map_err(Stop::fault);
        match self {
            Command::Set(id, arguments, value) => {
                let arguments: Result<Vec<Value>, Fault> = arguments.iter().map(evaluate).collect();
                let (arguments, value) = (arguments?, evaluate(value)?);
                model.fits(*id, &arguments, span)?;
                model.set(*id, arguments, value, state, environment, span)?;
                Ok(Vec::new())
            }
            Command::Pick(name, value) => {
                let value = evaluate(value)?;
                environment.picks.push((name.clone(), value));
                Ok(Vec::new())
            }
            Command::Step(count) => {
                let mut steps = Vec::new();
                for _ in 0..*count {
                    let stepped = model.step(state, environment).map_err(Stop::fault)?;
                    steps.extend(model.describe(state, &stepped));
                    *state = stepped.state;
                    if let Some(fault) = model.broken(state) {
                        return Err(fault.label(span, "in the state after this step"));
                    }
                }
                if let Some((name, _)) = environment.picks.first() {
                    let name = match &**name {
                        "" => "rule",
                        name => name,
                    };
                    let message = format!("this step does not choose `{name}`");
                    return Err(Fault::new("pick", message, Some(span)));
                }
                Ok(steps)
            }
            Command::Check(condition) => {
                if model.holds(state, condition)? {
                    Ok(Vec::new())
                } else {
                    Err(model.check_failed(state, condition))
                }
            }
        }
    }
}

impl Model {
    /// Sets a function of the environment: a shared function at once, a monitored one for
    /// the following steps.
    pub(super) fn set(
        &self,
        id: FunctionId,
        arguments: Vec<Value>,
        value: Value,
        state: &mut State,
        environment: &mut Written,
        span: Span,
    ) -> Result<(), Fault> {
        let Some(function) = self.function(id) else {
            return Ok(());
        };
        self.takes(id, &value, span)?;
        let place = (id, arguments);
        if function.is_dynamic() {
            *state = self
                .with_value(state, &place, &value)
                .map_err(Stop::fault)?;
        } else {
            environment.settings.insert(place, value);
        }
        Ok(())
    }

    /// Returns the fault of a condition that does not hold, with the compared values.
    pub(super) fn check_failed(&self, state: &State, condition: &Term) -> Fault {
        // In a table the two sides are in different places.
        let text = match &condition.kind {
            TermKind::Binary(Binary::Equal, left, right) => {
                format!("{} = {}", self.source(left.span), self.source(right.span))
            }
            _ => self.source(condition.span).to_owned(),
        };
        let mut message = format!("`{text}` does not hold");
        let mut first = true;
        for part in self.values_in(condition) {
            if let Ok(value) = self.evaluate(state, part) {
                let join = if first { ": " } else { ", " };
                first = false;
                message += &format!(
                    "{join}`{}` is {}",
                    self.source(part.span),
                    self.show(&value)
                );
            }
        }
        Fault::new("check", message, Some(condition.span))
    }

    /// Returns the function reads in a condition.
    fn values_in<'t>(&self, term: &'t Term) -> Vec<&'t Term> {
        if let TermKind::Apply(id, arguments) = &term.kind
            && arguments.is_empty()
            && self
                .function(*id)
                .is_some_and(|f| f.kind != FunctionKind::Static)
        {
            return vec![term];
        }
        let mut found: Vec<&'t Term> = Vec::new();
        term.parts(&mut |part| {
            for value in self.values_in(part) {
                let known = found
                    .iter()
                    .any(|other| self.source(other.span) == self.source(value.span));
                if !known {
                    found.push(value);
                }
            }
        });
        found
    }
}

/// A column of a table: its function.
#[derive(Debug, Clone)]
struct Column {
    id: FunctionId,
    name: Name,
    is_set: bool,
}

struct Reading<'a> {
    checking: Checking<'a>,
    source: u32,
    text: &'a str,
    commands: Vec<(Command, Span)>,
    faults: Vec<Fault>,
    /// In a table: its columns, and the number of rows so far.
    columns: Option<(Vec<Column>, usize)>,
}

impl Reading<'_> {
    fn lines(&mut self) {
        let mut start = 0;
        for line in self.text.split_inclusive('\n') {
            let end = start + line.len();
            let content = before(line, "//");
            let from = start + (content.len() - content.trim_start().len());
            let to = start + content.trim_end().len();
            if from < to
                && let Err(fault) = self.line(from..to)
            {
                self.faults.push(fault);
            }
            start = end;
        }
        if self.columns.is_some() {
            let end = self.text.len();
            let span = Span::new(self.source, end..end);
            let fault = Fault::new("syntax", "this table has no `end`", Some(span));
            self.faults.push(fault);
        }
    }

    fn line(&mut self, range: Range<usize>) -> Result<(), Fault> {
        let line = self.text.get(range.clone()).unwrap_or_default();
        if let Some((columns, rows)) = self.columns.take() {
            if line == "end" {
                return Ok(());
            }
            let result = self.row(&columns, rows, range);
            self.columns = Some((columns, rows + 1));
            return result;
        }
        let word = line.split(char::is_whitespace).next().unwrap_or_default();
        if word == "table" {
            let columns = self.columns_of(range.start + word.len()..range.end);
            // Skips the rows of a table with a faulty head.
            self.columns = Some((columns.clone().unwrap_or_default(), 0));
            return columns.map(|_| ());
        }
        let mut parser = Parser::at_place(self.source, self.text, range.clone());
        let span = Span::new(self.source, range);
        let command = self.command(&mut parser);
        // A lexical error is the cause of later errors.
        if let Some(fault) = parser.faults.pop() {
            return Err(fault);
        }
        let command = command?;
        parser.end()?;
        self.commands.push((command, span));
        Ok(())
    }

    fn command(&mut self, parser: &mut Parser) -> Result<Command, Fault> {
        if parser.take("set") {
            let name = parser.name("a function of the environment")?;
            let arguments = parser.arguments()?;
            parser.expect("=")?;
            let value = parser.expression()?;
            let (id, arguments) = self.checking.place(&name, &arguments)?;
            let value = self.checking.value_of(id, &value)?;
            return Ok(Command::Set(id, arguments, value));
        }
        if parser.take("pick") {
            let name = if parser.take("rule") {
                // An alternative rule, by its number.
                String::new()
            } else {
                parser
                    .name("the name of a variable, or `rule`")?
                    .text
                    .to_string()
            };
            parser.expect("=")?;
            let value = parser.expression()?;
            let value = self.checking.expression(&value)?;
            return Ok(Command::Pick(name, value));
        }
        if parser.take("step") {
            let span = parser.span();
            let count = parser.number().transpose()?.unwrap_or(1);
            if count > STEPS_MAX {
                let message = format!("a line makes at most {STEPS_MAX} steps");
                return Err(Fault::new("too-large", message, Some(span))
                    .help("write more lines, or `--random`, which takes any number of steps"));
            }
            return Ok(Command::Step(count));
        }
        if parser.take("check") {
            let condition = parser.expression()?;
            return Ok(Command::Check(self.checking.condition(&condition)?));
        }
        Err(parser
            .wrong("a line of a script")
            .help("one begins with `set`, `pick`, `step`, `check` or `table`"))
    }

    /// Returns the ranges of the cells of a line, trimmed.
    fn cells(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let line = self.text.get(range.clone()).unwrap_or_default();
        let mut start = range.start;
        let mut cells = Vec::new();
        let mut rest = line;
        loop {
            let cell = before(rest, "|");
            let from = start + (cell.len() - cell.trim_start().len());
            let to = from + cell.trim().len();
            cells.push(from..to);
            start += cell.len() + 1;
            match rest.get(cell.len() + 1..) {
                Some(more) => rest = more,
                None => return cells,
            }
        }
    }

    fn columns_of(&mut self, range: Range<usize>) -> Result<Vec<Column>, Fault> {
        let mut columns = Vec::new();
        for cell in self.cells(range) {
            let mut parser = Parser::at_place(self.source, self.text, cell);
            let name = parser.name("a function")?;
            parser.end()?;
            let (id, is_set) = self.checking.column(&name)?;
            columns.push(Column { id, name, is_set });
        }
        Ok(columns)
    }

    fn row(&mut self, columns: &[Column], number: usize, range: Range<usize>) -> Result<(), Fault> {
        let span = Span::new(self.source, range.clone());
        let cells = self.cells(range);
        if columns.is_empty() {
            return Ok(());
        }
        if cells.len() > columns.len() {
            let message = format!(
                "{} cells in a table of {} columns",
                cells.len(),
                columns.len()
            );
            return Err(Fault::new("syntax", message, Some(span)));
        }
        if number > 0 {
            self.commands.push((Command::Step(1), span));
        }
        let mut settings = Vec::new();
        for (column, cell) in columns.iter().zip(cells) {
            if cell.is_empty() {
                continue;
            }
            let span = Span::new(self.source, cell.clone());
            let value = self.cell(cell)?;
            if column.is_set {
                let value = self.checking.value_of(column.id, &value)?;
                settings.push((Command::Set(column.id, Vec::new(), value), span));
            } else {
                let condition = self.checking.equal(&column.name, value)?;
                self.commands.push((Command::Check(condition), span));
            }
        }
        self.commands.extend(settings);
        Ok(())
    }

    fn cell(&self, range: Range<usize>) -> Result<Expression, Fault> {
        let mut parser = Parser::at_place(self.source, self.text, range);
        let value = parser.expression()?;
        parser.end()?;
        match parser.faults.pop() {
            Some(fault) => Err(fault),
            None => Ok(value),
        }
    }
}

/// Returns the part of a line before a mark outside strings; all of it without one.
fn before<'t>(line: &'t str, mark: &str) -> &'t str {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, next) in line.char_indices() {
        let rest = line.get(at..).unwrap_or_default();
        if !is_quoted && rest.starts_with(mark) {
            return line.get(..at).unwrap_or_default();
        }
        is_quoted ^= next == '"' && !is_escaped;
        is_escaped = next == '\\' && !is_escaped;
    }
    line
}

#[cfg(test)]
mod tests;
