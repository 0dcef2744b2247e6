//! `set`, `show`, `unset`: the settings.
//!
//! The names are gdb's if gdb has the setting. A setting of gdb that is not needed here is accepted
//! with a message, for command files at the start of a session.

mod absent;
pub(crate) mod presented;
pub(crate) mod shown;

use crate::command_table::setting_names::{Setting, meant, names, setting, split};
use crate::commands::set::absent::{Absent, absent, instead};
use crate::commands::{checkpoint, environment, set_variable};
use crate::options::AtInlined;
use crate::run::checkpoints::numbers;
use crate::run::{follow_fork, symbol_reading};
use crate::session::Session;
use crate::state::command_line::CommandLine;
use crate::state::presentation::parse_context;
use crate::state::settings::SchedulerLocking;
use juror_fault::CommandError;
use juror_language::is_assignment;
use juror_view::observer::Observer;
use juror_view::{Extent, Outcome};

/// Parses `on`, `off` and the like; the default is on.
fn switch(word: &str) -> Result<bool, CommandError> {
    match word {
        "" | "on" | "1" | "yes" | "enable" => Ok(true),
        "off" | "0" | "no" | "disable" => Ok(false),
        other => Err(CommandError::with_help(
            format!("`{other}` is neither on nor off"),
            "for example: set print pretty on",
        )),
    }
}

/// Parses a number; `unlimited` and 0 mean no limit.
fn limit(word: &str, example: &str) -> Result<u64, CommandError> {
    match word {
        "unlimited" | "0" => Ok(u64::MAX),
        word => word.parse().map_err(|_| {
            let message = match word {
                "" => "a number is missing".to_owned(),
                word => format!("`{word}` is not a number"),
            };
            CommandError::with_help(message, format!("for example: {example}"))
        }),
    }
}

/// `set follow child`, `set args a b`, `set var count = 3`.
pub(crate) fn set(
    session: &mut Session,
    rest: &str,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let (name, after) = split(rest);
    if matches!(name.as_str(), "var" | "variable") && !after.starts_with('=') {
        return set_variable::assign_result(session, after, observer);
    }
    match meant(rest) {
        Some((_, setting)) => set_setting(session, setting, after),
        None if is_assignment(rest) => set_variable::assign_result(session, rest, observer),
        None => set_nothing(&name, after),
    }
}

fn set_setting(
    session: &mut Session,
    setting: Setting,
    after: &str,
) -> Result<Outcome, CommandError> {
    let (first, extra) = after.split_once(char::is_whitespace).unwrap_or((after, ""));
    if setting.takes_one_word() && !extra.trim().is_empty() {
        return Err(CommandError::unexpected(extra, first));
    }
    match setting {
        Setting::Arguments => return set_arguments(session, after),
        Setting::AtInlined => return set_at_inlined(session, first),
        Setting::CheckpointFiles => return checkpoint::set_checkpoint_files(session, first),
        Setting::CheckpointNamespace => return numbers::set_checkpoint_namespace(session, first),
        Setting::DebugFileDirectory => {
            return symbol_reading::set_debug_directories(session, after);
        }
        Setting::Directory => return environment::set_directory(session, after),
        Setting::Environment => return environment::set_environment(session, after),
        Setting::Follow => return follow_fork::set_follow(session, first),
        Setting::SubstitutePath => return symbol_reading::set_substitution(session, after),
        Setting::DisableRandomization => {
            session.options.randomize = !switch(first)?;
            session.launch.is_outdated = true;
            return Ok(environment::effect_message(session));
        }
        Setting::Confirm => session.user.settings.confirms = switch(first)?,
        Setting::Context => session.user.presentation.context = parse_context(after)?,
        Setting::Height
        | Setting::Pagination
        | Setting::StyleEnabled
        | Setting::StyleSources
        | Setting::Width => {
            let user = &mut session.user;
            presented::set(&mut user.presentation, &mut user.sources, setting, first)?;
        }
        Setting::AllowUnbound => session.options.allow_unbound = switch(first)?,
        Setting::IgnoreInlined => session.options.inlined.ignore = switch(first)?,
        Setting::ListLines => {
            let lines = limit(first, "set listsize 20")?;
            session.user.settings.list_lines = u32::try_from(lines).unwrap_or(u32::MAX);
        }
        Setting::PrintElements => {
            session.user.settings.elements_max = limit(first, "set print elements 500")?;
            let programs = session.processes.programs_mut();
            programs.for_each(|program| session.user.settings.apply(program));
        }
        Setting::PrintPretty => session.user.settings.is_pretty = switch(first)?,
        Setting::SchedulerLocking => {
            session.user.settings.locking = match first {
                "" | "on" => SchedulerLocking::On,
                "off" => SchedulerLocking::Off,
                "step" => SchedulerLocking::Step,
                _ => {
                    return Err(CommandError::with_help(
                        "`set scheduler-locking` needs off, on or step",
                        "step: only the selected thread runs during step, next, stepi and nexti",
                    ));
                }
            };
        }
    }
    Ok(Outcome::Done)
}

