//! Diagnostics about a source text, like those of a compiler.
//!
//! They consist of spans and messages only; front ends render them.

use std::fmt;
use std::ops::Range;

/// The severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Information about a source text that is correct.
    Note,
    /// The property is usable, but probably not as intended.
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

/// A message about a source text. All ranges are in bytes of that text and lie on
/// character boundaries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// A stable identifier of the kind of message (`unknown-event`).
    pub code: &'static str,
    /// The message.
    pub message: String,
    /// The position of the problem.
    pub span: Range<usize>,
    /// Related positions, each with a description.
    pub labels: Vec<(Range<usize>, String)>,
    /// Advice for the user.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Creates an error without labels or help.
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

    /// Creates a warning without labels or help.
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

    /// Creates a note without labels or help.
    pub fn note(code: &'static str, span: Range<usize>, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Note,
            ..Diagnostic::error(code, span, message)
        }
    }

    /// Adds a label for another position.
    #[must_use]
    pub fn label(mut self, span: Range<usize>, text: impl Into<String>) -> Diagnostic {
        self.labels.push((span, text.into()));
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }

    /// Adds "did you mean" if there is a name to suggest.
    #[must_use]
    pub fn did_you_mean(self, suggestion: Option<String>) -> Diagnostic {
        match suggestion {
            Some(name) => self.help(format!("did you mean `{name}`?")),
            None => self,
        }
    }

    /// Returns true if the text cannot be used because of it.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_error_makes_a_text_unusable() {
        let of = [
            (Diagnostic::note("n", 0..1, "it is so"), "note", false),
            (
                Diagnostic::warning("w", 0..1, "it is odd"),
                "warning",
                false,
            ),
            (Diagnostic::error("e", 0..1, "it is wrong"), "error", true),
        ];
        for (diagnostic, word, is_error) in of {
            assert_eq!(diagnostic.severity.to_string(), word);
            assert_eq!(diagnostic.is_error(), is_error, "{word}");
        }
    }

    #[test]
    fn advice_and_labels_are_added() {
        let plain = Diagnostic::error("e", 0..1, "it is wrong");
        assert_eq!(plain.clone().did_you_mean(None), plain);
        let labelled = plain.label(4..5, "first here").help("rename it");
        assert_eq!(labelled.labels, [(4..5, "first here".to_owned())]);
        assert_eq!(labelled.help.as_deref(), Some("rename it"));
    }
}
