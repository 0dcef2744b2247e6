//! `catch` and `tcatch`.

use crate::commands::handle::signals_of;
use crate::run::catchpoints::renew_catchpoints;
use crate::session::Session;
use juror_debuggee::SystemCalls;
use juror_fault::CommandError;
use juror_instrument::condition::Condition;
use juror_points::catchpoints::{Catch, Catchpoint, Exception};
use juror_points::matching::pattern;
use juror_points::point::{Fate, Point};
use juror_points::system_call_names::{system_call_names, system_call_number};
use juror_view::{Outcome, SetPointView};
use regex::Regex;
use std::collections::BTreeSet;

/// The subjects of `catch`.
pub(crate) const SUBJECTS: &[&str] = &[
    "catch", "exec", "fork", "load", "panic", "rethrow", "signal", "syscall", "throw", "unload",
    "vfork",
];

/// Returns the types of exceptions that `catch throw REGEX` and `catch catch REGEX` mean.
fn types(rest: &str, catch: &Catch) -> Result<Option<Regex>, CommandError> {
    let is_typed = matches!(catch, Catch::Exception(Exception::Throw | Exception::Catch));
    let (_, types) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let types = types.trim();
    if !is_typed || types.is_empty() {
        return Ok(None);
    }
    let (word, _) = types.split_once(char::is_whitespace).unwrap_or((types, ""));
    if word == "if" {
        let error = CommandError::with_help(
            format!("`{types}` is unexpected: a regular expression for types is taken here"),
            "condition N EXPRESSION sets the condition of a point",
        );
        return Err(error.pointing_at(types, 0));
    }
    pattern(types)
        .map(Some)
        .map_err(|message| CommandError::new(message).pointing_at(types, 0))
}

fn parse(rest: &str) -> Result<Catch, CommandError> {
    let (subject, arguments) = match rest.split_once(char::is_whitespace) {
        Some((subject, arguments)) => (subject, arguments.trim()),
        None => (rest, ""),
    };
    let path = (!arguments.is_empty()).then(|| arguments.to_owned());
    let subject = subject_of(subject)?;
    let is_alone = matches!(subject, "fork" | "vfork" | "exec" | "panic" | "rethrow");
    if is_alone && !arguments.is_empty() {
        let error = CommandError::unexpected(arguments, &format!("catch {subject}"));
        let help = match subject {
            "rethrow" => "catch throw REGEX and catch catch REGEX take the type of an exception",
            _ => "condition N EXPRESSION sets the condition of a point",
        };
        return Err(CommandError {
            help: Some(help.to_owned()),
            ..error
        });
    }
    Ok(match subject {
        "syscall" => Catch::SystemCalls(system_calls(arguments)?),
        "signal" => Catch::Signals(signals(arguments)?),
        "fork" => Catch::Fork,
        "vfork" => Catch::Vfork,
        "exec" => Catch::Exec,
        "load" => Catch::Load(path),
        "unload" => Catch::Unload(path),
        "throw" => Catch::Exception(Exception::Throw),
        "rethrow" => Catch::Exception(Exception::Rethrow),
        "panic" => Catch::Exception(Exception::Panic),
        _ => Catch::Exception(Exception::Catch),
    })
}

/// Returns the subject for a word: its name or an unambiguous prefix.
fn subject_of(word: &str) -> Result<&'static str, CommandError> {
    let help = format!("one of: {}", SUBJECTS.join(", "));
    if word.is_empty() {
        return Err(CommandError::with_help("`catch` needs an event", help));
    }
    if let Some(subject) = SUBJECTS.iter().find(|subject| **subject == word) {
        return Ok(subject);
    }
    let mut meant = SUBJECTS.iter().filter(|subject| subject.starts_with(word));
    match (meant.next(), meant.next()) {
        (Some(subject), None) => Ok(subject),
        _ => Err(CommandError::with_help(
            format!("`{word}` is not an event"),
            help,
        )),
    }
}

