//! `skip`: functions and files that `step` does not enter.
//!
//! A skipped call is stepped over like one of a function without line information. Names of
//! functions are matched as in location specs: by their last components.

use crate::inspect::frames;
use crate::session::Session;
use crate::state::skips::{Files, Functions, Skip};
use juror_fault::CommandError;
use juror_view::Outcome;
use regex::Regex;

/// The help of syntax errors.
const HELP: &str = "for example: skip function queue_push, skip file queue.h, \
                    skip -gfi /usr/include/*, skip -rfu ^std::";

/// Converts a glob of file names to a regular expression: `*` and `?` match within a directory. A
/// glob that does not begin at the root may match the end of a path.
fn glob(pattern: &str) -> Result<Regex, CommandError> {
    let mut text = String::from(if pattern.starts_with('/') {
        "^"
    } else {
        "(^|/)"
    });
    let mut in_class = false;
    for c in pattern.chars() {
        match c {
            '*' if !in_class => text.push_str("[^/]*"),
            '?' if !in_class => text.push_str("[^/]"),
            '[' if !in_class => {
                in_class = true;
                text.push('[');
            }
            ']' if in_class => {
                in_class = false;
                text.push(']');
            }
            '!' if text.ends_with('[') && in_class => text.push('^'),
            c => {
                // Within a class only these have another meaning.
                if !in_class || matches!(c, '\\' | '[' | '^' | '&' | '~') {
                    text.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
                } else {
                    text.push(c);
                }
            }
        }
    }
    text.push('$');
    Regex::new(&text).map_err(|_| {
        CommandError::with_help(
            format!("`{pattern}` is not a glob"),
            "* and ? match within a name, [abc] one character",
        )
    })
}

/// Parses gdb's options, with their arguments.
fn read(text: &str) -> Result<(Option<Functions>, Option<Files>), CommandError> {
    let mut function = None;
    let mut file = None;
    let mut words = text.split_whitespace();
    while let Some(option) = words.next() {
        let mut value = || {
            let missing = || CommandError::with_help(format!("{option} needs an argument"), HELP);
            words.next().map(str::to_owned).ok_or_else(missing)
        };
        let is_twice = match option {
            "-fi" | "-file" => file.replace(Files::Named(value()?)).is_some(),
            "-gfi" | "-gfile" => {
                let pattern = value()?;
                let compiled = glob(&pattern)?;
                file.replace(Files::Glob(pattern, compiled)).is_some()
            }
            "-fu" | "-function" => function.replace(Functions::Named(value()?)).is_some(),
            "-rfu" | "-rfunction" => {
                let pattern =
                    juror_points::matching::pattern(&value()?).map_err(CommandError::new)?;
                function.replace(Functions::Matching(pattern)).is_some()
            }
            option => {
                let message = format!("skip has no option `{option}`");
                return Err(CommandError::with_help(message, HELP));
            }
        };
        if is_twice {
            let message = format!("`{option}` is given twice, or together with its other form");
            return Err(CommandError::with_help(message, HELP));
        }
    }
    Ok((function, file))
}

/// `skip` and its subcommands.
pub(crate) fn skip(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    let (function, file) = match word {
        "delete" => return change_skips(session, rest, |_| None),
        "enable" | "disable" => {
            let enabled = word == "enable";
            return change_skips(session, rest, |skip| Some(Skip { enabled, ..skip }));
        }
        "file" if rest.is_empty() => (None, Some(file_here(session)?)),
        "file" => (None, Some(Files::Named(rest.to_owned()))),
        "" => (Some(function_here(session)?), None),
        "function" if rest.is_empty() => (Some(function_here(session)?), None),
        "function" => (Some(Functions::Named(rest.to_owned())), None),
        word if word.starts_with('-') => read(text)?,
        _ => (Some(Functions::Named(text.to_owned())), None),
    };
    Ok(Outcome::Skip(session.user.skips.add(function, file)))
}

fn function_here(session: &mut Session) -> Result<Functions, CommandError> {
    session.begun()?;
    let frame = frames::selected_frame(session)?;
    let name = frame
        .name
        .as_deref()
        .ok_or_else(|| CommandError::with_help("the selected frame has no function", HELP))?;
    Ok(Functions::Named(name.to_owned()))
}

