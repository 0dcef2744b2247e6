//! Parses location specs: `FILE:LINE`, `FILE:LINE:COLUMN`, `LINE`, `FUNCTION`, `FILE:FUNCTION`, `FUNCTION:LABEL`,
//! `/REGEX/`, `*ADDRESS`, with an optional `if CONDITION`. A name may be quoted.

mod explicit;
mod unexpected;

/// A location spec as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LocationSpec {
    /// A line; of the current file if `file` is absent.
    Line {
        /// The file, or the end of its path.
        file: Option<String>,
        /// The line, from 1.
        line: u32,
        /// The column of a statement of the line, from 1, in bytes.
        column: Option<u32>,
    },
    /// A function by name: its last components, or the whole with a leading `::`.
    Function(String),
    /// A function of a file, or a label of a function.
    FunctionIn {
        /// The file, or the end of its path; or the function.
        file: String,
        /// The function; or the label.
        name: String,
    },
    /// All functions whose names match a regular expression.
    Matching {
        /// Only functions of this file.
        file: Option<String>,
        /// The regular expression.
        pattern: String,
    },
    /// The address that an expression evaluates to.
    Address(String),
    /// Lines from the current one, `+3` or `-3`.
    Offset(i64),
    /// The address of the selected frame.
    Here,
}

/// A location spec with its thread and condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The location spec.
    pub place: LocationSpec,
    /// Its text, without thread and condition.
    pub text: String,
    /// The only thread, if given.
    pub thread: Option<u32>,
    /// The condition.
    pub condition: Option<String>,
}

/// The reason why a text is no location spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misplaced {
    /// The reason, as a sentence.
    pub message: String,
    /// Where the words begin that are wrong, in bytes of the text; nothing if it is all of it.
    pub at: Option<usize>,
}

impl From<String> for Misplaced {
    fn from(message: String) -> Misplaced {
        Misplaced { message, at: None }
    }
}

impl From<&str> for Misplaced {
    fn from(message: &str) -> Misplaced {
        Misplaced::from(message.to_owned())
    }
}

/// Parses a location spec. Fails if a line number is out of range, a part is missing, or words
/// follow that belong to none.
pub fn parse(written: &str) -> Result<Placed, Misplaced> {
    let (text, condition) = split_condition(written);
    let (text, thread) = split_thread(text.trim());
    let (text, is_whole) = explicit::qualified(text)?;
    let explicit = explicit::location(text)?;
    let place = parse_location(explicit.as_deref().unwrap_or(text)).map_err(|wrong| Misplaced {
        at: match explicit {
            None => wrong.at.and_then(|at| Some(written.find(text)? + at)),
            Some(_) => None,
        },
        ..wrong
    })?;
    let place = match place {
        LocationSpec::Function(name) if is_whole && !name.starts_with("::") => {
            LocationSpec::Function(format!("::{name}"))
        }
        place => place,
    };
    let text = match &place {
        LocationSpec::Function(name) if is_whole => name.clone(),
        _ => explicit.as_deref().unwrap_or(text).to_owned(),
    };
    if condition.is_some_and(str::is_empty) {
        return Err(Misplaced::from(
            "`if` needs a condition, as in: break queue_push if count > 3",
        ));
    }
    Ok(Placed {
        place,
        text,
        thread,
        condition: condition.map(str::to_owned),
    })
}

/// Returns whether a word is a line: `30`, `+3`, `queue.c:30`.
fn is_line(word: &str) -> bool {
    let number = word.rsplit_once(':').map_or(word, |(_, line)| line);
    is_digits(number.trim_start_matches(['+', '-']))
}

/// Returns the part of a text that follows its location: the thread and the condition.
pub fn after_location(written: &str) -> &str {
    let (text, _) = split_condition(written);
    let (text, _) = split_thread(text.trim());
    let end = written.find(text).map_or(0, |start| start + text.len());
    written.get(end..).unwrap_or_default().trim_start()
}

/// Returns the error for words that follow a complete location, from a position of a text on.
fn unexpected(text: &str, at: usize) -> Misplaced {
    let (location, words) = text.split_at_checked(at).unwrap_or((text, ""));
    let location = location.trim_end();
    Misplaced {
        message: format!(
            "`{words}` is unexpected after the location `{location}`; a condition begins with \
             `if`, a thread with `thread`"
        ),
        at: Some(at),
    }
}

