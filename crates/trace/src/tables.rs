//! Names and layouts of a trace, each with a number.
//!
//! **Invariant:** a look-up of a known name allocates nothing. Names that JSON writes
//! with escapes are not *plain*: they never equal the bytes of a line, so look-ups by
//! such bytes skip them.

use crate::digits;
use crate::model::{Declaration, Layout};
use juror_event::Value;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// The known layouts of the events of one name.
#[derive(Debug, Clone)]
struct Known {
    name: Arc<str>,
    is_plain: bool,
    layouts: SmallVec<[u32; 1]>,
    /// The last layout, which the next event is likely to have.
    last: Option<u32>,
    declaration: Option<Arc<Declaration>>,
}

/// The names of a layout's values.
#[derive(Debug, Clone)]
struct Keys {
    names: Arc<[Arc<str>]>,
    is_plain: bool,
}

/// The number of an event's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Name(u32);

/// Names and layouts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tables {
    by_name: FxHashMap<Arc<[u8]>, u32>,
    known: Vec<Known>,
    keys: Vec<Keys>,
    new: Vec<Layout>,
}

impl Tables {
    /// Returns a measure of the known names and layouts, which only grows.
    pub fn size(&self) -> usize {
        self.known.len() + self.keys.len()
    }

    /// Returns the number of a plain name that is known.
    pub fn find(&self, name: &[u8]) -> Option<Name> {
        let number = self.by_name.get(name).copied()?;
        let known = self.known.get(number as usize)?;
        known.is_plain.then_some(Name(number))
    }

    /// Returns the number of a name.
    pub fn name(&mut self, name: &str) -> Name {
        if let Some(&number) = self.by_name.get(name.as_bytes()) {
            return Name(number);
        }
        let number = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
        let is_plain = is_plain(name);
        let name: Arc<str> = name.into();
        self.by_name.insert(name.as_bytes().into(), number);
        self.known.push(Known {
            name,
            is_plain,
            layouts: SmallVec::new(),
            last: None,
            declaration: None,
        });
        Name(number)
    }

    /// Returns the layout of plain names that the next event of this name is likely to
    /// have.
    pub fn expected(&self, name: Name) -> Option<(u32, &[Arc<str>])> {
        let layout = self.known.get(name.0 as usize)?.last?;
        let keys = self.keys.get(layout as usize)?;
        keys.is_plain.then_some((layout, &keys.names))
    }

    /// Returns the layout of an event with these plain keys, if it is known.
    pub fn find_plain_layout(&mut self, name: Name, keys: &[&[u8]]) -> Option<u32> {
        let layout = self.find_layout(name, keys)?;
        self.keys.get(layout as usize)?.is_plain.then_some(layout)
    }

    fn find_layout(&mut self, name: Name, keys: &[&[u8]]) -> Option<u32> {
        let same = |layout: u32| {
            let known = self.keys(layout);
            let mut pairs = known.iter().zip(keys);
            known.len() == keys.len() && pairs.all(|(known, key)| known.as_bytes() == *key)
        };
        let known = self.known.get(name.0 as usize)?;
        let found = known.layouts.iter().copied().find(|&layout| same(layout))?;
        self.known.get_mut(name.0 as usize)?.last = Some(found);
        Some(found)
    }

    /// Returns the names of a layout's values.
    pub fn keys(&self, layout: u32) -> &[Arc<str>] {
        self.keys
            .get(layout as usize)
            .map_or(&[], |keys| &keys.names)
    }

    /// Returns the layout of an event with these distinct keys.
    pub fn layout(&mut self, name: Name, keys: &[impl AsRef<str>]) -> u32 {
        let bytes: SmallVec<[&[u8]; 8]> = keys.iter().map(|key| key.as_ref().as_bytes()).collect();
        if let Some(layout) = self.find_layout(name, &bytes) {
            return layout;
        }
        self.new_layout(name, keys)
    }

    fn new_layout(&mut self, name: Name, keys: &[impl AsRef<str>]) -> u32 {
        let layout = u32::try_from(self.keys.len()).unwrap_or(u32::MAX);
        let names: Arc<[Arc<str>]> = keys.iter().map(|key| key.as_ref().into()).collect();
        self.keys.push(Keys {
            is_plain: names.iter().all(|name| is_plain(name)),
            names: Arc::clone(&names),
        });
        if let Some(known) = self.known.get_mut(name.0 as usize) {
            known.layouts.push(layout);
            known.last = Some(layout);
            self.new.push(Layout {
                event: Arc::clone(&known.name),
                keys: names,
                declaration: known.declaration.clone(),
            });
        }
        layout
    }

