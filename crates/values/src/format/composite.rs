//! Structures, classes and the enumerations of Rust.

use super::{DEPTH_MAX, Radix, Writer};
use crate::classes::trait_objects::concrete;
use crate::classes::upcast::whole_object;
use crate::pretty_printers::is_plausible;
use crate::typed::Typed;
use juror_symbols::{Base, Composite, CompositeKind, Field};
use std::fmt::{self, Write};

impl Writer<'_> {
    pub(super) fn composite(&mut self, value: &Typed, composite: &Composite, depth: usize) {
        if composite.incomplete {
            return match value.r#type.declared_in() {
                Some(file) => self.missing(&format_args!("incomplete type, declared in {file}")),
                None => self.push("<incomplete type>"),
            };
        }
        if self.pretty_printed(value, depth) {
            return;
        }
        if !self.is_raw && !is_plausible(value, self.memory) {
            return self.missing(&"not known: this is no string of the library's layout");
        }
        if !self.is_raw && value.r#type.is_rust() {
            return self.rust(value, composite, depth);
        }
        if !self.is_raw
            && depth < DEPTH_MAX
            && let Some(whole) = whole_object(value, self.memory)
            && let Some(class) = whole.r#type.composite()
        {
            let _ = write!(self.text, "({}) ", whole.r#type.name());
            return if !self.pretty_printed(&whole, depth) {
                self.object(&whole, &class, depth)
            };
        }
        self.object(value, composite, depth);
    }

    /// Writes a complete object, each virtual base class once.
    fn object(&mut self, value: &Typed, composite: &Composite, depth: usize) {
        let outer = std::mem::take(&mut self.virtual_bases);
        self.members(value, composite, depth);
        self.virtual_bases = outer;
    }

    /// Returns whether a virtual base class of this object has been written, and records it as
    /// written.
    fn is_shown(&mut self, base: &Base) -> bool {
        if !base.is_virtual() {
            return false;
        }
        let name = base.r#type.name();
        let is_shown = self.virtual_bases.contains(&name);
        if !is_shown {
            self.virtual_bases.push(name);
        }
        is_shown
    }

    /// Writes the bases and members, without pretty-printers for the value itself.
    pub(super) fn members(&mut self, value: &Typed, composite: &Composite, depth: usize) {
        self.push("{");
        let mut first = true;
        let is_whole = self.bases(value, composite, depth, &mut first)
            && self.own_members(value, composite, depth, &mut first);
        if is_whole && first && composite.kind == CompositeKind::Union {
            self.push("...");
        }
        self.push("}");
    }

    /// Writes the parts of base classes; returns false if some are left out.
    fn bases(
        &mut self,
        value: &Typed,
        composite: &Composite,
        depth: usize,
        first: &mut bool,
    ) -> bool {
        for base in &composite.bases {
            if self.is_shown(base) {
                continue;
            }
            if !self.begin(first, format_args!("<{}> = ", base.r#type.name())) {
                return false;
            }
            let part = match value.base(base, self.memory) {
                Ok(part) => part,
                Err(why) => {
                    self.missing(&why);
                    continue;
                }
            };
            match part.r#type.composite() {
                // A base class part is not cast to the complete object.
                Some(class) if !class.incomplete && depth < DEPTH_MAX && !self.is_full() => {
                    if !self.pretty_printed(&part, depth + 1) {
                        self.members(&part, &class, depth + 1);
                    }
                }
                _ => self.value(&part, depth + 1),
            }
        }
        true
    }

    /// Writes the members that are not of a base class; returns false if some are left out.
    fn own_members(
        &mut self,
        value: &Typed,
        composite: &Composite,
        depth: usize,
        first: &mut bool,
    ) -> bool {
        for field in &composite.fields {
            let has_room = match &field.name {
                Some(name) => self.begin(first, format_args!("{name} = ")),
                None => self.begin(first, format_args!("")),
            };
            if !has_room {
                return false;
            }
            self.value(&value.member(field), depth + 1);
        }
        if let Ok(Some(chosen)) = value.variant(self.memory) {
            let has_room = match &chosen.name {
                Some(name) => self.begin(first, format_args!("{name} ")),
                None => self.begin(first, format_args!("")),
            };
            if !has_room {
                return false;
            }
            self.value(&value.member(&chosen), depth + 1);
        }
        true
    }

    /// Separates a part from those before it and writes its label. If the text leaves no room
    /// for its value, returns false and writes instead that parts are left out.
    fn begin(&mut self, first: &mut bool, label: fmt::Arguments) -> bool {
        let is_first = *first;
        self.separate(first);
        let start = self.text.len();
        let _ = self.text.write_fmt(label);
        let has_room = is_first || !self.is_full();
        if !has_room {
            self.text.truncate(start);
            self.push("...");
        }
        has_room
    }

    /// Writes a structure in Rust's notation: `Point {x: 1, y: 2}`, `Meters(5)`, `(1, 'x')`,
    /// `Some("z")`.
    fn rust(&mut self, value: &Typed, composite: &Composite, depth: usize) {
        match value.variant(self.memory) {
            Err(why) => return self.missing(&why),
            Ok(None) => {}
            Ok(Some(chosen)) => {
                let inner = value.member(&chosen);
                let name = chosen.name.as_deref().unwrap_or("?");
                return match inner.r#type.composite() {
                    Some(composite) => self.fields(name, &inner, &composite, depth),
                    None => self.push(name),
                };
            }
        }
        let of_table = |address| self.names.type_of_table(address);
        let is_natural = !self.is_raw && self.radix == Radix::Natural;
        if let Some(object) = concrete(value, self.memory, of_table).filter(|_| is_natural)
            && let Some(address) = object.address()
        {
            return self.at(address, &object, depth);
        }
        let name = value.r#type.strip().name();
        let name = short(&name);
        self.fields(name, value, composite, depth);
    }

    fn fields(&mut self, name: &str, value: &Typed, composite: &Composite, depth: usize) {
        self.push(name);
        let fields = &composite.fields;
        let positional = |field: &Field| field.position().is_some();
        let is_tuple = fields.iter().all(positional);
        if fields.is_empty() {
            if name.is_empty() {
                self.push("()");
            }
            return;
        }
        self.push(match (is_tuple, name.is_empty()) {
            (true, _) => "(",
            (false, true) => "{",
            (false, false) => " {",
        });
        let mut first = true;
        for field in fields {
            let has_room = match field.name.as_deref().filter(|_| !is_tuple) {
                Some(name) => self.begin(&mut first, format_args!("{name}: ")),
                None => self.begin(&mut first, format_args!("")),
            };
            if !has_room {
                break;
            }
            self.value(&value.member(field), depth + 1);
        }
        self.push(if is_tuple { ")" } else { "}" });
    }
}

/// Returns the last component of a path, without generic arguments; empty for a tuple.
fn short(name: &str) -> &str {
    if name.starts_with(['(', '&', '[', '*']) {
        return "";
    }
    let path = name.split('<').next().unwrap_or(name);
    // A closure or another unnamed item keeps the last component of its path.
    path.rsplit("::").next().unwrap_or(path)
}
