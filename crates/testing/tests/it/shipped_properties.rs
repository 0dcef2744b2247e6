//! Every property that the repository ships is free of errors and warnings.

use juror_testing::repository_directory;
use std::fs;
use std::path::{Path, PathBuf};

/// The property files under a directory.
fn property_files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            property_files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "prop") {
            found.push(path);
        }
    }
}

#[track_caller]
fn check(directory: &str, least: usize) {
    let mut files = Vec::new();
    property_files(&repository_directory().join(directory), &mut files);
    assert!(files.len() >= least, "{directory}: {files:?}");
    for file in files {
        let source = fs::read_to_string(&file).unwrap();
        let (properties, diagnostics) = juror_language::load(&source);
        assert!(diagnostics.is_empty(), "{file:?}: {diagnostics:#?}");
        assert!(!properties.is_empty(), "{file:?} has no property");
        for property in properties {
            assert!(
                property.description.is_some(),
                "{file:?}: {}",
                property.name
            );
        }
    }
}

#[test]
fn the_examples() {
    check("examples", 3);
}

#[test]
fn the_c_library() {
    check("properties", 3);
}

#[test]
fn the_benchmark() {
    check("crates/testing/programs", 1);
}

/// Properties of the book are whole and without warnings; what is only a part
/// of one can be read. Blocks in `text` are neither.
#[test]
fn the_book() {
    let path = repository_directory().join("book/src/properties.md");
    let chapter = fs::read_to_string(path).unwrap();
    let blocks: Vec<&str> = chapter.split("\n```").skip(1).step_by(2).collect();
    assert!(blocks.len() > 8);
    for block in blocks {
        let source = block.trim_start_matches('\n');
        if block.starts_with("text") || source.starts_with("error[") {
            continue;
        }
        if source.contains("property ") {
            let (properties, diagnostics) = juror_language::load(source);
            assert!(diagnostics.is_empty(), "{source}\n{diagnostics:#?}");
            assert!(!properties.is_empty(), "{source}");
        } else {
            let parsed = juror_language::parse(source);
            assert!(parsed.diagnostics.is_empty(), "{source}\n{parsed:#?}");
        }
    }
}

#[test]
fn the_readme() {
    let readme = fs::read_to_string(repository_directory().join("README.md")).unwrap();
    let blocks = readme.split("```").skip(1).step_by(2);
    let properties: Vec<&str> = blocks
        .filter(|block| block.trim_start().starts_with("property "))
        .collect();
    assert_eq!(properties.len(), 1);
    for source in properties {
        let (_, diagnostics) = juror_language::load(source);
        assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    }
}
