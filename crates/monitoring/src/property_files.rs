//! Property files, with the files that they use.
//!
//! They are read once, all together; a session works on their text. So a file that is edited during
//! the run changes nothing, and a recorded run can be checked without reading files.

use juror_fault::{FileDiagnostics, SessionError};
use juror_language::{Diagnostic, Loaded, Property, load_among, load_with};
use std::io;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

/// The limit of a property file's size: a larger file is something else.
const BYTES_MAX: u64 = 16 << 20;

/// A property file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PropertySource {
    /// Its name, as the user typed it.
    pub file: String,
    /// Its text.
    pub text: String,
    /// The files that it uses, by path: the text, or the reason why it cannot be read.
    used: Vec<(String, Result<String, String>)>,
}

impl PropertySource {
    /// Creates a source that uses no other files.
    pub fn new(file: impl Into<String>, text: impl Into<String>) -> PropertySource {
        PropertySource {
            file: file.into(),
            text: text.into(),
            used: Vec::new(),
        }
    }

    /// Reads a file and the files that it uses.
    ///
    /// # Errors
    /// The file cannot be read, or is not text; a sentence for the user. A used file that cannot be
    /// read is an error in the property.
    pub fn read(file: &Path) -> Result<PropertySource, String> {
        let shown = file.display();
        let text = read_text(file).map_err(|problem| match problem {
            Unreadable::Refused(error) => {
                format!("the property file {shown} cannot be read: {error}")
            }
            Unreadable::NoText { line } => {
                format!("the property file {shown} is not text: line {line} is not UTF-8")
            }
        })?;
        Ok(PropertySource::with_used(shown.to_string(), text))
    }

    /// Creates a source from a text in place of the file of this name; reads the files that it
    /// uses.
    pub fn with_used(file: String, text: String) -> PropertySource {
        let mut used = Vec::new();
        load_with(&file, &text, &mut |path| {
            let read = read_text(Path::new(path)).map_err(|problem| match problem {
                Unreadable::Refused(error) => error.to_string(),
                Unreadable::NoText { line } => {
                    format!("it is not text, line {line} is not UTF-8")
                }
            });
            used.push((path.to_owned(), read.clone()));
            read
        });
        PropertySource { file, text, used }
    }

    /// Returns the text of a used file.
    fn used_text(&self, path: &str) -> Result<String, String> {
        let known = self.used.iter().find(|(used, _)| used == path);
        known.map_or_else(|| Err("it was not read".to_owned()), |(_, it)| it.clone())
    }

    /// Returns the properties and scenarios of the file, given the known properties.
    pub fn load_among(&self, known: &[&Property]) -> Loaded {
        let mut read = |path: &str| self.used_text(path);
        load_among(&self.file, &self.text, &mut read, Some(known))
    }

    /// Returns the properties of the file and of the files that it uses, with the diagnostics of
    /// each file.
    pub fn load(&self) -> LoadedFiles {
        let mut loaded = load_with(&self.file, &self.text, &mut |path| self.used_text(path));
        // A text that cannot be read is an error as a whole: the properties of used files would be
        // shown as if they were all.
        let used = loaded.used.into_iter().map(|used| FileDiagnostics {
            file: used.path,
            text: used.text.into(),
            diagnostics: used.diagnostics,
        });
        let mut files: Vec<FileDiagnostics> = used.collect();
        files.push(FileDiagnostics {
            file: self.file.clone(),
            text: self.text.as_str().into(),
            diagnostics: std::mem::take(&mut loaded.diagnostics),
        });
        LoadedFiles {
            properties: loaded.properties,
            scenario_count: loaded.scenario_count,
            files,
        }
    }
}

/// The contents of a property file and of the files that it uses.
#[derive(Debug, Clone)]
pub struct LoadedFiles {
    /// The properties without errors. The source name of each is its file.
    pub properties: Vec<Property>,
    /// The number of scenarios of the file itself.
    pub scenario_count: usize,
    /// The used files, and the file itself at the end.
    pub files: Vec<FileDiagnostics>,
}

impl LoadedFiles {
    /// Returns whether some file has an error.
    pub fn has_errors(&self) -> bool {
        let mut all = self.files.iter().flat_map(|file| &file.diagnostics);
        all.any(Diagnostic::is_error)
    }

    /// Returns the text of a property's file.
    pub fn text_of(&self, property: &Property) -> Arc<str> {
        let name = property.source_name.as_deref().unwrap_or("");
        let file = self.files.iter().find(|file| file.file == name);
        file.map_or_else(|| "".into(), |file| Arc::clone(&file.text))
    }

