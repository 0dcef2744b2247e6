//! Which source file of the debug information a path means that a user has written.
//!
//! The text of the path is compared first (`is_path_of`). Where no file fits, the path is looked at
//! on this machine: links are followed, and the user's rules for moved directories are applied to
//! the compiled paths. A prefix that the compiler has mapped (`-fdebug-prefix-map`) cannot be
//! restored; a file is taken then for the one with the longest common end, if that is only one,
//! is not on this machine itself, and has its functions declared at the lines of this file.
//!
//! **Invariant**: all places that compare paths ask [`SymbolFile::is_source`] or
//! `Inner::files_named`, so that one path means the same file everywhere.

use crate::SymbolFile;
use crate::dwarf::files::FileIndex;
use crate::dwarf::{DebugInfo, DieRef, Visit};
use crate::file::Inner;
use crate::line::{file_index, is_path_of, resolved};
use std::path::Path;

/// The largest source file that is read to recognize it, in bytes.
const SOURCE_SIZE_MAX: u64 = 16 << 20;
/// The most functions that are compared with a source file, and the most entries looked at.
const FUNCTIONS_MAX: usize = 64;
const ENTRIES_MAX: usize = 1 << 16;

impl SymbolFile {
    /// Returns whether a path as written by the user means a file of the debug information.
    pub fn is_source(&self, written: &Path, known: &Path) -> bool {
        if is_path_of(written, known) {
            return true;
        }
        // Another file with the same name is the common case.
        let may_be = written.file_name() == known.file_name() || written.is_symlink();
        let text = written.to_str().filter(|_| may_be);
        text.is_some_and(|text| {
            let found = self.inner.paths_meant(text);
            found.iter().any(|path| Path::new(&**path) == known)
        })
    }
}

impl Inner {
    /// Returns the paths of the debug information that a written path means.
    pub(crate) fn paths_meant(&self, written: &str) -> Vec<Box<str>> {
        let search = || {
            let Some(files) = self.files() else {
                return Vec::new();
            };
            let direct = files.paths_named(written);
            match direct.is_empty() {
                true => self.paths_on_this_machine(files, written),
                false => direct,
            }
        };
        let version = self.settings().sources.version();
        let question = format!("{version} {written}");
        self.meant_paths.get_or_search(&*question, search)
    }

    fn paths_on_this_machine(&self, files: &FileIndex, written: &str) -> Vec<Box<str>> {
        let rules = &self.settings().sources;
        let written = Path::new(written);
        // A plain name is any file of that name.
        let has_directory = written.components().count() > 1;
        let present = has_directory.then(|| written.canonicalize().ok()).flatten();
        let mut known: Vec<&str> = Vec::new();
        for name in [Some(written), present.as_deref()].into_iter().flatten() {
            known.extend(files.paths_with_name_of(name));
        }
        known.sort_unstable();
        known.dedup();
        let is_meant = |path: &&&str| {
            let place = rules.place(Path::new(**path));
            let is_moved = place != Path::new(**path) && is_path_of(written, &place);
            is_moved
                || present.as_deref().is_some_and(|present| {
                    present == place || place.canonicalize().is_ok_and(|it| it == present)
                })
        };
        let found: Vec<Box<str>> = known
            .iter()
            .filter(is_meant)
            .map(|it| (**it).into())
            .collect();
        match present {
            Some(present) if found.is_empty() => {
                let mapped = self.mapped_path(files, &known, &present);
                mapped.into_iter().map(Box::from).collect()
            }
            _ => found,
        }
    }

