//! Formats values in the notation of C or Rust, bounded in length and depth, and without control
//! characters.

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
use crate::types::untyped::unknown_type;
use juror_symbols::{Character, Encoding, Enumerator, Type, TypeKind};
use std::fmt::{self, Write};

/// The format of a value.
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
    /// `/f`: the bits of an integer as a floating-point number, if there is one of its size.
    Float,
    /// `/r`: as its type suggests, with library types shown by their fields.
    Raw,
}

/// The default for the most elements of an array, and characters of a string, that are shown.
pub const ELEMENTS_MAX: u64 = 200;
/// The greatest depth of nested structures that is shown.
const DEPTH_MAX: usize = 12;
/// The greatest length of a formatted value, in bytes.
const LENGTH_MAX: usize = 16 * 1024;
/// If the user asks for more elements, the length limit grows by this many bytes for each, up to
/// `ASKED_LENGTH_MAX`.
const ELEMENT_LENGTH: u64 = 64;
const ASKED_LENGTH_MAX: u64 = 8 << 20;
/// The length of a summary in bytes: no further value is begun after it.
const SUMMARY_LENGTH: usize = 200;
/// The fewest equal elements that are folded into one.
const REPEATS_MIN: u64 = 10;

/// Names of addresses and types, and the pretty-printers.
pub trait Names {
    /// Returns the symbol of an address of code or static data, as `function+12`.
    fn name_of(&self, address: u64) -> Option<String>;

    /// Returns the program's type with this name.
    fn type_named(&self, name: &str) -> Option<Type> {
        let _ = name;
        None
    }

    /// Returns the concrete type of Rust trait objects whose table of methods is at this address.
    fn type_of_table(&self, address: u64) -> Option<Type> {
        let _ = address;
        None
    }

    /// Returns the pretty-printers of library types.
    fn pretty_printers(&self) -> &PrettyPrinters {
        PrettyPrinters::standard()
    }

    /// Rewrites the reason for a missing value for the program's state, for instance a core file.
    fn worded(&self, why: String) -> String {
        why
    }

    /// Returns the most elements of an array, and characters of a string, that are shown.
    fn elements_max(&self) -> u64 {
        ELEMENTS_MAX
    }
}

/// Formats a value.
pub fn format(value: &Typed, memory: &dyn Memory, names: &dyn Names, radix: Radix) -> String {
    let mut writer = Writer::new(memory, names, radix);
    writer.value(value, 0);
    writer.text
}

/// Formats a complete value, for copying. Text longer than 8 MiB is cut and says so at its end.
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

/// Formats a value in one short line, with `...` for parts that are left out. If `is_of_object` is
/// set, the value is a part of an object and is not cast to the complete object.
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
    /// Whether pretty-printers are left out.
    is_raw: bool,
    elements_max: u64,
    /// The length in bytes after which no further value is begun.
    length_max: usize,
    text: String,
    /// The virtual base classes of the current object that have been written.
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
            _ => match unknown_type(&stripped) {
                Some(why) => self.missing(&why),
                None => self.raw(value, &stripped),
            },
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

    /// Returns whether elements are bytes that are shown as text.
    fn is_bytes(&self, element: &Type) -> bool {
        let is_whole = |encoding| matches!(encoding, Encoding::Signed | Encoding::Unsigned);
        self.radix == Radix::String
            && element.size() == Some(1)
            && matches!(element.strip().kind(), TypeKind::Base(encoding) if is_whole(encoding))
    }

    /// Returns whether a pointer is shown with its pointee.
    fn follows(&self, r#type: &Type, target: &Type) -> bool {
        !self.is_raw
            && self.radix == Radix::Natural
            && r#type.is_rust_reference()
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
        // The offsets below fit in 64 bits only if the size of the array does.
        let size = stride.and_then(|stride| stride.checked_mul(count));
        let (Some(stride), Some(_)) = (stride, size) else {
            return self.push("<array of unknown size>");
        };
        let Some(part_type) = row(element, rest) else {
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
            && !matches!(value.location, Location::Partial(_))
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
            let part = value.part(index * stride, part_type.clone(), None);
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

    /// Writes an array of unknown length, for instance a flexible array member. Text is shown up to
    /// its terminator.
    fn endless(&mut self, value: &Typed, element: &Type) {
        let character = element.character().filter(|it| !of_rust(*it, element));
        match (&value.location, character) {
            (Location::Memory(address), Some(character)) if self.is_natural() => {
                self.string_at(*address, character);
            }
            _ => self.push("<array of unknown length>"),
        }
    }

    /// Returns the number of elements from `index` on that have equal bytes.
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

/// Returns the type of a part of an array: a row, or an element if there are no more dimensions.
fn row(element: &Type, rest: &[Option<u64>]) -> Option<Type> {
    let mut inner = rest.iter().rev();
    inner.try_fold(element.clone(), |row, count| Some(row.array_of((*count)?)))
}

/// Returns whether an element type is Rust's `char`, an array of which is not text.
fn of_rust(character: Character, r#type: &Type) -> bool {
    character != Character::Byte && r#type.is_rust()
}

/// Formats processor flags by their names, `[ PF ZF ]`.
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

/// Returns the name of an enumerator, or `(A | B)` if every enumerator is a single bit and all set
/// bits have names.
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
