//! Parses views: one statement a line, blocks in braces.

use super::pattern::Pattern;
use super::rule::{PrettyPrinter, Shape, Source, Statement, TypeSource, Words};
use juror_language::Expression;

/// The greatest depth of nested blocks.
const DEPTH_MAX: usize = 16;

/// A syntax error in a file of views.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}\n  {text}")]
pub struct PrettyPrinterError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The line's text.
    pub text: String,
    /// The message.
    pub message: String,
}

/// Parses the views of a file.
pub(crate) fn parse(file: &str, source: &str) -> Result<Vec<PrettyPrinter>, PrettyPrinterError> {
    let mut reader = Reader {
        file,
        lines: source.lines().enumerate(),
        line: 0,
        text: "",
    };
    let mut printers = Vec::new();
    while let Some(text) = reader.next_line() {
        printers.push(reader.printer(text)?);
    }
    Ok(printers)
}

struct Reader<'a> {
    file: &'a str,
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
    line: usize,
    text: &'a str,
}

/// The line that ends a block.
#[derive(PartialEq)]
enum End<'a> {
    /// `}`
    Closed,
    /// `} else {`
    Else,
    /// `} else if CONDITION {`
    ElseIf(&'a str),
}

impl<'a> Reader<'a> {
    /// Returns the next line that is neither empty nor a comment.
    fn next_line(&mut self) -> Option<&'a str> {
        loop {
            let (index, text) = self.lines.next()?;
            (self.line, self.text) = (index + 1, text.trim());
            if !self.text.is_empty() && !self.text.starts_with('#') {
                return Some(self.text);
            }
        }
    }

    fn error(&self, message: impl Into<String>) -> PrettyPrinterError {
        PrettyPrinterError {
            file: self.file.to_owned(),
            line: self.line,
            text: self.text.to_owned(),
            message: message.into(),
        }
    }

    fn printer(&mut self, text: &str) -> Result<PrettyPrinter, PrettyPrinterError> {
        let header = text
            .strip_prefix("view ")
            .and_then(|rest| rest.strip_suffix('{'));
        let Some(header) = header else {
            return Err(self.error("a view begins with: view NAME<ARGUMENTS> as list {"));
        };
        let (pattern, shape) = match header.rsplit_once(" as ") {
            Some((pattern, word)) => (pattern, self.shape(word.trim())?),
            None => (header, Shape::Value),
        };
        let patterns = pattern.split(" or ").map(Pattern::parse);
        let patterns = patterns.collect::<Option<Vec<_>>>();
        let patterns = patterns.ok_or_else(|| self.error("this names no type"))?;
        let line = self.line;
        let (body, end) = self.block(0)?;
        if end != End::Closed {
            return Err(self.error("there is no `if` for this `else`"));
        }
        Ok(PrettyPrinter {
            patterns,
            shape,
            body,
            line,
        })
    }

    fn shape(&self, word: &str) -> Result<Shape, PrettyPrinterError> {
        match word {
            "value" => Ok(Shape::Value),
            "list" => Ok(Shape::List),
            "set" => Ok(Shape::Set),
            "map" => Ok(Shape::Map),
            "tuple" => Ok(Shape::Tuple),
            _ => Err(self.error("a view is shown as: value, list, set, map or tuple")),
        }
    }

    /// Parses the statements up to the closing brace.
    fn block(&mut self, depth: usize) -> Result<(Vec<Statement>, End<'a>), PrettyPrinterError> {
        if depth > DEPTH_MAX {
            return Err(self.error("blocks are nested too deeply"));
        }
        let mut statements = Vec::new();
        while let Some(text) = self.next_line() {
            if text == "}" {
                return Ok((statements, End::Closed));
            }
            if let Some(rest) = text.strip_prefix("} else ") {
                let end = match (rest.trim(), rest.strip_prefix("if ")) {
                    ("{", _) => End::Else,
                    (_, Some(condition)) => End::ElseIf(self.opened(condition)?),
                    _ => return Err(self.error("after `else` stands `{` or `if`")),
                };
                return Ok((statements, end));
            }
            statements.push(self.statement(text, depth)?);
        }
        Err(self.error("a `}` is missing"))
    }

    /// Returns the text before the brace that opens a block.
    fn opened(&self, text: &'a str) -> Result<&'a str, PrettyPrinterError> {
        let text = text.strip_suffix('{').map(str::trim);
        text.ok_or_else(|| self.error("`{` ends this line"))
    }

    fn statement(&mut self, text: &'a str, depth: usize) -> Result<Statement, PrettyPrinterError> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let rest = rest.trim();
        match word {
            // A variable may have the name of a statement.
            _ if rest.starts_with("= ") => self.assignment(text),
            "let" => self.assignment(rest),
            "type" => self.type_name(rest),
            "if" => {
                let condition = self.opened(rest)?;
                self.conditional(condition, depth)
            }
            "while" => {
                let condition = self.opened(rest)?;
                let condition = self.expression(condition)?;
                Ok(Statement::While(condition, self.body(depth)?))
            }
            "for" => self.counted(rest, depth),
            "count" => Ok(Statement::Count(self.expression(rest)?)),
            "element" => Ok(Statement::Element(self.expression(rest)?)),
            "entry" => {
                let (key, value) = self.halves(rest, "=>")?;
                Ok(Statement::Entry(key, value))
            }
            "every" => Ok(Statement::Every(self.name(rest)?)),
            "text" => {
                let (pointer, length) = self.halves(rest, ", ")?;
                Ok(Statement::Text(pointer, length))
            }
            "value" => Ok(Statement::Value(self.expression(rest)?)),
            "at" => Ok(Statement::At(self.expression(rest)?)),
            "word" => self.words(rest),
            _ => self.assignment(text),
        }
    }

    fn body(&mut self, depth: usize) -> Result<Vec<Statement>, PrettyPrinterError> {
        match self.block(depth + 1)? {
            (body, End::Closed) => Ok(body),
            _ => Err(self.error("there is no `if` for this `else`")),
        }
    }

    fn conditional(
        &mut self,
        condition: &str,
        depth: usize,
    ) -> Result<Statement, PrettyPrinterError> {
        let condition = self.expression(condition)?;
        let (then, end) = self.block(depth + 1)?;
        let otherwise = match end {
            End::Closed => Vec::new(),
            End::Else => self.body(depth)?,
            End::ElseIf(condition) => vec![self.conditional(condition, depth + 1)?],
        };
        Ok(Statement::If(condition, then, otherwise))
    }

    fn counted(&mut self, rest: &'a str, depth: usize) -> Result<Statement, PrettyPrinterError> {
        let rest = self.opened(rest)?;
        let parts = rest.split_once(" in ");
        let parts = parts.and_then(|(name, range)| Some((name, range.split_once("..")?)));
        let Some((name, (start, end))) = parts else {
            return Err(self.error("a count is written: for i in 0 .. n {"));
        };
        let name = self.name(name)?;
        let (start, end) = (self.expression(start)?, self.expression(end)?);
        Ok(Statement::For(name, start, end, self.body(depth)?))
    }

    fn assignment(&self, text: &str) -> Result<Statement, PrettyPrinterError> {
        let Some((name, source)) = text.split_once(" = ") else {
            return Err(self.error(
                "there is no such statement; there are: let, type, if, while, for, count, \
                 element, entry, every, text, value, at, word",
            ));
        };
        let name = self.name(name)?;
        let source = match (
            self.numbered(source, "base ")?,
            self.numbered(source, "argument ")?,
        ) {
            (Some((number, of)), _) => Source::Base(number, of),
            (None, Some((number, of))) => Source::Argument(number, of),
            (None, None) => Source::Expression(self.expression(source)?),
        };
        Ok(Statement::Assign(name, source))
    }

    fn type_name(&self, rest: &str) -> Result<Statement, PrettyPrinterError> {
        let wrong = || self.error("a type is written: type T = argument 1 of x, or target of x");
        let (name, source) = rest.split_once(" = ").ok_or_else(wrong)?;
        let source = match source.trim().strip_prefix("target of ") {
            Some(of) => TypeSource::Target(self.expression(of)?),
            None => {
                let argument = self.numbered(source, "argument ")?.ok_or_else(wrong)?;
                TypeSource::Argument(argument.0, argument.1)
            }
        };
        Ok(Statement::Name(self.name(name)?, source))
    }

    /// Parses `WORD N of EXPRESSION`. Returns `None` if the text begins otherwise.
    fn numbered(
        &self,
        text: &str,
        word: &str,
    ) -> Result<Option<(usize, Expression)>, PrettyPrinterError> {
        let parts = text.trim().strip_prefix(word);
        let Some((number, of)) = parts.and_then(|rest| rest.split_once(" of ")) else {
            return Ok(None);
        };
        let number = number.trim().parse::<usize>().ok();
        match number.and_then(|number| number.checked_sub(1)) {
            Some(index) => Ok(Some((index, self.expression(of)?))),
            None => Err(self.error("they are counted from 1")),
        }
    }

    /// Parses `word locked by {owner}`: text with expressions in it.
    fn words(&self, rest: &str) -> Result<Statement, PrettyPrinterError> {
        let mut pieces = rest.split('{');
        let mut words = Words {
            first: pieces.next().unwrap_or("").into(),
            numbers: Vec::new(),
        };
        for piece in pieces {
            let parts = piece.split_once('}');
            let (number, text) =
                parts.ok_or_else(|| self.error("a `}` is missing behind the expression"))?;
            words.numbers.push((self.expression(number)?, text.into()));
        }
        Ok(Statement::Word(words))
    }

    fn halves(
        &self,
        text: &str,
        sign: &str,
    ) -> Result<(Expression, Expression), PrettyPrinterError> {
        let parts = text.rsplit_once(sign);
        let (first, second) =
            parts.ok_or_else(|| self.error(format!("`{}` is missing", sign.trim())))?;
        Ok((self.expression(first)?, self.expression(second)?))
    }

    fn name(&self, text: &str) -> Result<Box<str>, PrettyPrinterError> {
        let text = text.trim();
        let fits = |c: char| c.is_alphanumeric() || c == '_';
        if text.is_empty() || !text.chars().all(fits) {
            return Err(self.error(format!("`{text}` is no name")));
        }
        Ok(text.into())
    }

    fn expression(&self, text: &str) -> Result<Expression, PrettyPrinterError> {
        let (expression, diagnostics) = juror_language::parse_pure_expression(text.trim());
        if let Some(wrong) = diagnostics.iter().find(|diagnostic| diagnostic.is_error()) {
            return Err(self.error(wrong.message.clone()));
        }
        expression.ok_or_else(|| self.error("an expression is missing"))
    }
}