fn file_here(session: &mut Session) -> Result<Files, CommandError> {
    session.begun()?;
    let frame = frames::selected_frame(session)?;
    let file = frame
        .file
        .as_deref()
        .ok_or_else(|| CommandError::with_help("the selected frame has no source file", HELP))?;
    Ok(Files::Named(file.display().to_string()))
}

/// Changes or deletes skips by number: `1 3-5`; all without any.
fn change_skips(
    session: &mut Session,
    numbers: &str,
    change: impl Fn(Skip) -> Option<Skip>,
) -> Result<Outcome, CommandError> {
    let ranges = numbers
        .split_whitespace()
        .map(range_of)
        .collect::<Result<Vec<_>, _>>()?;
    let is_known = |wanted: &(u32, u32)| {
        let mut list = session.user.skips.list.iter();
        list.any(|skip| (wanted.0..=wanted.1).contains(&skip.number))
    };
    if let Some(unknown) = ranges.iter().find(|range| !is_known(range)) {
        return Err(CommandError::with_help(
            format!("there is no skip {}", unknown.0),
            "info skip lists them",
        ));
    }
    let is_meant = |skip: &Skip| {
        let mut wanted = ranges.iter();
        ranges.is_empty() || wanted.any(|range| (range.0..=range.1).contains(&skip.number))
    };
    let list = std::mem::take(&mut session.user.skips.list).into_iter();
    session.user.skips.list = list
        .filter_map(|skip| {
            if is_meant(&skip) {
                change(skip)
            } else {
                Some(skip)
            }
        })
        .collect();
    Ok(Outcome::Done)
}

/// `info skip`
pub(crate) fn skip_views(session: &Session) -> Outcome {
    Outcome::Skips(session.user.skips.list.iter().map(Skip::view).collect())
}

/// Parses `3` or `3-5`.
fn range_of(text: &str) -> Result<(u32, u32), CommandError> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) if first <= last => Ok((first, last)),
        _ => Err(CommandError::with_help(
            format!("`{text}` is neither a number nor a range"),
            "for example: skip delete 1 3-5; info skip lists the numbers",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::skips::Skips;
    use std::path::Path;

    #[track_caller]
    fn check(options: &str, function: &str, file: &str, expected: bool) {
        let (functions, files) = read(options).expect("options");
        let mut skips = Skips::default();
        skips.add(functions, files);
        let is_skipped = skips.has(Some(function), Some(Path::new(file)));
        assert_eq!(is_skipped, expected, "{options}: {function} in {file}");
        skips.list[0].enabled = false;
        assert!(!skips.has(Some(function), Some(Path::new(file))));
    }

    #[test]
    fn functions_and_files_are_matched_as_in_gdb() {
        let header = "/usr/include/c++/12/bits/stl_vector.h";
        check("-fu push", "ns::Queue<int>::push", "/a/q.cc", true);
        check("-fu Queue::push", "ns::Queue<int>::push", "/a/q.cc", true);
        check("-fu ush", "ns::Queue<int>::push", "/a/q.cc", false);
        check("-rfu ^std::", "std::vector<int>::size", header, true);
        check("-rfu ^std::", "my::std::f", header, false);
        check("-fi q.cc", "f", "/a/q.cc", true);
        check("-fi a/q.cc", "f", "/a/q.cc", true);
        check("-fi q.cc", "f", "/a/bq.cc", false);
        check("-gfi *.h", "f", header, true);
        check("-gfi /usr/*", "f", header, false);
        check("-gfi /usr/include/c++/*/*/*", "f", header, true);
        check("-gfi stl_[u-w]ector.?", "f", header, true);
        check("-gfi stl_[!v]ector.h", "f", header, false);
        check("-gfi *.h -fu size", "std::vector<int>::size", header, true);
        check("-gfi *.h -fu size", "std::vector<int>::data", header, false);
        check("-file q.cc -rfunction .", "f", "/b/q.cc", true);
    }

    #[test]
    fn mistakes_are_told() {
        for text in ["-x", "-fu", "-fi a -gfi b", "-fu a -fu b", "-rfu ("] {
            assert!(read(text).is_err(), "{text}");
        }
        for (text, expected) in [("3", Some((3, 3))), ("1-2", Some((1, 2))), ("2-1", None)] {
            assert_eq!(range_of(text).ok(), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_options_are_read_or_refused(text in ".*", pattern in ".*") {
            let _ = read(&text);
            let _ = glob(&pattern);
        }
    }
}
