//! Requests, and the errors that answer them.

use serde::Deserialize;
use serde_json::{Value, json};

/// A request of the client.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Request {
    /// Its number.
    pub seq: i64,
    /// Its name.
    pub command: String,
    /// Its arguments; null if there are none.
    #[serde(default)]
    pub arguments: Value,
}

/// The reason why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The word that clients know, for reasons that they act on.
    pub word: Option<&'static str>,
    /// The reason in words.
    pub message: String,
    /// Whether the user is to see it.
    pub is_shown: bool,
}

impl Failure {
    /// Creates a reason that the user is to see.
    pub fn shown(message: impl Into<String>) -> Failure {
        Failure {
            word: None,
            message: message.into(),
            is_shown: true,
        }
    }

    /// Creates a reason for the client alone.
    pub fn quiet(message: impl Into<String>) -> Failure {
        Failure {
            is_shown: false,
            ..Failure::shown(message)
        }
    }

    /// Creates the refusal of what needs a stopped program.
    pub fn not_stopped() -> Failure {
        Failure {
            word: Some("notStopped"),
            ..Failure::quiet("the program is running")
        }
    }

    /// Creates the answer to a request that the client has cancelled.
    pub fn cancelled() -> Failure {
        Failure {
            word: Some("cancelled"),
            ..Failure::quiet("the request was cancelled")
        }
    }
}

impl From<juror_fault::CommandError> for Failure {
    fn from(error: juror_fault::CommandError) -> Failure {
        Failure::quiet(words_of(&error))
    }
}

/// The beginning of a help that is about what was written, and not about commands of the prompt.
const SUGGESTION: &str = "did you mean";

/// Returns the message of an error for places without a layout. Its help is for the prompt, unless
/// it suggests another name.
pub fn words_of(error: &juror_fault::CommandError) -> String {
    match &error.help {
        Some(help) if help.starts_with(SUGGESTION) => format!("{} ({help})", error.message),
        _ => error.message.clone(),
    }
}

/// Creates the answer to a request.
pub fn response(seq: i64, command: &str, body: Value) -> Value {
    let mut answer = json!({
        "type": "response",
        "request_seq": seq,
        "success": true,
        "command": command,
    });
    if !body.is_null()
        && let Some(fields) = answer.as_object_mut()
    {
        fields.insert("body".to_owned(), body);
    }
    answer
}

/// Creates the answer to a request that is refused.
pub fn refusal(seq: i64, command: &str, failure: &Failure) -> Value {
    json!({
        "type": "response",
        "request_seq": seq,
        "success": false,
        "command": command,
        "message": failure.word.unwrap_or(&failure.message),
        "body": {
            "error": {
                "id": 1,
                "format": failure.message,
                "showUser": failure.is_shown,
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_fault::CommandError;

    #[test]
    fn the_help_of_the_prompt_is_left_out() {
        for (help, expected) in [
            ("see: info threads", "there is no f"),
            ("did you mean `g`?", "there is no f (did you mean `g`?)"),
        ] {
            let error = CommandError::with_help("there is no f", help);
            assert_eq!(words_of(&error), expected);
        }
    }
}