/// Checks that nothing follows the name of a function, which begins at `start` of a text.
fn check_name(text: &str, start: usize) -> Result<(), Misplaced> {
    let name = text.get(start..).unwrap_or_default();
    match unexpected::begin(name) {
        Some(at) => Err(unexpected(text, start + at)),
        None => Ok(()),
    }
}

fn parse_location(text: &str) -> Result<LocationSpec, Misplaced> {
    if text.is_empty() {
        return Ok(LocationSpec::Here);
    }
    if let Some(expression) = text.strip_prefix('*') {
        return match expression.trim() {
            "" => Err("`*` needs an address, as in: break *0x401136".into()),
            expression => Ok(LocationSpec::Address(expression.to_owned())),
        };
    }
    if let Some(pattern) = text.strip_prefix('/').and_then(|it| it.strip_suffix('/')) {
        return Ok(LocationSpec::Matching {
            file: None,
            pattern: pattern.to_owned(),
        });
    }
    if let Some((before, after)) = text.split_once(char::is_whitespace)
        && is_line(before)
    {
        return Err(unexpected(text, text.len() - after.trim_start().len()));
    }
    if text.starts_with(['+', '-']) {
        return text
            .parse()
            .map(LocationSpec::Offset)
            .map_err(|_| Misplaced::from(format!("`{text}` is not a line offset")));
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(LocationSpec::Line {
            file: None,
            line: line_number(text)?,
            column: None,
        });
    }
    if let Some((inner, rest)) = split_quoted(text)? {
        return match (rest.trim_start(), rest.trim_start().strip_prefix(':')) {
            // A name in quotes is taken as it is, whatever it contains.
            ("", _) => quoted_location(inner.trim()),
            (_, Some(after)) if !after.trim().is_empty() => {
                check_part(text, after.trim())?;
                Ok(place_in(inner, after.trim())?)
            }
            (rest, _) => Err(Misplaced {
                message: format!(
                    "a name in quotes is followed by a colon and a line or a function, as in: \
                     '{inner}':12"
                ),
                at: Some(text.len() - rest.len()),
            }),
        };
    }
    // A C++ or Rust path has `::`; only a colon before digits is a line.
    if let Some((file, line)) = text.rsplit_once(':')
        && !file.is_empty()
        && is_digits(line)
    {
        let before = file.rsplit_once(':');
        let before = before.filter(|(file, line)| !file.is_empty() && is_digits(line));
        let place = match before {
            Some((file, _)) => place_in(file, text.get(file.len() + 1..).unwrap_or_default()),
            None => place_in(file, line),
        };
        return Ok(place?);
    }
    match split_file(text) {
        Some((file, name)) => {
            check_part(text, name)?;
            Ok(place_in(file, name)?)
        }
        None => {
            check_name(text, 0)?;
            Ok(LocationSpec::Function(text.to_owned()))
        }
    }
}

/// Checks the part after a file and a colon, which is the end of a text.
fn check_part(text: &str, part: &str) -> Result<(), Misplaced> {
    let start = text.len() - part.len();
    let (line, after) = part.split_once(char::is_whitespace).unwrap_or((part, ""));
    match split_quoted(part)? {
        Some((_, "")) => Ok(()),
        Some((_, rest)) => Err(unexpected(text, text.len() - rest.trim_start().len())),
        None if part.starts_with('/') && part.ends_with('/') => Ok(()),
        None if is_line(line) && !after.is_empty() => {
            Err(unexpected(text, text.len() - after.trim_start().len()))
        }
        None => check_name(text, start),
    }
}

/// Parses a location that was in quotes.
fn quoted_location(text: &str) -> Result<LocationSpec, Misplaced> {
    match (parse_location(text), split_file(text)) {
        (Err(Misplaced { at: Some(_), .. }), None) => Ok(LocationSpec::Function(text.to_owned())),
        (place, _) => place,
    }
}

/// Writes a line of a file as [`parse`] reads it. A path with both kinds of quotes cannot be
/// written.
pub fn written_line(file: &str, line: u32, column: Option<u32>) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@".contains(c);
    let quote = match file {
        file if file.chars().all(is_plain) => "",
        file if file.contains('\'') => "\"",
        _ => "'",
    };
    let column = column.map_or_else(String::new, |column| format!(":{column}"));
    format!("{quote}{file}{quote}:{line}{column}")
}

