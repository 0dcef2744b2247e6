//! The text of source files, read again when a file has changed.
//!
//! A file may have moved or changed since the program was built: both are reported, neither is an
//! error. If the debug information has the checksum of a file, it decides, and a moved file is
//! searched for by it.

use crate::state::source_checksum::md5;
use juror_fault::CommandError;
use juror_highlight::{Highlighter, Language, Span};
use juror_symbols::SourceRules;
use juror_view::SourceView;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

/// Files larger than this are not shown.
const SIZE_MAX_BYTES: u64 = 64 << 20;

/// The number of parent directories in which a moved file is searched for.
const PARENTS_MAX: usize = 4;

/// The checksum of a file.
type Checksum = [u8; 16];

/// The version of a file: device, inode, size, and the times of its contents and of its data.
type Version = (u64, u64, u64, (i64, i64), (i64, i64));

/// The text of a file.
#[derive(Debug)]
struct Text {
    lines: Vec<String>,
    modified: Option<SystemTime>,
    version: Version,
    checksum: Checksum,
    /// The path where it was found instead.
    moved_to: Option<PathBuf>,
    /// Finds the tokens of lines, in a language that is known.
    highlighter: Option<RefCell<Highlighter>>,
}

impl Text {
    /// Returns the tokens of `count` lines from the one with the index `first` on.
    fn spans(&self, first: usize, count: usize) -> Vec<Vec<Span>> {
        let highlighter = self.highlighter.as_ref();
        highlighter.map_or_else(Vec::new, |it| {
            it.borrow_mut().spans(&self.lines, first, count)
        })
    }
}

/// The source files that were requested.
#[derive(Debug, Default)]
pub struct Sources {
    /// Whether the tokens of lines are left out.
    pub is_plain: bool,
    files: HashMap<PathBuf, Option<Rc<Text>>>,
    /// The checksums of files as compiled.
    checksums: HashMap<PathBuf, Checksum>,
    /// The compiled directories and their present places; the newest rule first.
    substitutions: Vec<(PathBuf, PathBuf)>,
    /// The same rules, for the paths of locations.
    rules: SourceRules,
}

impl Sources {
    /// Returns `count` lines around `line` of `path`, with `line` marked. `built` is the build time
    /// of the program, to report newer files.
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

    /// Returns `count` lines from `first` on.
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
        let remark = self.remark(path, &text, built);
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
            remark,
            spans: if self.is_plain {
                Vec::new()
            } else {
                text.spans(start, count as usize)
            },
        })
    }

    /// Sets the checksum of a file at the program's build; to be called before it is shown.
    pub fn expect(&mut self, path: &Path, checksum: Option<Checksum>) {
        let Some(checksum) = checksum else { return };
        let known = self.checksums.insert(path.to_owned(), checksum);
        // It may be found by its checksum now.
        if known != Some(checksum) && matches!(self.files.get(path), Some(None)) {
            self.files.remove(path);
        }
    }

    /// Returns the remark on a file that has changed or moved.
    fn remark(&self, path: &Path, text: &Text, built: Option<SystemTime>) -> Option<String> {
        match self.checksums.get(path) {
            Some(expected) if *expected != text.checksum => Some(
                "the source differs from the one that the program was built from; lines may not \
                 match"
                    .to_owned(),
            ),
            Some(_) => {
                let to = text.moved_to.as_ref()?;
                Some(format!("the source has moved to {}", to.display()))
            }
            None => {
                let newer = matches!((text.modified, built), (Some(m), Some(b)) if m > b);
                let remark = "the source is newer than the program; lines may not match";
                newer.then(|| remark.to_owned())
            }
        }
    }

    /// Returns the present path of a file, if it is found.
    pub fn present_path(&mut self, path: &Path) -> Option<PathBuf> {
        let text = self.text(path)?;
        Some(text.moved_to.clone().unwrap_or_else(|| self.place(path)))
    }

    /// Returns all lines of a file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn whole(&mut self, path: &Path) -> Result<String, CommandError> {
        let unreadable =
            || CommandError::new(format!("the file {} cannot be read", path.display()));
        let text = self.text(path).ok_or_else(unreadable)?;
        let lines = text.lines.iter().flat_map(|line| [line.as_str(), "\n"]);
        Ok(lines.collect())
    }

    /// Returns the number of lines of a file.
    pub fn line_count(&mut self, path: &Path) -> Option<u32> {
        self.text(path).map(|text| text.lines.len() as u32)
    }

    /// Maps files below `from` to `to`; without `to`, deletes the rule. Files that were not found
    /// are searched for again.
    pub fn substitute(&mut self, from: PathBuf, to: Option<PathBuf>) {
        self.substitutions.retain(|(known, _)| *known != from);
        if let Some(to) = to {
            self.substitutions.insert(0, (from, to));
        }
        self.apply_rules();
    }

    /// Uses these rules for the paths of locations, too.
    pub fn share(&mut self, rules: &SourceRules) {
        self.rules = rules.clone();
        self.apply_rules();
    }

    fn apply_rules(&mut self) {
        self.files.clear();
        self.rules.set(self.substitutions.clone());
    }

    /// Returns the rules: from and to.
    pub fn substitutions(&self) -> impl Iterator<Item = (&Path, &Path)> {
        let rules = self.substitutions.iter();
        rules.map(|(from, to)| (from.as_path(), to.as_path()))
    }

    /// Deletes the rule for a directory, or all without one.
    pub fn forget_substitution(&mut self, from: &str) {
        let is_meant = |known: &Path| from.is_empty() || known == Path::new(from);
        self.substitutions.retain(|(known, _)| !is_meant(known));
        self.apply_rules();
    }

    /// Returns the present path of a file: by the first rule for a directory above it.
    fn place(&self, path: &Path) -> PathBuf {
        self.rules.place(path)
    }

    fn text(&mut self, path: &Path) -> Option<Rc<Text>> {
        let place = self.place(path);
        let present = version(&place);
        match self.files.get(path) {
            // The file is edited and compiled while the program is debugged.
            Some(Some(known)) => {
                let moved = known.moved_to.as_deref();
                let now = present.or_else(|| version(moved?));
                let is_here = moved.is_none() || present.is_none();
                if is_here && now == Some(known.version) {
                    return Some(Rc::clone(known));
                }
            }
            Some(None) if present.is_none() => return None,
            _ => {}
        }
        let text = read(&place).or_else(|| self.moved(path));
        let text = text.map(Rc::new);
        self.files.insert(path.to_owned(), text.clone());
        text
    }

    /// Finds a moved file: in or above the present directory, under the end of its path, with the
    /// same contents.
    fn moved(&self, path: &Path) -> Option<Text> {
        let expected = self.checksums.get(path)?;
        let present = std::env::current_dir().ok()?;
        moved_below(path, expected, &present)
    }
}

