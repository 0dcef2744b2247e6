//! `juror property fmt`: formats property files.

use super::read;
use crate::arguments::property::FormatProperties;
use crate::driver::{FileDiagnostics, PropertySource};
use crate::exit;
use crate::output::Output;
use anyhow::Context as _;
use juror_language::Diagnostic;
use std::io::Write as _;
use std::path::Path;

/// The exit status of `fmt --check` for a file that is not formatted.
const NOT_FORMATTED: u8 = 1;

/// Runs `juror property fmt`. Returns the exit status.
pub fn format(command: &FormatProperties) -> anyhow::Result<u8> {
    let mut output = Output::open(command.messages.color, None, false)?;
    let input = [Path::new("-").to_owned()];
    let files = if command.files.is_empty() {
        &input[..]
    } else {
        &command.files
    };
    let mut status = exit::HOLDS;
    for file in files {
        let one = match read(file) {
            Ok(source) => format_file(command, file, &source, &mut output)?,
            Err(error) => {
                output.show_error(&format!("{error:#}"))?;
                exit::USAGE
            }
        };
        status = status.max(one);
    }
    Ok(status)
}

fn format_file(
    command: &FormatProperties,
    file: &Path,
    source: &PropertySource,
    output: &mut Output,
) -> anyhow::Result<u8> {
    let parsed = juror_language::parse(&source.text);
    let formatted = juror_language::format(&source.text).filter(|_| {
        let mut diagnostics = parsed.diagnostics.iter();
        !diagnostics.any(Diagnostic::is_error)
    });
    let Some(formatted) = formatted else {
        output.show_diagnostics(&FileDiagnostics {
            file: source.file.clone(),
            text: source.text.as_str().into(),
            diagnostics: parsed.diagnostics,
        })?;
        return Ok(exit::USAGE);
    };
    let same = formatted == source.text;
    if command.check {
        if !same {
            output.say(&format!("{} is not formatted\n", source.file))?;
        }
        return Ok(if same { exit::HOLDS } else { NOT_FORMATTED });
    }
    if file == Path::new("-") {
        output.say(&formatted)?;
    } else if !same {
        replace(file, &formatted)?;
    }
    Ok(exit::HOLDS)
}

/// Replaces a file atomically, and keeps its permissions.
fn replace(file: &Path, text: &str) -> anyhow::Result<()> {
    // A symbolic link is kept: its target is replaced.
    let file = &std::fs::canonicalize(file)?;
    let refused = || format!("{} cannot be written", file.display());
    let permissions = std::fs::metadata(file).with_context(refused)?.permissions();
    let directory = file.parent().unwrap_or(Path::new("."));
    let mut new = tempfile::NamedTempFile::new_in(directory).with_context(refused)?;
    new.write_all(text.as_bytes()).with_context(refused)?;
    new.as_file()
        .set_permissions(permissions)
        .with_context(refused)?;
    new.persist(file).with_context(refused)?;
    Ok(())
}
