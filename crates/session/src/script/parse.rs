//! Reads blocks of commands, line by line.

use crate::script::block::{Block, Step};
use juror_fault::CommandError;
use std::rc::Rc;

/// The kinds of lines that give a block its structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An empty line or a comment.
    Nothing,
    /// A command.
    Line,
    /// `if CONDITION`
    If,
    /// `while CONDITION`
    While,
    /// `else`
    Else,
    /// `end`
    End,
    /// `loop_break`
    Break,
    /// `loop_continue`
    Continue,
    /// `commands` or `define`: lines up to `end` belong to it.
    List,
    /// `document`: text up to `end` belongs to it.
    Text,
}

/// The meaning of the words of a line, which the table of commands knows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words {
    /// Returns the kind of a line.
    pub(crate) kind_of: fn(&str) -> Kind,
    /// Returns whether a word stands for commands of juror.
    pub(crate) is_command: fn(&str) -> bool,
}

impl Default for Words {
    /// Only what gives a block its structure.
    fn default() -> Words {
        Words {
            kind_of: structure_of,
            is_command: |_| false,
        }
    }
}

/// Returns the kind of a line, of those that are no commands.
pub(crate) fn structure_of(line: &str) -> Kind {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Kind::Nothing;
    }
    match line.split_whitespace().next() {
        Some("if") => Kind::If,
        Some("while") => Kind::While,
        Some("else") => Kind::Else,
        Some("end") => Kind::End,
        Some("loop_break") => Kind::Break,
        Some("loop_continue") => Kind::Continue,
        _ => Kind::Line,
    }
}

/// A part of a block that its `end` has not closed.
#[derive(Debug)]
enum Open {
    /// The branch of an `if`, and the step of its condition.
    If { at: usize },
    /// The branch of an `else`, and the step that leads past it.
    Else { at: usize },
    /// A loop: the step of its condition, and the steps that leave it.
    While { at: usize, breaks: Vec<usize> },
    /// Lines of another list: they are kept as they stand.
    List,
    /// Text: only `end` has a meaning.
    Text,
}

/// Whether a block is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// More lines belong to it.
    More,
    /// The line has closed it.
    Whole,
}

/// A block that is being read.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    words: Words,
    block: Block,
    open: Vec<Open>,
    /// How many of them are lists.
    list_count: usize,
    /// Whether the next `end` that closes nothing in the block closes the block.
    has_end: bool,
    /// Whether the block is text.
    is_text: bool,
    /// Whether a line was refused.
    pub(crate) is_malformed: bool,
}

impl Parser {
    /// Reads a block that its first line opens, or a file.
    pub(crate) fn new(words: Words) -> Parser {
        Parser {
            words,
            ..Parser::default()
        }
    }

    /// Reads the lines of a list up to `end`.
    pub(crate) fn of_list(words: Words) -> Parser {
        Parser {
            has_end: true,
            ..Parser::new(words)
        }
    }

    /// Reads text up to `end`.
    pub(crate) fn of_text(words: Words) -> Parser {
        Parser {
            is_text: true,
            ..Parser::of_list(words)
        }
    }

    /// Returns how many parts of the block are open, the block itself included.
    pub(crate) fn depth(&self) -> usize {
        self.open.len() + usize::from(self.has_end)
    }

    /// Returns the lines so far.
    pub(crate) fn lines(&self) -> &[String] {
        &self.block.lines
    }

    /// Returns whether the next line is text.
    pub(crate) fn is_in_text(&self) -> bool {
        self.is_text || matches!(self.open.last(), Some(Open::Text))
    }

    /// Takes the next line.
    ///
    /// # Errors
    /// The line has no place here. What follows is read on, up to the end of the block.
    pub(crate) fn take(&mut self, line: &str) -> Result<Taken, CommandError> {
        let result = self.take_line(line.trim());
        self.is_malformed |= result.is_err();
        result
    }

    fn take_line(&mut self, line: &str) -> Result<Taken, CommandError> {
        let kind = (self.words.kind_of)(line);
        if self.is_in_text() && kind != Kind::End {
            self.push(line, Step::Line);
            return Ok(Taken::More);
        }
        let is_kept = self.list_count > 0;
        let here = self.block.steps.len();
        match kind {
            Kind::Nothing => {}
            Kind::Line => self.push(line, Step::Line),
            Kind::If => {
                self.push_condition(line, is_kept);
                self.open.push(Open::If { at: here });
                require_condition(line)?;
            }
            Kind::While => {
                self.push_condition(line, is_kept);
                let breaks = Vec::new();
                self.open.push(Open::While { at: here, breaks });
                self.block.has_loop |= !is_kept;
                require_condition(line)?;
            }
            Kind::Else => self.take_else(line, here, is_kept)?,
            Kind::Break | Kind::Continue => self.take_leap(line, kind, here, is_kept)?,
            Kind::List => {
                self.push(line, Step::Line);
                self.open.push(Open::List);
                self.list_count += 1;
            }
            Kind::Text => {
                self.push(line, Step::Line);
                self.open.push(Open::Text);
            }
            Kind::End => return self.take_end(line, here, is_kept),
        }
        Ok(Taken::More)
    }

