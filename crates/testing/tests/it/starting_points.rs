//! The table *Where to start reading* in ARCHITECTURE.md is true of the code.
//!
//! Each path in it exists, and each name that is said to be `in` a file is defined there. A path
//! that does not begin at the root is in the directory of the path before it, or in one above that.

use juror_testing::repository_directory;
use std::fs;
use std::path::{Path, PathBuf};

/// The words that begin a definition.
const DEFINITIONS: [&str; 6] = ["fn", "enum", "struct", "trait", "const", "static"];
/// The files that the root has.
const OF_ROOT: [&str; 5] = ["crates/", "docs/", "book/", "editors/", "CONTRIBUTING.md"];

/// Returns the rows of the table: the question, and the answer.
fn rows() -> Vec<(String, String)> {
    let page = fs::read_to_string(repository_directory().join("ARCHITECTURE.md"));
    let page = page.expect("the page is there");
    let section = page.split("## Where to start reading").nth(1);
    let section = section.and_then(|it| it.split("\n## ").next());
    let lines = section.expect("the section is there").lines();
    let rows = lines.filter_map(|line| {
        let mut cells = line
            .strip_prefix("| ")?
            .strip_suffix(" |")?
            .splitn(2, " | ");
        Some((cells.next()?.to_owned(), cells.next()?.to_owned()))
    });
    rows.skip(2).collect()
}

/// Returns the code spans of an answer, each with the text before it.
fn spans(answer: &str) -> Vec<(&str, &str)> {
    let pieces: Vec<&str> = answer.split('`').collect();
    let spans = pieces.chunks_exact(2);
    spans.map(|piece| (piece[0], piece[1])).collect()
}

fn is_path(span: &str) -> bool {
    let is_file = Path::new(span).extension().is_some() && !span.contains(' ');
    span.ends_with('/') || is_file
}

/// Returns where a path is.
fn found(span: &str, before: Option<&Path>) -> Option<PathBuf> {
    let root = repository_directory();
    if OF_ROOT.iter().any(|it| span.starts_with(it)) {
        return Some(root.join(span)).filter(|path| path.exists());
    }
    let directories = before?.ancestors().take_while(|it| *it != root.as_path());
    let mut paths = directories.map(|directory| directory.join(span));
    paths.find(|path| path.exists())
}

fn defines(file: &Path, name: &str) -> bool {
    let source = fs::read_to_string(file).unwrap_or_default();
    let has = |word: &str| {
        source.lines().any(|line| {
            let start = format!("{word} {name}");
            let rest = line
                .find(&start)
                .and_then(|at| line.get(at + start.len()..));
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        })
    };
    DEFINITIONS.iter().any(|word| has(word))
}

#[test]
fn each_path_exists_and_each_name_is_defined_there() {
    let rows = rows();
    assert!(rows.len() > 35, "{}", rows.len());
    for (question, answer) in &rows {
        let mut paths = 0;
        let mut last: Option<PathBuf> = None;
        let mut named: Vec<&str> = Vec::new();
        for (before, span) in spans(answer) {
            let before = before.trim();
            if !is_path(span) {
                // `one` and `other` in `file`
                if !matches!(before, "and" | "or") {
                    named.clear();
                }
                named.push(span);
                continue;
            }
            let path = found(span, last.as_deref());
            let path = path.unwrap_or_else(|| panic!("{question}: there is no `{span}`"));
            if before == "in" {
                assert!(!named.is_empty(), "{question}: nothing is in `{span}`");
                for name in &named {
                    assert!(
                        defines(&path, name),
                        "{question}: `{name}` is not in `{span}`"
                    );
                }
            }
            named.clear();
            paths += 1;
            last = Some(path);
        }
        assert!(paths > 0, "{question}: no path is named");
    }
}

#[test]
fn a_name_that_is_only_used_is_not_defined() {
    let own = repository_directory().join("crates/testing/tests/it/starting_points.rs");
    assert!(defines(&own, "defines") && defines(&own, "OF_ROOT"));
    for absent in ["define", "read_to_string", "OF_ROO"] {
        assert!(!defines(&own, absent), "{absent}");
    }
}
