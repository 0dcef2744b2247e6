//! What is said about a source text, in the form of a compiler's message.
//!
//! Rendering is a front end's business: here are spans and words only.

use std::fmt;
use std::ops::Range;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Nothing is wrong, but it is good to know.
    Note,
    /// The property is usable, but probably not what was meant.
    Warning,
    /// The property cannot be used.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// One message about a source text. All ranges are in bytes of that text and
/// lie on character boundaries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// A stable word for this sort of message (`unknown-event`).
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// Where it is wrong.
    pub span: Range<usize>,
    /// Other places that matter, each with what it is.
    pub labels: Vec<(Range<usize>, String)>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error without labels or help.
    pub fn error(code: &'static str, span: Range<usize>, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: message.into(),
            span,
            labels: Vec::new(),
            help: None,
        }
    }

    /// A warning without labels or help.
    pub fn warning(
        code: &'static str,
        span: Range<usize>,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic {
            severity: Severity::Warning,
            ..Diagnostic::error(code, span, message)
        }
    }

    /// A note without labels or help.
    pub fn note(code: &'static str, span: Range<usize>, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Note,
            ..Diagnostic::error(code, span, message)
        }
    }

    /// The same with another place pointed at.
    #[must_use]
    pub fn label(mut self, span: Range<usize>, text: impl Into<String>) -> Diagnostic {
        self.labels.push((span, text.into()));
        self
    }

    /// The same with advice.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }

    /// The same with "did you mean", when there is a name to suggest.
    #[must_use]
    pub(crate) fn did_you_mean(self, suggestion: Option<String>) -> Diagnostic {
        match suggestion {
            Some(name) => self.help(format!("did you mean `{name}`?")),
            None => self,
        }
    }

    /// True when the text cannot be used because of it.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
