//! Lookup of members by name, through anonymous members and base classes.

use super::{Base, Field, TYPE_DEPTH_MAX, Type, VirtualStep};
use std::collections::HashSet;

/// The maximum depth of nested structures searched.
const NESTING_MAX: usize = TYPE_DEPTH_MAX / 4;

impl Field {
    /// Returns the position of a field of a Rust tuple as Rust writes it: `0` for `__0` in
    /// the debug information.
    pub fn position(&self) -> Option<&str> {
        let digits = self.name.as_deref()?.strip_prefix("__")?;
        let is_position = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_position.then_some(digits)
    }

    fn is_named(&self, name: &str) -> bool {
        self.name.as_deref() == Some(name) || self.position() == Some(name)
    }
}

/// The outcome of a search for a member.
enum Found {
    None,
    One(Field),
    /// The base classes that have one each.
    Several(Vec<String>),
}

impl Found {
    /// Returns the same for a class that has this one as a part at an offset.
    fn moved(self, by: u64) -> Found {
        match self {
            Found::One(field) => field.moved(by).map_or(Found::None, Found::One),
            other => other,
        }
    }
}

impl Type {
    /// Returns the member with this name, its offset relative to the start of this type.
    /// Members of anonymous members and base classes are found, too, except those of
    /// virtual bases ([`Type::virtual_field`]); own members hide those of the bases. Fields
    /// of Rust tuples are also found by their position.
    ///
    /// `None` also if several base classes have such a member ([`Type::ambiguous_field`]).
    pub fn field(&self, name: &str) -> Option<Field> {
        match self.field_within(name, NESTING_MAX) {
            Found::One(field) => Some(field),
            Found::None | Found::Several(_) => None,
        }
    }

    /// Returns the classes whose members of this name are equally near; empty if at most
    /// one has it.
    pub fn ambiguous_field(&self, name: &str) -> Vec<String> {
        match self.field_within(name, NESTING_MAX) {
            Found::Several(classes) => classes,
            Found::None | Found::One(_) => Vec::new(),
        }
    }

    fn field_within(&self, name: &str, depth: usize) -> Found {
        let (Some(depth), Some(composite)) = (depth.checked_sub(1), self.composite()) else {
            return Found::None;
        };
        if let Some(field) = composite.fields.iter().find(|field| field.is_named(name)) {
            return Found::One(field.clone());
        }
        let anonymous = composite.fields.iter().filter(|field| field.name.is_none());
        for member in anonymous {
            match member.r#type.field_within(name, depth) {
                Found::None => {}
                found => return found.moved(member.offset),
            }
        }
        let mut found = Found::None;
        for base in &composite.bases {
            let Some(offset) = base.offset else {
                continue;
            };
            let inside = base.r#type.field_within(name, depth).moved(offset);
            found = match (found, inside) {
                (found, Found::None) | (Found::None, found) => found,
                (first, second) => {
                    let named = |it: Found, base: &Type| match it {
                        Found::Several(classes) => classes,
                        Found::None | Found::One(_) => vec![base.strip().name()],
                    };
                    let before = composite.bases.iter().find(|base| {
                        let inside = base.r#type.field_within(name, depth);
                        base.offset.is_some() && !matches!(inside, Found::None)
                    });
                    let before = before.map_or(&base.r#type, |base| &base.r#type);
                    let mut classes = named(first, before);
                    classes.extend(named(second, &base.r#type));
                    Found::Several(classes)
                }
            };
        }
        found
    }

    /// Returns the member with this name of a virtual base class, its offset relative to
    /// that class, and the steps to the class. For names that [`Type::field`] does not
    /// find: nearer members hide those of virtual bases.
    pub fn virtual_field(&self, name: &str) -> Option<(Vec<VirtualStep>, Field)> {
        self.virtual_field_within(name, 0, NESTING_MAX)
    }

    fn virtual_field_within(
        &self,
        name: &str,
        start: u64,
        depth: usize,
    ) -> Option<(Vec<VirtualStep>, Field)> {
        let depth = depth.checked_sub(1)?;
        let composite = self.composite()?;
        let step = |base: &Base| VirtualStep {
            offset: start,
            class: self.clone(),
            base: base.clone(),
        };
        let virtual_bases = || composite.bases.iter().filter(|base| base.is_virtual());
        for base in virtual_bases() {
            if let Some(field) = base.r#type.field(name) {
                return Some((vec![step(base)], field));
            }
        }
        for base in &composite.bases {
            let inside = match base.offset {
                Some(offset) => start.checked_add(offset)?,
                None => 0,
            };
            if let Some((steps, field)) = base.r#type.virtual_field_within(name, inside, depth) {
                let first = base.is_virtual().then(|| step(base));
                return Some((first.into_iter().chain(steps).collect(), field));
            }
        }
        None
    }

    /// Returns the names of all members that [`Type::field`] and [`Type::virtual_field`]
    /// find, without duplicates, for completion and suggestions.
    pub fn field_names(&self) -> Vec<Box<str>> {
        let mut names = Vec::new();
        self.collect_field_names(&mut names, NESTING_MAX);
        let mut seen = HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
        names
    }

    fn collect_field_names(&self, names: &mut Vec<Box<str>>, depth: usize) {
        let (Some(depth), Some(composite)) = (depth.checked_sub(1), self.composite()) else {
            return;
        };
        for field in &composite.fields {
            let name = field.position().or(field.name.as_deref());
            match name {
                Some(name) => names.push(name.into()),
                None => field.r#type.collect_field_names(names, depth),
            }
        }
        for base in &composite.bases {
            base.r#type.collect_field_names(names, depth);
        }
    }
}

impl Field {
    pub(super) fn moved(mut self, by: u64) -> Option<Field> {
        self.offset = self.offset.checked_add(by)?;
        if let Some(bits) = &mut self.bits {
            bits.offset_bits = bits.offset_bits.checked_add(by.checked_mul(8)?)?;
        }
        Some(self)
    }
}
