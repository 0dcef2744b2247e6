//! Whether a word stands in no name at all, which is known without reading entries.
//!
//! A name that the source has is a text of the file, in `.debug_str` or among the
//! entries. Invariant: where a name could be put together in another way (from
//! mangled ones, from several files), nothing is said to be absent.

use super::DebugInfo;
use super::entries::EntrySection;
use crate::names::demangle;
use gimli::Section as _;
use memchr::memmem;

/// So many bytes are read at once.
const CHUNK_SIZE: usize = 1 << 18;

/// What is written for a namespace without a name.
pub(super) const UNNAMED_NAMESPACE: &str = "(anonymous namespace)";

impl DebugInfo {
    /// Whether it is certain that no entry has a name that contains this word.
    pub fn lacks_word(&self, word: &str) -> bool {
        let [source] = self.sources.as_slice() else {
            return false;
        };
        // What the index says of all names is found sooner there.
        if self.kept_names().is_some() {
            return false;
        }
        let Some(has_inline) = self.has_names_inline() else {
            return false;
        };
        let section = source.dwarf.debug_str.reader();
        let texts = section.bytes();
        if UNNAMED_NAMESPACE.contains(word)
            || memmem::find(texts, word.as_bytes()).is_some()
            || has_mangled(texts)
        {
            return false;
        }
        let sections = [EntrySection::Info, EntrySection::Types];
        let lacks = |section: EntrySection| {
            let entries = source.entries(section);
            let mut starts = (0..entries.size()).step_by(CHUNK_SIZE);
            starts.all(|start| {
                // It may begin in one part and end in the next.
                let size = (CHUNK_SIZE + word.len()).min(entries.size() - start);
                let part = entries.part(start, size);
                part.is_some_and(|part| memmem::find(&part, word.as_bytes()).is_none())
            })
        };
        !has_inline || sections.into_iter().all(lacks)
    }
}

/// Whether one of these texts is a mangled name.
fn has_mangled(texts: &[u8]) -> bool {
    memmem::find_iter(texts, b"\0_").any(|at| {
        let rest = texts.get(at + 1..).unwrap_or(&[]);
        let end = memchr::memchr(0, rest).unwrap_or(rest.len());
        let text = rest.get(..end).unwrap_or(rest);
        let is_like_one = matches!(text.get(1), Some(b'Z' | b'R'));
        is_like_one && std::str::from_utf8(text).is_ok_and(|text| demangle(text).is_some())
    })
}
