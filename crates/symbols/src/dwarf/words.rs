//! Search for functions with a word in their name, without an index of all names.
//!
//! A source name is a string of the file, in `.debug_str` or in the entries; so is a
//! mangled Rust name, which says more than the source name. Units without a string that
//! contains the word have no such function, and are not read.
//!
//! **Invariant:** no function is missed except those that the symbol table names, too. If a
//! name could be composed in another way (from several files, from abbreviations in mangled
//! names), there is no result.

use super::DebugInfo;
use super::search::Wanted;
use crate::names::{demangle, may_be_shortened};
use memchr::memmem;

/// The name shown for an anonymous namespace.
pub(super) const UNNAMED_NAMESPACE: &str = "(anonymous namespace)";

impl DebugInfo {
    /// Returns the entry addresses of the functions that may have this word in their name;
    /// `None` if the index of names is needed.
    pub fn functions_with_word(&self, word: &str) -> Option<Vec<u64>> {
        if let Some(names) = self.available_names() {
            let is_certain = !may_be_shortened(word);
            return is_certain.then(|| names.functions_with_word(word).collect());
        }
        let [source] = self.sources.as_slice() else {
            return None;
        };
        if may_be_shortened(word) && has_short_forms(source.texts().whole().bytes()) {
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

/// Returns whether a string has Rust's v0 mangling, which abbreviates words.
fn has_short_forms(texts: &[u8]) -> bool {
    memmem::find_iter(texts, b"\0_R").any(|at| {
        let rest = texts.get(at + 1..).unwrap_or(&[]);
        let end = memchr::memchr(0, rest).unwrap_or(rest.len());
        let text = rest.get(..end).unwrap_or(rest);
        std::str::from_utf8(text).is_ok_and(|text| demangle(text).is_some())
    })
}
