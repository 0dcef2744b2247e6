//! Completion of words with a fixed meaning: options of commands, values of settings, functions of the
//! stack.

use super::{file_names, matching};
use crate::command_table::entry::Entry;
use crate::command_table::setting_names::{Setting, setting, split};
use crate::commands::completion::parts::Completed;
use crate::session::Session;
use juror_view::ContextPart;

/// The options of commands. Those of locations are not among them.
const OPTIONS: [(&str, &[&str]); 10] = [
    ("awatch", &["-location"]),
    ("backtrace", &["-full"]),
    ("call", &["--", "-elements", "-pretty"]),
    ("faas", &["-c", "-q", "-s"]),
    ("print", &["--", "-elements", "-pretty"]),
    ("rwatch", &["-location"]),
    ("skip", &["-file", "-function", "-gfile", "-rfunction"]),
    ("taas", &["-ascending", "-c", "-q", "-s"]),
    ("tfaas", &["-c", "-q", "-s"]),
    ("watch", &["-change", "-location"]),
];

/// The options of `thread apply` and `frame apply`.
const OPTIONS_OF_APPLY: &[&str] = &["-ascending", "-c", "-q", "-s"];

/// Completes a word with a fixed meaning.
pub(super) fn fixed(session: &mut Session, entry: &Entry, before: &str) -> Option<Completed> {
    let start = before.rfind(char::is_whitespace)? + 1;
    let (earlier, word) = before.split_at(start);
    let names = match word.starts_with('-') {
        true => options(entry.name, earlier)?,
        false if entry.name == "set" => values(earlier, word)?,
        false => functions(session, entry.name, earlier)?,
    };
    Some((start, matching(names.into_iter(), word)))
}

fn owned(words: &[&str]) -> Option<Vec<String>> {
    Some(words.iter().map(|&word| word.to_owned()).collect())
}

/// Returns the options that may follow the earlier words, which are options themselves.
fn options(name: &str, earlier: &str) -> Option<Vec<String>> {
    let mut words = earlier.split_whitespace().skip(1);
    if matches!(name, "thread" | "frame") {
        return match words.next() {
            Some("apply") => owned(OPTIONS_OF_APPLY),
            _ => None,
        };
    }
    let (_, options) = OPTIONS.iter().find(|(known, _)| *known == name)?;
    let is_option = |word: &str| word.starts_with('-') || word.parse::<u64>().is_ok();
    words.all(is_option).then(|| owned(options)).flatten()
}

/// Returns the values of the setting that the earlier words name.
fn values(earlier: &str, word: &str) -> Option<Vec<String>> {
    let (_, rest) = earlier.trim_start().split_once(char::is_whitespace)?;
    let (name, before) = split(rest);
    let (_, setting) = setting(&name)?;
    if setting == Setting::Context {
        let parts = ContextPart::ALL.iter().map(|part| part.word().to_owned());
        // Several parts may be named.
        let alone = ["on", "off"].iter().filter(|_| before.is_empty());
        return Some(parts.chain(alone.map(|&it| it.to_owned())).collect());
    }
    if !before.is_empty() {
        return None;
    }
    match setting {
        Setting::AllowUnbound
        | Setting::CheckpointFiles
        | Setting::Confirm
        | Setting::DisableRandomization
        | Setting::IgnoreInlined
        | Setting::Pagination
        | Setting::PrintPretty
        | Setting::StyleEnabled
        | Setting::StyleSources => owned(&["on", "off"]),
        Setting::AtInlined => owned(&["off", "marked", "likely"]),
        Setting::CheckpointNamespace => owned(&["on", "off", "auto"]),
        Setting::Follow => owned(&["parent", "child", "both"]),
        Setting::Height | Setting::Width => owned(&["auto", "unlimited"]),
        Setting::ListLines | Setting::PrintElements => owned(&["unlimited"]),
        Setting::SchedulerLocking => owned(&["on", "off", "step"]),
        Setting::DebugFileDirectory | Setting::Directory | Setting::SubstitutePath => {
            let names = file_names(word).into_iter();
            Some(names.filter(|name| name.ends_with('/')).collect())
        }
        Setting::Environment => {
            let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
            Some(names.collect())
        }
        Setting::Arguments => Some(file_names(word)),
        Setting::Context => None,
    }
}

/// Returns the functions of the stack after `frame function`.
fn functions(session: &mut Session, name: &str, earlier: &str) -> Option<Vec<String>> {
    let mut words = earlier.split_whitespace().skip(1);
    let is_asked = matches!(name, "frame" | "select-frame")
        && words.next() == Some("function")
        && words.next().is_none();
    if !is_asked {
        return None;
    }
    let frames = session.all_frames().ok()?;
    let names = frames.iter().filter_map(|frame| frame.name.as_deref());
    // A name with blanks could not be typed as one word.
    let names = names.filter(|name| !name.contains(char::is_whitespace));
    Some(names.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(found: Option<Vec<String>>, expected: Option<&[&str]>) {
        assert_eq!(found, expected.and_then(owned));
    }

    #[test]
    fn options_follow_the_command_and_other_options() {
        check(options("backtrace", "bt "), Some(&["-full"]));
        check(
            options("print", "print -elements 4 "),
            Some(&["--", "-elements", "-pretty"]),
        );
        check(options("print", "print a "), None);
        check(
            options("thread", "thread apply all "),
            Some(OPTIONS_OF_APPLY),
        );
        check(options("thread", "thread "), None);
        check(options("next", "next "), None);
    }

    #[test]
    fn values_follow_their_setting() {
        let context = values("set context ", "").expect("values");
        assert!(context.contains(&"locals".to_owned()) && context.contains(&"off".to_owned()));
        let more = values("set context locals ", "").expect("values");
        assert!(more.contains(&"monitors".to_owned()) && !more.contains(&"off".to_owned()));
        check(values("set conf ", "o"), Some(&["on", "off"]));
        check(values("set print pretty ", ""), Some(&["on", "off"]));
        check(values("set width 3 ", ""), None);
        check(values("set ", "con"), None);
        check(values("set print ", "p"), None);
        check(values("set count = ", ""), None);
    }
}
