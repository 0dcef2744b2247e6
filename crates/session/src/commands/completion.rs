//! Completion of the word that is being typed.

mod parts;
mod words;

use crate::command_table;
use crate::command_table::TABLE;
use crate::command_table::entry::Completes;
use crate::command_table::setting_names;
use crate::session::Session;
use juror_program::scope::FrameScope;

/// The limit of candidates of a completion.
const CANDIDATES_MAX: usize = 500;

/// Returns the beginning of the word at `position`, and its completions.
pub(crate) fn complete(session: &mut Session, line: &str, position: usize) -> (usize, Vec<String>) {
    let before = line.get(..position).unwrap_or(line);
    let trimmed = before.trim_start();
    let word_end = trimmed.find(|c: char| c.is_whitespace() || c == '/');
    let Some(word_end) = word_end else {
        let names = TABLE.iter().map(|entry| entry.name.to_owned());
        return (before.len() - trimmed.len(), matching(names, trimmed));
    };
    let Ok(entry) = command_table::find(&trimmed[..word_end]) else {
        return (position, Vec::new());
    };
    if let Some(found) = words::fixed(session, entry, before) {
        return found;
    }
    let words: Vec<&str> = before.split_whitespace().collect();
    let found = match entry.completes {
        Completes::Expressions => parts::of_expression(session, before),
        Completes::Settings if entry.name == "set" => parts::of_expression(session, before),
        Completes::Places => parts::of_location(session, before),
        _ => None,
    };
    if let Some(found) = found {
        return found;
    }
    // The names of settings have hyphens.
    let last = words.last().filter(|word| before.ends_with(**word));
    if entry.completes == Completes::Settings && last.is_some_and(|word| word.contains('-')) {
        let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let names = setting_names::names().flat_map(str::split_whitespace);
        return (start, matching(names.map(str::to_owned), &before[start..]));
    }
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | '/' | '$');
    let start = before.rfind(|c: char| !is_part(c)).map_or(0, |at| {
        at + before[at..].chars().next().map_or(1, char::len_utf8)
    });
    let prefix = &before[start..];
    let candidates = match entry.completes {
        Completes::Nothing => Vec::new(),
        Completes::Files => file_names(prefix),
        Completes::Settings => {
            let names = setting_names::names().flat_map(str::split_whitespace);
            let names = names.map(str::to_owned);
            match entry.name {
                "set" => names.chain(expression_names(session)).collect(),
                _ => names.collect(),
            }
        }
        Completes::Words(words) => words.iter().map(|&word| word.to_owned()).collect(),
        Completes::Commands => TABLE.iter().map(|entry| entry.name.to_owned()).collect(),
        Completes::InfoSubjects if is_about_process(trimmed) => {
            crate::commands::info_proc::subjects()
                .map(str::to_owned)
                .collect()
        }
        Completes::InfoSubjects => command_table::INFO_SUBJECTS
            .iter()
            .map(|(name, _)| (*name).to_owned())
            .collect(),
        Completes::Properties => session
            .processes
            .monitors
            .shown()
            .iter()
            .map(|monitored| monitored.property.name.to_string())
            .collect(),
        Completes::PropertyActions => crate::commands::property::ACTIONS
            .iter()
            .map(|&action| action.to_owned())
            .chain(
                session
                    .processes
                    .monitors
                    .shown()
                    .iter()
                    .map(|it| it.property.name.to_string()),
            )
            .collect(),
        Completes::ScenarioActions => crate::run::scenarios::ACTIONS
            .iter()
            .map(|&action| action.to_owned())
            .chain(session.scenarios.names().map(str::to_owned))
            .collect(),
        Completes::Caught => caught(words.get(1).copied().filter(|&word| word != prefix)),
        Completes::Signals => juror_points::signal_names::names()
            .map(str::to_owned)
            .collect(),
        Completes::Places => place_names(session),
        Completes::Expressions => expression_names(session),
    };
    (start, matching(candidates.into_iter(), prefix))
}

fn place_names(session: &Session) -> Vec<String> {
    let mut names = Vec::new();
    for module in session.modules().iter().filter(|module| module.is_main) {
        names.extend(module.symbols.function_names());
        let files = module.symbols.source_files();
        names.extend(
            files
                .iter()
                .filter_map(|f| Some(format!("{}:", f.file_name()?.to_string_lossy()))),
        );
    }
    names
}

fn expression_names(session: &mut Session) -> Vec<String> {
    let Ok(frames) = session.frames().map(<[_]>::to_vec) else {
        return Vec::new();
    };
    let Some(program) = &session.processes.program else {
        return Vec::new();
    };
    let level = session.processes.selection.level;
    FrameScope {
        program,
        frames: &frames,
        level,
        convenience: &|_| None,
    }
    .names()
}
/// Returns what may follow `catch`, or its subject.
fn caught(subject: Option<&str>) -> Vec<String> {
    match subject {
        None => crate::commands::catch::SUBJECTS
            .iter()
            .map(|&subject| subject.to_owned())
            .collect(),
        Some("syscall") => juror_points::system_call_names::system_call_names()
            .map(str::to_owned)
            .collect(),
        Some("signal") => juror_points::signal_names::names()
            .map(str::to_owned)
            .collect(),
        Some(_) => Vec::new(),
    }
}

/// Returns whether the word follows `info proc`.
fn is_about_process(line: &str) -> bool {
    let mut words = line.split_whitespace().skip(1);
    let is_subject = words.next() == Some("proc");
    is_subject && (words.next().is_some() || line.ends_with(char::is_whitespace))
}

/// Returns the files and directories with a prefix; directories end in a slash.
fn file_names(prefix: &str) -> Vec<String> {
    let (directory, start) = match prefix.rfind('/') {
        Some(at) => prefix.split_at(at + 1),
        None => ("", prefix),
    };
    let at = if directory.is_empty() { "." } else { directory };
    let Ok(entries) = std::fs::read_dir(at) else {
        return Vec::new();
    };
    let names = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        let name = entry.file_name().into_string().ok()?;
        // As in a shell, hidden ones only if the prefix begins with a dot.
        let is_meant = name.starts_with(start) && (!name.starts_with('.') || !start.is_empty());
        let slash = if entry.path().is_dir() { "/" } else { "" };
        is_meant.then(|| format!("{directory}{name}{slash}"))
    });
    names.take(CANDIDATES_MAX).collect()
}

/// Returns the names with a prefix, in order.
pub(crate) fn matching(names: impl Iterator<Item = String>, prefix: &str) -> Vec<String> {
    let mut found: Vec<String> = names.filter(|name| name.starts_with(prefix)).collect();
    found.sort();
    found.dedup();
    found.truncate(CANDIDATES_MAX);
    found
}
