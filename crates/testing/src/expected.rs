//! Expected outputs that stand in files: transcripts, and the sessions that documents show.
//!
//! With the environment variable `JUROR_UPDATE` set, a test that finds another output
//! writes the file anew instead of failing. The change is to be read with `git diff`
//! before it is committed.
//!
//! Invariant: a file is read, changed and written under a lock, so that tests that run
//! side by side may update parts of one file.

use std::fs::{self, File};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

/// Tells whether expectations are to be written anew: `JUROR_UPDATE` is set and not empty.
pub fn is_update() -> bool {
    std::env::var_os("JUROR_UPDATE").is_some_and(|value| !value.is_empty())
}

/// A file with an expected output, or with several.
#[derive(Debug)]
pub struct Expected {
    path: PathBuf,
}

impl Expected {
    /// The file at this path.
    pub fn file(path: impl Into<PathBuf>) -> Expected {
        Expected { path: path.into() }
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what the file says.
    ///
    /// # Panics
    ///
    /// The file cannot be read.
    #[track_caller]
    pub fn text(&self) -> String {
        match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) => panic!("{}: {error}", self.path.display()),
        }
    }

    /// Compares a part of the file with what was given, byte by byte. In an update the
    /// part is replaced.
    ///
    /// # Panics
    ///
    /// They differ, and this is no update; the message has both, and `what`.
    #[track_caller]
    pub fn check_part(&self, shown: &str, given: &str, what: &str) {
        if shown == given {
            return;
        }
        if is_update() {
            return self.replace(shown, given);
        }
        panic!(
            "{}: {what}\n--- shown\n{shown}\n--- is\n{given}\n\
             (JUROR_UPDATE=1 writes the file anew)",
            self.path.display()
        );
    }

    /// Replaces a part of the file where it stands first; all of it if it is the part.
    ///
    /// # Panics
    ///
    /// The file lacks the part, or cannot be written.
    #[track_caller]
    pub fn replace(&self, part: &str, by: &str) {
        self.change(|text| {
            assert!(
                text.contains(part),
                "{} has no\n{part}",
                self.path.display()
            );
            text.replacen(part, by, 1)
        });
    }

    /// Writes the file anew.
    ///
    /// # Panics
    ///
    /// The file cannot be read or written.
    #[track_caller]
    pub fn change(&self, change: impl FnOnce(&str) -> String) {
        let open = || File::options().read(true).write(true).open(&self.path);
        let written = open().and_then(|mut file| {
            file.lock()?;
            let mut text = String::new();
            file.read_to_string(&mut text)?;
            let changed = change(&text);
            if changed != text {
                file.rewind()?;
                file.set_len(0)?;
                file.write_all(changed.as_bytes())?;
            }
            Ok(())
        });
        if let Err(error) = written {
            panic!("{}: {error}", self.path.display());
        }
    }
}

/// Returns the lines that were given, and instead of each one that is the same as a line
/// shown, by `key`, the line as it was shown: an update changes nothing else.
pub fn updated_lines<K: PartialEq>(
    shown: &[&str],
    given: &[&str],
    key: impl Fn(&str) -> K,
) -> Vec<String> {
    let keys = |lines: &[&str]| lines.iter().map(|line| key(line)).collect::<Vec<K>>();
    let (shown_keys, given_keys) = (keys(shown), keys(given));
    // The length of the longest common part of what follows two positions.
    let mut common = vec![vec![0_u32; given.len() + 1]; shown.len() + 1];
    for old in (0..shown.len()).rev() {
        for new in (0..given.len()).rev() {
            common[old][new] = if shown_keys[old] == given_keys[new] {
                common[old + 1][new + 1] + 1
            } else {
                common[old + 1][new].max(common[old][new + 1])
            };
        }
    }
    let mut lines = Vec::new();
    let mut old = 0;
    for (new, line) in given.iter().enumerate() {
        while old < shown.len()
            && shown_keys[old] != given_keys[new]
            && common[old + 1][new] >= common[old][new + 1]
        {
            old += 1;
        }
        let is_kept = old < shown.len() && shown_keys[old] == given_keys[new];
        lines.push(if is_kept {
            shown[old].to_owned()
        } else {
            (*line).to_owned()
        });
        old += usize::from(is_kept);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_keeps_the_lines_that_are_the_same() {
        #[track_caller]
        fn check(shown: &[&str], given: &[&str], expected: &[&str]) {
            let key = |line: &str| line.to_lowercase();
            assert_eq!(updated_lines(shown, given, key), expected);
        }
        check(&["A", "B"], &["a", "b"], &["A", "B"]);
        check(&["A", "B", "C"], &["a", "c"], &["A", "C"]);
        check(&["A", "C"], &["a", "b", "c", "d"], &["A", "b", "C", "d"]);
        check(&["X", "A", "Y", "B"], &["b", "a", "b"], &["b", "A", "B"]);
        check(&[], &["a"], &["a"]);
        check(&["A"], &[], &[]);
    }

    #[test]
    fn a_part_of_a_file_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("page.md");
        fs::write(&path, "one\ntwo\ntwo\n").unwrap();
        let page = Expected::file(&path);
        page.replace("two\n", "three lines\n");
        assert_eq!(page.text(), "one\nthree lines\ntwo\n");
        page.replace(&page.text(), "four\n");
        assert_eq!(page.text(), "four\n");
        page.check_part("four", "four", "the same");
    }
}
