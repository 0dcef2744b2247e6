//! Property files that use other files.
//!
//! `use "locks.prop"` imports the declarations before the first property of that file
//! (events, propositions, formulas, functions), and its properties, and recursively the
//! files that it uses. A name denotes the nearest declaration: that of the property,
//! then of the file, then of the file used last.
//!
//! The caller reads files, once each; afterwards their text suffices, and is kept so
//! that diagnostics can show it. Paths are relative to the file that names them.

use crate::check::{Among, Used, Uses, check_scenarios, check_with};
use crate::lexer::tokenize;
use crate::parse::parse;
use crate::property::Property;
use crate::scenario::Scenario;
use crate::syntax::{File, UseDeclaration};
use crate::token::TokenKind;
use juror_fault::Diagnostic;
use std::ops::Range;

/// The maximum number of files that a property file may use, directly and indirectly.
const FILES_MAX: usize = 100;

/// The result of [`load_with`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Loaded {
    /// The properties without errors: those of the used files, in the order of use,
    /// then those of the source. The source name of each is the path of its file.
    pub properties: Vec<Property>,
    /// The diagnostics about the source, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// The scenarios of the source without errors.
    pub scenarios: Vec<Scenario>,
    /// The number of scenarios in the source, including those with errors.
    pub scenario_count: usize,
    /// The files that are used.
    pub used: Vec<UsedFile>,
}

/// A file that a property file uses.
#[derive(Debug, Clone, PartialEq)]
pub struct UsedFile {
    /// The path, as passed to the reader.
    pub path: String,
    /// The text.
    pub text: String,
    /// The diagnostics about it, in the order of its text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the text of a file by its path, or returns the reason why it cannot.
pub type Reader<'r> = &'r mut dyn FnMut(&str) -> Result<String, String>;

/// Parses and checks a source and the files that it uses. `path` is that of the source,
/// to which the paths of used files are relative; it is empty for a text that is not a
/// file.
///
/// The scenarios of the source may be for properties that are not in it.
pub fn load_with(path: &str, source: &str, read: Reader<'_>) -> Loaded {
    load_among(path, source, read, None)
}

/// Does the same with additional known properties, to which scenarios may refer.
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
    // If a used file is missing, names of the source may have another meaning.
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
    /// The files that it uses, by position.
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
    /// Reads the files that a file uses; failures are reported at the `use`.
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

    /// Returns the position of the file at a path, reading it if necessary.
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
        if diagnostics.iter().any(Diagnostic::is_error) && !begins_with_declaration(&text) {
            // A path may name any file of the user's: its text is not shown.
            return Err(format!(
                "`{path}` is no property file: it does not begin with a declaration"
            ));
        }
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

    /// Returns the declarations that a file sees by its uses, the nearest last.
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

    /// Collects a file and all that it uses, each once.
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

/// Returns true if the first words of a text are those of a declaration.
fn begins_with_declaration(text: &str) -> bool {
    const DECLARATIONS: [&str; 7] = [
        "event",
        "function",
        "let",
        "property",
        "proposition",
        "scenario",
        "use",
    ];
    let tokens = tokenize(text).tokens;
    let mut words = tokens.iter().map(|token| {
        let span = token.span.clone();
        (token.kind, text.get(span).unwrap_or(""))
    });
    let is_declaration = words
        .next()
        .is_some_and(|(_, word)| DECLARATIONS.contains(&word));
    let named = words.next().map(|(kind, _)| kind);
    is_declaration && matches!(named, Some(TokenKind::Word | TokenKind::Text))
}

/// Resolves a path relative to the file that names it, without `.` and redundant `..`.
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
