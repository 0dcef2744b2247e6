//! Sets, maps and sequences of values.
//!
//! The collections are persistent: a copy shares all elements with its original, and a
//! change of one does not affect the other. So a slice is as cheap to copy as its
//! scalar variables. Elements are ordered, so that equal collections are iterated and
//! shown in the same order each time.
//!
//! **Invariant:** at most [`DEPTH_MAX`] collections are nested, so that walks over a
//! value may recurse.

use crate::Value;
use rpds::{RedBlackTreeMapSync, RedBlackTreeSetSync, VectorSync};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The maximum nesting depth of collections.
pub const DEPTH_MAX: u8 = 16;

/// An error: the value would nest collections too deeply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooDeep;

impl fmt::Display for TooDeep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "collections may be nested {DEPTH_MAX} levels deep, not more"
        )
    }
}

/// Returns the depth of a collection that holds values of the given depth.
fn around(depth: u8) -> Result<u8, TooDeep> {
    match depth.checked_add(1) {
        Some(depth) if depth <= DEPTH_MAX => Ok(depth),
        _ => Err(TooDeep),
    }
}

/// The contents of a collection and their depth, behind one pointer so that a value
/// stays small.
#[derive(Debug, Clone)]
struct Inner<T> {
    contents: T,
    /// An upper bound of the depth: removing elements does not lower it.
    depth: u8,
}

/// Distinct values, in order.
#[derive(Debug, Clone)]
pub struct Set(Arc<Inner<RedBlackTreeSetSync<Value>>>);

/// Values by distinct keys, in the order of the keys.
#[derive(Debug, Clone)]
pub struct Map(Arc<Inner<RedBlackTreeMapSync<Value, Value>>>);

/// Values by position, counted from 0.
#[derive(Debug, Clone)]
pub struct Sequence(Arc<Inner<VectorSync<Value>>>);

impl Default for Set {
    fn default() -> Set {
        Set(Arc::new(Inner {
            contents: RedBlackTreeSetSync::new_sync(),
            depth: 1,
        }))
    }
}

impl Default for Map {
    fn default() -> Map {
        Map(Arc::new(Inner {
            contents: RedBlackTreeMapSync::new_sync(),
            depth: 1,
        }))
    }
}

impl Default for Sequence {
    fn default() -> Sequence {
        Sequence(Arc::new(Inner {
            contents: VectorSync::new_sync(),
            depth: 1,
        }))
    }
}

impl<T: Clone> Inner<T> {
    /// Returns the contents, to which a value of the given depth is to be added.
    fn extended(this: &mut Arc<Inner<T>>, depth: u8) -> Result<&mut T, TooDeep> {
        let depth = around(depth)?;
        let inner = Arc::make_mut(this);
        inner.depth = inner.depth.max(depth);
        Ok(&mut inner.contents)
    }
}

/// Implements the size and depth of a collection, whose contents have this method for their number.
macro_rules! sized {
    ($collection:ident, $number:ident, $element:literal) => {
        impl $collection {
            #[doc = concat!("Returns the number of ", $element, ".")]
            pub fn len(&self) -> usize {
                self.0.contents.$number()
            }

            #[doc = concat!("Returns true if there are no ", $element, ".")]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Returns the nesting depth, including this collection.
            pub fn depth(&self) -> u8 {
                self.0.depth
            }
        }
    };
}

sized!(Set, size, "elements");
sized!(Map, size, "keys");
sized!(Sequence, len, "elements");

impl Set {
    /// Returns true if the set contains a value.
    pub fn contains(&self, value: &Value) -> bool {
        self.0.contents.contains(value)
    }

    /// Iterates over the values in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = &Value> {
        self.0.contents.iter()
    }

    /// Adds a value.
    ///
    /// # Errors
    /// If the value is nested too deeply to be put into a collection.
    pub fn insert(&mut self, value: Value) -> Result<(), TooDeep> {
        Inner::extended(&mut self.0, value.depth())?.insert_mut(value);
        Ok(())
    }

    /// Removes a value if it is present.
    pub fn remove(&mut self, value: &Value) {
        if self.contains(value) {
            Arc::make_mut(&mut self.0).contents.remove_mut(value);
        }
    }
}

impl Map {
    /// Returns the value of a key.
    pub fn get(&self, key: &Value) -> Option<&Value> {
        self.0.contents.get(key)
    }

