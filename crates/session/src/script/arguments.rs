//! The arguments of commands that the user has defined: `$arg0`, `$arg1`, `$argc`, `$arg*`.

use juror_fault::CommandError;

/// The beginning of their names.
const NAME: &str = "$arg";

/// Splits the text behind the name of a command into its arguments. Quotes and backslashes keep
/// blanks, and stay in the argument.
pub(crate) fn split(text: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut characters = text.trim().chars();
    while let Some(c) = characters.next() {
        match (c, quote) {
            ('\\', _) => {
                word.push(c);
                word.extend(characters.next());
                continue;
            }
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (c, None) if c.is_whitespace() => {
                if !word.is_empty() {
                    arguments.push(std::mem::take(&mut word));
                }
                continue;
            }
            _ => {}
        }
        word.push(c);
    }
    if !word.is_empty() {
        arguments.push(word);
    }
    arguments
}

/// Returns a line with the arguments in place of their names.
///
/// # Errors
/// There is no such argument.
pub(crate) fn substitute(line: &str, arguments: &[String]) -> Result<String, CommandError> {
    let mut done = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(NAME) {
        let (before, after) = rest.split_at(at);
        done.push_str(before);
        let after = &after[NAME.len()..];
        let digits = after
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(after.len());
        rest = if digits > 0 {
            let number = after[..digits].parse::<usize>();
            let argument = number.ok().and_then(|number| arguments.get(number));
            done.push_str(argument.ok_or_else(|| missing(&after[..digits], arguments))?);
            &after[digits..]
        } else if let Some(more) = after.strip_prefix('*') {
            done.push_str(&arguments.join(" "));
            more
        } else if let Some(more) = after.strip_prefix('c')
            && !more.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        {
            done.push_str(&arguments.len().to_string());
            more
        } else {
            done.push_str(NAME);
            after
        };
    }
    done.push_str(rest);
    Ok(done)
}

fn missing(number: &str, arguments: &[String]) -> CommandError {
    let count = match arguments.len() {
        0 => "no argument was given".to_owned(),
        1 => "one argument was given: $arg0".to_owned(),
        count => format!("{count} arguments were given: $arg0 to $arg{}", count - 1),
    };
    CommandError::with_help(format!("`$arg{number}` is missing"), count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_end_at_blanks_outside_of_quotes() {
        for (text, expected) in [
            ("", &[][..]),
            (" 1  2 ", &["1", "2"]),
            ("'a b' \"c d\"e", &["'a b'", "\"c d\"e"]),
            (r"a\ b c", &[r"a\ b", "c"]),
            ("'open end", &["'open end"]),
        ] {
            assert_eq!(split(text), expected, "{text}");
        }
    }

    #[test]
    fn names_are_replaced_in_any_place() {
        let arguments = ["7".to_owned(), "x->next".to_owned()];
        for (line, expected) in [
            ("print $arg0+$arg1", "print 7+x->next"),
            ("print $arg1_a", "print x->next_a"),
            ("if $argc == 2", "if 2 == 2"),
            ("echo $arg*", "echo 7 x->next"),
            (
                "print $argcount $argument $arg",
                "print $argcount $argument $arg",
            ),
            ("next", "next"),
        ] {
            assert_eq!(substitute(line, &arguments).as_deref(), Ok(expected));
        }
        let error = substitute("print $arg2", &arguments).expect_err("two only");
        assert_eq!(error.message, "`$arg2` is missing");
        assert!(substitute("print $arg99999999999999999999", &arguments).is_err());
    }
}
