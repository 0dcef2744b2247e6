//! `juror property`: checks, formats and draws property files.

mod check;
mod format;
mod show;

use crate::arguments::property::{PropertyAction, PropertyCommand};
use crate::driver::{LoadedFiles, PropertySource};
use crate::output::Output;
use anyhow::Context as _;
use juror_language::{Diagnostic, Severity};
use std::io::Read as _;
use std::path::Path;

/// Runs `juror property`. Returns the exit status.
pub fn run(command: &PropertyCommand) -> anyhow::Result<u8> {
    match &command.action {
        PropertyAction::Check(check) => check::check(check),
        PropertyAction::Format(format) => format::format(format),
        PropertyAction::Show(show) => show::show(show),
    }
}

/// Reads a file, with the files that it uses. `-` is the standard input; its files are
/// relative to the working directory.
fn read(file: &Path) -> anyhow::Result<PropertySource> {
    if file != Path::new("-") {
        return PropertySource::read(file).map_err(anyhow::Error::msg);
    }
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    read.context("standard input is not text")?;
    Ok(PropertySource::with_used("<standard input>".into(), text))
}

/// The files whose diagnostics have been shown.
#[derive(Default)]
struct Shown(Vec<String>);

impl Shown {
    /// Shows the diagnostics of files, each file once. Returns the numbers of errors and
    /// of warnings.
    fn show(
        &mut self,
        loaded: &LoadedFiles,
        output: &mut Output,
    ) -> anyhow::Result<(usize, usize)> {
        let (mut errors, mut warnings) = (0, 0);
        for file in &loaded.files {
            if self.0.contains(&file.file) {
                continue;
            }
            self.0.push(file.file.clone());
            let count = |severity| {
                let has_severity = |it: &&Diagnostic| it.severity == severity;
                file.diagnostics.iter().filter(has_severity).count()
            };
            errors += count(Severity::Error);
            warnings += count(Severity::Warning);
            output.show_diagnostics(file)?;
        }
        Ok((errors, warnings))
    }
}
