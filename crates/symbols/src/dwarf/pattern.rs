//! Patterns for names in DIEs: in the raw bytes of a section, and in attribute values.

use super::borrowed::Slice;
use super::facts::is_indexed;
use crate::names::tail;
use aho_corasick::{Span, packed};
use gimli::{Abbreviation, AttributeValue, DwAt};
use memchr::memmem;

/// The number of offset bits within a page; pages serve as a first filter.
const PAGE_BITS: u32 = 12;
/// The number of words of the page bitmap (8 KiB); page numbers wrap around.
const PAGE_WORDS: usize = 1 << 10;
/// The maximum number of distinct upper bytes of offsets that are searched as substrings;
/// with more, each offset is tested.
const UPPER_MAX: usize = 48;
/// The number of strings with a word that are searched in any case.
const RANGES_MIN: usize = 4_096;
/// If more than one string in this many contains a word, almost every unit has one.
const RANGES_PART_MAX: usize = 16;

/// A set of offsets in a section.
pub(super) struct Offsets {
    /// Disjoint ranges (first, last), ascending.
    ranges: Vec<(u32, u32)>,
    /// A searcher for the upper three bytes of the offsets if there are few; this is
    /// faster.
    upper: Option<packed::Searcher>,
    /// A bitmap of the pages that the ranges touch, with several pages per bit: it rejects
    /// most bytes with one load and without a mispredicted branch.
    pages: Box<[u64; PAGE_WORDS]>,
}

impl Offsets {
    pub fn new(mut ranges: Vec<(u32, u32)>) -> Offsets {
        ranges.sort_unstable();
        ranges.dedup_by(|next, kept| {
            let is_inside = next.0 <= kept.1;
            kept.1 = if is_inside {
                kept.1.max(next.1)
            } else {
                kept.1
            };
            is_inside
        });
        let mut pages = Box::new([0; PAGE_WORDS]);
        for (first, last) in &ranges {
            for page in first >> PAGE_BITS..=last >> PAGE_BITS {
                let (word, bit) = page_bit(page);
                if let Some(word) = pages.get_mut(word) {
                    *word |= bit;
                }
            }
        }
        let upper = upper_bytes(&ranges).and_then(packed::Searcher::new);
        Offsets {
            ranges,
            upper,
            pages,
        }
    }

    /// Returns the offsets in `.debug_str` at which a string with the word may begin;
    /// `None` if there are so many that reading everything is faster.
    pub fn of_texts_with(texts: &[u8], word: &str) -> Option<Offsets> {
        let count = memchr::memchr_iter(0, texts).count();
        let most = RANGES_MIN.max(count / RANGES_PART_MAX);
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for at in memmem::find_iter(texts, word) {
            let before = texts.get(..at).unwrap_or(&[]);
            let start = memchr::memrchr(0, before).map_or(0, |end| end + 1);
            ranges.push((start as u32, at as u32));
            if ranges.len() > most {
                return None;
            }
        }
        Some(Offsets::new(ranges))
    }

    /// Returns the offsets in `.debug_str` at which a string with this last component may
    /// begin. Strings share their ends, so the name may be the end of a longer string.
    pub fn of_texts(texts: &[u8], name: &str) -> Offsets {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        let has_tail = |text: &[u8]| tail(&String::from_utf8_lossy(text)) == name;
        for at in memmem::find_iter(texts, name) {
            let (before, rest) = texts.split_at(at);
            if rest.get(name.len()).copied().is_some_and(is_word) {
                continue;
            }
            let end = memchr::memchr(0, rest).unwrap_or(rest.len());
            let start = memchr::memrchr(0, before).map_or(0, |end| end + 1);
            let whole = texts.get(start..at + end).unwrap_or(rest);
            // The name follows scopes, and may be the end of a string with more scopes.
            let is_behind_scopes = at > start
                && before.last().is_some_and(|byte| !is_word(*byte))
                && (has_tail(whole) || memmem::find(whole, b"operator").is_some());
            if is_behind_scopes {
                ranges.push((start as u32, at as u32));
            } else if rest
                .get(..end)
                .is_some_and(|it| has_tail(it) && !is_only_an_end(it))
            {
                ranges.push((at as u32, at as u32));
            }
        }
        Offsets::new(ranges)
    }