fn system_calls(text: &str) -> Result<SystemCalls, CommandError> {
    if text.is_empty() {
        return Ok(SystemCalls::All);
    }
    let mut numbers = BTreeSet::new();
    for word in text.split_whitespace() {
        let number = system_call_number(word).ok_or_else(|| {
            let near = juror_language::suggest(word, system_call_names());
            CommandError::advised(
                format!("there is no system call `{word}`"),
                near.map(|near| format!("did you mean `{near}`?")),
            )
        })?;
        numbers.insert(number);
    }
    Ok(SystemCalls::Only(numbers))
}

/// Parses signals; without a name, all that debugging itself does not use.
pub(crate) fn signals(text: &str) -> Result<BTreeSet<i32>, CommandError> {
    let text = if text.is_empty() { "all" } else { text };
    let mut numbers = BTreeSet::new();
    for word in text.split_whitespace() {
        numbers.extend(signals_of(word)?);
    }
    Ok(numbers)
}

/// `catch WHAT`, `tcatch WHAT`
pub(crate) fn catch(
    session: &mut Session,
    rest: &str,
    temporary: bool,
) -> Result<Outcome, CommandError> {
    let catch = parse(rest)?;
    let types = types(rest, &catch)?;
    let fate = if temporary { Fate::Delete } else { Fate::Keep };
    let set = set_catchpoint(session, rest, catch, None, fate);
    let mut points = session.points.catchpoints.iter_mut();
    if let Some(point) = points.find(|it| Some(it.point.number) == set.point.number) {
        point.types = types;
    }
    Ok(Outcome::from(set))
}

/// Sets a catchpoint; `text` is its event as `catch` takes it.
pub(crate) fn set_catchpoint(
    session: &mut Session,
    text: &str,
    catch: Catch,
    condition: Option<Condition>,
    fate: Fate,
) -> SetPointView {
    let number = session.points.breakpoints.take_number();
    session.points.catchpoints.add(Catchpoint {
        point: Point::new(number, condition, fate),
        text: text.to_owned(),
        catch,
        types: None,
        addresses: Vec::new(),
    });
    renew_catchpoints(session);
    let program = session.processes.program.as_ref();
    let views = session.points.catchpoints.views(program);
    let point = views.into_iter().find(|view| view.number == Some(number));
    SetPointView {
        point: point.unwrap_or_default(),
        written: text.to_owned(),
        ..SetPointView::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::catchpoints::gave;

    #[test]
    fn what_is_typed_is_what_is_caught() {
        let only = |numbers: &[u64]| SystemCalls::Only(numbers.iter().copied().collect());
        for (text, expected) in [
            ("syscall", Catch::SystemCalls(SystemCalls::All)),
            ("syscall openat 1", Catch::SystemCalls(only(&[1, 257]))),
            ("sys write", Catch::SystemCalls(only(&[1]))),
            ("signal SIGUSR1", Catch::Signals([10].into())),
            ("fork", Catch::Fork),
            ("vf", Catch::Vfork),
            ("load", Catch::Load(None)),
            ("unload libz", Catch::Unload(Some("libz".into()))),
            ("throw", Catch::Exception(Exception::Throw)),
            ("c", Catch::Exception(Exception::Catch)),
        ] {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
        for (text, message, help) in [
            ("", "`catch` needs an event", Some("one of: catch, exec")),
            ("fire", "`fire` is not an event", Some("one of")),
            (
                "syscall opeat",
                "there is no system call `opeat`",
                Some("did you mean `openat`?"),
            ),
            ("signal SIGFOO", "there is no signal `SIGFOO`", None),
        ] {
            let error = parse(text).expect_err(text);
            assert_eq!(error.message, message);
            if let Some(help) = help {
                let given = error.help.unwrap_or_default();
                assert!(given.starts_with(help), "{given}");
            }
        }
    }

    #[test]
    fn results_are_said_in_words() {
        assert_eq!(gave(3), "which gave 3");
        assert_eq!(gave(-512), "interrupted by a signal");
        assert!(gave(-2).starts_with("which failed: ENOENT"), "{}", gave(-2));
        assert_eq!(gave(-5000), "which gave -5000");
    }
}
