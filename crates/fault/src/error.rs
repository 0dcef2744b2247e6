//! The errors of sessions and commands.

use crate::diagnostic::Diagnostic;
use std::sync::Arc;

/// The diagnostics of a property file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiagnostics {
    /// The file, as named by the user or by the file that uses it.
    pub file: String,
    /// The text of the file.
    pub text: Arc<str>,
    /// The diagnostics, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// The reason why a session could not start.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// A property is wrong, in itself or for this program.
    #[error("the property in {file} cannot be used")]
    Property {
        /// The property file.
        file: String,
        /// The diagnostics of the file and of the files that it uses.
        found: Vec<FileDiagnostics>,
    },
    /// A scenario is wrong.
    #[error("the scenario in {file} cannot be used")]
    Scenario {
        /// Its file.
        file: String,
        /// The diagnostics of the file and of the files that it uses.
        found: Vec<FileDiagnostics>,
    },
    /// The program cannot be run.
    #[error("{0}")]
    Launch(String),
    /// An error in juror or the kernel.
    #[error("{0}")]
    Internal(String),
}

/// The error of a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CommandError {
    /// The message.
    pub message: String,
    /// The help.
    pub help: Option<String>,
    /// The diagnostics of property files.
    pub found: Vec<FileDiagnostics>,
    /// The end of the line from the words on that are wrong; empty if it is the whole line.
    pub wrong: String,
}

impl CommandError {
    /// Creates an error without help.
    pub fn new(message: impl Into<String>) -> CommandError {
        CommandError {
            message: message.into(),
            help: None,
            found: Vec::new(),
            wrong: String::new(),
        }
    }

    /// Creates the error of words at the end of a line that the command does not take.
    pub fn unexpected(words: &str, command: &str) -> CommandError {
        let words = words.trim();
        CommandError {
            wrong: words.to_owned(),
            ..CommandError::new(format!("`{words}` is unexpected after `{command}`"))
        }
    }

    /// Notes that the end of the line from a position of a text on is wrong; the line ends with
    /// the text.
    #[must_use]
    pub fn pointing_at(self, text: &str, at: usize) -> CommandError {
        let wrong = text.get(at..).unwrap_or_default().trim_end().to_owned();
        CommandError { wrong, ..self }
    }

    /// Creates an error with optional help.
    pub fn advised(message: impl Into<String>, help: Option<String>) -> CommandError {
        CommandError {
            help,
            ..CommandError::new(message)
        }
    }

    /// Creates an error with help.
    pub fn with_help(message: impl Into<String>, help: impl Into<String>) -> CommandError {
        CommandError {
            help: Some(help.into()),
            ..CommandError::new(message)
        }
    }
}

impl From<SessionError> for CommandError {
    fn from(error: SessionError) -> CommandError {
        let message = error.to_string();
        let found = match error {
            SessionError::Property { found, .. } | SessionError::Scenario { found, .. } => found,
            _ => Vec::new(),
        };
        CommandError {
            found,
            ..CommandError::new(message)
        }
    }
}

/// Creates the error of a wrong property file.
pub fn wrong(file: &str, text: &Arc<str>, diagnostics: Vec<Diagnostic>) -> SessionError {
    SessionError::Property {
        file: file.to_owned(),
        found: vec![FileDiagnostics {
            file: file.to_owned(),
            text: Arc::clone(text),
            diagnostics,
        }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnostic() -> Diagnostic {
        Diagnostic::error("unknown-event", 6..10, "there is no event `push`")
            .did_you_mean(Some("pushed".to_owned()))
    }

    #[test]
    fn a_command_keeps_the_places_of_a_wrong_file() {
        let text = Arc::from("state push");
        let error = wrong("queue.prop", &text, vec![diagnostic()]);
        let error = CommandError::from(error);
        assert_eq!(error.message, "the property in queue.prop cannot be used");
        let [found] = error.found.as_slice() else {
            panic!("{error:?}");
        };
        assert_eq!((&*found.file, &*found.text), ("queue.prop", &*text));
        assert_eq!(found.diagnostics, [diagnostic()]);
        assert_eq!(
            found.diagnostics[0].help.as_deref(),
            Some("did you mean `pushed`?")
        );
    }

    #[test]
    fn an_error_without_a_place_is_a_message() {
        let error = CommandError::from(SessionError::Launch("no such file".to_owned()));
        assert_eq!(error, CommandError::new("no such file"));
        assert_eq!(error.to_string(), "no such file");
        let advised = CommandError::advised("no", Some("type run".to_owned()));
        assert_eq!(advised, CommandError::with_help("no", "type run"));
    }
}
