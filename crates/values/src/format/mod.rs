//! Values as text: C's notation, bounded in length and depth, and safe for a
//! terminal.

mod composite;
mod decimal;
mod escape;
mod float;
mod layout;
mod member_pointer;
mod number;
mod pretty_printed;
mod string;

pub use escape::{quoted, readable};
pub use layout::pretty;

use crate::pretty_printers::PrettyPrinters;
use crate::typed::{Location, Memory, Number, Typed};
use juror_symbols::{Character, Encoding, Enumerator, Type, TypeKind};
use std::fmt::{self, Write};

/// How a value is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Radix {
    /// As its type suggests.
    #[default]
    Natural,
    /// `/x`
    Hexadecimal,
    /// `/d`
    Decimal,
    /// `/u`
    Unsigned,
    /// `/o`
    Octal,
    /// `/t`
    Binary,
    /// `/c`
    Character,
    /// `/a`
    Address,
    /// `/s`: as its type suggests, and arrays of bytes as text.
    String,
    /// `/z`: hexadecimal, with all zeros of the type's size.
    Padded,
    /// `/f`: the bits of a number as a fraction, where there is one of its size.
    Float,
    /// `/r`: as its type suggests, library types by their fields.
    Raw,
}

/// Elements of an array, and characters of a text, that are shown unless the user has
/// said otherwise.
pub const ELEMENTS_MAX: u64 = 200;
/// Structures inside structures that are shown.
const DEPTH_MAX: usize = 12;
/// All text together.
const LENGTH_MAX: usize = 16 * 1024;
/// The same where more elements are asked for: so much for each, but not more than the
/// second.
const ELEMENT_LENGTH: u64 = 64;
const ASKED_LENGTH_MAX: u64 = 8 << 20;
/// The length of a summary, in bytes: from there on no value is begun.
const SUMMARY_LENGTH: usize = 200;
/// This many equal elements are folded.
const REPEATS_MIN: u64 = 10;

/// Who knows the names of addresses and types, and the views.
pub trait Names {
    /// `function+12`, for pointers to code and static data.
    fn name_of(&self, address: u64) -> Option<String>;

    /// A type of the program, by name.
    fn type_named(&self, name: &str) -> Option<Type> {
        let _ = name;
        None
    }

    /// The type of Rust's trait objects whose table of methods is there.
    fn type_of_table(&self, address: u64) -> Option<Type> {
        let _ = address;
        None
    }

    /// How values of library types are shown.
    fn pretty_printers(&self) -> &PrettyPrinters {
        PrettyPrinters::standard()
    }

    /// Why a value is missing, in words that suit where it would come from.
    fn worded(&self, why: String) -> String {
        why
    }

    /// How many elements of an array, and characters of a text, are shown.
    fn elements_max(&self) -> u64 {
        ELEMENTS_MAX
    }
}

/// A value as text.
pub fn format(value: &Typed, memory: &dyn Memory, names: &dyn Names, radix: Radix) -> String {
    let mut writer = Writer::new(memory, names, radix);
    writer.value(value, 0);
    writer.text
}

/// A value as text that is whole, for a copy of it. What is longer than some megabytes is cut, and
/// the end says so.
pub fn whole(value: &Typed, memory: &dyn Memory, names: &dyn Names, radix: Radix) -> String {
    let mut writer = Writer::new(memory, names, radix);
    writer.elements_max = ASKED_LENGTH_MAX;
    writer.length_max = ASKED_LENGTH_MAX as usize;
    writer.value(value, 0);
    if writer.is_full() {
        let _ = write!(
            writer.text,
            " <cut: a copy has at most {ASKED_LENGTH_MAX} bytes>"
        );
    }
    writer.text
}

/// A value as text that is short: what does not fit is left out, and `...` stands for it.
/// `is_of_object` tells that it is a part of an object, which is not asked for the whole one.
pub fn summary(
    value: &Typed,
    memory: &dyn Memory,
    names: &dyn Names,
    radix: Radix,
    is_of_object: bool,
) -> String {
    let mut writer = Writer::new(memory, names, radix);
    writer.elements_max = writer.elements_max.min(ELEMENTS_MAX);
    writer.length_max = SUMMARY_LENGTH;
    let is_known = !matches!(value.location, Location::Missing(_));
    match value.r#type.composite().filter(|it| !it.incomplete) {
        Some(class) if is_of_object && is_known => {
            if !writer.pretty_printed(value, 0) {
                writer.members(value, &class, 0);
            }
        }
        _ => writer.value(value, 0),
    }
    let mut text = writer.text;
    if let Some((end, _)) = text.char_indices().nth(2 * SUMMARY_LENGTH) {
        text.truncate(end);
        text.push_str("...");
    }
    text
}

