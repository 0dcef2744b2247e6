//! Parses location specs: `FILE:LINE`, `FILE:LINE:COLUMN`, `LINE`, `FUNCTION`, `FILE:FUNCTION`, `FUNCTION:LABEL`,
//! `/REGEX/`, `*ADDRESS`, with an optional `if CONDITION`. A name may be quoted.

mod explicit;

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
    /// A function by name.
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

/// Parses a location spec. Fails with a sentence if a line number is out of range or a part is
/// missing.
pub fn parse(text: &str) -> Result<Placed, String> {
    let (text, condition) = split_condition(text);
    let (text, thread) = split_thread(text.trim());
    let explicit = explicit::location(text)?;
    let text = explicit.as_deref().unwrap_or(text);
    let place = parse_location(text)?;
    if condition.is_some_and(str::is_empty) {
        return Err("`if` needs a condition, as in: break queue_push if count > 3".to_owned());
    }
    Ok(Placed {
        place,
        text: text.to_owned(),
        thread,
        condition: condition.map(str::to_owned),
    })
}

/// Returns whether a word is a line: `30`, `+3`, `queue.c:30`.
fn is_line(word: &str) -> bool {
    let number = word.rsplit_once(':').map_or(word, |(_, line)| line);
    is_digits(number.trim_start_matches(['+', '-']))
}

/// Returns the error for words that follow a complete location.
fn unexpected(words: &str, location: &str) -> String {
    format!(
        "`{words}` is unexpected after the location `{location}`; a condition begins with `if`, a \
         thread with `thread`"
    )
}