    /// Returns the one of these paths whose prefix the compiler has mapped, so that it means a file
    /// on this machine.
    fn mapped_path<'a>(
        &self,
        files: &FileIndex,
        known: &[&'a str],
        present: &Path,
    ) -> Option<&'a str> {
        let rules = &self.settings().sources;
        let gone = known
            .iter()
            .filter(|path| !rules.place(Path::new(path)).exists());
        let mut by_length: Vec<(usize, &str)> = gone
            .map(|path| (common_end(Path::new(path), present), *path))
            .collect();
        by_length.sort_unstable_by_key(|(length, _)| std::cmp::Reverse(*length));
        let (length, best) = *by_length.first()?;
        let is_only = by_length.get(1).is_none_or(|(second, _)| *second < length);
        let size = std::fs::metadata(present).ok()?.len();
        if length == 0 || !is_only || size > SOURCE_SIZE_MAX {
            return None;
        }
        let text = std::fs::read(present).ok()?;
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        let info = self.debug_info()?;
        let found = files.files_at(&[best.into()]);
        let places = found.iter().flat_map(|found| found.places.iter());
        let mut compared = Compared::default();
        for &(unit, file) in places {
            compared.add_unit(info, unit, file, &lines);
        }
        compared.is_same().then_some(best)
    }
}

/// Returns the number of components that two paths have in common at their ends.
fn common_end(known: &Path, present: &Path) -> usize {
    let (Some(known), Some(present)) = (resolved(known), resolved(present)) else {
        return 0;
    };
    let pairs = known.iter().rev().zip(present.iter().rev());
    pairs.take_while(|(one, other)| one == other).count()
}

/// How many functions were compared with the lines that declare them.
#[derive(Debug, Default)]
struct Compared {
    count: usize,
    equal: usize,
}

impl Compared {
    fn add_unit(&mut self, info: &DebugInfo, unit: u32, file: u32, lines: &[&str]) {
        let Some(root) = info.root_of(unit) else {
            return;
        };
        let mut visited = 0;
        info.walk(root, |depth, die, entry| {
            visited += 1;
            let is_full = self.count >= FUNCTIONS_MAX || visited > ENTRIES_MAX;
            match entry.tag() {
                _ if depth == 0 && !is_full => Visit::Descend,
                gimli::DW_TAG_namespace
                | gimli::DW_TAG_structure_type
                | gimli::DW_TAG_class_type
                    if !is_full =>
                {
                    Visit::Descend
                }
                gimli::DW_TAG_subprogram if !is_full => {
                    self.add_function(info, die, u64::from(file), lines);
                    Visit::Skip
                }
                _ => Visit::Skip,
            }
        });
    }

    fn add_function(&mut self, info: &DebugInfo, die: DieRef, file: u64, lines: &[&str]) {
        let own = info.inherited(die, |_, _, entry| {
            let value = entry.attr_value(gimli::DW_AT_decl_file)?;
            value.udata_value().or(file_index(&value))
        });
        if own != Some(file) {
            return;
        }
        let line = info.inherited_unsigned(die, gimli::DW_AT_decl_line);
        let line = line.and_then(|line| line.checked_sub(1));
        let name = info.inherited_text(die, gimli::DW_AT_name);
        let (Some(line), Some(name)) = (line, name) else {
            return;
        };
        self.count += 1;
        let text = usize::try_from(line).ok().and_then(|line| lines.get(line));
        // The parameters of a template are not written there.
        let plain = name.split('<').next().unwrap_or_default();
        if !plain.is_empty() && text.is_some_and(|text| text.contains(plain)) {
            self.equal += 1;
        }
    }

    /// Returns whether the functions are those of the file; macros may have made a few.
    fn is_same(&self) -> bool {
        self.equal > 0 && self.equal * 4 >= self.count * 3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_compared_by_components() {
        for (known, present, expected) in [
            ("/build/it/src/a.c", "/home/me/it/src/a.c", 3),
            ("./src/a.c", "/home/me/src/a.c", 2),
            ("/build/x/../src/a.c", "/src/a.c", 2),
            ("/build/ba.c", "/src/a.c", 0),
        ] {
            let found = common_end(Path::new(known), Path::new(present));
            assert_eq!(found, expected, "{known} {present}");
        }
    }
}
