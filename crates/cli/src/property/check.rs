//! `juror property check`: the diagnostics of property files, and where a program has the
//! events.

use super::{Shown, read};
use crate::arguments::property::CheckProperties;
use crate::directories;
use crate::driver::{
    AtInlined, InlinedPolicy, Options, PropertySource, SymbolCache, SymbolSettings,
};
use crate::exit;
use crate::output::Output;
use crate::session::console;
use juror_view::{EventBinding, Outcome};
use std::collections::HashSet;
use std::path::Path;

/// Runs `juror property check`. Returns the exit status.
pub fn check(check: &CheckProperties) -> anyhow::Result<u8> {
    let mut output = Output::open(check.messages.color, check.json.as_deref(), false)?;
    let (mut errors, mut warnings) = (0, 0);
    let mut shown = Shown::default();
    let mut found: HashSet<(Box<str>, Option<Box<str>>)> = HashSet::new();
    let mut sources = Vec::new();
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
        sources.push(source);
        let names = loaded.properties.into_iter();
        found.extend(names.map(|it| (it.name, it.source_name)));
    }
    output.say(&format!(
        "{}, {}, {}\n",
        counted(found.len(), "property", "properties"),
        counted(errors, "error", "errors"),
        counted(warnings, "warning", "warnings"),
    ))?;
    if errors > 0 || check.strict && warnings > 0 {
        return Ok(exit::USAGE);
    }
    match &check.program {
        Some(program) => bind(check, program, sources, output),
        None => Ok(exit::HOLDS),
    }
}

/// Loads a program, and shows where it has the events. Returns the exit status.
fn bind(
    check: &CheckProperties,
    program: &Path,
    sources: Vec<PropertySource>,
    output: Output,
) -> anyhow::Result<u8> {
    let options = Options {
        program: program.to_owned(),
        properties: sources,
        batch: true,
        inlined: InlinedPolicy {
            at: if check.at_inlined {
                AtInlined::Marked
            } else {
                AtInlined::Never
            },
            ignore: check.ignore_inlined,
        },
        symbols: SymbolSettings {
            cache: directories::cache().map(SymbolCache::new),
            ..SymbolSettings::default()
        },
        ..Options::default()
    };
    let mut console = match console::open(options, output)? {
        Ok(console) => console,
        Err(status) => return Ok(status),
    };
    // The libraries are loaded, and no constructor has run.
    let mut has_unbound = false;
    let is_bound = match console.execute("starti")? {
        Some(_) => console.perform("info events")?,
        None => None,
    };
    if let Some(Outcome::Events(events)) = &is_bound {
        has_unbound = events.iter().any(|it| it.bound_to == EventBinding::Absent);
    }
    // Without the verdicts of a run, which there was not.
    console.execute("kill")?;
    let is_bad = is_bound.is_none() || check.strict && has_unbound;
    Ok(if is_bad { exit::USAGE } else { exit::HOLDS })
}

/// Returns a number with its noun: `no errors`, `1 error`, `2 errors`.
fn counted(count: usize, one: &str, many: &str) -> String {
    match count {
        0 => format!("no {many}"),
        1 => format!("1 {one}"),
        _ => format!("{count} {many}"),
    }
}
