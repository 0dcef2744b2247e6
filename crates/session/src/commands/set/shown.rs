//! `show`: settings, convenience variables and the value history.

use crate::command_table::setting_names::{SETTINGS, Setting, setting, split};
use crate::commands::set::absent::{Absent, absent, has_subject, instead};
use crate::commands::set::advice;
use crate::commands::{breakpoint_command_lists, environment};
use crate::inspect::constants::Nothing;
use crate::options::AtInlined;
use crate::session::Session;
use crate::state::presentation::{context_words, extent_words};
use juror_fault::CommandError;
use juror_values::format::{Radix, format};
use juror_values::typed::Typed;
use juror_view::{Outcome, SettingView, SubstitutionView, ValueView, VariableView};
use std::ffi::OsString;

/// The limit of values that `show values` shows.
const VALUES_MAX: usize = 10;

/// `show`, `show args`, `show convenience`, `show values`
pub(crate) fn show(session: &Session, rest: &str) -> Result<Outcome, CommandError> {
    let (name, after) = split(rest);
    let has_subject = match setting(&name) {
        Some((_, setting)) => setting == Setting::Environment,
        None => after.is_empty() || has_subject(&name, after),
    };
    if !after.is_empty() && !has_subject {
        return Err(CommandError::unexpected(after, &format!("show {name}")));
    }
    match name.as_str() {
        "" => {
            let plain = SETTINGS.iter().filter(|it| it.1 != Setting::Environment);
            let views = plain.map(|(name, setting)| setting_view(session, name, *setting));
            Ok(Outcome::Settings(views.collect()))
        }
        "convenience" | "conv" => Ok(convenience_variables(session)),
        "values" => Ok(value_history(session)),
        "user" => breakpoint_command_lists::defined(session),
        "version" => Ok(Outcome::Version(env!("CARGO_PKG_VERSION").to_owned())),
        name => match setting(name) {
            Some((_, Setting::Environment)) => Ok(environment::show_environment(session, after)),
            Some((name, setting)) => Ok(Outcome::Settings(vec![setting_view(
                session, name, setting,
            )])),
            None => show_absent(session, name),
        },
    }
}

fn show_absent(_session: &Session, name: &str) -> Result<Outcome, CommandError> {
    if let Some(Absent::Needless(why) | Absent::Opposite(why)) = absent(name, "") {
        return Ok(Outcome::Message(why.to_owned()));
    }
    let help = instead(name).map_or_else(|| advice(name), str::to_owned);
    let message = format!("there is no setting `{name}`");
    Err(CommandError::with_help(message, help))
}

fn setting_view(session: &Session, name: &str, setting: Setting) -> SettingView {
    let value = setting_value(session, setting).filter(|value| !value.is_empty());
    let substitutions = match setting {
        Setting::SubstitutePath => substitutions(session),
        _ => Vec::new(),
    };
    SettingView {
        name: name.to_owned(),
        value,
        substitutions,
    }
}

fn substitutions(session: &Session) -> Vec<SubstitutionView> {
    let rules = session.user.sources.substitutions();
    let views = rules.map(|(from, to)| SubstitutionView {
        from: from.display().to_string(),
        to: to.display().to_string(),
    });
    views.collect()
}

