//! The text of source files, read once and kept.
//!
//! A file may have moved or changed since the program was built: both are
//! said, neither is an error.

use crate::view::SourceView;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

/// Files larger than this are not shown.
const SIZE_MAX_BYTES: u64 = 64 << 20;

/// A file's text.
#[derive(Debug)]
struct Text {
    lines: Vec<String>,
    modified: Option<SystemTime>,
}

/// The source files that have been asked for.
#[derive(Debug, Default)]
pub struct Sources {
    files: HashMap<PathBuf, Option<Rc<Text>>>,
    /// Where files were when they were compiled, and where they are now; the
    /// newest rule first.
    substitutions: Vec<(PathBuf, PathBuf)>,
}

impl Sources {
    /// Lines around `line` of `path`, `count` of them, with `line` marked.
    /// `built` is when the program was built, to point out newer files.
    pub fn around(
        &mut self,
        path: &Path,
        line: u32,
        count: u32,
        built: Option<SystemTime>,
    ) -> Option<SourceView> {
        let first = line.saturating_sub(count / 2).max(1);
        let mut view = self.lines(path, first, count, built)?;
        view.current = Some(line);
        Some(view)
    }

    /// `count` lines from `first` on.
    pub fn lines(
        &mut self,
        path: &Path,
        first: u32,
        count: u32,
        built: Option<SystemTime>,
    ) -> Option<SourceView> {
        let text = self.text(path)?;
        let start = (first.max(1) - 1) as usize;
        if start >= text.lines.len() {
            return None;
        }
        let newer = matches!((text.modified, built), (Some(m), Some(b)) if m > b);
        Some(SourceView {
            file: path.display().to_string(),
            first_line: first.max(1),
            lines: text
                .lines
                .iter()
                .skip(start)
                .take(count as usize)
                .cloned()
                .collect(),
            current: None,
            remark: newer
                .then(|| "the source is newer than the program; lines may not match".to_owned()),
        })
    }

    /// How many lines a file has.
    pub fn line_count(&mut self, path: &Path) -> Option<u32> {
        self.text(path).map(|text| text.lines.len() as u32)
    }

    /// Files below `from` are below `to` now; without `to` the rule goes. What
    /// was not found before is looked for again.
    pub fn substitute(&mut self, from: PathBuf, to: Option<PathBuf>) {
        self.substitutions.retain(|(known, _)| *known != from);
        if let Some(to) = to {
            self.substitutions.insert(0, (from, to));
        }
        self.files.clear();
    }

    /// Where a file is now: by the first rule for a directory above it.
    fn place(&self, path: &Path) -> PathBuf {
        let mut rules = self.substitutions.iter();
        let moved = rules.find_map(|(from, to)| Some(to.join(path.strip_prefix(from).ok()?)));
        moved.unwrap_or_else(|| path.to_owned())
    }

    fn text(&mut self, path: &Path) -> Option<Rc<Text>> {
        if let Some(known) = self.files.get(path) {
            return known.clone();
        }
        let text = read(&self.place(path)).map(Rc::new);
        self.files.insert(path.to_owned(), text.clone());
        text
    }
}

fn read(path: &Path) -> Option<Text> {
    let metadata = std::fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > SIZE_MAX_BYTES {
        return None;
    }
    let bytes = std::fs::read(path).ok()?;
    Some(Text {
        lines: String::from_utf8_lossy(&bytes)
            .lines()
            .map(str::to_owned)
            .collect(),
        modified: metadata.modified().ok(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_have_moved_are_found_by_a_rule() {
        let directory = tempfile::tempdir().unwrap();
        let new = directory.path().join("new");
        std::fs::create_dir_all(new.join("src")).unwrap();
        std::fs::write(new.join("src/a.c"), "one\n").unwrap();
        let mut sources = Sources::default();
        let compiled = Path::new("/build/it/src/a.c");
        assert_eq!(sources.line_count(compiled), None);
        for (from, to, expected) in [
            ("/build", Some(directory.path().to_owned()), None),
            ("/build/it", Some(new.clone()), Some(1)),
            // A directory, not the beginning of its name.
            ("/build/i", Some(PathBuf::from("/nowhere")), Some(1)),
            ("/build/it", None, None),
        ] {
            sources.substitute(from.into(), to);
            assert_eq!(sources.line_count(compiled), expected, "{from}");
        }
    }

    #[test]
    fn lines_around_a_line_stay_inside_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.c");
        std::fs::write(&path, "one\ntwo\nthree\nfour\n").unwrap();
        let mut sources = Sources::default();
        let view = sources.around(&path, 1, 3, None).unwrap();
        assert_eq!((view.first_line, view.current), (1, Some(1)));
        assert_eq!(view.lines, ["one", "two", "three"]);
        let view = sources
            .around(&path, 4, 3, Some(SystemTime::UNIX_EPOCH))
            .unwrap();
        assert_eq!(view.lines, ["three", "four"]);
        assert!(view.remark.is_some());
        assert_eq!(sources.around(&path, 40, 3, None), None);
        assert_eq!(sources.lines(Path::new("/nowhere.c"), 1, 3, None), None);
        assert_eq!(sources.line_count(&path), Some(4));
    }
}