    /// Returns the error of a session that cannot start.
    pub(crate) fn error(self) -> SessionError {
        let file = self.files.last().map(|file| file.file.clone());
        let said = self.files.into_iter();
        SessionError::Property {
            file: file.unwrap_or_default(),
            found: said.filter(|it| !it.diagnostics.is_empty()).collect(),
        }
    }
}

/// The reason why a file has no text.
enum Unreadable {
    Refused(io::Error),
    NoText { line: usize },
}

fn read_text(file: &Path) -> Result<String, Unreadable> {
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file);
    let read = opened.and_then(|opened| opened.take(BYTES_MAX + 1).read_to_end(&mut bytes));
    let length = read.map_err(Unreadable::Refused)?;
    if length as u64 > BYTES_MAX {
        let error = io::Error::new(io::ErrorKind::FileTooLarge, "it is too long for properties");
        return Err(Unreadable::Refused(error));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let before = error.as_bytes().get(..valid).unwrap_or(&[]);
        Unreadable::NoText {
            line: before.iter().filter(|byte| **byte == b'\n').count() + 1,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().expect("a directory");
        for (name, text) in files {
            let path = directory.path().join(name);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("a directory");
            std::fs::write(path, text).expect("a file");
        }
        directory
    }

    /// Returns the messages, each with the end of its file's path.
    fn said(directory: &tempfile::TempDir, file: &str) -> Vec<(String, String)> {
        let loaded = PropertySource::read(&directory.path().join(file))
            .expect("it is there")
            .load();
        let root = directory.path().display().to_string() + "/";
        let files = loaded.files.iter();
        files
            .flat_map(|it| it.diagnostics.iter().map(|d| (&it.file, d)))
            .map(|(file, it)| (file.replace(&root, ""), it.message.replace(&root, "")))
            .collect()
    }

    #[track_caller]
    fn check(files: &[(&str, &str)], expected: &[(&str, &str)]) {
        let directory = directory(files);
        let said = said(&directory, files[0].0);
        assert_eq!(said.len(), expected.len(), "{said:#?}");
        for ((file, message), (in_file, words)) in said.iter().zip(expected) {
            assert_eq!(file, in_file, "{said:#?}");
            assert!(message.contains(words), "{said:#?}");
        }
    }

    const GOOD: &str = "event lock = before lock(m)
        property good ltl always not lock";

    #[test]
    fn files_are_found_from_the_file_that_names_them() {
        let files = [
            (
                "a/main.prop",
                "use \"../lib/one.prop\" property p ltl always not lock",
            ),
            ("lib/one.prop", "use \"two/two.prop\""),
            ("lib/two/two.prop", GOOD),
        ];
        check(&files, &[]);
        let directory = directory(&files);
        let path = directory.path().join("a/main.prop");
        let loaded = PropertySource::read(&path).expect("it is there").load();
        let names: Vec<(&str, &str)> = loaded
            .properties
            .iter()
            .map(|p| (&*p.name, p.source_name.as_deref().unwrap_or("")))
            .collect();
        let root = directory.path().display();
        let used = format!("{root}/lib/two/two.prop");
        let own = format!("{root}/a/main.prop");
        assert_eq!(names, [("good", used.as_str()), ("p", own.as_str())]);
        assert_eq!(&*loaded.text_of(&loaded.properties[0]), GOOD);
    }

    #[test]
    fn what_is_wrong_is_told_in_its_file() {
        check(
            &[("main.prop", "use \"gone.prop\"")],
            &[("main.prop", "cannot read `gone.prop`: No such file")],
        );
        check(
            &[
                ("main.prop", "use \"lib/bad.prop\""),
                ("lib/bad.prop", "property p state s { on nothing }"),
            ],
            &[
                ("lib/bad.prop", "there is no event `nothing`"),
                ("main.prop", "`lib/bad.prop` has errors"),
            ],
        );
        check(
            &[
                ("main.prop", "use \"lib/back.prop\""),
                ("lib/back.prop", "use \"../main.prop\""),
            ],
            &[
                ("lib/back.prop", "main.prop -> lib/back.prop -> main.prop"),
                ("main.prop", "`lib/back.prop` has errors"),
            ],
        );
    }

    #[test]
    fn a_property_file_must_be_text() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("p.prop");
        std::fs::write(&file, b"property p\n\xff").expect("a file");
        let error = PropertySource::read(&file).expect_err("not UTF-8");
        assert!(error.ends_with("line 2 is not UTF-8"), "{error}");
        let error = PropertySource::read(Path::new("/no/such/file")).expect_err("no file");
        let expected = "the property file /no/such/file cannot be read";
        assert!(error.starts_with(expected), "{error}");
    }
}
