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

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "property x event a = before a() state s accepting { on a -> s }";

    #[test]
    fn a_property_of_several_files_is_monitored_once() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = |name: &str, text: &str| {
            let path = directory.path().join(name);
            std::fs::write(&path, text).expect("a file");
            path
        };
        file("lib.prop", FIRST);
        let of = |name: &str| {
            let own = FIRST.replace("property x", "property own");
            let path = file(name, &format!("use \"lib.prop\"\n{own}"));
            PropertySource::read(&path).expect("it is there")
        };
        let (monitors, _) = load(&[of("one.prop"), of("two.prop")], 0).expect("they are right");
        let properties = monitors.properties.iter();
        let names: Vec<&str> = properties.map(|it| &*it.property.name).collect();
        // The files of the other two differ.
        assert_eq!(names, ["x", "own", "own"]);
    }

    #[test]
    fn a_remark_has_its_severity_its_file_and_its_line() {
        let text = format!(
            "{FIRST}\nproperty y\nevent a = before a()\nevent b = before b()
            state s accepting {{ on a -> s }}"
        );
        let (_, remarks) = load(&[PropertySource::new("p.prop", text)], 0).expect("it is right");
        let [unused] = remarks.as_slice() else {
            panic!("{remarks:?}");
        };
        assert!(unused.starts_with("warning: p.prop:4: "), "{unused}");
    }

    #[test]
    fn positions_are_in_lines_from_1() {
        for (position, line) in [(0, 1), (1, 1), (2, 2), (3, 3), (9, 3)] {
            assert_eq!(line_of("a\n\nb", position), line, "{position}");
        }
    }

    #[test]
    fn a_history_of_0_is_the_usual_one() {
        assert_eq!((records(0), records(7)), (HISTORY_RECORDS, 7));
    }

    #[test]
    fn an_error_in_a_file_is_the_error_of_all() {
        let wrong = PropertySource::new("q.prop", "property q state s { on nothing }");
        let loaded = load(&[PropertySource::new("p.prop", FIRST), wrong], 0);
        let Err(SessionError::Property { file, found }) = loaded else {
            panic!("it is wrong");
        };
        assert_eq!((file.as_str(), found.len()), ("q.prop", 1));
    }
}
