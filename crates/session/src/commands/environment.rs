//! The environment and the directory of the program from the next run on, and juror's own
//! directory.

use crate::session::Session;
use juror_fault::CommandError;
use juror_view::{EnvironmentVariableView, Outcome};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// `pwd`
pub(crate) fn working_directory() -> Result<Outcome, CommandError> {
    let directory = current()?;
    Ok(Outcome::WorkingDirectory(directory.display().to_string()))
}

fn current() -> Result<PathBuf, CommandError> {
    std::env::current_dir()
        .map_err(|error| CommandError::new(format!("the working directory is unknown: {error}")))
}

/// Expands `~` and `~/x` to the home directory.
fn expanded(text: &str) -> PathBuf {
    let rest = match text {
        "" | "~" => Some(""),
        text => text.strip_prefix("~/"),
    };
    let home = std::env::var_os("HOME").map(PathBuf::from);
    match (rest, home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(text),
    }
}

/// Parses `NAME VALUE`, `NAME=VALUE` or `NAME`.
fn assignment(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| c == '=' || c.is_whitespace());
    let (name, rest) = text.split_at(end.unwrap_or(text.len()));
    let rest = rest.trim_start();
    let value = rest.strip_prefix('=').unwrap_or(rest).trim();
    (!name.is_empty()).then_some((name, value))
}

/// `set environment NAME=VALUE`, `set environment NAME VALUE`
pub(crate) fn set_environment(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let (name, value) = assignment(text).ok_or_else(|| {
        CommandError::with_help(
            "the name of an environment variable is missing",
            "for example: set environment LANG=C",
        )
    })?;
    change_environment(session, name, Some(value.into()));
    Ok(effect_message(session))
}

/// `unset environment NAME`; without a name, the environment is cleared.
pub(crate) fn unset_environment(
    session: &mut Session,
    name: &str,
) -> Result<Outcome, CommandError> {
    match name {
        "" => {
            session.options.environment.clear();
            session.options.clear_environment = true;
            session.launch.is_outdated = true;
        }
        name => change_environment(session, name, None),
    }
    Ok(effect_message(session))
}

fn change_environment(session: &mut Session, name: &str, value: Option<OsString>) {
    let environment = &mut session.options.environment;
    environment.retain(|(known, _)| known != name);
    environment.push((name.into(), value));
    session.launch.is_outdated = true;
}

/// `set cwd DIRECTORY`; without one the program starts in juror's directory.
pub(crate) fn set_directory(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    session.options.directory = match text {
        "" => None,
        text => Some(existing(&expanded(text))?),
    };
    session.launch.is_outdated = true;
    Ok(effect_message(session))
}

/// `cd DIRECTORY`
pub(crate) fn change_directory(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let directory = existing(&expanded(text))?;
    let before = current()?;
    std::env::set_current_dir(&directory).map_err(|error| refused(&directory, &error))?;
    keep_files_of(session, &before);
    session.launch.is_outdated |= session.options.directory.is_none();
    Ok(Outcome::WorkingDirectory(directory.display().to_string()))
}

/// Makes relative paths absolute, so that they keep their meaning after a change of directory.
fn keep_files_of(session: &mut Session, directory: &Path) {
    let options = &mut session.options;
    // A program without a slash is searched for in `PATH`.
    if options.program.components().count() > 1 || options.program.starts_with(".") {
        options.program = directory.join(&options.program);
    }
    let files = [
        &mut options.directory,
        &mut options.stdin,
        &mut options.stdout,
        &mut options.stderr,
    ];
    for path in files.into_iter().flatten() {
        *path = directory.join(&*path);
    }
    if let Some(recording) = &mut options.recording {
        recording.file = directory.join(&recording.file);
    }
}

/// Returns the message that a change takes effect at the next run, if a program has begun.
pub(crate) fn effect_message(session: &Session) -> Outcome {
    if session.has_begun() {
        Outcome::Message("takes effect at the next run".to_owned())
    } else {
        Outcome::Done
    }
}

/// `show environment`, `show environment NAME`
pub(crate) fn show_environment(session: &Session, name: &str) -> Outcome {
    let mut variables: BTreeMap<OsString, OsString> = if session.options.clear_environment {
        BTreeMap::new()
    } else {
        std::env::vars_os().collect()
    };
    for (name, value) in &session.options.environment {
        match value {
            Some(value) => variables.insert(name.clone(), value.clone()),
            None => variables.remove(name),
        };
    }
    let text = |text: &OsString| text.to_string_lossy().into_owned();
    Outcome::Environment(match name {
        "" => {
            let views = variables
                .iter()
                .map(|(name, value)| EnvironmentVariableView {
                    name: text(name),
                    value: Some(text(value)),
                });
            views.collect()
        }
        name => vec![EnvironmentVariableView {
            name: name.to_owned(),
            value: variables.get(&OsString::from(name)).map(text),
        }],
    })
}

/// Returns an existing directory as an absolute path.
fn existing(path: &Path) -> Result<PathBuf, CommandError> {
    let found = path.canonicalize().map_err(|error| refused(path, &error))?;
    if found.is_dir() {
        Ok(found)
    } else {
        Err(CommandError::new(format!(
            "{} is not a directory",
            path.display()
        )))
    }
}

fn refused(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::new(format!("{} cannot be used: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_written_in_three_ways() {
        for (text, expected) in [
            ("A=b c", Some(("A", "b c"))),
            ("A b=c", Some(("A", "b=c"))),
            ("A = b", Some(("A", "b"))),
            ("A", Some(("A", ""))),
            ("A=", Some(("A", ""))),
            ("=b", None),
            ("", None),
        ] {
            assert_eq!(assignment(text), expected, "{text:?}");
        }
    }

    #[test]
    fn directories_must_be_there() {
        assert!(existing(Path::new("/")).is_ok());
        assert!(existing(Path::new("/nowhere")).is_err());
        assert!(existing(Path::new("/proc/self/status")).is_err());
        assert_eq!(expanded("/tmp"), Path::new("/tmp"));
        assert_ne!(expanded("~/x"), Path::new("~/x"));
    }
}
