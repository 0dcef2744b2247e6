//! The errors of sessions and commands.

use juror_language::Diagnostic;
use juror_rules::control::{Mode, Refusal};
use std::sync::Arc;

/// What there is to say about a property file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiagnostics {
    /// The file, as the user or the file that uses it named it.
    pub file: String,
    /// What it says.
    pub text: Arc<str>,
    /// What is to be said, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Why a session could not begin.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// A property is wrong, by itself or about this program.
    #[error("the property in {file} cannot be used")]
    Property {
        /// The property file.
        file: String,
        /// What is wrong, there and in the files that it uses.
        found: Vec<FileDiagnostics>,
    },
    /// A scenario is wrong.
    #[error("the scenario in {file} cannot be used")]
    Scenario {
        /// Its file.
        file: String,
        /// What is wrong, there and in the files that it uses.
        found: Vec<FileDiagnostics>,
    },
    /// The program cannot be run.
    #[error("{0}")]
    Launch(String),
    /// Something in juror or the kernel went wrong.
    #[error("{0}")]
    Internal(String),
}

/// Why a command did nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CommandError {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// What is wrong in property files.
    pub found: Vec<FileDiagnostics>,
}

impl CommandError {
    /// Something is wrong.
    pub fn new(message: impl Into<String>) -> CommandError {
        CommandError {
            message: message.into(),
            help: None,
            found: Vec::new(),
        }
    }

    /// Something is wrong, and perhaps this can be done.
    pub fn advised(message: impl Into<String>, help: Option<String>) -> CommandError {
        CommandError {
            help,
            ..CommandError::new(message)
        }
    }

    /// Something is wrong, and this can be done.
    pub fn with_help(message: impl Into<String>, help: impl Into<String>) -> CommandError {
        CommandError {
            help: Some(help.into()),
            ..CommandError::new(message)
        }
    }
}

impl From<juror_debuggee::DebuggeeError> for CommandError {
    fn from(error: juror_debuggee::DebuggeeError) -> CommandError {
        CommandError::new(error.to_string())
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

/// The answer to commands that need a program.
pub fn not_running() -> CommandError {
    CommandError::with_help("the program is not running", "start it with: run")
}

/// A property of this file is wrong.
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

impl From<Refusal> for CommandError {
    fn from(refusal: Refusal) -> CommandError {
        match refusal {
            Refusal::Mode(Mode::Init | Mode::Loaded) => not_running(),
            other => CommandError::new(format!("juror is at fault: {other}")),
        }
    }
}

impl From<Refusal> for SessionError {
    fn from(refusal: Refusal) -> SessionError {
        SessionError::Internal(refusal.to_string())
    }
}
