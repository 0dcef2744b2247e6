//! Functions with a word in their name, without an index of all names.
//!
//! A name that the source has is a text of the file, in `.debug_str` or among the
//! entries; so is a mangled one of Rust, which tells more than the source name. Units
//! without such a text have no such function, and are not read.
//!
//! Invariant: none is missing but those that the symbol table names, too. Where a name
//! could be put together in another way (from several files, from short forms), nothing
//! is said.

use super::DebugInfo;
use super::search::Wanted;
use crate::names::{demangle, may_be_shortened};
use memchr::memmem;

/// What is written for a namespace without a name.
pub(super) const UNNAMED_NAMESPACE: &str = "(anonymous namespace)";

impl DebugInfo {
    /// The entry addresses of the functions that may have this word in their name:
    /// `None` where the index of names is needed to tell.
    pub fn functions_with_word(&self, word: &str) -> Option<Vec<u64>> {
        if let Some(names) = self.kept_names() {
            let is_certain = !may_be_shortened(word);
            return is_certain.then(|| names.functions_with_word(word).collect());
        }
        let [source] = self.sources.as_slice() else {
            return None;
        };
        if may_be_shortened(word) && has_short_forms(source.texts().bytes()) {
            return None;
        }
        let of = self.found_by_search(word, Wanted::Word)?;
        let mut found = Vec::new();
        for (_, facts) in self.facts_of(&of.units) {
            let named = facts.functions_with_word(word, &of.origins);
            found.extend(named.map(|it| it.record.low_pc));
        }
        Some(found)
    }
}

/// Whether one of these texts is mangled in the new way of Rust.
fn has_short_forms(texts: &[u8]) -> bool {
    memmem::find_iter(texts, b"\0_R").any(|at| {
        let rest = texts.get(at + 1..).unwrap_or(&[]);
        let end = memchr::memchr(0, rest).unwrap_or(rest.len());
        let text = rest.get(..end).unwrap_or(rest);
        std::str::from_utf8(text).is_ok_and(|text| demangle(text).is_some())
    })
}
