//! `juror property check`: the diagnostics of property files.

use super::{Shown, read};
use crate::arguments::property::CheckProperties;
use crate::exit;
use crate::output::Output;
use std::collections::HashSet;

/// Runs `juror property check`. Returns the exit status.
pub fn check(check: &CheckProperties) -> anyhow::Result<u8> {
    let mut output = Output::open(check.messages.color, check.json.as_deref(), false)?;
    let (mut errors, mut warnings) = (0, 0);
    let mut shown = Shown::default();
    let mut found: HashSet<(Box<str>, Option<Box<str>>)> = HashSet::new();
    for file in &check.files {
        let source = match read(file) {
            Ok(source) => source,
            Err(error) => {
                output.show_error(&format!("{error:#}"))?;
                errors += 1;
                continue;
            }
        };
        let loaded = source.load();
        let (more_errors, more_warnings) = shown.show(&loaded, &mut output)?;
        errors += more_errors;
        warnings += more_warnings;
        let names = loaded.properties.into_iter();
        found.extend(names.map(|it| (it.name, it.source_name)));
    }
    output.say(&format!(
        "{}, {}, {}\n",
        counted(found.len(), "property", "properties"),
        counted(errors, "error", "errors"),
        counted(warnings, "warning", "warnings"),
    ))?;
    let bad = errors > 0 || check.strict && warnings > 0;
    Ok(if bad { exit::USAGE } else { exit::HOLDS })
}

/// Returns a number with its noun: `no errors`, `1 error`, `2 errors`.
fn counted(count: usize, one: &str, many: &str) -> String {
    match count {
        0 => format!("no {many}"),
        1 => format!("1 {one}"),
        _ => format!("{count} {many}"),
    }
}