struct Writer<'a> {
    memory: &'a dyn Memory,
    names: &'a dyn Names,
    radix: Radix,
    /// Views are not asked.
    is_raw: bool,
    elements_max: u64,
    /// From this length on no value is begun.
    length_max: usize,
    text: String,
    /// The virtual base classes of the object at hand that have been shown.
    virtual_bases: Vec<String>,
}

impl<'a> Writer<'a> {
    fn new(memory: &'a dyn Memory, names: &'a dyn Names, radix: Radix) -> Writer<'a> {
        let elements_max = names.elements_max();
        let asked = elements_max.saturating_mul(ELEMENT_LENGTH);
        Writer {
            memory,
            names,
            is_raw: radix == Radix::Raw,
            radix: match radix {
                Radix::Raw => Radix::Natural,
                radix => radix,
            },
            elements_max,
            length_max: LENGTH_MAX.max(asked.min(ASKED_LENGTH_MAX) as usize),
            text: String::new(),
            virtual_bases: Vec::new(),
        }
    }
}

impl Writer<'_> {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn is_full(&self) -> bool {
        self.text.len() > self.length_max
    }

    fn missing(&mut self, why: &dyn fmt::Display) {
        let why = self.names.worded(why.to_string());
        let _ = write!(self.text, "<{}>", escape::unquoted(&why));
    }

    fn value(&mut self, value: &Typed, depth: usize) {
        if self.is_full() || depth > DEPTH_MAX {
            self.push("...");
            return;
        }
        if let Location::Missing(why) = &value.location {
            self.missing(why);
            return;
        }
        let stripped = value.r#type.strip();
        match stripped.kind() {
            TypeKind::Composite(composite) => self.composite(value, &composite, depth),
            TypeKind::Array {
                element,
                dimensions,
                ..
            } => {
                self.array(value, &element, &dimensions, depth);
            }
            TypeKind::Enumeration { enumerators, .. } => match value.number(self.memory) {
                Ok(Number::Int(number)) => {
                    let name = || match stripped.flag_names() {
                        Some(bits) => Some(flags(bits, number)),
                        None => named(&enumerators, number),
                    };
                    match self.is_natural().then(name).flatten() {
                        Some(name) => self.push(&name),
                        None => self.integer(number, &stripped, None),
                    }
                }
                Ok(_) => self.push("?"),
                Err(why) => self.missing(&why),
            },
            TypeKind::Pointer(_) if self.pretty_printed(value, depth) => {}
            TypeKind::Pointer(target) if self.follows(&stripped, &target) => {
                self.reference(value, &target, depth);
            }
            TypeKind::Pointer(target) => self.pointer(value, &target),
            TypeKind::Reference(target) => self.reference(value, &target, depth),
            TypeKind::Function { .. } => match &value.location {
                Location::Memory(address) => {
                    let address = *address;
                    self.address(address);
                }
                _ => self.push("<function>"),
            },
            TypeKind::MemberPointer { class, member } => {
                self.member_pointer(value, &class, &member);
            }
            TypeKind::Base(Encoding::ComplexFloat) => self.complex(value, &stripped),
            TypeKind::Base(encoding) => self.base(value, encoding, &stripped),
            TypeKind::Void => self.push("void"),
            _ => self.raw(value, &stripped),
        }
    }

    fn pointer(&mut self, value: &Typed, target: &Type) {
        let address = match value.number(self.memory) {
            Ok(Number::Pointer(address, _)) => address,
            Ok(_) => return,
            Err(why) => return self.missing(&why),
        };
        if !matches!(self.radix, Radix::Natural | Radix::String | Radix::Address) {
            if let Some(word) = Type::builtin("unsigned long") {
                self.integer(i128::from(address), &word, None);
            }
            return;
        }
        self.address(address);
        let character = target.character().filter(|it| !of_rust(*it, target));
        if let Some(character) = character
            && address != 0
            && self.radix != Radix::Address
        {
            self.push(" ");
            self.string_at(address, character);
        }
    }

    fn is_natural(&self) -> bool {
        matches!(self.radix, Radix::Natural | Radix::String)
    }

    /// Whether elements are bytes that are to be shown as text.
    fn is_bytes(&self, element: &Type) -> bool {
        let is_whole = |encoding| matches!(encoding, Encoding::Signed | Encoding::Unsigned);
        self.radix == Radix::String
            && element.size() == Some(1)
            && matches!(element.strip().kind(), TypeKind::Base(encoding) if is_whole(encoding))
    }

    /// Whether a pointer is shown with what it leads to.
    fn follows(&self, r#type: &Type, target: &Type) -> bool {
        !self.is_raw
            && self.radix == Radix::Natural
            && composite::is_rust_reference(r#type)
            && target.size().is_some()
    }

    fn reference(&mut self, value: &Typed, target: &Type, depth: usize) {
        match value.number(self.memory) {
            Ok(Number::Pointer(address, _)) => {
                self.at(address, &Typed::in_memory(target.clone(), address), depth);
            }
            Ok(_) => {}
            Err(why) => self.missing(&why),
        }
    }

    fn separate(&mut self, first: &mut bool) {
        if !*first {
            self.push(", ");
        }
        *first = false;
    }

    fn array(&mut self, value: &Typed, element: &Type, dimensions: &[Option<u64>], depth: usize) {
        let (Some(&count), rest) = (dimensions.first(), dimensions.get(1..).unwrap_or(&[])) else {
            return self.push("{}");
        };
        let Some(count) = count else {
            return self.endless(value, element);
        };
        let inner = rest
            .iter()
            .try_fold(1u64, |size, d| size.checked_mul((*d)?));
        let one = element.size();
        let stride = one.and_then(|one| one.checked_mul(inner?));
        // Only within a size that there can be do the offsets below exist.
        let size = stride.and_then(|stride| stride.checked_mul(count));
        let (Some(stride), Some(_)) = (stride, size) else {
            return self.push("<array of unknown size>");
        };
        let character = if self.is_bytes(element) {
            Some(Character::Byte)
        } else {
            element.character().filter(|it| !of_rust(*it, element))
        };
        if let Some(character) = character
            && rest.is_empty()
            && self.is_natural()
        {
            return self.character_array(value, count, character);
        }
        let (open, close) = if element.is_rust() {
            ("[", "]")
        } else {
            ("{", "}")
        };
        self.push(open);
        let mut first = true;
        let mut index = 0;
        while index < count {
            if index >= self.elements_max || self.is_full() {
                self.push("...");
                break;
            }
            self.separate(&mut first);
            let repeats = self.repeats(value, index, count, stride);
            let part = value.part(index * stride, element.clone(), None);
            if rest.is_empty() {
                self.value(&part, depth + 1);
            } else {
                self.array(&part, element, rest, depth + 1);
            }
            if repeats >= REPEATS_MIN {
                let _ = write!(self.text, " <repeats {repeats} times>");
                index += repeats;
            } else {
                index += 1;
            }
        }
        self.push(close);
    }

    /// An array whose length nobody tells, as the last member of a structure may be: text
    /// has an end of its own.
    fn endless(&mut self, value: &Typed, element: &Type) {
        let character = element.character().filter(|it| !of_rust(*it, element));
        match (&value.location, character) {
            (Location::Memory(address), Some(character)) if self.is_natural() => {
                self.string_at(*address, character);
            }
            _ => self.push("<array of unknown length>"),
        }
    }

    /// How many elements from `index` on have the same bytes.
    fn repeats(&self, value: &Typed, index: u64, count: u64, stride: u64) -> u64 {
        if count - index < REPEATS_MIN || stride == 0 || stride > 64 {
            return 1;
        }
        let most = (count - index).min(16 * ELEMENTS_MAX);
        let Ok(bytes) = value
            .part(index * stride, value.r#type.clone(), None)
            .bytes(self.memory, most * stride)
        else {
            return 1;
        };
        let mut elements = bytes.chunks_exact(stride as usize);
        let Some(head) = elements.next() else {
            return 1;
        };
        1 + elements.take_while(|element| *element == head).count() as u64
    }

    fn raw(&mut self, value: &Typed, stripped: &Type) {
        let size = stripped.size().unwrap_or(0).min(64);
        match value.bytes(self.memory, size) {
            Ok(bytes) => {
                self.push("0x");
                for byte in bytes.iter().rev() {
                    let _ = write!(self.text, "{byte:02x}");
                }
            }
            Err(why) => self.missing(&why),
        }
    }
}

/// Whether it is a `char` of Rust, of which there are no texts.
fn of_rust(character: Character, r#type: &Type) -> bool {
    character != Character::Byte && r#type.is_rust()
}

/// `[ PF ZF ]`, as debuggers write the flags of a processor.
fn flags(bits: &[(u8, &str)], number: i128) -> String {
    let mut shown = String::from("[ ");
    for (bit, name) in bits {
        if number >> bit & 1 == 1 {
            shown.push_str(name);
            shown.push(' ');
        }
    }
    shown.push(']');
    shown
}

/// The name of an enumeration's number; `(A | B)` where each of its names is a bit of its
/// own, and those of the number have names.
fn named(enumerators: &[Enumerator], number: i128) -> Option<String> {
    if let Some(exact) = enumerators.iter().find(|it| it.value == number) {
        return Some(exact.name.to_string());
    }
    let is_bit = |it: &Enumerator| it.value >= 0 && it.value.count_ones() <= 1;
    if number <= 0 || !enumerators.iter().all(is_bit) {
        return None;
    }
    let mut rest = number;
    let mut names: Vec<&str> = Vec::new();
    for enumerator in enumerators.iter().filter(|it| it.value != 0) {
        if rest & enumerator.value != 0 {
            rest &= !enumerator.value;
            names.push(&enumerator.name);
        }
    }
    (rest == 0).then(|| format!("({})", names.join(" | ")))
}

#[cfg(test)]
mod tests;
