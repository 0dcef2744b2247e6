//! Files that use other files.
//!
//! `use "locks.prop"` brings what stands before the first property of that file
//! (events, propositions, formulas, functions), and its properties. What it
//! uses itself is brought, too. A name means the nearest declaration: that of
//! the property, of the file, of the file used last.
//!
//! Reading files is the caller's. A path is looked for from where the file that
//! names it stands.

use crate::check::{Among, Used, Uses, check_scenarios, check_with};
use crate::diagnostic::Diagnostic;
use crate::parse::parse;
use crate::property::Property;
use crate::scenario::Scenario;
use crate::syntax::{File, UseDeclaration};
use std::ops::Range;

/// How many files a property file may use, all together.
const FILES_MAX: usize = 100;

/// What [`load_with`] gives.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Loaded {
    /// The properties without errors: those of the files that are used, in the
    /// order of their use, then those of the source itself. Each has the path
    /// of its file as its source name.
    pub properties: Vec<Property>,
    /// What is to be said about the source, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// The scenarios of the source itself without errors.
    pub scenarios: Vec<Scenario>,
    /// How many scenarios there are in the source, wrong ones included.
    pub scenario_count: usize,
    /// The files that are used.
    pub used: Vec<UsedFile>,
}

/// A file that a property file uses.
#[derive(Debug, Clone, PartialEq)]
pub struct UsedFile {
    /// Its path, as it was asked for.
    pub path: String,
    /// What it says.
    pub text: String,
    /// What is to be said about it, in the order of its text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the text of a file by its path, or says why that cannot be.
pub type Reader<'r> = &'r mut dyn FnMut(&str) -> Result<String, String>;

/// Parses and checks a source and the files that it uses. `path` is where the
/// source stands: the files that it uses are looked for from there. It is empty
/// for a text that is no file.
///
/// The scenarios of the source may be for properties that it does not bring.
pub fn load_with(path: &str, source: &str, read: Reader<'_>) -> Loaded {
    load_among(path, source, read, None)
}

/// The same where more properties are known than the source brings: its
/// scenarios are for these.
pub fn load_among(
    path: &str,
    source: &str,
    read: Reader<'_>,
    known: Option<&[&Property]>,
) -> Loaded {
    let mut libraries = Libraries {
        read,
        all: Vec::new(),
        open: Vec::new(),
    };
    if !path.is_empty() {
        libraries.open.push(resolved("", path));
    }
    let parsed = parse(source);
    let mut diagnostics = parsed.diagnostics;
    let used = libraries.used(path, &parsed.file.uses, &mut diagnostics);
    // Without what it uses, a source says something else.
    let is_partial = used.len() < parsed.file.uses.len();
    let uses = Uses {
        seen: libraries.seen(&used),
        is_partial,
    };
    let (mut own, checked) = check_with(&parsed.file, &uses);
    if !path.is_empty() {
        let name = Some(path.into());
        own.iter_mut()
            .for_each(|it| it.source_name.clone_from(&name));
    }
    diagnostics.extend(checked);
    let brought = libraries.all.iter().flat_map(|library| &library.properties);
    let mut there: Vec<&Property> = known.unwrap_or(&[]).to_vec();
    there.extend(brought.chain(&own));
    let among = Among {
        properties: &there,
        is_all: known.is_some(),
    };
    let (scenarios, said) = check_scenarios(&parsed.file, &uses, among);
    diagnostics.extend(said);
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
    let mut properties = Vec::new();
    let mut files = Vec::new();
    for library in libraries.all {
        properties.extend(library.properties);
        files.push(library.shown);
    }
    properties.extend(own.into_iter().filter(|_| !is_partial));
    Loaded {
        properties,
        diagnostics,
        scenarios: if is_partial { Vec::new() } else { scenarios },
        scenario_count: parsed.file.scenarios.len(),
        used: files,
    }
}

/// A file that was read.
struct Library {
    shown: UsedFile,
    file: File,
    /// What it uses, by position.
    used: Vec<(usize, Range<usize>)>,
    properties: Vec<Property>,
}

struct Libraries<'r> {
    read: Reader<'r>,
    all: Vec<Library>,
    /// The paths of files that are being read.
    open: Vec<String>,
}

