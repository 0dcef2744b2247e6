//! The names of the settings, and which setting a line after `set` is about.

use juror_language::is_assignment;

/// A setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting {
    Arguments,
    AtInlined,
    CheckpointFiles,
    CheckpointNamespace,
    Confirm,
    Context,
    DebugFileDirectory,
    Directory,
    DisableRandomization,
    Environment,
    Follow,
    AllowUnbound,
    Height,
    IgnoreInlined,
    ListLines,
    Pagination,
    PrintElements,
    PrintPretty,
    SchedulerLocking,
    StyleEnabled,
    StyleSources,
    SubstitutePath,
    Width,
}

impl Setting {
    /// Returns whether its value is one word.
    pub(crate) fn takes_one_word(self) -> bool {
        !matches!(
            self,
            Setting::Arguments
                | Setting::Context
                | Setting::DebugFileDirectory
                | Setting::Directory
                | Setting::Environment
                | Setting::SubstitutePath
        )
    }
}

/// The settings by name, sorted; those of `print` and `style` have two words.
pub(crate) const SETTINGS: [(&str, Setting); 23] = [
    ("allow-unbound", Setting::AllowUnbound),
    ("args", Setting::Arguments),
    ("at-inlined", Setting::AtInlined),
    ("checkpoint-files", Setting::CheckpointFiles),
    ("checkpoint-namespace", Setting::CheckpointNamespace),
    ("confirm", Setting::Confirm),
    ("context", Setting::Context),
    ("cwd", Setting::Directory),
    ("debug-file-directory", Setting::DebugFileDirectory),
    ("disable-randomization", Setting::DisableRandomization),
    ("environment", Setting::Environment),
    ("follow-fork-mode", Setting::Follow),
    ("height", Setting::Height),
    ("ignore-inlined", Setting::IgnoreInlined),
    ("listsize", Setting::ListLines),
    ("pagination", Setting::Pagination),
    ("print elements", Setting::PrintElements),
    ("print pretty", Setting::PrintPretty),
    ("scheduler-locking", Setting::SchedulerLocking),
    ("style enabled", Setting::StyleEnabled),
    ("style sources", Setting::StyleSources),
    ("substitute-path", Setting::SubstitutePath),
    ("width", Setting::Width),
];

/// Abbreviations: ambiguous prefixes with a fixed meaning, and names that are shorter than gdb's.
const SHORT: [(&str, &str); 8] = [
    ("env", "environment"),
    ("follow", "follow-fork-mode"),
    ("follow-fork", "follow-fork-mode"),
    ("p", "print"),
    ("pr", "print"),
    ("pri", "print"),
    ("prin", "print"),
    ("debug-directory", "debug-file-directory"),
];

/// Returns the words that may follow `set` and `show`.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let words = SETTINGS.iter().map(|(name, _)| *name);
    words.chain(["convenience", "values", "variable"])
}

/// Splits a text into the name of a setting, which may have two words, and the rest.
pub(crate) fn split(text: &str) -> (String, &str) {
    let word = |text: &str| -> (usize, usize) {
        let start = text.len() - text.trim_start().len();
        let length = text[start..].find(char::is_whitespace);
        (start, length.map_or(text.len(), |length| start + length))
    };
    let (start, end) = word(text);
    let (first, rest) = (&text[start..end], &text[end..]);
    let long = SHORT.iter().find(|(short, _)| *short == first);
    let first = long.map_or(first, |(_, name)| name);
    if !matches!(first, "print" | "style") {
        return (first.to_owned(), rest.trim());
    }
    let (start, end) = word(rest);
    let second = &rest[start..end];
    (
        format!("{first} {second}").trim_end().to_owned(),
        rest[end..].trim(),
    )
}

/// Finds a setting by its name or by an unambiguous prefix.
pub(crate) fn setting(name: &str) -> Option<(&'static str, Setting)> {
    if let Some(found) = SETTINGS.iter().find(|(known, _)| *known == name) {
        return Some(*found);
    }
    let mut meant = SETTINGS.iter().filter(|(known, _)| known.starts_with(name));
    match (meant.next(), meant.next()) {
        (Some(only), None) if !name.is_empty() => Some(*only),
        _ => None,
    }
}

/// Returns the full name of the setting that a line after `set` or `unset` is about; none
/// if it is an assignment, or about nothing that can be set.
pub(crate) fn setting_name(rest: &str) -> Option<&'static str> {
    meant(rest).map(|(name, _)| name)
}

/// Returns what follows the name of a setting.
pub(crate) fn setting_value(rest: &str) -> &str {
    split(rest).1
}

/// The setting that a line is about. A variable of the program may have the name, or a
/// beginning, of a setting.
pub(crate) fn meant(rest: &str) -> Option<(&'static str, Setting)> {
    let (name, after) = split(rest);
    if matches!(name.as_str(), "var" | "variable") && !after.starts_with('=') {
        return None;
    }
    setting(&name).filter(|(full, _)| {
        let is_whole = *full == name;
        !is_assignment(rest) || (is_whole && !after.starts_with('='))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_one_or_two_words() {
        for (text, name, after) in [
            ("print elements 5", "print elements", "5"),
            ("p  el  5 ", "print el", "5"),
            ("print", "print", ""),
            ("style sources off", "style sources", "off"),
            ("env A=b c", "environment", "A=b c"),
            ("follow child", "follow-fork-mode", "child"),
            ("", "", ""),
        ] {
            assert_eq!(split(text), (name.to_owned(), after), "{text}");
        }
    }

    #[test]
    fn beginnings_stand_for_settings() {
        for (name, expected) in [
            ("print el", Some("print elements")),
            ("print pretty", Some("print pretty")),
            ("lists", Some("listsize")),
            ("checkpoint", None),
            ("print", None),
            ("", None),
            ("style", None),
            ("style en", Some("style enabled")),
            ("he", Some("height")),
            ("elements", None),
        ] {
            assert_eq!(setting(name).map(|it| it.0), expected, "{name}");
        }
        assert!(SETTINGS.is_sorted_by_key(|it| it.0));
    }
}