/// Parses `REGEX` or `FILE:REGEX`, as `rbreak` takes it.
pub fn matching(text: &str) -> Placed {
    let (words, condition) = split_condition(text);
    let words = words.trim();
    let (file, pattern) = match split_file(words) {
        Some((file, pattern)) => (Some(file.to_owned()), pattern.trim()),
        None => (None, words),
    };
    let text = match &file {
        Some(file) => format!("{file}:/{pattern}/"),
        None => format!("/{pattern}/"),
    };
    Placed {
        place: LocationSpec::Matching {
            file,
            pattern: pattern.to_owned(),
        },
        text,
        thread: None,
        condition: condition.map(str::to_owned),
    }
}

/// Parses the part after a file and a colon: a line, a function, or a regular expression.
fn place_in(file: &str, name: &str) -> Result<LocationSpec, String> {
    let file = file.to_owned();
    let (line, column) = match name.split_once(':') {
        Some((line, column)) if is_digits(column) => (line, Some(column)),
        _ => (name, None),
    };
    if is_digits(line) {
        return Ok(LocationSpec::Line {
            file: Some(file),
            line: line_number(line)?,
            column: column.map(line_number).transpose()?,
        });
    }
    let pattern = name.strip_prefix('/').and_then(|it| it.strip_suffix('/'));
    Ok(match pattern {
        Some(pattern) => LocationSpec::Matching {
            file: Some(file),
            pattern: pattern.to_owned(),
        },
        None => LocationSpec::FunctionIn {
            file,
            name: unquoted(name).to_owned(),
        },
    })
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Splits a text that begins with a quote into the quoted part and the rest; `None` if it does not.
/// Fails if the quote is not closed.
pub(crate) fn split_quoted(text: &str) -> Result<Option<(&str, &str)>, String> {
    let Some(quote) = text.chars().next().filter(|c| matches!(c, '\'' | '"')) else {
        return Ok(None);
    };
    let split = text.get(1..).and_then(|rest| rest.split_once(quote));
    match split {
        Some(("", _)) => Err("the quotes are empty".to_owned()),
        Some(split) => Ok(Some(split)),
        None => Err(format!("the quote before `{}` is not closed", &text[1..])),
    }
}

/// Removes the quotes of a name.
pub(crate) fn unquoted(text: &str) -> &str {
    match split_quoted(text) {
        Ok(Some((inner, ""))) => inner.trim(),
        _ => text,
    }
}

/// Splits `FILE:` off: at the first single colon outside template arguments and parameters.
pub(crate) fn split_file(text: &str) -> Option<(&str, &str)> {
    let end = text.find(['<', '(']).unwrap_or(text.len());
    let mut rest = 0;
    while let Some(at) = text.get(rest..end)?.find(':').map(|at| at + rest) {
        let after = text.get(at + 1..)?;
        if !after.starts_with(':') {
            let file = text.get(..at)?;
            return (!file.is_empty() && !after.is_empty()).then_some((file, after));
        }
        rest = at + 2;
    }
    None
}

fn line_number(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err(format!("`{text}` is not a line number")),
        Ok(line) => Ok(line),
    }
}

/// Splits `thread N` off the end. A function may be named `thread`, so a number must follow.
fn split_thread(text: &str) -> (&str, Option<u32>) {
    let split = || {
        let (rest, number) = text.rsplit_once(char::is_whitespace)?;
        let rest = rest.trim_end().strip_suffix("thread")?;
        let is_word = rest.is_empty() || rest.ends_with(char::is_whitespace);
        Some((rest.trim_end(), number.parse().ok().filter(|_| is_word)?))
    };
    match split() {
        Some((rest, thread)) => (rest, Some(thread)),
        None => (text, None),
    }
}

/// Splits at the word `if`, which occurs in no location spec as a separate word.
pub fn split_condition(text: &str) -> (&str, Option<&str>) {
    // A quoted name may contain the word.
    let quoted = split_quoted(text.trim_start()).ok().flatten();
    let mut start = quoted.map_or(0, |(_, rest)| text.len() - rest.len());
    while let Some(found) = text[start..].find("if") {
        let at = start + found;
        let before = text[..at].chars().next_back();
        let after = text[at + 2..].chars().next();
        let opens = before.is_none_or(char::is_whitespace);
        let closes = after.is_none_or(|c| c.is_whitespace() || c == '(');
        if opens && closes {
            return (&text[..at], Some(text[at + 2..].trim()));
        }
        start = at + 2;
    }
    (text, None)
}

#[cfg(test)]
mod tests;