    #[inline]
    fn may_contain(&self, offset: u32) -> bool {
        let (word, bit) = page_bit(offset >> PAGE_BITS);
        self.pages.get(word).is_some_and(|word| word & bit != 0)
    }

    pub fn contains(&self, offset: u32) -> bool {
        let behind = self.ranges.partition_point(|(first, _)| *first <= offset);
        let range = behind.checked_sub(1).and_then(|at| self.ranges.get(at));
        range.is_some_and(|(_, last)| offset <= *last)
    }
}

/// Returns whether a string closes brackets that it does not open, so that it is only the
/// end of a name, such as that of a template instantiated with a lambda. Names with an
/// operator or a character literal may contain other brackets.
fn is_only_an_end(text: &[u8]) -> bool {
    let (mut angles, mut others, mut before) = (0_u32, 0_u32, 0);
    let mut closes_more = false;
    for &byte in text {
        let open = match byte {
            b'(' | b'[' | b'{' => {
                others += 1;
                Some(others)
            }
            b')' | b']' | b'}' => {
                let left = others.checked_sub(1);
                others = left.unwrap_or(0);
                left
            }
            // In parentheses it may be a comparison.
            b'<' if others == 0 => {
                angles += 1;
                Some(angles)
            }
            b'>' if others == 0 && before != b'-' => {
                let left = angles.checked_sub(1);
                angles = left.unwrap_or(0);
                left
            }
            _ => Some(0),
        };
        closes_more |= open.is_none();
        before = byte;
    }
    closes_more && !text.contains(&b'\'') && memmem::find(text, b"operator").is_none()
}

/// Returns the upper three bytes of the offsets in these ranges, as stored in the file;
/// `None` if there are many.
fn upper_bytes(ranges: &[(u32, u32)]) -> Option<Vec<[u8; 3]>> {
    let mut found: Vec<[u8; 3]> = Vec::new();
    for (first, last) in ranges {
        for upper in first >> 8..=last >> 8 {
            let [a, b, c, _] = upper.to_le_bytes();
            if found.last() != Some(&[a, b, c]) {
                found.push([a, b, c]);
            }
            if found.len() > UPPER_MAX {
                return None;
            }
        }
    }
    Some(found)
}

/// Returns the word and the bit of a page.
#[inline]
fn page_bit(page: u32) -> (usize, u64) {
    (page as usize / 64 % PAGE_WORDS, 1 << (page % 64))
}

/// The criterion of a search for DIEs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sought {
    /// The last component of the name.
    Tail,
    /// A word in the name of a DIE that has code or contains DIEs with code.
    Word,
    /// The origin.
    Origin,
}

/// A pattern for DIEs.
pub(super) struct Pattern<'a> {
    pub offsets: Offsets,
    /// The searcher for names stored in the DIEs themselves.
    pub inline: Option<memmem::Finder<'a>>,
    pub sought: Sought,
}

impl Pattern<'_> {
    /// Reports every position of a possible match, in no order.
    pub fn find(&self, part: &[u8], mut tell: impl FnMut(usize)) {
        match &self.offsets.upper {
            _ if self.offsets.ranges.is_empty() => {}
            Some(upper) => self.find_upper(upper, part, &mut tell),
            None => self.find_offsets(part, &mut tell),
        }
        let Some(inline) = &self.inline else { return };
        for at in inline.find_iter(part) {
            let behind = part.get(at + inline.needle().len());
            if self.sought == Sought::Word || !behind.copied().is_some_and(is_word) {
                tell(at);
            }
        }
    }

    fn find_upper(&self, upper: &packed::Searcher, part: &[u8], tell: &mut impl FnMut(usize)) {
        let mut rest = Span::from(1..part.len().max(1));
        while let Some(found) = upper.find_in(part, rest) {
            // The lowest byte precedes; the next match may overlap with this one.
            let at = found.start() - 1;
            rest.start = found.start() + 1;
            let bytes = part.get(at..).and_then(|it| it.first_chunk());
            let offset = bytes.map(|bytes| u32::from_le_bytes(*bytes));
            if offset.is_some_and(|offset| self.offsets.contains(offset)) {
                tell(at);
            }
        }
    }

    fn find_offsets(&self, part: &[u8], tell: &mut impl FnMut(usize)) {
        for (at, bytes) in part.array_windows().enumerate() {
            let offset = u32::from_le_bytes(*bytes);
            if self.offsets.may_contain(offset) && self.offsets.contains(offset) {
                tell(at);
            }
        }
    }
}

