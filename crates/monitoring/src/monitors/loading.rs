//! Creates monitors from property files.

use crate::monitors::{MonitoredProperty, Monitors, captures};
use crate::property_files::PropertySource;
use juror_fault::{SessionError, wrong};
use juror_language::Diagnostic;
use juror_monitor::{HISTORY_RECORDS, Monitor};
use std::sync::Arc;

/// Creates the monitors of property files, each in its initial state, in the order of
/// the files. Also returns remarks about the files, each with its severity. A property that
/// several files use is monitored once.
pub fn load(
    sources: &[PropertySource],
    history: usize,
) -> Result<(Monitors, Vec<String>), SessionError> {
    let mut monitors = Monitors::default();
    let mut remarks = Vec::new();
    for source in sources {
        let (found, said) = load_file(source, history)?;
        remarks.extend(said);
        for monitored in found {
            let is_same = |known: &MonitoredProperty| {
                known.property.name == monitored.property.name && known.file() == monitored.file()
            };
            if !monitors.properties.iter().any(is_same) {
                monitors.properties.push(monitored);
            }
        }
    }
    remarks.dedup();
    Ok((monitors, remarks))
}

/// Creates the monitors of one property file and of the files that it uses.
pub fn load_file(
    source: &PropertySource,
    history: usize,
) -> Result<(Vec<MonitoredProperty>, Vec<String>), SessionError> {
    let mut files = source.load();
    if files.has_errors() {
        return Err(files.error());
    }
    let said = files.files.iter().flat_map(|it| {
        let diagnostics = it.diagnostics.iter();
        diagnostics.map(move |said| {
            let line = line_of(&it.text, said.span.start);
            format!("{}: {}:{line}: {}", said.severity, it.file, said.message)
        })
    });
    let remarks = said.collect();
    let mut monitors = Vec::new();
    for mut property in std::mem::take(&mut files.properties) {
        let text = files.text_of(&property);
        property.events.iter_mut().for_each(captures::add);
        let name = property.source_name.clone();
        match Monitor::with_history(Arc::new(property), records(history)) {
            Ok(monitor) => monitors.push(MonitoredProperty::new(monitor, text)),
            Err(error) => {
                let diagnostic = Diagnostic::error("monitor", error.span, error.message);
                return Err(wrong(&name.unwrap_or_default(), &text, vec![diagnostic]));
            }
        }
    }
    Ok((monitors, remarks))
}

/// Returns the line of a byte position in a text, from 1.
fn line_of(text: &str, position: usize) -> usize {
    let before = text.bytes().take(position);
    before.filter(|byte| *byte == b'\n').count() + 1
}

/// Returns the number of transitions that this option remembers.
pub(super) fn records(history: usize) -> usize {
    match history {
        0 => HISTORY_RECORDS,
        records => records,
    }
}
