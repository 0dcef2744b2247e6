//! How many edits of each file no test notices yet.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// The numbers of open edits, by file.
pub struct Open {
    counts: BTreeMap<String, usize>,
}

impl Open {
    /// Reads a file of lines `FILE COUNT`; `#` begins a comment.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or a line has another form.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let mut counts = BTreeMap::new();
        for (number, line) in text.lines().enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let parts = line.rsplit_once(' ');
            let Some((file, count)) = parts.and_then(|it| Some((it.0, it.1.parse().ok()?))) else {
                bail!("{}:{}: not `FILE COUNT`", path.display(), number + 1);
            };
            counts.insert(file.to_owned(), count);
        }
        Ok(Self { counts })
    }

    /// Compares what survived, by file, with the numbers of the files of the crates. Returns
    /// whether no file has more.
    pub fn judge(&self, crates: &[String], survived: &BTreeMap<String, usize>) -> bool {
        let is_tried = |file: &str| {
            crates
                .iter()
                .any(|name| file.starts_with(&format!("crates/{name}/")))
        };
        let known = self.counts.keys().filter(|file| is_tried(file));
        let files: std::collections::BTreeSet<&String> = known.chain(survived.keys()).collect();
        let mut is_right = true;
        for file in files {
            let count = |counts: &BTreeMap<String, usize>| counts.get(file).copied().unwrap_or(0);
            let (allowed, found) = (count(&self.counts), count(survived));
            if found > allowed {
                println!(
                    "{file}: {found} edits that no test notices, and mutants/open.txt has {allowed}"
                );
                is_right = false;
            } else if found < allowed {
                println!("{file} {found}: mutants/open.txt still has {allowed}");
            }
        }
        is_right
    }
}
