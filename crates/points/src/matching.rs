//! Functions whose names match a regular expression.

use crate::required_words::required_words;
use juror_program::modules::Module;
use juror_symbols::Function;
use regex::Regex;

/// The functions of a module whose name matches, stubs aside; by an index of all names
/// only where the expression has no words to search for.
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

/// Reads a regular expression.
///
/// # Errors
/// It is none; in a sentence that says why.
pub fn pattern(text: &str) -> Result<Regex, String> {
    Regex::new(text)
        .map_err(|error| format!("`{text}` is not a regular expression: {}", reason(&error)))
}

/// The last line of the library's words, which is the reason.
pub(crate) fn reason(error: &regex::Error) -> String {
    let words = error.to_string();
    let last = words.lines().last().unwrap_or("");
    last.trim_start_matches("error: ").to_owned()
}
