//! Lines that are typed or pasted at a terminal.
//!
//! Lines that are typed while the program runs, or pasted without brackets, stay in the buffer of
//! the line editor from one line to the next. A bracketed paste arrives as one input with line
//! ends in it: it is split, and its later lines wait here.

use super::{Input, Lines};
use crate::directories;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::{CompletionType, Config, Editor};
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;

/// The number of lines that the history keeps.
const HISTORY_LINES: usize = 2000;

/// Returns where the word at a position of a line begins, and its possible completions.
pub type Complete = Box<dyn Fn(&str, usize) -> (usize, Vec<String>)>;

/// The line editor, with its history.
pub struct Typed {
    editor: Editor<Completion, DefaultHistory>,
    history: Option<PathBuf>,
    /// The later lines of a paste.
    pasted: VecDeque<String>,
}

impl Typed {
    /// Creates a line editor that completes from the session, with the history of
    /// earlier sessions.
    pub fn new(complete: Complete) -> io::Result<Typed> {
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .max_history_size(HISTORY_LINES)
            .and_then(|builder| builder.history_ignore_dups(true))
            .map_err(io::Error::other)?
            .build();
        let mut editor = Editor::with_config(config).map_err(io::Error::other)?;
        editor.set_helper(Some(Completion(complete)));
        let history = history_file();
        if let Some(file) = &history {
            // The file does not exist before the first session.
            let _ = editor.load_history(file);
        }
        Ok(Typed {
            editor,
            history,
            pasted: VecDeque::new(),
        })
    }
}

impl Lines for Typed {
    fn next(&mut self, prompt: &str) -> io::Result<Input> {
        if let Some(line) = self.pasted.pop_front() {
            // The line editor has shown the paste as a whole.
            println!("{prompt}{}", juror_text::escape::safe(&line));
            return Ok(Input::Line(line));
        }
        self.read(prompt, true)
    }

    fn ask(&mut self, question: &str) -> io::Result<Input> {
        match self.pasted.pop_front() {
            Some(line) => Ok(Input::Line(line)),
            None => self.read(question, false),
        }
    }

    fn is_typed(&self) -> bool {
        true
    }

    fn discard(&mut self) {
        self.pasted.clear();
    }
}

impl Typed {
    /// Reads lines; the first one is the next input.
    fn read(&mut self, prompt: &str, is_kept: bool) -> io::Result<Input> {
        match self.editor.readline(prompt) {
            Ok(text) => {
                let mut lines = lines_of(&text);
                for line in lines.iter().filter(|_| is_kept) {
                    let _ = self.editor.add_history_entry(line.as_str());
                }
                let first = lines.pop_front().unwrap_or_default();
                self.pasted = lines;
                Ok(Input::Line(first))
            }
            Err(ReadlineError::Interrupted) => Ok(Input::Cancelled),
            Err(ReadlineError::Eof) => Ok(Input::End),
            Err(ReadlineError::Io(error)) => Err(error),
            Err(error) => Err(io::Error::other(error)),
        }
    }
}

/// Returns the lines of an input. Empty lines of a paste repeat nothing: they are left out.
fn lines_of(text: &str) -> VecDeque<String> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(str::to_owned).collect()
}

impl Drop for Typed {
    fn drop(&mut self) {
        // A failure is not reported: it would recur at the end of each session.
        if let Some(file) = &self.history
            && file
                .parent()
                .is_some_and(|directory| std::fs::create_dir_all(directory).is_ok())
        {
            let _ = self.editor.append_history(file);
        }
    }
}

/// Returns the file of the history.
fn history_file() -> Option<PathBuf> {
    Some(directories::state()?.join("history"))
}

/// The completion of words by the session.
struct Completion(Complete);

impl Completer for Completion {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &rustyline::Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok((self.0)(line, position))
    }
}

impl rustyline::hint::Hinter for Completion {
    type Hint = String;
}
impl rustyline::highlight::Highlighter for Completion {}
impl rustyline::validate::Validator for Completion {}
impl rustyline::Helper for Completion {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paste_is_several_lines() {
        assert_eq!(lines_of("next"), ["next"]);
        assert_eq!(lines_of("print 1\n\n  print 2\n"), ["print 1", "  print 2"]);
        assert_eq!(lines_of(""), [""; 0]);
    }
}