    /// Iterates over keys and values in ascending order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&Value, &Value)> {
        self.0.contents.iter()
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    /// If one of them is nested too deeply to be put into a collection.
    pub fn insert(&mut self, key: Value, value: Value) -> Result<(), TooDeep> {
        let depth = key.depth().max(value.depth());
        Inner::extended(&mut self.0, depth)?.insert_mut(key, value);
        Ok(())
    }

    /// Removes a key and its value if the key is present.
    pub fn remove(&mut self, key: &Value) {
        if self.get(key).is_some() {
            Arc::make_mut(&mut self.0).contents.remove_mut(key);
        }
    }
}

impl Sequence {
    /// Returns the value at a position.
    pub fn get(&self, position: usize) -> Option<&Value> {
        self.0.contents.get(position)
    }

    /// Iterates over the values in order.
    pub fn iter(&self) -> impl Iterator<Item = &Value> {
        self.0.contents.iter()
    }

    /// Appends a value.
    ///
    /// # Errors
    /// If the value is nested too deeply to be put into a collection.
    pub fn push(&mut self, value: Value) -> Result<(), TooDeep> {
        Inner::extended(&mut self.0, value.depth())?.push_back_mut(value);
        Ok(())
    }

    /// Replaces the value at a position; returns false if the position does not exist.
    ///
    /// # Errors
    /// If the value is nested too deeply to be put into a collection.
    pub fn set(&mut self, position: usize, value: Value) -> Result<bool, TooDeep> {
        around(value.depth())?;
        if position >= self.len() {
            return Ok(false);
        }
        let contents = Inner::extended(&mut self.0, value.depth())?;
        Ok(contents.set_mut(position, value))
    }

    /// Removes the last value; returns false if there is none.
    pub fn pop(&mut self) -> bool {
        !self.is_empty() && Arc::make_mut(&mut self.0).contents.drop_last_mut()
    }
}

/// Skips values that are nested too deeply; no value of the debuggee is.
impl FromIterator<Value> for Set {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Set {
        let mut set = Set::default();
        for value in values {
            // An error leaves the set as it was.
            let _: Result<(), TooDeep> = set.insert(value);
        }
        set
    }
}

/// Skips values that are nested too deeply; no value of the debuggee is.
impl FromIterator<(Value, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (Value, Value)>>(entries: I) -> Map {
        let mut map = Map::default();
        for (key, value) in entries {
            // An error leaves the map as it was.
            let _: Result<(), TooDeep> = map.insert(key, value);
        }
        map
    }
}

/// Skips values that are nested too deeply; no value of the debuggee is.
impl FromIterator<Value> for Sequence {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Sequence {
        let mut sequence = Sequence::default();
        for value in values {
            // An error leaves the sequence as it was.
            let _: Result<(), TooDeep> = sequence.push(value);
        }
        sequence
    }
}

macro_rules! by_contents {
    ($name:ident) => {
        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                Arc::ptr_eq(&self.0, &other.0)
                    || (self.len() == other.len() && self.iter().eq(other.iter()))
            }
        }

        impl Eq for $name {}

        impl Ord for $name {
            fn cmp(&self, other: &Self) -> Ordering {
                self.iter().cmp(other.iter())
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Hash for $name {
            fn hash<H: Hasher>(&self, state: &mut H) {
                state.write_usize(self.len());
                for element in self.iter() {
                    element.hash(state);
                }
            }
        }
    };
}

by_contents!(Set);
by_contents!(Map);
by_contents!(Sequence);

fn separated<'a>(
    f: &mut fmt::Formatter<'_>,
    values: impl Iterator<Item = &'a Value>,
) -> fmt::Result {
    for (position, value) in values.enumerate() {
        let before = if position == 0 { "" } else { ", " };
        write!(f, "{before}{value}")?;
    }
    Ok(())
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        separated(f, self.iter())?;
        f.write_str("}")
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        separated(f, self.iter())?;
        f.write_str("]")
    }
}

impl fmt::Display for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("{:}");
        }
        f.write_str("{")?;
        for (position, (key, value)) in self.iter().enumerate() {
            let before = if position == 0 { "" } else { ", " };
            write!(f, "{before}{key}: {value}")?;
        }
        f.write_str("}")
    }
}

#[cfg(test)]
mod tests;
