//! Values as text: C's notation, bounded in length and depth, and safe for a
//! terminal.

use crate::typed::{Memory, Number, Place, Typed};
use juror_symbols::{Composite, CompositeKind, Encoding, Type, TypeKind};
use std::fmt::Write;

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
    /// `/s`
    Text,
}

/// Elements of an array, and characters of a text, that are shown.
const ELEMENTS_MAX: u64 = 200;
/// Structures inside structures that are shown.
const DEPTH_MAX: usize = 12;
/// All text together.
const LENGTH_MAX: usize = 16 * 1024;
/// This many equal elements are folded.
const REPEATS_MIN: u64 = 10;

/// Who knows the names of addresses.
pub trait Names {
    /// `function+12`, for pointers to code and static data.
    fn name_of(&self, address: u64) -> Option<String>;
}

/// A value as text.
pub fn format(value: &Typed, memory: &dyn Memory, names: &dyn Names, radix: Radix) -> String {
    let mut writer = Writer {
        memory,
        names,
        radix,
        text: String::new(),
    };
    writer.value(value, 0);
    writer.text
}

struct Writer<'a> {
    memory: &'a dyn Memory,
    names: &'a dyn Names,
    radix: Radix,
    text: String,
}

impl Writer<'_> {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn is_full(&self) -> bool {
        self.text.len() > LENGTH_MAX
    }

    fn missing(&mut self, why: &str) {
        let _ = write!(self.text, "<{}>", why.escape_debug());
    }

    fn value(&mut self, value: &Typed, depth: usize) {
        if self.is_full() || depth > DEPTH_MAX {
            self.push("...");
            return;
        }
        if let Place::Missing(why) = &value.place {
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
                    let name = enumerators.iter().find(|e| e.value == number);
                    match name {
                        Some(name) if self.radix == Radix::Natural => self.push(&name.name),
                        _ => self.integer(number, &stripped, None),
                    }
                }
                Ok(_) => self.push("?"),
                Err(why) => self.missing(&why),
            },
            TypeKind::Pointer(target) => self.pointer(value, &target),
            TypeKind::Reference(target) => self.reference(value, &target, depth),
            TypeKind::Function { .. } => match &value.place {
                Place::Memory(address) => {
                    let address = *address;
                    self.address(address);
                }
                _ => self.push("<function>"),
            },
            TypeKind::Base(Encoding::ComplexFloat) => self.complex(value, &stripped),
            TypeKind::Base(encoding) => self.base(value, encoding, &stripped),
            TypeKind::Void => self.push("void"),
            _ => self.raw(value, &stripped),
        }
    }

    fn base(&mut self, value: &Typed, encoding: Encoding, stripped: &Type) {
        match value.number(self.memory) {
            Ok(Number::Int(number)) => {
                let character = (encoding.is_character() && self.radix == Radix::Natural)
                    || self.radix == Radix::Character;
                self.integer(number, stripped, character.then_some(number));
            }
            Ok(Number::Float(number)) => self.float(value, number, stripped),
            Ok(Number::Bool(truth)) if self.radix == Radix::Natural => {
                self.push(if truth { "true" } else { "false" });
            }
            Ok(Number::Bool(truth)) => self.integer(i128::from(truth), stripped, None),
            Ok(Number::Pointer(address, _)) => self.address(address),
            Err(why) => self.missing(&why),
        }
    }

    fn float(&mut self, value: &Typed, number: f64, r#type: &Type) {
        let size = r#type.size().unwrap_or(8);
        match self.radix {
            // The bits, as they are.
            Radix::Hexadecimal | Radix::Octal | Radix::Binary => {
                if let Ok(bytes) = value.bytes(self.memory, size.min(16)) {
                    let mut wide = [0; 16];
                    wide[..bytes.len()].copy_from_slice(&bytes);
                    self.integer(i128::from_le_bytes(wide), r#type, None);
                }
                return;
            }
            Radix::Decimal | Radix::Unsigned | Radix::Character => {
                let _ = write!(self.text, "{}", number as i128);
                return;
            }
            _ => {}
        }
        if size == 4 {
            // As many digits as tell it from its neighbours.
            let number = number as f32;
            let magnitude = number.abs();
            let _ = if number == 0.0 || (1e-5..1e9).contains(&magnitude) || !number.is_finite() {
                write!(self.text, "{number}")
            } else {
                write!(self.text, "{number:e}")
            };
            return;
        }
        let magnitude = number.abs();
        let _ = if number == 0.0 || (1e-5..1e17).contains(&magnitude) || !number.is_finite() {
            write!(self.text, "{number}")
        } else {
            write!(self.text, "{number:e}")
        };
    }

    fn complex(&mut self, value: &Typed, stripped: &Type) {
        let half = stripped.size().unwrap_or(16) / 2;
        let name = if half == 4 { "float" } else { "double" };
        let Some(part) = Type::builtin(name) else {
            return;
        };
        let real = value.part(0, part.clone(), None).number(self.memory);
        let imaginary = value.part(half, part, None).number(self.memory);
        match (real, imaginary) {
            (Ok(Number::Float(real)), Ok(Number::Float(imaginary))) => {
                let _ = write!(self.text, "{real} + {imaginary}i");
            }
            (Err(why), _) | (_, Err(why)) => self.missing(&why),
            _ => self.push("?"),
        }
    }

    fn integer(&mut self, number: i128, r#type: &Type, character: Option<i128>) {
        let bits = (r#type.size().unwrap_or(8) * 8).clamp(8, 128) as u32;
        let raw = (number as u128) & (u128::MAX >> (128 - bits));
        let _ = match self.radix {
            Radix::Hexadecimal => write!(self.text, "{raw:#x}"),
            Radix::Octal => write!(self.text, "0{raw:o}"),
            Radix::Binary => write!(self.text, "{raw:b}"),
            Radix::Unsigned => write!(self.text, "{raw}"),
            Radix::Address => {
                self.address(raw as u64);
                Ok(())
            }
            _ => write!(self.text, "{number}"),
        };
        if let Some(code) = character {
            let shown = match u32::try_from(code & 0x1f_ffff)
                .ok()
                .and_then(char::from_u32)
            {
                Some(c) if (0..=0x7f).contains(&code) || bits == 32 => c.escape_debug().to_string(),
                _ => format!("\\{:03o}", raw & 0xff),
            };
            let _ = write!(self.text, " '{shown}'");
        }
    }

    fn address(&mut self, address: u64) {
        let _ = write!(self.text, "{address:#x}");
        if let Some(name) = self.names.name_of(address) {
            let _ = write!(self.text, " <{}>", name.escape_debug());
        }
    }

    fn pointer(&mut self, value: &Typed, target: &Type) {
        let address = match value.number(self.memory) {
            Ok(Number::Pointer(address, _)) => address,
            Ok(_) => return,
            Err(why) => return self.missing(&why),
        };
        if !matches!(self.radix, Radix::Natural | Radix::Text | Radix::Address) {
            if let Some(word) = Type::builtin("unsigned long") {
                self.integer(i128::from(address), &word, None);
            }
            return;
        }
        self.address(address);
        let is_text = matches!(target.strip().kind(), TypeKind::Base(e) if e.is_character())
            && target.size() == Some(1);
        if is_text && address != 0 {
            self.push(" ");
            self.text_at(address);
        }
    }

    fn text_at(&mut self, address: u64) {
        let mut bytes = Vec::new();
        let mut ended = false;
        while !ended && (bytes.len() as u64) < ELEMENTS_MAX {
            let mut byte = [0];
            let at = address.wrapping_add(bytes.len() as u64);
            if !self.memory.read(at, &mut byte) {
                let why = format!("memory at {at:#x} cannot be read");
                return self.missing(&why);
            }
            ended = byte[0] == 0;
            if !ended {
                bytes.push(byte[0]);
            }
        }
        self.quoted(&bytes, !ended);
    }

    fn quoted(&mut self, bytes: &[u8], more: bool) {
        let _ = write!(self.text, "\"{}\"", escape(bytes));
        if more {
            self.push("...");
        }
    }

    fn reference(&mut self, value: &Typed, target: &Type, depth: usize) {
        match value.number(self.memory) {
            Ok(Number::Pointer(address, _)) => {
                let _ = write!(self.text, "@{address:#x}: ");
                self.value(&Typed::in_memory(target.clone(), address), depth + 1);
            }
            Ok(_) => {}
            Err(why) => self.missing(&why),
        }
    }

    fn composite(&mut self, value: &Typed, composite: &Composite, depth: usize) {
        if composite.incomplete {
            return self.push("<incomplete type>");
        }
        if let Some(text) = self.rust_text(value, composite) {
            return self.push(&text);
        }
        self.push("{");
        let mut first = true;
        for base in &composite.bases {
            self.separate(&mut first);
            let _ = write!(self.text, "<{}> = ", base.r#type.name());
            match base.offset {
                Some(offset) => {
                    self.value(&value.part(offset, base.r#type.clone(), None), depth + 1)
                }
                None => self.push("<virtual base>"),
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
        self.variant(value, composite, &mut first, depth);
        if first && composite.kind == CompositeKind::Union {
            self.push("...");
        }
        self.push("}");
    }

    fn variant(&mut self, value: &Typed, composite: &Composite, first: &mut bool, depth: usize) {
        let Some(part) = &composite.variants else {
            return;
        };
        let discriminant = part
            .discriminant
            .as_ref()
            .and_then(|field| value.member(field).number(self.memory).ok())
            .and_then(|number| match number {
                Number::Int(number) => Some(number),
                Number::Bool(truth) => Some(i128::from(truth)),
                _ => None,
            });
        let chosen = part
            .variants
            .iter()
            .find(|variant| variant.value.is_some() && variant.value == discriminant)
            .or_else(|| part.variants.iter().find(|variant| variant.value.is_none()));
        if let Some(variant) = chosen {
            self.separate(first);
            if let Some(name) = &variant.field.name {
                let _ = write!(self.text, "{name} ");
            }
            self.value(&value.member(&variant.field), depth + 1);
        }
    }

    /// `&str` of Rust: a pointer and a length.
    fn rust_text(&mut self, value: &Typed, composite: &Composite) -> Option<String> {
        if &*value.r#type.strip().name() != "&str" || composite.fields.len() != 2 {
            return None;
        }
        let Ok(Number::Pointer(address, _)) = value.field("data_ptr").ok()?.number(self.memory)
        else {
            return None;
        };
        let Ok(Number::Int(length)) = value.field("length").ok()?.number(self.memory) else {
            return None;
        };
        let shown = u64::try_from(length).ok()?.min(ELEMENTS_MAX);
        let mut bytes = vec![0; shown as usize];
        if !self.memory.read(address, &mut bytes) {
            return None;
        }
        let more = if i128::from(shown) < length {
            "..."
        } else {
            ""
        };
        Some(format!("\"{}\"{more}", escape(&bytes)))
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
            return self.push("<array of unknown length>");
        };
        let inner = rest
            .iter()
            .try_fold(1u64, |size, d| size.checked_mul((*d)?));
        let one = element.size();
        let stride = one.and_then(|one| one.checked_mul(inner?));
        // Only within a size that there can be do the offsets below exist.
        let size = stride.and_then(|stride| stride.checked_mul(count));
        let (Some(one), Some(stride), Some(_)) = (one, stride, size) else {
            return self.push("<array of unknown size>");
        };
        let is_text = rest.is_empty()
            && one == 1
            && matches!(element.strip().kind(), TypeKind::Base(e) if e.is_character())
            && matches!(self.radix, Radix::Natural | Radix::Text);
        if is_text {
            return self.character_array(value, count);
        }
        self.push("{");
        let mut first = true;
        let mut index = 0;
        while index < count {
            if index >= ELEMENTS_MAX || self.is_full() {
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
        self.push("}");
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

    fn character_array(&mut self, value: &Typed, count: u64) {
        match value.bytes(self.memory, count.min(ELEMENTS_MAX)) {
            Ok(bytes) => {
                // Zeros at the end of a buffer say nothing.
                let length = bytes
                    .iter()
                    .rposition(|&byte| byte != 0)
                    .map_or(0, |at| at + 1);
                self.quoted(&bytes[..length], count > ELEMENTS_MAX);
            }
            Err(why) => self.missing(&why),
        }
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

/// Bytes as the inside of a C string: nothing of them acts on a terminal.
fn escape(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c == '\0' {
                text.push_str("\\000");
            } else if c == '\'' {
                text.push(c);
            } else {
                text.extend(c.escape_debug());
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\{byte:03o}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;
    impl Memory for Nothing {
        fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
            let text = b"hi\x1b\0";
            match text.get((address.wrapping_sub(0x100)) as usize..) {
                Some(rest) if rest.len() >= buffer.len() => {
                    buffer.copy_from_slice(&rest[..buffer.len()]);
                    true
                }
                _ => false,
            }
        }
    }
    impl Names for Nothing {
        fn name_of(&self, address: u64) -> Option<String> {
            (address == 0x4000).then(|| "main+4".to_owned())
        }
    }

    fn check(type_name: &str, bytes: &[u8], radix: Radix, expected: &str) {
        let mut r#type = Type::builtin(type_name.trim_end_matches('*')).unwrap_or(Type::void());
        if type_name.ends_with('*') {
            r#type = r#type.pointer_to();
        }
        let value = Typed::of_bytes(r#type, bytes.to_vec());
        assert_eq!(
            format(&value, &Nothing, &Nothing, radix),
            expected,
            "{type_name}"
        );
    }

    #[test]
    fn values_are_shown_as_c_writes_them() {
        use Radix::*;
        check("int", &(-3i32).to_le_bytes(), Natural, "-3");
        check("int", &(-3i32).to_le_bytes(), Hexadecimal, "0xfffffffd");
        check("int", &10i32.to_le_bytes(), Binary, "1010");
        check("int", &10i32.to_le_bytes(), Octal, "012");
        check("int", &(-1i32).to_le_bytes(), Unsigned, "4294967295");
        check("char", b"a", Natural, "97 'a'");
        check("char", b"\n", Natural, "10 '\\n'");
        check("unsigned char", &[200], Natural, "200 '\\310'");
        check("float", &0.1f32.to_le_bytes(), Natural, "0.1");
        check("float", &3i32.to_le_bytes(), Natural, "4e-45");
        check("float", &1.5f32.to_le_bytes(), Hexadecimal, "0x3fc00000");
        check(
            "double",
            &(-3f64).to_le_bytes(),
            Hexadecimal,
            "0xc008000000000000",
        );
        check("double", &(-3.7f64).to_le_bytes(), Decimal, "-3");
        check("bool", &[1], Natural, "true");
        check("double", &2.5f64.to_le_bytes(), Natural, "2.5");
        check("double", &1e300f64.to_le_bytes(), Natural, "1e300");
        check("int*", &0x4000u64.to_le_bytes(), Natural, "0x4000 <main+4>");
        check("int*", &0x4000u64.to_le_bytes(), Decimal, "16384");
        check(
            "char*",
            &0x100u64.to_le_bytes(),
            Natural,
            "0x100 \"hi\\u{1b}\"",
        );
        check("char*", &0u64.to_le_bytes(), Natural, "0x0");
        check(
            "char*",
            &0x300u64.to_le_bytes(),
            Natural,
            "0x300 <memory at 0x300 cannot be read>",
        );
        check("void*", &1u64.to_le_bytes(), Natural, "0x1");
    }

    #[test]
    fn arrays_larger_than_memory_are_not_walked() {
        let check = |inner, outer, expected: &str| {
            let r#type = Type::builtin("int").unwrap();
            let r#type = r#type.array_of(inner).array_of(outer);
            let value = Typed::in_memory(r#type, 0x100);
            let shown = format(&value, &Nothing, &Nothing, Radix::Natural);
            assert_eq!(shown, expected, "{inner}, {outer}");
        };
        check(u64::MAX, 5, "<array of unknown size>");
        check(1 << 61, 5, "<array of unknown size>");
        check(0, 2, "{{}, {}}");
    }
}
