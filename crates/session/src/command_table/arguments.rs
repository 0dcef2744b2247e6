//! Parses the words and numbers of a command line.

use juror_fault::CommandError;

/// Splits a line into its command word and the rest. `print/x n` and `p/x n` give the word, and the
/// rest with its format: `/x n`.
pub fn split_line(line: &str) -> (&str, &str) {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix('!') {
        return (&line[..1], rest.trim());
    }
    let end = line
        .find(|c: char| c.is_whitespace() || c == '/')
        .unwrap_or(line.len());
    let (word, rest) = line.split_at(end);
    (word, rest.trim())
}

pub(crate) fn number(text: &str) -> Result<Option<u64>, CommandError> {
    match text.trim() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| {
            CommandError::new(format!("`{text}` is not a number")).pointing_at(text, 0)
        }),
    }
}

/// Parses how often something is to be done: once if nothing is said.
pub(crate) fn times(text: &str) -> Result<u64, CommandError> {
    match number(text)? {
        Some(0) => {
            let error = CommandError::new("the number of steps must not be 0");
            Err(error.pointing_at(text, 0))
        }
        count => Ok(count.unwrap_or(1)),
    }
}

/// Returns whether a word is one of gdb's flags before the command of `thread apply`.
pub(crate) fn is_flag(word: &str) -> bool {
    matches!(word, "-q" | "-c" | "-s" | "-ascending" | "--")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_splits_into_word_and_rest() {
        for (line, expected) in [
            ("print/x a + b", ("print", "/x a + b")),
            ("  b  queue.c:3 ", ("b", "queue.c:3")),
            ("c", ("c", "")),
            ("", ("", "")),
        ] {
            assert_eq!(split_line(line), expected, "{line:?}");
        }
    }
}