/// Returns the message for a name that is not a setting.
fn set_nothing(name: &str, value: &str) -> Result<Outcome, CommandError> {
    match absent(name, value) {
        Some(Absent::Needless(why)) => {
            let message = format!("no such setting is needed: {why}");
            return Ok(Outcome::Message(message));
        }
        Some(Absent::Opposite(why)) => {
            let written = format!("{name} {value}");
            let message = format!(
                "no such setting is possible, `{}`: {why}",
                written.trim_end()
            );
            return Err(CommandError::new(message).pointing_at(value, 0));
        }
        None => {}
    }
    let message = match name {
        "" => "`set` needs a setting or a variable".to_owned(),
        name => format!("there is no setting `{name}`"),
    };
    Err(CommandError::with_help(message, advice(name)))
}

/// `unset environment NAME`, `unset substitute-path FROM`, `unset cwd`.
pub(crate) fn unset(session: &mut Session, rest: &str) -> Result<Outcome, CommandError> {
    let (name, after) = split(rest);
    let known = setting(&name).map(|(_, setting)| setting);
    let has_value = matches!(known, Some(Setting::Environment | Setting::SubstitutePath));
    if known.is_some() && !has_value && !after.is_empty() {
        return Err(CommandError::unexpected(after, &format!("unset {name}")));
    }
    match setting(&name) {
        Some((_, Setting::Environment)) => return environment::unset_environment(session, after),
        Some((_, Setting::Directory)) => return environment::set_directory(session, ""),
        Some((_, Setting::Arguments)) => return set_arguments(session, ""),
        Some((_, Setting::Width)) => {
            session.user.presentation.terminal.width = Extent::Terminal;
        }
        Some((_, Setting::Height)) => {
            session.user.presentation.terminal.height = Extent::Terminal;
        }
        Some((_, Setting::Context)) => session.user.presentation.context.clear(),
        Some((_, Setting::SubstitutePath)) => symbol_reading::forget_substitution(session, after)?,
        _ => {
            return Err(CommandError::with_help(
                match name.as_str() {
                    "" => "`unset` needs a setting".to_owned(),
                    name => format!("`{name}` cannot be unset"),
                },
                "unset environment NAME, unset args, unset cwd, unset substitute-path FROM",
            ));
        }
    }
    Ok(Outcome::Done)
}

/// `set at-inlined marked`: applies to properties that are loaded from now on, and to the next run.
fn set_at_inlined(session: &mut Session, value: &str) -> Result<Outcome, CommandError> {
    session.options.inlined.at = match value {
        "off" => AtInlined::Never,
        "marked" => AtInlined::Marked,
        "likely" => AtInlined::Likely,
        _ => {
            return Err(CommandError::with_help(
                "`set at-inlined` needs off, marked or likely",
                "set at-inlined off, marked or likely",
            ));
        }
    };
    Ok(Outcome::Done)
}

/// `set args a b`: sets the arguments that `run` passes to the program.
fn set_arguments(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let line = CommandLine::parse(text)?;
    line.redirections.check()?;
    session.launch.next_line = Some(line);
    Ok(Outcome::Done)
}

/// Returns the help for a name that is not a setting.
fn advice(name: &str) -> String {
    if let Some(instead) = instead(name) {
        return instead.to_owned();
    }
    if let Some(near) = juror_language::suggest(name, names()) {
        return format!("did you mean `{near}`?");
    }
    "set VARIABLE = VALUE assigns to a variable of the program; show lists the settings".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_and_switches_are_read() {
        assert_eq!(limit("12", "").ok(), Some(12));
        assert_eq!(limit("unlimited", "").ok(), Some(u64::MAX));
        assert!(limit("-1", "").is_err() && limit("", "").is_err());
        assert_eq!(switch("").ok(), Some(true));
        assert_eq!(switch("off").ok(), Some(false));
        assert!(switch("perhaps").is_err());
    }
}
