//! Structures, classes and the enumerations of Rust.

use super::{DEPTH_MAX, Radix, Writer};
use crate::trait_objects::concrete;
use crate::typed::{Number, Place, Typed};
use juror_symbols::{Composite, CompositeKind, Field, Type};
use std::fmt::Write;

impl Writer<'_> {
    pub(super) fn composite(&mut self, value: &Typed, composite: &Composite, depth: usize) {
        if composite.incomplete {
            return self.push("<incomplete type>");
        }
        if self.viewed(value, depth) {
            return;
        }
        if !self.is_raw && value.r#type.is_rust() {
            return self.rust(value, composite, depth);
        }
        if !self.is_raw
            && depth < DEPTH_MAX
            && let Some(whole) = self.dynamic(value, composite)
            && let Some(class) = whole.r#type.composite()
        {
            let _ = write!(self.text, "({}) ", whole.r#type.name());
            return match self.viewed(&whole, depth) {
                true => {}
                false => self.members(&whole, &class, depth),
            };
        }
        self.members(value, composite, depth);
    }

    /// The bases and members, as they are.
    fn members(&mut self, value: &Typed, composite: &Composite, depth: usize) {
        self.push("{");
        let mut first = true;
        for base in &composite.bases {
            self.separate(&mut first);
            let _ = write!(self.text, "<{}> = ", base.r#type.name());
            let Some(offset) = base.offset else {
                self.push("<virtual base>");
                continue;
            };
            let part = value.part(offset, base.r#type.clone(), None);
            match part.r#type.composite() {
                // A part of an object is not asked what the whole one is.
                Some(class) if !class.incomplete && depth < DEPTH_MAX && !self.is_full() => {
                    if !self.viewed(&part, depth + 1) {
                        self.members(&part, &class, depth + 1);
                    }
                }
                _ => self.value(&part, depth + 1),
            }
        }
        for field in &composite.fields {
            self.separate(&mut first);
            if let Some(name) = &field.name {
                let _ = write!(self.text, "{name} = ");
            }
            self.value(&value.member(field), depth + 1);
            if self.is_full() {
                break;
            }
        }
        if let Some(chosen) = self.variant(value, composite) {
            self.separate(&mut first);
            if let Some(name) = &chosen.name {
                let _ = write!(self.text, "{name} ");
            }
            self.value(&value.member(&chosen), depth + 1);
        }
        if first && composite.kind == CompositeKind::Union {
            self.push("...");
        }
        self.push("}");
    }

    /// The whole object that this one is a part of, by its table of virtual
    /// functions; nothing when it is whole itself, or the table is unknown.
    fn dynamic(&self, value: &Typed, composite: &Composite) -> Option<Typed> {
        let Place::Memory(address) = value.place else {
            return None;
        };
        let pointer = table_pointer(composite, 0)?;
        let Ok(Number::Pointer(table, _)) = value.member(&pointer).number(self.memory) else {
            return None;
        };
        let symbol = self.names.name_of(table)?;
        let class = class_of_table(&symbol)?;
        if class == value.r#type.strip().name() {
            return None;
        }
        // The word before the table's address point but one: the distance to
        // the start of the whole object.
        let mut distance = [0; 8];
        if !self.memory.read(table.wrapping_sub(16), &mut distance) {
            return None;
        }
        let part = address.wrapping_add(pointer.offset);
        let start = part.wrapping_add_signed(i64::from_le_bytes(distance));
        let r#type = self.names.type_named(class)?;
        Some(Typed::in_memory(r#type, start))
    }

    /// Why it is not known which alternative of an enumeration of Rust a value is.
    fn unknown_variant(&self, value: &Typed, composite: &Composite) -> Option<String> {
        let part = composite.variants.as_ref()?;
        let discriminant = value.member(part.discriminant.as_ref()?);
        let is_known = matches!(discriminant.place, Place::Memory(_) | Place::Bytes(_));
        match is_known {
            true => None,
            false => discriminant.number(self.memory).err(),
        }
    }

    /// The alternative of an enumeration of Rust that the value is.
    pub(super) fn variant(&self, value: &Typed, composite: &Composite) -> Option<Field> {
        let part = composite.variants.as_ref()?;
        let discriminant = part
            .discriminant
            .as_ref()
            .and_then(|field| value.member(field).number(self.memory).ok())
            .and_then(|number| match number {
                Number::Int(number) => Some(number),
                Number::Bool(truth) => Some(i128::from(truth)),
                Number::Pointer(address, _) => Some(i128::from(address)),
                Number::Float(_) => None,
            });
        let chosen = part
            .variants
            .iter()
            .find(|variant| variant.value.is_some() && variant.value == discriminant)
            .or_else(|| part.variants.iter().find(|variant| variant.value.is_none()));
        chosen.map(|variant| variant.field.clone())
    }

    /// A structure as Rust writes it: `Point {x: 1, y: 2}`, `Meters(5)`,
    /// `(1, 'x')`, `Some("z")`.
    fn rust(&mut self, value: &Typed, composite: &Composite, depth: usize) {
        if let Some(why) = self.unknown_variant(value, composite) {
            return self.missing(&why);
        }
        if let Some(chosen) = self.variant(value, composite) {
            let inner = value.member(&chosen);
            let name = chosen.name.as_deref().unwrap_or("?");
            return match inner.r#type.composite() {
                Some(composite) => self.fields(name, &inner, &composite, depth),
                None => self.push(name),
            };
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
            self.separate(&mut first);
            if let Some(name) = field.name.as_deref().filter(|_| !is_tuple) {
                let _ = write!(self.text, "{name}: ");
            }
            self.value(&value.member(field), depth + 1);
            if self.is_full() {
                break;
            }
        }
        self.push(if is_tuple { ")" } else { "}" });
    }
}

/// The pointer to the table of virtual functions, in the class or in the base
/// at its start.
fn table_pointer(composite: &Composite, depth: usize) -> Option<Field> {
    let own = composite.fields.iter().find(|field| {
        let name = field.name.as_deref();
        name.is_some_and(|name| name.starts_with("_vptr"))
    });
    if own.is_some() || depth > DEPTH_MAX {
        return own.cloned();
    }
    let mut bases = composite.bases.iter();
    bases.find_map(|base| {
        let mut field = table_pointer(&*base.r#type.composite()?, depth + 1)?;
        field.offset = field.offset.checked_add(base.offset?)?;
        Some(field)
    })
}

/// The class whose table a symbol is: `vtable for X`, `{vtable(X)}`.
fn class_of_table(symbol: &str) -> Option<&str> {
    let symbol = symbol.rsplit_once('+').map_or(symbol, |(name, _)| name);
    if let Some(class) = symbol.strip_prefix("vtable for ") {
        return Some(class);
    }
    symbol.strip_prefix("{vtable(")?.strip_suffix(")}")
}

/// The last part of a path, without what it was made from: nothing of a tuple.
fn short(name: &str) -> &str {
    if name.starts_with(['(', '&', '[', '*']) {
        return "";
    }
    let path = name.split('<').next().unwrap_or(name);
    // A closure and other things without a name keep their path's end.
    path.rsplit("::").next().unwrap_or(path)
}

/// Whether a pointer is a reference of Rust, by its name.
pub(super) fn is_rust_reference(r#type: &Type) -> bool {
    r#type.is_rust() && r#type.strip().name().starts_with('&')
}