impl Pattern<'_> {
    /// Returns whether a DIE of the unit matches. Entries after damage are never read.
    pub fn is_in<'a>(&self, unit: &gimli::Unit<Slice<'a>>) -> gimli::Result<bool> {
        let mut raw = unit.entries_raw(None)?;
        while !raw.is_empty() {
            let Some(abbreviation) = raw.read_abbreviation()? else {
                continue;
            };
            let mut unread = abbreviation.attributes();
            if !self.is_about_entry(abbreviation) {
                raw.skip_attributes(unread)?;
                continue;
            }
            while let Some(at) = unread.iter().position(|it| self.is_about(it.name())) {
                let (skipped, rest) = unread.split_at(at);
                raw.skip_attributes(skipped)?;
                let Some((wanted, rest)) = rest.split_first() else {
                    break;
                };
                if self.is_met_by(&raw.read_attribute(*wanted)?.raw_value()) {
                    return Ok(true);
                }
                unread = rest;
            }
            raw.skip_attributes(unread)?;
        }
        Ok(false)
    }

    fn is_about_entry(&self, entry: &Abbreviation) -> bool {
        let tag = entry.tag();
        if self.sought == Sought::Word {
            // The qualified name of a function begins with the names of its scopes.
            let is_scope = tag == gimli::DW_TAG_subprogram || entry.has_children();
            return is_scope && is_indexed(tag);
        }
        is_indexed(tag) || is_static_member(entry)
    }

    fn is_about(&self, attribute: DwAt) -> bool {
        match self.sought {
            Sought::Tail => attribute == gimli::DW_AT_name,
            Sought::Word => matches!(
                attribute,
                gimli::DW_AT_name | gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name
            ),
            Sought::Origin => matches!(
                attribute,
                gimli::DW_AT_abstract_origin | gimli::DW_AT_specification
            ),
        }
    }

    /// Returns whether an attribute value matches.
    pub fn is_met_by(&self, value: &AttributeValue<Slice<'_>>) -> bool {
        let offset = match value {
            AttributeValue::DebugStrRef(offset) => offset.0,
            AttributeValue::DebugInfoRef(offset) => offset.0,
            AttributeValue::String(text) => {
                let inline = self.inline.as_ref();
                return inline.is_some_and(|it| it.find(text.slice()).is_some());
            }
            _ => return false,
        };
        u32::try_from(offset).is_ok_and(|offset| self.offsets.contains(offset))
    }
}

/// Returns whether the abbreviation is that of a static member, from which a variable may
/// get its name.
pub(super) fn is_static_member(entry: &Abbreviation) -> bool {
    let mut attributes = entry.attributes().iter();
    entry.tag() == gimli::DW_TAG_member && attributes.any(|it| it.name() == gimli::DW_AT_external)
}

/// Returns whether a byte may be part of a word.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_names_are_told_from_names() {
        for name in [
            "run",
            "run<int>",
            "run<(3>2)>",
            "run<int (*)(int)>",
            "run<'>'>",
            "run(int)::<lambda(int)> ",
            "run<fn(u8) -> u8>",
            "operator->",
            "operator>><int>",
            "operator() const",
        ] {
            assert!(!is_only_an_end(name.as_bytes()), "{name}");
        }
        for end in [
            "run>",
            "run(int)::<lambda()> >",
            "run) const",
            "run<int>, int>",
        ] {
            assert!(is_only_an_end(end.as_bytes()), "{end}");
        }
    }

    /// A string may be the end of another; the end of a name within brackets is not a name.
    #[test]
    fn texts_that_may_be_the_name_are_found() {
        let texts = b"run\0a::run\0vector<a::run>\0f<run()::lambda>\0do_run\0run<int>\0";
        let found = Offsets::of_texts(texts, "run");
        let starts = found.ranges.iter().map(|(first, _)| *first);
        let of = |text: &[u8]| memmem::find(texts, text).unwrap_or_default() as u32;
        assert_eq!(
            starts.collect::<Vec<_>>(),
            // The end of `do_run` may be shared by a string of its own.
            [0, of(b"a::run"), of(b"do_run") + 3, of(b"run<int>")]
        );
    }
}