    /// Adds a declaration. Existing layouts would not have it, so it is refused if the
    /// event has any.
    pub fn declare(&mut self, declaration: Declaration) -> Result<(), String> {
        let name = self.name(&declaration.event);
        let Some(known) = self.known.get_mut(name.0 as usize) else {
            return Ok(());
        };
        match &known.declaration {
            Some(before) if **before == declaration => Ok(()),
            Some(_) => Err(format!("`{}` is declared twice", declaration.event)),
            None if !known.layouts.is_empty() => Err(format!(
                "`{}` occurs before it is declared",
                declaration.event
            )),
            None => {
                known.declaration = Some(Arc::new(declaration));
                Ok(())
            }
        }
    }

    /// Moves the new layouts to the end of a list.
    pub fn take_new(&mut self, layouts: &mut Vec<Layout>) {
        layouts.append(&mut self.new);
    }
}

/// Returns true if JSON writes the name without escapes.
fn is_plain(name: &str) -> bool {
    name.bytes()
        .all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\')
}

/// Returns the first name that occurs twice.
pub(crate) fn repeated<'a, K: AsRef<str>>(keys: &'a [K]) -> Option<&'a str> {
    let mut sorted: SmallVec<[&'a str; 16]> = keys.iter().map(AsRef::as_ref).collect();
    sorted.sort_unstable();
    let pair = sorted.windows(2).find(|pair| pair.first() == pair.last());
    pair.and_then(|pair| pair.first().copied())
}

/// Parses an address as it is written: `0x` and lower-case hexadecimal digits, no
/// leading zeros.
#[inline]
pub(crate) fn address(text: &[u8]) -> Option<Value> {
    let digits = text.strip_prefix(b"0x")?;
    if digits.first() == Some(&b'0') && digits.len() > 1 {
        return None;
    }
    digits::hexadecimal(digits).map(Value::Address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_new_name_and_each_new_layout_counts() {
        let mut tables = Tables::default();
        assert_eq!(tables.size(), 0);
        let first = tables.name("before f");
        assert_eq!(tables.size(), 1);
        tables.name("before f");
        let second = tables.name("before g");
        assert_eq!(tables.size(), 2);
        for (name, keys, size) in [
            (first, &["n"][..], 3),
            (first, &["n"], 3),
            (first, &["n", "p"], 4),
            (second, &["n"], 5),
        ] {
            tables.layout(name, keys);
            assert_eq!(tables.size(), size, "{keys:?}");
        }
    }

    /// JSON writes the others with escapes, so a line has other bytes.
    #[test]
    fn a_name_is_looked_up_by_the_bytes_of_a_line_if_it_has_no_escapes() {
        for (words, is_plain) in [
            ("before f", true),
            ("", true),
            ("~", true),
            ("é\u{7f}", true),
            ("a\"b", false),
            ("a\\b", false),
            ("a\tb", false),
            ("\u{1f}", false),
        ] {
            let mut tables = Tables::default();
            let name = tables.name(words);
            let found = tables.find(words.as_bytes());
            assert_eq!(found, Some(name).filter(|_| is_plain), "{words:?}");
            let layout = tables.layout(name, &["a", words]);
            let plain = Some(layout).filter(|_| is_plain);
            let keys = [b"a", words.as_bytes()];
            assert_eq!(tables.find_plain_layout(name, &keys), plain, "{words:?}");
            let expected = tables.expected(name).map(|(layout, _)| layout);
            assert_eq!(expected, plain, "{words:?}");
        }
    }

    #[test]
    fn an_event_is_declared_once_and_before_it_occurs() {
        let declaration = |parameters: &[&str]| Declaration {
            event: "before f".to_owned(),
            parameters: parameters.iter().map(|&name| name.to_owned()).collect(),
        };
        let mut tables = Tables::default();
        assert_eq!(tables.declare(declaration(&["a"])), Ok(()));
        assert_eq!(tables.declare(declaration(&["a"])), Ok(()));
        let twice = Err("`before f` is declared twice".to_owned());
        assert_eq!(tables.declare(declaration(&["b"])), twice);
        let name = tables.name("before f");
        tables.layout(name, &["a"]);
        assert_eq!(tables.declare(declaration(&["a"])), Ok(()));
        let mut layouts = Vec::new();
        tables.take_new(&mut layouts);
        let declared = layouts.first().and_then(|it| it.declaration.as_deref());
        assert_eq!(declared, Some(&declaration(&["a"])));

        let mut tables = Tables::default();
        let name = tables.name("before f");
        tables.layout(name, &["a"]);
        let late = Err("`before f` occurs before it is declared".to_owned());
        assert_eq!(tables.declare(declaration(&["a"])), late);
    }

    #[test]
    fn an_address_has_no_zeros_before_it() {
        assert_eq!(address(b"0x1f"), Some(Value::Address(0x1f)));
        assert_eq!(address(b"0x0"), Some(Value::Address(0)));
        for text in ["0x01f", "0x00", "0x", "1f", "0xg"] {
            assert_eq!(address(text.as_bytes()), None, "{text}");
        }
    }
}