fn moved_below(path: &Path, expected: &Checksum, present: &Path) -> Option<Text> {
    let ends = std::iter::successors(path.strip_prefix("/").ok(), |end| {
        let mut components = end.components();
        components.next()?;
        let shorter = components.as_path();
        (!shorter.as_os_str().is_empty()).then_some(shorter)
    });
    let mut places = ends.flat_map(|end| {
        let directories = present.ancestors().take(1 + PARENTS_MAX);
        directories.map(move |directory| directory.join(end))
    });
    places.find_map(|place| {
        let mut text = read(&place).filter(|text| text.checksum == *expected)?;
        text.moved_to = Some(place);
        Some(text)
    })
}

/// Returns the version of a regular file.
fn version(path: &Path) -> Option<Version> {
    let data = std::fs::metadata(path).ok()?;
    data.is_file().then(|| version_of(&data))
}

fn version_of(data: &Metadata) -> Version {
    let contents = (data.mtime(), data.mtime_nsec());
    let changed = (data.ctime(), data.ctime_nsec());
    (data.dev(), data.ino(), data.size(), contents, changed)
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
        version: version_of(&metadata),
        checksum: md5(&bytes),
        moved_to: None,
        highlighter: Language::of_file(path).map(|it| RefCell::new(Highlighter::new(it))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_have_moved_or_changed_are_told_by_their_checksum() {
        let directory = tempfile::tempdir().unwrap();
        let deep = directory.path().join("here/deep");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::create_dir_all(directory.path().join("src")).unwrap();
        std::fs::write(deep.join("a.c"), "another\n").unwrap();
        let place = directory.path().join("src/a.c");
        std::fs::write(&place, "one\n").unwrap();
        let compiled = Path::new("/nowhere/build/src/a.c");
        let expected = md5(b"one\n");
        let found = moved_below(compiled, &expected, &deep).unwrap();
        assert_eq!(
            (found.lines, found.moved_to),
            (vec!["one".to_owned()], Some(place.clone()))
        );
        assert!(moved_below(compiled, &md5(b"two\n"), &deep).is_none());

        let long_ago = Some(SystemTime::UNIX_EPOCH);
        let mut sources = Sources::default();
        let mut remark = |checksum: Option<Checksum>| {
            sources.expect(&place, checksum);
            sources.around(&place, 1, 3, long_ago).unwrap().remark
        };
        assert!(remark(None).unwrap().contains("is newer"));
        assert_eq!(remark(Some(expected)), None);
        assert!(
            remark(Some(md5(b"two\n")))
                .unwrap()
                .contains("differs from the one")
        );
    }

    #[test]
    fn a_file_that_has_changed_is_read_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.c");
        let mut sources = Sources::default();
        let mut text = || sources.whole(&path).ok();
        assert_eq!(text(), None);
        for contents in ["one\n", "two\n", "three\n"] {
            std::fs::write(&path, contents).unwrap();
            assert_eq!(text().as_deref(), Some(contents));
        }
        let other = directory.path().join("b.c");
        std::fs::write(&other, "other\n").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert_eq!(text().as_deref(), Some("other\n"));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(text(), None);
    }

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
            // A whole directory name, not a prefix of one.
            ("/build/i", Some(PathBuf::from("/nowhere")), Some(1)),
            ("/build/it", None, None),
        ] {
            sources.substitute(from.into(), to);
            assert_eq!(sources.line_count(compiled), expected, "{from}");
        }
    }

    #[test]
    fn lines_have_the_tokens_that_began_before_them() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.c");
        std::fs::write(&path, "/* one\n two\n three */ int n;\n").unwrap();
        let mut sources = Sources::default();
        let spans = sources.lines(&path, 2, 2, None).unwrap().spans;
        let lengths = |line: &[Span]| -> Vec<usize> { line.iter().map(|it| it.end).collect() };
        let lengths: Vec<_> = spans.iter().map(|line| lengths(line)).collect();
        assert_eq!(lengths, [vec![4], vec![9, 13]]);
        sources.is_plain = true;
        assert!(sources.lines(&path, 2, 2, None).unwrap().spans.is_empty());
        let unknown = directory.path().join("a.txt");
        std::fs::write(&unknown, "int\n").unwrap();
        sources.is_plain = false;
        assert!(
            sources
                .lines(&unknown, 1, 1, None)
                .unwrap()
                .spans
                .is_empty()
        );
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
