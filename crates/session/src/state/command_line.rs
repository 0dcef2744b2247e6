//! Parses the arguments of `run`: arguments for the program, and files for its standard streams.
//!
//! Words are split as by a shell, with quotes and backslashes; `<`, `>`, `>>`, `2>`, `2>>` and `&>`
//! name files, `2>&1` redirects errors to the output. No other shell syntax is supported. The
//! crates that split words (shlex, shell-words) are unsuitable: they do not distinguish a quoted
//! `<`.

#[cfg(test)]
mod tests;

use juror_debuggee::{Launch, Redirection};
use juror_fault::CommandError;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A parsed line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// The arguments.
    pub arguments: Vec<OsString>,
    /// The redirections.
    pub redirections: Redirections,
}

/// Files for the standard streams; a stream without one is unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Redirections {
    input: Option<PathBuf>,
    output: Option<Sink>,
    error: Option<Sink>,
    /// Whether output and error are one open file.
    is_joined: bool,
    /// Whether errors go where the output went before this line.
    follows_standard: bool,
}

impl Redirections {
    /// Returns whether no file is named.
    pub fn is_empty(&self) -> bool {
        *self == Redirections::default()
    }
}

/// A file that is written to.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sink {
    path: PathBuf,
    append: bool,
}

/// The operators, with longer ones before their prefixes.
const OPERATORS: [(&str, Operator); 9] = [
    ("2>&1", Operator::ErrorWithOutput),
    ("1>>", Operator::Output { append: true }),
    ("1>", Operator::Output { append: false }),
    ("2>>", Operator::Error { append: true }),
    ("2>", Operator::Error { append: false }),
    ("&>", Operator::Both),
    (">>", Operator::Output { append: true }),
    (">", Operator::Output { append: false }),
    ("<", Operator::Input),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Input,
    Output {
        append: bool,
    },
    Error {
        append: bool,
    },
    Both,
    /// It has no file: errors go where the output goes at this point of the line.
    ErrorWithOutput,
}

impl CommandLine {
    /// Parses a line.
    ///
    /// # Errors
    /// A quote is not closed, or an operator has no file.
    pub fn parse(text: &str) -> Result<CommandLine, CommandError> {
        let mut line = CommandLine::default();
        // The operator whose file is the next word.
        let mut pending = None;
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            if let Some(&(word, operator)) = OPERATORS.iter().find(|it| rest.starts_with(it.0)) {
                if let Some((before, _)) = pending {
                    return Err(without_file(before));
                }
                rest = &rest[word.len()..];
                if operator == Operator::ErrorWithOutput {
                    line.redirections.join();
                    rest = rest.trim_start();
                    continue;
                }
                pending = Some((word, operator));
                if rest.starts_with('&') {
                    return Err(CommandError::with_help(
                        format!("redirection `{word}&` is not supported"),
                        "for both streams in one file: &> FILE",
                    ));
                }
            } else {
                let (word, after) = split_word(rest)?;
                rest = after;
                match pending.take() {
                    Some((_, operator)) => line.redirections.set(operator, word.into()),
                    None => line.arguments.push(word.into()),
                }
            }
            rest = rest.trim_start();
        }
        match pending {
            Some((word, _)) => Err(without_file(word)),
            None => Ok(line),
        }
    }
}

fn without_file(operator: &str) -> CommandError {
    CommandError::with_help(
        format!("a file is missing after `{operator}`"),
        "an argument that is not a redirection is quoted: run '<'",
    )
}

/// Splits off the first word, which is not empty; returns it and the rest.
fn split_word(text: &str) -> Result<(String, &str), CommandError> {
    let mut word = String::new();
    let mut quote = None;
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => {
                word.push(characters.next().map_or('\\', |(_, escaped)| escaped));
            }
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (c, None) if c.is_whitespace() || c == '<' || c == '>' => {
                return Ok((word, &text[at..]));
            }
            ('&', None) if text[at..].starts_with("&>") => return Ok((word, &text[at..])),
            (c, _) => word.push(c),
        }
    }
    match quote {
        Some(_) => Err(CommandError::new("a quote is not closed")),
        None => Ok((word, "")),
    }
}

