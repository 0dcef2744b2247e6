//! The options and formats of `print`: `/x`, `-pretty`, `-elements 10`.

use juror_fault::CommandError;
use juror_values::format::Radix;

/// Returns whether a format was given, which overrides that of the value's type.
pub(crate) fn is_formatted(radix: Radix) -> bool {
    !matches!(radix, Radix::Natural | Radix::Raw | Radix::String)
}

/// The display options before an expression.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) is_pretty: Option<bool>,
    pub(crate) elements_max: Option<u64>,
}

/// Parses `-pretty expression`, `-elements 5 -- expression`: the options, and the rest. A single
/// word is the negation of a variable.
pub(crate) fn split_options(text: &str) -> (Shape, &str) {
    let mut shape = Shape::default();
    let mut rest = text;
    loop {
        let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let after = after.trim_start();
        match word {
            _ if after.is_empty() => return (shape, rest),
            "-pretty" => {
                let (value, behind) = after.split_once(char::is_whitespace).unwrap_or((after, ""));
                let is_on = value == "on";
                (shape.is_pretty, rest) = if is_on || value == "off" {
                    (Some(is_on), behind.trim_start())
                } else {
                    (Some(true), after)
                };
            }
            "-elements" => {
                let (value, behind) = after.split_once(char::is_whitespace).unwrap_or((after, ""));
                shape.elements_max = match value {
                    "unlimited" | "0" => Some(u64::MAX),
                    value => value.parse().ok(),
                };
                if shape.elements_max.is_none() {
                    return (Shape::default(), text);
                }
                rest = behind.trim_start();
            }
            "--" if shape != Shape::default() => return (shape, after),
            _ => return (shape, rest),
        }
    }
}

/// Parses `/x expression`: the format and the rest.
pub(crate) fn split_format(text: &str) -> Result<(Radix, &str), CommandError> {
    let Some(rest) = text.strip_prefix('/') else {
        return Ok((Radix::Natural, text));
    };
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (letter, rest) = rest.split_at(end);
    let radix = match letter {
        "x" => Radix::Hexadecimal,
        "d" => Radix::Decimal,
        "u" => Radix::Unsigned,
        "o" => Radix::Octal,
        "t" => Radix::Binary,
        "c" => Radix::Character,
        "a" => Radix::Address,
        "s" => Radix::String,
        "r" => Radix::Raw,
        "z" => Radix::Padded,
        "f" => Radix::Float,
        _ => {
            return Err(CommandError::with_help(
                format!("there is no format `/{letter}`"),
                "formats: /x /z /d /u /o /t /c /a /f /s /r",
            ));
        }
    };
    Ok((radix, rest.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_stand_before_the_expression() {
        let shape = |is_pretty, elements_max| Shape {
            is_pretty,
            elements_max,
        };
        for (text, expected, rest) in [
            ("count", shape(None, None), "count"),
            ("-pretty", shape(None, None), "-pretty"),
            ("-pretty *queue", shape(Some(true), None), "*queue"),
            ("-pretty -- -x", shape(Some(true), None), "-x"),
            ("-pretty off -- x", shape(Some(false), None), "x"),
            ("-elements 3 -- table", shape(None, Some(3)), "table"),
            (
                "-elements 0 -pretty on table",
                shape(Some(true), Some(u64::MAX)),
                "table",
            ),
            ("-elements - 3", shape(None, None), "-elements - 3"),
            ("-x + 1", shape(None, None), "-x + 1"),
        ] {
            assert_eq!(split_options(text), (expected, rest), "{text}");
        }
    }
}
