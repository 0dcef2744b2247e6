//! Members by name, also through anonymous members and base classes.

use super::{Base, Field, TYPE_DEPTH_MAX, Type, VirtualStep};
use std::collections::HashSet;

/// How many structures inside structures are looked through.
const NESTING_MAX: usize = TYPE_DEPTH_MAX / 4;

impl Field {
    /// The position of a field of a Rust tuple, as Rust writes it: `0` of what the
    /// debug information calls `__0`.
    pub fn position(&self) -> Option<&str> {
        let digits = self.name.as_deref()?.strip_prefix("__")?;
        let is_position = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_position.then_some(digits)
    }

    fn is_named(&self, name: &str) -> bool {
        self.name.as_deref() == Some(name) || self.position() == Some(name)
    }
}

impl Type {
    /// A member by its name, its offset counted from the start of this type.
    /// Members of anonymous members and of base classes are found too, not those of
    /// virtual ones ([`Type::virtual_field`]); a
    /// structure's own hide those of its bases. Fields of Rust's tuples are found
    /// by their position, too.
    pub fn field(&self, name: &str) -> Option<Field> {
        self.field_within(name, NESTING_MAX)
    }

    fn field_within(&self, name: &str, depth: usize) -> Option<Field> {
        let depth = depth.checked_sub(1)?;
        let composite = self.composite()?;
        if let Some(field) = composite.fields.iter().find(|field| field.is_named(name)) {
            return Some(field.clone());
        }
        let anonymous = composite
            .fields
            .iter()
            .filter(|field| field.name.is_none())
            .map(|field| (field.offset, &field.r#type));
        let bases = composite
            .bases
            .iter()
            .filter_map(|base| base.offset.map(|offset| (offset, &base.r#type)));
        for (offset, inside) in anonymous.chain(bases) {
            if let Some(field) = inside.field_within(name, depth) {
                return field.moved(offset);
            }
        }
        None
    }

    /// A member of a virtual base class by its name, its offset counted from the
    /// start of that class, and the steps to there. It is for names that
    /// [`Type::field`] does not find: what lies nearer hides it.
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

    /// The names of all members that [`Type::field`] and [`Type::virtual_field`] find,
    /// each once, for completion and suggestions.
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