/// Returns the value as `set` takes it.
fn setting_value(session: &Session, setting: Setting) -> Option<String> {
    let options = &session.options;
    Some(match setting {
        Setting::Arguments => {
            let next = session
                .launch
                .next_line
                .as_ref()
                .map(|line| &line.arguments);
            words(next.unwrap_or(&options.arguments))
        }
        Setting::AtInlined => match options.inlined.at {
            AtInlined::Never => "off",
            AtInlined::Marked => "marked",
            AtInlined::Likely => "likely",
        }
        .to_owned(),
        Setting::CheckpointFiles => session.checkpoints.shown_files().to_owned(),
        Setting::CheckpointNamespace => session.checkpoints.shown_namespace().to_owned(),
        Setting::DebugFileDirectory => {
            let directories = options.symbols.debug_file_directories.iter();
            let directories: Vec<_> = directories.map(|it| it.display().to_string()).collect();
            directories.join(":")
        }
        Setting::Directory => options.directory.as_ref()?.display().to_string(),
        Setting::DisableRandomization => on_or_off(!options.randomize),
        Setting::Environment | Setting::SubstitutePath => return None,
        Setting::Follow => match options.follow {
            crate::options::Follow::Parent => "parent".to_owned(),
            crate::options::Follow::Child => "child".to_owned(),
            crate::options::Follow::Both => "both".to_owned(),
        },
        Setting::Confirm => on_or_off(session.user.settings.confirms),
        Setting::Context => context_words(&session.user.presentation.context),
        Setting::Height => extent_words(session.user.presentation.terminal.height),
        Setting::Width => extent_words(session.user.presentation.terminal.width),
        Setting::Pagination => on_or_off(session.user.presentation.terminal.paginates),
        Setting::StyleEnabled => on_or_off(session.user.presentation.terminal.has_styles),
        Setting::StyleSources => on_or_off(!session.user.sources.is_plain),
        Setting::AllowUnbound => on_or_off(options.allow_unbound),
        Setting::IgnoreInlined => on_or_off(options.inlined.ignore),
        Setting::ListLines => limit(u64::from(session.user.settings.list_lines), u32::MAX.into()),
        Setting::PrintElements => limit(session.user.settings.elements_max, u64::MAX),
        Setting::PrintPretty => on_or_off(session.user.settings.is_pretty),
        Setting::SchedulerLocking => session.user.settings.locking.word().to_owned(),
    })
}

/// `show convenience`
fn convenience_variables(session: &Session) -> Outcome {
    let views = session
        .user
        .values
        .named()
        .map(|(name, value)| VariableView {
            name: name.to_owned(),
            type_name: value.r#type.name(),
            value: value_text(session, value),
        });
    Outcome::ConvenienceVariables(views.collect())
}

/// `show values`
fn value_history(session: &Session) -> Outcome {
    let printed = session.user.values.printed();
    let first = printed.len().saturating_sub(VALUES_MAX);
    let views = (1..).zip(printed).skip(first);
    let views = views.map(|(number, value)| ValueView {
        number,
        type_name: value.r#type.name(),
        value: value_text(session, value),
        is_formatted: false,
    });
    Outcome::ValueHistory(views.collect())
}

/// Returns a value as it is shown, with a program or without.
pub(crate) fn value_text(session: &Session, value: &Typed) -> String {
    value_text_in(session, value, Radix::Natural)
}

/// As [`value_text`], in a radix.
pub(crate) fn value_text_in(session: &Session, value: &Typed, radix: Radix) -> String {
    match &session.processes.program {
        Some(program) => format(value, program, program, radix),
        None => format(value, &Nothing, &Nothing, radix),
    }
}

fn on_or_off(is: bool) -> String {
    (if is { "on" } else { "off" }).to_owned()
}

fn limit(number: u64, most: u64) -> String {
    if number == most {
        "unlimited".to_owned()
    } else {
        number.to_string()
    }
}

/// Formats arguments as `run` parses them.
fn words(arguments: &[OsString]) -> String {
    let quoted = |word: &OsString| {
        let word = word.to_string_lossy();
        let is_plain = |c: char| c.is_alphanumeric() || "_-+=:,./@%".contains(c);
        if !word.is_empty() && word.chars().all(is_plain) {
            word.into_owned()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    let words: Vec<String> = arguments.iter().map(quoted).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::command_line::CommandLine;

    #[test]
    fn arguments_are_shown_as_they_would_be_typed() {
        let arguments = ["a", "b c", "", "it's", "<", "-x=1"].map(OsString::from);
        let shown = words(&arguments);
        assert_eq!(shown, "a 'b c' '' 'it'\\''s' '<' -x=1");
        let line = CommandLine::parse(&shown).expect("a line");
        assert_eq!(line.arguments, arguments);
    }
}