impl Redirections {
    /// Redirects errors to where the output goes by now.
    fn join(&mut self) {
        self.error = None;
        self.is_joined = self.output.is_some();
        self.follows_standard = self.output.is_none();
    }

    /// Keeps errors in the file where the output went until now.
    fn part(&mut self) {
        if std::mem::take(&mut self.is_joined) {
            self.error = self.output.take();
        }
    }

    fn set(&mut self, operator: Operator, path: PathBuf) {
        match operator {
            Operator::Input => self.input = Some(path),
            Operator::Output { append } => {
                self.part();
                self.output = Some(Sink { path, append });
            }
            Operator::Error { append } => {
                self.error = Some(Sink { path, append });
                self.is_joined = false;
                self.follows_standard = false;
            }
            // It names no file.
            Operator::ErrorWithOutput => self.join(),
            Operator::Both => {
                let append = false;
                self.output = Some(Sink { path, append });
                self.join();
            }
        }
    }

    /// Checks that the files can be opened, before anything is ended or started. Their contents
    /// stay.
    ///
    /// # Errors
    /// A file cannot be opened; the reason.
    pub fn check(&self) -> Result<(), CommandError> {
        if let Some(path) = &self.input {
            let readable = File::open(path).and_then(|file| file.metadata());
            let is_directory = readable.map_err(|error| cannot("read from", path, &error))?;
            if is_directory.is_dir() {
                let error = io::Error::from(io::ErrorKind::IsADirectory);
                return Err(cannot("read from", path, &error));
            }
        }
        for sink in self.output.iter().chain(&self.error) {
            let opened = OpenOptions::new()
                .append(true)
                .create(true)
                .open(&sink.path);
            opened.map_err(|error| cannot("write to", &sink.path, &error))?;
        }
        Ok(())
    }

    /// Sets the files for a program to be started.
    ///
    /// # Errors
    /// A file for both streams cannot be opened.
    pub fn apply(&self, launch: &mut Launch) -> Result<(), CommandError> {
        if let Some(path) = &self.input {
            launch.input = Redirection::File(path.clone());
        }
        if self.follows_standard {
            let standard = Redirections::standard(&launch.output)?;
            launch.output = standard.clone();
            launch.error = standard;
        }
        if let Some(sink) = &self.output {
            launch.output = sink.redirection();
        }
        if let Some(sink) = &self.error {
            launch.error = sink.redirection();
        }
        if let (true, Some(sink)) = (self.is_joined, &self.output) {
            // If opened twice, each stream would overwrite the other.
            let file = Redirection::Descriptor(sink.open()?);
            launch.output = file.clone();
            launch.error = file;
        }
        Ok(())
    }

    /// Returns the common target of output and errors if this line does not redirect them.
    fn standard(output: &Redirection) -> Result<Redirection, CommandError> {
        let sink = |path: &PathBuf, append| Sink {
            path: path.clone(),
            append,
        };
        Ok(Redirection::Descriptor(match output {
            Redirection::Inherit => {
                let own = io::stdout().as_fd().try_clone_to_owned();
                Arc::new(own.map_err(|error| {
                    CommandError::new(format!("the standard output cannot be used: {error}"))
                })?)
            }
            Redirection::File(path) => sink(path, false).open()?,
            Redirection::Append(path) => sink(path, true).open()?,
            Redirection::Descriptor(file) => Arc::clone(file),
        }))
    }
}

impl Sink {
    /// Opens it for both streams.
    fn open(&self) -> Result<Arc<OwnedFd>, CommandError> {
        let file = if self.append {
            OpenOptions::new()
                .append(true)
                .create(true)
                .open(&self.path)
        } else {
            File::create(&self.path)
        };
        let file = file.map_err(|error| cannot("write to", &self.path, &error))?;
        Ok(Arc::new(file.into()))
    }

    fn redirection(&self) -> Redirection {
        if self.append {
            Redirection::Append(self.path.clone())
        } else {
            Redirection::File(self.path.clone())
        }
    }
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> CommandError {
    CommandError::new(format!("cannot {what} `{}`: {error}", path.display()))
}
