//! Finds functions whose names match a regular expression.

use crate::required_words::required_words;
use juror_program::modules::Module;
use juror_symbols::Function;
use regex::Regex;

/// Returns the functions of a module whose names match, except stubs; uses an index of all names
/// only if the expression has no words to search for.
pub fn functions_that_match<'a>(
    module: &'a Module,
    pattern: &'a Regex,
) -> impl Iterator<Item = Function> + 'a {
    let symbols = &module.symbols;
    let sets = required_words(pattern.as_str());
    let with_words = sets.iter().find_map(|words| symbols.functions_with(words));
    let functions: Box<dyn Iterator<Item = Function>> = match with_words {
        Some(functions) => Box::new(functions.into_iter()),
        None => Box::new(symbols.functions()),
    };
    functions.filter(|function| !function.plt && pattern.is_match(&function.name))
}

/// Compiles a regular expression.
///
/// # Errors
/// It is not valid; a sentence with the reason.
pub fn pattern(text: &str) -> Result<Regex, String> {
    Regex::new(text)
        .map_err(|error| format!("`{text}` is not a regular expression: {}", reason(&error)))
}

/// Returns the last line of the library's message, which holds the reason.
pub(crate) fn reason(error: &regex::Error) -> String {
    let words = error.to_string();
    let last = words.lines().last().unwrap_or("");
    last.trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_regular_expression_is_told_with_its_reason_alone() {
        assert_eq!(
            pattern("queue_(")
                .map_err(|error| error.to_string())
                .err()
                .as_deref(),
            Some("`queue_(` is not a regular expression: unclosed group")
        );
        assert!(pattern("^queue_").is_ok_and(|it| it.is_match("queue_push")));
    }
}
