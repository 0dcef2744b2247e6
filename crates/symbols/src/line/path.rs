//! Comparison of the paths of source files.

use std::ffi::OsStr;
use std::path::{Component, Path};

/// Returns whether a path as written by the user means a file of the debug information: it is
/// the path, or its end.
///
/// The compiler joins its directory with the file name as given (`/build/../src/main.c`),
/// while editors send absolute paths without `..` (`/src/main.c`). So paths are also compared
/// after `.` and `..` are resolved. They are resolved in the text, because the directories may
/// no longer exist, or be those of another machine.
pub fn is_path_of(written: &Path, known: &Path) -> bool {
    if known.ends_with(written) {
        return true;
    }
    let has_parent = |path: &Path| path.components().any(|it| it == Component::ParentDir);
    if !has_parent(known) && !has_parent(written) {
        return false;
    }
    let (Some(written), Some(known)) = (resolved(written), resolved(known)) else {
        return false;
    };
    known.ends_with(&written)
}

/// Returns the components of a path with `.` and `..` resolved. `None` if the result is empty or
/// begins with a `..` that has nothing before it.
pub(crate) fn resolved(path: &Path) -> Option<Vec<&OsStr>> {
    let mut found: Vec<&OsStr> = Vec::new();
    let mut is_absolute = false;
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                // The parent of the root is the root.
                let is_at_root = is_absolute && found.len() == 1;
                if !is_at_root {
                    found.pop()?;
                }
            }
            Component::RootDir | Component::Prefix(_) => {
                is_absolute = true;
                found.push(component.as_os_str());
            }
            Component::Normal(name) => found.push(name),
        }
    }
    (!found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_meant_by_its_ends() {
        for (known, written, expected) in [
            ("/src/main.c", "main.c", true),
            ("/src/main.c", "src/main.c", true),
            ("/src/main.c", "/src/main.c", true),
            ("/src/main.c", "./main.c", false),
            ("/src/main.c", "ain.c", false),
            ("/src/main.c", "/main.c", false),
            ("/src/main.c", "other/main.c", false),
            // The compiler's directory and a name that leaves it.
            ("/x/build/../src/main.c", "/x/src/main.c", true),
            ("/x/build/../src/main.c", "x/src/main.c", true),
            ("/x/build/../src/main.c", "../src/main.c", true),
            ("/x/build/../src/main.c", "src/main.c", true),
            ("/x/build/../src/main.c", "/x/build/../src/main.c", true),
            ("/x/build/../src/main.c", "/x/build/src/main.c", false),
            ("/x/build/../src/main.c", "/src/main.c", false),
            ("/x/build/a/../../src/main.c", "/x/src/main.c", true),
            ("/../src/main.c", "/src/main.c", true),
            // The user's.
            ("/x/src/main.c", "/x/build/../src/main.c", true),
            ("/x/src/main.c", "build/../src/main.c", true),
            ("/x/src/main.c", "build/../main.c", true),
            ("/x/src/main.c", "/x/src/../main.c", false),
            ("/x/src/main.c", "/x/./src/main.c", true),
            ("../src/main.c", "src/main.c", true),
            ("../src/main.c", "/src/main.c", false),
            ("../src/main.c", "a/../main.c", false),
            ("/x/src/main.c", "../main.c", false),
            ("/x/src/main.c", "a/..", false),
            ("a/..", "..", true),
        ] {
            let found = is_path_of(Path::new(written), Path::new(known));
            assert_eq!(found, expected, "{written} for {known}");
        }
    }
}
