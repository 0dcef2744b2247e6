//! The meaning of the words of a block: which lines open a list, and which words are commands.

use crate::command_table::arguments::split_line;
use crate::command_table::{self, Unclear};
use crate::script::parse::{Kind, Words, structure_of};

/// The meaning of words by the table of commands.
pub(crate) const WORDS: Words = Words {
    kind_of,
    is_command,
};

fn kind_of(line: &str) -> Kind {
    let own = command_table::translated(line);
    let line = own.as_deref().unwrap_or(line);
    let kind = structure_of(line);
    if kind != Kind::Line {
        return kind;
    }
    let (word, rest) = split_line(line);
    match command_table::find(word).map(|entry| entry.name) {
        Ok("commands") => Kind::List,
        // Without a name it lists them.
        Ok("group") if !rest.is_empty() => Kind::List,
        Ok("document") => Kind::Text,
        _ => Kind::Line,
    }
}

fn is_command(word: &str) -> bool {
    !matches!(command_table::find(word), Err(Unclear::Unknown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_opened_by_any_name_of_their_command() {
        for (line, expected) in [
            ("commands 1", Kind::List),
            ("comm", Kind::List),
            ("define f", Kind::List),
            ("group f", Kind::List),
            ("define", Kind::Line),
            ("document f", Kind::Text),
            ("verde cmd-group-begin f", Kind::List),
            ("verde cmd-group-end", Kind::End),
            (" if x", Kind::If),
            ("iffy", Kind::Line),
            ("next", Kind::Line),
            ("# if x", Kind::Nothing),
        ] {
            assert_eq!(kind_of(line), expected, "{line}");
        }
    }
}
