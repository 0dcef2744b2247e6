//! `list`: source lines.

use crate::inspect::locations::{parsed_alone, resolvable};
use crate::inspect::source::main_line;
use crate::inspect::{frames, source};
use crate::session::Session;
use crate::state::selection::Listed;
use juror_fault::CommandError;
use juror_points::breakpoints::Resolvable;
use juror_view::Outcome;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// `list`, `list PLACE`, `list FIRST,LAST`, `list -`
pub(crate) fn list(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let count = session.user.settings.list_lines;
    match text {
        "" | "+" => {
            if let Some(listed) = session.processes.selection.listed.clone() {
                return list_from(session, listed.file, listed.next, count, None);
            }
        }
        "-" => {
            if let Some(listed) = session.processes.selection.listed.clone() {
                return list_before(session, listed.file, listed.first);
            }
        }
        _ => {}
    }
    if let Some((first, last)) = split_range(text) {
        return list_range(session, first.trim(), last.trim());
    }
    let (file, line, mark) = if matches!(text, "" | "+" | "-") {
        let frame = if !session.has_begun() {
            None
        } else {
            Some(frames::selected_frame(session)?)
        };
        match frame.and_then(|frame| source::line_of(session, &frame)) {
            Some((file, line, _)) => (file, line, true),
            None => return list_main(session),
        }
    } else {
        place_line(session, text)?
    };
    let first = line.saturating_sub(count / 2).max(1);
    list_from(session, file, first, count, mark.then_some(line))
}

/// Lists the lines before those that were listed last.
fn list_before(session: &mut Session, file: PathBuf, first: u32) -> Result<Outcome, CommandError> {
    if first <= 1 {
        let name = file.file_name().unwrap_or(file.as_os_str());
        let message = format!("these are the first lines of {}", name.display());
        return Err(CommandError::new(message));
    }
    let before = first
        .saturating_sub(session.user.settings.list_lines)
        .max(1);
    list_from(session, file, before, first - before, None)
}

/// Lists `FIRST,LAST`; one of them may be missing.
fn list_range(session: &mut Session, first: &str, last: &str) -> Result<Outcome, CommandError> {
    let wrong = |message: String| {
        CommandError::with_help(message, "for example: list 10,20, list 10,, list ,20")
    };
    if first.is_empty() && last.is_empty() {
        return Err(wrong("the first or the last line is missing".to_owned()));
    }
    if first.is_empty() {
        let (file, last, _) = place_line(session, last)?;
        let first = last
            .saturating_sub(session.user.settings.list_lines - 1)
            .max(1);
        return list_from(session, file, first, last - first + 1, None);
    }
    let (file, start, _) = place_line(session, first)?;
    if last.is_empty() {
        return list_from(session, file, start, session.user.settings.list_lines, None);
    }
    // A plain number is a line of the same file, and +3 counts from the first.
    let distance = last.strip_prefix('+').map(str::trim).map(str::parse::<u32>);
    let end = match (distance, last.parse::<u32>()) {
        (Some(Ok(distance)), _) => start.saturating_add(distance),
        (_, Ok(line)) => line,
        (_, Err(_)) => {
            let (other, line, _) = place_line(session, last)?;
            if other != file {
                return Err(wrong("both lines must be in one file".to_owned()));
            }
            line
        }
    };
    if end < start {
        return Err(wrong(format!("line {end} is before line {start}")));
    }
    list_from(session, file, start, end - start + 1, None)
}

fn list_main(session: &mut Session) -> Result<Outcome, CommandError> {
    let (file, line) = main_line(session)
        .ok_or_else(|| CommandError::new("there is no source for this location"))?;
    list_from(
        session,
        file,
        line.saturating_sub(session.user.settings.list_lines / 2)
            .max(1),
        session.user.settings.list_lines,
        None,
    )
}

fn place_line(session: &mut Session, text: &str) -> Result<(PathBuf, u32, bool), CommandError> {
    if let Some(file) = file_named(session, text) {
        return Ok((file, 1, false));
    }
    let placed = parsed_alone(text)?;
    let place = resolvable(session, &placed.place)?;
    let modules = session.modules();
    if let Resolvable::Line(file, line, _) = &place {
        let mut modules = modules.iter();
        if let Some(found) = modules.find_map(|module| module.symbols.source_file(file)) {
            return Ok((found.to_path_buf(), *line, false));
        }
    }
    let described = place
        .resolve(modules)
        .addresses
        .first()
        .map(|&at| modules.describe(at));
    match described.and_then(|described| Some((described.file?, described.line?))) {
        Some((file, line)) => Ok((file, line, false)),
        None => Err(CommandError::new(format!(
            "there is no source for `{text}`"
        ))),
    }
}

/// Finds a source file by its name alone, if there is no function of that name.
fn file_named(session: &Session, text: &str) -> Option<PathBuf> {
    let name = text.strip_suffix(':').unwrap_or(text).trim();
    if !name.contains('.') || name.contains(':') {
        return None;
    }
    let mut modules = session.modules().iter();
    let found = modules.find_map(|module| module.symbols.source_file(name))?;
    Some(found.to_path_buf())
}

/// Returns when the program was built, if the file is one of its own.
fn built_from(session: &Session, file: &Path) -> Option<SystemTime> {
    let main = session.modules().main()?;
    main.symbols.source_file(file.to_str()?)?;
    main.built
}

fn list_from(
    session: &mut Session,
    file: PathBuf,
    first: u32,
    count: u32,
    mark: Option<u32>,
) -> Result<Outcome, CommandError> {
    let built = built_from(session, &file);
    let Some(mut view) = session.user.sources.lines(&file, first, count, built) else {
        let message = match session.user.sources.line_count(&file) {
            Some(count) => {
                let name = file.file_name().unwrap_or(file.as_os_str());
                format!("{} has {count} lines", name.display())
            }
            None => format!("the source file {} cannot be read", file.display()),
        };
        return Err(CommandError::new(message));
    };
    view.current = mark;
    session.processes.selection.listed = Some(Listed {
        file,
        first,
        next: first.saturating_add(view.lines.len() as u32),
    });
    Ok(Outcome::Source(view))
}

/// Splits `FIRST,LAST` at the comma that is not in parameters, arguments or quotes.
pub(crate) fn split_range(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0;
    let mut quote = None;
    let at = text.find(|c| {
        match c {
            c if quote == Some(c) => quote = None,
            '\'' | '"' if quote.is_none() => quote = Some(c),
            '(' | '<' => depth += 1,
            ')' | '>' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0 && quote.is_none()
    })?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}