    fn push(&mut self, line: &str, step: Step) {
        self.block.lines.push(line.to_owned());
        self.block.steps.push(step);
    }

    /// Adds a condition. The step after a false one is known at the end of its part.
    fn push_condition(&mut self, line: &str, is_kept: bool) {
        let step = if is_kept {
            Step::Line
        } else {
            Step::Test { otherwise: 0 }
        };
        self.push(line, step);
    }

    fn take_else(&mut self, line: &str, here: usize, is_kept: bool) -> Result<(), CommandError> {
        let Some(Open::If { at }) = self.open.last() else {
            return Err(CommandError::new("`else` without `if`"));
        };
        let at = *at;
        self.open.pop();
        self.open.push(Open::Else { at: here });
        if is_kept {
            self.push(line, Step::Line);
            return Ok(());
        }
        self.push(line, Step::Go(0));
        self.lead(at, here + 1);
        Ok(())
    }

    fn take_leap(
        &mut self,
        line: &str,
        kind: Kind,
        here: usize,
        is_kept: bool,
    ) -> Result<(), CommandError> {
        let inner = self.open.iter_mut().rev();
        let mut inner = inner.take_while(|it| !matches!(it, Open::List | Open::Text));
        let found = inner.find_map(|open| match open {
            Open::While { at, breaks } => Some((*at, breaks)),
            _ => None,
        });
        let Some((at, breaks)) = found else {
            return Err(CommandError::new(format!("`{line}` outside of `while`")));
        };
        let step = match kind {
            _ if is_kept => Step::Line,
            Kind::Break => {
                breaks.push(here);
                Step::Go(0)
            }
            _ => Step::Go(at),
        };
        self.push(line, step);
        Ok(())
    }

    fn take_end(&mut self, line: &str, here: usize, is_kept: bool) -> Result<Taken, CommandError> {
        let Some(open) = self.open.pop() else {
            return if self.has_end {
                Ok(Taken::Whole)
            } else {
                Err(no_block())
            };
        };
        self.list_count -= usize::from(matches!(open, Open::List));
        if is_kept || matches!(open, Open::List | Open::Text) {
            self.push(line, Step::Line);
        } else {
            match open {
                Open::If { at } | Open::Else { at } => {
                    self.push(line, Step::Go(here + 1));
                    self.lead(at, here + 1);
                }
                Open::While { at, breaks } => {
                    self.push(line, Step::Go(at));
                    self.lead(at, here + 1);
                    for from in breaks {
                        self.lead(from, here + 1);
                    }
                }
                Open::List | Open::Text => {}
            }
        }
        Ok(if self.open.is_empty() && !self.has_end {
            Taken::Whole
        } else {
            Taken::More
        })
    }

    /// Sets where the step at a line leads.
    fn lead(&mut self, from: usize, to: usize) {
        match self.block.steps.get_mut(from) {
            Some(Step::Test { otherwise }) => *otherwise = to,
            Some(Step::Go(next)) => *next = to,
            _ => {}
        }
    }

    /// Returns the block, which is whole.
    pub(crate) fn finish(self) -> Rc<Block> {
        Rc::new(self.block)
    }
}

/// Returns the error of an `end` that closes nothing.
pub(crate) fn no_block() -> CommandError {
    CommandError::with_help("`end` without `commands`", "begin with: commands N")
}

/// Returns the condition of `if` or `while`.
pub(crate) fn condition_of(line: &str) -> &str {
    let line = line.trim();
    let rest = line.strip_prefix("if").or(line.strip_prefix("while"));
    rest.unwrap_or(line).trim()
}

fn require_condition(line: &str) -> Result<(), CommandError> {
    match condition_of(line) {
        "" => Err(CommandError::with_help(
            format!("`{}` needs a condition", line.trim()),
            format!("for example: {} count > 3", line.trim()),
        )),
        _ => Ok(()),
    }
}

/// Reads a file of commands.
///
/// # Errors
/// The number of the first line that has no place, and why; or of the line that opens a part
/// without an `end`.
pub(crate) fn parse_file(text: &str, words: Words) -> Result<Rc<Block>, (usize, CommandError)> {
    let mut parser = Parser::new(words);
    let mut opened = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let before = parser.open.len();
        parser.take(line).map_err(|error| (index + 1, error))?;
        let count = parser.block.lines.len();
        parser.block.numbers.resize(count, index + 1);
        match parser.open.len() {
            after if after > before => opened.push((index + 1, line.trim())),
            after => opened.truncate(after),
        }
    }
    match opened.last() {
        Some(&(number, line)) => {
            let message = format!("`end` is missing: `{line}` begins a block");
            Err((number, CommandError::new(message)))
        }
        None => Ok(parser.finish()),
    }
}

/// Returns the lines of a file that are within blocks and no text, and all conditions, each with
/// its number. The file is whole.
pub(crate) fn nested_lines(text: &str, words: Words) -> Vec<(usize, &str)> {
    let mut parser = Parser::new(words);
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let is_condition = matches!((words.kind_of)(line), Kind::If | Kind::While);
        if !parser.is_in_text() && (is_condition || parser.depth() > 0) {
            lines.push((index + 1, line));
        }
        if parser.take(line).is_err() {
            break;
        }
    }
    lines
}

#[cfg(test)]
mod tests;
