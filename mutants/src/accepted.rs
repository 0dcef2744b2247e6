//! The edits that no test has to notice, with the reasons.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// The accepted edits.
pub struct Accepted {
    edits: BTreeSet<String>,
}

impl Accepted {
    /// Reads a file of paragraphs: comments with the reason, then the edits that it is for.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or a paragraph begins without a reason.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let mut edits = BTreeSet::new();
        let mut has_reason = false;
        for (number, line) in text.lines().enumerate() {
            if line.is_empty() {
                has_reason = false;
            } else if line.starts_with('#') {
                has_reason = true;
            } else if has_reason {
                edits.insert(line.to_owned());
            } else {
                bail!(
                    "{}:{}: no reason is given for: {line}",
                    path.display(),
                    number + 1
                );
            }
        }
        Ok(Self { edits })
    }

    /// Returns whether an edit is accepted.
    pub fn has(&self, edit: &str) -> bool {
        self.edits.contains(edit)
    }

    /// Returns the accepted edits that are among others.
    pub fn among<'a>(&'a self, others: &'a BTreeSet<String>) -> impl Iterator<Item = &'a String> {
        self.edits.intersection(others)
    }
}
