//! Errors for unknown and ambiguous words.

use crate::command_table;
use crate::command_table::{Entry, TABLE, Unclear};
use juror_fault::CommandError;

pub(crate) fn find(word: &str) -> Result<&'static Entry, CommandError> {
    if word == "end" {
        return Err(crate::script::parse::no_block());
    }
    if let "else" | "loop_break" | "loop_continue" = word {
        return Err(CommandError::with_help(
            format!("`{word}` outside of a block"),
            "begin with: if CONDITION, or while CONDITION",
        ));
    }
    if word == "verde" {
        return Err(CommandError::with_help(
            "not a command of Verde",
            format!("`verde` takes one of: {}", command_table::names_of_verde()),
        ));
    }
    command_table::find(word).map_err(|unclear| {
        if let (Unclear::Unknown, Some(instead)) = (&unclear, command_table::foreign::instead(word))
        {
            return CommandError::with_help(format!("juror has no `{word}`"), instead);
        }
        let names = TABLE.iter().map(|entry| entry.name);
        unclear_error(
            word,
            &unclear,
            "command",
            juror_language::suggest(word, names),
        )
    })
}

/// Returns the error for an unknown or ambiguous word.
pub(crate) fn unclear_error(
    word: &str,
    unclear: &Unclear,
    what: &str,
    near: Option<String>,
) -> CommandError {
    match unclear {
        Unclear::Unknown => CommandError::with_help(
            format!("there is no {what} `{word}`"),
            match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => "type `help` to see all".to_owned(),
            },
        ),
        Unclear::Ambiguous(names) => {
            CommandError::new(format!("`{word}` may be {}", names.join(", ")))
        }
    }
}
