//! The strings of `.debug_str`, read in parts.
//!
//! A unit names few of the strings of a program, whose section may have hundreds of megabytes.
//! So a part of the section is read when a string that begins in it is asked for. A part ends
//! with the end of the string that begins last in it. A search over all strings reads the whole
//! section.

use super::Reader;
use super::borrowed::Slice;
use super::entries::LazySection;
use super::source::SectionSource;
use gimli::{AttributeValue, Reader as _};
use std::ops::Deref;
use std::sync::OnceLock;

/// The size of a part in bytes, without the rest of its last string.
const PART_SIZE: usize = 1 << 14;
/// The number of bytes that are read at once to find the end of the last string.
const END_SIZE: usize = 1 << 8;

/// The strings of `.debug_str`.
#[derive(Debug)]
pub(super) struct Texts {
    section: LazySection,
    /// `None` if unreadable.
    parts: Box<[OnceLock<Option<Reader>>]>,
    whole: OnceLock<Reader>,
}

impl Texts {
    pub fn new(section: LazySection) -> Texts {
        let whole = OnceLock::new();
        let mut count = section.size().div_ceil(PART_SIZE);
        if let LazySection::InMemory(all) = &section {
            whole.get_or_init(|| all.clone());
            count = 0;
        }
        Texts {
            section,
            parts: (0..count).map(|_| OnceLock::new()).collect(),
            whole,
        }
    }

    /// Returns the size of the section in bytes.
    pub fn size(&self) -> usize {
        self.section.size()
    }

    /// Returns the whole section; empty if unreadable.
    pub fn whole(&self) -> &Reader {
        self.whole.get_or_init(|| {
            let all = self.section.shared_part(0, self.section.size());
            all.unwrap_or_else(|| super::source::reader(std::sync::Arc::from([])))
        })
    }

    /// Returns the bytes in which the string at an offset begins, and its position there.
    fn around(&self, offset: usize) -> Option<(&Reader, usize)> {
        if let Some(whole) = self.whole.get() {
            return Some((whole, offset));
        }
        let number = offset / PART_SIZE;
        let part = self.parts.get(number)?;
        let part = part
            .get_or_init(|| self.read(number * PART_SIZE))
            .as_ref()?;
        Some((part, offset % PART_SIZE))
    }

    /// Reads the part from an offset on.
    fn read(&self, start: usize) -> Option<Reader> {
        let left = self.section.size().checked_sub(start)?;
        let mut bytes = self.section.part(start, PART_SIZE.min(left))?.into_owned();
        while bytes.len() < left && memchr::memchr(0, bytes.get(PART_SIZE - 1..)?).is_none() {
            let more = END_SIZE.max(bytes.len() / 2).min(left - bytes.len());
            let more = self.section.part(start + bytes.len(), more)?;
            bytes.extend_from_slice(&more);
        }
        Some(super::source::reader(bytes.into()))
    }

    /// Returns the string at an offset, without its end.
    fn shared(&self, offset: usize) -> Option<Reader> {
        let (part, at) = self.around(offset)?;
        let mut rest = part.clone();
        rest.skip(at).ok()?;
        rest.read_null_terminated_slice().ok()
    }

    /// Returns the string at an offset without a reference count.
    fn borrowed(&self, offset: usize) -> Option<Slice<'_>> {
        let (part, at) = self.around(offset)?;
        let mut rest = Slice::new(part.bytes().get(at..)?, gimli::LittleEndian);
        rest.read_null_terminated_slice().ok()
    }
}

/// The source of the strings of units.
pub(crate) trait TextSource<R: gimli::Reader> {
    /// Returns the string that an attribute value is or refers to.
    fn text(&self, unit: &gimli::Unit<R>, value: AttributeValue<R>) -> Option<R>;
}

impl TextSource<Reader> for SectionSource {
    fn text(&self, unit: &gimli::Unit<Reader>, value: AttributeValue<Reader>) -> Option<Reader> {
        match offset(self.dwarf(), unit, &value) {
            Some(offset) => self.texts().shared(offset?),
            None => self.dwarf().attr_string(unit, value).ok(),
        }
    }
}

/// Sections without reference counts; their `.debug_str` is in the strings alone.
pub(crate) struct BorrowedSections<'a> {
    pub(super) dwarf: gimli::Dwarf<Slice<'a>>,
    pub(super) texts: &'a Texts,
}

impl<'a> Deref for BorrowedSections<'a> {
    type Target = gimli::Dwarf<Slice<'a>>;

    fn deref(&self) -> &gimli::Dwarf<Slice<'a>> {
        &self.dwarf
    }
}

impl<'a> TextSource<Slice<'a>> for BorrowedSections<'a> {
    fn text(
        &self,
        unit: &gimli::Unit<Slice<'a>>,
        value: AttributeValue<Slice<'a>>,
    ) -> Option<Slice<'a>> {
        match offset(&self.dwarf, unit, &value) {
            Some(offset) => self.texts.borrowed(offset?),
            None => self.dwarf.attr_string(unit, value).ok(),
        }
    }
}

/// Returns the offset in `.debug_str` that a value refers to, which is `None` if damaged. `None`
/// for other values.
fn offset<R: gimli::Reader<Offset = usize>>(
    dwarf: &gimli::Dwarf<R>,
    unit: &gimli::Unit<R>,
    value: &AttributeValue<R>,
) -> Option<Option<usize>> {
    match value {
        AttributeValue::DebugStrRef(offset) => Some(Some(offset.0)),
        AttributeValue::DebugStrOffsetsIndex(index) => {
            let found = dwarf.string_offset(unit, *index);
            Some(found.ok().map(|offset| offset.0))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::ElfFile;
    use std::sync::Arc;

    /// Strings that end within a part, at its end, and far behind it; and the end of a section
    /// that lacks the end of its last string.
    #[test]
    fn strings_are_those_of_the_whole_section() {
        let mut bytes: Vec<u8> = Vec::new();
        let sizes = [
            0,
            1,
            5,
            PART_SIZE - 12,
            0,
            300,
            3 * PART_SIZE,
            2,
            2 * PART_SIZE - 900,
            7,
        ];
        for (number, size) in sizes.into_iter().enumerate() {
            bytes.extend(std::iter::repeat_n(b'a' + number as u8, size));
            bytes.push(0);
        }
        bytes.extend(b"no end");
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("strings");
        let mut image = std::fs::read("/bin/true").unwrap();
        let start = image.len() as u64;
        image.extend(&bytes);
        std::fs::write(&path, &image).unwrap();
        let elf = Arc::new(ElfFile::open(&path).unwrap());
        let range = start..image.len() as u64;
        let in_file = || LazySection::InFile(Arc::clone(&elf), range.clone());
        let all = super::super::source::reader(Arc::from(bytes.as_slice()));
        let in_memory = Texts::new(LazySection::InMemory(all));
        let parts = Texts::new(in_file());
        let whole = Texts::new(in_file());
        assert_eq!(whole.whole().bytes(), bytes);
        for offset in 0..bytes.len() + 3 {
            let end = bytes.get(offset..).and_then(|it| memchr::memchr(0, it));
            let expected = end.map(|end| &bytes[offset..offset + end]);
            for texts in [&in_memory, &parts, &whole] {
                let borrowed = texts.borrowed(offset);
                assert_eq!(borrowed.as_ref().map(|it| it.slice()), expected, "{offset}");
                let shared = texts.shared(offset);
                assert_eq!(shared.as_ref().map(|it| it.bytes()), expected, "{offset}");
            }
        }
        assert!(parts.whole.get().is_none());
    }
}