impl Libraries<'_> {
    /// Reads what a file uses; what cannot be is said where it is asked for.
    fn used(
        &mut self,
        from: &str,
        uses: &[UseDeclaration],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Vec<(usize, Range<usize>)> {
        let mut used = Vec::new();
        for declaration in uses {
            let path = resolved(from, &declaration.path.text);
            match self.used_library(&path) {
                Ok(position) => used.push((position, declaration.span.clone())),
                Err(problem) => {
                    let span = declaration.path.span.clone();
                    diagnostics.push(Diagnostic::error("cannot-use", span, problem));
                }
            }
        }
        used
    }

    /// The position of the file at a path, which is read when it was not.
    fn used_library(&mut self, path: &str) -> Result<usize, String> {
        if let Some(position) = self.open.iter().position(|open| open == path) {
            let chain = self.open.iter().skip(position).map(String::as_str);
            let chain: Vec<&str> = chain.chain([path]).collect();
            return Err(format!("`{path}` uses itself: {}", chain.join(" -> ")));
        }
        let known = self.all.iter().position(|l| l.shown.path == path);
        if let Some(position) = known {
            return self.sound(position);
        }
        if self.all.len() + self.open.len() >= FILES_MAX {
            return Err(format!("more than {FILES_MAX} files are used"));
        }
        let text =
            (self.read)(path).map_err(|problem| format!("cannot read `{path}`: {problem}"))?;
        let parsed = parse(&text);
        let mut diagnostics = parsed.diagnostics;
        self.open.push(path.to_owned());
        let used = self.used(path, &parsed.file.uses, &mut diagnostics);
        self.open.pop();
        let uses = Uses {
            seen: self.seen(&used),
            is_partial: used.len() < parsed.file.uses.len(),
        };
        let (mut properties, checked) = check_with(&parsed.file, &uses);
        diagnostics.extend(checked);
        diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
        for property in &mut properties {
            property.source_name = Some(path.into());
        }
        self.all.push(Library {
            shown: UsedFile {
                path: path.to_owned(),
                text,
                diagnostics,
            },
            file: parsed.file,
            used,
            properties,
        });
        self.sound(self.all.len() - 1)
    }

    fn sound(&self, position: usize) -> Result<usize, String> {
        let library = self.all.get(position);
        let library = library.filter(|l| l.shown.diagnostics.iter().any(Diagnostic::is_error));
        match library {
            Some(library) => Err(format!("`{}` has errors", library.shown.path)),
            None => Ok(position),
        }
    }

    /// The declarations that a file sees by its uses: the nearest last.
    fn seen<'u>(&'u self, used: &'u [(usize, Range<usize>)]) -> Vec<Used<'u>> {
        let mut seen = Vec::new();
        for (position, span) in used {
            let mut added = Vec::new();
            self.collect(*position, &mut added);
            let added = added.into_iter().rev();
            let declarations = added.filter_map(|position| self.all.get(position));
            seen.extend(declarations.map(|library| Used {
                declarations: &library.file.shared,
                span,
            }));
        }
        seen
    }

    /// A file and all that it uses, each once.
    fn collect(&self, position: usize, found: &mut Vec<usize>) {
        if found.contains(&position) {
            return;
        }
        found.push(position);
        let used = self.all.get(position).map_or(&[][..], |l| &l.used);
        for (position, _) in used.iter().rev() {
            self.collect(*position, found);
        }
    }
}

/// A path as the file at another names it, without `.` and needless `..`.
fn resolved(from: &str, path: &str) -> String {
    let directory = match from.rfind('/') {
        Some(end) if !path.starts_with('/') => from.get(..=end).unwrap_or(""),
        _ => "",
    };
    let whole = format!("{directory}{path}");
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match (part, parts.last()) {
            ("." | "", Some(_)) | (".", None) => {}
            ("..", Some(last)) if !matches!(*last, ".." | "") => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_path(from: &str, path: &str, expected: &str) {
        assert_eq!(resolved(from, path), expected, "{path} from {from}");
    }

    #[test]
    fn paths_are_those_of_the_file_that_names_them() {
        check_path("", "a.prop", "a.prop");
        check_path("", "./lib/a.prop", "lib/a.prop");
        check_path("lib/a.prop", "b.prop", "lib/b.prop");
        check_path("lib/a.prop", "../b.prop", "b.prop");
        check_path("../a.prop", "../b.prop", "../../b.prop");
        check_path("lib/a.prop", "/etc/b.prop", "/etc/b.prop");
        check_path("/x/a.prop", "b.prop", "/x/b.prop");
    }
}
