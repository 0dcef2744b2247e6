//! Locations by gdb's options: `-function push`, `-source queue.c -line 23`.

/// The parts of such a location.
#[derive(Debug, Default)]
struct Explicit<'a> {
    source: Option<&'a str>,
    function: Option<&'a str>,
    line: Option<&'a str>,
    label: Option<&'a str>,
}

/// Splits off the option by which a function's name is the whole name: `-qualified push`. Fails
/// if nothing follows it.
pub(super) fn qualified(text: &str) -> Result<(&str, bool), String> {
    let word = text.split_whitespace().next().unwrap_or("");
    if !matches!(word, "-qualified" | "-q") {
        return Ok((text, false));
    }
    match text.trim_start().get(word.len()..).map(str::trim) {
        Some(rest) if !rest.is_empty() => Ok((rest, true)),
        _ => Err(format!(
            "`{word}` needs a function, as in: break {word} queue_push"
        )),
    }
}

/// Returns the location that options mean, as it is written without them; nothing if there are
/// none. Fails with a sentence if they make no location.
pub(super) fn location(text: &str) -> Result<Option<String>, String> {
    let mut explicit = Explicit::default();
    let mut rest = text.trim();
    while let Some((part, after)) = option(rest, &mut explicit) {
        let end = end_of_value(after);
        let (value, after) = after.split_at(end);
        let value = value.trim();
        let is_option = value
            .strip_prefix('-')
            .is_some_and(|it| it.starts_with(|c: char| c.is_ascii_alphabetic()));
        if value.is_empty() || is_option {
            let word = rest.split_whitespace().next().unwrap_or(rest);
            return Err(format!(
                "`{word}` needs a value, as in: break -source queue.c -line 23"
            ));
        }
        *part = Some(value);
        rest = after.trim_start();
    }
    let given = [
        explicit.source,
        explicit.function,
        explicit.line,
        explicit.label,
    ];
    if given.iter().all(Option::is_none) {
        return Ok(None);
    }
    if !rest.is_empty() {
        return Err(format!(
            "`{rest}` is unexpected after the options of the location"
        ));
    }
    match given {
        [source, Some(function), None, None] => Ok(Some(joined(source, function))),
        [None, Some(function), None, Some(label)] => Ok(Some(format!("{function}:{label}"))),
        [source, None, Some(line), None] => Ok(Some(joined(source, line))),
        _ => Err("a location is -function NAME or -line NUMBER, with -source FILE".to_owned()),
    }
}

fn joined(source: Option<&str>, place: &str) -> String {
    match source {
        Some(source) => format!("{source}:{place}"),
        None => place.to_owned(),
    }
}

/// Returns the part that the option at the beginning of a text sets, and what follows it.
fn option<'a, 'b>(
    text: &'a str,
    explicit: &'b mut Explicit<'a>,
) -> Option<(&'b mut Option<&'a str>, &'a str)> {
    let word = text.split_whitespace().next()?;
    let part = match word {
        "-source" | "-sou" => &mut explicit.source,
        "-function" | "-func" => &mut explicit.function,
        "-line" | "-li" => &mut explicit.line,
        "-label" | "-la" => &mut explicit.label,
        _ => return None,
    };
    Some((part, &text[word.len()..]))
}

/// Returns where the value of an option ends: before the next option.
fn end_of_value(text: &str) -> usize {
    let options = [
        " -source ",
        " -function ",
        " -func ",
        " -line ",
        " -li ",
        " -label ",
    ];
    let ends = options.iter().filter_map(|option| {
        let start = text.len() - text.trim_start().len();
        text.get(start..)?.find(option).map(|at| start + at)
    });
    ends.min().unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_written_without_them() {
        for (text, expected) in [
            ("-function push", Some("push")),
            ("-source queue.c -function push", Some("queue.c:push")),
            ("-line 23 -source queue.c", Some("queue.c:23")),
            ("-line +3", Some("+3")),
            ("-function area(int, long)", Some("area(int, long)")),
            ("-function f -label out", Some("f:out")),
            ("-3", None),
            ("push", None),
            ("", None),
        ] {
            assert_eq!(location(text), Ok(expected.map(str::to_owned)), "{text}");
        }
        for text in [
            "-function",
            "-source a.c",
            "-line 3 -function f",
            "-line -source a",
        ] {
            assert!(location(text).is_err(), "{text}");
        }
    }
}