fn parse_location(text: &str) -> Result<LocationSpec, String> {
    if text.is_empty() {
        return Ok(LocationSpec::Here);
    }
    if let Some(expression) = text.strip_prefix('*') {
        return match expression.trim() {
            "" => Err("`*` needs an address, as in: break *0x401136".to_owned()),
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
        return Err(unexpected(after.trim_start(), before));
    }
    if text.starts_with(['+', '-']) {
        return text
            .parse()
            .map(LocationSpec::Offset)
            .map_err(|_| format!("`{text}` is not a line offset"));
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
            ("", _) => parse_location(inner.trim()),
            (_, Some(after)) if !after.trim().is_empty() => place_in(inner, after.trim()),
            _ => Err(format!(
                "a name in quotes is followed by a colon and a line or a function, as in: \
                 '{inner}':12"
            )),
        };
    }
    // A C++ or Rust path has `::`; only a colon before digits is a line.
    if let Some((file, line)) = text.rsplit_once(':')
        && !file.is_empty()
        && is_digits(line)
    {
        let before = file.rsplit_once(':');
        let before = before.filter(|(file, line)| !file.is_empty() && is_digits(line));
        return match before {
            Some((file, _)) => place_in(file, text.get(file.len() + 1..).unwrap_or_default()),
            None => place_in(file, line),
        };
    }
    match split_file(text) {
        Some((file, name)) => place_in(file, name),
        None => Ok(LocationSpec::Function(text.to_owned())),
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
mod tests {
    use super::*;

    fn check(text: &str, place: LocationSpec, condition: Option<&str>) {
        let placed = parse(text).expect("a place");
        assert_eq!(placed.place, place, "{text:?}");
        assert_eq!(placed.condition.as_deref(), condition, "{text:?}");
    }

    #[test]
    fn a_thread_may_be_named() {
        let function = |name: &str| LocationSpec::Function(name.into());
        for (text, place, thread, words) in [
            ("work thread 2", function("work"), Some(2), "work"),
            ("work  thread 2 if x", function("work"), Some(2), "work"),
            ("thread 2", LocationSpec::Here, Some(2), ""),
            ("thread", function("thread"), None, "thread"),
            ("my_thread 2", function("my_thread 2"), None, "my_thread 2"),
            ("work", function("work"), None, "work"),
        ] {
            let placed = parse(text).expect("a place");
            assert_eq!((placed.place, placed.thread), (place, thread), "{text:?}");
            assert_eq!(placed.text, words, "{text:?}");
        }
    }

    #[test]
    fn places_are_read_as_in_gdb() {
        let line = |file: Option<&str>, line| LocationSpec::Line {
            file: file.map(str::to_owned),
            line,
            column: None,
        };
        let column = |file: &str, line, column| LocationSpec::Line {
            file: Some(file.to_owned()),
            line,
            column: Some(column),
        };
        check("queue.c:23:7", column("queue.c", 23, 7), None);
        check("'a b.c':23:7 if x", column("a b.c", 23, 7), Some("x"));
        check("queue.c:23", line(Some("queue.c"), 23), None);
        check(
            "src/queue.c:23 if c == 3",
            line(Some("src/queue.c"), 23),
            Some("c == 3"),
        );
        check("23", line(None, 23), None);
        check("main", LocationSpec::Function("main".into()), None);
        check(
            "ns::Class::method",
            LocationSpec::Function("ns::Class::method".into()),
            None,
        );
        check(
            "notify if(a)",
            LocationSpec::Function("notify".into()),
            Some("(a)"),
        );
        check("*0x401136", LocationSpec::Address("0x401136".into()), None);
        check("*main + 4", LocationSpec::Address("main + 4".into()), None);
        check("+3", LocationSpec::Offset(3), None);
        check("", LocationSpec::Here, None);
        check("if x > 1", LocationSpec::Here, Some("x > 1"));
        check("ifdef", LocationSpec::Function("ifdef".into()), None);
        let of_file = |file: &str, name: &str| LocationSpec::FunctionIn {
            file: file.into(),
            name: name.into(),
        };
        check("queue.c:push", of_file("queue.c", "push"), None);
        check(
            "src/a.cc:ns::f(int) if x",
            of_file("src/a.cc", "ns::f(int)"),
            Some("x"),
        );
        check(
            "ns::f<a:b>",
            LocationSpec::Function("ns::f<a:b>".into()),
            None,
        );
        let matching = |file: Option<&str>, pattern: &str| LocationSpec::Matching {
            file: file.map(str::to_owned),
            pattern: pattern.into(),
        };
        check("/^queue_/", matching(None, "^queue_"), None);
        check("/a|b/ if x", matching(None, "a|b"), Some("x"));
        check("queue.c:/./", matching(Some("queue.c"), "."), None);
    }

    #[test]
    fn a_name_in_quotes_is_what_it_is_without() {
        for (quoted, plain) in [
            ("'queue.c':23", "queue.c:23"),
            ("\"queue.c\":23", "queue.c:23"),
            ("'queue.c:23'", "queue.c:23"),
            ("'queue.c' : 23", "queue.c:23"),
            ("'f(int, long)'", "f(int, long)"),
            ("'ns::C<int>::f(int)'", "ns::C<int>::f(int)"),
            ("'queue.c':'push'", "queue.c:push"),
            ("queue.c:'push(int)'", "queue.c:push(int)"),
            ("'queue.c':/^q/", "queue.c:/^q/"),
        ] {
            for condition in [None, Some("c == 'x'")] {
                let rest = condition.map_or(String::new(), |it| format!(" if {it}"));
                let expected = parse(plain).expect("a place").place;
                check(&format!("{quoted}{rest}"), expected, condition);
            }
        }
        let of_file = |file: &str| LocationSpec::Line {
            file: Some(file.into()),
            line: 3,
            column: None,
        };
        check("'as if.c':3", of_file("as if.c"), None);
        check("'as if.c':3 if x", of_file("as if.c"), Some("x"));
        check("\"it's.c\":3", of_file("it's.c"), None);
    }

    #[test]
    fn a_line_is_read_as_it_is_written() {
        for file in [
            "a.c",
            "/x y/a.c",
            "it's.c",
            "a \"b\".c",
            "é.c",
            "as if.c",
            "C:x.c",
        ] {
            for column in [None, Some(7)] {
                let written = written_line(file, 3, column);
                let place = LocationSpec::Line {
                    file: Some(file.to_owned()),
                    line: 3,
                    column,
                };
                check(&written, place, None);
            }
        }
    }

    #[test]
    fn mistakes_are_sentences() {
        for text in [
            "queue.c:0",
            "99999999999",
            "3 1",
            "queue.c:3 1",
            "queue.c:3 push",
            "+3 1",
            "30 31 if n > 3",
            "*",
            "main if",
            "+x",
            "'main",
            "''",
            "'main' 3",
            "'queue.c':",
            "'queue.c':0",
        ] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".*") {
            let _ = parse(&text);
        }
    }

    #[test]
    fn a_regular_expression_of_rbreak_may_have_a_file_and_a_condition() {
        for (text, words, file, pattern, condition) in [
            ("^push", "/^push/", None, "^push", None),
            (
                "queue.c:^push",
                "queue.c:/^push/",
                Some("queue.c"),
                "^push",
                None,
            ),
            (
                "std::.*push if n",
                "/std::.*push/",
                None,
                "std::.*push",
                Some("n"),
            ),
        ] {
            let placed = matching(text);
            assert_eq!(
                (placed.text.as_str(), placed.condition.as_deref()),
                (words, condition)
            );
            let expected = LocationSpec::Matching {
                file: file.map(str::to_owned),
                pattern: pattern.to_owned(),
            };
            assert_eq!(placed.place, expected, "{text}");
        }
    }

    #[test]
    fn a_file_ends_at_a_single_colon_before_arguments() {
        for (text, expected) in [
            ("a.c:f", Some(("a.c", "f"))),
            ("a.c:ns::f", Some(("a.c", "ns::f"))),
            ("ns::f", None),
            ("ns::f:label", Some(("ns::f", "label"))),
            ("f<a:b>", None),
            ("f(a:b)", None),
            (":f", None),
            ("a.c:", None),
        ] {
            assert_eq!(split_file(text), expected, "{text}");
        }
    }
}
